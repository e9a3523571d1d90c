"""Answers of a tree and of a Gaussian joined, each as far as it can be trusted with a column.

Cells of rows that neither was learnt from are hidden and asked for again and again. What is asked of a
column of numbers is `w` times the Gaussian's answer and `1 - w` times the tree's; the weight that errs least
is found for each column, with some regard to that of all columns together, because the cells of one column
may be few. Probabilities of categories are joined alike, by the likelihood of the hidden ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tacit.data.encoders import Encoder
from tacit.data.mixed import MixedSchema, MixedTable
from tacit.errors import FileFormatError
from tacit.estimators.companions import (
    MOST_COORDINATES,
    Companion,
    companion_from_arrays,
    fit_companions,
    n_coordinates,
)
from tacit.estimators.number_evidence import cell_answers
from tacit.query.mixtures import Learnt

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
# By column: (row,) means of numbers, (row, category) probabilities of categories, for missing cells at least.
Told = Mapping[int, Array]

# Rows without any correlation that are added to a Gaussian; the best of these is kept.
PRIORS = (2.0, 8.0, 32.0)
# All columns together count as so many hidden cells of each.
POOLED_CELLS = 30.0
# Of each row a share between these is hidden, over and over until so many cells were, but not too often.
SHARES = (0.1, 0.5)
ENOUGH_CELLS, MOST_ROUNDS = 20_000, 8
# Rows that cells are hidden in, and the fewest.
MOST_ROWS, FEWEST_ROWS = 2000, 20
_GRID = np.linspace(0.0, 1.0, 21)
_LEAST = 1e-9  # probability


@dataclass(frozen=True, eq=False)
class Blend:
    """A Gaussian, and how much it counts beside the tree."""

    companion: Companion
    weights: Array  # (column,)  between 0 and 1

    def joined(self, column: int, tree: Array, gaussian: Array) -> Array:
        """Answers of both, joined: means, quantiles or probabilities of a column."""
        weight = self.weights[column]
        return np.asarray((1.0 - weight) * tree + weight * gaussian)

    def to_arrays(self) -> dict[str, Array]:
        """Arrays for a file; `blend_from_arrays` reads them back."""
        return {"weights": self.weights, **self.companion.to_arrays()}


def blend_from_arrays(schema: MixedSchema, arrays: Mapping[str, Array]) -> Blend:
    """The blend that `Blend.to_arrays` wrote; a `FileFormatError` where it is something else."""
    weights = np.asarray(arrays.get("weights"))
    if weights.shape != (len(schema),):
        raise FileFormatError(f"weights of shape {weights.shape} for {len(schema)} columns")
    return Blend(companion_from_arrays(schema, arrays), weights)


@dataclass(frozen=True, eq=False)
class Judged:
    """A tree that was learnt from some rows, and others that can judge it."""

    table: MixedTable  # those it was learnt from
    held_out: MixedTable  # the others
    # The tree's answers for the missing cells of a table, by column.
    ask: Callable[[MixedTable], Told]


class _Trial(Protocol):
    """A tree that was learnt without some rows."""

    @property
    def parameters(self) -> Learnt: ...

    @property
    def rows(self) -> MixedTable: ...

    def learnt_from(self, table: MixedTable) -> MixedTable: ...


def judged_trees(
    table: MixedTable, trials: Sequence[_Trial], encoders: Sequence[Encoder]
) -> list[Judged]:
    """Trees that were learnt without some rows of a table, ready to be asked for the cells of these."""
    return [
        Judged(each.learnt_from(table), each.rows, partial(_told, each.parameters, encoders))
        for each in trials
    ]


def _told(learnt: Learnt, encoders: Sequence[Encoder], table: MixedTable) -> Told:
    return cell_answers(learnt, table, encoders, range(len(encoders)))[0]


def pays(table: MixedTable) -> bool:
    """Whether a Gaussian can be of use beside a tree.

    It cannot where there is no column of numbers beside another column; with very many categories it takes
    too long.
    """
    few = n_coordinates(table.schema) <= MOST_COORDINATES
    return len(table.schema.continuous) > 0 and len(table.schema) > 1 and few


def fit_blend(
    table: MixedTable, judged: Sequence[Judged], *, random_state: Any = None
) -> Blend | None:
    """The Gaussian of a table and its weights beside a tree; None where it does not pay to look.

    Parameters
    ----------
    table : MixedTable
        All rows; the Gaussian that is kept is learnt from them.
    judged : sequence of Judged
        The tree without some rows, or several such.
    random_state : int or numpy.random.Generator, optional
        Says which cells are hidden.
    """
    n_judging = sum(each.held_out.n_rows for each in judged)
    if not pays(table) or n_judging < FEWEST_ROWS:
        return None
    rng = np.random.default_rng(random_state)
    trials = [Trial.of(table) for _ in PRIORS]
    for each in judged:
        _try(each, trials, n_judging, rng)
    best = int(np.argmin([trial.loss() for trial in trials]))
    (companion,) = fit_companions(table, PRIORS[best : best + 1], rng)
    return Blend(companion, trials[best].weights())


def _try(each: Judged, trials: Sequence[Trial], n_judging: int, rng: np.random.Generator) -> None:
    """Hide cells again and again, and count the errors with each prior."""
    n_columns, n_rows = len(each.table.schema), each.held_out.n_rows
    companions = fit_companions(each.table, PRIORS, rng)
    most = math.ceil(MOST_ROWS * n_rows / n_judging)
    rows = each.held_out.take(np.sort(rng.permutation(n_rows)[:most]))
    n_rounds = min(math.ceil(ENOUGH_CELLS / (n_judging * n_columns * sum(SHARES) / 2)), MOST_ROUNDS)
    for _ in range(n_rounds):
        hidden = hidden_cells(rows, rng)
        asked = without(rows, hidden)
        told = each.ask(asked)
        for companion, trial in zip(companions, trials, strict=True):
            answers = companion.answers(asked).told(range(n_columns))
            trial.add(rows, hidden, told, answers, 1 / n_rounds)


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


@dataclass(eq=False)
class Trial:
    """What became of hidden cells: sums for each column, and from them its weight.

    A column of numbers has the squared error of a blend, which is a parabola in its weight; a column of
    categories the log-loss on a grid of weights.
    """

    continuous: tuple[int, ...]
    scale: Array  # (column,)  standard deviations of the columns of numbers
    n_cells: Array  # (column,)
    losses: Array  # (column, weight of the grid)

    @classmethod
    def of(cls, table: MixedTable) -> Trial:
        """Nothing yet."""
        n_columns = len(table.schema)
        scale = np.ones(n_columns)
        for column in table.schema.continuous:
            numbers = table.column(column)
            known = numbers[~np.isnan(numbers)]
            spread = float(known.std()) if len(known) else 0.0
            scale[column] = spread if spread > 0 else 1.0
        zeros = np.zeros((n_columns, len(_GRID)))
        return cls(table.schema.continuous, scale, np.zeros(n_columns), zeros)

    def add(
        self, rows: MixedTable, hidden: Flags, tree: Told, gaussian: Told, worth: float
    ) -> None:
        """Count the errors in hidden cells; a cell that is hidden several times is worth no more than one."""
        for column in range(len(self.scale)):
            which = hidden[:, column]
            truth = rows.column(column)[which]
            one, other = tree[column][which], gaussian[column][which]
            self.n_cells[column] += worth * len(truth)
            if column in self.continuous:
                off = (one - truth) / self.scale[column]
                step = (other - one) / self.scale[column]
                squares = off @ off + 2 * (off @ step) * _GRID + (step @ step) * _GRID**2
                self.losses[column] += worth * squares
            else:
                at = np.arange(len(truth)), truth
                joined = np.multiply.outer(one[at], 1 - _GRID) + np.multiply.outer(other[at], _GRID)
                self.losses[column] -= worth * np.log(np.maximum(joined, _LEAST)).sum(axis=0)

    def _regarded(self) -> Array:
        """(column, weight) The losses, with some of the mean loss of all columns of the kind."""
        numbers = np.isin(np.arange(len(self.scale)), self.continuous)
        found = self.losses.copy()
        for kind in (numbers, ~numbers):
            cells = self.n_cells[kind].sum()
            if cells > 0:
                found[kind] += POOLED_CELLS * self.losses[kind].sum(axis=0) / cells
        return found

    def weights(self) -> Array:
        """(column,) The best weight of each column."""
        return np.asarray(_GRID[np.argmin(self._regarded(), axis=1)])

    def loss(self) -> float:
        """With these weights: squared errors and log-losses of all cells, added up."""
        best = np.argmin(self._regarded(), axis=1)
        return float(self.losses[np.arange(len(best)), best].sum())
