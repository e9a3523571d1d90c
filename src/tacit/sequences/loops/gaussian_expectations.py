"""Compiled E-steps of Gaussian HMMs over batches of sequences.

A block holds `BATCH_SIZE` sequences. Each operation works on the same position of all of them, a *line*, and
is vectorised. Sequences shorter than the longest of their block are padded; padding does not count.
"""

from __future__ import annotations

import math

import numpy as np

from tacit.core.loops.compiled import njit

BATCH_SIZE = 64
_ROUGH = {"reassoc", "contract", "nsz"}
_SMALL = 1e-140  # added to likelihoods of a position; the logarithm of smaller products is taken
_LEAST_LOG = -230.0  # of likelihoods relative to the most likely state; smaller ones are rounded up
_HALF_LOG_TAU = 0.5 * math.log(2 * math.pi)
# Exponentials: 2^exponent e^remainder, with a power series; adding _ROUNDER rounds to an integer.
_OVER_LOG_2, _ROUNDER = 1.0 / math.log(2.0), 1.5 * 2.0**52
_LOG_2 = 0.693145751953125  # its leading bits, so that small multiples are exact
_LOG_2_TAIL = math.log(2.0) - _LOG_2
_SERIES = tuple(1.0 / math.factorial(power) for power in range(12, -1, -1))


@njit(cache=True, nogil=True, fastmath={"contract"})
def exponentials_of(logs, power, bits):
    """Replace numbers that are at most zero by their exponentials, up to an error in the last bit or two.

    Parameters
    ----------
    logs : (n,)  changed
    power, bits : (n,)
        Work space: the same memory as floats and as integers.
    """
    n = len(logs)
    for i in range(n):
        power[i] = max(logs[i], _LEAST_LOG) * _OVER_LOG_2 + _ROUNDER
    for i in range(n):
        exponent = power[i] - _ROUNDER
        remainder = max(logs[i], _LEAST_LOG) - exponent * _LOG_2
        remainder -= exponent * _LOG_2_TAIL
        total = _SERIES[0]
        for place in range(1, len(_SERIES)):
            total = total * remainder + _SERIES[place]
        logs[i] = total
    for i in range(n):
        bits[i] = (bits[i] + 1023) << 52
    for i in range(n):
        logs[i] *= power[i]


@njit(cache=True, nogil=True, fastmath=_ROUGH)
def _log_densities(columns, whiteners, shifts, constants, diagonal, work, out):
    """Log-densities of a line of rows, (column, sequence), for each state; out : (state, sequence)."""
    k, d = shifts.shape
    n_sequences = len(work)
    for m in range(k):
        line, constant = out[m], constants[m]
        for s in range(n_sequences):
            line[s] = constant
        for i in range(d):
            column, weight, shift = columns[i], whiteners[m, i, i], shifts[m, i]
            for s in range(n_sequences):
                work[s] = column[s] * weight - shift
            if not diagonal:
                for j in range(i):
                    other, factor = columns[j], whiteners[m, i, j]
                    for s in range(n_sequences):
                        work[s] += other[s] * factor
            for s in range(n_sequences):
                line[s] -= 0.5 * work[s] * work[s]


@njit(cache=True, nogil=True, fastmath=_ROUGH)
def _below_top(logs, top):
    """Subtract the largest of the states in each sequence; it goes to `top`."""
    k, n_sequences = logs.shape
    for s in range(n_sequences):
        top[s] = logs[0, s]
    for m in range(1, k):
        for s in range(n_sequences):
            top[s] = max(top[s], logs[m, s])
    for m in range(k):
        for s in range(n_sequences):
            logs[m, s] -= top[s]


@njit(cache=True, nogil=True, fastmath=_ROUGH, error_model="numpy")
def _filtered(before, likelihoods, now, total, over):
    """Filtered probabilities of states, their sum before normalisation, and its inverse."""
    k, n_sequences = now.shape
    for s in range(n_sequences):
        total[s] = _SMALL
    for m in range(k):
        for s in range(n_sequences):
            now[m, s] = before[m, s] * likelihoods[m, s]
            total[s] += now[m, s]
    for s in range(n_sequences):
        over[s] = 1.0 / total[s]
    for m in range(k):
        for s in range(n_sequences):
            now[m, s] *= over[s]


