"""Answers of a tree, of a Gaussian and of rows nearby joined, each as far as it can be trusted with a column.

Cells of rows that none was learnt from are hidden and asked for again and again. What is said of a column of
numbers is the mean of the answers with the weights that err least; they are found for each column, with some
regard to those of all columns together, because the cells of one column may be few. Probabilities of
categories are joined alike, by the likelihood of the hidden ones. Rows nearby know of missing cells only: a
row that was learnt from is its own neighbour, so that they have no part in what is expected of cells that are
there.
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
from tacit.messages.weighted_networks import Learnt
from tacit.numbers.data.masking import SHARES, HiddenCells, Told, hidden_cells, without
from tacit.numbers.learn.gaussian_copula import (
    MOST_COORDINATES,
    Companion,
    fit_companions,
    n_coordinates,
)
from tacit.numbers.learn.nearest_neighbours import (
    Neighbours,
    kept_rows,
    told_by,
)
from tacit.numbers.query.evidence import cell_answers

Array = NDArray[np.float64]

# Rows without any correlation that are added to a Gaussian, and how far rows nearby reach: the best is kept.
PRIORS = (2.0, 8.0, 32.0)
REACHES = (0.25, 1.0, 3.0, 10.0)
# Cells are hidden over and over until so many were, but not too often.
ENOUGH_CELLS, MOST_ROUNDS = 20_000, 8
# Rows that cells are hidden in, and the fewest.
MOST_ROWS, FEWEST_ROWS = 2000, 20
# Rows nearby are kept only if they make errors smaller by at least this share.
LEAST_GAIN = 0.005


@dataclass(frozen=True, eq=False)
class Blend:
    """What stands beside a tree, and how much each counts."""

    companion: Companion | None
    neighbours: Neighbours | None
    weights: Array  # (column,)  of the Gaussian beside the tree
    shares: Array  # (column, 3)  of tree, Gaussian and rows nearby, for missing cells

    def joined(self, column: int, tree: Array, gaussian: Array) -> Array:
        """Means, quantiles or probabilities of tree and Gaussian, joined."""
        weight = self.weights[column]
        return np.asarray((1.0 - weight) * tree + weight * gaussian)

    def filled(self, table: MixedTable, tree: Told, *, median: bool = False) -> dict[int, Array]:
        """What the tree says of missing cells, by column, joined with what the others say."""
        columns = list(tree)
        found = {column: self.shares[column, 0] * told for column, told in tree.items()}
        others: list[tuple[int, Told]] = []
        if self.companion is not None:
            others.append((1, self.companion.answers(table).told(columns, median=median)))
        if self.neighbours is not None:
            others.append((2, self.neighbours.told(table, columns, median=median)))
        for place, told in others:
            for column in columns:
                known = np.where(np.isnan(told[column]), tree[column], told[column])
                found[column] += self.shares[column, place] * known
        return found


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


def has_gaussian(schema: MixedSchema) -> bool:
    """Whether a Gaussian can be of use beside a tree.

    It cannot where there is no column of numbers; with very many categories it takes too long.
    """
    return len(schema.continuous) > 0 and n_coordinates(schema) <= MOST_COORDINATES


def fit_blend(
    table: MixedTable, judged: Sequence[Judged], *, random_state: Any = None
) -> Blend | None:
    """What stands beside a tree, and its weights; None where there is nothing to judge by.

    Parameters
    ----------
    table : MixedTable
        All rows; what is kept is learnt from them.
    judged : sequence of Judged
        The tree without some rows, or several such.
    random_state : int or numpy.random.Generator, optional
        Says which cells are hidden.
    """
    n_judging = sum(each.held_out.n_rows for each in judged)
    if len(table.schema) < 2 or n_judging < FEWEST_ROWS:
        return None
    rng = np.random.default_rng(random_state)
    cells = HiddenCells.of(table)
    for each in judged:
        _ask(each, cells, n_judging, rng)
    # Those who answer: the tree, a Gaussian with each prior, rows nearby with each reach.
    first = 1 + (len(PRIORS) if has_gaussian(table.schema) else 0)
    fewest: list[tuple[int, ...]] = [(0, gaussian) for gaussian in range(1, first)] or [(0,)]
    few = min(map(cells.weighed, fewest), key=lambda each: each.loss)
    wider = [(*few.who, near) for near in range(first, first + len(REACHES))]
    more = min(map(cells.weighed, wider), key=lambda each: each.loss)
    companion, neighbours, shares = None, None, np.zeros((len(table.schema), 3))
    shares[:, : len(few.who)] = few.weights
    weights = shares[:, 1].copy()
    if len(few.who) > 1:
        (companion,) = fit_companions(table, [PRIORS[few.who[1] - 1]], rng)
    if more.loss < (1 - LEAST_GAIN) * few.loss:
        neighbours = Neighbours(kept_rows(table, rng), REACHES[more.who[-1] - first])
        shares[:, : len(few.who)], shares[:, 2] = more.weights[:, :-1], more.weights[:, -1]
    elif companion is None:
        return None
    return Blend(companion, neighbours, weights, shares)


def _ask(each: Judged, cells: HiddenCells, n_judging: int, rng: np.random.Generator) -> None:
    """Hide cells again and again, and ask everybody for them."""
    n_columns, n_rows = len(each.table.schema), each.held_out.n_rows
    columns = range(n_columns)
    companions = fit_companions(each.table, PRIORS, rng) if has_gaussian(each.table.schema) else []
    near = Neighbours(kept_rows(each.table, rng), REACHES[0])
    most = math.ceil(MOST_ROWS * n_rows / n_judging)
    rows = each.held_out.take(np.sort(rng.permutation(n_rows)[:most]))
    n_rounds = min(math.ceil(ENOUGH_CELLS / (n_judging * n_columns * sum(SHARES) / 2)), MOST_ROUNDS)
    for _ in range(n_rounds):
        hidden = hidden_cells(rows, rng)
        asked = without(rows, hidden)
        told = [each.ask(asked)]
        told += [companion.answers(asked).told(columns) for companion in companions]
        nearest = near.nearest(asked)
        told += [told_by(near.table, *nearest, reach, columns) for reach in REACHES]
        cells.add(rows, hidden, told, 1 / n_rounds)
