"""Expected counts of a tree of probability tables, over subtree patterns.

One upward and one downward pass. Messages are stored pattern by pattern; a block of patterns is turned
state by state while it is worked on, so that the arithmetic runs over contiguous patterns.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

# Patterns handled together: what they touch stays in the nearest cache.
BLOCK = 256
TINY = 1e-300
_LOOSE = {"reassoc", "contract", "nsz", "arcp"}


@njit(cache=True, nogil=True, fastmath=_LOOSE)
def _gather(messages, ids, begins, offsets, k, count, each, product):
    """Messages of all children at a block of patterns (`each`, by child), and their `product`."""
    for place in range(len(begins)):
        begin = begins[place]
        for h in range(k):
            offset = offsets[place] + h
            for b in range(count):
                each[place, h, b] = messages[offset + ids[begin + b] * k]
    for h in range(k):
        for b in range(count):
            product[h, b] = each[0, h, b]
        for place in range(1, len(begins)):
            for b in range(count):
                product[h, b] *= each[place, h, b]


@njit(cache=True, nogil=True, fastmath=_LOOSE)
def _send_up(table, product, k, width, count, line, out, scale, weights):
    """Message to the parent from the children's product; returns what rescaling took, as a logarithm."""
    for g in range(width):
        for b in range(count):
            line[b] = table[g * k] * product[0, b]
        for h in range(1, k):
            entry = table[g * k + h]
            for b in range(count):
                line[b] += entry * product[h, b]
        for b in range(count):
            out[b * width + g] = line[b]
    taken = 0.0
    if len(scale) > 0:
        for b in range(count):
            size = 0.0
            for g in range(width):
                size += out[b * width + g]
            size = max(size, TINY)
            taken += weights[b] * math.log(size)
            scale[b] = 1.0 / size
            for g in range(width):
                out[b * width + g] *= scale[b]
    return taken


@njit(cache=True, nogil=True, fastmath=_LOOSE)
def _send_down(table, product, slope, k, width, count, line, from_above, counts):
    """Slope of the log-likelihood by the children's product, and the table's expected counts."""
    for h in range(k):
        for b in range(count):
            slope[h, b] = 0.0
    for g in range(width):
        for b in range(count):
            line[b] = from_above[b * width + g]
        for h in range(k):
            entry = table[g * k + h]
            summed = 0.0
            for b in range(count):
                slope[h, b] += entry * line[b]
                summed += line[b] * product[h, b]
            counts[g * k + h] += entry * summed


@njit(cache=True, nogil=True, fastmath=_LOOSE)
def _share(slopes, ids, begins, offsets, k, count, each, slope, rest):
    """Add each child's part of the slope to its pattern: the slope times the other children's messages."""
    n_children = len(begins)
    for place in range(n_children):
        begin = begins[place]
        for h in range(k):
            for b in range(count):
                rest[b] = slope[h, b]
            for other in range(n_children):
                if other != place:
                    for b in range(count):
                        rest[b] *= each[other, h, b]
            offset = offsets[place] + h
            for b in range(count):
                slopes[offset + ids[begin + b] * k] += rest[b]


@njit(cache=True, nogil=True)
def expected_counts(
    tables,
    starts,
    n_states,
    widths,
    n_leaves,
    children,
    child_starts,
    n_patterns,
    ids,
    id_starts,
    weights,
    weight_starts,
    rescale,
    messages,
    slopes,
    offsets,
    counts,
):
    """Log-likelihood of weighted patterns; expected counts of every table entry are added to `counts`.

    Parameters
    ----------
    tables, starts, n_states, widths : the flat tables, where each starts, columns and rows of each
    children, child_starts : see `RootedTree.child_table`
    n_patterns, ids, id_starts : see `Patterns`
    weights, weight_starts : weights of the patterns of every node; only the root's where none rescales
    rescale : (node,) whether messages of a node are brought to sum one
    messages, slopes, offsets : working space, one entry per pattern and parent state, and where each starts
    counts : like tables
    """
    n_nodes = len(n_states)
    root = n_nodes - 1
    widest, most, longest = 1, 1, 0
    for node in range(n_nodes):
        widest = max(widest, n_states[node])
        most = max(most, child_starts[node + 1] - child_starts[node])
        if rescale[node]:
            longest = max(longest, n_patterns[node])
    each = np.empty((most, widest, BLOCK))
    product = np.empty((widest, BLOCK))
    slope = np.empty((widest, BLOCK))
    rest = np.empty(BLOCK)
    begins = np.empty(most, np.int64)
    places = np.empty(most, np.int64)
    no_scale = np.empty(0)
    scales = np.ones(weight_starts[n_nodes] if longest > 0 else 0)
    total = 0.0

    for leaf in range(n_leaves):
        for x in range(n_states[leaf]):
            for g in range(widths[leaf]):
                messages[offsets[leaf] + x * widths[leaf] + g] = tables[
                    starts[leaf] + g * n_states[leaf] + x
                ]
        for g in range(widths[leaf]):
            messages[offsets[leaf] + n_states[leaf] * widths[leaf] + g] = 1.0
    for place in range(offsets[n_nodes]):
        slopes[place] = 0.0

    for node in range(n_leaves, n_nodes):
        below = children[child_starts[node] : child_starts[node + 1]]
        d, k, width = len(below), n_states[node], widths[node]
        table = tables[starts[node] : starts[node + 1]]
        for first in range(0, n_patterns[node], BLOCK):
            count = min(BLOCK, n_patterns[node] - first)
            for place in range(d):
                begins[place] = id_starts[below[place]] + first
                places[place] = offsets[below[place]]
            _gather(messages, ids, begins[:d], places[:d], k, count, each, product)
            out = messages[offsets[node] + first * width : offsets[node + 1]]
            if rescale[node]:
                at = weight_starts[node] + first
                total += _send_up(
                    table, product, k, width, count, rest, out, scales[at:], weights[at:]
                )
            else:
                _send_up(table, product, k, width, count, rest, out, no_scale, no_scale)

    at = weight_starts[root]
    for pattern in range(n_patterns[root]):
        value = max(messages[offsets[root] + pattern], TINY)
        total += weights[at + pattern] * math.log(value)
        slopes[offsets[root] + pattern] = weights[at + pattern] / value

    for node in range(root, n_leaves - 1, -1):
        below = children[child_starts[node] : child_starts[node + 1]]
        d, k, width = len(below), n_states[node], widths[node]
        table = tables[starts[node] : starts[node + 1]]
        for first in range(0, n_patterns[node], BLOCK):
            count = min(BLOCK, n_patterns[node] - first)
            for place in range(d):
                begins[place] = id_starts[below[place]] + first
                places[place] = offsets[below[place]]
            _gather(messages, ids, begins[:d], places[:d], k, count, each, product)
            from_above = slopes[offsets[node] + first * width : offsets[node + 1]]
            if rescale[node]:
                at = weight_starts[node] + first
                for b in range(count):
                    for g in range(width):
                        from_above[b * width + g] *= scales[at + b]
            _send_down(
                table,
                product,
                slope,
                k,
                width,
                count,
                rest,
                from_above,
                counts[starts[node] : starts[node + 1]],
            )
            _share(slopes, ids, begins[:d], places[:d], k, count, each, slope, rest)

    for leaf in range(n_leaves):
        for x in range(n_states[leaf]):
            for g in range(widths[leaf]):
                at = starts[leaf] + g * n_states[leaf] + x
                counts[at] += tables[at] * slopes[offsets[leaf] + x * widths[leaf] + g]
    return total
