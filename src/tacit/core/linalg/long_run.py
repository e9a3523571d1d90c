"""How often states are visited in the long run."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def long_run(transitions: Array) -> Array:
    """(state,) stationary probabilities of a Markov chain."""
    k = len(transitions)
    system = np.vstack([transitions.T - np.eye(k), np.ones(k)])
    right = np.append(np.zeros(k), 1.0)
    visits = np.maximum(np.linalg.lstsq(system, right, rcond=None)[0], 0.0)
    return np.asarray(visits / visits.sum())
