"""Numbering the distinct subtree patterns of a block of rows."""

from __future__ import annotations

import numpy as np

from tacit.core.loops.compiled import njit


@njit(cache=True, nogil=True)
def pair_patterns(first, n_first, second, n_second, out, example):
    """Number the distinct pairs (first, second) in order of appearance; returns how many there are.

    `out` gets each row's number, `example` the row where each number was met first.
    """
    n_rows = len(first)
    if n_first * n_second <= max(4 * n_rows, 1024):
        slots = np.full(n_first * n_second, np.int32(-1))
        n_distinct = 0
        for row in range(n_rows):
            key = first[row] * n_second + second[row]
            number = slots[key]
            if number < 0:
                number = n_distinct
                slots[key] = n_distinct
                example[n_distinct] = row
                n_distinct += 1
            out[row] = number
        return n_distinct
    # Too many possible pairs for a table of all: open addressing, at most half full.
    bits = 1
    while (1 << bits) < 2 * n_rows:
        bits += 1
    mask = (1 << bits) - 1
    slots = np.full(mask + 1, np.int32(-1))
    n_distinct = 0
    for row in range(n_rows):
        a = first[row]
        b = second[row]
        key = np.uint64(a) * np.uint64(n_second) + np.uint64(b)
        place = np.int64((key * np.uint64(11400714819323198485)) >> np.uint64(64 - bits))
        while True:
            number = slots[place]
            if number < 0:
                slots[place] = n_distinct
                example[n_distinct] = row
                out[row] = n_distinct
                n_distinct += 1
                break
            earlier = example[number]
            if first[earlier] == a and second[earlier] == b:
                out[row] = number
                break
            place = (place + 1) & mask
    return n_distinct


@njit(cache=True, nogil=True)
def subtree_patterns(codes, cards, children, starts, merge):
    """Patterns of every hidden node of a tree, children before parents.

    Parameters
    ----------
    codes : (row, leaf) integers, -1 missing
    cards : (leaf,) categories of each leaf; a missing cell is category ``cards[leaf]``
    children, starts : the children of each node, see `RootedTree.child_table`
    merge : whether equal patterns share a number; otherwise every row is a pattern of its own

    Returns
    -------
    n_patterns : (node,)
    ids : the child's pattern for each pattern of its parent, one stretch per child
    id_starts : (node,) where each child's stretch starts
    row_pattern : (row,) each row's pattern at the root
    """
    n_rows, n_leaves = codes.shape
    n_nodes = len(starts) - 1
    n_patterns = np.zeros(n_nodes, np.int64)
    for leaf in range(n_leaves):
        n_patterns[leaf] = cards[leaf] + 1
    at_row = np.empty((n_nodes, n_rows), np.int32)
    for leaf in range(n_leaves):
        for row in range(n_rows):
            code = codes[row, leaf]
            at_row[leaf, row] = cards[leaf] if code < 0 else code
    ids = np.empty(len(children) * n_rows, np.int32)
    id_starts = np.zeros(n_nodes, np.int64)
    example = np.empty(n_rows, np.int64)
    used = 0
    for node in range(n_leaves, n_nodes):
        below = children[starts[node] : starts[node + 1]]
        n_distinct = n_patterns[below[0]]
        all_distinct = not merge
        for child in below:
            if child >= n_leaves and n_patterns[child] == n_rows:
                all_distinct = True
        if all_distinct:
            # A child already has a pattern of its own for every row, so its parents have too.
            n_distinct = n_rows
            for row in range(n_rows):
                at_row[node, row] = row
                example[row] = row
        else:
            current = at_row[below[0]]
            if len(below) == 1:
                alone = np.zeros(n_rows, np.int32)
                n_distinct = pair_patterns(current, n_distinct, alone, 1, at_row[node], example)
            for place in range(1, len(below)):
                child = below[place]
                n_distinct = pair_patterns(
                    current, n_distinct, at_row[child], n_patterns[child], at_row[node], example
                )
                if place + 1 < len(below):
                    current = at_row[node].copy()
        n_patterns[node] = n_distinct
        for child in below:
            id_starts[child] = used
            for pattern in range(n_distinct):
                ids[used + pattern] = at_row[child, example[pattern]]
            used += n_distinct
    return n_patterns, ids[:used].copy(), id_starts, at_row[n_nodes - 1].copy()


@njit(cache=True, nogil=True)
def spread_weights(n_patterns, ids, id_starts, parent, out, out_starts):
    """Weights of the patterns of every node from those of the root, which stand last in `out`."""
    for node in range(len(parent) - 2, -1, -1):
        above = parent[node]
        for pattern in range(n_patterns[above]):
            place = ids[id_starts[node] + pattern]
            out[out_starts[node] + place] += out[out_starts[above] + pattern]


@njit(cache=True, nogil=True)
def different_rows(codes, weights):
    """Where each different row stands first, in their order, and their summed weights.

    Rows of weight zero are left out, unless all are.

    Parameters
    ----------
    codes : (row, column) integers
    weights : (row,)
    """
    n_rows, n_columns = codes.shape
    bits = 1
    while (1 << bits) < 2 * n_rows:
        bits += 1
    mask = (1 << bits) - 1
    slots = np.full(mask + 1, np.int32(-1))
    first, summed = np.empty(n_rows, np.int64), np.empty(n_rows)
    counted = weights.sum() > 0.0
    n_distinct = 0
    for row in range(n_rows):
        if counted and weights[row] == 0.0:
            continue
        key = np.uint64(n_columns)
        for column in range(n_columns):
            key = (key ^ np.uint64(codes[row, column] + 1)) * np.uint64(11400714819323198485)
            key ^= key >> np.uint64(29)
        place = np.int64(key >> np.uint64(64 - bits))
        while True:
            number = slots[place]
            if number < 0:
                slots[place] = n_distinct
                first[n_distinct], summed[n_distinct] = row, weights[row]
                n_distinct += 1
                break
            same = True
            for column in range(n_columns):
                if codes[row, column] != codes[first[number], column]:
                    same = False
                    break
            if same:
                summed[number] += weights[row]
                break
            place = (place + 1) & mask
    return first[:n_distinct].copy(), summed[:n_distinct].copy()
