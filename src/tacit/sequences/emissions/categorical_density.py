"""Probabilities of symbols in each state, for the generic chain."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tacit.core.files.fields import Array as ArrayField
from tacit.core.files.fields import Field, Record
from tacit.core.files.header_values import symbols
from tacit.core.files.ranges import probabilities
from tacit.sequences.model.emission_chain import masked_rows

Array = NDArray[np.float64]

MOST_INDICATORS = 16  # more symbols are projected on so many features
_LEAST = 1e-300


@dataclass(frozen=True, eq=False)
class CategoricalDensity:
    """Probabilities of codes, in a single column."""

    kind: ClassVar[str] = "categorical"
    arguments: ClassVar[dict[str, Any]] = {}

    probabilities: Array  # (state, symbol)
    categories: tuple[Hashable, ...] = ()  # the symbols, where the model has no list of its own

    @property
    def n_states(self) -> int:
        """Number of densities."""
        return len(self.probabilities)

    @property
    def n_columns(self) -> int:
        """One."""
        return 1

    @property
    def n_parameters(self) -> int:
        """Free parameters."""
        return int(self.probabilities.size) - self.n_states

    @property
    def _logs(self) -> Array:
        """(symbol + 1, state), the last of a missing symbol."""
        with np.errstate(divide="ignore"):
            logs = np.log(self.probabilities.T)
        return np.vstack([logs, np.zeros(self.n_states)])

    def log_likelihoods(self, values: Array) -> Array:
        """(position, state) of codes."""
        return np.asarray(self._logs[codes_of(values)])

    def ordered(self, order: NDArray[np.integer]) -> CategoricalDensity:
        """The densities of some states."""
        return CategoricalDensity(self.probabilities[order], self.categories)

    @property
    def flat(self) -> Array:
        """The probabilities."""
        return self.probabilities.ravel()

    def of_flat(self, values: Array) -> CategoricalDensity:
        """Rows brought to sum one."""
        rows = values.reshape(self.probabilities.shape)
        return CategoricalDensity(masked_rows(rows, np.ones(rows.shape, bool)), self.categories)

    def masses(self, visits: Array) -> Array:
        """Expected counts."""
        return np.asarray((visits[:, None] * self.probabilities).ravel())

    def sample(self, states: NDArray[np.int32], rng: np.random.Generator) -> Array:
        """Codes, as floats."""
        below = np.cumsum(self.probabilities, axis=1)[:, :-1]
        codes = (rng.random(states.shape)[..., None] >= below[states]).sum(axis=-1)
        return np.asarray(codes[..., None], dtype=np.float64)

    @property
    def means(self) -> Array:
        """NaN: symbols have none."""
        return np.full((self.n_states, 1), np.nan)

    def expectation(self, weights: Array) -> Array:
        """(row, column) means of mixtures."""
        return np.asarray(weights @ self.means)

    def densities(self, column: int, grid: Array) -> Array:
        """(state, grid point) probabilities of codes."""
        del column
        is_code = (grid >= 0) & (grid < self.probabilities.shape[1]) & (grid == np.round(grid))
        codes = np.where(is_code, grid, 0).astype(np.int64)
        return np.where(is_code, self.probabilities[:, codes], 0.0)

    def quantiles(self, weights: Array, levels: Array) -> Array:
        """NaN: symbols have none."""
        return np.full((len(weights), 1, len(levels)), np.nan)

    def describe(self, labels: Sequence[str], most: int) -> list[list[str]]:
        """The most likely symbols."""
        names = self.categories or labels
        orders = np.argsort(-self.probabilities, axis=1, kind="stable")[:, :most]
        return [
            [f"{names[code]} {100 * row[code]:.0f}%" for code in order if row[code] >= 0.005]
            for row, order in zip(self.probabilities, orders.tolist(), strict=True)
        ]

    @property
    def attributes(self) -> dict[str, Any]:
        """(state, symbol) probabilities, and the symbols."""
        names = {"categories_": self.categories} if self.categories else {}
        return {"emissions_": self.probabilities, **names}


CATEGORICAL_DENSITY = Record(
    CategoricalDensity,
    Field("probabilities", ArrayField("group category", probabilities)),
    Field("categories", symbols(), sizes={"category": len}),
)


class CategoricalRows:
    """Codes to learn from; the prior are pseudo-counts, spread evenly.

    Parameters
    ----------
    values : (position, 1)
        NaN: missing.
    n_symbols : int
    strength : float
        Pseudo-counts of each state.
    categories : tuple
        The symbols.
    """

    log_constant = 0.0

    def __init__(
        self, values: Array, n_symbols: int, strength: float, categories: tuple[Hashable, ...] = ()
    ) -> None:
        self.values, self.n_symbols, self.strength = values, n_symbols, strength
        self.categories = categories
        self.codes = codes_of(values)

    @property
    def features(self) -> Array:
        """Indicators of the symbols; of many symbols random projections of these."""
        table = np.eye(self.n_symbols)
        if self.n_symbols > MOST_INDICATORS:
            table = np.random.default_rng(0).normal(size=(self.n_symbols, MOST_INDICATORS))
        return np.asarray(np.vstack([table, np.full(table.shape[1], np.nan)])[self.codes])

    @property
    def cells(self) -> NDArray[np.int32]:
        """The codes."""
        return self.codes.astype(np.int32)

    def log_likelihoods(self, density: CategoricalDensity) -> Array:
        """(position, state)."""
        logs = np.log(np.maximum(density.probabilities.T, _LEAST))
        return np.asarray(np.vstack([logs, np.zeros(density.n_states)])[self.codes])

    def maximised(
        self, posterior: Array, density: CategoricalDensity | None = None
    ) -> CategoricalDensity:
        """Relative counts."""
        strength = self.strength if density is not None else max(self.strength, 1.0)
        known = self.codes >= 0
        codes = self.codes[known]
        counts = np.full((posterior.shape[1], self.n_symbols), strength / self.n_symbols)
        for state, column in enumerate(posterior.T):
            counts[state] += np.bincount(codes, column[known], minlength=self.n_symbols)
        return CategoricalDensity(masked_rows(counts, np.ones(counts.shape, bool)), self.categories)

    def log_prior(self, density: CategoricalDensity) -> float:
        """Dirichlet densities."""
        logs = np.log(np.maximum(density.probabilities, _LEAST))
        return self.strength / self.n_symbols * float(logs.sum())

    def taken(self, places: NDArray[np.integer]) -> CategoricalRows:
        """Some of the rows."""
        return CategoricalRows(self.values[places], self.n_symbols, self.strength, self.categories)

    def finished(self, density: CategoricalDensity) -> CategoricalDensity:
        """The same."""
        return density


def codes_of(values: Array) -> NDArray[np.int64]:
    """(position,) codes of a column of floats, -1 where missing."""
    return np.where(np.isnan(values[:, 0]), -1, values[:, 0]).astype(np.int64)
