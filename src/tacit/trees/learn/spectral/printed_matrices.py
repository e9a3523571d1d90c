"""Products of matrices as they are printed: a basis at each branch, and cyclic siblings.

Parikh, Song & Xing (2011), Algorithm 1, equations 29 to 34, and Parikh (2015), Algorithm 13, equations 7.15
to 7.18. The matrix of a branch leads from its own basis to that of its right sibling and is computed with its
left sibling's leaf as instrument. Tacit's own form, `matrices`, has three bases at a node instead.

The two papers differ in two things, `siblings`:

"adopted" (2011)
    A node of two children adopts a child of its left sibling as the third, in cyclic order with its own
    (after equation 28). There is one U for each leaf, from the leaf and its left sibling.
"uncle" (2015)
    The left sibling of a node with one sibling is an uncle, the right sibling of its parent (as in Algorithm
    12). There is one U for each node.

Both leave open which leaf X_{i*} stands for the subtree of a node; section 5.3 of 2011 advises one with a
large singular value, at the number of states, against the left sibling. Here it is the one with the largest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.messages.network import Chain, Network
from tacit.messages.rooted_tree import RootedTree
from tacit.trees.moments.source import Moments, PairTables

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Siblings:
    """The left and right siblings of every node but the root, and the leaf that stands for each node."""

    left: Mapping[int, int]
    right: Mapping[int, int]
    leaf: Mapping[int, int]  # X_{i*}


@dataclass(frozen=True, eq=False)
class PrintedMatrices:
    """The network, and the siblings that it was computed with."""

    network: Network
    siblings: Siblings


def printed_matrices(
    tree: RootedTree, moments: Moments, n_states: int, *, siblings: str = "adopted"
) -> PrintedMatrices:
    """A latent tree by products of matrices, exact on exact moments.

    Parameters
    ----------
    tree : RootedTree
        Its root has three children or more, every other hidden node two or more, none is observed.
    moments : Moments
        Of columns with `n_states` categories or more.
    n_states : int
        States of every hidden node.
    siblings : {"adopted", "uncle"}
    """
    pairs = moments.pairs()
    family = _siblings(tree, pairs, n_states, adopt=siblings == "adopted")
    left, right, leaf = family.left, family.right, family.leaf
    U = _bases(pairs, family, n_states, by_leaf=siblings == "adopted")
    below = {node: leaf[tree.children[node][0]] if tree.children[node] else node for node in left}
    triples = [(below[node], leaf[left[node]], leaf[right[node]]) for node in left]
    tables = dict(zip(left, moments.tables(triples), strict=True))
    step: dict[int, Array] = {}
    for node, table in tables.items():
        inverse = np.linalg.pinv(pairs.joint(leaf[left[node]], leaf[node]) @ U[node])  # (m, left)
        operator = np.einsum("xlr,ml,rn->xmn", table, inverse, U[right[node]])
        if tree.children[node]:  # equations 29 and 7.16
            first = tree.children[node][0]
            operator = np.tensordot(U[first], operator, (0, 0))
        step[node] = np.ascontiguousarray(operator)  # of leaves: equations 31 and 7.17
    nodes = []
    for node in tree.hidden:
        children = tree.children[node]
        first, last = children[0], children[-1]
        basis = right[last] if siblings == "adopted" else first
        instrument = leaf[last if siblings == "adopted" else left[first]]
        # Equations 30 and 7.18.
        one = np.linalg.pinv(pairs.joint(instrument, leaf[basis]) @ U[basis]) @ pairs.marginal(
            instrument
        )
        start = np.eye(n_states)  # the message is the vector that equation 33 multiplies T with
        if node == tree.root:  # equations 32 and 7.15
            start = (pairs.marginal(leaf[first]) @ U[first])[None]
        nodes.append(Chain(start, tuple(step[child] for child in children), one))
    cards = moments.cards
    network = Network(tree, tuple(map(np.eye, cards)), tuple(map(np.ones, cards)), tuple(nodes))
    return PrintedMatrices(network, family)


def _bases(
    pairs: PairTables, family: Siblings, n_states: int, *, by_leaf: bool
) -> Mapping[int, Array]:
    """U for each node: singular vectors of its leaf against that of its left sibling, or the leaf's own."""

    def basis(node: int) -> Array:
        joint = pairs.joint(family.leaf[node], family.leaf[family.left[node]])
        return np.linalg.svd(joint, full_matrices=False)[0][:, :n_states]

    if not by_leaf:
        return {node: basis(node) for node in family.left}
    of_leaf = {leaf: basis(leaf) for leaf in set(family.leaf.values())}
    return {node: of_leaf[leaf] for node, leaf in family.leaf.items()}


def _siblings(tree: RootedTree, pairs: PairTables, n_states: int, *, adopt: bool) -> Siblings:
    """The siblings of all nodes, from the root down, and the leaves that stand for them."""
    left: dict[int, int] = {}
    right: dict[int, int] = {}
    leaf: dict[int, int] = {node: node for node in range(tree.n_leaves)}
    for node in reversed(tree.hidden):
        children = ring = tree.children[node]
        two = node != tree.root and len(children) == 2
        if two and adopt:
            ring = (*children, _adopted(tree, left[node], leaf))
        for place, child in enumerate(children):
            left[child], right[child] = ring[place - 1], ring[(place + 1) % len(ring)]
            if two and not adopt:
                uncles = tree.children[int(tree.parent[node])]
                left[child] = uncles[(uncles.index(node) + 1) % len(uncles)]
        for child in children:
            leaf.setdefault(
                child,
                _strongest(pairs, tree.below[child], tree.below[left[child]], n_states),
            )
    return Siblings(left, right, leaf)


def _adopted(tree: RootedTree, sibling: int, leaf: Mapping[int, int]) -> int:
    """The child of a sibling that holds the sibling's leaf; a sibling that is a leaf itself."""
    holding = (child for child in tree.children[sibling] if leaf[sibling] in tree.below[child])
    return next(holding, sibling)


def _strongest(
    pairs: PairTables, candidates: Sequence[int], others: Sequence[int], n_states: int
) -> int:
    """The candidate with the largest singular value at the number of states, against any of the others."""

    def strength(candidate: int) -> float:
        tables = [pairs.joint(candidate, other) for other in others]
        return max(float(np.linalg.svd(t, compute_uv=False)[n_states - 1]) for t in tables)

    return max(candidates, key=strength)
