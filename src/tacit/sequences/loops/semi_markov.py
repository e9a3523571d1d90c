"""Compiled passes over chains of hidden states with explicit durations (hidden semi-Markov chains).

A sequence is cut into segments of one state each. How long a segment goes on depends on its age, the number
of positions it has lasted: it ends after age u with probability ``hazards[u - 1]``, and then the next
segment begins. Ages from the last row of the hazards on have this row: durations beyond have a geometric
tail, so that with a single row the chain is a plain hidden Markov model. The first segment begins at the
first position; the last one is censored: it may go on after the end.

A state and an age together are a state of a plain chain, most of whose transitions are zero: the age grows
by one, or a segment ends. Messages over these states are probabilities, scaled at each position, so that long
sequences and long segments are safe. The passes take O(T (k^2 + k D)) operations and O(T k) memory for T
positions, k states and D ages.

Sequences stand one after the other, as in `tacit.sequences.loops.forward_backward`. Axes with ages put
these first: all states of an age are processed together.
"""

from __future__ import annotations

import math

import numpy as np

from tacit.core.loops.compiled import njit

TINY = 1e-300


@njit(cache=True, nogil=True)
def forward(
    initial,
    transitions,
    hazards,
    likelihoods,
    ends,
    readout,
    begun,
    ended,
    oldest,
    now,
    logs,
    after,
    going_on,
):
    """Filtered probabilities of states, segments that begin and end, and logarithms of one-step likelihoods.

    Parameters
    ----------
    initial : (state,)
    transitions : (state, next state)
        From a segment to the next one.
    hazards : (age, state)
    likelihoods : (position, state)
    ends : (sequence + 1,)
    readout : (age, state, state later)
        Probabilities of states some positions later given age and state now; empty for the next position.
    begun : (position, state)  filled
        P(a segment of the state begins here | positions before).
    ended : (position, state)  filled
        P(a segment of the state ends here | positions so far).
    oldest : (position, state)  filled
        P(state, the last age | positions so far).
    now : (position, state)  filled
        P(state | positions so far).
    logs : (position,)  filled
    after : (position, state)  filled
        P(state later | positions so far), see `readout`.
    going_on : (age, state)  filled
        After the last position of the last sequence: P(state, age, the segment goes on).
    """
    n_ages, k = hazards.shape
    beginning = np.empty(k)
    staying = np.empty(k)
    factors = np.empty(k)
    going_on[:] = 0.0
    for sequence in range(len(ends) - 1):
        going_on[:] = 0.0
        for m in range(k):
            beginning[m] = initial[m]
            staying[m] = 0.0
        for t in range(ends[sequence], ends[sequence + 1]):
            total = 0.0
            for m in range(k):
                begun[t, m] = beginning[m]
                total += (beginning[m] + staying[m]) * likelihoods[t, m]
            total = max(total, TINY)
            logs[t] = math.log(total)
            for m in range(k):
                factors[m] = likelihoods[t, m] / total
                staying[m] = 0.0
                now[t, m] = 0.0
                ended[t, m] = 0.0
                oldest[t, m] = 0.0
                after[t, m] = 0.0
            n_now = min(t - ends[sequence] + 1, n_ages)
            for age in range(n_now - 1, -1, -1):
                for m in range(k):
                    prob = going_on[age - 1, m] if age > 0 else beginning[m]
                    if age == n_ages - 1:
                        prob += going_on[age, m]
                    prob *= factors[m]
                    ending = prob * hazards[age, m]
                    now[t, m] += prob
                    ended[t, m] += ending
                    going_on[age, m] = prob - ending
                    staying[m] += prob - ending
                    if age == n_ages - 1:
                        oldest[t, m] = prob
                    if len(readout) and prob > 0.0:
                        for n in range(k):
                            after[t, n] += prob * readout[age, m, n]
            for n in range(k):
                beginning[n] = 0.0
            for m in range(k):
                prob = ended[t, m]
                for n in range(k):
                    beginning[n] += prob * transitions[m, n]
            if len(readout) == 0:
                for n in range(k):
                    after[t, n] = beginning[n] + staying[n]


