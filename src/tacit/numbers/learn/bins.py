"""Columns of numbers learnt in bins, each of which then becomes a bump of density.

The columns are cut at quantiles, whatever learns trees of categories learns one of the bins, and how far the
bumps of neighbouring bins reach into each other is decided by held-out rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.encoders.bins import even_cuts
from tacit.core.encoders.encoders import BinEncoder, Encoder, IndicatorEncoder
from tacit.core.encoders.margins import Margin, fit_margin
from tacit.core.input.mixed_table import MixedTable, binned_table
from tacit.core.progress import silent
from tacit.core.selection import surely_better
from tacit.numbers.query.evidence import log_densities
from tacit.numbers.structure.pairs import pair_topology
from tacit.trees.learn.learners import START_STATES, Job, Learnt, Settings, learn_auto
from tacit.trees.learn.selection.candidates import Open, few_tried, learn_open
from tacit.trees.learn.selection.states import (
    check_carried,
    known_states,
    rows_aside,
    state_counts,
)
from tacit.trees.learn.structures import asked_topology
from tacit.trees.moments.source import CountedMoments

if TYPE_CHECKING:
    from tacit.core.input.table import Table
    from tacit.core.progress import Report
    from tacit.messages.mixture import Mixture
    from tacit.messages.network import Network, Tables
    from tacit.messages.rooted_tree import RootedTree
    from tacit.trees.structure.topology import Topology

Array = NDArray[np.float64]

# Numbers of bins that are tried where none is given, and states that they are tried with.
N_BINS = (8, 12, 16, 24, 32, 48)
FEW_BINS = 8
ROWS_PER_BIN = 20
FEW_COLUMNS = 8
TRIAL_STATES, PAIR_STATES = 8, 3
# With fewer rows than this nothing is tried, and with at most so many.
ROWS_FOR_TRIALS = 100
MOST_TRIED = 20_000
# How far a bump reaches beyond its bin, in bins: these are tried.
BLURS = (0.125, 0.25, 0.5, 1.0, 2.0)
DEFAULT_BLUR = 0.5
# Rows that bumps and bins are judged by.
MOST_JUDGED = 4000


@dataclass(frozen=True, eq=False)
class Asked:
    """What a user wants learnt in bins."""

    structure: Any
    n_states: Any
    n_components: int | str
    n_bins: int | str
    blur: float | str  # of the bumps, in bins
    blend: bool  # whether a Gaussian beside the tree is wanted, which needs trials
    settings: Settings
    n_jobs: int | None  # None for all processors
    report: Report


@dataclass(frozen=True, eq=False)
class Trial:
    """A model that was learnt without some rows, which can judge it."""

    parameters: Network | Tables | Mixture
    rows: MixedTable
    numbers: NDArray[np.int64] | None = None  # of these rows in the table, if they are its own

    def learnt_from(self, table: MixedTable) -> MixedTable:
        """The rows of the table that it was learnt from."""
        if self.numbers is None:
            return table
        return table.take(np.setdiff1d(np.arange(table.n_rows), self.numbers))


@dataclass(frozen=True, eq=False)
class Learned:
    """A model of numbers and categories."""

    learnt: Learnt
    encoders: tuple[Encoder, ...]
    topology: Topology
    tree: RootedTree
    counts: NDArray[Any]  # of pairs, or whatever else tells the data apart
    trials: tuple[Trial, ...] = ()  # the same kind of model without some rows
    margins: tuple[Margin | Array, ...] | None = (
        None  # of operators: each column's own distribution
    )


def learn_in_bins(table: MixedTable, validation: MixedTable | None, asked: Asked) -> Learned:
    """Tree, numbers of states, parameters and the bumps of bins, as far as they were left open."""
    columns = Columns(table)
    record: dict[str, Any] = {}
    n_bins = asked.n_bins
    if isinstance(n_bins, str):
        n_bins, record["bins"] = chosen_bins(columns, validation, asked)
    found = _learn(columns.encoders(n_bins), table, validation, asked)
    encoders, blurs = blurred_encoders(found.trials, found.encoders, asked)
    record.update(blurs, n_bins=n_bins)
    found.learnt.diagnostics.update(record)
    return replace(found, encoders=encoders)


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of a table, and for those of numbers their distributions."""

    table: MixedTable

    @cached_property
    def margins(self) -> tuple[Margin | None, ...]:
        """The distribution of each column of numbers."""
        table = self.table
        return tuple(
            fit_margin(table.column(place), table.weights)
            if place in table.schema.continuous
            else None
            for place in range(len(table.schema))
        )

    def encoders(self, n_bins: int) -> tuple[Encoder, ...]:
        """Bins that are not blurred, and indicators of categories."""
        table = self.table
        found: list[Encoder] = []
        for place, margin in enumerate(self.margins):
            if margin is None:
                found.append(IndicatorEncoder(table.schema.cards[place]))
            else:
                cuts = even_cuts(table.column(place), n_bins, table.weights)
                found.append(BinEncoder(cuts, margin))
        return tuple(found)


