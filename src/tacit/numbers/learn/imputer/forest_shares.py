"""How much forests count beside a latent tree, learnt from observed cells that are hidden once more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.input.mixed_table import MixedTable
from tacit.numbers.data.masking import MaskedCells, with_masked
from tacit.numbers.model.forests import LARGEST_SEED, N_PASSES, Forests, Predictions, filled_table

Array = NDArray[np.float64]
Predict = Callable[[MixedTable], Predictions]

# The fraction of observed cells that are hidden.
HIDDEN = 0.1
_STREAM = 2017  # any number
# What all columns together show counts like so many cells of each column.
POOLED_CELLS = 100.0
# Fewer rows or columns have too few cells to compare by.
MIN_ROWS, MIN_COLUMNS = 40, 2
# The budget of work: cells that one forest is grown from, and columns that have one.
MOST_CELLS, MOST_COLUMNS = 120_000, 100
# Of a column in a sample of the rows.
LEAST_CELLS = 5


def forests_beside(
    table: MixedTable, predict: Predict, fit: Callable[[MixedTable], Predict], seed: int
) -> tuple[Forests | None, dict[str, Any]]:
    """Forests of the columns of a table and their shares, and a record of the comparison.

    Parameters
    ----------
    table : MixedTable
        The training rows.
    predict : callable
        Predictions of missing cells by a model of them.
    fit : callable
        Learns such a model of other rows.
    seed : int
        Of the hidden cells and of the trees.

    Returns
    -------
    Forests or None
        None where the forests do not help, or the table is too small or too wide for them.
    dict
    """
    # A stream of its own: gaps that a user made with the same seed would be the very cells that are hidden.
    rng = np.random.default_rng((seed, _STREAM))
    seed %= LARGEST_SEED + 1
    rows = some_rows(table, rng)
    n_columns = len(table.schema)
    if rows.n_rows < MIN_ROWS or not MIN_COLUMNS <= n_columns <= MOST_COLUMNS:
        few = "too few rows or columns" if n_columns <= MOST_COLUMNS else "too many columns"
        return None, {"forests": f"skipped: {few}"}
    hidden = _hidden_cells(rows, rng)
    known = with_masked(rows, hidden)
    start = fit(known)(known)
    alone = _grown(known, start, np.ones(n_columns), seed).predictions(known, start)
    cells = MaskedCells.of(table)
    cells.add(rows, hidden, [start, alone], 1.0)
    one = cells.best_weights([0], POOLED_CELLS)
    both = cells.best_weights([0, 1], POOLED_CELLS)
    record = {
        "forests": "compared",
        "loss_without_forests": one.loss,
        "loss_with_forests": both.loss,
    }
    if not both.loss < one.loss:
        return None, record
    return _grown(rows, predict(rows), both.weights[:, 1], seed), record


def _grown(table: MixedTable, start: Predictions, shares: Array, seed: int) -> Forests:
    """Forests of rows whose gaps are filled, first by another model, then by the forests themselves."""
    observed, filled = ~table.missing, filled_table(table, start)
    # A column that no row has, once cells are hidden, has no forest.
    shares = np.where(observed.any(axis=0), shares, 0.0)
    for _ in range(N_PASSES - 1):
        forests = Forests(filled, observed, shares, seed)
        filled = filled_table(table, forests.predictions(table, start, 1))
    return Forests(filled, observed, shares, seed)


def some_rows(table: MixedTable, rng: np.random.Generator) -> MixedTable:
    """The rows that forests are grown from: all, or a sample within the budget; without weights.

    Of a column that hardly any row has, the sample has some cells in any case.
    """
    most = max(MIN_ROWS, MOST_CELLS // max(len(table.schema), 1))
    if table.n_rows > most:
        rows = rng.permutation(table.n_rows)[:most]
        observed = ~table.missing
        scarce = np.flatnonzero(observed[rows].sum(axis=0) < LEAST_CELLS)
        of_scarce = [np.flatnonzero(observed[:, column])[:LEAST_CELLS] for column in scarce]
        table = table.take(np.unique(np.concatenate([rows, *of_scarce])))
    return replace(table, weights=None)


def _hidden_cells(rows: MixedTable, rng: np.random.Generator) -> NDArray[np.bool_]:
    """(row, column) Observed cells to hide; each row and each column keeps some."""
    observed = ~rows.missing
    hidden = (rng.random(observed.shape) < HIDDEN) & observed
    hidden[(hidden | ~observed).all(axis=1)] = False
    hidden[:, (observed & ~hidden).sum(axis=0) < MIN_COLUMNS] = False
    return np.asarray(hidden)
