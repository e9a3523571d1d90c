"""The mean of several probabilistic automata, walked all at once.

A row holds the joint probabilities of automaton and state, the automata side by side. A symbol multiplies
each automaton's columns with a matrix; the sum of the row is then the probability of the symbol. Rows of one
symbol are multiplied in blocks that stay in the processor's cache.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.messages.repairs import Repairs
from tacit.sequences.model.automata import AutomatonTables

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
State = tuple[NDArray[Any], ...]  # arrays with a row for each prefix

TINY = 1e-300  # lower probabilities count as impossible
# Of a block that is multiplied at a time: rows times states, and the least number of rows.
CELLS, LEAST_ROWS = 1 << 16, 16


@dataclass(frozen=True, eq=False)
class _Stack:
    """Neighbouring automata with the same number of states."""

    columns: slice  # of the rows that hold the states of all automata
    steps: Array  # (symbol + 1, part, state, next state)  the last for a missing symbol

    @staticmethod
    def of(parts: list[AutomatonTables], first: int) -> _Stack:
        steps = np.stack([np.concatenate([part.steps, part.through[None]]) for part in parts], 1)
        return _Stack(slice(first, first + steps.shape[1] * steps.shape[2]), steps)

    def move(self, rows: Array, symbol: int, out: Array) -> None:
        """Fill in the states after a symbol."""
        shape = len(rows), *self.steps.shape[1:3]
        before, after = (
            array[:, self.columns].reshape(shape).transpose(1, 0, 2) for array in (rows, out)
        )
        np.matmul(before, self.steps[symbol], out=after)


@dataclass(frozen=True, eq=False)
class MeanAutomaton:
    """The weighted mean of probabilistic automata: each string has the mean of their probabilities.

    States are two arrays: (row, state of all parts) probabilities that sum to one, and (row,) the probability
    of the last symbol.
    """

    parts: tuple[AutomatonTables, ...]
    weights: Array  # (part,)  sum to one

    @property
    def n_symbols(self) -> int:
        """Different symbols."""
        return self.parts[0].n_symbols

    @cached_property
    def _bounds(self) -> Integers:
        """(part + 1,) where the states of each part start."""
        return np.cumsum([0, *(part.n_states for part in self.parts)])

    @cached_property
    def _stacks(self) -> list[_Stack]:
        places = range(len(self.parts))
        grouped = groupby(places, key=lambda place: self.parts[place].n_states)
        groups = [list(group) for _, group in grouped]
        return [
            _Stack.of([self.parts[place] for place in group], int(self._bounds[group[0]]))
            for group in groups
        ]

    @cached_property
    def _emit(self) -> Array:
        """(state of all parts, symbol + 1)."""
        return np.concatenate([part.emit for part in self.parts])

    def _joined(self, weights: Array, states: list[Array]) -> Array:
        """(row, state of all parts) from (row, part) weights and the states of each part."""
        return np.hstack([w[:, None] * part for w, part in zip(weights.T, states, strict=True)])

    def begin(self, n: int) -> State:
        """The states of empty prefixes."""
        joint = self._joined(self.weights[None], [part.initial[None] for part in self.parts])
        return np.tile(joint, (n, 1)), np.ones(n)

    def next_probs(self, state: State) -> tuple[Array, Repairs]:
        """(row, symbol + 1) probabilities, which need no repair."""
        return state[0] @ self._emit, Repairs(n_answers=len(state[0]))

    def ends(self, state: State) -> Array:
        """(row,) probabilities of the end."""
        return np.asarray(state[0] @ self._emit[:, -1])

    def after(
        self, state: State, symbols: NDArray[np.integer], rows: Integers | None = None
    ) -> State:
        """The states after a symbol each; restarted where the symbol is impossible.

        Rows of one symbol are multiplied together: symbols in order cost least.
        """
        rows = np.arange(len(symbols)) if rows is None else rows
        joint = state[0]
        out, probs = np.empty((len(symbols), joint.shape[1])), np.empty(len(symbols))
        for symbol, places in _blocks(symbols, max(CELLS // joint.shape[1], LEAST_ROWS)):
            before = joint[rows[places]]
            joint_after = out[places] if isinstance(places, slice) else np.empty_like(before)
            for stack in self._stacks:
                stack.move(before, symbol, joint_after)
            mass = joint_after.sum(axis=1)
            lost = mass <= TINY
            joint_after /= np.where(lost, 1.0, mass)[:, None]
            joint_after[lost] = self._restart
            probs[places] = mass
            if not isinstance(places, slice):
                out[places] = joint_after
        return out, probs

    def onwards(self, state: State, parents: Integers, symbols: Integers) -> State:
        """The states after symbols in turn, compiled."""
        from tacit.sequences.loops.automata import walk, walk_weights

        joint, n = state[0], len(state[0])
        weights = np.add.reduceat(joint, self._bounds[:-1], axis=1)
        masses, states = np.empty((len(parents), len(self.parts))), []
        for index, part in enumerate(self.parts):
            ones = np.ones(part.n_states)
            even = ones / part.n_states
            vectors = np.empty((n + len(parents), part.n_states))
            likely = weights[:, index] > 0
            columns = slice(*self._bounds[index : index + 2])
            vectors[:n] = even
            vectors[:n][likely] = joint[likely, columns] / weights[likely, index, None]
            walk(
                vectors,
                parents,
                symbols,
                part.steps,
                part.through,
                ones,
                even,
                TINY,
                masses[:, index],
            )
            states.append(vectors[n:])
        weights_after, probs = walk_weights(weights, parents, masses, self.weights)
        return self._joined(weights_after, states), probs

    @cached_property
    def _restart(self) -> Array:
        """(state of all parts,) the state after an impossible symbol."""
        even = [np.full((1, part.n_states), 1 / part.n_states) for part in self.parts]
        restart: Array = self._joined(self.weights[None], even)[0]
        return restart


def _blocks(symbols: NDArray[np.integer], most: int) -> Iterator[tuple[int, Integers | slice]]:
    """Each symbol, and so many of its places at a time: slices where the symbols are in order."""
    changes = np.diff(symbols)
    order = None if (changes >= 0).all() else by_symbols(symbols)
    ordered = symbols if order is None else symbols[order]
    marks = [0, *(np.flatnonzero(np.diff(ordered)) + 1).tolist(), len(ordered)]
    for first, stop in pairwise(marks):
        for low in range(first, stop, most):
            places = slice(low, min(low + most, stop))
            yield int(ordered[low]), places if order is None else order[places]


def by_symbols(symbols: NDArray[np.integer]) -> Integers:
    """The order that brings the same symbols together."""
    narrow = symbols.max(initial=0) <= np.iinfo(np.int16).max
    return np.argsort(symbols.astype(np.int16) if narrow else symbols, kind="stable")
