"""Phrase tables from aligned sentence pairs (Koehn, Och & Marcu, 2003)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.reproduce.language.translation.alignment import (
    Links,
    TranslationTable,
    align,
    symmetrised,
)
from tacit.reproduce.language.translation.sentence_pairs import EMPTY, Ids, SentencePairs, Words

Array = NDArray[np.float64]

LONGEST = 5  # words of a phrase
MOST_TRANSLATIONS = 15  # of a source phrase
LEAST_PROB = 1e-7  # of a word in lexical weights

# Of a phrase pair: log-probabilities of either side given the other, by phrases and by words
N_FEATURES = 4


@dataclass(frozen=True, eq=False)
class PhraseTable:
    """Translations of source phrases: target words with their features."""

    source_words: Words
    target_words: Words
    translations: dict[tuple[int, ...], list[tuple[tuple[int, ...], Array]]]  # best first
    best_words: dict[int, int]  # the most probable target word of each source word

    def word_by_word(self, sentence: str) -> str:
        """Each word replaced by its most probable translation; unknown words stay."""
        words = []
        for word, number in zip(sentence.split(), self.source_words.ids(sentence), strict=True):
            best = self.best_words.get(int(number))
            words.append(word if best is None else self.target_words.words[best])
        return " ".join(words)


def phrase_table(pairs: SentencePairs, sentences: Iterable[str]) -> PhraseTable:
    """The phrase table of sentence pairs, of those source phrases that stand in some sentences."""
    forward, source_of = align(pairs)
    backward, target_of = align(pairs.reversed())
    links = [symmetrised(*alignments) for alignments in zip(source_of, target_of, strict=True)]
    spans = extracted(links)
    sources = _padded(pairs.sources, spans[:, 0], spans[:, 1], spans[:, 2])
    targets = _padded(pairs.targets, spans[:, 0], spans[:, 3], spans[:, 4])
    needed = {
        tuple(numbers[low : low + size])
        for numbers in (pairs.source_words.ids(sentence).tolist() for sentence in sentences)
        for size in range(1, LONGEST + 1)
        for low in range(len(numbers) - size + 1)
    }
    scored = scored_phrases(sources, targets, needed, forward, backward)
    return PhraseTable(pairs.source_words, pairs.target_words, scored, forward.best_targets())


def extracted(all_links: list[Links]) -> Ids:
    """(phrase pair, 5) sentence pair, and from and to in the source and in the target, of all phrases."""
    from tacit.reproduce.loops.alignment import consistent_phrases

    spans = []
    for number, links in enumerate(all_links):
        n_source, n_target = links.shape
        room = np.empty((n_source * LONGEST * n_target * LONGEST, 5), np.int64)
        n_phrases = consistent_phrases(links, LONGEST, room[:, 1:])
        room[:n_phrases, 0] = number
        spans.append(room[:n_phrases].copy())
    return np.concatenate(spans)


def scored_phrases(
    sources: Ids,
    targets: Ids,
    needed: set[tuple[int, ...]],
    forward: TranslationTable,
    backward: TranslationTable,
) -> dict[tuple[int, ...], list[tuple[tuple[int, ...], Array]]]:
    """Translations of needed source phrases, the most frequent first, with their features.

    Parameters
    ----------
    sources, targets : (phrase pair, word)
        All phrase pairs that were extracted, filled up with -1.
    """
    source_numbers, source_rows = _numbered(sources)
    target_numbers, target_rows = _numbered(targets)
    keys, counts = np.unique(source_numbers * len(target_rows) + target_numbers, return_counts=True)
    one, two = keys // len(target_rows), keys % len(target_rows)
    probs = counts / np.bincount(source_numbers)[one]
    is_needed = np.array([_words(row) in needed for row in source_rows])
    order = np.lexsort((-counts, one))
    order = order[is_needed[one[order]]]
    ranks = np.arange(len(order)) - np.searchsorted(one[order], one[order])
    order = order[ranks < MOST_TRANSLATIONS]
    one, two, counts, probs = one[order], two[order], counts[order], probs[order]
    features = np.stack(
        [
            np.log(probs),
            np.log(counts / np.bincount(target_numbers)[two]),
            lexical_weights(forward, source_rows[one], target_rows[two]),
            lexical_weights(backward, target_rows[two], source_rows[one]),
        ],
        axis=1,
    )
    table: dict[tuple[int, ...], list[tuple[tuple[int, ...], Array]]] = {}
    for source, target, row in zip(source_rows[one], target_rows[two], features, strict=True):
        table.setdefault(_words(source), []).append((_words(target), row))
    return table


def lexical_weights(table: TranslationTable, sources: Ids, targets: Ids) -> Array:
    """(phrase pair,) the log-probability of target words, each given the source word that suits it best."""
    with_empty = np.concatenate([np.full((len(sources), 1), EMPTY), sources], axis=1)
    probs = table.prob(with_empty[:, None, :], targets[:, :, None])
    probs = np.where(with_empty[:, None, :] < 0, 0.0, probs).max(axis=2)
    logs = np.log(np.maximum(probs, LEAST_PROB))
    return np.asarray(np.where(targets < 0, 0.0, logs).sum(axis=1))


def _padded(sentences: list[Ids], numbers: Ids, low: Ids, high: Ids) -> Ids:
    """(phrase, word) the words of spans, filled up with -1."""
    ends = np.cumsum([0, *map(len, sentences)])
    words = np.concatenate(sentences)
    places = (ends[numbers] + low)[:, None] + np.arange(LONGEST)
    is_inside = np.arange(LONGEST) < (high - low)[:, None]
    return np.where(is_inside, words[np.minimum(places, len(words) - 1)], -1)


def _numbered(rows: Ids) -> tuple[Ids, Ids]:
    """(phrase,) numbers of phrases, and (number, word) their words."""
    numbers = np.zeros(len(rows), np.int64)
    size = int(rows.max(initial=0)) + 2
    for column in rows.T:
        _, first, numbers = np.unique(
            numbers * size + column + 1, return_index=True, return_inverse=True
        )
    return numbers, rows[first]


def _words(row: Ids) -> tuple[int, ...]:
    return tuple(row[row >= 0].tolist())
