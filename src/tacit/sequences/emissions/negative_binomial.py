"""Negative binomial emissions: counts that vary more than Poisson ones, with independent columns."""

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
from tacit.sequences.data.number_sequences import centre_and_spread
from tacit.sequences.emissions.density_emission import (
    DensityEmission,
    check_counts,
    column_names,
    count_quantiles,
    standardised,
    strength_of,
)
from tacit.sequences.emissions.independent_columns import IndependentColumns

if TYPE_CHECKING:
    from tacit.sequences.data.number_sequences import Series
    from tacit.sequences.learn.hmm_task import HMMSettings

Array = NDArray[np.float64]

LEAST_MEAN, LARGEST_MEAN = 1e-6, 1e12
LEAST_SIZE, LARGEST_SIZE = 1e-3, 1e6  # the largest is a Poisson density, for all purposes
NEWTON_STEPS, HALVINGS = 4, 6
# Of the prior of the logarithm of a size, about that of all rows: one over the variance.
PRECISION = 0.25


@dataclass(frozen=True, eq=False)
class NegativeBinomialDensity(IndependentColumns):
    """Mean counts, and sizes: the variance is ``mean + mean**2 / size``."""

    kind: ClassVar[str] = "negative-binomial"

    means: Array  # (state, column)
    sizes: Array  # (state, column)

    def log_likelihoods(self, values: Array) -> Array:
        """(position, state)."""
        known = ~np.isnan(values)
        logs = np.zeros((len(values), self.n_states))
        for column in range(self.n_columns):
            counts = np.where(known[:, column], values[:, column], 0.0)
            logs += np.where(known[:, column, None], self._logs(column, counts).T, 0.0)
        return logs

    def _logs(self, column: int, counts: Array) -> Array:
        """(state, count) log-probabilities."""
        from scipy.special import gammaln

        means, sizes = self.means[:, column, None], self.sizes[:, column, None]
        logs = gammaln(counts + sizes) - gammaln(sizes) - gammaln(counts + 1)
        logs -= sizes * np.log1p(means / sizes)
        return np.asarray(logs + counts * (np.log(means) - np.log(means + sizes)))

    @property
    def flat(self) -> Array:
        """Means and sizes."""
        return np.concatenate([self.means.ravel(), self.sizes.ravel()])

    def of_flat(self, values: Array) -> NegativeBinomialDensity:
        """Means and sizes of a flat array."""
        means, sizes = np.split(values, [self.means.size])
        return NegativeBinomialDensity(
            np.clip(means, LEAST_MEAN, LARGEST_MEAN).reshape(self.means.shape),
            np.clip(sizes, LEAST_SIZE, LARGEST_SIZE).reshape(self.means.shape),
        )

    def masses(self, visits: Array) -> Array:
        """Fisher information; that on sizes is approximate."""
        part = self.means / (self.means + self.sizes)
        of_means = visits[:, None] * self.sizes * part
        return np.concatenate([of_means.ravel(), (0.5 * visits[:, None] * part**2).ravel()])

    def sample(self, states: NDArray[np.int32], rng: np.random.Generator) -> Array:
        """Counts, as floats."""
        rates = rng.gamma(self.sizes[states], (self.means / self.sizes)[states])
        return rng.poisson(rates).astype(np.float64)

    def expectation(self, weights: Array) -> Array:
        """(row, column) means of mixtures."""
        return np.asarray(weights @ self.means)

    def densities(self, column: int, grid: Array) -> Array:
        """(state, grid point) probabilities of counts; zero between them."""
        is_count = (grid >= 0) & (grid == np.round(grid))
        logs = self._logs(column, np.where(is_count, grid, 0.0))
        return np.asarray(np.where(is_count, np.exp(logs), 0.0))

    def quantiles(self, weights: Array, levels: Array) -> Array:
        """(row, column, level)."""
        from scipy.stats import nbinom

        columns = []
        for means, sizes in zip(self.means.T, self.sizes.T, strict=True):
            high = nbinom.ppf(levels[:, None], sizes, sizes / (sizes + means)).max(axis=1)
            columns.append(count_quantiles(partial(_below, means, sizes), high, weights, levels))
        return np.stack(columns, axis=1)

    def describe(self, labels: Sequence[str], most: int) -> list[list[str]]:
        """Mean and standard deviation of each column."""
        deviations = np.sqrt(self.means + self.means**2 / self.sizes)
        names = column_names(labels)
        return [
            [f"{name}{m:.3g} ± {s:.2g}" for name, m, s in zip(names, *row, strict=True)][:most]
            for row in zip(self.means, deviations, strict=True)
        ]

    @property
    def attributes(self) -> dict[str, Any]:
        """Mean counts and sizes (state, column)."""
        return {"means_": self.means, "sizes_": self.sizes}


