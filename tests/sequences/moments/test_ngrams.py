"""Counts of short windows, against counting by hand, in any chunks."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.python_source import python_source
from tacit.errors import ArgumentError, DataError
from tacit.sequences.data.sequences import Sequences
from tacit.sequences.loops import ngrams as loops
from tacit.sequences.moments import ngrams
from tacit.sequences.moments.ngrams import Cells, NgramCounts

LISTS = st.lists(st.lists(st.integers(-1, 3), max_size=8), max_size=12)


def sequences_of(lists, n_symbols=4):
    codes = np.array([x for row in lists for x in row], dtype=np.int32)
    lengths = np.array([len(row) for row in lists], dtype=np.int64)
    return Sequences(codes, lengths, tuple(range(n_symbols)))


def by_hand(lists, order, n_symbols=4, *, only_first=False):
    table = np.zeros((n_symbols,) * order, dtype=np.int64)
    for row in lists:
        places = range(len(row) - order + 1)
        windows = [tuple(row[t : t + order]) for t in (places[:1] if only_first else places)]
        for window, count in Counter(w for w in windows if min(w) >= 0).items():
            table[window] += count
    return table


def same(one, two):
    assert (one.n_sequences, one.n_positions) == (two.n_sequences, two.n_positions)
    assert np.array_equal(one.singles, two.singles)
    assert np.array_equal(one.firsts, two.firsts)
    for name in ("first_pairs", "pairs", "triples"):
        mine, other = getattr(one, name), getattr(two, name)
        assert (mine.keys is None) == (other.keys is None)
        assert mine.keys is None or np.array_equal(mine.keys, other.keys)
        assert np.array_equal(mine.counts, other.counts)


def agrees(counts, lists):
    assert np.array_equal(counts.singles, by_hand(lists, 1))
    assert np.array_equal(counts.firsts, by_hand(lists, 1, only_first=True))
    assert np.array_equal(counts.first_pairs.dense(), by_hand(lists, 2, only_first=True))
    assert np.array_equal(counts.pairs.dense(), by_hand(lists, 2))
    assert np.array_equal(counts.triples.dense(), by_hand(lists, 3))
    assert counts.n_sequences == len(lists)
    assert counts.n_positions == sum(map(len, lists))


@given(LISTS)
def test_counts_are_those_made_by_hand(lists):
    agrees(NgramCounts.of(sequences_of(lists)), lists)


@pytest.mark.parametrize("most", [4, 20])
@given(lists=LISTS)
def test_sparse_counts_equal_dense_ones(most, lists):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ngrams, "DENSE_CELLS", most)
        counts = NgramCounts.of(sequences_of(lists))
        assert counts.triples.keys is not None
        assert (counts.pairs.keys is None) == (most == 20)
        agrees(counts, lists)
        same(
            NgramCounts.of(sequences_of(lists[:5])) + NgramCounts.of(sequences_of(lists[5:])),
            counts,
        )


@given(LISTS, st.integers(0, 12), st.integers(1, 9), st.integers(1, 3))
def test_counts_do_not_depend_on_chunks_or_threads(lists, cut, size, n_jobs):
    together = NgramCounts.of(sequences_of(lists))
    same(
        NgramCounts.of(sequences_of(lists[:cut])) + NgramCounts.of(sequences_of(lists[cut:])),
        together,
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ngrams, "POSITIONS_AT_ONCE", size)
        same(NgramCounts.of(sequences_of(lists), n_jobs=n_jobs), together)


def test_long_sequences_are_counted_in_pieces(monkeypatch):
    rng = np.random.default_rng(0)
    lists = [rng.integers(-1, 4, length).tolist() for length in (0, 40, 1, 23, 2, 3)]
    monkeypatch.setattr(loops, "KEYS_AT_ONCE", 7)
    with python_source(loops):
        agrees(NgramCounts.of(sequences_of(lists)), lists)
    lists = [rng.integers(0, 4, 10_000).tolist(), rng.integers(-1, 4, 5000).tolist()]
    agrees(NgramCounts.of(sequences_of(lists)), lists)


@given(LISTS)
def test_moments_of_windows_are_margins_of_the_same_triples(lists):
    counts = NgramCounts.of(sequences_of(lists))
    if counts.triples.total == 0:
        with pytest.raises(DataError, match="three or more"):
            counts.window_moments()
        return
    moments = counts.window_moments()
    triples = by_hand(lists, 3) / counts.triples.total
    assert moments.triples == pytest.approx(triples)
    assert moments.one == pytest.approx(triples.sum(axis=(1, 2)))
    assert moments.pairs12 == pytest.approx(triples.sum(axis=2))
    assert moments.pairs13 == pytest.approx(triples.sum(axis=1))
    assert moments.pairs23 == pytest.approx(triples.sum(axis=0))
    assert moments.n_windows == counts.triples.total


def test_sparse_moments_equal_dense_ones(monkeypatch):
    rng = np.random.default_rng(1)
    data = sequences_of([rng.integers(-1, 4, 9).tolist() for _ in range(20)])
    dense = NgramCounts.of(data).window_moments()
    monkeypatch.setattr(ngrams, "DENSE_CELLS", 4)
    sparse = NgramCounts.of(data).window_moments()
    views = [rng.normal(size=(4, width)) for width in (2, 3, 4)]
    for name in ("pairs12", "pairs13", "pairs23"):
        assert getattr(sparse, name).toarray() == pytest.approx(getattr(dense, name))
    assert sparse.one == pytest.approx(dense.one)
    expected = np.einsum("abc,ai,bj,ck->ijk", dense.triples, *views)
    assert dense.contracted(*views) == pytest.approx(expected)
    assert sparse.contracted(*views) == pytest.approx(expected)
    with python_source(loops):
        assert sparse.contracted(*views) == pytest.approx(expected)


def test_counts_over_different_alphabets_do_not_add():
    with pytest.raises(DataError, match="same symbols"):
        NgramCounts.empty(3) + NgramCounts.empty(4)
    with pytest.raises(ArgumentError, match="symbols"):
        NgramCounts.empty(0)


def test_an_empty_table_adds_nothing():
    cells = Cells(2000, 3, np.array([5, 7]), np.array([1, 2]))
    for added in (Cells.empty(2000, 3) + cells, cells + Cells.empty(2000, 3)):
        assert np.array_equal(added.keys, cells.keys)
        assert np.array_equal(added.counts, cells.counts)
