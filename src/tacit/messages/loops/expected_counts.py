"""Expected counts of a tree of probability tables, over subtree patterns.

One upward and one downward pass. Messages are stored pattern by pattern; a block of patterns is turned
state by state while it is worked on, so that the arithmetic runs over contiguous patterns.
"""

from __future__ import annotations

import math

import numpy as np

from tacit.core.loops.compiled import njit

# Patterns handled together: their data stay in the nearest cache, or nearly so at nodes of many children.
BLOCK, MOST_ENTRIES = 256, 1 << 17
TINY = 1e-300
# A product of many messages is lifted when it falls below this.
LOW = 1e-100
_LOOSE = {"reassoc", "contract", "nsz", "arcp"}


# Loops instead of slices, which take numba seconds to compile for the sake of their error messages.


@njit(cache=True, nogil=True)
def _fill(out, count, value):
    for b in range(count):
        out[b] = value


@njit(cache=True, nogil=True)
def _copy(source, k, count, out):
    for h in range(k):
        for b in range(count):
            out[h, b] = source[h, b]


@njit(cache=True, nogil=True, fastmath=_LOOSE)
def _gather(messages, ids, begins, offsets, k, count, child_messages, product):
    """Messages of all children at a block of patterns (`child_messages`, by child), and their `product`."""
    for place in range(len(begins)):
        begin = begins[place]
        for h in range(k):
            offset = offsets[place] + h
            for b in range(count):
                child_messages[place, h, b] = messages[offset + ids[begin + b] * k]
    for h in range(k):
        for b in range(count):
            product[h, b] = child_messages[0, h, b]
        for place in range(1, len(begins)):
            for b in range(count):
                product[h, b] *= child_messages[place, h, b]


@njit(cache=True, nogil=True, fastmath=_LOOSE)
def _send_up(table, product, k, width, count, line, out, scale, weights):
    """Message to the parent from the children's product; returns the logarithm taken out by rescaling."""
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
def _child_slopes(slopes, ids, begins, offsets, k, count, child_messages, slope, line):
    """Add each child's part of the slope to its pattern: the slope times the other children's messages."""
    n_children = len(begins)
    for place in range(n_children):
        begin = begins[place]
        for h in range(k):
            for b in range(count):
                line[b] = slope[h, b]
            for other in range(n_children):
                if other != place:
                    for b in range(count):
                        line[b] *= child_messages[other, h, b]
            offset = offsets[place] + h
            for b in range(count):
                slopes[offset + ids[begin + b] * k] += line[b]


@njit(cache=True, nogil=True, fastmath=_LOOSE)
def _lift(product, k, count, line, logs):
    """Divide products that have become small by their largest entry, and note its logarithm."""
    for b in range(count):
        line[b] = product[0, b]
    for h in range(1, k):
        for b in range(count):
            line[b] = max(line[b], product[h, b])
    least = 1.0
    for b in range(count):
        least = min(least, line[b])
    if least >= LOW:
        return False
    for b in range(count):
        if 0.0 < line[b] < LOW:
            logs[b] += math.log(line[b])
            for h in range(k):
                product[h, b] /= line[b]
    return True


@njit(cache=True, nogil=True, fastmath=_LOOSE)
def _multiply(child_messages, n_children, k, count, product, line, logs):
    """The children's product in many steps; returns whether anything was taken out of it (`logs`)."""
    _fill(logs, count, 0.0)
    _copy(child_messages[0], k, count, product)
    lifted = False
    for place in range(1, n_children):
        for h in range(k):
            for b in range(count):
                product[h, b] *= child_messages[place, h, b]
        lifted |= _lift(product, k, count, line, logs)
    return lifted


