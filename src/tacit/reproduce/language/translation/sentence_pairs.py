"""Sentences and their translations, as numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int64]

EMPTY = 0  # the empty word, which target words without a source word come from


@dataclass(frozen=True, eq=False)
class Words:
    """The words of one language and their numbers, from 1 on."""

    words: tuple[str, ...]  # the empty word first
    numbers: dict[str, int]

    @staticmethod
    def of(sentences: Iterable[str]) -> Words:
        """In the order in which they first come."""
        words = ("", *dict.fromkeys(word for line in sentences for word in line.split()))
        return Words(words, {word: number for number, word in enumerate(words)})

    def __len__(self) -> int:
        return len(self.words)

    def ids(self, sentence: str) -> Ids:
        """(word,) numbers of the words of a sentence; -1 for unknown ones."""
        return np.array([self.numbers.get(word, -1) for word in sentence.split()], np.int64)


@dataclass(frozen=True, eq=False)
class SentencePairs:
    """Sentences of a source language with their translations; pairs with an empty side are left out."""

    source_words: Words
    target_words: Words
    sources: list[Ids]
    targets: list[Ids]

    @staticmethod
    def of(sources: Sequence[str], targets: Sequence[str]) -> SentencePairs:
        """Of sentences with the same numbers."""
        pairs = [
            (source, target)
            for source, target in zip(sources, targets, strict=True)
            if source.split() and target.split()
        ]
        source_words = Words.of(source for source, _ in pairs)
        target_words = Words.of(target for _, target in pairs)
        return SentencePairs(
            source_words,
            target_words,
            [source_words.ids(source) for source, _ in pairs],
            [target_words.ids(target) for _, target in pairs],
        )

    def __len__(self) -> int:
        return len(self.sources)

    def reversed(self) -> SentencePairs:
        """The same with both languages exchanged."""
        return SentencePairs(self.target_words, self.source_words, self.targets, self.sources)
