"""Latent classes of three columns from their joint table."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.core.linalg.simplex import nearest_distributions
from tacit.core.linalg.three_views import middle_view
from tacit.errors import RankError

Array = NDArray[np.float64]

_ZERO = 1e-10  # singular values below this fraction of the first are rounding errors


def classes_of_triples(joint: Array, n_states: int) -> tuple[Array, tuple[Array, Array, Array]]:
    """Weights of the classes, and for each of three columns the table (class, category).

    The joint table of a mixture of products gives it back exactly, where each two columns distinguish
    all classes. Classes are in descending order of their weights.

    Parameters
    ----------
    joint : (a, b, c)
        Joint probabilities or counts of three columns.
    n_states : int

    Raises
    ------
    RankError
        Two of the columns show fewer classes; the largest possible number is named.
    """
    joint = joint / joint.sum()
    pairs12, pairs13, pairs23 = joint.sum(axis=2), joint.sum(axis=1), joint.sum(axis=0)
    first, last = _sides(pairs13, n_states)
    two = _sides(np.hstack([pairs12.T, pairs23]), n_states)[0]
    projected_pairs = [first.T @ pairs12 @ two, first.T @ pairs13 @ last, two.T @ pairs23 @ last]
    for matrix in projected_pairs:
        _check_rank(np.linalg.svd(matrix, compute_uv=False), n_states)

    def triples(from_first: Array, from_last: Array) -> Array:
        views = first @ from_first.T, two, last @ from_last.T
        return np.asarray(np.einsum("abc,ai,bj,ck->ijk", joint, *views, optimize=True))

    columns = two @ middle_view(
        projected_pairs[0], projected_pairs[1], projected_pairs[2], triples
    )  # (b, class)
    middle = nearest_distributions((columns / columns.sum(axis=0)).T)
    inverse = np.linalg.pinv(middle)  # (b, class)
    ones, threes = (
        (pairs12 @ inverse).T,
        (pairs23.T @ inverse).T,
    )  # (class, category), times the weights
    weights = nearest_distributions((ones.sum(axis=1) + threes.sum(axis=1))[None] / 2)[0]
    outer = [
        nearest_distributions(matrix / np.maximum(matrix.sum(axis=1, keepdims=True), 1e-300))
        for matrix in (ones, threes)
    ]
    order = np.argsort(-weights, kind="stable")
    return weights[order], (outer[0][order], middle[order], outer[1][order])


def _sides(matrix: Array, rank: int) -> tuple[Array, Array]:
    """Singular vectors of the largest singular values: left and right."""
    left, values, right = np.linalg.svd(matrix, full_matrices=False)
    _check_rank(values, rank)
    return left[:, :rank], right[:rank].T


def _check_rank(values: Array, n_states: int) -> None:
    usable = int((values > _ZERO * values[0]).sum())
    if usable < n_states:
        raise RankError(
            f"n_states={n_states} requested, but two of the columns show only {usable} classes; give "
            f"n_states<={usable}, or columns with more categories"
        )
