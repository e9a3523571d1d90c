"""Cross-validation by masking: cells masked at random, and weights of predictors with the smallest loss."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from tacit.core.input.mixed_table import MixedTable

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
# By column: (row,) means of numbers, (row, category) probabilities of categories, for missing cells at least.
Predictions = Mapping[int, Array]

# The fraction of cells masked in a row is drawn between these.
MASKED_FRACTIONS = (0.1, 0.5)
# The mean loss of all columns enters that of each with the weight of so many cells.
POOLED_CELLS = 30.0
_MIN_PROBABILITY = 1e-6
_GRID_STEPS = 20  # of the grid of weights


def masked_cells(rows: MixedTable, rng: np.random.Generator) -> Flags:
    """(row, column) Observed cells to mask, drawn at random; some cell of each row stays."""
    fractions = rng.uniform(*MASKED_FRACTIONS, size=(rows.n_rows, 1))
    masked = rng.random(rows.missing.shape) < fractions
    masked &= ~rows.missing
    masked[(masked | rows.missing).all(axis=1)] = False
    return np.asarray(masked)


def with_masked(rows: MixedTable, masked: Flags) -> MixedTable:
    """The rows with the masked cells missing."""
    numbers, codes = rows.numbers.copy(order="F"), rows.codes.copy(order="F")
    numbers[masked[:, rows.schema.continuous]] = np.nan
    codes[masked[:, rows.schema.categorical]] = -1
    return MixedTable(rows.schema, numbers, codes, rows.weights)


def without_column(rows: MixedTable, column: int) -> MixedTable:
    """The rows with all cells of a column missing."""
    return without_columns(rows, [column])


def without_columns(rows: MixedTable, columns: Sequence[int]) -> MixedTable:
    """The rows with all cells of some columns missing."""
    masked = np.zeros((rows.n_rows, len(rows.schema)), dtype=np.bool_)
    masked[:, list(columns)] = True
    return with_masked(rows, masked)


@dataclass(frozen=True, eq=False)
class PredictorWeights:
    """The weights of some predictors in each column, and their loss."""

    predictors: tuple[int, ...]
    weights: Array  # (column, predictor)  rows sum to one
    loss: float  # sum of squared errors and log-losses over all cells


@dataclass(eq=False)
class MaskedCells:
    """Results of several predictors on masked cells: errors of numbers, probabilities of true categories."""

    continuous: tuple[int, ...]
    scale: Array  # (column,)  standard deviations of the columns of numbers
    results: list[list[Array]]  # by column: (cell, predictor)
    cell_weights: list[list[Array]]  # by column: (cell,)

    @classmethod
    def of(cls, table: MixedTable) -> MaskedCells:
        """No cells yet, for the columns of a table."""
        scale = np.ones(len(table.schema))
        for column in table.schema.continuous:
            numbers = table.column(column)
            known = numbers[~np.isnan(numbers)]
            deviation = float(known.std()) if len(known) else 0.0
            scale[column] = deviation if deviation > 0 else 1.0
        return cls(table.schema.continuous, scale, [[] for _ in scale], [[] for _ in scale])

    def add(
        self, rows: MixedTable, masked: Flags, predictions: Sequence[Predictions], weight: float
    ) -> None:
        """Record the predictions of masked cells.

        Parameters
        ----------
        rows : MixedTable
            With nothing masked.
        masked : (row, column)
        predictions : sequence of Predictions
            Of each predictor; NaN is replaced by what the first one predicts.
        weight : float
            Of each cell; cells that are masked several times count as one.
        """
        for column in range(len(self.scale)):
            is_masked = masked[:, column]
            if not is_masked.any():  # nothing is predicted of a column without gaps
                self.results[column].append(np.empty((0, len(predictions))))
                self.cell_weights[column].append(np.empty(0))
                continue
            truth = rows.column(column)[is_masked]
            default = predictions[0][column][is_masked]
            results = []
            for by_column in predictions:
                values = by_column[column][is_masked]
                values = np.where(np.isnan(values), default, values)
                if column in self.continuous:
                    results.append((values - truth) / self.scale[column])
                else:
                    results.append(values[np.arange(len(truth)), truth])
            self.results[column].append(np.stack(results, axis=1))
            self.cell_weights[column].append(np.full(len(truth), weight))

    def best_weights(
        self, predictors: Sequence[int], pooled_cells: float = POOLED_CELLS
    ) -> PredictorWeights:
        """The weights of some predictors with the smallest loss in each column.

        The mean loss of all columns of the same kind is added, times `pooled_cells`, because the cells of one
        may be few.
        """
        grid = _simplex_grid(len(predictors))
        losses, n_cells = self._losses(predictors, grid)
        pooled = losses.copy()
        numbers = np.isin(np.arange(len(self.scale)), self.continuous)
        for kind in (numbers, ~numbers):
            if (total := n_cells[kind].sum()) > 0:
                pooled[kind] += pooled_cells * losses[kind].sum(axis=0) / total
        best = np.argmin(pooled, axis=1)
        loss = float(losses[np.arange(len(best)), best].sum())
        return PredictorWeights(tuple(predictors), grid[best], loss)

    def _losses(self, predictors: Sequence[int], grid: Array) -> tuple[Array, Array]:
        """(column, grid point) Losses at weights (grid point, predictor); (column,) number of cells."""
        losses, n_cells = np.zeros((len(self.scale), len(grid))), np.zeros(len(self.scale))
        for column, parts in enumerate(self.results):
            results = np.concatenate(parts)[:, predictors]
            weights = np.concatenate(self.cell_weights[column])
            n_cells[column] = weights.sum()
            if column in self.continuous:
                products = (results * weights[:, None]).T @ results
                losses[column] = np.einsum("ci,ij,cj->c", grid, products, grid)
            else:
                probabilities = np.maximum(results @ grid.T, _MIN_PROBABILITY)
                losses[column] = -(weights @ np.log(probabilities))
        return losses, n_cells


def _simplex_grid(n: int) -> Array:
    """(grid point, n) All multiples of a step that are not negative and sum to one."""
    points = [
        steps
        for steps in product(range(_GRID_STEPS + 1), repeat=n - 1)
        if sum(steps) <= _GRID_STEPS
    ]
    grid = np.array(points, dtype=np.float64).reshape(len(points), n - 1)
    return np.column_stack([_GRID_STEPS - grid.sum(axis=1), grid]) / _GRID_STEPS
