"""Mixtures of Gaussians with covariances of five forms: EM, and how well it foretells rows left out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# One variance for all; one for each component; one for each component and column; one covariance for all;
# one for each component.
FORMS = ("common", "spherical", "diag", "tied", "full")
FOLDS = 5
_FEWEST = 1e-9  # rows of a component: one with none has the mean of all rows


@dataclass(frozen=True, slots=True, eq=False)
class WeightedSums:
    """Sums over rows, each counted for a component as much as it belongs there."""

    mass: Array  # (component,)
    first: Array  # (component, column)
    second: Array  # (component, column) of squares, or (component or 1, column, column) of products

    def __sub__(self, other: WeightedSums) -> WeightedSums:
        return WeightedSums(
            self.mass - other.mass, self.first - other.first, self.second - other.second
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
            found = self.factors @ self.factors.transpose(0, 2, 1)
            return np.asarray(found if form == "full" else found[0])
        return np.asarray(np.square(self.factors if form == "diag" else self.factors[:, 0]))


def weighted_sums(rows: Array, chances: Array, form: str) -> WeightedSums:
    """What a step of EM counts.

    Parameters
    ----------
    rows : (row, column)
        About their mean: far from it, differences of squares lose digits.
    chances : (component, row)
    form : str
        One of `FORMS`.
    """
    if form == "full":
        second = np.stack([(rows.T * each) @ rows for each in chances])
    elif form == "tied":
        second = (rows.T @ rows)[None]
    else:
        second = chances @ np.square(rows)
    return WeightedSums(chances.sum(axis=1), chances @ rows, second)


def components_of(sums: WeightedSums, form: str, least_variance: float) -> Components:
    """The likeliest mixture, for given sums; `least_variance` is added to the variances.

    Raises
    ------
    numpy.linalg.LinAlgError
        A covariance is singular.
    """
    mass = np.maximum(sums.mass, _FEWEST)
    means = sums.first / mass[:, None]
    k, d = means.shape
    if form in ("tied", "full"):
        between = np.einsum("ki,kj->kij", means * mass[:, None], means)
        if form == "tied":
            covariances = (sums.second - between.sum(axis=0)) / mass.sum()
        else:
            covariances = (sums.second - between) / mass[:, None, None]
        roots = np.linalg.cholesky(covariances + least_variance * np.eye(d))
        factors = np.linalg.inv(roots).transpose(0, 2, 1)
        return Components(mass / mass.sum(), means, np.broadcast_to(factors, (k, d, d)))
    within = np.maximum(sums.second - mass[:, None] * np.square(means), 0.0)
    if form == "common":
        variances = np.full((k, d), within.sum() / (mass.sum() * d))
    elif form == "spherical":
        variances = np.repeat(within.mean(axis=1, keepdims=True) / mass[:, None], d, axis=1)
    else:
        variances = within / mass[:, None]
    if not (variances + least_variance > 0).all():
        raise np.linalg.LinAlgError("a component has no variance")
    return Components(mass / mass.sum(), means, 1 / np.sqrt(variances + least_variance))


def log_chances(components: Components, rows: Array) -> tuple[Array, Array]:
    """(row,) logarithms of the density, and (component, row) chances of the components given the row."""
    means, factors = components.means, components.factors
    if factors.ndim == 2:
        squares = np.square(factors)
        apart = squares @ np.square(rows).T - (2 * means * squares) @ rows.T
        apart = np.maximum(apart + (np.square(means) * squares).sum(axis=1)[:, None], 0.0)
        diagonal = factors
    else:
        pairs = zip(means, factors, strict=True)
        places = (f.T @ rows.T - (m @ f)[:, None] for m, f in pairs)  # (column, row) each
        apart = np.stack([np.square(each).sum(axis=0) for each in places])
        diagonal = np.diagonal(factors, axis1=1, axis2=2)
    scale = np.log(components.weights) + np.log(diagonal).sum(axis=1)
    joint = (scale - 0.5 * rows.shape[1] * np.log(2 * np.pi))[:, None] - 0.5 * apart
    top = joint.max(axis=0)
    chances = np.exp(joint - top)
    total = chances.sum(axis=0)
    return top + np.log(total), chances / total


def foretold(
    rows: Array, chances: Array, form: str, *, least_variance: float, max_iter: int, tol: float
) -> Array:
    """(row,) log-densities of rows left out of a mixture, after steps of EM on all; -inf where that breaks.

    Every `FOLDS`-th row is taken out of the sums of the last step, and scored by what the sums of the others
    give. Means that hold on to few rows are found out by this, as training likelihood does not. That the
    steps before have seen all rows does not matter between starts: it is the optimum that is judged, not
    the way there.

    Parameters
    ----------
    rows : (row, column)
        About their mean, in an order that means nothing.
    chances : (component, row)
        Where EM starts.
    form : str
        One of `FORMS`.
    least_variance : float
        Added to the variances.
    max_iter, tol : int, float
        Most steps, and the gain of the mean log-density at which they end.
    """
    try:
        before = -np.inf
        for _ in range(max_iter):
            components = components_of(weighted_sums(rows, chances, form), form, least_variance)
            logs, chances = log_chances(components, rows)
            if logs.mean() - before < tol:
                break
            before = float(logs.mean())
        whole, found = weighted_sums(rows, chances, form), np.empty(len(rows))
        for first in range(FOLDS):
            out = slice(first, None, FOLDS)
            others = whole - weighted_sums(rows[out], chances[:, out], form)
            found[out], _ = log_chances(components_of(others, form, least_variance), rows[out])
    except np.linalg.LinAlgError:
        return np.full(len(rows), -np.inf)
    return found
