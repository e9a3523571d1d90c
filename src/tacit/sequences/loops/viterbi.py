"""Compiled Viterbi paths, and random paths of hidden states."""

from __future__ import annotations

import math

import numpy as np

from tacit.core.loops.compiled import njit


@njit(cache=True, nogil=True)
def viterbi_paths(log_initial, log_transitions, logs, ends, path, values):
    """The most likely path of each sequence, and its joint log-probability with the observations.

    Ties are broken by the lowest last state, then the lowest state before it, and so on.

    Parameters
    ----------
    log_initial : (state,)
    log_transitions : (state, next state)
    logs : (position, state)
        Log-likelihoods of the observations.
    ends : (sequence + 1,)
    path : (position,)  filled
    values : (sequence,)  filled; 0 for an empty sequence
    """
    k = len(log_initial)
    best = np.empty(k)
    after = np.empty(k)
    longest = 0
    for sequence in range(len(ends) - 1):
        longest = max(longest, ends[sequence + 1] - ends[sequence])
    came_from = np.empty((longest, k), dtype=np.int32)
    for sequence in range(len(ends) - 1):
        first, stop = ends[sequence], ends[sequence + 1]
        values[sequence] = 0.0
        if first == stop:
            continue
        for m in range(k):
            best[m] = log_initial[m] + logs[first, m]
        for t in range(first + 1, stop):
            for n in range(k):
                top, place = -math.inf, 0
                for m in range(k):
                    value = best[m] + log_transitions[m, n]
                    if value > top:
                        top, place = value, m
                after[n] = top + logs[t, n]
                came_from[t - first, n] = place
            for n in range(k):
                best[n] = after[n]
        last = 0
        for m in range(1, k):
            if best[m] > best[last]:
                last = m
        values[sequence] = best[last]
        for t in range(stop - 1, first, -1):
            path[t] = last
            last = came_from[t - first, last]
        path[first] = last


@njit(cache=True, nogil=True)
def draw_paths(first, transitions, uniforms, states):
    """Paths of hidden states.

    Parameters
    ----------
    first : (state,)
        Cumulative probabilities of the first state.
    transitions : (state, next state)
        Cumulative probabilities in each row.
    uniforms : (draw, time)
        Random numbers from 0 to 1.
    states : (draw, time)  filled
    """
    n, length = uniforms.shape
    top = len(first) - 1
    for draw in range(n):
        row = first
        for t in range(length):
            # the sums may end a rounding error away from one
            state = min(np.searchsorted(row, uniforms[draw, t] * row[top], side="right"), top)
            states[draw, t] = state
            row = transitions[state]


@njit(cache=True, nogil=True)
def draw_symbols(emissions, states, uniforms, codes):
    """A symbol for each state.

    Parameters
    ----------
    emissions : (state, symbol)
        Cumulative probabilities in each row.
    states, uniforms : (draw, time)
    codes : (draw, time)  filled
    """
    n, length = uniforms.shape
    top = emissions.shape[1] - 1
    for draw in range(n):
        for t in range(length):
            row = emissions[states[draw, t]]
            place = np.searchsorted(row, uniforms[draw, t] * row[top], side="right")
            codes[draw, t] = min(place, top)


@njit(cache=True, nogil=True)
def draw_posterior_paths(now, transitions, ends, uniforms, states):
    """Paths of hidden states given whole sequences, drawn from the last position to the first.

    Parameters
    ----------
    now : (position, state)
        P(state | all up to and including the position); zeros where that is impossible.
    transitions : (state, next state)
    ends : (sequence + 1,)
    uniforms : (position, draw)
        Random numbers from 0 to 1.
    states : (position, draw)
        Filled, but for sequences that are impossible.
    """
    k = now.shape[1]
    for sequence in range(len(ends) - 1):
        first, stop = ends[sequence], ends[sequence + 1]
        if first == stop or not now[stop - 1].sum() > 0.0:
            continue
        for draw in range(states.shape[1]):
            after = -1
            for t in range(stop - 1, first - 1, -1):
                total = 0.0
                for m in range(k):
                    total += now[t, m] * (transitions[m, after] if after >= 0 else 1.0)
                left = uniforms[t, draw] * total
                state = -1
                for m in range(k):
                    weight = now[t, m] * (transitions[m, after] if after >= 0 else 1.0)
                    if weight > 0.0:
                        state = m
                        left -= weight
                        if left < 0.0:
                            break
                states[t, draw] = state
                after = state
