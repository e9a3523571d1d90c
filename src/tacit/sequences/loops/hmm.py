"""Compiled passes of hidden Markov models over symbols: many sequences side by side.

`LANES` sequences are worked on at once, position by position: every step is then a sum of whole rows, one
number for each lane, whatever the number of states. Tables come padded to a multiple of four states with
states that nothing leads to. Symbols of a block are (position, lane); two symbols more than there are stand
for a missing one (likelihood one in every state) and for what lies beyond the end (likelihood zero).

Messages may be of single or double precision; what they sum to is kept in double precision.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

LANES = 64
LOGS_APART = 4  # positions whose likelihoods are multiplied before a logarithm is taken
LEAST = 1e-30  # of the likelihood of a position given those before it
FAST = {"reassoc", "contract", "nsz", "arcp"}


@njit(cache=True, nogil=True, fastmath=FAST)
def _mix(past, at, weights, now):
    """Rows of `now` as sums of rows of `past`: ``now[n] = sum(past[m, at:] * weights[m, n])``."""
    k = len(weights)
    for n in range(k):
        for m in range(0, k, 4):
            a, b, c, d = weights[m, n], weights[m + 1, n], weights[m + 2, n], weights[m + 3, n]
            if m == 0:
                for lane in range(LANES):
                    i = at + np.uint64(lane)
                    now[n, lane] = past[0, i] * a + past[1, i] * b + past[2, i] * c + past[3, i] * d
            else:
                for lane in range(LANES):
                    i = at + np.uint64(lane)
                    now[n, lane] += (
                        past[m, i] * a
                        + past[m + 1, i] * b
                        + past[m + 2, i] * c
                        + past[m + 3, i] * d
                    )


@njit(cache=True, nogil=True, fastmath=FAST)
def _forward(codes, initial, transitions, emit, alpha, seen, over, now):
    """Probabilities of states given all so far into `alpha`; likelihoods into `seen`; one over sums of both.

    Returns the log-likelihood of all lanes.
    """
    k, length = len(initial), len(codes)
    outside = len(emit) - 1
    log = 0.0
    product = np.ones(LANES)
    total = np.empty(LANES, alpha.dtype)
    for t in range(length):
        row, at = codes[t], np.uint64(t * LANES)
        for lane in range(LANES):
            i, x = at + np.uint64(lane), row[lane]
            for n in range(k):
                seen[n, i] = emit[x, n]
        if t == 0:
            for n in range(k):
                now[n, :] = initial[n]
        else:
            _mix(alpha, at - np.uint64(LANES), transitions, now)
        for lane in range(LANES):
            total[lane] = 0
        for n in range(k):
            for lane in range(LANES):
                now[n, lane] *= seen[n, at + np.uint64(lane)]
                total[lane] += now[n, lane]
        for lane in range(LANES):
            found = max(total[lane], initial.dtype.type(LEAST))
            # Beyond the end nothing is left to divide, and nothing counts.
            inside = row[lane] != outside
            product[lane] *= found if inside else 1.0
            over[at + np.uint64(lane)] = 1 / found if inside else 0
        for n in range(k):
            for lane in range(LANES):
                i = at + np.uint64(lane)
                alpha[n, i] = now[n, lane] * over[i]
        if t % LOGS_APART == LOGS_APART - 1 or t == length - 1:
            for lane in range(LANES):
                log += math.log(product[lane])
                product[lane] = 1.0
    return log


@njit(cache=True, nogil=True, fastmath=FAST)
def _backward(codes, lengths, back, alpha, seen, over, beyond, starts, emitted):
    """Turn the likelihoods in `seen` to what each position and all after it say, and count emissions."""
    k, length = len(back), len(codes)
    for t in range(length - 1, -1, -1):
        row, at = codes[t], np.uint64(t * LANES)
        if t < length - 1:
            _mix(seen, at + np.uint64(LANES), back, beyond)
        for lane in range(LANES):
            if lengths[lane] == t + 1:
                for m in range(k):
                    beyond[m, lane] = 1
        for m in range(k):
            for lane in range(LANES):
                i = at + np.uint64(lane)
                seen[m, i] *= beyond[m, lane] * over[i]
                beyond[m, lane] *= alpha[m, i]
        for lane in range(LANES):
            x = row[lane]
            for m in range(k):
                emitted[x, m] += beyond[m, lane]
    for m in range(k):
        for lane in range(LANES):
            starts[m] += beyond[m, lane]


@njit(cache=True, nogil=True, fastmath=FAST)
def _count_moves(alpha, ahead, size, moved):
    """Add ``sum(alpha[m, i] * ahead[n, i + LANES])`` for all pairs of states: products of long rows."""
    k = len(moved)
    for m in range(0, k, 2):
        for n in range(0, k, 4):
            zero = alpha.dtype.type(0)
            a0, a1, a2, a3, b0, b1, b2, b3 = zero, zero, zero, zero, zero, zero, zero, zero
            for i in range(size - LANES):
                a, b = alpha[m, i], alpha[m + 1, i]
                j = i + LANES
                p, q, r, s = ahead[n, j], ahead[n + 1, j], ahead[n + 2, j], ahead[n + 3, j]
                a0 += a * p
                a1 += a * q
                a2 += a * r
                a3 += a * s
                b0 += b * p
                b1 += b * q
                b2 += b * r
                b3 += b * s
            moved[m, n] += a0
            moved[m, n + 1] += a1
            moved[m, n + 2] += a2
            moved[m, n + 3] += a3
            moved[m + 1, n] += b0
            moved[m + 1, n + 1] += b1
            moved[m + 1, n + 2] += b2
            moved[m + 1, n + 3] += b3


@njit(cache=True, nogil=True)
def expect(blocks, heads, lengths, low, high, initial, transitions, emit, starts, moved, emitted):
    """Expected counts of the blocks from `low` to before `high`, added; returns their log-likelihood.

    Parameters
    ----------
    blocks : (row, LANES)  symbols, the positions of each block in turn
    heads : (block + 1,)  the row at which each block starts
    lengths : (block, LANES)  of the sequences, the longest of a block is as long as it; 0 for an empty lane
    initial, transitions, emit : (state,), (state, next state), (symbol + 2, state)  padded
    starts, moved, emitted : of the same shapes, double precision
        `moved` lacks a factor: the probability of each transition.
    """
    k = len(initial)
    longest = 0
    for block in range(low, high):
        longest = max(longest, heads[block + 1] - heads[block])
    alpha = np.empty((k, longest * LANES), initial.dtype)
    seen = np.empty((k, longest * LANES), initial.dtype)
    over = np.empty(longest * LANES, initial.dtype)
    beyond = np.zeros((k, LANES), initial.dtype)
    back = transitions.T.copy()
    log = 0.0
    for block in range(low, high):
        codes = blocks[heads[block] : heads[block + 1]]
        log += _forward(codes, initial, transitions, emit, alpha, seen, over, beyond)
        _backward(codes, lengths[block], back, alpha, seen, over, beyond, starts, emitted)
        _count_moves(alpha, seen, len(codes) * LANES, moved)
    return log


@njit(cache=True, nogil=True)
def score(codes, ends, initial, transitions, emit, logs):
    """Fill `logs` (sequence,) with log-probabilities; minus infinity where a sequence cannot be.

    Parameters
    ----------
    codes : (position,)  negative where a symbol is missing
    ends : (sequence + 1,)
    initial, transitions : (state,), (state, next state)
    emit : (symbol, state)
    """
    k = len(initial)
    now, after = np.empty(k), np.empty(k)
    for sequence in range(len(ends) - 1):
        now[:] = initial
        log, product = 0.0, 1.0
        for t in range(ends[sequence], ends[sequence + 1]):
            x = codes[t]
            total = 0.0
            for m in range(k):
                if x >= 0:
                    now[m] *= emit[x, m]
                total += now[m]
            if not total > 0.0:
                log = -math.inf
                break
            product *= total
            if product < 1e-100:
                log += math.log(product)
                product = 1.0
            for n in range(k):
                after[n] = 0.0
            for m in range(k):
                share = now[m] / total
                for n in range(k):
                    after[n] += share * transitions[m, n]
            for n in range(k):
                now[n] = after[n]
        logs[sequence] = log + math.log(product)
