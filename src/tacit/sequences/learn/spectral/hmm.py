"""Hidden Markov models of symbols from moments of windows of three: operators, and tables by tensors.

Symbols are scaled by one over the roots of their frequencies before singular vectors are taken: sampling
errors then have the same size in every entry, and singular values of noise alone are below a known bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.linalg.simplex import nearest_distributions
from tacit.core.linalg.svd import stacked_svd
from tacit.core.linalg.three_views import middle_view
from tacit.errors import RankError
from tacit.sequences.model.chains import ChainTables, Operators
from tacit.sequences.moments.ngrams import Cells, TripleMoments

Array = NDArray[np.float64]

PSEUDO_WINDOWS = 5.0  # added to each symbol's count before scaling, for rare ones
_DENSE = 400  # symbols up to which all singular values are computed
_ZERO = 1e-10  # singular values below this fraction of the first are rounding errors
_NOISE = 1e-12


@dataclass(frozen=True, eq=False)
class Views:
    """The first and the last symbol of a window, projected to their most correlated directions."""

    first: Array  # (a, rank)  projection of the first symbol
    last: Array  # (c, rank)
    values: Array  # (rank + some,)  singular values of the scaled pairs, descending
    noise: float  # bound of the singular values of noise alone


def shared_views(moments: TripleMoments, rank: int) -> Views:
    """The directions of `rank` largest singular values of pairs with one symbol between them."""
    frequencies = moments.one, _sums(moments.pairs13, 0)
    first, last = (_scale(frequency, moments) for frequency in frequencies)
    left, values, right = _leading(_scaled(first, moments.pairs13, last), rank)
    met = [int((frequency > 0).sum()) for frequency in frequencies]
    noise = (np.sqrt(met[0]) + np.sqrt(met[1])) / np.sqrt(moments.n_windows)
    return Views(
        first[:, None] * left[:, :rank], last[:, None] * right[:rank].T, values, float(noise)
    )


def supported_states(moments: TripleMoments, most: int) -> int:
    """The number of singular values of pairs above the noise of counting; at least one.

    Entries of the scaled pairs have errors of variance one over the number of windows, whose largest
    singular value is about the sum of the roots of both sides, divided by the root of that number.
    """
    views = shared_views(moments, most)
    floor = max(views.noise, _ZERO * float(views.values[0]))
    return max(int((views.values[:most] > floor).sum()), 1)


def spectral_hmm(moments: TripleMoments, rank: int, *, scaled: bool = True) -> Operators:
    """Operators of an HMM: Hsu, Kakade and Zhang (2012), algorithm LearnHMM, with windows of all positions.

    Pairs and triples are of the same windows; only the first state uses the first symbols of sequences.

    Parameters
    ----------
    moments : TripleMoments
    rank : int
    scaled : bool
        Whether symbols are scaled by one over the roots of their frequencies; without, as printed, and
        singular vectors are exact, however many symbols there are.

    Raises
    ------
    RankError
        If the pairs of neighbours have fewer singular values than `rank` that are not zero.
    """
    before = now = np.ones(len(moments.one))
    if scaled:
        before, now = _scale(moments.one, moments), _scale(_sums(moments.pairs12, 0), moments)
    pairs = _scaled(now, moments.pairs12.T, before)
    left, values, right = _leading(pairs, rank) if scaled else _exact(pairs, rank)
    usable = int((values > _ZERO * values[0]).sum())
    _check_rank(rank, usable, "rank")
    u = now[:, None] * left[:, :rank]  # (b, m)
    inverse = before[:, None] * right[:rank].T / values[:rank]  # (a, n)   (u' P21)^+
    steps = moments.between(inverse, u)  # (symbol, n, m)
    return Operators.of_steps(u.T @ moments.first, steps, inverse.T @ moments.one)


def pair_values(moments: TripleMoments, most: int) -> Array:
    """The largest singular values of the pairs of neighbours as they are."""
    return _exact(moments.pairs12, most)[1][:most]


def _check_rank(requested: int, usable: int, name: str) -> None:
    if requested > usable:
        raise RankError(
            f"{name}={requested} requested, but the pairs of symbols have only {usable} non-zero singular "
            f"values; give {usable} or fewer, features of longer windows, or more data"
        )


def tensor_emissions(moments: TripleMoments, n_states: int) -> Array:
    """(state, symbol) emission probabilities, by whitening and joint diagonalisation of the triples.

    The views of the first and last symbol are turned to that of the middle one (Anandkumar, Hsu and Kakade
    2012); the whitened third moments are then diagonal in one basis. Rows are the nearest distributions.
    """
    views = shared_views(moments, n_states)
    usable = int((views.values > _ZERO * views.values[0]).sum())
    _check_rank(n_states, min(usable, moments.pairs12.shape[1]), "n_states")
    one, three = views.first, views.last
    scale = _scale(_sums(moments.pairs12, 0), moments)
    sides = np.hstack([moments.pairs12.T @ one, moments.pairs23 @ three])  # (b, 2 k)
    basis = stacked_svd(scale[:, None] * sides)[0][:, :n_states]
    two = scale[:, None] * basis
    t12 = one.T @ (moments.pairs12 @ two)
    t23 = two.T @ (moments.pairs23 @ three)
    t13 = one.T @ (moments.pairs13 @ three)

    def triples(from_first: Array, from_last: Array) -> Array:
        return moments.contracted(one @ from_first.T, two, three @ from_last.T)

    columns = basis @ middle_view(t12, t13, t23, triples) / scale[:, None]  # (symbol, state)
    with np.errstate(divide="ignore", invalid="ignore"):
        return nearest_distributions((columns / columns.sum(axis=0)).T)


def tensor_hmm(
    moments: TripleMoments,
    n_states: int,
    *,
    pairs: Any = None,
    firsts: NDArray[Any] | None = None,
    n_steps: int = 200,
) -> ChainTables:
    """Tables of an HMM: emissions by tensors, then the chain by maximum likelihood with these.

    Parameters
    ----------
    moments : TripleMoments
    n_states : int
    pairs : Cells or (a, b), optional
        Frequencies or counts of all pairs of neighbours; those of the windows by default.
    firsts : (a,), optional
        Frequencies or counts of first symbols; those of the moments by default.
    n_steps : int
        Most steps of the maximum likelihood, which is convex.

    Raises
    ------
    RankError
        If the pairs of symbols do not have so many singular values.
    """
    emit = tensor_emissions(moments, n_states)
    chosen = moments.pairs12 if pairs is None else pairs
    if isinstance(chosen, Cells):
        chosen = chosen.marginal(0, 1)
    first = moments.first if firsts is None else firsts
    floor = 1.0 / np.sqrt(moments.n_windows)
    return fitted_transitions(emit, chosen, first, floor=floor, n_steps=n_steps)


def fitted_transitions(
    emit: Array, pairs: Any, first: NDArray[Any], *, floor: float = 0.0, n_steps: int = 200
) -> ChainTables:
    """Transition and initial probabilities of highest likelihood given emissions.

    The joint table of two neighbouring states is a mixture's weights: its likelihood is concave. EM
    starts from the solution of the linear equations, which is exact for exact pairs.

    Parameters
    ----------
    emit : (state, symbol)
    pairs : (a, b)
        Frequencies or counts of neighbours.
    first : (a,)
        Frequencies or counts of first symbols.
    floor : float
        Uniform part of the first guess.
    n_steps : int
    """
    k = len(emit)
    inverse = np.linalg.pinv(emit.T)  # (state, symbol)
    joint = inverse @ (pairs @ inverse.T) / pairs.sum()
    joint = _weights(pairs, emit, emit, _mended(joint, floor), n_steps)
    mass = joint.sum(axis=1)
    empty = mass <= 0
    transitions = np.where(empty[:, None], 1.0 / k, joint / np.where(empty, 1.0, mass)[:, None])
    begun = _mended((inverse @ first)[:, None], floor)
    ones = np.ones((1, 1))
    initial = _weights(first[:, None], emit, ones, begun, n_steps)[:, 0]
    return ChainTables(initial, transitions, (emit,))


def _mended(weights: Array, floor: float) -> Array:
    """Weights made non-negative, normalised, and mixed with uniform ones."""
    positive = np.maximum(np.where(np.isfinite(weights), weights, 0.0), 0.0)
    total = positive.sum()
    even = np.full(weights.shape, 1.0 / weights.size)
    return np.asarray((1 - floor) * positive / total + floor * even if total > 0 else even)


def _weights(pairs: Any, first: Array, second: Array, guess: Array, n_steps: int) -> Array:
    """Weights of pairs of states of highest likelihood, by EM from a guess."""
    from scipy.sparse import csr_array

    from tacit.sequences.loops.hmm import expect_pairs

    rows = csr_array(pairs)
    total = float(rows.data.sum())
    if total <= 0:
        return guess
    weights = rows.data / total
    emitted = np.ascontiguousarray(first.T), np.ascontiguousarray(second.T)
    joint, counts, before = guess, np.empty_like(guess), -np.inf
    for _ in range(n_steps):
        log = expect_pairs(rows.indptr, rows.indices, weights, *emitted, joint, counts)
        reached = counts.sum()
        if not reached > 0:
            return guess  # no state emits what was observed
        joint = counts / reached
        if log - before < _NOISE:
            break
        before = log
    return joint


def split_states(
    tables: ChainTables, n_states: int, rng: np.random.Generator, *, spread: float = 0.5
) -> ChainTables:
    """More states: perturbed copies of those that are visited most.

    The states to copy are drawn by how often they are visited; then every entry is multiplied by the
    exponential of a normal number of deviation `spread`.
    """
    k = tables.n_states
    if n_states <= k:
        return tables
    parents = np.concatenate([np.arange(k), rng.choice(k, n_states - k, p=tables.stationary)])
    copies = np.bincount(parents, minlength=k)[parents]

    def shaken(rows: Array) -> Array:
        made = rows * np.exp(spread * rng.normal(size=rows.shape))
        return np.asarray(made / made.sum(axis=-1, keepdims=True))

    transitions = tables.transitions[np.ix_(parents, parents)] / copies
    initial = tables.initial[parents] / copies
    emit = tuple(shaken(rows[parents]) for rows in tables.emit)
    return ChainTables(initial / initial.sum(), shaken(transitions), emit)


def _scale(frequencies: Array, moments: TripleMoments) -> Array:
    """One over the root of each symbol's frequency; 1 for a symbol that was not observed."""
    padded = frequencies + PSEUDO_WINDOWS / moments.n_windows
    return np.asarray(1 / np.sqrt(np.where(padded > 0, padded, 1.0)))


