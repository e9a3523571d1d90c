"""Expected counts of a tree whose hidden nodes have many states: matrix products in single precision.

The same passes as in `tacit.messages.loops`, but messages stand pattern by pattern, are always scaled to a
largest entry of one, and go up and down by BLAS. Single precision is enough: expected counts are sums of many
positive terms, and sums over blocks of rows are in double precision. So are the products of the children's
messages: a state that is far behind after some of many children may win in the end.
"""

from __future__ import annotations

import math

import numpy as np

from tacit.core.loops.compiled import njit

BLOCK = 256  # patterns handled together
TOGETHER = 4  # messages multiplied before their product is lifted
FEW = 8  # children: the products of more are kept in double precision
LEAST = np.float32(1e-36)  # a smaller product counts as zero
FLOOR = np.float32(1e-30)  # nothing is divided by less
LOW, ALWAYS = np.float32(1e-12), np.float32(np.inf)  # products below are lifted
DOUBLE_LEAST, DOUBLE_LOW = 1e-290, 1e-100
_LOOSE = {"reassoc", "contract", "nsz", "arcp"}


@njit(cache=True, nogil=True)
def _multiply(left, right, out):
    """The one call of BLAS: ``left @ right``."""
    np.dot(left, right, out)


@njit(cache=True, nogil=True, fastmath=_LOOSE)
def _times(messages, ids, k, count, product, fresh):
    """The products so far, times a child's messages; `fresh` where there are none so far."""
    for b in range(count):
        source = messages[ids[b] * k : ids[b] * k + k]
        target = product[b]
        if fresh:
            for h in range(k):
                target[h] = source[h]
        else:
            for h in range(k):
                target[h] *= source[h]


@njit(cache=True, nogil=True, fastmath=_LOOSE)
def _lift(rows, count, low, logs, overs):
    """Bring rows whose largest entry is below `low` to a largest entry of one, unless they are zero.

    Notes the logarithms taken out, and what the rows were multiplied by.
    """
    for b in range(count):
        row = rows[b]
        top = row[0]
        for h in range(len(row)):
            top = max(top, row[h])
        overs[b] = 1.0
        if LEAST < top < low:
            logs[b] += math.log(top)
            overs[b] = np.float32(1.0) / top
            for h in range(len(row)):
                row[h] *= overs[b]


@njit(cache=True, nogil=True, fastmath=_LOOSE)
def _fold(rows, count, fresh, last, logs, exact):
    """The same in double precision for the products so far times `rows`, which get the last of them."""
    low = math.inf if last else DOUBLE_LOW
    for b in range(count):
        row, total = rows[b], exact[b]
        top = 0.0
        for h in range(len(row)):
            total[h] = row[h] if fresh else total[h] * row[h]
            top = max(top, total[h])
        if DOUBLE_LEAST < top < low:
            logs[b] += math.log(top)
            over = 1.0 / top
            for h in range(len(row)):
                total[h] *= over
        if last:
            for h in range(len(row)):
                row[h] = total[h]


@njit(cache=True, nogil=True, fastmath=_LOOSE)
def _add_slopes(posterior, messages, ids, k, count, slopes):
    """Add the slope by a hidden child's messages: the posterior over the message."""
    for b in range(count):
        weight = posterior[b]
        source = messages[ids[b] * k : ids[b] * k + k]
        target = slopes[ids[b] * k : ids[b] * k + k]
        for h in range(k):
            target[h] += weight[h] / max(source[h], FLOOR)


@njit(cache=True, nogil=True, fastmath=_LOOSE)
def _add(posterior, ids, k, count, out):
    """Add up posteriors by the category of a leaf."""
    for b in range(count):
        weight = posterior[b]
        target = out[ids[b] * k : ids[b] * k + k]
        for h in range(k):
            target[h] += weight[h]


@njit(cache=True, nogil=True, fastmath=_LOOSE)
def _combine(rows, others, count):
    """Multiply rows entry by entry."""
    for b in range(count):
        row, other = rows[b], others[b]
        for h in range(len(row)):
            row[h] *= other[h]


@njit(cache=True, nogil=True)
def _set_leaves(model, messages, offsets):
    """Messages of the leaves: columns of their tables, and ones for a missing cell."""
    tables, starts, n_states, widths, n_leaves = model
    for leaf in range(n_leaves):
        width, n = widths[leaf], n_states[leaf]
        for x in range(n):
            for g in range(width):
                messages[offsets[leaf] + x * width + g] = tables[starts[leaf] + g * n + x]
        for g in range(width):
            messages[offsets[leaf] + n * width + g] = 1.0


@njit(cache=True, nogil=True)
def _gather(node, first, count, tree, patterns, model, messages, offsets, product, logs):
    """The product of the children's messages at a block of patterns; returns the logarithms taken out."""
    children, child_starts = tree
    _, ids, id_starts, pattern_starts = patterns
    k, n_leaves = model[2][node], model[4]
    begin, n_children = child_starts[node], child_starts[node + 1] - child_starts[node]
    many = n_children > FEW
    exact = np.empty((count if many else 0, k))
    lines, overs = np.zeros(count), np.empty(count, np.float32)
    for place in range(n_children):
        child = children[begin + place]
        at, number = id_starts[child] + first, place % TOGETHER
        child_ids = ids[at : at + count]
        fresh = place == 0 or (many and number == 0)
        _times(messages[offsets[child] :], child_ids, k, count, product, fresh)
        last = place == n_children - 1
        if many and (number == TOGETHER - 1 or last):
            _fold(product, count, place < TOGETHER, last, lines, exact)
        elif number == TOGETHER - 1:
            _lift(product, count, LOW, lines, overs)
        if child >= n_leaves:
            of_child = logs[pattern_starts[child] :]
            for b in range(count):
                lines[b] += of_child[child_ids[b]]
    return lines


