"""Predictions of a tree, or its mixture with experts, a Gaussian copula and nearest neighbours, averaged.

Cells of held-out rows are masked at random and predicted by all three. A number is predicted by the weighted
mean with the smallest squared error; the weights are those of its column, shrunk towards those of all
columns, because the cells of one column may be few. Probabilities of categories are averaged in the same way,
by log-loss. Nearest neighbours predict missing cells only: a training row is its own neighbour, so they have
no part in expectations of cells that are observed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tacit.core.encoders.encoders import Encoder
from tacit.core.input.mixed_table import MixedSchema, MixedTable
from tacit.core.threads import one_blas_thread
from tacit.messages.weighted_networks import Learnt
from tacit.numbers.data.masking import (
    MASKED_FRACTIONS,
    MaskedCells,
    Predictions,
    masked_cells,
    with_masked,
)
from tacit.numbers.learn.gaussian_copula import (
    MAX_COORDINATES,
    GaussianCopula,
    fit_copulas,
    n_coordinates,
)
from tacit.numbers.learn.nearest_neighbours import (
    Neighbours,
    kept_rows,
    neighbour_predictions,
)
from tacit.numbers.query.evidence import cell_predictions

Array = NDArray[np.float64]

# Priors of the Gaussian, in uncorrelated rows, and bandwidths of the neighbours: the best of each is kept.
PRIORS = (2.0, 8.0, 32.0)
BANDWIDTHS = (0.25, 1.0, 3.0, 10.0)
# Cells are masked in several rounds until there are enough.
MIN_CELLS, MAX_ROUNDS = 8000, 8
# Rows in which cells are masked.
MAX_ROWS, MIN_ROWS = 2000, 20
# Neighbours are kept only if they reduce the loss by at least this fraction.
MIN_GAIN = 0.005


@dataclass(frozen=True, eq=False)
class Blend:
    """The predictors beside a tree, and the weights of all."""

    copula: GaussianCopula | None
    neighbours: Neighbours | None
    copula_weights: Array  # (column,)  without neighbours
    weights: Array  # (column, 3)  of tree, copula and neighbours, for missing cells

    def average(self, column: int, tree: Array, copula: Array) -> Array:
        """Means, quantiles or probabilities of tree and copula, averaged."""
        weight = self.copula_weights[column]
        return np.asarray((1.0 - weight) * tree + weight * copula)

    def average_missing(
        self, table: MixedTable, tree: Predictions, *, median: bool = False
    ) -> dict[int, Array]:
        """The tree's predictions of missing cells, by column, averaged with those of the others."""
        columns = list(tree)
        averages = {column: self.weights[column, 0] * tree[column] for column in columns}
        others: list[tuple[int, Predictions]] = []
        if self.copula is not None:
            others.append((1, self.copula.conditionals(table).predictions(columns, median=median)))
        if self.neighbours is not None:
            others.append((2, self.neighbours.predictions(table, columns, median=median)))
        for place, predictions in others:
            for column in columns:
                values = predictions[column]
                values = np.where(np.isnan(values), tree[column], values)
                averages[column] += self.weights[column, place] * values
        return averages


@dataclass(frozen=True, eq=False)
class HeldOutTree:
    """A tree learnt from some rows, and others that it was not learnt from."""

    table: MixedTable  # the training rows
    held_out: MixedTable
    predict: Callable[[MixedTable], Predictions]  # of the missing cells of a table


class _Trial(Protocol):
    """A tree learnt without some rows."""

    @property
    def parameters(self) -> Learnt: ...

    @property
    def rows(self) -> MixedTable: ...

    def training_rows(self, table: MixedTable) -> MixedTable: ...


def held_out_trees(
    table: MixedTable, trials: Sequence[_Trial], encoders: Sequence[Encoder]
) -> list[HeldOutTree]:
    """Trees that were learnt without some rows of a table, as predictors of the cells of these."""
    return [
        HeldOutTree(
            trial.training_rows(table), trial.rows, partial(_predict, trial.parameters, encoders)
        )
        for trial in trials
    ]


