"""Counts of substrings, and the Hankel blocks that weighted automata are learnt from (Balle et al., 2014).

Three statistics of strings x are counted at once: how many sequences are x, how many begin with x, and how
often x occurs anywhere in them. The last is the *expected number of occurrences* once it is divided by the
number of sequences; the empty string occurs once more often than there are positions. A window in which a
symbol is missing does not count.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ArgumentError
from tacit.sequences.data.sequences import Sequences
from tacit.sequences.moments.prefixes import Levels, PrefixTree

Integers = NDArray[np.int64]
Array = NDArray[np.float64]
Matrix = Any  # an array, or a sparse matrix where blocks are large

STATISTICS = ("string", "prefix", "substring")
# Blocks with more cells than this are kept sparse.
_DENSE_CELLS = 3 * 10**7


@dataclass(frozen=True, eq=False)
class SubstringCounts:
    """How often strings up to a length are, begin, end, and occur in sequences; those of two sets add.

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
    starts: Integers  # (string,)  sequences that begin so
    stops: Integers  # (string,)  sequences that end so
    wholes: Integers  # (string,)  sequences that are this
    n_symbols: int
    max_length: int

    @staticmethod
    def empty(n_symbols: int, max_length: int) -> SubstringCounts:
        """Counts of no sequences."""
        root, none = np.array([-1]), np.zeros(1, dtype=np.int64)
        return SubstringCounts(root, root, none, none, none, none, n_symbols, max_length)

    @staticmethod
    def of(sequences: Sequences | PrefixTree, max_length: int) -> SubstringCounts:
        """Counts of some sequences, or of the tree of their beginnings.

        Parameters
        ----------
        sequences : Sequences or PrefixTree
        max_length : int
            Of the strings that are counted.
        """
        tree = sequences if isinstance(sequences, PrefixTree) else PrefixTree.of(sequences)
        levels = Levels(tree.n_symbols)
        # The string of the level's length that each beginning ends with, for beginnings that have one.
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
        columns = [np.concatenate(each) for each in zip(*counted, strict=True)]
        occurrences, starts, stops, wholes = columns
        return SubstringCounts(
            *levels.nodes(), occurrences, starts, stops, wholes, tree.n_symbols, max_length
        )

    def __add__(self, other: SubstringCounts) -> SubstringCounts:
        """The counts of both sets of sequences."""
        if (self.n_symbols, self.max_length) != (other.n_symbols, other.max_length):
            raise ArgumentError(
                f"counts of {self.n_symbols} symbols up to length {self.max_length} and of "
                f"{other.n_symbols} up to {other.max_length} do not add; count both alike"
            )
        from tacit.sequences.loops.prefixes import joined

        parents, symbols, own, theirs = joined(
            self.parents, self.symbols, other.parents, other.symbols
        )
        columns = []
        for name in _COUNTED:
            column = np.zeros(len(parents), dtype=np.int64)
            column[own] += getattr(self, name)
            column[theirs] += getattr(other, name)
            columns.append(column)
        occurrences, starts, stops, wholes = columns
        return SubstringCounts(
            parents, symbols, occurrences, starts, stops, wholes, self.n_symbols, self.max_length
        )

    @property
    def n_sequences(self) -> int:
        """Sequences, the empty ones too."""
        return round(float(self.starts[0]))

    @cached_property
    def _keys(self) -> Integers:
        """(string,) increasing, see `children`."""
        return self.parents * (self.n_symbols + 1) + self.symbols + 1

    def children(self, strings: Integers, symbols: Integers) -> Integers:
        """The strings with a symbol more; -1 where they were not seen, or were not there to begin with."""
        wanted = strings * (self.n_symbols + 1) + symbols + 1
        found = np.searchsorted(self._keys, wanted)
        found[found == len(self._keys)] = 0
        return np.where((strings >= 0) & (self._keys[found] == wanted), found, -1)

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

    def most_frequent(self, values: Integers, n_strings: int, max_length: int) -> Integers:
        """The strings of largest value up to a length; the shorter first where values are even."""
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
    each.name
    for each in fields(SubstringCounts)
    if each.name not in ("parents", "symbols", "n_symbols", "max_length")
)


