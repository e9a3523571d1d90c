"""Compiled passes of probabilistic automata over the prefix tree of sequences.

Nodes come after their parents. States of negligible probability are skipped, which makes almost deterministic
automata fast.
"""

from __future__ import annotations

import math

import numpy as np

from tacit.core.loops.compiled import njit

TINY = 1e-200
# States of smaller probability at a node are skipped.
SKIPPED = 1e-12
_LOOSE = {"reassoc", "contract", "nsz", "arcp"}


@njit(cache=True, nogil=True, fastmath=_LOOSE)
def _add_forward(before, emit, step, symbol, after):
    """Add the weights of states after a symbol to `after`."""
    k = len(after)
    for q in range(k):
        weight = before[q] * emit[q, symbol]
        if weight > SKIPPED:
            row = step[q]
            for r in range(k):
                after[r] += weight * row[r]


@njit(cache=True, nogil=True, fastmath=_LOOSE)
def forward(initial, emit, transitions, groups, parents, symbols, states, logs):
    """Probabilities of states given each prefix, and the log-probabilities of the prefixes.

    Parameters
    ----------
    initial : (state,)
    emit : (state, symbol + 1)
    transitions : (group, state, next state)
    groups : (symbol,)
    parents, symbols : (node,)  symbol -1 is missing
    states : (node, state)  filled
    logs : (node,)  filled
    """
    k = len(initial)
    n_symbols = emit.shape[1] - 1
    for q in range(k):
        states[0, q] = initial[q]
    logs[0] = 0.0
    for node in range(1, len(parents)):
        before, after, symbol = states[parents[node]], states[node], symbols[node]
        for r in range(k):
            after[r] = 0.0
        if symbol >= 0:
            _add_forward(before, emit, transitions[groups[symbol]], symbol, after)
        else:
            for any_symbol in range(n_symbols):
                _add_forward(before, emit, transitions[groups[any_symbol]], any_symbol, after)
        total = 0.0
        for r in range(k):
            total += after[r]
        if total < TINY:
            total = TINY
            for r in range(k):
                after[r] = TINY / k
        over = 1.0 / total
        for r in range(k):
            after[r] *= over
        logs[node] = logs[parents[node]] + math.log(total)


@njit(cache=True, nogil=True, fastmath=_LOOSE)
def _add_backward(
    above, emit, step, symbol, scale, backward, backward_above, n_emit, n_transitions
):
    """Add the backward weights before a symbol to `backward_above`, and the expected counts."""
    k = len(backward)
    for q in range(k):
        weight = above[q] * emit[q, symbol]
        if weight > SKIPPED:
            weight *= scale
            row, out = step[q], n_transitions[q]
            summed = 0.0
            for r in range(k):
                through = row[r] * backward[r]
                summed += through
                out[r] += weight * through
            n_emit[q, symbol] += weight * summed
            backward_above[q] += emit[q, symbol] * scale * summed


@njit(cache=True, nogil=True, fastmath=_LOOSE)
def expect(
    initial,
    emit,
    transitions,
    groups,
    parents,
    symbols,
    ends,
    states,
    logs,
    backward,
    n_initial,
    n_emit,
    n_transitions,
):
    """Log-likelihood of the sequences of a tree; expected counts are filled in.

    Parameters
    ----------
    initial, emit, transitions, groups, parents, symbols, states, logs : see `forward`
    ends : (node,)
        How many sequences end at each node.
    backward : (node, state)  work space
    n_initial, n_emit, n_transitions : like initial, emit, transitions
    """
    forward(initial, emit, transitions, groups, parents, symbols, states, logs)
    k = len(initial)
    n_symbols = emit.shape[1] - 1
    n_emit[:] = 0.0
    n_transitions[:] = 0.0
    total = 0.0
    for node in range(len(parents)):
        row = backward[node]
        mass = TINY
        if ends[node] > 0:
            for q in range(k):
                mass += states[node, q] * emit[q, n_symbols]
            total += ends[node] * (logs[node] + math.log(mass))
        over = ends[node] / mass
        for q in range(k):
            row[q] = emit[q, n_symbols] * over
            n_emit[q, n_symbols] += states[node, q] * row[q]
    for node in range(len(parents) - 1, 0, -1):
        up, symbol = parents[node], symbols[node]
        scale = math.exp(logs[up] - logs[node])
        above, row, out = states[up], backward[node], backward[up]
        if symbol >= 0:
            g = groups[symbol]
            _add_backward(
                above, emit, transitions[g], symbol, scale, row, out, n_emit, n_transitions[g]
            )
        else:
            for x in range(n_symbols):
                g = groups[x]
                _add_backward(
                    above, emit, transitions[g], x, scale, row, out, n_emit, n_transitions[g]
                )
    for q in range(k):
        n_initial[q] = initial[q] * backward[0, q]
    return total


