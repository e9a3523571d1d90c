"""Counts of substrings, and the Hankel blocks that weighted automata are learnt from (Balle et al., 2014).

Three statistics of strings x are counted at once: how many sequences are x, how many begin with x, and how
often x occurs in them. The last, divided by the number of sequences, is the *expected number of occurrences*;
the empty string occurs once more than there are positions in a sequence. Windows with a missing symbol are
skipped.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ArgumentError
from tacit.sequences.data.sequences import Sequences
from tacit.sequences.data.strings import Strings
from tacit.sequences.moments.prefixes import Levels, PrefixTree

Integers = NDArray[np.int64]
Array = NDArray[np.float64]
Matrix = Any  # an array, or a sparse matrix where blocks are large

STATISTICS = ("string", "prefix", "substring")
# Blocks with more cells than this are kept sparse.
_DENSE_CELLS = 3 * 10**7


@dataclass(frozen=True, eq=False)
class SubstringCounts:
    """Counts of strings up to a length: as sequences, prefixes, suffixes and substrings; two of these add.

    The strings are the nodes of a tree: the parent of a string is the string without its last symbol.

    Examples
    --------
    >>> from tacit.sequences.data.sequences import Sequences
    >>> made = Sequences(np.array([0, 1, 0], dtype=np.int32), np.array([3]), ("a", "b"))
    >>> counts = SubstringCounts.of(made, 2)
    >>> counts.occurrences.tolist()  # of "", a, b, ab, ba
    [4, 2, 1, 1, 1]
    """

    parents: Integers  # (string,)  -1 of the empty string
    symbols: Integers  # (string,)  the last symbol
    occurrences: Integers  # (string,)
    starts: Integers  # (string,)  sequences that begin with the string
    stops: Integers  # (string,)  sequences that end with it
    complete: Integers  # (string,)  sequences that are equal to it
    n_symbols: int
    max_length: int

    @staticmethod
    def empty(n_symbols: int, max_length: int) -> SubstringCounts:
        """Counts of no sequences."""
        root, none = np.array([-1]), np.zeros(1, dtype=np.int64)
        return SubstringCounts(root, root, none, none, none, none, n_symbols, max_length)

    @staticmethod
    def of(sequences: Sequences | PrefixTree, max_length: int) -> SubstringCounts:
        """Counts of sequences, or of a tree of their prefixes.

        Parameters
        ----------
        sequences : Sequences or PrefixTree
        max_length : int
            The longest strings that are counted.
        """
        tree = sequences if isinstance(sequences, PrefixTree) else PrefixTree.of(sequences)
        levels = Levels(tree.n_symbols)
        # The suffix of each prefix that has the level's length, where there is one.
        at = np.zeros(tree.n_nodes, dtype=np.int64)
        nodes = np.arange(tree.n_nodes)
        counted = [_tallies(tree, nodes, at, 0, 1)]
        has_string = np.ones(tree.n_nodes, dtype=np.bool_)
        for length in range(1, max_length + 1):
            nodes = nodes[tree.symbols[nodes] >= 0]
            nodes = nodes[has_string[tree.parents[nodes]]]
            before, first = at[tree.parents[nodes]], levels.n_nodes
            has_string[:] = False
            has_string[nodes] = True
            at[nodes] = levels.grow(before, tree.symbols[nodes])
            counted.append(_tallies(tree, nodes, at[nodes], first, levels.n_nodes, length))
        columns = [np.concatenate(column) for column in zip(*counted, strict=True)]
        occurrences, starts, stops, complete = columns
        return SubstringCounts(
            *levels.nodes(), occurrences, starts, stops, complete, tree.n_symbols, max_length
        )

    def __add__(self, other: SubstringCounts) -> SubstringCounts:
        """The counts of both sets of sequences."""
        if (self.n_symbols, self.max_length) != (other.n_symbols, other.max_length):
            raise ArgumentError(
                f"counts of {self.n_symbols} symbols up to length {self.max_length} and of "
                f"{other.n_symbols} up to {other.max_length} do not add; count both alike"
            )
        from tacit.sequences.loops.prefixes import joined

        parents, symbols, places, other_places = joined(
            self.parents, self.symbols, other.parents, other.symbols
        )
        columns = []
        for name in _COUNTED:
            column = np.zeros(len(parents), dtype=np.int64)
            column[places] += getattr(self, name)
            column[other_places] += getattr(other, name)
            columns.append(column)
        occurrences, starts, stops, complete = columns
        return SubstringCounts(
            parents, symbols, occurrences, starts, stops, complete, self.n_symbols, self.max_length
        )

    @property
    def n_sequences(self) -> int:
        """Number of sequences, empty ones included."""
        return round(float(self.starts[0]))

    @cached_property
    def _keys(self) -> Integers:
        """(string,) increasing, see `children`."""
        return self.parents * (self.n_symbols + 1) + self.symbols + 1

    def children(self, strings: Integers, symbols: Integers) -> Integers:
        """The strings with one more symbol; -1 where they were not observed, or the string is -1 itself."""
        keys = strings * (self.n_symbols + 1) + symbols + 1
        places = np.searchsorted(self._keys, keys)
        places[places == len(self._keys)] = 0
        return np.where((strings >= 0) & (self._keys[places] == keys), places, -1)

    def words(self, strings: Integers) -> list[tuple[int, ...]]:
        """The symbols of some strings."""
        out = []
        for string in strings.tolist():
            word, at = [], string
            while at > 0:
                word.append(int(self.symbols[at]))
                at = int(self.parents[at])
            out.append(tuple(reversed(word)))
        return out

    def places(self, words: Iterable[tuple[int, ...]]) -> Integers:
        """The strings of some symbols; -1 where they were not observed."""
        known: dict[tuple[int, ...], int] = {(): 0}

        def place(word: tuple[int, ...]) -> int:
            if word not in known:
                before = np.array([place(word[:-1])])
                known[word] = int(self.children(before, np.array(word[-1:]))[0])
            return known[word]

        return np.array([place(word) for word in words], dtype=np.int64)

    def most_frequent(self, values: Integers, n_strings: int, max_length: int) -> Integers:
        """The strings of largest value up to a length; of equal ones the shorter first."""
        candidates = np.arange(int(np.searchsorted(self._depths, max_length, side="right")))
        candidates = candidates[values[candidates] > 0]
        order = np.argsort(-values[candidates], kind="stable")
        return candidates[np.sort(order[:n_strings])]

    @cached_property
    def _depths(self) -> Integers:
        depths = np.zeros(len(self.parents), dtype=np.int64)
        stop = 1
        while stop < len(depths):
            begin, stop = stop, int(np.searchsorted(self.parents, stop))
            depths[begin:stop] = depths[begin - 1] + 1
        return depths


_COUNTED = tuple(
    field.name
    for field in fields(SubstringCounts)
    if field.name not in ("parents", "symbols", "n_symbols", "max_length")
)


def _tallies(
    tree: PrefixTree, nodes: Integers, strings: Integers, first: int, stop: int, length: int = 0
) -> tuple[Integers, ...]:
    """Occurrences, starts, stops and complete sequences of the strings of one length."""
    places, passes, ends = strings - first, tree.passes[nodes], tree.ends[nodes]
    is_complete = tree.depths[nodes] == length

    def summed(weights: Integers) -> Integers:
        return np.bincount(places, weights, minlength=stop - first).astype(np.int64)

    return summed(passes), summed(passes * is_complete), summed(ends), summed(ends * is_complete)


@dataclass(frozen=True, eq=False)
class HankelBlocks:
    """Values f(u v) and f(u a v) of strings, for a basis of prefixes u and suffixes v.

    Further values say how sequences start and stop: see `hankel_blocks`.
    """

    hankel: Matrix  # (prefix, suffix)   f(u v)
    steps: tuple[Matrix, ...]  # per symbol: (prefix, suffix)   f(u a v)
    first: Array  # (suffix,)  f of v at the start of a sequence
    anywhere: Array  # (suffix,)  f of v at any position
    last: Array  # (prefix,)  f of u at the end of a sequence
    open: Array  # (prefix,)  f of u with any continuation


# The counts of u v, of v at the start of a sequence and at any position, of u at the end of a sequence and
# with any continuation.
_VALUES = {
    "string": ("complete", "complete", "stops", "complete", "starts"),
    "prefix": ("starts", "starts", "occurrences", "complete", "starts"),
    "substring": ("occurrences", "starts", "occurrences", "stops", "occurrences"),
}


def hankel_blocks(
    counts: SubstringCounts, statistics: str, basis: int | Strings, max_length: int
) -> HankelBlocks:
    """The Hankel blocks of one of the three statistics, on the most frequent or on given strings.

    Parameters
    ----------
    counts : SubstringCounts
        Of strings up to at least ``2 * max_length + 1`` symbols, or the longest of given strings.
    statistics : {"string", "prefix", "substring"}
        The value f(x): the proportion of sequences that are x, that begin with x, or the mean number of
        occurrences of x.
    basis : int or Strings
        Number of prefixes, and of suffixes; or these themselves. The values of strings that were not observed
        are zero.
    max_length : int
        The longest of the most frequent ones.
    """
    needed = basis.longest if isinstance(basis, Strings) else 2 * max_length + 1
    if counts.max_length < needed:
        raise ArgumentError(
            f"strings up to length {counts.max_length} were counted, but the blocks need {needed}"
        )
    joint, first, anywhere, last, beyond = (getattr(counts, name) for name in _VALUES[statistics])
    if isinstance(basis, Strings):
        rows, columns = counts.places(basis.prefixes), counts.places(basis.suffixes)
        words = list(basis.suffixes)
    else:
        rows = counts.most_frequent(beyond, basis, max_length)
        columns = counts.most_frequent(anywhere, basis, max_length)
        words = counts.words(columns)
    dense = len(rows) * len(columns) * (counts.n_symbols + 1) <= _DENSE_CELLS
    n_sequences = max(counts.n_sequences, 1)
    value = joint / n_sequences
    # All symbols at once: the strings u a, for each symbol a in turn.
    symbols = np.arange(counts.n_symbols)
    n_rows = len(rows)
    after = counts.children(np.tile(rows, len(symbols)), np.repeat(symbols, n_rows))
    hankel = _block(counts, value, rows, words, dense=dense)
    together = _block(counts, value, after, words, dense=dense)
    return HankelBlocks(
        hankel,
        tuple(together[a * n_rows : (a + 1) * n_rows] for a in symbols.tolist()),
        *(_values(column, columns) / n_sequences for column in (first, anywhere)),
        *(_values(column, rows) / n_sequences for column in (last, beyond)),
    )


def _values(column: Integers, strings: Integers) -> Array:
    """The values of some strings, zero where they were not observed."""
    return np.where(strings >= 0, column[strings], 0).astype(np.float64)


def _block(
    counts: SubstringCounts,
    value: Array,
    strings: Integers,
    words: list[tuple[int, ...]],
    *,
    dense: bool,
) -> Matrix:
    """(string, word) values of strings followed by words."""
    reached: dict[tuple[int, ...], tuple[Integers, Integers]] = {}
    rows = np.flatnonzero(strings >= 0)
    reached[()] = (rows, strings[rows])

    def after(word: tuple[int, ...]) -> tuple[Integers, Integers]:
        if word not in reached:
            rows, at = after(word[:-1])
            continued = counts.children(at, np.full(len(at), word[-1]))
            is_observed = continued >= 0
            reached[word] = rows[is_observed], continued[is_observed]
        return reached[word]

    parts = [after(word) for word in words]
    rows = np.concatenate([rows for rows, _ in parts])
    at = np.concatenate([at for _, at in parts])
    columns = np.repeat(np.arange(len(words)), [len(rows) for rows, _ in parts])
    shape = (len(strings), len(words))
    if dense:
        out = np.zeros(shape)
        out[rows, columns] = value[at]
        return out
    from scipy.sparse import csr_array

    return csr_array((value[at], (rows, columns)), shape=shape)