def _tallies(
    tree: PrefixTree, nodes: Integers, strings: Integers, first: int, stop: int, length: int = 0
) -> tuple[Integers, ...]:
    """Occurrences, starts, stops and wholes of the strings of one length."""
    own, passes, ends = strings - first, tree.passes[nodes], tree.ends[nodes]
    whole = tree.depths[nodes] == length

    def summed(weights: Integers) -> Integers:
        return np.bincount(own, weights, minlength=stop - first).astype(np.int64)

    return summed(passes), summed(passes * whole), summed(ends), summed(ends * whole)


@dataclass(frozen=True, eq=False)
class HankelBlocks:
    """Values f(u v) and f(u a v) of strings, for some beginnings u and some ends v.

    With them stand values that tell where sequences start and stop: see `hankel_blocks`.
    """

    whole: Matrix  # (beginning, end)   f(u v)
    steps: tuple[Matrix, ...]  # per symbol: (beginning, end)   f(u a v)
    first: Array  # (end,)  f of v that starts a sequence
    anywhere: Array  # (end,)  f of v wherever it starts
    last: Array  # (beginning,)  f of u that stops a sequence
    open: Array  # (beginning,)  f of u whatever follows


# The statistic of each: of strings u v, of v at the start of a sequence and anywhere, of u at its stop and
# whatever follows.
_VALUES = {
    "string": ("wholes", "wholes", "stops", "wholes", "starts"),
    "prefix": ("starts", "starts", "occurrences", "wholes", "starts"),
    "substring": ("occurrences", "starts", "occurrences", "stops", "occurrences"),
}


def hankel_blocks(
    counts: SubstringCounts, statistics: str, n_basis: int, max_length: int
) -> HankelBlocks:
    """The Hankel blocks of one of the three statistics, on the most frequent strings.

    Parameters
    ----------
    counts : SubstringCounts
        Of strings of at least twice the length and one.
    statistics : {"string", "prefix", "substring"}
        The value f(x): the share of sequences that are x, that begin with x, or the mean number of times
        that x occurs.
    n_basis : int
        Strings on each side.
    max_length : int
        Of these strings.
    """
    if counts.max_length < 2 * max_length + 1:
        raise ArgumentError(
            f"strings up to length {counts.max_length} were counted, but sides of length {max_length} need "
            f"{2 * max_length + 1}"
        )
    joint, first, anywhere, last, beyond = (getattr(counts, name) for name in _VALUES[statistics])
    rows = counts.most_frequent(beyond, n_basis, max_length)
    columns = counts.most_frequent(anywhere, n_basis, max_length)
    words = counts.words(columns)
    dense = len(rows) * len(columns) * (counts.n_symbols + 1) <= _DENSE_CELLS
    n_all = max(counts.n_sequences, 1)
    value = joint / n_all
    # All symbols at once: the strings u, then all u a of each symbol in turn.
    every = np.arange(counts.n_symbols)
    n_rows = len(rows)
    after = counts.children(np.tile(rows, len(every)), np.repeat(every, n_rows))
    whole = _block(counts, value, rows, words, dense=dense)
    together = _block(counts, value, after, words, dense=dense)
    return HankelBlocks(
        whole,
        tuple(together[a * n_rows : (a + 1) * n_rows] for a in every.tolist()),
        first[columns] / n_all,
        anywhere[columns] / n_all,
        last[rows] / n_all,
        beyond[rows] / n_all,
    )


def _block(
    counts: SubstringCounts,
    value: Array,
    strings: Integers,
    words: list[tuple[int, ...]],
    *,
    dense: bool,
) -> Matrix:
    """(row, column) the values of strings that are continued by words."""
    reached: dict[tuple[int, ...], tuple[Integers, Integers]] = {}
    there = np.flatnonzero(strings >= 0)
    reached[()] = (there, strings[there])

    def after(word: tuple[int, ...]) -> tuple[Integers, Integers]:
        if word not in reached:
            rows, at = after(word[:-1])
            found = counts.children(at, np.full(len(at), word[-1]))
            kept = found >= 0
            reached[word] = rows[kept], found[kept]
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
