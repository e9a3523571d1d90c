"""Mixtures of spherical Gaussians from moments up to the third.

Hsu and Kakade (2013), theorems 1 and 2, about the mean of all rows. Spherical noise has the same variance in
all directions: the smallest eigenvalue of the covariance is the noise, what is above it is the covariance of
the component means, and third moments, less what the noise adds, are those of the means. With a constant
coordinate in front the whitened third moments are a sum of third powers of orthonormal vectors, one for each
component, wherever the origin lies; the first coordinates of these vectors are the roots of the weights.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.linalg.cells import cells_of
from tacit.core.linalg.tensor_power import decompose
from tacit.errors import RankError
from tacit.numbers.model.gaussian_mixture import SphericalMixture
from tacit.numbers.moments.third_moments import ThirdMoments

Array = NDArray[np.float64]

# Smallest weight of a component, relative to equal weights: estimates below it are noise, and would put
# means far away.
MIN_WEIGHT = 0.1
# Smallest variance of a component, relative to the mean variance.
MIN_VARIANCE = 0.05
# Upper edge of the noise eigenvalues, relative to the edge where all variances are equal.
EDGE = 1.5
# Eigenvalues smaller than this, relative to the largest, are rounding errors.
ROUNDING = 1e-12


def mixture_of_moments(
    moments: ThirdMoments, n_components: int, *, separate_variances: bool = True
) -> tuple[SphericalMixture, dict[str, Any]]:
    """The mixture with given moments, and diagnostics.

    Exact moments give back the exact mixture if no mean is an average of others and no weight is less than
    `MIN_WEIGHT` / k.

    Parameters
    ----------
    moments : ThirdMoments
    n_components : int
        At most as many as there are columns.
    separate_variances : bool
        Whether every component has a separate variance. With a common one, the noise has no third moments,
        and they are not estimated.

    Raises
    ------
    RankError
        There are more components than columns, or than eigenvalues of the covariance above the noise.
    """
    d, k = len(moments.mean), n_components
    eigenvalues, axes = np.linalg.eigh(moments.covariance)  # ascending
    _check_components(k, eigenvalues)
    noise = max(float(eigenvalues[: d - k + 1].mean()), 0.0)
    between, quiet = eigenvalues[d - k + 1 :] - noise, axes[:, : d - k + 1]
    roots = np.sqrt(between)
    signal_axes = axes[:, d - k + 1 :]
    white = signal_axes / roots  # (column, k - 1)
    cubes = moments.cubes(white)
    extra = np.zeros(k - 1)  # sum of weight times variance times mean, whitened
    if separate_variances:
        extra = white.T @ moments.scaled(quiet) / (d - k + 1)
        added = np.einsum("a,bc->abc", extra, white.T @ white)
        cubes = cubes - added - added.transpose(1, 0, 2) - added.transpose(2, 1, 0)
    decomposition = decompose(_with_constant(cubes))
    vectors = decomposition.vectors
    vectors = vectors * np.where(vectors[0] < 0, -1.0, 1.0)
    weights = np.maximum(vectors[0] ** 2, MIN_WEIGHT / k)
    means = moments.mean + ((signal_axes * roots) @ (vectors[1:] / np.sqrt(weights))).T
    variances = np.full(k, noise)
    if separate_variances:
        estimates = np.concatenate([[noise], extra]) @ vectors / np.sqrt(weights)
        variances = np.clip(estimates, MIN_VARIANCE * noise, noise / weights)
    weights = weights / weights.sum()
    order = np.argsort(-weights, kind="stable")
    report = {
        "noise": noise,
        "eigenvalues": eigenvalues[::-1].tolist(),
        "supported_components": supported_components(eigenvalues, moments.n_rows),
        "residual": decomposition.residual,
    }
    return SphericalMixture(weights[order], means[order], variances[order]), report


def clustered_mixture(rows: Array, n_components: int) -> SphericalMixture:
    """Clusters of k-means as components; deterministic, and fewer where there are fewer distinct rows.

    Parameters
    ----------
    rows : (row, column)
    n_components : int
    """
    cells = cells_of(rows - rows.mean(axis=0), n_components, np.random.default_rng(0))
    k, d = int(cells.max()) + 1, rows.shape[1]
    members = np.bincount(cells, minlength=k).astype(np.float64)
    means = (
        np.stack([np.bincount(cells, column, k) for column in rows.T], axis=1) / members[:, None]
    )
    squares = np.bincount(cells, np.square(rows - means[cells]).sum(axis=1), k)
    # One more row of the mean variance, because a cluster of one row has none.
    variances = (squares + squares.sum() / len(rows)) / ((members + 1) * d)
    return SphericalMixture(members / len(rows), means, variances)


def supported_components(eigenvalues: Array, n_rows: float) -> int:
    """The number of components that the eigenvalues of a covariance show above spherical noise; at least one.

    Eigenvalues of noise alone stay below ``(1 + sqrt(columns / rows))^2`` times its variance (Marchenko and
    Pastur); those of components with unequal variances reach further. The largest are removed until the
    others stay below.

    Parameters
    ----------
    eigenvalues : (column,)
        Ascending.
    n_rows : float
    """
    edge = (1 + EDGE * np.sqrt(len(eigenvalues) / n_rows)) ** 2
    for quiet in range(len(eigenvalues), 1, -1):
        noise = float(eigenvalues[:quiet].mean())
        if eigenvalues[quiet - 1] <= edge * noise + ROUNDING * eigenvalues[-1]:
            return len(eigenvalues) - quiet + 1
    return len(eigenvalues)


def _check_components(k: int, eigenvalues: Array) -> None:
    d = len(eigenvalues)
    if k > d:
        raise RankError(
            f"n_components={k}, but n_features={d}: moments up to the third identify at most as many "
            f"components as columns; use n_components<={d}"
        )
    noise = max(float(eigenvalues[: d - k + 1].mean()), 0.0)
    above = int(
        (eigenvalues[d - k + 1 :] - noise > ROUNDING * max(float(eigenvalues[-1]), 0.0)).sum()
    )
    if above < k - 1:
        raise RankError(
            f"n_components={k}, but only {above} eigenvalues of the covariance stand out from the noise; "
            f"use n_components<={above + 1}"
        )


def _with_constant(cubes: Array) -> Array:
    """Whitened third moments of means with a constant coordinate in front."""
    k = len(cubes) + 1
    out = np.zeros((k, k, k))
    out[1:, 1:, 1:] = cubes
    every = np.arange(k)
    out[0, every, every] = out[every, 0, every] = out[every, every, 0] = 1.0
    return out
