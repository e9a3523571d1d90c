"""States of a chain of normal numbers grouped anew: two of them made one, and another made two.

EM moves states but does not move them through each other: where two share what is one state and one stands
for two, it stays. Chains that are grouped otherwise begin elsewhere with all the rest in place.
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
_STAY = 0.7  # of transitions within the two, the share that stays with one


def joined(chain: GaussianChain, visits: Array, first: int, second: int) -> GaussianChain:
    """Two states made one, of the mean and the covariance that both have together, in the first's place.

    Parameters
    ----------
    chain : GaussianChain
    visits : (state,)
        How often each is visited.
    first, second : int
    """
    pair = [first, second]
    shares = visits[pair] / visits[pair].sum()
    means, covariances = chain.means.copy(), chain.covariances.copy()
    initial, transitions = chain.initial.copy(), chain.transitions.copy()
    means[first] = shares @ chain.means[pair]
    away = chain.means[pair] - means[first]
    spread = chain.covariances[pair] + away[:, :, None] * away[:, None, :]
    covariances[first] = np.einsum("s,sij->ij", shares, spread)
    if chain.diagonal:
        covariances[first] *= np.eye(chain.n_columns)
    initial[first] += initial[second]
    transitions[first] = shares @ transitions[pair]
    transitions[:, first] += transitions[:, second]
    kept = np.delete(np.arange(chain.n_states), second)
    parts = initial[kept], transitions[np.ix_(kept, kept)], means[kept], covariances[kept]
    return GaussianChain(*parts, chain.diagonal)


def parted(chain: GaussianChain, state: int, *, aside: bool) -> GaussianChain:
    """A state made two of the same mean and covariance together; they come last, and tend to stay.

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
    """Some of the chains with two states made one and one made two, at random, by what was done."""
    k = chain.n_states
    ways = [
        (*pair, state, aside)
        for pair in combinations(range(k), 2)
        for state in range(k - 1)
        for aside in (True, False)
    ]
    found = {}
    for place in rng.permutation(len(ways))[:n]:
        first, second, state, aside = ways[place]
        one = joined(chain, visits, first, second)
        old = np.delete(np.arange(k), second)[state]
        name = f"states {first} and {second} joined, {old} parted {'aside' if aside else 'about'}"
        found[name] = parted(one, state, aside=aside)
    return found
