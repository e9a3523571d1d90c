"""Distances between variables in the tree that generated them, from their covariances.

A tree metric is a dependence that multiplies along paths: its negative logarithm is a length that adds up,
so that a tree can be found from the distances of all pairs (`structure.neighbour_joining`). Every metric here
takes the same last step, `covariance_distances`, from covariances of features: indicators of categories,
one number, or the features of a kernel.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ArgumentError, DataError

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

# Chance that any pair of independent variables passes for dependent, all pairs together.
_LEVEL = 0.05
# Where covariances are exact nothing is noise but rounding.
_LEAST = 1e-12
_BLOCK = 1_000_000  # entries


@dataclass(frozen=True, eq=False)
class Distances:
    """Distances between all pairs of variables, and which of them the data support."""

    values: Array  # (i, j)  symmetric, finite, not negative, zero on the diagonal
    supported: Flags  # (i, j)  False where the pair could be independent


def covariance_distances(
    covariance: Array, sizes: Sequence[int], n_rows: float | Array, n_values: int | None = None
) -> Distances:
    """Distances between variables from the covariances of their features.

    With ``n_values=None`` the dependence of two variables is the size (Frobenius norm) of their
    cross-covariance, ``|C_ij|² / (|C_ii| |C_jj|)``, minus the noise in the square, and the distance half
    of its negative logarithm. It
    adds up along paths if all hidden variables have two states, or everything is Gaussian with one number
    each; otherwise nearly so, far pairs being ruled by their largest singular value. With a number it is
    the product of that many singular values (thesis, equation 6.18): ``- log s(C_ij) + log s(C_ii) / 2 +
    log s(C_jj) / 2``, summed over the largest ones. That adds up exactly if all hidden variables have one
    state more than this number.

    A dependence counts as supported if its size is beyond what independent variables would show, with a
    chance of 5 % that any one of all pairs does so by accident; and, with a number, if the last singular
    value counted is at least twice the noise. Between blocks of variables without supported pairs, one
    pair (the strongest) counts as supported too if the blocks depend on each other as a whole. No factor
    counts as less than its noise in one direction, ``1 / sqrt(n_rows)`` or (sizes of more than one number
    each) somewhat less, so that distances have a ceiling: half the logarithm of the largest number of
    rows, times `n_values`, or somewhat more. A pair that has fewer rows than others, and is not
    supported, is put where so weak a finding would be with as many rows as the others have.

    Parameters
    ----------
    covariance : array (feature of all, feature of all)
        Block (i, j) is the cross-covariance of variables i and j, centred; block (i, i) that of i itself.
    sizes : sequence of int
        Number of features of each variable.
    n_rows : float or array (i, j)
        Number of rows behind each block; `math.inf` where they are exact.
    n_values : int, optional
        How many singular values of each block count.

    Examples
    --------
    >>> correlation = np.array([[1.0, 0.5, 0.25], [0.5, 1.0, 0.5], [0.25, 0.5, 1.0]])
    >>> covariance_distances(correlation, [1, 1, 1], n_rows=math.inf).values
    array([[0.        , 0.69314718, 1.38629436],
           [0.69314718, 0.        , 0.69314718],
           [1.38629436, 0.69314718, 0.        ]])
    """
    n = len(sizes)
    if covariance.shape != (sum(sizes), sum(sizes)):
        raise ArgumentError(
            f"covariances of {sum(sizes)} features are needed, not {covariance.shape}"
        )
    if n == 0:
        return Distances(np.zeros((0, 0)), np.zeros((0, 0), dtype=np.bool_))
    rows = np.broadcast_to(np.asarray(n_rows, dtype=np.float64), (n, n))
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    spread = np.add.reduceat(covariance.diagonal(), starts)  # (variable,) trace of its own block
    norms = _block_norms(covariance, starts)
    size = norms.diagonal()
    with np.errstate(divide="ignore", invalid="ignore"):  # of constants
        supported = _dependent(norms, spread, rows)
        if n_values is None:
            freedom = _freedom(size, spread)
            factors = _sizes_without_noise(norms, spread, freedom, rows)[..., None]
            noise = freedom**-0.25  # of a factor, in units of 1 / sqrt(n_rows)
        else:
            values = block_singular_values(covariance, starts, sizes, n_values)  # (i, j, value)
            scales = np.sqrt(values[np.arange(n), np.arange(n)])
            factors = values / (scales[:, None] * scales)
            noise = np.ones((n, n))
        supported &= factors[..., -1] > 2 * np.maximum(noise / np.sqrt(rows), _LEAST)
        factors = np.where(supported[..., None], factors, factors * _fewer(rows)[..., None])
    least = np.maximum(noise / math.sqrt(max(rows.max(), 1.0)), _LEAST)
    least = np.where(np.isfinite(least), least, max(1 / math.sqrt(max(rows.max(), 1.0)), _LEAST))
    factors = np.where(np.isfinite(factors), factors, 0.0)
    factors = np.maximum(factors, least[..., None])
    distances = np.maximum(-np.log(factors).sum(axis=2), 0.0)
    # The upper triangle counts: rounding shall not make the two sides differ.
    upper, upper_supported = np.triu(distances, k=1), np.triu(supported, k=1)
    everywhere = upper_supported | upper_supported.T | np.eye(n, dtype=np.bool_)
    return Distances(upper + upper.T, _with_links(everywhere, norms, spread, rows))


def _dependent(norms: Array, spread: Array, rows: Array) -> Flags:
    """(i, j) Whether covariances are larger than those of independent variables would be.

    Of an independent pair, ``n_rows |C_ij|² / (trace C_ii trace C_jj)`` is about chi-square over its degrees
    of freedom (Satterthwaite 1946).
    """
    size = norms.diagonal()
    n_pairs = max(len(size) * (len(size) - 1) / 2, 1)
    freedom = _freedom(size, spread)
    ratio = rows * norms**2 / np.multiply.outer(spread, spread)
    return np.asarray(ratio > _chi_square_limit(freedom, _LEVEL / n_pairs))


def _with_links(supported: Flags, norms: Array, spread: Array, rows: Array) -> Flags:
    """(i, j) With a pair more between blocks of variables that depend on each other only when taken together.

    Many weak dependences, none of which can be told from chance, can be told from it together: the test is
    the same with all features of a block for those of one variable. The strongest pair then speaks for all.
    """
    from scipy.sparse.csgraph import connected_components

    scale = np.sqrt(np.where(spread > 0, spread, np.inf))
    norms = norms / np.multiply.outer(scale, scale)
    supported = supported.copy()
    while not np.isinf(rows).any():  # exact covariances need no test
        n_blocks, label = connected_components(supported, directed=False)
        member = (label[:, None] == np.arange(n_blocks)).astype(np.float64)  # (variable, block)
        among = np.sqrt(member.T @ norms**2 @ member)
        per_block = member.T @ (spread > 0).astype(np.float64)
        n_members = member.sum(axis=0)
        between = member.T @ rows @ member / np.multiply.outer(n_members, n_members)
        with np.errstate(divide="ignore", invalid="ignore"):  # of constants
            linked = np.triu(_dependent(among, per_block, between), k=1)
        linked &= np.maximum.outer(n_members, n_members) > 1  # single variables were judged before
        if not linked.any():
            return supported
        for one, other in np.argwhere(linked):
            ours, theirs = np.flatnonzero(label == one), np.flatnonzero(label == other)
            block = norms[np.ix_(ours, theirs)]
            i, j = np.unravel_index(np.argmax(block), block.shape)
            supported[ours[i], theirs[j]] = supported[theirs[j], ours[i]] = True
    return supported


def _freedom(size: Array, spread: Array) -> Array:
    """(i, j) In how many directions, about, an independent pair's covariance can be noise."""
    return np.asarray(np.multiply.outer(spread / size, spread / size) ** 2)


