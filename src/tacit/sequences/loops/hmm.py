"""Compiled passes of hidden Markov models over batches of sequences of symbols.

A block holds `BATCH_SIZE` sequences and is processed position by position: every step is a sum of rows with
one number for each sequence, whatever the number of states. Tables are padded to a multiple of four states
with unreachable states. Symbols of a block are (position, sequence); two additional symbols stand for a
missing one (likelihood one in every state) and for positions beyond the end (likelihood zero).

Messages may be of single or double precision; sums are of double precision.
"""

from __future__ import annotations

import math

import numpy as np

from tacit.core.loops.compiled import njit

BATCH_SIZE = 64
LOGS_APART = 4  # positions whose likelihoods are multiplied before a logarithm is taken
LEAST = 1e-30  # likelihood of a position given those before it
FAST = {"reassoc", "contract", "nsz", "arcp"}


@njit(cache=True, nogil=True, fastmath=FAST)
def _mix(past, at, weights, now):
    """Rows of `now` as sums of rows of `past`: ``now[n] = sum(past[m, at:] * weights[m, n])``."""
    k = len(weights)
    for n in range(k):
        for m in range(0, k, 4):
            a, b, c, d = weights[m, n], weights[m + 1, n], weights[m + 2, n], weights[m + 3, n]
            if m == 0:
                for s in range(BATCH_SIZE):
                    i = at + np.uint64(s)
                    now[n, s] = past[0, i] * a + past[1, i] * b + past[2, i] * c + past[3, i] * d
            else:
                for s in range(BATCH_SIZE):
                    i = at + np.uint64(s)
                    now[n, s] += (
                        past[m, i] * a
                        + past[m + 1, i] * b
                        + past[m + 2, i] * c
                        + past[m + 3, i] * d
                    )


@njit(cache=True, nogil=True, fastmath=FAST)
def _forward(codes, initial, transitions, emit, alpha, likelihoods, over, now):
    """Fill filtered probabilities `alpha`, emission `likelihoods`, and `over`, the inverse normalisers.

    Returns the log-likelihood of all sequences.
    """
    k, length = len(initial), len(codes)
    outside = len(emit) - 1
    log = 0.0
    product = np.ones(BATCH_SIZE)
    total = np.empty(BATCH_SIZE, alpha.dtype)
    for t in range(length):
        row, at = codes[t], np.uint64(t * BATCH_SIZE)
        for s in range(BATCH_SIZE):
            i, x = at + np.uint64(s), row[s]
            for n in range(k):
                likelihoods[n, i] = emit[x, n]
        if t == 0:
            for n in range(k):
                now[n, :] = initial[n]
        else:
            _mix(alpha, at - np.uint64(BATCH_SIZE), transitions, now)
        for s in range(BATCH_SIZE):
            total[s] = 0
        for n in range(k):
            for s in range(BATCH_SIZE):
                now[n, s] *= likelihoods[n, at + np.uint64(s)]
                total[s] += now[n, s]
        for s in range(BATCH_SIZE):
            norm = max(total[s], initial.dtype.type(LEAST))
            # Positions beyond the end do not count.
            inside = row[s] != outside
            product[s] *= norm if inside else 1.0
            over[at + np.uint64(s)] = 1 / norm if inside else 0
        for n in range(k):
            for s in range(BATCH_SIZE):
                i = at + np.uint64(s)
                alpha[n, i] = now[n, s] * over[i]
        if t % LOGS_APART == LOGS_APART - 1 or t == length - 1:
            for s in range(BATCH_SIZE):
                log += math.log(product[s])
                product[s] = 1.0
    return log


@njit(cache=True, nogil=True, fastmath=FAST)
def _backward(
    codes, lengths, transposed, alpha, likelihoods, over, beyond, initial_counts, emission_counts
):
    """Multiply `likelihoods` by the backward messages, and add expected emissions and initial states."""
    k, length = len(transposed), len(codes)
    for t in range(length - 1, -1, -1):
        row, at = codes[t], np.uint64(t * BATCH_SIZE)
        if t < length - 1:
            _mix(likelihoods, at + np.uint64(BATCH_SIZE), transposed, beyond)
        for s in range(BATCH_SIZE):
            if lengths[s] == t + 1:
                for m in range(k):
                    beyond[m, s] = 1
        for m in range(k):
            for s in range(BATCH_SIZE):
                i = at + np.uint64(s)
                likelihoods[m, i] *= beyond[m, s] * over[i]
                beyond[m, s] *= alpha[m, i]
        for s in range(BATCH_SIZE):
            x = row[s]
            for m in range(k):
                emission_counts[x, m] += beyond[m, s]
    for m in range(k):
        for s in range(BATCH_SIZE):
            initial_counts[m] += beyond[m, s]


