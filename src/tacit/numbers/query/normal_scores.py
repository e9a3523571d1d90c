"""What can be asked of columns whose scores are Gaussian: numbers, transformed or not, and categories.

Numbers are Gaussian once they are scored. A category has, given what is known, the conditional mean of its
indicator for probability. So the density of a row is that of its numbers times the probabilities of its
categories, each given the numbers and the categories of the columns before it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tacit.core.input.mixed_table import MixedTable
from tacit.errors import ArgumentError
from tacit.numbers.data.normal_scores import Scores, mean_over_knots
from tacit.numbers.model.gaussian import Gaussian
from tacit.numbers.query.gaussian import draws, fill, log_density

Array = NDArray[np.float64]
Function = Callable[[Array], Array]

_N_NODES = 64  # of a quadrature that is exact for polynomials of almost twice the degree
# No category is less probable than this share of what it is without knowing anything.
_LEAST = 0.01


def log_densities(gaussian: Gaussian, scores: Scores, table: MixedTable) -> Array:
    """(row,) natural logarithm of the density of what is there of each row; 0 where nothing is."""
    rows = scores.coordinates(table)
    known = rows.copy()
    for place in scores.schema.categorical:
        known[:, scores.coordinates_of(place)] = np.nan
    found = log_density(gaussian, known) + scores.log_slopes(table)
    for place in scores.schema.categorical:
        codes = table.column(place)
        there = np.flatnonzero(codes >= 0)
        if len(there):
            shares = class_shares(gaussian, scores, place, known[there])
            found[there] += np.log(shares[np.arange(len(there)), codes[there]])
        ours = scores.coordinates_of(place)
        known[:, ours] = rows[:, ours]
    return found


def class_shares(gaussian: Gaussian, scores: Scores, place: int, rows: Array) -> Array:
    """(row, category) probabilities of a column's categories given the rest of each row.

    Parameters
    ----------
    gaussian : Gaussian
    scores : Scores
    place : int
        A column of categories; what the rows say of it is not looked at.
    rows : (row, coordinate)
    """
    asked = rows.copy()
    asked[:, scores.coordinates_of(place)] = np.nan
    return shares_from_means(gaussian, scores, place, fill(gaussian, asked).values)


def shares_from_means(gaussian: Gaussian, scores: Scores, place: int, means: Array) -> Array:
    """(row, category) probabilities from the conditional means of all coordinates: (row, coordinate)."""
    ours = scores.coordinates_of(place)

    def with_last(others: Array) -> Array:
        return np.concatenate([others, 1.0 - others.sum(axis=-1, keepdims=True)], axis=-1)

    usual = np.maximum(with_last(gaussian.mean[ours]), 1e-12)
    shares = np.maximum(with_last(means[:, ours]), _LEAST * usual)
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def expected_numbers(
    scores: Scores, place: int, mean: Array, scale: Array, function: Function | None = None
) -> Array:
    """(row,) E[function of a number] whose score is Gaussian.

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
    found = np.asarray(function(numbers), dtype=np.float64)
    if found.shape != numbers.shape:
        raise ArgumentError(
            f"function makes an array of shape {found.shape} of one of shape {numbers.shape}; it is "
            f"applied to each number"
        )
    return found


def drawn_table(
    gaussian: Gaussian, scores: Scores, table: MixedTable, rng: np.random.Generator
) -> MixedTable:
    """The table with its missing cells drawn from their joint conditional distribution.

    Numbers are drawn first, given what is known, and then the categories of one column after the other.
    """
    rows = scores.coordinates(table)
    drawn = draws(gaussian, rows, rng)
    columns: dict[int, NDArray[np.generic]] = {}
    for place in scores.schema.continuous:
        ours = scores.coordinates_of(place)
        rows[:, ours] = drawn[:, ours]
        columns[place] = scores.numbers(place, drawn[:, ours.start])
    for place in scores.schema.categorical:
        codes = np.array(table.column(place), dtype=np.int64)
        gone = np.flatnonzero(codes < 0)
        if len(gone):
            reached = np.cumsum(class_shares(gaussian, scores, place, rows[gone]), axis=1)
            reached[:, -1] = 1.0
            codes[gone] = (rng.random((len(gone), 1)) >= reached).sum(axis=1)
        ours = scores.coordinates_of(place)
        rows[:, ours] = codes[:, None] == np.arange(ours.stop - ours.start)
        columns[place] = codes
    return table.filled(columns)
