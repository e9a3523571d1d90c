"""HMMs of higher order, and factorial HMMs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tacit.core.arguments import check_choice, check_count, check_rows, preset_contradiction
from tacit.core.limits import MOST_MEMORY, check_memory, shown
from tacit.core.model import checked_summary
from tacit.errors import DataError, FileFormatError
from tacit.junction.latent_junction_tree import JunctionEstimator
from tacit.junction.model_files import HIGHER_ORDER_FILE, order_of

if TYPE_CHECKING:
    from tacit.core.input.table import Schema, Table
    from tacit.core.summary import Summary
    from tacit.junction.structure.graphs import LatentGraph, VariableGraph


# Orders that are compared at most, and that of the plan of a chain whose order is open.
MOST_ORDER, PLANNED_ORDER = 7, 2


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
    order : int or "auto"
        Number of previous states that a state depends on; 0 for independent columns. "auto": held-out rows
        choose; 0, 1, 2, ... are compared as long as a longer memory is better, and 0, 1 and 2 in any case.
    n_states : int or "auto"
        States of each hidden variable; "auto" compares 1 (independent columns), 2, 3, 4 and 6 on held-out
        rows. With order 0 it is always 1.
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
    order_ : int
        The order, as given or as held-out rows chose it.
    node_states_ : dict of str to int
        The states of each hidden variable.
    schema_, parameters_, diagnostics_
        As for `LatentTree`; ``diagnostics_["treewidth"]`` is that of the graph,
        ``diagnostics_["candidates"]`` has the orders and numbers of states that were compared, with the mean
        log-likelihood of the held-out rows, and ``"finalists"`` the same by five-fold cross-validation, which
        decides where there are 2000 rows or fewer. A larger model is kept only where it is better than a
        smaller one by a quarter of the standard error of their difference, and any but order 0 only where it
        is better than that by a whole one and 0.001 nats.

    Notes
    -----
    The work of the choice is at most in proportion to the cells of the table: candidates of order 2 or more
    with more than 100 joint states of a hidden variable and those before it are left out, and named in
    ``diagnostics_["skipped"]``; for tables of more than 300,000 cells a part of the rows chooses
    (``"rows_compared"``).

    Examples
    --------
    >>> import tacit
    >>> rows = tacit.toy.random_tree_model(n_leaves=6, random_state=0).sample(200, random_state=1)
    >>> model = tacit.HigherOrderHMM(order=2, n_states=2).fit(rows)
    >>> model.junction_.treewidth
    2
    >>> chosen = tacit.HigherOrderHMM(order="auto").fit(rows)
    >>> chosen.order_ in {candidate["order"] for candidate in chosen.diagnostics_["candidates"]}
    True
    """

    order_: int
    _file = HIGHER_ORDER_FILE

    def __init__(
        self,
        order: int | str = "auto",
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

    def _latent_graph(self, schema: Schema) -> LatentGraph:
        order = self._given_order()
        return self._of_order(schema, PLANNED_ORDER if order is None else order)

    def _latent_graphs(self, schema: Schema) -> list[LatentGraph]:
        if self._given_order() is not None:
            return [self._latent_graph(schema)]
        if self.preset is not None:
            raise preset_contradiction(
                "order", self.order, "a number: nothing is chosen by held-out rows"
            )
        orders = range(min(MOST_ORDER, len(schema) - 1) + 1)
        return [self._of_order(schema, order) for order in orders]

    def _keep_graph(self, latent: LatentGraph) -> None:
        assert latent.order is not None
        self.order_ = latent.order

    def _restore(self, values: Mapping[str, Any]) -> None:
        super()._restore({name: values[name] for name in values if name != "order_"})
        order = order_of(self.junction_)
        saved = values.get("order_")
        saved = self.order if saved is None else saved
        # More than there are columns before the last is the same as all of them.
        if isinstance(saved, str) or min(saved, len(self.schema_) - 1) != order:
            raise FileFormatError(f"has order {saved}, but a chain of order {order}")
        self.order_ = saved

    @checked_summary
    def summary(self) -> Summary:
        """What was learnt, on a page: the order, what it was compared with, a profile of every state."""
        page = super().summary()
        return replace(page, title=f"{page.title}, order {self.order_}")

    def _fitted_graph(self) -> LatentGraph:
        return self._of_order(self.schema_, self.order_)

    def _given_order(self) -> int | None:
        """The order; None where held-out rows choose it."""
        if isinstance(self.order, str):
            check_choice("order", self.order, ("auto",))
            return None
        check_rows("order", self.order)
        return int(self.order)

    def _of_order(self, schema: Schema, order: int) -> LatentGraph:
        """The graph of an order, and those of lower orders that it contains."""
        from tacit.junction.structure.graphs import LatentGraph

        edges, shared = [], {}
        hidden = _fresh_names("h", len(schema), schema)
        for time, column in enumerate(schema.names):
            before = hidden[max(0, time - order) : time]
            edges += [(earlier, hidden[time]) for earlier in before]
            edges.append((hidden[time], column))
            shared[column] = "emission"
            shared[hidden[time]] = f"start {time}" if time < order else "transition"
        lower = self._of_order(schema, order - 1) if 1 < order <= MOST_ORDER else None
        graph = _cached_graph(tuple(edges))
        return LatentGraph(graph, shared if self.homogeneous else {}, order, lower)


class FactorialHMM(ChainEstimator):
    """Several independent hidden chains that are observed together (Ghahramani and Jordan 1997).

    Every column is one place in time, in the order of the table. The chains are called ``a``, ``b``, ...,
    their hidden variables ``a0``, ``a1``, ...

    Parameters
    ----------
    n_chains : int
        How many chains there are.
    n_states : int or "auto"
        States of each hidden variable of each chain; "auto" compares 1 (independent columns), 2, 3, 4 and 6
        on held-out rows.
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
