"""Merge-and-split starts for Gaussian hidden Markov models: two states become one, another becomes two.

EM does not leave an optimum where two states share what is one and one stands for two. Merging the pair and
splitting the other gives a start outside it, with all other states in place.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from tacit.sequences.model.gaussian_hmm import GaussianChain

Array = NDArray[np.float64]

_APART = (
    0.7  # half the distance of the two means, in deviations of the state along its longest axis
)
_NARROW = (
    0.5  # the smaller of two variances about one mean, in units of the state's; both add up to two
)
_STAY = 0.7  # self-transition within the pair


def joined(chain: GaussianChain, visits: Array, first: int, second: int) -> GaussianChain:
    """Two states merged, with their joint mean and covariance, in the first's place.

    Parameters
    ----------
    chain : GaussianChain
    visits : (state,)
        How often each is visited.
    first, second : int
    """
    pair = [first, second]
    weights = visits[pair] / visits[pair].sum()
    means, covariances = chain.means.copy(), chain.covariances.copy()
    initial, transitions = chain.initial.copy(), chain.transitions.copy()
    means[first] = weights @ chain.means[pair]
    away = chain.means[pair] - means[first]
    spread = chain.covariances[pair] + away[:, :, None] * away[:, None, :]
    covariances[first] = np.einsum("s,sij->ij", weights, spread)
    if chain.diagonal:
        covariances[first] *= np.eye(chain.n_columns)
    initial[first] += initial[second]
    transitions[first] = weights @ transitions[pair]
    transitions[:, first] += transitions[:, second]
    others = np.delete(np.arange(chain.n_states), second)
    parts = initial[others], transitions[np.ix_(others, others)], means[others], covariances[others]
    return GaussianChain(*parts, chain.diagonal)


def parted(chain: GaussianChain, state: int, *, aside: bool) -> GaussianChain:
    """A state split in two with the same joint mean and covariance; they come last, with self-transitions.

    Parameters
    ----------
    chain : GaussianChain
    state : int
    aside : bool
        Whether the two are beside each other, along the longest axis, or a narrow and a wide one about the
        same mean.
    """
    mean, covariance = chain.means[state], chain.covariances[state]
    if aside:
        lengths, axes = np.linalg.eigh(covariance)
        step = _APART * np.sqrt(lengths[-1]) * axes[:, -1]
        means, left = [mean - step, mean + step], covariance - np.outer(step, step)
        spreads = [left * np.eye(chain.n_columns) if chain.diagonal else left] * 2
    else:
        means, spreads = [mean, mean], [_NARROW * covariance, (2 - _NARROW) * covariance]
    others = np.delete(np.arange(chain.n_states), state)
    order = np.concatenate([others, [state, state]])
    initial, transitions = chain.initial[order], chain.transitions[np.ix_(order, order)]
    initial[-2:] *= 0.5
    transitions[:, -2:] *= 0.5
    within = chain.transitions[state, state]
    transitions[-2:, -2:] = within * np.array([[_STAY, 1 - _STAY], [1 - _STAY, _STAY]])
    return GaussianChain(
        initial,
        transitions,
        np.vstack([chain.means[others], means]),
        np.concatenate([chain.covariances[others], spreads]),
        chain.diagonal,
    )


def regroupings(
    chain: GaussianChain, visits: Array, n: int, rng: np.random.Generator
) -> dict[str, GaussianChain]:
    """Random merge-and-split candidates, by a description."""
    k = chain.n_states
    choices = [
        (*pair, state, aside)
        for pair in combinations(range(k), 2)
        for state in range(k - 1)
        for aside in (True, False)
    ]
    candidates = {}
    for place in rng.permutation(len(choices))[:n]:
        first, second, state, aside = choices[place]
        one = joined(chain, visits, first, second)
        old = np.delete(np.arange(k), second)[state]
        name = f"states {first} and {second} joined, {old} parted {'aside' if aside else 'about'}"
        candidates[name] = parted(one, state, aside=aside)
    return candidates
