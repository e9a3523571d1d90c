"""Singular value decompositions of many small matrices at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def stacked_svd(matrices: Array) -> tuple[Array, Array, Array]:
    """Thin singular value decompositions of a stack of matrices, with signs made canonical.

    LAPACK's divide-and-conquer routine has been seen to give up on finite matrices; the slower routine
    then takes over. In each left singular vector the entry of largest size is positive.

    Parameters
    ----------
    matrices : (..., a, b)

    Returns
    -------
    left : (..., a, m)
    values : (..., m)   descending
    right : (..., m, b)
    """
    try:
        left, values, right = np.linalg.svd(matrices, full_matrices=False)
    except np.linalg.LinAlgError:
        left, values, right = _svd_one_by_one(matrices)
    largest = np.take_along_axis(left, np.abs(left).argmax(axis=-2)[..., None, :], axis=-2)
    signs = np.where(largest < 0, -1.0, 1.0)  # (..., 1, m)
    return left * signs, values, right * signs.swapaxes(-1, -2)


def _svd_one_by_one(matrices: Array) -> tuple[Array, Array, Array]:
    """The same by QR iteration, which always converges on finite matrices."""
    from scipy.linalg import svd

    *stack, n_rows, n_columns = matrices.shape
    parts = [
        svd(matrix, full_matrices=False, lapack_driver="gesvd")
        for matrix in matrices.reshape(-1, n_rows, n_columns)
    ]
    left, values, right = (np.array(each) for each in zip(*parts, strict=True))
    return (
        left.reshape(*stack, *left.shape[1:]),
        values.reshape(*stack, *values.shape[1:]),
        right.reshape(*stack, *right.shape[1:]),
    )
