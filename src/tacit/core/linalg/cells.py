"""Rows of numbers as symbols: the cell of the plane each falls into (vector quantisation)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.core.linalg.kmeans import kmeans, nearest_centres

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
    is_observed = ~np.isnan(values).all(axis=1)
    known = values[is_observed]
    if not len(known):
        return np.full(len(values), -1, dtype=np.int32)
    if values.shape[1] == 1:
        edges = np.unique(np.quantile(known[:, 0], np.arange(1, n_cells) / n_cells))
        cells = np.searchsorted(edges, known[:, 0], side="right").astype(np.int32)
    else:
        rows = np.nan_to_num(known, nan=0.0).astype(np.float32)
        few = rows[np.sort(rng.permutation(len(rows))[:_ROWS_FOR_CENTRES])]
        if (
            len(np.unique(few[:, 0])) < n_cells
        ):  # one column often has enough distinct rows, and is faster
            n_cells = min(n_cells, len(np.unique(few, axis=0)))
        every = np.arange(len(few))
        centres = kmeans(few, n_cells, rng, max_iter=most_sweeps, candidates=every).centres
        cells = nearest_centres(rows, centres)
    codes = np.full(len(values), -1, dtype=np.int32)
    codes[is_observed] = np.unique(cells, return_inverse=True)[1].ravel()
    return codes
