"""Compiled parts of accelerated EM: the extrapolation of steps, and rows that sum to one."""

from __future__ import annotations

import math

import numpy as np

from tacit.core.loops.compiled import njit


@njit(cache=True, nogil=True)
def solve(matrix, right):
    """The solution of a small linear system; empty where there is none.

    Written out, because LAPACK behind numba takes seconds to compile and raises where this can go on.
    """
    n = len(matrix)
    a = matrix.copy()
    b = right.copy()
    for column in range(n):
        pivot = column
        for row in range(column + 1, n):
            if abs(a[row, column]) > abs(a[pivot, column]):
                pivot = row
        if a[pivot, column] == 0.0:
            return np.empty((0, b.shape[1]))
        if pivot != column:
            for j in range(n):
                a[column, j], a[pivot, j] = a[pivot, j], a[column, j]
            for j in range(b.shape[1]):
                b[column, j], b[pivot, j] = b[pivot, j], b[column, j]
        for row in range(column + 1, n):
            factor = a[row, column] / a[column, column]
            if factor != 0.0:
                for j in range(column, n):
                    a[row, j] -= factor * a[column, j]
                for j in range(b.shape[1]):
                    b[row, j] -= factor * b[column, j]
    for row in range(n - 1, -1, -1):
        for j in range(b.shape[1]):
            value = b[row, j]
            for i in range(row + 1, n):
                value -= a[row, i] * b[i, j]
            b[row, j] = value / a[row, row]
    return b


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def extrapolate(values, image, mass, order, points, images):
    """The fixed point extrapolated from the residuals of the last steps (Anderson's type I, in logarithms).

    Parameters
    ----------
    values, image, mass : (p,) where the last step started and led to, and the weights of the coordinates
    order : places of the last steps in `points` and `images`, the newest first
    points, images : (place, p) logarithms of where steps started and led to; those of the last step are added

    Returns
    -------
    (p,) array; empty where the steps are dependent.
    """
    m, p = len(order) - 1, len(values)
    last = order[0]
    for x in range(p):
        points[last, x] = math.log(max(values[x], 1e-300))
        images[last, x] = math.log(max(image[x], 1e-300))
    if m == 0:
        return np.empty(0)
    matrix = np.zeros((m, m))
    right = np.zeros((m, 1))
    residual = images[last] - points[last]
    changes = np.empty((m, p))
    for i in range(m):
        for x in range(p):
            changes[i, x] = residual[x] - (images[order[i + 1], x] - points[order[i + 1], x])
    move = np.empty(p)
    for i in range(m):
        for x in range(p):
            move[x] = (points[last, x] - points[order[i + 1], x]) * mass[x]
        for x in range(p):
            right[i, 0] += move[x] * residual[x]
        for j in range(m):
            total = 0.0
            for x in range(p):
                total += move[x] * changes[j, x]
            matrix[i, j] = total
    coefficients = solve(matrix, right)
    if len(coefficients) == 0:
        return np.empty(0)
    out = images[last].copy()
    for i in range(m):
        for x in range(p):
            out[x] -= coefficients[i, 0] * (images[last, x] - images[order[i + 1], x])
    for x in range(p):
        # Far out, an extrapolation may leave the range of numbers; it then goes downhill. Zeros stay.
        out[x] = math.exp(min(out[x], 700.0)) if image[x] > 0.0 else 0.0
    return out


@njit(cache=True, nogil=True)
def normalise(values, row_starts):
    """Stretches of a flat array brought to sum one; those that are all zero become even."""
    out = np.empty_like(values)
    for row in range(len(row_starts)):
        start = row_starts[row]
        stop = row_starts[row + 1] if row + 1 < len(row_starts) else len(values)
        total = 0.0
        for at in range(start, stop):
            total += values[at]
        for at in range(start, stop):
            out[at] = values[at] / total if total > 0.0 else 1.0 / (stop - start)
    return out


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz", "arcp"})
def blend(counts, scale, size, pseudo, row_starts, mean, out):
    """Move a running mean towards scaled counts, and normalise its rows.

    Pseudo-counts are added to the rows. All in one pass, because the arrays are large.
    """
    for row in range(len(row_starts)):
        start = row_starts[row]
        stop = row_starts[row + 1] if row + 1 < len(row_starts) else len(mean)
        row_mean, new, prior = mean[start:stop], counts[start:stop], pseudo[start:stop]
        total = 0.0
        for at in range(len(row_mean)):
            row_mean[at] += size * (scale * new[at] - row_mean[at])
            total += row_mean[at] + prior[at]
        line = out[start:stop]
        if total > 0.0:
            over = 1.0 / total
            for at in range(len(row_mean)):
                line[at] = (row_mean[at] + prior[at]) * over
        else:
            for at in range(len(row_mean)):
                line[at] = 1.0 / len(row_mean)


@njit(cache=True, nogil=True)
def maximise(counts, pseudo, values, row_starts):
    """Log-density of a Dirichlet prior at `values`, and the rows that expected counts with it lead to.

    The pseudo-counts are added to `counts`.
    """
    total = 0.0
    for at in range(len(values)):
        if pseudo[at] > 0.0:
            total += pseudo[at] * math.log(max(values[at], 1e-300))
            counts[at] += pseudo[at]
    return total, normalise(counts, row_starts)


@njit(cache=True, nogil=True)
def log_density(pseudo, values):
    """Sum of pseudo-counts times logarithms."""
    total = 0.0
    for at in range(len(values)):
        if pseudo[at] > 0.0:
            total += pseudo[at] * math.log(max(values[at], 1e-300))
    return total
