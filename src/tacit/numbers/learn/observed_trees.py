"""Kernel trees without hidden variables (thesis, section 2.3.4; Song et al. 2011, kernel belief propagation).

Every variable is observed, and a message to a variable is a function of it. An inner variable takes the
product of the messages of its neighbours, and the conditional embedding operator ``C_YX C_XX^-1``
(equation 2.40) turns a function of one variable into its conditional mean given the next. A function is held
by its values at the pivots of the variable's kernel features, so that a product is one of numbers; between
the pivots it is their kernel interpolant. Values of categories are held category by category.

What such a tree gives a row is the mean of the product of its cells' kernels under the tree: the density of
the tree, smoothed by the kernels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.encoders.encoders import IndicatorEncoder
from tacit.core.encoders.kernels import KernelEncoder
from tacit.core.encoders.vector_kernels import VectorKernelEncoder
from tacit.messages.network import Network, Pointwise

if TYPE_CHECKING:
    from tacit.messages.rooted_tree import RootedTree
    from tacit.trees.moments.feature_rows import FeatureMap
    from tacit.trees.moments.features import FeatureMoments, FeaturePairs

Array = NDArray[np.float64]

# The ridge, in rows. On a nonlinear tree of four columns half a row to five were about as good, twenty worse.
PSEUDO_ROWS = 1.0
# A direction whose variance is smaller than this, relative to the largest, does not vary.
_NO_VARIANCE = 1e-12


def is_observed(tree: RootedTree) -> bool:
    """Whether every node of a tree is an observed variable or repeats one."""
    return all(int(tree.copy_of[node]) >= 0 for node in tree.hidden)


@dataclass(frozen=True, eq=False)
class Points:
    """The points at which functions of a variable are held: pivots, or categories."""

    features: Array  # (point, feature)
    inverse: Array  # (feature, point)  coefficients of the interpolant of values at the points

    @staticmethod
    def of(encoder: FeatureMap) -> Points:
        """The points of a column."""
        if isinstance(encoder, IndicatorEncoder):
            return Points(np.eye(encoder.size), np.eye(encoder.size))
        assert isinstance(encoder, KernelEncoder | VectorKernelEncoder)
        return Points(encoder.pivot_features, encoder.inverse)


def observed_network(
    tree: RootedTree,
    moments: FeatureMoments,
    rank: int | None = None,
    *,
    pseudo_rows: float = PSEUDO_ROWS,
) -> tuple[Network, dict[str, Any]]:
    """A tree of conditional embedding operators, from moments of neighbours alone.

    Parameters
    ----------
    tree : RootedTree
        Every hidden node repeats a leaf.
    moments : FeatureMoments
        Of kernel features and indicators.
    rank : int, optional
        The largest rank of an operator: the constant and its rank - 1 leading canonical directions. None:
        all directions.
    pseudo_rows : float
        The ridge of the inverse of ``C_XX``, in rows. Without it, exact moments of variables whose
        values are all pivots give the exact tree.

    Returns
    -------
    Network
    dict
        ``"edges"``: the singular values of each edge that were kept and cut, by the name of its lower node.
    """
    pairs, encoders = moments.pairs(), moments.encoders
    points = [Points.of(encoder) for encoder in encoders]
    leaf_of = [*range(tree.n_leaves), *(int(tree.copy_of[node]) for node in tree.hidden)]
    roots = _inverse_roots(pairs, sorted(set(leaf_of[tree.n_leaves :])), pseudo_rows)
    emit: list[Array] = []
    nodes: list[Pointwise] = []
    edges: dict[str, dict[str, list[float]]] = {}
    for node, leaf in enumerate(leaf_of):
        inner = node >= tree.n_leaves
        if node == tree.root:
            nodes.append(Pointwise((pairs.marginal(leaf) @ points[leaf].inverse)[None]))
            continue
        above = leaf_of[tree.parent[node]]
        if above == leaf:
            emit.append(np.ascontiguousarray(points[leaf].features.T))
            continue
        operator, kept, cut = _conditional(pairs, points[above], roots[above], above, leaf, rank)
        edges[tree.names[leaf]] = {"kept": kept.tolist(), "cut": cut.tolist()}
        if inner:
            nodes.append(Pointwise(operator @ points[leaf].inverse))
        else:
            emit.append(np.ascontiguousarray(operator.T))
    total = tuple(
        np.asarray(encoder.total @ table) for encoder, table in zip(encoders, emit, strict=True)
    )
    return Network(tree, tuple(emit), total, tuple(nodes)), {"edges": edges}


def _inverse_roots(
    pairs: FeaturePairs, leaves: Sequence[int], pseudo_rows: float
) -> dict[int, Array]:
    """(feature, feature) The inverse root of the covariances of the features of some leaves."""
    roots = {}
    for leaf in leaves:
        span = slice(pairs.offsets[leaf], pairs.offsets[leaf + 1])
        sizes, vectors = np.linalg.eigh(pairs.covariances[span, span])
        varies = sizes > _NO_VARIANCE * max(sizes[-1], 0.0)
        ridge = pseudo_rows / max(float(pairs.supports[leaf, leaf]), 1.0)
        scale = 1 / np.sqrt(np.where(varies, sizes + ridge, 1.0))
        roots[leaf] = (vectors * np.where(varies, scale, 0.0)) @ vectors.T
    return roots


def _conditional(
    pairs: FeaturePairs, points: Points, root: Array, above: int, below: int, rank: int | None
) -> tuple[Array, Array, Array]:
    """(point above, feature below) Means of the features below given each point above; values kept and cut.

    The unconditional mean, and what the centred features above add to it. The singular values are those of
    the covariance whose side above is whitened, so that functions above are as short as they vary.
    """
    span_above = slice(pairs.offsets[above], pairs.offsets[above + 1])
    span_below = slice(pairs.offsets[below], pairs.offsets[below + 1])
    covariance = root @ pairs.covariances[span_above, span_below]
    left, values, right = np.linalg.svd(covariance, full_matrices=False)
    n_functions = len(values) if rank is None else min(rank - 1, len(values))
    mean = pairs.marginal(below)
    centred = points.features - pairs.marginal(above)
    slopes = centred @ root @ (left[:, :n_functions] * values[:n_functions]) @ right[:n_functions]
    return np.asarray(mean + slopes), values[:n_functions], values[n_functions:]
