"""Compiled parts of climbing: the extrapolation of steps, and rows that sum to one."""

from __future__ import annotations

import math

import numpy as np
from numba import njit


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


@njit(cache=True, nogil=True)
def extrapolate(points, images, order, mass):
    """Where the residuals of earlier steps say that the fixed point is (Anderson's type I).

    Parameters
    ----------
    points, images : (place, p) where steps started and led to
    order : places, the last step first
    mass : (p,) weights of the coordinates

    Returns
    -------
    (p,) array; empty where the steps say nothing.
    """
    m, p = len(order) - 1, points.shape[1]
    last = order[0]
    matrix = np.zeros((m, m))
    right = np.zeros((m, 1))
    changes = np.empty((m, p))
    for i in range(m):
        for x in range(p):
            changes[i, x] = (images[last, x] - points[last, x]) - (
                images[order[i + 1], x] - points[order[i + 1], x]
            )
    for i in range(m):
        earlier = order[i + 1]
        for x in range(p):
            move = (points[last, x] - points[earlier, x]) * mass[x]
            right[i, 0] += move * (images[last, x] - points[last, x])
            for j in range(m):
                matrix[i, j] += move * changes[j, x]
    share = solve(matrix, right)
    if len(share) == 0:
        return np.empty(0)
    out = images[last].copy()
    for i in range(m):
        for x in range(p):
            out[x] -= share[i, 0] * (images[last, x] - images[order[i + 1], x])
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


@njit(cache=True, nogil=True)
def log_density(pseudo, values):
    """Sum of pseudo-counts times logarithms."""
    total = 0.0
    for at in range(len(values)):
        if pseudo[at] > 0.0:
            total += pseudo[at] * math.log(max(values[at], 1e-300))
    return total
