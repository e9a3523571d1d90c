"""What can be asked of mixtures of spherical Gaussians."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.params.gaussian_mixture import SphericalMixture

Array = NDArray[np.float64]


def log_joint(mixture: SphericalMixture, rows: Array) -> Array:
    """(row, component) logarithms of the density of each row and component together.

    Examples
    --------
    >>> even = SphericalMixture(np.array([0.5, 0.5]), np.array([[0.0], [1.0]]), np.ones(2))
    >>> np.round(np.exp(log_joint(even, np.array([[0.0]]))), 4)
    array([[0.1995, 0.121 ]])
    """
    d = rows.shape[1]
    # About the mean of the means: far from the origin, differences of squares would lose digits.
    middle = mixture.weights @ mixture.means
    centred, means = rows - middle, mixture.means - middle
    squares = np.square(centred).sum(axis=1)[:, None] + np.square(means).sum(axis=1)
    apart = np.maximum(squares - 2 * centred @ means.T, 0.0) / mixture.variances
    scale = np.log(mixture.weights) - 0.5 * d * np.log(2 * np.pi * mixture.variances)
    return np.asarray(scale - 0.5 * apart)


def log_density(mixture: SphericalMixture, rows: Array) -> Array:
    """(row,) logarithms of the density."""
    joint = log_joint(mixture, rows)
    top = joint.max(axis=1)
    return np.asarray(top + np.log(np.exp(joint - top[:, None]).sum(axis=1)))


def membership(mixture: SphericalMixture, rows: Array) -> tuple[Array, Array]:
    """(row,) logarithms of the density, and (row, component) chances of the components given the row."""
    joint = log_joint(mixture, rows)
    top = joint.max(axis=1, keepdims=True)
    chances = np.exp(joint - top)
    total = chances.sum(axis=1, keepdims=True)
    return (top + np.log(total))[:, 0], chances / total


def draw(
    mixture: SphericalMixture, n_rows: int, rng: np.random.Generator
) -> tuple[Array, NDArray[np.int64]]:
    """Rows drawn from the mixture, and the component of each."""
    components = rng.choice(mixture.n_components, n_rows, p=mixture.weights)
    noise = rng.normal(size=(n_rows, mixture.means.shape[1]))
    spread = np.sqrt(mixture.variances[components])[:, None]
    return mixture.means[components] + spread * noise, components