def _below(means: Array, sizes: Array, counts: Array) -> Array:
    """(row, level, state) P(count at most so many)."""
    from scipy.special import betainc

    return np.asarray(betainc(sizes, counts[:, :, None] + 1, sizes / (sizes + means)))


@dataclass(frozen=True, eq=False)
class Distinct:
    """The distinct counts of a column, among them the mean of all."""

    counts: Array  # (count,)
    codes: NDArray[np.int64]  # (position,)  one more than the last count where missing
    overall: Array  # (count,)  the mean of all counts as a fraction of a row

    @staticmethod
    def of(column: Array, overall: float) -> Distinct:
        """Of a column with NaN where a count is missing."""
        known = ~np.isnan(column)
        counts, places = np.unique(column[known], return_inverse=True)
        codes = np.full(len(column), len(counts), dtype=np.int64)
        codes[known] = places.ravel()
        return Distinct(counts, codes, np.array([overall]))

    def weights(self, posterior: Array) -> Array:
        """(state, count) expected numbers of rows."""
        n = len(self.counts) + 1
        return np.stack([np.bincount(self.codes, w, minlength=n)[:-1] for w in posterior.T])


class NegativeBinomialRows:
    """Counts to learn from.

    The prior is as many more rows with the mean count of each column, and of the logarithms of sizes a normal
    density about that of all rows.

    Parameters
    ----------
    values : (position, column)
        NaN: missing.
    strength : float
        Of the prior.
    overall : NegativeBinomialDensity, optional
        The density of all rows, about which the prior is; by default from the moments of these rows.
    """

    log_constant = 0.0

    def __init__(
        self, values: Array, strength: float, overall: NegativeBinomialDensity | None = None
    ) -> None:
        self.values, self.strength = values, strength
        if overall is None:
            means, spread = centre_and_spread(values)
            means = np.maximum(means, LEAST_MEAN)
            more = np.maximum(np.square(spread) - means, 1e-3 * means)
            sizes = np.clip(means**2 / more, LEAST_SIZE, LARGEST_SIZE)
            overall = NegativeBinomialDensity(means[None], sizes[None])
        self.overall = overall
        self.columns = [
            Distinct.of(column, mean)
            for column, mean in zip(values.T, overall.means[0], strict=True)
        ]

    @property
    def features(self) -> Array:
        """Standardised square roots."""
        return standardised(np.sqrt(self.values))

    def log_likelihoods(self, density: NegativeBinomialDensity) -> Array:
        """(position, state)."""
        logs = np.zeros((len(self.values), density.n_states))
        nothing = np.zeros((1, density.n_states))
        for place, column in enumerate(self.columns):
            table = density._logs(place, column.counts).T  # noqa: SLF001  the same module
            logs += np.vstack([table, nothing])[column.codes]
        return logs

    def maximised(
        self, posterior: Array, density: NegativeBinomialDensity | None = None
    ) -> NegativeBinomialDensity:
        """Mean counts, and sizes by some Newton steps in their logarithms."""
        strength = self.strength if density is not None else max(self.strength, 1.0)
        means, sizes = [], []
        for place, column in enumerate(self.columns):
            weights = column.weights(posterior)
            visits, mean = weights.sum(axis=1), self.overall.means[0, place]
            totals = weights @ column.counts + strength * mean
            rates = np.clip(totals / np.maximum(visits + strength, 1e-12), LEAST_MEAN, LARGEST_MEAN)
            counts = np.append(column.counts, mean)
            weights = np.column_stack([weights, np.full(len(weights), strength)])
            before = None if density is None else density.sizes[:, place]
            prior = strength * PRECISION, float(np.log(self.overall.sizes[0, place]))
            means.append(rates)
            sizes.append(_sizes(counts, weights, rates, before, prior))
        return NegativeBinomialDensity(np.stack(means, axis=1), np.stack(sizes, axis=1))

    def log_prior(self, density: NegativeBinomialDensity) -> float:
        """Of the row of mean counts, and of sizes."""
        away = np.log(density.sizes) - np.log(self.overall.sizes[0])
        log_prior = -0.5 * PRECISION * float(np.square(away).sum())
        for place, mean in enumerate(self.overall.means[0]):
            log_prior += float(density._logs(place, np.array([mean])).sum())  # noqa: SLF001
        return self.strength * log_prior

    def taken(self, places: NDArray[np.integer]) -> NegativeBinomialRows:
        """Some of the rows."""
        return NegativeBinomialRows(self.values[places], self.strength, self.overall)

    def finished(self, density: NegativeBinomialDensity) -> NegativeBinomialDensity:
        """The same."""
        return density


