"""Mixtures of spherical Gaussians from moments up to the third.

Hsu and Kakade (2013), theorems 1 and 2, about the mean of all rows. Spherical noise varies alike in all
directions: the smallest eigenvalue of the covariance is the noise, what is above it is the covariance of the
component means, and third moments, less what the noise adds, are those of the means. With a constant
coordinate in front the whitened third moments are a sum of third powers of orthonormal vectors, one for each
component, wherever the origin lies; the first coordinates of these vectors are the roots of the weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.linalg.cells import cells_of
from tacit.core.linalg.tensor_power import decompose
from tacit.errors import ArgumentError, RankError
from tacit.numbers.moments.third_moments import ThirdMoments

Array = NDArray[np.float64]

# The least share of the rows that a component has, times the number of components: estimates below it are
# noise, and would put means far away.
LEAST_WEIGHT = 0.1
# The least variance of a component, as a share of the mean of all.
LEAST_VARIANCE = 0.05
# How far eigenvalues of noise reach, times how far they do where all variances are the same.
EDGE = 1.5
# Eigenvalues of this share of the largest are rounding errors.
ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class SphericalMixture:
    """Components that vary alike in all directions."""

    weights: Array  # (component,)  sum to one
    means: Array  # (component, column)
    variances: Array  # (component,)

    def __post_init__(self) -> None:
        k = len(self.weights)
        fits = self.weights.shape == self.variances.shape == (k,) and self.means.shape[:1] == (k,)
        if not fits or self.means.ndim != 2:
            raise ArgumentError(
                f"weights {self.weights.shape}, means {self.means.shape} and variances "
                f"{self.variances.shape} are not those of the same components"
            )

    @property
    def n_components(self) -> int:
        """How many components there are."""
        return len(self.weights)


def mixture_of_moments(
    moments: ThirdMoments, n_components: int, *, own_variances: bool = True
) -> tuple[SphericalMixture, dict[str, Any]]:
    """The mixture that has given moments, and what was seen on the way.

    Exact moments of such a mixture give it back exactly, if no mean is an average of others and no component
    has less than `LEAST_WEIGHT` of its even share.

    Parameters
    ----------
    moments : ThirdMoments
    n_components : int
        At most as many as there are columns.
    own_variances : bool
        Whether every component has a variance of its own. With a common one, third moments of the noise are
        nothing, and are not estimated.

    Raises
    ------
    RankError
        There are more components than columns, or than the covariance has directions that stand out.
    """
    d, k = len(moments.mean), n_components
    sizes, axes = np.linalg.eigh(moments.covariance)  # ascending
    _check_components(k, sizes)
    noise = max(float(sizes[: d - k + 1].mean()), 0.0)
    between, quiet = sizes[d - k + 1 :] - noise, axes[:, : d - k + 1]
    roots = np.sqrt(between)
    back = axes[:, d - k + 1 :]
    white = back / roots  # (column, k - 1)
    cubes = moments.cubes(white)
    extra = np.zeros(k - 1)  # sum of weight times variance times mean, whitened
    if own_variances:
        extra = white.T @ moments.scaled(quiet) / (d - k + 1)
        added = np.einsum("a,bc->abc", extra, white.T @ white)
        cubes = cubes - added - added.transpose(1, 0, 2) - added.transpose(2, 1, 0)
    found = decompose(_with_constant(cubes))
    vectors = found.vectors * np.where(found.vectors[0] < 0, -1.0, 1.0)
    weights = np.maximum(vectors[0] ** 2, LEAST_WEIGHT / k)
    means = moments.mean + ((back * roots) @ (vectors[1:] / np.sqrt(weights))).T
    variances = np.full(k, noise)
    if own_variances:
        own = np.concatenate([[noise], extra]) @ vectors / np.sqrt(weights)
        variances = np.clip(own, LEAST_VARIANCE * noise, noise / weights)
    weights = weights / weights.sum()
    order = np.argsort(-weights, kind="stable")
    report = {
        "noise": noise,
        "eigenvalues": sizes[::-1].tolist(),
        "supported_components": supported_components(sizes, moments.n_rows),
        "residual": found.residual,
    }
    return SphericalMixture(weights[order], means[order], variances[order]), report


def clustered_mixture(rows: Array, n_components: int) -> SphericalMixture:
    """Clusters of rows around some that lie far apart, as components; the same every time.

    Fewer where there are not so many different rows.

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
    # A row more of the mean variance: a cluster of one row has none.
    variances = (squares + squares.sum() / len(rows)) / ((members + 1) * d)
    return SphericalMixture(members / len(rows), means, variances)


def supported_components(sizes: Array, n_rows: float) -> int:
    """How many components the eigenvalues of a covariance show above spherical noise; at least one.

    Eigenvalues of noise alone stay below ``(1 + sqrt(columns / rows))^2`` times its variance (Marchenko and
    Pastur); those of components with unequal variances reach further. The largest are left out until the
    others stay below.

    Parameters
    ----------
    sizes : (column,)
        Ascending.
    n_rows : float
    """
    edge = (1 + EDGE * np.sqrt(len(sizes) / n_rows)) ** 2
    for quiet in range(len(sizes), 1, -1):
        noise = float(sizes[:quiet].mean())
        if sizes[quiet - 1] <= edge * noise + ROUNDING * sizes[-1]:
            return len(sizes) - quiet + 1
    return len(sizes)


def _check_components(k: int, sizes: Array) -> None:
    d = len(sizes)
    if k > d:
        raise RankError(
            f"n_components={k} asked for, but n_features={d}: moments up to the third tell at most as many "
            f"components as there are columns; give n_components<={d}"
        )
    noise = max(float(sizes[: d - k + 1].mean()), 0.0)
    above = int((sizes[d - k + 1 :] - noise > ROUNDING * max(float(sizes[-1]), 0.0)).sum())
    if above < k - 1:
        raise RankError(
            f"n_components={k} asked for, but only {above} directions of the rows stand out from the others; "
            f"give n_components<={above + 1}"
        )


def _with_constant(cubes: Array) -> Array:
    """Whitened third moments of means with a constant coordinate in front."""
    k = len(cubes) + 1
    out = np.zeros((k, k, k))
    out[1:, 1:, 1:] = cubes
    every = np.arange(k)
    out[0, every, every] = out[every, 0, every] = out[every, every, 0] = 1.0
    return out
