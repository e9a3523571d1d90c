"""The compiled counting loops against their own Python source, and against plain counting."""

import itertools

import numpy as np
import pytest

from tacit.trees.loops import counting
from tacit.trees.loops.bits import match_word, popcount

CARDS = np.array([2, 3, 1, 4])
FIRST_BITS = np.array([0, 2, 5, 6])
# Tables of the columns (0,), (1, 3), (3, 0, 1) and (0, 1, 2, 3), one after another.
MEMBERS = np.array([0, 1, 3, 3, 0, 1, 0, 1, 2, 3])
HEADS = np.array([0, 1, 3, 6, 10])
OFFSETS = np.array([0, 2, 14, 38, 62])
ALL = np.arange(4)


def random_columns(n_rows, missing=0.2, seed=0):
    rng = np.random.default_rng(seed)
    columns = np.stack([rng.integers(0, card, size=n_rows) for card in CARDS]).astype(np.int16)
    columns[rng.random(columns.shape) < missing] = -1
    return columns


def plain_tables(columns, weights=None):
    """The four tables counted by `np.add.at`, flat."""
    flat = []
    for head, tail in itertools.pairwise(HEADS):
        members = MEMBERS[head:tail]
        rows = (columns[members] >= 0).all(axis=0)
        table = np.zeros(CARDS[members])
        np.add.at(table, tuple(columns[members][:, rows]), 1 if weights is None else weights[rows])
        flat.append(table.ravel())
    return np.concatenate(flat)


