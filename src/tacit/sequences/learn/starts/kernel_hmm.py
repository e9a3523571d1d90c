"""A start for EM on sequences: positions are clustered by what came before and what comes after.

A hidden state is what past and future have in common (predictive states). Each number is represented by a few
smooth functions of its rank; running means of these over several spans, backwards and forwards in time,
stand for past and future. Their most correlated directions, or the running means themselves, are clustered,
and the tables counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tacit.core.linalg.kmeans import kmeans
from tacit.core.linalg.svd import stacked_svd
from tacit.sequences.model.chains import ChainTables

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

START_KINDS = ("canonical", "windows")
# Spans of the running means, and the number of functions of the rank, for each kind.
_SPANS = {"canonical": (1.0, 3.0, 10.0, 30.0), "windows": (3.0, 20.0)}
_FUNCTIONS = {"canonical": 4, "windows": 2}
_DIRECTIONS = 4
_RIDGE = 1e-2  # of the mean variance
_POSITIONS_FOR_CENTRES = 4000
_SWEEPS = 20
_TRIALS = 3


def position_features(values: Array, ends: Integers, kind: str) -> Array:
    """(position, feature) a summary of the past and future of each position.

    Parameters
    ----------
    values : (position, column)
        Numbers, NaN where they are missing.
    ends : (sequence + 1,)
    kind : {"canonical", "windows"}
        The most correlated directions of past and future; or both as they are.
    """
    waves = np.hstack([_rank_waves(column, _FUNCTIONS[kind]) for column in values.T])
    past = np.hstack([_running(waves, ends, span) for span in _SPANS[kind]])
    turned = _turned(ends)
    future = np.hstack([_running(waves[turned], ends, span)[turned] for span in _SPANS[kind]])
    if kind == "windows":
        together = np.hstack([past, future])
        spread = together.std(axis=0)
        return np.asarray((together - together.mean(axis=0)) / np.where(spread > 0, spread, 1.0))
    return _canonical(past, future, ends)


def _rank_waves(column: Array, n: int) -> Array:
    """Cosines of the rank of each number, of mean zero; zeros where it is missing."""
    observed = ~np.isnan(column)
    out = np.zeros((len(column), n))
    if not observed.any():
        return out
    known = np.sort(column[observed])
    below = np.searchsorted(known, column[observed], side="left")
    upto = np.searchsorted(known, column[observed], side="right")
    ranks = 0.5 * (below + upto) / len(known)
    waves = np.sqrt(2) * np.cos(np.pi * ranks[:, None] * np.arange(1, n + 1))
    out[observed] = waves - waves.mean(axis=0)
    return out


def _running(rows: Array, ends: Integers, span: float) -> Array:
    """Running means over each position and those before it, sequence by sequence."""
    from scipy.signal import lfilter

    keep = float(np.exp(-1 / span))
    out = np.empty_like(rows)
    for first, stop in pairwise(ends):
        out[first:stop] = lfilter([1 - keep], [1, -keep], rows[first:stop], axis=0)
    return out


def _turned(ends: Integers) -> Integers:
    """Positions with every sequence reversed; its own inverse."""
    n = int(ends[-1])
    lengths = np.diff(ends)
    return np.repeat(ends[:-1] + ends[1:] - 1, lengths) - np.arange(n)


def _canonical(past: Array, future: Array, ends: Integers) -> Array:
    """Past with the position, and future with it, in their most correlated directions, added."""
    n = int(ends[-1])
    has_next = np.ones(n, dtype=np.bool_)
    has_next[ends[1:][np.diff(ends) > 0] - 1] = False
    before = np.flatnonzero(has_next)
    past = past - past.mean(axis=0)
    future = future - future.mean(axis=0)
    if len(before) == 0:
        return np.asarray(past[:, :_DIRECTIONS])
    earlier, later = past[before], future[before + 1]
    left, right = _inverse_root(earlier), _inverse_root(later)
    u, sizes, v = stacked_svd(left @ (earlier.T @ later / len(before)) @ right)
    r = min(_DIRECTIONS, len(sizes))
    return np.asarray((past @ (left @ u[:, :r]) + future @ (right @ v[:r].T)) * sizes[:r])


def _inverse_root(rows: Array) -> Array:
    second = rows.T @ rows / len(rows)
    sizes, vectors = np.linalg.eigh(second)
    padded = np.maximum(sizes, 0.0) + (_RIDGE * float(np.mean(sizes)) or 1.0)
    return np.asarray((vectors / np.sqrt(padded)) @ vectors.T)


def clustered_chain(
    features: Array,
    likelihoods: Sequence[Array],
    missing: Sequence[NDArray[np.bool_]],
    ends: Integers,
    n_states: int,
    *,
    seed: int,
) -> ChainTables:
    """Tables counted from clusters of positions.

    Parameters
    ----------
    features : (position, feature)
        See `position_features`.
    likelihoods : per column (position, weight)
        Rows are normalised and summed to tables of each column's weights.
    missing : per column (position,)
    ends : (sequence + 1,)
    n_states : int
    seed : int
    """
    states = _clusters(features, n_states, np.random.default_rng(seed))
    transitions = np.ones((n_states, n_states))
    inner = np.ones(len(states), dtype=np.bool_)
    inner[ends[1:][np.diff(ends) > 0] - 1] = False
    before = np.flatnonzero(inner)
    np.add.at(transitions, (states[before], states[before + 1]), 1.0)
    firsts = states[ends[:-1][np.diff(ends) > 0]]
    initial = 0.5 + np.bincount(firsts, minlength=n_states)
    emit = []
    for rows, is_missing in zip(likelihoods, missing, strict=True):
        observed = np.flatnonzero(~is_missing & (rows.sum(axis=1) > 0))
        proportions = rows[observed] / rows[observed].sum(axis=1, keepdims=True)
        one_hot = np.eye(n_states)[states[observed]]
        counts = one_hot.T @ proportions
        counts += (
            proportions.mean(axis=0) if len(observed) else 1 / rows.shape[1]
        ) + 1e-3 / rows.shape[1]
        emit.append(counts / counts.sum(axis=1, keepdims=True))
    return ChainTables(
        initial / initial.sum(), transitions / transitions.sum(axis=1, keepdims=True), tuple(emit)
    )


def _clusters(features: Array, n_states: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """The cluster of each position, by k-means; the best of a few starts, in a canonical order."""
    rows = np.ascontiguousarray(features, dtype=np.float32)
    best, lowest = np.zeros(len(rows), dtype=np.int32), np.inf
    if len(rows) == 0 or n_states == 1:
        return best
    for _ in range(_TRIALS):
        labels, centres = kmeans(
            rows, n_states, rng, max_iter=_SWEEPS, n_candidates=_POSITIONS_FOR_CENTRES
        )
        spread = float(np.square(rows - centres[labels]).sum())
        if spread < lowest:
            best, lowest = labels, spread
    return best
