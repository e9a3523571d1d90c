"""The best low-rank link between two sketches of a matrix (Song et al., 2013, equations 5 and 6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.linalg.svd import stacked_svd

Array = NDArray[np.float64]

# Singular values below this share of the largest are rounding.
ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Linker:
    """The matrix P as ``core @ basis.T @ A'P``, which is ``PB M A'P`` with the best M of its rank."""

    core: Array  # (row of P, rank)
    basis: Array  # (row of A'P, rank)
    values: Array  # singular values of P within both sketches, descending
    threshold: float  # smaller ones are rounding

    @property
    def rank(self) -> int:
        """How many singular values were kept."""
        return int(self.core.shape[1])


def best_linker(matrix: Any, right_sketch: Array, left_sketch: Array, rank: int) -> Linker:
    """The linker M of at most some rank that minimises ``|P - PB M A'P|`` in the Frobenius norm.

    With ``PB = U S V'`` and ``A'P = W D Z'``, equation 6 gives ``M = V S^-1 [U' P Z]_k D^-1 W'``, so that
    ``PB M = U [U' P Z]_k D^-1 W'``: the core is ``U`` times the left singular vectors of ``U' P Z``, and the
    rest is the basis; nothing is divided by S.

    Parameters
    ----------
    matrix : (row, column) array, may be sparse
        P.
    right_sketch : (row, right)
        PB.
    left_sketch : (left, column)
        A'P.
    rank : int
    """
    column_basis, values, _ = stacked_svd(right_sketch)
    column_basis = column_basis[:, values > ROUNDING * values[0]]
    star, values, row_basis = stacked_svd(left_sketch)
    nonzero = values > ROUNDING * values[0]
    if not (column_basis.size and nonzero.any()):  # a sketch of zeros
        zeros = np.zeros((len(right_sketch), 1)), np.zeros((len(left_sketch), 1))
        return Linker(*zeros, np.zeros(1), 0.0)
    left, middle, right = stacked_svd(column_basis.T @ (matrix @ row_basis[nonzero].T))
    threshold = ROUNDING * float(middle[0])
    rank = max(1, min(rank, int((middle > threshold).sum())))
    basis = star[:, nonzero] @ (middle[:rank, None] * right[:rank] / values[nonzero]).T
    return Linker(column_basis @ left[:, :rank], basis, middle, threshold)
