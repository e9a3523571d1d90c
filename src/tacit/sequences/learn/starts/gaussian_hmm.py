"""Starts for Gaussian hidden Markov models: densities and transitions before EM."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tacit.sequences.model.gaussian_hmm import GaussianChain

Array = NDArray[np.float64]

_FEWEST = 0.1  # uniform part of random transitions
SMALL = 0.3  # variance of states relative to that of all rows


def neighbours(values: Array, ends: NDArray[np.int64]) -> Array:
    """(position, column) the mean of the rows before and after in the same sequence, on a common scale.

    Zero where neither is observed.
    """
    later = np.ones(len(values), dtype=bool)  # not the first of a sequence
    later[ends[:-1][np.diff(ends) > 0]] = False
    second = np.flatnonzero(later)
    known = ~np.isnan(values)
    filled = np.where(known, values, 0.0)
    sums, counts = np.zeros_like(filled), np.zeros_like(filled)
    for place, other in ((second, second - 1), (second - 1, second)):
        sums[place] += filled[other]
        counts[place] += known[other]
    means = sums / np.maximum(counts, 1.0)
    spread = means.std(axis=0)
    return np.asarray(means / np.where(spread > 0, spread, 1.0))


def even_chain(means: Array, covariances: Array, *, diagonal: bool) -> GaussianChain:
    """States of given densities; half of each transition row is self-transition, half uniform."""
    k = len(means)
    transitions = 0.5 * np.eye(k) + 0.5 / k
    return GaussianChain(np.full(k, 1 / k), transitions, means, covariances, diagonal)


def with_random_transitions(chain: GaussianChain, rng: np.random.Generator) -> GaussianChain:
    """The same states with sparse random transitions."""
    k = chain.n_states
    transitions = (1 - _FEWEST) * rng.dirichlet(np.full(k, 1 / k), k) + _FEWEST / k
    return replace(chain, transitions=transitions)


def by_rows(
    values: Array, n_states: int, rng: np.random.Generator, *, scale: float, diagonal: bool
) -> GaussianChain:
    """States centred at random rows, with scaled covariance of all rows; half of the transitions at random.

    Parameters
    ----------
    values : (position, column)
        On a common scale, about zero; none is missing.
    n_states : int
    rng : Generator
    scale : float
        Variances of states in units of those of columns.
    diagonal : bool
    """
    k, d = n_states, values.shape[1]
    means = values[rng.choice(len(values), k, replace=len(values) < k)]
    spread = values.T @ values / len(values) + 1e-6 * np.eye(d)
    covariances = np.repeat(scale * spread[None] * (np.eye(d) if diagonal else 1.0), k, axis=0)
    transitions = 0.5 * np.eye(k) + 0.5 * rng.dirichlet(np.ones(k), k)
    return GaussianChain(np.full(k, 1 / k), transitions, means, covariances, diagonal)
