"""The two sides of edges against each other: tables of equal shape in one stack, scaled and weighted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.trees.learn.spectral.stars import EdgeViews, PairMoments
from tacit.trees.learn.spectral.view_weights import noise_levels, view_strengths, view_weights
from tacit.trees.moments.source import Moments
from tacit.trees.moments.whitening import Turn, Whitening, root_scale

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Stack:
    """Edges of equal shape: their tables, and the scales of rows and columns."""

    joint: Array  # (edge, a, b)  the views above stand side by side; of whitened features, if any
    rows: Array  # (edge, a)
    columns: Array  # (edge, b)
    levels: Array  # (edge,)  size of the noise
    widths: NDArray[np.int64]  # (view,)  cells of each view above
    whitened: WhitenedSides | None = None  # where features were whitened


@dataclass(frozen=True, slots=True, eq=False)
class WhitenedSides:
    """The whitening of the features of edges of equal shape."""

    joint: Array  # (edge, a, b)  tables of the features as they are
    below: Array  # (edge, a, a)
    above: tuple[Array, ...]  # per view: (edge, b, b)
    constants: tuple[Array, Array]  # (edge, a), (edge, b)  of the whitened features
    indicators: NDArray[np.bool_]  # (edge,)  whether all features are indicators

    @staticmethod
    def of(joint: Array, below: Turn, above: Sequence[Turn]) -> WhitenedSides:
        """The whitening of a single edge."""
        high = np.concatenate([turn.constant for turn in above])
        return WhitenedSides(
            joint[None],
            below.inverse_root[None],
            tuple(turn.inverse_root[None] for turn in above),
            (below.constant[None], high[None]),
            np.array([all(turn.indicators for turn in (below, *above))]),
        )

    def unwhitened(self, left: Array, right: Array) -> tuple[Array, Array]:
        """Directions of the whitened features in terms of the features themselves."""
        ends = np.cumsum([turn.shape[1] for turn in self.above])[:-1]
        parts = np.split(right, ends, axis=1)
        turned = [turn @ part for turn, part in zip(self.above, parts, strict=True)]
        return self.below @ left, np.concatenate(turned, axis=1)


def sides_from_pairs(pairs: PairMoments, edges: Sequence[EdgeViews]) -> Stack:
    """The tables of edges whose sides are single leaves, all of one shape."""
    stars = np.array([views.below[0] for views in edges])
    leaves = np.array([[group[0] for group in views.above] for views in edges])  # (edge, view)
    weights = view_weights(np.array([views.strengths for views in edges]), whiten=pairs.whiten)
    cards = pairs.cards
    rows = pairs.offsets[stars][:, None] + np.arange(cards[stars[0]])  # (edge, a)
    widths = cards[leaves[0]]
    steps = np.arange(widths.sum()) - np.repeat(np.cumsum(widths) - widths, widths)
    columns = np.repeat(pairs.offsets[leaves], widths, axis=1) + steps  # (edge, b)
    variances = weights**2 / np.maximum(pairs.supports[stars[:, None], leaves], 1)  # (edge, view)
    joint = pairs.joint[rows[:, :, None], columns[:, None, :]]
    freedom, whitened = cards - 1.0, None
    if pairs.whitening is not None:
        turns, constants = pairs.whitening.turns, pairs.whitening.constants
        freedom = pairs.whitening.freedom
        are_indicators = np.array([turn.indicators for turn in turns])
        whitened = WhitenedSides(
            joint,
            np.array([turns[star].inverse_root for star in stars]),
            tuple(np.array([turns[leaf].inverse_root for leaf in view]) for view in leaves.T),
            (constants[rows], constants[columns]),
            np.logical_and(are_indicators[stars], are_indicators[leaves].all(axis=1)),
        )
        joint = pairs.whitening.joint[rows[:, :, None], columns[:, None, :]]
    return Stack(
        joint=joint,
        rows=pairs.scale[rows],
        columns=pairs.scale[columns] * np.repeat(weights, widths, axis=1),
        levels=noise_levels(variances, freedom[stars], freedom[leaves], whiten=pairs.whiten),
        widths=widths,
        whitened=whitened,
    )


def sides_from_tables(
    edges: Sequence[EdgeViews], blocks: Sequence[Array], moments: Moments, pairs: PairMoments
) -> tuple[Stack, list[EdgeViews]]:
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
        residual = block
        if pairs.whiten:
            by_row, by_column = block.sum(axis=2, keepdims=True), block.sum(axis=1, keepdims=True)
            residual = block - by_row * by_column / by_row.sum(axis=1, keepdims=True)
        scaled = rows[:, :, None] * residual * scale[:, None, :]
        strengths[:, view] = view_strengths(scaled, ranks, whiten=pairs.whiten)
    weights = view_weights(strengths, whiten=pairs.whiten)
    variances = weights**2 / max(moments.n_rows, 1)
    freedom, freedoms = np.full(n_edges, n_cells - 1.0), np.tile(widths - 1.0, (n_edges, 1))
    stack = Stack(
        joint=np.concatenate(blocks, axis=2),
        rows=rows,
        columns=np.concatenate(columns, axis=1) * np.repeat(weights, widths, axis=1),
        levels=noise_levels(variances, freedom, freedoms, whiten=pairs.whiten),
        widths=widths,
    )
    strengths_of_edges = zip(edges, strengths.tolist(), strict=True)
    return stack, [views._replace(strengths=tuple(values)) for views, values in strengths_of_edges]


def sides_from_whitened_tables(
    views: EdgeViews, blocks: Sequence[Array], moments: Moments, pairs: PairMoments
) -> tuple[Stack, list[EdgeViews]]:
    """The same for one edge whose leaves have features that are whitened."""
    assert pairs.whitening is not None
    below, above = _group_turns(views, blocks, moments.n_rows, pairs.whitening)
    return whitened_sides(views, blocks, (below, above), moments.n_rows, whiten=pairs.whiten)


def whitened_sides(
    views: EdgeViews,
    blocks: Sequence[Array],
    turns: tuple[Turn, Sequence[Turn]],
    n_rows: float,
    *,
    whiten: bool = True,
) -> tuple[Stack, list[EdgeViews]]:
    """The tables of one edge, with the whitening of what is below it and of each view above it."""
    below, above = turns
    widths = np.array([block.shape[1] for block in blocks])
    whitened = WhitenedSides.of(np.concatenate(blocks, axis=1), below, above)
    blocks = [
        below.inverse_root @ block @ turn.inverse_root
        for block, turn in zip(blocks, above, strict=True)
    ]
    low, high = whitened.constants
    strengths = []
    for block, one in zip(blocks, np.split(high[0], np.cumsum(widths)[:-1]), strict=True):
        by_row, by_column = block @ one, low[0] @ block
        residual = block - np.outer(by_row, by_column) / (low[0] @ by_row) if whiten else block
        strength = view_strengths(residual[None], np.array([views.rank]), whiten=whiten)
        strengths.append(float(strength[0]))
    weights = view_weights(np.array([strengths]), whiten=whiten)
    variances = weights**2 / max(n_rows, 1)
    freedoms = np.array([[turn.freedom for turn in above]])
    stack = Stack(
        joint=np.concatenate(blocks, axis=1)[None],
        rows=np.ones((1, len(blocks[0]))),
        columns=np.repeat(weights, widths, axis=1),
        levels=noise_levels(variances, np.array([below.freedom]), freedoms, whiten=whiten),
        widths=widths,
        whitened=whitened,
    )
    return stack, [views._replace(strengths=tuple(strengths))]


def _group_turns(
    views: EdgeViews, blocks: Sequence[Array], n_rows: float, whitening: Whitening
) -> tuple[Turn, list[Turn]]:
    """The whitening of the joint features of the leaves below an edge, and of each view above it."""
    total = whitening.total(views.below)
    totals = [whitening.total(group) for group in views.above]
    below = whitening.of_group(views.below, blocks[0] @ totals[0], n_rows)
    above = [
        whitening.of_group(group, total @ block, n_rows)
        for group, block in zip(views.above, blocks, strict=True)
    ]
    return below, above