def _sums(pairs: Any, axis: int) -> Array:
    return np.asarray(pairs.sum(axis=axis)).ravel()


def _scaled(rows: Array, pairs: Any, columns: Array) -> Any:
    if isinstance(pairs, np.ndarray):
        return rows[:, None] * pairs * columns
    return pairs.multiply(rows[:, None]).multiply(columns[None, :]).tocsr()


def _leading(matrix: Any, rank: int) -> tuple[Array, Array, Array]:
    """Singular vectors and values; of large matrices only the leading ones, by powers of the matrix."""
    if matrix.shape[0] <= _DENSE:
        dense = matrix if isinstance(matrix, np.ndarray) else matrix.toarray()
        left, values, right = stacked_svd(dense)
        return left, values, right
    width = min(2 * rank + 10, matrix.shape[0])
    block = np.random.default_rng(0).normal(size=(matrix.shape[1], width))
    for _ in range(6):
        block = np.linalg.qr(matrix @ block)[0]
        block = np.linalg.qr(matrix.T @ block)[0]
    left, values, right = stacked_svd(matrix @ block)
    return left, values, right @ block.T


def _exact(matrix: Any, rank: int) -> tuple[Array, Array, Array]:
    """Singular vectors and values to machine precision; of large sparse matrices only the leading ones."""
    from scipy.sparse.linalg import svds

    size = min(matrix.shape)
    if size <= _DENSE or 3 * rank > size:
        dense = matrix if isinstance(matrix, np.ndarray) else matrix.toarray()
        left, values, right = stacked_svd(dense)
        return left, values, right
    start = np.full(size, size**-0.5)
    factors: Any = svds(matrix, rank, v0=start, tol=0)  # ascending
    left, values, right = factors
    return left[:, ::-1], values[::-1], right[::-1]
