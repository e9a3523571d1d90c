"""Chains of hidden states position by position: what is believed of the state, and how long it has lasted.

A belief is an array of probabilities whose last axis are states: (state,), or (age, state) where durations
are explicit. The first age is that of a segment that has just begun; the last one stands for all beyond, too.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tacit.sequences.model.durations import SegmentChain
from tacit.sequences.query.hidden_states import (
    StateChain,
    StateEvidence,
    ahead,
    filtered,
    segments_of,
)
from tacit.sequences.query.segments import ages_after, ages_at_start

Array = NDArray[np.float64]


class Steps(Protocol):
    """How beliefs change from one position to the next."""

    @property
    def first(self) -> Array:
        """The belief at the first position."""
        ...

    def states(self, belief: Array) -> Array:
        """(state,) probabilities."""
        ...

    def after(self, belief: Array) -> Array:
        """The belief at the next position."""
        ...

    def staying(self, belief: Array) -> Array:
        """The part of it whose state is the same."""
        ...

    def states_later(self, belief: Array, steps: int) -> Array:
        """(state,) probabilities some positions later."""
        ...

    def belief_after(self, evidence: StateEvidence) -> Array:
        """The belief at the last position of the only sequence of some evidence; zeros if impossible."""
        ...


def steps_of(chain: StateChain) -> Steps:
    """The steps of a chain."""
    segments = segments_of(chain)
    return MarkovSteps(chain) if segments is None else SegmentSteps(segments)


class MarkovSteps:
    """States alone."""

    def __init__(self, chain: StateChain) -> None:
        self.chain = chain
        self.first = np.array(chain.initial, dtype=np.float64)
        self.transitions = np.ascontiguousarray(chain.transitions)

    def states(self, belief: Array) -> Array:
        """The belief itself."""
        return belief

    def after(self, belief: Array) -> Array:
        """By transitions."""
        return belief @ self.transitions

    def staying(self, belief: Array) -> Array:
        """By transitions to the same state."""
        return belief * np.diagonal(self.transitions)

    def states_later(self, belief: Array, steps: int) -> Array:
        """By a power of the transitions."""
        return ahead(self.chain, belief, steps)

    def belief_after(self, evidence: StateEvidence) -> Array:
        """What filtering gives."""
        return np.asarray(filtered(self.chain, evidence).now[-1])


class SegmentSteps:
    """States and ages."""

    def __init__(self, chain: SegmentChain) -> None:
        self.chain = chain
        self.first = ages_at_start(chain)

    def states(self, belief: Array) -> Array:
        """Summed over ages."""
        return np.asarray(belief.sum(axis=0))

    def after(self, belief: Array) -> Array:
        """Segments grow older, or end and the next ones begin."""
        ended, older = self._grown(belief)
        older[0] += ended @ self.chain.transitions
        return older

    def staying(self, belief: Array) -> Array:
        """Segments grow older, or are followed by one of the same state."""
        ended, older = self._grown(belief)
        older[0] += ended * np.diagonal(self.chain.transitions)
        return older

    def states_later(self, belief: Array, steps: int) -> Array:
        """Step by step."""
        for _ in range(steps):
            belief = self.after(belief)
        return self.states(belief)

    def belief_after(self, evidence: StateEvidence) -> Array:
        """Ages given all before the last position, then the last position, too."""
        belief = ages_after(self.chain, evidence.likelihoods[:-1]) * evidence.likelihoods[-1]
        total = belief.sum()
        return np.asarray(belief / total if total > 0 else belief)

    def _grown(self, belief: Array) -> tuple[Array, Array]:
        """(state,) segments that end here; (age, state) at the next position, of those that do not."""
        ending = belief * self.chain.hazards
        going_on = belief - ending
        older = np.zeros_like(belief)
        older[1:] = going_on[:-1]
        older[-1] += going_on[-1]
        return ending.sum(axis=0), older


def remaining_duration(steps: Steps, belief: Array, most: int) -> Array:
    """(most + 1,) P(the state goes on for just 0, 1, ... positions); the last one: for `most` or more.

    NaN where the belief is all zero.
    """
    remaining, mass = np.empty(most + 1), float(belief.sum())
    if not mass > 0:
        return np.full(most + 1, np.nan)
    for duration in range(most):
        belief = steps.staying(belief)
        left = float(belief.sum())
        remaining[duration], mass = mass - left, left
    remaining[most] = mass
    return remaining
