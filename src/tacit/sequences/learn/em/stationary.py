"""Transitions of a hidden Markov model whose initial probabilities are stationary.

Initial probabilities follow from the transitions: counts of initial states say something of transitions too,
and the maximum-likelihood transitions are not the relative counts.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.core.linalg.long_run import long_run

Array = NDArray[np.float64]

STEPS = 4  # of the inner ascent in each step of EM
_HALVINGS = 8
_LEAST = 1e-300


def expected_log(starts: Array, counts: Array, transitions: Array) -> float:
    """Expected log-probability of initial states and transitions."""
    logs = counts * np.log(np.maximum(transitions, _LEAST))
    return float(logs.sum() + starts @ np.log(np.maximum(long_run(transitions), _LEAST)))


def stationary_transitions(
    starts: Array, counts: Array, transitions: Array, n_steps: int = STEPS
) -> Array:
    """Transitions under which the expected counts are more likely than under the given ones, or as likely.

    Each step multiplies the transitions by the derivative of `expected_log` (Baum and Eagon 1967), and is
    halved as long as it is too long. The derivative of stationary probabilities p is p[i] Z[j],
    where Z is the inverse of ``1 - transitions + p`` (Schweitzer 1968).

    Parameters
    ----------
    starts : (state,)
        Expected counts, with pseudo-counts.
    counts : (state, next state)
        Of transitions.
    transitions : (state, next state)
        The start; entries that are zero stay zero.
    n_steps : int
    """
    k = len(transitions)
    value = expected_log(starts, counts, transitions)
    for _ in range(n_steps):
        stationary = long_run(transitions)
        ratios = starts / np.maximum(stationary, 1e-12)
        pull = np.linalg.lstsq(np.eye(k) - transitions + stationary, ratios, rcond=None)[0]
        trial = counts + stationary[:, None] * transitions * (pull - pull.min())
        sums = trial.sum(axis=1, keepdims=True)
        trial = np.where(sums > 0, trial / np.where(sums > 0, sums, 1.0), transitions)
        for _ in range(_HALVINGS):
            improved = expected_log(starts, counts, trial)
            if improved > value:
                break
            trial = 0.5 * (trial + transitions)
        else:
            break
        transitions, value = trial, improved
    return transitions
