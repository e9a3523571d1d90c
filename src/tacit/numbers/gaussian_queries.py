"""What every fitted Gaussian tree can be asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import DensityMixin

from tacit.core.arguments import check_choice, check_rows, generator_from
from tacit.core.model import Model
from tacit.errors import ArgumentTypeError
from tacit.numbers.model_files import GAUSSIAN_TREE_FILE
from tacit.numbers.query.arguments import (
    categories_by_name,
    category_place,
    checked_grid,
    checked_shares,
    number_place,
)

if TYPE_CHECKING:
    from tacit.core.input.mixed_table import MixedSchema, MixedTable
    from tacit.numbers.data.normal_scores import Scores
    from tacit.numbers.learn.gaussian_tree import Learnt
    from tacit.numbers.model.gaussian import Gaussian
    from tacit.trees.structure.topology import Topology

Array = NDArray[np.float64]
Function = Callable[[Array], Array]


class GaussianQueries(DensityMixin, Model):
    """Queries of a fitted Gaussian over scores; missing cells are integrated out everywhere.

    Rows may lack columns and have them in any order. A question about a target column does not look at what
    stands in that column.
    """

    kind = "table"
    abilities = frozenset({"score", "predict", "impute", "sample", "tree", "numbers"})

    schema_: MixedSchema
    scores_: Scores
    gaussian_: Gaussian
    topology_: Topology
    _file = GAUSSIAN_TREE_FILE
    diagnostics_: dict[str, Any]
    unknown: str
    n_jobs: int | None

    def __sklearn_is_fitted__(self) -> bool:
        """Whether there is something to ask."""
        return hasattr(self, "gaussian_")

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn wants to know: cells may be missing, and may be text."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    @property
    def categories_(self) -> dict[str, tuple[Any, ...]]:
        """The categories of each column that has any, in the order of all answers."""
        self._check_fitted()
        return categories_by_name(self.schema_)

    @property
    def n_iter_(self) -> int:
        """Steps of EM that the covariance took."""
        self._check_fitted()
        return int(self.diagnostics_.get("n_steps", 1))

    # -- densities --------------------------------------------------------------------------------

    def score_samples(self, X: Any) -> Array:
        """Natural logarithm of the density of what is there of each row; 0 where nothing is.

        Categories count with their probabilities, each column's given the numbers and the columns of
        categories before it.
        """
        from tacit.numbers.query.normal_scores import log_densities

        table = self._table(X)
        with self._threads():
            return log_densities(self.gaussian_, self.scores_, table)

    def score(self, X: Any, y: Any = None) -> float:
        """The mean of `score_samples`, in nats per row."""
        return float(self.score_samples(X).mean())

    def density(self, X: Any) -> Array:
        """The density of what is there of each row: (row,)."""
        return np.asarray(np.exp(self.score_samples(X)))

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
        """
        place = self._number(target)
        points = self._grid(place) if grid is None else checked_grid(grid)
        mean, scale = self._conditional(X, place)
        z = (self.scores_.scores(place, points) - mean[:, None]) / scale[:, None]
        log_density = -0.5 * (z**2 + np.log(2 * np.pi)) - np.log(scale[:, None])
        return points, np.exp(log_density + self.scores_.log_slope(place, points))

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
        """
        from tacit.numbers.query.normal_scores import expected_numbers

        place = self._number(target)
        return expected_numbers(self.scores_, place, *self._conditional(X, place), function)

    def quantiles(self, X: Any, target: str, q: ArrayLike = (0.05, 0.5, 0.95)) -> Array:
        """Quantiles of a column of numbers given whatever else is present in each row.

        Parameters
        ----------
        X : table
            The target's own cells are not used.
        target : str
        q : number or (share,) numbers between 0 and 1

        Returns
        -------
        (row,) array for a single number, else (row, share) array
        """
        from scipy.special import ndtri

        place = self._number(target)
        shares = checked_shares(q, ends=False)
        mean, scale = self._conditional(X, place)
        z = ndtri(np.atleast_1d(shares))
        found = self.scores_.numbers(place, mean[:, None] + scale[:, None] * z)
        return found if shares.ndim else found[:, 0]

    def predict_proba(self, X: Any, target: str | Sequence[str] | None = None) -> Any:
        """P(target | whatever else is present in each row) of columns of categories.

        They are the conditional means of the indicators, made to lie between zero and one.

        Parameters
        ----------
        X : table
        target : str or sequence of str, optional
            A column of categories, or several; none of their cells is used. Without it each of them in
            turn, given all other columns.

        Returns
        -------
        (row, category) array in the order of `categories_`, or a dict of such arrays for several targets;
        without a target those of all columns side by side
        """
        from tacit.numbers.query.normal_scores import category_probabilities
        from tacit.trees.query.given import target_columns

        table = self._table(X)
        rows = self.scores_.coordinates(table)
        every = [self.schema_.names[place] for place in self.schema_.categorical]
        names = every if target is None else target_columns(self.schema_, target)
        places = [category_place(self.schema_, name) for name in names]
        if target is not None:
            for place in places:
                rows[:, self.scores_.coordinates_of(place)] = np.nan
        with self._threads():
            found = [
                category_probabilities(self.gaussian_, self.scores_, place, rows)
                for place in places
            ]
        if isinstance(target, str):
            return found[0]
        if target is None:
            return np.hstack([np.empty((len(rows), 0)), *found])
        return dict(zip(names, found, strict=True))

    # -- rows -------------------------------------------------------------------------------------

    def impute(self, X: Any, *, numbers: str = "mean") -> Any:
        """The rows with every missing cell filled, in the caller's kind of table.

        Parameters
        ----------
        X : table
        numbers : {"mean", "median"}
            What a missing number becomes, given the row. These are the same unless numbers were transformed;
            the median has the smaller absolute error. A missing category becomes the most probable one.
        """
        from tacit.core.input.mixed_table import decode_mixed
        from tacit.numbers.query.gaussian import fill
        from tacit.numbers.query.normal_scores import expected_numbers, probabilities_from_means

        check_choice("numbers", numbers, ("mean", "median"))
        table = self._table(X)
        columns: dict[int, NDArray[Any]] = {}
        with self._threads():
            found = fill(self.gaussian_, self.scores_.coordinates(table), variances=True)
            for place in np.flatnonzero(table.missing.any(axis=0)).tolist():
                if place in self.schema_.categorical:
                    shares = probabilities_from_means(
                        self.gaussian_, self.scores_, place, found.values
                    )
                    columns[place] = shares.argmax(axis=1)
                    continue
                gone, start = table.missing[:, place], self.scores_.starts[place]
                mean, scale = found.values[gone, start], np.sqrt(found.variances[gone, start])
                told = np.full(table.n_rows, np.nan)
                if numbers == "median":
                    told[gone] = self.scores_.numbers(place, mean)
                else:
                    told[gone] = expected_numbers(self.scores_, place, mean, scale)
                columns[place] = told
        return decode_mixed(table.filled(columns), like=X)

    def sample(
        self,
        n: int = 1,
        *,
        given: Mapping[str, Any] | None = None,
        random_state: Any = None,
        like: Any = None,
    ) -> Any:
        """Rows drawn from the model, or from its conditional given the values of some columns.

        Parameters
        ----------
        n : int
            Number of rows.
        given : mapping of column to value, optional
        random_state : int, Generator or None
        like : table or name of a library, optional
            The kind of table to return, by default that of the training data.
        """
        from tacit.core.input.mixed_table import decode_mixed, empty_mixed
        from tacit.numbers.query.normal_scores import sampled_table

        check_rows("n", n)
        self._check_fitted()
        if given is not None and not isinstance(given, Mapping):
            raise ArgumentTypeError(
                f"given is a {type(given).__name__}; give a mapping of column to value"
            )
        known = empty_mixed(1, self.schema_)
        if given:
            known = self._table({name: [value] for name, value in given.items()})
        rows = known.take(np.zeros(n, dtype=np.int64))
        with self._threads():
            drawn = sampled_table(self.gaussian_, self.scores_, rows, generator_from(random_state))
        kind = self.diagnostics_.get("kind_of_table", "dict") if like is None else like
        return decode_mixed(drawn, like=kind)

    # -- within -----------------------------------------------------------------------------------

    def _keep(self, X: Any, table: MixedTable, learnt: Learnt) -> None:
        """Take what was learnt."""
        from tacit.core.input.chunks import kind_of_table
        from tacit.trees.learn.fit import has_names

        kind = kind_of_table(X)
        self.schema_, self.scores_ = table.schema, learnt.scores
        self.gaussian_, self.topology_ = learnt.gaussian, learnt.topology
        self.n_features_in_ = len(table.schema)
        if has_names(X, kind, table.schema):
            self.feature_names_in_ = np.array(table.schema.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self.diagnostics_ = {
            "n_rows": table.n_rows,
            "kind_of_table": kind,
            **learnt.diagnostics,
        }

    def _threads(self) -> Any:
        from tacit.core.threads import limit_threads

        return limit_threads(self.n_jobs)

    def _table(self, X: Any) -> MixedTable:
        from tacit.core.input.read_mixed_table import encode_mixed

        self._check_fitted()
        check_choice("unknown", self.unknown, ("error", "missing"))
        return encode_mixed(X, self.schema_, unknown=self.unknown, partial=True)

    def _number(self, target: str) -> int:
        """The place of a column of numbers."""
        self._check_fitted()
        return number_place(self.schema_, target)

    def _conditional(self, X: Any, place: int) -> tuple[Array, Array]:
        """Mean and standard deviation of the score of a column of numbers: (row,) each."""
        from tacit.numbers.query.gaussian import conditionals

        with self._threads():
            rows = self.scores_.coordinates(self._table(X))
            return conditionals(self.gaussian_, rows, self.scores_.starts[place])

    def _grid(self, place: int) -> Array:
        column: Any = self.schema_.columns[place]
        reach = 0.1 * (column.high - column.low) or 1.0
        return np.linspace(column.low - reach, column.high + reach, 200)
