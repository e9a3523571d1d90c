"""Counted n-grams agree with plain counting in a dictionary, in any pieces."""

from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.python_source import python_source
from tacit.errors import ArgumentError, DataError, TooExpensiveError
from tacit.language.data.corpus import read_corpus
from tacit.language.data.vocabulary import Vocabulary
from tacit.language.loops import ngrams as loops
from tacit.language.moments import ngram_counts as grams
from tacit.language.moments.ngram_counts import GramCounts, joint_counts

VOCABULARY = Vocabulary.of_words("abcd")
lines = st.lists(st.lists(st.sampled_from("abcdz"), max_size=12), max_size=12)
orders = st.integers(1, 5)
pads = st.sampled_from(["one", "all"])


def counted(given, order, pads, vocabulary=VOCABULARY):
    return GramCounts.of(read_corpus(given, vocabulary=vocabulary), order, pads=pads)


def spelled(counts, order):
    """{n-gram: number} of an order, by following contexts."""
    out = [()]
    for table in counts.tables[:order]:
        out = [
            (*out[context], int(word))
            for context, word in zip(table.contexts(), table.words, strict=True)
        ]
    return out


def oracle(given, order, pads, vocabulary=VOCABULARY):
    """Counts of n-grams by order, those that are contexts only with 0."""
    n_pads = 1 if pads == "one" else max(order - 1, 1)
    out = [Counter() for _ in range(order + 1)]
    for line in given:
        tokens = [1] * n_pads + vocabulary.ids(line).tolist() + [2]
        for m in range(1, order + 1):
            for t in range(m - 1, len(tokens)):
                out[m][tuple(tokens[t - m + 1 : t + 1])] += tokens[t] != 1
    return out


@given(lines, orders, pads)
def test_counts_agree_with_a_dictionary(given, order, pads):
    counts, expected = counted(given, order, pads), oracle(given, order, pads)
    for m in range(1, order + 1):
        table, keys = counts.tables[m - 1], spelled(counts, m)
        assert keys == sorted(keys)
        assert table.counts.tolist() == [expected[m][key] for key in keys]
        assert set(keys) >= set(expected[m])
        assert m == 1 or set(keys) == set(expected[m])
        if m > 1:
            shorter = spelled(counts, m - 1)
            assert [shorter[suffix] for suffix in table.suffixes] == [key[1:] for key in keys]
            assert table.n_contexts == len(shorter)
    assert (counts.order, counts.n_lines) == (order, len(given))
    assert counts.n_words == sum(map(len, given))


@given(lines, orders, pads)
def test_adjusted_counts_are_numbers_of_words_in_front(given, order, pads):
    counts, raw = counted(given, order, pads), oracle(given, order, pads)
    for m in range(1, order + 1):
        fronts = defaultdict(set)
        for key, count in raw[min(m + 1, order)].items():
            if count:
                fronts[key[1:]].add(key[0])
        for key, actual in zip(spelled(counts, m), counts.adjusted(m), strict=True):
            kept = m == order or ((pads == "one" or order <= 2) and key[0] == 1)
            assert actual == (raw[m][key] if kept else len(fronts[key]))


@settings(max_examples=50)
@given(lines, lines, orders, pads)
def test_counts_of_two_halves_add_to_those_of_the_whole(one, two, order, pads):
    added = counted(one, order, pads) + counted(two, order, pads)
    same(added, counted(one + two, order, pads))
    same(
        counted(one, order, pads) + GramCounts.empty(VOCABULARY, order, pads=pads),
        counted(one, order, pads),
    )


def same(one, two):
    assert (one.n_lines, one.pads, one.order) == (two.n_lines, two.pads, two.order)
    for a, b in zip(one.tables, two.tables, strict=True):
        for name in ("words", "suffixes", "counts", "starts"):
            assert np.array_equal(getattr(a, name), getattr(b, name)), name
            assert getattr(a, name).dtype == getattr(b, name).dtype


@pytest.mark.parametrize("n_words", [3, 40, 2000])
def test_large_groups_are_sorted_too(n_words):
    rng = np.random.default_rng(0)
    names = [f"w{i}" for i in range(n_words)]
    given = [[names[i] for i in (rng.random(400) ** 3 * n_words).astype(int)] for _ in range(20)]
    vocabulary = Vocabulary.of_words(names)
    counts, expected = counted(given, 3, "one", vocabulary), oracle(given, 3, "one", vocabulary)
    for m in (2, 3):
        assert (
            dict(zip(spelled(counts, m), counts.tables[m - 1].counts.tolist(), strict=True))
            == expected[m]
        )


def test_the_compiled_loops_agree_with_their_python_source():
    rng = np.random.default_rng(1)
    given = [["abcd"[i] for i in rng.integers(0, 4, 60)] for _ in range(6)]
    one, two = counted(given[:3], 4, "one"), counted(given[3:], 4, "one")
    adjusted = (one + two).adjusted(2)
    with python_source(loops):
        same(counted(given[:3], 4, "one"), one)
        joint = one + two
        assert np.array_equal(joint.adjusted(2), adjusted)
    same(joint, counted(given, 4, "one"))


def test_what_cannot_be_counted_or_added_is_refused(monkeypatch):
    with pytest.raises(ArgumentError, match="order=0; give an integer"):
        counted([], 0, "one")
    with pytest.raises(ArgumentError, match="pads='two'"):
        counted([], 2, "two")
    with pytest.raises(DataError, match="orders 2 and 3"):
        counted([], 2, "one") + counted([], 3, "one")
    with pytest.raises(DataError, match="different vocabularies"):
        counted([], 2, "one") + counted([], 2, "one", Vocabulary.of_words("a"))
    monkeypatch.setattr(grams, "_MAX_PLACES", 3)
    with pytest.raises(TooExpensiveError, match="4 words at once are too many"):
        counted([["a", "b"]], 2, "one")


@settings(max_examples=50)
@given(st.lists(lines, min_size=1, max_size=3), orders, pads, st.integers(1, 3))
def test_texts_with_vocabularies_of_their_own_are_joined(texts, order, pads, least):
    parts = [GramCounts.of(read_corpus(text), order, pads=pads) for text in texts]
    whole = read_corpus([line for text in texts for line in text], min_count=least)
    joint = joint_counts(parts, min_count=least)
    assert joint.vocabulary == whole.vocabulary
    same(joint, GramCounts.of(whole, order, pads=pads))


def test_no_counts_are_not_joined():
    with pytest.raises(DataError, match="no counts to join"):
        joint_counts([])
