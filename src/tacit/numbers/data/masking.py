"""Cells that are hidden to see who finds them again, and whom to believe by how well they did."""

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
Told = Mapping[int, Array]

# Of each row a share between these is hidden.
SHARES = (0.1, 0.5)
# All columns together count as so many hidden cells of each.
POOLED_CELLS = 30.0
_LEAST = 1e-6  # probability
_STEPS = 20  # of the grid of weights


def hidden_cells(rows: MixedTable, rng: np.random.Generator) -> Flags:
    """(row, column) Cells that are there and are to be hidden; no row is hidden as a whole."""
    shares = rng.uniform(*SHARES, size=(rows.n_rows, 1))
    hidden = rng.random(rows.missing.shape) < shares
    hidden &= ~rows.missing
    whole = (hidden | rows.missing).all(axis=1)
    hidden[whole] = False
    return np.asarray(hidden)


def without(rows: MixedTable, hidden: Flags) -> MixedTable:
    """The rows with some more of their cells missing."""
    numbers, codes = rows.numbers.copy(order="F"), rows.codes.copy(order="F")
    numbers[hidden[:, rows.schema.continuous]] = np.nan
    codes[hidden[:, rows.schema.categorical]] = -1
    return MixedTable(rows.schema, numbers, codes, rows.weights)


def without_column(rows: MixedTable, column: int) -> MixedTable:
    """The rows with all cells of a column missing."""
    hidden = np.zeros((rows.n_rows, len(rows.schema)), dtype=np.bool_)
    hidden[:, column] = True
    return without(rows, hidden)


@dataclass(frozen=True, eq=False)
class Weighed:
    """How much some of those who answered count."""

    who: tuple[int, ...]
    weights: Array  # (column, one of these)  rows add up to one
    loss: float  # squared errors and log-losses of all cells, added up


@dataclass(eq=False)
class HiddenCells:
    """What everybody said of hidden cells.

    Of numbers by how much they erred, of categories how likely the true one was to them.
    """

    continuous: tuple[int, ...]
    scale: Array  # (column,)  standard deviations of the columns of numbers
    said: list[list[Array]]  # by column: (cell, one who answers)
    worth: list[list[Array]]  # by column: (cell,)

    @classmethod
    def of(cls, table: MixedTable) -> HiddenCells:
        """None yet."""
        n_columns = len(table.schema)
        scale = np.ones(n_columns)
        for column in table.schema.continuous:
            numbers = table.column(column)
            known = numbers[~np.isnan(numbers)]
            spread = float(known.std()) if len(known) else 0.0
            scale[column] = spread if spread > 0 else 1.0
        return cls(table.schema.continuous, scale, [[] for _ in scale], [[] for _ in scale])

    def add(self, rows: MixedTable, hidden: Flags, told: Sequence[Told], worth: float) -> None:
        """Take down what was said of hidden cells.

        Parameters
        ----------
        rows : MixedTable
            With nothing hidden.
        hidden : (row, column)
            The cells that were asked for.
        told : sequence of Told
            Everybody's answers; NaN is taken for what the first one says.
        worth : float
            A cell that is hidden several times is worth no more than one.
        """
        for column in range(len(self.scale)):
            which = hidden[:, column]
            truth = rows.column(column)[which]
            answers = []
            for each in told:
                own = each[column][which]
                own = np.where(np.isnan(own), told[0][column][which], own)
                if column in self.continuous:
                    answers.append((own - truth) / self.scale[column])
                else:
                    answers.append(own[np.arange(len(truth)), truth])
            self.said[column].append(np.stack(answers, axis=1))
            self.worth[column].append(np.full(len(truth), worth))

    def weighed(self, who: Sequence[int]) -> Weighed:
        """The weights of some of those who answered with which each column errs least.

        All columns of a kind have some say in each, because the cells of one may be few.
        """
        grid = _simplex(len(who))
        losses, n_cells = self._losses(who, grid)
        regarded = losses.copy()
        numbers = np.isin(np.arange(len(self.scale)), self.continuous)
        for kind in (numbers, ~numbers):
            if (total := n_cells[kind].sum()) > 0:
                regarded[kind] += POOLED_CELLS * losses[kind].sum(axis=0) / total
        chosen = np.argmin(regarded, axis=1)
        loss = float(losses[np.arange(len(chosen)), chosen].sum())
        return Weighed(tuple(who), grid[chosen], loss)

    def _losses(self, who: Sequence[int], weights: Array) -> tuple[Array, Array]:
        """(column, choice) Losses with weights (choice, one who answers); (column,) number of cells."""
        losses, n_cells = np.zeros((len(self.scale), len(weights))), np.zeros(len(self.scale))
        for column, parts in enumerate(self.said):
            said, worth = np.concatenate(parts)[:, who], np.concatenate(self.worth[column])
            n_cells[column] = worth.sum()
            if column in self.continuous:
                products = (said * worth[:, None]).T @ said
                losses[column] = np.einsum("ci,ij,cj->c", weights, products, weights)
            else:
                losses[column] = -(worth @ np.log(np.maximum(said @ weights.T, _LEAST)))
        return losses, n_cells


def _simplex(n: int) -> Array:
    """(choice, n) All multiples of a step that are not negative and add up to one."""
    others = [each for each in product(range(_STEPS + 1), repeat=n - 1) if sum(each) <= _STEPS]
    some = np.array(others, dtype=np.float64).reshape(len(others), n - 1)
    return np.column_stack([_STEPS - some.sum(axis=1), some]) / _STEPS
