"""Rows of numbers as symbols: the cell of the plane each falls into.

Counts of cells in windows of three are moments of three views, whatever the densities look like; a model of
cells says which state was where, and hence where to begin with densities.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tacit.sequences.model.gaussian_hmm import GaussianChain

Array = NDArray[np.float64]

_FEWEST = 0.1  # share of random transitions that go anywhere
SMALL = 0.3  # a variance of states beside that of all rows


def neighbours(values: Array, ends: NDArray[np.int64]) -> Array:
    """(position, column) the mean of the rows before and after in the same sequence, on a common scale.

    Zero where neither is there.
    """
    later = np.ones(len(values), dtype=bool)  # than the first of a sequence
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
    """States of given densities that stay in half of the transitions, and go anywhere in the others."""
    k = len(means)
    transitions = 0.5 * np.eye(k) + 0.5 / k
    return GaussianChain(np.full(k, 1 / k), transitions, means, covariances, diagonal)


def with_random_transitions(chain: GaussianChain, rng: np.random.Generator) -> GaussianChain:
    """The same states with few likely transitions from each, wherever these go."""
    k = chain.n_states
    transitions = (1 - _FEWEST) * rng.dirichlet(np.full(k, 1 / k), k) + _FEWEST / k
    return replace(chain, transitions=transitions)


def by_rows(
    values: Array, n_states: int, rng: np.random.Generator, *, wide: float, diagonal: bool
) -> GaussianChain:
    """States about rows at random, as wide as all rows or a share of that, half of the transitions at random.

    Parameters
    ----------
    values : (position, column)
        On a common scale, about zero; none is missing.
    n_states : int
    rng : Generator
    wide : float
        Variances of states in units of those of columns.
    diagonal : bool
    """
    k, d = n_states, values.shape[1]
    means = values[rng.choice(len(values), k, replace=len(values) < k)]
    spread = values.T @ values / len(values) + 1e-6 * np.eye(d)
    covariances = np.repeat(wide * spread[None] * (np.eye(d) if diagonal else 1.0), k, axis=0)
    transitions = 0.5 * np.eye(k) + 0.5 * rng.dirichlet(np.ones(k), k)
    return GaussianChain(np.full(k, 1 / k), transitions, means, covariances, diagonal)
