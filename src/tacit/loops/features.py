"""Compiled parts of the moment start: features of every branch, and their third moments."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from tacit.loops.small import eigh

# Rows handled together: what they touch stays in the nearest cache.
BLOCK = 256
_LOOSE = {"reassoc", "contract", "nsz", "arcp"}
# Directions whose variance is below this share of the largest are constants or copies of others.
SMALL = 1e-9


@njit(cache=True, nogil=True)
def canonical(spread, shared, rank):
    """Directions of a vector that follow another one most, scaled to variance one.

    Parameters
    ----------
    spread : (m, m) covariance of the vector
    shared : (m, q) its covariance with the other, whose coordinates are taken as they are
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
    sizes, directions = eigh(spread)
    whiten = np.zeros((m, m))
    n_good = 0
    for j in range(m - 1, -1, -1):
        if sizes[j] > SMALL * max(sizes[m - 1], SMALL):
            for i in range(m):
                whiten[n_good, i] = directions[i, j] / math.sqrt(sizes[j])
            n_good += 1
    if n_good == 0:
        return out
    seen = whiten[:n_good] @ shared
    _, turn = eigh(seen @ seen.T)
    for r in range(min(rank, n_good)):
        for i in range(m):
            value = 0.0
            for j in range(n_good):
                value += turn[j, n_good - 1 - r] * whiten[j, i]
            out[r, i] = value
    return out


@njit(cache=True, nogil=True)
def _stack(rows, begins, sizes, which):
    """The rows of several features, one after the other."""
    n = 0
    for w in which:
        n += sizes[w]
    out = np.empty((n, rows.shape[1]))
    at = 0
    for w in which:
        out[at : at + sizes[w]] = rows[begins[w] : begins[w] + sizes[w]]
        at += sizes[w]
    return out


@njit(cache=True, nogil=True)
def _derive(feature, sources, others, hide, rank, state):
    """Define a feature by the directions of its sources that follow other features most.

    Where no others are named, they are all indicators but those to `hide`.
    """
    weights, follows, begins, sizes, turns, turn_begins, source_list, source_begins, used = state
    w = _stack(weights, begins, sizes, sources)
    f = _stack(follows, begins, sizes, sources)
    if len(others) > 0:
        seen = f @ _stack(weights, begins, sizes, others).T
    else:
        seen = np.where(hide, 0.0, f)
    turn = canonical(f @ w.T, seen, rank)
    at = begins[feature]
    weights[at : at + rank] = turn @ w
    follows[at : at + rank] = turn @ f
    source_begins[feature] = used[0]
    for source in sources:
        source_list[used[0]] = source
        used[0] += 1
    source_begins[feature + len(sizes)] = used[0]
    turn_begins[feature] = used[1]
    for r in range(rank):
        for j in range(turn.shape[1]):
            turns[used[1]] = turn[r, j]
            used[1] += 1


@njit(cache=True, nogil=True)
def _sizes(cards, n_states):
    """Dimensions of every feature, see `branch_features`."""
    n_nodes, n_leaves = len(n_states), len(cards)
    root = n_nodes - 1
    sizes = np.zeros(5 * n_nodes, np.int64)
    sizes[:n_leaves] = cards
    for node in range(n_leaves, n_nodes):
        rank = n_states[node] - 1
        sizes[node] = rank if node < root else 0
        sizes[n_nodes + node] = rank if node < root else 0
        sizes[2 * n_nodes + 3 * node : 2 * n_nodes + 3 * node + 3] = rank
    return sizes


