"""Tags that a sentence cannot do without: one of several that stand for each other is nearly always there."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def needed_tags(
    has: NDArray[np.bool_], lengths: NDArray[np.int64], weights: Array, rates: Array
) -> list[int]:
    """The set of tags missing from far fewer sentences than its frequency lets one expect.

    If words came by chance, a sentence of n words would lack a set of tags that makes up a share r of all
    words with probability (1 - r)^n. The set is the one whose missing sentences are the most standard
    deviations below that, among those grown tag by tag from each single tag. Where tags tell the forms of
    verbs apart, it is made of those with which a predicate begins.

    Parameters
    ----------
    has : (sentence, tag) array
        Whether a sentence has a tag.
    lengths : (sentence,) array
        Numbers of words.
    weights : (sentence,) array
        How often a sentence was seen.
    rates : (tag,) array
        The share of each tag in all words.

    Returns
    -------
    list of int
        The tags, ascending; empty where no set is missing less often than by chance.

    Examples
    --------
    >>> has = np.array(
    ...     [[1, 0, 1], [0, 1, 1], [1, 0, 0], [0, 1, 1]], dtype=bool
    ... )  # 0 or 1, never none
    >>> needed_tags(has, np.full(4, 2), np.full(4, 9.0), np.array([0.2, 0.2, 0.6]))
    [0, 1]
    """
    sizes, places = np.unique(lengths, return_inverse=True)
    times = np.bincount(places, weights=weights).astype(np.float64)
    lacks = (~has).astype(np.float64)
    best, chosen = 0.0, np.zeros(has.shape[1], dtype=bool)
    alone = _surprise(weights @ lacks, rates, sizes, times)
    for start in range(has.shape[1]):
        some, value = np.zeros(has.shape[1], dtype=bool), -np.inf
        more, values, without, left = start, alone, lacks, weights
        while values[more] > value:
            value = values[more]
            some[more] = True
            kept = np.flatnonzero(without[:, more])  # sentences that have none of them
            without, left = without[kept], left[kept]
            values = _surprise(left @ without, rates[some].sum() + rates, sizes, times)
            values[some] = -np.inf
            more = int(np.argmax(values))
        if value > best:
            best, chosen = value, some
    return [int(tag) for tag in np.flatnonzero(chosen)]


def _surprise(missing: Array, rates: Array, sizes: NDArray[np.int64], times: Array) -> Array:
    """Standard deviations by which so many sentences without some tags are fewer than by chance."""
    chance = np.maximum(1.0 - rates[:, None], 0.0) ** sizes  # (set, length)
    spread = np.sqrt((chance * (1.0 - chance)) @ times + 1.0)
    return np.asarray((chance @ times - missing) / spread)
