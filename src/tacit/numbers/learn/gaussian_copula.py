"""A Gaussian copula of the columns of a table, which is averaged with a tree (`tacit.numbers.learn.blend`).

Every column of numbers is replaced by its normal scores, every category by its indicator; mean and covariance
of all of them, by EM where cells are missing, give the conditional distribution of any cell. A tree sees
curves and groups, a Gaussian many weak linear dependences at once.
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

# Coordinates (one of a column of numbers, one per category) beyond which EM would take too long.
MAX_COORDINATES = 400
# Training rows with missing cells and without; more are hardly better.
MAX_ROWS, MAX_COMPLETE_ROWS = 10_000, 100_000
# EM stops when a step gains less than this many nats per row and coordinate: predictions no longer move.
TOLERANCE = 2e-4
MAX_STEPS = 120
# Smallest probability of a category before they are normalised.
MIN_PROBABILITY = 1e-3
# Nodes of the quadrature over normal scores.
N_NODES = 15
# Knots of the piecewise linear map between numbers and normal scores.
MAX_KNOTS = 2000


@dataclass(frozen=True, eq=False)
class Ranks:
    """The normal scores of a column by rank, and their inverse.

    Ties have the middle of their ranks. A smooth distribution function would be the same between the numbers,
    but worse at values that occur often and at the ends.

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
        """The scores of numbers; beyond the training data, that of the nearest."""
        known = np.interp(numbers, self.numbers, self.scores)
        return np.where(np.isnan(numbers), np.nan, known)

    def numbers_of(self, scores: Array) -> Array:
        """The numbers that have these scores, within the range of the training data."""
        return np.interp(scores, self.scores, self.numbers)


def ranks_of(numbers: Array, weights: Array | None = None) -> Ranks:
    """The normal scores of a column; NaN is missing."""
    from scipy.special import ndtri

    is_observed = ~np.isnan(numbers)
    row_weights = np.ones(len(numbers)) if weights is None else weights
    values, place = np.unique(numbers[is_observed], return_inverse=True)
    if len(values) == 0:
        return Ranks(np.zeros(1), np.zeros(1))
    counts = np.bincount(place, weights=row_weights[is_observed])
    middles = np.cumsum(counts) - 0.5 * (counts - 1)
    scores = np.asarray(ndtri(np.clip(middles / (counts.sum() + 1), 1e-9, 1 - 1e-9)))
    n_knots = min(len(values), MAX_KNOTS)
    knots = np.unique(np.linspace(0, len(values) - 1, n_knots).round().astype(np.int64))
    return Ranks(values[knots], scores[knots])


@dataclass(frozen=True, eq=False)
class Coordinates:
    """The coordinates of each column: a normal score, or an indicator of each category."""

    schema: MixedSchema
    ranks: Mapping[int, Ranks]  # of the columns of numbers

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """The first coordinate of each column, and the number of coordinates."""
        cards = self.schema.cards
        widths = [1 if column in self.ranks else cards[column] for column in range(len(cards))]
        return tuple(np.cumsum([0, *widths]).tolist())

    def of(self, table: MixedTable) -> Array:
        """(row, coordinate) NaN where a cell is missing."""
        coordinates = np.empty((table.n_rows, self.starts[-1]))
        for column in range(len(self.schema)):
            block = coordinates[:, self.starts[column] : self.starts[column + 1]]
            values = table.column(column)
            if column in self.ranks:
                block[:, 0] = self.ranks[column].scores_of(values)
            else:
                indicators = values[:, None] == np.arange(block.shape[1])
                block[:] = np.where(values[:, None] < 0, np.nan, indicators)
        return coordinates


@dataclass(frozen=True, eq=False)
class GaussianCopula:
    """A Gaussian over the coordinates of all columns."""

    coordinates: Coordinates
    gaussian: Gaussian

    def conditionals(self, table: MixedTable) -> Conditionals:
        """The distributions of the missing cells of some rows, given the observed ones."""
        filled = fill(self.gaussian, self.coordinates.of(table), variances=True)
        return Conditionals(self.coordinates, filled.values, np.sqrt(filled.variances))


@dataclass(frozen=True, eq=False)
class Conditionals:
    """Conditional means and standard deviations of scores, given the observed cells of each row."""

    coordinates: Coordinates
    means: Array  # (row, coordinate)
    deviations: Array  # (row, coordinate)  zero where a cell is observed

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
        """(row, category) Of a column of categories; rows sum to one."""
        first, last = self.coordinates.starts[column : column + 2]
        indicators = np.maximum(self.means[:, first:last], MIN_PROBABILITY)
        return np.asarray(indicators / indicators.sum(axis=1, keepdims=True))

    def predictions(self, columns: Sequence[int], *, median: bool = False) -> dict[int, Array]:
        """By column: (row,) means or medians of numbers, (row, category) probabilities of categories."""
        predictions = {}
        for column in columns:
            if column not in self.coordinates.ranks:
                predictions[column] = self.probabilities(column)
            elif median:
                predictions[column] = self.quantiles(column, np.array([0.5]))[:, 0]
            else:
                predictions[column] = self.expectation(column)
        return predictions

    def _numbers(self, column: int, steps: Array) -> Array:
        """(row, step) The numbers so many standard deviations above the conditional means."""
        start = self.coordinates.starts[column]
        at = self.means[:, start, None] + self.deviations[:, start, None] * steps
        return self.coordinates.ranks[column].numbers_of(at)


def n_coordinates(schema: MixedSchema) -> int:
    """The number of coordinates of the columns of a table."""
    return len(schema.continuous) + sum(schema.cards[j] for j in schema.categorical)


def fit_copulas(
    table: MixedTable, priors: Sequence[float], random_state: Any = None
) -> list[GaussianCopula]:
    """The copula of a table with each of some priors.

    Parameters
    ----------
    table : MixedTable
    priors : sequence of float
        Numbers of additional uncorrelated rows.
    random_state : int or numpy.random.Generator, optional
        Of the subsample, where there are too many rows.
    """
    ranks = {j: ranks_of(table.column(j), table.weights) for j in table.schema.continuous}
    coordinates = Coordinates(table.schema, ranks)
    limit = MAX_ROWS if table.missing.any() else MAX_COMPLETE_ROWS
    if table.n_rows > limit:
        table = table.take(np.random.default_rng(random_state).permutation(table.n_rows)[:limit])
    rows, weights = coordinates.of(table), table.weights
    empty = np.isnan(rows).all(axis=0)
    rows[:1, empty] = 0.0  # nothing is known of them; any value will do
    copulas, tol = [], TOLERANCE * rows.shape[1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # close enough, see TOLERANCE
        for prior in priors:
            learnt = gaussian_em(rows, weights, prior=prior, tol=tol, max_iter=MAX_STEPS)
            copulas.append(GaussianCopula(coordinates, learnt.gaussian))
    return copulas
