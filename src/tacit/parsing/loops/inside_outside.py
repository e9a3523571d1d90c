"""Compiled passes of latent-variable grammars over forests of items and edges.

An item is a labelled span with a vector of states; an edge joins two items to a third by a rule. Items come
children first, the edges of an item stand together, those of one rule in a row. Items without edges are
leaves. Every vector has a logarithm of its own, so that nothing runs over or under; entries may be negative.

A rule weighs pairs of children by a dense tensor, by a sum of rank-one terms, or by both.
"""

from __future__ import annotations

import math

import numpy as np

from tacit.core.loops.compiled import njit

FAST = {"reassoc", "contract", "nsz", "arcp"}


@njit(cache=True, nogil=True, fastmath=FAST)
def _dot(a, b):
    total = a[0] * b[0]
    for i in range(1, len(a)):
        total += a[i] * b[i]
    return total


@njit(cache=True, nogil=True, fastmath=FAST)
def _normalise(vector):
    """Divide by the largest size of an entry; its logarithm."""
    most = abs(vector[0])
    for i in range(1, len(vector)):
        most = max(most, abs(vector[i]))
    if not most > 0:
        return -np.inf
    over = 1 / most
    for i in range(len(vector)):
        vector[i] *= over
    return math.log(most)


@njit(cache=True, nogil=True, fastmath=FAST)
def _joined(begin, end, edge_left, edge_right, top, vectors, logs, pairs):
    """Sum of the outer products of the children of some edges into `pairs`, whose rows stand in a row."""
    m = vectors.shape[1]
    for i in range(m * m):
        pairs[i] = 0
    for edge in range(begin, end):
        left, right = edge_left[edge], edge_right[edge]
        weight = math.exp(logs[left] + logs[right] - top)
        for i in range(m):
            factor = vectors.dtype.type(weight) * vectors[left, i]
            for j in range(m):
                pairs[i * m + j] += factor * vectors[right, j]


@njit(cache=True, nogil=True, fastmath=FAST)
def inside(forest, rules, vectors, logs):
    """Inside vectors of all items; those of leaves come in `vectors`."""
    first_edge, edge_rule, edge_left, edge_right = forest
    dense, tensors, first_term, parents, lefts, rights = rules
    m = vectors.shape[1]
    pairs = np.empty(m * m, vectors.dtype)
    for item in range(len(first_edge) - 1):
        begin, last = first_edge[item], first_edge[item + 1]
        now = vectors[item]
        if begin == last:
            logs[item] = _normalise(now)
            continue
        top = -np.inf
        for edge in range(begin, last):
            top = max(top, logs[edge_left[edge]] + logs[edge_right[edge]])
        now[:] = 0
        logs[item] = -np.inf
        if top == -np.inf:
            continue
        while begin < last:
            rule, end = edge_rule[begin], begin + 1
            while end < last and edge_rule[end] == rule:
                end += 1
            if dense[rule] >= 0:
                _joined(begin, end, edge_left, edge_right, top, vectors, logs, pairs)
                tensor = tensors[dense[rule]]
                for i in range(m):
                    now[i] += _dot(tensor[i], pairs)
            for edge in range(begin, end):
                left, right = edge_left[edge], edge_right[edge]
                weight = vectors.dtype.type(math.exp(logs[left] + logs[right] - top))
                for term in range(first_term[rule], first_term[rule + 1]):
                    product = _dot(lefts[term], vectors[left]) * _dot(rights[term], vectors[right])
                    for i in range(m):
                        now[i] += weight * product * parents[term, i]
            begin = end
        logs[item] = top + _normalise(now)


@njit(cache=True, nogil=True, fastmath=FAST)
def _rescaled(out, out_logs, item, log):
    """The factor of what is added to an outside vector; the vector is rescaled where its log is smaller."""
    if log > out_logs[item]:
        if out_logs[item] > -np.inf:
            out[item] *= out.dtype.type(math.exp(out_logs[item] - log))
        out_logs[item] = log
        return out.dtype.type(1)
    return out.dtype.type(math.exp(log - out_logs[item]))


@njit(cache=True, nogil=True, fastmath=FAST)
def outside(forest, rules, vectors, logs, out, out_logs, edge_values, edge_logs):
    """Outside vectors of all items; those of roots come in `out`. And the score of each edge.

    The score of an edge is that of all trees which hold it: ``edge_values * exp(edge_logs)``.
    """
    first_edge, edge_rule, edge_left, edge_right = forest
    dense, tensors, first_term, parents, lefts, rights = rules
    m = vectors.shape[1]
    both = np.empty((m, m), vectors.dtype)
    for item in range(len(first_edge) - 2, -1, -1):
        begin, last = first_edge[item], first_edge[item + 1]
        now = out[item]
        if out_logs[item] == -np.inf:
            continue
        out_logs[item] += _normalise(now)
        if out_logs[item] == -np.inf:
            continue
        previous = -1
        for edge in range(begin, last):
            left, right, rule = edge_left[edge], edge_right[edge], edge_rule[edge]
            edge_logs[edge] = out_logs[item] + logs[left] + logs[right]
            if edge_logs[edge] == -np.inf:
                continue
            if dense[rule] >= 0 and rule != previous:
                _parent_times_tensor(now, tensors[dense[rule]], both)
                previous = rule
            to_left = _rescaled(out, out_logs, left, out_logs[item] + logs[right])
            to_right = _rescaled(out, out_logs, right, out_logs[item] + logs[left])
            value = 0.0
            if dense[rule] >= 0:
                for i in range(m):
                    product = _dot(both[i], vectors[right])
                    value += product * vectors[left, i]
                    out[left, i] += to_left * product
                    factor = to_right * vectors[left, i]
                    for j in range(m):
                        out[right, j] += factor * both[i, j]
            for term in range(first_term[rule], first_term[rule + 1]):
                above = _dot(parents[term], now)
                on_left, on_right = (
                    _dot(lefts[term], vectors[left]),
                    _dot(rights[term], vectors[right]),
                )
                value += above * on_left * on_right
                for i in range(m):
                    out[left, i] += to_left * above * on_right * lefts[term, i]
                    out[right, i] += to_right * above * on_left * rights[term, i]
            edge_values[edge] = value


@njit(cache=True, nogil=True, fastmath=FAST)
def _parent_times_tensor(above, tensor, both):
    """``both[l, r] = sum(above[a] * tensor[a, l, r])``."""
    m = len(above)
    flat = both.reshape(m * m)
    for i in range(m * m):
        flat[i] = 0
    for a in range(m):
        for i in range(m * m):
            flat[i] += above[a] * tensor[a, i]


@njit(cache=True, nogil=True)
def best_tree(forest, gains, edge_gains, best, choice):
    """The largest sum of gains of the items and edges of a tree below each item, and its first edge."""
    first_edge, _, edge_left, edge_right = forest
    for item in range(len(first_edge) - 1):
        begin, last = first_edge[item], first_edge[item + 1]
        choice[item] = -1
        best[item] = gains[item]
        if begin == last:
            continue
        top = -np.inf
        for edge in range(begin, last):
            value = best[edge_left[edge]] + best[edge_right[edge]] + edge_gains[edge]
            if value > top or choice[item] < 0:
                top = value
                choice[item] = edge
        best[item] += top
