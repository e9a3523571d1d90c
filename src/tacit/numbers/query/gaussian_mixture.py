"""What can be asked of mixtures of spherical Gaussians."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

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


def membership(mixture: SphericalMixture, rows: Array) -> tuple[Array, Array]:
    """(row,) logarithms of the density, and (row, component) chances of the components given the row."""
    joint = _by_component(mixture, rows)
    top = joint.max(axis=0)
    chances = np.exp(joint - top)
    total = chances.sum(axis=0)
    return top + np.log(total), (chances / total).T


def _by_component(mixture: SphericalMixture, rows: Array) -> Array:
    """(component, row) logarithms of the joint density: sums over components are faster this way round."""
    d = rows.shape[1]
    # About the mean of the means: far from the origin, differences of squares would lose digits.
    middle = mixture.weights @ mixture.means
    centred, means = rows - middle, mixture.means - middle
    squares = np.square(means).sum(axis=1)[:, None] + np.square(centred).sum(axis=1)
    apart = np.maximum(squares - 2 * means @ centred.T, 0.0) / mixture.variances[:, None]
    scale = np.log(mixture.weights) - 0.5 * d * np.log(2 * np.pi * mixture.variances)
    return np.asarray(scale[:, None] - 0.5 * apart)


def draw(
    mixture: SphericalMixture, n_rows: int, rng: np.random.Generator
) -> tuple[Array, NDArray[np.int64]]:
    """Rows drawn from the mixture, and the component of each."""
    components = rng.choice(mixture.n_components, n_rows, p=mixture.weights)
    noise = rng.normal(size=(n_rows, mixture.means.shape[1]))
    spread = np.sqrt(mixture.variances[components])[:, None]
    return mixture.means[components] + spread * noise, components