@njit(cache=True, nogil=True, fastmath=FAST)
def _count_transitions(alpha, ahead, size, transition_counts):
    """Add ``sum(alpha[m, i] * ahead[n, i + BATCH_SIZE])`` for all pairs of states."""
    k = len(transition_counts)
    for m in range(0, k, 2):
        for n in range(0, k, 4):
            zero = alpha.dtype.type(0)
            a0, a1, a2, a3, b0, b1, b2, b3 = zero, zero, zero, zero, zero, zero, zero, zero
            for i in range(size - BATCH_SIZE):
                a, b = alpha[m, i], alpha[m + 1, i]
                j = i + BATCH_SIZE
                p, q, r, s = ahead[n, j], ahead[n + 1, j], ahead[n + 2, j], ahead[n + 3, j]
                a0 += a * p
                a1 += a * q
                a2 += a * r
                a3 += a * s
                b0 += b * p
                b1 += b * q
                b2 += b * r
                b3 += b * s
            transition_counts[m, n] += a0
            transition_counts[m, n + 1] += a1
            transition_counts[m, n + 2] += a2
            transition_counts[m, n + 3] += a3
            transition_counts[m + 1, n] += b0
            transition_counts[m + 1, n + 1] += b1
            transition_counts[m + 1, n + 2] += b2
            transition_counts[m + 1, n + 3] += b3


@njit(cache=True, nogil=True)
def expect(
    blocks,
    heads,
    lengths,
    low,
    high,
    initial,
    transitions,
    emit,
    initial_counts,
    transition_counts,
    emission_counts,
):
    """Add the expected counts of the blocks from `low` to before `high`; returns their log-likelihood.

    Parameters
    ----------
    blocks : (row, BATCH_SIZE)  symbols, the positions of each block in turn
    heads : (block + 1,)  the row at which each block starts
    lengths : (block, BATCH_SIZE)  of the sequences; a block is as long as its longest
    initial, transitions, emit : (state,), (state, next state), (symbol + 2, state)  padded
    initial_counts, transition_counts, emission_counts : of the same shapes, double precision
        `transition_counts` lack a factor: the probability of each transition.
    """
    k = len(initial)
    longest = 0
    for block in range(low, high):
        longest = max(longest, heads[block + 1] - heads[block])
    alpha = np.empty((k, longest * BATCH_SIZE), initial.dtype)
    likelihoods = np.empty((k, longest * BATCH_SIZE), initial.dtype)
    over = np.empty(longest * BATCH_SIZE, initial.dtype)
    beyond = np.zeros((k, BATCH_SIZE), initial.dtype)
    transposed = transitions.T.copy()
    log = 0.0
    for block in range(low, high):
        codes = blocks[heads[block] : heads[block + 1]]
        log += _forward(codes, initial, transitions, emit, alpha, likelihoods, over, beyond)
        _backward(
            codes,
            lengths[block],
            transposed,
            alpha,
            likelihoods,
            over,
            beyond,
            initial_counts,
            emission_counts,
        )
        _count_transitions(alpha, likelihoods, len(codes) * BATCH_SIZE, transition_counts)
    return log


@njit(cache=True, nogil=True)
def score(codes, ends, initial, transitions, emit, logs):
    """Fill `logs` (sequence,) with log-probabilities; minus infinity for impossible sequences.

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
                prob = now[m] / total
                for n in range(k):
                    after[n] += prob * transitions[m, n]
            for n in range(k):
                now[n] = after[n]
        logs[sequence] = log + math.log(product)


@njit(cache=True, nogil=True, fastmath=FAST)
def expect_pairs(heads, columns, weights, first, second, joint, counts):
    """Expected counts of pairs of states, given weights of pairs of symbols and emissions.

    Parameters
    ----------
    heads, columns, weights : pairs of symbols in rows: those of symbol a start at heads[a]
    first, second : (symbol, state)  P(symbol | state) of the first and the second of a pair
    joint : (state, state)  P(first state, second state)
    counts : (state, state)  filled

    Returns
    -------
    The log-likelihood of the pairs of symbols.
    """
    k, width = joint.shape
    summed = np.empty(width)
    ratios = np.empty(width)
    gathered = np.zeros((k, width))
    log = 0.0
    for a in range(len(heads) - 1):
        if heads[a] == heads[a + 1]:
            continue
        for n in range(width):
            summed[n] = 0.0
            ratios[n] = 0.0
        for m in range(k):
            for n in range(width):
                summed[n] += first[a, m] * joint[m, n]
        for at in range(heads[a], heads[a + 1]):
            b = columns[at]
            prob = 0.0
            for n in range(width):
                prob += summed[n] * second[b, n]
            prob = max(prob, 1e-300)
            log += weights[at] * math.log(prob)
            ratio = weights[at] / prob
            for n in range(width):
                ratios[n] += ratio * second[b, n]
        for m in range(k):
            for n in range(width):
                gathered[m, n] += first[a, m] * ratios[n]
    for m in range(k):
        for n in range(width):
            counts[m, n] = gathered[m, n] * joint[m, n]
    return log
