"""Columns as coordinates of a Gaussian: numbers, their normal scores, and indicators of categories."""

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
# Normal scores between which what a score stands for is taken as linear, where means are asked for.
_KNOTS = np.linspace(-8.0, 8.0, 641)


@dataclass(frozen=True, eq=False)
class Scores:
    """What each column of a table is to a Gaussian.

    A column of numbers is one coordinate: the number itself, or its normal score. A column of k categories
    is k - 1 indicators: that of the last follows from the others.

    Parameters
    ----------
    schema : MixedSchema
    margins : tuple of Margin or None
        For each column the distribution that gives normal scores; None for numbers that stay as they are,
        and for categories.
    """

    schema: MixedSchema
    margins: tuple[Margin | None, ...]

    @classmethod
    def of(cls, table: MixedTable, *, normal: bool) -> Scores:
        """The scores of a table; `normal` asks for normal scores of its numbers."""
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
        """The first coordinate of each column, and the number of all of them."""
        return tuple(np.concatenate([[0], np.cumsum(self.widths)]).tolist())

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the coordinates: the column, or ``column=category`` where there are three or more."""
        found: list[str] = []
        taken = set(self.schema.names)
        for column, width in zip(self.schema.columns, self.widths, strict=True):
            if width == 1:
                found.append(column.name)
            for category in column.categories[:width] if width > 1 else ():
                name = f"{column.name}={category}"
                while name in taken:
                    name += "'"
                taken.add(name)
                found.append(name)
        return tuple(found)

    def coordinates_of(self, place: int) -> slice:
        """The coordinates of a column."""
        return slice(self.starts[place], self.starts[place + 1])

    def coordinates(self, table: MixedTable) -> Array:
        """(row, coordinate) the scores of all cells; NaN where one is missing."""
        found = np.full((table.n_rows, self.starts[-1]), np.nan)
        for place, margin in enumerate(self.margins):
            values, ours = table.column(place), self.coordinates_of(place)
            if place in self.schema.continuous:
                there = ~np.isnan(values)
                scores = values[there] if margin is None else margin.scores(values[there])
                found[there, ours.start] = scores
            else:
                there = values >= 0
                found[there, ours] = values[there, None] == np.arange(self.widths[place])
        return found

    def log_slopes(self, table: MixedTable) -> Array:
        """(row,) natural logarithm of how much the scores stretch the numbers that are there.

        The density of numbers is that of their scores times this stretch.
        """
        found = np.zeros(table.n_rows)
        for place, margin in enumerate(self.margins):
            if margin is not None:
                values = table.column(place)
                there = ~np.isnan(values)
                found[there] += self.log_slope(place, values[there])
        return found

    def log_slope(self, place: int, values: Array) -> Array:
        """Natural logarithm of the derivative of a column's score by its number, at numbers."""
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
        """Normal scores of a column, ascending, and the numbers that they stand for.

        Numbers farther from the training data than these are apart are left out: the little mass that is
        there, so that no number is impossible, says nothing about means.
        """
        if place not in self._knots:
            column: Any = self.schema.columns[place]
            apart = column.high - column.low
            numbers = self.numbers(place, _KNOTS)
            self._knots[place] = np.clip(numbers, column.low - apart, column.high + apart)
        return _KNOTS, self._knots[place]

    @cached_property
    def _knots(self) -> dict[int, Array]:
        return {}


def mean_over_knots(knots: Array, values: Array, mean: Array, scale: Array) -> Array:
    """(row,) E[f(z)] of Gaussian z, where f is linear between knots and beyond the outer ones.

    Parameters
    ----------
    knots : (knot,)
        Ascending.
    values : (knot,)
        f at the knots.
    mean, scale : (row,)
        Of z; a scale of zero is a point.

    Examples
    --------
    >>> mean_over_knots(
    ...     np.array([-1.0, 0.0, 1.0]), np.array([1.0, 0.0, 1.0]), np.zeros(1), np.ones(1)
    ... ).round(4)
    array([0.7979])
    """
    from scipy.special import ndtr

    rises = np.diff(values) / np.diff(knots)
    bends = np.diff(rises)  # (inner knot,)  f = line + sum of bends * (z - knot)+
    found = values[0] + rises[0] * (mean - knots[0])
    used = np.flatnonzero(bends)
    step = max(1, 4_000_000 // max(len(used), 1))
    for first in range(0, len(mean), step):
        some = slice(first, first + step)
        wide = np.maximum(scale[some], 1e-300)[:, None]
        z = np.maximum((mean[some, None] - knots[1:-1][used]) / wide, -40.0)
        above = z * ndtr(z) + np.exp(-0.5 * np.minimum(z, 40.0) ** 2) / np.sqrt(2 * np.pi)
        found[some] += (wide * above) @ bends[used]
    return np.asarray(found)
