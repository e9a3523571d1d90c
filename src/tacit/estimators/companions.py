"""A Gaussian beside a tree: what columns of a table tell of each other by straight lines.

Every column of numbers is replaced by its normal scores, every category by its indicator; means and
covariances of all of them, with missing cells by EM, say what to expect of a cell given the others. A tree
sees curves and groups, a Gaussian many weak dependences at once: together they are better than either
(`tacit.estimators.blending`).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.data.mixed import MixedSchema, MixedTable, NumberColumn
from tacit.data.scores import Scores
from tacit.errors import ConvergenceWarning
from tacit.params.gaussian import Gaussian
from tacit.polish.gaussian import gaussian_em
from tacit.query.gaussian import fill

Array = NDArray[np.float64]

# Coordinates (a column of numbers has one, a column of categories one for each but the last) beyond which
# EM takes too long.
MOST_COORDINATES = 300
# Rows with missing cells that covariances are learnt from; more are hardly better.
MOST_ROWS = 10_000
# EM ends when a step gains less than this many nats per row: predictions move no more by then.
TOLERANCE = 0.05
MOST_STEPS = 60
# No category has less than this, before all are made to add up to one.
LEAST_SHARE = 1e-3
# Nodes of the integral over normal scores.
N_NODES = 15


@dataclass(frozen=True, eq=False)
class Companion:
    """A Gaussian over the scores of all columns."""

    scores: Scores
    gaussian: Gaussian

    def answers(self, table: MixedTable) -> Answers:
        """What to expect of the missing cells of some rows, given what is there."""
        found = fill(self.gaussian, self.scores.coordinates(table), variances=True)
        return Answers(self.scores, found.values, np.sqrt(found.variances))

    def to_arrays(self) -> tuple[dict[str, Array], dict[str, Any]]:
        """Arrays and plain values for a file; `companion_from_arrays` reads them back."""
        arrays, plain = self.scores.to_arrays()
        return {**arrays, "mean": self.gaussian.mean, "covariance": self.gaussian.covariance}, plain


def companion_from_arrays(
    schema: MixedSchema, arrays: Mapping[str, Array], plain: Mapping[str, Any]
) -> Companion:
    """The companion that `Companion.to_arrays` wrote."""
    scores = Scores.from_arrays(schema, arrays, plain)
    return Companion(scores, Gaussian(np.asarray(arrays["mean"]), np.asarray(arrays["covariance"])))


@dataclass(frozen=True, eq=False)
class Answers:
    """Conditional means and standard deviations of the scores of rows, given what is there."""

    scores: Scores
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
        first, last = self.scores.starts[column : column + 2]
        known = self.means[:, first:last]
        shares = np.column_stack([known, 1.0 - known.sum(axis=1)])
        shares = np.maximum(shares, LEAST_SHARE)
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def told(self, columns: Sequence[int], *, median: bool = False) -> dict[int, Array]:
        """By column: (row,) means or medians of numbers, (row, category) probabilities of categories."""
        found = {}
        for column in columns:
            if column not in self.scores.schema.continuous:
                found[column] = self.probabilities(column)
            elif median:
                found[column] = self.quantiles(column, np.array([0.5]))[:, 0]
            else:
                found[column] = self.expectation(column)
        return found

    def _numbers(self, column: int, steps: Array) -> Array:
        """(row, step) The numbers so many deviations above the means; none beyond what was seen."""
        start = self.scores.starts[column]
        at = self.means[:, start, None] + self.deviations[:, start, None] * steps
        known = self.scores.schema.columns[column]
        assert isinstance(known, NumberColumn)
        return np.clip(np.interp(at, *self.scores.knots(column)), known.low, known.high)


def n_coordinates(schema: MixedSchema) -> int:
    """How many coordinates the columns of a table have."""
    return len(schema.continuous) + sum(schema.cards[j] - 1 for j in schema.categorical)


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
        Draws the rows that are learnt from where there are very many with missing cells.
    """
    scores = Scores.of(table, normal=True)
    rows, weights = scores.coordinates(table), table.weights
    if len(rows) > MOST_ROWS and np.isnan(rows).any():
        kept = np.random.default_rng(random_state).permutation(len(rows))[:MOST_ROWS]
        rows, weights = rows[kept], None if weights is None else weights[kept]
    empty = np.isnan(rows).all(axis=0)
    rows[:1, empty] = 0.0  # of which nothing is known, and which tells nothing
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # near enough, see TOLERANCE
        for prior in priors:
            learnt = gaussian_em(rows, weights, prior=prior, tol=TOLERANCE, max_iter=MOST_STEPS)
            found.append(Companion(scores, learnt.gaussian))
    return found
