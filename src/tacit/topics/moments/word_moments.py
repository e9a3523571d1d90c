"""Sums over pairs and triples of words of the same document, in a few directions and never in full.

Anandkumar, Foster, Hsu, Kakade and Liu (2012), with the words of a document drawn without replacement: a pair
or triple is never of one occurrence with itself. Documents may come in batches; sums of batches add.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ArgumentError, DataError

Array = NDArray[np.float64]

BLOCK = 1024  # documents whose triples are summed at once
# Bounds of "auto" on the counts of a word in a document, absolute and relative to uniform use; documents that
# lose more than this fraction of their words by them are left out.
MIN_CAP, MAX_RATIO, MAX_LOST = 10, 20, 0.5


@dataclass(frozen=True, slots=True)
class Weighting:
    """Weights of documents and of their words.

    Parameters
    ----------
    by : {"pool", "length", "document"}
        What has equal weight: all pairs (and triples) of words, all words, or all documents.
    cap : int, optional
        The most that a word counts in one document, against documents that repeat one word. ``"auto"`` leaves
        out documents that would lose half of their words by a bound of 10, or of 20 times the count under
        uniform use of the vocabulary, and does not bound the others.
    """

    by: Literal["pool", "length", "document"] = "pool"
    cap: int | Literal["auto"] | None = None

    def __post_init__(self) -> None:
        """Check the settings."""
        if self.by not in ("pool", "length", "document"):
            raise ArgumentError(f"by={self.by!r}; give 'pool', 'length' or 'document'")
        if self.cap not in (None, "auto") and not (isinstance(self.cap, int) and self.cap >= 1):
            raise ArgumentError(
                f"cap={self.cap!r}; give a positive number, 'auto', or None for no bound"
            )

    def of(self, batch: Any) -> WeightedBatch:
        """A batch of documents with their weights.

        Parameters
        ----------
        batch : (document, word) sparse
        """
        starts, places, counts = batch.indptr, batch.indices, batch.data
        n_documents = len(starts) - 1
        lengths = _lengths(starts, counts)
        if self.cap == "auto":
            caps = np.maximum(MIN_CAP, MAX_RATIO * lengths // batch.shape[1])
            capped = np.minimum(counts, np.repeat(caps, np.diff(starts)).astype(counts.dtype))
            lengths = np.where(_lengths(starts, capped) > MAX_LOST * lengths, lengths, 0.0)
        elif self.cap is not None:
            counts = np.minimum(counts, self.cap)
            lengths = _lengths(starts, counts)
        pairs, triples = lengths * (lengths - 1), lengths * (lengths - 1) * (lengths - 2)
        if self.by == "pool":
            second, third = (pairs > 0).astype(np.float64), (triples > 0).astype(np.float64)
        else:
            weights = lengths if self.by == "length" else np.ones(n_documents)
            second = np.divide(weights, pairs, out=np.zeros(n_documents), where=pairs > 0)
            third = np.divide(weights, triples, out=np.zeros(n_documents), where=triples > 0)
        return WeightedBatch(starts, places, counts, lengths, second, third)


@dataclass(frozen=True, slots=True, eq=False)
class WeightedBatch:
    """Documents with the weights of their pairs and triples of words."""

    starts: NDArray[Any]  # (document + 1,)
    places: NDArray[Any]  # (entry,)
    counts: NDArray[Any]  # (entry,)
    lengths: Array  # (document,)
    second: Array  # (document,)  of an ordered pair
    third: Array  # (document,)  of an ordered triple

    @property
    def blocks(self) -> Iterable[WeightedBatch]:
        """The documents, a few at a time."""
        for first in range(0, len(self.lengths), BLOCK):
            some = slice(first, first + BLOCK)
            starts = self.starts[first : first + BLOCK + 1]
            yield WeightedBatch(
                starts,
                self.places,
                self.counts,
                self.lengths[some],
                self.second[some],
                self.third[some],
            )


@dataclass(frozen=True, slots=True, eq=False)
class PairSums:
    """Sums over ordered pairs of words of documents, times some columns."""

    spread: Array  # (word, column)  including pairs of an occurrence with itself
    once: Array  # (word,)  these pairs: weights of pairs times counts
    first: Array  # (word,)  sums of pairs by their first word
    total: float  # of all pairs
    squares: float  # of the weights of all pairs
    n_documents: int  # with two words or more
    n_words: float  # of those documents

    @staticmethod
    def empty(size: int, width: int) -> PairSums:
        """The sums of no document, for a vocabulary of `size` and `width` columns."""
        return PairSums(np.zeros((size, width)), np.zeros(size), np.zeros(size), 0.0, 0.0, 0, 0.0)

    @staticmethod
    def of(batches: Iterable[Any], columns: Array, weighting: Weighting) -> PairSums:
        """Sums over all documents of some batches, read once.

        Parameters
        ----------
        batches : iterable of (document, word) sparse
        columns : (word, column)
        weighting : Weighting
        """
        from tacit.topics.loops.document_sums import project, spread, spread_weights

        columns = np.ascontiguousarray(columns)
        sums = PairSums.empty(*columns.shape)
        rows = np.empty((BLOCK, columns.shape[1]))
        total, squares, n_documents, n_words = 0.0, 0.0, 0, 0.0
        for batch in batches:
            weighted = weighting.of(batch)
            for part in weighted.blocks:
                entries = part.starts, part.places, part.counts
                projected = rows[: len(part.lengths)]
                project(*entries, columns, projected)
                spread(*entries, part.second, projected, sums.spread)
                first = part.second * (part.lengths - 1)
                spread_weights(*entries, part.second, first, sums.once, sums.first)
            pairs = weighted.lengths * (weighted.lengths - 1)
            total += float(weighted.second @ pairs)
            squares += float(weighted.second**2 @ pairs)
            n_documents += int((weighted.second > 0).sum())
            n_words += float(weighted.lengths.sum(where=weighted.second > 0))
        return PairSums(sums.spread, sums.once, sums.first, total, squares, n_documents, n_words)

    def __add__(self, other: PairSums) -> PairSums:
        return PairSums(
            self.spread + other.spread,
            self.once + other.once,
            self.first + other.first,
            self.total + other.total,
            self.squares + other.squares,
            self.n_documents + other.n_documents,
            self.n_words + other.n_words,
        )

    def product(self, columns: Array) -> PairProduct:
        """The probabilities of pairs, times the columns of the sums."""
        if not self.total > 0:
            raise DataError(
                "no document has two words or more; topics are learnt from pairs of words: give longer "
                "documents"
            )
        product = (self.spread - self.once[:, None] * columns) / self.total
        # About the error of a pair's probability, over the root of the product of its words' probabilities.
        error = np.sqrt(2 * self.squares) / self.total
        return PairProduct(product, self.first / self.total, float(error), self.n_documents)


@dataclass(frozen=True, slots=True, eq=False)
class PairProduct:
    """Probabilities of pairs of words, times some columns, and of single words."""

    product: Array  # (word, column)
    mean: Array  # (word,)  sums to one
    error: float  # of a pair, over the root of the product of the probabilities of its words
    n_documents: int


@dataclass(frozen=True, slots=True, eq=False)
class TripleSums:
    """Sums over ordered triples of words of documents; a word is its row of some columns."""

    cube: Array  # (p, p, p)  symmetric; including triples that repeat an occurrence
    spread: Array  # (word, p)
    once: Array  # (word,)
    total: float

    @staticmethod
    def empty(size: int, width: int) -> TripleSums:
        """The sums of no document, for a vocabulary of `size` and `width` columns."""
        return TripleSums(np.zeros((width,) * 3), np.zeros((size, width)), np.zeros(size), 0.0)

    @staticmethod
    def of(batches: Iterable[Any], columns: Array, weighting: Weighting) -> TripleSums:
        """Sums over all documents of some batches, read once.

        Parameters
        ----------
        batches : iterable of (document, word) sparse
        columns : (word, p)
        weighting : Weighting
        """
        from tacit.topics.loops.document_sums import project, spread, spread_weights

        columns = np.ascontiguousarray(columns)
        sums = TripleSums.empty(*columns.shape)
        unused = np.zeros(len(columns))
        rows = np.empty((BLOCK, columns.shape[1]))
        total = 0.0
        for batch in batches:
            weighted = weighting.of(batch)
            for part in weighted.blocks:
                entries = part.starts, part.places, part.counts
                projected = rows[: len(part.lengths)]
                project(*entries, columns, projected)
                spread(*entries, part.third, projected, sums.spread)
                spread_weights(*entries, part.third, part.third, sums.once, unused)
                _add_cubes(projected, part.third, sums.cube)
            lengths = weighted.lengths
            total += float(weighted.third @ (lengths * (lengths - 1) * (lengths - 2)))
        return TripleSums(_mirrored(sums.cube), sums.spread, sums.once, total)

    def __add__(self, other: TripleSums) -> TripleSums:
        return TripleSums(
            self.cube + other.cube,
            self.spread + other.spread,
            self.once + other.once,
            self.total + other.total,
        )

    def third(self, columns: Array) -> Array:
        """(p, p, p) probabilities of triples in the columns of the sums."""
        if not self.total > 0:
            raise DataError(
                "no document has three words or more; topics are learnt from triples of words: give longer "
                'documents, or learn="em", which needs no moments'
            )
        # Two of the three, or all three, are one occurrence: -sym(w w z) + 2 n w w w, with z the spread rows.
        repeated = self.spread - (2 / 3) * self.once[:, None] * columns
        same = np.zeros(self.cube.shape)
        for first in range(0, len(columns), BLOCK):
            _add_products(columns[first : first + BLOCK], repeated[first : first + BLOCK], same)
        return np.asarray((self.cube - symmetric_sum(_mirrored_pairs(same))) / self.total)


class MomentSource(Protocol):
    """A source of probabilities of pairs and triples: documents, or an exact model."""

    @property
    def size(self) -> int:
        """Words of the vocabulary."""
        ...

    def pairs(self, columns: Array) -> PairProduct:
        """Probabilities of pairs, times some columns (word, column)."""
        ...

    def triples(self, columns: Array) -> Array:
        """(p, p, p) probabilities of triples, each word as its row of some columns (word, p)."""
        ...


@dataclass(frozen=True, eq=False)
class DocumentMoments:
    """Probabilities of pairs and triples of words in documents; each call reads the documents once."""

    batches: Iterable[Any]  # of (document, word) sparse; can be read again
    size: int
    weighting: Weighting = Weighting()

    def pairs(self, columns: Array) -> PairProduct:
        """Probabilities of pairs, times some columns (word, column)."""
        return PairSums.of(self.batches, columns, self.weighting).product(columns)

    def triples(self, columns: Array) -> Array:
        """(p, p, p) probabilities of triples, each word as its row of some columns (word, p)."""
        return TripleSums.of(self.batches, columns, self.weighting).third(columns)


def _lengths(starts: NDArray[Any], counts: NDArray[Any]) -> Array:
    """(document,) the sums of the counts of documents."""
    sums = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
    return np.asarray(sums[starts[1:]] - sums[starts[:-1]], dtype=np.float64)


def symmetric_sum(cube: Array) -> Array:
    """The sum over the three positions of the last axis of a cube that is symmetric in the first two."""
    return np.asarray(cube + cube.transpose(0, 2, 1) + cube.transpose(2, 1, 0))


def _add_cubes(rows: Array, weights: Array, cube: Array) -> None:
    """Add third powers of rows to the entries of a cube with the smallest index first."""
    for place in range(rows.shape[1]):
        later = rows[:, place:]
        cube[place, place:, place:] += later.T @ ((weights * rows[:, place])[:, None] * later)


def _add_products(rows: Array, others: Array, cube: Array) -> None:
    """Add ``r_a r_b o_c`` to the entries of a cube with a <= b."""
    for place in range(rows.shape[1]):
        cube[place, place:] += (rows[:, [place]] * rows[:, place:]).T @ others


def _mirrored_pairs(cube: Array) -> Array:
    """The cube, symmetric in its first two axes, from its entries with the smaller of these first."""
    one, two = np.tril_indices(len(cube), -1)
    cube[one, two] = cube[two, one]
    return cube


def _mirrored(cube: Array) -> Array:
    """The symmetric cube from its entries with the smallest index first."""
    p = len(cube)
    places = np.indices((p, p, p))
    return np.asarray(cube[tuple(np.sort(places.reshape(3, -1), axis=0))].reshape(p, p, p))
