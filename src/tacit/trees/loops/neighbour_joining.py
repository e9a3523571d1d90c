"""Neighbour joining, exact, without looking at every pair in every step.

The pair to join next has the least ``d[i, j] - mean[i] - mean[j]``, where ``mean`` is the sum of a row
divided by the number of nodes less two. A row keeps its few smallest ``d[i, j] - base[j]`` in order; `base`
are the means as they were at some time before. No mean has risen above its base by more than the largest
rise of all, so a row can be left as soon as its next entry, less that rise, is not good enough. A row whose
entries are used up is read in full, once, and lists new ones. When reading such rows has cost as much as
reading everything, the base is set anew, and the nodes that were joined are removed from the matrix.

Every pair belongs to the younger of its two nodes alone: a new node lists all others, and the lists of the
others stay as they are. Each node has a slot, one row and one column of the matrix; a new node
takes the slot of one of the two that it joins. Its *rank* decides between equal pairs.
"""

from __future__ import annotations

import numpy as np

from tacit.core.loops.compiled import njit

LISTED = 16  # entries of a row that are kept in order
REMOVED = 1 << 60  # the age of a slot without a node: nothing is younger
ROUNDING = 1e-13  # of the largest distance: bounds are not trusted more than this


@njit(cache=True, nogil=True)
def join_neighbours(matrix, joined, lengths):
    """Join two nodes again and again until three are left, and then these.

    Of equal pairs the first in the order of ranks is joined. The new node takes the lower rank of its two,
    and the node of the last rank the higher one, as in scikit-bio.

    Parameters
    ----------
    matrix : (leaf, leaf), contiguous
        Distances of three or more leaves, symmetric, zero on the diagonal; overwritten.
    joined : (leaf - 2, 3)
        Filled with the numbers of the nodes that each new node joins: two of them and -1, in the last row
        three. Leaves are 0, 1, ..., the new node of row k is the number of leaves plus k.
    lengths : (leaf - 2, 3)
        Filled with the lengths of these edges.

    Returns
    -------
    int
        How many entries of the matrix were read in search of pairs.
    """
    n = n_leaves = n_slots = matrix.shape[0]
    flat = matrix.reshape(n * n)
    sums = np.empty(n)
    slack = ROUNDING * _sum_rows(flat, n, sums)
    node = np.arange(n)  # (slot,) number of the node
    rank = np.arange(n)  # (slot,)
    slot_of = np.arange(n)  # (rank,) its inverse
    age = np.arange(n)  # (slot,)
    base = np.empty(n)
    means = np.empty(n)
    keys = np.empty((n, LISTED))
    partners = np.empty((n, LISTED), np.int64)
    bound = np.empty(n)  # (slot,) no key of the row is less
    n_read = 0
    since = n * n + 1  # entries read since all rows were listed
    listed_at = n + 1  # number of nodes when they were
    plain_until = n  # above this number of nodes lists do not pay
    while n > 3:
        if n <= plain_until and (since > n * n or n < n_slots - n_slots // 4):
            n_slots = _compact(flat, n_slots, sums, node, rank, slot_of, age)
            _set_means(sums, age, n_slots, n, base)
            for i in range(n_slots):
                bound[i] = _list_row(flat, n_slots, i, age, base, keys, partners)
            n_read += n * n // 2
            since = 0
            listed_at = n
        i, j, read = -1, -1, 0
        if n <= plain_until:
            _set_means(sums, age, n_slots, n, means)
            i, j, read = _best_listed(
                flat, n_slots, n, sums, means, base, rank, age, keys, partners, bound, slack
            )
        if i < 0:
            i, j = _best_of_all(flat, n_slots, n, sums, slot_of)
            since = n * n + 1
            if n <= plain_until and n > listed_at - 4:
                plain_until = n - n // 8  # even fresh lists were of no use
            read += n * n // 2
        n_read += read
        since += read
        step = n_leaves - n
        _join_two(flat, n_slots, n, i, j, sums, rank, slot_of, age, lengths, step)
        joined[step, 0] = node[i]
        joined[step, 1] = node[j]
        joined[step, 2] = -1
        node[i] = age[i] = n_leaves + step
        bound[j] = np.inf
        n -= 1
        base[i] = sums[i] / (n - 2)
        if n < plain_until:
            bound[i] = _list_row(flat, n_slots, i, age, base, keys, partners)
    _join_three(flat, n_slots, slot_of, node, joined, lengths)
    return n_read


@njit(cache=True, nogil=True)
def _sum_rows(flat, n, sums):
    """Fill `sums`; returns the largest absolute value."""
    largest = 0.0
    for i in range(n):
        total = 0.0
        for j in range(n):
            total += flat[i * n + j]
            largest = max(largest, abs(flat[i * n + j]))
        sums[i] = total
    return largest


@njit(cache=True, nogil=True)
def _set_means(sums, age, n_slots, n, means):
    """The sums of all rows divided by the number of nodes less two; -inf for a slot without a node."""
    for i in range(n_slots):
        means[i] = sums[i] / (n - 2) if age[i] != REMOVED else -np.inf


@njit(cache=True, nogil=True)
def _compact(flat, n_slots, sums, node, rank, slot_of, age):
    """Remove slots without a node from the matrix, in place; returns how many are left. Ages begin anew."""
    n = 0
    for i in range(n_slots):
        if age[i] != REMOVED:
            slot_of[n] = i  # for now: the slot that comes here
            n += 1
    for i in range(n):
        old = slot_of[i]
        if n < n_slots:
            for j in range(n):
                flat[i * n + j] = flat[old * n_slots + slot_of[j]]
        sums[i] = sums[old]
        node[i] = node[old]
        rank[i] = rank[old]
        age[i] = i
    for i in range(n):
        slot_of[rank[i]] = i
    return n


@njit(cache=True, nogil=True)
def _list_row(flat, n_slots, i, age, base, keys, partners):
    """List the least keys of a row, over all older nodes; returns the least of all, or infinity."""
    n_listed = 0
    limit = np.inf
    for j in range(n_slots):
        key = flat[i * n_slots + j] - base[j]
        if key < limit and age[j] < age[i]:
            place = min(n_listed, LISTED - 1)
            while place > 0 and keys[i, place - 1] > key:
                keys[i, place] = keys[i, place - 1]
                partners[i, place] = partners[i, place - 1]
                place -= 1
            keys[i, place] = key
            partners[i, place] = j
            n_listed = min(n_listed + 1, LISTED)
            if n_listed == LISTED:
                limit = keys[i, LISTED - 1]
    for place in range(n_listed, LISTED):
        keys[i, place] = np.inf
        partners[i, place] = i
    return keys[i, 0]


@njit(cache=True, nogil=True)
def _best_listed(flat, n_slots, n, sums, means, base, rank, age, keys, partners, bound, slack):
    """The slots of the pair to join, lower rank first, and the number of entries read.

    Slots of -1 where too many rows would have to be read in full.
    """
    rise = -np.inf
    start = -1
    least = np.inf
    for i in range(n_slots):
        if age[i] != REMOVED:
            rise = max(rise, means[i] - base[i])
            if bound[i] - means[i] < least:
                least = bound[i] - means[i]
                start = i
    rise += slack
    best, one, other = np.inf, -1, -1
    n_read = n_full_reads = 0
    for turn in range(-1, n_slots):  # the most promising row first
        i = start if turn < 0 else turn
        if turn == start or not bound[i] - means[i] - rise <= best / (n - 2):
            continue
        used_up, has_older = True, False
        for place in range(LISTED):
            key = keys[i, place]
            if not has_older:
                bound[i] = key  # those before it were removed
            if not key - means[i] - rise <= best / (n - 2):
                used_up = False
                break
            j = partners[i, place]
            if age[j] < age[i]:
                has_older = True
                best, one, other = _better_pair(
                    flat, n_slots, n, sums, rank, i, j, best, one, other
                )
            n_read += 4
        if not used_up:
            continue
        n_full_reads += 1
        if n_full_reads > 4 + n // 8:
            return -1, -1, n_read
        n_read += 2 * n_slots
        for j in range(n_slots):
            gain = flat[i * n_slots + j] - means[j] - means[i]
            if gain <= best / (n - 2) + slack and age[j] < age[i]:
                best, one, other = _better_pair(
                    flat, n_slots, n, sums, rank, i, j, best, one, other
                )
        bound[i] = _list_row(flat, n_slots, i, age, base, keys, partners)
    return one, other, n_read


@njit(cache=True, nogil=True)
def _better_pair(flat, n_slots, n, sums, rank, i, j, best, one, other):
    """The better of a pair of slots and the best until now: its value, and its slots, lower rank first."""
    if rank[i] > rank[j]:
        i, j = j, i
    value = flat[i * n_slots + j] * (n - 2) - sums[j] - sums[i]
    if value > best:
        return best, one, other
    if value == best:
        a, b = rank[one], rank[other]
        if rank[i] > a or (rank[i] == a and rank[j] > b):
            return best, one, other
    return value, i, j


@njit(cache=True, nogil=True)
def _best_of_all(flat, n_slots, n, sums, slot_of):
    """The slots of the pair to join, from all pairs in the order of ranks."""
    best, one, other = np.inf, -1, -1
    for a in range(n):
        i = slot_of[a]
        for b in range(a + 1, n):
            j = slot_of[b]
            value = flat[i * n_slots + j] * (n - 2) - sums[j] - sums[i]
            if value < best:
                best, one, other = value, i, j
    return one, other


@njit(cache=True, nogil=True)
def _join_two(flat, n_slots, n, i, j, sums, rank, slot_of, age, lengths, step):
    """Put a new node into slot i, and remove slot j; i has the lower rank."""
    half = flat[i * n_slots + j] / 2
    shift = (sums[i] - sums[j]) / (2 * n - 4)
    lengths[step, 0] = half + shift
    lengths[step, 1] = half - shift
    lengths[step, 2] = 0.0
    last = slot_of[n - 1]
    slot_of[rank[j]] = last
    rank[last] = rank[j]
    age[j] = REMOVED
    total = 0.0
    for k in range(n_slots):
        if age[k] == REMOVED or k == i:
            continue
        middle = (flat[i * n_slots + k] + flat[j * n_slots + k]) / 2
        sums[k] = sums[k] - middle - half
        flat[i * n_slots + k] = middle - half
        flat[k * n_slots + i] = middle - half
        total += middle - half
    sums[i] = total


@njit(cache=True, nogil=True)
def _join_three(flat, n_slots, slot_of, node, joined, lengths):
    """The last three nodes, around one new node."""
    a, b, c = slot_of[0], slot_of[1], slot_of[2]
    ab, ac, bc = flat[a * n_slots + b], flat[a * n_slots + c], flat[b * n_slots + c]
    row = len(joined) - 1
    joined[row, 0] = node[a]
    joined[row, 1] = node[b]
    joined[row, 2] = node[c]
    first = (ab + ac - bc) / 2
    lengths[row, 0] = first
    lengths[row, 1] = ab - first
    lengths[row, 2] = ac - first
