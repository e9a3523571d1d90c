"""The views of each separator of a junction tree: observed variables on its two sides.

The rank that some variables have at a separator is bounded by their categories, by the states of the hidden
variables that they depend on, and by every separator on the path. Numbers of categories alone are not enough:
four categories that depend on one hidden variable of two states have rank two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations, islice
from math import prod

import numpy as np
from numpy.typing import NDArray

from tacit.junction.structure.junction_tree import JunctionTree
from tacit.trees.learn.spectral.edges import EdgeBasis, EdgeSpectrum, edge_bases
from tacit.trees.learn.spectral.stars import LEAF_NOISE, EdgeViews, Group, PairMoments
from tacit.trees.moments.source import Moments

Integers = NDArray[np.int64]

# Candidate variables when a group grows; cells of a group; cells of a table of two sides.
MOST_CANDIDATES = 8
MOST_GROUP_CELLS = 256
MOST_TABLE_CELLS = 1 << 14
# Sets of several columns above a separator: more of them did not help, and their tables are large.
MOST_GROUPED_VIEWS = 2


@dataclass(frozen=True, eq=False)
class SeparatorPlan:
    """Bounds on ranks at the edges of a junction tree; an edge is named by its lower node."""

    junction: JunctionTree
    inside: NDArray[np.bool_]  # (edge, leaf)  whether the leaf lies below the edge
    path_ranks: Integers  # (leaf, leaf)  the largest rank of the joint table of two leaves

    @cached_property
    def caps(self) -> Integers:
        """(edge,) Joint states of the separator."""
        return np.array(self.junction.caps[:-1], dtype=np.int64)

    @cached_property
    def single(self) -> Integers:
        """(edge,) The largest rank of the joint table of a leaf below and a leaf above."""
        most = [self.path_ranks[np.ix_(row, ~row)].max(initial=1) for row in self.inside]
        return np.minimum(np.array(most, dtype=np.int64), self.caps)

    def rank(self, group: Group, edge: int, *, above: bool) -> int:
        """The largest rank that a group of leaves on one side can have at an edge's separator."""
        key = (group, edge, above)
        if key not in self._ranks:
            self._ranks[key] = self._rank(group, edge, above=above)
        return self._ranks[key]

    @cached_property
    def _ranks(self) -> dict[tuple[Group, int, bool], int]:
        return {}

    def _rank(self, group: Group, edge: int, *, above: bool) -> int:
        junction = self.junction
        target = int(junction.tree.parent[edge]) if above else edge
        # Branches on their paths to the target: node, rank and the variables that they depend on. Those
        # that meet farthest from the target are joined first.
        states, conditioned_on = junction.n_states, junction.conditioned_on
        branches = [(leaf, states[leaf], frozenset(conditioned_on[leaf])) for leaf in group]
        while len(branches) > 1:
            where, first, second = max(
                (self._meeting(branches[i][0], branches[j][0], target), i, j)
                for i, j in combinations(range(len(branches)), 2)
            )
            met = where[1]
            two = [self._arrived(branches[at], met) for at in (first, second)]
            both = (met, two[0] * two[1], branches[first][2] | branches[second][2])
            branches = [branch for at, branch in enumerate(branches) if at not in (first, second)]
            branches.append(both)
        if not branches:
            return 1
        rank = self._arrived(branches[0], target)
        return min(rank, junction.count(branches[0][2]), junction.caps[edge])

    def _meeting(self, one: int, other: int, target: int) -> tuple[int, int]:
        """The distance from a target at which the paths from two nodes meet, and the node where they do."""
        common = self._common
        first, second, third = common[one, other], common[one, target], common[other, target]
        node = int(first if second == third else second if first == third else third)
        depth = self._depths
        between = int(common[node, target])
        return int(depth[node] + depth[target] - 2 * depth[between]), node

    def _arrived(self, branch: tuple[int, int, frozenset[str]], node: int) -> int:
        """The rank that is left of a branch at a node."""
        start, rank, needs = branch
        if start == node:
            return rank
        return min(rank, self.junction.count(needs), int(self._narrowest[start, node]))

    @cached_property
    def _depths(self) -> Integers:
        """(node,) Steps from the root."""
        parent = self.junction.tree.parent
        depths = np.zeros(len(parent), dtype=np.int64)
        for node in reversed(range(len(parent) - 1)):
            depths[node] = depths[parent[node]] + 1
        return depths

    @cached_property
    def _common(self) -> Integers:
        """(node, node) The lowest common ancestor."""
        parent = self.junction.tree.parent
        n_nodes = len(parent)
        below = np.eye(n_nodes, dtype=np.bool_)
        for node in range(n_nodes - 1):
            below[parent[node]] |= below[node]
        common = np.full((n_nodes, n_nodes), n_nodes - 1)
        for node in reversed(range(n_nodes - 1)):
            common[node] = np.where(below[node], node, common[parent[node]])
        return common

    @cached_property
    def _narrowest(self) -> Integers:
        """(node, node) The fewest joint states of a separator between two nodes."""
        tree, caps = self.junction.tree, self.junction.caps
        n_nodes = tree.n_nodes
        narrow = np.full((n_nodes, n_nodes), np.iinfo(np.int64).max)
        for node in reversed(range(n_nodes - 1)):
            # All nodes after this one are outside of its subtree, and their values are known.
            later = slice(node + 1, n_nodes)
            narrow[node, later] = np.minimum(caps[node], narrow[tree.parent[node], later])
            narrow[later, node] = narrow[node, later]
        return narrow


