"""Poisson emissions: counts, whose columns are independent given the state."""

from __future__ import annotations

import math
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
    DEFAULT_PSEUDO_COUNTS,
    DensityEmission,
    check_counts,
    column_names,
    count_quantiles,
    standardised,
    strength_of,
)
from tacit.sequences.emissions.independent_columns import IndependentColumns
from tacit.sequences.model.emission_chain import EmissionChain

if TYPE_CHECKING:
    from tacit.sequences.data.number_sequences import Series
    from tacit.sequences.learn.hmm_task import HMMSettings

Array = NDArray[np.float64]

LEAST_RATE, LARGEST_RATE = 1e-6, 1e12


@dataclass(frozen=True, eq=False)
class PoissonDensity(IndependentColumns):
    """The mean count of each state and column."""

    kind: ClassVar[str] = "poisson"

    rates: Array  # (state, column)

    def log_likelihoods(self, values: Array) -> Array:
        """(position, state)."""
        from scipy.special import gammaln

        known = ~np.isnan(values)
        counts = np.where(known, values, 0.0)
        logs = counts @ np.log(self.rates).T - known @ self.rates.T
        return np.asarray(logs - gammaln(counts + 1).sum(axis=1, keepdims=True))

    @property
    def flat(self) -> Array:
        """The rates."""
        return self.rates.ravel()

    def of_flat(self, values: Array) -> PoissonDensity:
        """The rates of a flat array."""
        return PoissonDensity(np.clip(values, LEAST_RATE, LARGEST_RATE).reshape(self.rates.shape))

    def masses(self, visits: Array) -> Array:
        """Expected counts."""
        return np.asarray((visits[:, None] * self.rates).ravel())

    def sample(self, states: NDArray[np.int32], rng: np.random.Generator) -> Array:
        """Counts, as floats."""
        return rng.poisson(self.rates[states]).astype(np.float64)

    @property
    def means(self) -> Array:
        """(state, column)."""
        return self.rates

    def expectation(self, weights: Array) -> Array:
        """(row, column) means of mixtures."""
        return np.asarray(weights @ self.means)

    def densities(self, column: int, grid: Array) -> Array:
        """(state, grid point) probabilities of counts; zero between them."""
        from scipy.special import gammaln

        is_count = (grid >= 0) & (grid == np.round(grid))
        counts, rates = np.where(is_count, grid, 0.0), self.rates[:, column, None]
        logs = counts * np.log(rates) - rates - gammaln(counts + 1)
        return np.asarray(np.where(is_count, np.exp(logs), 0.0))

    def quantiles(self, weights: Array, levels: Array) -> Array:
        """(row, column, level)."""
        from scipy.stats import poisson

        columns = [
            count_quantiles(
                partial(_below, rates), poisson.ppf(levels, rates.max()), weights, levels
            )
            for rates in self.rates.T
        ]
        return np.stack(columns, axis=1)

    def describe(self, labels: Sequence[str], most: int) -> list[list[str]]:
        """The mean count of each column."""
        names = column_names(labels)
        return [
            [f"{name}{rate:.3g}" for name, rate in zip(names, rates, strict=True)][:most]
            for rates in self.rates
        ]

    @property
    def attributes(self) -> dict[str, Any]:
        """Mean counts (state, column)."""
        return {"rates_": self.rates}


def _below(rates: Array, counts: Array) -> Array:
    """(row, level, state) P(count at most so many)."""
    from scipy.special import pdtr

    return np.asarray(pdtr(counts[:, :, None], rates))


@dataclass(frozen=True, eq=False)
class PoissonLikelihoods:
    """Poisson probabilities of one row of counts without gaps."""

    log_rates: Array  # (state, column)
    totals: Array  # (state,)  sums of the rates

    def __call__(self, row: Array) -> tuple[Array, float]:
        """Likelihoods and the log of their scale; NaN where the row does not hold counts."""
        log_factorials = 0.0
        for count in row.tolist():
            if not (0 <= count < math.inf and count == int(count)):
                return row, math.nan
            log_factorials += math.lgamma(count + 1)
        logs = self.log_rates @ row
        logs -= self.totals
        log_scale = float(logs.max())
        logs -= log_scale
        return np.exp(logs), log_scale - log_factorials


