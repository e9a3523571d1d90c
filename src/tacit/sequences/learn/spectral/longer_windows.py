"""Hidden Markov models of more states than symbols, from windows with longer pasts and futures.

Indicators of one symbol have no more dimensions than there are symbols; those of several have. Operators of
rank k are those of the states in an unknown basis: a step over symbol x is ``diag(P(x | state)) @ T``, so
steps without their common transitions share their eigenvectors, one for each state. These do not separate
states with the same emissions; futures of prefixes do: the prefixes whose futures differ most stand for
states.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.linalg.simplex import nearest_distributions
from tacit.sequences.learn.spectral.operators import leading_directions, spectral_operators
from tacit.sequences.model.chains import ChainTables, Operators
from tacit.sequences.moments.ngrams import TripleMoments
from tacit.sequences.moments.windows import WindowMoments

Array = NDArray[np.float64]

RIDGE = 1e-3  # of second moments of pasts and futures, before both are whitened
# States whose emissions differ by less in sum are separated by their futures, not by emissions.
ALIKE = (0.0, 0.02, 0.2, 2.0)
_MIXTURES = 20  # random mixtures of symbols, for eigenvectors
_EQUAL = 1e-9  # eigenvalues that differ by less, relative to the largest, are equal
_MOST_STRINGS = 400  # of one length that are extended
_LEAST_WINDOWS = 20.0  # of a prefix


def enough_reach(n_states: int, n_symbols: int) -> int:
    """The fewest symbols of past and future whose indicators have as many dimensions as there are states."""
    return max(-(-(n_states - 1) // max(n_symbols - 1, 1)), 1)


def longer_triples(windows: WindowMoments, n_symbols: int) -> TripleMoments:
    """The same windows as three views: past, symbol and what comes after it.

    Views of past and future have one indicator for each place, so their probabilities sum to more than one;
    nothing that is learnt from these moments depends on it.
    """
    n, total = n_symbols, float(windows.n_windows)
    triples = windows.triples.transpose(2, 0, 1) / total  # (past, symbol, beyond)
    return TripleMoments(
        windows.first[:n] / max(float(windows.n_firsts), 1.0),
        windows.past / total,
        triples[:, :, :n].sum(axis=2),
        triples.sum(axis=1),
        triples[:n].sum(axis=0),
        np.ascontiguousarray(triples),
        total,
    )


def longer_hmms(windows: WindowMoments, n_symbols: int, n_states: int) -> list[ChainTables]:
    """Candidate tables of hidden states; with exact moments one of them is exact.

    They differ in which states are separated by emissions, and which by their futures.

    Parameters
    ----------
    windows : WindowMoments
        Of indicators, see `tacit.sequences.moments.symbol_windows`.
    n_symbols : int
    n_states : int

    Raises
    ------
    RankError
        Past and future have fewer than `n_states` directions in common.
    """
    directions = leading_directions(windows, n_states, RIDGE)
    operators = spectral_operators(windows, directions, n_states, np.ones(n_symbols))
    return tables_of_operators(operators, float(windows.n_windows))


def tables_of_operators(operators: Operators, n_windows: float = np.inf) -> list[ChainTables]:
    """Candidate tables of hidden states that have these operators.

    Parameters
    ----------
    operators : Operators
        Of rank as many as there are states.
    n_windows : float
        That the operators were estimated from; prefixes that occur in few of them are left out.
    """
    steps = operators.steps  # (symbol, before, after)
    through = steps.sum(axis=0)
    scaled = steps @ np.linalg.pinv(
        through, rcond=1e-9
    )  # eigenvectors: states, eigenvalues: emissions
    basis = _common_vectors(scaled, operators.stop)
    prefixes = _prefix_states(operators, _LEAST_WINDOWS / n_windows)
    candidates, groupings = [], set[tuple[tuple[int, ...], ...]]()
    for alike in ALIKE:
        groups = _groups(_emissions(basis, scaled), alike)
        if groups in groupings:
            continue
        groupings.add(groups)
        candidates.append(_tables(_separated(basis, groups, prefixes), scaled, operators))
    return candidates


def _common_vectors(scaled: Array, stop: Array) -> Array:
    """(state, rank) common eigenvectors, each of value one."""
    best, widest = np.zeros((0, 0)), -1.0
    for draw in np.random.default_rng(0).normal(size=(_MIXTURES, len(scaled))):
        values, vectors = np.linalg.eig(np.tensordot(draw, scaled, axes=1).T)
        gaps = np.abs(values[:, None] - values)[~np.eye(len(values), dtype=bool)]
        gap = float(gaps.min(initial=1.0)) / max(float(np.abs(values).max()), 1e-300)
        if np.abs(values.imag).max(initial=0.0) == 0.0:
            gap += 1.0  # real ones are preferred
        if gap > widest:
            best, widest = _real_directions(values, vectors), gap
    worth = best @ stop
    small = np.abs(worth) < 1e-9 * np.abs(best).max(initial=0.0)
    return np.asarray(best / np.where(small, 1.0, worth)[:, None])


def _real_directions(values: NDArray[Any], vectors: NDArray[Any]) -> Array:
    """(vector, rank) real vectors with the span of eigenvectors.

    A pair of conjugate vectors spans two directions. Vectors of equal eigenvalues come out of the
    decomposition in any position, almost parallel ones too: they are made orthogonal.
    """
    out = np.where(values.imag < 0, vectors.real - vectors.imag, vectors.real + vectors.imag).T
    equal = np.abs(values[:, None] - values) <= _EQUAL * np.abs(values).max(initial=0.0)
    for group in {tuple(np.flatnonzero(row)) for row in equal}:
        if len(group) > 1:
            span = vectors[:, group]
            left = np.linalg.svd(np.concatenate([span.real, span.imag], axis=1))[0]
            out[list(group)] = left[:, : len(group)].T
    return np.asarray(out)


def _emissions(basis: Array, scaled: Array) -> Array:
    """(state, symbol) diagonals of the scaled steps in the basis of states."""
    turned = basis @ scaled @ np.linalg.pinv(basis)  # (symbol, state, state)
    places = np.arange(len(basis))
    return np.ascontiguousarray(turned[:, places, places].T)


def _groups(emissions: Array, alike: float) -> tuple[tuple[int, ...], ...]:
    """Connected components of states with similar emissions."""
    near = np.abs(emissions[:, None] - emissions).sum(axis=2) <= alike
    groups: list[tuple[int, ...]] = []
    left = set(range(len(emissions)))
    while left:
        group, new = set[int](), {min(left)}
        while new:
            group |= new
            new = {int(m) for h in new for m in np.flatnonzero(near[h])} - group
        groups.append(tuple(sorted(group)))
        left -= group
    return tuple(groups)


def _prefix_states(operators: Operators, least: float) -> Array:
    """(prefix, rank) states of value one after strings that are not too rare, from the mean state."""
    states, prefixes = np.stack([operators.mean, operators.initial]), []
    probabilities = np.ones(len(states))
    for _ in range(operators.rank):
        prefixes.append(states)
        after = np.einsum("sm,xmn->xsn", states, operators.steps).reshape(-1, operators.rank)
        values = after @ operators.stop
        after_probabilities = np.tile(probabilities, len(operators.steps)) * values
        chosen = np.argsort(-after_probabilities, kind="stable")[:_MOST_STRINGS]
        chosen = chosen[(after_probabilities[chosen] > max(least, 1e-9)) & (values[chosen] > 1e-6)]
        states, probabilities = after[chosen] / values[chosen, None], after_probabilities[chosen]
    return np.concatenate(prefixes)


def _separated(basis: Array, groups: tuple[tuple[int, ...], ...], prefixes: Array) -> Array:
    """The basis with each group's vectors replaced by the prefixes that differ most."""
    places = prefixes @ np.linalg.pinv(basis)  # (prefix, state) weights
    out = basis.copy()
    for group in groups:
        weights = places[:, group]
        mass = weights.sum(axis=1)
        inside = mass > 0.5
        if len(group) == 1 or not inside.any():
            continue
        corners = _corners(weights[inside] / mass[inside, None], len(group))
        out[list(group)] = corners @ basis[list(group)]
    return out


def _corners(points: Array, n: int) -> Array:
    """The longest point, then each the farthest from the plane through those before."""
    left, chosen = points.copy(), list[int]()
    for _ in range(n):
        sizes = np.square(left).sum(axis=1)
        chosen.append(int(sizes.argmax()))
        axis = left[chosen[-1]] / np.sqrt(max(float(sizes.max()), 1e-300))
        left = left - np.outer(left @ axis, axis)
    return np.asarray(points[chosen])


def _tables(basis: Array, scaled: Array, operators: Operators) -> ChainTables:
    inverse = np.linalg.pinv(basis)
    worth = operators.initial @ operators.stop
    initial = operators.initial @ inverse / (worth if abs(worth) > 1e-9 else 1.0)
    transitions = basis @ operators.steps.sum(axis=0) @ inverse
    rows = (initial[None], transitions, _emissions(basis, scaled))
    initial, transitions, emit = (nearest_distributions(np.nan_to_num(table)) for table in rows)
    return ChainTables(initial[0], transitions, (emit,))
