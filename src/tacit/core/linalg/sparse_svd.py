"""Leading singular vectors of products of sparse matrices that are never formed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

SMALL = 40_000  # cells that a product may have to be decomposed as it is
MORE, ROUNDS = 10, 3  # random directions besides those wanted, and times they are sharpened


def product_svd(
    left: Any, right: Any, weight: Array, rank: int, rng: Any
) -> tuple[Array, Array, Array]:
    """Leading singular vectors and values of ``left.T @ diag(weight) @ right``.

    Large ones by random directions, sharpened by powers (Halko, Martinsson & Tropp, 2011).

    Parameters
    ----------
    left, right : (row, a), (row, b) sparse
    weight : (row,)
    rank : int
        Most directions.
    rng : numpy.random.Generator

    Returns
    -------
    a_side : (a, m)
    values : (m,)   descending
    b_side : (b, m)
        The largest entry of each column of the first is positive.
    """
    n_rows, n_left = left.shape
    n_right = right.shape[1]
    weighted = left.multiply(weight[:, None]).T.tocsr()  # (a, row)
    if n_left * n_right <= SMALL:
        u, s, v = np.linalg.svd((weighted @ right).toarray(), full_matrices=False)
    else:
        right_transposed, weighted_transposed = right.T.tocsr(), weighted.T.tocsr()
        n_columns = min(rank + MORE, n_left, n_right)
        basis = np.linalg.qr(weighted @ (right @ rng.normal(size=(n_right, n_columns))))[0]
        for _ in range(ROUNDS):
            other = np.linalg.qr(right_transposed @ (weighted_transposed @ basis))[0]
            basis = np.linalg.qr(weighted @ (right @ other))[0]
        small, s, v = np.linalg.svd(
            (right_transposed @ (weighted_transposed @ basis)).T, full_matrices=False
        )
        u = basis @ small
    m = min(rank, len(s), n_rows)
    u, s, v = u[:, :m], s[:m], v[:m].T
    most = np.abs(u).argmax(axis=0)
    signs = np.where(u[most, np.arange(m)] < 0, -1.0, 1.0)
    return u * signs, s, v * signs
