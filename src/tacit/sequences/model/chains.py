"""Parameters of homogeneous chains: an initial vector, one step for all positions, and a final vector.

A state is a vector of length `rank`. The first one is `initial`. The observation at a position, a vector of
features, becomes a message; the step maps this message and the state before to the next state, linearly in
both. The product of a state with `stop` is the probability or density of all observations so far.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tacit.core.linalg.long_run import long_run
from tacit.errors import ArgumentError
from tacit.messages.network import Dense, Hadamard
from tacit.sequences.model.durations import Durations, SegmentChain
from tacit.sequences.model.shapes import Shape

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Operators:
    """A homogeneous chain: hidden Markov models, weighted automata and their spectral estimates.

    The step is a node with two children, the observation and the state before; its parent is the state
    after: a `Dense` core of three axes in general, a `Hadamard` table where states are probabilities of
    hidden states (the message of an observation is then the likelihood of each).

    A position may hold several columns: their messages are multiplied, as the columns are independent given
    the state.
    """

    initial: Array  # (rank,)
    step: Dense | Hadamard  # core (message, before, after), or table (after, before)
    stop: Array  # (rank,)
    emit: tuple[Array, ...]  # per column: (feature, message)
    total: tuple[Array, ...]  # per column: (message,)   the message of a missing cell

    @staticmethod
    def of_steps(
        initial: Array, steps: Array, stop: Array, total: Array | None = None
    ) -> Operators:
        """A chain of one matrix for each feature.

        Parameters
        ----------
        initial : (rank,)
        steps : (feature, rank, rank)
            The state after a feature vector f is ``before @ sum(f[i] * steps[i])``.
        stop : (rank,)
        total : (feature,), optional
            The features of a missing cell; ones by default, as for indicators of symbols.

        Examples
        --------
        >>> coin = Operators.of_steps(np.ones(1), np.array([[[0.25]], [[0.75]]]), np.ones(1))
        >>> coin.rank, coin.steps.shape
        (1, (2, 1, 1))
        """
        n_features = len(steps)
        missing = np.ones(n_features) if total is None else total
        return Operators(initial, Dense(steps), stop, (np.eye(n_features),), (missing,))

    @property
    def rank(self) -> int:
        """Length of a state."""
        return len(self.initial)

    @cached_property
    def core(self) -> Array:
        """(message, before, after) the step as a dense core."""
        if isinstance(self.step, Dense):
            return self.step.core
        core = np.zeros((self.rank,) * 3)
        places = np.arange(self.rank)
        core[places, places] = self.step.table.T
        return core

    @cached_property
    def steps(self) -> Array:
        """(feature, rank, rank) one matrix for each feature, of a chain of one column."""
        if len(self.emit) != 1:
            raise ArgumentError(
                f"a chain of {len(self.emit)} columns has no matrix for each feature alone"
            )
        return np.asarray(np.einsum("fs,smn->fmn", self.emit[0], self.core))

    @cached_property
    def mean(self) -> Array:
        """(rank,) the stationary state: the limit after many missing observations."""
        missing = reduce(np.multiply, self.total)
        through = np.einsum("s,smn->mn", missing, self.core)  # (before, after)
        values, vectors = np.linalg.eig(through.T)
        leading = np.real(vectors[:, np.abs(values - 1).argmin()])
        mass = float(self.stop @ leading)
        if not np.isfinite(leading).all() or abs(mass) < 1e-9 * np.abs(leading * self.stop).sum():
            return self.initial
        return leading / mass


@dataclass(frozen=True, eq=False)
class ChainTables:
    """A hidden Markov model: initial, transition and emission probabilities."""

    initial: Array  # (state,)
    transitions: Array  # (state, next state)   rows sum to one
    emit: tuple[Array, ...]  # per column: (state, feature)   rows sum to one
    shape: Shape | None = None  # None: everything is possible, no states are tied
    durations: Durations | None = (
        None  # of segments, which transitions then lead to; None: geometric
    )

    @property
    def n_states(self) -> int:
        """Number of hidden states."""
        return len(self.initial)

    @cached_property
    def operators(self) -> Operators:
        """As operators, for queries."""
        ones = np.ones(self.n_states)
        return Operators(
            self.initial,
            Hadamard(np.ascontiguousarray(self.transitions.T)),
            ones,
            tuple(np.ascontiguousarray(table.T) for table in self.emit),
            (ones,) * len(self.emit),
        )

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

    @property
    def layout(self) -> ChainLayout:
        """Where the tables stand in a flat array."""
        return ChainLayout(self.n_states, tuple(table.shape[1] for table in self.emit))

    @property
    def n_parameters(self) -> int:
        """Free parameters."""
        if self.shape is None:
            return self.layout.n_parameters
        n_emissions = sum(int(table.shape[1]) - 1 for table in self.emit)
        n_durations = 0 if self.durations is None else self.durations.n_parameters
        return self.shape.n_parameters + self.shape.n_groups * n_emissions + n_durations

    @property
    def flat(self) -> Array:
        """All tables in one array, see `ChainLayout`."""
        return np.concatenate(
            [self.initial, self.transitions.ravel(), *(e.ravel() for e in self.emit)]
        )

    def ordered(self, order: NDArray[np.integer]) -> ChainTables:
        """The same model with its states in another order."""
        emit = tuple(table[order] for table in self.emit)
        shape = None if self.shape is None else self.shape.ordered(order)
        transitions = self.transitions[np.ix_(order, order)]
        durations = None if self.durations is None else self.durations.ordered(order)
        return ChainTables(self.initial[order], transitions, emit, shape, durations)


@dataclass(frozen=True)
class ChainLayout:
    """Where the tables of a chain stand in one flat array: initial, transitions, features of each column."""

    n_states: int
    sizes: tuple[int, ...]  # features of each column

    @property
    def bounds(self) -> NDArray[np.int64]:
        """(table + 1,) where each table starts, and the end."""
        k = self.n_states
        return np.cumsum([0, k, k * k, *(k * size for size in self.sizes)])

    @property
    def size(self) -> int:
        """Length of the flat array."""
        return int(self.bounds[-1])

    @cached_property
    def row_starts(self) -> NDArray[np.int64]:
        """Where each row of each table starts."""
        k, bounds = self.n_states, self.bounds
        rows = [np.array([0])]
        for place, width in enumerate((k, *self.sizes), start=1):
            rows.append(bounds[place] + width * np.arange(k))
        return np.concatenate(rows).astype(np.int64)

    @property
    def n_parameters(self) -> int:
        """Free parameters: each row sums to one."""
        k = self.n_states
        return k - 1 + k * (k - 1) + sum(k * (size - 1) for size in self.sizes)

    def tables(self, values: Array) -> ChainTables:
        """The tables that a flat array holds."""
        k, bounds = self.n_states, self.bounds
        parts = [values[a:b] for a, b in pairwise(bounds)]
        emit = tuple(p.reshape(k, size) for p, size in zip(parts[2:], self.sizes, strict=True))
        return ChainTables(parts[0], parts[1].reshape(k, k), emit)


def blended(parts: Sequence[ChainTables], weights: Array, leak: float) -> ChainTables:
    """A chain that follows one of several chains at a time and sometimes switches between them.

    Parameters
    ----------
    parts : sequence of ChainTables
        Over the same features.
    weights : (part,)
        Probability of each chain at the start, and after a switch.
    leak : float
        Probability of a switch at each step.
    """
    arrival = np.concatenate([w * p.stationary for w, p in zip(weights, parts, strict=True)])
    n_states = len(arrival)
    transitions = np.tile(leak * arrival, (n_states, 1))
    first = 0
    for part in parts:
        states = slice(first, first + part.n_states)
        transitions[states, states] += (1 - leak) * part.transitions
        first = states.stop
    initial = np.concatenate([w * p.initial for w, p in zip(weights, parts, strict=True)])
    emit = tuple(np.vstack(tables) for tables in zip(*(part.emit for part in parts), strict=True))
    return ChainTables(initial, transitions, emit)
