"""Trees of kernel features, learnt from their moments (thesis, chapter 6).

The structure is learnt with one bandwidth; the features at the leaves have another, smaller one: a cell
enters as a likelihood smoothed by it, which more rows do not sharpen. Held-out rows choose it, together with
the rank and the number of views, and it shrinks with the number of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.core.selection import surely_better
from tacit.numbers.learn.bins import LearntTree, Trial
from tacit.numbers.learn.grouped_columns import GroupedColumns
from tacit.numbers.learn.kernel_selection import RATE, Search, best_choice, fitted_operators
from tacit.numbers.structure.groups import Units
from tacit.numbers.structure.leaves import with_leaves_only
from tacit.numbers.structure.pairs import pair_topology
from tacit.trees.learn.learners import Learnt
from tacit.trees.learn.number_features import Split
from tacit.trees.learn.selection.structures import (
    STRUCTURES,
    parse_topology,
    structure_from_distances,
)
from tacit.trees.learn.settings import Settings
from tacit.trees.structure.chow_liu import chow_liu_topology
from tacit.trees.structure.topology import Topology
from tacit.trees.structure.tree_formats import parts_of

if TYPE_CHECKING:
    from tacit.core.encoders.kernel_shapes import Kernel, TabulatedKernel
    from tacit.core.input.mixed_table import MixedTable
    from tacit.core.progress import Report

# Candidate structures; the first is kept unless another is significantly better.
CANDIDATES = ("refined-joining", "chow-liu-joining", "neighbor-joining")
# Candidate bandwidths of the metric, in median distances; the first is kept in the same way.
METRIC_BANDWIDTHS = (1.0, 0.5)
# Rows for model selection: fewer where there are many features, but never fewer than MIN_ROWS.
MAX_ROWS, MAX_WORK, MIN_ROWS = 20_000, 2e10, 3000


@dataclass(frozen=True, eq=False)
class KernelOptions:
    """The arguments of `KernelTree` for learning by kernels."""

    structure: Any
    n_states: Any
    bandwidth: float | str
    metric_bandwidth: float | str
    kernel: Kernel | TabulatedKernel
    units: Units  # columns and groups of columns
    columns: tuple[str, ...]
    normal_scores: bool
    n_features: int | str
    tolerance: float
    n_views: int | str
    blend: bool  # whether other predictors are averaged in, which needs a trial
    settings: Settings
    report: Report


def learn_by_kernels(
    table: MixedTable, validation: MixedTable | None, options: KernelOptions
) -> LearntTree:
    """Tree, ranks, bandwidth and operators, as far as they are not given."""
    options.report(0.0, "densities of the columns")
    columns = GroupedColumns(
        table,
        options.normal_scores,
        options.n_features,
        options.tolerance,
        options.kernel,
        options.units,
    )
    work = MAX_WORK / (columns.most_features * len(table.schema)) ** 2
    n_rows = int(min(max(work, MIN_ROWS), MAX_ROWS))
    split = Split.of(table, validation, options.settings.seed, n_rows)
    topology, record = _best_tree(columns, split, options)
    choice, record["candidates"] = best_choice(columns, split, topology, options)
    if isinstance(options.bandwidth, str):
        shrunk = choice.bandwidth * (split.learning.n_rows / table.n_rows) ** RATE
        choice = replace(choice, bandwidth=shrunk)
    options.report(0.8, "moments of all rows")
    moments = columns.moments(table, choice.bandwidth)
    network, report = fitted_operators(topology, moments, choice, options)
    units_tree = topology
    if options.units.grouped:
        topology = options.units.topology(topology, table.schema.names)
    trials: tuple[Trial, ...] = ()
    if options.blend and split.judging is not None:
        again = columns.moments(split.learning, choice.bandwidth)
        trial = Trial(
            fitted_operators(units_tree, again, choice, options)[0], split.judging, split.numbers
        )
        trials = (trial,)
    record.update(
        bandwidth=choice.bandwidth,
        rank=choice.rank,
        n_views=choice.n_views,
        n_features=list(moments.cards),
        **report,
    )
    return LearntTree(
        Learnt(network, record),
        columns.encoders(choice.bandwidth),
        topology,
        network.tree,
        moments.pairs().counts,
        trials,
        columns.margins,
    )


def _in_order(topology: Topology, names: Sequence[str]) -> Topology:
    """The tree with its observed nodes in the order of the columns."""
    if topology.observed == tuple(names):
        return topology
    return replace(topology, observed=tuple(names))


def _given_tree(structure: Any, names: Sequence[str]) -> Topology:
    """The tree that a user gave; between two columns a hidden node stays, where there is one."""
    topology = parse_topology(structure, names)
    if len(names) == 2:
        raw = (
            structure if isinstance(structure, Topology) else Topology(*parts_of(structure, names))
        )
        return pair_topology(names) if raw.hidden else topology
    return _hung(topology)


def _hung(topology: Topology) -> Topology:
    """The tree as kernels learn it: without hidden nodes, or with observed variables at the leaves only."""
    return with_leaves_only(topology) if topology.hidden else topology


def _best_tree(
    columns: GroupedColumns, split: Split, options: KernelOptions
) -> tuple[Topology, dict[str, Any]]:
    """The given tree, or the candidate with the best held-out score, and the scores of all."""
    names = options.units.names
    structure, named = options.structure, isinstance(options.structure, str)
    if named and structure in {"auto", *STRUCTURES}:
        if len(names) == 2 and structure != "chow-liu":
            return pair_topology(names), {}
        if len(names) < 3:
            return chow_liu_topology([(0, 1)][: len(names) - 1], names), {}
    else:
        return _in_order(_given_tree(structure, names), names), {}
    options.report(0.1, "distances between columns")
    rows = split.learning
    methods = CANDIDATES if structure == "auto" else (structure,)
    bandwidths: tuple[float, ...] = METRIC_BANDWIDTHS
    if not isinstance(options.metric_bandwidth, str):
        bandwidths = (options.metric_bandwidth,)
    if split.judging is None:
        bandwidths, methods = bandwidths[:1], methods[:1]
    trees = {}
    for bandwidth in bandwidths:
        distances = columns.distances(rows, bandwidth)
        for name in methods:
            topology = structure_from_distances(name, names, distances, rows.n_rows).topology
            trees[name, bandwidth] = _in_order(_hung(topology), names)
    first = methods[0], bandwidths[0]
    if split.judging is None or len(set(trees.values())) == 1:
        return trees[first], {}
    search = Search(columns, split, options)
    scores = {}
    for key, tree in trees.items():
        options.report(0.2, f"trying {key[0]}")
        scores[key] = search.rows(tree, search.first)
    means = {key: np.average(rows, weights=split.judging.weights) for key, rows in scores.items()}
    record = {
        "structures": [
            {"structure": name, "metric_bandwidth": bandwidth, "score": float(score)}
            for (name, bandwidth), score in means.items()
        ]
    }
    chosen = max(means, key=lambda key: means[key])
    if not surely_better(scores[chosen], scores[first], split.judging.weights):
        chosen = first
    return trees[chosen], record
