"""Gaussian distributions, and Gaussian trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ArgumentError
from tacit.trees.structure.distance_matrices import maximum_spanning_tree
from tacit.trees.structure.topology import Topology

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

# Largest correlation along an edge: equal variables would have no density.
MAX_CORRELATION = 1.0 - 1e-9


@dataclass(frozen=True, eq=False)
class Gaussian:
    """A Gaussian distribution over numbered coordinates.

    Examples
    --------
    >>> Gaussian(np.zeros(2), np.array([[2.0, 1.0], [1.0, 2.0]])).scale.round(4)
    array([1.4142, 1.4142])
    """

    mean: Array  # (coordinate,)
    covariance: Array  # (coordinate, coordinate)  symmetric, positive definite

    def __post_init__(self) -> None:
        """Check the shapes."""
        d = len(self.mean)
        if self.mean.shape != (d,) or self.covariance.shape != (d, d):
            raise ArgumentError(
                f"a mean of shape {self.mean.shape} does not fit a covariance of shape "
                f"{self.covariance.shape}"
            )

    @cached_property
    def factor(self) -> Array:
        """The lower triangular L with L L' = covariance."""
        try:
            return np.asarray(np.linalg.cholesky(self.covariance))
        except np.linalg.LinAlgError as error:
            raise ArgumentError(
                "the covariance is not positive definite: some columns are functions of others; "
                "use a larger prior, or remove such columns"
            ) from error

    @cached_property
    def precision(self) -> Array:
        """The inverse of the covariance."""
        from scipy.linalg import solve_triangular

        whitener = solve_triangular(self.factor, np.eye(len(self.mean)), lower=True)
        return np.asarray(whitener.T @ whitener)

    @cached_property
    def log_det(self) -> float:
        """Natural logarithm of the determinant of the covariance."""
        return float(2.0 * np.log(np.diag(self.factor)).sum())

    @property
    def scale(self) -> Array:
        """The standard deviation of each coordinate."""
        return np.asarray(np.sqrt(np.diag(self.covariance)))

    def shrunk(self, other: Gaussian, weight: float) -> Gaussian:
        """Mean and covariance shrunk towards another Gaussian's, which has this weight."""
        return Gaussian(
            (1.0 - weight) * self.mean + weight * other.mean,
            (1.0 - weight) * self.covariance + weight * other.covariance,
        )


