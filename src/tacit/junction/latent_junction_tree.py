"""Latent junction trees as estimators: any graph of low treewidth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from tacit.core.encoders.given_features import are_given
from tacit.core.limits import MOST_MEMORY
from tacit.errors import ArgumentError, FileFormatError, NotAvailableError
from tacit.junction.model_files import JUNCTION_FILE, graph_argument, restored_junction
from tacit.trees.model.components import topology_of
from tacit.trees.tree_model import TreeModel

if TYPE_CHECKING:
    from tacit.core.input.table import Schema, Table
    from tacit.junction.learn.plan import JunctionPlan
    from tacit.junction.structure.graphs import LatentGraph
    from tacit.junction.structure.junction_tree import JunctionTree
    from tacit.messages.assignments import States
    from tacit.messages.hidden_states import Completion

Array = NDArray[np.float64]


class JunctionEstimator(TreeModel):
    """Base of all estimators of latent junction trees."""

    abilities = TreeModel.abilities - {"bif"} | {"junction"}

    junction_: JunctionTree
    n_states: Any
    learn: str
    preset: str | None
    n_views: int | str
    features: Any
    n_restarts: int
    tol: float | str
    stopping: str
    max_iter: int
    learning_rate: float | Sequence[float]
    pseudo_counts: float | str
    n_bins: int
    compress: bool
    max_memory: int | str
    progress: Any
    random_state: Any
    _file = JUNCTION_FILE

    def fit(
        self, X: Any, y: Any = None, *, sample_weight: Any = None, validation: Any = None
    ) -> Self:
        """Learn the parameters, and numbers of states where they are "auto".

        Parameters
        ----------
        X : table
            As for `LatentTree.fit`.
        y : None
            Not used.
        sample_weight : (row,) array, optional
        validation : table, optional
            Held-out rows that choose the number of states; without them a fifth of X is held out.
        """
        from tacit.junction.learn.fit import fit_junction_tree

        fit_junction_tree(self, X, sample_weight, validation)
        return self

    def plan(self, X: Any) -> JunctionPlan:
        """Treewidth, sizes of tables and cost of learning from a table; nothing is learnt.

        Raises
        ------
        TooExpensiveError
            The tables would need more than `max_memory`; the message names the treewidth and the variables
            of the largest clique.
        """
        from tacit.junction.learn.fit import hidden_states, junction_of
        from tacit.junction.learn.plan import plan_of

        table = self._read(X, None)
        latent = self._latent_graph(table.schema)
        states = hidden_states(self.n_states, latent, table.schema, default=2)
        features = 1 if are_given(self.features) else self.features
        junction = junction_of(latent, table.schema, states, self.max_memory)
        return plan_of(*junction, table.n_rows, features)

    @property
    def n_parameters_(self) -> int:
        """Free parameters of the graph's conditional distributions; shared ones count once."""
        from tacit.junction.learn.fit import junction_of
        from tacit.messages.network import Network

        self._check_fitted()
        if isinstance(self.parameters_, Network):
            return super().n_parameters_
        latent = self._fitted_graph()
        if set(latent.graph.variables) != set(self.junction_.graph.variables):
            raise FileFormatError("the graph of the file is not the one that its arguments give")
        return junction_of(latent, self.schema_, self.node_states_, self.max_memory)[1].n_parameters

    @property
    def node_states_(self) -> dict[str, int]:
        """The number of states of each hidden variable."""
        self._check_fitted()
        return {name: self.junction_.states[name] for name in self.junction_.hidden_variables}

    def _posterior(self, X: Any, soft: Mapping[Any, Any] | None) -> dict[str, Array]:
        joint = super()._posterior(X, soft)
        junction = self.junction_
        out = {}
        for name in junction.hidden_variables:
            home = junction.home(name)
            members = junction.members[home]
            shape = [junction.states[member] for member in members]
            cells = joint[junction.tree.names[home]].reshape(-1, *shape)
            others = tuple(1 + axis for axis, member in enumerate(members) if member != name)
            out[name] = cells.sum(axis=others)
        return out

    def _hidden_states(self, completion: Completion) -> dict[str, States]:
        joint = super()._hidden_states(completion)
        junction = self.junction_
        out = {}
        for name in junction.hidden_variables:
            home = junction.home(name)
            members = junction.members[home]
            shape = [junction.states[member] for member in members]
            states = np.unravel_index(joint[junction.tree.names[home]], shape)
            out[name] = states[members.index(name)].astype(np.int32)
        return out

    def to_bif(self, path: Any, *, component: int | None = None) -> None:
        """Not for junction trees: their tables are of joint states."""
        raise NotAvailableError(
            "a junction tree's tables are of joint states of several variables, which BIF has no names for; "
            "save() keeps the model"
        )

    # -- private ----------------------------------------------------------------------------------

    def _restore(self, values: Mapping[str, Any]) -> None:
        graph, states = values["graph_"], values["states_"]
        others = {name: values[name] for name in values if name not in ("graph_", "states_")}
        super()._restore(others)
        self.junction_ = restored_junction(graph, states, self.schema_, self.parameters_)
        self.topology_ = topology_of(self.tree_)
        if hasattr(self, "graph"):
            self.graph = graph_argument(graph)

    def _latent_graph(self, schema: Schema) -> LatentGraph:
        """The graph over the columns."""
        raise NotImplementedError

    def _latent_graphs(self, schema: Schema) -> list[LatentGraph]:
        """The graphs that held-out rows choose from, from simple to rich."""
        return [self._latent_graph(schema)]

    def _keep_graph(self, latent: LatentGraph) -> None:
        """Keep what was chosen of a graph."""

    def _fitted_graph(self) -> LatentGraph:
        """The graph that was chosen."""
        return self._latent_graph(self.schema_)

    def _read(self, X: Any, sample_weight: Any) -> Table:
        """The table as codes."""
        from tacit.core.input.read_table import read_table

        return read_table(X, n_bins=self.n_bins, sample_weight=sample_weight)

    def _spectral_moments(self, moments: Any) -> Any:
        """The moments that spectral learning uses."""
        return moments