def _predict(learnt: Learnt, encoders: Sequence[Encoder], table: MixedTable) -> Predictions:
    return cell_predictions(learnt, table, encoders, range(len(encoders)))[0]


def has_copula(schema: MixedSchema) -> bool:
    """Whether a copula is of use: there are numbers, and not too many coordinates for EM."""
    return len(schema.continuous) > 0 and n_coordinates(schema) <= MAX_COORDINATES


@one_blas_thread()
def fit_blend(
    table: MixedTable, trees: Sequence[HeldOutTree], *, random_state: Any = None
) -> Blend | None:
    """The predictors beside a tree and the weights of all; None where there is too little to compare by.

    Parameters
    ----------
    table : MixedTable
        All rows; copula and neighbours that are kept are learnt from them.
    trees : sequence of HeldOutTree
    random_state : int or numpy.random.Generator, optional
        Of the mask.
    """
    n_held_out = sum(tree.held_out.n_rows for tree in trees)
    if len(table.schema) < 2 or n_held_out < MIN_ROWS:
        return None
    rng = np.random.default_rng(random_state)
    cells = MaskedCells.of(table)
    for tree in trees:
        _predict_masked(tree, cells, n_held_out, rng)
    # Predictors: the tree, a copula with each prior, neighbours with each bandwidth.
    first = 1 + (len(PRIORS) if has_copula(table.schema) else 0)
    pairs: list[tuple[int, ...]] = [(0, copula) for copula in range(1, first)] or [(0,)]
    few = min(map(cells.best_weights, pairs), key=lambda blend: blend.loss)
    triples = [(*few.predictors, near) for near in range(first, first + len(BANDWIDTHS))]
    more = min(map(cells.best_weights, triples), key=lambda blend: blend.loss)
    n_few = len(few.predictors)
    copula, neighbours, weights = None, None, np.zeros((len(table.schema), 3))
    weights[:, :n_few] = few.weights
    copula_weights = weights[:, 1].copy()
    if n_few > 1:
        (copula,) = fit_copulas(table, [PRIORS[few.predictors[1] - 1]], rng)
    if more.loss < (1 - MIN_GAIN) * few.loss:
        neighbours = Neighbours(kept_rows(table, rng), BANDWIDTHS[more.predictors[-1] - first])
        weights[:, :n_few], weights[:, 2] = more.weights[:, :-1], more.weights[:, -1]
    elif copula is None:
        return None
    return Blend(copula, neighbours, copula_weights, weights)


def _predict_masked(
    tree: HeldOutTree, cells: MaskedCells, n_held_out: int, rng: np.random.Generator
) -> None:
    """Mask cells of held-out rows in several rounds, and record what all predictors say of them."""
    n_columns, n_rows = len(tree.table.schema), tree.held_out.n_rows
    columns = range(n_columns)
    copulas = fit_copulas(tree.table, PRIORS, rng) if has_copula(tree.table.schema) else []
    neighbours = Neighbours(kept_rows(tree.table, rng), BANDWIDTHS[0])
    n_used = math.ceil(MAX_ROWS * n_rows / n_held_out)
    rows = tree.held_out.take(np.sort(rng.permutation(n_rows)[:n_used]))
    per_round = n_held_out * n_columns * sum(MASKED_FRACTIONS) / 2
    n_rounds = min(math.ceil(MIN_CELLS / per_round), MAX_ROUNDS)
    for _ in range(n_rounds):
        masked = masked_cells(rows, rng)
        known = with_masked(rows, masked)
        nearest = neighbours.nearest(known)
        predictions = [
            tree.predict(known),
            *(copula.conditionals(known).predictions(columns) for copula in copulas),
            *(
                neighbour_predictions(neighbours.table, *nearest, bandwidth, columns)
                for bandwidth in BANDWIDTHS
            ),
        ]
        cells.add(rows, masked, predictions, 1 / n_rounds)
