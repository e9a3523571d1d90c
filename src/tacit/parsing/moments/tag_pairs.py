"""Second moments of word vectors by the tags of two words and how far apart they stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.errors import DataError
from tacit.parsing.data.word_vectors import WordVectors

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
LONGEST = 45  # words between which moments are kept


@dataclass(frozen=True, eq=False)
class TagPairs:
    """Sums of outer products of the vectors of two words, by their tags and the distance between them.

    Adding two of these gives the sums of both texts.
    """

    tags: tuple[str, ...]
    counts: Integers  # (tag of the left, tag of the right, distance - 1)
    products: Array  # (tag of the left, tag of the right, distance - 1, feature, feature)

    @staticmethod
    def empty(tags: Sequence[str], n_features: int, longest: int = LONGEST) -> TagPairs:
        """No text at all."""
        shape = (len(tags), len(tags), longest)
        return TagPairs(
            tuple(tags), np.zeros(shape, np.int64), np.zeros((*shape, n_features, n_features))
        )

    @staticmethod
    def of(
        sentences: Sequence[Sequence[tuple[str, str]]],
        vectors: WordVectors,
        tags: Sequence[str],
        longest: int = LONGEST,
    ) -> TagPairs:
        """The sums of some sentences of words and tags.

        Parameters
        ----------
        sentences : sequence of sequences of (word, tag)
            Without punctuation. Pairs with a tag that is not among `tags` are left out.
        vectors : WordVectors
        tags : sequence of str
        longest : int
            Words farther apart are left out.
        """
        sums = TagPairs.empty(tags, vectors.n_features, longest)
        numbers = {tag: number for number, tag in enumerate(tags)}
        words: dict[str, int] = {}
        ids = np.array([words.setdefault(w, len(words)) for s in sentences for w, _ in s], np.int64)
        kinds = np.array([numbers.get(t, -1) for s in sentences for _, t in s], np.int64)
        owner = np.repeat(np.arange(len(sentences)), [len(s) for s in sentences])
        rows = vectors.of_words(words).astype(np.float32) if words else np.zeros((0, 0), np.float32)
        for apart in range(1, min(longest, len(ids)) + 1):
            _add_pairs(sums, apart, ids, kinds, owner, rows)
        return sums

    def __add__(self, other: TagPairs) -> TagPairs:
        """The sums of both texts."""
        if self.tags != other.tags or self.products.shape != other.products.shape:
            raise DataError(
                "these sums are of other tags, vectors or distances, and cannot be added"
            )
        return TagPairs(self.tags, self.counts + other.counts, self.products + other.products)


def _add_pairs(
    sums: TagPairs,
    apart: int,
    ids: Integers,
    kinds: Integers,
    owner: Integers,
    rows: NDArray[np.float32],
) -> None:
    """Add all pairs of words at one distance."""
    n_tags = len(sums.tags)
    left, right = kinds[:-apart], kinds[apart:]
    places = np.flatnonzero((owner[:-apart] == owner[apart:]) & (left >= 0) & (right >= 0))
    keys = left[places] * n_tags + right[places]
    places = places[np.argsort(keys, kind="stable")]
    counts = np.bincount(keys, minlength=n_tags * n_tags)
    ends = np.cumsum(counts)
    for key in np.flatnonzero(counts).tolist():
        these = places[ends[key] - counts[key] : ends[key]]
        t, u = divmod(key, n_tags)
        sums.counts[t, u, apart - 1] += counts[key]
        for low in range(0, len(these), 1 << 15):  # single precision is summed over few pairs only
            some = these[low : low + (1 << 15)]
            sums.products[t, u, apart - 1] += rows[ids[some]].T @ rows[ids[some + apart]]
