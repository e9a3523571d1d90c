"""The leaves that represent the two sides of each edge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.messages.rooted_tree import RootedTree
from tacit.trees.learn.spectral.ranks import EdgePlan, GroupRanks, edge_plan
from tacit.trees.moments.features import FeaturePairs
from tacit.trees.moments.source import Moments
from tacit.trees.moments.whitening import Whitening, root_scale

Array = NDArray[np.float64]
Group = tuple[int, ...]  # leaves whose joint category is one view

# Singular values below this fraction of the largest are rounding, also where tables are exact.
ROUNDING = 1e-12

# Directions of a leaf's edge are kept above this fraction of the noise: nothing is divided by them.
LEAF_NOISE = 0.8

# Candidate leaves when a group is made larger, cells that a group may have, and views of an edge
# that are groups: more of them were not better, and their tables are large.
MOST_CANDIDATES = 8
MOST_GROUP_CELLS = 64
MOST_GROUPED_VIEWS = 2


@dataclass(frozen=True, slots=True, eq=False)
class PairMoments:
    """All pairs of leaves: their joint probabilities and how strongly each pair shows a given rank.

    A cell is a category of a leaf, or one of its features (then means of products stand for probabilities).
    """

    joint: Array  # (cell, cell)
    scale: Array  # (cell,)  one over the root of each category's probability, or ones
    supports: Array  # (leaf, leaf)  rows behind each pair; infinite where tables are exact
    offsets: NDArray[np.int64]  # (leaf + 1,)
    spectra: Array  # (leaf, leaf, value)  singular values of the scaled joint tables
    shown: NDArray[np.int64]  # (leaf, leaf)  how many of them stand out from noise
    whiten: bool
    whitening: Whitening | None = None  # of features; then `scale` is ones

    @property
    def cards(self) -> NDArray[np.int64]:
        """(leaf,) Number of categories."""
        return np.diff(self.offsets)


class EdgeViews(NamedTuple):
    """The leaves that represent the two sides of an edge."""

    below: Group
    above: tuple[Group, ...]  # several views, strongest first
    strengths: tuple[float, ...]  # (view,)  singular value at the edge's rank
    rank: int  # the largest rank of the edge
    noise: float = 1.0  # how many times the noise a direction must exceed


def pair_moments(moments: Moments, n_values: int, *, whiten: bool) -> PairMoments:
    """The pairs of leaves, scaled so that all entries of a table are about equally noisy.

    Parameters
    ----------
    n_values
        How many singular values of each pair are used.
    whiten
        Divide by the roots of the probabilities of the categories, or multiply with the inverse root of the
        second moments of features. Without it tables are taken as they are, as in chapter 4 of the thesis.
    """
    from tacit.trees.loops.views import pair_spectra

    pairs = moments.pairs()
    joint = pairs.probabilities
    exact = np.isinf(moments.n_rows)
    supports = np.full(pairs.supports.shape, np.inf) if exact else np.asarray(pairs.supports, float)
    offsets = np.array(pairs.offsets)
    scale, freedom = np.ones(len(joint)), np.diff(offsets) - 1.0
    whitening = None
    if whiten:
        if isinstance(pairs, FeaturePairs):
            whitening = Whitening.of(pairs, supports)
            scaled, probabilities, freedom = whitening.joint, whitening.means, whitening.freedom
        else:
            scaled, probabilities = joint, joint.diagonal()
            scale = root_scale(probabilities, np.repeat(supports.diagonal(), pairs.cards))
        # The first singular value of a whitened table is 1, that of the constant; the others follow.
        spectra = np.ones((len(offsets) - 1, len(offsets) - 1, n_values))
        spectra[:, :, 1:] = pair_spectra(scaled, probabilities, scale, offsets, n_values - 1)
    else:
        spectra = pair_spectra(joint, np.zeros(len(joint)), scale, offsets, n_values)
    roots = np.sqrt(freedom) if whiten else np.full(len(offsets) - 1, 0.25)
    noise = np.add.outer(roots, roots) / np.sqrt(np.maximum(supports, 1))
    shown = (spectra > np.maximum(noise, ROUNDING)[:, :, None]).sum(axis=2)
    return PairMoments(joint, scale, supports, offsets, spectra, shown, whiten, whitening)


def edge_views(
    tree: RootedTree,
    n_states: tuple[int, ...],
    pairs: PairMoments,
    n_views: int,
    features: int,
) -> list[EdgeViews]:
    """The leaves that represent the two sides of each edge; an edge is named by its lower node.

    One leaf below and `n_views` leaves above, those with the largest singular value at the edge's rank.
    An edge whose rank no pair of leaves can show gets groups of up to `features` leaves on each side,
    if some pair shows all that it can; their strengths are unknown until their tables are counted, and
    given as 1. The edge of a leaf is then left without views: the leaf is sent as it is.
    """
    from tacit.trees.loops.views import best_views

    plan = edge_plan(tree, n_states)
    args = pairs.spectra, pairs.shown, plan.path_ranks, plan.inside, plan.single, n_views
    stars, views, strengths, reached = best_views(*args)
    n_strong = np.maximum(((views >= 0) & (strengths > 0)).sum(axis=1), views[:, 0] >= 0).tolist()
    # Groups are used where single leaves reach their largest rank and the edge has a larger one.
    more = ((plan.ranks > plan.single) & (reached == plan.single)).tolist()
    lists = stars.tolist(), views.tolist(), strengths.tolist(), plan.single.tolist()
    out = []
    for edge, (star, leaves, values, rank) in enumerate(zip(*lists, strict=True)):
        n = n_strong[edge]
        if edge < tree.n_leaves:
            above = () if more[edge] else tuple((leaf,) for leaf in leaves[:n])
            out.append(EdgeViews((star,), above, tuple(values[:n]), rank, LEAF_NOISE))
        elif n == 0:  # above an only child there are no leaves
            out.append(EdgeViews((star,), ((),), (1.0,), 1))
        elif more[edge] and features > 1:
            out.append(_grouped(tree, n_states, pairs, plan, edge, n_views, features))
        else:
            above = tuple((leaf,) for leaf in leaves[:n])
            out.append(EdgeViews((star,), above, tuple(values[:n]), rank))
    return out


def strongest_views(
    pairs: PairMoments,
    path_ranks: NDArray[np.int64],
    below: Group,
    allowed: NDArray[np.bool_],
    otherwise: tuple[Group, ...],
    rank: int,
    n_views: int,
) -> EdgeViews:
    """The leaves among those allowed that show the rank of a group most strongly.

    Single leaves against a single leaf, where some pair can show the rank; else the groups given `otherwise`.
    """
    if len(below) == 1:
        able = allowed & (path_ranks[below[0]] >= rank)
        level = max(min(2, rank), min(rank, int(pairs.shown[below[0]].max(where=able, initial=0))))
        strengths = np.where(able, pairs.spectra[below[0], :, level - 1], 0.0)
        order = np.argsort(-strengths, kind="stable")[:n_views]
        order = order[strengths[order] > 0]
        if len(order):
            above = tuple((leaf,) for leaf in order.tolist())
            return EdgeViews(below, above, tuple(strengths[order].tolist()), rank)
    return EdgeViews(below, otherwise, (1.0,) * len(otherwise), rank)


def _grouped(
    tree: RootedTree,
    n_states: tuple[int, ...],
    pairs: PairMoments,
    plan: EdgePlan,
    edge: int,
    n_views: int,
    features: int,
) -> EdgeViews:
    """Groups of leaves for an edge whose rank no single pair of leaves can show."""
    inside, outside = np.flatnonzero(plan.inside[edge]), np.flatnonzero(~plan.inside[edge])
    dependence = pairs.spectra[np.ix_(inside, outside)][:, :, 1:].max(axis=2, initial=0.0)
    ranked_inside = inside[np.argsort(-dependence.max(axis=1), kind="stable")].tolist()
    ranked_outside = outside[np.argsort(-dependence.max(axis=0), kind="stable")].tolist()
    rank = int(plan.ranks[edge])
    rank_at = GroupRanks(tree, n_states)
    parent = int(tree.parent[edge])

    def rank_of(group: Group, side: int) -> int:
        return min(rank_at(group, parent if side else edge), n_states[parent])

    def grown(first: int, others: Sequence[int], side: int) -> Group:
        group: Group = (first,)
        reached = rank_of(group, side)
        while reached < rank and len(group) < features:
            room = MOST_GROUP_CELLS // int(np.prod([n_states[leaf] for leaf in group]))
            candidates = [leaf for leaf in others if leaf not in group and n_states[leaf] <= room]
            if not candidates:
                break
            ranks_of_candidates = [
                rank_of((*group, leaf), side) for leaf in candidates[:MOST_CANDIDATES]
            ]
            best = int(np.argmax(ranks_of_candidates))
            group, reached = (*group, candidates[best]), ranks_of_candidates[best]
        return group

    below: Group = ()
    for leaf in ranked_inside[:MOST_CANDIDATES]:
        group = grown(leaf, ranked_inside, 0)
        if not below or rank_of(group, 0) > rank_of(below, 0):
            below = group
        if rank_of(below, 0) >= rank:
            break
    above: dict[Group, None] = {}
    for leaf in ranked_outside[: min(n_views, MOST_GROUPED_VIEWS)]:
        above[tuple(sorted(grown(leaf, ranked_outside, 1)))] = None
    ranks = {group: rank_of(group, 1) for group in above}
    largest_rank = tuple(group for group in above if ranks[group] == max(ranks.values()))
    rank = min(rank_of(below, 0), max(ranks.values()), rank)
    return EdgeViews(below, largest_rank, (1.0,) * len(largest_rank), rank)