@njit(cache=True, nogil=True, fastmath=_LOOSE)
def _child_slopes_stepwise(
    slopes,
    ids,
    begins,
    offsets,
    k,
    count,
    child_messages,
    slope,
    product,
    logs,
    lifted,
    space,
):
    """The same as `_child_slopes` in as many steps as there are children: products before and after each.

    Parts of a product are no smaller than the whole: where that was not lifted, they need not be.
    """
    after, after_logs, before_logs, line, spare = space
    n_children = len(begins)
    for h in range(k):
        _fill(product[h], count, 1.0)
    _fill(before_logs, count, 0.0)
    for place in range(n_children - 1, -1, -1):
        _copy(product, k, count, after[place])
        for b in range(count):
            after_logs[place, b] = before_logs[b]
        for h in range(k):
            for b in range(count):
                product[h, b] *= child_messages[place, h, b]
        if lifted:
            _lift(product, k, count, spare, before_logs)
    _copy(slope, k, count, product)
    _fill(before_logs, count, 0.0)
    _fill(line, count, 1.0)
    for place in range(n_children):
        begin = begins[place]
        if lifted:
            for b in range(count):
                # Where it would overflow, it is multiplied by zero.
                line[b] = math.exp(min(before_logs[b] + after_logs[place, b] - logs[b], 700.0))
        for h in range(k):
            offset = offsets[place] + h
            for b in range(count):
                part = product[h, b] * after[place, h, b] * line[b]
                slopes[offset + ids[begin + b] * k] += part
            for b in range(count):
                product[h, b] *= child_messages[place, h, b]
        if lifted:
            _lift(product, k, count, spare, before_logs)


@njit(cache=True, nogil=True)
def _set_leaves(model, messages, offsets):
    """Messages of the leaves: columns of their tables, and ones for a missing cell."""
    tables, starts, n_states, widths, n_leaves = model
    for leaf in range(n_leaves):
        width = widths[leaf]
        for x in range(n_states[leaf]):
            for g in range(width):
                entry = tables[starts[leaf] + g * n_states[leaf] + x]
                messages[offsets[leaf] + x * width + g] = entry
        for g in range(width):
            messages[offsets[leaf] + n_states[leaf] * width + g] = 1.0


@njit(cache=True, nogil=True)
def _place(node, first, tree, id_starts, offsets, begins, places):
    """Where the ids and messages of a node's children start, for a block of its patterns."""
    children, child_starts = tree
    count = child_starts[node + 1] - child_starts[node]
    for place in range(count):
        child = children[child_starts[node] + place]
        begins[place] = id_starts[child] + first
        places[place] = offsets[child]
    return count


@njit(cache=True, nogil=True)
def _upward(model, tree, patterns, weights, scales, messages, offsets, work):
    """Messages of all hidden nodes; returns the log-likelihood taken out by rescaling."""
    tables, starts, n_states, widths, n_leaves = model
    n_patterns, ids, id_starts = patterns
    weights, weight_starts, rescale, stepwise = weights
    child_messages, product, _, line, begins, places, logs, _ = work
    block = len(line)
    nothing = np.empty(0)
    total = 0.0
    for node in range(n_leaves, len(n_states)):
        k, width = n_states[node], widths[node]
        table = tables[starts[node] : starts[node + 1]]
        for first in range(0, n_patterns[node], block):
            count = min(block, n_patterns[node] - first)
            d = _place(node, first, tree, id_starts, offsets, begins, places)
            _gather(messages, ids, begins[:d], places[:d], k, count, child_messages, product)
            if stepwise[node]:
                if _multiply(child_messages, d, k, count, product, line, logs):
                    for b in range(count):
                        total += weights[weight_starts[node] + first + b] * logs[b]
            out = messages[offsets[node] + first * width : offsets[node + 1]]
            if rescale[node]:
                at = weight_starts[node] + first
                total += _send_up(
                    table, product, k, width, count, line, out, scales[at:], weights[at:]
                )
            else:
                _send_up(table, product, k, width, count, line, out, nothing, nothing)
    return total


