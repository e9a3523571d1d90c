"""Features of the leaves near a hidden node that show its state: canonical directions of the edges around it.

For every edge of a tree, canonical correlation analysis of the leaves near it on one side and on the other,
from pair correlations alone. The state of a node makes its branches depend on each other, so the canonical
pairs of all its edges, weighted by their correlations, then reduced to principal directions, are features
in which rows of different states lie apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.messages.rooted_tree import RootedTree

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

NEAR = 40  # leaves on each side of an edge that are used
PAIRS = 8  # canonical pairs of an edge
RIDGE = 0.1  # added to the correlations of either side: directions that hardly vary are noise
DIMENSIONS = 12  # of a node's features
MOST_SOURCES = 64  # directions that these are made of, those of the largest correlations


@dataclass(frozen=True, eq=False)
class Contrasts:
    """The categories of every leaf as uncorrelated columns of mean zero and variance one.

    A leaf with c categories has c-1 of them. Categories that never occur reduce the variance.
    """

    starts: Integers  # (leaf + 1,)  where each leaf's contrasts start among those of all
    correlation: Array  # (contrast, contrast)
    values: tuple[Array, ...]  # per leaf: (category, contrast)

    @staticmethod
    def of(correlation: Array, marginals: Array, cards: Sequence[int]) -> Contrasts:
        """Contrasts from the correlation of the standardised indicators of all categories.

        Parameters
        ----------
        correlation : (category of every leaf, same) array
            See `indicator_correlation`.
        marginals : (category of every leaf,) array
            The distributions of all leaves, one after the other.
        cards : sequence of int
            Number of categories of each leaf.
        """
        from scipy.sparse import block_diag

        turns, values = [], []
        ends = np.cumsum(cards)
        for end, card in zip(ends.tolist(), cards, strict=True):
            probabilities = marginals[end - card : end]
            turn = _away_from(np.sqrt(probabilities))
            scale = np.zeros(card)
            np.divide(1.0, np.sqrt(probabilities), out=scale, where=probabilities > 0)
            turns.append(turn)
            values.append(turn * scale[:, None])
        every: Any = block_diag(turns, format="csr")
        turned = np.asarray((every.T @ (every.T @ correlation).T).T)
        starts = np.concatenate([[0], np.cumsum([turn.shape[1] for turn in turns])])
        return Contrasts(starts.astype(np.int64), turned, tuple(values))

    def columns(self, leaves: Sequence[int]) -> Integers:
        """The positions of the contrasts of some leaves."""
        parts = [np.arange(self.starts[leaf], self.starts[leaf + 1]) for leaf in leaves]
        return np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)


def _away_from(direction: Array) -> Array:
    """Orthonormal columns, orthogonal to a direction: (n, n-1)."""
    n = len(direction)
    reflected = direction / max(float(np.linalg.norm(direction)), 1e-300)
    sign = 1.0 if reflected[0] >= 0 else -1.0
    reflected[0] += sign
    turn = np.eye(n) - np.outer(reflected, reflected) * (2 / (reflected @ reflected))
    return turn[:, 1:]


@dataclass(frozen=True, eq=False)
class Side:
    """One side of an edge: the contrasts near it, and its canonical directions times their correlations."""

    columns: Integers  # (column,)
    weights: Array  # (column, pair)
    strength: Array  # (pair,)


@dataclass(frozen=True, eq=False)
class NodeFeatures:
    """A linear map from the categories of some leaves to the features of a hidden node."""

    leaves: Integers  # (leaf,)
    starts: Integers  # (leaf,)  where each leaf's categories start in `values`
    values: NDArray[np.float32]  # (category of these leaves, dimension)


def near_leaves(tree: RootedTree, start: int, avoid: int, most: int = NEAR) -> list[int]:
    """The leaves nearest to a node by hops, not through the neighbour `avoid`; nearest first."""
    leaves = [start] if start < tree.n_leaves else []
    front = [(start, avoid)]
    parent = tree.parent
    while front and len(leaves) < most:
        ahead = []
        for node, behind in front:
            above = int(parent[node])
            for other in (*tree.children[node], above):
                if other not in (behind, -1):
                    if other < tree.n_leaves:
                        leaves.append(other)
                    else:
                        ahead.append((other, node))
        front = ahead
    return leaves[:most]


def edge_sides(tree: RootedTree, contrasts: Contrasts) -> dict[int, tuple[Side, Side]]:
    """The canonical directions below and above the edge of every node to its parent."""
    sides = {}
    for node in range(tree.root):
        above = int(tree.parent[node])
        inside = contrasts.columns(near_leaves(tree, node, above))
        outside = contrasts.columns(near_leaves(tree, above, node))
        sides[node] = canonical_sides(contrasts.correlation, inside, outside)
    return sides


def canonical_sides(correlation: Array, inside: Integers, outside: Integers) -> tuple[Side, Side]:
    """The leading canonical directions of two groups of columns, times their correlations (ridge CCA)."""
    from scipy.linalg import solve_triangular

    if not len(inside) or not len(outside):
        return _no_pairs(inside), _no_pairs(outside)
    low, high = (_root(correlation[np.ix_(at, at)]) for at in (inside, outside))
    between = solve_triangular(
        low, correlation[np.ix_(inside, outside)], lower=True, check_finite=False
    )
    between = solve_triangular(high, between.T, lower=True, check_finite=False).T
    left, strength, right = np.linalg.svd(between, full_matrices=False)
    count = min(PAIRS, len(strength))
    sides = []
    for root, at, turn in ((low, inside, left[:, :count]), (high, outside, right[:count].T)):
        weights = solve_triangular(root, turn, lower=True, trans="T", check_finite=False)
        sides.append(Side(at, weights * strength[:count], strength[:count]))
    return sides[0], sides[1]


def _no_pairs(columns: Integers) -> Side:
    return Side(columns, np.zeros((len(columns), 0)), np.zeros(0))


def _root(correlation: Array) -> Array:
    """The lower triangular root of a correlation matrix with a ridge.

    Correlations over the rows that have both cells may be inconsistent: negative eigenvalues are dropped.
    """
    ridge = RIDGE * np.eye(len(correlation))
    try:
        root = np.linalg.cholesky(correlation + ridge)
    except np.linalg.LinAlgError:
        sizes, vectors = np.linalg.eigh(correlation)
        root = np.linalg.cholesky((vectors * np.maximum(sizes, 0.0)) @ vectors.T + ridge)
    return np.asarray(root, dtype=np.float64)


def node_features(
    tree: RootedTree,
    node: int,
    contrasts: Contrasts,
    sides: dict[int, tuple[Side, Side]],
    cards: Sequence[int],
) -> NodeFeatures:
    """The principal directions of the canonical pairs of all edges of a hidden node.

    Parameters
    ----------
    tree : RootedTree
    node : int
    contrasts : Contrasts
    sides : dict
        See `edge_sides`.
    cards : sequence of int
        Number of categories of each leaf.
    """
    edges = [*tree.children[node], *([node] if node != tree.root else [])]
    around = [side for edge in edges for side in sides[edge]]
    strength = np.concatenate([np.zeros(0), *(side.strength for side in around)])
    # Pairs of no strength are as many as there are constant columns, and add nothing.
    least = max(np.sort(strength)[-MOST_SOURCES], 1e-9) if len(strength) > MOST_SOURCES else 0.0
    selected = [(side, np.flatnonzero(side.strength >= least)) for side in around]
    selected = [(side, pairs) for side, pairs in selected if len(pairs)]
    columns = np.unique(np.concatenate([np.empty(0, np.int64), *(s.columns for s, _ in selected)]))
    directions = np.zeros((len(columns), sum(len(pairs) for _, pairs in selected)))
    at = 0
    for side, pairs in selected:
        places = np.searchsorted(columns, side.columns)
        directions[places, at : at + len(pairs)] = side.weights[:, pairs]
        at += len(pairs)
    spread = directions.T @ contrasts.correlation[np.ix_(columns, columns)] @ directions
    _, vectors = np.linalg.eigh(spread)
    weights = directions @ vectors[:, ::-1][:, :DIMENSIONS]
    return _by_category(contrasts, columns, weights, cards)


def _by_category(
    contrasts: Contrasts, columns: Integers, weights: Array, cards: Sequence[int]
) -> NodeFeatures:
    """The contribution of each category of each leaf to the features."""
    of_column = np.searchsorted(contrasts.starts, columns, side="right") - 1
    leaves, firsts = np.unique(of_column, return_index=True)
    bounds = pairwise([*firsts.tolist(), len(columns)])
    parts = [
        contrasts.values[leaf] @ weights[first:end]
        for leaf, (first, end) in zip(leaves.tolist(), bounds, strict=True)
    ]
    sizes = np.array([cards[leaf] for leaf in leaves.tolist()], dtype=np.int64)
    values = np.concatenate([np.zeros((0, weights.shape[1])), *parts])
    starts = np.cumsum(sizes) - sizes
    return NodeFeatures(leaves.astype(np.int64), starts, np.ascontiguousarray(values, np.float32))
