"""What `LatentTree` chooses by held-out rows: structure, numbers of states, one tree or several."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.progress import silent
from tacit.core.selection import surely_better
from tacit.core.threads import n_threads, one_blas_thread
from tacit.messages.mixture import Mixture
from tacit.messages.network import layout
from tacit.trees.learn.learners import START_STATES, Job, Learnt, Settings, learn_auto
from tacit.trees.learn.selection.forests import (
    MOST_TREES,
    PSEUDO_COUNTS,
    Forest,
    Ground,
    Trained,
    best_states,
    grow,
    many_states,
    retrained,
    together,
    train,
)
from tacit.trees.learn.selection.states import (
    N_PARTS,
    ROWS_IN_PARTS,
    check_carried,
    chosen_states,
    held_out_rows,
    known_states,
    other_parts,
    rows_aside,
    state_counts,
)
from tacit.trees.learn.structures import topology_for
from tacit.trees.model.components import topology_of
from tacit.trees.moments.source import CountedMoments

if TYPE_CHECKING:
    from tacit.core.input.table import Table
    from tacit.core.progress import Report
    from tacit.messages.network import Network, Tables
    from tacit.messages.rooted_tree import RootedTree
    from tacit.trees.structure.topology import Topology

Array = NDArray[np.float64]
Rows = NDArray[np.int64]

# Trees that are tried where none is given; the first is left only for one that is surely better.
CANDIDATES = (
    "refined-joining",
    "hidden-chow-liu",
    "neighbor-joining",
    "chow-liu-grouping",
    "chow-liu",
)
# Ways that the trees of a forest are learnt in: so many of those that were tried did best.
N_METHODS = 2
SEVERAL = ("hidden-chow-liu", "neighbor-joining")
# With fewer rows than this nothing is tried: the structure is the first of the above.
ROWS_FOR_TRIALS = 100
# With fewer rows than this, many states and several trees are not worth a trial.
FEWEST_ROWS = 500
# Up to so many columns, few states are tried beside many.
FEW_COLUMNS = 64
# States that trees are tried with, where no number is given.
TRIAL_STATES, FEW_TRIAL_STATES = 16, 4
# Cells (rows x columns) that choices are made with, and that a forest may take, times states.
MOST_CELLS, MOST_WORK = 12_000_000, 3_000_000_000


@dataclass(frozen=True, eq=False)
class Open:
    """What a user left open, and what it is to be chosen with."""

    table: Table
    moments: CountedMoments
    validation: Table | None
    topology: Topology | None  # None where it is to be chosen
    n_states: Any
    n_components: int | str
    settings: Settings
    n_jobs: int | None  # None for all processors
    report: Report

    def learnt_structure(self, method: str) -> Topology:
        """The tree that a method learns from all rows."""
        schema = self.table.schema
        return topology_for(method, self.moments.pairs().counts, schema.cards, schema.names)

    @property
    def is_open(self) -> bool:
        """Whether anything is to be chosen, or needs held-out rows."""
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
        free = self.topology is None and isinstance(self.n_states, str)
        return MOST_TREES if free and self.table.n_rows >= FEWEST_ROWS else 1


@dataclass(frozen=True, eq=False)
class Chosen:
    """A learnt model, and its heaviest tree."""

    learnt: Learnt
    topology: Topology
    tree: RootedTree
    tried: Callable[[], Sequence[Tried]]  # learnt when they are asked for


@dataclass(frozen=True, eq=False)
class Tried:
    """The same kind of model without some rows, which can judge it."""

    parameters: Network | Tables | Mixture
    held_out: Rows | None  # their numbers in the table; None where they are the user's, if any


@one_blas_thread()  # for all of it: changing the number of threads back and forth costs more than the work
def learn_open(asked: Open) -> Chosen:
    """Structure, numbers of states and parameters, as far as they were left open.

    Choices are made with part of the rows and judged by others; then everything is learnt again from all
    rows, unless all but the user's validation rows were used already.
    """
    ground, aside = _ground(asked)
    record: dict[str, Any] = {"n_rows_tried_with": ground.table.n_rows}
    topology, methods = asked.topology, list(SEVERAL)
    if topology is None and ground.table.n_rows < ROWS_FOR_TRIALS:
        topology = asked.learnt_structure(CANDIDATES[0])
    elif topology is None:
        ranked = _ranked_structures(asked, ground)
        record["structures"] = [{"structure": name, "score": score} for name, score in ranked]
        topology = asked.learnt_structure(ranked[0][0])
        methods = [name for name, _ in ranked if name != "chow-liu"][:N_METHODS]
    tree = topology.rooted(asked.table.schema.names)
    known = known_states(asked.n_states, topology, tree)
    states = state_counts(tree, asked.table.schema.cards, known)
    if states is not None:
        check_carried(tree, states, "auto", asked.table)
    first, found = _first_tree(asked, ground, tree, known, states)
    record.update(found)
    if first is None:
        chosen = found.pop("states") if states is None else states
        record.pop("states", None)
        job = Job(asked.table, tree, chosen, asked.moments, asked.settings, asked.report)
        learnt = learn_auto(job)
        learnt.diagnostics.update(record)
        return Chosen(learnt, topology, tree, partial(few_tried, job, asked.validation, learnt))
    forest = _forest(asked, ground, first, methods)
    return _kept(asked, ground, forest, topology, record, aside)


def few_tried(job: Job, validation: Table | None, learnt: Learnt) -> list[Tried]:
    """Trees with few states, learnt without one part of the rows after the other, or of many without one."""
    table = job.table
    if validation is not None or table.n_rows < ROWS_FOR_TRIALS:
        return [Tried(learnt.parameters, None)]
    order = np.random.default_rng(job.settings.seed).permutation(table.n_rows)
    n_parts = N_PARTS if table.n_rows <= ROWS_IN_PARTS else 1
    found = []
    for part in range(n_parts):
        held_out = np.sort(order[part::N_PARTS])
        rest = table.take(np.setdiff1d(order, held_out))
        moments = CountedMoments.of(rest.codes, rest.schema.cards, rest.weights)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # all of it was said of the tree that is kept
            again = learn_auto(replace(job, table=rest, moments=moments, report=silent))
        found.append(Tried(again.parameters, held_out))
    return found


def _ground(asked: Open) -> tuple[Ground, Rows | None]:
    """The rows to choose with, and those to judge by; the numbers of these, if they are the table's."""
    most = max(MOST_CELLS // max(len(asked.table.schema), 1), FEWEST_ROWS)
    rows, held_out = rows_aside(
        asked.table, asked.settings.seed, everything=asked.validation is not None, most=most
    )
    learning = asked.table if rows is None else asked.table.take(rows)
    judging = asked.validation
    if held_out is not None:
        judging = asked.table.take(held_out)
    pseudo = asked.settings.pseudo_counts
    pseudo_counts = PSEUDO_COUNTS if isinstance(pseudo, str) else (float(pseudo),)
    n_jobs = n_threads(-1 if asked.n_jobs is None else asked.n_jobs) or 1
    return Ground(learning, judging, asked.settings.seed, n_jobs, pseudo_counts), held_out


def _ranked_structures(asked: Open, ground: Ground) -> list[tuple[str, float]]:
    """Names and held-out scores of the candidates, the best first."""
    schema, counts = asked.table.schema, ground.moments.pairs().counts
    trees = {name: topology_for(name, counts, schema.cards, schema.names) for name in CANDIDATES}
    if not isinstance(asked.n_states, Mapping):  # wrong numbers are refused before the work
        some = trees[CANDIDATES[0]]
        known_states(asked.n_states, some, some.rooted(schema.names))
    asked.report(0.0, "trying " + ", ".join(CANDIDATES))
    distinct = list(dict.fromkeys(trees.values()))
    works = [partial(_trial, asked, ground, each.rooted(schema.names)) for each in distinct]
    scores = dict(zip(distinct, together(ground, works), strict=True))
    rows = {name: scores[topology] for name, topology in trees.items()}
    weights = None if ground.held_out is None else ground.held_out.weights
    means = {name: float(np.average(each, weights=weights)) for name, each in rows.items()}
    ranked = sorted(means.items(), key=lambda each: -each[1])
    first, best = CANDIDATES[0], ranked[0][0]
    if best != first and not surely_better(rows[best], rows[first], weights):
        ranked = [(first, means[first]), *(each for each in ranked if each[0] != first)]
    return ranked


def _trial(asked: Open, ground: Ground, tree: RootedTree) -> Array:
    """Held-out rows under a tree, with a middling number of states where none is given."""
    if ground.held_out is None:
        return np.zeros(1)
    enough = ground.table.n_rows >= FEWEST_ROWS
    k = TRIAL_STATES if enough else FEW_TRIAL_STATES
    if isinstance(asked.n_states, Integral):
        k = int(asked.n_states)
    cards = ground.table.schema.cards
    if k > START_STATES:
        lay = many_states(tree, cards, k)
        return train(ground, lay, ground.pseudo_counts[0], n_jobs=1).rows
    states = state_counts(tree, cards, {}, k)
    assert states is not None
    job = Job(ground.table, tree, states, ground.moments, asked.settings, silent)
    return held_out_rows(job, ground.held_out, "auto")


def _first_tree(
    asked: Open,
    ground: Ground,
    tree: RootedTree,
    known: Mapping[str, int],
    states: tuple[int, ...] | None,
) -> tuple[Trained | None, dict[str, Any]]:
    """The best tree with many states, or None where few are better or were asked for; and the record."""
    report = _part(asked.report, 0.2, 0.5)
    several = asked.most_trees > 1 and isinstance(asked.n_components, int)
    if states is not None:
        if max(states[tree.n_leaves :], default=1) <= START_STATES and not several:
            return None, {}
        lay = layout(tree, states)
        return train(ground, lay, ground.pseudo_counts[0], tell=lambda text: report(0.0, text)), {}
    record: dict[str, Any] = {}
    n_rows, n_columns = ground.table.n_rows, len(ground.table.schema)
    few = None
    only_few = n_rows < FEWEST_ROWS or bool(known)
    if ground.held_out is None or only_few or n_columns <= FEW_COLUMNS:
        others = other_parts(asked.table, asked.validation, asked.settings.seed)
        record["states"], more, few = chosen_states(
            ground.table, ground.held_out, tree, known, "auto", asked.settings, report, others
        )
        record.update(more)
    if ground.held_out is None or (only_few and not several):
        return None, record
    if only_few:
        return train(ground, layout(tree, record.pop("states")), ground.pseudo_counts[0]), record
    best, tried = best_states(ground, tree, report)
    record["candidates"] = [*record.get("candidates", []), *tried]
    if (
        few is not None
        and not several
        and not surely_better(best.rows, few, ground.held_out.weights)
    ):
        return None, record
    record.pop("states", None)
    return best, record


def _forest(asked: Open, ground: Ground, first: Trained, methods: Sequence[str]) -> Forest:
    """The first tree, or several of its kind where that is better or was asked for."""
    alone = Forest((first,), np.ones(1), first.score)
    if asked.most_trees == 1 or ground.held_out is None:
        return alone
    asked_for = isinstance(asked.n_components, int)
    work = asked.table.n_rows * int(first.tables.layout.columns[first.tables.tree.n_leaves :].sum())
    most = asked.most_trees if asked_for else min(asked.most_trees, max(MOST_WORK // work, 1))
    n_states = int(asked.n_states) if isinstance(asked.n_states, Integral) else None
    report = _part(asked.report, 0.5, 0.9)
    return grow(ground, first, methods, most, report, always=asked_for, n_states=n_states)


def _kept(
    asked: Open,
    ground: Ground,
    forest: Forest,
    topology: Topology,
    record: dict[str, Any],
    aside: Rows | None,
) -> Chosen:
    """The forest, learnt again from all rows where there are more, as one tree or a mixture."""
    tried = Tried(_together(forest), aside)
    if ground.table.n_rows < asked.table.n_rows:
        every = replace(ground, table=asked.table, held_out=asked.validation)
        forest = retrained(every, forest, _part(asked.report, 0.9, 1.0))
    tables = [each.tables for each in forest.trees]
    heaviest = int(np.argmax(forest.weights))
    tree = tables[heaviest].tree
    diagnostics = {
        "n_parameters": sum(each.layout.n_parameters for each in tables),
        "n_steps": sum(each.n_passes + each.n_steps for each in forest.trees),
        "held_out_score": forest.score,
        "trees": [
            {**each.as_dict(), "weight": float(weight)}
            for each, weight in zip(forest.trees, forest.weights, strict=True)
        ],
        **record,
    }
    parameters = _together(forest)
    if tree is not topology.rooted(asked.table.schema.names):
        topology = topology_of(tree)
    return Chosen(Learnt(parameters, diagnostics), topology, tree, lambda: [tried])


def _together(forest: Forest) -> Tables | Mixture:
    """One tree, or a mixture of several."""
    tables = [each.tables for each in forest.trees]
    return tables[0] if len(tables) == 1 else Mixture.of(forest.weights, tables)


def _part(report: Report, start: float, stop: float) -> Report:
    """Reports of a part of the work."""
    return lambda share, text: report(start + share * (stop - start), text)
