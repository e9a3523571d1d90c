"""What can be asked of the hidden states of a chain of tables: filter, smooth, most likely paths, draws.

What was seen comes as likelihoods of the states at each position (`StateEvidence`), whatever it was made of:
symbols, numbers, nothing at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
Codes = NDArray[np.int32]


class StateChain(Protocol):
    """Initial and transition probabilities, as `ChainTables` and others say it."""

    @property
    def initial(self) -> Array:
        """(state,)."""
        ...

    @property
    def transitions(self) -> Array:
        """(state, next state), rows sum to one."""
        ...


def ahead(chain: StateChain, states: Array, steps: int) -> Array:
    """(place, state) the same states some steps later."""
    return np.asarray(states @ np.linalg.matrix_power(chain.transitions, steps))


@dataclass(frozen=True, eq=False)
class StateEvidence:
    """What each position says of its state."""

    likelihoods: Array  # (position, state)
    taken: Array  # (position,)  logarithms of what was divided out of the likelihoods
    ends: Integers  # (sequence + 1,)  where each sequence starts, and the end

    @cached_property
    def lengths(self) -> Integers:
        """(sequence,) positions of each."""
        return np.diff(self.ends)


@dataclass(frozen=True, eq=False)
class Filtered:
    """States given all up to and with each position."""

    chain: StateChain
    now: Array  # (position, state)   rows of zeros after something impossible
    logs: Array  # (position,)  log-likelihood of each position given those before it
    ends: Integers  # (sequence + 1,)

    def log_probs(self) -> Array:
        """(sequence,) log-likelihoods of whole sequences; 0 of empty ones."""
        return sums_of(self.logs, self.ends)

    def after(self, steps: int = 1) -> Array:
        """(sequence, state) P(state `steps` positions after the last | the whole sequence)."""
        lengths = np.diff(self.ends)
        found = np.tile(ahead(self.chain, self.chain.initial[None], steps - 1), (len(lengths), 1))
        some = np.flatnonzero(lengths)
        found[some] = ahead(self.chain, self.now[self.ends[1:][some] - 1], steps)
        return found

    def before(self, steps: int = 1) -> Array:
        """(position, state) P(state there, or some steps later | all before the position)."""
        found = np.empty_like(self.now)
        found[1:] = ahead(self.chain, self.now[:-1], steps)
        firsts = self.ends[:-1][np.diff(self.ends) > 0]
        found[firsts] = ahead(self.chain, self.chain.initial[None], steps - 1)
        return found


def sums_of(values: Array, ends: Integers) -> Array:
    """(sequence,) sums over the positions of each sequence; of each its own, however long the others are."""
    filled = np.flatnonzero(np.diff(ends))
    found = np.zeros(len(ends) - 1)
    if len(filled):
        found[filled] = np.add.reduceat(values, ends[filled])
    return found


def symbol_evidence(emissions: Array, codes: Codes, ends: Integers) -> StateEvidence:
    """What symbols say of the states.

    Parameters
    ----------
    emissions : (state, symbol)
    codes : (position,)
        -1 where a symbol is missing.
    ends : (sequence + 1,)
    """
    by_code = np.vstack([emissions.T, np.ones(len(emissions))])  # the last for code -1
    return StateEvidence(by_code[codes], np.zeros(len(codes)), ends)


def filtered(chain: StateChain, seen: StateEvidence) -> Filtered:
    """P(state | all up to and with each position), compiled."""
    from tacit.sequences.loops.forward_backward import forward

    now, logs = np.empty_like(seen.likelihoods), np.empty(len(seen.likelihoods))
    transitions = np.ascontiguousarray(chain.transitions)
    forward(chain.initial, transitions, seen.likelihoods, seen.ends, now, logs)
    logs[~(now.sum(axis=1) > 0)] = -np.inf  # nothing can have led there
    return Filtered(chain, now, logs + seen.taken, seen.ends)


def smoothed(chain: StateChain, seen: StateEvidence) -> Array:
    """(position, state) P(state | the whole sequence); rows of zeros where that is impossible."""
    from tacit.sequences.loops.forward_backward import forward_backward

    k = len(chain.initial)
    posterior, logs = np.empty_like(seen.likelihoods), np.empty(len(seen.likelihoods))
    transitions = np.ascontiguousarray(chain.transitions)
    starts, counts = np.zeros(k), np.zeros((k, k))
    forward_backward(
        chain.initial, transitions, seen.likelihoods, seen.ends, posterior, logs, starts, counts
    )
    last = seen.ends[1:][seen.lengths > 0] - 1
    impossible = np.repeat(~(posterior[last].sum(axis=1) > 0), seen.lengths[seen.lengths > 0])
    posterior[impossible] = 0.0
    return posterior


def viterbi(chain: StateChain, seen: StateEvidence) -> tuple[Codes, Array]:
    """The most likely path of each sequence.

    Returns
    -------
    path : (position,) integers
        All zeros where a sequence is impossible.
    log_probs : (sequence,)
        Log-probability of that path together with what was seen.
    """
    from tacit.sequences.loops.viterbi import most_likely

    path, values = np.zeros(len(seen.taken), dtype=np.int32), np.empty(len(seen.lengths))
    with np.errstate(divide="ignore"):
        initial, transitions = (
            np.log(chain.initial),
            np.log(np.ascontiguousarray(chain.transitions)),
        )
        logs = np.log(seen.likelihoods)
    most_likely(initial, transitions, logs, seen.ends, path, values)
    return path, values + sums_of(seen.taken, seen.ends)


def drawn_states(
    chain: StateChain, first: Array, shape: tuple[int, int], rng: np.random.Generator
) -> Codes:
    """(draw, time) paths of hidden states.

    Parameters
    ----------
    chain : StateChain
    first : (state,)
        Probabilities of the state at the first time.
    shape : (draws, times)
    rng : Generator
    """
    from tacit.sequences.loops.viterbi import draw_paths

    states = np.empty(shape, dtype=np.int32)
    draw_paths(np.cumsum(first), np.cumsum(chain.transitions, axis=1), rng.random(shape), states)
    return states


def drawn_symbols(emissions: Array, states: Codes, rng: np.random.Generator) -> Codes:
    """(draw, time) a symbol for each state."""
    from tacit.sequences.loops.viterbi import draw_symbols

    codes = np.empty(states.shape, dtype=np.int32)
    draw_symbols(np.cumsum(emissions, axis=1), states, rng.random(states.shape), codes)
    return codes
