"""Hidden Markov chains over runs of tags: outside a group (0), first in one (1), further inside (2)."""

from __future__ import annotations

import numpy as np

from tacit.core.loops.compiled import njit

# A transition leads to a state, or (3) to the end of the run. A run begins with 0 or 1; 2 follows 1 or 2.


@njit(cache=True, nogil=True)
def expected_counts(tags, starts, weights, initial, transitions, emissions, counts):
    """Add the expected counts of many runs to three tables; return the log-likelihood.

    Parameters
    ----------
    tags : (word of all runs,)
    starts : (run + 1,)
        Where each run begins.
    weights : (run,)
        How often it was seen.
    initial : (3,)
        Weights of the state of the first word.
    transitions : (3, tag, 4)
        Weights of what comes after a word by its state and tag.
    emissions : (3, tag)
        Weights of a tag by its state.
    counts : three arrays, as the three before
    """
    initial_counts, transition_counts, emission_counts = counts
    total = 0.0
    for run in range(len(starts) - 1):
        low, high = starts[run], starts[run + 1]
        size = high - low
        forward = np.zeros((size, 3))
        scales = np.zeros(size)
        for s in range(3):
            forward[0, s] = initial[s] * emissions[s, tags[low]]
        scales[0] = forward[0].sum()
        forward[0] /= scales[0]
        for k in range(1, size):
            before, tag = tags[low + k - 1], tags[low + k]
            for s in range(3):
                for r in range(3):
                    forward[k, s] += forward[k - 1, r] * transitions[r, before, s]
                forward[k, s] *= emissions[s, tag]
            scales[k] = forward[k].sum()
            forward[k] /= scales[k]
        last = tags[high - 1]
        backward = transitions[:, last, 3].copy()
        end = (forward[size - 1] * backward).sum()
        backward /= end
        total += weights[run] * (np.log(scales).sum() + np.log(end))
        for s in range(3):
            transition_counts[s, last, 3] += weights[run] * forward[size - 1, s] * backward[s]
        for k in range(size - 1, -1, -1):
            tag = tags[low + k]
            for s in range(3):
                emission_counts[s, tag] += weights[run] * forward[k, s] * backward[s]
            if k == 0:
                break
            before = tags[low + k - 1]
            earlier = np.zeros(3)
            for r in range(3):
                for s in range(3):
                    step = transitions[r, before, s] * emissions[s, tag] * backward[s] / scales[k]
                    earlier[r] += step
                    transition_counts[r, before, s] += weights[run] * forward[k - 1, r] * step
            backward = earlier
        for s in range(3):
            initial_counts[s] += weights[run] * forward[0, s] * backward[s]
    return total


@njit(cache=True, nogil=True)
def viterbi(tags, initial, transitions, emissions, states):
    """Fill in the Viterbi path of a run.

    The weights are as in `expected_counts`, but logarithms, and `initial` is by state and tag.
    """
    size = len(tags)
    previous = np.zeros((size, 3), np.int64)
    best = initial[:, tags[0]] + emissions[:, tags[0]]
    for k in range(1, size):
        updated = np.full(3, -np.inf)
        for s in range(3):
            for r in range(3):
                score = best[r] + transitions[r, tags[k - 1], s]
                if score > updated[s]:
                    updated[s], previous[k, s] = score, r
            updated[s] += emissions[s, tags[k]]
        best = updated
    states[size - 1] = np.argmax(best + transitions[:, tags[size - 1], 3])
    for k in range(size - 1, 0, -1):
        states[k - 1] = previous[k, states[k]]
