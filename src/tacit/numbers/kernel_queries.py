"""What a fitted tree of numbers and categories can be asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.core.arguments import check_choice, check_rows, generator_from
from tacit.errors import NotAvailableError
from tacit.numbers.kernel_rows import KernelRows
from tacit.numbers.query.arguments import category_place, checked_grid, checked_shares

if TYPE_CHECKING:
    from tacit.trees.data.mixed_table import MixedTable

Array = NDArray[np.float64]
Function = Callable[[Array], Array]

IMPUTED = ("mean", "median")
# What `query` tells of a column of numbers.
SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)


class KernelQueries(KernelRows):
    """Queries of a fitted tree whose leaves are numbers or categories; missing cells are summed out.

    Rows may lack columns and have them in any order. ``soft={"column": likelihoods}`` gives, for missing
    cells of a column of categories, one likelihood per row and category.
    """

    abilities = KernelRows.abilities - {"bif"} | {"numbers"}

    def score_samples(self, X: Any, *, soft: Mapping[str, Any] | None = None) -> Array:
        """Natural logarithm of the density of what was observed of each row.

        Categories count with their probabilities; of a row of which nothing was observed it is 0. No
        estimate of operators (``learn="spectral"``) counts as less than a thousandth of the density that the
        row had if all columns were independent; those that are not positive are treated as the estimator's
        `negative` says, and counted in ``diagnostics_["repairs"]``.
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
        self._record(repairs)
        return found

    def density(self, X: Any) -> Array:
        """The density of what was observed of each row: ``exp(score_samples(X))``."""
        return np.exp(self.score_samples(X))

    def conditional_density(
        self, X: Any, target: str, grid: ArrayLike | None = None
    ) -> tuple[Array, Array]:
        """The density of a column of numbers given whatever else is present in each row.

        Parameters
        ----------
        X : table
            The target's own cells are not used.
        target : str
        grid : (place,) numbers, optional
            Where the densities are wanted; by default 200 numbers that span what the column holds.

        Returns
        -------
        grid : (place,) array
        densities : (row, place) array
            Those of the tree, without the Gaussian beside it; not negative, of integral one over all
            numbers. What was negative before, as a share, is in ``diagnostics_["repairs"]``.
        """
        leaf = self._number(target)
        places = self.encoders_[leaf].grid() if grid is None else checked_grid(grid)
        told = self._coefficients(self._rows(X)[0], leaf)
        return places, np.concatenate([each.densities(places).values for each in told])

    def expectation(self, X: Any, target: str, function: Function | None = None) -> Array:
        """The mean of a column of numbers, or of a function of it, given whatever else is in each row.

        Parameters
        ----------
        X : table
            The target's own cells are not used.
        target : str
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
        told = self._coefficients(table, leaf, soft)
        tree = np.concatenate([each.expectations(function) for each in told])
        return self._joined(table, leaf, tree, lambda answers: answers.expectation(leaf, function))

    def quantiles(self, X: Any, target: str, q: ArrayLike = (0.05, 0.5, 0.95)) -> Array:
        """Quantiles of a column of numbers given whatever else is present in each row.

        Parameters
        ----------
        X : table
            The target's own cells are not used.
        target : str
        q : number or (share,) numbers from 0 to 1

        Returns
        -------
        (row,) array for a single number, else (row, share) array
        """
        leaf, shares = self._number(target), checked_shares(q)
        found = self._quantiles(self._rows(X)[0], leaf, np.atleast_1d(shares))
        return found[:, 0] if shares.ndim == 0 else found

    def _quantiles(
        self,
        table: MixedTable,
        leaf: int,
        shares: Array,
        soft: Mapping[int, Array] | None = None,
    ) -> Array:
        told = self._coefficients(table, leaf, soft)
        tree = np.concatenate([each.quantiles(shares) for each in told])
        return self._joined(table, leaf, tree, lambda answers: answers.quantiles(leaf, shares))

    def predict_proba(
        self,
        X: Any,
        target: str | Sequence[str] | None = None,
        *,
        joint: bool = False,
        soft: Mapping[str, Any] | None = None,
    ) -> Any:
        """P(target | whatever else is present in each row) of columns of categories.

        Parameters
        ----------
        X : table
        target : str or sequence of str, optional
            A column of categories, or several; none of their cells is used. Without it each of them in
            turn, given all other columns.
        joint : bool
            Several targets together: the table of all of their combinations.
        soft : mapping, optional
            Likelihoods of missing cells.

        Returns
        -------
        array, or dict of str to array
            See `LatentTree.predict_proba`.
        """
        from tacit.messages.conditionals import conditionals
        from tacit.messages.joint import joint_conditional
        from tacit.trees.query.given import target_names

        table, likelihoods = self._rows(X, soft)
        categorical = [self.schema_.names[place] for place in self.schema_.categorical]
        names = categorical if target is None else target_names(self.schema_, target)
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
        self._record(repairs)
        tables = [np.concatenate(each) for each in zip(*parts, strict=True)]
        if joint or isinstance(target, str):
            return tables[0]
        return np.hstack(tables) if target is None else dict(zip(names, tables, strict=True))

    def marginals(self, X: Any, *, soft: Mapping[str, Any] | None = None) -> dict[str, Array]:
        """P(cell | whole row) of every column of categories; an observed cell has its category for sure."""
        from tacit.messages.conditionals import marginals

        table, likelihoods = self._rows(X, soft)
        leaves = list(self.schema_.categorical)
        parts, repairs = [], self._no_repairs()
        with self._threads():
            for evidence in self._evidence_blocks(table, likelihoods):
                found = marginals(self.parameters_, evidence, leaves)
                parts.append(found.tables)
                repairs += found.repairs
        self._record(repairs)
        return {
            self.schema_.names[leaf]: np.concatenate(each)
            for leaf, each in zip(leaves, zip(*parts, strict=True), strict=True)
        }

    def query(
        self, target: str | Sequence[str], given: Mapping[str, Any] | None = None
    ) -> dict[Any, float]:
        """What is known of a target given some cells.

        Parameters
        ----------
        target : str or sequence of str
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
        from tacit.trees.query.given import target_names

        rows, soft = self._given_rows(given)
        names = target_names(self.schema_, target)
        if isinstance(target, str) and self.schema_.index(target) in self.schema_.continuous:
            leaf = self.schema_.index(target)
            mean = float(self._means(rows, leaf, soft=soft)[0])
            numbers = self._quantiles(rows, leaf, np.array(SHARES), soft)[0].tolist()
            shares = [f"{share:.0%}" for share in SHARES]
            return {"mean": mean, **dict(zip(shares, numbers, strict=True))}
        evidence = next(self._evidence_blocks(rows, soft))
        leaves = [category_place(self.schema_, name) for name in names]
        with self._threads():
            table = joint_conditional(self.parameters_, evidence.without(leaves), leaves)
        self._record(table.repairs)
        values = table.table[0].ravel().tolist()
        if isinstance(target, str):
            return dict(zip(self.categories_[target], values, strict=True))
        every = product(*(self.categories_[name] for name in names))
        return dict(zip(every, values, strict=True))

    def impute(self, X: Any, *, numbers: str = "mean") -> Any:
        """The rows with every missing cell filled, in the caller's kind of table.

        Parameters
        ----------
        X : table
        numbers : {"mean", "median"}
            What a missing number becomes, given the row; a missing category becomes the most probable one.
        """
        from tacit.numbers.query.evidence import cell_answers
        from tacit.trees.data.mixed_table import decode_mixed

        check_choice("numbers", numbers, IMPUTED)
        table, _ = self._rows(X)
        leaves = np.flatnonzero(table.missing.any(axis=0)).tolist()
        median = numbers == "median"
        with self._threads():
            told, repairs = cell_answers(
                self.parameters_, table, self.encoders_, leaves, median=median
            )
            blend = self._blend if leaves else None
            if blend is not None:
                told = blend.filled(table, told, median=median)
        self._record(repairs)
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

    def posterior(self, X: Any, *, soft: Mapping[str, Any] | None = None) -> dict[str, Array]:
        """P(hidden state | what was observed of the row), by name; see `LatentTree.posterior`."""
        from tacit.messages.hidden_states import posterior_by_name

        table, likelihoods = self._rows(X, soft)
        parts, repairs = [], self._no_repairs()
        with self._threads():
            for evidence in self._evidence_blocks(table, likelihoods):
                found, made = posterior_by_name(self.parameters_, evidence)
                parts.append(found)
                repairs += made
        self._record(repairs)
        return {name: np.concatenate([each[name] for each in parts]) for name in parts[0]}

    def sample(
        self,
        n: int = 1,
        *,
        given: Mapping[str, Any] | None = None,
        random_state: Any = None,
        like: Any = None,
    ) -> Any:
        """Rows drawn from the model, or from its conditional given evidence.

        Parameters
        ----------
        n : int
            Number of rows.
        given : mapping of column to number, category, set of categories, or likelihoods, optional
        random_state : int, Generator or None
        like : table or name of a library, optional
            The kind of table to return, by default that of the training data.
        """
        from tacit.numbers.query.densities import draw_rows
        from tacit.trees.data.mixed_table import decode_mixed, empty_mixed

        check_rows("n", n)
        rows, soft = self._given_rows(given)
        evidence = next(self._evidence_blocks(rows, soft))
        rng = generator_from(random_state)
        with self._threads():
            found = draw_rows(self.parameters_, n, rng, self.encoders_, evidence)
        self._record(found.repairs)
        columns: dict[int, NDArray[Any]] = dict(enumerate(found.columns))
        for leaf in evidence.signed:
            columns[leaf] = np.full(n, rows.column(leaf)[0])
        table = empty_mixed(n, self.schema_).filled(columns)
        return decode_mixed(table, like=self._kind if like is None else like)