def blurred(encoders: Sequence[Encoder], blur: float) -> tuple[Encoder, ...]:
    """The encoders with bumps that reach so many bins into their neighbours."""
    return tuple(
        replace(each, bandwidth=blur / each.size) if isinstance(each, BinEncoder) else each
        for each in encoders
    )


def blurred_encoders(
    trials: Sequence[Trial], encoders: Sequence[Encoder], asked: Asked
) -> tuple[tuple[Encoder, ...], dict[str, Any]]:
    """The encoders with the blur that held-out rows like best, and the record of those tried."""
    if not isinstance(asked.blur, str):
        return blurred(encoders, float(asked.blur)), {"blur": float(asked.blur)}
    if not trials or all(each.kind == "indicator" for each in encoders):
        return blurred(encoders, DEFAULT_BLUR), {"blur": DEFAULT_BLUR}
    asked.report(0.95, "bumps of density")
    best = best_blur(trials, encoders)
    return blurred(encoders, best.blur), {
        "blur": best.blur,
        "blurs": [{"blur": each, "score": score} for each, score in best.tried],
        "held_out_density": best.score,
    }


@dataclass(frozen=True, eq=False)
class Blur:
    """How far bumps reach, and how likely rows are with it."""

    blur: float
    rows: Array  # (row,)  log-densities
    weights: Array  # (row,)
    tried: tuple[tuple[float, float], ...]  # all that were tried, and their scores

    @property
    def score(self) -> float:
        """Mean log-density."""
        return float(np.average(self.rows, weights=self.weights))


def best_blur(trials: Sequence[Trial], encoders: Sequence[Encoder]) -> Blur:
    """The blur under which the rows of trials are likeliest."""
    judging = [trial.rows.take(slice(0, MOST_JUDGED)) for trial in trials]
    weights = np.concatenate(
        [np.ones(rows.n_rows) if rows.weights is None else rows.weights for rows in judging]
    )
    found: list[Blur] = []
    for blur in BLURS:
        blurry = blurred(encoders, blur)
        parts = [
            log_densities(trial.parameters, rows, blurry)[0]
            for trial, rows in zip(trials, judging, strict=True)
        ]
        found.append(Blur(blur, np.concatenate(parts), weights, ()))
    best = max(found, key=lambda each: each.score)
    return replace(best, tried=tuple((each.blur, each.score) for each in found))


