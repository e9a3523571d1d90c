"""Columns as coordinates of a Gaussian: numbers, normal scores, indicators of categories."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.encoders.margins import Margin, fit_margin
from tacit.core.input.mixed_table import MixedSchema, MixedTable

Array = NDArray[np.float64]

_HALF_LOG_TWO_PI = 0.5 * float(np.log(2 * np.pi))
# Normal scores at which the map from scores to numbers is evaluated for means; linear in between.
_KNOTS = np.linspace(-8.0, 8.0, 641)


@dataclass(frozen=True, eq=False)
class Scores:
    """The coordinates of the columns of a table.

    A column of numbers has one: the number itself, or its normal score. A column of k categories has k - 1
    indicators: the last follows from the others.

    Parameters
    ----------
    schema : MixedSchema
    margins : tuple of Margin or None
        The distribution of each column, for normal scores; None for plain numbers and for categories.
    """

    schema: MixedSchema
    margins: tuple[Margin | None, ...]

    @classmethod
    def of(cls, table: MixedTable, *, normal: bool) -> Scores:
        """The scores of a table; with `normal`, normal scores of its numbers."""
        margins: list[Margin | None] = [None] * len(table.schema)
        if normal:
            for place in table.schema.continuous:
                margins[place] = fit_margin(table.column(place), table.weights)
        return cls(table.schema, tuple(margins))

    @cached_property
    def widths(self) -> tuple[int, ...]:
        """How many coordinates each column has."""
        numbers = set(self.schema.continuous)
        return tuple(1 if j in numbers else c.card - 1 for j, c in enumerate(self.schema.columns))

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """The first coordinate of each column, and the number of coordinates."""
        return tuple(np.concatenate([[0], np.cumsum(self.widths)]).tolist())

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the coordinates: the column, or ``column=category`` where there are three or more."""
        names: list[str] = []
        taken = set(self.schema.names)
        for column, width in zip(self.schema.columns, self.widths, strict=True):
            if width == 1:
                names.append(column.name)
            for category in column.categories[:width] if width > 1 else ():
                name = f"{column.name}={category}"
                while name in taken:
                    name += "'"
                taken.add(name)
                names.append(name)
        return tuple(names)

    def coordinates_of(self, place: int) -> slice:
        """The coordinates of a column."""
        return slice(self.starts[place], self.starts[place + 1])

    def coordinates(self, table: MixedTable) -> Array:
        """(row, coordinate) the scores of all cells; NaN where one is missing."""
        rows = np.full((table.n_rows, self.starts[-1]), np.nan)
        for place in range(len(self.schema)):
            values, block = table.column(place), self.coordinates_of(place)
            if place in self.schema.continuous:
                observed = ~np.isnan(values)
                rows[observed, block.start] = self.scores(place, values[observed])
            else:
                observed = values >= 0
                rows[observed, block] = values[observed, None] == np.arange(self.widths[place])
        return rows

    def log_slopes(self, table: MixedTable) -> Array:
        """(row,) log of the Jacobian of the scores by the observed numbers.

        The density of numbers is that of their scores times the Jacobian.
        """
        total = np.zeros(table.n_rows)
        for place, margin in enumerate(self.margins):
            if margin is not None:
                values = table.column(place)
                observed = ~np.isnan(values)
                total[observed] += self.log_slope(place, values[observed])
        return total

    def log_slope(self, place: int, values: Array) -> Array:
        """Log of the derivative of a column's score by its number, at some numbers."""
        margin = self.margins[place]
        if margin is None:
            return np.zeros(values.shape)
        scores = margin.scores(values)
        return np.log(margin.density(values)) + 0.5 * scores**2 + _HALF_LOG_TWO_PI

    def scores(self, place: int, values: Array) -> Array:
        """Scores of numbers of a column."""
        margin = self.margins[place]
        return values if margin is None else margin.scores(values)

    def numbers(self, place: int, scores: Array) -> Array:
        """The numbers of a column that have these scores."""
        margin = self.margins[place]
        if margin is None:
            return scores
        return margin.from_scores(scores.ravel()).reshape(scores.shape)

    def knots(self, place: int) -> tuple[Array, Array]:
        """Normal scores of a column, ascending, and their numbers.

        Numbers are clipped at one range of the training data beyond its ends: the little mass there, which
        keeps every number possible, should not move means.
        """
        if place not in self._knots:
            column: Any = self.schema.columns[place]
            width = column.high - column.low
            numbers = self.numbers(place, _KNOTS)
            self._knots[place] = np.clip(numbers, column.low - width, column.high + width)
        return _KNOTS, self._knots[place]

    @cached_property
    def _knots(self) -> dict[int, Array]:
        return {}


def mean_over_knots(knots: Array, values: Array, mean: Array, scale: Array) -> Array:
    """(row,) E[f(z)] of Gaussian z and piecewise linear f.

    Parameters
    ----------
    knots : (knot,)
        Ascending.
    values : (knot,)
        f at the knots.
    mean, scale : (row,)
        Of z; the scale may be zero.

    Examples
    --------
    >>> mean_over_knots(
    ...     np.array([-1.0, 0.0, 1.0]), np.array([1.0, 0.0, 1.0]), np.zeros(1), np.ones(1)
    ... ).round(4)
    array([0.7979])
    """
    from scipy.special import ndtr

    slopes = np.diff(values) / np.diff(knots)
    bends = np.diff(slopes)  # (inner knot,)  f = line + sum of bends * (z - knot)+
    expected = values[0] + slopes[0] * (mean - knots[0])
    used = np.flatnonzero(bends)
    step = max(1, 4_000_000 // max(len(used), 1))
    for first in range(0, len(mean), step):
        block = slice(first, first + step)
        deviation = np.maximum(scale[block], 1e-300)[:, None]
        z = np.maximum((mean[block, None] - knots[1:-1][used]) / deviation, -40.0)
        above = z * ndtr(z) + np.exp(-0.5 * np.minimum(z, 40.0) ** 2) / np.sqrt(2 * np.pi)
        expected[block] += (deviation * above) @ bends[used]
    return np.asarray(expected)
