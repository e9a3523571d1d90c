"""Compiled random paths over chains of hidden states with explicit durations; see `loops/semi_markov.py`."""

from __future__ import annotations

import math

import numpy as np

from tacit.core.loops.compiled import njit


@njit(cache=True, nogil=True)
def draw_paths(first, hazards, transitions, uniforms, states):
    """Paths of hidden states.

    Parameters
    ----------
    first : (age * state,)
        Cumulative probabilities of age and state at the first time.
    hazards : (age, state)
    transitions : (state, next state)
        Cumulative probabilities in each row.
    uniforms : (draw, time)
        Random numbers from 0 to 1.
    states : (draw, time)  filled
    """
    n_ages, k = hazards.shape
    n, length = uniforms.shape
    for draw in range(n):
        age, state = 0, 0
        for t in range(length):
            uniform = uniforms[draw, t]
            if t == 0:
                top = len(first) - 1
                place = np.searchsorted(first, uniform * first[top], side="right")
                age, state = divmod(min(place, top), k)
            elif uniform < hazards[age, state]:
                row = transitions[state]
                within = uniform / hazards[age, state] * row[k - 1]
                state = min(np.searchsorted(row, within, side="right"), k - 1)
                age = 0
            else:
                age = min(age + 1, n_ages - 1)
            states[draw, t] = state


@njit(cache=True, nogil=True)
def draw_posterior_paths(transitions, hazards, likelihoods, ends, passes, uniforms, states):
    """Paths of hidden states given whole sequences, drawn segment by segment from the last to the first.

    Of each segment the state is drawn, then how long it lasted.

    Parameters
    ----------
    transitions : (state, next state)
        From a segment to the next one.
    hazards : (age, state)
    likelihoods : (position, state)
    ends : (sequence + 1,)
    passes : begun, ended, oldest, now (position, state) and logs (position,)
        Of `semi_markov.forward`.
    uniforms : (2, position, draw)
        Random numbers from 0 to 1.
    states : (position, draw)
        Filled, but for sequences that are impossible.
    """
    begun, ended, oldest, now, logs = passes
    k = hazards.shape[1]
    weights = np.empty(k)
    for sequence in range(len(ends) - 1):
        first, stop = ends[sequence], ends[sequence + 1]
        if first == stop or not now[stop - 1].sum() > 0.0:
            continue
        for draw in range(states.shape[1]):
            t, after = stop - 1, -1
            while t >= first:
                for m in range(k):
                    weights[m] = now[t, m] if after < 0 else ended[t, m] * transitions[m, after]
                state = drawn_place(weights, uniforms[0, t, draw])
                column = (
                    hazards[:, state],
                    likelihoods[first : t + 1, state],
                    begun[first : t + 1, state],
                    oldest[first : t + 1, state],
                    logs[first : t + 1],
                )
                total = now[t, state] if after < 0 else ended[t, state]
                start = first + drawn_start(
                    column, total, after < 0, uniforms[1, first : t + 1, draw]
                )
                states[start : t + 1, draw] = state
                t, after = start - 1, state


@njit(cache=True, nogil=True)
def drawn_place(weights, uniform):
    """A place with probability in proportion to its weight."""
    left, place = uniform * weights.sum(), 0
    for m in range(len(weights)):
        if weights[m] > 0.0:
            place = m
            left -= weights[m]
            if left < 0.0:
                break
    return place


@njit(cache=True, nogil=True)
def drawn_start(column, total, is_last, uniforms):
    """Where a segment of one state began that reaches the last of some positions.

    Parameters
    ----------
    column : hazards (age,), and likelihoods, begun, oldest and logs (position,)
        Of its state, from the start of the sequence on.
    total : float
        P(a segment of the state ends at the last position | positions so far); of the last segment
        P(state | positions so far).
    is_last : bool
        Whether it is the last one of the sequence, which may go on after the end.
    uniforms : (position,)
        Random numbers from 0 to 1.
    """
    hazards, likelihoods, begun, oldest, logs = column
    n_ages, t = len(hazards), len(begun) - 1
    left, start = uniforms[t] * total, -1
    log_ratio = log_stays = 0.0  # of the observations of the segment; of its ages
    for age in range(min(n_ages - 1, t + 1)):
        place = t - age
        if likelihoods[place] <= 0.0:
            break
        log_ratio += math.log(likelihoods[place]) - logs[place]
        if begun[place] > 0.0 and (is_last or hazards[age] > 0.0):
            weight = math.exp(math.log(begun[place]) + log_ratio + log_stays)
            weight *= 1.0 if is_last else hazards[age]
            if weight > 0.0:
                left -= weight
                start = place
                if left < 0.0:
                    return start
        if hazards[age] >= 1.0:
            break
        log_stays += math.log1p(-hazards[age])
    hazard = hazards[n_ages - 1]
    older = oldest[t] if is_last else oldest[t] * hazard
    if not older > 0.0:
        return max(start, 0)
    left /= older
    while t >= n_ages:  # before, the segment had the last age, or reached it here
        ratio = likelihoods[t] * math.exp(-logs[t])
        if left * oldest[t] >= oldest[t - 1] * (1.0 - hazard) * ratio:
            break
        t -= 1
        left = uniforms[t]
    return max(t - n_ages + 1, 0)
