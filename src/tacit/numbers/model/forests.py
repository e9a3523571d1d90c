"""Missing cells predicted by forests of extremely randomised trees, one for each column.

A latent tree with few states sees what rows have in common; forests see sharp steps and rows that nearly
repeat each other. A forest is grown from the rows that have its column, with their own gaps filled, and it is
grown when it is first asked for: files hold the rows, not the trees.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.input.mixed_table import MixedTable

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
# By column: (row,) means of numbers, (row, category) probabilities of categories.
Predictions = Mapping[int, Array]

N_TREES = 50
LARGEST_SEED = 2**32 - 1  # that scikit-learn takes
N_PASSES = 3
# Columns of more categories are one feature, their codes; those of fewer have an indicator for each.
MOST_INDICATORS = 12
# Of more features than this a part is tried at each split, so that the work of a forest stays linear in them.
MOST_TRIED = 30
_FARTHEST = 1e6  # standard deviations


@dataclass(frozen=True, eq=False)
class Forests:
    """Forests of all columns, averaged with another model's predictions.

    Parameters
    ----------
    table : MixedTable
        The rows that forests are grown from, with all gaps filled.
    observed : (row, column) bool
        Which of their cells were observed.
    shares : (column,) float64
        The weight of a column's forest in the average.
    seed : int
        Of the trees.
    """

    table: MixedTable
    observed: Flags
    shares: Array
    seed: int
    _grown: dict[int, Any] = field(default_factory=dict, init=False, repr=False)

    def refined(
        self, table: MixedTable, start: Predictions, n_passes: int = N_PASSES
    ) -> dict[int, Array]:
        """Predictions of the missing cells, by column, averaged with those of the other model.

        Parameters
        ----------
        table : MixedTable
            Rows with gaps.
        start : Predictions
            What the other model says, of every column with gaps.
        n_passes : int
            See `predictions`.
        """
        if not (self.shares > 0).any():
            return dict(start)
        forests = self.predictions(table, start, n_passes)
        return {
            column: (1.0 - self.shares[column]) * values + self.shares[column] * forests[column]
            for column, values in start.items()
        }

    def predictions(
        self, table: MixedTable, start: Predictions, n_passes: int = N_PASSES
    ) -> dict[int, Array]:
        """What forests say of the missing cells, by column.

        Each column in turn is predicted by its forest from all others, whose gaps are filled by the last
        predictions.

        Parameters
        ----------
        table, start
            See `refined`.
        n_passes : int
            How often all columns are gone through.
        """
        # Averaged with another model only at the end: averages within the passes are no better.
        now = {column: np.array(values) for column, values in start.items()}
        missing, grow = table.missing, np.any(self.observed, axis=0).tolist()
        columns = sorted(
            (column for column in start if grow[column] and missing[:, column].any()),
            key=lambda column: int(missing[:, column].sum()),
        )
        filled = filled_table(table, now)
        for _ in range(n_passes):
            for column in columns:
                rows = missing[:, column]
                now[column][rows] = self._predicted(column, filled.take(rows))
                filled = filled_table(table, now)
        return now

    def _predicted(self, column: int, rows: MixedTable) -> Array:
        """What the forest of a column says of rows without gaps: (row,) means, or (row, category)."""
        forest = self._forest(column)
        features = self._features(rows, column)
        if column in self.table.schema.continuous:
            return np.asarray(forest.predict(features), dtype=np.float64)
        probabilities = np.zeros((rows.n_rows, self.table.schema.cards[column]))
        probabilities[:, forest.classes_] = forest.predict_proba(features)
        return probabilities

    def _features(self, table: MixedTable, without: int) -> NDArray[np.float32]:
        """(row, feature) All columns but one as numbers: categories are indicators, many are codes.

        Numbers are standardised first, because trees know them to seven digits only.
        """
        schema, (mean, scale) = table.schema, self._scale
        blocks = []
        for column in range(len(schema)):
            if column == without:
                continue
            values, card = table.column(column), schema.cards[column]
            is_nominal = 2 < card <= MOST_INDICATORS and schema.columns[column].kind != "ordered"
            if column in schema.continuous:
                stored = schema.stored[column]
                standard = (values - mean[stored]) / scale[stored]
                blocks.append(np.clip(standard, -_FARTHEST, _FARTHEST)[:, None])
            else:
                codes = values[:, None]
                blocks.append(codes == np.arange(card) if is_nominal else codes)
        return np.concatenate(blocks, axis=1, dtype=np.float32, casting="unsafe")

    @cached_property
    def _scale(self) -> tuple[Array, Array]:
        """(column of numbers,) Means and standard deviations."""
        deviations = self.table.numbers.std(axis=0)
        return self.table.numbers.mean(axis=0), np.where(deviations > 0, deviations, 1.0)

    def _forest(self, column: int) -> Any:
        if column not in self._grown:
            from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor

            rows = np.flatnonzero(self.observed[:, column])
            known = self.table.take(rows)
            features = self._features(known, column)
            is_number = column in self.table.schema.continuous
            kind = ExtraTreesRegressor if is_number else ExtraTreesClassifier
            forest = kind(
                N_TREES,
                max_features=min(1.0, MOST_TRIED / features.shape[1]),
                min_samples_leaf=1 if is_number else 2,
                random_state=self.seed,
            )
            self._grown[column] = forest.fit(features, known.column(column))
        return self._grown[column]


def filled_table(table: MixedTable, predictions: Predictions) -> MixedTable:
    """The table with missing cells filled: by means of numbers, and by the most probable categories."""
    continuous = table.schema.continuous
    return table.filled(
        {
            column: values if column in continuous else values.argmax(axis=1)
            for column, values in predictions.items()
        }
    )
