"""Gaussian kernels of single numbers: pivots chosen one by one, and features of many numbers."""

from __future__ import annotations

import math

import numpy as np

from tacit.core.loops.compiled import njit

SMALLEST = 1e-12  # what is left of a number's unit length when it counts as spanned


@njit(cache=True, nogil=True)
def choose_pivots(values, bandwidth, tolerance, most):
    """Pivoted incomplete Cholesky factor of the kernel matrix, its columns made as they are needed.

    The pivot is always the number that is spanned worst so far; of equal ones the first. It stops when the
    mean of what is left (the trace of the residual over the number of values) is at most the tolerance.

    Parameters
    ----------
    values : (value,)
        Numbers without NaN, at least one.
    bandwidth : float
        The kernel is ``exp(-(x - y)^2 / (2 bandwidth^2))``.
    tolerance : float
        When to stop.
    most : int
        The largest number of pivots.

    Returns
    -------
    pivots : (pivot,) int64
        The places of the chosen numbers, in the order of choice.
    factor : (pivot, value)
        Row k holds what pivot k adds: the kernel matrix is about ``factor.T @ factor``.
    """
    n = len(values)
    most = min(most, n)
    left = np.ones(n)  # (value,) the diagonal of the residual
    pivots = np.empty(most, np.int64)
    factor = np.empty((most, n))
    exponent = -0.5 / bandwidth**2
    size = 0
    while size < most:
        pivot = 0
        total = 0.0
        for i in range(n):
            total += left[i]
            if left[i] > left[pivot]:
                pivot = i
        if total <= tolerance * n or left[pivot] <= SMALLEST:
            break
        root = math.sqrt(left[pivot])
        row = factor[size]
        for i in range(n):
            row[i] = math.exp(exponent * (values[i] - values[pivot]) ** 2)
        for k in range(size):
            coefficient = factor[k, pivot]
            other = factor[k]
            for i in range(n):
                row[i] -= coefficient * other[i]
        for i in range(n):
            row[i] /= root
            left[i] = max(left[i] - row[i] * row[i], 0.0)
        left[pivot] = 0.0
        pivots[size] = pivot
        size += 1
    return pivots[:size], factor[:size]
