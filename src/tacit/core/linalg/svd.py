"""Singular value decompositions of many small matrices at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Up to these lengths of the shorter and of the longer side, rotations are faster than LAPACK.
SHORT, LONG = 12, 512


def stacked_svd(matrices: Array) -> tuple[Array, Array, Array]:
    """Thin singular value decompositions of a stack of matrices, with signs made canonical.

    In each left singular vector the entry of largest size is positive. Small matrices are decomposed by
    Jacobi rotations, several times as fast as by LAPACK, whose calls cost more than their work there.

    Parameters
    ----------
    matrices : (..., a, b)

    Returns
    -------
    left : (..., a, m)
    values : (..., m)   descending
    right : (..., m, b)
        A row of a singular value that is zero may be zero as well.
    """
    left, values, right = _small_svd(matrices) or _large_svd(matrices)
    largest = np.take_along_axis(left, np.abs(left).argmax(axis=-2)[..., None, :], axis=-2)
    signs = np.where(largest < 0, -1.0, 1.0)  # (..., 1, m)
    return left * signs, values, right * signs.swapaxes(-1, -2)


def _small_svd(matrices: Array) -> tuple[Array, Array, Array] | None:
    """The same by Jacobi rotations; None where the matrices are large, or not finite."""
    from tacit.core.loops.jacobi import decompose_wide

    *stack, a, b = matrices.shape
    if min(a, b) > SHORT or max(a, b) > LONG:
        return None
    if a > b:
        transposed = _small_svd(matrices.swapaxes(-1, -2))
        return transposed and (
            transposed[2].swapaxes(-1, -2),
            transposed[1],
            transposed[0].swapaxes(-1, -2),
        )
    flat = matrices.reshape(-1, a, b)
    left, values, right = (
        np.empty((len(flat), a, a)),
        np.empty((len(flat), a)),
        np.empty(flat.shape),
    )
    if not decompose_wide(np.ascontiguousarray(flat, dtype=np.float64), left, values, right):
        return None
    return left.reshape(*stack, a, a), values.reshape(*stack, a), right.reshape(matrices.shape)


def _large_svd(matrices: Array) -> tuple[Array, Array, Array]:
    """The same by LAPACK.

    Its divide-and-conquer routine has been seen to give up on finite matrices; the slower routine then
    takes over.
    """
    try:
        return np.linalg.svd(matrices, full_matrices=False)
    except np.linalg.LinAlgError:
        return _svd_one_by_one(matrices)


def _svd_one_by_one(matrices: Array) -> tuple[Array, Array, Array]:
    """The same by QR iteration, which always converges on finite matrices."""
    from scipy.linalg import svd

    *stack, n_rows, n_columns = matrices.shape
    parts = [
        svd(matrix, full_matrices=False, lapack_driver="gesvd")
        for matrix in matrices.reshape(-1, n_rows, n_columns)
    ]
    left, values, right = (np.array(factor) for factor in zip(*parts, strict=True))
    return (
        left.reshape(*stack, *left.shape[1:]),
        values.reshape(*stack, *values.shape[1:]),
        right.reshape(*stack, *right.shape[1:]),
    )
