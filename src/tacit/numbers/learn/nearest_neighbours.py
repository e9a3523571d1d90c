"""Missing cells predicted by nearest neighbours.

Tables of places or customers often have rows that are nearly equal, which a model with few states cannot see.
The distance of two rows is the mean over the columns that both have: one for different categories, half the
squared difference of standardised numbers. Neighbours are weighted by an exponential kernel; its bandwidth is
the distance from the nearest row with the cell to one of the next.
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

MAX_ROWS = 10_000  # that are kept
N_NEAREST = 100  # neighbours of a row
MAX_DEVIATION = 3.0  # standardised numbers are clipped to this
_BLOCK_CELLS = 8_000_000  # distances at once


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Training rows among which neighbours are searched."""

    table: MixedTable
    # The bandwidth is the distance from the nearest row to this one of the next, or a fraction of it.
    bandwidth: float

    @cached_property
    def _scale(self) -> tuple[Array, Array]:
        """(continuous column,) Means and standard deviations of the numbers."""
        numbers = self.table.numbers
        observed = ~np.isnan(numbers)
        counts = np.maximum(observed.sum(axis=0), 1)
        mean = np.where(observed, numbers, 0.0).sum(axis=0) / counts
        deviation = np.sqrt((np.where(observed, numbers - mean, 0.0) ** 2).sum(axis=0) / counts)
        return mean, np.where(deviation > 0, deviation, 1.0)

    @cached_property
    def _encoded(self) -> tuple[Singles, Singles, Singles]:
        return self._encode(self.table)

    def _encode(self, table: MixedTable) -> tuple[Singles, Singles, Singles]:
        """The parts of distances: (row, feature) values and squares, (row, column) which cells are observed.

        Half the squared distance of indicators is one where categories differ.
        """
        mean, scale = self._scale
        standard = np.clip((table.numbers - mean) / scale, -MAX_DEVIATION, MAX_DEVIATION)
        standard = np.where(np.isnan(standard), 0.0, standard)
        blocks = [standard]
        for place in table.schema.categorical:
            codes = table.column(place)
            blocks.append((codes[:, None] == np.arange(table.schema.cards[place])).astype(float))
        values = np.concatenate(blocks, axis=1, dtype=np.float32)
        order = [*table.schema.continuous, *table.schema.categorical]
        observed = (~table.missing[:, order]).astype(np.float32)
        squares = observed.copy()  # the square of an indicator is one where the cell is observed
        squares[:, : standard.shape[1]] *= standard**2
        return values, squares, observed

    def nearest(self, table: MixedTable) -> tuple[NDArray[np.int64], Array]:
        """(row, neighbour) The nearest rows, nearest first, and their distances."""
        values, squares, observed = self._encoded
        n_kept = min(N_NEAREST, len(values))
        rows = np.empty((table.n_rows, n_kept), dtype=np.int64)
        distances = np.empty((table.n_rows, n_kept))
        step = max(1, _BLOCK_CELLS // max(len(values), 1))
        for first in range(0, table.n_rows, step):
            part = slice(first, first + step)
            query = self._encode(table.take(part))
            both = np.maximum(query[2] @ observed.T, 0.5)
            all_distances = (
                query[1] @ observed.T + query[2] @ squares.T - 2 * (query[0] @ values.T)
            ) / (2 * both)
            nearest = np.argpartition(all_distances, n_kept - 1, axis=1)[:, :n_kept]
            near = np.take_along_axis(all_distances, nearest, axis=1)
            order = np.argsort(near, axis=1, kind="stable")
            rows[part] = np.take_along_axis(nearest, order, axis=1)
            distances[part] = np.take_along_axis(near, order, axis=1)
        return rows, distances

    def predictions(
        self, table: MixedTable, columns: Sequence[int], *, median: bool = False
    ) -> dict[int, Array]:
        """By column: (row,) means or medians of numbers, (row, category) probabilities of categories.

        NaN where no neighbour has the cell.
        """
        return neighbour_predictions(
            self.table, *self.nearest(table), self.bandwidth, columns, median=median
        )


def neighbour_predictions(
    table: MixedTable,
    rows: NDArray[np.int64],
    distances: Array,
    bandwidth: float,
    columns: Sequence[int],
    *,
    median: bool = False,
) -> dict[int, Array]:
    """Weighted means, medians or frequencies of what the nearest rows hold.

    Parameters
    ----------
    table : MixedTable
        The training rows.
    rows, distances : (row, neighbour)
        The nearest, nearest first.
    bandwidth, columns, median
        See `Neighbours`.
    """
    predictions = {}
    for column in columns:
        values = table.column(column)[rows]  # (row, neighbour)
        numbers = column in table.schema.continuous
        weights = _kernel_weights(distances, np.isnan(values) if numbers else values < 0, bandwidth)
        if not numbers:
            frequencies = [
                (weights * (values == code)).sum(axis=1)
                for code in range(table.schema.cards[column])
            ]
            predictions[column] = np.stack(frequencies, axis=1)
        elif median:
            predictions[column] = _medians(values, weights)
        else:
            predictions[column] = (weights * np.where(weights > 0, values, 0.0)).sum(axis=1)
    return predictions


def _kernel_weights(distances: Array, absent: NDArray[np.bool_], bandwidth: float) -> Array:
    """(row, neighbour) Weights of the neighbours; rows sum to one, or are NaN where none has the cell."""
    rank = np.cumsum(~absent, axis=1)
    rows = np.arange(len(distances))
    nearest = distances[rows, np.argmax(rank >= 1, axis=1)]
    next_one = max(round(bandwidth), 1)
    last = np.where(rank[:, -1] > next_one, np.argmax(rank > next_one, axis=1), -1)
    scale = np.maximum(min(bandwidth, 1.0) * (distances[rows, last] - nearest), 1e-6)
    weights = np.exp(-np.maximum(distances - nearest[:, None], 0.0) / scale[:, None])
    weights[absent] = 0.0
    with np.errstate(invalid="ignore"):
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _medians(values: Array, weights: Array) -> Array:
    """(row,) Weighted medians."""
    order = np.argsort(values, axis=1)  # NaN last
    below = np.cumsum(np.take_along_axis(weights, order, axis=1), axis=1)
    place = np.argmax(below >= 0.5, axis=1)
    medians = np.take_along_axis(values, order, axis=1)[np.arange(len(values)), place]
    return np.where(np.isnan(weights[:, 0]), np.nan, medians)


def kept_rows(table: MixedTable, random_state: Any = None) -> MixedTable:
    """The rows to keep: all, or a random subsample of `MAX_ROWS`."""
    if table.n_rows <= MAX_ROWS:
        return table
    order = np.random.default_rng(random_state).permutation(table.n_rows)[:MAX_ROWS]
    return table.take(np.sort(order))