@njit(cache=True, nogil=True, fastmath=_ROUGH)
def _multiplied(weights, states, out):
    """A matrix (state, other) times a line of states, (other, sequence)."""
    k, n_sequences = states.shape
    for m in range(k):
        line, state, weight = out[m], states[0], weights[m, 0]
        for s in range(n_sequences):
            line[s] = weight * state[s]
        for n in range(1, k):
            other, factor = states[n], weights[m, n]
            for s in range(n_sequences):
                line[s] += factor * other[s]


@njit(cache=True, nogil=True, fastmath=_ROUGH)
def _add_pairs(now, ahead, pairs):
    """Add products of states now and next; pairs : (state, next, sequence)."""
    k, n_sequences = now.shape
    for m in range(k):
        probs = now[m]
        for n in range(k):
            other, line = ahead[n], pairs[m, n]
            for s in range(n_sequences):
                line[s] += probs[s] * other[s]


@njit(cache=True, nogil=True, fastmath=_ROUGH)
def _add_rows(now, columns, diagonal, sums, work):
    """Add posterior probabilities of states, and columns and products of columns weighted by them.

    Parameters
    ----------
    now : (state, sequence)
    columns : (column, sequence)
    sums : tuple of (state, sequence), (state, column, sequence), (state, column, column, sequence)
        Products only on and below the diagonal.
    """
    k, n_sequences = now.shape
    visits, firsts, seconds = sums
    for m in range(k):
        probs, line = now[m], visits[m]
        for s in range(n_sequences):
            line[s] += probs[s]
        for i in range(len(columns)):
            column, line, square = columns[i], firsts[m, i], seconds[m, i, i]
            for s in range(n_sequences):
                work[s] = probs[s] * column[s]
                line[s] += work[s]
                square[s] += work[s] * column[s]
            if not diagonal:
                for j in range(i):
                    other, products = columns[j], seconds[m, i, j]
                    for s in range(n_sequences):
                        products[s] += work[s] * other[s]


@njit(cache=True, nogil=True, fastmath=_ROUGH)
def _total(line):
    total = 0.0
    for s in range(len(line)):
        total += line[s]
    return total


@njit(cache=True, nogil=True)
def _padded(states, t, lengths, value):
    """Put a value after the end of sequences."""
    for s in range(len(lengths)):
        if t >= lengths[s]:
            for m in range(len(states)):
                states[m, s] = value


@njit(cache=True, nogil=True, fastmath=_ROUGH)
def _forward(initial, backwards, densities, columns, lengths, room, logs):
    """Forward pass over one block; log-likelihoods are added to `logs`, (sequence,)."""
    whiteners, shifts, constants, diagonal = densities
    likelihoods, now, over, before, power, work, total, product = room
    k, n, n_sequences = len(initial), len(columns), len(logs)
    bits = power.view(np.int64)
    for s in range(n_sequences):
        product[s] = 1.0
        for m in range(k):
            before[m, s] = initial[m]
    for t in range(n):
        _log_densities(columns[t], whiteners, shifts, constants, diagonal, work, likelihoods[t])
        _below_top(likelihoods[t], work)
        exponentials_of(likelihoods[t].reshape(k * n_sequences), power, bits)
        if t >= lengths[-1]:  # the shortest
            _padded(likelihoods[t], t, lengths, 1.0)
        _filtered(before, likelihoods[t], now[t], total, over[t])
        n_small = np.int64(0)
        for s in range(n_sequences):
            logs[s] += work[s] if t < lengths[s] else 0.0
            product[s] *= total[s]
            n_small += np.int64(product[s] < _SMALL)
        if n_small > 0:
            for s in range(n_sequences):
                logs[s] += math.log(product[s])
                product[s] = 1.0
        _multiplied(backwards, now[t], before)
    for s in range(n_sequences):
        logs[s] += math.log(product[s])


