"""Tables of a tree without hidden variables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tacit.messages.network import Tables

if TYPE_CHECKING:
    from tacit.messages.rooted_tree import RootedTree
    from tacit.trees.moments.source import PairTables


def tables_from_pairs(tree: RootedTree, pairs: PairTables, pseudo_counts: float) -> Tables:
    """P(variable | its neighbour towards the root), from the pair counts alone (Chow and Liu 1968).

    Parameters
    ----------
    tree : RootedTree
        Every hidden node repeats a leaf.
    pairs : PairTables
    pseudo_counts : float
        Added to every table row, spread as the variable's marginal; half a count more for each of its
        categories keeps a chance for those never seen.
    """
    leaf_of = [*range(tree.n_leaves), *(int(tree.copy_of[node]) for node in tree.hidden)]
    marginals = []
    for leaf, card in enumerate(pairs.cards):
        counts = pairs.marginal(leaf) * pairs.support(leaf, leaf)
        marginals.append((counts + 0.5) / (counts.sum() + 0.5 * card))
    tables = []
    for node, leaf in enumerate(leaf_of):
        above = leaf_of[tree.parent[node]]
        if node == tree.root:
            tables.append(marginals[leaf][None])
        elif above == leaf:
            tables.append(np.eye(pairs.cards[leaf]))
        else:
            counts = pairs.joint(above, leaf) * pairs.support(above, leaf)
            smoothed = counts + max(pseudo_counts, 1e-12) * marginals[leaf]
            tables.append(smoothed / smoothed.sum(axis=1, keepdims=True))
    return Tables.of(tree, tables)