def packed(columns, n_words, pack):
    n_parts = -(-columns.shape[1] // (64 * n_words))
    words = np.full((n_parts, 10, n_words), 7, dtype=np.uint64)
    cells = np.zeros((2, 4), dtype=np.int64)
    pack(columns, 0, columns.shape[1], CARDS, FIRST_BITS, words, *cells)
    return words, cells


@pytest.mark.parametrize("word", [0, 1, 2**63, 2**64 - 1, 0x123456789ABCDEF])
def test_popcount_is_the_number_of_ones_in_the_binary_numeral(word):
    assert popcount(np.uint64(word)) == f"{word:b}".count("1")


def test_match_word_marks_the_rows_with_the_value():
    column = np.arange(100, dtype=np.int16) % 3
    word = int(match_word(column, 5, 2))
    assert [bool(word >> bit & 1) for bit in range(64)] == (column[5:69] == 2).tolist()


@pytest.mark.parametrize("dtype", [np.int16, np.int32])
def test_packing_compiled_agrees_with_its_python_source(dtype):
    columns = random_columns(300).astype(dtype)
    compiled, cells = packed(columns, 2, counting.pack_columns)
    plain, plain_cells = packed(columns, 2, counting.pack_columns.py_func)
    assert np.array_equal(compiled, plain)
    assert np.array_equal(cells, plain_cells)


def test_bit_rows_say_which_data_rows_have_a_category():
    columns = random_columns(300)
    words, (present, missing) = packed(columns, 2, counting.pack_columns)
    for j, x in [(0, 0), (1, 2), (3, 3)]:
        bits = np.unpackbits(words[:, FIRST_BITS[j] + x].ravel().view(np.uint8), bitorder="little")
        assert np.array_equal(bits[:300], columns[j] == x)
        assert not bits[300:].any()
    assert np.array_equal(present, (columns >= 0).sum(axis=1))
    assert np.array_equal(missing, (columns < 0).sum(axis=1))


def test_a_column_without_bits_is_left_out():
    words = np.zeros((1, 9, 2), dtype=np.uint64)
    first_bits = np.array([0, 2, -1, 5])
    cells = np.zeros((2, 4), dtype=np.int64)
    counting.pack_columns(random_columns(128, 0), 0, 128, CARDS, first_bits, words, *cells)
    assert cells[0].tolist() == [128, 128, 0, 128]


@pytest.mark.parametrize("source", ["compiled", "python"])
@pytest.mark.parametrize("n_rows", [1, 64, 200])
def test_counting_in_bits_is_plain_counting(n_rows, source):
    columns = random_columns(n_rows)
    words, _ = packed(columns, 1, counting.pack_columns)
    count = counting.count_bits if source == "compiled" else counting.count_bits.py_func
    out = np.zeros(OFFSETS[-1], dtype=np.int64)
    count(words, FIRST_BITS, CARDS, CARDS, MEMBERS, HEADS, OFFSETS, ALL, out)
    assert np.array_equal(out, plain_tables(columns))


@pytest.mark.parametrize("source", ["compiled", "python"])
@pytest.mark.parametrize("weighted", [False, True])
def test_counting_by_rows_is_plain_counting(weighted, source):
    columns = random_columns(300)
    weights = np.random.default_rng(1).random(300) if weighted else None
    count = counting.count_rows if source == "compiled" else counting.count_rows.py_func
    copies = np.zeros((4, OFFSETS[-1]), dtype=np.float64 if weighted else np.int64)
    count(columns, weights, 0, 120, CARDS, MEMBERS, HEADS, OFFSETS, ALL, copies)
    count(columns, weights, 120, 300, CARDS, MEMBERS, HEADS, OFFSETS, ALL, copies)
    # Sums of 300 weights in another order.
    assert copies.sum(axis=0) == pytest.approx(plain_tables(columns, weights), rel=1e-13)


def test_counting_by_rows_goes_on_after_a_batch_of_rows():
    n_rows = 2 * counting.ROWS_AT_ONCE + 5
    columns = random_columns(n_rows)
    copies = np.zeros((1, OFFSETS[-1]), dtype=np.int64)
    counting.count_rows(columns, None, 0, n_rows, CARDS, MEMBERS, HEADS, OFFSETS, ALL, copies)
    assert np.array_equal(copies[0], plain_tables(columns))


def test_codes_that_are_no_category_touch_no_cell():
    columns = np.full((4, 70), 4, dtype=np.int16)
    copies = np.zeros((1, OFFSETS[-1]), dtype=np.int64)
    counting.count_rows(columns, None, 0, 70, CARDS, MEMBERS, HEADS, OFFSETS, ALL, copies)
    assert not copies.any()


def matrix_of_pairs(columns):
    one_hot = np.concatenate([columns[j] == np.arange(c)[:, None] for j, c in enumerate(CARDS)])
    return one_hot.astype(np.int64) @ one_hot.T


@pytest.mark.parametrize("source", ["compiled", "python"])
@pytest.mark.parametrize("complete", [[1, 1, 1, 1], [0, 1, 0, 1], [0, 0, 0, 0]])
def test_last_categories_follow_from_smaller_tables(complete, source):
    complete = np.array(complete)
    columns = np.where(complete[:, None], random_columns(200, 0), random_columns(200, 0.3))
    pairs = matrix_of_pairs(columns)
    used = CARDS - complete
    flat = [pairs.diagonal()[FIRST_BITS[j] : FIRST_BITS[j] + CARDS[j]].copy() for j in range(4)]
    for j in range(4):
        flat[j][used[j] :] = 0
    for i, j in itertools.combinations(range(4), 2):
        block = pairs[FIRST_BITS[i] : FIRST_BITS[i] + CARDS[i]][:, FIRST_BITS[j] :][:, : CARDS[j]]
        block = block.copy()
        block[used[i] :] = 0
        block[:, used[j] :] = 0
        flat.append(block.ravel())
    fill = counting.fill_pairs if source == "compiled" else counting.fill_pairs.py_func
    out = np.zeros((10, 10), dtype=np.int64)
    fill(np.concatenate(flat), CARDS, used, FIRST_BITS, 200, out)
    assert np.array_equal(out, pairs)

    truth = plain_tables(columns).astype(np.int64)
    flat = truth.copy()
    triple = flat[OFFSETS[2] : OFFSETS[3]].reshape(4, 2, 3)
    triple[used[3] :] = 0
    triple[:, used[0] :] = 0
    triple[:, :, used[1] :] = 0
    fill = counting.fill_triples if source == "compiled" else counting.fill_triples.py_func
    tables = np.array([2])
    fill(flat, CARDS, used, MEMBERS, HEADS, OFFSETS, tables, FIRST_BITS, pairs)
    assert np.array_equal(flat, truth)


def test_dividing_blocks_compiled_agrees_with_its_python_source():
    counts = matrix_of_pairs(random_columns(100))
    offsets = np.array([0, 2, 5, 6, 10])
    actual = []
    for divide in (counting.divide_blocks, counting.divide_blocks.py_func):
        supports, probabilities = np.zeros((4, 4)), np.empty((10, 10))
        divide(counts, offsets, supports, probabilities)
        actual.append((supports, probabilities))
    assert np.array_equal(actual[0][0], actual[1][0])
    assert np.array_equal(actual[0][1], actual[1][1])
    assert actual[0][1][2:5, 6:10].sum() == pytest.approx(1, rel=1e-14)
