"""Compiled sweeps of collapsed Gibbs sampling over the paths of probabilistic automata.

Probabilities are integrated out: only counts of emissions and transitions are kept. A sweep draws the state
of each place given all others, as Shibata & Yoshinaka (2012), who won the PAutomaC competition. Counts are of
single precision, exact up to 16 million. Transitions are stored twice, by the state before and by the state
after, so that inner loops run over contiguous memory.

Tables of counts are two-dimensional and indexed by numbers alone: a view of a row costs more than the
arithmetic of a place. For the same reason `sweep` is one long loop: it takes a third longer where a change
is counted in a function of its own. The last axis of tables is filled up with zeros to a multiple of
`LANES`, which vector instructions need.
"""

from __future__ import annotations

import numpy as np

from tacit.core.loops.compiled import njit

LANES = 16
# States of smaller probability before a symbol, in terms of all, are skipped where paths are drawn.
SKIPPED = np.float32(1e-10)
_LOOSE = {"reassoc", "contract", "nsz", "arcp"}
_ONE = np.float32(1.0)
_NONE = np.float32(0.0)


@njit(cache=True, nogil=True)
def tally(paths, codes, ends, groups, n_states, n_into, n_from, n_emit, n_visits, n_out):
    """Add the counts of paths.

    Parameters
    ----------
    paths : (position + sequence,)  states
    codes : (position,)
    ends : (sequence + 1,)
    groups : (symbol,)
    n_states : int
    n_into : (group * state + 1, next state)  the last row counts initial states
    n_from : (group * next state + 1, state)  the last row is all ones, for ends
    n_emit : (symbol + 1, state)
    n_visits : (state,)  sums of n_emit
    n_out : (group, state)  sums of n_into
    """
    n_symbols = len(n_emit) - 1
    for sequence in range(len(ends) - 1):
        base = ends[sequence] + sequence
        n_into[len(n_into) - 1, paths[base]] += _ONE
        for at in range(ends[sequence], ends[sequence + 1]):
            q, r, symbol = paths[at + sequence], paths[at + sequence + 1], codes[at]
            g = groups[symbol]
            n_emit[symbol, q] += _ONE
            n_visits[q] += _ONE
            n_into[g * n_states + q, r] += _ONE
            n_from[g * n_states + r, q] += _ONE
            n_out[g, q] += _ONE
        q = paths[ends[sequence + 1] + sequence]
        n_emit[n_symbols, q] += _ONE
        n_visits[q] += _ONE


@njit(cache=True, nogil=True, fastmath=_LOOSE)
def _factors(groups, k, n_emit, n_visits, n_out, priors, tied):
    """The factors of each symbol, and those of all symbols: of an end, and of any other."""
    n_symbols, width = len(n_emit) - 1, n_emit.shape[1]
    prior_visits = priors[1] * np.float32(n_symbols + 1)
    prior_out = priors[2] * np.float32(k)
    emitted = np.zeros((n_symbols + 1, width), np.float32)
    over = np.zeros((2, width), np.float32)
    for q in range(k):
        over[0, q] = _ONE / (n_visits[q] + prior_visits)
        over[1, q] = over[0, q]
        if tied:
            over[1, q] = over[0, q] / (n_out[0, q] + prior_out)
        for symbol in range(n_symbols + 1):
            emitted[symbol, q] = n_emit[symbol, q] + priors[1]
            if not tied and symbol < n_symbols:
                emitted[symbol, q] /= n_out[groups[symbol], q] + prior_out
    return emitted, over


