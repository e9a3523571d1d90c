"""Transitions of a hidden Markov model whose sequences start anywhere in a long run.

Initial probabilities are then the stationary ones, which follow from the transitions: counts of initial
states say something of transitions too, and the best transitions are not the relative counts.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.sequences.model.chains import ChainTables

Array = NDArray[np.float64]

STEPS = 4  # that a step of EM takes towards the best transitions
_HALVINGS = 8
_LEAST = 1e-300


def long_run(transitions: Array) -> Array:
    """(state,) how often each state is visited."""
    return ChainTables(np.zeros(len(transitions)), transitions, ()).stationary


def expected_log(starts: Array, counts: Array, transitions: Array) -> float:
    """Expected log-probability of initial states and transitions."""
    logs = counts * np.log(np.maximum(transitions, _LEAST))
    return float(logs.sum() + starts @ np.log(np.maximum(long_run(transitions), _LEAST)))


def stationary_transitions(
    starts: Array, counts: Array, transitions: Array, n_steps: int = STEPS
) -> Array:
    """Transitions under which the expected counts are likelier than under the given ones, never less likely.

    Each step multiplies the transitions by the derivative of `expected_log` (Baum and Eagon 1967), and goes
    back half the way as long as that is too far. The derivative of stationary probabilities p is p[i] Z[j],
    where Z is the inverse of ``1 - transitions + p`` (Schweitzer 1968).

    Parameters
    ----------
    starts : (state,)
        Expected counts, with pseudo-counts.
    counts : (state, next state)
        The same of transitions.
    transitions : (state, next state)
        Where to begin; entries that are zero stay zero.
    n_steps : int
    """
    k = len(transitions)
    value = expected_log(starts, counts, transitions)
    for _ in range(n_steps):
        shares = long_run(transitions)
        wanted = starts / np.maximum(shares, 1e-12)
        pull = np.linalg.lstsq(np.eye(k) - transitions + shares, wanted, rcond=None)[0]
        trial = counts + shares[:, None] * transitions * (pull - pull.min())
        sums = trial.sum(axis=1, keepdims=True)
        trial = np.where(sums > 0, trial / np.where(sums > 0, sums, 1.0), transitions)
        for _ in range(_HALVINGS):
            found = expected_log(starts, counts, trial)
            if found > value:
                break
            trial = 0.5 * (trial + transitions)
        else:
            break
        transitions, value = trial, found
    return transitions
