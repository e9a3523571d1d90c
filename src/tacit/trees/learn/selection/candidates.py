"""What `LatentTree` selects by held-out rows: structure, numbers of states, one tree or several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.progress import silent
from tacit.core.selection import surely_better
from tacit.core.threads import n_threads
from tacit.messages.network import layout
from tacit.trees.learn.learners import START_STATES, Job
from tacit.trees.learn.selection.forests import (
    PSEUDO_COUNTS,
    Trained,
    TrainingData,
    likeliest_states,
    many_states,
    run_parallel,
    train,
)
from tacit.trees.learn.selection.mixtures import MOST_TREES, Forest, grow
from tacit.trees.learn.selection.states import (
    HELD_OUT_FRACTION,
    N_FOLDS,
    check_supported,
    held_out_rows,
    known_states,
    other_folds,
    selected_states,
    split_rows,
    state_counts,
)
from tacit.trees.learn.selection.structures import topology_for
from tacit.trees.learn.settings import Settings, check_n_states
from tacit.trees.moments.source import CountedMoments

if TYPE_CHECKING:
    from tacit.core.input.table import Table
    from tacit.core.progress import Report
    from tacit.messages.rooted_tree import RootedTree
    from tacit.trees.structure.topology import Topology

Array = NDArray[np.float64]
Rows = NDArray[np.int64]

# Structures that are compared where none is given; the first is kept unless another is clearly better.
CANDIDATES = (
    "refined-joining",
    "hidden-chow-liu",
    "neighbor-joining",
    "chow-liu-grouping",
    "chow-liu",
)
# The trees of a forest are learnt by this many of the best structure learners, or by these.
N_METHODS = 2
SEVERAL = ("hidden-chow-liu", "neighbor-joining")
# With fewer rows than this the structure is the first of the above, without comparison.
ROWS_FOR_TRIALS = 100
# With fewer rows than this, many states and several trees are not compared.
FEWEST_ROWS = 500
# Up to so many columns, few states are compared with many.
FEW_COLUMNS = 64
# States with which structures are compared, where no number is given.
TRIAL_STATES, FEW_TRIAL_STATES = 16, 4
# Cells (rows x columns) that selection uses, and that a forest may take, times states.
MOST_CELLS, MOST_WORK = 12_000_000, 3_000_000_000
# Tables with fewer cells than this are small: fewer settings are compared.
FEW_CELLS = 15_000
# With fewer rows than this nothing is mixed.
ROWS_FOR_MIXTURES = 20
# Of few rows several folds are held out in turn, until so many rows judge.
ROWS_THAT_JUDGE = 60


@dataclass(frozen=True, eq=False)
class Task:
    """What is to be learnt and selected, and the rows to learn from and to select with."""

    table: Table
    moments: CountedMoments
    validation: Table | None
    topology: Topology | None  # None where it is to be selected
    n_states: Any
    n_components: int | str
    settings: Settings
    n_jobs: int | None  # None for all processors
    report: Report

    def learnt_structure(self, method: str) -> Topology:
        """The tree that a method learns from all rows."""
        return topology_for(method, self.moments, self.table.schema.names)

    @property
    def is_open(self) -> bool:
        """Whether anything is to be selected, or needs held-out rows."""
        if self.topology is None or self.most_trees > 1:
            return True
        tree = self.topology.rooted(self.table.schema.names)
        known = known_states(self.n_states, self.topology, tree)
        states = state_counts(tree, self.table.schema.cards, known)
        return states is None or max(states[tree.n_leaves :], default=1) > START_STATES

    @property
    def most_trees(self) -> int:
        """How many trees there may be."""
        if isinstance(self.n_components, int):
            return self.n_components
        return MOST_TREES if self.is_free else 1

    @property
    def is_free(self) -> bool:
        """Whether structure, numbers of states and number of trees are all selected, with rows for it."""
        open_choice = self.topology is None and isinstance(self.n_states, str)
        large_enough = self.table.n_rows >= ROWS_FOR_MIXTURES and len(self.table.schema) > 2
        return open_choice and isinstance(self.n_components, str) and large_enough


def trial_data(task: Task) -> tuple[TrainingData, tuple[Rows, ...]]:
    """Rows to learn candidates from, with held-out rows; the numbers of these, if they are the table's.

    Of few rows several folds, where a mixture is selected.
    """
    most_rows = max(MOST_CELLS // max(len(task.table.schema), 1), FEWEST_ROWS)
    pseudo = task.settings.pseudo_counts
    small = task.is_free and n_cells(task.table) < FEW_CELLS
    pseudo_counts = PSEUDO_COUNTS[:1] if small else PSEUDO_COUNTS
    if not isinstance(pseudo, str):
        pseudo_counts = (float(pseudo),)
    n_jobs = n_threads(-1 if task.n_jobs is None else task.n_jobs) or 1
    folds, numbers = [], []
    for part in range(_n_folds(task)):
        rows, held_out = split_rows(
            task.table,
            task.settings.seed,
            everything=task.validation is not None,
            most=most_rows,
            part=part,
        )
        learning = task.table if rows is None else task.table.take(rows)
        judging = task.validation if held_out is None else task.table.take(held_out)
        folds.append(TrainingData(learning, judging, task.settings.seed, n_jobs, pseudo_counts))
        numbers += [] if held_out is None else [held_out]
    return replace(folds[0], others=tuple(folds[1:])), tuple(numbers)


def n_cells(table: Table) -> int:
    """Rows times columns."""
    return table.n_rows * len(table.schema)


def _n_folds(task: Task) -> int:
    """Folds that are held out in turn."""
    if task.validation is not None or not task.is_free:
        return 1
    judging = HELD_OUT_FRACTION * task.table.n_rows
    return min(max(-(-ROWS_THAT_JUDGE // max(int(judging), 1)), 1), N_FOLDS)


def select_structure(
    task: Task, data: TrainingData, record: dict[str, Any], n_states: int | None = None
) -> tuple[Topology, Sequence[str]]:
    """The tree, and the structure learners for further trees of a mixture; `record` gets the scores.

    Structures are compared with `n_states`, where it is given.
    """
    if task.topology is not None:
        return task.topology, SEVERAL
    if data.table.n_rows < ROWS_FOR_TRIALS:
        return task.learnt_structure(CANDIDATES[0]), SEVERAL
    ranked = _ranked_structures(task, data, n_states)
    record["structures"] = [{"structure": name, "score": score} for name, score in ranked]
    methods = [name for name, _ in ranked if name != "chow-liu"][:N_METHODS]
    return task.learnt_structure(ranked[0][0]), methods


def _ranked_structures(
    task: Task, data: TrainingData, n_states: int | None
) -> list[tuple[str, float]]:
    """Names and held-out scores of the candidates, the best first."""
    check_n_states(task.n_states)  # before the work
    names = task.table.schema.names
    trees = {method: topology_for(method, data.moments, names) for method in CANDIDATES}
    task.report(0.0, "trying " + ", ".join(CANDIDATES))
    distinct = list(dict.fromkeys(trees.values()))
    jobs = [partial(_trial, task, data, topology.rooted(names), n_states) for topology in distinct]
    by_topology = dict(zip(distinct, run_parallel(data, jobs), strict=True))
    rows = {name: by_topology[topology] for name, topology in trees.items()}
    weights = None if data.held_out is None else data.held_out.weights
    means = {name: float(np.average(scores, weights=weights)) for name, scores in rows.items()}
    ranked = sorted(means.items(), key=lambda candidate: -candidate[1])
    first, best = CANDIDATES[0], ranked[0][0]
    if best != first and not surely_better(rows[best], rows[first], weights):
        ranked = [
            (first, means[first]),
            *(candidate for candidate in ranked if candidate[0] != first),
        ]
    return ranked


def _trial(task: Task, data: TrainingData, tree: RootedTree, n_states: int | None) -> Array:
    """Log-likelihoods of held-out rows under a tree, with a moderate number of states where none is given."""
    if data.held_out is None:
        return np.zeros(1)
    enough = data.table.n_rows >= FEWEST_ROWS
    k = n_states or (TRIAL_STATES if enough else FEW_TRIAL_STATES)
    if isinstance(task.n_states, Integral):
        k = int(task.n_states)
    cards = data.table.schema.cards
    if k > START_STATES:
        lay = many_states(tree, cards, k)
        return train(replace(data, others=()), lay, data.pseudo_counts[0], n_jobs=1).rows
    states = state_counts(tree, cards, {}, k)
    assert states is not None
    job = Job(data.table, tree, states, data.moments, task.settings, silent)
    return held_out_rows(job, data.held_out, "auto")


def select_states(
    task: Task, data: TrainingData, topology: Topology, record: dict[str, Any]
) -> Trained | tuple[int, ...]:
    """The numbers of states of all nodes where they are few; where they are many, the learnt tree.

    `record` gets the scores of the candidates.
    """
    tree, cards = topology.rooted(task.table.schema.names), task.table.schema.cards
    known = known_states(task.n_states, topology, tree)
    states = state_counts(tree, cards, known)
    report = part_of(task.report, 0.2, 0.5)
    several = task.most_trees > 1 and isinstance(task.n_components, int)
    if states is not None:
        check_supported(tree, states, "auto", task.table)
        if max(states[tree.n_leaves :], default=1) <= START_STATES and not several:
            return states
        lay = layout(tree, states)
        return train(data, lay, data.pseudo_counts[0], tell=lambda text: report(0.0, text))
    few_states = few_rows = None
    only_few = data.table.n_rows < FEWEST_ROWS or bool(known)
    if data.held_out is None or only_few or len(cards) <= FEW_COLUMNS:
        others = other_folds(task.table, task.validation, task.settings.seed)
        few_states, more, few_rows = selected_states(
            data.table, data.held_out, tree, known, "auto", task.settings, report, others
        )
        record.update(more)
    if few_states is not None and (data.held_out is None or only_few):
        if several and data.held_out is not None:
            return train(data, layout(tree, few_states), data.pseudo_counts[0])
        return few_states
    assert data.held_out is not None
    best, scores = likeliest_states(data, tree, report)
    record["candidates"] = [*record.get("candidates", []), *scores]
    if few_states is None or few_rows is None or several:
        return best
    return best if surely_better(best.rows, few_rows, data.held_out.weights) else few_states


def select_trees(task: Task, data: TrainingData, first: Trained, methods: Sequence[str]) -> Forest:
    """The first tree, or a mixture of as many as requested."""
    alone = Forest.of([first], None)
    if task.most_trees == 1 or data.held_out is None:
        return alone
    n_states = int(task.n_states) if isinstance(task.n_states, Integral) else None
    report = part_of(task.report, 0.5, 0.9)
    most = task.most_trees - 1
    return grow(data, alone, first, methods, most, report, always=True, n_states=n_states)


def part_of(report: Report, start: float, stop: float) -> Report:
    """Reports of a part of the work."""
    return lambda done, text: report(start + done * (stop - start), text)
