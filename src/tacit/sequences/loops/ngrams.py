"""Compiled counting of short windows of symbols, one pass over all sequences.

The numbers of the windows' cells are written down for some thousand windows at once, which a compiler turns
into wide instructions, and only then counted: one step does not wait for the other.
"""

from __future__ import annotations

import numpy as np
from numba import njit

KEYS_AT_ONCE = 4096


@njit(cache=True, nogil=True)
def count_triples(codes, ends, n_symbols, triples):
    """Add the windows of three of some sequences to a table.

    Parameters
    ----------
    codes : (position,)  negative where a symbol is missing
    ends : (sequence + 1,)
    n_symbols : int
    triples : (n_symbols**3 + 1,) uint32  the last cell takes windows with a gap, or across two sequences

    Returns
    -------
    Whether any symbol is missing.
    """
    n = np.int32(n_symbols)
    nowhere = np.int32(len(triples) - 1)
    keys = np.empty(KEYS_AT_ONCE, np.int32)
    sequence, gaps = 1, False
    for low in range(ends[0], ends[-1] - 2, KEYS_AT_ONCE):
        size = min(KEYS_AT_ONCE, ends[-1] - 2 - low)
        seen = codes[low : low + size + 2]
        missing = np.int32(0)
        for t in range(size):
            a, b, c = seen[t], seen[t + 1], seen[t + 2]
            sign = a | b | c
            missing |= sign
            cell = np.int32(np.int32(np.int32(a * n) + b) * n) + c
            keys[t] = np.int32(cell) if sign >= 0 else nowhere
        if missing < 0:
            gaps = True
        # Windows that reach into the next sequence start at its last two positions.
        while sequence < len(ends) and ends[sequence] <= low + size + 1:
            for t in range(max(ends[sequence] - 2, low), min(ends[sequence], low + size)):
                keys[t - low] = nowhere
            sequence += 1
        sequence = max(sequence - 1, 1)
        for t in range(size):
            triples[keys[t]] += np.uint32(1)
    return gaps or (codes[ends[0] : ends[-1]][-2:] < 0).any()


@njit(cache=True, nogil=True)
def count_edges(codes, ends, gaps, n_symbols, firsts, first_pairs, singles, pairs):
    """Add what sequences begin with, and pairs and symbols that no counted window of three begins with.

    Parameters
    ----------
    codes, ends, n_symbols : see `count_triples`
    gaps : whether any symbol is missing
    firsts : (n_symbols,)  first symbols that no first pair begins with
    first_pairs : (n_symbols**2,)
    singles : (n_symbols,)  symbols after a gap, or first, with nothing after them
    pairs : (n_symbols**2,)  pairs with nothing after them
    """
    for sequence in range(len(ends) - 1):
        seen = codes[ends[sequence] : ends[sequence + 1]]
        length = len(seen)
        if length == 0:
            continue
        if length > 1 and seen[0] >= 0 and seen[1] >= 0:
            first_pairs[seen[0] * n_symbols + seen[1]] += 1
        elif seen[0] >= 0:
            firsts[seen[0]] += 1
        for t in range(0 if gaps else length - 1, length):
            if seen[t] < 0 or (t + 1 < length and seen[t + 1] >= 0):
                continue
            if t > 0 and seen[t - 1] >= 0:
                pairs[seen[t - 1] * n_symbols + seen[t]] += 1
            else:
                singles[seen[t]] += 1


@njit(cache=True, nogil=True)
def window_keys(codes, ends, n_symbols, order, keys):
    """Write the number of every window of `order` symbols without a gap; returns how many there are."""
    found = 0
    for sequence in range(len(ends) - 1):
        for t in range(ends[sequence], ends[sequence + 1] - order + 1):
            key = np.int64(0)
            whole = True
            for i in range(order):
                code = codes[t + i]
                whole &= code >= 0
                key = key * n_symbols + code
            if whole:
                keys[found] = key
                found += 1
    return found


@njit(cache=True, nogil=True)
def contract_cells(keys, counts, n_symbols, one, two, three, out):
    """Add to `out` (i, j, k) the sum of ``counts * one[a, i] * two[b, j] * three[c, k]`` of sorted cells."""
    width, depth = two.shape[1], three.shape[1]
    behind = np.zeros((width, depth))  # of one first symbol
    last = np.zeros(depth)  # of one pair
    n = len(keys)
    for at in range(n):
        pair = keys[at] // n_symbols
        c = keys[at] - pair * n_symbols
        for k in range(depth):
            last[k] += counts[at] * three[c, k]
        if at + 1 < n and keys[at + 1] // n_symbols == pair:
            continue
        a = pair // n_symbols
        b = pair - a * n_symbols
        for j in range(width):
            for k in range(depth):
                behind[j, k] += two[b, j] * last[k]
        last[:] = 0.0
        if at + 1 < n and keys[at + 1] // (n_symbols * n_symbols) == a:
            continue
        for i in range(one.shape[1]):
            for j in range(width):
                for k in range(depth):
                    out[i, j, k] += one[a, i] * behind[j, k]
        behind[:] = 0.0


@njit(cache=True, nogil=True)
def contract_between(keys, counts, n_symbols, one, three, out):
    """Add to `out` (b, i, k) the sum of ``counts * one[a, i] * three[c, k]`` of sorted cells."""
    last = np.zeros(three.shape[1])  # of one pair
    for at in range(len(keys)):
        pair = keys[at] // n_symbols
        c = keys[at] - pair * n_symbols
        for k in range(three.shape[1]):
            last[k] += counts[at] * three[c, k]
        if at + 1 < len(keys) and keys[at + 1] // n_symbols == pair:
            continue
        a = pair // n_symbols
        b = pair - a * n_symbols
        for i in range(one.shape[1]):
            for k in range(three.shape[1]):
                out[b, i, k] += one[a, i] * last[k]
        last[:] = 0.0
