"""Compiled passes over the tree of beginnings of sequences, for probabilistic automata.

Nodes come after their parents. States of little weight are skipped: an automaton that is almost deterministic
costs almost nothing.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

TINY = 1e-200
# States with a smaller share than this of a node's weight are skipped.
SKIPPED = 1e-12
_LOOSE = {"reassoc", "contract", "nsz", "arcp"}


@njit(cache=True, nogil=True, fastmath=_LOOSE)
def _onwards(above, emit, step, symbol, own):
    """Add to the weights of states after a symbol."""
    k = len(own)
    for q in range(k):
        share = above[q] * emit[q, symbol]
        if share > SKIPPED:
            row = step[q]
            for r in range(k):
                own[r] += share * row[r]


@njit(cache=True, nogil=True, fastmath=_LOOSE)
def forward(initial, emit, transitions, groups, parents, symbols, states, logs):
    """Probabilities of states given each beginning, and the logarithms of the beginnings' probabilities.

    Parameters
    ----------
    start : (state,)
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
        above, own, symbol = states[parents[node]], states[node], symbols[node]
        for r in range(k):
            own[r] = 0.0
        if symbol >= 0:
            _onwards(above, emit, transitions[groups[symbol]], symbol, own)
        else:
            for any_symbol in range(n_symbols):
                _onwards(above, emit, transitions[groups[any_symbol]], any_symbol, own)
        total = 0.0
        for r in range(k):
            total += own[r]
        if total < TINY:
            total = TINY
            for r in range(k):
                own[r] = TINY / k
        over = 1.0 / total
        for r in range(k):
            own[r] *= over
        logs[node] = logs[parents[node]] + math.log(total)


@njit(cache=True, nogil=True, fastmath=_LOOSE)
def _backwards(above, emit, step, symbol, scale, own, back, n_emit, n_moves):
    """Add to the weights of states before a symbol, and to the expected counts of what led on."""
    k = len(own)
    for q in range(k):
        share = above[q] * emit[q, symbol]
        if share > SKIPPED:
            share *= scale
            row, out = step[q], n_moves[q]
            found = 0.0
            for r in range(k):
                through = row[r] * own[r]
                found += through
                out[r] += share * through
            n_emit[q, symbol] += share * found
            back[q] += emit[q, symbol] * scale * found


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
    back,
    n_start,
    n_emit,
    n_moves,
):
    """Log-likelihood of the sequences of a tree; expected counts are filled.

    Parameters
    ----------
    initial, emit, transitions, groups, parents, symbols, states, logs : see `forward`
    ends : (node,)
        How many sequences end there.
    back : (node, state)  room
    n_start, n_emit, n_moves : like initial, emit, transitions
    """
    forward(initial, emit, transitions, groups, parents, symbols, states, logs)
    k = len(initial)
    n_symbols = emit.shape[1] - 1
    n_emit[:] = 0.0
    n_moves[:] = 0.0
    total = 0.0
    for node in range(len(parents)):
        own = back[node]
        mass = TINY
        if ends[node] > 0:
            for q in range(k):
                mass += states[node, q] * emit[q, n_symbols]
            total += ends[node] * (logs[node] + math.log(mass))
        over = ends[node] / mass
        for q in range(k):
            own[q] = emit[q, n_symbols] * over
            n_emit[q, n_symbols] += states[node, q] * own[q]
    for node in range(len(parents) - 1, 0, -1):
        up, symbol = parents[node], symbols[node]
        scale = math.exp(logs[up] - logs[node])
        above, own, under = states[up], back[node], back[up]
        if symbol >= 0:
            g = groups[symbol]
            _backwards(above, emit, transitions[g], symbol, scale, own, under, n_emit, n_moves[g])
        else:
            for each in range(n_symbols):
                g = groups[each]
                _backwards(above, emit, transitions[g], each, scale, own, under, n_emit, n_moves[g])
    for q in range(k):
        n_start[q] = initial[q] * back[0, q]
    return total


@njit(cache=True, nogil=True)
def _drawn(weights, uniform):
    """A place drawn in proportion to weights."""
    total = 0.0
    for q in range(len(weights)):
        total += weights[q]
    left = uniform * total
    for q in range(len(weights)):
        left -= weights[q]
        if left <= 0.0 and weights[q] > 0.0:
            return q
    return np.argmax(weights)


