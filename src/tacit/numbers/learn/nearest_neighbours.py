"""Rows that are like a row: what they hold in its missing cells.

Tables of places or customers often have rows that are nearly alike, and no model with few states knows that a
missing cell is the same as that of a twin. Rows are as far apart as the mean over the columns that both have:
one for different categories, half the squared difference of numbers in standard deviations. The nearer a row
is, the more it counts; the scale of distances is that from the nearest that has the cell to one of the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.input.mixed_table import MixedTable

Array = NDArray[np.float64]
Singles = NDArray[np.float32]

MOST_ROWS = 10_000  # that are kept
N_NEAREST = 100  # rows that are looked at
FARTHEST = 3.0  # numbers count as no farther from the mean than this, in standard deviations
_CELLS = 8_000_000  # distances at once


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Rows to look for twins among."""

    table: MixedTable
    # The scale of distances: from the nearest row to this one of the next, or a part of that to the next.
    reach: float

    @cached_property
    def _scale(self) -> tuple[Array, Array]:
        """(continuous column,) Means and standard deviations of the numbers."""
        numbers = self.table.numbers
        there = ~np.isnan(numbers)
        counts = np.maximum(there.sum(axis=0), 1)
        mean = np.where(there, numbers, 0.0).sum(axis=0) / counts
        spread = np.sqrt((np.where(there, numbers - mean, 0.0) ** 2).sum(axis=0) / counts)
        return mean, np.where(spread > 0, spread, 1.0)

    @cached_property
    def _encoded(self) -> tuple[Singles, Singles, Singles]:
        return self._encode(self.table)

    def _encode(self, table: MixedTable) -> tuple[Singles, Singles, Singles]:
        """What distances are made of: (row, feature) values and squares, (row, column) which are there.

        Half the squared distance of indicators is one where categories differ.
        """
        mean, scale = self._scale
        standard = np.clip((table.numbers - mean) / scale, -FARTHEST, FARTHEST)
        standard = np.where(np.isnan(standard), 0.0, standard)
        blocks = [standard]
        for place in table.schema.categorical:
            codes = table.column(place)
            blocks.append((codes[:, None] == np.arange(table.schema.cards[place])).astype(float))
        values = np.concatenate(blocks, axis=1, dtype=np.float32)
        order = [*table.schema.continuous, *table.schema.categorical]
        there = (~table.missing[:, order]).astype(np.float32)
        squares = there.copy()  # an indicator's square is one where the cell is there
        squares[:, : standard.shape[1]] *= standard**2
        return values, squares, there

    def nearest(self, table: MixedTable) -> tuple[NDArray[np.int64], Array]:
        """(row, neighbour) The nearest of the rows that are kept, nearest first, and their distances."""
        values, squares, there = self._encoded
        n_kept = min(N_NEAREST, len(values))
        rows = np.empty((table.n_rows, n_kept), dtype=np.int64)
        apart = np.empty((table.n_rows, n_kept))
        step = max(1, _CELLS // max(len(values), 1))
        for first in range(0, table.n_rows, step):
            part = slice(first, first + step)
            own = self._encode(table.take(part))
            both = np.maximum(own[2] @ there.T, 0.5)
            far = (own[1] @ there.T + own[2] @ squares.T - 2 * (own[0] @ values.T)) / (2 * both)
            found = np.argpartition(far, n_kept - 1, axis=1)[:, :n_kept]
            some = np.take_along_axis(far, found, axis=1)
            order = np.argsort(some, axis=1, kind="stable")
            rows[part] = np.take_along_axis(found, order, axis=1)
            apart[part] = np.take_along_axis(some, order, axis=1)
        return rows, apart

    def told(
        self, table: MixedTable, columns: Sequence[int], *, median: bool = False
    ) -> dict[int, Array]:
        """By column: (row,) means or medians of numbers, (row, category) shares of categories.

        NaN where no row nearby has the cell.
        """
        return told_by(self.table, *self.nearest(table), self.reach, columns, median=median)


def told_by(
    table: MixedTable,
    rows: NDArray[np.int64],
    apart: Array,
    reach: float,
    columns: Sequence[int],
    *,
    median: bool = False,
) -> dict[int, Array]:
    """What the nearest rows hold, weighted by how near they are.

    Parameters
    ----------
    table : MixedTable
        The rows that are kept.
    rows, apart : (row, neighbour)
        Which are the nearest, and how far they are.
    reach, columns, median
        See `Neighbours`.
    """
    found = {}
    for column in columns:
        values = table.column(column)[rows]  # (row, neighbour)
        numbers = column in table.schema.continuous
        weights = _closeness(apart, np.isnan(values) if numbers else values < 0, reach)
        if not numbers:
            shares = [
                (weights * (values == code)).sum(axis=1)
                for code in range(table.schema.cards[column])
            ]
            found[column] = np.stack(shares, axis=1)
        elif median:
            found[column] = _medians(values, weights)
        else:
            found[column] = (weights * np.where(weights > 0, values, 0.0)).sum(axis=1)
    return found


def _closeness(apart: Array, absent: NDArray[np.bool_], reach: float) -> Array:
    """(row, neighbour) How much each counts; rows add up to one, or are NaN where none has the cell."""
    rank = np.cumsum(~absent, axis=1)
    every = np.arange(len(apart))
    nearest = apart[every, np.argmax(rank >= 1, axis=1)]
    next_one = max(round(reach), 1)
    last = np.where(rank[:, -1] > next_one, np.argmax(rank > next_one, axis=1), -1)
    scale = np.maximum(min(reach, 1.0) * (apart[every, last] - nearest), 1e-6)
    weights = np.exp(-np.maximum(apart - nearest[:, None], 0.0) / scale[:, None])
    weights[absent] = 0.0
    with np.errstate(invalid="ignore"):
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _medians(values: Array, weights: Array) -> Array:
    """(row,) The numbers that half of the weight lies below."""
    order = np.argsort(values, axis=1)  # NaN last
    below = np.cumsum(np.take_along_axis(weights, order, axis=1), axis=1)
    place = np.argmax(below >= 0.5, axis=1)
    found = np.take_along_axis(values, order, axis=1)[np.arange(len(values)), place]
    return np.where(np.isnan(weights[:, 0]), np.nan, found)


def kept_rows(table: MixedTable, random_state: Any = None) -> MixedTable:
    """The rows to keep: all, or as many as are searched in a moment."""
    if table.n_rows <= MOST_ROWS:
        return table
    order = np.random.default_rng(random_state).permutation(table.n_rows)[:MOST_ROWS]
    return table.take(np.sort(order))
