"""EM on hidden Markov models whose columns have fixed features and learnt weights of them.

The features may be densities at the numbers that were seen (bells, bumps: a state then emits a mixture of
them) or indicators of symbols.
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

# Pseudo-counts of a row of each kind of table. Of transitions few: many make states alike, and held-out
# densities of daily returns fell from 0.3 to 1 and 4.
STARTS, MOVES, WEIGHTS = 0.3, 0.3, 1.0


@dataclass(frozen=True, eq=False)
class Seen:
    """What was observed at every position, as likelihoods of each column's features."""

    likelihoods: tuple[
        Array, ...
    ]  # per column: (position, feature)   rows of zeros where it is missing
    missing: tuple[NDArray[np.bool_], ...]  # per column: (position,)
    ends: Integers  # (sequence + 1,)  where each sequence starts, and the end

    @staticmethod
    def of(
        likelihoods: Sequence[Array], missing: Sequence[NDArray[np.bool_]], lengths: Integers
    ) -> Seen:
        """From likelihoods that may hold anything where a cell is missing."""
        ends = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        kept = []
        for each, gone in zip(likelihoods, missing, strict=True):
            kept.append(np.where(gone[:, None], 0.0, each) if gone.any() else each)
        return Seen(tuple(kept), tuple(missing), ends)

    def without(self, left_out: NDArray[np.bool_]) -> Seen:
        """The same with some positions missing."""
        missing = tuple(gone | left_out for gone in self.missing)
        kept = tuple(np.where(left_out[:, None], 0.0, each) for each in self.likelihoods)
        return Seen(kept, missing, self.ends)

    @property
    def n_positions(self) -> int:
        """Number of positions, missing ones too."""
        return int(self.ends[-1])

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Features of each column."""
        return tuple(each.shape[1] for each in self.likelihoods)

    def of_states(self, tables: ChainTables) -> tuple[list[Array], Array, Array]:
        """Likelihoods of the states: per column, all together, and what was taken out as a logarithm."""
        columns = []
        for each, gone, weights in zip(self.likelihoods, self.missing, tables.emit, strict=True):
            found = each @ weights.T  # (position, state)
            found[gone] = 1.0
            columns.append(found)
        if len(columns) == 1:
            return columns, columns[0], np.zeros(1)
        # Products of many densities leave the range of numbers: the largest of a row is taken out.
        with np.errstate(divide="ignore"):
            logs = np.sum([np.log(each) for each in columns], axis=0)
        top = logs.max(axis=1)
        top[~np.isfinite(top)] = 0.0
        return columns, np.exp(logs - top[:, None]), top


def step_logs(tables: ChainTables, seen: Seen) -> tuple[Array, Array]:
    """Log-density of each position given those before it, and P(state | all so far): compiled.

    Returns
    -------
    logs : (position,) array
        0 where all columns are missing.
    now : (position, state) array
    """
    from tacit.sequences.loops.forward_backward import forward

    _, likelihoods, taken = seen.of_states(tables)
    now, logs = np.empty_like(likelihoods), np.empty(seen.n_positions)
    transitions = np.ascontiguousarray(tables.transitions)
    forward(tables.initial, transitions, likelihoods, seen.ends, now, logs)
    return logs + taken, now


def smoothed_states(tables: ChainTables, seen: Seen) -> Array:
    """(position, state) P(state | whole sequence)."""
    _, likelihoods, taken = seen.of_states(tables)
    return smoothed(tables, StateEvidence(likelihoods, taken, seen.ends))


def expectation(layout: ChainLayout, seen: Seen) -> Callable[[Array], tuple[float, Array]]:
    """Log-likelihood of flat tables, and the expected count of every entry."""
    from tacit.sequences.loops.forward_backward import forward_backward

    k, bounds = layout.n_states, layout.bounds
    posterior = np.empty((seen.n_positions, k))
    logs = np.empty(seen.n_positions)

    def expect(values: Array) -> tuple[float, Array]:
        tables = layout.tables(values)
        columns, likelihoods, taken = seen.of_states(tables)
        counts = np.zeros(layout.size)
        starts, transitions = counts[:k], counts[k : k + k * k].reshape(k, k)
        forward_backward(
            tables.initial,
            tables.transitions,
            likelihoods,
            seen.ends,
            posterior,
            logs,
            starts,
            transitions,
        )
        for place, (each, own, weights) in enumerate(
            zip(seen.likelihoods, columns, tables.emit, strict=True), start=2
        ):
            shares = posterior / np.maximum(own, 1e-300)
            found = weights * (shares.T @ each)  # rows of zeros count nothing
            counts[bounds[place] : bounds[place + 1]] = found.ravel()
        return float(logs.sum() + taken.sum()), counts

    return expect


def chain_prior(layout: ChainLayout, pseudo_counts: float | None = None) -> Array:
    """Pseudo-counts of every entry: so many per row, spread evenly; None: the usual ones."""
    k = layout.n_states
    rows = (STARTS, MOVES, WEIGHTS) if pseudo_counts is None else (pseudo_counts,) * 3
    parts = [np.full(k, rows[0] / k), np.full(k * k, rows[1] / k)]
    parts += [np.full(k * size, rows[2] / size) for size in layout.sizes]
    return np.concatenate(parts)


def chain_step(layout: ChainLayout, seen: Seen, pseudo: Array) -> Step:
    """One step of MAP-EM."""
    from tacit.core.loops.acceleration import maximise

    expect = expectation(layout, seen)

    def step(values: Array) -> tuple[float, Array, Array]:
        log_likelihood, counts = expect(values)
        log_prior, better = maximise(counts, pseudo, values, layout.row_starts)
        return log_likelihood + log_prior, better, counts

    return step


def polished(
    tables: ChainTables,
    seen: Seen,
    *,
    gain: float,
    max_iter: int,
    pseudo_counts: float | None = None,
    progress: Callable[[int, float], None] | None = None,
) -> tuple[ChainTables, EMRun]:
    """Accelerated MAP-EM from these tables, until a step gains less than `gain` nats.

    Raises no warning where `max_iter` ends it: `EMRun.converged` tells.
    """
    from tacit.core.loops.acceleration import normalise

    layout = tables.layout
    pseudo = chain_prior(layout, pseudo_counts)
    found = run_accelerated_em(
        chain_step(layout, seen, pseudo),
        normalise(np.maximum(tables.flat, 1e-9), layout.row_starts),
        AbsoluteGain(gain),
        normalise=lambda values: normalise(values, layout.row_starts),
        max_iter=max_iter,
        progress=progress,
        warn=False,
    )
    return layout.tables(found.values), found
