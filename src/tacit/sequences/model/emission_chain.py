"""Hidden Markov models with emissions of any kind, and chains of any shape."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.linalg.long_run import long_run
from tacit.sequences.model.durations import Durations, SegmentChain
from tacit.sequences.model.shapes import Shape

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class EmissionChain:
    """Initial and transition probabilities, and what states emit."""

    initial: Array  # (state,)
    transitions: Array  # (state, next state)   rows sum to one
    density: Any  # a `StateDensity` with an entry for each group of tied states
    shape: Shape | None = None  # None: everything is possible, no states are tied
    durations: Durations | None = (
        None  # of segments, which transitions then lead to; None: geometric
    )

    @property
    def n_states(self) -> int:
        """Number of hidden states."""
        return len(self.initial)

    @property
    def n_parameters(self) -> int:
        """Free parameters."""
        shape = Shape.full(self.n_states) if self.shape is None else self.shape
        n_durations = 0 if self.durations is None else self.durations.n_parameters
        return shape.n_parameters + int(self.density.n_parameters) + n_durations

    @cached_property
    def emitted(self) -> Any:
        """The `StateDensity` with an entry for each state."""
        return self.density if self.shape is None else self.density.ordered(self.shape.groups)

    @cached_property
    def stationary(self) -> Array:
        """(state,) the stationary distribution."""
        return long_run(self.transitions) if self.segments is None else self.segments.stationary

    @cached_property
    def segments(self) -> SegmentChain | None:
        """The chain of segments, where durations are explicit."""
        if self.durations is None:
            return None
        return SegmentChain(self.initial, self.transitions, self.durations)

    def ordered(self, order: NDArray[np.integer]) -> EmissionChain:
        """The same model with its states in another order."""
        density = self.density
        if self.shape is None:
            density, shape = density.ordered(order), None
        else:
            shape = self.shape.ordered(order)
        transitions = self.transitions[np.ix_(order, order)]
        durations = None if self.durations is None else self.durations.ordered(order)
        return EmissionChain(self.initial[order], transitions, density, shape, durations)

    @property
    def flat(self) -> Array:
        """All parameters in one array, for EM; `of_flat` reads it."""
        durations = np.zeros(0) if self.durations is None else self.durations.flat
        return np.concatenate(
            [self.initial, self.transitions.ravel(), self.density.flat, durations]
        )

    def of_flat(self, values: Array) -> EmissionChain:
        """The chain of the same shape that a flat array holds: the nearest valid one."""
        k = self.n_states
        shape = Shape.full(k) if self.shape is None else self.shape
        first = k + k * k + len(self.density.flat)
        initial, transitions, density, lasting = np.split(values, [k, k + k * k, first])
        return EmissionChain(
            masked_rows(initial, shape.initial),
            masked_rows(transitions.reshape(k, k), shape.transitions),
            self.density.of_flat(density),
            self.shape,
            None if self.durations is None else self.durations.of_flat(lasting),
        )


def masked_rows(values: Array, possible: NDArray[np.bool_]) -> Array:
    """Rows brought to sum one; zero where nothing is possible, even where all of a row is zero."""
    rows = np.where(possible, values, 0.0)
    sums = rows.sum(axis=-1, keepdims=True)
    even = possible / possible.sum(axis=-1, keepdims=True)
    return np.asarray(np.where(sums > 0, rows / np.where(sums > 0, sums, 1.0), even))
