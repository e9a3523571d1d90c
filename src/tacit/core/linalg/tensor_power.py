"""Decomposition of symmetric tensors of order three by the tensor power method.

A whitened tensor of third moments is such a sum with orthonormal vectors (Anandkumar, Ge, Hsu, Kakade and
Telgarsky, 2014). All solvers give unit vectors whose values are not negative, in order of their values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.core.linalg.joint_diagonalisation import joint_diagonals
from tacit.errors import ArgumentError

Array = NDArray[np.float64]

_TURNS = 1e-3  # sines of Jacobi rotations that count: the steps that follow come closer
_STEPS = 20  # of these, at most; more gain nothing where components are mostly noise
_STILL = 1e-6  # a step that moves no entry more is the last; near the end they double the digits
_STARTS, _POWERS = 10, 30  # of the power method, for each component
_ALS_STARTS, _ALS_STEPS, _ALS_LEFT = 3, 300, 1e-10  # starts, steps, fraction that a step must gain


@dataclass(frozen=True, slots=True, eq=False)
class Components:
    """Vectors whose third powers, times their values, sum to a tensor nearly."""

    vectors: Array  # (k, component)  of length one
    values: Array  # (component,)  descending, not negative
    residual: float  # the fraction of the tensor's squares that is left


def decompose(tensor: Array, solver: str = "jacobi", *, random_state: int = 0) -> Components:
    """The components of a symmetric tensor.

    Parameters
    ----------
    tensor : (k, k, k)
    solver : {"jacobi", "power", "simultaneous", "als"}
        ``"jacobi"``: the rotation that makes all slices as nearly diagonal as can be, then orthogonal
        alternating steps; draws nothing. ``"power"``: the robust power method, one component after another.
        ``"simultaneous"``: eigenvectors of one mixture of the slices. ``"als"``: alternating least squares
        with vectors that need not be orthogonal.
    random_state : int
        For the solvers that draw.

    Examples
    --------
    >>> turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    >>> tensor = np.einsum("c,ic,jc,kc->ijk", [3.0, 1.0], turn, turn, turn)
    >>> components = decompose(tensor)
    >>> np.round(components.values, 6), np.round(components.vectors, 6)
    (array([3., 1.]), array([[ 0.6, -0.8], [ 0.8,  0.6]]))
    """
    from tacit.core.threads import one_blas_thread

    solvers: dict[str, Callable[[], Array]] = {
        "jacobi": lambda: orthogonal_steps(tensor, joint_diagonals(tensor, tol=_TURNS)[0]),
        "power": lambda: _powers(tensor, np.random.default_rng(random_state)),
        "simultaneous": lambda: _mixture(tensor, np.random.default_rng(random_state)),
        "als": lambda: _least_squares(tensor, np.random.default_rng(random_state)),
    }
    if solver not in solvers:
        raise ArgumentError(f"solver={solver!r}; give one of {', '.join(map(repr, solvers))}")
    with one_blas_thread():  # sums in one order: the same bits for any number of threads
        return components_of(tensor, solvers[solver](), fitted=solver == "als")


def orthogonal_steps(tensor: Array, vectors: Array, n_steps: int = _STEPS) -> Array:
    """Orthonormal vectors moved towards a maximum of the sum of the squares of their values.

    Each step takes the rotation nearest to ``T(I, v, v)``, times the values: the direction in which that sum
    grows. Without the values small components, which are noise, would draw others towards them.
    """
    for _ in range(n_steps):
        images = _images(tensor, vectors)
        left, _, right = np.linalg.svd(images * (images * vectors).sum(axis=0))
        turned = left @ right
        turned = turned * np.where((turned * vectors).sum(axis=0) < 0, -1.0, 1.0)
        moved = np.abs(turned - vectors).max()
        vectors = turned
        if moved < _STILL:
            break
    return vectors


def _images(tensor: Array, vectors: Array) -> Array:
    """(k, component) the tensor, applied to each vector twice."""
    k = len(tensor)
    once = (tensor.reshape(k * k, k) @ vectors).reshape(k, k, -1)
    return np.asarray(np.einsum("ijc,jc->ic", once, vectors))


def components_of(tensor: Array, vectors: Array, *, fitted: bool = False) -> Components:
    """Unit vectors with their values, largest first; by least squares where vectors are not orthogonal."""
    if fitted:
        cubes = (vectors.T @ vectors) ** 3
        values = np.linalg.lstsq(cubes, (_images(tensor, vectors) * vectors).sum(axis=0))[0]
    else:
        values = (_images(tensor, vectors) * vectors).sum(axis=0)
    vectors, values = vectors * np.where(values < 0, -1.0, 1.0), np.abs(values)
    order = np.argsort(-values, kind="stable")
    vectors, values = vectors[:, order], values[order]
    # |T - S|^2 = |T|^2 - 2 <T, S> + |S|^2, with S the sum of the components.
    squares = float(np.square(tensor).sum())
    images = (_images(tensor, vectors) * vectors).sum(axis=0)
    left = squares - 2 * values @ images + values @ (vectors.T @ vectors) ** 3 @ values
    return Components(vectors, values, max(float(left) / squares, 0.0) if squares > 0 else 0.0)


def _powers(tensor: Array, rng: np.random.Generator) -> Array:
    """Anandkumar et al. (2014), algorithm 1: the best of several starts, then its component is taken away."""
    k = len(tensor)
    deflated, vectors = tensor.copy(), np.empty((k, k))
    for component in range(k):
        starts = rng.normal(size=(k, _STARTS))
        starts /= np.linalg.norm(starts, axis=0)
        starts = _power_steps(deflated, starts, _POWERS)
        reached = (_images(deflated, starts) * starts).sum(axis=0)
        best = _power_steps(deflated, starts[:, [reached.argmax()]], _POWERS)[:, 0]
        value = deflated @ best @ best @ best
        deflated -= value * np.einsum("i,j,k->ijk", best, best, best)
        vectors[:, component] = best
    return vectors


def _power_steps(tensor: Array, vectors: Array, n_steps: int) -> Array:
    for _ in range(n_steps):
        images = _images(tensor, vectors)
        lengths = np.linalg.norm(images, axis=0)
        vectors = np.where(lengths > 0, images / np.where(lengths > 0, lengths, 1.0), vectors)
    return vectors


def _mixture(tensor: Array, rng: np.random.Generator) -> Array:
    """Eigenvectors of the slices, mixed by chance."""
    mixed = tensor @ rng.normal(size=len(tensor))
    return np.asarray(np.linalg.eigh(0.5 * (mixed + mixed.T))[1])


def _least_squares(tensor: Array, rng: np.random.Generator) -> Array:
    """Alternating least squares from several starts; the one that leaves least."""
    k = len(tensor)
    flat = tensor.reshape(k, k * k)
    best, least = np.eye(k), np.inf
    for _ in range(_ALS_STARTS):
        sides = [rng.normal(size=(k, k)) for _ in range(3)]
        before = np.inf
        for _ in range(_ALS_STEPS):
            for place in range(3):
                one, two = sides[place - 2], sides[place - 1]
                both = (one[:, None] * two).reshape(k * k, k)
                sides[place] = flat @ both @ np.linalg.pinv((one.T @ one) * (two.T @ two))
            both = (sides[1][:, None] * sides[2]).reshape(k * k, k)
            left = float(np.square(flat - sides[0] @ both.T).sum())
            if before - left < _ALS_LEFT * np.square(flat).sum():
                break
            before = left
        if left < least:
            best, least = sides[0], left
    lengths = np.linalg.norm(best, axis=0)
    return np.asarray(best / np.where(lengths > 0, lengths, 1.0))
