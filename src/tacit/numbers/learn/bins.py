"""Trees of binned columns, in which every bin gets a smooth density.

Columns of numbers are cut at quantiles, a tree of the bins is learnt like any tree of categories, and
held-out rows choose the bandwidth with which the densities of neighbouring bins overlap.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.encoders.bins import even_cuts
from tacit.core.encoders.encoders import BinEncoder, Encoder, IndicatorEncoder
from tacit.core.encoders.margins import Margin, atoms_of, margin_without
from tacit.core.input.mixed_table import MixedTable, binned_table
from tacit.core.progress import silent
from tacit.core.selection import surely_better
from tacit.numbers.learn.experts.candidates import MAX_FULL, Family, Prepared
from tacit.numbers.model.experts import Atoms
from tacit.numbers.query.evidence import log_densities
from tacit.numbers.query.expert_mixture import expert_log_densities
from tacit.numbers.structure.pairs import pair_topology
from tacit.trees.learn.fit import learn_tree
from tacit.trees.learn.learners import START_STATES, Job, Learnt, learn_auto
from tacit.trees.learn.selection.candidates import Task
from tacit.trees.learn.selection.states import (
    known_states,
    split_rows,
    state_counts,
)
from tacit.trees.learn.selection.structures import given_topology
from tacit.trees.learn.settings import Settings
from tacit.trees.moments.source import CountedMoments

if TYPE_CHECKING:
    from tacit.core.input.table import Table
    from tacit.core.progress import Report
    from tacit.messages.mixture import Mixture
    from tacit.messages.network import Network, Tables
    from tacit.messages.rooted_tree import RootedTree
    from tacit.trees.structure.topology import Topology

Array = NDArray[np.float64]

# Candidate numbers of bins, and the states of the trees that compare them.
N_BINS = (8, 12, 16, 24, 32, 48)
FEW_BINS = 8
ROWS_PER_BIN = 20
FEW_COLUMNS = 8
TRIAL_STATES, PAIR_STATES = 8, 3
# Where a few classes of normal scores are better than a small tree by so many nats per row there is one tree:
# on development tables a mixture of several then gained hardly anything beside other experts.
CLEAR_LEAD, FEW_CLASSES = 0.0, 8
# With fewer rows numbers of bins are not compared; of more, a subsample is used.
MIN_ROWS = 100
MAX_ROWS = 3000
# Candidate bandwidths, in bins.
BANDWIDTHS = (0.125, 0.25, 0.5, 1.0, 2.0)
DEFAULT_BANDWIDTH = 0.5
# Held-out rows that are scored.
MAX_HELD_OUT = 4000


@dataclass(frozen=True, eq=False)
class BinOptions:
    """The arguments of `KernelTree` for learning in bins."""

    structure: Any
    n_states: Any
    n_components: int | str
    n_bins: int | str
    bandwidth: float | str  # in bins
    trials: bool  # whether models learnt without some rows are needed
    experts: bool  # whether the tree will be one of several experts
    atoms: bool  # whether values that many rows share have probabilities
    settings: Settings
    n_jobs: int | None  # None for all processors
    report: Report


@dataclass(frozen=True, eq=False)
class Trial:
    """A model that was learnt without some rows."""

    parameters: Network | Tables | Mixture
    rows: MixedTable
    numbers: NDArray[np.int64] | None = None  # of these rows in the table, if they are part of it

    def training_rows(self, table: MixedTable) -> MixedTable:
        """The rows of the table that it was learnt from."""
        if self.numbers is None:
            return table
        return table.take(np.setdiff1d(np.arange(table.n_rows), self.numbers))


@dataclass(frozen=True, eq=False)
class LearntTree:
    """A model of numbers and categories."""

    learnt: Learnt
    encoders: tuple[Encoder, ...]
    topology: Topology
    tree: RootedTree
    counts: NDArray[Any]  # of pairs: a fingerprint of the data
    trials: tuple[Trial, ...] = ()  # the same model without some rows
    margins: tuple[Margin | Array, ...] | None = (
        None  # of operators: the distribution of each column
    )


def learn_in_bins(
    table: MixedTable, validation: MixedTable | None, options: BinOptions
) -> LearntTree:
    """Bins, tree, numbers of states, parameters and bandwidth, as far as they are not given."""
    columns = Columns(table, with_atoms=options.atoms)
    record: dict[str, Any] = {}
    n_bins = options.n_bins
    if isinstance(n_bins, str):
        n_bins, record["bins"], judged = best_bins(columns, validation, options)
        if judged is not None and options.experts and options.n_components == "auto":
            lead = judged.lead_of_classes(options.settings.seed)
            record["lead_of_gaussian_classes"] = lead
            if (
                lead > CLEAR_LEAD
            ):  # the tree will hardly count, and a mixture of trees takes longest
                options = replace(options, n_components=1)
    learnt = _learn(columns.encoders(n_bins), table, validation, options)
    encoders, bandwidths = smoothed_encoders(learnt.trials, learnt.encoders, options)
    learnt.learnt.diagnostics.update(record, **bandwidths, n_bins=n_bins)
    return replace(learnt, encoders=encoders)


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of a table, with the distributions of those of numbers."""

    table: MixedTable
    with_atoms: bool = True

    @cached_property
    def atoms(self) -> tuple[Array, ...]:
        """The values of each column of numbers that have a probability."""
        table = self.table
        return tuple(
            atoms_of(table.column(place), table.weights)
            if self.with_atoms and place in table.schema.continuous
            else np.empty(0)
            for place in range(len(table.schema))
        )

    @cached_property
    def margins(self) -> tuple[Margin | None, ...]:
        """The density of each column of numbers, without its atoms."""
        table = self.table
        return tuple(
            margin_without(table.column(place), table.weights, self.atoms[place])
            if place in table.schema.continuous
            else None
            for place in range(len(table.schema))
        )

    def encoders(self, n_bins: int) -> tuple[Encoder, ...]:
        """Bins without overlap and atoms, and indicators of categories."""
        table = self.table
        encoders: list[Encoder] = []
        for place, margin in enumerate(self.margins):
            if margin is None:
                encoders.append(IndicatorEncoder(table.schema.cards[place]))
            else:
                encoders.append(
                    BinEncoder(self._cuts(place, n_bins), margin, 0.0, self.atoms[place])
                )
        return tuple(encoders)

    def _cuts(self, place: int, n_bins: int) -> Array:
        """Cuts between the bins: as many bins as the part of the rows beside the atoms is worth."""
        values, weights, atoms = self.table.column(place), self.table.weights, self.atoms[place]
        if not len(atoms):
            return even_cuts(values, n_bins, weights)
        rest = np.where(np.isin(values, atoms), np.nan, values)
        known = ~np.isnan(values)
        counts = known.astype(np.float64) if weights is None else known * weights
        share = float(counts[~np.isnan(rest)].sum() / counts.sum())
        n_rest = round(n_bins * share)
        return even_cuts(rest, n_rest, weights) if n_rest > 1 else np.empty(0)


