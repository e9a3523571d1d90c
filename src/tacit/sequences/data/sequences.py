"""Sequences of symbols, one after the other in one array."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int32]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Sequences:
    """Sequences of symbols as codes.

    Examples
    --------
    >>> made = Sequences(np.array([0, 1, 1], dtype=np.int32), np.array([2, 0, 1]), ("a", "b"))
    >>> [each.tolist() for each in made.split(made.codes)]
    [[0, 1], [], [1]]
    """

    codes: Codes  # (position,)  of all sequences in turn; -1 where a symbol is missing
    lengths: Integers  # (sequence,)  may be zero
    symbols: tuple[Hashable, ...]  # by code
    single: bool = False  # whether it was given as one sequence, not as a list of them
    joined: bool = (
        False  # whether all were given in one array, with lengths: answers are joined too
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
        """What stands at each position."""
        return self.codes

    @property
    def names(self) -> tuple[str, ...]:
        """Of columns of numbers: none."""
        return ()

    def pieces(self, places: Integers, lengths: Integers) -> Sequences:
        """Sequences of some of the positions, in turn."""
        return Sequences(self.codes[places], lengths, self.symbols)

    def split(self, values: NDArray[Any]) -> list[NDArray[Any]]:
        """An array over all positions as one array for each sequence."""
        return [values[first:stop] for first, stop in pairwise(self.ends.tolist())]

    def take(self, which: NDArray[Any]) -> Sequences:
        """Some of the sequences, by number or as flags."""
        chosen = np.flatnonzero(which) if which.dtype == np.bool_ else which
        lengths = self.lengths[chosen]
        before = np.cumsum(lengths) - lengths
        places = np.arange(int(lengths.sum())) + np.repeat(self.ends[chosen] - before, lengths)
        return Sequences(self.codes[places], lengths, self.symbols)
