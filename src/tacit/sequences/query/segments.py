"""Passes over chains with explicit durations, array by array; see `query/hidden_states.py` for queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from tacit.sequences.model.durations import SegmentChain

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
Codes = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class SegmentStates:
    """States at each position, given the positions so far."""

    now: Array  # (position, state)   rows of zeros after an impossible observation
    logs: Array  # (position,)  log-likelihood of each position given those before it
    begun: Array  # (position, state) a segment begins here, given the positions before
    ended: Array  # (position, state) a segment ends here
    oldest: Array  # (position, state) state and last age
    later: Array  # (position, state) the state some steps later
    going_on: Array  # (age, state) after the last position: P(state, age, the segment goes on)


def filtered_segments(
    chain: SegmentChain, likelihoods: Array, ends: Integers, steps: int = 1
) -> SegmentStates:
    """P(state | all up to each position), and of the state `steps` positions later."""
    from tacit.sequences.loops.semi_markov import forward

    k = chain.n_states
    begun, ended, oldest, now, later = (np.empty(likelihoods.shape) for _ in range(5))
    logs, going_on = np.empty(len(likelihoods)), np.empty(chain.hazards.shape)
    readout = chain.readout(steps) if steps > 1 else np.empty((0, k, k))
    forward(
        np.ascontiguousarray(chain.initial),
        np.ascontiguousarray(chain.transitions),
        chain.hazards,
        likelihoods,
        ends,
        np.ascontiguousarray(readout),
        begun,
        ended,
        oldest,
        now,
        logs,
        later,
        going_on,
    )
    return SegmentStates(now, logs, begun, ended, oldest, later, going_on)


@dataclass(frozen=True, eq=False)
class ExpectedSegments:
    """What complete sequences say of the states at each position, and expected counts of segments."""

    posterior: Array  # (position, state)
    logs: Array  # (position,)  log-likelihood of each position given those before it
    initial: Array  # (state,)
    transitions: Array  # (state, state of the next segment)
    endings: Array  # (state, age)
    stays: Array  # (state, age)
    changes: Array  # (position,) P(the state differs from the one before)


def expected_segments(chain: SegmentChain, likelihoods: Array, ends: Integers) -> ExpectedSegments:
    """Posteriors of the states, and expected counts of segments."""
    from tacit.sequences.loops.semi_markov import forward_backward

    k = chain.n_states
    posterior, logs = np.empty(likelihoods.shape), np.empty(len(likelihoods))
    initial, transitions = np.zeros(k), np.zeros((k, k))
    endings, stays = np.zeros(chain.hazards.shape), np.zeros(chain.hazards.shape)
    changes = np.empty(len(likelihoods))
    forward_backward(
        np.ascontiguousarray(chain.initial),
        np.ascontiguousarray(chain.transitions),
        chain.hazards,
        likelihoods,
        ends,
        posterior,
        logs,
        initial,
        transitions,
        endings,
        stays,
        changes,
    )
    return ExpectedSegments(posterior, logs, initial, transitions, endings.T, stays.T, changes)


def most_likely_segments(
    chain: SegmentChain, log_likelihoods: Array, ends: Integers
) -> tuple[Codes, NDArray[np.bool_], Array]:
    """The most likely states by position, where segments begin, and the joint log-probability by sequence."""
    from tacit.sequences.loops.semi_markov import viterbi_paths

    n = len(log_likelihoods)
    path, begins, values = np.zeros(n, np.int32), np.zeros(n, np.int8), np.empty(len(ends) - 1)
    with np.errstate(divide="ignore"):
        tables = [np.log(chain.initial), np.log(np.ascontiguousarray(chain.transitions))]
        ages = [np.log(chain.hazards), np.log1p(-chain.hazards)]
    viterbi_paths(*tables, *ages, log_likelihoods, ends, path, begins, values)
    return path, begins.astype(bool), values


def drawn_segment_states(
    chain: SegmentChain, first: Array, shape: tuple[int, int], rng: np.random.Generator
) -> Codes:
    """(draw, time) paths of hidden states.

    Parameters
    ----------
    chain : SegmentChain
    first : (age, state)
        Probabilities of age and state at the first time; a new segment has the first age.
    shape : (draws, times)
    rng : Generator
    """
    from tacit.sequences.loops.segment_paths import draw_paths

    states = np.empty(shape, dtype=np.int32)
    draw_paths(
        np.cumsum(first),
        chain.hazards,
        np.cumsum(chain.transitions, axis=1),
        rng.random(shape),
        states,
    )
    return states


def drawn_segments(
    chain: SegmentChain,
    likelihoods: Array,
    ends: Integers,
    n_samples: int,
    rng: np.random.Generator,
) -> Codes:
    """(position, draw) paths of states from their posterior; -1 where a sequence is impossible."""
    from tacit.sequences.loops.segment_paths import draw_posterior_paths

    filtered = filtered_segments(chain, likelihoods, ends)
    states = np.full((len(likelihoods), n_samples), -1, dtype=np.int32)
    draw_posterior_paths(
        np.ascontiguousarray(chain.transitions),
        chain.hazards,
        likelihoods,
        ends,
        (filtered.begun, filtered.ended, filtered.oldest, filtered.now, filtered.logs),
        rng.random((2, *states.shape)),
        states,
    )
    return states


def ages_at_start(chain: SegmentChain) -> Array:
    """(age, state) at the first position: a segment begins."""
    ages = np.zeros(chain.hazards.shape)
    ages[0] = chain.initial
    return ages


def ages_after(chain: SegmentChain, likelihoods: Array) -> Array:
    """(age, state) at the position after one sequence; zeros where that is impossible."""
    if not len(likelihoods):
        return ages_at_start(chain)
    states = filtered_segments(chain, likelihoods, np.array([0, len(likelihoods)]))
    ages = np.zeros(chain.hazards.shape)
    next_age = np.minimum(np.arange(len(ages)) + 1, len(ages) - 1)
    np.add.at(ages, next_age, states.going_on)
    ages[0] += states.ended[-1] @ chain.transitions
    return ages