class LatentJunctionTree(JunctionEstimator):
    """A joint distribution of the columns of a table: a graph of observed and hidden variables.

    Parameters
    ----------
    graph : networkx graph or list of (parent, child) pairs
        Variables named like a column are observed, all others are hidden. With directions every variable
        has a distribution given its parents; without (`networkx.Graph`), every clique of the triangulated
        graph has one given the next.
    n_states : int, mapping of hidden variable to int, or "auto"
        "auto" compares 1 (independent columns), 2, 3, 4 and 6 on held-out rows.
    learn : {"auto", "spectral", "em", "online-em"}
        "auto": moment start on a tree within the graph, accelerated MAP-EM. "spectral": observable operators
        (Parikh, thesis chapter 5): fast, consistent, possibly slightly negative. "em": plain EM with
        restarts. "online-em": stepwise EM.
    preset : None or "printed"
        "printed" goes with learn="spectral" and given numbers of states: Algorithm 6 of the thesis exactly as
        in print. Every separator keeps all its joint states (less only where the columns on one side of
        it cannot depend on so many, or sets of `features` columns, with 256 joint categories at most, do not
        show so many), tables are taken as they are, and no direction is cut or weighted.
        Which columns stand for a side the thesis leaves open; the most dependent ones do.
    n_views : int or "auto"
        Of "spectral": sets of columns that each linear system uses; "auto" is 3, and 1 as printed.
    features : int, str, array, mapping or callable
        Of "spectral": columns that a set has at most, or features of all columns on a side of a separator, as
        for `LatentTree`.
    n_restarts, tol, stopping, max_iter, learning_rate, pseudo_counts : optional
        Of EM, as for `LatentTree`; with learn="auto", held-out rows choose the pseudo-counts.
    max_memory : int or str
        Memory that the tables may need at most, in bytes or as "8GB"; a graph that needs more is refused
        before anything is allocated.
    negative, unknown, n_bins, compress, n_jobs, progress, random_state : optional
        As for `LatentTree`.

    Attributes
    ----------
    junction_ : JunctionTree
        The tree over sets of variables; `tree_` and `topology_` are its shape.
    node_states_ : dict of str to int
        The states of each hidden variable.
    schema_, parameters_, diagnostics_
        As for `LatentTree`; ``diagnostics_["treewidth"]`` is that of the graph.

    Examples
    --------
    >>> import tacit
    >>> graph = [("a", "b"), ("a", "x"), ("b", "x"), ("a", "y"), ("b", "z")]
    >>> rows = {"x": [0, 1, 2, 3] * 25, "y": [0, 0, 1, 1] * 25, "z": [0, 1] * 50}
    >>> model = tacit.LatentJunctionTree(graph, n_states=2).fit(rows)
    >>> model.junction_.treewidth
    1
    """

    def __init__(
        self,
        graph: Any = None,
        n_states: int | Mapping[str, int] | str = "auto",
        learn: str = "auto",
        *,
        preset: str | None = None,
        n_views: int | str = "auto",
        features: Any = 4,
        n_restarts: int = 5,
        tol: float | str = "auto",
        stopping: str = "gain",
        max_iter: int = 1000,
        learning_rate: float | Sequence[float] = 0.6,
        pseudo_counts: float | str = "auto",
        negative: str = "floor",
        unknown: str = "error",
        n_bins: int = 5,
        compress: bool = True,
        max_memory: int | str = MOST_MEMORY,
        n_jobs: int | None = None,
        progress: Any = None,
        random_state: int = 0,
    ) -> None:
        self.graph = graph
        self.n_states = n_states
        self.learn = learn
        self.preset = preset
        self.n_views = n_views
        self.features = features
        self.n_restarts = n_restarts
        self.tol = tol
        self.stopping = stopping
        self.max_iter = max_iter
        self.learning_rate = learning_rate
        self.pseudo_counts = pseudo_counts
        self.negative = negative
        self.unknown = unknown
        self.n_bins = n_bins
        self.compress = compress
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.progress = progress
        self.random_state = random_state

    def _latent_graph(self, schema: Schema) -> LatentGraph:
        from tacit.junction.structure.graphs import LatentGraph, VariableGraph

        if self.graph is None:
            raise ArgumentError(
                "graph=None; give a networkx graph or a list of (parent, child) pairs"
            )
        return LatentGraph(VariableGraph.of(self.graph), {})
