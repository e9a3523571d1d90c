"""Normal densities of states with covariances of four forms, for the generic chain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tacit.core.files.fields import Array as ArrayField
from tacit.core.files.fields import Field, Record
from tacit.core.files.header_values import text
from tacit.core.files.ranges import covariances, moderate
from tacit.sequences.data.number_sequences import centre_and_spread
from tacit.sequences.emissions.density_emission import column_names
from tacit.sequences.learn.em.gaussian_hmm import (
    CENTRES,
    COMMON,
    SPREAD,
    SPREADS,
    Rows,
    RowSums,
    densities,
    log_prior,
    row_sums,
)
from tacit.sequences.model.gaussians import UNITS, Gaussians
from tacit.sequences.query.gaussian_emissions import drawn_rows, log_densities, next_quantiles

Array = NDArray[np.float64]

COVARIANCES = ("full", "diagonal", "spherical", "tied")
_LEAST = 1e-8  # the smallest variance, in units of the columns'


@dataclass(frozen=True, eq=False)
class GaussianDensity(Gaussians):
    """A mean and a covariance for each state."""

    kind: ClassVar[str] = "gaussian"

    means: Array  # (state, column)
    covariances: Array  # (state, column, column)
    form: str = "full"  # of `COVARIANCES`: "tied" are all the same
    diagonal: bool = field(init=False)

    def __post_init__(self) -> None:
        """Diagonal are spherical ones, too."""
        object.__setattr__(self, "diagonal", self.form in ("diagonal", "spherical"))

    @property
    def n_parameters(self) -> int:
        """Free parameters."""
        return int(self.means.size) + len(self._entries) * self._n_factors

    def log_likelihoods(self, values: Array) -> Array:
        """(position, state)."""
        return log_densities(self, values)

    def ordered(self, order: NDArray[np.integer]) -> GaussianDensity:
        """The densities of some states."""
        return GaussianDensity(self.means[order], self.covariances[order], self.form)

    def rescaled(self, centre: Array, spread: Array) -> GaussianDensity:
        """The densities of ``centre + spread * x`` where these are those of x, column by column."""
        scaled = self.covariances * (spread[:, None] * spread)
        return GaussianDensity(centre + spread * self.means, scaled, self.form)

    # -- for accelerated EM: means as exponentials, and Cholesky factors with logarithms below ----

    @cached_property
    def _entries(self) -> NDArray[np.int64]:
        """(entry, 2) places of the free entries of a Cholesky factor, the diagonal first."""
        d = self.n_columns
        if self.form == "spherical":
            return np.zeros((1, 2), np.int64)
        diagonal = np.repeat(np.arange(d)[:, None], 2, axis=1)
        return diagonal if self.diagonal else np.vstack([diagonal, np.argwhere(np.tri(d, k=-1))])

    @property
    def _n_factors(self) -> int:
        return 1 if self.form == "tied" else self.n_states

    @property
    def flat(self) -> Array:
        """Exponentials of means, and entries of Cholesky factors."""
        rows, columns = self._entries.T
        factors = self.factors[: self._n_factors, rows, columns]
        factors = np.where(
            rows == columns, factors, np.exp(np.where(rows == columns, 0.0, factors))
        )
        return np.concatenate([np.exp(self.means / UNITS).ravel(), factors.ravel()])

    def of_flat(self, values: Array) -> GaussianDensity:
        """The nearest valid densities."""
        (k, d), (rows, columns) = self.means.shape, self._entries.T
        means = UNITS * np.log(np.clip(values[: k * d], 1e-250, 1e250)).reshape(k, d)
        entries = values[k * d :].reshape(self._n_factors, -1)
        low, high = np.where(rows == columns, 1e-6, 1e-250), np.where(rows == columns, 1e6, 1e250)
        entries = np.clip(entries, low, high)
        triangles = np.zeros((self._n_factors, d, d))
        triangles[:, rows, columns] = np.where(rows == columns, entries, np.log(entries))
        if self.form == "spherical":
            triangles = triangles[:, :1, :1] * np.eye(d)
        triangles = np.broadcast_to(triangles, (k, d, d))
        density = GaussianDensity(means, triangles @ triangles.transpose(0, 2, 1), self.form)
        density.__dict__["factors"] = triangles  # known already, and exact
        return density

    def masses(self, visits: Array) -> Array:
        """Fisher information."""
        rows, columns = self._entries.T
        inverse = self.inverse_factors
        precision = np.einsum("kji,kji->ki", inverse, inverse)  # diagonals of the precisions
        factors = np.where(rows == columns, 2.0, precision[:, rows]) * visits[:, None]
        if self.form == "spherical":
            factors *= self.n_columns
        if self.form == "tied":
            factors = factors.sum(axis=0)
        means = UNITS**2 * visits[:, None] * precision
        return np.concatenate([means.ravel(), factors.ravel()])

    # -- queries ----------------------------------------------------------------------------------

    def sample(self, states: NDArray[np.int32], rng: np.random.Generator) -> Array:
        """Rows of normal numbers."""
        return drawn_rows(self, states, rng)

    def expectation(self, weights: Array) -> Array:
        """(row, column) means of mixtures."""
        return np.asarray(weights @ self.means)

    def densities(self, column: int, grid: Array) -> Array:
        """(state, grid point)."""
        means = self.means[:, column, None]
        variances = self.covariances[:, column, column, None]
        logs = -0.5 * (np.log(2 * np.pi * variances) + np.square(grid - means) / variances)
        return np.asarray(np.exp(logs))

    def quantiles(self, weights: Array, levels: Array) -> Array:
        """(row, column, level)."""
        return next_quantiles(self, weights, levels)

    def describe(self, labels: Sequence[str], most: int) -> list[list[str]]:
        """Mean and standard deviation of each column."""
        deviations = np.sqrt(np.diagonal(self.covariances, axis1=1, axis2=2))
        names = column_names(labels)
        return [
            [f"{name}{m:.3g} ± {s:.2g}" for name, m, s in zip(names, *row, strict=True)][:most]
            for row in zip(self.means, deviations, strict=True)
        ]

    @property
    def attributes(self) -> dict[str, Any]:
        """Means (state, column) and covariances (state, column, column)."""
        return {"means_": self.means, "covariances_": self.covariances}

    @property
    def arguments(self) -> dict[str, Any]:
        """The form of the covariances."""
        return {"covariance": self.form}


GAUSSIAN_DENSITY = Record(
    GaussianDensity,
    Field("means", ArrayField("group column", moderate)),
    Field("covariances", ArrayField("group column column", covariances)),
    Field("form", text(*COVARIANCES)),
)


class GaussianRows:
    """Numbers to learn from, standardised, and the prior of `tacit.sequences.learn.em.gaussian_hmm`.

    Parameters
    ----------
    values : (position, column)
        NaN: missing.
    form : str
        Of the covariances.
    strength : float
        Of the prior.
    scale : (centre, spread), optional
        Of columns that are standardised already.
    """

    log_constant = 0.0

    def __init__(
        self, values: Array, form: str, strength: float, scale: tuple[Array, Array] | None = None
    ) -> None:
        if scale is None:
            centre, spread = centre_and_spread(values)
            if form == "spherical":  # columns are compared with each other
                spread = np.full_like(spread, np.sqrt(np.mean(np.square(spread))))
            scale = centre, np.where(spread > 0, spread, 1.0)
            values = (values - scale[0]) / scale[1]
        self.values = np.ascontiguousarray(values)
        self.form, self.strength, self.scale = form, strength, scale
        self.inner = Rows(self.values, np.array([0, len(values)]))

    @property
    def features(self) -> Array:
        """The standardised numbers."""
        return self.values

    def log_likelihoods(self, density: GaussianDensity) -> Array:
        """(position, state)."""
        return log_densities(density, self.values, self.inner.patterns)

    def maximised(
        self, posterior: Array, density: GaussianDensity | None = None
    ) -> GaussianDensity:
        """Means and covariances of highest posterior density."""
        strength = self.strength if density is not None else 1.0
        by_column = self.form in ("diagonal", "spherical")
        sums = row_sums(self.inner, posterior, density, diagonal=by_column)
        if self.form == "spherical":
            means, spreads = _spherical(sums, strength, density)
        elif self.form == "tied":
            means, spreads = _tied(sums, strength)
        else:
            means, spreads = densities(sums, strength, density)
        return GaussianDensity(means, spreads, self.form)

    def log_prior(self, density: GaussianDensity) -> float:
        """Wishart densities of the inverse covariances, normal ones of the means."""
        if self.form != "tied":
            return log_prior(density, self.strength)
        inverse = density.inverse_factors
        away = (inverse @ density.means[:, :, None]).ravel()
        spread = 2 * float(density.log_sizes[0]) + SPREAD * float(np.square(inverse[0]).sum())
        return -0.5 * self.strength * (SPREADS * spread + CENTRES * float(away @ away))

    def taken(self, places: NDArray[np.integer]) -> GaussianRows:
        """Some of the rows."""
        return GaussianRows(self.values[places], self.form, self.strength, self.scale)

    def finished(self, density: GaussianDensity) -> GaussianDensity:
        """The densities of the numbers as they were."""
        return density.rescaled(*self.scale)


def _spherical(
    sums: RowSums, strength: float, density: GaussianDensity | None
) -> tuple[Array, Array]:
    """One variance for all columns of a state; see `densities`."""
    d = sums.firsts.shape[1]
    weights, counted = sums.visits + strength * CENTRES, sums.visits + strength * SPREADS
    means = sums.firsts / np.where(weights > 0, weights, 1.0)
    spread = sums.seconds - weights * np.square(means) + strength * SPREADS * SPREAD
    if density is not None:
        spread = spread + strength * (COMMON + 1) * density.common_spread.diagonal()
    total = counted.sum(axis=1)
    variances = np.where(total > 0, spread.sum(axis=1) / np.where(total > 0, total, 1.0), 1.0)
    return means, np.maximum(variances, _LEAST)[:, None, None] * np.eye(d)


def _tied(sums: RowSums, strength: float) -> tuple[Array, Array]:
    """One covariance for all states."""
    k, d = sums.firsts.shape
    weights = sums.visits + strength * CENTRES
    means = sums.firsts / np.where(weights > 0, weights, 1.0)[:, None]
    spread = sums.seconds.sum(axis=0) - (weights[:, None] * means).T @ means
    spread += strength * SPREADS * SPREAD * np.eye(d)
    covariance = spread / max(float(sums.visits.sum()) + strength * SPREADS, 1e-12)
    covariance = 0.5 * (covariance + covariance.T) + _LEAST * np.eye(d)
    return means, np.repeat(covariance[None], k, axis=0)
