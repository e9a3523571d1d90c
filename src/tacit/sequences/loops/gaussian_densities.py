"""Compiled Gaussian likelihoods, one for each state."""

from __future__ import annotations

import math

import numpy as np

from tacit.core.loops.compiled import njit

_HALF_LOG_TAU = 0.5 * math.log(2 * math.pi)


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def independent(values, means, deviations, out):
    """Log-densities of rows with independent columns; NaN cells are skipped.

    Parameters
    ----------
    values : (position, column)
    means, deviations : (state, column)
    out : (position, state)  filled
    """
    n, d = values.shape
    k = len(means)
    # States are contiguous in memory, so that the inner loop is vectorised.
    centres, over, norms = np.empty((d, k)), np.empty((d, k)), np.empty((d, k))
    for m in range(k):
        for i in range(d):
            centres[i, m] = means[m, i]
            over[i, m] = 1.0 / deviations[m, i]
            norms[i, m] = -_HALF_LOG_TAU - math.log(deviations[m, i])
    sums = np.empty(k)
    for t in range(n):
        sums[:] = 0.0
        for i in range(d):
            x = values[t, i]
            if math.isnan(x):
                continue
            for m in range(k):
                z = (x - centres[i, m]) * over[i, m]
                sums[m] += norms[i, m] - 0.5 * z * z
        out[t] = sums


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def correlated(values, means, whiteners, log_sizes, out):
    """Log-densities of rows with correlated columns, none missing.

    Parameters
    ----------
    values : (position, column)
    means : (state, column)
    whiteners : (state, column, column)
        Inverses of the Cholesky factors of the covariances.
    log_sizes : (state,)
        Sums of the logarithms of the factors' diagonals.
    out : (position, state)  filled
    """
    n, d = values.shape
    k = len(means)
    away = np.empty(d)
    for t in range(n):
        for m in range(k):
            for i in range(d):
                away[i] = values[t, i] - means[m, i]
            square = 0.0
            for i in range(d):
                z = 0.0
                for j in range(i + 1):
                    z += whiteners[m, i, j] * away[j]
                square += z * z
            out[t, m] = -d * _HALF_LOG_TAU - log_sizes[m] - 0.5 * square


@njit(cache=True, nogil=True)
def exponentials(logs, taken):
    """Replace log-likelihoods by likelihoods whose largest in each row is one; its logarithm goes to `taken`.

    A row that is impossible in all states becomes zeros, and nothing is taken out of it.

    Parameters
    ----------
    logs : (position, state)  changed
    taken : (position,)  filled
    """
    n, k = logs.shape
    for t in range(n):
        top = logs[t, 0]
        for m in range(1, k):
            top = max(top, logs[t, m])
        if top == -math.inf:
            top = 0.0
        taken[t] = top
        for m in range(k):
            logs[t, m] = math.exp(logs[t, m] - top)