def _learn(
    encoders: tuple[Encoder, ...], table: MixedTable, validation: MixedTable | None, asked: Asked
) -> Learned:
    """Tree, states and tables of the bins."""
    binned = binned_table(table, encoders)
    watching = None if validation is None else binned_table(validation, encoders)
    schema, settings = binned.schema, asked.settings
    moments = CountedMoments.of(binned.codes, schema.cards, binned.weights, settings.n_jobs)
    topology = _topology(binned, moments, asked.structure)
    wanted = Open(
        table=binned,
        moments=moments,
        validation=watching,
        topology=topology,
        n_states=asked.n_states,
        n_components=asked.n_components,
        settings=settings,
        n_jobs=asked.n_jobs,
        report=asked.report,
    )
    if wanted.is_open:
        chosen = learn_open(wanted)
        learnt, topology, tree, tried = chosen.learnt, chosen.topology, chosen.tree, chosen.tried
    else:
        assert topology is not None
        tree = topology.rooted(schema.names)
        states = state_counts(tree, schema.cards, known_states(asked.n_states, topology, tree))
        assert states is not None
        check_carried(tree, states, "auto", binned)
        job = Job(binned, tree, states, moments, settings, asked.report)
        learnt = learn_auto(job)
        tried = partial(few_tried, job, watching, learnt)
    needed = bool(table.schema.continuous) and (isinstance(asked.blur, str) or asked.blend)
    trials = []
    for each in tried() if needed else ():
        rows = validation if each.held_out is None else table.take(each.held_out)
        if rows is not None and rows.n_rows:
            trials.append(Trial(each.parameters, rows, each.held_out))
    counts = moments.pairs().counts
    return Learned(learnt, encoders, topology, tree, counts, tuple(trials))


def _topology(binned: Table, moments: CountedMoments, structure: Any) -> Topology | None:
    """The tree that was asked for; None where it is to be chosen."""
    schema = binned.schema
    named = isinstance(structure, str)
    if len(schema) == 2 and not (named and structure == "chow-liu"):
        return pair_topology(schema.names)
    if named and structure == "auto":
        return None
    return asked_topology(structure, moments, schema.names)


def chosen_bins(
    columns: Columns, validation: MixedTable | None, asked: Asked
) -> tuple[int, list[dict[str, Any]]]:
    """The number of bins with the best held-out density, by small trees, and the record of those tried."""
    table, settings = columns.table, asked.settings
    learning, judging = rows_aside(
        table, settings.seed, everything=validation is not None, most=MOST_TRIED
    )
    rows = table if learning is None else table.take(learning)
    watching = validation if judging is None else table.take(judging)
    if watching is None or rows.n_rows < ROWS_FOR_TRIALS or not table.schema.continuous:
        return FEW_BINS, []
    tried: list[dict[str, Any]] = []
    best, found, worse = FEW_BINS, None, 0
    for n_bins in N_BINS:
        if tried and n_bins * ROWS_PER_BIN > rows.n_rows:
            break
        asked.report(0.0, f"trying {n_bins} bins")
        encoders = columns.encoders(n_bins)
        trial = Trial(_small_tree(encoders, rows, asked), watching)
        each = best_blur([trial], encoders)
        tried.append({"n_bins": n_bins, "blur": each.blur, "score": each.score})
        # Where columns are many, more bins take long: they must be worth it.
        careful = len(table.schema) > FEW_COLUMNS
        better = found is None or each.score > found.score
        if found is not None and careful:
            better = surely_better(each.rows, found.rows, each.weights)
        if better:
            best, found, worse = n_bins, each, 0
        else:
            worse += 1
            if worse == 2:
                break
    return best, tried


def _small_tree(encoders: Sequence[Encoder], rows: MixedTable, asked: Asked) -> Network | Tables:
    """A tree with a middling number of states."""
    binned = binned_table(rows, encoders)
    schema, settings = binned.schema, asked.settings
    moments = CountedMoments.of(binned.codes, schema.cards, binned.weights, settings.n_jobs)
    topology = _topology(binned, moments, asked.structure)
    if topology is None:
        topology = asked_topology("refined-joining", moments, schema.names)
    tree = topology.rooted(schema.names)
    given = asked.n_states if isinstance(asked.n_states, int) else "auto"
    known = known_states(given, topology, tree)
    k = TRIAL_STATES if len(schema) > 2 else PAIR_STATES
    states = state_counts(tree, schema.cards, known, k)
    assert states is not None
    states = tuple(
        min(count, START_STATES) if node >= tree.n_leaves and tree.copy_of[node] < 0 else count
        for node, count in enumerate(states)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return learn_auto(Job(binned, tree, states, moments, settings, silent)).network