@njit(cache=True, nogil=True)
def _empty_state(sizes, n_states, correlation, children, child_starts):
    """Room for all features; the leaves' own indicators are there already."""
    n_sources, n_turns = 0, 0
    for node in range(len(n_states)):
        below = children[child_starts[node] : child_starts[node + 1]]
        span = n_states[node]
        for child in below:
            span += sizes[child]
        n_sources += (len(below) + 1) * (len(below) + 3)
        n_turns += 3 * n_states[node] * span
        for child in below:
            n_turns += n_states[child] * span
    begins = np.zeros(len(sizes), np.int64)
    begins[1:] = np.cumsum(sizes)[:-1]
    total, width = begins[-1] + sizes[-1], len(correlation)
    weights = np.zeros((total, width))
    follows = np.zeros((total, width))
    for j in range(width):
        weights[j, j] = 1.0
    follows[:width] = correlation
    turns = np.zeros(n_turns)
    turn_begins = np.zeros(len(sizes), np.int64)
    source_list = np.zeros(n_sources, np.int64)
    source_begins = np.zeros(2 * len(sizes), np.int64)  # and, after them, where each ends
    used = np.zeros(2, np.int64)
    return weights, follows, begins, sizes, turns, turn_begins, source_list, source_begins, used


@njit(cache=True, nogil=True)
def _branches(node, below, skip, group, groups, n_nodes, out):
    """Features of a node's branches: all but one child, or those of (or, below zero, not of) one view."""
    n = 0
    for branch in below:
        if branch == skip:
            continue
        wanted = (
            group == 99 or groups[branch] == group or (group < 0 and groups[branch] != -1 - group)
        )
        if wanted:
            out[n] = branch
            n += 1
    above = group in (99, 2) or (group < 0 and group != -3)
    if node < n_nodes - 1 and above:
        out[n] = n_nodes + node
        n += 1
    return out[:n].copy()


@njit(cache=True, nogil=True)
def branch_features(correlation, cards, n_states, children, child_starts, groups, inside_of):
    """Linear features of the leaves below and above every hidden node, from their correlations alone.

    Features are numbered: node ``i`` has its inside feature at ``i``, its outside feature at ``n + i``, and
    hidden nodes have three views, groups of their branches, at ``2n + 3i + g``. A feature has one row per
    dimension in `weights` (coefficients on the standardised indicators of all leaves) and in `follows` (its
    covariances with them), and is also a turn of its source features.

    Parameters
    ----------
    correlation : (indicator, indicator) of the standardised indicators of all categories
    cards : (leaf,)
    n_states : (node,)
    children, child_starts : see `RootedTree.child_table`
    groups : (node,) to which of its parent's three views a node belongs; above the parent is always 2
    inside_of : (node, indicator) whether an indicator's leaf is below a node
    """
    n_nodes, n_leaves = len(n_states), len(cards)
    root = n_nodes - 1
    sizes = _sizes(cards, n_states)
    state = _empty_state(sizes, n_states, correlation, children, child_starts)
    nothing, room = np.empty(0, np.int64), np.empty(n_nodes + 1, np.int64)
    for node in range(n_leaves, root):
        below = children[child_starts[node] : child_starts[node + 1]].astype(np.int64)
        _derive(node, below, nothing, inside_of[node], sizes[node], state)
    for node in range(root, n_leaves - 1, -1):
        below = children[child_starts[node] : child_starts[node + 1]]
        for child in below:
            if child >= n_leaves:
                around = _branches(node, below, child, 99, groups, n_nodes, room)
                inner = children[child_starts[child] : child_starts[child + 1]].astype(np.int64)
                outside = n_nodes + child
                _derive(outside, around, inner, inside_of[0], sizes[outside], state)
        for g in range(3):
            mine = _branches(node, below, -1, g, groups, n_nodes, room)
            others = _branches(node, below, -1, -1 - g, groups, n_nodes, room)
            view = 2 * n_nodes + 3 * node + g
            _derive(view, mine, others, inside_of[0], sizes[view], state)
    return state


@njit(cache=True, nogil=True)
def _order(n_leaves, n_nodes):
    """Features in an order in which sources come first: inside, outside from the root on, views."""
    out = np.empty(5 * (n_nodes - n_leaves), np.int64)
    at = 0
    for node in range(n_leaves, n_nodes):
        out[at] = node
        out[at + n_nodes - n_leaves] = n_nodes + n_nodes - 1 - (node - n_leaves)
        at += 1
    at += n_nodes - n_leaves
    for feature in range(2 * n_nodes + 3 * n_leaves, 5 * n_nodes):
        out[at] = feature
        at += 1
    return out