def smoothed(encoders: Sequence[Encoder], bandwidth: float) -> tuple[Encoder, ...]:
    """The encoders with bins blurred by a bandwidth, in bins."""
    return tuple(
        replace(encoder, bandwidth=bandwidth / encoder.n_bins)
        if isinstance(encoder, BinEncoder)
        else encoder
        for encoder in encoders
    )


def smoothed_encoders(
    trials: Sequence[Trial], encoders: Sequence[Encoder], options: BinOptions
) -> tuple[tuple[Encoder, ...], dict[str, Any]]:
    """The encoders with the best bandwidth on held-out rows, and diagnostics."""
    if not isinstance(options.bandwidth, str):
        bandwidth = float(options.bandwidth)
        return smoothed(encoders, bandwidth), {"bandwidth": bandwidth}
    if not trials or all(encoder.kind == "indicator" for encoder in encoders):
        return smoothed(encoders, DEFAULT_BANDWIDTH), {"bandwidth": DEFAULT_BANDWIDTH}
    options.report(0.95, "bandwidth of the bins")
    best, scores = best_bandwidth(trials, encoders)
    return smoothed(encoders, best.bandwidth), {
        "bandwidth": best.bandwidth,
        "bandwidths": [
            {"bandwidth": bandwidth, "score": score} for bandwidth, score in scores.items()
        ],
        "held_out_density": best.score,
    }


@dataclass(frozen=True, eq=False)
class ScoredBandwidth:
    """A bandwidth, and the log-densities of held-out rows under it."""

    bandwidth: float
    log_densities: Array  # (row,)
    weights: Array  # (row,)

    @property
    def score(self) -> float:
        """Mean log-density."""
        return float(np.average(self.log_densities, weights=self.weights))


def best_bandwidth(
    trials: Sequence[Trial], encoders: Sequence[Encoder]
) -> tuple[ScoredBandwidth, dict[float, float]]:
    """The bandwidth with the best log-density of held-out rows, and the scores of all candidates."""
    held_out = [trial.rows.take(slice(0, MAX_HELD_OUT)) for trial in trials]
    weights = np.concatenate(
        [np.ones(rows.n_rows) if rows.weights is None else rows.weights for rows in held_out]
    )
    candidates: list[ScoredBandwidth] = []
    for bandwidth in BANDWIDTHS:
        smooth = smoothed(encoders, bandwidth)
        parts = [
            log_densities(trial.parameters, rows, smooth)[0]
            for trial, rows in zip(trials, held_out, strict=True)
        ]
        candidates.append(ScoredBandwidth(bandwidth, np.concatenate(parts), weights))
    best = max(candidates, key=lambda candidate: candidate.score)
    return best, {candidate.bandwidth: candidate.score for candidate in candidates}


