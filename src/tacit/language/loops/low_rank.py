"""Compiled sweeps of non-negative factorisation by Kullback-Leibler divergence.

A sweep is one step of EM for probabilistic latent semantic analysis (Hofmann, 1999). Both factors are made
from the same posteriors, so the sums of rows and of columns are those of the data after every sweep,
converged or not; updates that take turns (Lee & Seung, 2001) keep only those of the factor moved last.

The matrix may consist of blocks that share neither rows nor columns; one block is an ordinary matrix.
Entries stand twice, by rows and by columns: no sum is shared between threads, and results do not depend on
their number. Factors may be of single precision; sums are always made in double precision.
"""

from __future__ import annotations

import math

import numpy as np

from tacit.core.loops.compiled import njit

_LOOSE = {"reassoc", "contract", "nsz", "arcp"}
# Smaller products underflow in single precision; `learn.low_rank` corrects the sums.
LOST = 1e-30
# Over-relaxed steps keep at least this fraction of the EM step.
MIN_STEP = 0.1
# Sums are this many numbers apart from other arrays: compiled loops check whether arrays overlap, and would
# otherwise take another path with other rounding.
GAP = 64


@njit(cache=True, nogil=True, inline="always")
def _room(size, dtype):
    """An array for sums, not filled."""
    return np.empty(size + 2 * GAP, dtype)[GAP : GAP + size]


@njit(cache=True, nogil=True, fastmath=_LOOSE, error_model="numpy")
def em_rows(starts, columns, values, left, right, ratios, out, first, last, room):
    """The left factor after a sweep, and the ratio of each entry to the product of the factors.

    Parameters
    ----------
    starts : (row + 1,)
    columns, values : (entry,)
    left : (row, rank)
    right : (column, rank)
    ratios : (entry,)  filled
    out : (row of the range, rank)  filled
    first, last : the range of rows
    room : (rank,)  double precision
    """
    rank = left.shape[1]
    none = left.dtype.type(0)
    for row in range(first, last):
        factor = left[row]
        for q in range(rank):
            room[q] = 0.0
        for entry in range(starts[row], starts[row + 1]):
            other = right[columns[entry]]
            product = none
            for q in range(rank):
                product += factor[q] * other[q]
            ratio = values[entry] / product if product > LOST else none
            ratios[entry] = ratio
            for q in range(rank):
                room[q] += ratio * other[q]
        for q in range(rank):
            out[row - first, q] = factor[q] * room[q]


@njit(cache=True, nogil=True, fastmath=_LOOSE, error_model="numpy")
def em_columns(starts, rows, entries, ratios, left, right, first, last, room):
    """Update the right factor, before the left one is replaced; see `normalise` for its scale.

    Parameters
    ----------
    starts : (column + 1,)
    rows, entries : (entry,)
        By columns: the row, and the place in the order by rows.
    ratios : (entry,)  by rows; see `em_rows`
    left : (row, rank)  as it was before the sweep
    right : (column, rank)  changed
    first, last : the range of columns
    room : (rank,)  double precision
    """
    rank = left.shape[1]
    for column in range(first, last):
        for q in range(rank):
            room[q] = 0.0
        for at in range(starts[column], starts[column + 1]):
            ratio = np.float64(ratios[entries[at]])
            other = left[rows[at]]
            for q in range(rank):
                room[q] += ratio * other[q]
        factor = right[column]
        for q in range(rank):
            factor[q] *= room[q]


@njit(cache=True, nogil=True, fastmath=_LOOSE, error_model="numpy")
def normalise(right, first, last, room):
    """Divide a range of columns by the sums over it, one for each rank."""
    rank = right.shape[1]
    for q in range(rank):
        room[q] = 0.0
    for column in range(first, last):
        factor = right[column]
        for q in range(rank):
            room[q] += factor[q]
    for q in range(rank):
        room[q] = 1.0 / room[q] if room[q] > 0.0 else 0.0
    for column in range(first, last):
        factor = right[column]
        for q in range(rank):
            factor[q] *= room[q]


@njit(cache=True, nogil=True)
def sweep_blocks(
    blocks,
    block_rows,
    block_columns,
    starts,
    columns,
    values,
    column_starts,
    column_rows,
    column_entries,
    left,
    right,
    ratios,
    n_sweeps,
):
    """Sweep some blocks, each several times while it is in the cache.

    Parameters
    ----------
    blocks : (some,)
    block_rows, block_columns : (block + 1,)  the first row and column of each
    starts, columns, values : see `em_rows`
    column_starts, column_rows, column_entries : see `em_columns`
    left, right : changed
    ratios : (entry,)  room
    """
    rank = left.shape[1]
    most = 0
    for block in blocks:
        most = max(most, block_rows[block + 1] - block_rows[block])
    spare = np.empty((most, rank), left.dtype)
    room = _room(rank, np.float64)
    for block in blocks:
        top, bottom = block_rows[block], block_rows[block + 1]
        begin, end = block_columns[block], block_columns[block + 1]
        for _ in range(n_sweeps):
            em_rows(starts, columns, values, left, right, ratios, spare, top, bottom, room)
            em_columns(
                column_starts, column_rows, column_entries, ratios, left, right, begin, end, room
            )
            normalise(right, begin, end, room)
            for row in range(top, bottom):
                for q in range(rank):
                    left[row, q] = spare[row - top, q]


