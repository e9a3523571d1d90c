"""Compiled M-steps of Gaussian HMMs, from flat parameters to flat parameters."""

from __future__ import annotations

import math

import numpy as np

from tacit.core.loops.acceleration import maximise
from tacit.core.loops.compiled import njit

_TINY = 1e-300


@njit(cache=True, nogil=True)
def cholesky(matrix, out):
    """The Cholesky factor of a matrix; out : (row, column) filled."""
    d = len(matrix)
    for i in range(d):
        for j in range(i + 1):
            remaining = matrix[i, j]
            for h in range(j):
                remaining -= out[i, h] * out[j, h]
            out[i, j] = math.sqrt(max(remaining, _TINY)) if i == j else remaining / out[j, j]
        for j in range(i + 1, d):
            out[i, j] = 0.0


@njit(cache=True, nogil=True)
def lower_inverse(factor, out):
    """The inverse of a lower triangle; out : (row, column) filled."""
    d = len(factor)
    for j in range(d):
        for i in range(d):
            remaining = 1.0 if i == j else 0.0
            for h in range(j, i):
                remaining -= factor[i, h] * out[h, j]
            out[i, j] = remaining / factor[i, i] if i >= j else 0.0


@njit(cache=True, nogil=True)
def unpack_parameters(values, shape):
    """Means, inverse Cholesky factors and half log-determinants, from flat parameters."""
    k, d, diagonal, units = shape
    at = k + k * k
    means, log_sizes = np.empty((k, d)), np.zeros(k)
    factors, inverses = np.zeros((k, d, d)), np.zeros((k, d, d))
    for m in range(k):
        for i in range(d):
            means[m, i] = units * math.log(values[at])
            at += 1
    for m in range(k):
        for i in range(d):
            factors[m, i, i] = values[at]
            log_sizes[m] += math.log(values[at])
            at += 1
        if not diagonal:
            for i in range(d):
                for j in range(i):
                    factors[m, i, j] = math.log(values[at])
                    at += 1
        lower_inverse(factors[m], inverses[m])
    return means, inverses, log_sizes


@njit(cache=True, nogil=True)
def _common_spread(inverses):
    """The inverse of the mean precision matrix of the states, and its log-determinant."""
    k, d = len(inverses), inverses.shape[1]
    mean, factor, inverse = np.zeros((d, d)), np.zeros((d, d)), np.zeros((d, d))
    for m in range(k):
        for h in range(d):
            for i in range(h + 1):
                for j in range(h + 1):
                    mean[i, j] += inverses[m, h, i] * inverses[m, h, j] / k
    cholesky(mean, factor)
    lower_inverse(factor, inverse)
    spread, log_size = np.zeros((d, d)), 0.0
    for h in range(d):
        log_size -= 2.0 * math.log(factor[h, h])
        for i in range(h + 1):
            for j in range(h + 1):
                spread[i, j] += inverse[h, i] * inverse[h, j]
    return spread, log_size


@njit(cache=True, nogil=True)
def _log_prior(means, inverses, log_sizes, log_common, prior):
    """See `tacit.sequences.learn.em.gaussian_hmm.log_prior`."""
    k, d = means.shape
    n_spread, spread, n_centre, n_common = prior[:4]
    total = 0.0
    for m in range(k):
        total += 2.0 * n_spread * log_sizes[m] - n_common * log_common
        for i in range(d):
            away = 0.0
            for j in range(i + 1):
                away += inverses[m, i, j] * means[m, j]
                total += spread * inverses[m, i, j] ** 2
            total += n_centre * away * away
    return -0.5 * total


@njit(cache=True, nogil=True)
def _densities(visits, firsts, seconds, common, prior, diagonal, units, out):
    """Flat parameters of the most likely densities, see `tacit.sequences.learn.em.gaussian_hmm.densities`."""
    k, d = firsts.shape
    n_spread, spread, n_centre, n_common, least = prior
    covariance, factor, mean = np.zeros((d, d)), np.zeros((d, d)), np.zeros(d)
    at_mean, at = 0, k * d
    for m in range(k):
        weight, counted = visits[m] + n_centre, visits[m] + n_spread
        for i in range(d):
            mean[i] = firsts[m, i] / (weight if weight > 0.0 else 1.0)
            out[at_mean] = math.exp(mean[i] / units)
            at_mean += 1
        for i in range(d):
            for j in range(i + 1):
                left = seconds[m, i, j] - weight * mean[i] * mean[j] + n_common * common[i, j]
                left += spread if i == j else 0.0
                if counted > 0.0:
                    covariance[i, j] = left / counted
                else:
                    covariance[i, j] = 1.0 if i == j else 0.0
            if diagonal:
                covariance[i, i] = max(covariance[i, i], least)
            else:
                covariance[i, i] += least
        if diagonal:
            for i in range(d):
                out[at] = math.sqrt(covariance[i, i])
                at += 1
            continue
        cholesky(covariance, factor)
        for i in range(d):
            out[at] = factor[i, i]
            at += 1
        for i in range(d):
            for j in range(i):
                out[at] = math.exp(factor[i, j])
                at += 1


@njit(cache=True, nogil=True)
def _masses(inverses, visits, diagonal, units, out):
    """Information on densities, see `tacit.sequences.model.gaussian_hmm.GaussianLayout.masses`."""
    k, d = len(inverses), inverses.shape[1]
    at_mean, at = 0, k * d
    precision = np.empty(d)
    for m in range(k):
        for i in range(d):
            total = 0.0
            for h in range(i, d):
                total += inverses[m, h, i] ** 2
            precision[i] = total
            out[at_mean] = units**2 * visits[m] * total
            at_mean += 1
        for _ in range(d):
            out[at] = 2.0 * visits[m]
            at += 1
        if not diagonal:
            for i in range(d):
                for _ in range(i):
                    out[at] = precision[i] * visits[m]
                    at += 1


@njit(cache=True, nogil=True)
def m_step(values, parts, counts, sums, shape, pseudo, prior):
    """The log-prior of flat parameters, the parameters after a step, and the information on each.

    Parameters
    ----------
    values : (p,)
        Flat parameters, see `tacit.sequences.model.gaussian_hmm.GaussianLayout`.
    parts : tuple
        See `unpack_parameters`.
    counts : (state + state * state,)
        Expected initial states and transitions; pseudo-counts are added.
    sums : tuple
        Sufficient statistics, see `tacit.sequences.loops.gaussian_expectations.e_step`.
    shape : tuple of int, int, bool and float
        States, columns, whether these are independent given the state, and the scale of means.
    pseudo : (state + state * state,)
    prior : tuple of float
        Pseudo-counts of each covariance, these times their variance, pseudo-counts of the means, and of the
        common covariance; and the least variance.
    """
    k, _, diagonal, units = shape
    means, inverses, log_sizes = parts
    visits, firsts, seconds = sums
    n_tables = k + k * k
    common, log_common = _common_spread(inverses)
    objective = _log_prior(means, inverses, log_sizes, log_common, prior)
    row_starts = np.empty(k + 1, np.int64)
    for row in range(k + 1):
        row_starts[row] = row * k
    dirichlet, tables = maximise(counts, pseudo, values[:n_tables], row_starts)
    image, masses = np.empty(len(values)), np.empty(len(values))
    for at in range(n_tables):
        image[at], masses[at] = tables[at], counts[at]
    _densities(visits, firsts, seconds, common, prior, diagonal, units, image[n_tables:])
    _masses(inverses, visits, diagonal, units, masses[n_tables:])
    return objective + dirichlet, image, masses
