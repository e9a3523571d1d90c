"""Rows of numbers as symbols: the cell of the plane each falls into (vector quantisation)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Codes = NDArray[np.int32]

_ROWS_FOR_CENTRES = 20_000
SWEEPS = 10


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
    from tacit.core.loops.kmeans import scatter_centres, sweep

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