@lru_cache(maxsize=32)
def separator_plan(junction: JunctionTree) -> SeparatorPlan:
    """The plan of a junction tree; cached, because one is often fitted many times."""
    tree = junction.tree
    inside = np.zeros((tree.n_nodes, tree.n_leaves), dtype=np.bool_)
    reach = np.zeros((tree.n_nodes, tree.n_leaves), dtype=np.int64)  # narrowest on the way up
    leaves = range(tree.n_leaves)
    leaf_ranks = [min(junction.n_states[leaf], junction.caps[leaf]) for leaf in leaves]
    paths = np.zeros((tree.n_leaves, tree.n_leaves), dtype=np.int64)
    paths[leaves, leaves] = [junction.n_states[leaf] for leaf in leaves]
    inside[leaves, leaves], reach[leaves, leaves] = True, leaf_ranks
    for node in tree.hidden:
        for child in tree.children[node]:
            one, two = np.flatnonzero(inside[node]), np.flatnonzero(inside[child])
            arriving = np.minimum(reach[child, two], junction.caps[child])
            widths = np.minimum.outer(reach[node, one], arriving)
            paths[np.ix_(one, two)] = widths
            paths[np.ix_(two, one)] = widths.T
            inside[node] |= inside[child]
            reach[node, two] = arriving
    return SeparatorPlan(junction, inside[:-1], paths)


def separator_bases(
    junction: JunctionTree,
    moments: Moments,
    pairs: PairMoments,
    *,
    n_views: int,
    features: int,
    cut: float,
) -> dict[int, EdgeBasis]:
    """A basis for each separator, by lower node.

    Starts with one column below and several above, the most dependent ones. Where their table has full rank
    and the separator has more joint states, both sides get one more column, up to `features` of them. A leaf
    whose categories are all distinguishable is passed on unchanged and has no basis.

    Parameters
    ----------
    n_views : int
        Sets of columns above a separator that are combined in one linear system.
    cut : float
        See `edge_bases`. With 0, no direction is compared with noise: sets grow by the numbers of states
        alone, and singular values are not shrunk. Only which single columns are the most dependent is
        still judged by a singular value that some pair shows above noise (`best_views`).
    """
    compared = cut > 0
    plan = separator_plan(junction)
    edges = _single_views(plan, pairs, n_views)
    # Shrinkage reduced errors by 5 to 10 % where directions are weak; with few rows the model tends to
    # independence.
    bases = edge_bases(moments, pairs, edges, cut=cut, shrink=compared)
    size, growing = 1, edges
    while growing and size < features:
        size += 1
        growing = {
            edge: wider
            for edge in growing
            if (not compared or bases[edge].spectrum.rank >= bases[edge].spectrum.views.rank)
            and (wider := _wider(plan, pairs, edge, bases[edge].spectrum.views, n_views, size))
        }
        bases.update(edge_bases(moments, pairs, growing, cut=cut, shrink=compared))
    for leaf in range(junction.tree.n_leaves):
        if leaf in bases and _is_sent(bases[leaf].spectrum, junction, leaf):
            del bases[leaf]
    return bases


