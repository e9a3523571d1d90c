"""Three views of a hidden state, independent given it, and as many dimensions of each as there are states.

The first and the last view are turned to look like the middle one; second and third moments are then
symmetric, and the third, whitened, is diagonal in one basis (Anandkumar, Hsu and Kakade 2012).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tacit.core.linalg.joint_diagonalisation import joint_diagonals

Array = NDArray[np.float64]

_LEAST = 1e-4  # of eigenvalues of the second moments, of the largest


def middle_view(
    pairs12: Array,
    pairs13: Array,
    pairs23: Array,
    triples: Callable[[Array, Array], Array],
) -> Array:
    """(k, state) the middle view in each state, up to a factor: its mean times the root of the weight.

    Parameters
    ----------
    pairs12, pairs13, pairs23 : (k, k)
        Second moments of each two views.
    triples : callable
        Third moments (k, k, k), with the first and the last view turned by given matrices (k, k).
    """
    inverse = np.linalg.inv(pairs13)
    from_first, from_last = pairs23 @ inverse, pairs12.T @ inverse.T
    second = from_first @ pairs13 @ from_last.T
    third = triples(from_first, from_last)
    sizes, vectors = np.linalg.eigh(0.5 * (second + second.T))
    roots = np.sqrt(np.maximum(sizes, _LEAST * sizes[-1]))
    white = vectors / roots
    turned = np.einsum("ijk,ia,jb,kc->abc", third, white, white, white, optimize=True)
    rotation, _ = joint_diagonals(symmetric(turned))
    return np.asarray((vectors * roots) @ rotation)


def symmetric(cube: Array) -> Array:
    """The mean of a tensor of order three over all orders of its axes."""
    orders = ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0))
    return np.asarray(np.mean([cube.transpose(order) for order in orders], axis=0))
