"""Counting how often categories occur together.

Two methods. Where columns have few categories, each (column, category) becomes a row of bits, and a cell of a
joint table is the number of bits that are set in all of its rows: 64 data rows per word, 8 words per
instruction. Otherwise every data row adds its weight to one cell of a histogram.

Several tables are laid one after another in one flat array, last axis fastest: table k is of the columns
``members[heads[k] : heads[k + 1]]`` and begins at ``offsets[k]``; `tables` lists those to count.
`columns` is (column, row) with -1 for missing cells; a row counts in a table if it has all its columns.
"""

from __future__ import annotations

import numpy as np

from tacit.core.loops.compiled import njit
from tacit.trees.loops.bits import match_word, popcount

ALL_BITS = np.uint64(0xFFFFFFFFFFFFFFFF)
ROWS_AT_ONCE = 2048  # of the histogram: their cell numbers stay in the first-level cache
MISSING = -(1 << 40)  # no sum of cell numbers makes up for it


@njit(cache=True, nogil=True)
def pack_columns(columns, first_row, last_row, cards, first_bits, words, present, missing):
    """Fill ``words[part, bit row, word]`` with the data rows from `first_row` to before `last_row`.

    The bits of column j, category x are row ``first_bits[j] + x``; a negative entry leaves the column out.
    `present` and `missing` (column,) grow by the number of cells with a category and of cells with -1.
    """
    n_parts, _, n_words = words.shape
    for part in range(n_parts):
        for j in range(len(cards)):
            if first_bits[j] < 0:
                continue
            bits = words[part, first_bits[j] : first_bits[j] + cards[j]]
            column = columns[j]
            for w in range(n_words):
                row = first_row + 64 * (part * n_words + w)
                if row + 64 <= last_row:
                    n_set = np.int64(0)
                    for x in range(cards[j]):
                        bits[x, w] = match_word(column, row, x)
                        n_set += popcount(bits[x, w])
                    present[j] += n_set
                    if n_set < 64:
                        missing[j] += popcount(match_word(column, row, -1))
                else:
                    bits[:, w] = 0
                    for r in range(row, last_row):
                        x = column[r]
                        if 0 <= x < cards[j]:
                            bits[x, w] |= np.uint64(1) << np.uint64(r - row)
                            present[j] += 1
                        elif x == -1:
                            missing[j] += 1


@njit(cache=True, nogil=True)
def count_bits(words, first_bits, cards, used, members, heads, offsets, tables, out):
    """Add to `out` the cells of the listed tables whose categories are below ``used`` in every column."""
    n_words = words.shape[2]
    buffer = np.empty(n_words, np.uint64)
    everything = np.full(n_words, ALL_BITS)
    for part in range(words.shape[0]):
        bits = words[part]
        for k in tables:
            head = heads[k]
            last = heads[k + 1] - 1
            n_prefixes = 1
            for m in range(head, last):
                n_prefixes *= used[members[m]]
            # One prefix = one category of each column but the last; its bits are ANDed once.
            for prefix in range(n_prefixes):
                common = everything
                cell = offsets[k]
                step = cards[members[last]]
                remaining = prefix
                for m in range(last - 1, head - 1, -1):
                    j = members[m]
                    x = remaining % used[j]
                    remaining //= used[j]
                    cell += x * step
                    step *= cards[j]
                    row = bits[first_bits[j] + x]
                    if m == last - 1:
                        common = row
                    else:
                        for w in range(n_words):
                            buffer[w] = common[w] & row[w]
                        common = buffer
                j = members[last]
                for x in range(used[j]):
                    row = bits[first_bits[j] + x]
                    n_set = np.int64(0)
                    for w in range(n_words):
                        n_set += popcount(common[w] & row[w])
                    out[cell + x] += n_set


@njit(cache=True, nogil=True)
def count_rows(
    columns, weights, first_row, last_row, cards, members, heads, offsets, tables, copies
):
    """Add the rows of a range, or their weights, to the histograms of the listed tables.

    ``lanes[lane, cell]``: neighbouring rows add to different copies of the histograms, so that one does not
    wait for the other's store; the number of copies is a power of two.
    """
    cells = np.empty(ROWS_AT_ONCE, np.int64)
    last_copy = copies.shape[0] - 1
    for start in range(first_row, last_row, ROWS_AT_ONCE):
        n = min(ROWS_AT_ONCE, last_row - start)
        for k in tables:
            cells[:n] = offsets[k]
            step = 1
            for m in range(heads[k + 1] - 1, heads[k] - 1, -1):
                card = cards[members[m]]
                column = columns[members[m], start : start + n]
                for r in range(n):
                    x = np.int64(column[r])
                    cells[r] += x * step if 0 <= x < card else MISSING
                step *= card
            for r in range(n):
                if cells[r] >= 0:
                    copies[r & last_copy, cells[r]] += 1 if weights is None else weights[start + r]


