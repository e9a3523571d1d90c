"""HMMs of higher order, and factorial HMMs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tacit.core.arguments import check_count
from tacit.core.limits import MOST_MEMORY, check_memory, shown
from tacit.errors import DataError
from tacit.junction.latent_junction_tree import JunctionEstimator

if TYPE_CHECKING:
    from tacit.core.input.table import Schema, Table
    from tacit.junction.structure.graphs import LatentGraph, VariableGraph


class ChainEstimator(JunctionEstimator):
    """A junction tree over columns that follow each other in time."""

    homogeneous: bool

    def _read(self, X: Any, sample_weight: Any) -> Table:
        """Rows as codes; of a homogeneous chain, all columns have the same categories."""
        from tacit.core.input.read_table import encode, read_table
        from tacit.core.input.table import Schema

        table = read_table(X, n_bins=self.n_bins, sample_weight=sample_weight)
        if not self.homogeneous or len({column.categories for column in table.schema.columns}) == 1:
            return table
        columns = _with_common_categories(table.schema)
        return encode(X, Schema(columns), sample_weight=sample_weight)

    def _spectral_moments(self, moments: Any) -> Any:
        from tacit.junction.moments.homogeneous import ShiftedMoments

        return ShiftedMoments(moments) if self.homogeneous else moments

    def _graph(self, schema: Schema) -> tuple[list[tuple[str, str]], dict[str, str]]:
        """Edges from parent to child, and the distribution that each variable shares, by name."""
        raise NotImplementedError

    def _latent_graph(self, schema: Schema) -> LatentGraph:
        from tacit.junction.structure.graphs import LatentGraph

        edges, shared = self._graph(schema)
        return LatentGraph(_cached_graph(tuple(edges)), shared if self.homogeneous else {})


@lru_cache(maxsize=16)
def _cached_graph(edges: tuple[tuple[str, str], ...]) -> VariableGraph:
    """The graph of some edges; cached, because a graph is often fitted many times."""
    from tacit.junction.structure.graphs import VariableGraph

    return VariableGraph.of(edges)


def _with_common_categories(schema: Schema) -> tuple[Any, ...]:
    """The columns, all with the union of their categories."""
    from dataclasses import replace

    from tacit.core.input.columns import categorical_column

    binned = [column.name for column in schema.columns if column.edges is not None]
    if binned:
        raise DataError(
            f"column {binned[0]!r} has its own bins, but a homogeneous chain needs the same categories "
            f"everywhere; bin all columns alike beforehand, or pass homogeneous=False"
        )
    values = {value for column in schema.columns for value in column.categories}
    common = categorical_column("all", values)
    return tuple(replace(common, name=column.name) for column in schema.columns)


class HigherOrderHMM(ChainEstimator):
    """A hidden Markov model whose hidden state depends on several previous ones.

    Every column is one place in time, in the order of the table; rows are sequences of the same length, with
    missing cells where something was not observed. Hidden variables are called ``h0``, ``h1``, ...

    Parameters
    ----------
    order : int
        Number of previous states that a state depends on.
    n_states : int or "auto"
        States of each hidden variable; "auto" tries 2, 3, 4 and 6 on held-out rows.
    homogeneous : bool
        Whether all places share one emission and one transition. With learn="spectral" the chain is then
        taken to be in its stationary state from the start.
    learn, preset, n_views, features : optional
        How parameters are learnt, as for `LatentJunctionTree`; preset="printed" is not homogeneous.
    n_restarts, tol, stopping, max_iter, learning_rate, pseudo_counts : optional
        Of EM, as for `LatentJunctionTree`.
    max_memory : int or str
        Memory that the tables may need at most, in bytes or as "8GB"; a graph that needs more is refused
        before anything is allocated.
    negative, unknown, n_bins, compress, n_jobs, progress, random_state : optional
        As for `LatentTree`.

    Attributes
    ----------
    junction_ : JunctionTree
        The tree over sets of hidden variables; `tree_` and `topology_` are its shape.
    node_states_ : dict of str to int
        The states of each hidden variable.
    schema_, parameters_, diagnostics_
        As for `LatentTree`; ``diagnostics_["treewidth"]`` is that of the graph.

    Examples
    --------
    >>> import tacit
    >>> rows = tacit.toy.random_tree_model(n_leaves=6, random_state=0).sample(200, random_state=1)
    >>> model = tacit.HigherOrderHMM(order=2, n_states=2).fit(rows)
    >>> model.junction_.treewidth
    2
    """

    def __init__(
        self,
        order: int = 2,
        n_states: int | str = "auto",
        *,
        homogeneous: bool = False,
        learn: str = "auto",
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
        self.order = order
        self.n_states = n_states
        self.homogeneous = homogeneous
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

    def _graph(self, schema: Schema) -> tuple[list[tuple[str, str]], dict[str, str]]:
        check_count("order", self.order)
        edges, shared = [], {}
        hidden = _fresh_names("h", len(schema), schema)
        for time, column in enumerate(schema.names):
            before = hidden[max(0, time - self.order) : time]
            edges += [(earlier, hidden[time]) for earlier in before]
            edges.append((hidden[time], column))
            shared[column] = "emission"
            shared[hidden[time]] = f"start {time}" if time < self.order else "transition"
        return edges, shared


class FactorialHMM(ChainEstimator):
    """Several independent hidden chains that are observed together (Ghahramani and Jordan 1997).

    Every column is one place in time, in the order of the table. The chains are called ``a``, ``b``, ...,
    their hidden variables ``a0``, ``a1``, ...

    Parameters
    ----------
    n_chains : int
        How many chains there are.
    n_states : int or "auto"
        States of each hidden variable of each chain; "auto" tries 2, 3, 4 and 6 on held-out rows.
    homogeneous : bool
        Whether all places share one emission, and each chain has one transition. With learn="spectral" the
        chains are then taken to be in their stationary state from the start.
    learn, preset, n_views, features : optional
        How parameters are learnt, as for `LatentJunctionTree`; preset="printed" is not homogeneous.
    n_restarts, tol, stopping, max_iter, learning_rate, pseudo_counts : optional
        Of EM, as for `LatentJunctionTree`.
    max_memory : int or str
        Memory that the tables may need at most, in bytes or as "8GB"; a graph that needs more is refused
        before anything is allocated.
    negative, unknown, n_bins, compress, n_jobs, progress, random_state : optional
        As for `LatentTree`.

    Attributes
    ----------
    junction_ : JunctionTree
        The tree over sets of hidden variables; `tree_` and `topology_` are its shape.
    node_states_ : dict of str to int
        The states of each hidden variable.
    schema_, parameters_, diagnostics_
        As for `LatentTree`; ``diagnostics_["treewidth"]`` is that of the graph.

    Examples
    --------
    >>> import tacit
    >>> rows = tacit.toy.random_tree_model(n_leaves=5, random_state=0).sample(200, random_state=1)
    >>> model = tacit.FactorialHMM(n_chains=2, n_states=2).fit(rows)
    >>> sorted(model.node_states_)[:2]
    ['a0', 'a1']
    """

    def __init__(
        self,
        n_chains: int = 2,
        n_states: int | str = "auto",
        *,
        homogeneous: bool = False,
        learn: str = "auto",
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
        self.n_chains = n_chains
        self.n_states = n_states
        self.homogeneous = homogeneous
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

    def _graph(self, schema: Schema) -> tuple[list[tuple[str, str]], dict[str, str]]:
        check_count("n_chains", self.n_chains)
        check_memory(
            f"n_chains={shown(self.n_chains)}: the joint states of the chains",
            float(2 ** min(self.n_chains, 1000)),
            self.max_memory,
            "use fewer chains",
        )
        edges: list[tuple[str, str]] = []
        shared = {}
        for chain in range(self.n_chains):
            letter = chr(ord("a") + chain) if chain < 26 else f"chain{chain}_"
            hidden = _fresh_names(letter, len(schema), schema)
            for time, column in enumerate(schema.names):
                if time:
                    edges.append((hidden[time - 1], hidden[time]))
                edges.append((hidden[time], column))
                shared[column] = "emission"
                shared[hidden[time]] = f"{letter}: " + ("transition" if time else "start")
        return edges, shared


def _fresh_names(letter: str, count: int, schema: Schema) -> list[str]:
    """Names of hidden variables that no column has."""
    while any(f"{letter}{time}" in schema for time in range(count)):
        letter += "'"
    return [f"{letter}{time}" for time in range(count)]
