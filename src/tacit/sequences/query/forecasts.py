"""What is expected of the next number of a sequence: densities, means, quantiles, draws."""

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
# A vector whose integral is a smaller share of its parts than this is noise.
_NOTHING = 1e-9


@dataclass(frozen=True, eq=False)
class Forecasts:
    """Densities of a column at the next position, one for each state that was given.

    Operators estimate these with errors that may leave next to nothing where a number then falls: a share of
    the column's own density is mixed in.
    """

    coefficients: Coefficients  # (row, feature)
    fallback: float = 0.0  # share of the column's own density

    def densities(self, places: Array) -> Densities:
        """The densities at some places."""
        found = self.coefficients.densities(places)
        if self.fallback == 0:
            return found
        values = (1 - self.fallback) * found.values + self.fallback * self.margin.density(places)
        return Densities(places, values, found.negative_mass)

    def log_densities(self, numbers: Array) -> Array:
        """(row,) The log-density of one number in each row; 0 where it is NaN."""
        return np.asarray(self.log_densities_with(numbers, np.array([self.fallback]))[0])

    def log_densities_with(self, numbers: Array, fallbacks: Array) -> Array:
        """(share, row) The same for several shares of the column's own density."""
        out = np.zeros((len(fallbacks), len(numbers)))
        here = np.flatnonzero(~np.isnan(numbers))
        own = self.coefficients
        likelihoods = own.encoder.likelihoods(numbers[here])
        found = np.einsum("if,if->i", own.values[here], likelihoods)
        if not own.proper:
            found = np.maximum(found, 0.0) / own.cell_masses.sum(axis=1)[here]
        mixed = np.outer(1 - fallbacks, found)
        if fallbacks.any():
            mixed += np.outer(fallbacks, self.margin.density(numbers[here]))
        with np.errstate(divide="ignore"):
            out[:, here] = np.log(mixed)
        return out

    def expectations(self, function: Callable[[Array], Array] | None = None) -> Array:
        """(row,) The mean of the number, or of a function of it."""
        found = self.coefficients.expectations(function)
        if self.fallback == 0:
            return found
        places = self.coefficients.places
        middles = np.concatenate([places[:1], 0.5 * (places[1:] + places[:-1]), places[-1:]])
        values = middles if function is None else np.asarray(function(middles))
        own = float(values @ self._own_masses)
        return np.asarray((1 - self.fallback) * found + self.fallback * own)

    def quantiles(self, shares: Array) -> Array:
        """(row, share) The numbers below which these shares of the mass lie."""
        wrong = ~((shares >= 0) & (shares <= 1))
        if wrong.any():
            raise ArgumentError(f"quantile {shares[wrong][0]} asked for; give shares from 0 to 1")
        rows = range(len(self.coefficients.values))
        found = np.array([self._inverse(row, shares) for row in rows])
        return found.reshape(len(rows), len(shares))

    def draws(self, uniforms: Array) -> Array:
        """(row,) A number for each row, from a uniform number for each row."""
        pairs = enumerate(uniforms[:, None])
        return np.array([self._inverse(row, share)[0] for row, share in pairs], dtype=np.float64)

    def _inverse(self, row: int, shares: Array) -> Array:
        masses = self.coefficients.cell_masses[row]
        if self.fallback > 0:
            masses = masses * ((1 - self.fallback) / masses.sum())
            masses = masses + self.fallback * self._own_masses
        reached = np.cumsum(masses)
        # What lies beyond the places is at their ends.
        return np.asarray(np.interp(shares * reached[-1], reached[:-1], self.coefficients.places))

    @property
    def margin(self) -> Margin:
        """The column's own density."""
        margin = getattr(self.coefficients.encoder, "margin", None)
        assert isinstance(margin, Margin)  # features of normal scores have one
        return margin

    @cached_property
    def _own_masses(self) -> Array:
        """(cell,) The column's own masses before, between and after the places."""
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
    """What states say of a column at the next position.

    Where they say nothing but noise, the answer is that of the mean state.

    Parameters
    ----------
    operators : Operators
    states : Messages
        (rank, row)
    column : int
    encoder : Encoder
        Of the column.
    fallback : float
        Share of the column's own density.
    others : per column Messages or None, optional
        What is known of the other columns at that position, see `expected`.
    """
    values = expected(operators, states, column, others)
    mass, size = values @ encoder.total, np.abs(values) @ np.abs(encoder.total)
    noise = ~(np.abs(mass) > _NOTHING * size)
    values /= np.where(noise, 1.0, mass)[:, None]
    if noise.any():
        usual = expected(operators, Messages(operators.mean[:, None]), column)[0]
        whole = float(usual @ encoder.total)
        values[noise] = usual / whole if whole != 0 else encoder.total / len(usual)
    return Forecasts(Coefficients(encoder, values, noise), fallback)
