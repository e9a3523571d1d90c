"""Queries of a fitted tree of numbers and categories."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.limits import shown
from tacit.core.model import checked_summary
from tacit.errors import ArgumentError, NotAvailableError
from tacit.messages.conditionals import conditionals
from tacit.messages.repairs import Repairs
from tacit.numbers.data.masking import without_columns
from tacit.numbers.kernel_rows import KernelRows
from tacit.numbers.number_queries import NumberQueries
from tacit.numbers.query.arguments import (
    QUERY_LEVELS,
    atom_summary,
    checked_points,
    number_summary,
)
from tacit.numbers.query.given import intervals_of
from tacit.trees.table_model import Given, Soft

if TYPE_CHECKING:
    from tacit.core.encoders.encoders import BinEncoder
    from tacit.core.input.mixed_table import MixedTable
    from tacit.core.summary import Summary
    from tacit.messages.assignments import Assignment
    from tacit.messages.evidence import Evidence

Array = NDArray[np.float64]
Function = Callable[[Array], Array]


class KernelQueries(NumberQueries, KernelRows):
    """Queries of a fitted tree whose leaves are numbers or categories; missing cells are summed out.

    Rows may lack columns and have them in any order. ``soft={"column": likelihoods}`` gives, for missing
    cells of a column of categories, one likelihood per row and category.
    """

    abilities = KernelRows.abilities - {"bif"} | {"numbers", "atoms", "intervals"}

    @checked_summary
    def summary(self) -> Summary:
        """What was learnt, on a page: structure, choices, fit, and a profile of every hidden state.

        A profile has the columns of numbers whose means differ most in the state, and the categories that
        are much more likely in it.
        """
        from tacit.trees.query.summary import tree_summary

        numbers = {
            leaf: np.stack([encoder.functional(lambda x: x), encoder.functional(np.square)])
            for leaf, encoder in enumerate(self.encoders_)
            if encoder.kind != "indicator"
        }
        often = {place: encoder.atoms for place, encoder in self._encoders_with_atoms.items()}
        return tree_summary(self, numbers, often)

    @property
    def atoms_(self) -> dict[Hashable, Array]:
        """The values with a probability of their own, ascending, by column of numbers that has any.

        The likelihood of a row that holds one of them is a probability, where it is a density elsewhere.
        """
        self._check_fitted()
        return {
            self.schema_.labels[place]: encoder.atoms.copy()
            for place, encoder in self._encoders_with_atoms.items()
        }

    @property
    def _encoders_with_atoms(self) -> dict[int, BinEncoder]:
        from tacit.core.encoders.encoders import BinEncoder

        return {
            place: encoder
            for place, encoder in enumerate(self.encoders_)
            if isinstance(encoder, BinEncoder) and len(encoder.atoms)
        }

    def atom_probabilities(self, X: Any, target: Hashable) -> Array:
        """The probabilities of a column's atoms given whatever else is present in each row.

        Parameters
        ----------
        X : table
            The target's own cells are not used.
        target : column of numbers

        Returns
        -------
        (row, atom) array
            In the order of ``atoms_[target]``; the rest of the mass has the density that
            `conditional_density` gives. Without columns where the target has no atoms.
        """
        return self._atom_masses(self._rows(X)[0], self._number(target))

    def _atom_masses(
        self, table: MixedTable, leaf: int, soft: Mapping[int, Array] | None = None
    ) -> Array:
        blocks = self._coefficients(table, leaf, soft)
        return np.concatenate([block.atom_masses for block in blocks])

    def _log_likelihoods(self, X: Any, soft: Soft | None) -> tuple[Array, dict[str, Any]]:
        """Log-densities of the rows.

        No estimate of operators (``learn="spectral"``) counts as less than a thousandth of the density that
        the row had if all columns were independent.
        """
        from tacit.numbers.query.evidence import log_densities

        table, likelihoods = self._rows(X, soft)
        with self._threads():
            values, repairs = log_densities(
                self.parameters_,
                table,
                self.encoders_,
                self.margins_,
                soft=likelihoods,
                negative=self.negative,
            )
        return values, repairs.as_dict()

    def conditional_density(
        self,
        X: Any,
        target: Hashable,
        grid: Any = None,
        *,
        return_repairs: bool = False,
    ) -> Any:
        """The density of a column of numbers, or of a group of columns, given the rest of each row.

        Parameters
        ----------
        X : table
            The target's own cells are not used; of a group, those of all its columns.
        target : column or group
        grid : (place,) numbers, optional
            Where the densities are computed; by default 200 numbers that span the column. For a group,
            (place, column) points must be given.
        return_repairs : bool
            Whether to return also how much was negative, and cut off.

        Returns
        -------
        grid : (place,) array, or (place, column)
        densities : (row, place) array
            Not negative, of integral one over all numbers, less the probabilities of atoms
            (`atom_probabilities`). That of a group is the density of its first
            column times that of the second given the first, and so on.
        repairs : dict
            With `return_repairs` only.
        """
        members = self._members(target)
        if members is None:
            return super().conditional_density(X, target, grid, return_repairs=return_repairs)
        points = checked_points(target, grid, len(members))
        densities, repairs = self._group_densities(X, members, points)
        return (points, densities, repairs) if return_repairs else (points, densities)

    def expectation(self, X: Any, target: Hashable, function: Function | None = None) -> Array:
        """The mean of a column of numbers, or of each column of a group, given the rest of each row.

        Parameters
        ----------
        X : table
            The target's own cells are not used; of a group, those of all its columns.
        target : column or group
        function : callable, optional
            Of a single column: takes an array of numbers and gives one of the same shape.

        Returns
        -------
        (row,) array, or (row, column) for a group
        """
        members = self._members(target)
        if members is None:
            return super().expectation(X, target, function)
        if function is not None:
            raise ArgumentError(
                f"target={shown(target)} is a group; functions are of single columns"
            )
        table = without_columns(self._rows(X)[0], members)
        return np.column_stack([self._means(table, place) for place in members])

    def _members(self, target: Hashable) -> list[int] | None:
        """The places of the columns of a group; None where the target is no group."""
        self._check_fitted()
        groups = self.groups or {}
        if not isinstance(target, Hashable) or target not in groups:
            return None
        return [self.schema_.index(member) for member in groups[target]]

    def _group_densities(
        self, X: Any, members: Sequence[int], points: Array
    ) -> tuple[Array, dict[str, Any]]:
        """(row, point) densities of a group, column after column."""
        table = without_columns(self._rows(X)[0], members)
        n_rows, n_points = table.n_rows, len(points)
        rows = table.take(np.repeat(np.arange(n_rows), n_points))
        densities, repairs = np.ones(n_rows * n_points), Repairs()
        for column, place in enumerate(members):
            numbers = np.tile(points[:, column], n_rows)
            start = 0
            for block in self._coefficients(rows, place):
                part = slice(start, start + len(block.values))
                densities[part] *= block.densities_of_rows(numbers[part])
                repairs += block.repairs()
                start = part.stop
            rows = rows.filled({place: numbers})
        return densities.reshape(n_rows, n_points), repairs.as_dict()

    def _grid(self, place: int) -> Array:
        return self.encoders_[place].grid()

    def _conditional_densities(
        self, X: Any, place: int, points: Array
    ) -> tuple[Array, dict[str, Any]]:
        blocks = list(self._coefficients(self._rows(X)[0], place))
        densities = np.concatenate([block.densities(points).values for block in blocks])
        return densities, sum((block.repairs() for block in blocks), Repairs()).as_dict()

    def _expectations(self, X: Any, place: int, function: Function | None) -> Array:
        return self._means(self._rows(X)[0], place, function)

    def _means(
        self,
        table: MixedTable,
        leaf: int,
        function: Function | None = None,
        soft: Mapping[int, Array] | None = None,
    ) -> Array:
        blocks = self._coefficients(table, leaf, soft)
        tree = np.concatenate([block.expectations(function) for block in blocks])
        if intervals_of(table.schema, soft):  # the tree alone knows what to make of them
            return tree
        return self._averaged(table, leaf, tree, lambda copula: copula.expectation(leaf, function))

    def _conditional_quantiles(self, X: Any, place: int, levels: Array) -> Array:
        return self._quantiles(self._rows(X)[0], place, levels)

    def _quantiles(
        self,
        table: MixedTable,
        leaf: int,
        levels: Array,
        soft: Mapping[int, Array] | None = None,
    ) -> Array:
        blocks = self._coefficients(table, leaf, soft)
        tree = np.concatenate([block.quantiles(levels) for block in blocks])
        # An average of quantiles is no atom, and of intervals the tree alone knows what to make.
        if leaf in self._encoders_with_atoms or intervals_of(table.schema, soft):
            return tree
        return self._averaged(table, leaf, tree, lambda copula: copula.quantiles(leaf, levels))

    def _conditionals(
        self, X: Any, places: Sequence[int], soft: Soft | None, *, in_turn: bool, joint: bool
    ) -> tuple[list[Array], dict[str, Any]]:
        if not places:
            raise NotAvailableError("there is no column of categories; use conditional_density")
        return super()._conditionals(X, places, soft, in_turn=in_turn, joint=joint)

    def _blocks(self, X: Any, soft: Soft | None) -> Iterator[Evidence]:
        return self._evidence_blocks(*self._rows(X, soft))

    def _predictions(self, X: Any, targets: Sequence[Hashable], *, in_turn: bool) -> list[Any]:
        from tacit.core.input.decode import column_values

        table, _ = self._rows(X)
        leaves = [self.schema_.index(target) for target in targets]
        if not in_turn:
            table = without_columns(table, leaves)
        values = []
        for leaf in leaves:
            if leaf in self.schema_.continuous:
                values.append(self._means(table, leaf))
                continue
            chances = [
                conditionals(self.parameters_, evidence, [leaf]).tables[0]
                for evidence in self._evidence_blocks(table)
            ]
            codes = np.concatenate(chances).argmax(axis=1)
            values.append(column_values(self.schema_.columns[leaf], codes))
        return values

    def _number_query(self, place: int, given: Given | None) -> dict[Any, float]:
        rows, soft = self._given_rows(given)
        if place in soft:
            raise ArgumentError(
                f"column {self.schema_.labels[place]!r} is the target, and is given as an interval"
            )
        mean = float(self._means(rows, place, soft=soft)[0])
        numbers = self._quantiles(rows, place, np.array(QUERY_LEVELS), soft)[0].tolist()
        answer = number_summary(mean, numbers)
        if place in self._encoders_with_atoms:
            masses = self._atom_masses(rows, place, soft)[0].tolist()
            atoms = self._encoders_with_atoms[place].atoms.tolist()
            answer |= atom_summary(atoms, masses)
        return answer

    def _impute(self, X: Any, *, median: bool = False) -> Any:
        from tacit.core.input.mixed_table import complete_mixed

        table, _ = self._rows(X)
        leaves = np.flatnonzero(table.missing.any(axis=0)).tolist()
        predictions = self._missing_cells(table, leaves, median=median)
        filled = {
            leaf: predictions[leaf]
            if leaf in self.schema_.continuous
            else predictions[leaf].argmax(axis=1)
            for leaf in leaves
        }
        return complete_mixed(X, table.filled(filled))

    def _missing_cells(
        self, table: MixedTable, leaves: Sequence[int], *, median: bool = False
    ) -> Mapping[int, Array]:
        """Predictions of the missing cells of some columns given the other cells of each row."""
        with self._threads():
            predictions = self._cell_predictions(table, leaves, median=median)
            blend = self._blend if leaves else None
            if blend is not None:
                predictions = blend.average_missing(table, predictions, median=median)
        return predictions

    def _drawn_cells(self, table: MixedTable, rng: np.random.Generator) -> MixedTable:
        """The table with the missing cells of each row drawn together, given the others."""
        from tacit.core.input.mixed_table import joined_rows

        with self._threads():
            parts = [
                rows.filled_with_draws(drawn) for rows, drawn in self._drawn_blocks(table, rng)
            ]
        return joined_rows(parts)

    def _drawn_blocks(
        self, table: MixedTable, rng: np.random.Generator
    ) -> Iterator[tuple[MixedTable, dict[int, NDArray[Any]]]]:
        """Blocks of rows, and values drawn for all their cells given those that are observed."""
        from tacit.numbers.query.densities import sample_rows

        start = 0
        for evidence in self._evidence_blocks(table):
            rows = table.take(slice(start, start + evidence.n_rows))
            start += evidence.n_rows
            drawn = sample_rows(self.parameters_, 1, rng, self.encoders_, evidence)
            yield rows, dict(enumerate(drawn.columns))

    def _cell_predictions(
        self, table: MixedTable, leaves: Sequence[int], *, median: bool
    ) -> dict[int, Array]:
        """By column: means or medians of numbers, probabilities of categories, for missing cells at least."""
        from tacit.numbers.query.evidence import cell_predictions

        return cell_predictions(self.parameters_, table, self.encoders_, leaves, median=median)[0]

    def most_probable_assignment(self, X: Any, *, soft: Soft | None = None) -> Assignment:
        """Not available: numbers have densities, and no joint completion is the most probable."""
        raise NotAvailableError(
            "numbers have densities, so that no joint completion is the most probable; use impute"
        )

    def to_bif(self, path: Any, *, component: int | None = None) -> None:
        """Not available: BIF holds categories only."""
        raise NotAvailableError("BIF holds categories only; a model of numbers is kept by save")

    def _sample(
        self, n_samples: int, given: Given | None, rng: np.random.Generator, like: Any
    ) -> Any:
        from tacit.core.input.mixed_table import decode_mixed, empty_mixed
        from tacit.numbers.query.densities import sample_rows

        rows, soft = self._given_rows(given)
        evidence = next(self._evidence_blocks(rows, soft))
        with self._threads():
            drawn = sample_rows(
                self.parameters_,
                n_samples,
                rng,
                self.encoders_,
                evidence,
                intervals=intervals_of(self.schema_, soft),
            )
        columns: dict[int, NDArray[Any]] = dict(enumerate(drawn.columns))
        for leaf in evidence.signed:
            columns[leaf] = np.full(n_samples, rows.column(leaf)[0])
        table = empty_mixed(n_samples, self.schema_).filled_with_draws(columns)
        return decode_mixed(table, like=like)
