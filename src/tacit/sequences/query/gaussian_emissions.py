"""Gaussian emissions: log-densities, quantiles, samples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from tacit.sequences.model.gaussians import Gaussians
from tacit.sequences.query.hidden_states import StateEvidence

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
Codes = NDArray[np.int32]

_HALVINGS = 60  # of the span between the states' quantiles


Patterns = Iterable[tuple[NDArray[np.bool_], Integers]]


def log_densities(chain: Gaussians, values: Array, patterns: Patterns | None = None) -> Array:
    """(position, state) log-density of each row given the state; missing numbers are integrated out.

    Parameters
    ----------
    chain : Gaussians
    values : (position, column)
        NaN: missing.
    patterns : iterable, optional
        What `missing_patterns` says of the rows, where that is known already.
    """
    from tacit.sequences.loops.gaussian_densities import correlated, independent

    out = np.empty((len(values), chain.n_states))
    if chain.diagonal or chain.n_columns == 1:
        deviations = np.ascontiguousarray(np.diagonal(chain.factors, axis1=1, axis2=2))
        independent(values, chain.means, deviations, out)
        return out
    for is_observed, rows in missing_patterns(values) if patterns is None else patterns:
        if not is_observed.any():
            out[rows] = 0.0
            continue
        is_complete = is_observed.all()
        factors = chain.factors
        if not is_complete:
            inner = chain.covariances[:, is_observed][:, :, is_observed]
            factors = np.asarray(np.linalg.cholesky(inner), dtype=np.float64)
        log_sizes = np.log(np.diagonal(factors, axis1=1, axis2=2)).sum(axis=1)
        log_rows = out if len(rows) == len(values) else np.empty((len(rows), chain.n_states))
        observed = (
            values
            if is_complete and log_rows is out
            else values[np.ix_(rows, np.flatnonzero(is_observed))]
        )
        means = np.ascontiguousarray(chain.means[:, is_observed])
        correlated(observed, means, np.linalg.inv(factors), log_sizes, log_rows)
        if log_rows is not out:
            out[rows] = log_rows
    return out


def missing_patterns(values: Array) -> Iterator[tuple[NDArray[np.bool_], Integers]]:
    """Patterns of missing numbers: (column,) flags of the observed columns, and the rows with just these."""
    is_missing = np.isnan(values)
    incomplete = is_missing.any(axis=1)
    complete_rows = np.flatnonzero(~incomplete)
    if len(complete_rows):
        yield np.ones(values.shape[1], dtype=np.bool_), complete_rows
    other_rows = np.flatnonzero(incomplete)
    if len(other_rows):
        patterns, codes = np.unique(is_missing[other_rows], axis=0, return_inverse=True)
        for code, pattern in enumerate(patterns):
            yield ~pattern, other_rows[codes.ravel() == code]


def expected_rows(chain: Gaussians, values: Array) -> Array:
    """(position, state, column) expected numbers given the state and the observed numbers of the position.

    Parameters
    ----------
    chain : Gaussians
    values : (position, column)
        NaN: missing.
    """
    expected = np.tile(chain.means, (len(values), 1, 1))
    for is_observed, rows in missing_patterns(values):
        if not is_observed.any():
            continue
        observed, missing = np.flatnonzero(is_observed), np.flatnonzero(~is_observed)
        known = values[np.ix_(rows, observed)]
        for state in range(chain.n_states):
            mean, covariance = chain.means[state], chain.covariances[state]
            inner = covariance[np.ix_(observed, observed)]
            slopes = np.linalg.solve(inner, covariance[np.ix_(observed, missing)])
            shifts = (known - mean[observed]) @ slopes
            of_state = expected[:, state]  # a view
            of_state[np.ix_(rows, missing)] = mean[missing] + shifts
            of_state[np.ix_(rows, observed)] = known
    return expected


def number_evidence(chain: Gaussians, values: Array, ends: Integers) -> StateEvidence:
    """Evidence of rows of numbers, see `log_densities`."""
    from tacit.sequences.loops.gaussian_densities import exponentials

    likelihoods, log_scales = log_densities(chain, values), np.empty(len(values))
    exponentials(likelihoods, log_scales)
    return StateEvidence(likelihoods, log_scales, ends)


def next_quantiles(chain: Gaussians, weights: Array, levels: Array) -> Array:
    """(row, column, level) quantiles of the emitted numbers; NaN where all weights are zero.

    Each column has a mixture of normal densities, whose distribution function is inverted by bisection.

    Parameters
    ----------
    chain : Gaussians
    weights : (row, state)
        Probabilities of the states.
    levels : (level,)
        Between 0 and 1, both excluded.
    """
    from scipy.special import ndtr, ndtri

    quantiles = np.full((len(weights), chain.n_columns, len(levels)), np.nan)
    is_possible = weights.sum(axis=1) > 0
    for column in range(chain.n_columns):
        means, deviations = chain.means[:, column], np.sqrt(chain.covariances[:, column, column])
        state_quantiles = means[:, None] + deviations[:, None] * ndtri(levels)  # (state, level)
        low = np.tile(state_quantiles.min(axis=0), (int(is_possible.sum()), 1))
        high = np.tile(state_quantiles.max(axis=0), (len(low), 1))
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            below = ndtr((middle[:, :, None] - means) / deviations)  # (row, level, state)
            over = np.einsum("rsm,rm->rs", below, weights[is_possible]) > levels
            low, high = np.where(over, low, middle), np.where(over, middle, high)
        quantiles[is_possible, column] = 0.5 * (low + high)
    return quantiles


def drawn_rows(chain: Gaussians, states: Codes, rng: np.random.Generator) -> Array:
    """(draw, time, column) a row of numbers for each state."""
    noise = rng.normal(size=(*states.shape, chain.n_columns))
    return np.asarray(
        chain.means[states] + np.einsum("...ij,...j->...i", chain.factors[states], noise)
    )