@njit(cache=True, nogil=True, fastmath=_LOOSE)
def walk(states, parents, symbols, steps, through, total, restart, least, mass):
    """States after symbols in turn, divided by their values.

    Parameters
    ----------
    states : (given state + row, state)
        The given states come first; the others are filled in.
    parents, symbols : (row,)
        The state before each row, and the symbol; -1 is missing.
    steps, through : (symbol, state, state), (state, state)
    total, restart : (state,)
        The value of a state is its product with `total`; states of value at most `least` become `restart`.
    mass : (row,)  values, filled
    """
    n_given, k = len(states) - len(parents), len(total)
    for row in range(len(parents)):
        before, after = states[parents[row]], states[n_given + row]
        step = steps[symbols[row]] if symbols[row] >= 0 else through
        for r in range(k):
            after[r] = 0.0
        for q in range(k):
            weight, out = before[q], step[q]
            for r in range(k):
                after[r] += weight * out[r]
        value = 0.0
        for r in range(k):
            value += after[r] * total[r]
        mass[row] = value
        if value > least and value < 1e300:
            over = 1.0 / value
            for r in range(k):
                after[r] *= over
        else:
            mass[row] = 0.0
            for r in range(k):
                after[r] = restart[r]


@njit(cache=True, nogil=True)
def walk_weights(first, parents, masses, restart):
    """(row, part) posterior weights of a mixture after symbols in turn; (row,) probabilities of the symbols.

    Parameters
    ----------
    first : (given state, part)
    parents : (row,)
    masses : (row, part)  probabilities of the symbols
    restart : (part,)  weights where no part is possible
    """
    n_given, n_parts = len(first), len(restart)
    weights = np.empty((n_given + len(parents), n_parts))
    weights[:n_given] = first
    probs = np.empty(len(parents))
    for row in range(len(parents)):
        before, after = weights[parents[row]], weights[n_given + row]
        total = 0.0
        for part in range(n_parts):
            after[part] = before[part] * masses[row, part]
            total += after[part]
        for part in range(n_parts):
            after[part] = after[part] / total if total > 0 else restart[part]
        probs[row] = total
    return weights[n_given:], probs


@njit(cache=True, nogil=True)
def walk_contexts(first, parents, symbols, base, limit):
    """(row,) the contexts after symbols in turn: the last symbols as digits of a number below a limit."""
    n_given = len(first)
    contexts = np.empty(n_given + len(parents), dtype=np.int64)
    contexts[:n_given] = first
    for row in range(len(parents)):
        code = symbols[row] if symbols[row] >= 0 else base - 1
        contexts[n_given + row] = (contexts[parents[row]] * base + code) % limit
    return contexts[n_given:]


@njit(cache=True, nogil=True, fastmath=_LOOSE)
def values(initial, steps, through, stop, codes, ends):
    """(sequence,) values of sequences: initial vector, a matrix for each symbol, final vector."""
    k, out = len(initial), np.empty(len(ends) - 1)
    now, after = np.empty(k), np.empty(k)
    for sequence in range(len(ends) - 1):
        now[:] = initial
        for place in range(ends[sequence], ends[sequence + 1]):
            step = steps[codes[place]] if codes[place] >= 0 else through
            after[:] = 0.0
            for q in range(k):
                for r in range(k):
                    after[r] += now[q] * step[q, r]
            now, after = after, now
        value = 0.0
        for q in range(k):
            value += now[q] * stop[q]
        out[sequence] = value
    return out
