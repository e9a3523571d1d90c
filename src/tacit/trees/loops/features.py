"""Compiled parts of the moment start: features of every branch, and third moments of views.

A *feature* is a linear function of the indicators of all leaves, with a few dimensions, each a row of
`weights` (coefficients on the standardised indicators) and of `follows` (its covariances with them). All but
the leaves' own are turns of source features. What is made of what is a plan, see `FeaturePlan` in
`tacit.trees.learn.starts.branches`.
"""

from __future__ import annotations

import math

import numpy as np

from tacit.core.loops.compiled import njit

# Rows handled together: their data stay in the nearest cache.
BLOCK = 256
_LOOSE = {"reassoc", "contract", "nsz", "arcp"}
# Directions whose variance is below this fraction of the largest are constants or copies of others.
SMALL = 1e-9
# Matrices with more entries than this are multiplied by BLAS: those of nodes with many children.
MANY = 2048


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_LOOSE)
def _products(a, rows_a, b, rows_b, first, last):
    """Products of some rows of one matrix with some rows of another, over some of the columns."""
    if len(rows_a) * len(rows_b) > MANY:
        one_side = np.ascontiguousarray(a[rows_a][:, first:last])
        return np.dot(one_side, np.ascontiguousarray(b[rows_b][:, first:last]).T)
    out = np.empty((len(rows_a), len(rows_b)))
    for i in range(len(rows_a)):
        one = a[rows_a[i], first:last]
        for j in range(len(rows_b)):
            other = b[rows_b[j], first:last]
            total = 0.0
            for x in range(len(one)):
                total += one[x] * other[x]
            out[i, j] = total
    return out


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_LOOSE)
def _squares(a, rows, keep):
    """Products of some rows of a matrix with each other, columns weighted by `keep`."""
    if len(rows) * len(rows) > MANY:
        return np.dot(a[rows] * keep[: a.shape[1]], a[rows].T)
    out = np.empty((len(rows), len(rows)))
    for i in range(len(rows)):
        one = a[rows[i]]
        for j in range(i + 1):
            other = a[rows[j]]
            total = 0.0
            for x in range(a.shape[1]):
                total += one[x] * other[x] * keep[x]
            out[i, j] = total
            out[j, i] = total
    return out


@njit(cache=True, nogil=True, error_model="numpy")
def symmetric(matrix):
    """Eigenvalues, ascending, and eigenvectors (as rows) of a symmetric matrix.

    Small ones by Jacobi's rotations, in a third of the time that a call of LAPACK takes.
    """
    n = len(matrix)
    if n > 16:
        values, columns = np.linalg.eigh(matrix)
        return values, columns.T.copy()
    a, v = matrix.copy(), np.zeros((n, n))
    for i in range(n):
        v[i, i] = 1.0
    for _ in range(30):
        off, on = 0.0, 0.0
        for p in range(n):
            on += a[p, p] * a[p, p]
            for q in range(p):
                off += a[p, q] * a[p, q]
        if off <= 1e-28 * on:
            break
        for p in range(n - 1):
            for q in range(p + 1, n):
                if a[p, q] == 0.0:
                    continue
                angle = 0.5 * math.atan2(2.0 * a[p, q], a[q, q] - a[p, p])
                c, d = math.cos(angle), math.sin(angle)
                for i in range(n):
                    x, y = a[i, p], a[i, q]
                    a[i, p], a[i, q] = c * x - d * y, d * x + c * y
                for i in range(n):
                    x, y = a[p, i], a[q, i]
                    a[p, i], a[q, i] = c * x - d * y, d * x + c * y
                    x, y = v[p, i], v[q, i]
                    v[p, i], v[q, i] = c * x - d * y, d * x + c * y
    values, vectors = np.empty(n), np.empty((n, n))
    for i in range(n):
        values[i] = a[i, i]
    order = np.argsort(values)
    for i in range(n):
        values[i] = a[order[i], order[i]]
        for j in range(n):
            vectors[i, j] = v[order[i], j]
    return values, vectors


@njit(cache=True, nogil=True, error_model="numpy")
def strongest(matrix):
    """The eigenvector (as one row) of the largest eigenvalue of a positive matrix, by repeated products."""
    n = len(matrix)
    start = 0
    for i in range(n):
        if matrix[i, i] > matrix[start, start]:
            start = i
    vector, next_one = np.zeros((1, n)), np.zeros(n)
    vector[0, start] = 1.0
    for _ in range(200):
        size = 0.0
        for i in range(n):
            total = 0.0
            for j in range(n):
                total += matrix[i, j] * vector[0, j]
            next_one[i] = total
            size += total * total
        if size == 0.0:
            return vector
        change = 0.0
        for i in range(n):
            value = next_one[i] / math.sqrt(size)
            change = max(change, abs(value - vector[0, i]))
            vector[0, i] = value
        if change < 1e-12:
            break
    return vector


