"""The compiled exchange algorithm for word classes."""

from __future__ import annotations

import math

import numpy as np

from tacit.core.loops.compiled import njit


@njit(cache=True, nogil=True, inline="always")
def _weighed(count, known):
    """A count times its logarithm; tabulated for small counts."""
    if count < len(known):
        return known[count]
    return count * math.log(count)


@njit(cache=True, nogil=True)
def _neighbours(word, starts, words, counts, classes, into, used):
    """Sum the neighbours of a word by class, without itself; the number of classes, and how often itself."""
    n_used, itself = 0, 0
    for at in range(starts[word], starts[word + 1]):
        if words[at] == word:
            itself = counts[at]
            continue
        other = classes[words[at]]
        if into[other] == 0:
            used[n_used] = other
            n_used += 1
        into[other] += counts[at]
    return n_used, itself


@njit(cache=True, nogil=True)
def _shift(group, by, after, after_used, before, before_used, itself, table, left, right):
    """Add a word to a class, or remove it."""
    for place in range(len(after_used)):
        table[group, after_used[place]] += by * after[after_used[place]]
        left[group] += by * after[after_used[place]]
    for place in range(len(before_used)):
        table[before_used[place], group] += by * before[before_used[place]]
        right[group] += by * before[before_used[place]]
    table[group, group] += by * itself
    left[group] += by * itself
    right[group] += by * itself


@njit(cache=True, nogil=True)
def _gain(group, after, after_used, before, before_used, itself, table, left, right, known):
    """The gain of the objective if a word without class joins one."""
    gain, leaving, coming = 0.0, itself, itself
    inside = itself + after[group] + before[group]
    for place in range(len(after_used)):
        other = after_used[place]
        leaving += after[other]
        if other != group:
            old = table[group, other]
            gain += _weighed(old + after[other], known) - _weighed(old, known)
    for place in range(len(before_used)):
        other = before_used[place]
        coming += before[other]
        if other != group:
            old = table[other, group]
            gain += _weighed(old + before[other], known) - _weighed(old, known)
    gain += _weighed(table[group, group] + inside, known) - _weighed(table[group, group], known)
    gain -= _weighed(left[group] + leaving, known) - _weighed(left[group], known)
    gain -= _weighed(right[group] + coming, known) - _weighed(right[group], known)
    return gain


@njit(cache=True, nogil=True)
def exchange(movable, classes, following, preceding, table, known):
    """Move each word in turn to the class with the highest objective; the number of words that moved.

    Parameters
    ----------
    movable : (word,)  words in the order of their turns
    classes : (word,)  changed in place; class 0 is that of markers, into which no word is put
    following, preceding : (starts, words, counts)
        The pairs of words: by the first, and by the second.
    table : (class, class) int64  pairs of classes; changed in place
    known : (count,) the first counts times their logarithms
    """
    n_classes = len(table)
    left, right = table.sum(axis=1), table.sum(axis=0)
    after, before = np.zeros(n_classes, np.int64), np.zeros(n_classes, np.int64)
    used = np.empty((2, n_classes), np.int64)
    moved = 0
    for word in movable:
        n_after, itself = _neighbours(
            word, following[0], following[1], following[2], classes, after, used[0]
        )
        n_before, _ = _neighbours(
            word, preceding[0], preceding[1], preceding[2], classes, before, used[1]
        )
        args = (after, used[0, :n_after], before, used[1, :n_before], itself, table, left, right)
        old = classes[word]
        _shift(old, -1, *args)
        best, most = old, _gain(old, *args, known)
        for group in range(1, n_classes):
            if group != old:
                gain = _gain(group, *args, known)
                if gain > most + 1e-9:
                    best, most = group, gain
        _shift(best, 1, *args)
        moved += best != old
        classes[word] = best
        for place in range(n_after):
            after[used[0, place]] = 0
        for place in range(n_before):
            before[used[1, place]] = 0
    return moved
