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
            # The counts without this place.
            symbol = codes[ends[sequence] + t] if t < length else n_symbols
            n_emit[symbol, old] -= _ONE
            left[old] -= _ONE
            over_left[old] = _ONE / (left[old] + all_emit)
            g, after, h, before = 0, 0, 0, 0
            if t < length:
                g, after = groups[symbol], paths[base + t + 1]
                n_into[g, old, after] -= _ONE
                n_from[g, after, old] -= _ONE
                moved[g, old] -= _ONE
                over_moved[g, old] = _ONE / (moved[g, old] + all_move)
            if t > 0:
                h, before = groups[codes[ends[sequence] + t - 1]], paths[base + t - 1]
                n_into[h, before, old] -= _ONE
                n_from[h, old, before] -= _ONE
                moved[h, before] -= _ONE
                over_moved[h, before] = _ONE / (moved[h, before] + all_move)
                came, prior = n_into[h, before], move_prior
            else:
                n_start[old] -= _ONE
                came, prior = n_start, start_prior
            shown = n_emit[symbol]
            for q in range(k):
                weights[q] = (came[q] + prior) * (shown[q] + emit_prior) * over_left[q]
            if t < length:
                goes, over = n_from[g, after], over_moved[g]
                for q in range(k):
                    weights[q] *= (goes[q] + move_prior) * over[q]
                if t > 0 and g == h:
                    # The step into this state would be one more in the row that leaves it.
                    more = _ONE if after == before else _NONE
                    weights[before] *= (goes[before] + move_prior + more) / (
                        (goes[before] + move_prior)
                        * over_moved[g, before]
                        * (moved[g, before] + all_move + _ONE)
                    )
            total = _NONE
            for q in range(k):
                total += weights[q]
            room = uniforms[base + t] * total
            new = k - 1
            for q in range(k):
                room -= weights[q]
                if room <= _NONE:
                    new = q
                    break
            changed += new != old
            # The counts with its new state.
            paths[base + t] = new
            n_emit[symbol, new] += _ONE
            left[new] += _ONE
            over_left[new] = _ONE / (left[new] + all_emit)
            if t < length:
                n_into[g, new, after] += _ONE
                n_from[g, after, new] += _ONE
                moved[g, new] += _ONE
                over_moved[g, new] = _ONE / (moved[g, new] + all_move)
            if t > 0:
                n_into[h, before, new] += _ONE
                n_from[h, new, before] += _ONE
                moved[h, before] += _ONE
                over_moved[h, before] = _ONE / (moved[h, before] + all_move)
            else:
                n_start[new] += _ONE
    return changed
