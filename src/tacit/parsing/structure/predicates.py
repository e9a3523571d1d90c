"""The tags with which predicates begin: nearly every sentence has one of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def needed_tags(
    has: NDArray[np.bool_], lengths: NDArray[np.int64], weights: Array, rates: Array
) -> list[int]:
    """The set of tags missing from far fewer sentences than its frequency lets one expect.

    If tags were independent, a sentence of n words would lack a set of tags that makes up a fraction r of
    all words with probability (1 - r)^n. The set is the one whose missing sentences are the most standard
    deviations below that, among those grown tag by tag from each single tag. Where tags distinguish the forms
    of verbs, it is made of those with which a predicate begins.

    Parameters
    ----------
    has : (sentence, tag) array
        Whether a sentence has a tag.
    lengths : (sentence,) array
        Numbers of words.
    weights : (sentence,) array
        How often a sentence was seen.
    rates : (tag,) array
        The fraction of each tag in all words.

    Returns
    -------
    list of int
        The tags, ascending; empty where no set is missing less often than expected.

    Examples
    --------
    >>> has = np.array(
    ...     [[1, 0, 1], [0, 1, 1], [1, 0, 0], [0, 1, 1]], dtype=bool
    ... )  # 0 or 1, never none
    >>> needed_tags(has, np.full(4, 2), np.full(4, 9.0), np.array([0.2, 0.2, 0.6]))
    [0, 1]
    """
    sizes, places = np.unique(lengths, return_inverse=True)
    n_sentences = np.bincount(places, weights=weights).astype(np.float64)
    lacks = (~has).astype(np.float64)
    best, chosen = 0.0, np.zeros(has.shape[1], dtype=bool)
    of_single_tags = _surprise(weights @ lacks, rates, sizes, n_sentences)
    for start in range(has.shape[1]):
        members, value = np.zeros(has.shape[1], dtype=bool), -np.inf
        candidate, values, without, left = start, of_single_tags, lacks, weights
        while values[candidate] > value:
            value = values[candidate]
            members[candidate] = True
            remaining = np.flatnonzero(without[:, candidate])  # sentences that have none of them
            without, left = without[remaining], left[remaining]
            values = _surprise(left @ without, rates[members].sum() + rates, sizes, n_sentences)
            values[members] = -np.inf
            candidate = int(np.argmax(values))
        if value > best:
            best, chosen = value, members
    return [int(tag) for tag in np.flatnonzero(chosen)]


def _surprise(missing: Array, rates: Array, sizes: NDArray[np.int64], n_sentences: Array) -> Array:
    """Standard deviations by which fewer sentences lack some tags than expected."""
    chance = np.maximum(1.0 - rates[:, None], 0.0) ** sizes  # (set, length)
    spread = np.sqrt((chance * (1.0 - chance)) @ n_sentences + 1.0)
    return np.asarray((chance @ n_sentences - missing) / spread)
