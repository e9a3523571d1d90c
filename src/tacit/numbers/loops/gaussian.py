"""Missing cells of Gaussian rows, pattern by pattern.

Rows with the same cells missing share one factorisation: of the precision of the missing cells, or of the
covariance of the observed ones, whichever is smaller. Inner loops run along rows of arrays, so that they are
vectorised.
"""

from __future__ import annotations

import numpy as np

from tacit.core.loops.compiled import njit

# A pivot is never less than this fraction of the diagonal entry that it came from.
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
    log_dets = np.empty(n_patterns)
    missing_places, known_places = np.empty(d, np.int64), np.empty(d, np.int64)
    factor, inverse, cross = np.empty((d, d)), np.empty((d, d)), np.empty((d, d))
    values = np.empty(d)
    with_covariances = spread.shape[0] > 0 or variances.shape[0] > 0
    for pattern in range(n_patterns):
        first, last = starts[pattern], starts[pattern + 1]
        m = o = 0
        for j in range(d):
            if absent[order[first], j]:
                missing_places[m] = j
                m += 1
            else:
                known_places[o] = j
                o += 1
        members, missing, known = order[first:last], missing_places[:m], known_places[:o]
        if m == 0:
            log_dets[pattern] = log_det
            continue
        if m <= o:
            _take(precision, missing, missing, factor)
            _take(precision, missing, known, cross)
            log_dets[pattern] = log_det + _factorise(factor, m)
            _fill_by_precision(rows, members, missing, known, factor, cross, values)
            if with_covariances:
                _whitener(factor, inverse, m)
                _covariance_of(inverse, factor, m)  # the factor is not needed any more
        else:
            _take(covariance, known, known, factor)
            _take(covariance, known, missing, cross)
            log_dets[pattern] = _factorise(factor, o)
            _fill_by_covariance(rows, members, missing, known, factor, cross, values)
            if with_covariances:
                _substitute(factor, cross, o, m)
                _take(covariance, missing, missing, factor)
                for i in range(o):
                    for j in range(m):
                        entry = cross[i, j]
                        for k in range(j, m):
                            factor[j, k] -= entry * cross[i, k]
        if with_covariances:
            _add_up(factor, missing, members, weights, spread, variances)
    return log_dets


@njit(cache=True, nogil=True, inline="always")  # by calls, short rows take longer
def _fill_by_precision(rows, members, missing, known, factor, cross, values):
    """Set the missing cells of some rows, by the factorised precision of the missing block."""
    m = len(missing)
    for place in range(len(members)):
        row = rows[members[place]]
        _product(cross, row, known, values, m)
        _solve(factor, values, m)
        for j in range(m):
            row[missing[j]] = -values[j]


@njit(cache=True, nogil=True, inline="always")
def _fill_by_covariance(rows, members, missing, known, factor, cross, values):
    """Set the missing cells of some rows, by the factorised covariance of the observed block."""
    m, o = len(missing), len(known)
    for place in range(len(members)):
        row = rows[members[place]]
        for i in range(o):
            values[i] = row[known[i]]
        _solve(factor, values, o)
        for j in range(m):
            row[missing[j]] = 0.0
        for i in range(o):
            for j in range(m):
                row[missing[j]] += values[i] * cross[i, j]


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
            multiplier = row[i] * inverse
            least = LEAST_PIVOT * matrix[i, i]
            other = matrix[i]
            for j in range(i, n):
                other[j] -= multiplier * row[j]
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
        multiplier = values[k]
        for j in range(k + 1, n):
            values[j] -= multiplier * row[j]
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
            multiplier = row[i]
            for j in range(m):
                right[i, j] -= multiplier * right[k, j]
    for k in range(n):
        root = np.sqrt(factor[k, k])
        for j in range(m):
            right[k, j] *= root


@njit(cache=True, nogil=True)
def _whitener(factor, inverse, n):
    """The lower triangular R with R'R = inverse of the matrix that was factorised."""
    for k in range(n):
        target = inverse[k]
        for j in range(k):
            target[j] = 0.0
        target[k] = 1.0
        for i in range(k):
            multiplier = factor[i, k]
            above = inverse[i]
            for j in range(i + 1):
                target[j] -= multiplier * above[j]
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
            multiplier = row[i]
            for j in range(i, k + 1):
                out[i, j] += multiplier * row[j]


@njit(cache=True, nogil=True)
def _add_up(conditional, missing, members, weights, spread, variances):
    """Add the conditional covariance of a pattern (its upper half) to `spread`, and set `variances`."""
    m = len(missing)
    if spread.shape[0] > 0:
        total = 0.0
        for place in range(len(members)):
            total += weights[members[place]]
        for i in range(m):
            for j in range(i, m):
                spread[missing[i], missing[j]] += total * conditional[i, j]
    if variances.shape[0] > 0:
        for place in range(len(members)):
            row = variances[members[place]]
            for i in range(m):
                row[missing[i]] = max(conditional[i, i], 0.0)
