"""How many states of each hidden node the data show."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.errors import ArgumentError
from tacit.factor.edges import EdgeSpectrum, edge_bases
from tacit.factor.reports import Report
from tacit.factor.stars import edge_views, pair_moments
from tacit.moments.source import Moments
from tacit.structure.rooted import RootedTree


@dataclass(frozen=True, slots=True, eq=False)
class ShownStates:
    """Numbers of states that stand out from noise, and what was seen at the edges."""

    n_states: tuple[int, ...]  # (node,)  categories of the leaves, then states of the hidden nodes
    report: Report


def shown_states(
    tree: RootedTree,
    moments: Moments,
    *,
    most: int = 16,
    n_views: int = 5,
    features: int = 2,
    cut: float = 1.2,
) -> ShownStates:
    """The number of states of each hidden node that the pairs of leaves show.

    What crosses an edge has the rank of its nodes' states; the singular values that stand out from noise are
    counted, and a node gets the largest count of the edges around it. A lower bound: weak states do not show
    in few rows.

    Parameters
    ----------
    tree : RootedTree
    moments : Moments
    most : int
        No node gets more states than this, unless it repeats an observed variable.
    n_views, features
        As in `spectral`.
    cut : float
        How many times the noise a singular value must exceed. Larger than in `spectral`, where keeping a
        direction of noise costs less than missing one: here the largest of several edges counts.

    Examples
    --------
    >>> from tacit.toy.models import random_tree_model
    >>> model = random_tree_model(6, n_states=2, n_categories=4, random_state=0)
    >>> shown_states(model.tables.tree, model.moments).n_states[6:] == model.tables.layout.n_states[
    ...     6:
    ... ]
    True
    """
    if most < 1:
        raise ArgumentError(f"most={most} states; give 1 or more")
    states = list(moments.cards)
    for node in tree.hidden:
        leaf = int(tree.copy_of[node])
        states.append(most if leaf < 0 else moments.cards[leaf])
    pairs = pair_moments(moments, max(states[tree.n_leaves :]), whiten=True)
    views = edge_views(tree, tuple(states), pairs, n_views, features)
    edges = {edge: each for edge, each in enumerate(views) if each.above}
    seen = {edge: basis.seen for edge, basis in edge_bases(moments, pairs, edges, cut=cut).items()}
    found = np.ones(tree.n_nodes, dtype=np.int64)
    for edge in range(tree.n_nodes - 1):
        rank = _n_shown(seen[edge]) if edge in seen else states[edge]
        above = int(tree.parent[edge])
        found[[edge, above]] = np.maximum(found[[edge, above]], min(rank, states[above]))
    for node in tree.hidden:
        if tree.copy_of[node] < 0:
            states[node] = min(int(found[node]), most)
    return ShownStates(tuple(states), Report("shown", tree, seen))


def _n_shown(seen: EdgeSpectrum) -> int:
    """How many singular values stand out; edges of leaves are held to the same measure as others."""
    return min(int((seen.values > seen.threshold / seen.views.noise).sum()), seen.views.rank)