def _sizes(
    counts: Array,
    weights: Array,
    means: Array,
    before: Array | None,
    prior: tuple[float, float],
) -> Array:
    """(state,) sizes that are likelier than those before: Newton steps, halved where they go downhill.

    Parameters
    ----------
    counts : (count,)
    weights : (state, count)
        How often each was expected.
    means : (state,)
    before : (state,), optional
        By default from the moments.
    prior : (precision, centre) of the logarithm
    """
    from scipy.special import digamma, gammaln, polygamma

    visits = weights.sum(axis=1)
    precision, centre = prior

    def value(sizes: Array) -> Array:
        logs = gammaln(counts + sizes[:, None]) - gammaln(sizes)[:, None]
        logs += counts * (np.log(means) - np.log(means + sizes))[:, None]
        logs -= (sizes * np.log1p(means / sizes))[:, None]
        prior = 0.5 * precision * np.square(np.log(sizes) - centre)
        return np.asarray((weights * logs).sum(axis=1) - prior)

    if before is None:
        filled = np.maximum(visits, 1e-12)
        variances = (weights * np.square(counts - means[:, None])).sum(axis=1) / filled
        before = means**2 / np.maximum(variances - means, 1e-2 * means)
    sizes = np.clip(before, LEAST_SIZE, LARGEST_SIZE)
    best = value(sizes)
    totals = weights @ counts
    for _ in range(NEWTON_STEPS):
        both = sizes + means
        first = (weights * digamma(counts + sizes[:, None])).sum(axis=1) - visits * digamma(sizes)
        first += visits * np.log(sizes / both) + visits - (totals + visits * sizes) / both
        second = (weights * polygamma(1, counts + sizes[:, None])).sum(axis=1)
        second += visits * (1 / sizes - polygamma(1, sizes))
        second += -2 * visits / both + (totals + visits * sizes) / np.square(both)
        slope = sizes * first - precision * (np.log(sizes) - centre)
        bend = sizes * first + sizes**2 * second - precision
        move = np.where(bend < 0, -slope / np.where(bend < 0, bend, 1.0), np.sign(slope))
        move = np.clip(move, -2.0, 2.0)
        for _ in range(HALVINGS):
            trial = np.clip(sizes * np.exp(move), LEAST_SIZE, LARGEST_SIZE)
            improved = value(trial)
            worse = ~(improved >= best)
            if not worse.any():
                break
            move = np.where(worse, 0.5 * move, move)
        sizes, best = np.where(worse, sizes, trial), np.where(worse, best, improved)
        if (np.abs(move) < 1e-6).all():
            break
    return np.asarray(sizes)


class NegativeBinomial(DensityEmission):
    """Counts, with a mean and a size of each state."""

    name: ClassVar[str] = "negative-binomial"
    density: ClassVar[type] = NegativeBinomialDensity
    density_record: ClassVar[Record] = Record(
        NegativeBinomialDensity,
        Field("means", ArrayField("group column", within(LEAST_MEAN, LARGEST_MEAN))),
        Field("sizes", ArrayField("group column", within(LEAST_SIZE, LARGEST_SIZE))),
    )

    def read(self, X: Any, lengths: Any, known: Any = None, unknown: str = "error") -> Series:
        """Sequences of counts."""
        series = super().read(X, lengths, known, unknown)
        check_counts(series.values, self.name)
        return series

    def rows(self, values: Array, settings: HMMSettings) -> NegativeBinomialRows:
        """Counts to learn from."""
        return NegativeBinomialRows(values, strength_of(settings))
