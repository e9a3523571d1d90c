"""Hidden Markov models with known tables: random ones, their exact tables, sequences drawn from them.

A sequence has a given length, independent of the states. See `tacit.toy.automata` for models
that do.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.arguments import (
    check_count,
    check_flag,
    check_kind,
    check_number,
    check_rows,
    generator_from,
)
from tacit.core.limits import shown
from tacit.errors import ArgumentError
from tacit.sequences.data.sequences import Codes, Integers, Sequences
from tacit.sequences.model.chains import ChainTables
from tacit.toy.arguments import (
    MOST_AXES,
    MOST_CELLS,
    check_probability,
    check_samples,
    check_size,
    check_strings,
)
from tacit.toy.drawing import AliasTable

Array = NDArray[np.float64]

# So many sequences are drawn at once: what they need stays in the processor's cache.
_BLOCK = 2**13


@dataclass(frozen=True, eq=False)
class ExactNgrams:
    """What windows of one, two and three symbols hold, on average over all windows of three.

    All are from the same windows: `singles` and `pairs` are sums of `triples`.
    """

    first: Array  # (a,)  the first symbol of a sequence
    triples: Array  # (a, b, c)

    @property
    def singles(self) -> Array:
        """(a,) the first symbol of a window."""
        return np.asarray(self.triples.sum(axis=(1, 2)))

    @property
    def pairs(self) -> Array:
        """(a, b) the first two."""
        return np.asarray(self.triples.sum(axis=2))


@dataclass(frozen=True, eq=False)
class HmmModel:
    """A hidden Markov model with known tables: the truth that a fit can be compared with."""

    tables: ChainTables
    symbols: tuple[Hashable, ...]

    @property
    def emissions(self) -> Array:
        """(state, symbol) rows sum to one."""
        return self.tables.emit[0]

    @property
    def n_states(self) -> int:
        """Hidden states."""
        return self.tables.n_states

    @property
    def n_symbols(self) -> int:
        """Different symbols."""
        return len(self.symbols)

    @property
    def steps(self) -> Array:
        """(symbol, state, next state) the probability of emitting a symbol, then moving to a state."""
        return np.asarray(self.emissions.T[:, :, None] * self.tables.transitions)

    def sample(self, n_samples: int, length: Any = 20, random_state: Any = None) -> Sequences:
        """Sequences drawn from the model.

        Parameters
        ----------
        n_samples : int
        length : int or (sequence,) integers
            Of every sequence, or of each.
        random_state : int or numpy.random.Generator, optional
        """
        return self.sample_with_states(n_samples, length, random_state)[0]

    def sample_with_states(
        self, n_samples: int, length: Any = 20, random_state: Any = None
    ) -> tuple[Sequences, Codes]:
        """Sequences drawn from the model, and the (position,) states that they went through."""
        lengths = _lengths(n_samples, length)
        rng = generator_from(random_state)
        first = np.cumsum(lengths) - lengths  # where each sequence begins
        order = np.argsort(-lengths, kind="stable")  # those that go on the longest stand in front
        codes, states = np.empty((2, int(lengths.sum())), dtype=np.int32)
        initial, transitions, emit = (
            AliasTable.of(table)
            for table in (self.tables.initial[None], self.tables.transitions, self.emissions)
        )
        for block in range(0, n_samples, _BLOCK):
            running = order[block : block + _BLOCK]
            state = initial.draw(np.zeros(len(running), dtype=np.int32), rng)
            for t in range(int(lengths[running[0]])):
                running = running[: int((lengths[running] > t).sum())]
                state = (
                    state[: len(running)]
                    if t == 0
                    else transitions.draw(state[: len(running)], rng)
                )
                states[first[running] + t] = state
                codes[first[running] + t] = emit.draw(state, rng)
        return Sequences(codes, lengths, self.symbols), states

    def log_prob(self, sequences: Sequences) -> Array:
        """The true natural-log probability of each sequence; -1 is missing and summed out."""
        from tacit.sequences.loops.forward_backward import forward

        check_kind("sequences", sequences, Sequences, "Sequences, such as `sample` draws")
        likelihoods = np.ones((sequences.n_positions, self.n_states))
        is_observed = sequences.codes >= 0
        likelihoods[is_observed] = self.emissions.T[sequences.codes[is_observed]]
        logs = np.empty(sequences.n_positions)
        forward(
            self.tables.initial,
            self.tables.transitions,
            likelihoods,
            sequences.ends,
            np.empty_like(likelihoods),
            logs,
        )
        sums = np.concatenate([[0.0], np.cumsum(logs)])
        return np.asarray(np.diff(sums[sequences.ends]))

    def string_table(self, length: int) -> Array:
        """(symbol, ...) the probability of every string of a length: an axis for each position."""
        return self._table(self.tables.initial, length)

    def window_table(self, width: int, length: int) -> Array:
        """(symbol, ...) how often each string stands in a window, in sequences of a length.

        The mean over all windows of that width: it sums to one. With a stationary start it is the same for
        every length.
        """
        check_count("width", width)
        check_count("length", length)
        check_size("positions", length, MOST_CELLS)
        if width > length:
            raise ArgumentError(f"sequences of length {length} have no windows of width {width}")
        now, mean = self.tables.initial, np.zeros(self.n_states)
        for _ in range(length - width + 1):
            mean += now
            now = now @ self.tables.transitions
        return self._table(mean / (length - width + 1), width)

    def ngrams(self, length: int = 20) -> ExactNgrams:
        """First symbols, and windows of one to three symbols, in sequences of a length."""
        return ExactNgrams(self.string_table(1), self.window_table(3, length))

    def _table(self, initial: Array, width: int) -> Array:
        n = self.n_symbols
        check_strings(n, width, MOST_AXES, self.n_states)
        states = initial[None]  # (string, state)
        for _ in range(width):
            states = np.einsum("sm,amn->san", states, self.steps).reshape(-1, self.n_states)
        return np.asarray(states.sum(axis=1).reshape((n,) * width))


def _lengths(n_samples: int, length: Any) -> Integers:
    check_rows("n_samples", n_samples)
    if not np.iterable(length):
        check_rows("length", length)
        check_samples(n_samples, length)
        return np.full(n_samples, length, dtype=np.int64)
    try:
        lengths = np.asarray(length)
    except ValueError:  # lists of several lengths
        lengths = np.empty(())
    if lengths.shape != (n_samples,) or lengths.dtype.kind not in "iu":
        raise ArgumentError(
            f"length={shown(length)}; give an integer, or one for each of the {n_samples} sequences"
        )
    if (lengths < 0).any():
        raise ArgumentError(f"a sequence cannot have length {int(lengths.min())}")
    check_samples(n_samples, float(lengths.mean(dtype=np.float64)) if n_samples else 0)
    return lengths.astype(np.int64)


def random_hmm(
    n_states: int,
    n_symbols: int,
    *,
    emission_concentration: float = 0.3,
    transition_concentration: float = 0.5,
    stay: float = 0.0,
    stationary: bool = False,
    random_state: Any = None,
) -> HmmModel:
    """A random hidden Markov model.

    Parameters
    ----------
    n_states, n_symbols : int
    emission_concentration, transition_concentration : float
        Rows of emissions and of transitions are drawn from symmetric Dirichlet distributions with these
        parameters: the smaller, the fewer symbols and next states a state has. The start is drawn from a flat
        one.
    stay : float
        Chance of staying in a state, mixed into the transitions: ``(1 - stay) * drawn + stay * identity``.
    stationary : bool
        Whether the start is the stationary distribution, so that all positions are alike.
    random_state : int or numpy.random.Generator, optional

    Examples
    --------
    >>> model = random_hmm(3, 5, stay=0.6, random_state=0)
    >>> model.sample(4, 10, random_state=1).lengths.tolist()
    [10, 10, 10, 10]
    """
    check_count("n_states", n_states)
    check_count("n_symbols", n_symbols)
    check_size("cells of the tables", n_states * (n_states + n_symbols), MOST_CELLS)
    check_number("emission_concentration", emission_concentration, positive=True)
    check_number("transition_concentration", transition_concentration, positive=True)
    check_probability("stay", stay)
    check_flag("stationary", stationary)
    rng = generator_from(random_state)
    emissions = rng.dirichlet(np.full(n_symbols, emission_concentration), size=n_states)
    drawn = rng.dirichlet(np.full(n_states, transition_concentration), size=n_states)
    initial = rng.dirichlet(np.ones(n_states))
    tables = ChainTables(initial, (1 - stay) * drawn + stay * np.eye(n_states), (emissions,))
    if stationary:
        tables = ChainTables(tables.stationary, tables.transitions, tables.emit)
    return HmmModel(tables, tuple(range(n_symbols)))


def repeating_process(n_before: int = 2, *, stationary: bool = False) -> HmmModel:
    """A, some times over, then X or Y: the same one for ever (AAXAAX... or AAYAAY...).

    There are three symbols but ``2 * (n_before + 1)`` states, since the position in the round and the letter
    must be remembered: windows of three symbols do not show them, longer pasts and futures do. (The lecture
    slides that the process is from count ``2 * n_before``.)

    Parameters
    ----------
    n_before : int
        How many times A comes before X or Y.
    stationary : bool
        Whether a sequence may begin anywhere in the round, not at its first A only.

    Examples
    --------
    >>> model = repeating_process(2)
    >>> model.n_states, model.symbols
    (6, ('A', 'X', 'Y'))
    """
    check_count("n_before", n_before)
    check_size("cells of the tables", 4 * (n_before + 1) ** 2, MOST_CELLS)
    check_flag("stationary", stationary)
    around = n_before + 1
    transitions = np.asarray(
        np.kron(np.eye(2), np.roll(np.eye(around), 1, axis=1)), dtype=np.float64
    )
    last = np.array([around - 1, 2 * around - 1])
    emissions = np.zeros((2 * around, 3))
    emissions[:, 0] = 1.0
    emissions[last] = np.eye(3)[1:]
    initial = np.zeros(2 * around)
    initial[[0, around]] = 0.5
    if stationary:
        initial[:] = 0.5 / around
    return HmmModel(ChainTables(initial, transitions, (emissions,)), ("A", "X", "Y"))
