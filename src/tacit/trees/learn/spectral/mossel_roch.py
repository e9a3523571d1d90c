"""Probability tables from triples of leaves by eigenvectors (Mossel & Roch, 2006).

At each hidden node three views that are independent given its state are used in pairs and all
together. A weighted sum of the slices of the triple, over the pair, has the states' views as eigenvectors.
From the views of two neighbouring nodes the table between them follows by a small linear system, in the
numbering of states of each node: no matching is needed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.core.linalg.simplex import nearest_distributions
from tacit.errors import RankError
from tacit.messages.network import Tables
from tacit.messages.rooted_tree import RootedTree
from tacit.trees.learn.spectral.edges import EdgeBasis, edge_bases
from tacit.trees.learn.spectral.ranks import checked_states, edge_plan
from tacit.trees.learn.spectral.reports import FactoredTables, Report
from tacit.trees.learn.spectral.stars import EdgeViews, Group, pair_moments
from tacit.trees.learn.spectral.triads import Triad, triad
from tacit.trees.moments.source import Moments

Array = NDArray[np.float64]

# Directions in which slices are added up; the one that separates the states best is taken.
N_DIRECTIONS = 16

# Sums of entries below this are taken as zero.
ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class _Node:
    """The states of a hidden node, in two of its views."""

    groups: tuple[Group, ...]
    branches: tuple[frozenset[int], ...]
    lefts: tuple[Array, ...]  # (cell, m)  the basis of each view
    views: tuple[Array, ...]  # (m, state)  the views' means in each state, in that basis
    weights: Array  # (state,)

    def apart_from(self, branch: int) -> int:
        """A view that has no leaf in a branch."""
        return next(place for place, owners in enumerate(self.branches) if branch not in owners)


def mossel_roch(
    tree: RootedTree,
    moments: Moments,
    n_states: Sequence[int],
    *,
    features: int = 1,
    random_state: int = 0,
) -> FactoredTables:
    """Probability tables of a latent tree from pairs and triples of leaves.

    Exact on exact moments. On counts much noisier than `spectral`, as the thesis says: it serves as a
    baseline. Tables are projected to the nearest probabilities.

    Parameters
    ----------
    tree : RootedTree
    moments : Moments
    n_states : (node,)
        Categories of each leaf, then states of each hidden node.
    features : int
        Number of leaves whose joint category may be one view. With 1, as in the paper, each hidden node needs
        leaves with at least as many categories as it has states in three of its branches.
    random_state : int
        Seed of the directions in which slices are added up.

    Raises
    ------
    RankError
        If a node has no three views that show all of its states.
    """
    states = checked_states(tree, moments, n_states)
    triads, bases = _triads(tree, moments, states, features)
    subsets = _subsets(tree, triads)
    tables = dict(zip(subsets, moments.tables(subsets), strict=True))
    rng = np.random.default_rng(random_state)
    nodes: dict[int, _Node] = {}
    for node in tree.hidden:
        leaf = int(tree.copy_of[node])
        if leaf >= 0:
            same = np.eye(states[node])
            weights = np.maximum(tables[leaf,], _least(moments))
            nodes[node] = _Node(((leaf,),), (frozenset({leaf}),), (same,), (same,), weights)
        else:
            node_bases = [bases[node, place] for place in range(3)]
            nodes[node] = _recovered(triads[node], node_bases, tables, moments, rng)
    by_node = [_table(tree, states, node, nodes, tables) for node in range(tree.n_nodes)]
    spectra = {node: bases[node, 0].spectrum for node in triads}
    return FactoredTables(Tables.of(tree, by_node), Report("mossel-roch", tree, spectra, triads))


def _least(moments: Moments) -> float:
    """The least weight of a state: one row."""
    return max(1 / max(moments.n_rows, 1.0), np.finfo(float).tiny)


def _triads(
    tree: RootedTree, moments: Moments, n_states: tuple[int, ...], features: int
) -> tuple[dict[int, Triad], dict[tuple[int, int], EdgeBasis]]:
    """Three views of each hidden node that is not itself observed, and a basis for each view."""
    pairs = pair_moments(moments, max(n_states[tree.n_leaves :]), whiten=True)
    path_ranks = edge_plan(tree, n_states).path_ranks
    triads = {}
    for node in tree.hidden:
        if tree.copy_of[node] >= 0:
            continue
        three = triad(tree, n_states, pairs, path_ranks, node, features)
        if three is None:
            raise RankError(
                f"node {tree.names[node]!r} has {n_states[node]} states, but no three of its branches "
                f"can show them all with {features} leaves each; give it fewer states, allow more "
                "features, or use another learner"
            )
        triads[node] = three
    edges = {}
    for node, three in triads.items():
        for place, group in enumerate(three.groups):
            others = three.groups[:place] + three.groups[place + 1 :]
            edges[node, place] = EdgeViews(group, others, (1.0, 1.0), n_states[node])
    bases = edge_bases(moments, pairs, edges, cut=0.0)
    for (node, _), basis in bases.items():
        if basis.spectrum.rank < n_states[node]:
            raise RankError(
                f"node {tree.names[node]!r} has {n_states[node]} states, but the moments show only "
                f"{basis.spectrum.rank} of them; give it fewer states"
            )
    return triads, bases


def _subsets(tree: RootedTree, triads: Mapping[int, Triad]) -> list[Group]:
    """The joint tables that are needed."""
    subsets: dict[Group, None] = {}
    for node in tree.hidden:
        if node in triads:
            one, two, three = triads[node].groups
            subsets[one + two + three] = None
            views = list(zip(triads[node].groups, triads[node].branches, strict=True))
        else:
            leaf = int(tree.copy_of[node])
            subsets[leaf,] = None
            views = [((leaf,), frozenset({leaf}))]
        for child in tree.children[node]:
            apart = [group for group, owners in views if child not in owners]
            if apart:  # else the child is the leaf that the node repeats
                subsets[_stands_for(tree, triads, child) + apart[0]] = None
    return list(subsets)


def _stands_for(tree: RootedTree, triads: Mapping[int, Triad], node: int) -> Group:
    """The leaves that represent a node."""
    if node < tree.n_leaves:
        return (node,)
    return triads[node].groups[0] if node in triads else (int(tree.copy_of[node]),)


def _recovered(
    three: Triad,
    bases: Sequence[EdgeBasis],
    tables: Mapping[Group, Array],
    moments: Moments,
    rng: np.random.Generator,
) -> _Node:
    """The states of a node through its first two views, by the eigenvectors of slices over the pair."""
    lefts = [basis.left for basis in bases]
    rank = lefts[0].shape[1]
    raw = tables[sum(three.groups, ())].reshape([len(left) for left in lefts])
    triple = np.einsum("xyz,xa,yb,zc->abc", raw, *lefts, optimize=True)
    pair = lefts[0].T @ raw.sum(axis=2) @ lefts[1]
    directions = rng.normal(size=(N_DIRECTIONS, rank))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    slices = np.einsum("abc,sc->sab", triple, directions) @ np.linalg.pinv(pair)
    values, vectors = np.linalg.eig(slices)
    apart = np.abs(values[:, :, None] - values[:, None, :]) + np.where(np.eye(rank) > 0, np.inf, 0)
    real = np.abs(values.imag).max(axis=1) == 0
    best = np.lexsort((apart.min(axis=(1, 2)), real))[-1]
    # Noise may make two eigenvalues complex: the real and imaginary parts then span their common space.
    first = np.where(values[best].imag < 0, vectors[best].imag, vectors[best].real)  # (m, state)
    sums = (bases[0].emit @ first).sum(axis=0)
    first = first / np.where(np.abs(sums) > ROUNDING, sums, 1.0)
    weights = np.linalg.pinv(first) @ (lefts[0].T @ raw.sum(axis=(1, 2)))
    weights = np.maximum(weights, _least(moments))
    weights /= weights.sum()
    second = pair.T @ np.linalg.pinv(first.T) / weights
    return _Node(
        three.groups[:2], three.branches[:2], (lefts[0], lefts[1]), (first, second), weights
    )


def _table(
    tree: RootedTree,
    n_states: tuple[int, ...],
    node: int,
    nodes: Mapping[int, _Node],
    tables: Mapping[Group, Array],
) -> Array:
    """P(node | parent), in the numberings of states of the two nodes; P(root)."""
    if node == tree.root:
        return nearest_distributions(nodes[node].weights[None])
    above = nodes[int(tree.parent[node])]
    if int(tree.copy_of[tree.parent[node]]) == node:
        return np.eye(n_states[node])
    place = above.apart_from(node)
    group = (node,) if node < tree.n_leaves else nodes[node].groups[0]
    left, view = above.lefts[place], above.views[place]
    joint = tables[group + above.groups[place]].reshape(-1, len(left))
    conditional = joint @ left @ np.linalg.pinv(view.T) / above.weights  # (cell, parent's state)
    if node >= tree.n_leaves:
        conditional = np.linalg.pinv(nodes[node].views[0]) @ nodes[node].lefts[0].T @ conditional
    return nearest_distributions(conditional.T)
