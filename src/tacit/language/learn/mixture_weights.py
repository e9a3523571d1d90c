"""Weights of mixtures of language models."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

MAX_STEPS, TOLERANCE = 200, 1e-9


def mixture_weights(probs: Array) -> tuple[Array, int]:
    """(model,) the maximum likelihood weights of a mixture, by EM, and the number of steps.

    Parameters
    ----------
    probs : (model, word)
        The probability of each word by each model.
    """
    weights = np.full(len(probs), 1 / len(probs))
    best = -np.inf
    for step in range(1, MAX_STEPS + 1):
        parts = weights[:, None] * probs
        totals = parts.sum(axis=0)
        possible = totals > 0
        mean = float(np.log(totals[possible]).mean()) if possible.any() else -np.inf
        if mean - best < TOLERANCE:
            return weights, step
        best = mean
        weights = (parts[:, possible] / totals[possible]).mean(axis=1)
    return weights, MAX_STEPS
