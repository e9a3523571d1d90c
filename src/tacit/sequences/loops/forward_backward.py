"""Compiled passes over chains of hidden states: forward, and forward with backward.

Sequences stand one after the other; `ends` says where each starts, and where the last one ends. What the
observations say comes as likelihoods of the states at each position, whatever they were made of.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

TINY = 1e-300


@njit(cache=True, nogil=True)
def forward(initial, transitions, likelihoods, ends, now, logs):
    """Probabilities of states given all up to each position, and logarithms of one-step likelihoods.

    Parameters
    ----------
    start : (state,)
    transitions : (state, next state)
    likelihoods : (position, state)
    ends : (sequence + 1,)
    now : (position, state)  filled
    logs : (position,)  filled
    """
    k = len(initial)
    before = np.empty(k)
    for sequence in range(len(ends) - 1):
        for m in range(k):
            before[m] = initial[m]
        for t in range(ends[sequence], ends[sequence + 1]):
            total = 0.0
            for m in range(k):
                now[t, m] = before[m] * likelihoods[t, m]
                total += now[t, m]
            total = max(total, TINY)
            logs[t] = math.log(total)
            for m in range(k):
                now[t, m] /= total
            for n in range(k):
                before[n] = 0.0
            for m in range(k):
                share = now[t, m]
                for n in range(k):
                    before[n] += share * transitions[m, n]


@njit(cache=True, nogil=True)
def forward_backward(
    initial, transitions, likelihoods, ends, posterior, logs, initial_counts, counts
):
    """Posteriors of states given whole sequences, expected initial states and transitions.

    Parameters
    ----------
    initial, transitions, likelihoods, ends, logs : see `forward`
    posterior : (position, state)  filled
    initial_counts : (state,)  expected counts are added
    counts : (state, next state)  expected counts of transitions are added
    """
    k = len(initial)
    forward(initial, transitions, likelihoods, ends, posterior, logs)
    beyond = np.empty(k)
    ahead = np.empty(k)
    for sequence in range(len(ends) - 1):
        first, stop = ends[sequence], ends[sequence + 1]
        if first == stop:
            continue
        for m in range(k):
            beyond[m] = 1.0
        for t in range(stop - 2, first - 1, -1):
            scale = math.exp(-logs[t + 1])
            for n in range(k):
                ahead[n] = likelihoods[t + 1, n] * beyond[n] * scale
            for m in range(k):
                summed = 0.0
                share = posterior[t, m]  # so far given the past alone
                for n in range(k):
                    through = transitions[m, n] * ahead[n]
                    summed += through
                    counts[m, n] += share * through
                beyond[m] = summed
                posterior[t, m] = share * summed
        for m in range(k):
            initial_counts[m] += posterior[first, m]


@njit(cache=True, nogil=True)
def shared_log(logs, ends, leak):
    """Summed log-density of a model that follows one of several and changes between them now and then.

    Parameters
    ----------
    logs : (model, position)
        Log-densities of each model, given what came before.
    ends : (sequence + 1,)
        All models are as likely at the start of each sequence, and after a change.
    leak : float
        Chance of a change at each position.
    """
    n_models = len(logs)
    even = 1.0 / n_models
    weights = np.empty(n_models)
    summed = 0.0
    for sequence in range(len(ends) - 1):
        for each in range(n_models):
            weights[each] = even
        for t in range(ends[sequence], ends[sequence + 1]):
            top = logs[0, t]
            for each in range(1, n_models):
                top = max(top, logs[each, t])
            total = 0.0
            for each in range(n_models):
                weights[each] *= math.exp(logs[each, t] - top)
                total += weights[each]
            summed += math.log(total) + top
            for each in range(n_models):
                weights[each] = (1.0 - leak) * weights[each] / total + leak * even
    return summed
