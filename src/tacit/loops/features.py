"""Compiled parts of the moment start: features of every branch, and third moments of views.

A *feature* is a linear function of the indicators of all leaves, with a few dimensions, each a row of
`weights` (coefficients on the standardised indicators) and of `follows` (its covariances with them). All but
the leaves' own are turns of source features. What is made of what is a plan, see `FeaturePlan` in
`tacit.factor.branches`.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

# Rows handled together: what they touch stays in the nearest cache.
BLOCK = 256
_LOOSE = {"reassoc", "contract", "nsz", "arcp"}
# Directions whose variance is below this share of the largest are constants or copies of others.
SMALL = 1e-9


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_LOOSE)
def _products(a, b, out):
    """Products of all rows of one matrix with all rows of another."""
    for i in range(len(a)):
        for j in range(len(b)):
            total = 0.0
            for x in range(a.shape[1]):
                total += a[i, x] * b[j, x]
            out[i, j] = total


@njit(cache=True, nogil=True, error_model="numpy")
def _symmetric(matrix):
    """Eigenvalues, ascending, and eigenvectors (columns); two by two without a call of LAPACK."""
    if len(matrix) > 2:
        return np.linalg.eigh(matrix)
    half = 0.5 * (matrix[0, 0] - matrix[1, 1])
    middle = 0.5 * (matrix[0, 0] + matrix[1, 1])
    size = math.hypot(half, matrix[0, 1])
    angle = 0.5 * math.atan2(matrix[0, 1], half)
    values, vectors = np.empty(2), np.empty((2, 2))
    values[0], values[1] = middle - size, middle + size
    vectors[0, 0], vectors[1, 0] = -math.sin(angle), math.cos(angle)
    vectors[0, 1], vectors[1, 1] = math.cos(angle), math.sin(angle)
    return values, vectors


@njit(cache=True, nogil=True, error_model="numpy")
def canonical(spread, shared, rank):
    """Directions of a vector that follow another one most, scaled to variance one.

    Parameters
    ----------
    spread : (m, m) covariance of the vector
    shared : (m, q) its covariance with the other, whose coordinates are taken as they are
    rank : how many directions; rows of zeros where there are fewer
    """
    m, q = shared.shape
    out = np.zeros((rank, m))
    if rank == 0 or m == 0:
        return out
    if m == 1:
        if spread[0, 0] > 0:
            out[0, 0] = 1.0 / math.sqrt(spread[0, 0])
        return out
    sizes, directions = _symmetric(spread)
    whiten = np.zeros((m, m))
    n_good = 0
    for j in range(m - 1, -1, -1):
        if sizes[j] > SMALL * max(sizes[m - 1], SMALL):
            for i in range(m):
                whiten[n_good, i] = directions[i, j] / math.sqrt(sizes[j])
            n_good += 1
    if n_good < 2:
        for i in range(m):
            out[0, i] = whiten[0, i]
        return out
    seen = np.zeros((n_good, q))
    for j in range(n_good):
        for i in range(m):
            for x in range(q):
                seen[j, x] += whiten[j, i] * shared[i, x]
    gram = np.empty((n_good, n_good))
    _products(seen, seen, gram)
    _, turn = _symmetric(gram)
    for r in range(min(rank, n_good)):
        for j in range(n_good):
            for i in range(m):
                out[r, i] += turn[j, n_good - 1 - r] * whiten[j, i]
    return out


@njit(cache=True, nogil=True, error_model="numpy")
def _stack(rows, begins, sizes, which, out):
    """The rows of several features, one after the other; returns how many there are."""
    n = 0
    for w in which:
        for row in range(begins[w], begins[w] + sizes[w]):
            for x in range(rows.shape[1]):
                out[n, x] = rows[row, x]
            n += 1
    return n


@njit(cache=True, nogil=True, error_model="numpy")
def derive_features(plan, hide, most_rows, weights, follows, turns):
    """Fill in all features in the order of the plan: directions of their sources that follow others most.

    Parameters
    ----------
    plan : order, sizes, begins, sources, source_starts, others, other_starts, turn_starts
    hide : (feature, indicator) where a feature names no others it follows all indicators but these
    most_rows : the most rows that the sources or others of a feature have
    weights, follows : (row, indicator), those of the leaves filled in
    turns : flat, one stretch (dimension, row of sources) per feature
    """
    order, sizes, begins, sources, source_starts, others, other_starts, turn_starts = plan
    width = weights.shape[1]
    w, f, o = (
        np.empty((most_rows, width)),
        np.empty((most_rows, width)),
        np.empty((most_rows, width)),
    )
    for place in range(len(order)):
        feature = order[place]
        which = sources[source_starts[place] : source_starts[place + 1]]
        m = _stack(weights, begins, sizes, which, w)
        _stack(follows, begins, sizes, which, f)
        spread = np.empty((m, m))
        _products(f[:m], w[:m], spread)
        n = _stack(weights, begins, sizes, others[other_starts[place] : other_starts[place + 1]], o)
        if n > 0:
            shared = np.empty((m, n))
            _products(f[:m], o[:n], shared)
        else:
            shared = f[:m].copy()
            for x in range(width):
                if hide[feature, x]:
                    for i in range(m):
                        shared[i, x] = 0.0
        turn = canonical(spread, shared, sizes[feature])
        for r in range(sizes[feature]):
            at = begins[feature] + r
            for i in range(m):
                turns[turn_starts[place] + r * m + i] = turn[r, i]
                for x in range(width):
                    weights[at, x] += turn[r, i] * w[i, x]
                    follows[at, x] += turn[r, i] * f[i, x]


@njit(cache=True, nogil=True, error_model="numpy")
def _lookups(plan, turns, cards, marginals, card_starts):
    """What each category of a leaf adds to each feature that it is a source of, in the order of use."""
    order, sizes, _, sources, source_starts, _, _, turn_starts = plan
    total = 0
    for place in range(len(order)):
        for s in range(source_starts[place], source_starts[place + 1]):
            if sources[s] < len(cards):
                total += sizes[order[place]] * (cards[sources[s]] + 1)
    out = np.zeros(total)
    made = 0
    for place in range(len(order)):
        at = turn_starts[place]
        for _ in range(sizes[order[place]]):
            for s in range(source_starts[place], source_starts[place + 1]):
                source = sources[s]
                if source < len(cards):
                    mean = 0.0
                    for x in range(cards[source]):
                        root = math.sqrt(marginals[card_starts[source] + x])
                        if root > 0:
                            out[made + x] = turns[at + x] / root
                            mean += turns[at + x] * root
                    for x in range(cards[source]):
                        out[made + x] -= mean
                    made += cards[source] + 1  # the last one is of a missing cell: nothing
                at += sizes[source]
    return out


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_LOOSE)
def _evaluate(plan, turns, lookups, codes, first, count, cards, base, values):
    """Values of all features at a block of rows."""
    order, sizes, begins, sources, source_starts, _, _, turn_starts = plan
    made = 0
    for place in range(len(order)):
        at = turn_starts[place]
        for r in range(sizes[order[place]]):
            row = values[begins[order[place]] + r - base]
            for b in range(BLOCK):
                row[b] = 0.0
            for s in range(source_starts[place], source_starts[place + 1]):
                source = sources[s]
                if source < len(cards):
                    for b in range(count):
                        x = codes[first + b, source]
                        row[b] += lookups[made + (cards[source] if x < 0 else x)]
                    made += cards[source] + 1
                else:
                    for j in range(sizes[source]):
                        other, scale = values[begins[source] + j - base], turns[at + j]
                        for b in range(BLOCK):
                            row[b] += scale * other[b]
                at += sizes[source]


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_LOOSE)
def third_moments(plan, turns, views, codes, weights, cards, marginals, card_starts):
    """E[a b c] of three views each of some nodes, summed over the weighted rows.

    `views` says, per node, where the rows of its three views begin, and how many each has. Returns one flat
    stretch of the cube of that many numbers per node.
    """
    sizes, begins = plan[1], plan[2]
    base = begins[len(cards)]  # the leaves' own rows are never filled: they are looked up
    lookups = _lookups(plan, turns, cards, marginals, card_starts)
    values = np.zeros((max(begins[-1] + sizes[-1] - base, 1), BLOCK))
    line = np.zeros(BLOCK)
    total = 0
    for node in range(len(views)):
        total += views[node, 3] ** 3
    moments = np.zeros(total)
    for first in range(0, len(codes), BLOCK):
        count = min(BLOCK, len(codes) - first)
        _evaluate(plan, turns, lookups, codes, first, count, cards, base, values)
        at = 0
        for node in range(len(views)):
            a, b, c = views[node, 0] - base, views[node, 1] - base, views[node, 2] - base
            r = views[node, 3]
            for i in range(r):
                for j in range(r):
                    for x in range(count):
                        line[x] = values[a + i, x] * values[b + j, x] * weights[first + x]
                    for m in range(r):
                        summed = 0.0
                        for x in range(count):
                            summed += line[x] * values[c + m, x]
                        moments[at] += summed
                        at += 1
    return moments
