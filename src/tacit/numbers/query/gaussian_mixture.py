"""Densities, responsibilities and samples of mixtures of spherical Gaussians."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.input.table import unknown_column_text
from tacit.core.limits import shown
from tacit.errors import ArgumentError, ArgumentTypeError, ColumnError
from tacit.numbers.model.gaussian_mixture import SphericalMixture

Array = NDArray[np.float64]


def log_joint(mixture: SphericalMixture, rows: Array) -> Array:
    """(row, component) logarithms of the density of each row and component together.

    Examples
    --------
    >>> even = SphericalMixture(np.array([0.5, 0.5]), np.array([[0.0], [1.0]]), np.ones(2))
    >>> np.round(np.exp(log_joint(even, np.array([[0.0]]))), 4)
    array([[0.1995, 0.121 ]])
    """
    return _by_component(mixture, rows).T


def log_density(mixture: SphericalMixture, rows: Array) -> Array:
    """(row,) logarithms of the density."""
    joint = _by_component(mixture, rows)
    top = joint.max(axis=0)
    return np.asarray(top + np.log(np.exp(joint - top).sum(axis=0)))


def e_step(mixture: SphericalMixture, rows: Array) -> tuple[Array, Array]:
    """(row,) log-densities, and (row, component) responsibilities: P(component | row)."""
    joint = _by_component(mixture, rows)
    top = joint.max(axis=0)
    weights = np.exp(joint - top)
    total = weights.sum(axis=0)
    return top + np.log(total), (weights / total).T


def _by_component(mixture: SphericalMixture, rows: Array) -> Array:
    """(component, row) logarithms of the joint density; sums over components are faster in this order."""
    d = rows.shape[1]
    # Relative to the mean: far from the origin, differences of squares would lose digits.
    centre = mixture.weights @ mixture.means
    centred, means = rows - centre, mixture.means - centre
    squares = np.square(means).sum(axis=1)[:, None] + np.square(centred).sum(axis=1)
    distances = np.maximum(squares - 2 * means @ centred.T, 0.0) / mixture.variances[:, None]
    scale = np.log(mixture.weights) - 0.5 * d * np.log(2 * np.pi * mixture.variances)
    return np.asarray(scale[:, None] - 0.5 * distances)


def sample(
    mixture: SphericalMixture,
    n_rows: int,
    rng: np.random.Generator,
    known: Array | None = None,
) -> tuple[Array, NDArray[np.int64]]:
    """Rows drawn from the mixture, and the component of each.

    Parameters
    ----------
    mixture : SphericalMixture
    n_rows : int
    rng : numpy.random.Generator
    known : (column,), optional
        Numbers that are given; NaN where one is drawn.
    """
    weights = mixture.weights
    if known is not None:
        is_known = ~np.isnan(known)
        observed = SphericalMixture(weights, mixture.means[:, is_known], mixture.variances)
        weights = e_step(observed, known[None, is_known])[1][0]
    components = rng.choice(mixture.n_components, n_rows, p=weights)
    noise = rng.normal(size=(n_rows, mixture.means.shape[1]))
    rows = mixture.means[components] + np.sqrt(mixture.variances[components])[:, None] * noise
    if known is not None:
        rows[:, is_known] = known[is_known]
    return rows, components


def given_row(names: Sequence[Any], given: Mapping[Any, float] | None) -> Array | None:
    """(column,) the numbers of a mapping from column to number, NaN elsewhere; None without any."""
    if given is None:
        return None
    if not isinstance(given, Mapping):
        raise ArgumentTypeError(
            f"given is a {type(given).__name__}; give a mapping of column to number"
        )
    if not given:
        return None
    known = np.full(len(names), np.nan)
    for name, value in given.items():
        if name not in names:
            raise ColumnError(unknown_column_text(name, names))
        try:
            known[names.index(name)] = float(value)
        except (TypeError, ValueError, OverflowError) as error:
            raise ArgumentError(f"given[{name!r}]={shown(value)} is not a number") from error
    if np.isinf(known).any():
        raise ArgumentError("given holds an infinite number; give finite ones")
    return known