@njit(cache=True, nogil=True)
def forward_backward(
    initial,
    transitions,
    hazards,
    likelihoods,
    ends,
    posterior,
    logs,
    initial_counts,
    counts,
    endings,
    stays,
):
    """Posteriors of states given complete sequences; expected first segments, transitions and durations.

    A sequence that is impossible gets posteriors of zero, and no counts.

    Parameters
    ----------
    initial, transitions, hazards, likelihoods, ends, logs : see `forward`
    posterior : (position, state)  filled
    initial_counts : (state,)  expected counts are added
    counts : (state, next state)  expected counts of transitions between segments are added
    endings : (age, state)
        Expected counts of segments that end at an age are added.
    stays : (age, state)
        Expected counts of positions from which a segment of this age goes on, within the sequence, are added.
    """
    n_ages, k = hazards.shape
    n_positions = len(likelihoods)
    begun = np.empty((n_positions, k))
    ended = np.empty((n_positions, k))
    oldest = np.empty((n_positions, k))
    now = np.empty((n_positions, k))
    forward(
        initial,
        transitions,
        hazards,
        likelihoods,
        ends,
        np.empty((0, k, k)),
        begun,
        ended,
        oldest,
        now,
        logs,
        posterior,
        np.empty((n_ages, k)),
    )
    posterior[:] = 0.0
    factors = np.empty((n_positions, k))
    for t in range(n_positions):
        scale = math.exp(-logs[t])
        for m in range(k):
            factors[t, m] = likelihoods[t, m] * scale
    # Likelihood ratios of all that follows: given that a segment ends here, or is of the last age.
    beyond = np.empty((n_positions, k))
    beyond_oldest = np.empty((n_positions, k))
    # The same given that a segment begins at the position after.
    ahead = np.empty(k)
    weights = np.empty((n_ages, k))  # P(the segment that begins here lasts so long | all)
    prob = np.empty(k)
    summed = np.empty(k)
    last_age = n_ages - 1
    for sequence in range(len(ends) - 1):
        first, stop = ends[sequence], ends[sequence + 1]
        if first == stop or now[stop - 1].sum() == 0.0:
            continue
        for t in range(stop - 1, first - 1, -1):
            if t == stop - 1:
                for m in range(k):
                    beyond[t, m] = 0.0  # not used: the last segment is censored
                    beyond_oldest[t, m] = 1.0
            else:
                for m in range(k):
                    total = 0.0
                    for n in range(k):
                        through = transitions[m, n] * ahead[n]
                        total += through
                        counts[m, n] += ended[t, m] * through
                    beyond[t, m] = total
                    ending = hazards[last_age, m] * total
                    going_on = (
                        (1.0 - hazards[last_age, m]) * factors[t + 1, m] * beyond_oldest[t + 1, m]
                    )
                    beyond_oldest[t, m] = ending + going_on
                    endings[last_age, m] += oldest[t, m] * ending
                    stays[last_age, m] += oldest[t, m] * going_on
            n_now = min(stop - t, n_ages)
            for m in range(k):
                posterior[t, m] += oldest[t, m] * beyond_oldest[t, m]
                prob[m] = begun[t, m] * factors[t, m]
                summed[m] = 0.0
            for age in range(n_now):
                place = t + age
                if age == last_age:
                    for m in range(k):
                        weights[age, m] = prob[m] * beyond_oldest[place, m]
                elif place == stop - 1:
                    for m in range(k):
                        weights[age, m] = prob[m]
                else:
                    for m in range(k):
                        ending = prob[m] * hazards[age, m]
                        weights[age, m] = ending * beyond[place, m]
                        endings[age, m] += weights[age, m]
                        prob[m] = (prob[m] - ending) * factors[place + 1, m]
            for age in range(n_now - 1, -1, -1):
                for m in range(k):
                    if age < n_now - 1:
                        stays[age, m] += summed[m]
                    summed[m] += weights[age, m]
                    if age < last_age:
                        posterior[t + age, m] += summed[m]
            for m in range(k):
                ahead[m] = summed[m] / begun[t, m] if begun[t, m] > TINY else 0.0
        for m in range(k):
            initial_counts[m] += summed[m]


@njit(cache=True, nogil=True)
def viterbi_paths(
    log_initial, log_transitions, log_hazards, log_stays, logs, ends, path, segments, values
):
    """The most likely segments of each sequence, and their joint log-probability with the observations.

    Ties are broken by the lowest last state, then by the shortest duration.

    Parameters
    ----------
    log_initial : (state,)
    log_transitions : (state, next state)
    log_hazards, log_stays : (age, state)
        That a segment ends, and that it goes on.
    logs : (position, state)
        Log-likelihoods of the observations.
    ends : (sequence + 1,)
    path : (position,)  filled with states
    segments : (position,)  filled: 1 where a segment begins, else 0
    values : (sequence,)  filled; 0 for an empty sequence
    """
    n_ages, k = log_hazards.shape
    best = np.empty((n_ages, k))
    oldest_start = np.zeros(k, dtype=np.int64)  # where the segment of the last age began
    beginning = np.empty(k)
    ending = np.empty(k)
    longest = 0
    for sequence in range(len(ends) - 1):
        longest = max(longest, ends[sequence + 1] - ends[sequence])
    came_from = np.zeros((longest, k), dtype=np.int32)  # the state before, of segments that begin
    lasted = np.zeros((longest, k), dtype=np.int32)  # durations of segments that end
    for sequence in range(len(ends) - 1):
        first, stop = ends[sequence], ends[sequence + 1]
        values[sequence] = 0.0
        if first == stop:
            continue
        for m in range(k):
            beginning[m] = log_initial[m]
            best[n_ages - 1, m] = -math.inf
        n_now = 0
        for t in range(first, stop):
            n_now = min(t - first + 1, n_ages)
            for m in range(k):
                ending[m] = -math.inf
                lasted[t - first, m] = 1
            for age in range(n_now - 1, -1, -1):
                for m in range(k):
                    value, duration = beginning[m], age + 1
                    if age > 0:
                        value = best[age - 1, m] + log_stays[age - 1, m]
                    if age == n_ages - 1:
                        older = best[age, m] + log_stays[age, m]
                        if older > value:
                            value = older
                        else:
                            oldest_start[m] = t - age
                        duration = t - oldest_start[m] + 1
                    value += logs[t, m]
                    best[age, m] = value
                    if value + log_hazards[age, m] >= ending[m]:
                        ending[m] = value + log_hazards[age, m]
                        lasted[t - first, m] = duration
            if t + 1 < stop:
                for n in range(k):
                    top, place = -math.inf, 0
                    for m in range(k):
                        value = ending[m] + log_transitions[m, n]
                        if value > top:
                            top, place = value, m
                    beginning[n] = top
                    came_from[t + 1 - first, n] = place
        top, state, duration = -math.inf, 0, 1
        for m in range(k):
            for age in range(n_now):
                if best[age, m] > top:
                    top, state, duration = best[age, m], m, age + 1
                    if age == n_ages - 1:
                        duration = stop - oldest_start[m]
        values[sequence] = top
        t = stop - 1
        while t >= first:
            begin = t - duration + 1
            for place in range(begin, t + 1):
                path[place] = state
                segments[place] = 0
            segments[begin] = 1
            t = begin - 1
            if t >= first:
                state = came_from[begin - first, state]
                duration = lasted[t - first, state]


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