@njit(cache=True, nogil=True)
def upward(model, tree, patterns, messages, offsets, logs, overs):
    """Messages of all nodes, and the logarithms taken out of them; the root's are the rows' log-likelihoods.

    Parameters
    ----------
    model : flat tables in single precision, where each starts, columns and rows of each, number of leaves
    tree : children and where each node's start, see `RootedTree.child_table`
    patterns : n_patterns, ids, id_starts, pattern_starts, see `Patterns`
    messages, offsets : one entry per pattern and parent state, and where each node's start
    logs, overs : one entry per pattern of any node: logarithm taken out below, and what the node's own
        message was multiplied by
    """
    tables, starts, n_states, widths, n_leaves = model
    n_patterns, pattern_starts = patterns[0], patterns[3]
    _set_leaves(model, messages, offsets)
    for node in range(n_leaves, len(n_states)):
        k, width = n_states[node], widths[node]
        table = tables[starts[node] : starts[node + 1]].reshape(width, k).T
        for first in range(0, n_patterns[node], BLOCK):
            count = min(BLOCK, n_patterns[node] - first)
            product = np.empty((count, k), np.float32)
            lines = _gather(
                node, first, count, tree, patterns, model, messages, offsets, product, logs
            )
            begin = offsets[node] + first * width
            sent = messages[begin : begin + count * width].reshape(count, width)
            _multiply(product, table, sent)
            at = pattern_starts[node] + first
            _lift(sent, count, ALWAYS, lines, overs[at:])
            for b in range(count):
                logs[at + b] = lines[b]
    # The root's message is a number, which was lifted to one unless it is zero.
    for at in range(pattern_starts[-2], pattern_starts[-1]):
        value = messages[offsets[len(n_states) - 1] + at - pattern_starts[-2]]
        if value <= LEAST:
            logs[at] += math.log(LEAST)


@njit(cache=True, nogil=True)
def _spread(node, first, count, tree, patterns, model, messages, offsets, posterior, slopes):
    """Give the posteriors of a block of patterns to the children: sums for leaves, slopes for the others."""
    children, child_starts = tree
    _, ids, id_starts, _ = patterns
    k, n_leaves = model[2][node], model[4]
    for place in range(child_starts[node], child_starts[node + 1]):
        child = children[place]
        at = id_starts[child] + first
        child_ids, offset = ids[at : at + count], offsets[child]
        if child < n_leaves:
            _add(posterior, child_ids, k, count, slopes[offset:])
        else:
            _add_slopes(posterior, messages[offset:], child_ids, k, count, slopes[offset:])


@njit(cache=True, nogil=True)
def downward(model, tree, patterns, weights, messages, slopes, offsets, logs, overs, counts):
    """Expected counts of every table entry, added to `counts`, after `upward`.

    Parameters
    ----------
    weights : weights of the root's patterns
    slopes : like messages
    counts : like the flat tables, in double precision
    """
    tables, starts, n_states, widths, n_leaves = model
    n_patterns, _, _, pattern_starts = patterns
    root = len(n_states) - 1
    for at in range(offsets[root + 1]):
        slopes[at] = 0.0
    for pattern in range(n_patterns[root]):
        slopes[offsets[root] + pattern] = weights[pattern]
    for node in range(root, n_leaves - 1, -1):
        k, width = n_states[node], widths[node]
        table = tables[starts[node] : starts[node + 1]].reshape(width, k)
        expected = np.zeros((width, k), np.float32)
        part = np.empty((width, k), np.float32)
        for first in range(0, n_patterns[node], BLOCK):
            count = min(BLOCK, n_patterns[node] - first)
            product = np.empty((count, k), np.float32)
            slope = np.empty((count, k), np.float32)
            _gather(node, first, count, tree, patterns, model, messages, offsets, product, logs)
            begin = offsets[node] + first * width
            above = slopes[begin : begin + count * width].reshape(count, width)
            at = pattern_starts[node] + first
            for b in range(count):
                for h in range(k):
                    product[b, h] *= overs[at + b]
            _multiply(above.T, product, part)
            for g in range(width):
                for h in range(k):
                    expected[g, h] += part[g, h]
            _multiply(above, table, slope)
            _combine(product, slope, count)
            _spread(node, first, count, tree, patterns, model, messages, offsets, product, slopes)
        for g in range(width):
            for h in range(k):
                if table[g, h] > LEAST:
                    counts[starts[node] + g * k + h] += table[g, h] * expected[g, h]
    for leaf in range(n_leaves):
        for x in range(n_states[leaf]):
            for g in range(widths[leaf]):
                entry = starts[leaf] + g * n_states[leaf] + x
                counts[entry] += slopes[offsets[leaf] + x * widths[leaf] + g]
