"""Moments of features that a user gives, of the columns on the two sides of each edge of a tree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tacit.core.encoders.given_features import GivenFeatures
from tacit.core.input.table import Table
from tacit.errors import ArgumentError, DataError
from tacit.messages.rooted_tree import RootedTree
from tacit.trees.moments.features import CELLS_AT_ONCE
from tacit.trees.moments.products import Mode, mean_products

Array = NDArray[np.float64]
Codes = NDArray[np.integer]


@dataclass(frozen=True, eq=False)
class EdgeMoments:
    """Means of features below and above an edge, and of their products."""

    below: Array  # (a,)
    above: Array  # (b,)
    joint: Array  # (a, b)
    below_below: Array  # (a, a)
    above_above: Array  # (b, b)


@dataclass(frozen=True, eq=False)
class SideMoments:
    """Means of products of the features of sides, over the rows without missing cells.

    The side below an edge has the number of the edge's lower node; the one above has that plus the number of
    edges. A leaf is its indicators; all other sides have the given features and, last, the constant 1.
    """

    codes: Codes  # (row, column)  distinct, nothing missing
    weights: Array  # (row,)
    n_leaves: int
    sides: tuple[tuple[int, ...], ...]  # (side,)  columns
    given: GivenFeatures

    @staticmethod
    def of(tree: RootedTree, table: Table, given: GivenFeatures) -> SideMoments:
        """The moments of a table.

        Raises
        ------
        DataError
            Every row has a missing cell.
        """
        complete = (table.codes >= 0).all(axis=1)
        if table.weights is not None:
            complete &= table.weights > 0
        if not complete.any():
            raise DataError(
                "every row has a missing cell, and features of several columns need rows without; fill "
                "them in, or give features as a number"
            )
        counts = None if table.weights is None else table.weights[complete]
        codes, places = np.unique(table.codes[complete], axis=0, return_inverse=True)
        weights = np.bincount(places.ravel(), counts, len(codes)).astype(np.float64)
        edges = range(tree.n_nodes - 1)
        sides = [tree.below[edge] for edge in edges] + [tree.outside[edge] for edge in edges]
        return SideMoments(codes, weights, tree.n_leaves, tuple(sides), given)

    @property
    def n_rows(self) -> float:
        """Number of rows, or sum of their weights."""
        return float(self.weights.sum())

    @cached_property
    def cards(self) -> tuple[int, ...]:
        """(side,) Number of features, the constant included."""
        block = SideBlock(self, slice(0, 1), ())
        return tuple(block.features(side).shape[1] for side in range(len(self.sides)))

    def edge(self, edge: int) -> EdgeMoments:
        """The moments of the two sides of an edge."""
        below, above = edge, len(self.sides) // 2 + edge
        if self.given.kind == "concatenated":
            low, high = self._places(below), self._places(above)
            second = self._second_moments
            tables = [second[np.ix_(*two)] for two in ((low, high), (low, low), (high, high))]
            return EdgeMoments(second[low, -1], second[high, -1], *tables)
        one, two = Mode(((below,),)), Mode(((above,),))
        return EdgeMoments(*self.projected([[one], [two], [one, two], [one, one], [two, two]]))

    @cached_property
    def _second_moments(self) -> Array:
        """(cell, cell) Of the indicators of all columns, their vectors, and the constant, in one pass.

        Concatenated features of sides are parts of these.
        """
        given, columns = self.given, range(len(self.given.arrays))
        indicators = [np.eye(len(values)) for values in given.categories]
        size = sum(table.shape[1] for table in (*indicators, *given.arrays)) + 1
        total = np.zeros((size, size))
        at_once = max(256, CELLS_AT_ONCE // size)
        for low in range(0, len(self.codes), at_once):
            codes = self.codes[low : low + at_once]
            tables = [
                tables[c][codes[:, c]] for tables in (indicators, given.arrays) for c in columns
            ]
            cells = np.concatenate([*tables, np.ones((len(codes), 1))], axis=1)
            total += cells.T @ (self.weights[low : low + at_once, None] * cells)
        return total / self.n_rows

    def _places(self, side: int) -> NDArray[np.int64]:
        """Where the features of a side stand among those of `_second_moments`."""
        sizes = [len(values) for values in self.given.categories]
        if side < self.n_leaves:
            end = sum(sizes[: side + 1])
            return np.arange(end - sizes[side], end)
        widths = [array.shape[1] for array in self.given.arrays]
        ends = sum(sizes) + np.cumsum(widths)
        spans = [np.arange(ends[c] - widths[c], ends[c]) for c in self.sides[side]]
        return np.concatenate([*spans, ends[-1:]])

    def projected(self, requests: Sequence[Sequence[Mode]]) -> list[Array]:
        """The means of products of features that were first multiplied with matrices, in one pass."""
        if not requests:
            return []
        used = {
            side
            for request in requests
            for mode in request
            for group in mode.groups
            for side in group
        }
        width = sum(self.cards[side] for side in used)

        def passes() -> Iterator[SideBlock]:
            at_once = max(256, CELLS_AT_ONCE // max(width, 1))
            ends = [*range(0, len(self.codes), at_once), len(self.codes)]
            return (SideBlock(self, slice(*bounds), self.cards) for bounds in pairwise(ends))

        means = mean_products(passes, self.cards, requests, complete=True)
        return [mean for mean in means if mean is not None]  # there are rows, so none is


@dataclass(frozen=True, eq=False)
class SideBlock:
    """Some rows, whose features are formed when requested, side by side, and not kept."""

    moments: SideMoments
    rows: slice
    cards: tuple[int, ...]  # the numbers of features to expect; none where they are not known yet

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.weights)

    @property
    def weights(self) -> Array:
        """(row,) How often each row counts."""
        return self.moments.weights[self.rows]

    def features(self, column: int) -> Array:
        """(row, feature) The features of a side."""
        moments, columns = self.moments, list(self.moments.sides[column])
        codes = moments.codes[self.rows]
        if column < moments.n_leaves:
            return np.asarray(np.eye(len(moments.given.categories[column]))[codes[:, column]])
        features = moments.given(codes[:, columns], columns)
        if self.cards and self.cards[column] != features.shape[1] + 1:
            raise ArgumentError(
                f"features() gave {self.cards[column] - 1} features for one row and {features.shape[1]} for "
                f"others of the same columns; their number may not depend on the rows"
            )
        return np.concatenate([features, np.ones((len(codes), 1))], axis=1)

    def projected(self, column: int, matrix: Array) -> Array:
        """(direction, row) The features of a side in some directions."""
        given = self.moments.given
        if column < self.moments.n_leaves or given.kind != "concatenated":
            return np.asarray(matrix @ self.features(column).T)
        # Each category of a column in these directions, once; then the sum over columns.
        codes = self.moments.codes[self.rows]
        out = np.repeat(matrix[:, -1:], len(codes), axis=1)
        start = 0
        for variable in self.moments.sides[column]:
            vectors = given.arrays[variable]
            stop = start + vectors.shape[1]
            out += (matrix[:, start:stop] @ vectors.T)[:, codes[:, variable]]
            start = stop
        return out

    def held(self, columns: Sequence[int]) -> None:
        """Nothing: all rows have all columns."""
        del columns
