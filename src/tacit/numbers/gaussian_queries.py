"""The queries of Gaussian trees."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.core.arguments import check_choice, check_rows, generator_from
from tacit.errors import NotAvailableError
from tacit.numbers.gaussian_rows import GaussianRows
from tacit.numbers.query.arguments import (
    QUERY_LEVELS,
    category_place,
    checked_grid,
    checked_levels,
    number_summary,
)
from tacit.numbers.query.normal_scores import (
    expected_numbers,
    log_densities,
    probabilities_from_means,
)
from tacit.trees.table_model import Given, Soft, Target

if TYPE_CHECKING:
    from tacit.numbers.query.cases import Cases

Array = NDArray[np.float64]
Function = Callable[[Array], Array]


class GaussianQueries(GaussianRows):
    """Queries of a fitted Gaussian over scores; missing cells are integrated out everywhere."""

    @property
    def n_parameters_(self) -> int:
        """Free parameters of means and covariance.

        Of normal scores those of the correlations only: the margins are not parametric, so that `bic` and
        `aic` compare models with the same margins.
        """
        self._check_fitted()
        d = len(self.gaussian_.mean)
        shrunk = self.diagnostics_.get("shrinkage", 0.0) > 0
        n_correlations = d * (d - 1) // 2 if shrunk else len(self.topology_.contracted().edges)
        normal = any(margin is not None for margin in self.scores_.margins)
        return n_correlations + (0 if normal else 2 * d)

    # -- densities --------------------------------------------------------------------------------

    def score_samples(
        self, X: Any, *, soft: Soft | None = None, return_repairs: bool = False
    ) -> Any:
        """Natural log-density of the observed cells of each row; 0 where there is none.

        Categories count with their probabilities, each column's given the numbers and the columns of
        categories before it.

        Parameters
        ----------
        X : table
        soft : mapping of column to (row, category) likelihoods, optional
        return_repairs : bool
            Whether to return also a dict, which is empty: nothing has to be repaired.
        """
        cases, log_density = self._scored(self._cases(X, soft))
        values = cases.total(log_density)
        return (values, {}) if return_repairs else values

    def density(self, X: Any) -> Array:
        """(row,) the density of the observed cells of each row: ``exp(score_samples(X))``."""
        return np.asarray(np.exp(self.score_samples(X)))

    def conditional_density(
        self, X: Any, target: Hashable, grid: ArrayLike | None = None
    ) -> tuple[Array, Array]:
        """The density of a column of numbers given whatever else is present in each row.

        Parameters
        ----------
        X : table
            The target's own cells are not used.
        target : column
        grid : (place,) numbers, optional
            Where the densities are computed; by default 200 numbers that span the column.

        Returns
        -------
        grid : (place,) array
        densities : (row, place) array
        """
        place = self._number(target)
        points = self._grid(place) if grid is None else checked_grid(grid)
        mean, scale = self._conditional(self._table(X), place)
        z = (self.scores_.scores(place, points) - mean[:, None]) / scale[:, None]
        log_density = -0.5 * (z**2 + np.log(2 * np.pi)) - np.log(scale[:, None])
        return points, np.exp(log_density + self.scores_.log_slope(place, points))

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
        """
        place = self._number(target)
        conditional = self._conditional(self._table(X), place)
        return expected_numbers(self.scores_, place, *conditional, function)

    def quantiles(self, X: Any, target: Hashable, q: ArrayLike = (0.05, 0.5, 0.95)) -> Array:
        """Quantiles of a column of numbers given whatever else is present in each row.

        Parameters
        ----------
        X : table
            The target's own cells are not used.
        target : column
        q : number or (level,) numbers between 0 and 1

        Returns
        -------
        (row,) array for a single number, else (row, level) array
        """
        from scipy.special import ndtri

        place = self._number(target)
        levels = checked_levels(q, ends=False)
        mean, scale = self._conditional(self._table(X), place)
        z = ndtri(np.atleast_1d(levels))
        numbers = self.scores_.numbers(place, mean[:, None] + scale[:, None] * z)
        return numbers if levels.ndim else numbers[:, 0]

    # -- categories -------------------------------------------------------------------------------

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

        They are the conditional means of the indicators, clipped and normalised.

        Parameters
        ----------
        X : table
        target : column, or sequence of columns, optional
            Of categories; none of their cells is used. Without it each of them in turn, given all others.
        joint : bool
            Several targets together: the table of all of their combinations.
        soft : mapping of column to (row, category) likelihoods, optional
            Of missing cells.
        return_repairs : bool
            Whether to return also a dict, which is empty: nothing has to be repaired.

        Returns
        -------
        array, or dict of column to array
            See `LatentTree.predict_proba`.
        """
        from tacit.trees.query.given import is_column, target_columns

        self._check_fitted()
        every = [self.schema_.labels[place] for place in self.schema_.categorical]
        names = every if target is None else target_columns(self.schema_, target)
        places = [category_place(self.schema_, name) for name in names]
        cases = self._cases(X, soft, without=() if target is None else places)
        answer: Any
        if joint:
            answer = self._joint(cases, places)
        else:
            tables = [self._category_table(cases, place) for place in places]
            if target is None:
                answer = np.hstack([np.empty((cases.n_rows, 0)), *tables])
            elif is_column(self.schema_, target):
                answer = tables[0]
            else:
                answer = dict(zip(names, tables, strict=True))
        return (answer, {}) if return_repairs else answer

    def marginals(self, X: Any, *, soft: Soft | None = None) -> dict[Hashable, Array]:
        """P(cell | whole row) of every column of categories; an observed cell has its category for sure."""
        from tacit.trees.query.given import soft_likelihoods

        table = self._table(X)
        likelihoods = soft_likelihoods(soft, self.schema_)
        answers: dict[Hashable, Array] = {}
        for place in self.schema_.categorical:
            others = {column: each for column, each in likelihoods.items() if column != place}
            chances = self._category_table(self._cases_of(table, others), place)
            if place in likelihoods:
                chances = chances * likelihoods[place]
                chances = chances / chances.sum(axis=1, keepdims=True)
            codes = table.column(place)
            observed = codes >= 0
            chances[observed] = codes[observed, None] == np.arange(chances.shape[1])
            answers[self.schema_.labels[place]] = chances
        return answers

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
        from tacit.trees.query.given import is_column, target_columns

        table, soft = self._given_rows(given)
        places = [self.schema_.index(name) for name in target_columns(self.schema_, target)]
        cases = self._cases_of(table, soft, without=places)
        single = is_column(self.schema_, target)
        if single and places[0] in self.schema_.continuous:
            return self._number_query(cases, places[0])
        places = [category_place(self.schema_, self.schema_.labels[place]) for place in places]
        values = self._joint(cases, places)[0].ravel().tolist()
        categories = [self.schema_.columns[place].categories for place in places]
        keys = categories[0] if single else product(*categories)
        return dict(zip(keys, values, strict=True))

    def _number_query(self, cases: Cases, place: int) -> dict[Any, float]:
        from tacit.numbers.query.normal_scores import mixture_quantiles

        mean, scale = self._conditional(cases.table, place)
        weights = cases.weights(self._scored(cases)[1])
        expected = float(weights @ expected_numbers(self.scores_, place, mean, scale))
        scores = mixture_quantiles(weights, mean, scale, np.array(QUERY_LEVELS))
        return number_summary(expected, self.scores_.numbers(place, scores).tolist())

    # -- rows -------------------------------------------------------------------------------------

    def impute(self, X: Any, *, numbers: str = "mean") -> Any:
        """The rows with every missing cell filled for itself, in the caller's kind of table.

        Parameters
        ----------
        X : table
        numbers : {"mean", "median"}
            What a missing number becomes, given the row; the same with ``margins="gaussian"``. A missing
            category becomes the most probable one.
        """
        from tacit.core.input.mixed_table import decode_mixed
        from tacit.numbers.query.gaussian import fill

        check_choice("numbers", numbers, ("mean", "median"))
        table = self._table(X)
        columns: dict[int, NDArray[Any]] = {}
        with self._threads():
            filled = fill(self.gaussian_, self.scores_.coordinates(table), variances=True)
            for place in np.flatnonzero(table.missing.any(axis=0)).tolist():
                if place in self.schema_.categorical:
                    means = filled.values
                    chances = probabilities_from_means(self.gaussian_, self.scores_, place, means)
                    columns[place] = chances.argmax(axis=1)
                    continue
                gone, start = table.missing[:, place], self.scores_.starts[place]
                mean, scale = filled.values[gone, start], np.sqrt(filled.variances[gone, start])
                columns[place] = np.full(table.n_rows, np.nan)
                if numbers == "median":
                    columns[place][gone] = self.scores_.numbers(place, mean)
                else:
                    columns[place][gone] = expected_numbers(self.scores_, place, mean, scale)
        return decode_mixed(table.filled(columns), like=X)

    def most_likely(self, X: Any) -> Any:
        """The rows with missing cells filled by the most likely joint completion.

        Numbers are at the mode of their scores given all categories; completions of the categories are
        compared by their density with the numbers there.
        """
        from tacit.core.input.mixed_table import decode_mixed
        from tacit.numbers.query.gaussian import fill

        table = self._table(X)
        cards = self.schema_.cards
        soft = {j: np.ones((table.n_rows, cards[j])) for j in self.schema_.categorical}
        cases = self._cases_of(table, soft)
        with self._threads():
            scores = fill(self.gaussian_, self.scores_.coordinates(cases.table)).values
            columns: dict[int, NDArray[Any]] = {
                place: self.scores_.numbers(place, scores[:, self.scores_.starts[place]])
                for place in self.schema_.continuous
            }
            filled = cases.table.filled(columns)
            log_density = log_densities(self.gaussian_, self.scores_, filled)
            log_density = log_density - self.scores_.log_slopes(filled)
        # Stable order by row, then by density: the first case of each row is the best.
        order = np.lexsort((-log_density, cases.row))
        best = order[np.searchsorted(cases.row[order], np.arange(table.n_rows))]
        return decode_mixed(filled.take(best), like=X)

    def posterior(self, X: Any, *, soft: Soft | None = None) -> dict[str, Array]:
        """Not available: the hidden nodes of a Gaussian tree are numbers, and have no states."""
        raise NotAvailableError(
            "the hidden nodes of a Gaussian tree are numbers without states; fit a KernelTree for "
            "posteriors of hidden states"
        )

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
        from tacit.core.input.mixed_table import decode_mixed
        from tacit.numbers.query.normal_scores import sampled_table

        check_rows("n_samples", n_samples)
        table, soft = self._given_rows(given)
        rng = generator_from(random_state)
        rows = np.zeros(n_samples, dtype=np.int64)
        if soft:
            cases, log_density = self._scored(self._cases_of(table, soft))
            table = cases.table
            rows = rng.choice(table.n_rows, n_samples, p=cases.weights(log_density))
        with self._threads():
            drawn = sampled_table(self.gaussian_, self.scores_, table.take(rows), rng)
        return decode_mixed(drawn, like=self._kind_of_table if like is None else like)

    def _predictions(self, X: Any, targets: Sequence[Hashable], *, in_turn: bool) -> list[Any]:
        from tacit.core.input.decode import column_values

        places = [self.schema_.index(target) for target in targets]
        cases = self._cases(X, None, without=() if in_turn else places)
        values: list[Any] = []
        for place in places:
            if place in self.schema_.continuous:
                conditional = self._conditional(cases.table, place)
                values.append(expected_numbers(self.scores_, place, *conditional))
            else:
                codes = self._category_table(cases, place).argmax(axis=1)
                values.append(column_values(self.schema_.columns[place], codes))
        return values
