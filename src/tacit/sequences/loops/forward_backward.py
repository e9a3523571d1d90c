"""Compiled forward and forward-backward passes over chains of hidden states.

Sequences stand one after the other; `ends` says where each starts, and where the last one ends. Observations
enter as likelihoods of the states at each position, whatever the emissions are.
"""

from __future__ import annotations

import math

import numpy as np

from tacit.core.loops.compiled import njit

TINY = 1e-300


@njit(cache=True, nogil=True)
def forward(initial, transitions, likelihoods, ends, now, logs):
    """Filtered probabilities of states at each position, and logarithms of one-step likelihoods.

    Parameters
    ----------
    initial : (state,)
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
                prob = now[t, m]
                for n in range(k):
                    before[n] += prob * transitions[m, n]


@njit(cache=True, nogil=True)
def forward_backward(
    initial, transitions, likelihoods, ends, posterior, logs, initial_counts, counts
):
    """Posteriors of states given complete sequences; expected initial states and transitions.

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
                prob = posterior[t, m]  # filtered, given the past alone
                for n in range(k):
                    through = transitions[m, n] * ahead[n]
                    summed += through
                    counts[m, n] += prob * through
                beyond[m] = summed
                posterior[t, m] = prob * summed
        for m in range(k):
            initial_counts[m] += posterior[first, m]


@njit(cache=True, nogil=True)
def switching_log_likelihood(logs, ends, leak):
    """Log-likelihood of a model that follows one of several models and sometimes switches between them.

    Parameters
    ----------
    logs : (model, position)
        One-step log-densities of each model.
    ends : (sequence + 1,)
        Models are equally likely at the start of each sequence, and after a switch.
    leak : float
        Probability of a switch at each position.
    """
    n_models = len(logs)
    uniform = 1.0 / n_models
    weights = np.empty(n_models)
    summed = 0.0
    for sequence in range(len(ends) - 1):
        for model in range(n_models):
            weights[model] = uniform
        for t in range(ends[sequence], ends[sequence + 1]):
            top = logs[0, t]
            for model in range(1, n_models):
                top = max(top, logs[model, t])
            total = 0.0
            for model in range(n_models):
                weights[model] *= math.exp(logs[model, t] - top)
                total += weights[model]
            summed += math.log(total) + top
            for model in range(n_models):
                weights[model] = (1.0 - leak) * weights[model] / total + leak * uniform
    return summed
