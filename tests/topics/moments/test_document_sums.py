"""Sums over pairs and triples of words of documents, against enumeration of all of them."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from oracles.python_source import python_source
from tacit.errors import ArgumentError, DataError
from tacit.topics.loops import document_sums as loops
from tacit.topics.moments import word_moments as module
from tacit.topics.moments.word_moments import DocumentMoments, PairSums, TripleSums, Weighting

N_WORDS = 12
ROUNDING = 1e-12


def some_documents(seed, n=15, most=3):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, most + 1, size=(n, N_WORDS)) * (rng.random((n, N_WORDS)) < 0.4)
    counts[0] = 0  # no word
    counts[1] = np.eye(N_WORDS, dtype=int)[3]  # one word
    counts[2] = 2 * np.eye(N_WORDS, dtype=int)[5]  # two words
    return csr_array(counts.astype(np.int32))


def share_of_document(weighting, length, order):
    pairs = np.prod([length - i for i in range(order)])
    return {"pool": pairs, "length": length, "document": 1}[weighting.by]


def enumerated(counts, columns, weighting, order):
    """The mean over all ordered pairs or triples of different occurrences, document by document."""
    actual, total = 0.0, 0.0
    for row in counts.toarray():
        words = np.repeat(
            np.arange(N_WORDS), row if weighting.cap is None else np.minimum(row, weighting.cap)
        )
        if len(words) < order:
            continue
        sums, n = 0.0, 0
        for chosen in permutations(range(len(words)), order):
            picked = [columns[words[place]] for place in chosen]
            sums = sums + (
                np.einsum("a,b->ab", *picked) if order == 2 else np.einsum("a,b,c->abc", *picked)
            )
            n += 1
        fraction = share_of_document(weighting, len(words), order)
        actual, total = actual + fraction * sums / n, total + fraction
    return actual / total


weightings = pytest.mark.parametrize(
    "weighting",
    [Weighting(), Weighting("length"), Weighting("document"), Weighting("pool", cap=2)],
    ids=str,
)


@weightings
def test_pairs_are_the_mean_over_all_pairs_of_different_occurrences(weighting):
    counts = some_documents(0)
    columns = np.random.default_rng(1).normal(size=(N_WORDS, 4))
    every = enumerated(counts, np.eye(N_WORDS), weighting, 2)
    pairs = DocumentMoments([counts], N_WORDS, weighting).pairs(columns)
    assert pairs.product == pytest.approx(every @ columns, abs=ROUNDING, rel=ROUNDING)
    assert pairs.mean == pytest.approx(every.sum(axis=1), abs=ROUNDING)


@weightings
def test_triples_are_the_mean_over_all_triples_of_different_occurrences(weighting):
    counts = some_documents(2, n=8, most=2)
    columns = np.random.default_rng(3).normal(size=(N_WORDS, 3))
    actual = DocumentMoments([counts], N_WORDS, weighting).triples(columns)
    every = enumerated(counts, columns, weighting, 3)
    assert actual == pytest.approx(every, abs=ROUNDING * np.abs(every).max(), rel=ROUNDING)


@given(st.integers(0, 15), st.integers(0, 15), st.integers(0, 3))
def test_sums_of_parts_add_up_to_sums_of_all(one, two, seed):
    counts = some_documents(seed)
    first, last = sorted((one, two))
    parts = [counts[:first], counts[first:last], counts[last:]]
    columns = np.random.default_rng(seed).normal(size=(N_WORDS, 3))
    for kind in (PairSums, TripleSums):
        whole = kind.of([counts], columns, Weighting())
        read = kind.of(parts, columns, Weighting())
        added = kind.empty(N_WORDS, 3)
        for part in parts:
            added = added + kind.of([part], columns, Weighting())
        for name in kind.__dataclass_fields__:
            for other in (read, added):
                assert getattr(other, name) == pytest.approx(getattr(whole, name), abs=1e-9)


def test_documents_of_more_than_one_block_are_summed_like_those_of_one(monkeypatch):
    counts = some_documents(4)
    columns = np.random.default_rng(5).normal(size=(N_WORDS, 3))
    source = DocumentMoments([counts], N_WORDS)
    one = source.pairs(columns).product, source.triples(columns)
    monkeypatch.setattr(module, "BLOCK", 4)
    for mine, other in zip(
        (source.pairs(columns).product, source.triples(columns)), one, strict=True
    ):
        assert mine == pytest.approx(other, abs=ROUNDING)


def test_documents_of_one_word_are_left_out_unless_long_ones_or_the_vocabulary_explain_it():
    rows = np.array([[50, 1, 0, 0], [9, 1, 0, 0], [12, 10, 0, 0]], dtype=np.int32)
    counts = csr_array(rows)
    assert Weighting(cap="auto").of(counts).second.tolist() == [1, 1, 1]  # the bound is 20 * 51 / 4
    wide = csr_array((counts.data, counts.indices, counts.indptr), shape=(3, 1000))
    large = Weighting(cap="auto").of(wide)
    assert large.counts.tolist() == [50, 1, 9, 1, 12, 10]
    assert large.second.tolist() == [0, 1, 1]  # the first would lose most of its words
    assert large.third.tolist() == [0, 1, 1]
    assert Weighting(cap=10).of(wide).counts.tolist() == [10, 1, 9, 1, 10, 10]
    assert wide.data.tolist() == [50, 1, 9, 1, 12, 10]


def test_the_error_of_a_share_is_that_of_pairs_that_are_drawn_by_chance():
    rng = np.random.default_rng(6)
    proportions = np.array([0.5, 0.3, 0.2])
    actual = []
    for _ in range(300):
        counts = csr_array(rng.multinomial(6, proportions, size=40).astype(np.int32))
        pairs = DocumentMoments([counts], 3, Weighting("length")).pairs(np.eye(3))
        actual.append(pairs.product[0, 1] / np.sqrt(proportions[0] * proportions[1]))
    # Pairs of a document share their words: the error is a little larger than of independent pairs.
    assert 0.6 < pairs.error / np.std(actual) < 1.2


@pytest.mark.parametrize("longest", [1, 2])
def test_documents_that_are_too_short_are_told(longest):
    counts = csr_array(longest * np.eye(3, dtype=np.int32))
    source = DocumentMoments([counts], 3)
    if longest == 1:
        with pytest.raises(DataError, match="no document has two words"):
            source.pairs(np.eye(3))
    with pytest.raises(DataError, match="no document has three words"):
        source.triples(np.eye(3))


@pytest.mark.parametrize("settings", [{"by": "words"}, {"cap": 0}, {"cap": 1.5}, {"cap": "most"}])
def test_settings_that_make_no_sense_are_refused(settings):
    with pytest.raises(ArgumentError, match="; give"):
        Weighting(**settings)


def test_compiled_sums_agree_with_their_python_source():
    counts = some_documents(7)
    columns = np.random.default_rng(8).normal(size=(N_WORDS, 2))
    source = DocumentMoments([counts], N_WORDS)
    compiled = source.pairs(columns).product, source.triples(columns)
    with python_source(loops):
        plain = source.pairs(columns).product, source.triples(columns)
    for mine, other in zip(compiled, plain, strict=True):
        assert mine == pytest.approx(other, abs=ROUNDING)
