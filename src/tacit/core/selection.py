"""Model selection by the scores of held-out rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# A larger model must be better than a smaller one by so many standard errors. Of 0, 0.25, 0.5, 1 and 2: with
# none, too many states are taken by chance; from a half on, real tables get too few.
MARGIN = 0.25
# The logarithm of probability zero: very low, but finite.
IMPOSSIBLE = -1e9
# Log-likelihoods that differ by less, relative to their size, differ by rounding.
ROUNDING = 1e-10


def surely_better(one: Array, other: Array, weights: Array | None, margin: float = 1.0) -> bool:
    """Whether rows are likelier under one model, by more than some standard errors.

    The standard error is that of the mean difference between the same rows. A gain within rounding is none.

    Parameters
    ----------
    one, other : (row,)
        Log-likelihoods.
    weights : (row,), optional
        How often each row is there.
    margin : float
    """
    weights = np.ones(len(one)) if weights is None else weights
    gain = np.fmax(one, IMPOSSIBLE) - np.fmax(other, IMPOSSIBLE)
    mean = float(np.average(gain, weights=weights))
    spread = float(np.average((gain - mean) ** 2, weights=weights))
    sizes = np.where(other > IMPOSSIBLE, np.abs(other), 0.0)
    rounding = ROUNDING * float(np.average(sizes, weights=weights))
    return bool(mean > max(margin * np.sqrt(spread / weights.sum()), rounding))


def smallest_enough(scores: Sequence[Array], weights: Array | None) -> int:
    """The place of the model to keep: a larger one only where it is better than the best so far by a margin.

    Parameters
    ----------
    scores : sequence of (row,)
        Log-likelihoods of the same rows under models from small to large.
    weights : (row,), optional
        How often each row is there.
    """
    best = 0
    for place, rows in enumerate(scores):
        if surely_better(rows, scores[best], weights, MARGIN):
            best = place
    return best