@njit(cache=True, nogil=True, fastmath=_LOOSE, error_model="numpy")
def collapsed_rows(
    starts,
    columns,
    values,
    left,
    right,
    sums,
    prior,
    over,
    further,
    ratios,
    scales,
    out,
    first,
    last,
):
    """The same as `em_rows`, with responsibilities of each entry from factors without its contribution.

    An entry that is alone in its row would otherwise determine its responsibilities itself. This is the
    collapsed variational step of zero order (Asuncion et al., 2009); sums are kept, as by any posteriors.

    Parameters
    ----------
    starts, columns, values, left, right, out, first, last : see `em_rows`
    sums : (rank,)  of the left factor
    prior : (rank,)  what is added to each row of the left factor
    over : number  what is added to each cell of the right factor
    further : number  how much further to go than the step itself, in steps
    ratios, scales : (entry,)  filled; see `collapsed_columns`
    """
    rank = left.shape[1]
    none, one = left.dtype.type(0), left.dtype.type(1)
    least = left.dtype.type(MIN_STEP)
    room, part = _room(rank, np.float64), _room(rank, left.dtype)
    fractions = _room(rank, left.dtype)  # the row's fraction of each sum
    for row in range(first, last):
        factor = left[row]
        for q in range(rank):
            room[q] = 0.0
            fractions[q] = factor[q] / sums[q] if sums[q] > none else none
        for entry in range(starts[row], starts[row + 1]):
            other = right[columns[entry]]
            product = none
            for q in range(rank):
                product += factor[q] * other[q]
            ratio = values[entry] / product if product > LOST else none
            total = none
            for q in range(rank):
                a = factor[q] * max(one - ratio * other[q], none) + prior[q]
                b = other[q] * max(one - ratio * fractions[q], none) + over
                part[q] = a * b
                total += part[q]
            scale = values[entry] / total
            ratios[entry], scales[entry] = ratio, scale
            for q in range(rank):
                room[q] += scale * part[q]
        for q in range(rank):
            new = left.dtype.type(room[q])
            out[row - first, q] = max(new + further * (new - factor[q]), least * new)


@njit(cache=True, nogil=True, fastmath=_LOOSE, error_model="numpy")
def collapsed_columns(
    starts, rows, entries, left, right, sums, prior, over, further, ratios, scales, first, last
):
    """The same for the right factor, with the ratios and scales that `collapsed_rows` filled."""
    rank = left.shape[1]
    none, one = left.dtype.type(0), left.dtype.type(1)
    least = left.dtype.type(MIN_STEP)
    room, totals = _room(rank, np.float64), _room(rank, left.dtype)
    for q in range(rank):
        totals[q] = one / sums[q] if sums[q] > none else none
    for column in range(first, last):
        factor = right[column]
        for q in range(rank):
            room[q] = 0.0
        for at in range(starts[column], starts[column + 1]):
            ratio, scale = ratios[entries[at]], scales[entries[at]]
            other = left[rows[at]]
            for q in range(rank):
                a = other[q] * max(one - ratio * factor[q], none) + prior[q]
                b = factor[q] * max(one - ratio * other[q] * totals[q], none) + over
                room[q] += scale * (a * b)
        for q in range(rank):
            new = left.dtype.type(room[q])
            factor[q] = max(new + further * (new - factor[q] * sums[q]), least * new)


@njit(cache=True, nogil=True)
def divergence(starts, columns, values, left, right):
    """Sum over entries of x log(x / y), where y is the product of the factors.

    That is the generalised Kullback-Leibler divergence where all x and all y have the same sum, as they have
    after any sweep.
    """
    total = 0.0
    for row in range(len(starts) - 1):
        for entry in range(starts[row], starts[row + 1]):
            product = 0.0
            for q in range(left.shape[1]):
                product += np.float64(left[row, q]) * np.float64(right[columns[entry], q])
            if values[entry] > 0.0:
                total += values[entry] * math.log(values[entry] / max(product, LOST))
    return total


@njit(cache=True, nogil=True, fastmath=_LOOSE)
def totals(factor, first, last, out):
    """Sums over a range of rows of a factor, in double precision.

    Parameters
    ----------
    factor : (row, rank)
    first, last : (block,)
    out : (block, rank)  filled
    """
    for block in range(len(first)):
        sums = out[block]
        for q in range(factor.shape[1]):
            sums[q] = 0.0
        for row in range(first[block], last[block]):
            for q in range(factor.shape[1]):
                sums[q] += factor[row, q]


@njit(cache=True, nogil=True, fastmath=_LOOSE)
def margins(factor, first, last, others, out):
    """Row sums of the product of two factors, given the sums of the other over each block.

    Parameters
    ----------
    factor : (row, rank)
    first, last : (block,)
    others : (block, rank)  `totals` of the other factor
    out : (row,)  filled
    """
    for block in range(len(first)):
        other = others[block]
        for row in range(first[block], last[block]):
            total = 0.0
            for q in range(factor.shape[1]):
                total += factor[row, q] * other[q]
            out[row] = total


@njit(cache=True, nogil=True, fastmath=_LOOSE)
def products(left, right, left_rest, right_rest, rows, columns, out):
    """Add the products of rows of two factors, and those of their rests; -1 stands for none.

    Parameters
    ----------
    left, right : (row, rank), (column, rank)
    left_rest, right_rest : (row,), (column,)
    rows, columns : (pair,)
    out : (pair,)  added to
    """
    for pair in range(len(rows)):
        row, column = rows[pair], columns[pair]
        if row >= 0 and column >= 0:
            one, other = left[row], right[column]
            total = left_rest[row] * right_rest[column]
            for q in range(left.shape[1]):
                total += np.float64(one[q]) * np.float64(other[q])
            out[pair] += total