@njit(cache=True, nogil=True, fastmath=_ROUGH)
def _backward(transitions, diagonal, columns, lengths, room, pairs, sums):
    """Backward pass over one block: adds sufficient statistics; `now` becomes the posteriors."""
    likelihoods, now, over, beyond, power, work = room[:6]
    k, n_sequences = beyond.shape
    ahead = power.reshape(k, n_sequences)
    for m in range(k):
        for s in range(n_sequences):
            beyond[m, s] = 1.0
    for t in range(len(columns) - 1, -1, -1):
        if t + 1 < len(columns):
            scale = over[t + 1]
            for m in range(k):
                for s in range(n_sequences):
                    ahead[m, s] = likelihoods[t + 1, m, s] * beyond[m, s] * scale[s]
            _multiplied(transitions, ahead, beyond)
            if t + 1 >= lengths[-1]:
                _padded(ahead, t + 1, lengths, 0.0)
            _add_pairs(now[t], ahead, pairs)
        for m in range(k):
            for s in range(n_sequences):
                now[t, m, s] *= beyond[m, s]
        if t >= lengths[-1]:
            _padded(now[t], t, lengths, 0.0)
        _add_rows(now[t], columns[t], diagonal, sums, work)


@njit(cache=True, nogil=True)
def e_step(
    initial,
    transitions,
    means,
    whiteners,
    log_sizes,
    diagonal,
    columns,
    begins,
    lengths,
    counts,
    sums,
):
    """Log-likelihood of rows without missing numbers; expected counts and sums are added.

    Parameters
    ----------
    initial : (state,)
    transitions : (state, next state)
    means : (state, column)
    whiteners : (state, column, column)
        Inverses of the Cholesky factors of the covariances.
    log_sizes : (state,)
        Sums of the logarithms of the factors' diagonals.
    diagonal : bool
        Whether covariances are diagonal.
    columns : (line, column, sequence)
        Rows of all blocks, one after the other.
    begins : (block + 1,)
        Where blocks start.
    lengths : (block, sequence)
        In decreasing order.
    counts : tuple of (state,), (state, next state)
        Expected initial states and transitions are added.
    sums : tuple of (state,), (state, column), (state, column, column)
        Visits, rows and products of columns, weighted by posteriors, are added; products on the diagonal
        only if `diagonal`, otherwise on and below it.
    """
    k, d = means.shape
    n, n_sequences = lengths[0, 0], columns.shape[2]
    shifts, constants, backwards = np.zeros((k, d)), np.empty(k), np.empty((k, k))
    for m in range(k):
        constants[m] = -d * _HALF_LOG_TAU - log_sizes[m]
        for other in range(k):
            backwards[other, m] = transitions[m, other]
        for i in range(d):
            for j in range(i + 1):
                shifts[m, i] += whiteners[m, i, j] * means[m, j]
    densities = (whiteners, shifts, constants, diagonal)
    states = (
        np.empty((n, k, n_sequences)),
        np.empty((n, k, n_sequences)),
        np.empty((n, n_sequences)),
    )
    lines = np.empty(n_sequences), np.empty(n_sequences), np.empty(n_sequences)
    room = (*states, np.empty((k, n_sequences)), np.empty(k * n_sequences), *lines)
    logs, pairs = np.zeros(n_sequences), np.zeros((k, k, n_sequences))
    added = (
        np.zeros((k, n_sequences)),
        np.zeros((k, d, n_sequences)),
        np.zeros((k, d, d, n_sequences)),
    )
    for block in range(len(lengths)):
        block_columns = columns[begins[block] : begins[block + 1]]
        _forward(initial, backwards, densities, block_columns, lengths[block], room, logs)
        _backward(transitions, diagonal, block_columns, lengths[block], room, pairs, added)
        for m in range(k):
            counts[0][m] += _total(states[1][0, m])
    for m in range(k):
        sums[0][m] += _total(added[0][m])
        for other in range(k):
            counts[1][m, other] += _total(pairs[m, other]) * transitions[m, other]
        for i in range(d):
            sums[1][m, i] += _total(added[1][m, i])
            for j in range(i + 1):
                sums[2][m, i, j] += _total(added[2][m, i, j])
    return _total(logs)
