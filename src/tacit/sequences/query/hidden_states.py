"""Queries of hidden states: filtering, smoothing, Viterbi paths, sampling.

Observations come as likelihoods of the states at each position (`StateEvidence`), whatever is emitted. Chains
with explicit durations (`SegmentChain`) have passes of their own (`query/segments.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tacit.sequences.model.durations import SegmentChain
from tacit.sequences.query.segments import (
    SegmentStates,
    ages_after,
    ages_at_start,
    drawn_segment_states,
    expected_segments,
    filtered_segments,
    most_likely_segments,
)

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
Codes = NDArray[np.int32]


class StateChain(Protocol):
    """Initial and transition probabilities, as `ChainTables` and others have them."""

    @property
    def initial(self) -> Array:
        """(state,)."""
        ...

    @property
    def transitions(self) -> Array:
        """(state, next state), rows sum to one."""
        ...


def segments_of(chain: StateChain) -> SegmentChain | None:
    """The chain of segments, where durations are explicit."""
    segments: SegmentChain | None = getattr(chain, "segments", None)
    return segments


def ahead(chain: StateChain, states: Array, steps: int) -> Array:
    """(row, state) distributions of the states some steps later."""
    return np.asarray(states @ np.linalg.matrix_power(chain.transitions, steps))


@dataclass(frozen=True, eq=False)
class StateEvidence:
    """Likelihoods of the states at each position."""

    likelihoods: Array  # (position, state)
    log_scales: Array  # (position,)  logs of the factors taken out of the likelihoods
    ends: Integers  # (sequence + 1,)  where each sequence starts, and the end

    @cached_property
    def lengths(self) -> Integers:
        """(sequence,) positions of each."""
        return np.diff(self.ends)

    def split(self) -> Iterator[StateEvidence]:
        """Each sequence by itself."""
        for first, stop in pairwise(self.ends.tolist()):
            ends = np.array([0, stop - first], dtype=np.int64)
            yield StateEvidence(self.likelihoods[first:stop], self.log_scales[first:stop], ends)


@dataclass(frozen=True, eq=False)
class Filtered:
    """P(state | all up to and including each position)."""

    chain: StateChain
    now: Array  # (position, state)   rows of zeros after an impossible observation
    logs: Array  # (position,)  log-likelihood of each position given those before it
    ends: Integers  # (sequence + 1,)

    def log_probs(self) -> Array:
        """(sequence,) log-likelihoods of whole sequences; 0 of empty ones."""
        return sums_of(self.logs, self.ends)

    def after(self, steps: int = 1) -> Array:
        """(sequence, state) P(state `steps` positions after the last | the whole sequence)."""
        lengths = np.diff(self.ends)
        states = np.tile(self._from_start(steps), (len(lengths), 1))
        filled = np.flatnonzero(lengths)
        states[filled] = self._later(self.ends[1:][filled] - 1, steps)
        return states

    def before(self, steps: int = 1) -> Array:
        """(position, state) P(state at the position, or later with steps > 1 | all before the position)."""
        states = np.empty_like(self.now)
        states[1:] = self._later(np.arange(len(states) - 1), steps)
        firsts = self.ends[:-1][np.diff(self.ends) > 0]
        states[firsts] = self._from_start(steps)
        return states

    def _later(self, positions: NDArray[np.intp], steps: int) -> Array:
        """(row, state) P(state some steps after some positions | all up to these)."""
        return ahead(self.chain, self.now[positions], steps)

    def _from_start(self, steps: int) -> Array:
        """(state,) P(state of the position `steps`, counted from one)."""
        return np.asarray(ahead(self.chain, self.chain.initial[None], steps - 1)[0])


@dataclass(frozen=True, eq=False)
class FilteredSegments(Filtered):
    """The same of a chain with explicit durations: what follows depends on the ages of segments, too."""

    chain: SegmentChain
    evidence: StateEvidence
    states: SegmentStates

    def _later(self, positions: NDArray[np.intp], steps: int) -> Array:
        if steps == 1:
            return self.states.later[positions]
        evidence = self.evidence
        states = filtered_segments(self.chain, evidence.likelihoods, evidence.ends, steps)
        return states.later[positions]

    def _from_start(self, steps: int) -> Array:
        if steps == 1:
            return self.chain.initial
        return np.asarray(self.chain.initial @ self.chain.readout(steps - 1)[0])


def sums_of(values: Array, ends: Integers) -> Array:
    """(sequence,) sums over the positions of each sequence, exactly the same whatever the others are."""
    filled = np.flatnonzero(np.diff(ends))
    sums = np.zeros(len(ends) - 1)
    if len(filled):
        sums[filled] = np.add.reduceat(values, ends[filled])
    return sums


def symbol_evidence(emissions: Array, codes: Codes, ends: Integers) -> StateEvidence:
    """Evidence of symbols.

    Parameters
    ----------
    emissions : (state, symbol)
    codes : (position,)
        -1: missing.
    ends : (sequence + 1,)
    """
    by_code = np.vstack([emissions.T, np.ones(len(emissions))])  # the last for code -1
    return StateEvidence(by_code[codes], np.zeros(len(codes)), ends)


def filtered(chain: StateChain, evidence: StateEvidence) -> Filtered:
    """P(state | all up to and including each position)."""
    from tacit.sequences.loops.forward_backward import forward

    segments = segments_of(chain)
    if segments is not None:
        states = filtered_segments(segments, evidence.likelihoods, evidence.ends)
        log_probs = np.where(states.now.sum(axis=1) > 0, states.logs, -np.inf)
        log_probs += evidence.log_scales
        return FilteredSegments(segments, states.now, log_probs, evidence.ends, evidence, states)
    now, logs = np.empty_like(evidence.likelihoods), np.empty(len(evidence.likelihoods))
    transitions = np.ascontiguousarray(chain.transitions)
    forward(chain.initial, transitions, evidence.likelihoods, evidence.ends, now, logs)
    logs[~(now.sum(axis=1) > 0)] = -np.inf  # impossible
    return Filtered(chain, now, logs + evidence.log_scales, evidence.ends)


def smoothed(chain: StateChain, evidence: StateEvidence) -> Array:
    """(position, state) P(state | the whole sequence); rows of zeros where that is impossible."""
    from tacit.sequences.loops.forward_backward import forward_backward

    segments = segments_of(chain)
    if segments is not None:
        return expected_segments(segments, evidence.likelihoods, evidence.ends).posterior
    k = len(chain.initial)
    posterior, logs = np.empty_like(evidence.likelihoods), np.empty(len(evidence.likelihoods))
    transitions = np.ascontiguousarray(chain.transitions)
    starts, counts = np.zeros(k), np.zeros((k, k))
    forward_backward(
        chain.initial,
        transitions,
        evidence.likelihoods,
        evidence.ends,
        posterior,
        logs,
        starts,
        counts,
    )
    last = evidence.ends[1:][evidence.lengths > 0] - 1
    impossible = np.repeat(
        ~(posterior[last].sum(axis=1) > 0), evidence.lengths[evidence.lengths > 0]
    )
    posterior[impossible] = 0.0
    return posterior


def viterbi(chain: StateChain, evidence: StateEvidence) -> tuple[Codes, Array]:
    """The most likely path of each sequence.

    Returns
    -------
    path : (position,) integers
        All zeros where a sequence is impossible.
    log_probs : (sequence,)
        Joint log-probability of that path and the sequence.
    """
    from tacit.sequences.loops.viterbi import viterbi_paths

    segments = segments_of(chain)
    if segments is not None:
        with np.errstate(divide="ignore"):
            logs = np.log(evidence.likelihoods)
        path, _, values = most_likely_segments(segments, logs, evidence.ends)
        return path, values + sums_of(evidence.log_scales, evidence.ends)
    path, values = (
        np.zeros(len(evidence.log_scales), dtype=np.int32),
        np.empty(len(evidence.lengths)),
    )
    with np.errstate(divide="ignore"):
        initial, transitions = (
            np.log(chain.initial),
            np.log(np.ascontiguousarray(chain.transitions)),
        )
        logs = np.log(evidence.likelihoods)
    viterbi_paths(initial, transitions, logs, evidence.ends, path, values)
    return path, values + sums_of(evidence.log_scales, evidence.ends)


def next_states(chain: StateChain, evidence: StateEvidence | None = None) -> Array:
    """What `drawn_states` starts from, at the start or after the only sequence of some evidence.

    Returns
    -------
    (state,) or (age, state)
        Probabilities; with ages where durations are explicit. Zeros after an impossible sequence.
    """
    segments = segments_of(chain)
    if segments is not None:
        if evidence is None:
            return ages_at_start(segments)
        return ages_after(segments, evidence.likelihoods)
    if evidence is None:
        return np.asarray(chain.initial)
    return np.asarray(filtered(chain, evidence).after()[0])


def drawn_states(
    chain: StateChain, first: Array, shape: tuple[int, int], rng: np.random.Generator
) -> Codes:
    """(draw, time) paths of hidden states.

    Parameters
    ----------
    chain : StateChain
    first : (state,)
        Probabilities of the state at the first time, as `next_states` gives them.
    shape : (draws, times)
    rng : Generator
    """
    from tacit.sequences.loops.viterbi import draw_paths

    segments = segments_of(chain)
    if segments is not None:
        return drawn_segment_states(segments, first, shape, rng)
    states = np.empty(shape, dtype=np.int32)
    draw_paths(np.cumsum(first), np.cumsum(chain.transitions, axis=1), rng.random(shape), states)
    return states


def drawn_symbols(emissions: Array, states: Codes, rng: np.random.Generator) -> Codes:
    """(draw, time) a symbol for each state."""
    from tacit.sequences.loops.viterbi import draw_symbols

    codes = np.empty(states.shape, dtype=np.int32)
    draw_symbols(np.cumsum(emissions, axis=1), states, rng.random(states.shape), codes)
    return codes
