"""The shortest binary tree over words in a row, by dynamic programming over spans.

A span ``[i, j)`` of some but not all words that is split at ``f`` is a node with three neighbours: what is
left of ``f``, what is right of it, and what is outside. The length of an edge is an average over the
distances between the words of the four groups around it (Desper & Gascuel 2005), so that of the edge to the
left part depends on where that is split and on ``i, f, j`` alone, and likewise on the right: the best splits
of both are found one after the other, and all takes time of the order of n^4.

Cells ``(i, j, f)`` lie one after another, those of a span at `starts[i, j]`.
"""

from __future__ import annotations

import numpy as np

from tacit.core.loops.compiled import njit


@njit(cache=True, nogil=True)
def shortest_tree(distances, extra, top):
    """The shortest tree of at least three words, and the length of the next shortest.

    Parameters
    ----------
    distances : (word, word)
        Symmetric; the diagonal counts nowhere.
    extra : (word + 1, word + 1)
        Added for each bracket, by its first word and the word after its last.
    top : int
        How many words come before the split of the whole sentence; 0 to take the best.

    Returns
    -------
    spans : (word - 1, 2)
        First word and word after the last of each bracket, the whole sentence first.
    cost, second : float
        Lengths of the best tree and of the best but one with the same split of the whole.
    """
    n = distances.shape[0]
    sums = np.zeros((n + 1, n + 1))  # of all distances above and left
    for i in range(n):
        row = 0.0
        for j in range(n):
            row += 0.0 if i == j else distances[i, j]
            sums[i + 1, j + 1] = sums[i, j + 1] + row
    starts = np.zeros((n + 1, n + 1), np.int64)
    size = 0
    for width in range(2, n):
        for i in range(n - width + 1):
            starts[i, i + width] = size
            size += width - 1
    # Of each cell the two least lengths, less half of the mean distance between its two parts (every edge
    # above needs it so), and where its parts are split.
    costs = np.empty((size, 2))
    splits = np.empty((size, 2), np.int16)
    for width in range(2, n):
        for i in range(n - width + 1):
            _fill_span(sums, extra, starts, costs, splits, i, i + width)
    least, second, best = np.inf, np.inf, np.zeros(3, np.int64)
    for t in range(1, n) if top == 0 else range(top, top + 1):
        one, two, a, b = _whole(sums, starts, costs, t)
        if one < least:
            least, second = one, two
            best[0], best[1], best[2] = t, a, b
    spans = np.empty((n - 1, 2), np.int64)
    _trace(starts, splits, best, spans)
    return spans, least + extra[0, n], second + extra[0, n]


@njit(cache=True, nogil=True)
def _mean(sums, a, b, c, d):
    """The mean distance between the words of [a, b) and [c, d)."""
    total = sums[b, d] - sums[a, d] - sums[b, c] + sums[a, c]
    return total / ((b - a) * (d - c))


@njit(cache=True, nogil=True)
def _fill_span(sums, extra, starts, costs, splits, i, j):
    """The cells of one span, which is not the whole sentence."""
    n = len(sums) - 1
    n_outside = n - (j - i)
    outside = np.empty(j - i + 1)  # means to the words outside, summed over the words from i on
    for x in range(i, j + 1):
        outside[x - i] = (sums[x, n] - sums[x, j] + sums[x, i]) / n_outside
    for f in range(i + 1, j):
        right_out = (outside[j - i] - outside[f - i]) / (j - f)  # mean: right part, outside
        left_out = (outside[f - i] - outside[0]) / (f - i)
        between = _mean(sums, i, f, f, j)
        one, two, a = _part(sums, starts, costs, outside, i, i, f, f, j)
        three, four, b = _part(sums, starts, costs, outside, i, f, j, i, f)
        # Either edge loses half of the mean between the two groups at this end of it.
        fixed = extra[i, j] - 0.5 * (right_out + left_out) - 0.5 * between
        cell = starts[i, j] + f - i - 1
        costs[cell, 0] = one + three + fixed
        costs[cell, 1] = min(one + four, two + three) + fixed
        splits[cell, 0], splits[cell, 1] = a, b