@njit(cache=True, nogil=True, fastmath=_LOOSE)
def sweep(
    paths,
    codes,
    ends,
    groups,
    n_states,
    n_into,
    n_from,
    n_emit,
    n_visits,
    n_out,
    priors,
    uniforms,
):
    """Draw the state of every place once; returns how many changed.

    Weights are computed from the counts with this place; the few that differ without it are corrected. Most
    states stay: the weight of the old one is compared first.

    Parameters
    ----------
    paths, codes, ends, groups, n_states, n_into, n_from, n_emit, n_visits, n_out : see `tally`; changed
    priors : (3,)
        Pseudo-counts of each initial state, of each symbol and the end, and of each transition.
    uniforms : (position + sequence,)
    """
    k, width, n_symbols, n_groups = n_states, n_emit.shape[1], len(n_emit) - 1, len(n_out)
    tied = n_groups == 1 and n_symbols > 1
    initial_prior, emit_prior, transition_prior = priors[0], priors[1], priors[2]
    prior_visits = emit_prior * np.float32(n_symbols + 1)
    prior_out = transition_prior * np.float32(k)
    emitted, over = _factors(groups, k, n_emit, n_visits, n_out, priors, tied)
    last = n_groups * k  # the row of initial states, and of ends
    weights = np.zeros(width, np.float32)
    changed = 0
    for sequence in range(len(ends) - 1):
        base, length = ends[sequence] + sequence, ends[sequence + 1] - ends[sequence]
        before, h = -1, -1
        for t in range(length + 1):
            old = paths[base + t]
            into, into_prior = (h * k + before, transition_prior) if t else (last, initial_prior)
            symbol, g, after, out, out_prior, kind = n_symbols, -2, -1, last, _NONE, 0
            if t < length:
                symbol = codes[base + t - sequence]
                g, after = groups[symbol], paths[base + t + 1]
                out, out_prior, kind = g * k + after, transition_prior, 1
            total = _NONE
            for q in range(width):
                weight = (
                    (n_into[into, q] + into_prior)
                    * (n_from[out, q] + out_prior)
                    * (emitted[symbol, q] * over[kind, q])
                )
                weights[q] = weight
                total += weight
            # The old state without this place.
            reached = n_into[into, old] + into_prior - _ONE
            stays = (n_emit[symbol, old] + emit_prior - _ONE) / (
                n_visits[old] + prior_visits - _ONE
            )
            if kind:
                stays *= (n_from[out, old] + transition_prior - _ONE) / (
                    n_out[g, old] + prior_out - _ONE
                )
            if g == h:
                # The transition into this place and that out of it count in the same table.
                if old == before:
                    if old == after:
                        reached -= _ONE
                    else:
                        with_it = n_into[into, after] + transition_prior
                        total -= weights[after] / with_it
                        weights[after] *= (with_it - _ONE) / with_it
                elif (old == after) != (before == after):
                    more = _ONE if before == after else -_ONE
                    with_it = n_from[out, before] + transition_prior
                    total += weights[before] / with_it * more
                    weights[before] *= (with_it + more) / with_it
            stays *= reached
            total += stays - weights[old]
            remaining = uniforms[base + t] * total - stays
            if remaining >= _NONE:
                weights[old] = _NONE
                new = old
                for q in range(k):
                    remaining -= weights[q]
                    if remaining <= _NONE and weights[q] > _NONE:
                        new = q
                        break
                if new != old:
                    changed += 1
                    paths[base + t] = new
                    n_into[into, old] -= _ONE
                    n_into[into, new] += _ONE
                    if t:
                        n_from[h * k + old, before] -= _ONE
                        n_from[h * k + new, before] += _ONE
                    n_emit[symbol, old] -= _ONE
                    n_emit[symbol, new] += _ONE
                    n_visits[old] -= _ONE
                    n_visits[new] += _ONE
                    if kind:
                        n_from[out, old] -= _ONE
                        n_from[out, new] += _ONE
                        n_into[g * k + old, after] -= _ONE
                        n_into[g * k + new, after] += _ONE
                        n_out[g, old] -= _ONE
                        n_out[g, new] += _ONE
                    for which in range(2):
                        q = new if which else old
                        factor = n_emit[symbol, q] + emit_prior
                        over[0, q] = _ONE / (n_visits[q] + prior_visits)
                        over[1, q] = over[0, q]
                        if tied:
                            over[1, q] = over[0, q] / (n_out[0, q] + prior_out)
                        elif kind:
                            factor /= n_out[g, q] + prior_out
                        emitted[symbol, q] = factor
                    old = new
            before, h = old, g
    return changed


@njit(cache=True, nogil=True, fastmath=_LOOSE)
def _filtered(emit, onwards, k, codes, first, start, length, groups, weights, forward):
    """Fill the beliefs of a sequence from a place on; returns how many rows of transitions were added."""
    n_symbols, width, n_rows = len(emit) - 1, len(weights), 0
    for t in range(start, length):
        for r in range(width):
            forward[t + 1, r] = _NONE
        code = codes[first + t]
        low, high = (code, code + 1) if code >= 0 else (0, n_symbols)
        for symbol in range(low, high):
            total = _NONE
            for q in range(width):
                weights[q] = forward[t, q] * emit[symbol, q]
                total += weights[q]
            least = total * SKIPPED
            for q in range(k):
                weight = weights[q]
                if weight > least:
                    n_rows += 1
                    row = groups[symbol] * k + q
                    for r in range(width):
                        forward[t + 1, r] += weight * onwards[row, r]
        total = _NONE
        for r in range(width):
            total += forward[t + 1, r]
        if total > np.float32(1e-30):
            scale = _ONE / total
            for r in range(width):
                forward[t + 1, r] *= scale
        else:
            for r in range(k):
                forward[t + 1, r] = _ONE / np.float32(k)
    return n_rows