@dataclass(frozen=True, eq=False)
class CorrelationTree:
    """Standardised Gaussian variables on a tree: every node is a multiple of its parent plus noise.

    Nodes are numbers: the observed variables first, in the order of the columns, hidden nodes after them.
    Every node has mean zero and variance one, so that the correlation of two nodes is the product of those
    along the path between them.
    """

    n_observed: int
    parent: Integers  # (node,)  -1 at the root
    order: Integers  # (node,)  parents before children
    correlation: Array  # (node,)  with the parent; 1 at the root, where it has no meaning

    @classmethod
    def of(
        cls, topology: Topology, names: Sequence[str], signs: Array | None = None
    ) -> CorrelationTree:
        """The tree of a topology: an edge of length l has the correlation exp(-l) (Choi et al. 2011).

        Parameters
        ----------
        topology : Topology
            Every edge has a length.
        names : sequence of str
            The observed variables, in the order of the columns.
        signs : (column,) of 1 and -1, optional
            Which columns are reversed; see `consistent_signs`. Without it all correlations are positive.
        """
        tree = topology.contracted()
        number = {name: place for place, name in enumerate([*names, *tree.hidden])}
        near: list[list[tuple[int, float]]] = [[] for _ in number]
        for (one, other), length in zip(tree.edges, tree.lengths, strict=True):
            if length is None:
                raise ArgumentError(f"the edge between {one!r} and {other!r} has no length")
            near[number[one]].append((number[other], length))
            near[number[other]].append((number[one], length))
        n = len(number)
        root = n - 1  # any node
        parent, correlation, order = np.full(n, -1), np.ones(n), [root]
        for node in order:  # grows while it is read
            for next_node, length in near[node]:
                if next_node != parent[node]:
                    parent[next_node], correlation[next_node] = node, np.exp(-length)
                    order.append(next_node)
        if (
            signs is not None
        ):  # hidden nodes stay as they are; along a path their signs would cancel
            all_signs = np.concatenate([signs, np.ones(n - len(names))])
            below = parent >= 0
            correlation[below] *= all_signs[below] * all_signs[parent[below]]
        return cls(
            len(names),
            parent,
            np.array(order),
            np.clip(correlation, -MAX_CORRELATION, MAX_CORRELATION),
        )

    def replaced(self, correlation: Array) -> CorrelationTree:
        """The same tree with other correlations along its edges."""
        return CorrelationTree(
            self.n_observed,
            self.parent,
            self.order,
            np.clip(correlation, -MAX_CORRELATION, MAX_CORRELATION),
        )

    @cached_property
    def matrix(self) -> Array:
        """Correlations of all nodes: (node, node)."""
        matrix = np.eye(len(self.parent))
        for place, node in enumerate(self.order[1:].tolist(), start=1):
            done = self.order[:place]
            matrix[node, done] = matrix[done, node] = (
                self.correlation[node] * matrix[self.parent[node], done]
            )
        return matrix

    @property
    def observed(self) -> Array:
        """Correlations of the observed variables: (column, column)."""
        return np.asarray(self.matrix[: self.n_observed, : self.n_observed])

    def gaussian(self, mean: Array, scale: Array) -> Gaussian:
        """The Gaussian of columns that have these means and standard deviations."""
        return Gaussian(mean, self.observed * np.multiply.outer(scale, scale))

    def lengths(self) -> Array:
        """The length of the edge above each node, ``-log |correlation|``; zero at the root: (node,)."""
        return np.asarray(-np.log(np.maximum(np.abs(self.correlation), 1e-300)))


def with_lengths(topology: Topology, names: Sequence[str], tree: CorrelationTree) -> Topology:
    """The topology with the lengths of a tree that was made from it."""
    tree_shape = topology.contracted()
    number = {name: place for place, name in enumerate([*names, *tree_shape.hidden])}
    lengths = tree.lengths()

    def length(one: str, other: str) -> float:
        a, b = number[one], number[other]
        return float(lengths[a] if tree.parent[a] == b else lengths[b])

    return Topology(
        nodes=tree_shape.nodes,
        edges=tree_shape.edges,
        observed=tree_shape.observed,
        lengths=tuple(length(*pair) for pair in tree_shape.edges),
        n_states=tree_shape.n_states,
    )


def consistent_signs(correlation: Array) -> Array:
    """(column,) 1 or -1, so that the product of two of them is the sign of their correlation.

    On a tree such signs always exist. Where they do not, because of noise or because there is no tree, the
    signs follow a maximum spanning tree of the absolute correlations, and are then flipped one by one as long
    as the sum of correlations with the right sign grows. The first column has 1.

    Parameters
    ----------
    correlation : (column, column)

    Examples
    --------
    >>> consistent_signs(np.array([[1.0, -0.5, 0.2], [-0.5, 1.0, -0.4], [0.2, -0.4, 1.0]]))
    array([ 1., -1.,  1.])
    """
    n = len(correlation)
    signs = np.ones(n)
    if n < 2:
        return signs
    for known, new in maximum_spanning_tree(np.abs(correlation)).tolist():  # in order of joining
        signs[new] = signs[known] * (-1.0 if correlation[known, new] < 0 else 1.0)
    off_diagonal = correlation - np.diag(np.diag(correlation))
    for _ in range(
        4 * n
    ):  # each flip makes the sum larger; the limit guards against rounding errors
        agreement = signs * (off_diagonal @ signs)
        worst = int(np.argmin(agreement))
        if agreement[worst] >= -1e-12:
            break
        signs[worst] = -signs[worst]
    return np.asarray(signs * signs[0])
