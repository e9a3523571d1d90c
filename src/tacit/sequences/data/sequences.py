"""Sequences of symbols, one after the other in one array."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.input.examples import Examples
from tacit.errors import ArgumentError

Codes = NDArray[np.int32]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Sequences:
    """Sequences of symbols as codes.

    Examples
    --------
    >>> sequences = Sequences(np.array([0, 1, 1], dtype=np.int32), np.array([2, 0, 1]), ("a", "b"))
    >>> [codes.tolist() for codes in sequences.split(sequences.codes)]
    [[0, 1], [], [1]]
    """

    codes: Codes  # (position,)  of all sequences in turn; -1 where a symbol is missing
    lengths: Integers  # (sequence,)  may be zero
    symbols: tuple[Hashable, ...]  # by code
    single: bool = False  # whether the input was one sequence, not a list of them
    joined: bool = (
        False  # whether the input was one array with lengths: results are then one array too
    )

    @property
    def n_symbols(self) -> int:
        """Different symbols."""
        return len(self.symbols)

    @property
    def n_positions(self) -> int:
        """Positions of all sequences together."""
        return len(self.codes)

    @cached_property
    def ends(self) -> Integers:
        """(sequence + 1,) where each sequence starts, and where the last one ends."""
        return np.concatenate([[0], np.cumsum(self.lengths)]).astype(np.int64)

    @property
    def positions(self) -> Codes:
        """The observations, position by position."""
        return self.codes

    @property
    def names(self) -> tuple[str, ...]:
        """Empty: there are no columns of numbers."""
        return ()

    def pieces(self, places: Integers, lengths: Integers) -> Sequences:
        """Sequences made of some of the positions."""
        return Sequences(self.codes[places], lengths, self.symbols)

    def split(self, values: NDArray[Any]) -> list[NDArray[Any]]:
        """Splits an array over all positions by sequence."""
        return [values[first:stop] for first, stop in pairwise(self.ends.tolist())]

    def take(self, selection: NDArray[Any]) -> Sequences:
        """Some of the sequences, by indices or a mask."""
        chosen = np.flatnonzero(selection) if selection.dtype == np.bool_ else selection
        taken: Sequences = taken_from(self, chosen)
        return taken


def taken_from(data: Any, chosen: NDArray[Any]) -> Any:
    """Some of the sequences, of symbols or of numbers, by indices."""
    lengths = data.lengths[chosen]
    before = np.cumsum(lengths) - lengths
    places = np.arange(int(lengths.sum())) + np.repeat(data.ends[chosen] - before, lengths)
    return data.pieces(places, lengths)


def some_sequences(ends: Integers, most: int) -> tuple[Integers, Integers] | None:
    """Sequences drawn at random, always the same ones, of at most so many positions; at least one.

    Parameters
    ----------
    ends : (sequence + 1,)
    most : int
        Positions.

    Returns
    -------
    (places, ends) or None
        Their positions, and where each of them ends then; None if these are all positions.

    Examples
    --------
    >>> places, ends = some_sequences(np.array([0, 0, 3, 5, 7]), 4)
    >>> places.tolist(), ends.tolist()
    ([5, 6], [0, 2])
    """
    lengths = np.diff(ends)
    order = np.random.default_rng(0).permutation(np.flatnonzero(lengths))
    n_taken = max(int(np.searchsorted(np.cumsum(lengths[order]), most, side="right")), 1)
    if n_taken >= len(order):
        return None
    taken = np.sort(order[:n_taken])
    stops = np.cumsum(lengths[taken])
    shifts = np.repeat(ends[taken] - stops + lengths[taken], lengths[taken])
    places = np.arange(int(stops[-1])) + shifts
    return places.astype(np.int64), np.concatenate([[0], stops]).astype(np.int64)


def examples_of(data: Any) -> Examples:
    """Sequences that can be learnt from in parts."""
    return Examples(len(data.lengths), lambda chosen: taken_from(data, chosen))


def lengths_from(X: Any, y: Any, lengths: Any, *, rows: bool = False) -> Any:
    """The lengths of sequences, passed by name or, as in hmmlearn, as second argument in the place of `y`.

    A second argument is read as lengths where X is a flat array, or one column, of symbols. The targets that
    scikit-learn passes, one for each row of X, are ignored.

    Parameters
    ----------
    X, y, lengths
        As passed by the caller.
    rows : bool
        Whether each row of X is a position, whatever its width.
    """
    if lengths is not None or y is None:
        return lengths
    shape = _flat_shape(X)
    if shape is None or not (rows or len(shape) == 1 or shape[1:] == (1,)):
        return None
    try:
        values = np.asarray(y)
    except ValueError:  # lists of unequal lengths
        values = np.empty(0)
    is_integral = values.ndim == 1 and values.dtype.kind in "iu"
    if is_integral and int(values.sum()) == shape[0]:
        return y
    if values.shape[:1] == shape[:1]:
        return None
    raise ArgumentError(
        f"the second argument stands for lengths here, but it does not sum to the {shape[0]} positions of X; "
        f"give lengths that do, or None"
    )


def sum_of_lengths(lengths: NDArray[Any]) -> int:
    """The exact sum of integers, which may be beyond int64.

    Examples
    --------
    >>> sum_of_lengths(np.array([2**62] * 4)) == 2**64
    True
    """
    if lengths.size == 0:
        return 0
    largest = max(abs(int(lengths.min())), int(lengths.max()))
    fits = largest <= 2**62 // lengths.size
    return int(lengths.sum()) if fits else sum(lengths.tolist())


def _flat_shape(X: Any) -> tuple[int, ...] | None:
    """The shape of an array or of a list of symbols; None for a list of sequences."""
    if hasattr(X, "shape"):
        return tuple(int(size) for size in X.shape)
    if isinstance(X, list | tuple) and all(
        isinstance(value, str) or not hasattr(value, "__len__") for value in X
    ):
        return (len(X),)
    return None
