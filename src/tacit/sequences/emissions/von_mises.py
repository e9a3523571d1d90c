"""Von Mises emissions: angles in radians, with independent columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tacit.core.files.fields import Array as ArrayField
from tacit.core.files.fields import Field, Record
from tacit.core.files.ranges import within
from tacit.sequences.emissions.density_emission import (
    DensityEmission,
    column_names,
    mixture_quantiles,
    strength_of,
)
from tacit.sequences.emissions.independent_columns import IndependentColumns

if TYPE_CHECKING:
    from tacit.sequences.data.number_sequences import Series
    from tacit.sequences.learn.hmm_task import HMMSettings

Array = NDArray[np.float64]

LEAST, LARGEST = 1e-6, 5e3  # concentrations
PRIOR = 0.2  # rows at angles all around, in each state
UNITS = 16.0  # scale of flat parameters
NEWTON_STEPS, HALVINGS = 12, 60


@dataclass(frozen=True, eq=False)
class VonMisesDensity(IndependentColumns):
    """A mean direction and a concentration of each state and column."""

    kind: ClassVar[str] = "von-mises"

    means: Array  # (state, column)  circular, from -pi to pi
    concentrations: Array  # (state, column)

    @property
    def _natural(self) -> tuple[Array, Array]:
        """(state, column) concentrations times cosines and sines of the means."""
        return self.concentrations * np.cos(self.means), self.concentrations * np.sin(self.means)

    def log_likelihoods(self, values: Array) -> Array:
        """(position, state)."""
        known = ~np.isnan(values)
        angles = np.where(known, values, 0.0)
        return self._logs(np.cos(angles) * known, np.sin(angles) * known, known * 1.0)

    def _logs(self, cosines: Array, sines: Array, known: Array) -> Array:
        """(position, state) of angles, with zeros where they are missing."""
        x, y = self._natural
        return np.asarray(cosines @ x.T + sines @ y.T - known @ log_norms(self.concentrations).T)

    @property
    def flat(self) -> Array:
        """Exponentials of natural parameters."""
        return np.exp(np.concatenate([part.ravel() for part in self._natural]) / UNITS)

    def of_flat(self, values: Array) -> VonMisesDensity:
        """Directions and concentrations of a flat array."""
        logs = UNITS * np.log(np.clip(values, 1e-300, 1e300))
        x, y = (part.reshape(self.means.shape) for part in np.split(logs, 2))
        return VonMisesDensity(np.arctan2(y, x), np.clip(np.hypot(x, y), LEAST, LARGEST))

    def masses(self, visits: Array) -> Array:
        """Fisher information across the mean direction, which is the larger."""
        across = UNITS**2 * visits[:, None] * lengths(self.concentrations) / self.concentrations
        return np.tile(across.ravel(), 2)

    def sample(self, states: NDArray[np.int32], rng: np.random.Generator) -> Array:
        """Angles from -pi to pi."""
        return np.asarray(rng.vonmises(self.means[states], self.concentrations[states]))

    def expectation(self, weights: Array) -> Array:
        """(row, column) mean directions of mixtures."""
        size = lengths(self.concentrations)
        x, y = weights @ (size * np.cos(self.means)), weights @ (size * np.sin(self.means))
        return np.asarray(np.arctan2(y, x))

    def densities(self, column: int, grid: Array) -> Array:
        """(state, grid point); angles that differ by a full turn are the same."""
        means, sizes = self.means[:, column, None], self.concentrations[:, column, None]
        return np.asarray(np.exp(sizes * np.cos(grid - means) - log_norms(sizes)))

    def quantiles(self, weights: Array, levels: Array) -> Array:
        """(row, column, level) of angles from -pi to pi."""
        ends = np.full(len(levels), np.pi)
        columns = [
            mixture_quantiles(partial(_below, *parts), -ends, ends, weights, levels, HALVINGS)
            for parts in zip(self.means.T, self.concentrations.T, strict=True)
        ]
        return np.stack(columns, axis=1)

    def describe(self, labels: Sequence[str], most: int) -> list[list[str]]:
        """Mean direction and concentration of each column."""
        names = column_names(labels)
        return [
            [f"{name}{m:.3g} (κ {s:.2g})" for name, m, s in zip(names, *row, strict=True)][:most]
            for row in zip(self.means, self.concentrations, strict=True)
        ]

    @property
    def attributes(self) -> dict[str, Any]:
        """Mean directions and concentrations (state, column)."""
        return {"means_": self.means, "concentrations_": self.concentrations}


def log_norms(concentrations: Array) -> Array:
    """Logs of the integrals of ``exp(concentration * cos(x))`` over a full turn."""
    from scipy.special import i0e

    return np.asarray(np.log(2 * np.pi * i0e(concentrations)) + concentrations)


def lengths(concentrations: Array) -> Array:
    """Lengths of the mean of unit vectors at angles of these concentrations."""
    from scipy.special import i0e, i1e

    return np.asarray(i1e(concentrations) / i0e(concentrations))


def concentrations_of(means: Array) -> Array:
    """The concentrations whose mean vectors have these lengths, by Newton steps (Sra 2012)."""
    means = np.clip(means, 0.0, 1 - 1e-9)
    sizes = np.clip(means * (2 - means**2) / (1 - means**2), LEAST, LARGEST)
    for _ in range(NEWTON_STEPS):
        length = lengths(sizes)
        slope = 1 - length**2 - length / sizes
        change = (length - means) / np.maximum(slope, 1e-12)
        sizes = np.clip(sizes - change, 0.2 * sizes, 5 * sizes)
    return np.asarray(np.clip(sizes, LEAST, LARGEST))


def _below(means: Array, concentrations: Array, angles: Array) -> Array:
    """(row, level, state) P(angle from -pi to so much)."""
    from scipy.stats import vonmises

    first = vonmises.cdf(-np.pi, concentrations, means)
    return np.asarray(vonmises.cdf(angles[:, :, None], concentrations, means) - first)


class VonMisesRows:
    """Angles to learn from; the prior are some rows at angles all around.

    Parameters
    ----------
    values : (position, column)
        NaN: missing.
    strength : float
        Of the prior.
    """

    log_constant = 0.0

    def __init__(self, values: Array, strength: float) -> None:
        known = ~np.isnan(values)
        angles = np.where(known, values, 0.0)
        self.values, self.strength = values, strength
        self.known = known.astype(np.float64)
        self.cosines, self.sines = np.cos(angles) * known, np.sin(angles) * known

    @property
    def features(self) -> Array:
        """Cosines and sines."""
        return np.hstack([np.cos(self.values), np.sin(self.values)])

    def log_likelihoods(self, density: VonMisesDensity) -> Array:
        """(position, state)."""
        return density._logs(self.cosines, self.sines, self.known)  # noqa: SLF001  the same module

    def maximised(
        self, posterior: Array, density: VonMisesDensity | None = None
    ) -> VonMisesDensity:
        """Directions and concentrations of the mean vectors."""
        strength = self.strength if density is not None else max(self.strength, 1.0)
        x, y = posterior.T @ self.cosines, posterior.T @ self.sines
        visits = posterior.T @ self.known + strength * PRIOR
        means = np.hypot(x, y) / np.maximum(visits, 1e-12)
        return VonMisesDensity(np.arctan2(y, x), concentrations_of(means))

    def log_prior(self, density: VonMisesDensity) -> float:
        """Of mean vectors of length zero."""
        return -self.strength * PRIOR * float(log_norms(density.concentrations).sum())

    def taken(self, places: NDArray[np.integer]) -> VonMisesRows:
        """Some of the rows."""
        return VonMisesRows(self.values[places], self.strength)

    def finished(self, density: VonMisesDensity) -> VonMisesDensity:
        """The same."""
        return density


class VonMises(DensityEmission):
    """Angles in radians, with a mean direction and a concentration of each state."""

    name: ClassVar[str] = "von-mises"
    density: ClassVar[type] = VonMisesDensity
    density_record: ClassVar[Record] = Record(
        VonMisesDensity,
        Field("means", ArrayField("group column", within(-4, 4))),
        Field("concentrations", ArrayField("group column", within(LEAST, LARGEST))),
    )

    def check(self, data: Series) -> None:
        """Raise where a column holds no number; angles may all be zero."""
        from tacit.sequences.data.number_sequences import check_observed

        check_observed(data)

    def rows(self, values: Array, settings: HMMSettings) -> VonMisesRows:
        """Angles to learn from."""
        return VonMisesRows(values, strength_of(settings))
