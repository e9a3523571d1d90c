"""Compiled parts of the moment start: features of every branch, and their third moments."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from tacit.loops.small import eigh

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
    n_nodes, n_leaves, width = len(n_states), len(cards), len(correlation)
    root = n_nodes - 1
    n_features = 5 * n_nodes
    sizes = np.zeros(n_features, np.int64)
    sizes[:n_leaves] = cards
    n_sources, n_turns = 0, 0
    for node in range(n_leaves, n_nodes):
        rank = n_states[node] - 1
        sizes[node] = rank if node < root else 0
        sizes[n_nodes + node] = rank if node < root else 0
        for g in range(3):
            sizes[2 * n_nodes + 3 * node + g] = rank
    for node in range(n_leaves, n_nodes):
        span, degree = n_states[node], child_starts[node + 1] - child_starts[node] + 1
        for child in children[child_starts[node] : child_starts[node + 1]]:
            span += sizes[child]
        n_sources += degree * (degree + 2)
        for child in children[child_starts[node] : child_starts[node + 1]]:
            n_turns += n_states[child] * span
        n_turns += 3 * n_states[node] * span
    begins = np.zeros(n_features, np.int64)
    begins[1:] = np.cumsum(sizes)[:-1]
    total = begins[-1] + sizes[-1]
    weights = np.zeros((total, width))
    follows = np.zeros((total, width))
    for j in range(width):
        weights[j, j] = 1.0
    follows[:width] = correlation
    turns = np.zeros(n_turns)
    turn_begins = np.zeros(n_features, np.int64)
    source_list = np.zeros(n_sources, np.int64)
    source_begins = np.zeros(2 * n_features, np.int64)  # and, after them, where each ends
    used = np.zeros(2, np.int64)
    state = (weights, follows, begins, sizes, turns, turn_begins, source_list, source_begins, used)

    nothing = np.empty(0, np.int64)
    for node in range(n_leaves, root):
        below = children[child_starts[node] : child_starts[node + 1]].astype(np.int64)
        _derive(node, below, nothing, inside_of[node], sizes[node], state)

    members = np.empty(n_nodes + 1, np.int64)
    others = np.empty(n_nodes + 1, np.int64)
    for node in range(root, n_leaves - 1, -1):
        below = children[child_starts[node] : child_starts[node + 1]]
        for child in below:
            if child < n_leaves:
                continue
            n = 0
            for other in below:
                if other != child:
                    members[n] = other
                    n += 1
            if node < root:
                members[n] = n_nodes + node
                n += 1
            inner = children[child_starts[child] : child_starts[child + 1]].astype(np.int64)
            outside = n_nodes + child
            _derive(outside, members[:n].copy(), inner, inside_of[0], sizes[outside], state)
        for g in range(3):
            n, n_others = 0, 0
            for branch in below:
                if groups[branch] == g:
                    members[n] = branch
                    n += 1
                else:
                    others[n_others] = branch
                    n_others += 1
            if node < root and g == 2:
                members[n] = n_nodes + node
                n += 1
            elif node < root:
                others[n_others] = n_nodes + node
                n_others += 1
            view = 2 * n_nodes + 3 * node + g
            _derive(view, members[:n].copy(), others[:n_others].copy(), inside_of[0], sizes[view], state)
    return state


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz", "arcp"})
def third_moments(codes, row_weights, cards, marginals, card_starts, ranks, state):
    """E[a b c] of the three views of hidden nodes, summed over the weighted rows.

    `ranks` says how many dimensions of each node's views to look at: all or, where it has none to learn, zero.
    Returns one flat stretch of rank^3 numbers per node.
    """
    weights, follows, begins, sizes, turns, turn_begins, source_list, source_begins, used = state
    n_rows = len(codes)
    n_leaves, n_nodes = len(cards), len(ranks)
    n_features = len(sizes)
    block = 256
    total = begins[-1] + sizes[-1]
    base = begins[n_leaves]  # the leaves' own rows are never filled: they are looked up
    values = np.zeros((max(total - base, 1), block))
    moment_starts = np.zeros(n_nodes + 1, np.int64)
    for node in range(n_nodes):
        moment_starts[node + 1] = moment_starts[node] + ranks[node] ** 3
    moments = np.zeros(moment_starts[-1])
    # Outside features need their parents' first; inside features their children's; views come last.
    order = np.empty(n_features, np.int64)
    n_order = 0
    for node in range(n_leaves, n_nodes):
        order[n_order] = node
        n_order += 1
    for node in range(n_nodes - 1, n_leaves - 1, -1):
        order[n_order] = n_nodes + node
        n_order += 1
    for feature in range(2 * n_nodes + 3 * n_leaves, n_features):
        order[n_order] = feature
        n_order += 1
    line = np.zeros(block)
    # Leaf look-ups, all made before the rows are read.
    n_tables = 0
    for feature in range(n_leaves, n_features):
        for s in range(source_begins[feature], source_begins[feature + n_features]):
            if source_list[s] < n_leaves:
                n_tables += sizes[feature] * (cards[source_list[s]] + 1)
    tables = np.zeros(n_tables)
    made = 0
    for o in range(n_order):
        feature = order[o]
        span = 0
        for s in range(source_begins[feature], source_begins[feature + n_features]):
            span += sizes[source_list[s]]
        for r in range(sizes[feature]):
            at = turn_begins[feature] + r * span
            for s in range(source_begins[feature], source_begins[feature + n_features]):
                source = source_list[s]
                if source < n_leaves:
                    mean = 0.0
                    for x in range(cards[source]):
                        p = marginals[card_starts[source] + x]
                        if p > 0:
                            tables[made + x] = turns[at + x] / math.sqrt(p)
                            mean += turns[at + x] * math.sqrt(p)
                    for x in range(cards[source]):
                        tables[made + x] -= mean
                    made += cards[source] + 1
                at += sizes[source]

    for first in range(0, n_rows, block):
        count = min(block, n_rows - first)
        made = 0
        for o in range(n_order):
            feature = order[o]
            span = 0
            for s in range(source_begins[feature], source_begins[feature + n_features]):
                span += sizes[source_list[s]]
            for r in range(sizes[feature]):
                row = values[begins[feature] + r - base]
                row[:] = 0.0
                at = turn_begins[feature] + r * span
                for s in range(source_begins[feature], source_begins[feature + n_features]):
                    source = source_list[s]
                    if source < n_leaves:
                        for b in range(count):
                            x = codes[first + b, source]
                            row[b] += tables[made + (cards[source] if x < 0 else x)]
                        made += cards[source] + 1
                    else:
                        for j in range(sizes[source]):
                            other = values[begins[source] + j - base]
                            scale = turns[at + j]
                            for b in range(block):
                                row[b] += scale * other[b]
                    at += sizes[source]
        for node in range(n_leaves, n_nodes):
            rank = ranks[node]
            a = begins[2 * n_nodes + 3 * node] - base
            b0 = begins[2 * n_nodes + 3 * node + 1] - base
            c0 = begins[2 * n_nodes + 3 * node + 2] - base
            at = moment_starts[node]
            for i in range(rank):
                for j in range(rank):
                    for b in range(count):
                        line[b] = values[a + i, b] * values[b0 + j, b] * row_weights[first + b]
                    for m in range(rank):
                        summed = 0.0
                        for b in range(count):
                            summed += line[b] * values[c0 + m, b]
                        moments[at] += summed
                        at += 1
    return moments
