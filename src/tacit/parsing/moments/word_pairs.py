"""Counts of two words of a sentence with their tags and the distance between them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.errors import DataError
from tacit.parsing.data.word_vectors import WordVectors

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class WordPairs:
    """How often two words stand so far apart in a sentence; a word with itself has the distance 0.

    Words go by the row of their vector. Adding two of these gives the counts of both texts.
    """

    tags: tuple[str, ...]
    codes: Integers  # (pair, 5)  tag and tag, distance, word and word: the left one first; in this order
    counts: Integers  # (pair,)

    @staticmethod
    def empty(tags: Sequence[str]) -> WordPairs:
        """No text at all."""
        return WordPairs(tuple(tags), np.empty((0, 5), np.int64), np.empty(0, np.int64))

    @staticmethod
    def of(
        sentences: Sequence[Sequence[tuple[str, str]]], vectors: WordVectors, tags: Sequence[str]
    ) -> WordPairs:
        """The counts of some sentences of words and tags.

        Parameters
        ----------
        sentences : sequence of sequences of (word, tag)
            Without punctuation. Pairs with a tag that is not among `tags` are left out.
        vectors : WordVectors
        tags : sequence of str
        """
        numbers = {tag: number for number, tag in enumerate(tags)}
        words = vectors.rows_of(word for sentence in sentences for word, _ in sentence)
        kinds = np.array([numbers.get(t, -1) for s in sentences for _, t in s], np.int64)
        owner = np.repeat(np.arange(len(sentences)), [len(s) for s in sentences])
        longest = max((len(sentence) for sentence in sentences), default=0)
        parts = []
        for apart in range(longest):
            left, right = np.arange(len(words) - apart), np.arange(apart, len(words))
            used = (owner[left] == owner[right]) & (kinds[left] >= 0) & (kinds[right] >= 0)
            left, right = left[used], right[used]
            distance = np.full(len(left), apart)
            columns = (kinds[left], kinds[right], distance, words[left], words[right])
            parts.append(np.stack(columns, axis=1))
        codes = np.concatenate(parts) if parts else np.empty((0, 5), np.int64)
        return _counted(tags, codes, np.ones(len(codes), np.int64))

    def __add__(self, other: WordPairs) -> WordPairs:
        """The counts of both texts."""
        if self.tags != other.tags:
            raise DataError("these counts are of other tags, and cannot be added")
        codes = np.concatenate([self.codes, other.codes])
        return _counted(self.tags, codes, np.concatenate([self.counts, other.counts]))

    @property
    def longest(self) -> int:
        """The largest distance of two words."""
        return int(self.codes[:, 2].max(initial=0))

    @property
    def of_words(self) -> WordPairs:
        """The words with themselves."""
        return self._where(self.codes[:, 2] == 0)

    @property
    def of_two(self) -> WordPairs:
        """The pairs of two places."""
        return self._where(self.codes[:, 2] > 0)

    def by_tags(self) -> Iterable[tuple[int, int, WordPairs]]:
        """The counts of each pair of tags that there is."""
        keys = self.codes[:, 0] * len(self.tags) + self.codes[:, 1]
        ends = np.searchsorted(keys, np.arange(len(self.tags) ** 2 + 1))
        for key in np.flatnonzero(np.diff(ends)).tolist():
            t, u = divmod(key, len(self.tags))
            yield t, u, self._where(slice(ends[key], ends[key + 1]))

    def _where(self, these: slice | NDArray[np.bool_]) -> WordPairs:
        return WordPairs(self.tags, self.codes[these], self.counts[these])


def _counted(tags: Sequence[str], codes: Integers, counts: Integers) -> WordPairs:
    """Different pairs in ascending order, and how often each comes."""
    order = np.lexsort(codes.T[::-1])
    codes, counts = codes[order], counts[order]
    new = np.ones(len(codes), dtype=bool)
    new[1:] = (codes[1:] != codes[:-1]).any(axis=1)
    starts = np.flatnonzero(new)
    sums = np.add.reduceat(counts, starts) if len(starts) else counts
    return WordPairs(tuple(tags), codes[starts], sums)
