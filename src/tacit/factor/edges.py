"""A basis for what crosses each edge of a tree: singular vectors of one side against the other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from tacit.factor.stars import EdgeViews, Group, PairMoments, root_scale
from tacit.factor.svd import stacked_svd
from tacit.moments.source import Moments

Array = NDArray[np.float64]
Key = TypeVar("Key", bound=Hashable)

# Singular values below this share of the largest are rounding, also where tables are exact.
ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class EdgeSpectrum:
    """What was seen at an edge."""

    views: EdgeViews
    values: Array  # all singular values, descending
    rank: int  # how many were kept
    threshold: float  # what they were compared with

    @property
    def condition(self) -> float:
        """Largest over smallest singular value that was kept: by how much errors can grow here."""
        least = float(self.values[self.rank - 1])
        return float(self.values[0]) / least if least > 0 else float("inf")


@dataclass(frozen=True, slots=True, eq=False)
class EdgeBasis:
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


@dataclass(frozen=True, slots=True, eq=False)
class _Stack:
    """Edges of equal shape: their tables, and what scales rows and columns."""

    joint: Array  # (edge, a, b)
    rows: Array  # (edge, a)
    columns: Array  # (edge, b)
    levels: Array  # (edge,)  size of the noise


def edge_bases(
    moments: Moments,
    pairs: PairMoments,
    edges: Mapping[Key, EdgeViews],
    *,
    cut: float,
) -> dict[Key, EdgeBasis]:
    """A basis for each edge.

    Parameters
    ----------
    edges
        What stands for the two sides of each edge, by any key.
    cut
        Singular values are kept that exceed this many times the noise expected of independent data of that
        size (for tables that are not whitened: half of one over the root of the number of rows).
    """
    single: dict[tuple[int, ...], list[Key]] = defaultdict(list)
    grouped: list[Key] = []
    cards = pairs.cards.tolist()
    for edge, views in edges.items():
        if len(views.below) == 1 and all(len(group) == 1 for group in views.above):
            shape = (cards[views.below[0]], *(cards[group[0]] for group in views.above))
            single[shape].append(edge)
        else:
            grouped.append(edge)
    out: dict[Key, EdgeBasis] = {}
    for members in single.values():
        stack = _from_pairs(pairs, [edges[edge] for edge in members])
        out.update(zip(members, _bases(stack, [edges[edge] for edge in members], cut), strict=True))
    asked = [(*edges[edge].below, *group) for edge in grouped for group in edges[edge].above]
    tables = iter(moments.tables(asked) if asked else [])
    for edge in grouped:
        stack, views = _from_tables(edges[edge], tables, moments, whiten=pairs.whiten)
        (out[edge],) = _bases(stack, [views], cut)
    return out


def _from_pairs(pairs: PairMoments, edges: Sequence[EdgeViews]) -> _Stack:
    """The tables of edges whose sides are single leaves, all of one shape."""
    stars = np.array([views.below[0] for views in edges])
    leaves = np.array([[group[0] for group in views.above] for views in edges])  # (edge, view)
    weights = _weights(np.array([views.strengths for views in edges]), whiten=pairs.whiten)
    cards = pairs.cards
    rows = pairs.offsets[stars][:, None] + np.arange(cards[stars[0]])  # (edge, a)
    widths = cards[leaves[0]]
    steps = np.arange(widths.sum()) - np.repeat(np.cumsum(widths) - widths, widths)
    columns = np.repeat(pairs.offsets[leaves], widths, axis=1) + steps  # (edge, b)
    share = weights**2 / np.maximum(pairs.supports[stars[:, None], leaves], 1)  # (edge, view)
    return _Stack(
        joint=pairs.joint[rows[:, :, None], columns[:, None, :]],
        rows=pairs.scale[rows],
        columns=pairs.scale[columns] * np.repeat(weights, widths, axis=1),
        levels=_noise(share, rows.shape[1], widths, whiten=pairs.whiten),
    )


def _from_tables(
    views: EdgeViews, tables: Iterator[Array], moments: Moments, *, whiten: bool
) -> tuple[_Stack, EdgeViews]:
    """The tables of an edge whose sides are groups of leaves, and the strengths of its views."""
    n_cells = int(np.prod([moments.cards[leaf] for leaf in views.below]))
    blocks = [table.reshape(n_cells, -1) for table in islice(tables, len(views.above))]
    row_scales = np.ones((1, n_cells))
    column_scales = [np.ones(block.shape[1]) for block in blocks]
    if whiten:
        row_scales = root_scale(blocks[0].sum(axis=1), moments.n_rows)[None]
        column_scales = [root_scale(block.sum(axis=0), moments.n_rows) for block in blocks]
    strengths = []
    for block, scale in zip(blocks, column_scales, strict=True):
        values = np.linalg.svd(row_scales.T * block * scale, compute_uv=False)
        strengths.append(float(values[views.rank - 1]) if len(values) >= views.rank else 0.0)
    weights = _weights(np.array([strengths]), whiten=whiten)
    widths = np.array([block.shape[1] for block in blocks])
    stack = _Stack(
        joint=np.concatenate(blocks, axis=1)[None],
        rows=row_scales,
        columns=np.concatenate(column_scales)[None] * np.repeat(weights, widths, axis=1),
        levels=_noise(weights**2 / max(moments.n_rows, 1), n_cells, widths, whiten=whiten),
    )
    return stack, EdgeViews(views.below, views.above, tuple(strengths), views.rank)


def _weights(strengths: Array, *, whiten: bool) -> Array:
    """(edge, view) How much each view counts: as much as it sees. Squares sum to one.

    Equal weights, as in the thesis, cost 5 to 15 % in error where views differ in strength.
    """
    if not whiten or not strengths.any():
        strengths = np.ones_like(strengths)
    strengths = np.where(strengths.any(axis=1, keepdims=True), strengths, 1.0)
    return np.asarray(strengths / np.linalg.norm(strengths, axis=1, keepdims=True))


def _noise(share: Array, n_rows: int, widths: NDArray[np.int64], *, whiten: bool) -> Array:
    """(edge,) The largest singular value that views independent of the star would have.

    Parameters
    ----------
    share : (edge, view)
        Squared weight of each view over the rows behind it.
    """
    if not whiten:
        return np.asarray(0.5 * np.sqrt(share.sum(axis=1)))
    by_row, by_column = (n_rows - 1) * share.max(axis=1), share @ (widths - 1.0)
    return np.asarray(np.sqrt(by_row) + np.sqrt(by_column))


def _bases(stack: _Stack, edges: Sequence[EdgeViews], cut: float) -> list[EdgeBasis]:
    """The bases of edges of equal shape."""
    left, values, right = stacked_svd(
        stack.joint * stack.rows[:, :, None] * stack.columns[:, None, :]
    )
    thresholds = np.maximum(cut * stack.levels, ROUNDING * values[:, 0])
    ranks = np.minimum((values > thresholds[:, None]).sum(axis=1), [views.rank for views in edges])
    inverse = right.swapaxes(1, 2) / np.maximum(values, np.finfo(float).tiny)[:, None, :]
    back = inverse * stack.columns[:, :, None]
    emits = left / stack.rows[:, :, None]
    left *= stack.rows[:, :, None]
    out = []
    for at, (views, rank) in enumerate(zip(edges, np.maximum(ranks, 1).tolist(), strict=True)):
        seen = EdgeSpectrum(views, values[at], rank, float(thresholds[at]))
        parts = left[at, :, :rank], back[at, :, :rank], emits[at, :, :rank]
        out.append(EdgeBasis(seen, *parts))
    return out
