"""Chains with explicit durations, by going through all ways to cut a sequence into segments."""

from itertools import product

import numpy as np


def random_segment_chain(n_states, n_ages, seed, *, mask=None):
    """Initial probabilities, transitions without self-transitions, and hazards (age, state)."""
    rng = np.random.default_rng(seed)
    allowed = ~np.eye(n_states, dtype=bool) if mask is None else mask
    transitions = rng.dirichlet(np.ones(n_states), n_states) * allowed
    transitions += np.diag(
        (transitions.sum(axis=1) == 0).astype(float)
    )  # the last of left-to-right
    transitions /= transitions.sum(axis=1, keepdims=True)
    initial = rng.dirichlet(np.ones(n_states))
    return initial, transitions, rng.uniform(0.1, 0.9, (n_ages, n_states))


def duration_table(hazards, longest):
    """P(duration = d) and P(duration >= d), each (longest + 1, state); the last hazard holds for ever."""
    n_ages, k = hazards.shape
    exactly, at_least = np.zeros((longest + 1, k)), np.ones((longest + 1, k))
    for d in range(1, longest + 1):
        hazard = hazards[min(d, n_ages) - 1]
        exactly[d] = at_least[d] * hazard
        if d < longest:
            at_least[d + 1] = at_least[d] * (1 - hazard)
    return exactly, at_least


def compositions(length):
    """All ordered sums of positive integers."""
    if length == 0:
        yield ()
    for first in range(1, length + 1):
        for rest in compositions(length - first):
            yield (first, *rest)


def all_segmentations(initial, transitions, hazards, likelihoods):
    """(states, lengths, P(these and the observations)) of all segmentations; the last one is censored."""
    length, k = likelihoods.shape
    exactly, at_least = duration_table(hazards, length)
    for lengths in compositions(length):
        for states in product(range(k), repeat=len(lengths)):
            value, place = initial[states[0]], 0
            for i, (state, duration) in enumerate(zip(states, lengths, strict=True)):
                if i > 0:
                    value *= transitions[states[i - 1], state]
                is_last = i == len(lengths) - 1
                value *= (at_least if is_last else exactly)[duration, state]
                value *= likelihoods[place : place + duration, state].prod()
                place += duration
            yield states, lengths, value


def expected_by_segments(initial, transitions, hazards, likelihoods):
    """The likelihood, and expectations given the whole sequence.

    Returns
    -------
    float, then arrays (position, state), (state,), (state, next state), (age, state), (age, state)
        The likelihood; posteriors, first segments, transitions, ends and stays by age.
    """
    length, k = likelihoods.shape
    n_ages = len(hazards)
    posterior, firsts, pairs = np.zeros((length, k)), np.zeros(k), np.zeros((k, k))
    endings, stays, total = np.zeros((n_ages, k)), np.zeros((n_ages, k)), 0.0
    for states, lengths, value in all_segmentations(initial, transitions, hazards, likelihoods):
        total += value
        firsts[states[0]] += value
        place = 0
        for i, (state, duration) in enumerate(zip(states, lengths, strict=True)):
            posterior[place : place + duration, state] += value
            place += duration
            for age in range(1, duration):
                stays[min(age, n_ages) - 1, state] += value
            if i < len(lengths) - 1:
                endings[min(duration, n_ages) - 1, state] += value
                pairs[state, states[i + 1]] += value
    if total > 0:
        for expected in (posterior, firsts, pairs, endings, stays):
            np.divide(expected, total, out=expected)
    return total, posterior, firsts, pairs, endings, stays


def most_likely_segments(initial, transitions, hazards, likelihoods):
    """States by position of the most likely segmentation, and its joint probability with the observations."""
    best = max(
        all_segmentations(initial, transitions, hazards, likelihoods), key=lambda triple: triple[2]
    )
    return np.repeat(best[0], best[1]), best[2]


def path_weights(initial, transitions, hazards, likelihoods):
    """All paths of states by position that are possible, (path, time), and P(path, observations) of each."""
    weights = {}
    for states, lengths, value in all_segmentations(initial, transitions, hazards, likelihoods):
        path = tuple(np.repeat(states, lengths).tolist())
        weights[path] = weights.get(path, 0.0) + value
    return np.array(list(weights)), np.array(list(weights.values()))