class PoissonRows:
    """Counts to learn from; the prior is as many more rows with the mean count of each column.

    Parameters
    ----------
    values : (position, column)
        NaN: missing.
    strength : float
        Pseudo-counts of the prior (a gamma density).
    overall : (column,), optional
        Mean counts of the prior; by default those of the rows.
    """

    def __init__(self, values: Array, strength: float, overall: Array | None = None) -> None:
        known = ~np.isnan(values)
        self.values, self.strength = values, strength
        self.known = None if known.all() else known.astype(np.float64)
        self.counts = np.where(known, values, 0.0)
        if overall is None:
            overall = self.counts.sum(axis=0) / np.maximum(known.sum(axis=0), 1)
            overall = np.maximum(overall, LEAST_RATE)
        self.overall = overall
        self._log_constant: float | None = None

    @property
    def features(self) -> Array:
        """Standardised square roots, whose variance hardly depends on the rate."""
        return standardised(np.sqrt(self.values))

    @property
    def log_constant(self) -> float:
        """Of the factorials."""
        from scipy.special import gammaln

        if self._log_constant is None:
            self._log_constant = -float(gammaln(self.counts + 1).sum())
        return self._log_constant

    def log_likelihoods(self, density: PoissonDensity) -> Array:
        """(position, state) without factorials."""
        logs = self.counts @ np.log(density.rates).T
        if self.known is None:
            logs -= density.rates.sum(axis=1)
        else:
            logs -= self.known @ density.rates.T
        return np.asarray(logs)

    def maximised(self, posterior: Array, density: PoissonDensity | None = None) -> PoissonDensity:
        """Mean counts."""
        count = self.strength if density is not None else max(self.strength, DEFAULT_PSEUDO_COUNTS)
        sums = posterior.T @ self.counts + count * self.overall
        if self.known is None:
            visits = (np.ones(len(posterior)) @ posterior)[:, None] + count
        else:
            visits = posterior.T @ self.known + count
        rates = sums / np.maximum(visits, 1e-12)
        return PoissonDensity(np.clip(rates, LEAST_RATE, LARGEST_RATE))

    def log_prior(self, density: PoissonDensity) -> float:
        """A gamma density."""
        logs = self.overall * np.log(density.rates) - density.rates
        return self.strength * float(logs.sum())

    def taken(self, places: NDArray[np.integer]) -> PoissonRows:
        """Some of the rows."""
        return PoissonRows(self.values[places], self.strength, self.overall)

    def finished(self, density: PoissonDensity) -> PoissonDensity:
        """The same."""
        return density


class Poisson(DensityEmission):
    """Counts, with a mean count of each state."""

    name: ClassVar[str] = "poisson"
    density: ClassVar[type] = PoissonDensity
    density_record: ClassVar[Record] = Record(
        PoissonDensity, Field("rates", ArrayField("group column", within(LEAST_RATE, LARGEST_RATE)))
    )

    def read(self, X: Any, lengths: Any, known: Any = None, unknown: str = "error") -> Series:
        """Sequences of counts."""
        series = super().read(X, lengths, known, unknown)
        check_counts(series.values, self.name)
        return series

    def at_position(self, parameters: Any) -> PoissonLikelihoods:
        """Poisson probabilities of one row of counts."""
        rates = self.emitted(parameters).rates
        return PoissonLikelihoods(np.log(rates), rates.sum(axis=1))

    def rows(self, values: Array, settings: HMMSettings) -> PoissonRows:
        """Counts to learn from."""
        return PoissonRows(values, strength_of(settings))

    def to_hmmlearn(self, parameters: EmissionChain, **arguments: Any) -> Any:
        """A ``PoissonHMM``."""
        from hmmlearn.hmm import PoissonHMM

        model = PoissonHMM(**arguments)
        rates = self.emitted(parameters).rates
        model.n_features = rates.shape[1]
        model.lambdas_ = rates.copy()
        return model

    def from_hmmlearn(self, model: Any, initial: Array, transitions: Array) -> EmissionChain | None:
        """Of a ``PoissonHMM``."""
        if not hasattr(model, "lambdas_"):
            return None
        rates = np.clip(np.array(model.lambdas_, dtype=np.float64), LEAST_RATE, LARGEST_RATE)
        return EmissionChain(initial, transitions, PoissonDensity(rates))
