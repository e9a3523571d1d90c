"""The constituent-context model: names of spans, sums over all binary trees, the best tree."""

from __future__ import annotations

import numpy as np

from tacit.core.loops.compiled import njit


@njit(cache=True, nogil=True)
def span_names(tags, starts, n_tags, yields, contexts):
    """A number for the tags inside and around each span of two or more words of all sentences.

    Parameters
    ----------
    tags : (word of all sentences,)
        From 0 to n_tags - 1.
    starts : (sentence + 1,)
        Where each sentence begins.
    n_tags : int
    yields : (span of all sentences,) uint64
        Filled with the tags of the span, mixed to one number. Spans go by first word, then by last.
    contexts : (span of all sentences,) int64
        Filled with the two tags around the span as one number; `n_tags` is the edge of a sentence.
    """
    place = 0
    for s in range(len(starts) - 1):
        low, high = starts[s], starts[s + 1]
        for i in range(low, high):
            mixed = np.uint64(1469598103934665603)
            before = tags[i - 1] if i > low else n_tags
            for j in range(i + 1, high + 1):
                mixed = (mixed ^ np.uint64(tags[j - 1] + 1)) * np.uint64(1099511628211)
                mixed ^= mixed >> np.uint64(29)
                if j - i >= 2:
                    yields[place] = mixed
                    after = tags[j] if j < high else n_tags
                    contexts[place] = before * (n_tags + 1) + after
                    place += 1


@njit(cache=True, nogil=True)
def _log_add(a, b):
    if a < b:
        a, b = b, a
    return a if b == -np.inf else a + np.log1p(np.exp(b - a))


@njit(cache=True, nogil=True)
def _place(n, i, j):
    """Where the span [i, j) of at least two words stands among those of a sentence of n words."""
    return i * (n - 1) - i * (i - 1) // 2 + j - i - 2


@njit(cache=True, nogil=True)
def tree_sums(scores, n, posterior):
    """The probability of each span when the weight of a tree is the product of those of its spans.

    Parameters
    ----------
    scores : (span,)
        Logarithms of weights.
    n : int
        Number of words.
    posterior : (span,)
        Filled.

    Returns
    -------
    float
        The logarithm of the sum of the weights of all binary trees.
    """
    inside = np.zeros((n + 1, n + 1))
    for width in range(2, n + 1):
        for i in range(n - width + 1):
            j = i + width
            total = -np.inf
            for f in range(i + 1, j):
                total = _log_add(total, inside[i, f] + inside[f, j])
            inside[i, j] = total + scores[_place(n, i, j)]
    outside = np.full((n + 1, n + 1), -np.inf)
    outside[0, n] = 0.0
    for width in range(n, 1, -1):
        for i in range(n - width + 1):
            j = i + width
            above = outside[i, j] + scores[_place(n, i, j)]
            posterior[_place(n, i, j)] = np.exp(outside[i, j] + inside[i, j] - inside[0, n])
            for f in range(i + 1, j):
                outside[i, f] = _log_add(outside[i, f], above + inside[f, j])
                outside[f, j] = _log_add(outside[f, j], above + inside[i, f])
    return inside[0, n]


@njit(cache=True, nogil=True)
def all_tree_sums(scores, starts, firsts, posterior):
    """`tree_sums` of all sentences, whose words begin at `starts` and whose spans at `firsts`."""
    totals = np.zeros(len(starts) - 1)
    for s in range(len(starts) - 1):
        n = starts[s + 1] - starts[s]
        if n >= 2:
            some = slice(firsts[s], firsts[s + 1])
            totals[s] = tree_sums(scores[some], n, posterior[some])
    return totals


@njit(cache=True, nogil=True)
def best_tree(scores, n, spans):
    """Write the spans of the binary tree of two or more words with the largest sum of scores; the sum."""
    best = np.zeros((n + 1, n + 1))
    split = np.zeros((n + 1, n + 1), np.int64)
    for width in range(2, n + 1):
        for i in range(n - width + 1):
            j = i + width
            most, split[i, j] = -np.inf, i + 1  # also where no score is a number
            for f in range(i + 1, j):
                score = best[i, f] + best[f, j]
                if score > most:
                    most, split[i, j] = score, f
            best[i, j] = most + scores[_place(n, i, j)]
    spans[0, 0], spans[0, 1] = 0, n
    count = 1
    for at in range(n - 1):  # spans written so far are split in turn
        i, j = spans[at, 0], spans[at, 1]
        f = split[i, j]
        if f - i >= 2:
            spans[count, 0], spans[count, 1] = i, f
            count += 1
        if j - f >= 2:
            spans[count, 0], spans[count, 1] = f, j
            count += 1
    return best[0, n]