@njit(cache=True, nogil=True)
def _lookups(order, cards, marginals, card_starts, state):
    """What each category of a leaf adds to each feature that it is a source of, in the order of use."""
    sizes, turns, turn_begins = state[3], state[4], state[5]
    source_list, source_begins = state[6], state[7]
    n_leaves = len(cards)
    total = 0
    for feature in order:
        for s in range(source_begins[feature], source_begins[feature + len(sizes)]):
            if source_list[s] < n_leaves:
                total += sizes[feature] * (cards[source_list[s]] + 1)
    out = np.zeros(total)
    made = 0
    for feature in order:
        at = turn_begins[feature]
        for _ in range(sizes[feature]):
            for s in range(source_begins[feature], source_begins[feature + len(sizes)]):
                source = source_list[s]
                if source < n_leaves:
                    mean = 0.0
                    for x in range(cards[source]):
                        p = marginals[card_starts[source] + x]
                        if p > 0:
                            out[made + x] = turns[at + x] / math.sqrt(p)
                            mean += turns[at + x] * math.sqrt(p)
                    for x in range(cards[source]):
                        out[made + x] -= mean
                    made += cards[source] + 1  # the last one is of a missing cell: nothing
                at += sizes[source]
    return out


@njit(cache=True, nogil=True, fastmath=_LOOSE)
def _evaluate(codes, first, count, order, cards, lookups, base, state, values):
    """Values of all features at a block of rows."""
    begins, sizes, turns, turn_begins = state[2], state[3], state[4], state[5]
    source_list, source_begins = state[6], state[7]
    made = 0
    for feature in order:
        at = turn_begins[feature]
        for r in range(sizes[feature]):
            row = values[begins[feature] + r - base]
            row[:] = 0.0
            for s in range(source_begins[feature], source_begins[feature + len(sizes)]):
                source = source_list[s]
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


@njit(cache=True, nogil=True, fastmath=_LOOSE)
def _add_products(a, b, c, weights, count, line, out):
    """Add the weighted products of three views over a block of rows."""
    at = 0
    for i in range(len(a)):
        for j in range(len(b)):
            for row in range(count):
                line[row] = a[i, row] * b[j, row] * weights[row]
            for m in range(len(c)):
                summed = 0.0
                for row in range(count):
                    summed += line[row] * c[m, row]
                out[at] += summed
                at += 1


@njit(cache=True, nogil=True)
def third_moments(codes, row_weights, cards, marginals, card_starts, ranks, state):
    """E[a b c] of the three views of hidden nodes, summed over the weighted rows.

    `ranks` says how many dimensions of each node's views to look at: all, or none where nothing is to be
    learnt. Returns one flat stretch of rank^3 numbers per node.
    """
    begins, sizes = state[2], state[3]
    n_leaves, n_nodes = len(cards), len(ranks)
    base = begins[n_leaves]  # the leaves' own rows are never filled: they are looked up
    order = _order(n_leaves, n_nodes)
    lookups = _lookups(order, cards, marginals, card_starts, state)
    values = np.zeros((max(begins[-1] + sizes[-1] - base, 1), BLOCK))
    line = np.zeros(BLOCK)
    moments = np.zeros((ranks**3).sum())
    for first in range(0, len(codes), BLOCK):
        count = min(BLOCK, len(codes) - first)
        _evaluate(codes, first, count, order, cards, lookups, base, state, values)
        at = 0
        for node in range(n_leaves, n_nodes):
            r, view = ranks[node], 2 * n_nodes + 3 * node
            if r > 0:
                a, b, c = begins[view] - base, begins[view + 1] - base, begins[view + 2] - base
                _add_products(
                    values[a : a + r], values[b : b + r], values[c : c + r],
                    row_weights[first:], count, line, moments[at : at + r**3],
                )  # fmt: skip
                at += r**3
    return moments
