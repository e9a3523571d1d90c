"""Counts of unigrams, bigrams and trigrams in sequences.

Windows of one, two and three symbols are counted at all positions, except those with a missing symbol.
Counts are integers and add: sequences may be counted in chunks, and the counts summed in any order.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import pairwise
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ArgumentError, DataError
from tacit.sequences.data.sequences import Sequences

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
_Tables = tuple[NDArray[np.int64], NDArray[np.int64], "Cells", "Cells", "Cells"]

DENSE_CELLS = 1 << 22  # larger tables are sparse
LARGEST = 1 << 20  # symbols: trigrams have keys of 64 bits
# Positions of a chunk: few enough for counts of 32 bits, and for the sorted keys to fit in memory.
POSITIONS_AT_ONCE = 1 << 23


@dataclass(frozen=True, eq=False)
class Cells:
    """A table of counts of windows of symbols, dense or sparse.

    Examples
    --------
    >>> Cells(2, 2, None, np.array([3, 0, 1, 2])).dense()
    array([[3, 0], [1, 2]])
    """

    n_symbols: int
    order: int  # symbols in a window
    keys: Integers | None  # (cell,) sorted flat indices of cells, in C order; None: all cells
    counts: Integers  # (cell,)

    @staticmethod
    def empty(n_symbols: int, order: int) -> Cells:
        """A table of zeros."""
        if n_symbols**order <= DENSE_CELLS:
            return Cells(n_symbols, order, None, np.zeros(n_symbols**order, dtype=np.int64))
        return Cells(n_symbols, order, np.zeros(0, np.int64), np.zeros(0, np.int64))

    def __add__(self, other: Cells) -> Cells:
        if self.keys is None or other.keys is None:
            return replace(self, counts=self.counts + other.counts)
        if not len(self.keys) or not len(other.keys):
            return self if len(self.keys) else other
        both = np.concatenate([self.keys, other.keys])
        keys, places = np.unique(both, return_inverse=True)
        counts = np.zeros(len(keys), dtype=np.int64)
        counts[places[: len(self.keys)]] = self.counts
        counts[places[len(self.keys) :]] += other.counts
        return replace(self, keys=keys, counts=counts)

    @property
    def total(self) -> int:
        """Number of windows."""
        return int(self.counts.sum())

    def dense(self) -> Integers:
        """(symbol, ...) all cells."""
        shape = (self.n_symbols,) * self.order
        if self.keys is None:
            return self.counts.reshape(shape)
        out = np.zeros(self.n_symbols**self.order, dtype=np.int64)
        out[self.keys] = self.counts
        return out.reshape(shape)

    def marginal(self, *axes: int) -> Any:
        """Counts summed over the other axes: an array, or a sparse matrix over two axes of a sparse table."""
        if self.keys is None:
            summed = tuple(axis for axis in range(self.order) if axis not in axes)
            return self.dense().sum(axis=summed)
        n = self.n_symbols
        parts = [self.keys // n ** (self.order - 1 - axis) % n for axis in axes]
        if len(axes) == 1:
            sums = np.bincount(parts[0], weights=self.counts, minlength=n)
            return np.rint(sums).astype(np.int64)
        from scipy.sparse import coo_array

        matrix = coo_array((self.counts, tuple(parts)), shape=(n, n)).tocsr()
        matrix.sum_duplicates()
        return matrix


@dataclass(frozen=True, eq=False)
class TripleMoments:
    """Probabilities of symbols, pairs and triples in the same windows of three.

    Pairs are arrays, or sparse matrices over large alphabets. The first and the last view may be longer than
    one symbol: a and c are then pairs of place and symbol.
    """

    first: Array  # (a,)  of the first symbols of sequences
    one: Array  # (a,)
    pairs12: Any  # (a, b)
    pairs13: Any  # (a, c)
    pairs23: Any  # (b, c)
    triples: Array | Cells  # (a, b, c)
    n_windows: float  # windows counted; infinite for exact probabilities

    @staticmethod
    def of_table(first: Array, triples: Array, n_windows: float = np.inf) -> TripleMoments:
        """From the probabilities of first symbols (a,) and of windows of three (a, b, c)."""
        one = triples.sum(axis=(1, 2))
        pairs12, pairs13, pairs23 = (triples.sum(axis=axis) for axis in (2, 1, 0))
        return TripleMoments(first, one, pairs12, pairs13, pairs23, triples, n_windows)

    def between(self, one: Array, three: Array) -> Array:
        """(b, i, k) the triples projected by `one` (a, i) and `three` (c, k), for each middle symbol."""
        if not isinstance(self.triples, Cells):
            n_first, n_middle, n_last = self.triples.shape
            last = (self.triples.reshape(-1, n_last) @ three).reshape(n_first, n_middle, -1)
            return np.ascontiguousarray(np.einsum("abk,ai->bik", last, one, optimize=True))
        from tacit.sequences.loops.ngrams import contract_between

        cells = self.triples
        assert cells.keys is not None
        out = np.zeros((cells.n_symbols, one.shape[1], three.shape[1]))
        contract_between(cells.keys, cells.counts, cells.n_symbols, one, three, out)
        return out / self.n_windows

    def contracted(self, one: Array, two: Array, three: Array) -> Array:
        """(i, j, k) the triples projected by `one` (a, i), `two` (b, j) and `three` (c, k)."""
        if not isinstance(self.triples, Cells):
            n_first, n_middle, n_last = self.triples.shape
            last = self.triples.reshape(-1, n_last) @ three  # (a b, k)
            first = one.T @ last.reshape(n_first, -1)  # (i, b k)
            projected = first.reshape(one.shape[1], n_middle, -1)
            return np.asarray(np.einsum("ibk,bj->ijk", projected, two, optimize=True))
        from tacit.sequences.loops.ngrams import contract_cells

        cells = self.triples
        assert cells.keys is not None
        out = np.zeros((one.shape[1], two.shape[1], three.shape[1]))
        contract_cells(cells.keys, cells.counts, cells.n_symbols, one, two, three, out)
        return out / self.n_windows


@dataclass(frozen=True, eq=False)
class NgramCounts:
    """Counts of symbols, pairs and triples of neighbours, and of the first symbols of sequences.

    Examples
    --------
    >>> codes = np.array([0, 1, 1, 1, 0], dtype=np.int32)
    >>> counts = NgramCounts.of(Sequences(codes, np.array([3, 2]), ("a", "b")))
    >>> counts.pairs.dense()
    array([[0, 1], [1, 1]])
    >>> counts.triples.total
    1
    """

    n_symbols: int
    n_sequences: int
    n_positions: int  # missing symbols included
    singles: Integers  # (a,)
    firsts: Integers  # (a,)
    first_pairs: Cells  # (a, b)
    pairs: Cells  # (a, b)
    triples: Cells  # (a, b, c)

    @staticmethod
    def empty(n_symbols: int) -> NgramCounts:
        """Counts of no sequences."""
        if not 1 <= n_symbols <= LARGEST:
            raise ArgumentError(f"{n_symbols} symbols; from 1 to {LARGEST} can be counted")
        none = np.zeros(n_symbols, dtype=np.int64)
        two, three = Cells.empty(n_symbols, 2), Cells.empty(n_symbols, 3)
        return NgramCounts(n_symbols, 0, 0, none, none, two, two, three)

    @staticmethod
    def of(sequences: Sequences, *, n_jobs: int = 1) -> NgramCounts:
        """The counts of some sequences.

        Parameters
        ----------
        sequences : Sequences
        n_jobs : int
            Threads; the counts do not depend on their number.
        """
        ends, n = sequences.ends, sequences.n_symbols
        size = min(POSITIONS_AT_ONCE, max(sequences.n_positions // max(n_jobs, 1), 1))
        marks = np.arange(0, sequences.n_positions + size, size)
        cuts = np.unique(np.append(np.searchsorted(ends, marks), len(ends) - 1))
        cuts = np.unique(np.append(0, np.minimum(cuts, len(ends) - 1)))
        chunks = [ends[low : high + 1] for low, high in pairwise(cuts.tolist())]
        with ThreadPoolExecutor(max(n_jobs, 1)) as pool:
            parts = pool.map(lambda chunk: _counted(sequences.codes, chunk, n), chunks)
            return reduce(add, parts, NgramCounts.empty(n))

    def __add__(self, other: NgramCounts) -> NgramCounts:
        if self.n_symbols != other.n_symbols:
            raise DataError(
                f"counts over {self.n_symbols} and {other.n_symbols} symbols do not add; "
                "read both with the same symbols"
            )
        return NgramCounts(
            self.n_symbols,
            self.n_sequences + other.n_sequences,
            self.n_positions + other.n_positions,
            self.singles + other.singles,
            self.firsts + other.firsts,
            self.first_pairs + other.first_pairs,
            self.pairs + other.pairs,
            self.triples + other.triples,
        )

    def window_moments(self) -> TripleMoments:
        """Probabilities in all windows of three.

        Raises
        ------
        DataError
            If there is no window of three symbols.
        """
        return self._moments

    @cached_property
    def _moments(self) -> TripleMoments:
        n_windows = self.triples.total
        if n_windows == 0:
            raise DataError(
                "no three symbols in a row were observed: moments need sequences of three or more"
            )
        dense = self.triples.keys is None
        one, two, three = (
            self.triples.marginal(*at) / n_windows for at in ((0, 1), (0, 2), (1, 2))
        )
        return TripleMoments(
            self.firsts / max(int(self.firsts.sum()), 1),
            self.triples.marginal(0) / n_windows,
            one,
            two,
            three,
            self.triples.dense() / n_windows if dense else self.triples,
            float(n_windows),
        )


def _counted(codes: NDArray[np.int32], ends: Integers, n: int) -> NgramCounts:
    """The counts of one chunk."""
    lengths = np.diff(ends)
    n_positions = int(ends[-1] - ends[0])
    counted = _sorted_tables if n**3 > DENSE_CELLS else _dense_tables
    return NgramCounts(n, len(lengths), n_positions, *counted(codes, ends, n))


def _dense_tables(codes: NDArray[np.int32], ends: Integers, n: int) -> _Tables:
    """Singles, firsts, first pairs, pairs and triples as dense tables."""
    from tacit.sequences.loops.ngrams import count_edges, count_triples

    counted = np.zeros(n**3 + 1, dtype=np.uint32)
    gaps = count_triples(codes, ends, n, counted)
    singles, firsts = np.zeros((2, n), dtype=np.int64)
    pairs, first_pairs = np.zeros((2, n * n), dtype=np.int64)
    count_edges(codes, ends, gaps, n, firsts, first_pairs, singles, pairs)
    # Symbols and pairs inside counted windows were not counted a second time.
    triples = counted[:-1].astype(np.int64)
    firsts += first_pairs.reshape(n, n).sum(axis=1)
    singles += pairs.reshape(n, n).sum(axis=0)
    pairs += triples.reshape(n * n, n).sum(axis=1)
    singles += pairs.reshape(n, n).sum(axis=1)
    two = Cells(n, 2, None, first_pairs), Cells(n, 2, None, pairs)
    return singles, firsts, *two, Cells(n, 3, None, triples)


def _sorted_tables(codes: NDArray[np.int32], ends: Integers, n: int) -> _Tables:
    """Singles, firsts, first pairs, pairs and triples by sorting the keys of windows."""
    from tacit.sequences.loops.ngrams import window_keys

    keys = np.empty(int(ends[-1] - ends[0]), dtype=np.int64)

    def counted(bounds: Integers, order: int, where: NDArray[np.int32]) -> Cells:
        cells = keys[: window_keys(where, bounds, n, order, keys)]
        if n**order <= DENSE_CELLS:
            return Cells(n, order, None, np.bincount(cells, minlength=n**order))
        return Cells(n, order, *np.unique(cells, return_counts=True))

    lengths = np.diff(ends)
    heads = ends[:-1][lengths > 1]
    opening = codes[np.stack([heads, heads + 1], axis=1).ravel()]
    first_pairs = counted(2 * np.arange(len(heads) + 1), 2, opening)
    firsts = codes[ends[:-1][lengths > 0]]
    return (
        counted(ends, 1, codes).counts,
        np.bincount(firsts[firsts >= 0], minlength=n).astype(np.int64),
        first_pairs,
        counted(ends, 2, codes),
        counted(ends, 3, codes),
    )
