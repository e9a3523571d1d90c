"""The hierarchical decomposition of the joint table as it is printed.

Song et al. (2013), Algorithm 1 with the linker of equation 6. Inner edges are cut one after the other,
children before parents, so that only one side is decomposed further (as in the proof of theorem 4). After a
cut one leaf, the linker, stands for the subtree in the table that remains, and the next edge is an unfolding
of that table, with all leaves that remain. A node of any degree keeps a tensor of that order.

Tacit's own form, `hierarchical`, looks at a window of the leaves outside an edge, divides by the roots of
probabilities and splits nodes of high degree. The paper leaves the linkers open: here they are the pair of
leaves, one on each side, with the largest singular value at the rank.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from tacit.messages.network import Dense, Network
from tacit.messages.rooted_tree import RootedTree
from tacit.trees.learn.spectral.hierarchical import (
    Link,
    Unfolding,
    edge_link,
    n_cells,
    unfolding_of_rows,
)
from tacit.trees.learn.spectral.reports import Factored, Report
from tacit.trees.learn.spectral.stars import EdgeViews, Group
from tacit.trees.moments.source import Moments, PairTables

# Most cells of a table; of a larger one, only the configurations that occur are kept.
MOST_TABLE_CELLS = 1 << 16


def printed_hierarchical(
    tree: RootedTree,
    moments: Moments,
    n_states: int,
    *,
    codes: NDArray[np.integer] | None = None,
) -> Factored:
    """A latent tree by recursive low-rank decomposition, exact on exact moments of its rank.

    Parameters
    ----------
    tree : RootedTree
    moments : Moments
        Of columns with `n_states` categories or more.
    n_states : int
        The rank k' of all linkers.
    codes : (row, leaf), optional
        The coded rows, for tables that are too large; rows with a missing cell are left out there.
    """
    pairs = moments.pairs()
    cards = moments.cards
    star = {leaf: leaf for leaf in range(tree.n_leaves)}
    remaining = list(range(tree.n_leaves))
    links: dict[int, Link] = {}
    for node in tree.hidden[:-1]:
        inside = tuple(star[child] for child in tree.children[node])
        outside = tuple(leaf for leaf in remaining if leaf not in inside)
        views = _linkers(pairs, inside, outside, n_states)
        links[node] = edge_link(_unfolded(moments, inside, outside, views, codes), views)
        (star[node],) = views.below
        remaining = sorted({*outside, star[node]})
    (top,) = moments.tables([tuple(star[child] for child in tree.children[tree.root])])
    nodes = []
    for node in tree.hidden:
        children = tree.children[node]
        core = top if node == tree.root else links[node].core
        core = core.reshape(*(cards[star[child]] for child in children), -1)
        for mode, child in enumerate(children):
            if child in links:
                core = np.moveaxis(np.tensordot(core, links[child].left, (mode, 0)), -1, mode)
        nodes.append(Dense(np.ascontiguousarray(core)))
    network = Network(tree, tuple(map(np.eye, cards)), tuple(map(np.ones, cards)), tuple(nodes))
    spectra = {node: link.spectrum for node, link in links.items()}
    return Factored(network, Report("hierarchical", tree, spectra))


def _linkers(pairs: PairTables, inside: Group, outside: Group, rank: int) -> EdgeViews:
    """The linker variables of an edge: the pair of leaves across it that shows the rank best."""

    def strength(pair: Sequence[int]) -> float:
        return float(np.linalg.svd(pairs.joint(*pair), compute_uv=False)[rank - 1])

    below, above = best = max(product(inside, outside), key=strength)
    return EdgeViews((below,), ((above,),), (strength(best),), rank)


def _unfolded(
    moments: Moments,
    inside: Group,
    outside: Group,
    views: EdgeViews,
    codes: NDArray[np.integer] | None,
) -> Unfolding:
    """The unfolding P at an edge, with A'P and PB."""
    ((linker,),) = views.above
    if codes is not None and n_cells(moments, inside + outside) > MOST_TABLE_CELLS:
        groups = (inside, views.below, (linker,))
        return unfolding_of_rows(codes, moments.cards, groups, outside)
    (table,) = moments.tables([inside + outside])
    others_in = tuple(at for at, leaf in enumerate(inside) if leaf not in views.below)
    others_out = tuple(len(inside) + at for at, leaf in enumerate(outside) if leaf != linker)
    size = n_cells(moments, inside)
    star = table.sum(axis=others_in)
    return Unfolding(
        branches=table.reshape(size, -1),
        star=star.reshape(len(star), -1),
        linked=table.sum(axis=others_out).reshape(size, -1),
    )
