"""Hidden Markov models of more states than symbols, from windows with longer pasts and futures.

What one symbol shows has no more dimensions than there are symbols; what several show has. Operators of rank
k are those of the states in an unknown basis: a step over symbol x is ``diag(P(x | state)) @ T``, so steps
without their common transitions share their eigenvectors, one for each state. States that show the same
symbols are not told apart by these; what can follow a beginning tells them apart: the beginnings whose
futures are most unlike each other stand for states.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.core.linalg.simplex import nearest_distributions
from tacit.sequences.learn.spectral.operators import leading_directions, spectral_operators
from tacit.sequences.model.chains import ChainTables, Operators
from tacit.sequences.moments.ngrams import TripleMoments
from tacit.sequences.moments.windows import WindowMoments

Array = NDArray[np.float64]

RIDGE = 1e-3  # of second moments of pasts and futures, before both are brought to a common scale
# States whose rows of emissions differ by less in sum are told apart by what follows them, not by emissions.
ALIKE = (0.0, 0.02, 0.2, 2.0)
_MIXTURES = 20  # of symbols, whose eigenvalues are looked at
_MOST_STRINGS = 400  # of one length that are followed
_LEAST_WINDOWS = 20.0  # of a beginning that is looked at


def enough_reach(n_states: int, n_symbols: int) -> int:
    """The fewest symbols of past and future whose indicators have as many dimensions as there are states."""
    return max(-(-(n_states - 1) // max(n_symbols - 1, 1)), 1)


def longer_triples(windows: WindowMoments, n_symbols: int) -> TripleMoments:
    """The same windows as three views: past, symbol and what comes after it.

    Views of past and future have several indicators that are one at a time, so their shares sum to more than
    one; nothing that is learnt from these moments minds.
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
    """Tables of hidden states, in several ways; with exact moments one of them is exact.

    The ways differ in which states are told apart by what they show, and which by what follows them.

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
    """Tables of hidden states whose operators these are, in several ways.

    Parameters
    ----------
    operators : Operators
        Of rank as many as there are states.
    n_windows : float
        That the operators were estimated from: what was met in few of them is not looked at.
    """
    steps = operators.steps  # (symbol, before, after)
    through = steps.sum(axis=0)
    shown = steps @ np.linalg.pinv(
        through, rcond=1e-9
    )  # eigenvectors: states, eigenvalues: emissions
    basis = _common_vectors(shown, operators.stop)
    beginnings = _beginnings(operators, _LEAST_WINDOWS / n_windows)
    found, groupings = [], set[tuple[tuple[int, ...], ...]]()
    for alike in ALIKE:
        groups = _groups(_emissions(basis, shown), alike)
        if groups in groupings:
            continue
        groupings.add(groups)
        found.append(_tables(_told_apart(basis, groups, beginnings), shown, operators))
    return found


def _common_vectors(shown: Array, stop: Array) -> Array:
    """(state, rank) states that keep their direction whatever is shown, each of value one."""
    best, widest = np.zeros((0, 0)), -1.0
    for draw in np.random.default_rng(0).normal(size=(_MIXTURES, len(shown))):
        values, vectors = np.linalg.eig(np.tensordot(draw, shown, axes=1).T)
        gaps = np.abs(values[:, None] - values)[~np.eye(len(values), dtype=bool)]
        gap = float(gaps.min(initial=1.0)) / max(float(np.abs(values).max()), 1e-300)
        if np.abs(values.imag).max(initial=0.0) == 0.0:
            gap += 1.0  # real ones are better than any others
        if gap > widest:
            # A pair of conjugate vectors spans two real directions.
            pairs = np.where(
                values.imag < 0, vectors.real - vectors.imag, vectors.real + vectors.imag
            )
            best, widest = pairs.T, gap
    worth = best @ stop
    small = np.abs(worth) < 1e-9 * np.abs(best).max(initial=0.0)
    return np.asarray(best / np.where(small, 1.0, worth)[:, None])


def _emissions(basis: Array, shown: Array) -> Array:
    """(state, symbol) the diagonals of what is shown, in the basis of states."""
    turned = basis @ shown @ np.linalg.pinv(basis)  # (symbol, state, state)
    places = np.arange(len(basis))
    return np.ascontiguousarray(turned[:, places, places].T)


def _groups(emissions: Array, alike: float) -> tuple[tuple[int, ...], ...]:
    """States in groups that chains of like rows of emissions join."""
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


def _beginnings(operators: Operators, least: float) -> Array:
    """(beginning, rank) states of value one after strings that are not too rare, from the mean state."""
    states, found = np.stack([operators.mean, operators.initial]), []
    shares = np.ones(len(states))
    for _ in range(operators.rank):
        found.append(states)
        after = np.einsum("sm,xmn->xsn", states, operators.steps).reshape(-1, operators.rank)
        worth = after @ operators.stop
        own = np.tile(shares, len(operators.steps)) * worth
        kept = np.argsort(-own, kind="stable")[:_MOST_STRINGS]
        kept = kept[(own[kept] > max(least, 1e-9)) & (worth[kept] > 1e-6)]
        states, shares = after[kept] / worth[kept, None], own[kept]
    return np.concatenate(found)


def _told_apart(basis: Array, groups: tuple[tuple[int, ...], ...], beginnings: Array) -> Array:
    """The basis with each group's vectors replaced by beginnings that are most unlike each other."""
    places = beginnings @ np.linalg.pinv(basis)  # (beginning, state) weights
    out = basis.copy()
    for group in groups:
        own = places[:, group]
        mass = own.sum(axis=1)
        there = mass > 0.5
        if len(group) == 1 or not there.any():
            continue
        corners = _corners(own[there] / mass[there, None], len(group))
        out[list(group)] = corners @ basis[list(group)]
    return out


def _corners(points: Array, n: int) -> Array:
    """Some of the points: the longest, then each the farthest from the plane through those before."""
    left, chosen = points.copy(), list[int]()
    for _ in range(n):
        sizes = np.square(left).sum(axis=1)
        chosen.append(int(sizes.argmax()))
        axis = left[chosen[-1]] / np.sqrt(max(float(sizes.max()), 1e-300))
        left = left - np.outer(left @ axis, axis)
    return np.asarray(points[chosen])


def _tables(basis: Array, shown: Array, operators: Operators) -> ChainTables:
    inverse = np.linalg.pinv(basis)
    worth = operators.initial @ operators.stop
    initial = operators.initial @ inverse / (worth if abs(worth) > 1e-9 else 1.0)
    transitions = basis @ operators.steps.sum(axis=0) @ inverse
    rows = (initial[None], transitions, _emissions(basis, shown))
    initial, transitions, emit = (nearest_distributions(np.nan_to_num(each)) for each in rows)
    return ChainTables(initial[0], transitions, (emit,))
