"""What the printed sample sizes need to know of a model: singular values, numbers of states, shapes of trees.

The papers leave open which observed variables stand for the two sides of an edge. Here they are the ones with
the largest singular values, as Parikh et al. (2011), section 5.3, advise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ArgumentError

if TYPE_CHECKING:
    import networkx as nx

    from tacit.messages.network import Tables
    from tacit.sequences.model.chains import ChainTables

Array = NDArray[np.float64]

MOST_IN_A_SET = 3  # observed variables that stand for one side of a separator, at most
_ZERO = 1e-12  # singular values below are rounding errors


class KnownGraph(Protocol):
    """A directed graph of observed and hidden variables with known tables, as `tacit.toy.GraphModel` is."""

    @property
    def names(self) -> tuple[str, ...]:
        """Observed variables."""
        ...

    @property
    def tables(self) -> Mapping[str, Array]:
        """The table of every variable, its own axis last."""
        ...

    @property
    def graph(self) -> nx.DiGraph[str]:
        """The graph for networkx."""
        ...

    def marginal(self, names: Sequence[str]) -> Array:
        """The joint probabilities of some variables, an axis for each."""
        ...


def singular_value(matrix: Array, place: int) -> float:
    """The singular value at a place, counted from 1; 0 where the rank of the matrix is lower."""
    if place > min(matrix.shape):
        return 0.0
    value = float(np.linalg.svd(matrix, compute_uv=False)[place - 1])
    return value if value > _ZERO else 0.0


@dataclass(frozen=True, eq=False)
class TreeConstants:
    """Constants of a latent tree with known tables."""

    tables: Tables

    def __post_init__(self) -> None:
        tree = self.tables.tree
        copied = [tree.names[node] for node in tree.hidden if tree.copy_of[node] >= 0]
        if copied:
            raise ArgumentError(
                f"{copied[0]!r} is an observed inner node; the theorems are about trees whose inner nodes "
                "are hidden"
            )
        if tree.n_leaves < 2 or not tree.hidden:
            raise ArgumentError("the theorems need a hidden node with two leaves or more below it")

    @property
    def n_states(self) -> tuple[int, ...]:
        """(node,) Categories of leaves, states of hidden nodes."""
        return self.tables.layout.n_states

    @property
    def S_H(self) -> int:
        """States of a hidden node, the most."""
        return max(self.n_states[self.tables.tree.n_leaves :])

    @property
    def S_O(self) -> int:
        """Categories of a leaf, the most."""
        return max(self.n_states[: self.tables.tree.n_leaves])

    @property
    def max_degree(self) -> int:
        """Neighbours of a node, the most."""
        tree = self.tables.tree
        return max(tree.degree(node) for node in range(tree.n_nodes))

    @property
    def max_children(self) -> int:
        """Children of a node, the most."""
        return max(map(len, self.tables.tree.children))

    @cached_property
    def chain(self) -> int:
        """Hidden nodes on the longest path from the root to a leaf."""
        tree = self.tables.tree
        height = [0] * tree.n_nodes
        for node in tree.hidden:
            height[node] = 1 + max(height[child] for child in tree.children[node])
        return height[tree.root]

    def given(self, leaf: int, node: int) -> Array:
        """(state of the node, category) P(leaf | node), for a node at or above the leaf."""
        cells, at = np.eye(self.n_states[leaf]), leaf
        while at != node:
            cells, at = self.tables.table(at) @ cells, int(self.tables.tree.parent[at])
        return cells

    @cached_property
    def marginals(self) -> list[Array]:
        """(state,) of each node."""
        parents = self.tables.tree.parent.tolist()
        marginals: list[Array] = [np.empty(0)] * len(parents)
        for node in reversed(range(len(parents))):
            table = self.tables.table(node)
            marginals[node] = table[0] if parents[node] < 0 else marginals[parents[node]] @ table
        return marginals

    def pair(self, one: int, other: int) -> Array:
        """(category, category) P(one leaf, another leaf)."""
        if one == other:
            return np.diag(self.marginals[one])
        below, parent = self.tables.tree.below, self.tables.tree.parent
        meeting = int(parent[one])
        while other not in below[meeting]:
            meeting = int(parent[meeting])
        weighted = self.marginals[meeting][:, None] * self.given(other, meeting)
        return np.asarray(self.given(one, meeting).T @ weighted)

    @cached_property
    def edge_values(self) -> tuple[float, float]:
        """The alpha and beta of Parikh (2015), Theorem 1: the smallest over all nodes but the root."""
        tree = self.tables.tree
        alphas, betas = [], []
        for node in range(tree.root):
            above = int(tree.parent[node])
            rank = self.n_states[above]
            strengths = [singular_value(self.given(x, above), rank) for x in tree.below[node]]
            star = tree.below[node][int(np.argmax(strengths))]
            betas.append(max(strengths))
            pairs = (singular_value(self.pair(star, x), rank) for x in tree.outside[node])
            alphas.append(max(pairs, default=0.0))
        return min(alphas), min(betas)

    @cached_property
    def smallest_pair(self) -> float:
        """The smallest singular value, at the number of states, of the joint table of any two leaves."""
        leaves = range(self.tables.tree.n_leaves)
        return min(singular_value(self.pair(i, j), self.S_H) for i, j in combinations(leaves, 2))

    @cached_property
    def smallest_emission(self) -> float:
        """The smallest singular value, at the number of states, of P(leaf | its parent)."""
        leaves = range(self.tables.tree.n_leaves)
        return min(singular_value(self.tables.table(leaf), self.S_H) for leaf in leaves)


@dataclass(frozen=True, eq=False)
class SentenceConstants:
    """Constants of a sentence whose words are the leaves of a binary tree, in the order of the columns."""

    tree: TreeConstants

    @cached_property
    def covariances(self) -> Array:
        """(word, word, p, p) E[w w'] of indicators of categories."""
        leaves = range(self.tree.tables.tree.n_leaves)
        return np.array([[self.tree.pair(j, k) for k in leaves] for j in leaves])

    @cached_property
    def distances(self) -> Array:
        """(word, word) the spectral metric, equation 8.5."""
        m = self.tree.S_H
        values = np.linalg.svd(self.covariances, compute_uv=False)[..., :m]
        with np.errstate(divide="ignore"):
            logs = np.log(values).sum(axis=-1)
        half_logs = np.diag(logs) / 2
        return np.asarray(half_logs[:, None] + half_logs[None, :] - logs)

    @cached_property
    def gap(self) -> float:
        """Delta(x), equation 8.14: how much longer the next tree is, over 8 times the number of words."""
        from tacit.parsing.structure.projective import projective_tree

        # Cut at the edge of the first word, every tree without a root is counted once.
        return projective_tree(self.distances, top=1).margin / (8 * len(self.distances))

    @cached_property
    def smallest(self) -> float:
        """sigma*(x): the smallest m-th singular value of the covariance of two words."""
        m, words = self.tree.S_H, range(len(self.covariances))
        return min(singular_value(self.covariances[j, k], m) for j in words for k in words)

    def similar(self, bandwidth: float) -> float:
        """nu_x, equation 8.11, where all sentences have these tags: the fraction of covariances in a ball."""
        flat = self.covariances.reshape(len(self.covariances) ** 2, -1)
        near = np.linalg.norm(flat[:, None] - flat[None, :], axis=2) <= bandwidth
        return float(near.mean(axis=1).min())

    @property
    def applies(self) -> bool:
        """Whether four words or more have the same categories, and the shortest tree is the model's."""
        from tacit.parsing.structure.projective import projective_tree

        rooted = self.tree.tables.tree
        n_words = rooted.n_leaves
        same = len(set(self.tree.n_states[:n_words])) == 1
        if not same or n_words < 4 or any(rooted.degree(node) != 3 for node in rooted.hidden):
            return False
        if not self.smallest:
            return False
        shortest = {frozenset(range(i, j)) for i, j in projective_tree(self.distances, 1).spans}
        all_words = frozenset(range(n_words))
        sides = (frozenset(rooted.below[node]) for node in rooted.hidden if node != rooted.root)
        spans_of_model = {all_words - side if 0 in side else side for side in sides}
        return {side for side in spans_of_model if 1 < len(side) < n_words - 1} <= shortest


@dataclass(frozen=True, eq=False)
class JunctionConstants:
    """Constants of a latent graph with known tables, along Tacit's junction tree of it."""

    d_max: int
    e_max: int
    n_cliques: int
    S_H: int
    S_O: int
    alpha: float
    beta: float


def junction_constants(model: KnownGraph) -> JunctionConstants:
    """The constants of Parikh (2015), Theorem 2."""
    from tacit.junction.structure.graphs import VariableGraph
    from tacit.junction.structure.junction_tree import junction_tree

    states = {name: table.shape[-1] for name, table in model.tables.items()}
    hidden = [states[name] for name in states if name not in set(model.names)]
    if not hidden:
        raise ArgumentError("the graph has no hidden variable; the theorem is about latent ones")
    junction = junction_tree(VariableGraph.of(model.graph), list(model.names), states)
    tree = junction.tree
    # What a node needs of its parent separates it, and so do its own hidden variables where they are fewer.
    separators = [
        min(needed, members, key=junction.count) if node in tree.hidden else needed
        for node, (needed, members) in enumerate(
            zip(junction.conditioned_on, junction.members, strict=True)
        )
    ]
    orders = [
        sum(len(separators[below]) for below in (node, *tree.children[node]) if below != tree.root)
        + (node < tree.n_leaves)
        for node in range(tree.n_nodes)
    ]
    alphas, betas = [], []
    for node in range(tree.root):
        separator = separators[node]
        inside = [tree.names[leaf] for leaf in tree.below[node]]
        outside = [tree.names[leaf] for leaf in tree.outside[node]]
        rank = junction.count(separator)

        def given(names: Sequence[str], condition: Sequence[str] = separator) -> Array:
            return _conditional(model, names, condition)

        star, beta = _strongest_set(inside, rank, given)

        def joint(names: Sequence[str], beside: Sequence[str] = star) -> Array:
            return _unfolded(model, beside, names)

        alphas.append(_strongest_set(outside, rank, joint)[1])
        betas.append(beta)
    return JunctionConstants(
        d_max=max(orders),
        e_max=1,
        n_cliques=tree.n_nodes,
        S_H=max(hidden),
        S_O=max(states[name] for name in model.names),
        alpha=min(alphas),
        beta=min(betas),
    )


def _strongest_set(
    candidates: Sequence[str], rank: int, table: Callable[[Sequence[str]], Array]
) -> tuple[tuple[str, ...], float]:
    """Of the smallest sets whose table has the rank, the one with the largest singular value there."""
    best: tuple[str, ...] = tuple(candidates[:1])
    for size in range(1, MOST_IN_A_SET + 1):
        sets = list(combinations(candidates, size))
        values = [singular_value(table(names), rank) for names in sets]
        if values and max(values) > 0:
            place = int(np.argmax(values))
            return sets[place], values[place]
    return best, 0.0


def _unfolded(model: KnownGraph, rows: Sequence[str], columns: Sequence[str]) -> Array:
    """The joint table of two sets of variables as a matrix."""
    joint = model.marginal([*rows, *columns])
    n_rows = int(np.prod(joint.shape[: len(rows)]))
    return np.asarray(joint.reshape(n_rows, -1))


def _conditional(model: KnownGraph, names: Sequence[str], condition: Sequence[str]) -> Array:
    """(joint state of the condition, joint category) P(names | condition)."""
    joint = _unfolded(model, condition, names)
    totals = joint.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(joint, totals, out=np.zeros_like(joint), where=totals > 0))


@dataclass(frozen=True, eq=False)
class HmmConstants:
    """Constants of a hidden Markov model of symbols with known tables."""

    tables: ChainTables

    @cached_property
    def emission(self) -> float:
        """sigma_k(O)."""
        return singular_value(self.tables.emit[0], self.tables.n_states)

    @cached_property
    def pair(self) -> float:
        """sigma_k(P21), of the first two symbols."""
        emit, initial = self.tables.emit[0], self.tables.initial
        joint = emit.T @ (initial[:, None] * self.tables.transitions) @ emit
        return singular_value(joint, self.tables.n_states)

    def n_frequent(self, rare_mass: float) -> int:
        """n_0: how many symbols are left without the rarest, of a total probability of `rare_mass` / 4."""
        second = self.tables.initial @ self.tables.transitions @ self.tables.emit[0]
        left_out = np.cumsum(np.sort(second)) <= rare_mass / 4
        return len(second) - int(left_out.sum())


def parameters_of(model: Any, names: Iterable[str] = ("tables", "tables_", "parameters_")) -> Any:
    """The tables of a model, known or fitted; the model itself where it has none."""
    for name in names:
        tables = getattr(model, name, None)
        if tables is not None:
            return tables
    return model
