"""Probabilistic automata with known tables: random ones, their exact statistics, strings drawn from them.

In a state an automaton stops, or emits a symbol and moves on. All strings together have probability one.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.arguments import (
    check_choice,
    check_count,
    check_flag,
    check_kind,
    check_number,
    generator_from,
)
from tacit.sequences.data.sequences import Sequences
from tacit.toy.arguments import (
    MOST_AXES,
    MOST_CELLS,
    MOST_NODES,
    check_samples,
    check_size,
    check_strings,
)
from tacit.toy.drawing import AliasTable

Array = NDArray[np.float64]
String = Sequence[int]

STATISTICS = ("string", "prefix", "substring")
_LONGEST = 1000  # string of one symbol in the list of all


def all_strings(n_symbols: int, length: int) -> list[tuple[int, ...]]:
    """Every string of codes up to a length, the empty one first, shorter ones before longer ones.

    Examples
    --------
    >>> all_strings(2, 2)
    [(), (0,), (1,), (0, 0), (0, 1), (1, 0), (1, 1)]
    """
    check_count("n_symbols", n_symbols)
    check_strings(n_symbols, length, _LONGEST)
    symbols = range(n_symbols)
    return [string for width in range(length + 1) for string in product(symbols, repeat=width)]


@dataclass(frozen=True, eq=False)
class ExactStrings:
    """A number for each string, and its Hankel blocks.

    The number of a string x is ``start @ steps[x1] @ steps[x2] @ ... @ stop``.
    """

    initial: Array  # (state,)
    steps: Array  # (symbol, state, next state)
    stop: Array  # (state,)

    def ahead(self, strings: Iterable[String]) -> Array:
        """(string, state) what stands before: ``start @ steps[x]``."""
        return np.array([self._through(self.initial, string) for string in strings])

    def behind(self, strings: Iterable[String]) -> Array:
        """(state, string) what stands after: ``steps[x] @ stop``."""
        reversed_strings = ExactStrings(self.stop, self.steps.transpose(0, 2, 1), self.initial)
        return reversed_strings.ahead(string[::-1] for string in strings).T

    def values(self, strings: Iterable[String]) -> Array:
        """(string,) the number of each."""
        return np.asarray(self.ahead(strings) @ self.stop)

    def block(self, rows: Sequence[String], columns: Sequence[String]) -> Array:
        """(row, column) the number of a row's string followed by a column's."""
        return np.asarray(self.ahead(rows) @ self.behind(columns))

    def blocks(self, rows: Sequence[String], columns: Sequence[String]) -> Array:
        """(symbol, row, column) the same with a symbol between the two."""
        return np.asarray(self.ahead(rows) @ self.steps @ self.behind(columns))

    def table(self, length: int) -> Array:
        """(symbol, ...) the number of every string of a length: an axis for each position."""
        n_symbols, n_states = self.steps.shape[:2]
        check_strings(n_symbols, length, MOST_AXES, n_states)
        states = self.initial[None]
        for _ in range(length):
            states = np.einsum("sm,amn->san", states, self.steps).reshape(-1, n_states)
        return np.asarray((states @ self.stop).reshape((n_symbols,) * length))

    def _through(self, state: Array, string: String) -> Array:
        for symbol in string:
            state = state @ self.steps[symbol]
        return state


@dataclass(frozen=True, eq=False)
class AutomatonModel:
    """A probabilistic automaton with known tables: the truth that a fit can be compared with."""

    initial: Array  # (state,)  sums to one
    steps: Array  # (symbol, state, next state)
    stop: Array  # (state,)  with the steps from a state, sums to one
    symbols: tuple[Hashable, ...]

    @property
    def n_states(self) -> int:
        """Hidden states."""
        return len(self.initial)

    @property
    def n_symbols(self) -> int:
        """Different symbols."""
        return len(self.symbols)

    @cached_property
    def visits(self) -> Array:
        """(state, state) how often the second is visited, expected, from the first on: ``(I - A)^-1``."""
        return np.linalg.inv(np.eye(self.n_states) - self.steps.sum(axis=0))

    @property
    def mean_length(self) -> float:
        """Expected length of a string."""
        return float(self.initial @ self.visits.sum(axis=1)) - 1.0

    def statistics(self, kind: str = "string") -> ExactStrings:
        """Exact statistics of strings.

        Parameters
        ----------
        kind : {"string", "prefix", "substring"}
            The probability of a string; the probability that a string begins so; how often it stands
            somewhere in a string, expected (which may be more than one; for the empty string it is the mean
            length and one).
        """
        check_choice("kind", kind, STATISTICS)
        initial = self.initial @ self.visits if kind == "substring" else self.initial
        stop = self.stop if kind == "string" else np.asarray(self.visits @ self.stop)
        return ExactStrings(initial, self.steps, stop)

    def sample(self, n_samples: int, random_state: Any = None) -> Sequences:
        """Strings drawn from the automaton."""
        check_samples(n_samples, self.mean_length)
        rng = generator_from(random_state)
        k, n_symbols = self.n_states, self.n_symbols
        transitions = self.steps.transpose(1, 0, 2).reshape(k, -1)  # (state, symbol and next state)
        table = AliasTable.of(np.column_stack([transitions, self.stop]))
        running = np.arange(n_samples)
        state = AliasTable.of(self.initial[None]).draw(np.zeros(n_samples, dtype=np.int32), rng)
        numbers, shown = [running[:0]], [np.empty(0, dtype=np.int32)]
        while len(running):
            drawn = table.draw(state, rng)
            going = drawn < k * n_symbols
            running, (symbol, state) = running[going], np.divmod(drawn[going], k)
            numbers.append(running)
            shown.append(symbol.astype(np.int32))
        number = np.concatenate(numbers)
        codes = np.concatenate(shown)[np.argsort(number, kind="stable")]
        return Sequences(codes, np.bincount(number, minlength=n_samples), self.symbols)

    def log_prob(self, sequences: Sequences) -> Array:
        """The true natural-log probability of each string; -1 is missing and summed out."""
        check_kind("sequences", sequences, Sequences, "Sequences, such as `sample` draws")
        steps = np.concatenate([self.steps, self.steps.sum(axis=0, keepdims=True)])
        log_probs = np.zeros(len(sequences.lengths))
        state = np.tile(self.initial, (len(log_probs), 1))
        for t in range(int(sequences.lengths.max(initial=0))):
            going = np.flatnonzero(sequences.lengths > t)
            codes = sequences.codes[sequences.ends[going] + t]
            for code in np.unique(codes):
                at_code = going[codes == code]
                state[at_code] = state[at_code] @ steps[code]
            mass = state[going].sum(axis=1)
            with np.errstate(divide="ignore"):
                log_probs[going] += np.log(mass)
            state[going] /= np.where(mass > 0, mass, 1.0)[:, None]
        with np.errstate(divide="ignore"):
            return np.asarray(log_probs + np.log(state @ self.stop))


def random_automaton(
    n_states: int,
    n_symbols: int,
    *,
    concentration: float = 0.1,
    mean_length: float = 8.0,
    deterministic: bool = False,
    random_state: Any = None,
) -> AutomatonModel:
    """A random automaton that stops with probability one.

    Parameters
    ----------
    n_states, n_symbols : int
    concentration : float
        The symbol and the next state of a state that does not stop have a symmetric Dirichlet prior with this
        parameter: the smaller, the fewer transitions.
    mean_length : float
        About how long strings are.
    deterministic : bool
        Whether there is one start, and one next state for each state and symbol.
    random_state : int or numpy.random.Generator, optional

    Examples
    --------
    >>> model = random_automaton(4, 3, random_state=0)
    >>> bool(model.mean_length > 1), model.sample(5, random_state=1).lengths.shape
    (True, (5,))
    """
    check_count("n_states", n_states)
    check_count("n_symbols", n_symbols)
    check_size("cells of the steps", n_symbols * n_states**2, MOST_CELLS)
    check_number("concentration", concentration, positive=True)
    check_number("mean_length", mean_length, positive=True)
    check_size("symbols of a string", mean_length, MOST_NODES)
    check_flag("deterministic", deterministic)
    rng = generator_from(random_state)
    stop = np.minimum(rng.uniform(0.5, 1.5, n_states) / (mean_length + 1), 1.0)
    steps = np.zeros((n_symbols, n_states, n_states))
    if deterministic:
        shown = rng.dirichlet(np.full(n_symbols, concentration), size=n_states)
        following = rng.integers(n_states, size=(n_states, n_symbols))
        states, symbols = np.arange(n_states)[:, None], np.arange(n_symbols)[None]
        steps[symbols, states, following] = (1 - stop)[:, None] * shown
        return AutomatonModel(np.eye(n_states)[0], steps, stop, tuple(range(n_symbols)))
    transitions = rng.dirichlet(np.full(n_symbols * n_states, concentration), size=n_states)
    steps[:] = (
        ((1 - stop)[:, None] * transitions).reshape(n_states, n_symbols, -1).transpose(1, 0, 2)
    )
    return AutomatonModel(rng.dirichlet(np.ones(n_states)), steps, stop, tuple(range(n_symbols)))
