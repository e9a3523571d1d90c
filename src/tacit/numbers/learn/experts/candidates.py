"""Candidates for experts: tables as standardised coordinates, and the classes learnt from them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tacit.core.encoders.encoders import Encoder
from tacit.core.encoders.margins import Margin, has_rest
from tacit.core.input.mixed_table import MixedSchema, MixedTable
from tacit.numbers.data.normal_scores import Scores
from tacit.numbers.learn.experts.classes import FINEST, Rows, fit_classes, single_class
from tacit.numbers.learn.gaussian_em import gaussian_em
from tacit.numbers.learn.gaussian_tree import tree_gaussian
from tacit.numbers.model.experts import Atoms, Expert
from tacit.numbers.model.gaussian import Gaussian
from tacit.numbers.model.gaussian_classes import GaussianClasses

Array = NDArray[np.float64]

# The prior of each component's covariance counts for so many rows; a strong one for two more than columns.
WEAK_PRIOR = 0.1
# Rows, for each column, from which on a strong prior is not tried.
ROWS_FOR_WEAK_PRIOR = 300
# Numbers of all features of the training rows; of more rows, a sample is used.
MAX_FEATURES = 8_000_000
MAX_ROWS, LEAST_ROWS = 20_000, 500
# Columns of numbers beyond which covariances are diagonal, and beyond which there is no tree of them.
MAX_FULL, MAX_OF_TREE = 100, 200
# Weights of the covariance without a tree, beside that of a tree.
SHRINKAGES = (0.0, 0.2, 0.5)
# A tree of fewer columns is hardly less than the covariance without one.
FEWEST_OF_TREE = 4
# Of the numbers of a column that are distinct: with fewer than this fraction they were rounded.
ROUNDED = 0.9


@dataclass(frozen=True)
class Family:
    """Candidates that differ in the number of components alone."""

    normal: bool  # normal scores, or the numbers
    diagonal: bool
    strong: bool  # the prior
    shrinkage: float | None = None  # of a single Gaussian along a tree

    def name(self, n_components: int) -> str:
        """For people."""
        what = "normal scores" if self.normal else "numbers"
        if self.shrinkage is not None:
            shrunk = f", shrunk by {self.shrinkage:g}" if self.shrinkage else ""
            return f"Gaussian tree of {what}{shrunk}"
        form = "diagonal" if self.diagonal else "full"
        shrunk = ", shrunk" if self.strong else ""
        return f"{n_components} x {form} Gaussian of {what}{shrunk}"


@dataclass(frozen=True, eq=False)
class Prepared:
    """The training rows of a trial as standardised coordinates."""

    scores: Scores
    atoms: Atoms
    center: Array  # (number,)
    scale: Array  # (number,)
    rows: Rows

    @classmethod
    def of(
        cls, table: MixedTable, margins: Sequence[Margin | None] | None, atoms: Atoms
    ) -> Prepared:
        """The coordinates of a table: normal scores where there are margins, else the numbers."""
        schema = table.schema
        scores = Scores(schema, (None,) * len(schema) if margins is None else tuple(margins))
        weights = np.ones(table.n_rows) if table.weights is None else table.weights
        beside = atoms.beside(table.numbers)
        for column in atoms.columns:
            # Where hardly any number is left, the Gaussian of the others is of no use.
            if not has_rest(beside[:, column], table.weights):
                beside[:, column] = table.numbers[:, column]
        numbers = np.column_stack(
            [scores.scores(j, beside[:, schema.stored[j]]) for j in schema.continuous]
        )
        center = np.nanmean(numbers, axis=0)
        scale = np.nanstd(numbers, axis=0)
        scale = np.where(scale > 1e-12 * np.maximum(np.abs(center), 1e-300), scale, 1.0)
        numbers = (numbers - center) / scale
        cards = (*(schema.cards[j] for j in schema.categorical), *atoms.cards)
        codes = np.hstack([table.codes, atoms.codes(table.numbers)])
        floor = np.array([_finest(column) ** 2 for column in numbers.T])
        return cls(scores, atoms, center, scale, Rows(numbers, codes, cards, weights, floor))

    @cached_property
    def pooled(self) -> Gaussian:
        """Mean and covariance of all numbers."""
        return gaussian_em(self.rows.numbers, self.rows.weights, tol=1e-3, max_iter=30).gaussian

    @cached_property
    def tree(self) -> Gaussian:
        """The same along a tree."""
        return tree_gaussian(self.pooled, self.rows.numbers, self.rows.weights)

    def fit(
        self, family: Family, n_components: int, seed: int, start: Expert | None = None
    ) -> Expert:
        """The candidate of a family with so many components."""
        if family.shrinkage is not None:
            gaussian = self.tree.shrunk(self.pooled, family.shrinkage)
            classes = _rescaled(single_class(self.rows, gaussian), self.center, self.scale)
            return Expert(family.name(1), self.scores, classes, self.atoms)
        rows = self._some(family.diagonal)
        d, at, by = len(self.center), self.center, self.scale
        classes = fit_classes(
            rows,
            n_components,
            np.random.default_rng(seed),
            diagonal=family.diagonal,
            pooled=self.pooled,
            prior_rows=d + 2.0 if family.strong else WEAK_PRIOR,
            start=None if start is None else _rescaled(start.classes, -at / by, 1.0 / by),
        )
        name = family.name(n_components)
        return Expert(name, self.scores, _rescaled(classes, at, by), self.atoms)

    def _some(self, diagonal: bool) -> Rows:
        """At most so many rows as the budget allows; the same for all families of a form."""
        n, d = self.rows.numbers.shape
        width = sum(self.rows.cards) + (3 * d if diagonal else d + d * (d + 1) // 2)
        most = min(MAX_ROWS, max(MAX_FEATURES // (width + 1), LEAST_ROWS))
        if n <= most:
            return self.rows
        return self.rows.take(np.sort(np.random.default_rng(0).permutation(n)[:most]))


def _rescaled(classes: GaussianClasses, shift: Array, factor: Array) -> GaussianClasses:
    """The classes of numbers times a factor and plus a shift."""
    factors = factor if classes.is_diagonal else factor[:, None]
    return replace(
        classes,
        means=classes.means * factor + shift,
        covariances=classes.covariances * factors * factor,
    )


def _finest(column: Array) -> float:
    """The smallest standard deviation of a component: that of rounding where many rows have equals."""
    known = column[~np.isnan(column)]
    distinct = np.unique(known)
    if len(distinct) < 2 or len(distinct) > ROUNDED * len(known):
        return FINEST
    return max(FINEST, float(np.median(np.diff(distinct)) / np.sqrt(12.0)))


def prepared(table: MixedTable, encoders: Sequence[Encoder], normal: bool) -> Prepared:
    """Coordinates of a table, with the margins of its encoders for normal scores."""
    margins = [getattr(encoder, "margin", None) for encoder in encoders]
    return Prepared.of(table, margins if normal else None, atoms_of_columns(table.schema, encoders))


def atoms_of_columns(schema: MixedSchema, encoders: Sequence[Encoder]) -> Atoms:
    """The atoms of all columns of numbers."""
    return Atoms(tuple(getattr(encoders[j], "atoms", np.empty(0)) for j in schema.continuous))


def families(table: MixedTable, names: Collection[str]) -> Iterator[Family]:
    """The families of some names that are compared on a table."""
    d, n = len(table.schema.continuous), table.n_rows
    for normal, what in ((True, "scores"), (False, "numbers")):
        if 1 < d <= MAX_FULL and f"{what}-full" in names:
            yield Family(normal, diagonal=False, strong=False)
            if n < ROWS_FOR_WEAK_PRIOR * d:
                yield Family(normal, diagonal=False, strong=True)
        if f"{what}-diagonal" in names:
            yield Family(normal, diagonal=True, strong=False)
        few_rows = n < ROWS_FOR_WEAK_PRIOR * d
        if f"{what}-tree" in names and few_rows and FEWEST_OF_TREE <= d <= MAX_OF_TREE:
            for shrinkage in SHRINKAGES:
                yield Family(normal, diagonal=False, strong=False, shrinkage=shrinkage)
