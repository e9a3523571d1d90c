"""A basis for what crosses each edge of a tree: singular vectors of one side against the other."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from tacit.factor.stars import ROUNDING, EdgeViews, Group, PairMoments
from tacit.factor.svd import stacked_svd
from tacit.factor.weights import noise_levels, view_strengths, view_weights
from tacit.factor.whitening import Turn, Whitening, root_scale
from tacit.moments.source import Moments

Array = NDArray[np.float64]
Key = TypeVar("Key", bound=Hashable)


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

    joint: Array  # (edge, a, b)  the views above stand side by side; of whitened features, if any
    rows: Array  # (edge, a)
    columns: Array  # (edge, b)
    levels: Array  # (edge,)  size of the noise
    widths: NDArray[np.int64]  # (view,)  cells of each view above
    turned: _Turned | None = None  # where features were whitened


@dataclass(frozen=True, slots=True, eq=False)
class _Turned:
    """What whitened the features of edges of equal shape."""

    joint: Array  # (edge, a, b)  tables of the features as they are
    below: Array  # (edge, a, a)
    above: tuple[Array, ...]  # per view: (edge, b, b)
    constants: tuple[Array, Array]  # (edge, a), (edge, b)  of the whitened features
    indicators: NDArray[np.bool_]  # (edge,)  whether all features are indicators

    @staticmethod
    def of(joint: Array, below: Turn, above: Sequence[Turn]) -> _Turned:
        """That of a single edge."""
        high = np.concatenate([turn.constant for turn in above])
        return _Turned(
            joint[None],
            below.inverse_root[None],
            tuple(turn.inverse_root[None] for turn in above),
            (below.constant[None], high[None]),
            np.array([all(turn.indicators for turn in (below, *above))]),
        )

    def undone(self, left: Array, back: Array) -> tuple[Array, Array]:
        """Directions of the whitened features, as directions of the features as they are."""
        ends = np.cumsum([turn.shape[1] for turn in self.above])[:-1]
        parts = np.split(back, ends, axis=1)
        turned = [turn @ part for turn, part in zip(self.above, parts, strict=True)]
        return self.below @ left, np.concatenate(turned, axis=1)


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
    bases_of = _whitened_bases if pairs.whiten else _plain_bases
    out: dict[Key, EdgeBasis] = {}
    for members in single.values():
        stack = _from_pairs(pairs, [edges[edge] for edge in members])
        out.update(
            zip(members, bases_of(stack, [edges[edge] for edge in members], cut), strict=True)
        )
    asked = [(*edges[edge].below, *group) for edge in grouped for group in edges[edge].above]
    tables = iter(moments.tables(asked) if asked else [])
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
            stack, every = _from_tables(every, blocks, moments, pairs)
        else:
            stack, every = _from_turned_tables(every[0], found[0][1], moments, pairs)
        out.update(zip((edge for edge, _ in found), bases_of(stack, every, cut), strict=True))
    return out


def _from_pairs(pairs: PairMoments, edges: Sequence[EdgeViews]) -> _Stack:
    """The tables of edges whose sides are single leaves, all of one shape."""
    stars = np.array([views.below[0] for views in edges])
    leaves = np.array([[group[0] for group in views.above] for views in edges])  # (edge, view)
    weights = view_weights(np.array([views.strengths for views in edges]), whiten=pairs.whiten)
    cards = pairs.cards
    rows = pairs.offsets[stars][:, None] + np.arange(cards[stars[0]])  # (edge, a)
    widths = cards[leaves[0]]
    steps = np.arange(widths.sum()) - np.repeat(np.cumsum(widths) - widths, widths)
    columns = np.repeat(pairs.offsets[leaves], widths, axis=1) + steps  # (edge, b)
    share = weights**2 / np.maximum(pairs.supports[stars[:, None], leaves], 1)  # (edge, view)
    joint = pairs.joint[rows[:, :, None], columns[:, None, :]]
    freedom, turned = cards - 1.0, None
    if pairs.whitening is not None:
        turns, constants = pairs.whitening.turns, pairs.whitening.constants
        freedom = pairs.whitening.freedom
        alike = np.array([turn.indicators for turn in turns])
        turned = _Turned(
            joint,
            np.array([turns[star].inverse_root for star in stars]),
            tuple(np.array([turns[leaf].inverse_root for leaf in view]) for view in leaves.T),
            (constants[rows], constants[columns]),
            np.logical_and(alike[stars], alike[leaves].all(axis=1)),
        )
        joint = pairs.whitening.joint[rows[:, :, None], columns[:, None, :]]
    return _Stack(
        joint=joint,
        rows=pairs.scale[rows],
        columns=pairs.scale[columns] * np.repeat(weights, widths, axis=1),
        levels=noise_levels(share, freedom[stars], freedom[leaves], whiten=pairs.whiten),
        widths=widths,
        turned=turned,
    )


def _from_tables(
    edges: Sequence[EdgeViews], blocks: Sequence[Array], moments: Moments, pairs: PairMoments
) -> tuple[_Stack, list[EdgeViews]]:
    """The tables of edges whose sides are groups of leaves, all of one shape, and the strengths of views.

    Parameters
    ----------
    blocks : sequence of (edge, a, b) arrays
        The tables of each view.
    """
    n_edges, n_cells, _ = blocks[0].shape
    widths = np.array([block.shape[2] for block in blocks])
    rows, columns = np.ones((n_edges, n_cells)), [np.ones(block.shape[::2]) for block in blocks]
    if pairs.whiten:
        rows = root_scale(blocks[0].sum(axis=2), moments.n_rows)
        columns = [root_scale(block.sum(axis=1), moments.n_rows) for block in blocks]
    ranks = np.array([views.rank for views in edges])
    strengths = np.empty((n_edges, len(blocks)))
    for view, (block, scale) in enumerate(zip(blocks, columns, strict=True)):
        rest = block
        if pairs.whiten:
            by_row, by_column = block.sum(axis=2, keepdims=True), block.sum(axis=1, keepdims=True)
            rest = block - by_row * by_column / by_row.sum(axis=1, keepdims=True)
        scaled = rows[:, :, None] * rest * scale[:, None, :]
        strengths[:, view] = view_strengths(scaled, ranks, whiten=pairs.whiten)
    weights = view_weights(strengths, whiten=pairs.whiten)
    share = weights**2 / max(moments.n_rows, 1)
    freedom, freedoms = np.full(n_edges, n_cells - 1.0), np.tile(widths - 1.0, (n_edges, 1))
    stack = _Stack(
        joint=np.concatenate(blocks, axis=2),
        rows=rows,
        columns=np.concatenate(columns, axis=1) * np.repeat(weights, widths, axis=1),
        levels=noise_levels(share, freedom, freedoms, whiten=pairs.whiten),
        widths=widths,
    )
    found = zip(edges, strengths.tolist(), strict=True)
    return stack, [replace(views, strengths=tuple(values)) for views, values in found]


def _from_turned_tables(
    views: EdgeViews, blocks: Sequence[Array], moments: Moments, pairs: PairMoments
) -> tuple[_Stack, list[EdgeViews]]:
    """The same for one edge whose leaves have features that are whitened."""
    assert pairs.whitening is not None
    widths = np.array([block.shape[1] for block in blocks])
    below, above = _group_turns(views, blocks, moments.n_rows, pairs.whitening)
    turned = _Turned.of(np.concatenate(blocks, axis=1), below, above)
    blocks = [
        below.inverse_root @ block @ turn.inverse_root
        for block, turn in zip(blocks, above, strict=True)
    ]
    low, high = turned.constants
    strengths = []
    for block, one in zip(blocks, np.split(high[0], np.cumsum(widths)[:-1]), strict=True):
        by_row, by_column = block @ one, low[0] @ block
        rest = block - np.outer(by_row, by_column) / (low[0] @ by_row) if pairs.whiten else block
        found = view_strengths(rest[None], np.array([views.rank]), whiten=pairs.whiten)
        strengths.append(float(found[0]))
    weights = view_weights(np.array([strengths]), whiten=pairs.whiten)
    share = weights**2 / max(moments.n_rows, 1)
    freedoms = np.array([[turn.freedom for turn in above]])
    stack = _Stack(
        joint=np.concatenate(blocks, axis=1)[None],
        rows=np.ones((1, len(blocks[0]))),
        columns=np.repeat(weights, widths, axis=1),
        levels=noise_levels(share, np.array([below.freedom]), freedoms, whiten=pairs.whiten),
        widths=widths,
        turned=turned,
    )
    return stack, [replace(views, strengths=tuple(strengths))]


def _group_turns(
    views: EdgeViews, blocks: Sequence[Array], n_rows: float, whitening: Whitening
) -> tuple[Turn, list[Turn]]:
    """What whitens the joint features of the leaves below an edge, and of each view above it."""
    total = whitening.total(views.below)
    totals = [whitening.total(group) for group in views.above]
    below = whitening.of_group(views.below, blocks[0] @ totals[0], n_rows)
    above = [
        whitening.of_group(group, total @ block, n_rows)
        for group, block in zip(views.above, blocks, strict=True)
    ]
    return below, above


def _plain_bases(stack: _Stack, edges: Sequence[EdgeViews], cut: float) -> list[EdgeBasis]:
    """The bases of edges of equal shape: singular vectors of the tables as they are."""
    left, values, right = stacked_svd(
        stack.joint * stack.rows[:, :, None] * stack.columns[:, None, :]
    )
    thresholds = _thresholds(stack, edges, cut, values[:, 0])
    back = _undone(right, values, thresholds) * stack.columns[:, :, None]
    ranks = (values > thresholds[:, None]).sum(axis=1)
    left *= stack.rows[:, :, None]
    return _cut_bases(stack, edges, left, back, values, thresholds, ranks)


def _whitened_bases(stack: _Stack, edges: Sequence[EdgeViews], cut: float) -> list[EdgeBasis]:
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
    return _cut_bases(stack, edges, left, back, values, thresholds, ranks)


def _margins(stack: _Stack) -> tuple[Array, Array, Array, Array, Array]:
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


def _thresholds(stack: _Stack, edges: Sequence[EdgeViews], cut: float, largest: Array) -> Array:
    """(edge,) What singular values must exceed."""
    noise = np.array([views.noise for views in edges])
    return np.maximum(cut * noise * stack.levels, ROUNDING * largest)


def _undone(right: Array, values: Array, thresholds: Array) -> Array:
    """(edge, b, m) Right singular vectors over their values, or zeros where the value is cut."""
    kept = values > thresholds[:, None]
    kept[:, 0] = values[:, 0] > 0  # one direction is always kept
    inverse = np.divide(1.0, values, out=np.zeros_like(values), where=kept)
    return right.swapaxes(1, 2) * inverse[:, None, :]


def _cut_bases(
    stack: _Stack,
    edges: Sequence[EdgeViews],
    left: Array,
    back: Array,
    values: Array,
    thresholds: Array,
    ranks: NDArray[np.int64],
) -> list[EdgeBasis]:
    """The bases with as many directions as the data show and the numbers of states allow."""
    joint = stack.joint
    if stack.turned is not None:
        joint = stack.turned.joint
        left, back = stack.turned.undone(left, back)
    emit = joint @ back
    out = []
    for at, (views, n_seen) in enumerate(zip(edges, ranks.tolist(), strict=True)):
        rank = max(1, min(n_seen, views.rank))
        seen = EdgeSpectrum(views, values[at], rank, float(thresholds[at]))
        basis = EdgeBasis(seen, left[at, :, :rank], back[at, :, :rank], emit[at, :, :rank])
        whole = stack.turned is None or stack.turned.indicators[at]
        out.append(basis if whole else _corrected(basis))
    return out


def _corrected(basis: EdgeBasis) -> EdgeBasis:
    """The basis with a right side that undoes the left one exactly.

    The constant is not quite one for the features of a kernel, which is no eigenvector then.
    """
    turn = np.linalg.pinv(basis.left.T @ basis.emit)
    return replace(basis, right=basis.right @ turn, emit=basis.emit @ turn)
