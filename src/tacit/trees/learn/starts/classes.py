"""Starts for the classes of a mixture of products: rows as points, clusters of them, clusters merged.

Second moments of the scaled one-hot rows give each row a place in a few dimensions (multiple correspondence
analysis), in which clusters are cheap to find: more than there are classes. Those whose merger loses least
likelihood are then merged. From there EM, with exchanges of classes, ended about as high as the best of
ten random starts, on tables of 120 to 50,000 rows. Two classes have nothing to exchange: they get a start
from each halving of the clusters that no cluster improves by changing sides. Nothing of this is random. Where
classes are hard to tell apart, clusters from drawn centres (`drawn_starts`) sometimes lead higher.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

# Of 2 to 9 dimensions, four, and of 2 to 5 passes, three gave the best classes; rounds of k-means at most.
N_AXES, N_PASSES, N_ROUNDS = 4, 3, 8
N_MOVES = 3  # of each cluster from a class to another, at most
# The most clusters for each class: four, but not more than so many if two for each are not.
CLUSTERS_PER_CLASS, ENOUGH_CLUSTERS = 4, 12
MOST_DRAWN_AXES = 8  # of starts from drawn centres
# Two classes: axes, clusters, and halvings of these that EM starts from, at most.
AXES_OF_TWO, CLUSTERS_OF_TWO, MOST_HALVINGS = 6, 8, 8


def class_starts(
    codes: NDArray[Any],
    weights: Array,
    starts: Integers,
    marginals: Array,
    n_classes: int,
    pseudo: float = 1.0,
) -> list[Array]:
    """Each (cell and sizes, class): how often cells occur in each class; sizes are in the last row.

    Parameters
    ----------
    codes : (row, column) integers
        Categories, negative where missing; C order.
    weights : (row,)
    starts : (column + 1,)
        The first cell of each column, and the number of cells.
    marginals : (cell,)
        The distributions of all columns, one after the other; all positive.
    n_classes : int
    pseudo : float
        Pseudo-counts of every class in each column, where clusters are compared.
    """
    from tacit.trees.loops.class_start import (
        cluster_counts,
        clusters_of,
        grouped,
        halvings,
        points_of,
    )

    if n_classes == 1:  # nothing to cluster
        labels = np.zeros(len(codes), dtype=np.int64)
        return [np.ascontiguousarray(cluster_counts(codes, weights, starts, labels, 1).T)]
    most_axes, n_clusters = (
        N_AXES,
        max(2 * n_classes, min(CLUSTERS_PER_CLASS * n_classes, ENOUGH_CLUSTERS)),
    )
    if n_classes == 2:
        most_axes, n_clusters = AXES_OF_TWO, CLUSTERS_OF_TWO
    n_axes = max(min(most_axes, len(marginals) - codes.shape[1]), 1)
    points = points_of(codes, weights, starts, marginals, n_axes, N_PASSES)
    labels = clusters_of(points, weights, n_clusters, N_ROUNDS)
    counts = cluster_counts(codes, weights, starts, labels, n_clusters)
    prior = pseudo * marginals
    if n_classes == 2 and len(halves := halvings(counts, starts, prior, MOST_HALVINGS)):
        return [np.ascontiguousarray(pair.T) for pair in halves]
    return [np.ascontiguousarray(grouped(counts, starts, prior, n_classes, N_MOVES).T)]


def drawn_starts(
    codes: NDArray[Any],
    weights: Array,
    starts: Integers,
    marginals: Array,
    n_classes: int,
    n_starts: int,
    seed: int,
) -> list[Array]:
    """Further starts, of the same shape: clusters of the rows in more axes, from drawn first centres."""
    from tacit.core.linalg.kmeans import kmeans
    from tacit.trees.loops.class_start import cluster_counts, points_of

    most_axes = min(max(n_classes, N_AXES), MOST_DRAWN_AXES)
    n_axes = max(min(most_axes, len(marginals) - codes.shape[1]), 1)
    points = points_of(codes, weights, starts, marginals, n_axes, N_PASSES).astype(np.float32)
    rng = np.random.default_rng(seed)
    out = []
    for _ in range(n_starts):
        clusters = kmeans(points, n_classes, rng, max_iter=N_ROUNDS, weights=weights)
        labels = clusters.labels.astype(np.int64)
        counts = cluster_counts(codes, weights, starts, labels, n_classes)
        out.append(np.ascontiguousarray(counts.T))
    return out
