"""Missing cells of Gaussian rows, pattern by pattern.

Rows with the same cells missing share one factorisation: of the precision of the missing cells, or of the
covariance of the observed ones, whichever is smaller. Inner loops run along rows of arrays, so that they are
vectorised.
"""

from __future__ import annotations

import numpy as np
from numba import njit

# A pivot is never less than this share of the diagonal entry that it came from.
LEAST_PIVOT = 1e-13


@njit(cache=True, nogil=True)
def fill_missing(
    rows, absent, order, starts, covariance, precision, log_det, weights, spread, variances
):
    """Set missing cells to their conditional means; returns log-determinants of the observed blocks.

    Parameters
    ----------
    rows : (row, coordinate)
        Less their means; cells that are missing are overwritten.
    absent : (row, coordinate) of bool
        Which cells are missing.
    order : (row,)
        Rows of one pattern side by side.
    starts : (pattern + 1,)
        Where each pattern begins in `order`.
    covariance, precision : (coordinate, coordinate)
        Of all coordinates; one is the inverse of the other.
    log_det : float
        Natural logarithm of the determinant of the covariance.
    weights : (row,)
    spread : (coordinate, coordinate)
        The covariance of each row's missing cells given the others, times its weight, is added to this. Of
        size zero where not needed.
    variances : (row, coordinate)
        Filled with the conditional variances, zero where a cell is observed. Of size zero where not needed.

    Returns
    -------
    (pattern,)
        Log-determinants of the covariance of the observed cells.
    """
    d = rows.shape[1]
    n_patterns = len(starts) - 1
    found = np.empty(n_patterns)
    gone, there = np.empty(d, np.int64), np.empty(d, np.int64)
    factor, inverse, cross = np.empty((d, d)), np.empty((d, d)), np.empty((d, d))
    values = np.empty(d)
    wanted = spread.shape[0] > 0 or variances.shape[0] > 0
    for pattern in range(n_patterns):
        first, last = starts[pattern], starts[pattern + 1]
        m = o = 0
        for j in range(d):
            if absent[order[first], j]:
                gone[m] = j
                m += 1
            else:
                there[o] = j
                o += 1
        members, missing, known = order[first:last], gone[:m], there[:o]
        if m == 0:
            found[pattern] = log_det
            continue
        if m <= o:
            _take(precision, missing, missing, factor)
            _take(precision, missing, known, cross)
            found[pattern] = log_det + _factorise(factor, m)
            _fill_by_precision(rows, members, missing, known, factor, cross, values)
            if wanted:
                _whitener(factor, inverse, m)
                _covariance_of(inverse, factor, m)  # the factor is not needed any more
        else:
            _take(covariance, known, known, factor)
            _take(covariance, known, missing, cross)
            found[pattern] = _factorise(factor, o)
            _fill_by_covariance(rows, members, missing, known, factor, cross, values)
            if wanted:
                _substitute(factor, cross, o, m)
                _take(covariance, missing, missing, factor)
                for i in range(o):
                    for j in range(m):
                        share = cross[i, j]
                        for k in range(j, m):
                            factor[j, k] -= share * cross[i, k]
        if wanted:
            _add_up(factor, missing, members, weights, spread, variances)
    return found


@njit(cache=True, nogil=True, inline="always")  # by calls, short rows take longer
def _fill_by_precision(rows, members, gone, there, factor, cross, values):
    """Set the missing cells of some rows, by the factorised precision of the missing block."""
    m = len(gone)
    for place in range(len(members)):
        row = rows[members[place]]
        _product(cross, row, there, values, m)
        _solve(factor, values, m)
        for j in range(m):
            row[gone[j]] = -values[j]


@njit(cache=True, nogil=True, inline="always")
def _fill_by_covariance(rows, members, gone, there, factor, cross, values):
    """Set the missing cells of some rows, by the factorised covariance of the observed block."""
    m, o = len(gone), len(there)
    for place in range(len(members)):
        row = rows[members[place]]
        for i in range(o):
            values[i] = row[there[i]]
        _solve(factor, values, o)
        for j in range(m):
            row[gone[j]] = 0.0
        for i in range(o):
            for j in range(m):
                row[gone[j]] += values[i] * cross[i, j]


