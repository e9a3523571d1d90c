"""EM of Gaussian mixtures with covariances of five forms, and its held-out log-densities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# One variance for all; one per component; one per component and column; one covariance for all; one per
# component.
FORMS = ("common", "spherical", "diag", "tied", "full")
FOLDS = 5
_MIN_ROWS = 1e-9  # of a component; an empty one has the mean of all rows


@dataclass(frozen=True, slots=True, eq=False)
class SufficientStatistics:
    """Sums over rows, weighted by the responsibilities of the components."""

    counts: Array  # (component,)
    first: Array  # (component, column)
    second: Array  # (component, column) of squares, or (component or 1, column, column) of products

    def __sub__(self, other: SufficientStatistics) -> SufficientStatistics:
        return SufficientStatistics(
            self.counts - other.counts, self.first - other.first, self.second - other.second
        )


@dataclass(frozen=True, slots=True, eq=False)
class Components:
    """A mixture; squares of ``(row - mean) @ factor`` add up to the squared distance from a component."""

    weights: Array  # (component,)
    means: Array  # (component, column)
    factors: Array  # (component, column), or (component, column, column)

    def precisions(self, form: str) -> Array:
        """Inverse covariances, in the shape that scikit-learn has for the form."""
        if form in ("tied", "full"):
            precisions = self.factors @ self.factors.transpose(0, 2, 1)
            return np.asarray(precisions if form == "full" else precisions[0])
        return np.asarray(np.square(self.factors if form == "diag" else self.factors[:, 0]))


def sufficient_statistics(rows: Array, responsibilities: Array, form: str) -> SufficientStatistics:
    """The statistics that the M-step needs.

    Parameters
    ----------
    rows : (row, column)
        Centred: far from the origin, differences of squares lose digits.
    responsibilities : (component, row)
    form : str
        One of `FORMS`.
    """
    if form == "full":
        second = np.stack([(rows.T * weights) @ rows for weights in responsibilities])
    elif form == "tied":
        second = (rows.T @ rows)[None]
    else:
        second = responsibilities @ np.square(rows)
    return SufficientStatistics(responsibilities.sum(axis=1), responsibilities @ rows, second)


def m_step(statistics: SufficientStatistics, form: str, reg_covar: float) -> Components:
    """The maximum-likelihood mixture for given statistics; `reg_covar` is added to the variances.

    Raises
    ------
    numpy.linalg.LinAlgError
        A covariance is singular.
    """
    counts = np.maximum(statistics.counts, _MIN_ROWS)
    means = statistics.first / counts[:, None]
    k, d = means.shape
    if form in ("tied", "full"):
        between = np.einsum("ki,kj->kij", means * counts[:, None], means)
        if form == "tied":
            covariances = (statistics.second - between.sum(axis=0)) / counts.sum()
        else:
            covariances = (statistics.second - between) / counts[:, None, None]
        roots = np.linalg.cholesky(covariances + reg_covar * np.eye(d))
        factors = np.linalg.inv(roots).transpose(0, 2, 1)
        return Components(counts / counts.sum(), means, np.broadcast_to(factors, (k, d, d)))
    within = np.maximum(statistics.second - counts[:, None] * np.square(means), 0.0)
    if form == "common":
        variances = np.full((k, d), within.sum() / (counts.sum() * d))
    elif form == "spherical":
        variances = np.repeat(within.mean(axis=1, keepdims=True) / counts[:, None], d, axis=1)
    else:
        variances = within / counts[:, None]
    if not (variances + reg_covar > 0).all():
        raise np.linalg.LinAlgError("a component has no variance")
    return Components(counts / counts.sum(), means, 1 / np.sqrt(variances + reg_covar))


def e_step(components: Components, rows: Array) -> tuple[Array, Array]:
    """(row,) log-densities, and (component, row) responsibilities."""
    means, factors = components.means, components.factors
    if factors.ndim == 2:
        squares = np.square(factors)
        distances = squares @ np.square(rows).T - (2 * means * squares) @ rows.T
        distances = np.maximum(distances + (np.square(means) * squares).sum(axis=1)[:, None], 0.0)
        diagonal = factors
    else:
        pairs = zip(means, factors, strict=True)
        white = (f.T @ rows.T - (m @ f)[:, None] for m, f in pairs)  # (column, row)
        distances = np.stack([np.square(z).sum(axis=0) for z in white])
        diagonal = np.diagonal(factors, axis1=1, axis2=2)
    scale = np.log(components.weights) + np.log(diagonal).sum(axis=1)
    joint = (scale - 0.5 * rows.shape[1] * np.log(2 * np.pi))[:, None] - 0.5 * distances
    top = joint.max(axis=0)
    responsibilities = np.exp(joint - top)
    total = responsibilities.sum(axis=0)
    return top + np.log(total), responsibilities / total


def held_out_log_densities(
    rows: Array, responsibilities: Array, form: str, *, reg_covar: float, max_iter: int, tol: float
) -> Array:
    """(row,) cross-validated log-densities after EM on all rows; -inf where a covariance is singular.

    For each of `FOLDS` folds, the statistics of its rows are subtracted from those of the last E-step, and
    the rows are scored by the M-step of the rest. This exposes components that fit few rows, as training
    likelihood does not. That earlier steps used all rows does not matter when starts are compared: it is
    the optimum that is compared, not the path to it.

    Parameters
    ----------
    rows : (row, column)
        Centred, in random order.
    responsibilities : (component, row)
        The start of EM.
    form : str
        One of `FORMS`.
    reg_covar : float
        Added to the variances.
    max_iter, tol : int, float
        Largest number of steps, and the gain of the mean log-density below which EM stops.
    """
    try:
        before = -np.inf
        for _ in range(max_iter):
            components = m_step(
                sufficient_statistics(rows, responsibilities, form), form, reg_covar
            )
            logs, responsibilities = e_step(components, rows)
            if logs.mean() - before < tol:
                break
            before = float(logs.mean())
        total, log_densities = (
            sufficient_statistics(rows, responsibilities, form),
            np.empty(len(rows)),
        )
        for first in range(FOLDS):
            out = slice(first, None, FOLDS)
            others = total - sufficient_statistics(rows[out], responsibilities[:, out], form)
            log_densities[out], _ = e_step(m_step(others, form, reg_covar), rows[out])
    except np.linalg.LinAlgError:
        return np.full(len(rows), -np.inf)
    return log_densities
