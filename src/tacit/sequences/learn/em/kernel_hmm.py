"""EM on hidden Markov models whose columns have fixed features and learnt weights of them.

The features may be densities at the observed numbers (basis functions: a state then emits a mixture of them)
or indicators of symbols.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tacit.core.em import AbsoluteGain, EMRun, Step, run_accelerated_em
from tacit.sequences.model.chains import ChainLayout, ChainTables
from tacit.sequences.query.hidden_states import StateEvidence, smoothed

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

# Pseudo-counts of a row of each kind of table. Few of transitions: many make states alike, and
# held-out densities of daily returns fell from 0.3 to 1 and 4.
STARTS, TRANSITIONS, WEIGHTS = 0.3, 0.3, 1.0


@dataclass(frozen=True, eq=False)
class ObservedFeatures:
    """Likelihoods of each column's features at every position."""

    likelihoods: tuple[
        Array, ...
    ]  # per column: (position, feature)   rows of zeros where it is missing
    missing: tuple[NDArray[np.bool_], ...]  # per column: (position,)
    ends: Integers  # (sequence + 1,)  where each sequence starts, and the end

    @staticmethod
    def of(
        likelihoods: Sequence[Array], missing: Sequence[NDArray[np.bool_]], lengths: Integers
    ) -> ObservedFeatures:
        """From likelihoods that may hold anything where a cell is missing."""
        ends = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        filled = []
        for features, is_missing in zip(likelihoods, missing, strict=True):
            filled.append(
                np.where(is_missing[:, None], 0.0, features) if is_missing.any() else features
            )
        return ObservedFeatures(tuple(filled), tuple(missing), ends)

    def without(self, left_out: NDArray[np.bool_]) -> ObservedFeatures:
        """The same with some positions missing."""
        missing = tuple(is_missing | left_out for is_missing in self.missing)
        filled = tuple(np.where(left_out[:, None], 0.0, features) for features in self.likelihoods)
        return ObservedFeatures(filled, missing, self.ends)

    @property
    def n_positions(self) -> int:
        """Number of positions, missing ones too."""
        return int(self.ends[-1])

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Features of each column."""
        return tuple(features.shape[1] for features in self.likelihoods)

    def of_states(self, tables: ChainTables) -> tuple[list[Array], Array, Array]:
        """Likelihoods of the states: per column, their product, and the log of the factor taken out of it."""
        columns = []
        for features, is_missing, weights in zip(
            self.likelihoods, self.missing, tables.emit, strict=True
        ):
            column = features @ weights.T  # (position, state)
            column[is_missing] = 1.0
            columns.append(column)
        if len(columns) == 1:
            return columns, columns[0], np.zeros(1)
        # Products of many densities leave the range of numbers: the largest of a row is taken out.
        with np.errstate(divide="ignore"):
            logs = np.sum([np.log(column) for column in columns], axis=0)
        top = logs.max(axis=1)
        top[~np.isfinite(top)] = 0.0
        return columns, np.exp(logs - top[:, None]), top


def step_logs(tables: ChainTables, observed: ObservedFeatures) -> tuple[Array, Array]:
    """Log-density of each position given those before it, and P(state | all so far): compiled.

    Returns
    -------
    logs : (position,) array
        0 where all columns are missing.
    now : (position, state) array
    """
    from tacit.sequences.loops.forward_backward import forward

    _, likelihoods, taken = observed.of_states(tables)
    now, logs = np.empty_like(likelihoods), np.empty(observed.n_positions)
    transitions = np.ascontiguousarray(tables.transitions)
    forward(tables.initial, transitions, likelihoods, observed.ends, now, logs)
    return logs + taken, now


def smoothed_states(tables: ChainTables, observed: ObservedFeatures) -> Array:
    """(position, state) P(state | whole sequence)."""
    _, likelihoods, taken = observed.of_states(tables)
    return smoothed(tables, StateEvidence(likelihoods, taken, observed.ends))


def expectation(
    layout: ChainLayout, observed: ObservedFeatures
) -> Callable[[Array], tuple[float, Array]]:
    """Log-likelihood of flat tables, and the expected count of every entry."""
    from tacit.sequences.loops.forward_backward import forward_backward

    k, bounds = layout.n_states, layout.bounds
    posterior = np.empty((observed.n_positions, k))
    logs = np.empty(observed.n_positions)

    def expect(values: Array) -> tuple[float, Array]:
        tables = layout.tables(values)
        columns, likelihoods, taken = observed.of_states(tables)
        counts = np.zeros(layout.size)
        starts, transitions = counts[:k], counts[k : k + k * k].reshape(k, k)
        forward_backward(
            tables.initial,
            tables.transitions,
            likelihoods,
            observed.ends,
            posterior,
            logs,
            starts,
            transitions,
        )
        for place, (features, state_likelihoods, weights) in enumerate(
            zip(observed.likelihoods, columns, tables.emit, strict=True), start=2
        ):
            ratios = posterior / np.maximum(state_likelihoods, 1e-300)
            emission_counts = weights * (ratios.T @ features)  # rows of zeros count nothing
            counts[bounds[place] : bounds[place + 1]] = emission_counts.ravel()
        return float(logs.sum() + taken.sum()), counts

    return expect


def chain_prior(layout: ChainLayout, pseudo_counts: float | None = None) -> Array:
    """Pseudo-counts of every entry: so many per row, spread evenly; None: the default ones."""
    k = layout.n_states
    rows = (STARTS, TRANSITIONS, WEIGHTS) if pseudo_counts is None else (pseudo_counts,) * 3
    parts = [np.full(k, rows[0] / k), np.full(k * k, rows[1] / k)]
    parts += [np.full(k * size, rows[2] / size) for size in layout.sizes]
    return np.concatenate(parts)


def chain_step(layout: ChainLayout, observed: ObservedFeatures, pseudo: Array) -> Step:
    """One step of MAP-EM."""
    from tacit.core.loops.acceleration import maximise

    expect = expectation(layout, observed)

    def step(values: Array) -> tuple[float, Array, Array]:
        log_likelihood, counts = expect(values)
        log_prior, image = maximise(counts, pseudo, values, layout.row_starts)
        return log_likelihood + log_prior, image, counts

    return step


def polished(
    tables: ChainTables,
    observed: ObservedFeatures,
    *,
    gain: float,
    max_iter: int,
    pseudo_counts: float | None = None,
    progress: Callable[[int, float], None] | None = None,
) -> tuple[ChainTables, EMRun]:
    """Accelerated MAP-EM from these tables, until a step gains less than `gain` nats.

    No warning where `max_iter` is reached: see `EMRun.converged`.
    """
    from tacit.core.loops.acceleration import normalise

    layout = tables.layout
    pseudo = chain_prior(layout, pseudo_counts)
    em_run = run_accelerated_em(
        chain_step(layout, observed, pseudo),
        normalise(np.maximum(tables.flat, 1e-9), layout.row_starts),
        AbsoluteGain(gain),
        normalise=lambda values: normalise(values, layout.row_starts),
        max_iter=max_iter,
        progress=progress,
        warn=False,
    )
    return layout.tables(em_run.values), em_run