@njit(cache=True, nogil=True)
def _part(sums, starts, costs, outside, first, i, j, g, h):
    """Two least lengths of the part [i, j) with its edge up, and its split; its sibling is [g, h).

    The mean between sibling and outside is not taken off. `outside` begins at the word `first`.
    """
    per_word = 1.0 / (h - g)
    if j - i == 1:
        to_sibling = (sums[j, h] - sums[i, h] - sums[j, g] + sums[i, g]) * per_word
        return 0.5 * (to_sibling + outside[j - first] - outside[i - first]), np.inf, -1
    low = (sums[i, h] - sums[i, g]) * per_word + outside[i - first]
    high = (sums[j, h] - sums[j, g]) * per_word + outside[j - first]
    one, two, best = np.inf, np.inf, -1
    start = starts[i, j]
    for a in range(i + 1, j):
        length = (sums[a, h] - sums[a, g]) * per_word + outside[a - first]
        edge = 0.25 * ((length - low) / (a - i) + (high - length) / (j - a))
        cost = costs[start, 0] + edge
        if cost < one:
            two = min(one, costs[start, 1] + edge)
            one, best = cost, a
        elif cost < two:
            two = cost
        start += 1
    return one, two, best


@njit(cache=True, nogil=True)
def _whole(sums, starts, costs, t):
    """Two least lengths of a tree whose top edge parts the words before t from the others."""
    n = len(sums) - 1
    left, right = starts[0, t], starts[t, n]
    one, two, best_a, best_b = np.inf, np.inf, -1, -1
    for a in range(1, max(t, 2)):
        for b in range(t + 1, max(n, t + 2)):
            if t > 1 and n - t > 1:
                edge = _mean(sums, 0, a, t, b) + _mean(sums, 0, a, b, n)
                edge += _mean(sums, a, t, t, b) + _mean(sums, a, t, b, n)
                one_here = costs[left + a - 1, 0] + costs[right + b - t - 1, 0] + 0.25 * edge
                second = min(
                    costs[left + a - 1, 1] + costs[right + b - t - 1, 0],
                    costs[left + a - 1, 0] + costs[right + b - t - 1, 1],
                )
                two_here = second + 0.25 * edge
            elif t > 1:
                edge = 0.5 * (_mean(sums, 0, a, t, n) + _mean(sums, a, t, t, n))
                one_here, two_here = costs[left + a - 1, 0] + edge, costs[left + a - 1, 1] + edge
            else:
                edge = 0.5 * (_mean(sums, 0, 1, 1, b) + _mean(sums, 0, 1, b, n))
                place = right + b - t - 1
                one_here, two_here = costs[place, 0] + edge, costs[place, 1] + edge
            if one_here < one:
                two = min(one, two_here)
                one, best_a, best_b = one_here, a, b
            else:
                two = min(two, one_here)
    return one, two, best_a, best_b


@njit(cache=True, nogil=True)
def _trace(starts, splits, best, spans):
    """Write down the brackets of the best tree."""
    n = len(starts) - 1
    t, a, b = best[0], best[1], best[2]
    waiting = np.empty((2 * n, 3), np.int64)
    waiting[0, 0], waiting[0, 1], waiting[0, 2] = t, n, b
    waiting[1, 0], waiting[1, 1], waiting[1, 2] = 0, t, a
    spans[0, 0], spans[0, 1] = 0, n
    count, height = 1, 2
    while height:
        height -= 1
        i, j, f = waiting[height, 0], waiting[height, 1], waiting[height, 2]
        if j - i < 2:
            continue
        spans[count, 0], spans[count, 1] = i, j
        count += 1
        cell = starts[i, j] + f - i - 1
        waiting[height, 0], waiting[height, 1], waiting[height, 2] = f, j, splits[cell, 1]
        height += 1
        waiting[height, 0], waiting[height, 1], waiting[height, 2] = i, f, splits[cell, 0]
        height += 1
