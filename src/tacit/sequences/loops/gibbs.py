"""Compiled sweeps of collapsed Gibbs sampling over the paths of probabilistic automata.

Probabilities are summed out: what is kept is how often each state was left with each symbol and to where. A
sweep draws the state of each place anew, given all others (Shibata & Yoshinaka, 2012, won the PAutomaC
competition so). Counts are single-precision numbers, exact up to 16 million, and stand twice, by the state
before and by the state after, so that inner loops run over neighbours in memory.
"""

from __future__ import annotations

import numpy as np
from numba import njit

_LOOSE = {"reassoc", "contract", "nsz", "arcp"}
_ONE = np.float32(1.0)
_NONE = np.float32(0.0)


@njit(cache=True, nogil=True)
def tally(paths, codes, ends, groups, n_start, n_emit, n_into, n_from, left, moved):
    """Add the counts of paths.

    Parameters
    ----------
    paths : (position + sequence,)  states
    codes : (position,)
    ends : (sequence + 1,)
    groups : (symbol,)
    n_start : (state,)
    n_emit : (symbol + 1, state)
    n_into : (group, state, next state)
    n_from : (group, next state, state)
    left : (state,)  sums of n_emit
    moved : (group, state)  sums of n_into
    """
    n_symbols = len(n_emit) - 1
    for sequence in range(len(ends) - 1):
        base = ends[sequence] + sequence
        n_start[paths[base]] += 1
        for at in range(ends[sequence], ends[sequence + 1]):
            q, r, symbol = paths[at + sequence], paths[at + sequence + 1], codes[at]
            g = groups[symbol]
            n_emit[symbol, q] += 1
            left[q] += 1
            n_into[g, q, r] += 1
            n_from[g, r, q] += 1
            moved[g, q] += 1
        q = paths[ends[sequence + 1] + sequence]
        n_emit[n_symbols, q] += 1
        left[q] += 1


@njit(cache=True, nogil=True, inline="always")
def _change(by, state, symbol, n_emit, left, over_left, all_emit):
    """Change how often a state was left with a symbol."""
    n_emit[symbol, state] += by
    left[state] += by
    over_left[state] = _ONE / (left[state] + all_emit)


@njit(cache=True, nogil=True, inline="always")
def _change_move(by, g, state, after, n_into, n_from, moved, over_moved, all_move):
    """Change how often a state was left to another."""
    n_into[g, state, after] += by
    n_from[g, after, state] += by
    moved[g, state] += by
    over_moved[g, state] = _ONE / (moved[g, state] + all_move)


@njit(cache=True, nogil=True, fastmath=_LOOSE)
def _drawn(weights, uniform):
    """A place drawn in proportion to weights."""
    total = _NONE
    for q in range(len(weights)):
        total += weights[q]
    room = uniform * total
    for q in range(len(weights)):
        room -= weights[q]
        if room <= _NONE:
            return q
    return len(weights) - 1


@njit(cache=True, nogil=True, fastmath=_LOOSE)
def sweep(
    paths, codes, ends, groups, n_start, n_emit, n_into, n_from, left, moved, priors, uniforms
):
    """Draw the state of every place once; how many changed.

    Parameters
    ----------
    paths, codes, ends, groups, n_start, n_emit, n_into, n_from, left, moved : see `tally`; changed in place
    priors : (3,)
        Pseudo-counts of each start, of each symbol and the end, and of each move.
    uniforms : (position + sequence,)
    """
    k, n_symbols = n_emit.shape[1], len(n_emit) - 1
    start_prior, emit_prior, move_prior = priors[0], priors[1], priors[2]
    all_emit = emit_prior * np.float32(n_symbols + 1)
    all_move = move_prior * np.float32(k)
    weights = np.empty(k, np.float32)
    over_left = _ONE / (left + all_emit)
    over_moved = _ONE / (moved + all_move)
    changed = 0
    for sequence in range(len(ends) - 1):
        base, length = ends[sequence] + sequence, ends[sequence + 1] - ends[sequence]
        for t in range(length + 1):
            old = paths[base + t]
            symbol = codes[ends[sequence] + t] if t < length else n_symbols
            g, after = (groups[symbol], paths[base + t + 1]) if t < length else (-1, 0)
            h, before = -1, 0
            if t > 0:
                h, before = groups[codes[ends[sequence] + t - 1]], paths[base + t - 1]
            # The counts without this place.
            _change(-_ONE, old, symbol, n_emit, left, over_left, all_emit)
            if g >= 0:
                _change_move(-_ONE, g, old, after, n_into, n_from, moved, over_moved, all_move)
            if h >= 0:
                _change_move(-_ONE, h, before, old, n_into, n_from, moved, over_moved, all_move)
                came, prior = n_into[h, before], move_prior
            else:
                n_start[old] -= _ONE
                came, prior = n_start, start_prior
            shown = n_emit[symbol]
            for q in range(k):
                weights[q] = (came[q] + prior) * (shown[q] + emit_prior) * over_left[q]
            if g >= 0:
                goes, over = n_from[g, after], over_moved[g]
                for q in range(k):
                    weights[q] *= (goes[q] + move_prior) * over[q]
                if g == h:
                    # The step into this state would be one more in the row that leaves it.
                    more = _ONE if after == before else _NONE
                    weights[before] *= (goes[before] + move_prior + more) / (
                        (goes[before] + move_prior)
                        * over_moved[g, before]
                        * (moved[g, before] + all_move + _ONE)
                    )
            new = _drawn(weights, uniforms[base + t])
            changed += new != old
            paths[base + t] = new
            # The counts with its new state.
            _change(_ONE, new, symbol, n_emit, left, over_left, all_emit)
            if g >= 0:
                _change_move(_ONE, g, new, after, n_into, n_from, moved, over_moved, all_move)
            if h >= 0:
                _change_move(_ONE, h, before, new, n_into, n_from, moved, over_moved, all_move)
            else:
                n_start[new] += _ONE
    return changed
