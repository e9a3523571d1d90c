"""k-means in single precision: first centres far from each other, then sweeps over all rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Rows = NDArray[np.float32]
Labels = NDArray[np.int32]


class Clusters(NamedTuple):
    """The cluster of each row, and the centres."""

    labels: Labels  # (row,)
    centres: Rows  # (cluster, column)


def kmeans(
    rows: Rows,
    n_clusters: int,
    rng: np.random.Generator,
    *,
    max_iter: int,
    weights: Array | None = None,
    n_candidates: int = 4_000,
    candidates: NDArray[np.integer] | None = None,
    candidate_weights: Array | None = None,
) -> Clusters:
    """Clusters of rows by Lloyd's algorithm from a k-means++ start (Arthur & Vassilvitskii 2007).

    Parameters
    ----------
    rows : (row, column) float32
    n_clusters : int
    rng : Generator
        Draws the candidates, and the first centres among them.
    max_iter : int
        Sweeps at most; fewer where no row changes its cluster.
    weights : (row,), optional
    n_candidates : int
        Rows that the first centres are drawn from.
    candidates : (candidate,) integers, optional
        These rows instead of random ones.
    candidate_weights : (candidate,), optional
        By default those of the rows.
    """
    from tacit.core.loops.kmeans import scatter_centres, sweep

    n_rows, n_columns = rows.shape
    weights = np.ones(n_rows) if weights is None else weights
    labels = np.full(n_rows, -1, dtype=np.int32)
    centres = np.zeros((n_clusters, n_columns), dtype=np.float32)
    if not n_rows:
        return Clusters(labels, centres)
    if candidates is None:
        candidates = np.sort(rng.permutation(n_rows)[:n_candidates])
    if candidate_weights is None:
        candidate_weights = weights[candidates]
    scatter_centres(rows[candidates], candidate_weights, rng.random(n_clusters), centres)
    sums, mass = np.zeros(centres.shape), np.zeros(n_clusters)
    for _ in range(max_iter):
        if not sweep(rows, weights, centres.T.copy(), _offsets(centres), labels, sums, mass):
            break
        filled = mass > 0
        centres[filled] = sums[filled] / mass[filled, None]
    return Clusters(labels, centres)


def nearest_centres(rows: Rows, centres: Rows) -> Labels:
    """(row,) the number of the nearest centre."""
    from tacit.core.loops.kmeans import sweep

    labels = np.full(len(rows), -1, dtype=np.int32)
    sums, mass = np.zeros(centres.shape), np.zeros(len(centres))
    ones = np.ones(len(rows))
    sweep(rows, ones, centres.T.copy(), _offsets(centres), labels, sums, mass)
    return labels


def _offsets(centres: Rows) -> Array:
    return np.asarray(-0.5 * np.einsum("hi,hi->h", centres, centres), dtype=np.float64)
