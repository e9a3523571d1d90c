"""The queries of Gaussian trees."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import NotAvailableError
from tacit.numbers.gaussian_rows import GaussianRows
from tacit.numbers.number_queries import NumberQueries
from tacit.numbers.query.arguments import (
    QUERY_LEVELS,
    number_summary,
)
from tacit.numbers.query.normal_scores import (
    expected_numbers,
    log_densities,
    probabilities_from_means,
)
from tacit.trees.table_model import Given, Soft

Array = NDArray[np.float64]
Function = Callable[[Array], Array]


class GaussianQueries(NumberQueries, GaussianRows):
    """Queries of a fitted Gaussian over scores; missing cells are integrated out everywhere."""

    _infinite_range = True

    @property
    def n_parameters_(self) -> int:
        """Free parameters of means and covariance.

        Of normal scores those of the correlations only: the margins are not parametric, so that `bic` and
        `aic` compare models with the same margins.
        """
        self._check_fitted()
        d = len(self.gaussian_.mean)
        shrinkage = self.diagnostics_.get("shrinkage", 0.0)
        shrunk = isinstance(shrinkage, int | float) and shrinkage > 0
        n_correlations = d * (d - 1) // 2 if shrunk else len(self.topology_.contracted().edges)
        normal = any(margin is not None for margin in self.scores_.margins)
        return n_correlations + (0 if normal else 2 * d)

    # -- densities --------------------------------------------------------------------------------

    def _log_likelihoods(self, X: Any, soft: Soft | None) -> tuple[Array, dict[str, Any]]:
        """Categories count with their probabilities given the numbers and the categories before them."""
        cases, log_density = self._scored(self._cases(X, soft))
        return cases.total(log_density), {}

    def _grid(self, place: int) -> Array:
        column: Any = self.schema_.columns[place]
        reach = 0.1 * (column.high - column.low) or 1.0
        return np.linspace(column.low - reach, column.high + reach, 200)

    def _conditional_densities(
        self, X: Any, place: int, points: Array
    ) -> tuple[Array, dict[str, Any]]:
        mean, scale = self._conditional(self._table(X), place)
        z = (self.scores_.scores(place, points) - mean[:, None]) / scale[:, None]
        log_density = -0.5 * (z**2 + np.log(2 * np.pi)) - np.log(scale[:, None])
        return np.exp(log_density + self.scores_.log_slope(place, points)), {}

    def _expectations(self, X: Any, place: int, function: Function | None) -> Array:
        conditional = self._conditional(self._table(X), place)
        return expected_numbers(self.scores_, place, *conditional, function)

    def _conditional_quantiles(self, X: Any, place: int, levels: Array) -> Array:
        from scipy.special import ndtri

        mean, scale = self._conditional(self._table(X), place)
        return self.scores_.numbers(place, mean[:, None] + scale[:, None] * ndtri(levels))

    # -- categories -------------------------------------------------------------------------------

    def _conditionals(
        self, X: Any, places: Sequence[int], soft: Soft | None, *, in_turn: bool, joint: bool
    ) -> tuple[list[Array], dict[str, Any]]:
        """They are the conditional means of the indicators, clipped and normalised."""
        cases = self._cases(X, soft, without=() if in_turn else places)
        if joint:
            return [self._joint(cases, places)], {}
        tables = [self._category_table(cases, place) for place in places]
        return tables or [np.empty((cases.n_rows, 0))], {}

    def _marginals(self, X: Any, soft: Soft | None) -> dict[Hashable, Array]:
        from tacit.trees.query.given import soft_likelihoods

        table = self._table(X)
        likelihoods = soft_likelihoods(soft, self.schema_)
        answers: dict[Hashable, Array] = {}
        for place in self.schema_.categorical:
            others = {column: likelihoods[column] for column in likelihoods if column != place}
            chances = self._category_table(self._cases_of(table, others), place)
            if place in likelihoods:
                chances = chances * likelihoods[place]
                chances = chances / chances.sum(axis=1, keepdims=True)
            codes = table.column(place)
            observed = codes >= 0
            chances[observed] = codes[observed, None] == np.arange(chances.shape[1])
            answers[self.schema_.labels[place]] = chances
        return answers

    def _joint_given(self, places: Sequence[int], given: Given | None) -> Array:
        table, soft = self._given_rows(given)
        return np.asarray(self._joint(self._cases_of(table, soft, without=places), places)[0])

    def _number_query(self, place: int, given: Given | None) -> dict[Any, float]:
        from tacit.numbers.query.normal_scores import mixture_quantiles

        table, soft = self._given_rows(given)
        cases = self._cases_of(table, soft, without=[place])
        mean, scale = self._conditional(cases.table, place)
        weights = cases.weights(self._scored(cases)[1])
        expected = float(weights @ expected_numbers(self.scores_, place, mean, scale))
        scores = mixture_quantiles(weights, mean, scale, np.array(QUERY_LEVELS))
        return number_summary(expected, self.scores_.numbers(place, scores).tolist())

    # -- rows -------------------------------------------------------------------------------------

    def _impute(self, X: Any, *, median: bool = False) -> Any:
        from tacit.core.input.mixed_table import complete_mixed
        from tacit.numbers.query.gaussian import fill

        table = self._table(X)
        columns: dict[int, NDArray[Any]] = {}
        with self._threads():
            filled = fill(self.gaussian_, self.scores_.coordinates(table), variances=True)
            for place in np.flatnonzero(table.missing.any(axis=0)).tolist():
                if place in self.schema_.categorical:
                    means = filled.values
                    chances = probabilities_from_means(self.gaussian_, self.scores_, place, means)
                    columns[place] = chances.argmax(axis=1)
                    continue
                missing, start = table.missing[:, place], self.scores_.starts[place]
                mean, scale = (
                    filled.values[missing, start],
                    np.sqrt(filled.variances[missing, start]),
                )
                columns[place] = np.full(table.n_rows, np.nan)
                if median:
                    columns[place][missing] = self.scores_.numbers(place, mean)
                else:
                    columns[place][missing] = expected_numbers(self.scores_, place, mean, scale)
        return complete_mixed(X, table.filled(columns))

    def _most_likely(self, X: Any) -> Any:
        # Completions of the categories are compared by their density with the numbers at their modes.
        from tacit.core.input.mixed_table import complete_mixed
        from tacit.numbers.query.gaussian import fill

        table = self._table(X)
        cards = self.schema_.cards
        soft = {j: np.ones((table.n_rows, cards[j])) for j in self.schema_.categorical}
        cases = self._cases_of(table, soft)
        with self._threads():
            scores = fill(self.gaussian_, self.scores_.coordinates(cases.table)).values
            columns: dict[int, NDArray[Any]] = {
                place: self.scores_.numbers(place, scores[:, self.scores_.starts[place]])
                for place in self.schema_.continuous
            }
            filled = cases.table.filled(columns)
            log_density = log_densities(self.gaussian_, self.scores_, filled)
            log_density = log_density - self.scores_.log_slopes(filled)
        # Stable order by row, then by density: the first case of each row is the best.
        order = np.lexsort((-log_density, cases.row))
        best = order[np.searchsorted(cases.row[order], np.arange(table.n_rows))]
        return complete_mixed(X, filled.take(best))

    def _posterior(self, X: Any, soft: Soft | None) -> dict[str, Array]:
        raise NotAvailableError(
            "the hidden nodes of a Gaussian tree are numbers without states; fit a KernelTree for "
            "posteriors of hidden states"
        )

    def _sample(
        self, n_samples: int, given: Given | None, rng: np.random.Generator, like: Any
    ) -> Any:
        from tacit.core.input.mixed_table import decode_mixed
        from tacit.numbers.query.normal_scores import sampled_table

        table, soft = self._given_rows(given)
        rows = np.zeros(n_samples, dtype=np.int64)
        if soft:
            cases, log_density = self._scored(self._cases_of(table, soft))
            table = cases.table
            rows = rng.choice(table.n_rows, n_samples, p=cases.weights(log_density))
        with self._threads():
            drawn = sampled_table(self.gaussian_, self.scores_, table.take(rows), rng)
        return decode_mixed(drawn, like=like)

    def _predictions(self, X: Any, targets: Sequence[Hashable], *, in_turn: bool) -> list[Any]:
        from tacit.core.input.decode import column_values

        places = [self.schema_.index(target) for target in targets]
        cases = self._cases(X, None, without=() if in_turn else places)
        values: list[Any] = []
        for place in places:
            if place in self.schema_.continuous:
                conditional = self._conditional(cases.table, place)
                values.append(expected_numbers(self.scores_, place, *conditional))
            else:
                codes = self._category_table(cases, place).argmax(axis=1)
                values.append(column_values(self.schema_.columns[place], codes))
        return values