@njit(cache=True, nogil=True, fastmath=_LOOSE)
def _drawn_back(
    emit, backwards, k, codes, first, length, groups, uniforms, base, weights, forward, paths
):
    """Draw the path of a sequence from its end, given its beliefs."""
    n_symbols, width = len(emit) - 1, len(weights)
    after = 0
    for t in range(length, -1, -1):
        code = codes[first + t] if t < length else n_symbols
        total = _NONE
        if code == n_symbols:
            for q in range(width):
                weights[q] = forward[t, q] * emit[code, q]
                total += weights[q]
        elif code >= 0:
            row = groups[code] * k + after
            for q in range(width):
                weights[q] = forward[t, q] * emit[code, q] * backwards[row, q]
                total += weights[q]
        else:
            for q in range(width):
                weights[q] = _NONE
                for symbol in range(n_symbols):
                    row = groups[symbol] * k + after
                    weights[q] += forward[t, q] * emit[symbol, q] * backwards[row, q]
                total += weights[q]
        remaining = uniforms[base + t] * total
        after, largest = 0, _NONE
        for q in range(k):
            remaining -= weights[q]
            if weights[q] > largest:
                after, largest = q, weights[q]
            if remaining <= _NONE and weights[q] > _NONE:
                after = q
                break
        paths[base + t] = after


@njit(cache=True, nogil=True, fastmath=_LOOSE)
def draw_paths(
    initial,
    emit,
    onwards,
    backwards,
    n_states,
    codes,
    ends,
    groups,
    n_shared,
    uniforms,
    forward,
    paths,
):
    """Draw the path of every sequence given tables; returns how many rows of transitions were added.

    Parameters
    ----------
    initial : (state,)
    emit : (symbol + 1, state)
    onwards : (group * state, next state)
    backwards : (group * next state, state)  the same transitions
    n_states : int
    codes : (position,)  -1 is missing
    ends : (sequence + 1,)
    groups : (symbol,)
    n_shared : (sequence,)
        Length of the common prefix with the sequence before.
    uniforms : (position + sequence,)
    forward : (longest + 1, state)
        Work space: P(state | prefix) of the sequence at hand.
    paths : (position + sequence,)  filled
    """
    k, width = n_states, len(initial)
    weights = np.zeros(width, np.float32)
    n_rows = 0
    for q in range(width):
        forward[0, q] = initial[q]
    for sequence in range(len(ends) - 1):
        first, length = ends[sequence], ends[sequence + 1] - ends[sequence]
        base = first + sequence
        n_rows += _filtered(
            emit,
            onwards,
            k,
            codes,
            first,
            n_shared[sequence],
            length,
            groups,
            weights,
            forward,
        )
        _drawn_back(
            emit,
            backwards,
            k,
            codes,
            first,
            length,
            groups,
            uniforms,
            base,
            weights,
            forward,
            paths,
        )
    return n_rows


@njit(cache=True, nogil=True)
def draw_symbols(emit, backwards, n_states, groups, codes, ends, paths, uniforms, out):
    """Symbols; missing ones are drawn given the states before and after them."""
    k, n_symbols = n_states, len(emit) - 1
    weights = np.empty(n_symbols, np.float32)
    for sequence in range(len(ends) - 1):
        for place in range(ends[sequence], ends[sequence + 1]):
            out[place] = codes[place]
            if codes[place] < 0:
                q, r = paths[place + sequence], paths[place + sequence + 1]
                total = _NONE
                for symbol in range(n_symbols):
                    weights[symbol] = emit[symbol, q] * backwards[groups[symbol] * k + r, q]
                    total += weights[symbol]
                remaining = uniforms[place] * total
                out[place] = np.argmax(weights)
                for symbol in range(n_symbols):
                    remaining -= weights[symbol]
                    if remaining <= _NONE and weights[symbol] > _NONE:
                        out[place] = symbol
                        break
