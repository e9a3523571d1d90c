"""Phrase tables against counting one by one."""

import math
from collections import Counter

import numpy as np
import pytest

from tacit.reproduce.language.translation import phrases
from tacit.reproduce.language.translation.alignment import aligned_cells, normalised
from tacit.reproduce.language.translation.phrases import phrase_table, scored_phrases
from tacit.reproduce.language.translation.sentence_pairs import SentencePairs


def padded(rows):
    return np.array([[*row, *[-1] * (phrases.LONGEST - len(row))] for row in rows])


@pytest.fixture
def pairs():
    return SentencePairs.of(["a b c", "a b", "c"], ["x y", "x z", "y"])


def test_features_are_relative_frequencies_and_lexical_weights(pairs):
    rng = np.random.default_rng(0)
    tables = []
    for side in (pairs, pairs.reversed()):
        table, _ = aligned_cells(side)
        tables.append(normalised(table, rng.random(len(table.probs))))
    occurrences = [((1, 2), (1,)), ((1, 2), (1, 3)), ((1, 2), (1,)), ((3,), (2,)), ((3,), (1,))]
    actual = scored_phrases(
        padded([source for source, _ in occurrences]),
        padded([target for _, target in occurrences]),
        {(1, 2), (7,)},
        *tables,
    )
    assert list(actual) == [(1, 2)]
    counts, sources, targets = (
        Counter(occurrences),
        Counter(source for source, _ in occurrences),
        Counter(target for _, target in occurrences),
    )
    assert [target for target, _ in actual[1, 2]] == [(1,), (1, 3)]  # the most frequent first

    def best(table, word, others):
        return max(float(table.prob(np.array(other), np.array(word))) for other in (0, *others))

    for target, features in actual[1, 2]:
        count = counts[(1, 2), target]
        assert features == pytest.approx(
            [
                math.log(count / sources[1, 2]),
                math.log(count / targets[target]),
                sum(math.log(best(tables[0], word, (1, 2))) for word in target),
                sum(math.log(best(tables[1], word, target)) for word in (1, 2)),
            ]
        )


def test_only_the_most_frequent_translations_are_kept(pairs, monkeypatch):
    monkeypatch.setattr(phrases, "MOST_TRANSLATIONS", 1)
    table, _ = aligned_cells(pairs)
    back, _ = aligned_cells(pairs.reversed())
    rows = padded([(1,)] * 3), padded([(2,), (1,), (2,)])
    actual = scored_phrases(*rows, {(1,)}, table, back)
    assert [target for target, _ in actual[1,]] == [(2,)]


def test_words_are_translated_one_by_one_and_unknown_ones_stay():
    english, german = ["red house", "red", "house", ""], ["rotes haus", "rotes", "haus", "leer"]
    table = phrase_table(SentencePairs.of(english, german), ["red house now"])
    assert table.word_by_word("house now red") == "haus now rotes"
    one, two = (table.source_words.numbers[word] for word in ("red", "house"))
    (best, _), *_ = table.translations[one, two]
    assert [table.target_words.words[word] for word in best] == ["rotes", "haus"]
