"""Starts for chains with emissions of any kind: posteriors of the states at all positions before EM."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tacit.core.linalg.cells import cells_of
from tacit.sequences.learn.em.emission_chain import ChainData, start_chain
from tacit.sequences.learn.starts.gaussian_hmm import neighbours
from tacit.sequences.model.emission_chain import EmissionChain
from tacit.sequences.model.shapes import Shape

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
Codes = NDArray[np.integer]

_SWEEPS = 20  # of swaps of states
_SMOOTH = 0.5  # added to counts of pairs before they are compared


def by_clusters(
    data: ChainData, rng: np.random.Generator, *, beside: bool = False
) -> EmissionChain:
    """States from clusters of rows, or of rows together with their neighbours."""
    features, k = data.rows.features, data.shape.n_states
    if beside:
        is_missing = np.isnan(features).all(axis=1)
        features = np.hstack([features, neighbours(features, data.ends)])
        features[is_missing] = np.nan
    return _of_codes(data, cells_of(features, k, rng), even=not beside)


def by_rows(data: ChainData, rng: np.random.Generator) -> EmissionChain:
    """States of the rows that are nearest to randomly chosen rows; half of the transitions at random."""
    from tacit.core.linalg.kmeans import nearest_centres

    features, k = data.rows.features, data.shape.n_states
    is_missing = np.isnan(features).all(axis=1)
    filled = np.nan_to_num(features, nan=0.0).astype(np.float32)
    known = np.flatnonzero(~is_missing)
    chosen = filled[rng.choice(known, k, replace=len(known) < k)]
    codes = nearest_centres(filled, chosen).astype(np.int64)
    codes[is_missing] = -1
    transitions = 0.5 * np.eye(k) + 0.5 * rng.dirichlet(np.ones(k), k)
    return start_chain(data, posterior_of(codes, k), transitions)


def by_segments(data: ChainData) -> EmissionChain:
    """States from equal parts of each sequence in turn, for chains that run through their states."""
    k = data.shape.n_states
    codes = np.concatenate(
        [np.zeros(0, np.int64)]
        + [
            np.arange(stop - first) * k // max(stop - first, 1)
            for first, stop in pairwise(data.ends)
        ]
    )
    return start_chain(data, posterior_of(codes, k), transition_counts(codes, data.ends, k))


def by_known_states(data: ChainData, rng: np.random.Generator) -> EmissionChain:
    """States from the positions where they are known; the others from clusters of the rest."""
    known, k = data.known, data.shape.n_states
    assert known is not None
    codes = np.array(known, dtype=np.int64)
    missing = np.setdiff1d(np.arange(k), codes)
    if len(missing):
        places = np.flatnonzero(codes < 0)
        features = data.rows.features[places]
        if len(places) and not np.isnan(features).all():
            clusters = cells_of(features, len(missing), rng)
            codes[places] = np.where(clusters >= 0, missing[clusters], -1)
    posterior = np.eye(k)[codes]
    posterior[codes < 0] = 1e-3 / k
    pairs = transition_counts(np.asarray(known), data.ends, k) + 0.5 * np.eye(k) + 0.5 / k
    return start_chain(data, posterior, pairs / pairs.sum(axis=1, keepdims=True))


def of_posterior(
    data: ChainData, posterior: Array, transitions: Array, initial: Array
) -> EmissionChain:
    """Of posteriors and tables of a chain without restrictions; states in the order that fits best."""
    if not data.shape.transitions.all() or not data.shape.initial.all():
        visits = posterior.sum(axis=0)
        order = best_order(visits[:, None] * transitions, initial, data.shape)
        posterior, initial = posterior[:, order], initial[order]
        transitions = transitions[np.ix_(order, order)]
    return start_chain(data, posterior, transitions, initial)


def _of_codes(data: ChainData, codes: Codes, *, even: bool) -> EmissionChain:
    k, shape = data.shape.n_states, data.shape
    pairs = transition_counts(codes, data.ends, k)
    posterior = posterior_of(codes, k)
    if not shape.transitions.all() or not shape.initial.all():
        firsts = codes[data.ends[:-1][np.diff(data.ends) > 0]]
        initial = np.bincount(firsts[firsts >= 0], minlength=k).astype(np.float64)
        order = best_order(pairs, initial, shape)
        posterior, pairs = posterior[:, order], pairs[np.ix_(order, order)]
    if even:
        return start_chain(data, posterior)
    pairs += _SMOOTH
    return start_chain(data, posterior, pairs / pairs.sum(axis=1, keepdims=True))


def posterior_of(codes: Codes, n_states: int) -> Array:
    """(position, state) one for the code; even where there is none, below zero."""
    posterior = np.eye(n_states)[codes]
    posterior[codes < 0] = 1 / n_states
    return posterior


def transition_counts(codes: Codes, ends: Integers, n_states: int) -> Array:
    """(state, next state) pairs of neighbouring positions of the same sequence."""
    later = np.ones(len(codes), dtype=bool)  # not the first of a sequence
    later[ends[:-1][np.diff(ends) > 0]] = False
    second = np.flatnonzero(later)
    before, after = codes[second - 1], codes[second]
    both = (before >= 0) & (after >= 0)
    pairs = before[both] * n_states + after[both]
    return np.bincount(pairs, minlength=n_states**2).reshape(n_states, -1).astype(np.float64)


def best_order(pairs: Array, initial: Array, shape: Shape) -> Integers:
    """The order of states in which most pairs are possible: swaps of two as long as these gain.

    Parameters
    ----------
    pairs : (state, next state)
        Counts of transitions, in any order of states.
    initial : (state,)
        Counts of first states.
    shape : Shape
    """
    k = len(pairs)
    ahead = pairs - pairs.T  # states that are seldom returned to come first, to begin with
    order = np.argsort(-np.sign(ahead).sum(axis=1), kind="stable")
    weights = shape.transitions.astype(np.float64)
    firsts = shape.initial * (pairs.sum() / max(initial.sum(), 1.0)) ** 0.5

    def value(states: Integers) -> float:
        return float((pairs[np.ix_(states, states)] * weights).sum() + initial[states] @ firsts)

    best = value(order)
    for _ in range(_SWEEPS):
        before = best
        for one in range(k):
            for other in range(one + 1, k):
                trial = order.copy()
                trial[[one, other]] = trial[[other, one]]
                if (score := value(trial)) > best:
                    order, best = trial, score
        if best == before:
            break
    return order
