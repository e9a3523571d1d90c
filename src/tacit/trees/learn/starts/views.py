"""Three views of a hidden state, for many hidden nodes at once: loadings, states, means.

All arrays have a first axis of nodes, left out in the comments. Views are centred features of variance one,
independent given the state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from tacit.trees.learn.starts.branches import Features
    from tacit.trees.learn.starts.plan import TablePlan

Array = NDArray[np.float64]

# The largest fraction of a feature's variance that its hidden state may explain.
MOST_EXPLAINED = 0.98
# The least initial weight of a state, times the number of states.
LEAST_WEIGHT = 0.3
# A covariance below so many standard errors cannot be distinguished from zero; of 0.5 to 14, eight was best.
NOISE = 8.0
MOST_NOISE = 0.8  # as for a hundred rows; fewer rows would find nothing otherwise
_SINE = 1e-8  # of a rotation that still counts


def noise_level(n_rows: float) -> float:
    """The size of a covariance that cannot be distinguished from zero."""
    return float(min(NOISE / np.sqrt(n_rows), MOST_NOISE))


def states_from_views(
    plan: TablePlan, features: Features, third: Array, noise: float
) -> tuple[Array, Array]:
    """Weights (node, state) of the states, and E[feature of a child | state of its parent] by row."""
    n = len(plan.features.sizes) // 5
    child_means = np.zeros((int(plan.features.begins[n]), plan.widest))
    weights = np.zeros((n, plan.widest))
    weights[:, 0] = 1.0
    means: dict[int, Array] = {}
    for rank, group in plan.views.items():
        covariance = features.follows[group.rows] @ np.swapaxes(features.weights[group.rows], 1, 2)
        cubes = third[group.cells].reshape(-1, rank, rank, rank)
        weights[group.nodes, : rank + 1], means[rank] = decompose(covariance, cubes, noise)
    for (_, rank), children in plan.children.items():
        covariance = features.follows[children.rows] @ np.swapaxes(
            features.weights[children.views], 1, 2
        )
        others = means[rank][children.places[:, None], children.others]
        others = others.reshape(len(others), 2 * rank, rank + 1)
        parents = plan.views[rank].nodes[children.places]
        child_means[children.rows, : rank + 1] = means_given(
            covariance, others, weights[parents, : rank + 1], noise
        )
    return weights, child_means


def decompose(covariance: Array, third: Array, noise: float) -> tuple[Array, Array]:
    """Weights of the states, and the means of the three views in each.

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
    weights : (k,)
    means : (3, r, k)
    """
    n, r = third.shape[:2]
    if r == 1:
        return _decompose_two(covariance, third[:, 0, 0, 0], noise)
    blocks = covariance.reshape(n, 3, r, 3, r)
    every = np.arange(n)
    # The two views with the largest covariance determine the loading of the third.
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
    weights, points = hidden_points(loadings, turned, noise)
    means = np.empty((n, 3, r, r + 1))
    for view, loading in zip((first, second, last), loadings, strict=True):
        means[every, view] = loading @ points
    return weights, means


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
    ratio = (sign * ac * bc + noise**2) / (bc * bc + noise**2)
    ratio = np.sqrt(np.clip(ratio, 1 / bound, bound))
    root = np.sqrt(size)
    of_a, of_b = sign * root * ratio, root / ratio
    of_c = (ac * of_a + bc * of_b) / (of_a**2 + of_b**2 + noise**2)
    most = np.sqrt(MOST_EXPLAINED)
    loadings = [np.clip(loading, -most, most) for loading in (of_a, of_b, of_c)]
    skew = third
    for loading in loadings:
        skew = skew * loading / (loading**2 + noise**2)
    # The eigenvectors of [[0, 1], [1, skew]].
    angle = 0.5 * np.arctan2(2.0, -skew)
    turn = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    weights = np.maximum(turn**2, LEAST_WEIGHT / 2)
    weights /= weights.sum(axis=1, keepdims=True)
    points = np.stack([turn[:, 1], -turn[:, 0]], axis=1) / np.sqrt(weights)
    means = np.empty((n, 3, 1, 2))
    for shift, loading in zip((1, 2, 0), loadings, strict=True):
        means[every, (last + shift) % 3, 0] = loading[:, None] * points
    return weights, means


def view_loadings(ab: Array, ac: Array, bc: Array, noise: float) -> tuple[Array, Array, Array]:
    """How three views load on the same standardised hidden coordinates, from their covariances.

    The product of the loadings of the views a and b is their covariance; how it divides between the two
    follows from the third view, as far as it is above the noise.
    """
    r = ab.shape[1]
    left, sizes, right = np.linalg.svd(ab)
    low = max(0.5 * noise, 1e-12)
    roots = np.sqrt(np.clip(sizes, low, MOST_EXPLAINED))
    x = _transposed(left) @ ac / roots[:, :, None]
    y = right @ bc / roots[:, :, None]
    damp = (noise**2 / np.maximum(roots[:, -1] ** 2, low))[:, None, None] * np.eye(r)
    cross, gram = x @ _transposed(y) + damp, y @ _transposed(y) + damp
    ratio = np.linalg.solve(gram, _transposed(cross))
    ratio = 0.5 * (ratio + _transposed(ratio))
    bound = (MOST_EXPLAINED / roots[:, 0] ** 2)[:, None]
    values, directions = np.linalg.eigh(ratio)
    values = np.sqrt(np.clip(values, 1 / bound, bound))[:, None, :]
    half = (directions * values) @ _transposed(directions)
    inverse_half = (directions / values) @ _transposed(directions)
    of_a = (left * roots[:, None, :]) @ half
    of_b = (_transposed(right) * roots[:, None, :]) @ inverse_half
    both = np.concatenate([of_a, of_b], axis=1)
    of_c = _transposed(np.concatenate([ac, bc], axis=1)) @ _transposed(_damped_inverse(both, noise))
    return capped(of_a), capped(of_b), capped(of_c)


def hidden_points(
    loadings: tuple[Array, Array, Array], third: Array, noise: float
) -> tuple[Array, Array]:
    """Weights of the hidden states, and the position of each in the hidden coordinates.

    Brings the third moment into the hidden coordinates and diagonalises it (Anandkumar et al. 2012), with a
    constant coordinate in front that carries the weights.
    """
    n, r = third.shape[:2]
    k = r + 1
    cube = third
    for loading in loadings:
        # The next axis is transformed, and becomes the last one.
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
    weights = np.maximum(turn[:, 0] ** 2, LEAST_WEIGHT / k)
    weights /= weights.sum(axis=1, keepdims=True)
    return weights, turn[:, 1:] / np.sqrt(weights)[:, None, :]


def joint_turn(slices: Array, sweeps: int = 50) -> Array:
    """The rotation that makes several symmetric matrices as diagonal as can be, by Jacobi's rotations.

    Cardoso and Souloumiac (1996), for real matrices.

    Parameters
    ----------
    slices : (slice, k, k) array
    """
    from tacit.core.loops.jacobi import rotate_jointly

    n, _, k, _ = slices.shape
    turn = np.broadcast_to(np.eye(k), (n, k, k)).copy()
    for of_node, rotation in zip(slices, turn, strict=True):
        rotate_jointly(np.ascontiguousarray(of_node.transpose(1, 2, 0)), rotation, _SINE, sweeps)
    return turn


def means_given(covariance: Array, others: Array, weights: Array, noise: float) -> Array:
    """E[f | state] of a feature of variance one, from its covariance with views whose means are known.

    Shrunk where the covariances are no larger than the noise, and where the states would explain more
    than the variance of the feature.

    Parameters
    ----------
    covariance : (f, view) array
    others : (view, k) array
    weights : (k,) array
    noise : float

    Returns
    -------
    (f, k) array
    """
    weighted = others * weights[:, None, :]
    gram = _transposed(weighted) @ weighted + weights[:, :, None] * weights[:, None, :]
    gram += noise**2 * weights[:, :, None] * np.eye(weights.shape[1])
    means: Array = _transposed(np.linalg.solve(gram, _transposed(covariance @ weighted))).astype(
        np.float64
    )
    means -= means @ weights[:, :, None]
    roots = np.sqrt(weights)[:, None, :]
    return capped(means * roots) / roots


def capped(loadings: Array) -> Array:
    """Loadings shrunk along directions where they explain more than nearly all of a variance of one."""
    if (loadings**2).sum(axis=(1, 2)).max(initial=0.0) <= MOST_EXPLAINED:
        return loadings
    values, directions = np.linalg.eigh(_transposed(loadings) @ loadings)
    shrink = np.sqrt(MOST_EXPLAINED / np.maximum(values, MOST_EXPLAINED))
    shrunk: Array = loadings @ ((directions * shrink[:, None, :]) @ _transposed(directions))
    return shrunk


def _damped_inverse(loadings: Array, noise: float) -> Array:
    """Left inverse of loadings that vanishes where they are no larger than the noise."""
    turned = _transposed(loadings)
    gram = turned @ loadings
    inverse: Array = np.linalg.solve(gram + noise**2 * np.eye(gram.shape[1]), turned)
    return inverse


def _transposed(matrices: NDArray[Any]) -> NDArray[Any]:
    return np.swapaxes(matrices, -1, -2)
