"""Compiled parts of clustering rows by linear features of their categories."""

from __future__ import annotations

import numpy as np

from tacit.core.loops.compiled import njit

_LOOSE = {"reassoc", "contract", "nsz", "arcp"}


@njit(cache=True, nogil=True, fastmath=_LOOSE)
def project(codes, leaves, starts, values, out):
    """Features of rows: the sum of what their categories add; missing cells add nothing."""
    n_rows, d = out.shape
    for row in range(n_rows):
        line = out[row]
        for i in range(d):
            line[i] = 0.0
        for place in range(len(leaves)):
            code = codes[row, leaves[place]]
            if code >= 0:
                added = values[starts[place] + code]
                for i in range(d):
                    line[i] += added[i]


@njit(cache=True, nogil=True, fastmath=_LOOSE)
def scatter_centres(rows, weights, draws, centres):
    """Rows far from each other as first centres (k-means++), by uniform draws."""
    n, d = rows.shape
    gaps = np.empty(n)
    total = 0.0
    for row in range(n):
        gaps[row] = 1.0
        total += weights[row]
    for number in range(len(centres)):
        left = draws[number] * total
        pick = n - 1
        for row in range(n):
            left -= weights[row] * gaps[row]
            if left <= 0.0:
                pick = row
                break
        for i in range(d):
            centres[number, i] = rows[pick, i]
        total = 0.0
        for row in range(n):
            gap = 0.0
            for i in range(d):
                gap += (rows[row, i] - centres[number, i]) ** 2
            gaps[row] = gap if number == 0 else min(gaps[row], gap)
            total += weights[row] * gaps[row]


@njit(cache=True, nogil=True, fastmath=_LOOSE)
def sweep(rows, weights, centres, offsets, states, sums, mass):
    """Put every row to its nearest centre; sums and masses of the centres; how many rows moved.

    `centres` is (dimension, centre), `offsets` minus half of the centres' squared lengths.
    """
    n, d = rows.shape
    k = len(offsets)
    scores = np.empty(k, np.float32)
    for h in range(k):
        mass[h] = 0.0
        for i in range(d):
            sums[h, i] = 0.0
    moved = 0
    for row in range(n):
        for h in range(k):
            scores[h] = offsets[h]
        for i in range(d):
            x = rows[row, i]
            line = centres[i]
            for h in range(k):
                scores[h] += x * line[h]
        best = 0
        for h in range(1, k):
            if scores[h] > scores[best]:
                best = h
        moved += states[row] != best
        states[row] = best
        mass[best] += weights[row]
        for i in range(d):
            sums[best, i] += weights[row] * rows[row, i]
    return moved


@njit(cache=True, nogil=True)
def count_pairs(above, below, weights, out):
    """Weighted counts of pairs of states, added to `out`; negative states are missing."""
    for row in range(len(below)):
        if above[row] >= 0 and below[row] >= 0:
            out[above[row], below[row]] += weights[row]
