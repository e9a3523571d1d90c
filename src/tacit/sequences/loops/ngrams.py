"""Compiled counting of short windows of symbols, one pass over all sequences.

Keys are computed for some thousand windows at once, which the compiler vectorises, and only then counted.
"""

from __future__ import annotations

import numpy as np

from tacit.core.loops.compiled import njit

KEYS_AT_ONCE = 4096


@njit(cache=True, nogil=True)
def count_triples(codes, ends, n_symbols, triples):
    """Add the windows of three of some sequences to a table.

    Parameters
    ----------
    codes : (position,)  negative where a symbol is missing
    ends : (sequence + 1,)
    n_symbols : int
    triples : (n_symbols**3 + 1,) uint32  the last cell counts windows with a gap, or across two sequences

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
        chunk = codes[low : low + size + 2]
        missing = np.int32(0)
        for t in range(size):
            a, b, c = chunk[t], chunk[t + 1], chunk[t + 2]
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
    """Add first symbols and pairs of sequences, and pairs and symbols that start no window of three.

    Parameters
    ----------
    codes, ends, n_symbols : see `count_triples`
    gaps : whether any symbol is missing
    firsts : (n_symbols,)  first symbols without a first pair
    first_pairs : (n_symbols**2,)
    singles : (n_symbols,)  symbols without neighbours
    pairs : (n_symbols**2,)  pairs followed by a gap or the end
    """
    for sequence in range(len(ends) - 1):
        symbols = codes[ends[sequence] : ends[sequence + 1]]
        length = len(symbols)
        if length == 0:
            continue
        if length > 1 and symbols[0] >= 0 and symbols[1] >= 0:
            first_pairs[symbols[0] * n_symbols + symbols[1]] += 1
        elif symbols[0] >= 0:
            firsts[symbols[0]] += 1
        for t in range(0 if gaps else length - 1, length):
            if symbols[t] < 0 or (t + 1 < length and symbols[t + 1] >= 0):
                continue
            if t > 0 and symbols[t - 1] >= 0:
                pairs[symbols[t - 1] * n_symbols + symbols[t]] += 1
            else:
                singles[symbols[t]] += 1


@njit(cache=True, nogil=True)
def window_keys(codes, ends, n_symbols, order, keys):
    """Write the key of every window of `order` symbols without a gap; returns how many there are."""
    n_keys = 0
    for sequence in range(len(ends) - 1):
        for t in range(ends[sequence], ends[sequence + 1] - order + 1):
            key = np.int64(0)
            is_complete = True
            for i in range(order):
                code = codes[t + i]
                is_complete &= code >= 0
                key = key * n_symbols + code
            if is_complete:
                keys[n_keys] = key
                n_keys += 1
    return n_keys


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
