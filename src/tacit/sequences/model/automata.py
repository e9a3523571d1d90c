"""Weighted automata: from Hankel blocks, between their three forms, and with probabilities for weights.

An automaton values strings. Its *string* form gives the probability of a whole sequence, its *prefix* form
that of all sequences that begin with a string, its *substring* form the expected number of times that a
string occurs. The three have the same steps and differ at their ends (Balle et al., 2014, lemma 1).
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

# Singular values below this share of the largest are rounding.
_NOTHING = 1e-12
# Smaller matrices are decomposed whole.
_SMALL = 128


@dataclass(frozen=True, eq=False)
class Automaton:
    """A weighted automaton with the ends of all three forms.

    They belong together exactly where the automaton is exact: ``stop = (I - A) total`` and
    ``start = past (I - A)``, with A the sum of the steps. Estimates have each from statistics of its own.
    """

    initial: Array  # (rank,)  at the start of a sequence
    steps: Array  # (symbol, rank, rank)
    stop: Array  # (rank,)  the value of ending here
    total: Array  # (rank,)  the value of all that may follow
    past: Array  # (rank,)  the state summed over all places of a sequence

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
        """(rank, rank) the sum of all steps: a symbol passes that is not known."""
        return np.asarray(self.steps.sum(axis=0))

    @cached_property
    def spectral_radius(self) -> float:
        """The largest size of an eigenvalue of `through`; values of long strings explode from 1 on."""
        return spectral_radius(self.steps)

    @cached_property
    def mean(self) -> Array:
        """(rank,) the mean state of all places, of value one."""
        mass = float(self.past @ self.total)
        size = float(np.abs(self.past) @ np.abs(self.total))
        return self.past / mass if abs(mass) > _NOTHING * size else self.initial

    @cached_property
    def string(self) -> Operators:
        """Values of whole sequences."""
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

    @staticmethod
    def of_prefix(operators: Operators) -> Automaton:
        """The automaton whose prefix form this is."""
        left = np.eye(operators.rank) - operators.steps.sum(axis=0)
        return Automaton.of_string(
            Operators.of_steps(operators.initial, operators.steps, left @ operators.stop)
        )

    @staticmethod
    def of_substring(operators: Operators) -> Automaton:
        """The automaton whose substring form this is."""
        left = np.eye(operators.rank) - operators.steps.sum(axis=0)
        return Automaton.of_string(
            Operators.of_steps(operators.initial @ left, operators.steps, left @ operators.stop)
        )


def spectral_radius(steps: Array) -> float:
    """The largest size of an eigenvalue of the sum of all steps, (symbol, rank, rank)."""
    return float(np.abs(np.linalg.eigvals(steps.sum(axis=0))).max(initial=0.0))


def _beyond(steps: Array) -> Array:
    """(I - A)^-1: all that may follow, summed over every length."""
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
    """The leading singular vectors of a Hankel matrix, and all blocks seen through them."""

    values: Array  # (m,)  singular values
    steps: Array  # (symbol, m, m)   left^T H_a right
    first: Array  # (m,)   right^T first
    anywhere: Array  # (m,)
    last: Array  # (m,)   left^T last
    open: Array  # (m,)

    @property
    def max_rank(self) -> int:
        """Singular values that are not rounding."""
        return int((self.values > _NOTHING * self.values[:1].max(initial=0.0)).sum())

    def automaton(self, rank: int) -> Automaton:
        """The automaton of a rank (Balle et al., 2014), with direct start and stop vectors.

        With H = U S V^T the step of a symbol is S^-1 U^T H_a V. The vectors at the ends are read off the
        counts of beginnings and ends themselves, which asks for no inverse of I - A.

        Raises
        ------
        RankError
            The counts do not carry the rank.
        """
        if not 1 <= rank <= self.max_rank:
            raise RankError(
                f"rank={rank} asked for, but the Hankel matrix has {self.max_rank} singular values above "
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
    """The singular value decomposition that automata of all ranks are cut from.

    Parameters
    ----------
    blocks : HankelBlocks
    max_rank : int
    scaled : bool
        Whether rows and columns are divided by the root of how frequent their strings are, so that rare
        strings count as their noise allows.
    """
    left_scale, right_scale = _scales(blocks, scaled=scaled)
    left, values, right = _leading(blocks.whole, left_scale, right_scale, max_rank)
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
    """The largest singular values of the Hankel matrix alone: those that are cut too.

    Parameters
    ----------
    blocks : HankelBlocks
    n_values : int
        Fewer come back where the matrix is smaller.
    scaled : bool
        As in `hankel_factors`.
    """
    matrix = _scaled(blocks.whole, *_scales(blocks, scaled=scaled))
    smaller = min(matrix.shape)
    if isinstance(matrix, np.ndarray) and _is_small(smaller, n_values):
        return np.asarray(np.linalg.svd(matrix, compute_uv=False)[:n_values])
    return _truncated(matrix, min(n_values, smaller - 1))[1]


def _scales(blocks: HankelBlocks, *, scaled: bool) -> tuple[Array, Array]:
    """What rows and columns are multiplied with."""
    if not scaled:
        return np.ones(len(blocks.open)), np.ones(len(blocks.anywhere))
    return (
        1 / np.sqrt(np.maximum(blocks.open, 1e-300)),
        1 / np.sqrt(np.maximum(blocks.anywhere, 1e-300)),
    )


def _scaled(whole: Matrix, left_scale: Array, right_scale: Array) -> Matrix:
    if isinstance(whole, np.ndarray):
        return left_scale[:, None] * whole * right_scale
    from scipy.sparse import diags_array

    return diags_array(left_scale) @ whole @ diags_array(right_scale)


def _is_small(size: int, rank: int) -> bool:
    """Whether a matrix is decomposed whole."""
    return size <= 4 * rank or size <= _SMALL


def _leading(
    whole: Matrix, left_scale: Array, right_scale: Array, max_rank: int
) -> tuple[Array, Array, Array]:
    """(row, m), (m,), (column, m) leading singular vectors of a scaled matrix, canonical in sign."""
    smaller, matrix = min(whole.shape), _scaled(whole, left_scale, right_scale)
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

    # A fixed start: the answer must not depend on chance.
    left, values, right = svds(matrix, k=rank, v0=np.ones(min(matrix.shape)))
    order = np.argsort(-values, kind="stable")
    return left[:, order], np.asarray(values[order], dtype=np.float64), right[order].T


@dataclass(frozen=True, eq=False)
class AutomatonTables:
    """A probabilistic automaton: in each state it ends, or emits a symbol and goes to the next state.

    Where transitions do not depend on the symbol (`tied`), it is a hidden Markov model with ends.
    """

    initial: Array  # (state,)
    emit: Array  # (state, symbol + 1)   the last is the end; rows sum to one
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
        """(symbol, state, next state) the chance of showing a symbol and moving on."""
        return np.asarray(self.emit.T[:-1, :, None] * self.transitions)

    @cached_property
    def through(self) -> Array:
        """(state, next state) the chance of moving on, whatever is shown."""
        return np.asarray(self.steps.sum(axis=0))

    @property
    def stop(self) -> Array:
        """(state,) the chance of ending."""
        return self.emit[:, -1]

    @cached_property
    def automaton(self) -> Automaton:
        """The same as a weighted automaton, for the queries."""
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
    n_groups: int  # tables of transitions: one for each symbol, or one for all

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
        """(symbol,) which table of transitions each symbol has."""
        each = np.arange(self.n_symbols)
        return each if self.n_groups == self.n_symbols else np.zeros_like(each)

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
