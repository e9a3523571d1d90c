"""Densities, conditionals and samples of a Gaussian, for rows with missing cells; all exact.

Rows with the same missing cells share one factorisation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.numbers.model.gaussian import Gaussian

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Integers = NDArray[np.int64]

_LOG_TWO_PI = math.log(2.0 * math.pi)
_NOTHING = np.zeros((0, 0))


@dataclass(frozen=True, eq=False)
class Filled:
    """Rows with their missing cells at their conditional means."""

    values: Array  # (row, coordinate)
    log_density: Array  # (row,)  of the observed cells, natural
    # The following are of size zero unless requested.
    variances: Array  # (row, coordinate)  conditional; zero where a cell is observed
    spread: Array  # (coordinate, coordinate)  conditional covariances, summed over rows


def fill(
    gaussian: Gaussian,
    rows: Array,
    *,
    variances: bool = False,
    spread: bool = False,
    weights: Array | None = None,
) -> Filled:
    """Conditional means of missing cells, and the density of the observed ones.

    Parameters
    ----------
    gaussian : Gaussian
    rows : (row, coordinate)
        NaN is missing.
    variances, spread : bool
        Whether to compute conditional variances, and the sum of conditional covariances.
    weights : (row,), optional
        Of the rows in that sum.

    Examples
    --------
    >>> gaussian = Gaussian(np.zeros(2), np.array([[1.0, 0.5], [0.5, 1.0]]))
    >>> fill(gaussian, np.array([[2.0, np.nan]]), variances=True).values
    array([[2., 1.]])
    """
    from tacit.numbers.loops.gaussian import fill_missing

    n, d = rows.shape
    absent = np.isnan(rows)
    values = np.where(absent, 0.0, rows - gaussian.mean)
    order, starts, pattern = patterns(absent)
    sums = np.zeros((d, d)) if spread else _NOTHING
    cell_variances = np.zeros((n, d)) if variances else _NOTHING
    log_dets = fill_missing(
        values,
        absent,
        order,
        starts,
        gaussian.covariance,
        gaussian.precision,
        gaussian.log_det,
        np.ones(n) if weights is None else weights,
        sums,
        cell_variances,
    )
    # With missing cells at their conditional means, the quadratic form is that of the observed cells.
    quadratic = np.einsum("ij,ij->i", values @ gaussian.precision, values)
    n_observed = d - absent.sum(axis=1)
    log_density = -0.5 * (quadratic + log_dets[pattern] + n_observed * _LOG_TWO_PI)
    log_density[n_observed == 0] = 0.0
    values += gaussian.mean
    values[~absent] = rows[~absent]
    return Filled(values, log_density, cell_variances, np.triu(sums) + np.triu(sums, k=1).T)


def patterns(absent: Flags) -> tuple[Integers, Integers, Integers]:
    """Rows grouped by which of their cells are missing.

    Returns
    -------
    order : (row,)
        Row numbers.
    starts : (pattern + 1,)
        Where each pattern begins in `order`.
    pattern : (row,)
        The number of each row's pattern.
    """
    if not absent.any():
        n = len(absent)
        return np.arange(n), np.array([0, n][: 1 + (n > 0)]), np.zeros(n, dtype=np.int64)
    packed = np.ascontiguousarray(np.packbits(absent, axis=1))
    keys = packed.view(f"V{packed.shape[1]}").ravel()
    _, pattern = np.unique(keys, return_inverse=True)
    starts = np.concatenate([[0], np.cumsum(np.bincount(pattern))])
    return np.argsort(pattern, kind="stable"), starts, pattern


def log_density(gaussian: Gaussian, rows: Array) -> Array:
    """(row,) natural log-density of the observed cells of each row; 0 where there is none.

    Examples
    --------
    >>> log_density(Gaussian(np.zeros(1), np.eye(1)), np.array([[0.0], [np.nan]])).round(4)
    array([-0.9189,  0.    ])
    """
    return fill(gaussian, rows).log_density


def conditionals(gaussian: Gaussian, rows: Array, target: int) -> tuple[Array, Array]:
    """Mean and standard deviation of one coordinate given the observed others: (row,) each.

    Parameters
    ----------
    gaussian : Gaussian
    rows : (row, coordinate)
        NaN is missing; the target's own cells are not used.
    target : int
    """
    others = rows.copy()
    others[:, target] = np.nan
    filled = fill(gaussian, others, variances=True)
    return filled.values[:, target], np.sqrt(filled.variances[:, target])


def sample(gaussian: Gaussian, rows: Array, rng: np.random.Generator) -> Array:
    """Rows whose missing cells are drawn from their joint conditional distribution.

    An unconditional sample is shifted by the conditional mean of its difference to the row (Matheron's rule),
    so that only the factorisation of the conditional means is needed.

    Parameters
    ----------
    gaussian : Gaussian
    rows : (row, coordinate)
        NaN is missing, and drawn.
    rng : numpy.random.Generator
    """
    draws = gaussian.mean + rng.standard_normal(rows.shape) @ gaussian.factor.T
    if np.isnan(rows).all():
        return draws
    shift = fill(Gaussian(np.zeros_like(gaussian.mean), gaussian.covariance), rows - draws).values
    return np.where(np.isnan(rows), draws + shift, rows)
