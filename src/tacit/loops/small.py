"""Dense algebra of very small matrices, where a call of LAPACK costs more than the work."""

from __future__ import annotations

import math

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def eigh(matrix):
    """Eigenvalues, ascending, and eigenvectors (columns) of a symmetric matrix."""
    n = len(matrix)
    if n == 1:
        return np.array([matrix[0, 0]]), np.ones((1, 1))
    if n > 2:
        return np.linalg.eigh(matrix)
    half = 0.5 * (matrix[0, 0] - matrix[1, 1])
    middle = 0.5 * (matrix[0, 0] + matrix[1, 1])
    across = 0.5 * (matrix[0, 1] + matrix[1, 0])
    size = math.hypot(half, across)
    angle = 0.5 * math.atan2(across, half)
    c, s = math.cos(angle), math.sin(angle)
    return np.array([middle - size, middle + size]), np.array([[-s, c], [c, s]])


@njit(cache=True, nogil=True)
def svd(matrix):
    """Singular value decomposition of a square matrix."""
    if len(matrix) == 1:
        value = matrix[0, 0]
        sign = -1.0 if value < 0 else 1.0
        return np.array([[sign]]), np.array([abs(value)]), np.ones((1, 1))
    return np.linalg.svd(matrix)


@njit(cache=True, nogil=True)
def solve(matrix, right):
    """The solution of a linear system with a few right-hand sides; both arguments are left as they are."""
    n = len(matrix)
    if n > 12:
        return np.linalg.solve(matrix, right)
    a = matrix.copy()
    b = right.copy()
    for column in range(n):
        pivot = column
        for row in range(column + 1, n):
            if abs(a[row, column]) > abs(a[pivot, column]):
                pivot = row
        if a[pivot, column] == 0.0:
            raise np.linalg.LinAlgError("Matrix is singular to machine precision.")
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
