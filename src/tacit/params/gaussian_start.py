"""Rows of numbers as symbols: the cell of the plane each falls into.

Counts of cells in windows of three are moments of three views, whatever the densities look like; a model of
cells says which state was where, and hence where to begin with densities.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tacit.params.gaussian_chain import GaussianChain

Array = NDArray[np.float64]
Codes = NDArray[np.int32]

_ROWS_FOR_CENTRES = 20_000
SWEEPS = 10
_FEWEST = 0.1  # share of random moves that go anywhere
SMALL = 0.3  # a variance of states beside that of all rows


def cells_of(
    values: Array, n_cells: int, rng: np.random.Generator, *, most_sweeps: int = SWEEPS
) -> Codes:
    """(position,) the cell of each row, -1 where all of a row is missing; every cell is somewhere.

    Cells of a single column hold the same number of rows, cells of several are those of k-means.

    Parameters
    ----------
    values : (position, column)
        On a common scale; NaN where a number is missing.
    n_cells : int
        At most; fewer where there are fewer different rows.
    rng : Generator
        Places the first centres.
    most_sweeps : int
        Of k-means, which ends sooner where no row moves.
    """
    there = ~np.isnan(values).all(axis=1)
    known = values[there]
    if values.shape[1] == 1:
        edges = np.unique(np.quantile(known[:, 0], np.arange(1, n_cells) / n_cells))
        found = np.searchsorted(edges, known[:, 0], side="right").astype(np.int32)
    else:
        found = _nearest(
            np.nan_to_num(known, nan=0.0).astype(np.float32), n_cells, rng, most_sweeps
        )
    codes = np.full(len(values), -1, dtype=np.int32)
    codes[there] = np.unique(found, return_inverse=True)[1].ravel()
    return codes


def _nearest(
    rows: NDArray[np.float32], n_cells: int, rng: np.random.Generator, most_sweeps: int
) -> Codes:
    """The nearest of some centres, those of k-means on a part of the rows."""
    from tacit.loops.clusters import scatter_centres, sweep

    few = rows[np.sort(rng.permutation(len(rows))[:_ROWS_FOR_CENTRES])]
    if (
        len(np.unique(few[:, 0])) < n_cells
    ):  # one column often tells enough rows apart, and far sooner than all
        n_cells = min(n_cells, len(np.unique(few, axis=0)))
    centres = np.zeros((n_cells, rows.shape[1]), dtype=np.float32)
    scatter_centres(few, np.ones(len(few)), rng.random(n_cells), centres)
    sums, mass = np.zeros(centres.shape), np.zeros(n_cells)
    states = np.full(len(few), -1, dtype=np.int32)
    for _ in range(most_sweeps):
        if not sweep(
            few, np.ones(len(few)), centres.T.copy(), _offsets(centres), states, sums, mass
        ):
            break
        filled = mass > 0
        centres[filled] = sums[filled] / mass[filled, None]
    found = np.full(len(rows), -1, dtype=np.int32)
    sweep(rows, np.ones(len(rows)), centres.T.copy(), _offsets(centres), found, sums, mass)
    return found


def _offsets(centres: NDArray[np.float32]) -> Array:
    return np.asarray(-0.5 * np.einsum("hi,hi->h", centres, centres), dtype=np.float64)


def neighbours(values: Array, ends: NDArray[np.int64]) -> Array:
    """(position, column) the mean of the rows before and after in the same sequence, on a common scale.

    Zero where neither is there.
    """
    later = np.ones(len(values), dtype=bool)  # than the first of a sequence
    later[ends[:-1][np.diff(ends) > 0]] = False
    second = np.flatnonzero(later)
    known = ~np.isnan(values)
    filled = np.where(known, values, 0.0)
    sums, counts = np.zeros_like(filled), np.zeros_like(filled)
    for place, other in ((second, second - 1), (second - 1, second)):
        sums[place] += filled[other]
        counts[place] += known[other]
    means = sums / np.maximum(counts, 1.0)
    spread = means.std(axis=0)
    return np.asarray(means / np.where(spread > 0, spread, 1.0))


def even_chain(means: Array, covariances: Array, *, diagonal: bool) -> GaussianChain:
    """States of given densities that stay about as often as they move, and move anywhere."""
    k = len(means)
    moves = 0.5 * np.eye(k) + 0.5 / k
    return GaussianChain(np.full(k, 1 / k), moves, means, covariances, diagonal)


def with_random_moves(chain: GaussianChain, rng: np.random.Generator) -> GaussianChain:
    """The same states with few likely moves from each, wherever these go."""
    k = chain.n_states
    moves = (1 - _FEWEST) * rng.dirichlet(np.full(k, 1 / k), k) + _FEWEST / k
    return replace(chain, moves=moves)


def by_rows(
    values: Array, n_states: int, rng: np.random.Generator, *, wide: float, diagonal: bool
) -> GaussianChain:
    """States about rows at random, as wide as all rows or a share of that, with half of the moves at random.

    Parameters
    ----------
    values : (position, column)
        On a common scale, about zero; none is missing.
    n_states : int
    rng : Generator
    wide : float
        Variances of states in units of those of columns.
    diagonal : bool
    """
    k, d = n_states, values.shape[1]
    means = values[rng.choice(len(values), k, replace=len(values) < k)]
    spread = values.T @ values / len(values) + 1e-6 * np.eye(d)
    covariances = np.repeat(wide * spread[None] * (np.eye(d) if diagonal else 1.0), k, axis=0)
    moves = 0.5 * np.eye(k) + 0.5 * rng.dirichlet(np.ones(k), k)
    return GaussianChain(np.full(k, 1 / k), moves, means, covariances, diagonal)