def _is_sent(spectrum: EdgeSpectrum, junction: JunctionTree, leaf: int) -> bool:
    """Whether a leaf is passed on unchanged: it has full rank, or its views limit the rank."""
    if spectrum.rank >= junction.n_states[leaf]:
        return True
    return spectrum.rank >= spectrum.views.rank and spectrum.views.rank < junction.caps[leaf]


def _single_views(plan: SeparatorPlan, pairs: PairMoments, n_views: int) -> dict[int, EdgeViews]:
    """One leaf below each edge and several above it, the most dependent ones."""
    from tacit.trees.loops.views import best_views

    n_leaves = plan.junction.tree.n_leaves
    args = pairs.spectra, pairs.shown, plan.path_ranks, plan.inside, plan.single, n_views
    stars, views, strengths, _ = best_views(*args)
    n_usable = np.maximum(((views >= 0) & (strengths > 0)).sum(axis=1), views[:, 0] >= 0)
    every = zip(
        *(column.tolist() for column in (n_usable, stars, views, strengths, plan.single)),
        strict=True,
    )
    out = {}
    for edge, (n, star, edge_views, weights, rank) in enumerate(every):
        above: tuple[Group, ...] = tuple(zip(edge_views[:n], strict=True))
        noise = LEAF_NOISE if edge < n_leaves else 1.0
        if n:
            out[edge] = EdgeViews((star,), above, tuple(weights[:n]), rank, noise)
        else:  # an only child has no leaves above it
            out[edge] = EdgeViews((star,), ((),), (1.0,), 1, noise)
    return out


def _wider(
    plan: SeparatorPlan, pairs: PairMoments, edge: int, views: EdgeViews, n_views: int, size: int
) -> EdgeViews | None:
    """Groups of `size` leaves on each side of an edge, if they can have a larger rank than smaller ones."""
    if views.rank >= plan.caps[edge] or plan.inside[edge].all():
        return None
    inside, outside = np.flatnonzero(plan.inside[edge]), np.flatnonzero(~plan.inside[edge])
    dependence = pairs.spectra[np.ix_(inside, outside)][:, :, 1:].sum(axis=2)
    below_order = inside[np.argsort(-dependence.max(axis=1), kind="stable")].tolist()
    above_order = outside[np.argsort(-dependence.max(axis=0), kind="stable")].tolist()
    below, reached = _grown(plan, edge, below_order, size, above=False, first=below_order[0])
    cells = prod(plan.junction.n_states[leaf] for leaf in below)
    groups: dict[Group, int] = {}
    for first in above_order:
        group, rank = _grown(plan, edge, above_order, size, above=True, first=first)
        width = cells * prod(plan.junction.n_states[leaf] for leaf in group)
        if width <= MOST_TABLE_CELLS or not groups:
            groups.setdefault(tuple(sorted(group)), rank)
        if len(groups) >= min(n_views, MOST_GROUPED_VIEWS):
            break
    best = max(groups.values())
    best_groups = tuple(group for group, rank in groups.items() if rank == best)
    if min(reached, best) <= views.rank:
        return None
    return EdgeViews(below, best_groups, (1.0,) * len(best_groups), min(reached, best), views.noise)


def _grown(
    plan: SeparatorPlan, edge: int, order: Sequence[int], size: int, *, above: bool, first: int
) -> tuple[Group, int]:
    """A group of leaves, grown from one until it can have full rank; and its rank."""
    states, n_states = plan.junction.n_states, int(plan.caps[edge])
    group: Group = (first,)
    rank = plan.rank(group, edge, above=above)
    while rank < n_states and len(group) < size:
        room = MOST_GROUP_CELLS // prod(states[leaf] for leaf in group)
        able = (leaf for leaf in order if leaf not in group and states[leaf] <= room)
        best, most = group, rank
        for leaf in islice(able, MOST_CANDIDATES):
            reached = plan.rank((*group, leaf), edge, above=above)
            if reached > most:
                best, most = (*group, leaf), reached
            if most >= n_states:
                break
        if most <= rank:
            break
        group, rank = best, most
    return group, rank
