"""EM on mixtures of spherical Gaussians."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.numbers.model.gaussian_mixture import SphericalMixture
from tacit.numbers.query.gaussian_mixture import e_step

Array = NDArray[np.float64]

BLOCK_ROWS = 1 << 16
_MIN_ROWS = 1e-9  # of a component; with fewer it keeps its parameters


@dataclass(frozen=True, slots=True, eq=False)
class EMResult:
    """The mixture that EM converged to."""

    mixture: SphericalMixture
    score: float  # mean log-density of the rows, before the last step
    n_steps: int
    converged: bool


def spherical_em(
    rows: Array,
    start: SphericalMixture,
    *,
    separate_variances: bool,
    reg_covar: float,
    max_iter: int,
    tol: float,
) -> EMResult:
    """Steps of EM until the mean log-density gains less than `tol`.

    Parameters
    ----------
    rows : (row, column)
    start : SphericalMixture
    separate_variances : bool
    reg_covar : float
        Added to the variances.
    max_iter : int
    tol : float
    """
    mixture, before = start, -np.inf
    for count in range(1, max_iter + 1):
        score, mixture = em_step(rows, mixture, separate_variances, reg_covar)
        if score - before < tol:
            return EMResult(mixture, score, count, converged=True)
        before = score
    return EMResult(mixture, before, max_iter, converged=False)


def em_step(
    rows: Array, mixture: SphericalMixture, separate_variances: bool, reg_covar: float
) -> tuple[float, SphericalMixture]:
    """One step: the mean log-density of the rows under the mixture, and the next mixture."""
    k, (n_rows, d) = mixture.n_components, rows.shape
    counts, sums, squares = np.zeros(k), np.zeros((k, d)), np.zeros(k)
    total = 0.0
    # Relative to the current mean: sums of squares about a distant origin would lose digits.
    centre = mixture.weights @ mixture.means
    for first in range(0, n_rows, BLOCK_ROWS):
        part = rows[first : first + BLOCK_ROWS]
        logs, responsibilities = e_step(mixture, part)
        total += float(logs.sum())
        centred = part - centre
        counts += responsibilities.sum(axis=0)
        sums += responsibilities.T @ centred
        squares += np.square(centred).sum(axis=1) @ responsibilities
    effective = np.maximum(counts, _MIN_ROWS)
    occupied = counts > _MIN_ROWS
    means = np.where(occupied[:, None], sums / effective[:, None], mixture.means - centre)
    within = np.maximum(squares - effective * np.square(means).sum(axis=1), 0.0)
    variances = (
        within / effective if separate_variances else np.full(k, within.sum() / n_rows)
    ) / d
    variances = np.where(occupied, variances, mixture.variances) + reg_covar
    return total / n_rows, SphericalMixture(effective / effective.sum(), centre + means, variances)
