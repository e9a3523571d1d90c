"""A basis for what crosses each edge of a tree: singular vectors of one side against the other."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from itertools import islice
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from tacit.core.linalg.svd import stacked_svd
from tacit.trees.learn.spectral.sides import (
    Stack,
    sides_from_pairs,
    sides_from_tables,
    sides_from_turned_tables,
)
from tacit.trees.learn.spectral.stars import ROUNDING, EdgeViews, Group, PairMoments
from tacit.trees.moments.source import Moments

Array = NDArray[np.float64]
Key = TypeVar("Key", bound=Hashable)


class EdgeSpectrum(NamedTuple):
    """What was seen at an edge."""

    views: EdgeViews
    values: Array  # all singular values, descending
    rank: int  # how many were kept
    threshold: float  # what they were compared with

    @property
    def condition(self) -> float:
        """Largest over smallest singular value that was kept: by how much errors can grow here."""
        largest, least = self.values.item(0), self.values.item(self.rank - 1)
        return largest / least if least > 0 else float("inf")


class EdgeBasis(NamedTuple):
    """The directions of what is below an edge that what is above it can see.

    With the joint table P of the two sides (the views above stand side by side), ``left.T @ P @ right`` is
    the identity and ``P @ right`` is `emit`: `right` undoes ``left.T @ P``.
    """

    seen: EdgeSpectrum
    left: Array  # (cell below, rank)
    right: Array  # (cell above, rank)
    emit: Array  # (cell below, rank)

    @property
    def below(self) -> Group:
        """The leaves that stand for what is below the edge."""
        return self.seen.views.below

    @property
    def above(self) -> tuple[Group, ...]:
        """The views of what is above the edge."""
        return self.seen.views.above


def edge_bases(
    moments: Moments,
    pairs: PairMoments,
    edges: Mapping[Key, EdgeViews],
    *,
    cut: float,
    shrink: bool = False,
) -> dict[Key, EdgeBasis]:
    """A basis for each edge.

    Parameters
    ----------
    edges
        What stands for the two sides of each edge, by any key.
    cut
        Singular values are kept that exceed this many times the noise expected of independent data of that
        size (for tables that are not whitened: half of one over the root of the number of rows).
    shrink
        Whether what crosses an edge is made weaker by as much as noise has made it stronger. A singular
        value that is just above those of noise is mostly noise itself (Gavish and Donoho 2017).
    """
    single: dict[tuple[int, ...], list[Key]] = defaultdict(list)
    grouped: list[Key] = []
    cards = pairs.cards.tolist()
    for edge, views in edges.items():
        if len(views.below) == 1 and set(map(len, views.above)) == {1}:
            shape = (cards[views.below[0]], *[cards[leaf] for (leaf,) in views.above])
            single[shape].append(edge)
        else:
            grouped.append(edge)
    bases_of = _whitened_bases if pairs.whiten else _plain_bases
    out: dict[Key, EdgeBasis] = {}
    for members in single.values():
        stack = sides_from_pairs(pairs, [edges[edge] for edge in members])
        out.update(
            zip(
                members,
                bases_of(stack, [edges[edge] for edge in members], cut, shrink),
                strict=True,
            )
        )
    subsets = [(*edges[edge].below, *group) for edge in grouped for group in edges[edge].above]
    tables = iter(moments.tables(subsets) if subsets else [])
    alike: dict[Hashable, list[tuple[Key, list[Array]]]] = defaultdict(list)
    for edge in grouped:
        views = edges[edge]
        n_cells = math.prod(cards[leaf] for leaf in views.below)
        blocks = [table.reshape(n_cells, -1) for table in islice(tables, len(views.above))]
        own = None if pairs.whitening is None else edge
        alike[own, n_cells, tuple(block.shape[1] for block in blocks)].append((edge, blocks))
    for found in alike.values():
        every = [edges[edge] for edge, _ in found]
        blocks = [np.array(each) for each in zip(*(own for _, own in found), strict=True)]
        if pairs.whitening is None:
            stack, every = sides_from_tables(every, blocks, moments, pairs)
        else:
            stack, every = sides_from_turned_tables(every[0], found[0][1], moments, pairs)
        out.update(
            zip((edge for edge, _ in found), bases_of(stack, every, cut, shrink), strict=True)
        )
    return out


def _plain_bases(
    stack: Stack, edges: Sequence[EdgeViews], cut: float, shrink: bool
) -> list[EdgeBasis]:
    """The bases of edges of equal shape: singular vectors of the tables as they are."""
    left, values, right = stacked_svd(
        stack.joint * stack.rows[:, :, None] * stack.columns[:, None, :]
    )
    thresholds = _thresholds(stack, edges, cut, values[:, 0])
    back = _undone(right, values, thresholds) * stack.columns[:, :, None]
    ranks = (values > thresholds[:, None]).sum(axis=1)
    left *= stack.rows[:, :, None]
    kept = _strengths(values, thresholds) if shrink else None
    return _cut_bases(stack, edges, left, back, values, thresholds, ranks, kept)


def _whitened_bases(
    stack: Stack, edges: Sequence[EdgeViews], cut: float, shrink: bool
) -> list[EdgeBasis]:
    """The same, with the constant as the first direction, and the others with mean zero.

    The constant is a singular vector of every whitened table, but for the rows that were added to the
    shares. Taken as it is, it makes the whole network sum to one, and an edge of rank one independence.
    """
    joint, n_views = stack.joint, len(stack.widths)
    low, high, by_row, by_column, mass = _margins(stack)
    product = np.repeat(by_row / mass[:, None, :], stack.widths, axis=2) * by_column[:, None, :]
    left, values, right = stacked_svd(
        (joint - product) * stack.rows[:, :, None] * stack.columns[:, None, :]
    )
    scale = mass.mean(axis=1)[:, None, None]
    left *= stack.rows[:, :, None]
    left -= low * (by_row.mean(axis=2)[:, None, :] / scale @ left)
    thresholds = _thresholds(stack, edges, cut, np.ones(len(joint)))
    back = _undone(right, values, thresholds) * stack.columns[:, :, None]
    back -= high * (by_column[:, None, :] @ back / (n_views * scale))
    ranks = 1 + (values > thresholds[:, None]).sum(axis=1)
    left = np.concatenate([low, left], axis=2)
    back = np.concatenate([high / (n_views * scale), back], axis=2)
    values = np.concatenate([np.ones((len(joint), 1)), values], axis=1)
    kept = _strengths(values, thresholds) if shrink else None
    if kept is not None:
        kept[:, 0] = 1.0  # the constant is not estimated
    return _cut_bases(stack, edges, left, back, values, thresholds, ranks, kept)


def _margins(stack: Stack) -> tuple[Array, Array, Array, Array, Array]:
    """The constants (edge, a, 1) and (edge, b, 1); what the table makes of them; its total in each view.

    Indicators sum to one, so that the constants are ones, the margins sums, and the totals ones.
    """
    joint, starts = stack.joint, np.cumsum(stack.widths) - stack.widths
    n_edges, a, b = joint.shape
    if stack.turned is None:
        by_row, by_column = np.add.reduceat(joint, starts, axis=2), joint.sum(axis=1)
        mass = np.ones((n_edges, len(starts)))
        return np.ones((n_edges, a, 1)), np.ones((n_edges, b, 1)), by_row, by_column, mass
    low, high = stack.turned.constants
    by_row = np.add.reduceat(joint * high[:, None, :], starts, axis=2)
    by_column = (low[:, None, :] @ joint)[:, 0]
    mass = (low[:, None, :] @ by_row)[:, 0]
    mass = np.where(np.abs(mass) > ROUNDING, mass, 1.0)
    return low[:, :, None], high[:, :, None], by_row, by_column, mass


def _thresholds(stack: Stack, edges: Sequence[EdgeViews], cut: float, largest: Array) -> Array:
    """(edge,) What singular values must exceed."""
    noise = np.array([views.noise for views in edges])
    return np.maximum(cut * noise * stack.levels, ROUNDING * largest)


def _undone(right: Array, values: Array, thresholds: Array) -> Array:
    """(edge, b, m) Right singular vectors over their values, or zeros where the value is cut."""
    kept = values > thresholds[:, None]
    kept[:, 0] = values[:, 0] > 0  # one direction is always kept
    inverse = np.divide(1.0, values, out=np.zeros_like(values), where=kept)
    return right.swapaxes(1, 2) * inverse[:, None, :]


def _strengths(values: Array, thresholds: Array) -> Array:
    """(edge, direction) How much of each direction is not noise; the first one is kept in any case."""
    noise = thresholds[:, None] / np.maximum(values, np.maximum(thresholds, 1e-300)[:, None])
    kept = np.sqrt(1 - noise**2)
    kept[kept[:, 0] == 0, 0] = 1.0
    return np.asarray(kept)


def _cut_bases(
    stack: Stack,
    edges: Sequence[EdgeViews],
    left: Array,
    back: Array,
    values: Array,
    thresholds: Array,
    ranks: NDArray[np.int64],
    kept: Array | None,
) -> list[EdgeBasis]:
    """The bases with as many directions as the data show and the numbers of states allow."""
    joint = stack.joint
    if stack.turned is not None:
        joint = stack.turned.joint
        left, back = stack.turned.undone(left, back)
    if kept is not None and stack.turned is None:
        back = back * kept[:, None, :]
    emit = joint @ back
    out = []
    every = zip(edges, ranks.tolist(), thresholds.tolist(), strict=True)
    for at, (views, n_seen, threshold) in enumerate(every):
        rank = max(1, min(n_seen, views.rank))
        seen = EdgeSpectrum(views, values[at], rank, threshold)
        basis = EdgeBasis(seen, left[at, :, :rank], back[at, :, :rank], emit[at, :, :rank])
        if stack.turned is not None:
            if not stack.turned.indicators[at]:
                basis = _corrected(basis)
            if kept is not None:
                own = kept[at, :rank]
                basis = basis._replace(right=basis.right * own, emit=basis.emit * own)
        out.append(basis)
    return out


def _corrected(basis: EdgeBasis) -> EdgeBasis:
    """The basis with a right side that undoes the left one exactly.

    The constant is not quite one for the features of a kernel, which is no eigenvector then.
    """
    turn = np.linalg.pinv(basis.left.T @ basis.emit)
    return basis._replace(right=basis.right @ turn, emit=basis.emit @ turn)
