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

Sequences stand one after the other. Axes of ages come first: all states of an age are processed together.
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
        beginning[:] = initial
        staying[:] = 0.0
        for t in range(ends[sequence], ends[sequence + 1]):
            total = 0.0
            for m in range(k):
                begun[t, m] = beginning[m]
                total += (beginning[m] + staying[m]) * likelihoods[t, m]
            total = max(total, TINY)
            logs[t] = math.log(total)
            for m in range(k):
                factors[m] = likelihoods[t, m] / total
            n_now = min(t - ends[sequence] + 1, n_ages)
            arrays = ended[t], oldest[t], now[t], staying
            grow(beginning, factors, hazards, n_now, readout, going_on, arrays, after[t])
            beginning[:] = 0.0
            for m in range(k):
                for n in range(k):
                    beginning[n] += ended[t, m] * transitions[m, n]
            if len(readout) == 0:
                for n in range(k):
                    after[t, n] = beginning[n] + staying[n]


@njit(cache=True, nogil=True)
def grow(beginning, factors, hazards, n_now, readout, going_on, arrays, after):
    """All segments that go on become one position older, and new ones begin.

    Parameters
    ----------
    beginning : (state,)
    factors : (state,)
        Likelihoods of the observation, over its probability.
    hazards : (age, state)
    n_now : int
        Ages that occur.
    readout : (age, state, state later) or empty
    going_on : (age, state)  changed
    arrays : (state,) ended, of the last age, now, and staying  filled
    after : (state,)  filled, if there is a readout
    """
    n_ages, k = hazards.shape
    ended, oldest, now, staying = arrays
    for m in range(k):
        ended[m] = oldest[m] = now[m] = staying[m] = after[m] = 0.0
    for age in range(n_now - 1, -1, -1):
        for m in range(k):
            prob = going_on[age - 1, m] if age > 0 else beginning[m]
            if age == n_ages - 1:
                prob += going_on[age, m]
            prob *= factors[m]
            ending = prob * hazards[age, m]
            now[m] += prob
            ended[m] += ending
            going_on[age, m] = prob - ending
            staying[m] += prob - ending
            if age == n_ages - 1:
                oldest[m] = prob
            if len(readout) and prob > 0.0:
                for n in range(k):
                    after[n] += prob * readout[age, m, n]


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
    changes,
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
    changes : (position,)  filled
        P(the state differs from that of the position before | the sequence); 0 at the first position.
    """
    n_ages, k = hazards.shape
    begun, ended, oldest, now, factors, beyond, beyond_oldest = np.empty((7, len(likelihoods), k))
    passes = begun, ended, oldest, now, logs, posterior, np.empty((n_ages, k))
    forward(initial, transitions, hazards, likelihoods, ends, np.empty((0, k, k)), *passes)
    posterior[:] = 0.0
    changes[:] = 0.0
    for t in range(len(likelihoods)):
        scale = math.exp(-logs[t])
        for m in range(k):
            factors[t, m] = likelihoods[t, m] * scale
    ahead = np.empty(
        k
    )  # likelihood ratio of all from the position on, given that a segment begins there
    weights = np.empty((n_ages, k))
    for sequence in range(len(ends) - 1):
        first, stop = ends[sequence], ends[sequence + 1]
        if first == stop or now[stop - 1].sum() == 0.0:
            continue
        for t in range(stop - 1, first - 1, -1):
            for m in range(k):
                beyond[t, m] = 0.0  # of the last position not used: the last segment is censored
                beyond_oldest[t, m] = 1.0
                if t == stop - 1:
                    continue
                for n in range(k):
                    through = transitions[m, n] * ahead[n]
                    beyond[t, m] += through
                    counts[m, n] += ended[t, m] * through
                    if n != m:
                        changes[t + 1] += ended[t, m] * through
                hazard = hazards[n_ages - 1, m]
                ending = hazard * beyond[t, m]
                staying = (1.0 - hazard) * factors[t + 1, m] * beyond_oldest[t + 1, m]
                beyond_oldest[t, m] = ending + staying
                endings[n_ages - 1, m] += oldest[t, m] * ending
                stays[n_ages - 1, m] += oldest[t, m] * staying
            for m in range(k):
                posterior[t, m] += oldest[t, m] * beyond_oldest[t, m]
            following = begun[t:stop], factors[t:stop], beyond[t:stop], beyond_oldest[t:stop]
            begin(following, hazards, weights, posterior[t:stop], endings, stays, ahead)
        for m in range(k):
            initial_counts[m] += ahead[m] * begun[first, m]


@njit(cache=True, nogil=True)
def begin(following, hazards, weights, posterior, endings, stays, ahead):
    """What is expected of the segments that begin at a position, by their durations.

    Parameters
    ----------
    following : four arrays (position from here on, state)
        P(a segment begins | positions before), likelihoods over probabilities of positions, and the
        likelihood ratios of all beyond, given that a segment ends here and that it is of the last age.
    hazards : (age, state)
    weights : (age, state)
        For P(the segment lasts so long | all).
    posterior : (position from here on, state)  added to
    endings, stays : (age, state)  added to
    ahead : (state,)  filled
        Likelihood ratio of all from here on, given that a segment begins.
    """
    begun, factors, beyond, beyond_oldest = following
    n_ages, k = hazards.shape
    n_now = min(len(begun), n_ages)
    prob = begun[0] * factors[0]
    summed = np.zeros(k)
    for age in range(n_now):
        for m in range(k):
            if age == n_ages - 1:
                weights[age, m] = prob[m] * beyond_oldest[age, m]
            elif age == len(begun) - 1:
                weights[age, m] = prob[m]
            else:
                ending = prob[m] * hazards[age, m]
                weights[age, m] = ending * beyond[age, m]
                endings[age, m] += weights[age, m]
                prob[m] = (prob[m] - ending) * factors[age + 1, m]
    for age in range(n_now - 1, -1, -1):
        for m in range(k):
            if age < n_now - 1:
                stays[age, m] += summed[m]
            summed[m] += weights[age, m]
            if age < n_ages - 1:
                posterior[age, m] += summed[m]
    for m in range(k):
        ahead[m] = summed[m] / begun[0, m] if begun[0, m] > TINY else 0.0


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
        first, n = ends[sequence], ends[sequence + 1] - ends[sequence]
        values[sequence] = 0.0
        if n == 0:
            continue
        beginning[:] = log_initial
        best[n_ages - 1] = -math.inf
        for t in range(n):
            now = t, logs[first + t], beginning
            outlive(now, log_hazards, log_stays, best, oldest_start, ending, lasted[t])
            for after in range(k if t + 1 < n else 0):
                top, place = -math.inf, 0
                for m in range(k):
                    value = ending[m] + log_transitions[m, after]
                    if value > top:
                        top, place = value, m
                beginning[after] = top
                came_from[t + 1, after] = place
        top, state, duration = -math.inf, 0, 1
        for m in range(k):
            for age in range(min(n, n_ages)):
                if best[age, m] > top:
                    top, state, duration = best[age, m], m, age + 1
                    if age == n_ages - 1:
                        duration = n - oldest_start[m]
        values[sequence] = top
        part = slice(first, first + n)
        trace(state, duration, came_from, lasted, path[part], segments[part])


@njit(cache=True, nogil=True)
def outlive(now, log_hazards, log_stays, best, oldest_start, ending, lasted):
    """The best segmentations up to a position, by the age of the last segment.

    Parameters
    ----------
    now : the position within its sequence, (state,) its log-likelihoods, and (state,) of segments that begin
    log_hazards, log_stays : (age, state)
    best : (age, state)  changed
    oldest_start : (state,)  changed
        Where the segment of the last age began.
    ending : (state,)  filled with the best segmentations that end here
    lasted : (state,)  filled with the durations of their last segments
    """
    t, logs, beginning = now
    n_ages, k = log_hazards.shape
    for m in range(k):
        ending[m] = -math.inf
        lasted[m] = 1
    for age in range(min(t, n_ages - 1), -1, -1):
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
            value += logs[m]
            best[age, m] = value
            if value + log_hazards[age, m] >= ending[m]:
                ending[m] = value + log_hazards[age, m]
                lasted[m] = duration


@njit(cache=True, nogil=True)
def trace(state, duration, came_from, lasted, path, segments):
    """Fill in the best segmentation from its last state and duration backwards, see `viterbi_paths`."""
    t = len(path) - 1
    segments[:] = 0
    while t >= 0:
        start = t - duration + 1
        path[start : t + 1] = state
        segments[start] = 1
        t = start - 1
        if t >= 0:
            state = came_from[start, state]
            duration = lasted[t, state]