@njit(cache=True, nogil=True)
def fill_pairs(flat, cards, used, starts, n_rows, out):
    """All pairs as one symmetric matrix, `out`, from the counted tables in `flat`.

    `flat` holds the table of each column, then that of each pair (0, 1), (0, 2), ..., (1, 2), ...
    Columns with ``used`` below their card lack no cell: their last category is what is left of the other
    column's count, or of `n_rows`.
    """
    place = 0
    for i in range(len(cards)):
        left = n_rows
        for x in range(used[i]):
            out[starts[i] + x, starts[i] + x] = flat[place + x]
            left -= flat[place + x]
        if used[i] < cards[i]:
            out[starts[i] + used[i], starts[i] + used[i]] = left
        place += cards[i]
    for i in range(len(cards)):
        for j in range(i + 1, len(cards)):
            s = starts[i]
            t = starts[j]
            for x in range(used[i]):
                left = out[s + x, s + x]
                for y in range(used[j]):
                    out[s + x, t + y] = flat[place + x * cards[j] + y]
                    left -= out[s + x, t + y]
                if used[j] < cards[j]:
                    out[s + x, t + used[j]] = left
            if used[i] < cards[i]:
                for y in range(cards[j]):
                    left = out[t + y, t + y]
                    for x in range(used[i]):
                        left -= out[s + x, t + y]
                    out[s + used[i], t + y] = left
            for x in range(cards[i]):
                for y in range(cards[j]):
                    out[t + y, s + x] = out[s + x, t + y]
            place += cards[i] * cards[j]


@njit(cache=True, nogil=True)
def fill_triples(flat, cards, used, members, heads, offsets, tables, starts, pairs):
    """Complete the tables of three columns in `flat` from the matrix of all pairs, as `fill_pairs` does."""
    for k in tables:
        i = members[heads[k]]
        j = members[heads[k] + 1]
        l = members[heads[k] + 2]
        s, t, u = starts[i], starts[j], starts[l]
        table = flat[offsets[k] : offsets[k + 1]].reshape((cards[i], cards[j], cards[l]))
        if used[l] < cards[l]:
            for x in range(used[i]):
                for y in range(used[j]):
                    table[x, y, used[l]] = pairs[s + x, t + y] - table[x, y, : used[l]].sum()
        if used[j] < cards[j]:
            for x in range(used[i]):
                for z in range(cards[l]):
                    table[x, used[j], z] = pairs[s + x, u + z] - table[x, : used[j], z].sum()
        if used[i] < cards[i]:
            for y in range(cards[j]):
                for z in range(cards[l]):
                    table[used[i], y, z] = pairs[t + y, u + z] - table[: used[i], y, z].sum()


@njit(cache=True, nogil=True)
def divide_blocks(counts, offsets, supports, probabilities):
    """Sum every block of the matrix of pairs into `supports`, and divide it by that sum."""
    for i in range(len(offsets) - 1):
        for j in range(len(offsets) - 1):
            total = 0.0
            for a in range(offsets[i], offsets[i + 1]):
                for b in range(offsets[j], offsets[j + 1]):
                    total += counts[a, b]
            supports[i, j] = total
            if total <= 0:
                total = 1.0
            for a in range(offsets[i], offsets[i + 1]):
                for b in range(offsets[j], offsets[j + 1]):
                    probabilities[a, b] = counts[a, b] / total


@njit(cache=True, nogil=True)
def fold_pairs(columns, starts, out):
    """Add to `out` (cell,) the product of all pair counts with the numbers 1, 2, ... of the cells.

    The pair counts of a cell with all others, weighted so, are sums over the rows that have the cell.

    Parameters
    ----------
    columns : (column, row)  categories, negative where missing
    starts : (column,)  the first cell of each
    out : (cell,) int64
    """
    n_columns, n_rows = columns.shape
    total = np.empty(min(n_rows, ROWS_AT_ONCE), np.int64)
    for first in range(0, n_rows, ROWS_AT_ONCE):
        n = min(ROWS_AT_ONCE, n_rows - first)
        total[:] = 0
        for column in range(n_columns):
            for row in range(n):
                code = columns[column, first + row]
                if code >= 0:
                    total[row] += starts[column] + code + 1
        for column in range(n_columns):
            for row in range(n):
                code = columns[column, first + row]
                if code >= 0:
                    out[starts[column] + code] += total[row]
