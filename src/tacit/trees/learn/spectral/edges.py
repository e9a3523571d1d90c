"""A basis for each edge of a tree: singular vectors of one side against the other."""

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
    sides_from_whitened_tables,
)
from tacit.trees.learn.spectral.stars import ROUNDING, EdgeViews, Group, PairMoments
from tacit.trees.moments.source import Moments

Array = NDArray[np.float64]
Key = TypeVar("Key", bound=Hashable)


class EdgeSpectrum(NamedTuple):
    """The singular values of an edge, and the rank that was kept."""

    views: EdgeViews
    values: Array  # all singular values, descending
    rank: int  # how many were kept
    threshold: float  # the threshold that they exceed

    @property
    def condition(self) -> float:
        """Largest over smallest singular value that was kept: by how much errors can grow here."""
        largest, least = self.values.item(0), self.values.item(self.rank - 1)
        return largest / least if least > 0 else float("inf")


class EdgeBasis(NamedTuple):
    """The directions below an edge that are correlated with what is above it.

    With the joint table P of the two sides (the views above stand side by side), ``left.T @ P @ right`` is
    the identity and ``P @ right`` is `emit`: `right` undoes ``left.T @ P``.
    """

    spectrum: EdgeSpectrum
    left: Array  # (cell below, rank)
    right: Array  # (cell above, rank)
    emit: Array  # (cell below, rank)

    @property
    def below(self) -> Group:
        """The leaves that represent what is below the edge."""
        return self.spectrum.views.below

    @property
    def above(self) -> tuple[Group, ...]:
        """The views of what is above the edge."""
        return self.spectrum.views.above


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
        The views of the two sides of each edge, by any key.
    cut
        Singular values are kept that exceed this many times the noise expected of independent data of that
        size (for tables that are not whitened: half of one over the root of the number of rows).
    shrink
        Whether singular values are shrunk by as much as noise has raised them. One that is just above those
        of noise is mostly noise itself (Gavish and Donoho 2017).
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
    bases_of = whitened_bases if pairs.whiten else plain_bases
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
        key = None if pairs.whitening is None else edge
        alike[key, n_cells, tuple(block.shape[1] for block in blocks)].append((edge, blocks))
    for group in alike.values():
        every = [edges[edge] for edge, _ in group]
        blocks = [
            np.array(tables_of_view)
            for tables_of_view in zip(*(tables for _, tables in group), strict=True)
        ]
        if pairs.whitening is None:
            stack, every = sides_from_tables(every, blocks, moments, pairs)
        else:
            stack, every = sides_from_whitened_tables(every[0], group[0][1], moments, pairs)
        out.update(
            zip((edge for edge, _ in group), bases_of(stack, every, cut, shrink), strict=True)
        )
    return out


def plain_bases(
    stack: Stack, edges: Sequence[EdgeViews], cut: float, shrink: bool
) -> list[EdgeBasis]:
    """The bases of edges of equal shape: singular vectors of the tables as they are."""
    left, values, right = stacked_svd(
        stack.joint * stack.rows[:, :, None] * stack.columns[:, None, :]
    )
    thresholds = _thresholds(stack, edges, cut, values[:, 0])
    right_inverse = _scaled_right(right, values, thresholds) * stack.columns[:, :, None]
    ranks = (values > thresholds[:, None]).sum(axis=1)
    left *= stack.rows[:, :, None]
    strengths = _strengths(values, thresholds) if shrink else None
    return _cut_bases(stack, edges, left, right_inverse, values, thresholds, ranks, strengths)


