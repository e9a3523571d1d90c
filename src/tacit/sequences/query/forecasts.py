"""Forecasts of the next number of a sequence: densities, means, quantiles, samples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tacit.core.encoders.encoders import Encoder
from tacit.core.encoders.margins import Margin
from tacit.errors import ArgumentError
from tacit.messages.node_messages import Messages
from tacit.messages.repairs import Repairs
from tacit.numbers.query.densities import Coefficients, Densities
from tacit.sequences.model.chains import Operators
from tacit.sequences.query.operators import expected

Array = NDArray[np.float64]

# Positions whose densities are held in memory together.
AT_ONCE = 4096
# A vector whose integral is smaller than this, relative to its parts, is noise.
_NOTHING = 1e-9


@dataclass(frozen=True, eq=False)
class Forecasts:
    """Densities of a column at the next position, one for each state.

    Operators estimate these with errors, which may leave almost no density where a number then falls: the
    column's marginal density is mixed in.
    """

    coefficients: Coefficients  # (row, feature)
    fallback: float = 0.0  # weight of the column's marginal density

    def densities(self, places: Array) -> Densities:
        """The densities at some places."""
        densities = self.coefficients.densities(places)
        if self.fallback == 0:
            return densities
        values = (1 - self.fallback) * densities.values + self.fallback * self.margin.density(
            places
        )
        return Densities(places, values, densities.negative_mass)

    def log_densities(self, numbers: Array) -> Array:
        """(row,) The log-density of one number in each row; 0 where it is NaN."""
        return np.asarray(self.log_densities_with(numbers, np.array([self.fallback]))[0])

    def log_densities_with(self, numbers: Array, fallbacks: Array) -> Array:
        """(weight, row) The same for several weights of the marginal density."""
        out = np.zeros((len(fallbacks), len(numbers)))
        rows = np.flatnonzero(~np.isnan(numbers))
        coefficients = self.coefficients
        likelihoods = coefficients.encoder.likelihoods(numbers[rows])
        densities = np.einsum("if,if->i", coefficients.values[rows], likelihoods)
        if not coefficients.proper:
            densities = np.maximum(densities, 0.0) / coefficients.cell_masses.sum(axis=1)[rows]
        mixed = np.outer(1 - fallbacks, densities)
        if fallbacks.any():
            mixed += np.outer(fallbacks, self.margin.density(numbers[rows]))
        with np.errstate(divide="ignore"):
            out[:, rows] = np.log(mixed)
        return out

    def expectations(self, function: Callable[[Array], Array] | None = None) -> Array:
        """(row,) The mean of the number, or of a function of it."""
        means = self.coefficients.expectations(function)
        if self.fallback == 0:
            return means
        places = self.coefficients.places
        middles = np.concatenate([places[:1], 0.5 * (places[1:] + places[:-1]), places[-1:]])
        values = middles if function is None else np.asarray(function(middles))
        marginal_mean = float(values @ self._marginal_masses)
        return np.asarray((1 - self.fallback) * means + self.fallback * marginal_mean)

    def quantiles(self, levels: Array) -> Array:
        """(row, level) Quantiles."""
        wrong = ~((levels >= 0) & (levels <= 1))
        if wrong.any():
            raise ArgumentError(f"quantile {levels[wrong][0]} asked for; give levels from 0 to 1")
        rows = range(len(self.coefficients.values))
        quantiles = np.array([self._inverse(row, levels) for row in rows])
        return quantiles.reshape(len(rows), len(levels))

    def draws(self, uniforms: Array) -> Array:
        """(row,) A number for each row, from a uniform number for each row."""
        pairs = enumerate(uniforms[:, None])
        return np.array([self._inverse(row, level)[0] for row, level in pairs], dtype=np.float64)

    def _inverse(self, row: int, levels: Array) -> Array:
        masses = self.coefficients.cell_masses[row]
        if self.fallback > 0:
            masses = masses * ((1 - self.fallback) / masses.sum())
            masses = masses + self.fallback * self._marginal_masses
        reached = np.cumsum(masses)
        # Mass beyond the places is put at their ends.
        return np.asarray(np.interp(levels * reached[-1], reached[:-1], self.coefficients.places))

    @property
    def margin(self) -> Margin:
        """The column's marginal density."""
        margin = getattr(self.coefficients.encoder, "margin", None)
        assert isinstance(margin, Margin)  # features of normal scores have one
        return margin

    @cached_property
    def _marginal_masses(self) -> Array:
        """(cell,) Masses of the marginal density before, between and after the places."""
        return np.diff(self.margin.cdf(self.coefficients.places), prepend=0.0, append=1.0)

    def repairs(self) -> Repairs:
        """How much of the densities was negative."""
        return self.coefficients.repairs()


def forecasts(
    operators: Operators,
    states: Messages,
    column: int,
    encoder: Encoder,
    *,
    fallback: float = 0.0,
    others: Sequence[Messages | None] | None = None,
) -> Forecasts:
    """Forecasts of a column at the next position from states.

    Where a state gives nothing but noise, the mean state is used.

    Parameters
    ----------
    operators : Operators
    states : Messages
        (rank, row)
    column : int
    encoder : Encoder
        Of the column.
    fallback : float
        Weight of the column's marginal density.
    others : per column Messages or None, optional
        Evidence of the other columns at that position, see `expected`.
    """
    values, noise = next_features(operators, states, column, encoder.total, others)
    return Forecasts(Coefficients(encoder, values, noise), fallback)


def next_features(
    operators: Operators,
    states: Messages,
    column: int,
    total: Array,
    others: Sequence[Messages | None] | None = None,
) -> tuple[Array, NDArray[np.bool_]]:
    """(row, feature) expected features at the next position, of integral one; (row,) which are of the mean.

    Parameters
    ----------
    operators, states, column, others
        See `forecasts`.
    total : (feature,)
        The integral of each feature's density.
    """
    values = expected(operators, states, column, others)
    mass, size = values @ total, np.abs(values) @ np.abs(total)
    noise = ~(np.abs(mass) > _NOTHING * size)
    values /= np.where(noise, 1.0, mass)[:, None]
    if noise.any():
        mean_values = expected(operators, Messages(operators.mean[:, None]), column)[0]
        mean_mass = float(mean_values @ total)
        values[noise] = mean_values / mean_mass if mean_mass != 0 else total / len(mean_values)
    return values, noise
