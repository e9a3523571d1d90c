"""Structures learnt from a table, each learner by its name."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.arguments import check_choice, check_count, did_you_mean
from tacit.errors import ArgumentError, MissingDataError
from tacit.trees.learn.kernel_metric import KernelArguments, printed_joining
from tacit.trees.structure.topology import Topology

if TYPE_CHECKING:
    from tacit.core.progress import Report
    from tacit.trees.moments.source import Moments
    from tacit.trees.structure.distance_matrices import Edges
    from tacit.trees.structure.distances import Distances

# Those that are learnt from distances between columns, and the others.
BY_DISTANCE = (
    "refined-joining",
    "neighbor-joining",
    "chow-liu-joining",
    "recursive-grouping",
    "chow-liu-grouping",
)
STRUCTURES = (*BY_DISTANCE, "chow-liu", "hidden-chow-liu", "star")
METRICS = ("discrete", "gaussian", "nonparanormal", "kernel")
# Shorter edges between hidden nodes than this are contracted.
SHORTEST = 1e-9


@dataclass(frozen=True, eq=False)
class LearntStructure:
    """A learnt tree, and the distances that it was learnt from, if any."""

    topology: Topology
    distances: Distances | None = None

    @property
    def n_unsupported(self) -> int:
        """Pairs of columns whose distance the data cannot support."""
        if self.distances is None:
            return 0
        return int(np.count_nonzero(np.triu(~self.distances.supported, k=1)))


def learn_structure(
    data: Any,
    method: str = "refined-joining",
    *,
    n_states: int | None = None,
    metric: str = "discrete",
    rank: int | str | None = "auto",
    bandwidth: float = 1.0,
    centred: bool | str = "auto",
    whiten: bool | str = "auto",
    preset: str | None = None,
    n_bins: int = 5,
    sample_weight: Any = None,
    n_jobs: int | None = None,
    progress: Any = None,
) -> Topology:
    """The tree over the columns of a table, with hidden nodes where they are needed.

    The tree alone: `LatentTree` with the same name as `structure` learns numbers of states and parameters as
    well.

    Parameters
    ----------
    data : table
        See `LatentTree.fit`.
    method : str
        "refined-joining", the default: the better of the next two, after branches that fit better elsewhere
        were moved; in benchmarks nearest to the truth. "neighbor-joining": Saitou and Nei (1987); every
        hidden node has three neighbours. "chow-liu-joining": the same within the neighbourhoods of a spanning
        tree; better where trees are deep. "recursive-grouping" and "chow-liu-grouping": Choi et al.
        (2011); any number of neighbours, and columns may stand inside the tree. "chow-liu": no hidden
        nodes. "hidden-chow-liu": a hidden node above every column, joined as the Chow-Liu tree. "star":
        one hidden node.
    n_states : int, optional
        States of the hidden nodes, as far as distances are concerned: the product of one singular value less
        of each pair counts. None: the size of all of them, which needs no number and measured as well.
    metric : {"discrete", "gaussian", "nonparanormal", "kernel"}
        The basis of distances: counts of categories; correlations of numbers; correlations of the
        numbers' normal scores, which no monotone change of a column alters; covariances of kernel features
        of numbers and indicators of categories, which detect any kind of dependence.
    rank : int, None or "auto"
        Of "kernel": the number of singular values that count; None: the size of all of them. "auto" is 1,
        and 2 without centring.
    bandwidth : float
        Of "kernel": a multiple of the median distance of two rows.
    centred, whiten : bool or "auto"
        Of "kernel": whether means of the features are subtracted, and whether features are scaled so that
        they vary alike in all directions. "auto": yes, and no as printed.
    preset : None or "printed"
        Of "kernel": "printed" is Algorithm 10 of Parikh (2015), neighbour joining of equation 6.18: features
        as they are, no ceiling of distances, every hidden node with three neighbours. `rank` must be given.
    n_bins : int
        Bins into which a column of many floats is cut ("discrete").
    sample_weight : (row,) array, optional
        Of "discrete" only.
    n_jobs : int or None
        Threads.
    progress : None, bool or callable
        True draws a bar on a terminal; a callable gets (fraction done, text).

    Returns
    -------
    Topology
        With lengths of edges where the method gives them.

    Raises
    ------
    ArgumentError
        A name is not known, or arguments do not go together.
    DataError
        The data are no table, or no numbers where the metric needs them.

    Examples
    --------
    >>> import tacit
    >>> truth = tacit.toy.random_tree_model(topology=tacit.toy.balanced(2, 3), random_state=0)
    >>> rows = truth.sample(20_000, random_state=1)
    >>> learnt = tacit.learn_structure(rows, "neighbor-joining")
    >>> tacit.evaluate.robinson_foulds(learnt, truth.topology)
    0.0
    """
    return structure_and_distances(
        data,
        method,
        n_states=n_states,
        metric=metric,
        kernel=KernelArguments(rank, bandwidth, centred, whiten, preset),
        n_bins=n_bins,
        sample_weight=sample_weight,
        n_jobs=n_jobs,
        progress=progress,
    ).topology


def structure_and_distances(
    data: Any,
    method: str,
    *,
    n_states: int | None = None,
    metric: str = "discrete",
    kernel: KernelArguments | None = None,
    n_bins: int = 5,
    sample_weight: Any = None,
    n_jobs: int | None = None,
    progress: Any = None,
) -> LearntStructure:
    """The tree of `learn_structure`, with the distances that it was learnt from."""
    from tacit.core.progress import reporting
    from tacit.core.threads import limit_threads

    check_choice("method", method, STRUCTURES)
    check_choice("metric", metric, METRICS)
    check_count("n_states", n_states, none_is="any number")
    if metric != "discrete" and (n_states is not None or sample_weight is not None):
        odd = "n_states" if n_states is not None else "sample_weight"
        raise ArgumentError(f'{odd} belongs to metric="discrete"; leave it out for {metric!r}')
    kernel = kernel or KernelArguments()
    if metric != "kernel":
        kernel.check_unused(metric)
    with limit_threads(n_jobs), reporting(progress) as report:
        report(0.0, "reading")
        if metric == "discrete":
            return _structure_from_categories(data, method, n_states, n_bins, sample_weight, report)
        if metric == "kernel":
            return _structure_from_features(data, method, kernel, report)
        return _structure_from_numbers(data, method, metric, report)


def topology_for(
    name: str, moments: Moments, names: Sequence[str], n_states: int | None = None
) -> Topology:
    """The tree that a structure learner learns from the counts of all pairs.

    Parameters
    ----------
    name : str
        One of `STRUCTURES`.
    moments : Moments
    names : sequence of str
        The columns.
    n_states : int, optional
        See `learn_structure`.

    Examples
    --------
    >>> from tacit.trees.moments.source import CountedMoments
    >>> moments = CountedMoments.of([[0, 0], [0, 1], [1, 0], [1, 1]], cards=(2, 2))
    >>> topology_for("chow-liu", moments, ["a", "b"])
    Topology(2 observed, 0 hidden)
    """
    counts = moments.pairs().counts
    n_rows = math.inf if math.isinf(moments.n_rows) else None
    return _structure_from_counts(name, counts, moments.cards, names, n_rows, n_states).topology


def given_topology(structure: Any, moments: Moments, names: Sequence[str]) -> Topology:
    """The tree that a user requested, over the columns of a table.

    Parameters
    ----------
    structure : str, Topology, path, networkx tree or edges
        The name of a structure learner (one of `STRUCTURES`), or a tree.
    moments : Moments
        Its pairs are counted where the tree is to be learnt.
    names : sequence of str
        The columns.
    """
    if isinstance(structure, str) and structure in STRUCTURES:
        if structure == "star":
            return _star(tuple(names))  # needs no data
        return topology_for(structure, moments, names)
    return parse_topology(structure, names)


def parse_topology(structure: Any, names: Sequence[str]) -> Topology:
    """The tree that a user gave, over columns of these names."""
    try:
        return Topology.parse(structure, names)
    except MissingDataError as error:
        known = ("auto", *STRUCTURES)
        raise ArgumentError(
            f"structure={structure!r} is not known{did_you_mean(structure, known)} Choose one of {known}, "
            f"Newick text (';' ends it), or an existing file"
        ) from error


# -- within -----------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def _star(names: tuple[str, ...]) -> Topology:
    """The star over some columns; cached, because properties of a tree are cached with it."""
    return Topology.star(names)


def _structure_from_categories(
    data: Any, method: str, n_states: int | None, n_bins: int, sample_weight: Any, report: Report
) -> LearntStructure:
    from tacit.core.input.read_table import read_table
    from tacit.trees.moments.source import CountedMoments

    table = read_table(data, n_bins=n_bins, sample_weight=sample_weight, cut_integers=True)
    cards, names = table.schema.cards, table.schema.names
    report(0.2, "counting pairs")
    moments = CountedMoments.of(table.codes, cards, table.weights)
    counts = moments.pairs().counts
    report(0.5, f"{method} of {len(names)} columns")
    return _structure_from_counts(method, counts, cards, names, None, n_states)


def _structure_from_counts(
    name: str,
    counts: NDArray[np.number],
    cards: Sequence[int],
    names: Sequence[str],
    n_rows: float | None,
    n_states: int | None,
) -> LearntStructure:
    from tacit.trees.structure.chow_liu import chow_liu_edges

    n_values = None if n_states is None else max(min([n_states, *cards]), 2)
    if n_rows is None:
        n_rows = _rows_of_pairs(counts, cards)
    # With missing cells each pair has its own number of rows, which follows from its counts.
    stated = n_rows if math.isinf(n_rows) or n_rows <= 1 else None

    def distances() -> Distances:
        from tacit.trees.structure.distances import discrete_distances

        return discrete_distances(counts, cards, n_values, stated)

    per_degree = 0.0
    if name == "hidden-chow-liu" and 1 < n_rows < math.inf:
        per_degree = math.log(n_rows) / (2 * n_rows)
    edges = partial(chow_liu_edges, counts, cards, per_degree=per_degree)
    return _learnt_structure(name, names, edges, distances, n_rows, n_values or 2)


def _rows_of_pairs(counts: NDArray[np.number], cards: Sequence[int]) -> float:
    """Rows that have two columns, the mean over all pairs."""
    starts = np.cumsum([0, *cards[:-1]])
    rows = np.add.reduceat(np.add.reduceat(counts, starts, axis=0), starts, axis=1)
    off_diagonal = ~np.eye(len(cards), dtype=bool)
    return float(rows[off_diagonal].mean()) if len(cards) > 1 else float(rows.sum())


def _structure_from_numbers(data: Any, method: str, metric: str, report: Report) -> LearntStructure:
    from tacit.core.input.number_matrix import read_numbers
    from tacit.trees.structure.distances import gaussian_distances, nonparanormal_distances

    names, numbers = read_numbers(data)
    report(0.3, "distances")
    measure = gaussian_distances if metric == "gaussian" else nonparanormal_distances
    distances = measure(numbers)
    report(0.5, f"{method} of {len(names)} columns")
    return structure_from_distances(method, names, distances, len(numbers))


def _structure_from_features(
    data: Any, method: str, kernel: KernelArguments, report: Report
) -> LearntStructure:
    from tacit.core.input.read_mixed_table import read_mixed

    metric = kernel.metric(method)
    table = read_mixed(data)
    report(0.3, "distances")
    distances = metric.distances(table)
    report(0.5, f"{method} of {len(table.schema)} columns")
    if metric.printed:
        return LearntStructure(printed_joining(distances, table.schema.names), distances)
    return structure_from_distances(method, table.schema.names, distances, table.n_rows)


def structure_from_distances(
    method: str, names: Sequence[str], distances: Distances, n_rows: float
) -> LearntStructure:
    """The tree that a structure learner learns from distances between columns.

    Parameters
    ----------
    method : str
        One of `STRUCTURES`.
    names : sequence of str
        The columns.
    distances : Distances
    n_rows : float
        Rows behind them.
    """
    from tacit.trees.structure.distance_matrices import maximum_spanning_tree

    return _learnt_structure(
        method,
        names,
        lambda: maximum_spanning_tree(-distances.values),
        lambda: distances,
        n_rows,
        2,
    )


def _learnt_structure(
    name: str,
    names: Sequence[str],
    edges: Callable[[], Edges],
    distances: Callable[[], Distances],
    n_rows: float,
    n_states: int,
) -> LearntStructure:
    """The tree of a structure learner; `edges` gives a spanning tree, `distances` distances, where needed."""
    from tacit.trees.structure.chow_liu import chow_liu_topology, hidden_chow_liu

    if len(names) < 3:  # there is one tree
        return LearntStructure(chow_liu_topology([(0, 1)][: len(names) - 1], names))
    if name == "star":
        return LearntStructure(Topology.star(names))
    if name == "chow-liu":
        return LearntStructure(chow_liu_topology(edges(), names))
    if name == "hidden-chow-liu":
        return LearntStructure(hidden_chow_liu(edges(), names))
    measured = distances()
    if name in {"neighbor-joining", "chow-liu-joining"}:
        from tacit.trees.structure.neighbour_joining import chow_liu_joining, neighbor_joining
        from tacit.trees.structure.short_edges import contract_short

        join = neighbor_joining if name == "neighbor-joining" else chow_liu_joining
        tree = join(measured.values, names, supported=measured.supported, clip=True)
        # An edge of zero length between hidden nodes is more likely wrong than right.
        return LearntStructure(contract_short(tree, SHORTEST), measured)
    from tacit.trees.structure.recursive_grouping import chow_liu_grouping, recursive_grouping
    from tacit.trees.structure.refined_joining import refined_joining

    learn = {
        "refined-joining": refined_joining,
        "recursive-grouping": recursive_grouping,
        "chow-liu-grouping": chow_liu_grouping,
    }[name]
    rows = None if math.isinf(n_rows) else max(n_rows, 2.0)
    tree = learn(
        measured.values, names, supported=measured.supported, n_rows=rows, n_states=n_states
    )
    return LearntStructure(tree, measured)