def whitened_bases(
    stack: Stack, edges: Sequence[EdgeViews], cut: float, shrink: bool
) -> list[EdgeBasis]:
    """The same, with the constant as the first direction, and the others with mean zero.

    The constant is a singular vector of every whitened table, but for the rows that were added to the
    probabilities. It makes the network sum to one, and an edge of rank one independence.
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
    right_inverse = _scaled_right(right, values, thresholds) * stack.columns[:, :, None]
    right_inverse -= high * (by_column[:, None, :] @ right_inverse / (n_views * scale))
    ranks = 1 + (values > thresholds[:, None]).sum(axis=1)
    left = np.concatenate([low, left], axis=2)
    right_inverse = np.concatenate([high / (n_views * scale), right_inverse], axis=2)
    values = np.concatenate([np.ones((len(joint), 1)), values], axis=1)
    strengths = _strengths(values, thresholds) if shrink else None
    if strengths is not None:
        strengths[:, 0] = 1.0  # the constant is not estimated
    return _cut_bases(stack, edges, left, right_inverse, values, thresholds, ranks, strengths)


def _margins(stack: Stack) -> tuple[Array, Array, Array, Array, Array]:
    """The constants (edge, a, 1) and (edge, b, 1); their products with the table; its total in each view.

    Indicators sum to one, so that the constants are ones, the margins sums, and the totals ones.
    """
    joint, starts = stack.joint, np.cumsum(stack.widths) - stack.widths
    n_edges, a, b = joint.shape
    if stack.whitened is None:
        by_row, by_column = np.add.reduceat(joint, starts, axis=2), joint.sum(axis=1)
        mass = np.ones((n_edges, len(starts)))
        return np.ones((n_edges, a, 1)), np.ones((n_edges, b, 1)), by_row, by_column, mass
    low, high = stack.whitened.constants
    by_row = np.add.reduceat(joint * high[:, None, :], starts, axis=2)
    by_column = (low[:, None, :] @ joint)[:, 0]
    mass = (low[:, None, :] @ by_row)[:, 0]
    mass = np.where(np.abs(mass) > ROUNDING, mass, 1.0)
    return low[:, :, None], high[:, :, None], by_row, by_column, mass


def _thresholds(stack: Stack, edges: Sequence[EdgeViews], cut: float, largest: Array) -> Array:
    """(edge,) The threshold of singular values."""
    noise = np.array([views.noise for views in edges])
    return np.maximum(cut * noise * stack.levels, ROUNDING * largest)


def _scaled_right(right: Array, values: Array, thresholds: Array) -> Array:
    """(edge, b, m) Right singular vectors over their values, or zeros where the value is cut."""
    is_kept = values > thresholds[:, None]
    is_kept[:, 0] = values[:, 0] > 0  # one direction is always kept
    inverse = np.divide(1.0, values, out=np.zeros_like(values), where=is_kept)
    return right.swapaxes(1, 2) * inverse[:, None, :]


def _strengths(values: Array, thresholds: Array) -> Array:
    """(edge, direction) The part of each direction that is not noise; the first one is always kept."""
    noise = thresholds[:, None] / np.maximum(values, np.maximum(thresholds, 1e-300)[:, None])
    strengths = np.sqrt(1 - noise**2)
    strengths[strengths[:, 0] == 0, 0] = 1.0
    return np.asarray(strengths)


def _cut_bases(
    stack: Stack,
    edges: Sequence[EdgeViews],
    left: Array,
    right_inverse: Array,
    values: Array,
    thresholds: Array,
    ranks: NDArray[np.int64],
    strengths: Array | None,
) -> list[EdgeBasis]:
    """The bases with as many directions as the data show and the numbers of states allow."""
    joint = stack.joint
    if stack.whitened is not None:
        joint = stack.whitened.joint
        left, right_inverse = stack.whitened.unwhitened(left, right_inverse)
    if strengths is not None and stack.whitened is None:
        right_inverse = right_inverse * strengths[:, None, :]
    emit = joint @ right_inverse
    out = []
    every = zip(edges, ranks.tolist(), thresholds.tolist(), strict=True)
    for at, (views, n_significant, threshold) in enumerate(every):
        rank = max(1, min(n_significant, views.rank))
        spectrum = EdgeSpectrum(views, values[at], rank, threshold)
        basis = EdgeBasis(
            spectrum, left[at, :, :rank], right_inverse[at, :, :rank], emit[at, :, :rank]
        )
        if stack.whitened is not None:
            if not stack.whitened.indicators[at]:
                basis = _corrected(basis)
            if strengths is not None:
                strength = strengths[at, :rank]
                basis = basis._replace(right=basis.right * strength, emit=basis.emit * strength)
        out.append(basis)
    return out


def _corrected(basis: EdgeBasis) -> EdgeBasis:
    """The basis with a right side that undoes the left one exactly.

    The constant is not quite one for the features of a kernel, which is no eigenvector then.
    """
    turn = np.linalg.pinv(basis.left.T @ basis.emit)
    return basis._replace(right=basis.right @ turn, emit=basis.emit @ turn)
