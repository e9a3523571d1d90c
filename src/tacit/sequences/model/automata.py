"""Weighted automata: from Hankel blocks, between their three forms, and with probabilities for weights.

An automaton maps strings to values. Its *string* form gives the probability of a complete sequence, its
*prefix* form that of all sequences that begin with a string, its *substring* form the expected number of
occurrences of a string. The three have the same matrices and differ in their initial and final vectors
(Balle et al., 2014, lemma 1).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tacit.errors import RankError
from tacit.sequences.model.chains import Operators

if TYPE_CHECKING:
    from tacit.sequences.moments.hankel import HankelBlocks, Matrix

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

# Singular values below this fraction of the largest are rounding errors.
_NOTHING = 1e-12
# Smaller matrices get a full decomposition.
_SMALL = 128


@dataclass(frozen=True, eq=False)
class Automaton:
    """A weighted automaton with the initial and final vectors of all three forms.

    An exact automaton satisfies ``stop = (I - A) total`` and ``initial = past (I - A)``, with A the sum of
    the steps. In an estimate each vector comes from its own statistics.
    """

    initial: Array  # (rank,)  at the start of a sequence
    steps: Array  # (symbol, rank, rank)
    stop: Array  # (rank,)  value of ending now
    total: Array  # (rank,)  value of all continuations
    past: Array  # (rank,)  expected sum of the states over the places of a sequence

    @property
    def rank(self) -> int:
        """Length of a state."""
        return len(self.initial)

    @property
    def n_symbols(self) -> int:
        """Different symbols."""
        return len(self.steps)

    @cached_property
    def through(self) -> Array:
        """(rank, rank) the sum of all steps: the step of a missing symbol."""
        return np.asarray(self.steps.sum(axis=0))

    @cached_property
    def spectral_radius(self) -> float:
        """The largest modulus of an eigenvalue of `through`; from 1 on, values of long strings diverge."""
        return spectral_radius(self.steps)

    @cached_property
    def mean(self) -> Array:
        """(rank,) the mean state over all places, scaled to value one."""
        mass = float(self.past @ self.total)
        size = float(np.abs(self.past) @ np.abs(self.total))
        return self.past / mass if abs(mass) > _NOTHING * size else self.initial

    @cached_property
    def string(self) -> Operators:
        """Values of complete sequences."""
        return Operators.of_steps(self.initial, self.steps, self.stop)

    @cached_property
    def prefix(self) -> Operators:
        """Values of all sequences that begin with a string."""
        return Operators.of_steps(self.initial, self.steps, self.total)

    @cached_property
    def substring(self) -> Operators:
        """Expected numbers of occurrences of a string."""
        return Operators.of_steps(self.past, self.steps, self.total)

    @staticmethod
    def of_string(operators: Operators) -> Automaton:
        """The automaton whose string form this is."""
        beyond = _beyond(operators.steps)
        initial, stop = operators.initial, operators.stop
        return Automaton(initial, operators.steps, stop, beyond @ stop, initial @ beyond)


def spectral_radius(steps: Array) -> float:
    """The largest modulus of an eigenvalue of the sum of all steps, (symbol, rank, rank)."""
    return float(np.abs(np.linalg.eigvals(steps.sum(axis=0))).max(initial=0.0))


def _beyond(steps: Array) -> Array:
    """(I - A)^-1: the sum over continuations of every length."""
    left = np.eye(steps.shape[1]) - steps.sum(axis=0)
    try:
        return np.asarray(np.linalg.inv(left))
    except np.linalg.LinAlgError as error:
        raise RankError(
            "an eigenvalue of the automaton's steps is one: it has no sum over all lengths; learn it with a "
            "smaller rank"
        ) from error


@dataclass(frozen=True, eq=False)
class HankelFactors:
    """The leading singular vectors of a Hankel matrix, and all blocks projected on them."""

    values: Array  # (m,)  singular values
    steps: Array  # (symbol, m, m)   left^T H_a right
    first: Array  # (m,)   right^T first
    anywhere: Array  # (m,)
    last: Array  # (m,)   left^T last
    open: Array  # (m,)

    @property
    def max_rank(self) -> int:
        """Number of singular values above rounding errors."""
        return int((self.values > _NOTHING * self.values[:1].max(initial=0.0)).sum())

    def automaton(self, rank: int) -> Automaton:
        """The automaton of a rank (Balle et al., 2014), with direct initial and final vectors.

        With H = U S V^T the step of a symbol is S^-1 U^T H_a V. The initial and final vectors are estimated
        from the counts of starts and stops themselves, which needs no inverse of I - A.

        Raises
        ------
        RankError
            The Hankel matrix has a smaller rank.
        """
        if not 1 <= rank <= self.max_rank:
            raise RankError(
                f"rank={rank} requested, but the Hankel matrix has {self.max_rank} singular values above "
                f"rounding; pass rank<={self.max_rank}, more strings in the basis, or more data"
            )
        over = 1.0 / self.values[:rank]
        return Automaton(
            self.first[:rank].copy(),
            np.ascontiguousarray(self.steps[:, :rank, :rank] * over[:, None]),
            self.last[:rank] * over,
            self.open[:rank] * over,
            self.anywhere[:rank].copy(),
        )


def hankel_factors(blocks: HankelBlocks, max_rank: int, *, scaled: bool) -> HankelFactors:
    """The singular value decomposition from which automata of all ranks are truncated.

    Parameters
    ----------
    blocks : HankelBlocks
    max_rank : int
    scaled : bool
        Whether rows and columns are divided by the square root of the frequency of their strings, which
        evens out the noise of frequent and rare strings.
    """
    left_scale, right_scale = _scales(blocks, scaled=scaled)
    left, values, right = _leading(blocks.hankel, left_scale, right_scale, max_rank)
    left, right = left * left_scale[:, None], right * right_scale[:, None]
    steps = np.array([left.T @ (step @ right) for step in blocks.steps])
    return HankelFactors(
        values,
        steps.reshape(len(blocks.steps), len(values), len(values)),
        blocks.first @ right,
        blocks.anywhere @ right,
        blocks.last @ left,
        blocks.open @ left,
    )


def hankel_values(blocks: HankelBlocks, n_values: int, *, scaled: bool) -> Array:
    """The largest singular values of the Hankel matrix, without the vectors.

    Parameters
    ----------
    blocks : HankelBlocks
    n_values : int
        At most as many as the matrix has.
    scaled : bool
        As in `hankel_factors`.
    """
    matrix = _scaled(blocks.hankel, *_scales(blocks, scaled=scaled))
    smaller = min(matrix.shape)
    if isinstance(matrix, np.ndarray) and _is_small(smaller, n_values):
        return np.asarray(np.linalg.svd(matrix, compute_uv=False)[:n_values])
    return _truncated(matrix, min(n_values, smaller - 1))[1]


def _scales(blocks: HankelBlocks, *, scaled: bool) -> tuple[Array, Array]:
    """Factors of rows and columns."""
    if not scaled:
        return np.ones(len(blocks.open)), np.ones(len(blocks.anywhere))
    return (
        1 / np.sqrt(np.maximum(blocks.open, 1e-300)),
        1 / np.sqrt(np.maximum(blocks.anywhere, 1e-300)),
    )


def _scaled(hankel: Matrix, left_scale: Array, right_scale: Array) -> Matrix:
    if isinstance(hankel, np.ndarray):
        return left_scale[:, None] * hankel * right_scale
    from scipy.sparse import diags_array

    return diags_array(left_scale) @ hankel @ diags_array(right_scale)


def _is_small(size: int, rank: int) -> bool:
    """Whether a matrix gets a full decomposition."""
    return size <= 4 * rank or size <= _SMALL


def _leading(
    hankel: Matrix, left_scale: Array, right_scale: Array, max_rank: int
) -> tuple[Array, Array, Array]:
    """(row, m), (m,), (column, m) leading singular vectors of a scaled matrix, with canonical signs."""
    smaller, matrix = min(hankel.shape), _scaled(hankel, left_scale, right_scale)
    if not isinstance(matrix, np.ndarray):
        left, values, right = _truncated(matrix, min(max_rank, smaller - 1))
    elif _is_small(smaller, max_rank):
        left, values, turned = np.linalg.svd(matrix, full_matrices=False)
        right = turned.T
    else:
        left, values, right = _truncated(matrix, max_rank)
    left, values, right = left[:, :max_rank], values[:max_rank], right[:, :max_rank]
    signs = np.where(
        np.take_along_axis(left, np.abs(left).argmax(axis=0)[None], axis=0) < 0, -1.0, 1.0
    )
    return left * signs, values, right * signs


def _truncated(matrix: Matrix, rank: int) -> tuple[Array, Array, Array]:
    from scipy.sparse.linalg import svds

    if not abs(matrix).max() > 0:  # no sequence is as short as the strings of the basis
        return np.eye(matrix.shape[0], rank), np.zeros(rank), np.eye(matrix.shape[1], rank)
    # A fixed start makes the result deterministic.
    left, values, right = svds(matrix, k=rank, v0=np.ones(min(matrix.shape)))
    order = np.argsort(-values, kind="stable")
    return left[:, order], np.asarray(values[order], dtype=np.float64), right[order].T


@dataclass(frozen=True, eq=False)
class AutomatonTables:
    """A probabilistic automaton: each state ends the sequence, or emits a symbol and moves to the next state.

    Where transitions do not depend on the symbol (`tied`), it is a hidden Markov model with a final state.
    """

    initial: Array  # (state,)
    emit: Array  # (state, symbol + 1)   the last column is the end; rows sum to one
    transitions: (
        Array  # (symbol, state, next state), or (1, state, next state) where tied; rows sum to one
    )

    @property
    def n_states(self) -> int:
        """Number of hidden states."""
        return len(self.initial)

    @property
    def n_symbols(self) -> int:
        """Different symbols."""
        return int(self.emit.shape[1]) - 1

    @property
    def tied(self) -> bool:
        """Whether transitions are the same for all symbols."""
        return len(self.transitions) == 1 and self.n_symbols > 1

    @cached_property
    def steps(self) -> Array:
        """(symbol, state, next state) probability of a symbol and the next state."""
        return np.asarray(self.emit.T[:-1, :, None] * self.transitions)

    @cached_property
    def through(self) -> Array:
        """(state, next state) probability of the next state, summed over symbols."""
        return np.asarray(self.steps.sum(axis=0))

    @property
    def stop(self) -> Array:
        """(state,) probability of the end."""
        return self.emit[:, -1]

    @cached_property
    def automaton(self) -> Automaton:
        """As a weighted automaton, for queries."""
        ones = np.ones(self.n_states)
        left = np.eye(self.n_states) - self.through
        past = np.asarray(np.linalg.lstsq(left.T, self.initial, rcond=None)[0], dtype=np.float64)
        return Automaton(self.initial, self.steps, self.stop.copy(), ones, past)

    @property
    def layout(self) -> AutomatonLayout:
        """Where the tables stand in a flat array."""
        return AutomatonLayout(self.n_states, self.n_symbols, len(self.transitions))

    @property
    def flat(self) -> Array:
        """All tables in one array, see `AutomatonLayout`."""
        return np.concatenate([self.initial, self.emit.ravel(), self.transitions.ravel()])

    def ordered(self, order: NDArray[np.integer]) -> AutomatonTables:
        """The same automaton with its states in another order."""
        transitions = np.ascontiguousarray(self.transitions[:, order][:, :, order])
        return AutomatonTables(self.initial[order], self.emit[order], transitions)


@dataclass(frozen=True)
class AutomatonLayout:
    """Where the tables of an automaton stand in one flat array: initial, emissions, transitions."""

    n_states: int
    n_symbols: int
    n_groups: int  # transition tables: one for each symbol, or one for all

    @property
    def bounds(self) -> tuple[int, int, int]:
        """Where emissions and transitions start, and the end."""
        k = self.n_states
        emit = k + k * (self.n_symbols + 1)
        return k, emit, emit + self.n_groups * k * k

    @property
    def size(self) -> int:
        """Length of the flat array."""
        return self.bounds[-1]

    @cached_property
    def row_starts(self) -> Integers:
        """Where each row of each table starts."""
        k, (emit, transitions, _) = self.n_states, self.bounds
        return np.concatenate(
            [
                [0],
                emit + (self.n_symbols + 1) * np.arange(k),
                transitions + k * np.arange(self.n_groups * k),
            ]
        ).astype(np.int64)

    @property
    def groups(self) -> Integers:
        """(symbol,) the transition table of each symbol."""
        symbols = np.arange(self.n_symbols)
        return symbols if self.n_groups == self.n_symbols else np.zeros_like(symbols)

    @property
    def n_parameters(self) -> int:
        """Free parameters: each row sums to one."""
        k = self.n_states
        return k - 1 + k * self.n_symbols + self.n_groups * k * (k - 1)

    def tables(self, values: Array) -> AutomatonTables:
        """The tables that a flat array holds."""
        k, (emit, transitions, stop) = self.n_states, self.bounds
        return AutomatonTables(
            values[:emit],
            values[emit:transitions].reshape(k, self.n_symbols + 1),
            values[transitions:stop].reshape(self.n_groups, k, k),
        )
