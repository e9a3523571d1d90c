"""Multinomial emissions: rows of counts whose totals are given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tacit.core.files.fields import Array as ArrayField
from tacit.core.files.fields import Field, Record
from tacit.core.files.header_values import flag, integer
from tacit.core.files.ranges import probabilities
from tacit.errors import DataError, NotAvailableError
from tacit.sequences.emissions.density_emission import (
    DensityEmission,
    check_counts,
    column_names,
    count_quantiles,
    strength_of,
)
from tacit.sequences.model.emission_chain import EmissionChain, masked_rows

if TYPE_CHECKING:
    from tacit.sequences.data.number_sequences import Series
    from tacit.sequences.learn.hmm_task import HMMSettings

Array = NDArray[np.float64]

MOST_TRIALS = 2**53
_LEAST = 1e-300


@dataclass(frozen=True, eq=False)
class MultinomialDensity:
    """Probabilities of the columns in each state."""

    kind: ClassVar[str] = "multinomial"
    arguments: ClassVar[dict[str, Any]] = {}

    probabilities: Array  # (state, column)
    n_trials: int  # the total of a row where it is not given: the median of all
    same_totals: bool = False  # whether all rows have this total

    @property
    def n_states(self) -> int:
        """Number of densities."""
        return len(self.probabilities)

    @property
    def n_columns(self) -> int:
        """Counts of a row."""
        return int(self.probabilities.shape[1])

    @property
    def n_parameters(self) -> int:
        """Free parameters."""
        return int(self.probabilities.size) - self.n_states

    def log_likelihoods(self, values: Array) -> Array:
        """(position, state) given the totals; where counts are missing, that of the others."""
        from scipy.special import gammaln

        known = ~np.isnan(values)
        counts = np.where(known, values, 0.0)
        constants = gammaln(counts.sum(axis=1) + 1) - gammaln(counts + 1).sum(axis=1)
        return np.asarray(self.logs(counts, known) + constants[:, None])

    def logs(self, counts: Array, known: NDArray[np.bool_]) -> Array:
        """(position, state) without factorials, of counts with zeros where they are missing."""
        logs = counts @ np.log(np.maximum(self.probabilities.T, _LEAST))
        partly = ~known.all(axis=1)
        if partly.any():
            masses = np.maximum(known[partly] @ self.probabilities.T, _LEAST)
            logs[partly] -= counts[partly].sum(axis=1, keepdims=True) * np.log(masses)
        return np.asarray(logs)

    def ordered(self, order: NDArray[np.integer]) -> MultinomialDensity:
        """The densities of some states."""
        return replace(self, probabilities=self.probabilities[order])

    @property
    def flat(self) -> Array:
        """The probabilities."""
        return self.probabilities.ravel()

    def of_flat(self, values: Array) -> MultinomialDensity:
        """Rows brought to sum one."""
        rows = values.reshape(self.probabilities.shape)
        return replace(self, probabilities=masked_rows(rows, np.ones(rows.shape, bool)))

    def masses(self, visits: Array) -> Array:
        """Expected counts."""
        return np.asarray((self.n_trials * visits[:, None] * self.probabilities).ravel())

    def sample(self, states: NDArray[np.int32], rng: np.random.Generator) -> Array:
        """Rows of `n_trials` counts."""
        rows = rng.multinomial(self.n_trials, self.probabilities[states])
        return np.asarray(rows, dtype=np.float64)

    @property
    def means(self) -> Array:
        """(state, column) of rows of `n_trials`."""
        return self.n_trials * self.probabilities

    def expectation(self, weights: Array) -> Array:
        """(row, column) means of mixtures."""
        return np.asarray(weights @ self.means)

    def densities(self, column: int, grid: Array) -> Array:
        """(state, grid point) probabilities of counts of `n_trials`; zero between them."""
        from scipy.stats import binom

        return np.asarray(binom.pmf(grid, self.n_trials, self.probabilities[:, column, None]))

    def quantiles(self, weights: Array, levels: Array) -> Array:
        """(row, column, level) of rows of `n_trials`."""
        high = np.full(len(levels), float(self.n_trials))
        columns = [
            count_quantiles(partial(_below, self.n_trials, probs), high, weights, levels)
            for probs in self.probabilities.T
        ]
        return np.stack(columns, axis=1)

    def describe(self, labels: Sequence[str], most: int) -> list[list[str]]:
        """The most likely columns."""
        names = [name or "x " for name in column_names(labels)]
        orders = np.argsort(-self.probabilities, axis=1, kind="stable")[:, :most]
        return [
            [f"{names[column]}{100 * row[column]:.0f}%" for column in order]
            for row, order in zip(self.probabilities, orders.tolist(), strict=True)
        ]

    @property
    def attributes(self) -> dict[str, Any]:
        """Probabilities (state, column), and the usual total."""
        return {"emissions_": self.probabilities, "n_trials_": self.n_trials}


def _below(n_trials: int, probs: Array, counts: Array) -> Array:
    """(row, level, state) P(count at most so many)."""
    from scipy.stats import binom

    return np.asarray(binom.cdf(counts[:, :, None], n_trials, probs))


def _density(probabilities: Array, n_trials: int, same_totals: bool | None) -> MultinomialDensity:
    """What a file holds; earlier ones do not say whether all totals were the same."""
    return MultinomialDensity(probabilities, n_trials, bool(same_totals))


class MultinomialRows:
    """Rows of counts to learn from; the prior are pseudo-counts in proportion to those of all rows.

    Parameters
    ----------
    values : (position, column)
        NaN: missing.
    strength : float
        Pseudo-counts of each state.
    overall : (column,), optional
        Probabilities of the columns in the prior; by default those of all rows.
    """

    def __init__(self, values: Array, strength: float, overall: Array | None = None) -> None:
        self.values, self.strength = values, strength
        self.known = ~np.isnan(values)
        self.counts = np.where(self.known, values, 0.0)
        self.totals = self.counts.sum(axis=1)
        if overall is None:
            overall = self.counts.sum(axis=0) + 1e-3
            overall = overall / overall.sum()
        self.overall = overall
        complete = self.totals[self.known.all(axis=1)]
        self.n_trials = int(np.median(complete)) if len(complete) else 1
        self.same_totals = len(complete) > 0 and bool((complete == self.n_trials).all())
        self._log_constant: float | None = None

    @property
    def features(self) -> Array:
        """Square roots of relative counts."""
        return np.asarray(np.sqrt(self.values / np.maximum(self.totals, 1.0)[:, None]))

    @property
    def log_constant(self) -> float:
        """Of the factorials."""
        from scipy.special import gammaln

        if self._log_constant is None:
            factorials = gammaln(self.totals + 1) - gammaln(self.counts + 1).sum(axis=1)
            self._log_constant = float(factorials.sum())
        return self._log_constant

    def log_likelihoods(self, density: MultinomialDensity) -> Array:
        """(position, state) without factorials."""
        return density.logs(self.counts, self.known)

    def maximised(
        self, posterior: Array, density: MultinomialDensity | None = None
    ) -> MultinomialDensity:
        """Relative counts; missing ones are replaced by their expectation given the others."""
        strength = self.strength if density is not None else max(self.strength, 1.0)
        sums = posterior.T @ self.counts
        partly = ~self.known.all(axis=1)
        if density is not None and partly.any():
            masses = np.maximum(self.known[partly] @ density.probabilities.T, _LEAST)
            ratios = posterior[partly] * self.totals[partly, None] / masses
            sums = sums + (ratios.T @ ~self.known[partly]) * density.probabilities
        sums = sums + strength * self.overall
        rows = masked_rows(sums, np.ones(sums.shape, bool))
        return MultinomialDensity(rows, self.n_trials)

    def log_prior(self, density: MultinomialDensity) -> float:
        """Dirichlet densities."""
        logs = np.log(np.maximum(density.probabilities, _LEAST))
        return self.strength * float((logs @ self.overall).sum())

    def taken(self, places: NDArray[np.integer]) -> MultinomialRows:
        """Some of the rows."""
        return MultinomialRows(self.values[places], self.strength, self.overall)

    def finished(self, density: MultinomialDensity) -> MultinomialDensity:
        """The same, with the usual total of all rows."""
        return MultinomialDensity(density.probabilities, self.n_trials, self.same_totals)


class Multinomial(DensityEmission):
    """Rows of counts with given totals, with probabilities of the columns in each state."""

    name: ClassVar[str] = "multinomial"
    density: ClassVar[type] = MultinomialDensity
    density_record: ClassVar[Record] = Record(
        MultinomialDensity,
        Field("probabilities", ArrayField("group column", probabilities)),
        Field("n_trials", integer(0, MOST_TRIALS)),
        Field("same_totals", flag(), optional=True),
        make=_density,
    )

    def read(self, X: Any, lengths: Any, known: Any = None, unknown: str = "error") -> Series:
        """Sequences of rows of counts."""
        series = super().read(X, lengths, known, unknown)
        check_counts(series.values, self.name)
        return series

    def can_fill(self, parameters: EmissionChain) -> bool:
        """Where the number of trials is known."""
        return bool(self.emitted(parameters).same_totals)

    def fill(self, parameters: EmissionChain, rows: Array, posterior: Array) -> Array:
        """What a row lacks to the number of trials, in proportion to the probabilities of what is missing."""
        density: MultinomialDensity = self.emitted(parameters)
        gaps = np.flatnonzero(np.isnan(rows).any(axis=1))
        if not density.same_totals:
            raise NotAvailableError(
                "impute would need to know how much of a row's total is missing, and rows in training had "
                "different totals; posterior and emissions_ tell the proportions"
            )
        missing = np.isnan(rows[gaps])
        lacking = density.n_trials - np.where(missing, 0.0, rows[gaps]).sum(axis=1)
        if (lacking < 0).any():
            place = int(gaps[int((lacking < 0).argmax())])
            raise DataError(
                f"the counts of row {place} sum to {np.nansum(rows[place]):g}, more than the "
                f"{density.n_trials} trials of each row, so nothing can be missing there"
            )
        masses = np.maximum(missing @ density.probabilities.T, _LEAST)  # (row, state)
        means = (posterior[gaps] / masses) @ density.probabilities * lacking[:, None]
        means[~(posterior[gaps].sum(axis=1) > 0)] = np.nan
        filled = rows.copy()
        filled[gaps] = np.where(missing, means, rows[gaps])
        return filled

    def rows(self, values: Array, settings: HMMSettings) -> MultinomialRows:
        """Counts to learn from."""
        return MultinomialRows(values, strength_of(settings))

    def to_hmmlearn(self, parameters: EmissionChain, **arguments: Any) -> Any:
        """A ``MultinomialHMM``."""
        from hmmlearn.hmm import MultinomialHMM

        density: MultinomialDensity = self.emitted(parameters)
        model = MultinomialHMM(n_trials=density.n_trials, **arguments)
        model.n_features = density.n_columns
        model.emissionprob_ = density.probabilities.copy()
        return model

    def from_hmmlearn(self, model: Any, initial: Array, transitions: Array) -> EmissionChain | None:
        """Of a ``MultinomialHMM``."""
        from tacit.sequences.files.hmmlearn import probability_rows

        if not hasattr(model, "emissionprob_") or not hasattr(model, "n_trials"):
            return None
        totals = np.atleast_1d(1 if model.n_trials is None else model.n_trials)
        n_trials, same = int(np.median(totals)), bool((totals == totals[0]).all())
        rows = probability_rows(model.emissionprob_, "emissionprob_")
        return EmissionChain(initial, transitions, MultinomialDensity(rows, n_trials, same))
