"""Experts: densities of a table beside that of its tree, and the weights of all."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.input.mixed_table import MixedTable
from tacit.numbers.data.normal_scores import Scores
from tacit.numbers.model.gaussian_classes import GaussianClasses

Array = NDArray[np.float64]
Codes = NDArray[np.integer]

_FARTHEST = 1e6  # ranges of the training data
_LEAST, _SMALLEST = 1e-9, 1e-100  # range of a column, relative to its numbers and at all


@dataclass(frozen=True, eq=False)
class Atoms:
    """The values of columns of numbers that have a probability, as categories beside the numbers.

    A column that has atoms is two variables: which atom a cell is, or none (code 0), and the number of a cell
    that is none. The second is missing where the cell is an atom.
    """

    of_column: tuple[Array, ...]  # for each column of numbers: (atom,) ascending

    @property
    def columns(self) -> tuple[int, ...]:
        """The columns of numbers that have any."""
        return tuple(column for column, atoms in enumerate(self.of_column) if len(atoms))

    @property
    def cards(self) -> tuple[int, ...]:
        """For each of these: the number of codes."""
        return tuple(1 + len(self.of_column[column]) for column in self.columns)

    def codes(self, numbers: Array) -> Codes:
        """(row, column with atoms) 0 beside the atoms, from 1 on at one of them, -1 where it is missing.

        Parameters
        ----------
        numbers : (row, column of numbers)
        """
        codes = np.empty((len(numbers), len(self.columns)), dtype=np.int32)
        for place, column in enumerate(self.columns):
            atoms, values = self.of_column[column], numbers[:, column]
            nearest = np.searchsorted(atoms, values).clip(max=len(atoms) - 1)
            codes[:, place] = np.where(atoms[nearest] == values, 1 + nearest, 0)
            codes[np.isnan(values), place] = -1
        return codes

    def beside(self, numbers: Array) -> Array:
        """The numbers that are no atoms; NaN elsewhere."""
        beside = numbers.copy(order="F")
        for column, codes in zip(self.columns, self.codes(numbers).T, strict=True):
            beside[codes > 0, column] = np.nan
        return beside

    def joined(self, column: int, numbers: Array, codes: Codes) -> Array:
        """The numbers of a column with atoms, from both of its variables."""
        known = np.append(np.nan, self.of_column[column])
        return np.where(codes > 0, known[codes], numbers)


@dataclass(frozen=True, eq=False)
class Expert:
    """A density of all columns: classes of the numbers, or of their normal scores.

    Its classes have tables of the columns of categories, then of the atoms.
    """

    name: str
    scores: Scores  # with margins for normal scores, else without
    classes: GaussianClasses
    atoms: Atoms

    def coordinates(self, table: MixedTable) -> tuple[Array, Codes]:
        """(row, number) coordinates, NaN at atoms and where missing, and (row, table) codes."""
        schema = self.scores.schema
        beside = self.atoms.beside(table.numbers)
        numbers = np.empty((table.n_rows, len(schema.continuous)), order="F")
        for column, place in enumerate(schema.continuous):
            known: Any = schema.columns[place]
            reach = _FARTHEST * max(known.high - known.low, _LEAST * abs(known.high), _SMALLEST)
            # So far out the density is zero, and squares do not overflow.
            values = beside[:, column].clip(known.low - reach, known.high + reach)
            numbers[:, column] = self.scores.scores(place, values)
        if not self.atoms.columns:
            return numbers, table.codes
        return numbers, np.hstack([table.codes, self.atoms.codes(table.numbers)])

    def log_slopes(self, table: MixedTable) -> Array:
        """(row,) log of the Jacobian of the coordinates by the observed numbers that are no atoms."""
        if self.atoms.columns:
            table = replace(table, numbers=self.atoms.beside(table.numbers))
        return self.scores.log_slopes(table)

    def table_of_atoms(self, column: int) -> Array | None:
        """(component, code) of a column of numbers; None where it has no atoms."""
        if column not in self.atoms.columns:
            return None
        return self.classes.tables[self.code_of_atoms(column)]

    def code_of_atoms(self, column: int) -> int:
        """The place of a column with atoms among the tables."""
        return len(self.scores.schema.categorical) + self.atoms.columns.index(column)

    def numbers(self, column: int, coordinates: Array, codes: Codes) -> Array:
        """(row,) the numbers of a column, from (row, number) coordinates and (row, table) codes."""
        place = self.scores.schema.continuous[column]
        numbers = self.scores.numbers(place, coordinates[:, column])
        if column not in self.atoms.columns:
            return numbers
        return self.atoms.joined(column, numbers, codes[:, self.code_of_atoms(column)])


@dataclass(frozen=True, eq=False)
class Experts:
    """The experts that a tree is mixed with."""

    members: tuple[Expert, ...]
    weights: Array  # (1 + expert,)  of the tree, and of each expert; they sum to one

    @property
    def log_weights(self) -> Array:
        """(1 + expert,) natural logarithms."""
        return np.asarray(np.log(np.maximum(self.weights, 1e-300)))
