"""What normal densities of states say of numbers, and numbers drawn from them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tacit.sequences.model.gaussian_hmm import GaussianChain
from tacit.sequences.query.hidden_states import StateEvidence

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
Codes = NDArray[np.int32]

_HALVINGS = 60  # of the span between the states' own quantiles


def log_densities(chain: GaussianChain, values: Array) -> Array:
    """(position, state) log-density of each row given the state; missing numbers are summed out.

    Parameters
    ----------
    chain : GaussianChain
    values : (position, column)
        NaN where a number is missing.
    """
    from tacit.sequences.loops.gaussian_densities import correlated, independent

    out = np.empty((len(values), chain.n_states))
    if chain.diagonal or chain.n_columns == 1:
        deviations = np.ascontiguousarray(np.diagonal(chain.factors, axis1=1, axis2=2))
        independent(values, chain.means, deviations, out)
        return out
    for there, rows in patterns_of(values):
        if not there.any():
            out[rows] = 0.0
            continue
        whole = there.all()
        factors = chain.factors
        if not whole:
            inner = chain.covariances[:, there][:, :, there]
            factors = np.asarray(np.linalg.cholesky(inner), dtype=np.float64)
        log_sizes = np.log(np.diagonal(factors, axis1=1, axis2=2)).sum(axis=1)
        found = out if len(rows) == len(values) else np.empty((len(rows), chain.n_states))
        own = values if whole and found is out else values[np.ix_(rows, np.flatnonzero(there))]
        means = np.ascontiguousarray(chain.means[:, there])
        correlated(own, means, np.linalg.inv(factors), log_sizes, found)
        if found is not out:
            out[rows] = found
    return out


def patterns_of(values: Array) -> Iterator[tuple[NDArray[np.bool_], Integers]]:
    """Which columns are there, (column,) flags, and the rows where just these are."""
    gone = np.isnan(values)
    some = gone.any(axis=1)
    whole = np.flatnonzero(~some)
    if len(whole):
        yield np.ones(values.shape[1], dtype=np.bool_), whole
    rest = np.flatnonzero(some)
    if len(rest):
        kinds, which = np.unique(gone[rest], axis=0, return_inverse=True)
        for place, kind in enumerate(kinds):
            yield ~kind, rest[which.ravel() == place]


def number_evidence(chain: GaussianChain, values: Array, ends: Integers) -> StateEvidence:
    """What rows of numbers say of the states, see `log_densities`."""
    from tacit.sequences.loops.gaussian_densities import exponentials

    likelihoods, taken = log_densities(chain, values), np.empty(len(values))
    exponentials(likelihoods, taken)
    return StateEvidence(likelihoods, taken, ends)


def next_quantiles(chain: GaussianChain, weights: Array, shares: Array) -> Array:
    """(row, column, share) quantiles of the numbers that states show; NaN where all weights are zero.

    Each column has a mixture of normal densities, whose distribution function is inverted by bisection.

    Parameters
    ----------
    chain : GaussianChain
    weights : (row, state)
        Probabilities of the states.
    shares : (share,)
        Between 0 and 1, without these.
    """
    from scipy.special import ndtr, ndtri

    found = np.full((len(weights), chain.n_columns, len(shares)), np.nan)
    known = weights.sum(axis=1) > 0
    for column in range(chain.n_columns):
        means, deviations = chain.means[:, column], np.sqrt(chain.covariances[:, column, column])
        alone = means[:, None] + deviations[:, None] * ndtri(shares)  # (state, share)
        low = np.tile(alone.min(axis=0), (int(known.sum()), 1))
        high = np.tile(alone.max(axis=0), (len(low), 1))
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            below = ndtr((middle[:, :, None] - means) / deviations)  # (row, share, state)
            over = np.einsum("rsm,rm->rs", below, weights[known]) > shares
            low, high = np.where(over, low, middle), np.where(over, middle, high)
        found[known, column] = 0.5 * (low + high)
    return found


def drawn_rows(chain: GaussianChain, states: Codes, rng: np.random.Generator) -> Array:
    """(draw, time, column) a row of numbers for each state."""
    noise = rng.normal(size=(*states.shape, chain.n_columns))
    return np.asarray(
        chain.means[states] + np.einsum("...ij,...j->...i", chain.factors[states], noise)
    )
