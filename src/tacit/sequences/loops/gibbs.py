"""Compiled sweeps of collapsed Gibbs sampling over the paths of probabilistic automata.

Probabilities are integrated out: only counts of emissions and transitions are kept. A sweep draws the state
of each place given all others, as Shibata & Yoshinaka (2012), who won the PAutomaC competition. Counts are of
single precision, exact up to 16 million. Transitions are stored twice, by the state before and by the state
after, so that inner loops run over contiguous memory.
"""

from __future__ import annotations

import numpy as np

from tacit.core.loops.compiled import njit

_LOOSE = {"reassoc", "contract", "nsz", "arcp"}
_ONE = np.float32(1.0)
_NONE = np.float32(0.0)


@njit(cache=True, nogil=True)
def tally(paths, codes, ends, groups, n_initial, n_emit, n_into, n_from, n_visits, n_out):
    """Add the counts of paths.

    Parameters
    ----------
    paths : (position + sequence,)  states
    codes : (position,)
    ends : (sequence + 1,)
    groups : (symbol,)
    n_initial : (state,)
    n_emit : (symbol + 1, state)
    n_into : (group, state, next state)
    n_from : (group, next state, state)
    n_visits : (state,)  sums of n_emit
    n_out : (group, state)  sums of n_into
    """
    n_symbols = len(n_emit) - 1
    for sequence in range(len(ends) - 1):
        base = ends[sequence] + sequence
        n_initial[paths[base]] += 1
        for at in range(ends[sequence], ends[sequence + 1]):
            q, r, symbol = paths[at + sequence], paths[at + sequence + 1], codes[at]
            g = groups[symbol]
            n_emit[symbol, q] += 1
            n_visits[q] += 1
            n_into[g, q, r] += 1
            n_from[g, r, q] += 1
            n_out[g, q] += 1
        q = paths[ends[sequence + 1] + sequence]
        n_emit[n_symbols, q] += 1
        n_visits[q] += 1


@njit(cache=True, nogil=True, inline="always")
def _change(by, state, symbol, n_emit, n_visits, over_visits, prior_emit):
    """Change the count of a symbol in a state."""
    n_emit[symbol, state] += by
    n_visits[state] += by
    over_visits[state] = _ONE / (n_visits[state] + prior_emit)


@njit(cache=True, nogil=True, inline="always")
def _change_transition(by, g, state, after, n_into, n_from, n_out, over_out, prior_out):
    """Change the count of a transition."""
    n_into[g, state, after] += by
    n_from[g, after, state] += by
    n_out[g, state] += by
    over_out[g, state] = _ONE / (n_out[g, state] + prior_out)


@njit(cache=True, nogil=True, fastmath=_LOOSE)
def _drawn(weights, uniform):
    """An index drawn with probability proportional to its weight."""
    total = _NONE
    for q in range(len(weights)):
        total += weights[q]
    remaining = uniform * total
    for q in range(len(weights)):
        remaining -= weights[q]
        if remaining <= _NONE:
            return q
    return len(weights) - 1


@njit(cache=True, nogil=True, fastmath=_LOOSE)
def sweep(
    paths, codes, ends, groups, n_initial, n_emit, n_into, n_from, n_visits, n_out, priors, uniforms
):
    """Draw the state of every place once; returns how many changed.

    Parameters
    ----------
    paths, codes, ends, groups, n_initial, n_emit, n_into, n_from, n_visits, n_out : see `tally`; changed
    priors : (3,)
        Pseudo-counts of each initial state, of each symbol and the end, and of each transition.
    uniforms : (position + sequence,)
    """
    k, n_symbols = n_emit.shape[1], len(n_emit) - 1
    initial_prior, emit_prior, transition_prior = priors[0], priors[1], priors[2]
    prior_emit = emit_prior * np.float32(n_symbols + 1)
    prior_out = transition_prior * np.float32(k)
    weights = np.empty(k, np.float32)
    over_visits = _ONE / (n_visits + prior_emit)
    over_out = _ONE / (n_out + prior_out)
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
            _change(-_ONE, old, symbol, n_emit, n_visits, over_visits, prior_emit)
            if g >= 0:
                _change_transition(-_ONE, g, old, after, n_into, n_from, n_out, over_out, prior_out)
            if h >= 0:
                _change_transition(
                    -_ONE, h, before, old, n_into, n_from, n_out, over_out, prior_out
                )
                into, prior = n_into[h, before], transition_prior
            else:
                n_initial[old] -= _ONE
                into, prior = n_initial, initial_prior
            emitted = n_emit[symbol]
            for q in range(k):
                weights[q] = (into[q] + prior) * (emitted[q] + emit_prior) * over_visits[q]
            if g >= 0:
                out_of, over = n_from[g, after], over_out[g]
                for q in range(k):
                    weights[q] *= (out_of[q] + transition_prior) * over[q]
                if g == h:
                    # The transition into this state adds one to the row of those out of it.
                    more = _ONE if after == before else _NONE
                    weights[before] *= (out_of[before] + transition_prior + more) / (
                        (out_of[before] + transition_prior)
                        * over_out[g, before]
                        * (n_out[g, before] + prior_out + _ONE)
                    )
            new = _drawn(weights, uniforms[base + t])
            changed += new != old
            paths[base + t] = new
            # The counts with its new state.
            _change(_ONE, new, symbol, n_emit, n_visits, over_visits, prior_emit)
            if g >= 0:
                _change_transition(_ONE, g, new, after, n_into, n_from, n_out, over_out, prior_out)
            if h >= 0:
                _change_transition(_ONE, h, before, new, n_into, n_from, n_out, over_out, prior_out)
            else:
                n_initial[new] += _ONE
    return changed