def _learn(
    encoders: tuple[Encoder, ...],
    table: MixedTable,
    validation: MixedTable | None,
    options: BinOptions,
) -> LearntTree:
    """Tree, states and tables of the bins."""
    binned = binned_table(table, encoders)
    held_out = None if validation is None else binned_table(validation, encoders)
    schema, settings = binned.schema, options.settings
    moments = CountedMoments.of(binned.codes, schema.cards, binned.weights, settings.n_jobs)
    topology = _topology(binned, moments, options.structure)
    task = Task(
        table=binned,
        moments=moments,
        validation=held_out,
        topology=topology,
        n_states=options.n_states,
        n_components=options.n_components,
        settings=settings,
        n_jobs=options.n_jobs,
        report=options.report,
    )
    selected = learn_tree(task)
    needed = bool(table.schema.continuous) and (
        isinstance(options.bandwidth, str) or options.trials
    )
    trials = []
    for fold in selected.trials() if needed else ():
        rows = validation if fold.held_out is None else table.take(fold.held_out)
        if rows is not None and rows.n_rows:
            trials.append(Trial(fold.parameters, rows, fold.held_out))
    counts = moments.pairs().counts
    return LearntTree(
        selected.learnt, encoders, selected.topology, selected.tree, counts, tuple(trials)
    )


def _topology(binned: Table, moments: CountedMoments, structure: Any) -> Topology | None:
    """The given or named tree; None where it is to be chosen."""
    schema = binned.schema
    named = isinstance(structure, str)
    if len(schema) == 2 and not (named and structure == "chow-liu"):
        return pair_topology(schema.names)
    if named and structure == "auto":
        return None
    return given_topology(structure, moments, schema.names)


@dataclass(frozen=True, eq=False)
class JudgedBins:
    """The best held-out log-density of a small tree, and the rows that it comes from."""

    columns: Columns
    training: MixedTable
    held_out: MixedTable
    score: float

    def lead_of_classes(self, seed: int) -> float:
        """By how many nats per row a few classes of normal scores are better than the small tree."""
        numbers = len(self.training.schema.continuous)
        if not 1 < numbers <= MAX_FULL:
            return -np.inf
        numbers_of = self.training.schema.continuous
        atoms = Atoms(tuple(self.columns.atoms[place] for place in numbers_of))
        rows = Prepared.of(self.training, self.columns.margins, atoms)
        expert = rows.fit(Family(normal=True, diagonal=False, strong=True), FEW_CLASSES, seed)
        log_densities = expert_log_densities(expert, self.held_out)
        return float(np.average(log_densities, weights=self.held_out.weights)) - self.score


def best_bins(
    columns: Columns, validation: MixedTable | None, options: BinOptions
) -> tuple[int, list[dict[str, Any]], JudgedBins | None]:
    """The number of bins with the best held-out density of a small tree, and the scores of all candidates."""
    table = columns.table
    train, test = split_rows(
        table, options.settings.seed, everything=validation is not None, most=MAX_ROWS
    )
    rows = table if train is None else table.take(train)
    held_out = validation if test is None else table.take(test)
    if held_out is None or rows.n_rows < MIN_ROWS or not table.schema.continuous:
        return FEW_BINS, [], None
    candidates: list[dict[str, Any]] = []
    best_n, best, n_worse = FEW_BINS, None, 0
    for n_bins in N_BINS:
        if candidates and n_bins * ROWS_PER_BIN > rows.n_rows:
            break
        options.report(0.0, f"trying {n_bins} bins")
        encoders = columns.encoders(n_bins)
        trial = Trial(_small_tree(encoders, rows, options), held_out)
        new, _ = best_bandwidth([trial], encoders)
        candidates.append({"n_bins": n_bins, "bandwidth": new.bandwidth, "score": new.score})
        if best is None:
            improved = True
        elif len(table.schema) > FEW_COLUMNS:  # more bins take long: they must be worth it
            improved = surely_better(new.log_densities, best.log_densities, new.weights)
        else:
            improved = new.score > best.score
        if improved:
            best_n, best, n_worse = n_bins, new, 0
        else:
            n_worse += 1
            if n_worse == 2:
                break
    judged = JudgedBins(columns, rows, held_out, best.score) if best is not None else None
    return best_n, candidates, judged


def _small_tree(
    encoders: Sequence[Encoder], rows: MixedTable, options: BinOptions
) -> Network | Tables:
    """A tree with few states, for comparing numbers of bins."""
    binned = binned_table(rows, encoders)
    schema, settings = binned.schema, options.settings
    moments = CountedMoments.of(binned.codes, schema.cards, binned.weights, settings.n_jobs)
    topology = _topology(binned, moments, options.structure)
    if topology is None:
        topology = given_topology("refined-joining", moments, schema.names)
    tree = topology.rooted(schema.names)
    n_states = options.n_states if isinstance(options.n_states, int) else "auto"
    known = known_states(n_states, topology, tree)
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
