"""Latent junction trees as estimators: any graph of low treewidth, and the HMMs that are no trees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from tacit.core.arguments import check_choice, check_count, check_number, seed_from
from tacit.errors import ArgumentError, ArgumentTypeError, NotAvailableError
from tacit.junction.learn.learners import JUNCTION_LEARNERS, JunctionJob
from tacit.junction.learn.plan import JunctionPlan, plan_of
from tacit.junction.model_files import JUNCTION_FILE, given_graph, restored_junction
from tacit.trees.learn.fit import keep
from tacit.trees.learn.learners import Learnt, Settings, check_stopping
from tacit.trees.model.components import topology_of
from tacit.trees.tree_model import TreeModel

if TYPE_CHECKING:
    from tacit.core.input.table import Schema, Table
    from tacit.core.progress import Report
    from tacit.junction.model.shared_tables import Ties
    from tacit.junction.structure.graphs import VariableGraph
    from tacit.junction.structure.junction_tree import JunctionTree

Array = NDArray[np.float64]

# Candidate numbers of states, tried in order as long as the held-out score improves.
CANDIDATES = (2, 3, 4, 6)


@dataclass(frozen=True, eq=False)
class LatentGraph:
    """A graph over the columns of a table, and which variables share a distribution."""

    graph: VariableGraph
    shared: Mapping[str, str]


class JunctionEstimator(TreeModel):
    """What all estimators of latent junction trees have in common."""

    abilities = TreeModel.abilities - {"bif"} | {"junction"}

    junction_: JunctionTree
    n_states: Any
    learn: str
    n_views: int
    features: int
    n_restarts: int
    tol: float | str
    stopping: str
    max_iter: int
    pseudo_counts: float | str
    n_bins: int
    compress: bool
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
        from tacit.core.input.read_table import encode

        settings = self._settings()
        table = self._read(X, sample_weight)
        latent = self._latent_graph(table.schema)
        held_out = (
            None if validation is None else encode(validation, table.schema, unknown="missing")
        )
        with self._working() as report:
            states, choice = self._select_states(latent, table, held_out, settings, report)
            job = self._job(latent, table, states, settings, report)
            learnt = JUNCTION_LEARNERS[self.learn](job)
        learnt.diagnostics.update(choice)
        self._keep(X, job, learnt)
        return self

    def plan(self, X: Any) -> JunctionPlan:
        """Treewidth, sizes of tables and cost of learning from a table; nothing is learnt.

        Raises
        ------
        TooExpensiveError
            The treewidth is too large; the message names it and the variables of the largest clique.
        """
        table = self._read(X, None)
        latent = self._latent_graph(table.schema)
        junction, ties = self._structure(latent, table.schema, self._known(latent, table.schema, 2))
        return plan_of(junction, ties, table.n_rows, self.features)

    @property
    def n_parameters_(self) -> int:
        """Free parameters of the graph's conditional distributions; shared ones count once."""
        from tacit.messages.network import Network

        self._check_fitted()
        if isinstance(self.parameters_, Network):
            return super().n_parameters_
        latent = self._latent_graph(self.schema_)
        return self._structure(latent, self.schema_, self.node_states_)[1].n_parameters

    @property
    def node_states_(self) -> dict[str, int]:
        """The number of states of each hidden variable."""
        self._check_fitted()
        return {name: self.junction_.states[name] for name in self.junction_.hidden_variables}

    def posterior(self, X: Any, *, soft: Mapping[Any, Any] | None = None) -> dict[str, Array]:
        """P(hidden state | what was observed of the row), by name of the hidden variable."""
        joint = super().posterior(X, soft=soft)
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

    def to_bif(self, path: Any, *, component: int | None = None) -> None:
        """Not for junction trees: their tables are of joint states."""
        raise NotAvailableError(
            "a junction tree's tables are of joint states of several variables, which BIF has no names for; "
            "save() keeps the model"
        )

    # -- within -----------------------------------------------------------------------------------

    def _restore(self, values: Mapping[str, Any]) -> None:
        graph, states = values["graph_"], values["states_"]
        others = {name: values[name] for name in values if name not in ("graph_", "states_")}
        super()._restore(others)
        self.junction_ = restored_junction(graph, states, self.schema_, self.parameters_)
        self.topology_ = topology_of(self.tree_)
        if hasattr(self, "graph"):
            self.graph = given_graph(graph)

    def _latent_graph(self, schema: Schema) -> LatentGraph:
        raise NotImplementedError

    def _read(self, X: Any, sample_weight: Any) -> Table:
        from tacit.core.input.read_table import read_table

        return read_table(X, n_bins=self.n_bins, sample_weight=sample_weight)

    def _shown(self, moments: Any) -> Any:
        return moments

    def _settings(self) -> Settings:
        """The arguments about learning, checked."""
        from tacit.core.threads import n_threads

        check_choice("learn", self.learn, tuple(JUNCTION_LEARNERS))
        self._check_policies()
        for name in ("n_views", "features", "n_restarts", "max_iter"):
            check_count(name, getattr(self, name))
        check_stopping(self.tol, self.stopping, self.learn)
        check_number("pseudo_counts", self.pseudo_counts, word="auto")
        return Settings(
            n_views=self.n_views,
            features=self.features,
            n_restarts=self.n_restarts,
            tol=self.tol,
            stopping=self.stopping,
            max_iter=self.max_iter,
            pseudo_counts=self.pseudo_counts,
            compress=self.compress,
            n_jobs=n_threads(self.n_jobs) or 1,
            seed=seed_from(self.random_state),
        )

    def _known(self, latent: LatentGraph, schema: Schema, otherwise: int) -> dict[str, int]:
        """The states of all hidden variables."""
        hidden = [name for name in latent.graph.variables if name not in schema]
        given = self.n_states
        if isinstance(given, str):
            check_choice("n_states", given, ("auto",))
            return dict.fromkeys(hidden, otherwise)
        if isinstance(given, Mapping):
            strange = [str(name) for name in given if name not in hidden]
            lacking = [name for name in hidden if name not in given]
            if strange or lacking:
                what = f"names {strange[0]!r}" if strange else f"lacks {lacking[0]!r}"
                raise ArgumentError(f"n_states {what}; the hidden variables are {hidden}")
            return {name: _states(given[name], name) for name in hidden}
        return dict.fromkeys(hidden, _states(given, None))

    def _structure(
        self, latent: LatentGraph, schema: Schema, states: Mapping[str, int]
    ) -> tuple[JunctionTree, Ties]:
        from tacit.junction.model.shared_tables import tied

        cards = dict(zip(schema.names, schema.cards, strict=True))
        return tied(latent.graph, schema.names, {**states, **cards}, latent.shared)

    def _job(
        self,
        latent: LatentGraph,
        table: Table,
        states: Mapping[str, int],
        settings: Settings,
        report: Report,
    ) -> JunctionJob:
        from tacit.trees.moments.source import CountedMoments

        junction, ties = self._structure(latent, table.schema, states)
        cards = table.schema.cards
        moments = CountedMoments.of(table.codes, cards, table.weights, settings.n_jobs)
        return JunctionJob(table, junction, ties, moments, self._shown(moments), settings, report)

    def _select_states(
        self,
        latent: LatentGraph,
        table: Table,
        held_out: Table | None,
        settings: Settings,
        report: Report,
    ) -> tuple[dict[str, int], dict[str, Any]]:
        """The numbers of states of the hidden variables, and the scores of candidates."""
        from tacit.messages.conditionals import log_prob
        from tacit.messages.evidence import Evidence
        from tacit.trees.learn.selection.states import split_table

        if not isinstance(self.n_states, str):
            return self._known(latent, table.schema, 0), {}
        train, judged = table, held_out
        if judged is None:
            train, judged = split_table(table, settings.seed, everything=False)
        if judged is None:  # too few rows to choose with
            return self._known(latent, table.schema, CANDIDATES[0]), {}
        scores: list[dict[str, Any]] = []
        for count in CANDIDATES:
            states = self._known(latent, table.schema, count)
            learnt = JUNCTION_LEARNERS[self.learn](
                self._job(latent, train, states, settings, report)
            )
            found = log_prob(learnt.parameters, Evidence(judged.codes), negative="floor")
            scores.append({"n_states": count, "score": float(np.mean(found.values))})
            if scores[-1]["score"] < max(each["score"] for each in scores):
                break
        best = max(scores, key=lambda each: each["score"])
        return self._known(latent, table.schema, best["n_states"]), {"candidates": scores}

    def _keep(self, X: Any, job: JunctionJob, learnt: Learnt) -> None:
        tree = job.junction.tree
        self.junction_ = job.junction
        learnt.diagnostics["treewidth"] = job.junction.treewidth
        counts = job.moments.pairs().counts
        keep(self, X, job.table, counts, topology_of(tree), tree, learnt)


