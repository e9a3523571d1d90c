"""Probability tables by eigenvectors as Mossel and Roch (2006) describe them.

At a hidden node w three leaves a, b, c of different branches are read, the nearest ones. With a random
Gaussian vector u, the matrix ``P[b, u'c | a] P[b | a]^-1`` has the eigenvectors ``P[w | a]``, up to their
lengths, which follow from rows that sum to one (Chang 1996). The tables between two nodes are quotients of
these, their negative entries become zero, and rows are divided by their sums.

All variables have the same number of categories, which is that of the states. Tacit's own form,
`mossel_roch`, reads the strongest leaves, compares several directions u, takes the nearest probabilities
and adds pseudo-counts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ArgumentError, RankError
from tacit.messages.network import Tables
from tacit.messages.rooted_tree import RootedTree
from tacit.trees.learn.spectral.triads import branch_of_leaf
from tacit.trees.moments.source import Moments, PairTables

Array = NDArray[np.float64]

MOST_DIRECTIONS = 100  # random vectors u, until one gives real eigenvalues


@dataclass(frozen=True, eq=False)
class _NodeView:
    """P(node | leaf) of a hidden node, for two leaves of different branches."""

    leaves: tuple[int, int]
    branches: tuple[int, int]
    given_leaf: tuple[Array, Array]  # (leaf's category, state)  P(node | leaf)


def printed_mossel_roch(
    tree: RootedTree, moments: Moments, n_states: int, *, random_state: int = 0
) -> Tables:
    """Probability tables of a latent tree, exact on exact moments.

    Parameters
    ----------
    tree : RootedTree
        Every hidden node has three neighbours or more, none is observed.
    moments : Moments
        Of columns with `n_states` categories.
    n_states : int
        States of every hidden node.
    random_state : int
        Seed of the vectors u.

    Raises
    ------
    RankError
        If no vector u of a hundred gives real eigenvalues.
    """
    if set(moments.cards) != {n_states}:
        raise ArgumentError(
            f"columns have {sorted(set(moments.cards))} categories; the algorithm of Mossel and Roch as "
            f"printed needs as many as states, {n_states}"
        )
    pairs = moments.pairs()
    triples = {node: _nearest(tree, node) for node in tree.hidden}
    tables = dict(zip(triples, moments.tables(list(triples.values())), strict=True))
    rng = np.random.default_rng(random_state)
    views = {
        node: _node_view(tree, node, triple, tables[node], pairs, rng)
        for node, triple in triples.items()
    }
    root = views[tree.root]
    out: list[Array] = []
    for node in range(tree.n_nodes):
        if node == tree.root:
            conditional = (pairs.marginal(root.leaves[0]) @ root.given_leaf[0])[None]
        else:
            conditional = _between(views, pairs, int(tree.parent[node]), node)
        positive = np.maximum(conditional, 0.0)
        sums = positive.sum(axis=1, keepdims=True)
        even = np.full_like(positive, 1 / positive.shape[1])
        out.append(np.where(sums > 0, positive / np.where(sums > 0, sums, 1.0), even))
    return Tables.of(tree, out)


def _nearest(tree: RootedTree, node: int) -> tuple[int, int, int]:
    """The nearest leaves of three branches of a node, the nearest branches; the first leaf is below it."""
    order = [node]  # by the number of steps from the node
    for at in order:
        above = [int(tree.parent[at])] if at != tree.root else []
        order += [other for other in (*tree.children[at], *above) if other not in order]
    branches = branch_of_leaf(tree, node)
    nearest: dict[int, int] = {}
    for leaf in (at for at in order if at < tree.n_leaves):
        nearest.setdefault(int(branches[leaf]), leaf)
    one, two, three = sorted(list(nearest)[:3], key=lambda branch: branch < 0)
    return nearest[one], nearest[two], nearest[three]


def _node_view(
    tree: RootedTree,
    node: int,
    triple: tuple[int, int, int],
    table: Array,
    pairs: PairTables,
    rng: np.random.Generator,
) -> _NodeView:
    """P(node | leaf) of two leaves, from the eigenvectors of the triple."""
    a, b, _ = triple
    inverse = np.linalg.pinv(pairs.joint(a, b) / _column(pairs, a))
    for _ in range(MOST_DIRECTIONS):
        u = rng.normal(size=table.shape[2])
        slices = table @ u / _column(pairs, a)
        values, vectors = np.linalg.eig(slices @ inverse)
        if not np.iscomplexobj(values) or not np.abs(values.imag).max():
            break
    else:
        raise RankError(
            f"node {tree.names[node]!r}: no random direction of {MOST_DIRECTIONS} gives real eigenvalues; "
            "the rows do not carry that many states"
        )
    vectors = vectors.real
    given_a = vectors * np.linalg.lstsq(vectors, np.ones(len(vectors)), rcond=None)[0]  # (a, state)
    # P(node, a) leads to P(b | node), and that to P(node | b).
    weights = pairs.marginal(a) @ given_a  # (state,)
    b_given_node = np.linalg.pinv(given_a) @ (pairs.joint(a, b) / _column(pairs, a))  # (state, b)
    given_b = (weights[:, None] * b_given_node).T / _column(pairs, b)
    branches = branch_of_leaf(tree, node)
    return _NodeView((a, b), (int(branches[a]), int(branches[b])), (given_a, given_b))


def _between(views: dict[int, _NodeView], pairs: PairTables, above: int, node: int) -> Array:
    """P(node | the node above it), before it is made a probability."""
    parent = views[above]
    place = 0 if parent.branches[0] != node else 1
    leaf = parent.leaves[place]
    below = views[node].leaves[0] if node in views else node
    from_leaf = pairs.joint(leaf, below) / _column(pairs, leaf)  # P(below | leaf)
    if node in views:
        # P(below | leaf) = P(node | leaf) P(below | node), and P(below | node) follows from P(node | below).
        given = views[node].given_leaf[0]
        joint = pairs.marginal(below)[:, None] * given  # (below, node)
        below_given_node = (joint / joint.sum(axis=0)).T
        from_leaf = from_leaf @ np.linalg.pinv(below_given_node)
    return np.linalg.pinv(parent.given_leaf[place]) @ from_leaf


def _column(pairs: PairTables, leaf: int) -> Array:
    """The probabilities of a column, one for each row of a table; none is zero."""
    return np.maximum(pairs.marginal(leaf), np.finfo(float).tiny)[:, None]