@njit(cache=True, nogil=True)
def _take(matrix, ours, theirs, block):
    """Copy some rows and columns of a matrix to the corner of a block."""
    for i in range(len(ours)):
        row = matrix[ours[i]]
        for j in range(len(theirs)):
            block[i, j] = row[theirs[j]]


@njit(cache=True, nogil=True)
def _factorise(matrix, n):
    """The upper triangular U with U'U = matrix, in its place; the logarithm of the determinant.

    Rows of the result are divided by their diagonal entry, which stands there as its own reciprocal squared:
    matrix = U' D U with a unit diagonal is kept as U above and 1 / D on the diagonal.
    """
    log_det = 0.0
    for k in range(n):
        row = matrix[k]
        pivot = row[k]
        log_det += np.log(pivot)
        inverse = 1.0 / pivot
        for i in range(k + 1, n):
            share = row[i] * inverse
            least = LEAST_PIVOT * matrix[i, i]
            other = matrix[i]
            for j in range(i, n):
                other[j] -= share * row[j]
            other[i] = max(least, other[i])
        for j in range(k + 1, n):
            row[j] *= inverse
        row[k] = inverse
    return log_det


@njit(cache=True, nogil=True)
def _solve(factor, values, n):
    """Solve for one vector, in its place."""
    for k in range(n):
        row = factor[k]
        share = values[k]
        for j in range(k + 1, n):
            values[j] -= share * row[j]
    for k in range(n - 1, -1, -1):
        row = factor[k]
        total = values[k] * row[k]
        for j in range(k + 1, n):
            total -= row[j] * values[j]
        values[k] = total


@njit(cache=True, nogil=True)
def _product(matrix, row, places, values, n):
    """The product of a matrix with some entries of a row."""
    for i in range(n):
        total = 0.0
        for j in range(len(places)):
            total += matrix[i, j] * row[places[j]]
        values[i] = total


@njit(cache=True, nogil=True)
def _substitute(factor, right, n, m):
    """Divide by U' and the root of D: afterwards right' right is what the inverse makes of it."""
    for k in range(n):
        row = factor[k]
        for i in range(k + 1, n):
            share = row[i]
            for j in range(m):
                right[i, j] -= share * right[k, j]
    for k in range(n):
        root = np.sqrt(factor[k, k])
        for j in range(m):
            right[k, j] *= root


@njit(cache=True, nogil=True)
def _whitener(factor, inverse, n):
    """The lower triangular R with R'R = inverse of the matrix that was factorised."""
    for k in range(n):
        own = inverse[k]
        for j in range(k):
            own[j] = 0.0
        own[k] = 1.0
        for i in range(k):
            share = factor[i, k]
            above = inverse[i]
            for j in range(i + 1):
                own[j] -= share * above[j]
    for k in range(n):
        root = np.sqrt(factor[k, k])
        for j in range(k + 1):
            inverse[k, j] *= root


@njit(cache=True, nogil=True)
def _covariance_of(whitener, out, n):
    """R'R of a lower triangular R; the upper half of the result."""
    for i in range(n):
        for j in range(i, n):
            out[i, j] = 0.0
    for k in range(n):
        row = whitener[k]
        for i in range(k + 1):
            share = row[i]
            for j in range(i, k + 1):
                out[i, j] += share * row[j]


@njit(cache=True, nogil=True)
def _add_up(conditional, gone, members, weights, spread, variances):
    """Add the conditional covariance of a pattern (its upper half) to `spread`, and set `variances`."""
    m = len(gone)
    if spread.shape[0] > 0:
        total = 0.0
        for place in range(len(members)):
            total += weights[members[place]]
        for i in range(m):
            for j in range(i, m):
                spread[gone[i], gone[j]] += total * conditional[i, j]
    if variances.shape[0] > 0:
        for place in range(len(members)):
            row = variances[members[place]]
            for i in range(m):
                row[gone[i]] = max(conditional[i, i], 0.0)
