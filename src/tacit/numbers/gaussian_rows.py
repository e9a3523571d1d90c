"""Rows of numbers and categories as evidence about a fitted Gaussian."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tacit.numbers.model_files import GAUSSIAN_TREE_FILE
from tacit.numbers.query.arguments import category_place
from tacit.numbers.query.normal_scores import category_probabilities, log_densities
from tacit.trees.table_model import Given, Soft, TableModel

if TYPE_CHECKING:
    from tacit.core.input.mixed_table import MixedSchema, MixedTable
    from tacit.numbers.data.normal_scores import Scores
    from tacit.numbers.model.gaussian import Gaussian
    from tacit.numbers.query.cases import Cases

Array = NDArray[np.float64]


class GaussianRows(TableModel):
    """A fitted Gaussian over the scores of columns."""

    abilities: ClassVar[frozenset[str]] = TableModel.abilities | {"numbers"}
    schema_: MixedSchema
    scores_: Scores
    gaussian_: Gaussian
    _file = GAUSSIAN_TREE_FILE

    def _table(self, X: Any) -> MixedTable:
        from tacit.core.input.read_mixed_table import encode_mixed

        self._check_fitted()
        self._check_policies()
        return encode_mixed(X, self.schema_, unknown=self.unknown, partial=True)

    def _given_rows(self, given: Given | None) -> tuple[MixedTable, dict[int, Array]]:
        from tacit.numbers.query.given import given_rows

        self._check_fitted()
        self._check_policies()
        return given_rows(self.schema_, given, unknown=self.unknown, with_intervals=False)

    def _cases(self, X: Any, soft: Soft | None, without: Sequence[int] = ()) -> Cases:
        from tacit.trees.query.given import soft_likelihoods

        return self._cases_of(self._table(X), soft_likelihoods(soft, self.schema_), without)

    def _cases_of(
        self, table: MixedTable, soft: dict[int, Array], without: Sequence[int] = ()
    ) -> Cases:
        """The completions of cells with likelihoods, without the cells of some columns."""
        from tacit.numbers.data.masking import without_columns
        from tacit.numbers.query.cases import Cases

        for place in soft:
            category_place(self.schema_, self.schema_.labels[place])
        table = without_columns(table, without)
        likelihoods = {place: soft[place] for place in soft if place not in without}
        return Cases.of(table, likelihoods)

    def _scored(self, cases: Cases) -> tuple[Cases, Array]:
        """Cases, and the log-density of each."""
        with self._threads():
            return cases, log_densities(self.gaussian_, self.scores_, cases.table)

    def _category_table(self, cases: Cases, place: int) -> Array:
        """(row, category) P(category | the other cells of the row)."""
        coordinates = self.scores_.coordinates(cases.table)
        with self._threads():
            chances = category_probabilities(self.gaussian_, self.scores_, place, coordinates)
        if cases.table.n_rows == cases.n_rows:
            return chances
        weights = cases.weights(self._scored(cases)[1])
        return cases.mean(weights[:, None] * chances)

    def _joint(self, cases: Cases, places: Sequence[int]) -> Array:
        """(row, category of the first target, ...) by the chain rule; the targets' cells are missing."""
        table, weights = cases.table, np.ones(cases.table.n_rows)
        if table.n_rows > cases.n_rows:
            weights = cases.weights(self._scored(cases)[1])
        for place in places:
            card, n = self.schema_.cards[place], table.n_rows
            coordinates = self.scores_.coordinates(table)
            with self._threads():
                chances = category_probabilities(self.gaussian_, self.scores_, place, coordinates)
            weights = (weights[:, None] * chances).ravel()
            codes = np.tile(np.arange(card), n)
            table = table.take(np.repeat(np.arange(n), card)).filled({place: codes})
        shape = [self.schema_.cards[place] for place in places]
        return cases.mean(weights.reshape(len(cases.row), *shape))

    def _conditional(self, table: MixedTable, place: int) -> tuple[Array, Array]:
        """(row,) mean and standard deviation of the score of a column of numbers."""
        from tacit.numbers.query.gaussian import conditionals

        with self._threads():
            rows = self.scores_.coordinates(table)
            return conditionals(self.gaussian_, rows, self.scores_.starts[place])
