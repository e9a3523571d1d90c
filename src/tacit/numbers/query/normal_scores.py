"""Densities, predictions and samples of columns whose scores are Gaussian.

The scores of numbers are Gaussian. The probability of a category is the conditional mean of its indicator. So
the density of a row is that of its numbers times the probabilities of its categories, each given the numbers
and the categories of the columns before it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tacit.core.input.mixed_table import MixedTable
from tacit.errors import ArgumentError
from tacit.numbers.data.normal_scores import Scores, mean_over_knots
from tacit.numbers.model.gaussian import Gaussian
from tacit.numbers.query.gaussian import fill, log_density, sample

Array = NDArray[np.float64]
Function = Callable[[Array], Array]

_N_NODES = 64  # of the quadrature
# Smallest conditional probability of a category, relative to its marginal.
_MIN_RATIO = 0.01


def log_densities(gaussian: Gaussian, scores: Scores, table: MixedTable) -> Array:
    """(row,) natural log-density of the observed cells of each row; 0 where there is none."""
    rows = scores.coordinates(table)
    known = rows.copy()
    for place in scores.schema.categorical:
        known[:, scores.coordinates_of(place)] = np.nan
    log_densities = log_density(gaussian, known) + scores.log_slopes(table)
    for place in scores.schema.categorical:
        codes = table.column(place)
        observed = np.flatnonzero(codes >= 0)
        if len(observed):
            probabilities = category_probabilities(gaussian, scores, place, known[observed])
            chosen = probabilities[np.arange(len(observed)), codes[observed]]
            log_densities[observed] += np.log(chosen)
        block = scores.coordinates_of(place)
        known[:, block] = rows[:, block]
    return log_densities


def category_probabilities(gaussian: Gaussian, scores: Scores, place: int, rows: Array) -> Array:
    """(row, category) probabilities of a column's categories given the rest of each row.

    Parameters
    ----------
    gaussian : Gaussian
    scores : Scores
    place : int
        A column of categories; its own cells are not used.
    rows : (row, coordinate)
    """
    others = rows.copy()
    others[:, scores.coordinates_of(place)] = np.nan
    return probabilities_from_means(gaussian, scores, place, fill(gaussian, others).values)


def probabilities_from_means(gaussian: Gaussian, scores: Scores, place: int, means: Array) -> Array:
    """(row, category) probabilities from the conditional means of all coordinates: (row, coordinate)."""
    block = scores.coordinates_of(place)

    def with_last(others: Array) -> Array:
        return np.concatenate([others, 1.0 - others.sum(axis=-1, keepdims=True)], axis=-1)

    marginal = np.maximum(with_last(gaussian.mean[block]), 1e-12)
    probabilities = np.maximum(with_last(means[:, block]), _MIN_RATIO * marginal)
    return np.asarray(probabilities / probabilities.sum(axis=1, keepdims=True))


def expected_numbers(
    scores: Scores, place: int, mean: Array, scale: Array, function: Function | None = None
) -> Array:
    """(row,) E[function of a number] where its score is Gaussian.

    Parameters
    ----------
    scores : Scores
    place : int
        A column of numbers.
    mean, scale : (row,)
        Of its score.
    function : callable, optional
        Of an array of numbers; the number itself without it.
    """
    if scores.margins[place] is None:
        if function is None:
            return mean
        nodes, weights = np.polynomial.hermite_e.hermegauss(_N_NODES)
        values = _applied(function, mean[:, None] + scale[:, None] * nodes)
        return np.asarray(values @ weights / weights.sum())
    knots, numbers = scores.knots(place)
    values = numbers if function is None else _applied(function, numbers)
    return mean_over_knots(knots, values, mean, scale)


def _applied(function: Function, numbers: Array) -> Array:
    values = np.asarray(function(numbers), dtype=np.float64)
    if values.shape != numbers.shape:
        raise ArgumentError(
            f"function makes an array of shape {values.shape} of one of shape {numbers.shape}; it is "
            f"applied to each number"
        )
    return values


def sampled_table(
    gaussian: Gaussian, scores: Scores, table: MixedTable, rng: np.random.Generator
) -> MixedTable:
    """The table with its missing cells drawn from their joint conditional distribution.

    Numbers are drawn first, given the observed cells, then the categories of each column in turn.
    """
    rows = scores.coordinates(table)
    drawn = sample(gaussian, rows, rng)
    columns: dict[int, NDArray[np.generic]] = {}
    for place in scores.schema.continuous:
        block = scores.coordinates_of(place)
        rows[:, block] = drawn[:, block]
        columns[place] = scores.numbers(place, drawn[:, block.start])
    for place in scores.schema.categorical:
        codes = np.array(table.column(place), dtype=np.int64)
        missing = np.flatnonzero(codes < 0)
        if len(missing):
            probabilities = category_probabilities(gaussian, scores, place, rows[missing])
            cumulative = np.cumsum(probabilities, axis=1)
            cumulative[:, -1] = 1.0
            codes[missing] = (rng.random((len(missing), 1)) >= cumulative).sum(axis=1)
        block = scores.coordinates_of(place)
        rows[:, block] = codes[:, None] == np.arange(block.stop - block.start)
        columns[place] = codes
    return table.filled_with_draws(columns)


def mixture_quantiles(weights: Array, mean: Array, scale: Array, levels: Array) -> Array:
    """(level,) quantiles of a mixture of Gaussians, by bisection.

    Parameters
    ----------
    weights, mean, scale : (component,)
    levels : (level,)
        Between 0 and 1.

    Examples
    --------
    >>> one = np.array([0.5, 0.5]), np.array([-1.0, 1.0]), np.array([1e-9, 1e-9])
    >>> mixture_quantiles(*one, np.array([0.25, 0.75])).round(6)
    array([-1.,  1.])
    """
    from scipy.special import ndtr, ndtri

    ends = mean[:, None] + scale[:, None] * ndtri(levels)  # (component, level)
    low, high = ends.min(axis=0), ends.max(axis=0)
    for _ in range(100):
        middle = 0.5 * (low + high)
        below = weights @ ndtr((middle - mean[:, None]) / scale[:, None])
        low, high = np.where(below < levels, middle, low), np.where(below < levels, high, middle)
    return np.asarray(0.5 * (low + high))