@njit(cache=True, nogil=True)
def _downward(model, tree, patterns, weights, scales, messages, slopes, offsets, work, counts):
    """Slopes of the log-likelihood by all messages, and the expected counts of hidden nodes' tables."""
    tables, starts, n_states, widths, n_leaves = model
    n_patterns, ids, id_starts = patterns
    _, weight_starts, rescale, stepwise = weights
    child_messages, product, slope, line, begins, places, logs, space = work
    block = len(line)
    for node in range(len(n_states) - 1, n_leaves - 1, -1):
        k, width = n_states[node], widths[node]
        table = tables[starts[node] : starts[node + 1]]
        expected = counts[starts[node] : starts[node + 1]]
        for first in range(0, n_patterns[node], block):
            count = min(block, n_patterns[node] - first)
            d = _place(node, first, tree, id_starts, offsets, begins, places)
            _gather(messages, ids, begins[:d], places[:d], k, count, child_messages, product)
            lifted = stepwise[node] and _multiply(child_messages, d, k, count, product, line, logs)
            from_above = slopes[offsets[node] + first * width : offsets[node + 1]]
            if rescale[node]:
                at = weight_starts[node] + first
                for b in range(count):
                    for g in range(width):
                        from_above[b * width + g] *= scales[at + b]
            _send_down(table, product, slope, k, width, count, line, from_above, expected)
            if stepwise[node]:
                _child_slopes_stepwise(
                    slopes, ids, begins[:d], places[:d], k, count,
                    child_messages, slope, product, logs, lifted, space,
                )  # fmt: skip
            else:
                _child_slopes(
                    slopes, ids, begins[:d], places[:d], k, count, child_messages, slope, line
                )


@njit(cache=True, nogil=True)
def expected_counts(model, tree, patterns, weights, messages, slopes, offsets, counts):
    """Log-likelihood of weighted patterns; expected counts of every table entry are added to `counts`.

    Parameters
    ----------
    model : flat tables, where each starts, columns and rows of each, number of leaves
    tree : children and where each node's start, see `RootedTree.child_table`
    patterns : n_patterns, ids, id_starts, see `Patterns`
    weights : weights of the patterns of every node (only the root's where no other needs them), where each
        node's start, whether each node's messages are brought to sum one, whether its product is stepwise
    messages, slopes, offsets : working space, one entry per pattern and parent state, and where each node's
        start
    counts : like the flat tables
    """
    tables, starts, n_states, widths, n_leaves = model
    n_patterns = patterns[0]
    row_weights, weight_starts, rescale, stepwise = weights
    n_nodes = len(n_states)
    root = n_nodes - 1
    widest, most = 1, 1
    for node in range(n_leaves, n_nodes):
        widest = max(widest, n_states[node])
        most = max(most, tree[1][node + 1] - tree[1][node])
    block = max(min(BLOCK, MOST_ENTRIES // (most * widest)), 8)
    child_messages, product = np.empty((most, widest, block)), np.empty((widest, block))
    slope, line, logs = np.empty((widest, block)), np.empty(block), np.empty(block)
    most_stepwise = most if stepwise.any() else 0
    lines = (np.empty(block), np.empty(block), np.empty(block))
    space = (np.empty((most_stepwise, widest, block)), np.empty((most_stepwise, block)), *lines)
    begins, places = np.empty(most, np.int64), np.empty(most, np.int64)
    work = (child_messages, product, slope, line, begins, places, logs, space)
    scales = np.ones(weight_starts[n_nodes] if rescale.any() else 0)

    _set_leaves(model, messages, offsets)
    total = _upward(model, tree, patterns, weights, scales, messages, offsets, work)
    _fill(slopes, offsets[n_nodes], 0.0)
    at = weight_starts[root]
    for pattern in range(n_patterns[root]):
        value = max(messages[offsets[root] + pattern], TINY)
        total += row_weights[at + pattern] * math.log(value)
        slopes[offsets[root] + pattern] = row_weights[at + pattern] / value
    _downward(model, tree, patterns, weights, scales, messages, slopes, offsets, work, counts)
    for leaf in range(n_leaves):
        for x in range(n_states[leaf]):
            for g in range(widths[leaf]):
                entry = starts[leaf] + g * n_states[leaf] + x
                counts[entry] += tables[entry] * slopes[offsets[leaf] + x * widths[leaf] + g]
    return total