def _sizes_without_noise(norms: Array, spread: Array, freedom: Array, rows: Array) -> Array:
    """(i, j) Sizes of covariances in units of the variables' own, less what noise adds to them.

    Noise adds to the square of the size in every direction but that of the dependence itself. Left in, it
    makes far pairs look as near as all other far pairs, and the more so the more categories there are.
    """
    size = norms.diagonal()
    added = (1 - 1 / freedom) * np.multiply.outer(spread, spread) / rows
    return np.asarray(np.sqrt(np.maximum(norms**2 - added, 0.0) / np.multiply.outer(size, size)))


def _fewer(rows: Array) -> Array:
    """(i, j) The noise with the largest number of rows, in units of that with the pair's own number."""
    most = rows.max()
    return np.ones_like(rows) if np.isinf(most) else np.sqrt(rows / max(most, 1.0))


def _chi_square_limit(freedom: Array, chance: float) -> Array:
    """What a chi-square variable divided by its degrees of freedom exceeds with this chance.

    Wilson and Hilferty (1931): within a tenth for one degree of freedom, and better for more.
    """
    from scipy.special import ndtri

    part = 2 / (9 * freedom)
    return np.asarray((1 - part - ndtri(chance) * np.sqrt(part)) ** 3)


def _block_norms(covariance: Array, starts: NDArray[np.int64]) -> Array:
    """(i, j) Frobenius norms of all blocks."""
    by_column = np.empty((len(covariance), len(starts)))
    step = max(1, _BLOCK // len(covariance))
    for first in range(0, len(covariance), step):
        some = covariance[first : first + step]
        by_column[first : first + step] = np.add.reduceat(some * some, starts, axis=1)
    return np.asarray(np.sqrt(np.add.reduceat(by_column, starts, axis=0)))


def block_singular_values(
    covariance: Array, starts: NDArray[np.int64], sizes: Sequence[int], n_values: int
) -> Array:
    """(i, j, value) The largest singular values of all blocks with i <= j; zero where there are fewer.

    Parameters
    ----------
    covariance : array (feature of all, feature of all)
    starts : array (variable,)
        The first feature of each variable.
    sizes : sequence of int
        Number of features of each variable.
    n_values : int
    """
    n, widest = len(sizes), max(sizes)
    singular_values = np.zeros((n, n, n_values))
    n_kept = min(n_values, widest)
    # Every block is filled up with zeros, which adds zeros to its singular values.
    place = starts[:, None] + np.arange(widest)  # (variable, feature)
    absent = np.arange(widest) >= np.asarray(sizes)[:, None]
    place[absent] = 0
    step = max(1, _BLOCK // (widest * widest))
    first, second = np.triu_indices(n)
    for begin in range(0, len(first), step):
        i, j = first[begin : begin + step], second[begin : begin + step]
        blocks = covariance[place[i][:, :, None], place[j][:, None, :]]  # (pair, feature, feature)
        blocks[absent[i][:, :, None] | absent[j][:, None, :]] = 0.0
        singular_values[i, j, :n_kept] = np.linalg.svd(blocks, compute_uv=False)[:, :n_kept]
    return singular_values


def discrete_distances(
    counts: NDArray[np.number],
    cards: Sequence[int],
    n_states: int | None = None,
    n_rows: float | None = None,
) -> Distances:
    """Distances between columns of categories, from their pair counts.

    A pair is judged by the rows that have both columns. The features are indicators of the categories,
    centred. `covariance_distances` says what the distance is, when it counts as supported, and where its
    ceiling is.

    Parameters
    ----------
    counts : array (category of all, category of all)
        Pair counts, or pair probabilities if `n_rows` is given; block (i, j) belongs to columns i and j.
    cards : sequence of int
        Number of categories of each column.
    n_states : int, optional
        Number of states of the hidden variables. Then ``n_states - 1`` singular values count, or as many as
        the column with the fewest categories has. With as many states as categories this is the determinant
        metric, ``-log |det P_ij| + log(prod P_i) / 2 + log(prod P_j) / 2``; with fewer, a
        pseudo-determinant. Without it the size of the covariance counts, which needs no number: measured on
        rows drawn from trees with 2 to 4 states and 2 to 8 categories, neighbour joining found better trees
        with it than with the determinant (far better where there are more categories than states) or with
        whitened indicators, and as good ones as with the right number of singular values.
    n_rows : float, optional
        Number of rows behind probabilities, `math.inf` if they are exact. Counts tell it for each pair.

    Examples
    --------
    >>> counts = np.array([[50, 0, 40, 10], [0, 50, 10, 40], [40, 10, 50, 0], [10, 40, 0, 50]])
    >>> discrete_distances(counts, [2, 2]).values  # correlation 0.6
    array([[0.        , 0.51082562],
           [0.51082562, 0.        ]])
    """
    size = sum(cards)
    if counts.shape != (size, size):
        raise ArgumentError(f"pair counts of {size} categories are needed, not {counts.shape}")
    if n_states is not None and n_states < 2:
        raise ArgumentError(f"n_states={n_states}; hidden variables have at least two states")
    covariance, rows = _indicator_covariances(counts, cards)
    are_integers = np.issubdtype(counts.dtype, np.integer)
    are_counts = are_integers or rows.max(initial=0.0) > 1 + 1e-9
    if n_rows is None and rows.any() and not are_counts:
        raise ArgumentError(
            "these are probabilities, not counts; say with n_rows how many rows are behind them "
            "(math.inf if they are exact)"
        )
    known = rows if n_rows is None or (are_counts and math.isfinite(n_rows)) else n_rows
    n_values = None
    if n_states is not None:
        n_values = min([n_states, *(card for card in cards if card > 1)]) - 1
    return covariance_distances(covariance, cards, known, n_values)


def _indicator_covariances(counts: NDArray[np.number], cards: Sequence[int]) -> tuple[Array, Array]:
    """Covariances of the indicators of all categories, each block over its rows; how many rows (i, j)."""
    covariance = counts.astype(np.float64)
    rows = np.zeros((len(cards), len(cards)))
    starts = np.concatenate([[0], np.cumsum(cards)])
    for i in range(len(cards)):
        block = covariance[starts[i] : starts[i + 1]]  # (category of i, category of all)
        singles = np.add.reduceat(block, starts[:-1], axis=1)  # (category of i, j)
        rows[i] = singles.sum(axis=0)
        n_rows = np.where(rows[i] > 0, rows[i], 1.0)
        singles /= n_rows
        block /= np.repeat(n_rows, cards)
        block -= np.repeat(singles, cards, axis=1) * block.sum(axis=0)
    return covariance, rows


def gaussian_distances(X: Any) -> Distances:
    """Distances between columns of numbers: the negative logarithm of the size of their correlation.

    It adds up along the paths of a Gaussian tree. Each pair is judged by the rows that have both columns.

    Parameters
    ----------
    X : array (row, column) of float
        NaN is missing.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(1000, 3)) @ [[1, 1, 0], [0, 1, 1], [0, 0, 1]]
    >>> distances = gaussian_distances(X)
    >>> distances.values.round(1)
    array([[0. , 0.3, 3.5],
           [0.3, 0. , 0.8],
           [3.5, 0.8, 0. ]])
    >>> distances.supported[0].tolist()
    [True, True, False]
    """
    numbers = _numbers(X)
    n = numbers.shape[1]
    present = ~np.isnan(numbers)
    is_present = present.astype(np.float64)
    n_present = np.maximum(is_present.sum(axis=0), 1)
    # Centred and scaled first: sums of squares of large numbers with small differences lose them.
    centred = np.where(present, numbers, 0.0)
    centred = np.where(present, centred - centred.sum(axis=0) / n_present, 0.0)
    scale = np.sqrt((centred**2).sum(axis=0) / n_present)
    centred /= np.where(scale > 0, scale, 1.0)
    rows = is_present.T @ is_present  # (i, j)
    n_rows = np.maximum(rows, 1)
    means = centred.T @ is_present / n_rows  # (i, j) of column i, over the rows that have both
    squares = (centred**2).T @ is_present / n_rows - means**2
    products = centred.T @ centred / n_rows - means * means.T
    spread = np.sqrt(np.maximum(squares, 0.0) * np.maximum(squares.T, 0.0))
    correlation = np.divide(products, spread, out=np.zeros((n, n)), where=spread > 1e-12)
    return covariance_distances(correlation, [1] * n, rows)


def nonparanormal_distances(X: Any) -> Distances:
    """Distances between columns of numbers whose order alone counts.

    Each column is replaced by normal scores (the quantiles of a normal distribution that its ranks stand
    for, equal numbers having the mean of their ranks), and then treated as by `gaussian_distances`. It adds
    up along the paths of a tree that is Gaussian after some increasing function of each column.

    Parameters
    ----------
    X : array (row, column) of float
        NaN is missing.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(1000, 2)) @ [[1, 1], [0, 1]]
    >>> bool(np.all(nonparanormal_distances(X).values == nonparanormal_distances(np.exp(X)).values))
    True
    """
    from scipy.special import ndtri
    from scipy.stats import rankdata

    numbers = _numbers(X)
    ranks = rankdata(numbers, axis=0, nan_policy="omit") if numbers.size else numbers
    n_present = (~np.isnan(numbers)).sum(axis=0)
    return gaussian_distances(ndtri(ranks / (n_present + 1)))


def _numbers(X: Any) -> Array:
    numbers = np.asarray(X, dtype=np.float64)
    if numbers.ndim != 2:
        raise DataError(f"a table (row, column) is needed, not an array of {numbers.ndim} axes")
    if np.isinf(numbers).any():
        raise DataError("infinite numbers have no covariance; make them NaN if they are missing")
    return numbers
