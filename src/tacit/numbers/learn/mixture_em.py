"""EM on mixtures of spherical Gaussians."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.numbers.model.gaussian_mixture import SphericalMixture
from tacit.numbers.query.gaussian_mixture import membership

Array = NDArray[np.float64]

ROWS_AT_ONCE = 1 << 16
_FEWEST = 1e-9  # rows of a component: one with none stays where it is


@dataclass(frozen=True, slots=True, eq=False)
class Climbed:
    """Where EM ended."""

    mixture: SphericalMixture
    score: float  # mean log-density of the rows, before the last step
    n_steps: int
    converged: bool


def climb_spherical(
    rows: Array,
    start: SphericalMixture,
    *,
    own_variances: bool,
    least_variance: float,
    max_iter: int,
    tol: float,
) -> Climbed:
    """Steps of EM until the mean log-density gains less than `tol`.

    Parameters
    ----------
    rows : (row, column)
    start : SphericalMixture
    own_variances : bool
    least_variance : float
        Added to the variances.
    max_iter : int
    tol : float
    """
    mixture, before = start, -np.inf
    for count in range(1, max_iter + 1):
        score, better = em_step(rows, mixture, own_variances, least_variance)
        mixture = better
        if score - before < tol:
            return Climbed(mixture, score, count, converged=True)
        before = score
    return Climbed(mixture, before, max_iter, converged=False)


def em_step(
    rows: Array, mixture: SphericalMixture, own_variances: bool, least_variance: float
) -> tuple[float, SphericalMixture]:
    """The mean log-density of the rows, and a likelier mixture."""
    k, (n_rows, d) = mixture.n_components, rows.shape
    mass, sums, squares = np.zeros(k), np.zeros((k, d)), np.zeros(k)
    total = 0.0
    # Positions about the means so far: sums of squares about a far origin would lose digits.
    middle = mixture.weights @ mixture.means
    for first in range(0, n_rows, ROWS_AT_ONCE):
        part = rows[first : first + ROWS_AT_ONCE]
        logs, chances = membership(mixture, part)
        total += float(logs.sum())
        centred = part - middle
        mass += chances.sum(axis=0)
        sums += chances.T @ centred
        squares += np.square(centred).sum(axis=1) @ chances
    held = np.maximum(mass, _FEWEST)
    centres = np.where((mass > _FEWEST)[:, None], sums / held[:, None], mixture.means - middle)
    apart = np.maximum(squares - held * np.square(centres).sum(axis=1), 0.0)
    variances = (apart / held if own_variances else np.full(k, apart.sum() / n_rows)) / d
    variances = np.where(mass > _FEWEST, variances, mixture.variances) + least_variance
    better = SphericalMixture(held / held.sum(), middle + centres, variances)
    return total / n_rows, better
