"""The mixture that `LatentTree()` selects with nothing set: trees with many states and simpler models.

The work is in proportion to the cells of the table: with few cells few trees are learnt, and a sample of a
large table says whether many states are worth it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.selection import surely_better
from tacit.trees.learn.learners import START_STATES
from tacit.trees.learn.selection.candidates import (
    CANDIDATES,
    FEW_CELLS,
    FEW_COLUMNS,
    FEWEST_ROWS,
    MOST_WORK,
    ROWS_FOR_TRIALS,
    TRIAL_STATES,
    Task,
    n_cells,
    part_of,
)
from tacit.trees.learn.selection.forests import (
    PSEUDO_COUNTS,
    Trained,
    TrainingData,
    enough_states,
    likeliest_states,
    many_states,
    train,
)
from tacit.trees.learn.selection.members import (
    Simple,
    best_number,
    chow_liu_member,
    em_member,
    independent_member,
)
from tacit.trees.learn.selection.mixtures import FRACTIONS, MOST_TREES, Forest, Member, grow
from tacit.trees.learn.selection.states import CANDIDATES as FEW_STATES
from tacit.trees.learn.selection.states import largest_useful_rank
from tacit.trees.learn.selection.structures import topology_for

if TYPE_CHECKING:
    from tacit.messages.rooted_tree import RootedTree
    from tacit.trees.structure.topology import Topology

Array = NDArray[np.float64]

# Numbers of states that are tried where cells are few, one by one: rows that repeat each other want many.
STATES_OF_FEW_CELLS = (16, 32, 64)
# A further tree of a mixture for so many cells, by effort; it ends earlier where more are not better. Where
# more than `TRIAL_STATES` states were better there are as many trees as help.
CELLS_PER_TREE = {"low": None, "default": 12_000, "high": 1_000}
# Tables of more cells are first looked at by a sample of so many: are few states enough?
CELLS_OF_SAMPLE, ROWS_OF_SAMPLE = 150_000, 2_000
SURELY = 2.0  # standard errors
# A mixture is kept where it is better than its best part by so many standard errors, and by so many nats of
# all held-out rows for each free weight.
MARGIN, NATS_PER_WEIGHT = 0.5, 0.5
MOST_FEW_STATES = 8  # beside trees with many states
SOME_STATES, SOME_CLASSES = (1, 2, 4, 8), (2, 4, 8, 16, 32)
CLASSES_OF_SAMPLE = (4, 16)
STAR_NUMBER = 1000  # of its random draws


@dataclass(frozen=True)
class FewStates:
    """How few states are enough, by a sample of the rows."""

    n_states: int  # of a tree
    n_classes: int | None  # None where classes do not count in a mixture with the tree


def few_are_enough(task: Task, data: TrainingData, record: dict[str, Any]) -> FewStates | None:
    """The numbers of states, where few of them are surely better than many by a sample of the rows.

    Only of large tables of at most `FEW_COLUMNS` columns; it saves the comparison of many states and trees.
    """
    if not task.is_free or data.held_out is None or len(task.table.schema) > FEW_COLUMNS:
        return None
    size = max(CELLS_OF_SAMPLE // len(task.table.schema), ROWS_OF_SAMPLE)
    if data.table.n_rows <= 2 * size:
        return None
    order = np.random.default_rng(data.seed).permutation(data.table.n_rows)[:size]
    task.report(0.0, f"a sample of {size} rows")
    sample = replace(data, table=data.table.take(np.sort(order)), others=())
    tree = sample.tree(CANDIDATES[0])
    few, _ = best_number(CANDIDATES[0], sample, task.settings, task.report, FEW_STATES[:7], tree)
    many = train(sample, many_states(tree, data.table.schema.cards, TRIAL_STATES), PSEUDO_COUNTS[0])
    if few is None or not surely_better(few.rows, many.rows, data.held_out.weights, SURELY):
        return None
    record["skipped"] = (
        f"many states and further trees: of a sample of {size} rows, {few.n_states} states are better "
        f"than {TRIAL_STATES} by more than {SURELY:g} standard errors"
    )
    return FewStates(few.n_states, _classes_that_count(task, sample, few))


def _classes_that_count(task: Task, sample: TrainingData, few: Simple) -> int | None:
    """How many classes count in a mixture with the tree; many are tried only where few gain anything."""
    weights, classes = sample.held_out_weights, None
    for numbers, margin in ((CLASSES_OF_SAMPLE[:1], MARGIN), (CLASSES_OF_SAMPLE, SURELY)):
        classes, _ = best_number("star", sample, task.settings, task.report, numbers)
        if classes is None:
            return None
        both = Forest.of([few, classes], weights)
        if not surely_better(both.rows, few.rows, weights, margin):
            return None
    assert classes is not None
    return classes.n_states


def select_mixture(
    task: Task,
    data: TrainingData,
    topology: Topology,
    methods: Sequence[str],
    record: dict[str, Any],
    few_of_sample: FewStates | None,
) -> Forest:
    """The mixture of trees and simpler models that held-out rows like best, or one of them alone.

    Parameters
    ----------
    task, data
    topology : Topology
        The selected tree.
    methods : sequence of str
        Structure learners for further trees.
    record : dict
        Gets the scores of all candidates.
    few_of_sample : FewStates or None
        Where few states are enough, see `few_are_enough`: nothing with many states is learnt.
    """
    tree = topology.rooted(task.table.schema.names)
    weights = data.held_out_weights
    few = _few_states(task, data, tree, record, few_of_sample)
    first = None
    if _learns_many(data, few_of_sample):
        first, scores = _many_states(task, data, tree)
        record["candidates"] = [*record.get("candidates", []), *scores]
    members: list[Member] = [member for member in (few, first) if member is not None]
    members += _simpler(task, data, first, record, few_of_sample)
    if task.settings.effort == "high" and few is not None and few.n_states > 1:
        members.append(em_member("tree", few.n_states, data, task.settings, tree))
    forest = Forest.of(members, weights)
    if first is not None:
        report = part_of(task.report, 0.5, 0.9)
        fractions = FRACTIONS if n_cells(task.table) >= FEW_CELLS else FRACTIONS[:1]
        most = _further_trees(task, first)
        forest = grow(data, forest, first, methods, most, report, fractions=fractions)
    forest = forest.without_light(weights)
    best = max(members, key=lambda member: member.score)
    if few is not None and not surely_better(best.rows, few.rows, weights):
        best = few
    record["members"] = [member.as_dict() for member in members]
    return forest if _is_worth_it(forest, best, weights) else Forest.of([best], weights)


def _is_worth_it(forest: Forest, best: Member, held_out_weights: Array | None) -> bool:
    """Whether a mixture is better than its best part, by more than its weights could gain by chance."""
    n_rows = float(len(best.rows) if held_out_weights is None else held_out_weights.sum())
    gain = (forest.score - best.score) * n_rows
    by_chance = NATS_PER_WEIGHT * (len(forest.trees) - 1)
    return gain > by_chance and surely_better(forest.rows, best.rows, held_out_weights, MARGIN)


def _learns_many(data: TrainingData, few_of_sample: FewStates | None) -> bool:
    """Whether trees with many states are learnt, too."""
    return few_of_sample is None and data.table.n_rows >= ROWS_FOR_TRIALS


def _few_states(
    task: Task,
    data: TrainingData,
    tree: RootedTree,
    record: dict[str, Any],
    few_of_sample: FewStates | None,
) -> Simple | None:
    """The tree with few states; None of many columns and many rows."""
    if len(task.table.schema) > FEW_COLUMNS and data.table.n_rows >= FEWEST_ROWS:
        return None
    spectra = largest_useful_rank(tree, data.moments.pairs(), data.moments.n_rows)
    # Pairs show linear dependence only; joint categories may support up to twice as many.
    least = 1 if few_of_sample is None else few_of_sample.n_states
    most = max(2, 2 * spectra.rank, least)
    most = min(most, START_STATES if few_of_sample is not None else MOST_FEW_STATES)
    some = SOME_STATES if _learns_many(data, few_of_sample) else FEW_STATES
    candidates = [k for k in some if least <= k <= most]
    if few_of_sample is not None:
        candidates = candidates[:2]
    report = part_of(task.report, 0.2, 0.4)
    few, scores = best_number("tree", data, task.settings, report, candidates, tree)
    record.update(candidates=scores, edges=spectra.edges)
    return few


def _many_states(
    task: Task, data: TrainingData, tree: RootedTree
) -> tuple[Trained, list[dict[str, Any]]]:
    """The tree with many states, and the candidates."""
    report = part_of(task.report, 0.4, 0.5)
    if n_cells(task.table) < FEW_CELLS:
        return enough_states(data, tree, report, STATES_OF_FEW_CELLS)
    return likeliest_states(data, tree, report)


def _simpler(
    task: Task,
    data: TrainingData,
    first: Trained | None,
    record: dict[str, Any],
    few_of_sample: FewStates | None,
) -> list[Member]:
    """Latent classes, the Chow-Liu tree and independent columns."""
    members: list[Member] = [chow_liu_member(data), independent_member(data, task.settings)]
    report = part_of(task.report, 0.4, 0.5)
    sizes: tuple[int, ...] = SOME_CLASSES
    if task.settings.effort == "high":
        sizes = FEW_STATES[1:]
    elif few_of_sample is not None:
        n_classes = few_of_sample.n_classes
        sizes = () if n_classes is None else (n_classes,)
    if n_cells(task.table) < FEW_CELLS or first is None:
        classes, scores = best_number("star", data, task.settings, report, sizes)
        record["classes"] = scores
        members += [] if classes is None else [classes]
    else:
        star = topology_for("star", data.moments, task.table.schema.names)
        tree = star.rooted(task.table.schema.names)
        lay = many_states(tree, task.table.schema.cards, first.n_states)
        members.append(train(data, lay, first.pseudo_counts, STAR_NUMBER))
    return members


def _further_trees(task: Task, first: Trained) -> int:
    """How many trees there may be beside the first."""
    per_tree = CELLS_PER_TREE[task.settings.effort]
    if per_tree is None:
        return 0
    work = task.table.n_rows * int(first.tables.layout.columns[first.tables.tree.n_leaves :].sum())
    most = int(min(MOST_TREES - 1, max(MOST_WORK // work - 1, 0)))
    if first.n_states > TRIAL_STATES:
        return most
    return int(min(most, 1 + n_cells(task.table) // per_tree))
