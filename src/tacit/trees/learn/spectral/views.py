"""Three views of a hidden state, for many hidden nodes at once: loadings, states, means.

All arrays have a first axis of nodes, left out in the comments. Views are centred features of variance one,
independent given the state.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# The largest share of a feature's variance that its hidden state may explain.
MOST_EXPLAINED = 0.98
# The least share of the rows that a state starts with, times the number of states.
LEAST_SHARE = 0.3
_SINE = 1e-8  # of a rotation that still counts


def decompose(covariance: Array, third: Array, noise: float) -> tuple[Array, Array]:
    """Shares of the states, and the means of the three views in each.

    Parameters
    ----------
    covariance : (3 r, 3 r) array
        Of the three views side by side.
    third : (r, r, r) array
        E[a b c].
    noise : float
        The size of a covariance that cannot be distinguished from zero.

    Returns
    -------
    shares : (k,)
    means : (3, r, k)
    """
    n, r = third.shape[:2]
    if r == 1:
        return _decompose_two(covariance, third[:, 0, 0, 0], noise)
    blocks = covariance.reshape(n, 3, r, 3, r)
    every = np.arange(n)
    # The two views that follow each other best carry the third one.
    pairs = np.stack([blocks[:, (g + 1) % 3, :, (g + 2) % 3, :] for g in range(3)], axis=1)
    smallest = np.linalg.svd(pairs, compute_uv=False)[:, :, -1]
    last = smallest.argmax(axis=1)
    first, second = (last + 1) % 3, (last + 2) % 3
    ab = blocks[every, first, :, second, :]
    ac = blocks[every, first, :, last, :]
    bc = blocks[every, second, :, last, :]
    turned = np.where(
        (last == 2)[:, None, None, None],
        third,
        np.where(
            (last == 0)[:, None, None, None],
            third.transpose(0, 2, 3, 1),
            third.transpose(0, 3, 1, 2),
        ),
    )
    loadings = view_loadings(ab, ac, bc, noise)
    shares, points = hidden_points(loadings, turned, noise)
    means = np.empty((n, 3, r, r + 1))
    for which, loading in zip((first, second, last), loadings, strict=True):
        means[every, which] = loading @ points
    return shares, means


def _decompose_two(covariance: Array, third: Array, noise: float) -> tuple[Array, Array]:
    """The same as `decompose` for two states, where all matrices are numbers: the most common case by far."""
    n = len(third)
    every = np.arange(n)
    pairs = np.stack([covariance[:, (g + 1) % 3, (g + 2) % 3] for g in range(3)], axis=1)
    last = np.abs(pairs).argmax(axis=1)
    ab, bc, ac = (pairs[every, (last + shift) % 3] for shift in range(3))
    low = max(0.5 * noise, 1e-12)
    sign = np.where(ab < 0, -1.0, 1.0)
    size = np.clip(np.abs(ab), low, MOST_EXPLAINED)
    bound = MOST_EXPLAINED / size
    share = (sign * ac * bc + noise**2) / (bc * bc + noise**2)
    share = np.sqrt(np.clip(share, 1 / bound, bound))
    root = np.sqrt(size)
    of_a, of_b = sign * root * share, root / share
    of_c = (ac * of_a + bc * of_b) / (of_a**2 + of_b**2 + noise**2)
    most = np.sqrt(MOST_EXPLAINED)
    loadings = [np.clip(each, -most, most) for each in (of_a, of_b, of_c)]
    skew = third
    for each in loadings:
        skew = skew * each / (each**2 + noise**2)
    # The eigenvectors of [[0, 1], [1, skew]].
    angle = 0.5 * np.arctan2(2.0, -skew)
    turn = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    shares = np.maximum(turn**2, LEAST_SHARE / 2)
    shares /= shares.sum(axis=1, keepdims=True)
    points = np.stack([turn[:, 1], -turn[:, 0]], axis=1) / np.sqrt(shares)
    means = np.empty((n, 3, 1, 2))
    for shift, loading in zip((1, 2, 0), loadings, strict=True):
        means[every, (last + shift) % 3, 0] = loading[:, None] * points
    return shares, means


def view_loadings(ab: Array, ac: Array, bc: Array, noise: float) -> tuple[Array, Array, Array]:
    """How three views load on the same standardised hidden coordinates, from their covariances.

    The product of the loadings of the two views a and b is what their covariance says; how it is shared
    between them follows from the third view, as far as it is above the noise.
    """
    r = ab.shape[1]
    left, sizes, right = np.linalg.svd(ab)
    low = max(0.5 * noise, 1e-12)
    roots = np.sqrt(np.clip(sizes, low, MOST_EXPLAINED))
    x = _turned(left) @ ac / roots[:, :, None]
    y = right @ bc / roots[:, :, None]
    damp = (noise**2 / np.maximum(roots[:, -1] ** 2, low))[:, None, None] * np.eye(r)
    cross, gram = x @ _turned(y) + damp, y @ _turned(y) + damp
    share = np.linalg.solve(gram, _turned(cross))
    share = 0.5 * (share + _turned(share))
    bound = (MOST_EXPLAINED / roots[:, 0] ** 2)[:, None]
    values, directions = np.linalg.eigh(share)
    values = np.sqrt(np.clip(values, 1 / bound, bound))[:, None, :]
    half = (directions * values) @ _turned(directions)
    back = (directions / values) @ _turned(directions)
    of_a = (left * roots[:, None, :]) @ half
    of_b = (_turned(right) * roots[:, None, :]) @ back
    both = np.concatenate([of_a, of_b], axis=1)
    of_c = _turned(np.concatenate([ac, bc], axis=1)) @ _turned(_damped_inverse(both, noise))
    return capped(of_a), capped(of_b), capped(of_c)


def hidden_points(
    loadings: tuple[Array, Array, Array], third: Array, noise: float
) -> tuple[Array, Array]:
    """Shares of the hidden states, and where each stands in the hidden coordinates.

    Brings the third moment into the hidden coordinates and turns it diagonal (Anandkumar et al. 2012), with a
    constant coordinate in front that carries the shares.
    """
    n, r = third.shape[:2]
    k = r + 1
    cube = third
    for loading in loadings:
        # The next axis is turned, and becomes the last one.
        inverse = _damped_inverse(loading, noise)
        cube = np.moveaxis((inverse @ cube.reshape(n, r, r * r)).reshape(n, r, r, r), 1, 3)
    orders = ((1, 2, 3), (2, 1, 3), (1, 3, 2), (3, 1, 2), (2, 3, 1), (3, 2, 1))
    cube = np.mean([cube.transpose(0, *order) for order in orders], axis=0)
    slices = np.zeros((n, r, k, k))
    slices[:, :, 1:, 1:] = cube
    for j in range(r):
        slices[:, j, 0, 1 + j] = slices[:, j, 1 + j, 0] = 1.0
    turn = joint_turn(slices)
    turn = turn * np.where(turn[:, :1] < 0, -1.0, 1.0)
    shares = np.maximum(turn[:, 0] ** 2, LEAST_SHARE / k)
    shares /= shares.sum(axis=1, keepdims=True)
    return shares, turn[:, 1:] / np.sqrt(shares)[:, None, :]


def joint_turn(slices: Array, sweeps: int = 50) -> Array:
    """The rotation that makes several symmetric matrices as diagonal as can be, by Jacobi's rotations.

    Cardoso and Souloumiac (1996), for real matrices.

    Parameters
    ----------
    slices : (slice, k, k) array
    """
    from tacit.core.loops.joint_diagonalisation import rotate_jointly

    n, _, k, _ = slices.shape
    turn = np.broadcast_to(np.eye(k), (n, k, k)).copy()
    for own, its_turn in zip(slices, turn, strict=True):
        rotate_jointly(np.ascontiguousarray(own.transpose(1, 2, 0)), its_turn, _SINE, sweeps)
    return turn


def means_given(covariance: Array, others: Array, shares: Array, noise: float) -> Array:
    """E[f | state] of a feature of variance one, from its covariance with views whose means are known.

    Shrunk where the covariances are no larger than the noise, and where the states would explain more than
    the feature's whole variance.

    Parameters
    ----------
    covariance : (f, view) array
    others : (view, k) array
    shares : (k,) array
    noise : float

    Returns
    -------
    (f, k) array
    """
    weighted = others * shares[:, None, :]
    gram = _turned(weighted) @ weighted + shares[:, :, None] * shares[:, None, :]
    gram += noise**2 * shares[:, :, None] * np.eye(shares.shape[1])
    found: Array = _turned(np.linalg.solve(gram, _turned(covariance @ weighted))).astype(np.float64)
    found -= found @ shares[:, :, None]
    roots = np.sqrt(shares)[:, None, :]
    return capped(found * roots) / roots


def capped(loadings: Array) -> Array:
    """Loadings shrunk along directions where they explain more than nearly all of a variance of one."""
    if (loadings**2).sum(axis=(1, 2)).max(initial=0.0) <= MOST_EXPLAINED:
        return loadings
    values, directions = np.linalg.eigh(_turned(loadings) @ loadings)
    shrink = np.sqrt(MOST_EXPLAINED / np.maximum(values, MOST_EXPLAINED))
    shrunk: Array = loadings @ ((directions * shrink[:, None, :]) @ _turned(directions))
    return shrunk


def _damped_inverse(loadings: Array, noise: float) -> Array:
    """Left inverse of loadings that vanishes where they are no larger than the noise."""
    turned = _turned(loadings)
    gram = turned @ loadings
    inverse: Array = np.linalg.solve(gram + noise**2 * np.eye(gram.shape[1]), turned)
    return inverse


def _turned(matrices: NDArray[Any]) -> NDArray[Any]:
    return np.swapaxes(matrices, -1, -2)
