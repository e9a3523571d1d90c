"""Joint diagonalisation: the rotation that makes several symmetric matrices most nearly diagonal."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_TOL = 1e-10
_SWEEPS = 100


def joint_diagonals(matrices: Array, *, tol: float = _TOL) -> tuple[Array, Array]:
    """The rotation that diagonalises symmetric matrices best in squares, and their diagonals in it.

    By Jacobi rotations from the eigenvectors of one mixture of the matrices, which finds them where the
    matrices have common eigenvectors. Columns are ordered by the size of their diagonals, the entry of
    largest size in each is positive.

    Parameters
    ----------
    matrices : (matrix, k, k)
    tol : float
        Sines of rotations that still count.

    Returns
    -------
    vectors : (k, k)
        Orthogonal; columns are common eigenvectors.
    diagonals : (matrix, k)

    Examples
    --------
    >>> turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    >>> vectors, diagonals = joint_diagonals(
    ...     turn @ np.array([np.diag([3.0, 1]), np.eye(2)]) @ turn.T
    ... )
    >>> np.round(diagonals, 6)
    array([[3., 1.], [1., 1.]])
    """
    from tacit.core.loops.jacobi import rotate_jointly

    matrices = 0.5 * (matrices + matrices.swapaxes(1, 2))
    k = matrices.shape[1]
    # A fixed mixture with no symmetry of its own: where the matrices commute its vectors are theirs.
    mixture = np.tensordot(np.cos(1.0 + np.arange(len(matrices))), matrices, axes=1)
    vectors = np.ascontiguousarray(np.linalg.eigh(mixture)[1])
    # The matrices last: what is rotated then lies side by side.
    turned = np.ascontiguousarray((vectors.T @ matrices @ vectors).transpose(1, 2, 0))
    rotate_jointly(turned, vectors, tol, _SWEEPS)
    diagonals = turned[np.arange(k), np.arange(k)].T
    order = np.argsort(-np.square(diagonals).sum(axis=0), kind="stable")
    vectors, diagonals = vectors[:, order], diagonals[:, order]
    largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(k)]
    return vectors * np.where(largest < 0, -1.0, 1.0), diagonals
