"""A Gaussian beside a tree: what columns of a table tell of each other by straight lines.

Every column of numbers is replaced by its normal scores, every category by its indicator; means and
covariances of all of them, with missing cells by EM, say what to expect of a cell given the others. A tree
sees curves and groups, a Gaussian many weak dependences at once: together they are better than either
(`tacit.numbers.learn.blending`).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.input.mixed_table import MixedSchema, MixedTable
from tacit.errors import ConvergenceWarning
from tacit.numbers.learn.gaussian_em import gaussian_em
from tacit.numbers.model.gaussian import Gaussian
from tacit.numbers.query.gaussian import fill

Array = NDArray[np.float64]

# Coordinates (a column of numbers has one, a column of categories one for each) beyond which there is none:
# EM would take too long.
MOST_COORDINATES = 400
# Rows that covariances are learnt from, with missing cells and without; more are hardly better.
MOST_ROWS, MOST_WHOLE_ROWS = 10_000, 100_000
# EM ends when a step gains less than this many nats per row and coordinate: predictions move no more by then.
TOLERANCE = 2e-4
MOST_STEPS = 60
# No category has less than this, before all are made to add up to one.
LEAST_SHARE = 1e-3
# Nodes of the integral over normal scores.
N_NODES = 15
# Numbers that the normal scores of a column are told at; in between they are on straight lines.
MOST_KNOTS = 2000


@dataclass(frozen=True, eq=False)
class Ranks:
    """The normal scores of a column by rank, and the way back.

    Equal numbers have the middle of their ranks. A smooth distribution function would do the same between
    the numbers, but not at values that occur often or at the ends, where most of a prediction is lost.

    Examples
    --------
    >>> ranks = ranks_of(np.array([1.0, 2.0, 100.0]))
    >>> ranks.scores_of(np.array([2.0, np.nan]))
    array([ 0., nan])
    >>> ranks.numbers_of(np.array([0.0, 5.0]))
    array([  2., 100.])
    """

    numbers: Array  # (knot,)  ascending
    scores: Array  # (knot,)  ascending

    def scores_of(self, numbers: Array) -> Array:
        """The scores of numbers; beyond those that were seen, that of the last one."""
        known = np.interp(numbers, self.numbers, self.scores)
        return np.where(np.isnan(numbers), np.nan, known)

    def numbers_of(self, scores: Array) -> Array:
        """The numbers that have these scores; none beyond what was seen."""
        return np.interp(scores, self.scores, self.numbers)


def ranks_of(numbers: Array, weights: Array | None = None) -> Ranks:
    """The normal scores of a column; NaN is missing."""
    from scipy.special import ndtri

    there = ~np.isnan(numbers)
    each = np.ones(len(numbers)) if weights is None else weights
    values, place = np.unique(numbers[there], return_inverse=True)
    if len(values) == 0:
        return Ranks(np.zeros(1), np.zeros(1))
    shares = np.bincount(place, weights=each[there])
    middles = np.cumsum(shares) - 0.5 * (shares - 1)
    found = np.asarray(ndtri(np.clip(middles / (shares.sum() + 1), 1e-9, 1 - 1e-9)))
    n_knots = min(len(values), MOST_KNOTS)
    kept = np.unique(np.linspace(0, len(values) - 1, n_knots).round().astype(np.int64))
    return Ranks(values[kept], found[kept])


@dataclass(frozen=True, eq=False)
class Coordinates:
    """What each column is to the Gaussian: a normal score, or an indicator of each category."""

    schema: MixedSchema
    ranks: Mapping[int, Ranks]  # of the columns of numbers

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """The first coordinate of each column, and the number of all of them."""
        cards = self.schema.cards
        widths = [1 if column in self.ranks else cards[column] for column in range(len(cards))]
        return tuple(np.cumsum([0, *widths]).tolist())

    def of(self, table: MixedTable) -> Array:
        """(row, coordinate) NaN where a cell is missing."""
        found = np.empty((table.n_rows, self.starts[-1]))
        for column in range(len(self.schema)):
            own = found[:, self.starts[column] : self.starts[column + 1]]
            values = table.column(column)
            if column in self.ranks:
                own[:, 0] = self.ranks[column].scores_of(values)
            else:
                shown = values[:, None] == np.arange(own.shape[1])
                own[:] = np.where(values[:, None] < 0, np.nan, shown)
        return found


@dataclass(frozen=True, eq=False)
class Companion:
    """A Gaussian over the coordinates of all columns."""

    coordinates: Coordinates
    gaussian: Gaussian

    def answers(self, table: MixedTable) -> Answers:
        """What to expect of the missing cells of some rows, given what is there."""
        found = fill(self.gaussian, self.coordinates.of(table), variances=True)
        return Answers(self.coordinates, found.values, np.sqrt(found.variances))


@dataclass(frozen=True, eq=False)
class Answers:
    """Conditional means and standard deviations of the scores of rows, given what is there."""

    coordinates: Coordinates
    means: Array  # (row, coordinate)
    deviations: Array  # (row, coordinate)  zero where a cell is there

    def expectation(self, column: int, function: Callable[[Array], Array] | None = None) -> Array:
        """(row,) The mean of a column of numbers, or of a function of it."""
        nodes, weights = np.polynomial.hermite_e.hermegauss(N_NODES)
        numbers = self._numbers(column, nodes)
        values = numbers if function is None else np.asarray(function(numbers))
        return np.asarray(values @ (weights / weights.sum()))

    def quantiles(self, column: int, levels: Array) -> Array:
        """(row, level) Quantiles of a column of numbers."""
        from scipy.special import ndtri

        return self._numbers(column, ndtri(levels))

    def probabilities(self, column: int) -> Array:
        """(row, category) Of a column of categories; rows add up to one."""
        first, last = self.coordinates.starts[column : column + 2]
        shares = np.maximum(self.means[:, first:last], LEAST_SHARE)
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def told(self, columns: Sequence[int], *, median: bool = False) -> dict[int, Array]:
        """By column: (row,) means or medians of numbers, (row, category) probabilities of categories."""
        found = {}
        for column in columns:
            if column not in self.coordinates.ranks:
                found[column] = self.probabilities(column)
            elif median:
                found[column] = self.quantiles(column, np.array([0.5]))[:, 0]
            else:
                found[column] = self.expectation(column)
        return found

    def _numbers(self, column: int, steps: Array) -> Array:
        """(row, step) The numbers so many deviations above the means."""
        start = self.coordinates.starts[column]
        at = self.means[:, start, None] + self.deviations[:, start, None] * steps
        return self.coordinates.ranks[column].numbers_of(at)


def n_coordinates(schema: MixedSchema) -> int:
    """How many coordinates the columns of a table have."""
    return len(schema.continuous) + sum(schema.cards[j] for j in schema.categorical)


def fit_companions(
    table: MixedTable, priors: Sequence[float], random_state: Any = None
) -> list[Companion]:
    """The Gaussian of a table, with each of some priors.

    Parameters
    ----------
    table : MixedTable
    priors : sequence of float
        As many rows more without any correlation.
    random_state : int or numpy.random.Generator, optional
        Draws the rows that are learnt from where there are very many.
    """
    ranks = {each: ranks_of(table.column(each), table.weights) for each in table.schema.continuous}
    coordinates = Coordinates(table.schema, ranks)
    most = MOST_ROWS if table.missing.any() else MOST_WHOLE_ROWS
    if table.n_rows > most:
        table = table.take(np.random.default_rng(random_state).permutation(table.n_rows)[:most])
    rows, weights = coordinates.of(table), table.weights
    empty = np.isnan(rows).all(axis=0)
    rows[:1, empty] = 0.0  # of which nothing is known, and which tells nothing
    found, tol = [], TOLERANCE * rows.shape[1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # near enough, see TOLERANCE
        for prior in priors:
            learnt = gaussian_em(rows, weights, prior=prior, tol=tol, max_iter=MOST_STEPS)
            found.append(Companion(coordinates, learnt.gaussian))
    return found
