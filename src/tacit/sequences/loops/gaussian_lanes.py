"""Compiled expectations of chains of normal numbers, many sequences side by side.

Sequences stand in blocks: the same position of some of them is a line of *lanes*, on which one operation
works at a time. Those that are shorter than the longest of their block are padded, which counts for nothing.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

LANES = 64
_ROUGH = {"reassoc", "contract", "nsz"}
_SMALL = 1e-140  # added to likelihoods of one position, and where products of them are taken logarithms of
_LEAST_LOG = (
    -230.0
)  # of a likelihood below that of the likeliest state: what is less likely is as good as that
_HALF_LOG_TAU = 0.5 * math.log(2 * math.pi)
# Exponentials: 2^whole e^rest, with a power series of the rest. Numbers added to this one become whole.
_OVER_LOG_2, _WHOLE = 1.0 / math.log(2.0), 1.5 * 2.0**52
_LOG_2 = 0.693145751953125  # its first bits, so that small multiples are exact
_LOG_2_REST = math.log(2.0) - _LOG_2
_SERIES = tuple(1.0 / math.factorial(power) for power in range(12, -1, -1))


@njit(cache=True, nogil=True, fastmath={"contract"})
def exponentials_of(logs, power, bits):
    """Replace numbers that are at most zero by their exponentials, to the last bit or two.

    Parameters
    ----------
    logs : (n,)  changed
    power, bits : (n,)
        The same memory as numbers and as integers, to work in.
    """
    n = len(logs)
    for i in range(n):
        power[i] = max(logs[i], _LEAST_LOG) * _OVER_LOG_2 + _WHOLE
    for i in range(n):
        whole = power[i] - _WHOLE
        rest = max(logs[i], _LEAST_LOG) - whole * _LOG_2
        rest -= whole * _LOG_2_REST
        total = _SERIES[0]
        for place in range(1, len(_SERIES)):
            total = total * rest + _SERIES[place]
        logs[i] = total
    for i in range(n):
        bits[i] = (bits[i] + 1023) << 52
    for i in range(n):
        logs[i] *= power[i]


@njit(cache=True, nogil=True, fastmath=_ROUGH)
def _log_densities(columns, whiteners, shifts, constants, diagonal, work, out):
    """Log-densities of a line of rows, (column, lane), for each state; out : (state, lane)."""
    k, d = shifts.shape
    lanes = len(work)
    for m in range(k):
        line, constant = out[m], constants[m]
        for s in range(lanes):
            line[s] = constant
        for i in range(d):
            column, weight, shift = columns[i], whiteners[m, i, i], shifts[m, i]
            for s in range(lanes):
                work[s] = column[s] * weight - shift
            if not diagonal:
                for j in range(i):
                    other, share = columns[j], whiteners[m, i, j]
                    for s in range(lanes):
                        work[s] += other[s] * share
            for s in range(lanes):
                line[s] -= 0.5 * work[s] * work[s]


@njit(cache=True, nogil=True, fastmath=_ROUGH)
def _below_top(logs, top):
    """Take the largest of the states out of each lane; it goes to `top`."""
    k, lanes = logs.shape
    for s in range(lanes):
        top[s] = logs[0, s]
    for m in range(1, k):
        for s in range(lanes):
            top[s] = max(top[s], logs[m, s])
    for m in range(k):
        for s in range(lanes):
            logs[m, s] -= top[s]


@njit(cache=True, nogil=True, fastmath=_ROUGH, error_model="numpy")
def _weighed(before, likely, now, total, over):
    """States given the numbers so far, what they add up to before that, and one over it."""
    k, lanes = now.shape
    for s in range(lanes):
        total[s] = _SMALL
    for m in range(k):
        for s in range(lanes):
            now[m, s] = before[m, s] * likely[m, s]
            total[s] += now[m, s]
    for s in range(lanes):
        over[s] = 1.0 / total[s]
    for m in range(k):
        for s in range(lanes):
            now[m, s] *= over[s]


@njit(cache=True, nogil=True, fastmath=_ROUGH)
def _moved(weights, states, out):
    """A matrix (state, other) times a line of states, (other, lane)."""
    k, lanes = states.shape
    for m in range(k):
        line, own, weight = out[m], states[0], weights[m, 0]
        for s in range(lanes):
            line[s] = weight * own[s]
        for n in range(1, k):
            other, share = states[n], weights[m, n]
            for s in range(lanes):
                line[s] += share * other[s]


@njit(cache=True, nogil=True, fastmath=_ROUGH)
def _add_pairs(now, ahead, pairs):
    """Add products of states now and next; pairs : (state, next, lane)."""
    k, lanes = now.shape
    for m in range(k):
        own = now[m]
        for n in range(k):
            other, line = ahead[n], pairs[m, n]
            for s in range(lanes):
                line[s] += own[s] * other[s]


@njit(cache=True, nogil=True, fastmath=_ROUGH)
def _add_rows(now, columns, diagonal, sums, work):
    """Add rows, weighted by states, to sums of nothing, of columns and of products of two columns.

    Parameters
    ----------
    now : (state, lane)
    columns : (column, lane)
    sums : tuple of (state, lane), (state, column, lane), (state, column, column, lane)
        Of products only those on and below the diagonal.
    """
    k, lanes = now.shape
    visits, firsts, seconds = sums
    for m in range(k):
        own, line = now[m], visits[m]
        for s in range(lanes):
            line[s] += own[s]
        for i in range(len(columns)):
            column, line, square = columns[i], firsts[m, i], seconds[m, i, i]
            for s in range(lanes):
                work[s] = own[s] * column[s]
                line[s] += work[s]
                square[s] += work[s] * column[s]
            if not diagonal:
                for j in range(i):
                    other, products = columns[j], seconds[m, i, j]
                    for s in range(lanes):
                        products[s] += work[s] * other[s]


@njit(cache=True, nogil=True, fastmath=_ROUGH)
def _total(line):
    total = 0.0
    for s in range(len(line)):
        total += line[s]
    return total


@njit(cache=True, nogil=True)
def _padded(states, t, lengths, value):
    """Put a value where sequences are over."""
    for s in range(len(lengths)):
        if t >= lengths[s]:
            for m in range(len(states)):
                states[m, s] = value


@njit(cache=True, nogil=True, fastmath=_ROUGH)
def _forward(initial, backwards, densities, columns, lengths, room, logs):
    """One block from its beginning; logarithms of likelihoods are added to `logs`, (lane,)."""
    whiteners, shifts, constants, diagonal = densities
    likely, now, over, before, power, work, total, product = room
    k, n, lanes = len(initial), len(columns), len(logs)
    bits = power.view(np.int64)
    for s in range(lanes):
        product[s] = 1.0
        for m in range(k):
            before[m, s] = initial[m]
    for t in range(n):
        _log_densities(columns[t], whiteners, shifts, constants, diagonal, work, likely[t])
        _below_top(likely[t], work)
        exponentials_of(likely[t].reshape(k * lanes), power, bits)
        if t >= lengths[-1]:  # the shortest
            _padded(likely[t], t, lengths, 1.0)
        _weighed(before, likely[t], now[t], total, over[t])
        n_small = np.int64(0)
        for s in range(lanes):
            logs[s] += work[s] if t < lengths[s] else 0.0
            product[s] *= total[s]
            n_small += np.int64(product[s] < _SMALL)
        if n_small > 0:
            for s in range(lanes):
                logs[s] += math.log(product[s])
                product[s] = 1.0
        _moved(backwards, now[t], before)
    for s in range(lanes):
        logs[s] += math.log(product[s])


@njit(cache=True, nogil=True, fastmath=_ROUGH)
def _backward(transitions, diagonal, columns, lengths, room, pairs, sums):
    """One block from its end: states given all, added up with rows; `now` ends as theirs."""
    likely, now, over, beyond, power, work = room[:6]
    k, lanes = beyond.shape
    ahead = power.reshape(k, lanes)
    for m in range(k):
        for s in range(lanes):
            beyond[m, s] = 1.0
    for t in range(len(columns) - 1, -1, -1):
        if t + 1 < len(columns):
            share = over[t + 1]
            for m in range(k):
                for s in range(lanes):
                    ahead[m, s] = likely[t + 1, m, s] * beyond[m, s] * share[s]
            _moved(transitions, ahead, beyond)
            if t + 1 >= lengths[-1]:
                _padded(ahead, t + 1, lengths, 0.0)
            _add_pairs(now[t], ahead, pairs)
        for m in range(k):
            for s in range(lanes):
                now[t, m, s] *= beyond[m, s]
        if t >= lengths[-1]:
            _padded(now[t], t, lengths, 0.0)
        _add_rows(now[t], columns[t], diagonal, sums, work)


@njit(cache=True, nogil=True)
def expect_numbers(
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
    """Log-likelihood of whole rows of numbers, and expected counts and sums.

    Parameters
    ----------
    start : (state,)
    transitions : (state, next state)
    means : (state, column)
    whiteners : (state, column, column)
        Inverses of the covariances' lower factors.
    log_sizes : (state,)
        Sums of the logarithms of the factors' diagonals.
    diagonal : bool
        Whether the factors are.
    columns : (line, column, lane)
        Rows of all blocks, one after the other.
    begins : (block + 1,)
        Where blocks start.
    lengths : (block, lane)
        Of the sequences, falling.
    counts : tuple of (state,), (state, next state)
        Expected initial states and transitions are added.
    sums : tuple of (state,), (state, column), (state, column, column)
        Visits, rows and squares of rows, weighted by how likely states are, are added; of the squares the
        diagonal if `diagonal`, or what is on and below it.
    """
    k, d = means.shape
    n, lanes = lengths[0, 0], columns.shape[2]
    shifts, constants, backwards = np.zeros((k, d)), np.empty(k), np.empty((k, k))
    for m in range(k):
        constants[m] = -d * _HALF_LOG_TAU - log_sizes[m]
        for other in range(k):
            backwards[other, m] = transitions[m, other]
        for i in range(d):
            for j in range(i + 1):
                shifts[m, i] += whiteners[m, i, j] * means[m, j]
    densities = (whiteners, shifts, constants, diagonal)
    states = np.empty((n, k, lanes)), np.empty((n, k, lanes)), np.empty((n, lanes))
    lines = np.empty(lanes), np.empty(lanes), np.empty(lanes)
    room = (*states, np.empty((k, lanes)), np.empty(k * lanes), *lines)
    logs, pairs = np.zeros(lanes), np.zeros((k, k, lanes))
    added = np.zeros((k, lanes)), np.zeros((k, d, lanes)), np.zeros((k, d, d, lanes))
    for block in range(len(lengths)):
        own = columns[begins[block] : begins[block + 1]]
        _forward(initial, backwards, densities, own, lengths[block], room, logs)
        _backward(transitions, diagonal, own, lengths[block], room, pairs, added)
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
