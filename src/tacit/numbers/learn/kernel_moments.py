"""Numbers and categories learnt by the moments of their features (thesis, chapter 6).

One bandwidth for the metric that tells the structure, another, smaller, for the features at the leaves: a
cell enters as a likelihood that is blurred by it, and that blur does not go away with more rows. It is chosen
by held-out rows, together with the rank and the number of views, and shrinks with the number of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.core.selection import surely_better
from tacit.numbers.learn.bins import Learned, Trial
from tacit.numbers.learn.kernel_selection import RATE, Search, chosen_by_rows, fitted_operators
from tacit.numbers.structure.leaves import with_leaves_only
from tacit.numbers.structure.pairs import pair_topology
from tacit.trees.learn.learners import Learnt, Settings
from tacit.trees.learn.number_features import FeatureColumns, Split, metric_distances
from tacit.trees.learn.structures import STRUCTURES, found_in_distances, parsed_topology
from tacit.trees.structure.topology import Topology

if TYPE_CHECKING:
    from tacit.core.input.mixed_table import MixedTable
    from tacit.core.progress import Report

# Trees that are tried where none is given; the first is left only for one that is surely better.
CANDIDATES = ("refined-joining", "chow-liu-joining", "neighbor-joining")
# Bandwidths of the metric that are tried, in median distances; the first is left for a surely better one.
METRIC_BANDWIDTHS = (1.0, 0.5)
# Rows that choices are made with: so many, fewer where features are many, but some in any case.
MOST_ROWS, MOST_WORK, ROWS_IN_ANY_CASE = 20_000, 2e10, 3000


@dataclass(frozen=True, eq=False)
class Asked:
    """What a user wants learnt by kernels."""

    structure: Any
    n_states: Any
    bandwidth: float | str
    metric_bandwidth: float | str
    normal_scores: bool
    n_features: int | str
    n_views: int | str
    blend: bool  # whether a Gaussian beside the tree is wanted, which needs a trial
    settings: Settings
    report: Report


def learn_by_kernels(table: MixedTable, validation: MixedTable | None, asked: Asked) -> Learned:
    """Tree, ranks, bandwidth and operators, as far as they were left open."""
    asked.report(0.0, "the columns' own densities")
    columns = FeatureColumns(table, asked.normal_scores, asked.n_features)
    work = MOST_WORK / (columns.most_features * len(table.schema)) ** 2
    most = int(min(max(work, ROWS_IN_ANY_CASE), MOST_ROWS))
    split = Split.of(table, validation, asked.settings.seed, most)
    topology, record = _chosen_tree(columns, split, asked)
    choice, tried = chosen_by_rows(columns, split, topology, asked)
    record["candidates"] = tried
    if isinstance(asked.bandwidth, str):
        shrunk = choice.bandwidth * (split.learning.n_rows / table.n_rows) ** RATE
        choice = replace(choice, bandwidth=shrunk)
    asked.report(0.8, "moments of all rows")
    moments = columns.moments(table, choice.bandwidth)
    network, report = fitted_operators(topology, moments, choice, asked)
    trials: tuple[Trial, ...] = ()
    if asked.blend and split.judging is not None:
        again = columns.moments(split.learning, choice.bandwidth)
        trial = Trial(
            fitted_operators(topology, again, choice, asked)[0], split.judging, split.numbers
        )
        trials = (trial,)
    record.update(
        bandwidth=choice.bandwidth,
        rank=choice.rank,
        n_views=choice.n_views,
        n_features=list(moments.cards),
        **report,
    )
    return Learned(
        Learnt(network, record),
        columns.encoders(choice.bandwidth),
        topology,
        topology.rooted(table.schema.names),
        moments.pairs().counts,
        trials,
        columns.margins,
    )


def _in_order(topology: Topology, names: Sequence[str]) -> Topology:
    """The tree with its observed nodes in the order of the columns."""
    if topology.observed == tuple(names):
        return topology
    return replace(topology, observed=tuple(names))


def _chosen_tree(
    columns: FeatureColumns, split: Split, asked: Asked
) -> tuple[Topology, dict[str, Any]]:
    """The tree that was asked for, or that held-out rows like best, and the record of those tried."""
    names = columns.table.schema.names
    structure, named = asked.structure, isinstance(asked.structure, str)
    if len(names) < 3:
        return (pair_topology(names) if len(names) == 2 else Topology.star(names)), {}
    if not (named and structure in {"auto", *STRUCTURES}):
        return _in_order(with_leaves_only(parsed_topology(structure, names)), names), {}
    asked.report(0.1, "distances between columns")
    rows = split.learning
    methods = CANDIDATES if structure == "auto" else (structure,)
    widths: tuple[float, ...] = METRIC_BANDWIDTHS
    if not isinstance(asked.metric_bandwidth, str):
        widths = (asked.metric_bandwidth,)
    if split.judging is None:
        widths, methods = widths[:1], methods[:1]
    trees = {}
    for width in widths:
        distances = metric_distances(rows, width)
        for name in methods:
            found = found_in_distances(name, names, distances, rows.n_rows).topology
            trees[name, width] = _in_order(with_leaves_only(found), names)
    first = methods[0], widths[0]
    if split.judging is None or len(set(trees.values())) == 1:
        return trees[first], {}
    search = Search(columns, split, asked)
    scores = {}
    for key, tree in trees.items():
        asked.report(0.2, f"trying {key[0]}")
        scores[key] = search.rows(tree, search.first)
    means = {key: np.average(each, weights=split.judging.weights) for key, each in scores.items()}
    record = {
        "structures": [
            {"structure": name, "metric_bandwidth": width, "score": float(score)}
            for (name, width), score in means.items()
        ]
    }
    chosen = max(means, key=lambda key: means[key])
    if not surely_better(scores[chosen], scores[first], split.judging.weights):
        chosen = first
    return trees[chosen], record
