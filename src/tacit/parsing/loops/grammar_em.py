"""Compiled expectations of latent-variable grammars on trees that are given: only states are hidden."""

from __future__ import annotations

import math

from tacit.core.loops.compiled import njit

FAST = {"reassoc", "contract", "nsz", "arcp"}


@njit(cache=True, nogil=True, fastmath=FAST)
def _scaled(vector):
    """Divide by the sum; its logarithm."""
    total = vector[0]
    for i in range(1, len(vector)):
        total += vector[i]
    if not total > 0:
        vector[:] = vector.dtype.type(1.0 / len(vector))
        return math.log(1e-300)
    over = 1 / total
    for i in range(len(vector)):
        vector[i] *= over
    return math.log(total)


@njit(cache=True, nogil=True, fastmath=FAST)
def _times(matrix, vector, out):
    """``out = matrix @ vector``."""
    m = len(vector)
    for i in range(m):
        total = matrix[i, 0] * vector[0]
        for j in range(1, m):
            total += matrix[i, j] * vector[j]
        out[i] = total


@njit(cache=True, nogil=True, fastmath=FAST)
def expect(nodes, tables, counts, begin, end, up, down, on_left, on_right):
    """Add the expected counts of some trees; their log-likelihood.

    Counts of child states lack the factor of their probability, which is the same for all nodes of a rule.
    """
    first, label, left, right, rule, pair, weight = nodes
    start, rule_given, left_given, right_given, word_given = tables
    m = start.shape[1]
    log = 0.0
    for tree in range(begin, end):
        base, last = first[tree], first[tree + 1]
        mass = weight[tree]
        log_likelihood = 0.0
        for node in range(base, last):
            at = node - base
            r = rule[node]
            if r < 0:
                for h in range(m):
                    up[at, h] = word_given[pair[node], h]
            else:
                _times(left_given[r], up[left[node] - base], on_left[at])
                _times(right_given[r], up[right[node] - base], on_right[at])
                for h in range(m):
                    up[at, h] = rule_given[r, h] * on_left[at, h] * on_right[at, h]
            log_likelihood += _scaled(up[at])
        top, total = last - 1 - base, up.dtype.type(0)
        for h in range(m):
            down[top, h] = start[label[last - 1], h]
            total += down[top, h] * up[top, h]
        log_likelihood += math.log(max(total, 1e-300))
        log += mass * log_likelihood
        for node in range(last - 1, base - 1, -1):
            is_root = node == last - 1
            _pass_down(
                node, base, mass, nodes, tables, counts, up, down, on_left, on_right, is_root
            )
    return log


@njit(cache=True, nogil=True, fastmath=FAST)
def _pass_down(node, base, mass, nodes, tables, counts, up, down, on_left, on_right, is_root):
    """Add the expected counts of a node, and pass outside vectors to its children."""
    _, label, left, right, rule, pair, _ = nodes
    _, rule_given, left_given, right_given, _ = tables
    starts, rule_counts, left_counts, right_counts, word_counts = counts
    m = up.shape[1]
    at, r = node - base, rule[node]
    total = up.dtype.type(0)
    for h in range(m):
        total += up[at, h] * down[at, h]
    over = up.dtype.type(mass) / max(total, up.dtype.type(1e-30))
    node_counts = rule_counts[r] if r >= 0 else word_counts[pair[node]]
    for h in range(m):
        node_counts[h] += up[at, h] * down[at, h] * over
        if is_root:
            starts[label[node], h] += up[at, h] * down[at, h] * over
    if r < 0:
        return
    a, b = left[node] - base, right[node] - base
    for h in range(m):
        down[a, h] = 0
        down[b, h] = 0
    # The rule's own vector was divided by its sum: what is lost here is lost in all states alike.
    normaliser = up.dtype.type(0)
    for h in range(m):
        normaliser += down[at, h] * rule_given[r, h] * on_left[at, h] * on_right[at, h]
    scale = up.dtype.type(1) / max(normaliser, up.dtype.type(1e-30))
    mass = up.dtype.type(mass)
    for h in range(m):
        above = down[at, h] * rule_given[r, h] * scale
        to_left, to_right = above * on_right[at, h], above * on_left[at, h]
        for i in range(m):
            down[a, i] += to_left * left_given[r, h, i]
            down[b, i] += to_right * right_given[r, h, i]
            left_counts[r, h, i] += mass * to_left * up[a, i]
            right_counts[r, h, i] += mass * to_right * up[b, i]
