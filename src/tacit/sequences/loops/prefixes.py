"""Compiled passes that build prefix trees of sequences, join them, and list their sequences.

Nodes come shortest first, in alphabetical order within a length; a missing symbol, -1, is before all others.
"""

from __future__ import annotations

import numpy as np

from tacit.core.loops.compiled import njit


@njit(cache=True, nogil=True)
def _key(codes, firsts, lengths, sequence, depth):
    """The symbol at a position of a sequence; at its end a number below all symbols."""
    return codes[firsts[sequence] + depth] if depth < lengths[sequence] else -2


@njit(cache=True, nogil=True)
def alphabetical(codes, firsts, lengths):
    """(sequence,) the alphabetical order of sequences: multikey quicksort.

    Bentley & Sedgewick, Fast algorithms for sorting and searching strings (1997).
    """
    order = np.arange(len(lengths))
    waiting = np.empty((len(lengths) // 2 + 2, 3), dtype=np.int64)  # first, stop, depth
    waiting[0] = 0, len(lengths), 0
    n_waiting = 1
    while n_waiting:
        n_waiting -= 1
        first, stop, depth = waiting[n_waiting]
        while stop - first > 1:
            middle = order[(first + stop) // 2]
            pivot = _key(codes, firsts, lengths, middle, depth)
            below, at, above = first, first, stop
            while at < above:
                key = _key(codes, firsts, lengths, order[at], depth)
                if key < pivot:
                    order[below], order[at] = order[at], order[below]
                    below += 1
                    at += 1
                elif key > pivot:
                    above -= 1
                    order[at], order[above] = order[above], order[at]
                else:
                    at += 1
            if below - first > 1:
                waiting[n_waiting] = first, below, depth
                n_waiting += 1
            if stop - above > 1:
                waiting[n_waiting] = above, stop, depth
                n_waiting += 1
            if pivot == -2:  # all of these have ended: they are equal
                break
            first, stop, depth = below, above, depth + 1
    return order


@njit(cache=True, nogil=True)
def _shared_length(codes, firsts, lengths, one, other):
    """Length of the longest common prefix of two sequences."""
    most = min(lengths[one], lengths[other])
    for t in range(most):
        if codes[firsts[one] + t] != codes[firsts[other] + t]:
            return t
    return most


@njit(cache=True, nogil=True)
def shared_lengths(codes, firsts, lengths, order):
    """(sequence,) length of the longest common prefix with the sequence before, of sequences in an order."""
    n_shared = np.zeros(len(order), dtype=np.int64)
    for i in range(1, len(order)):
        n_shared[i] = _shared_length(codes, firsts, lengths, order[i - 1], order[i])
    return n_shared


@njit(cache=True, nogil=True)
def tree_of(codes, firsts, lengths):
    """Parents, symbols and ends of the nodes of a tree, and the node of each place of the sequences.

    Parameters
    ----------
    codes : (position,)
    firsts, lengths : (sequence,)  where each starts, and its length
    """
    n = len(lengths)
    order = alphabetical(codes, firsts, lengths)
    longest = lengths.max() if n else 0
    n_shared = shared_lengths(codes, firsts, lengths, order)
    change = np.zeros(longest + 1, dtype=np.int64)  # of the number of nodes between levels
    for i in range(n):
        change[n_shared[i]] += 1
        change[lengths[order[i]]] -= 1
    unused = np.empty(longest + 1, dtype=np.int64)  # the next node of each level
    n_nodes, width = 1, 0
    for t in range(longest):
        width += change[t]
        unused[t] = n_nodes
        n_nodes += width
    parents = np.full(n_nodes, -1, dtype=np.int64)
    symbols = np.full(n_nodes, -1, dtype=np.int64)
    ends = np.zeros(n_nodes, dtype=np.int64)
    places = np.empty(len(codes) + n, dtype=np.int64)
    path = np.zeros(longest + 1, dtype=np.int64)  # nodes of the current sequence
    for i in range(n):
        sequence = order[i]
        first, length = firsts[sequence], lengths[sequence]
        for t in range(n_shared[i], length):
            node = unused[t]
            unused[t] += 1
            parents[node], symbols[node] = path[t], codes[first + t]
            path[t + 1] = node
        places[first + sequence : first + sequence + length + 1] = path[: length + 1]
        ends[path[length]] += 1
    return parents, symbols, ends, places


@njit(cache=True, nogil=True)
def joined(parents, symbols, other_parents, other_symbols):
    """Parents and symbols of the union of two trees, and the place in it of each node of either."""
    n, m = len(parents), len(other_parents)
    places, other_places = np.zeros(n, dtype=np.int64), np.zeros(m, dtype=np.int64)
    above = np.full(n + m - 1, -1, dtype=np.int64)
    last = np.full(n + m - 1, -1, dtype=np.int64)
    i, j, node = 1, 1, 1
    while i < n or j < m:
        # Nodes are ordered by parent and symbol, and parents were placed before.
        takes, takes_other = i < n, j < m
        if takes and takes_other:
            parent, other = places[parents[i]], other_places[other_parents[j]]
            ahead = parent - other if parent != other else symbols[i] - other_symbols[j]
            takes, takes_other = ahead <= 0, ahead >= 0
        if takes:
            above[node], last[node] = places[parents[i]], symbols[i]
            places[i] = node
            i += 1
        if takes_other:
            above[node], last[node] = other_places[other_parents[j]], other_symbols[j]
            other_places[j] = node
            j += 1
        node += 1
    return above[:node].copy(), last[:node].copy(), places, other_places


@njit(cache=True, nogil=True)
def add_upwards(parents, values):
    """Add the values of all nodes to those of their parents, the longest prefixes first."""
    for node in range(len(parents) - 1, 0, -1):
        values[parents[node]] += values[node]


@njit(cache=True, nogil=True)
def add_downwards(parents, values):
    """Add the value of each node to those of its children, the shortest prefixes first."""
    for node in range(1, len(parents)):
        values[node] = values[parents[node]] + values[node]


@njit(cache=True, nogil=True)
def depths_of(parents):
    """(node,) lengths of prefixes."""
    depths = np.zeros(len(parents), dtype=np.int64)
    for node in range(1, len(parents)):
        depths[node] = depths[parents[node]] + 1
    return depths


@njit(cache=True, nogil=True)
def spell(parents, symbols, nodes, stops, codes):
    """Fill in the symbols of the sequences that end at some nodes.

    Parameters
    ----------
    parents, symbols : (node,)
    nodes, stops : (sequence,)  where each ends, in the tree and among the positions
    codes : (position,)  filled
    """
    for i in range(len(nodes)):
        at, place = nodes[i], stops[i]
        while at > 0:
            place -= 1
            codes[place] = symbols[at]
            at = parents[at]