@njit(cache=True, nogil=True, error_model="numpy")
def canonical(spread, pull, rank):
    """Directions of a vector that follow another one most, scaled to variance one.

    Parameters
    ----------
    spread : (m, m) covariance of the vector
    pull : (m, m) its covariance with the other, whose coordinates are taken as they are, times its transpose
    rank : how many directions; rows of zeros where there are fewer
    """
    m = len(spread)
    out = np.zeros((rank, m))
    if rank == 0 or m == 0:
        return out
    if m == 1:
        if spread[0, 0] > 0:
            out[0, 0] = 1.0 / math.sqrt(spread[0, 0])
        return out
    sizes, directions = symmetric(spread)
    whiten = np.zeros((m, m))
    n_good = 0
    for j in range(m - 1, -1, -1):
        if sizes[j] > SMALL * max(sizes[m - 1], SMALL):
            for i in range(m):
                whiten[n_good, i] = directions[j, i] / math.sqrt(sizes[j])
            n_good += 1
    if n_good < 2:
        for i in range(m):
            out[0, i] = whiten[0, i]
        return out
    gram = np.zeros((n_good, n_good))
    if n_good * m > MANY:
        gram[:] = np.dot(np.dot(whiten[:n_good], pull), whiten[:n_good].T)
    else:
        half = np.zeros((n_good, m))
        for j in range(n_good):
            for i in range(m):
                for x in range(m):
                    half[j, x] += whiten[j, i] * pull[i, x]
        for j in range(n_good):
            for i in range(n_good):
                for x in range(m):
                    gram[j, i] += half[j, x] * whiten[i, x]
    turn = strongest(gram) if rank == 1 else symmetric(gram)[1]
    for r in range(min(rank, n_good)):
        for j in range(n_good):
            for i in range(m):
                out[r, i] += turn[len(turn) - 1 - r, j] * whiten[j, i]
    return out


@njit(cache=True, nogil=True, error_model="numpy")
def _rows_of(begins, sizes, features, out):
    """The rows of several features, one after the other."""
    n = 0
    for feature in features:
        for row in range(begins[feature], begins[feature] + sizes[feature]):
            out[n] = row
            n += 1
    return out[:n]


@njit(cache=True, nogil=True, error_model="numpy")
def _span(first, last, sizes, features):
    """The columns between which the weights of several features stand."""
    low, high = 1 << 60, 0
    for feature in features:
        if sizes[feature] > 0:
            low, high = min(low, first[feature]), max(high, last[feature])
    return min(low, high), high


@njit(cache=True, nogil=True, error_model="numpy")
def _add(scale, row, out):
    for x in range(len(row)):
        out[x] += scale * row[x]


@njit(cache=True, nogil=True, error_model="numpy")
def derive_features(plan, keep, most_rows, weights, follows, turns):
    """Fill in all features in the order of the plan: directions of their sources that follow others most.

    Parameters
    ----------
    plan : order, sizes, as_source, begins, sources, source_starts, others, other_starts, turn_starts
    keep : (node, indicator) ones for the indicators outside of a node: what its inside feature is to follow
    most_rows : the most rows that the sources or others of a feature have
    weights, follows : (row, indicator), those of the leaves filled in
    turns : flat, one stretch (dimension, row of sources) per feature
    """
    order, sizes, as_source, begins, sources, source_starts, others, other_starts, turn_starts = (
        plan
    )
    width = weights.shape[1]
    # Weights stand on the leaves of a branch, which often are neighbours: nothing is done outside of them.
    first, last = np.zeros(len(sizes), np.int64), np.zeros(len(sizes), np.int64)
    feature = 0
    while begins[feature] < width and sizes[feature] > 0:
        first[feature], last[feature] = begins[feature], begins[feature] + sizes[feature]
        feature += 1
    room, more_room, ones = (
        np.empty(most_rows, np.int64),
        np.empty(most_rows, np.int64),
        np.ones(most_rows),
    )
    for place in range(len(order)):
        feature = order[place]
        source_features = sources[source_starts[place] : source_starts[place + 1]]
        beside = others[other_starts[place] : other_starts[place + 1]]
        rows = _rows_of(begins, as_source, source_features, room)
        low, high = _span(first, last, sizes, source_features)
        first[feature], last[feature] = low, high
        spread = _products(follows, rows, weights, rows, low, high)
        if len(beside) > 0:
            rows_beside = _rows_of(begins, sizes, beside, more_room)
            low_beside, high_beside = _span(first, last, sizes, beside)
            shared = _products(follows, rows, weights, rows_beside, low_beside, high_beside)
            pull = _squares(shared, np.arange(len(rows)), ones)
        elif feature < len(keep):
            pull = _squares(follows, rows, keep[feature])
        else:  # a view of the only leaf has nothing to follow
            pull = np.zeros((len(rows), len(rows)))
        turn = canonical(spread, pull, sizes[feature])
        for r in range(sizes[feature]):
            at = begins[feature] + r
            for i in range(len(rows)):
                turns[turn_starts[place] + r * len(rows) + i] = turn[r, i]
                _add(turn[r, i], weights[rows[i], low:high], weights[at, low:high])
                _add(turn[r, i], follows[rows[i]], follows[at])


@njit(cache=True, nogil=True, error_model="numpy")
def _lookups(plan, turns, cards, marginals, card_starts):
    """The value of each category of a leaf in each feature that it is a source of, in the order of use."""
    order, sizes, as_source, _, sources, source_starts, _, _, turn_starts = plan
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
                    for x in range(as_source[source]):
                        root = math.sqrt(marginals[card_starts[source] + x])
                        if root > 0:
                            out[made + x] = turns[at + x] / root
                            mean += turns[at + x] * root
                    for x in range(cards[source]):
                        out[made + x] -= mean
                    made += cards[source] + 1  # the last one is of a missing cell: nothing
                at += as_source[source]
    return out


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_LOOSE)
def _evaluate(plan, turns, lookups, codes, first, count, cards, base, values):
    """Values of all features at a block of rows."""
    order, sizes, as_source, begins, sources, source_starts, _, _, turn_starts = plan
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
                at += as_source[source]


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_LOOSE)
def third_moments(plan, turns, views, codes, weights, cards, marginals, card_starts):
    """E[a b c] of three views each of some nodes, summed over the weighted rows.

    `views` says, per node, where the rows of its three views begin, and how many each has. Returns one flat
    stretch of the cube of that many numbers per node.
    """
    sizes, begins = plan[1], plan[3]
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