@njit(cache=True, nogil=True)
def draw_paths(initial, emit, transitions, groups, codes, ends, places, states, uniforms, paths):
    """Paths of states drawn given whole sequences.

    Parameters
    ----------
    initial, emit, transitions, groups, states : see `forward`, of the tree of these sequences
    codes : (position,)
    ends : (sequence + 1,)
    places : (position + sequence,)
        Nodes of the tree: before each position, and after the last of each sequence.
    uniforms : (position + sequence,)
    paths : (position + sequence,)  filled
    """
    k = len(initial)
    n_symbols = emit.shape[1] - 1
    weights = np.empty(k)
    for sequence in range(len(ends) - 1):
        length = ends[sequence + 1] - ends[sequence]
        base = ends[sequence] + sequence
        for t in range(length, -1, -1):
            here = states[places[base + t]]
            if t == length:
                for q in range(k):
                    weights[q] = here[q] * emit[q, n_symbols]
            else:
                symbol, after = codes[ends[sequence] + t], paths[base + t + 1]
                for q in range(k):
                    if symbol >= 0:
                        weights[q] = (
                            here[q] * emit[q, symbol] * transitions[groups[symbol], q, after]
                        )
                    else:
                        weights[q] = 0.0
                        for each in range(n_symbols):
                            through = emit[q, each] * transitions[groups[each], q, after]
                            weights[q] += here[q] * through
            paths[base + t] = _drawn(weights, uniforms[base + t])


@njit(cache=True, nogil=True)
def draw_symbols(emit, transitions, groups, codes, ends, paths, uniforms, out):
    """Symbols with those that are missing drawn, given the states before and after them."""
    n_symbols = emit.shape[1] - 1
    weights = np.empty(n_symbols)
    for sequence in range(len(ends) - 1):
        for at in range(ends[sequence], ends[sequence + 1]):
            out[at] = codes[at]
            if codes[at] < 0:
                q, r = paths[at + sequence], paths[at + sequence + 1]
                for each in range(n_symbols):
                    weights[each] = emit[q, each] * transitions[groups[each], q, r]
                out[at] = _drawn(weights, uniforms[at])


@njit(cache=True, nogil=True, fastmath=_LOOSE)
def walk(states, parents, symbols, steps, through, total, anew, least, mass):
    """States after symbols in turn, divided by their values.

    Parameters
    ----------
    states : (state given + row, state)
        First those to start from; the rest is filled.
    parents, symbols : (row,)
        Which of these states is gone on from, and the symbol; -1 is a missing one.
    steps, through : (symbol, state, state), (state, state)
    total, anew : (state,)
        What a state is multiplied with for its value, and what is put where that is not above `least`.
    mass : (row,)  values, filled
    """
    given, k = len(states) - len(parents), len(total)
    for row in range(len(parents)):
        above, own = states[parents[row]], states[given + row]
        step = steps[symbols[row]] if symbols[row] >= 0 else through
        for r in range(k):
            own[r] = 0.0
        for q in range(k):
            share, out = above[q], step[q]
            for r in range(k):
                own[r] += share * out[r]
        found = 0.0
        for r in range(k):
            found += own[r] * total[r]
        mass[row] = found
        if found > least and found < 1e300:
            over = 1.0 / found
            for r in range(k):
                own[r] *= over
        else:
            mass[row] = 0.0
            for r in range(k):
                own[r] = anew[r]


@njit(cache=True, nogil=True)
def walk_shares(first, parents, masses, anew):
    """(row, part) how likely each part of a mixture is after symbols in turn; (row,) chances of these.

    Parameters
    ----------
    first : (state given, part)
    parents : (row,)
    masses : (row, part)  chances of the symbols
    anew : (part,)  put where no part is possible
    """
    given, n_parts = len(first), len(anew)
    shares = np.empty((given + len(parents), n_parts))
    shares[:given] = first
    chances = np.empty(len(parents))
    for row in range(len(parents)):
        above, own = shares[parents[row]], shares[given + row]
        total = 0.0
        for part in range(n_parts):
            own[part] = above[part] * masses[row, part]
            total += own[part]
        for part in range(n_parts):
            own[part] = own[part] / total if total > 0 else anew[part]
        chances[row] = total
    return shares[given:], chances


@njit(cache=True, nogil=True)
def walk_contexts(first, parents, symbols, base, limit):
    """(row,) the last few symbols after symbols in turn, as numbers of a base below a limit."""
    given = len(first)
    contexts = np.empty(given + len(parents), dtype=np.int64)
    contexts[:given] = first
    for row in range(len(parents)):
        code = symbols[row] if symbols[row] >= 0 else base - 1
        contexts[given + row] = (contexts[parents[row]] * base + code) % limit
    return contexts[given:]


@njit(cache=True, nogil=True, fastmath=_LOOSE)
def values(initial, steps, through, stop, codes, ends):
    """(sequence,) raw values of sequences: a vector, a matrix for each symbol, a vector."""
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
        found = 0.0
        for q in range(k):
            found += now[q] * stop[q]
        out[sequence] = found
    return out
