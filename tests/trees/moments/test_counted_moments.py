"""Counted moments against plain counting, and the laws of adding them."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tacit.errors import ArgumentError, DataError, TooExpensiveError
from tacit.trees.moments import blocks
from tacit.trees.moments.source import CountedMoments, Moments, PairTables

CARDS = (2, 3, 1, 4, 20)  # the last column has too many categories for bits
SUBSETS = [s for order in range(1, 6) for s in itertools.permutations(range(5), order)]


def random_codes(n_rows, missing=0.0, seed=0, cards=CARDS):
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, card, size=n_rows) for card in cards], axis=1)
    codes[rng.random(codes.shape) < missing] = -1
    return np.asfortranarray(codes.astype(np.int16))


def plain_counts(codes, subset, weights=None, cards=CARDS):
    rows = (codes[:, subset] >= 0).all(axis=1)
    counts = np.zeros([cards[column] for column in subset])
    np.add.at(counts, tuple(codes[rows][:, subset].T), 1 if weights is None else weights[rows])
    return counts


def block(pairs, i, j):
    at = pairs.offsets
    return pairs.counts[at[i] : at[i + 1], at[j] : at[j + 1]]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("pairs_first", [False, True])
def test_tables_of_every_set_are_frequencies_among_the_rows_that_have_all_of_it(
    missing, weighted, pairs_first
):
    codes = random_codes(700, missing)
    weights = np.random.default_rng(1).random(700) if weighted else None
    moments = CountedMoments.of(codes, CARDS, weights)
    if pairs_first:
        moments.pairs()
    for subset, table in zip(SUBSETS, moments.tables(SUBSETS), strict=True):
        counts = plain_counts(codes, subset, weights)
        # 700 weights are summed in another order.
        assert table == pytest.approx(counts / counts.sum(), rel=1e-12)
    assert moments.unseen == []


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_pairs_hold_the_counts_of_every_two_columns(missing, weighted):
    codes = random_codes(700, missing)
    weights = np.random.default_rng(1).random(700) if weighted else None
    pairs = PairTables.of(codes, CARDS, weights)
    for i, j in itertools.permutations(range(5), 2):
        counts = plain_counts(codes, (i, j), weights)
        assert block(pairs, i, j) == pytest.approx(counts, rel=1e-12)
        assert pairs.joint(i, j) == pytest.approx(counts / counts.sum(), rel=1e-12)
        assert pairs.support(i, j) == pytest.approx(counts.sum(), rel=1e-12)
    for i in range(5):
        counts = plain_counts(codes, (i,), weights)
        assert block(pairs, i, i) == pytest.approx(np.diag(counts), rel=1e-12)
        assert pairs.marginal(i) == pytest.approx(counts / counts.sum(), rel=1e-12)


def test_one_column_with_missing_cells_does_not_disturb_the_others():
    codes = random_codes(300)
    codes[::3, 1] = -1
    moments = CountedMoments.of(codes, CARDS)
    moments.pairs()
    for subset in [(0, 1, 3), (1, 3, 0), (0, 3, 2), (0, 1)]:
        counts = plain_counts(codes, subset)
        assert np.array_equal(moments.tables([subset])[0], counts / counts.sum())


coded_rows = hnp.arrays(
    np.int16,
    st.tuples(st.integers(0, 70), st.just(3)),
    elements=st.integers(-1, 2),
)


@given(coded_rows, st.lists(st.integers(0, 70), max_size=3), st.booleans(), st.randoms())
def test_chunks_in_any_order_are_counted_like_all_rows_at_once(codes, cuts, pairs_first, random):
    cards = (3, 3, 20)
    chunks = np.split(codes, sorted(min(cut, len(codes)) for cut in cuts))
    random.shuffle(chunks)
    together = CountedMoments.of(codes, cards)
    apart = sum((CountedMoments.of(c, cards) for c in chunks), start=CountedMoments.empty(cards))
    added = sum((PairTables.of(c, cards) for c in chunks), start=PairTables.empty(cards))
    if pairs_first:
        assert np.array_equal(together.pairs().counts, apart.pairs().counts)
        assert np.array_equal(together.pairs().counts, added.counts)
    assert together.n_rows == apart.n_rows == len(codes)
    subsets = [(0, 1), (2, 0), (1, 0, 2), (2,)]
    for first, second in zip(together.tables(subsets), apart.tables(subsets), strict=True):
        assert np.array_equal(first, second)


@given(coded_rows, st.permutations(range(3)))
def test_renaming_columns_renames_the_answer(codes, order):
    (table,) = CountedMoments.of(codes, (3, 3, 3)).tables([tuple(order)])
    (renamed,) = CountedMoments.of(codes[:, order], (3, 3, 3)).tables([(0, 1, 2)])
    assert table == pytest.approx(renamed, rel=1e-14)


@given(coded_rows)
def test_summing_a_column_out_of_complete_rows_leaves_the_smaller_table(codes):
    codes = np.abs(codes)
    triple, pair = CountedMoments.of(codes, (3, 3, 3)).tables([(0, 1, 2), (2, 0)])
    smaller = triple.sum(axis=1).T
    assert smaller == pytest.approx(pair, rel=1e-12, abs=1e-15)


def test_weights_of_one_half_twice_are_rows():
    codes = random_codes(200, 0.1)
    twice = np.concatenate([codes, codes])
    halves = CountedMoments.of(twice, CARDS, np.full(400, 0.5))
    rows = CountedMoments.of(codes, CARDS)
    assert halves.n_rows == rows.n_rows == 200
    assert np.array_equal(halves.pairs().counts, rows.pairs().counts)  # halves add exactly
    mixed = rows + CountedMoments.of(codes, CARDS, np.full(200, 0.5))
    assert np.array_equal(mixed.pairs().counts, 1.5 * rows.pairs().counts)


def test_the_number_of_threads_changes_nothing(monkeypatch):
    monkeypatch.setattr(blocks, "ROWS_PER_BLOCK", 128)
    codes, weights = random_codes(1000, 0.1), np.random.default_rng(0).random(1000)
    for row_weights in (None, weights):
        one, three = (CountedMoments.of(codes, CARDS, row_weights, n_jobs=n) for n in (1, 3))
        assert len(one.blocks) == 8
        assert np.array_equal(one.pairs().counts, three.pairs().counts)
        for first, second in zip(one.tables(SUBSETS), three.tables(SUBSETS), strict=True):
            assert np.array_equal(first, second)


@pytest.mark.parametrize("name", ["MOST_CELLS_PER_THREAD", "MOST_CELLS_IN_COPIES", "WORDS_AT_ONCE"])
def test_limits_of_memory_change_nothing(monkeypatch, name):
    codes = random_codes(1000, 0.1)
    before = CountedMoments.of(codes, CARDS).tables(SUBSETS)
    monkeypatch.setattr(blocks, name, 1)
    for first, second in zip(before, CountedMoments.of(codes, CARDS).tables(SUBSETS), strict=True):
        assert np.array_equal(first, second)


def test_columns_never_seen_together_are_independent_and_listed():
    codes = random_codes(600)
    codes[:300, 0] = -1
    codes[300:, 3] = -1
    moments = CountedMoments.of(codes, CARDS)
    pairs = moments.pairs()
    first, both, third = moments.tables([(1, 0), (3, 0), (0, 1, 3)])
    assert first.sum() == pytest.approx(1, rel=1e-14)
    assert both == pytest.approx(np.outer(pairs.marginal(3), pairs.marginal(0)), rel=1e-14)
    assert pairs.joint(3, 0) == pytest.approx(both, rel=1e-14)
    assert pairs.joint(0, 3) == pytest.approx(both.T, rel=1e-14)
    assert third.sum() == pytest.approx(1, rel=1e-14)
    assert moments.unseen == [(0, 1, 3), (0, 3)]
    assert pairs.unseen == ((0, 3),)
    assert pairs.support(0, 3) == 0


def test_a_column_that_was_never_seen_is_uniform():
    codes = random_codes(100)
    codes[:, 3] = -1
    moments = CountedMoments.of(codes, CARDS)
    alone, together = moments.tables([(3,), (0, 3)])
    assert alone == pytest.approx(np.full(4, 0.25), rel=1e-15)
    assert together == pytest.approx(np.outer(moments.pairs().marginal(0), alone), rel=1e-14)
    assert moments.pairs().marginal(3) == pytest.approx(alone, rel=1e-15)
    assert (3, 3) in moments.pairs().unseen


def test_no_rows_give_independent_uniform_tables():
    moments = CountedMoments.empty((2, 4))
    assert moments.n_rows == 0
    assert np.array_equal(moments.pairs().joint(0, 1), np.full((2, 4), 1 / 8))
    assert np.array_equal(moments.tables([(1, 0)])[0], np.full((4, 2), 1 / 8))
    assert np.array_equal(PairTables.empty((2, 4)).counts, moments.pairs().counts)


def test_no_tables_and_no_columns_are_no_trouble():
    assert CountedMoments.of(random_codes(10), CARDS).tables([]) == []
    assert CountedMoments.of(np.zeros((5, 0), dtype=np.int16), ()).pairs().counts.shape == (0, 0)


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_any_integer_type_and_order_of_memory_will_do(dtype, order):
    codes = random_codes(100, 0.1)
    expected = PairTables.of(codes, CARDS).counts
    assert np.array_equal(PairTables.of(codes.astype(dtype, order=order), CARDS).counts, expected)
    assert np.array_equal(
        PairTables.of(np.repeat(codes, 2, axis=0).astype(dtype)[::2], CARDS).counts, expected
    )


def test_a_single_column_and_a_single_row_are_data_too():
    assert PairTables.of([[1], [0], [1]], (2,)).counts.tolist() == [[1, 0], [0, 2]]
    assert PairTables.of([[1, 0]], (2, 2)).joint(0, 1).tolist() == [[0, 0], [1, 0]]


def test_codes_are_not_changed_and_may_be_read_only():
    codes = random_codes(100, 0.1)
    before = codes.copy()
    codes.setflags(write=False)
    CountedMoments.of(codes, CARDS).tables(SUBSETS)
    assert np.array_equal(codes, before)


def test_the_bits_are_made_once_for_pairs_and_tables():
    moments = CountedMoments.of(random_codes(100), CARDS)
    moments.pairs()
    words = moments.blocks[0].packed.words
    moments.tables([(0, 1, 3)])
    both = moments + CountedMoments.of(random_codes(10), CARDS)
    assert both.blocks[0].packed.words is words


def test_counted_moments_are_moments():
    moments: Moments = CountedMoments.of(random_codes(10), CARDS)
    assert moments.cards == CARDS
    assert moments.n_rows == 10


@pytest.mark.parametrize("bad", [4, -2])
@pytest.mark.parametrize("row", [3, 199])
def test_a_code_that_is_no_category_is_refused_with_its_column(bad, row):
    codes = random_codes(200)
    codes[row, 3] = bad
    with pytest.raises(DataError, match="column 3 has 4 categories"):
        CountedMoments.of(codes, CARDS).tables([(0, 3)])
    with pytest.raises(DataError, match="column 3 has 4 categories"):
        PairTables.of(codes, CARDS, np.ones(200))
    codes = random_codes(200)
    codes[row, 4] = 20
    with pytest.raises(DataError, match="column 4 has 20 categories"):
        CountedMoments.of(codes, CARDS).tables([(0, 4)])


@pytest.mark.parametrize(
    ("codes", "weights", "message"),
    [
        (np.zeros(5, dtype=int), None, "pass integers"),
        (np.zeros((5, 3), dtype=int), None, "for 2 columns"),
        (np.zeros((5, 2)), None, "pass integers"),
        (np.full((5, 2), 2**40), None, "int32"),
        (np.zeros((5, 2), dtype=int), np.ones(4), "give one each"),
        (np.zeros((5, 2), dtype=int), np.array([1, 1, 1, 1, -1]), "negative"),
        (np.zeros((5, 2), dtype=int), np.array([1, 1, 1, 1, np.nan]), "finite"),
    ],
)
def test_rows_that_do_not_fit_are_refused(codes, weights, message):
    with pytest.raises(DataError, match=message):
        CountedMoments.of(codes, (2, 2), weights)


def test_columns_without_categories_and_thread_counts_without_threads_are_refused():
    with pytest.raises(ArgumentError, match="column 1 has no category"):
        CountedMoments.of([[0, -1]], (2, 0))
    with pytest.raises(ArgumentError, match="n_jobs=0"):
        CountedMoments.of([[0, 0]], (2, 2), n_jobs=0)


def test_moments_of_different_columns_do_not_add():
    with pytest.raises(DataError, match="cannot be added"):
        CountedMoments.empty((2, 3)) + CountedMoments.empty((2, 4))
    with pytest.raises(DataError, match="cannot be added"):
        PairTables.empty((2, 3)) + PairTables.empty((2, 4))


def test_a_matrix_of_all_pairs_that_is_too_large_is_refused_with_its_size():
    with pytest.raises(TooExpensiveError, match=r"6\.4e\+07 cells"):
        CountedMoments.empty((4000, 4000)).pairs()
