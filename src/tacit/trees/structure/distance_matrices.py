"""Matrices of distances: checked, their connected blocks, and their spanning trees."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ArgumentError

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
Edges = NDArray[np.int64]  # (edge, 2)

_SYMMETRY = 1e-8  # of the largest distance
_ROWS = 256


def checked_distances(distances: Any, n: int) -> Array:
    """A copy of the distances, exactly symmetric, zero on the diagonal."""
    if n == 0:
        raise ArgumentError("there are no leaves; a tree needs at least one")
    matrix = np.array(distances, dtype=np.float64, order="C")
    if matrix.shape != (n, n):
        raise ArgumentError(f"distances of {n} leaves are needed, not an array {matrix.shape}")
    np.fill_diagonal(matrix, 0.0)
    largest = np.abs([matrix.min(), matrix.max()]).max()
    if not np.isfinite(largest):
        raise ArgumentError(
            "distances must be finite; give what is unknown the largest distance that is known"
        )
    for first in range(0, n, _ROWS):
        rows = slice(first, first + _ROWS)
        upper, lower = matrix[rows, first:], matrix[first:, rows].T
        if not np.array_equal(upper, lower):
            if np.abs(upper - lower).max() > _SYMMETRY * largest:
                raise ArgumentError(
                    "distances must be symmetric; if yours differ by direction, average them: (d + d.T) / 2"
                )
            mean = (upper + lower) / 2
            matrix[rows, first:] = mean
            matrix[first:, rows] = mean.T
    return matrix


def connected_blocks(supported: Any, n: int) -> list[Integers]:
    """The leaves of each block, in the order of their first leaves."""
    if supported is None:
        return [np.arange(n)]
    from scipy.sparse.csgraph import connected_components

    flags = np.asarray(supported, dtype=np.bool_)
    if flags.shape != (n, n):
        raise ArgumentError(
            f"supported says which of {n} x {n} distances count; its shape is {flags.shape}"
        )
    n_blocks, label = connected_components(flags, directed=False)
    return [np.flatnonzero(label == block) for block in range(n_blocks)]


def maximum_spanning_tree(weights: Array) -> Edges:
    """The edges of the heaviest tree over all nodes, by Prim's method from node 0.

    Ties go to the node with the lower number, so the answer does not depend on chance.

    Parameters
    ----------
    weights : array (node, node)
        Symmetric and finite.

    Returns
    -------
    array (edge, 2)
        The node that was in the tree and the node that it brought in, in the order of joining.

    Examples
    --------
    >>> maximum_spanning_tree(np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 3.0], [2.0, 3.0, 0.0]]))
    array([[0, 2],
           [2, 1]])
    """
    n_nodes = len(weights)
    edges = np.empty((max(n_nodes - 1, 0), 2), dtype=np.int64)
    if n_nodes == 0:
        return edges
    best = weights[0].astype(np.float64)  # heaviest edge from the tree to each node outside it
    origin = np.zeros(n_nodes, dtype=np.int64)  # where that edge starts
    outside = np.ones(n_nodes, dtype=bool)
    joined = 0
    for step in range(n_nodes - 1):
        outside[joined] = False
        best[joined] = -np.inf
        heavier = outside & (weights[joined] > best)
        best[heavier] = weights[joined][heavier]
        origin[heavier] = joined
        joined = int(np.argmax(best))
        edges[step] = origin[joined], joined
    return edges
