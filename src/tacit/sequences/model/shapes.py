"""Shapes of chains: which transitions are possible, where sequences start, which states share emissions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.limits import shown
from tacit.errors import ArgumentError

Flags = NDArray[np.bool_]
Integers = NDArray[np.int64]

TRANSITIONS = ("full", "left-to-right", "linear", "cyclic", "banded")
INITIAL = ("auto", "all", "first")
ORDERED = ("left-to-right", "linear", "cyclic", "banded")  # states of these keep their order


@dataclass(frozen=True, eq=False)
class Shape:
    """Possible initial states and transitions, and groups of states with the same emissions.

    Examples
    --------
    >>> Shape.of("linear", 3).transitions.astype(int).tolist()
    [[1, 1, 0], [0, 1, 1], [0, 0, 1]]
    """

    initial: Flags  # (state,)
    transitions: Flags  # (state, next state)   at least one in each row
    groups: Integers  # (state,) the group of each state; the states of a group emit the same
    is_ordered: bool = False  # whether states keep their order

    @staticmethod
    def full(n_states: int) -> Shape:
        """Everything is possible, and each state has emissions of its own."""
        flags = np.ones(n_states, dtype=bool)
        return Shape(flags, np.ones((n_states, n_states), dtype=bool), np.arange(n_states))

    @staticmethod
    def of(
        transitions: Any, n_states: int, initial: Any = "auto", tied: Sequence[Any] | None = None
    ) -> Shape:
        """The shape that arguments of `HMM` name.

        Parameters
        ----------
        transitions : name or (state, next state) flags
        n_states : int
        initial : name or (state,) flags
        tied : sequence of sequences of states, optional
            The states of each group; states in none have emissions of their own.
        """
        possible = _transitions(transitions, n_states)
        starts = _initial(initial, transitions, n_states)
        is_named = isinstance(transitions, str)
        is_ordered = transitions in ORDERED if is_named else not bool(possible.all())
        is_ordered = is_ordered or tied is not None or not bool(starts.all())
        return Shape(starts, possible, _groups(tied, n_states), is_ordered)

    @property
    def n_states(self) -> int:
        """Number of hidden states."""
        return len(self.initial)

    @property
    def n_groups(self) -> int:
        """Different emissions."""
        return int(self.groups.max()) + 1

    @property
    def is_full(self) -> bool:
        """Whether nothing is restricted and no states are tied."""
        everything = bool(self.initial.all()) and bool(self.transitions.all())
        return everything and self.n_groups == self.n_states

    @property
    def n_parameters(self) -> int:
        """Free initial and transition probabilities."""
        rows = int(self.transitions.sum()) - self.n_states
        return int(self.initial.sum()) - 1 + rows

    def ordered(self, order: NDArray[np.integer]) -> Shape:
        """The same with states in another order; the groups keep theirs."""
        return Shape(
            self.initial[order],
            self.transitions[np.ix_(order, order)],
            self.groups[order],
            self.is_ordered,
        )


def _transitions(transitions: Any, n_states: int) -> Flags:
    places = np.arange(n_states)
    ahead = places - places[:, None]  # next state less state
    if not isinstance(transitions, str):
        return _mask("transitions", transitions, (n_states, n_states))
    if transitions == "left-to-right":
        return np.asarray(ahead >= 0)
    if transitions == "linear":
        return np.asarray((ahead == 0) | (ahead == 1))
    if transitions == "cyclic":
        return np.asarray((ahead == 0) | (ahead % n_states == 1 % n_states))
    if transitions == "banded":
        return np.asarray(np.abs(ahead) <= 1)
    return np.ones((n_states, n_states), dtype=bool)


def _initial(initial: Any, transitions: Any, n_states: int) -> Flags:
    if not isinstance(initial, str):
        return _mask("initial", initial, (n_states,))
    is_first = isinstance(transitions, str) and transitions in ("left-to-right", "linear")
    if initial == "first" or (initial == "auto" and is_first):
        return np.asarray(np.arange(n_states) == 0)
    return np.ones(n_states, dtype=bool)


def _mask(name: str, values: Any, shape: tuple[int, ...]) -> Flags:
    """Flags of some shape with at least one in each row."""
    try:
        array = np.asarray(values)
    except (ValueError, OverflowError) as error:
        raise ArgumentError(
            f"{name} is no array: {error}; give an array {shape} of True and False, or a name"
        ) from error
    if array.shape != shape or not np.isin(array, (0, 1)).all():
        raise ArgumentError(
            f"{name} has shape {array.shape}; give an array {shape} of True and False, or a name"
        )
    flags: Flags = array.astype(bool)
    empty = ~flags.any(axis=-1)
    if empty.any():
        row = f"row {int(np.argmax(empty))} of {name}" if flags.ndim == 2 else name
        raise ArgumentError(f"{row} allows nothing; give at least one True")
    return flags


def _groups(tied: Sequence[Any] | None, n_states: int) -> Integers:
    groups = np.arange(n_states)
    if tied is not None and not np.iterable(tied):
        raise ArgumentError(f"tied={shown(tied)}; give lists of states, say [[0, 1], [2, 3]]")
    for group in () if tied is None else tied:
        members = _members(group)
        if members.dtype.kind not in "iu" or not len(members):
            raise ArgumentError(
                f"tied holds {shown(group)}; give lists of states, say [[0, 1], [2, 3]]"
            )
        if members[0] < 0 or members[-1] >= n_states:
            raise ArgumentError(
                f"tied holds {shown(group)}, but states are numbered from 0 to {n_states - 1}"
            )
        if (groups[members] != members).any() or (np.bincount(groups)[groups[members]] > 1).any():
            raise ArgumentError(f"tied has a state of {shown(group)} twice; give each at most once")
        groups[members] = members[0]
    return np.unique(groups, return_inverse=True)[1].astype(np.int64).ravel()


def _members(group: Any) -> NDArray[Any]:
    try:
        return np.unique(np.asarray(group))
    except (TypeError, ValueError):  # lists of unequal lengths, values that have no order
        return np.empty(0)
