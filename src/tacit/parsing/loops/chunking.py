"""Chains over runs of tags whose states are outside a group (0), first in one (1), and further inside (2)."""

from __future__ import annotations

import numpy as np
from numba import njit

# What may come next: from each state, a state or (3) the end of the run. Only a group goes on inside.
# A run begins with 0 or 1.


@njit(cache=True, nogil=True)
def group_counts(tags, starts, weights, first, following, emitted, of_first, of_next, of_tags):
    """Expected counts of states over many runs, added to three tables; the logarithm of the likelihood.

    Parameters
    ----------
    tags : (word of all runs,)
    starts : (run + 1,)
        Where each run begins.
    weights : (run,)
        How often it was seen.
    first : (3,)
        Weights of the state of the first word.
    following : (3, tag, 4)
        Weights of what comes after a word by its state and tag.
    emitted : (3, tag)
        Weights of a tag by its state.
    of_first, of_next, of_tags : as the three before
    """
    total = 0.0
    for run in range(len(starts) - 1):
        low, high = starts[run], starts[run + 1]
        size = high - low
        forward = np.zeros((size, 3))
        scales = np.zeros(size)
        for s in range(3):
            forward[0, s] = first[s] * emitted[s, tags[low]]
        scales[0] = forward[0].sum()
        forward[0] /= scales[0]
        for k in range(1, size):
            before, here = tags[low + k - 1], tags[low + k]
            for s in range(3):
                for r in range(3):
                    forward[k, s] += forward[k - 1, r] * following[r, before, s]
                forward[k, s] *= emitted[s, here]
            scales[k] = forward[k].sum()
            forward[k] /= scales[k]
        last = tags[high - 1]
        backward = following[:, last, 3].copy()
        end = (forward[size - 1] * backward).sum()
        backward /= end
        total += weights[run] * (np.log(scales).sum() + np.log(end))
        for s in range(3):
            of_next[s, last, 3] += weights[run] * forward[size - 1, s] * backward[s]
        for k in range(size - 1, -1, -1):
            here = tags[low + k]
            for s in range(3):
                of_tags[s, here] += weights[run] * forward[k, s] * backward[s]
            if k == 0:
                break
            before = tags[low + k - 1]
            earlier = np.zeros(3)
            for r in range(3):
                for s in range(3):
                    step = following[r, before, s] * emitted[s, here] * backward[s] / scales[k]
                    earlier[r] += step
                    of_next[r, before, s] += weights[run] * forward[k - 1, r] * step
            backward = earlier
        for s in range(3):
            of_first[s] += weights[run] * forward[0, s] * backward[s]
    return total


@njit(cache=True, nogil=True)
def best_states(tags, first, following, emitted, states):
    """Fill in the most likely states of a run.

    The weights are as in `group_counts`, but logarithms, and `first` is by state and tag.
    """
    size = len(tags)
    came = np.zeros((size, 3), np.int64)
    best = first[:, tags[0]] + emitted[:, tags[0]]
    for k in range(1, size):
        now = np.full(3, -np.inf)
        for s in range(3):
            for r in range(3):
                here = best[r] + following[r, tags[k - 1], s]
                if here > now[s]:
                    now[s], came[k, s] = here, r
            now[s] += emitted[s, tags[k]]
        best = now
    states[size - 1] = np.argmax(best + following[:, tags[size - 1], 3])
    for k in range(size - 1, 0, -1):
        states[k - 1] = came[k, states[k]]
