"""What a fitted tree of numbers and categories can be asked."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.core.arguments import check_choice, check_rows, generator_from
from tacit.errors import NotAvailableError
from tacit.messages.conditionals import conditionals
from tacit.numbers.kernel_rows import KernelRows
from tacit.numbers.query.arguments import (
    QUERY_LEVELS,
    category_place,
    checked_grid,
    checked_levels,
    number_summary,
)
from tacit.trees.table_model import Given, Soft, Target

if TYPE_CHECKING:
    from tacit.core.input.mixed_table import MixedTable

Array = NDArray[np.float64]
Function = Callable[[Array], Array]

IMPUTED = ("mean", "median")


class KernelQueries(KernelRows):
    """Queries of a fitted tree whose leaves are numbers or categories; missing cells are summed out.

    Rows may lack columns and have them in any order. ``soft={"column": likelihoods}`` gives, for missing
    cells of a column of categories, one likelihood per row and category.
    """

    abilities = KernelRows.abilities - {"bif"} | {"numbers"}

    def score_samples(
        self, X: Any, *, soft: Soft | None = None, return_repairs: bool = False
    ) -> Any:
        """Natural logarithm of the density of what was observed of each row.

        Categories count with their probabilities; of a row of which nothing was observed it is 0. No
        estimate of operators (``learn="spectral"``) counts as less than a thousandth of the density that the
        row had if all columns were independent; those that are not positive are treated as the estimator's
        `negative` says; `return_repairs` returns also how many there were.
        """
        from tacit.numbers.query.evidence import log_densities

        table, likelihoods = self._rows(X, soft)
        with self._threads():
            found, repairs = log_densities(
                self.parameters_,
                table,
                self.encoders_,
                self.margins_,
                soft=likelihoods,
                negative=self.negative,
            )
        return (found, repairs.as_dict()) if return_repairs else found

    def density(self, X: Any) -> Array:
        """The density of what was observed of each row: ``exp(score_samples(X))``."""
        return np.asarray(np.exp(self.score_samples(X)))

    def conditional_density(
        self,
        X: Any,
        target: Hashable,
        grid: ArrayLike | None = None,
        *,
        return_repairs: bool = False,
    ) -> Any:
        """The density of a column of numbers given whatever else is present in each row.

        Parameters
        ----------
        X : table
            The target's own cells are not used.
        target : column
        grid : (place,) numbers, optional
            Where the densities are wanted; by default 200 numbers that span what the column holds.
        return_repairs : bool
            Whether to return also how much was negative, and cut off.

        Returns
        -------
        grid : (place,) array
        densities : (row, place) array
            Those of the tree, without the Gaussian beside it; not negative, of integral one over all
            numbers.
        repairs : dict
            With `return_repairs` only.
        """
        leaf = self._number(target)
        places = self.encoders_[leaf].grid() if grid is None else checked_grid(grid)
        blocks = list(self._coefficients(self._rows(X)[0], leaf))
        densities = np.concatenate([block.densities(places).values for block in blocks])
        if not return_repairs:
            return places, densities
        repairs = sum((block.repairs() for block in blocks), self._no_repairs())
        return places, densities, repairs.as_dict()

    def expectation(self, X: Any, target: Hashable, function: Function | None = None) -> Array:
        """The mean of a column of numbers, or of a function of it, given whatever else is in each row.

        Parameters
        ----------
        X : table
            The target's own cells are not used.
        target : column
        function : callable, optional
            Takes an array of numbers and gives one of the same shape.

        Returns
        -------
        (row,) array
            Within the range that the function has on the column.
        """
        leaf = self._number(target)
        return self._means(self._rows(X)[0], leaf, function)

    def _means(
        self,
        table: MixedTable,
        leaf: int,
        function: Function | None = None,
        soft: Mapping[int, Array] | None = None,
    ) -> Array:
        blocks = self._coefficients(table, leaf, soft)
        tree = np.concatenate([block.expectations(function) for block in blocks])
        return self._averaged(table, leaf, tree, lambda copula: copula.expectation(leaf, function))

    def quantiles(self, X: Any, target: Hashable, q: ArrayLike = (0.05, 0.5, 0.95)) -> Array:
        """Quantiles of a column of numbers given whatever else is present in each row.

        Parameters
        ----------
        X : table
            The target's own cells are not used.
        target : column
        q : number or (level,) numbers from 0 to 1

        Returns
        -------
        (row,) array for a single number, else (row, level) array
        """
        leaf, levels = self._number(target), checked_levels(q)
        numbers = self._quantiles(self._rows(X)[0], leaf, np.atleast_1d(levels))
        return numbers[:, 0] if levels.ndim == 0 else numbers

    def _quantiles(
        self,
        table: MixedTable,
        leaf: int,
        levels: Array,
        soft: Mapping[int, Array] | None = None,
    ) -> Array:
        blocks = self._coefficients(table, leaf, soft)
        tree = np.concatenate([block.quantiles(levels) for block in blocks])
        return self._averaged(table, leaf, tree, lambda copula: copula.quantiles(leaf, levels))

    def predict_proba(
        self,
        X: Any,
        target: Target | None = None,
        *,
        joint: bool = False,
        soft: Soft | None = None,
        return_repairs: bool = False,
    ) -> Any:
        """P(target | whatever else is present in each row) of columns of categories.

        Parameters
        ----------
        X : table
        target : column, or sequence of columns, optional
            A column of categories, or several; none of their cells is used. Without it each of them in
            turn, given all other columns.
        joint : bool
            Several targets together: the table of all of their combinations.
        soft : mapping, optional
            Likelihoods of missing cells.
        return_repairs : bool
            Whether to return also how many estimates had a negative part, which was cut off.

        Returns
        -------
        array, or dict of str to array
            See `LatentTree.predict_proba`.
        """
        from tacit.messages.joint import joint_conditional
        from tacit.trees.query.given import is_column, target_columns

        table, likelihoods = self._rows(X, soft)
        categorical = [self.schema_.labels[place] for place in self.schema_.categorical]
        names = categorical if target is None else target_columns(self.schema_, target)
        leaves = [category_place(self.schema_, name) for name in names]
        if not leaves:
            raise NotAvailableError("there is no column of categories; ask for conditional_density")
        parts, repairs = [], self._no_repairs()
        with self._threads():
            for evidence in self._evidence_blocks(table, likelihoods):
                asked = evidence if target is None else evidence.without(leaves)
                if joint:
                    together = joint_conditional(self.parameters_, asked, leaves)
                    parts.append([together.table])
                    repairs += together.repairs
                else:
                    found = conditionals(self.parameters_, asked, leaves)
                    parts.append(list(found.tables))
                    repairs += found.repairs
        tables = [np.concatenate(each) for each in zip(*parts, strict=True)]
        answer: Any
        if joint or (target is not None and is_column(self.schema_, target)):
            answer = tables[0]
        else:
            answer = np.hstack(tables) if target is None else dict(zip(names, tables, strict=True))
        return (answer, repairs.as_dict()) if return_repairs else answer

    def _predictions(self, X: Any, targets: Sequence[Hashable], *, in_turn: bool) -> list[Any]:
        from tacit.core.input.decode import column_values
        from tacit.numbers.data.masking import without_column

        table, _ = self._rows(X)
        leaves = [self.schema_.index(target) for target in targets]
        if not in_turn:
            for leaf in leaves:
                table = without_column(table, leaf)
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

    def marginals(self, X: Any, *, soft: Soft | None = None) -> dict[Hashable, Array]:
        """P(cell | whole row) of every column of categories; an observed cell has its category for sure."""
        from tacit.messages.conditionals import marginals

        table, likelihoods = self._rows(X, soft)
        leaves = list(self.schema_.categorical)
        with self._threads():
            parts = [
                marginals(self.parameters_, evidence, leaves).tables
                for evidence in self._evidence_blocks(table, likelihoods)
            ]
        return {
            self.schema_.labels[leaf]: np.concatenate(each)
            for leaf, each in zip(leaves, zip(*parts, strict=True), strict=True)
        }

    def query(self, target: Target, given: Given | None = None) -> dict[Any, float]:
        """What is known of a target given some cells.

        Parameters
        ----------
        target : column, or sequence of columns
            A column, or several columns of categories.
        given : mapping of column to number, category, set of categories, or array of likelihoods

        Returns
        -------
        dict
            Of categories (or tuples of them) to probabilities; of a column of numbers, its ``"mean"`` and
            its quantiles ``"5%"``, ``"25%"``, ``"50%"``, ``"75%"`` and ``"95%"``.
        """
        from itertools import product

        from tacit.messages.joint import joint_conditional
        from tacit.trees.query.given import is_column, target_columns

        rows, soft = self._given_rows(given)
        names = target_columns(self.schema_, target)
        leaf = self.schema_.index(names[0])
        if is_column(self.schema_, target) and leaf in self.schema_.continuous:
            mean = float(self._means(rows, leaf, soft=soft)[0])
            numbers = self._quantiles(rows, leaf, np.array(QUERY_LEVELS), soft)[0].tolist()
            return number_summary(mean, numbers)
        evidence = next(self._evidence_blocks(rows, soft))
        leaves = [category_place(self.schema_, name) for name in names]
        with self._threads():
            table = joint_conditional(self.parameters_, evidence.without(leaves), leaves)
        values = table.table[0].ravel().tolist()
        categories = [self.schema_.columns[each].categories for each in leaves]
        if is_column(self.schema_, target):
            return dict(zip(categories[0], values, strict=True))
        return dict(zip(product(*categories), values, strict=True))

    def impute(self, X: Any, *, numbers: str = "mean") -> Any:
        """The rows with every missing cell filled, in the caller's kind of table.

        Parameters
        ----------
        X : table
        numbers : {"mean", "median"}
            What a missing number becomes, given the row; a missing category becomes the most probable one.
        """
        from tacit.core.input.mixed_table import decode_mixed
        from tacit.numbers.query.evidence import cell_predictions

        check_choice("numbers", numbers, IMPUTED)
        table, _ = self._rows(X)
        leaves = np.flatnonzero(table.missing.any(axis=0)).tolist()
        median = numbers == "median"
        with self._threads():
            told, _ = cell_predictions(
                self.parameters_, table, self.encoders_, leaves, median=median
            )
            blend = self._blend if leaves else None
            if blend is not None:
                told = blend.average_missing(table, told, median=median)
        filled = {
            leaf: told[leaf] if leaf in self.schema_.continuous else told[leaf].argmax(axis=1)
            for leaf in leaves
        }
        return decode_mixed(table.filled(filled), like=X)

    def most_likely(self, X: Any) -> Any:
        """Not available: no completion of numbers is the most probable one; see `impute`."""
        raise NotAvailableError(
            "numbers have densities, so that no joint completion is the most probable; ask for impute"
        )

    def to_bif(self, path: Any, *, component: int | None = None) -> None:
        """Not available: BIF holds categories only."""
        raise NotAvailableError("BIF holds categories only; a model of numbers is kept by save")

    def posterior(self, X: Any, *, soft: Soft | None = None) -> dict[str, Array]:
        """P(hidden state | what was observed of the row), by name; see `LatentTree.posterior`."""
        from tacit.messages.hidden_states import posterior_by_name

        table, likelihoods = self._rows(X, soft)
        with self._threads():
            parts = [
                posterior_by_name(self.parameters_, evidence)[0]
                for evidence in self._evidence_blocks(table, likelihoods)
            ]
        return {name: np.concatenate([each[name] for each in parts]) for name in parts[0]}

    def sample(
        self,
        n_samples: int = 1,
        *,
        given: Given | None = None,
        random_state: Any = None,
        like: Any = None,
    ) -> Any:
        """Rows drawn from the model, or from its conditional given evidence.

        Parameters
        ----------
        n_samples : int
            Number of rows.
        given : mapping of column to number, category, set of categories, or likelihoods, optional
        random_state : int, Generator or None
        like : table or name of a library, optional
            The kind of table to return, by default that of the training data.
        """
        from tacit.core.input.mixed_table import decode_mixed, empty_mixed
        from tacit.numbers.query.densities import sample_rows

        check_rows("n_samples", n_samples)
        rows, soft = self._given_rows(given)
        evidence = next(self._evidence_blocks(rows, soft))
        rng = generator_from(random_state)
        with self._threads():
            found = sample_rows(self.parameters_, n_samples, rng, self.encoders_, evidence)
        columns: dict[int, NDArray[Any]] = dict(enumerate(found.columns))
        for leaf in evidence.signed:
            columns[leaf] = np.full(n_samples, rows.column(leaf)[0])
        table = empty_mixed(n_samples, self.schema_).filled(columns)
        return decode_mixed(table, like=self._kind_of_table if like is None else like)
