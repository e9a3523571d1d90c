"""Likelihoods of categories in a Gaussian tree: a row becomes one case for each possible completion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from tacit.core.input.mixed_table import MixedTable
from tacit.errors import DataError, TooExpensiveError

Array = NDArray[np.float64]

# Completions of one row.
MAX_CASES = 4096


@dataclass(frozen=True, eq=False)
class Cases:
    """Completions of rows, one after the other."""

    table: MixedTable
    row: NDArray[np.int64]  # (case,)  the row that each completes; ascending
    log_likelihood: Array  # (case,)  of the completed cells
    n_rows: int

    @classmethod
    def of(cls, table: MixedTable, soft: Mapping[int, Array]) -> Cases:
        """The completions of the missing cells of which there are likelihoods.

        Parameters
        ----------
        table : MixedTable
        soft : mapping of column of categories to (row, category) likelihoods
            Used where the cell is missing.

        Raises
        ------
        DataError
            Likelihoods are negative, all zero, or not one for each row and category.
        TooExpensiveError
            A row has too many completions.
        """
        n = table.n_rows
        for place, likelihoods in soft.items():
            _check(table, place, likelihoods)
        open_cells = {place: table.column(place) < 0 for place in soft}
        open_cells = {place: cells for place, cells in open_cells.items() if cells.any()}
        if not open_cells:
            return cls(table, np.arange(n), np.zeros(n), n)
        counts = np.ones(n)
        for place, cells in open_cells.items():
            counts[cells] *= table.schema.cards[place]
        if counts.max(initial=0) > MAX_CASES:
            raise TooExpensiveError(
                f"a row has {counts.max():.3g} completions of cells with likelihoods, more than "
                f"{MAX_CASES}; give likelihoods of fewer columns"
            )
        row, columns, logs = [], {place: [] for place in open_cells}, []  # type: ignore[var-annotated]
        for i in range(n):
            uncertain = [place for place, cells in open_cells.items() if cells[i]]
            for codes in product(*(range(table.schema.cards[place]) for place in uncertain)):
                values = [
                    soft[place][i, code] for place, code in zip(uncertain, codes, strict=True)
                ]
                if not all(values):
                    continue
                chosen = dict(zip(uncertain, codes, strict=True))
                for place, column in columns.items():
                    column.append(chosen.get(place, -1))
                row.append(i)
                logs.append(float(np.log(values).sum()))
        order = np.array(row, dtype=np.int64)
        completed = table.take(order).filled(
            {place: np.array(column) for place, column in columns.items()}
        )
        return cls(completed, order, np.array(logs), n)

    def weights(self, log_density: Array) -> Array:
        """(case,) P(case | row) from the log-densities of the completed rows; they sum to one in each row."""
        joint = log_density + self.log_likelihood
        return np.asarray(np.exp(joint - self.total(log_density)[self.row]))

    def total(self, log_density: Array) -> Array:
        """(row,) log of the sum of densities times likelihoods."""
        joint = log_density + self.log_likelihood
        if np.array_equal(self.row, np.arange(self.n_rows)):  # one case for each row
            return np.asarray(joint)
        top = np.full(self.n_rows, -np.inf)
        np.maximum.at(top, self.row, joint)
        return np.asarray(top + np.log(self.mean(np.exp(joint - top[self.row]))))

    def mean(self, values: Array) -> Array:
        """(row, ...) sums of (weighted) values over the cases of each row."""
        sums = np.zeros((self.n_rows, *values.shape[1:]))
        np.add.at(sums, self.row, values)
        return sums


def _check(table: MixedTable, place: int, likelihoods: Array) -> None:
    name, shape = table.schema.columns[place].name, (table.n_rows, table.schema.cards[place])
    if likelihoods.shape != shape:
        raise DataError(
            f"likelihoods of column {name!r} have shape {likelihoods.shape}; give one for each row and "
            f"category, {shape}"
        )
    if not (np.isfinite(likelihoods).all() and (likelihoods >= 0).all()):
        raise DataError(f"likelihoods of column {name!r} must be finite and not negative")
    if not likelihoods.any(axis=1).all():
        raise DataError(f"likelihoods of column {name!r} are all zero in a row")