def _states(value: Any, name: str | None) -> int:
    whose = "" if name is None else f" of {name!r}"
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise ArgumentTypeError(f'n_states={value!r}{whose}; give a number or "auto"')
    if value < 1:
        raise ArgumentError(f"n_states={value}{whose}; give 1 or more")
    return int(value)


class LatentJunctionTree(JunctionEstimator):
    """A joint distribution of the columns of a table by a graph of observed and hidden variables.

    Parameters
    ----------
    graph : networkx graph or list of (parent, child) pairs
        Variables named like a column are observed, all others are hidden. With directions every variable
        has a distribution given its parents; without (`networkx.Graph`), every clique of the triangulated
        graph has one given the next.
    n_states : int, mapping of hidden variable to int, or "auto"
        "auto" tries 2, 3, 4 and 6 on held-out rows.
    learn : {"auto", "spectral", "em", "online-em"}
        "auto": moment start on a tree within the graph, accelerated MAP-EM. "spectral": observable operators
        (Parikh, thesis chapter 5): fast, consistent, possibly slightly negative. "em": plain EM with
        restarts. "online-em": stepwise EM.
    n_views, features : int
        Of "spectral": sets of columns that each linear system uses, and columns that a set has at most.
    n_restarts, tol, stopping, max_iter, pseudo_counts : optional
        Of EM, as for `LatentTree`; with learn="auto", held-out rows choose the pseudo-counts.
    negative, unknown, n_bins, compress, n_jobs, progress, random_state : optional
        As for `LatentTree`.

    Attributes
    ----------
    junction_ : JunctionTree
        The tree over sets of variables that everything runs on; `tree_` and `topology_` are its shape.
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
        n_views: int = 3,
        features: int = 4,
        n_restarts: int = 5,
        tol: float | str = "auto",
        stopping: str = "gain",
        max_iter: int = 1000,
        pseudo_counts: float | str = "auto",
        negative: str = "floor",
        unknown: str = "error",
        n_bins: int = 5,
        compress: bool = True,
        n_jobs: int | None = None,
        progress: Any = None,
        random_state: int = 0,
    ) -> None:
        self.graph = graph
        self.n_states = n_states
        self.learn = learn
        self.n_views = n_views
        self.features = features
        self.n_restarts = n_restarts
        self.tol = tol
        self.stopping = stopping
        self.max_iter = max_iter
        self.pseudo_counts = pseudo_counts
        self.negative = negative
        self.unknown = unknown
        self.n_bins = n_bins
        self.compress = compress
        self.n_jobs = n_jobs
        self.progress = progress
        self.random_state = random_state

    def _latent_graph(self, schema: Schema) -> LatentGraph:
        from tacit.junction.structure.graphs import VariableGraph

        if self.graph is None:
            raise ArgumentError(
                "graph=None; give a networkx graph or a list of (parent, child) pairs"
            )
        return LatentGraph(VariableGraph.of(self.graph), {})
