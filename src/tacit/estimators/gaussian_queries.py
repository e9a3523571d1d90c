"""What every fitted Gaussian tree can be asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, DensityMixin

from tacit.errors import ArgumentError, ArgumentTypeError, ColumnError, DataError
from tacit.estimators.arguments import check_choice, check_rows, generator_from

if TYPE_CHECKING:
    from tacit.data.mixed import MixedSchema, MixedTable
    from tacit.data.scores import Scores
    from tacit.estimators.gaussian_learning import Learnt
    from tacit.params.gaussian import Gaussian
    from tacit.structure.topology import Topology

Array = NDArray[np.float64]

_N_NODES = 64  # of a quadrature that is exact for polynomials of twice the degree
_LEAST = 1e-12  # probability of a category


class GaussianQueries(DensityMixin, BaseEstimator):
    """Queries of a fitted Gaussian over scores; missing cells are integrated out everywhere.

    Rows may lack columns and have them in any order. A question about a target column does not look at what
    stands in that column.
    """

    schema_: MixedSchema
    scores_: Scores
    gaussian_: Gaussian
    topology_: Topology
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
        columns = self.schema_.columns
        return {columns[j].name: columns[j].categories for j in self.schema_.categorical}

    @property
    def n_iter_(self) -> int:
        """Steps of EM that the covariance took."""
        self._check_fitted()
        return int(self.diagnostics_.get("n_steps", 1))

    # -- densities --------------------------------------------------------------------------------

    def score_samples(self, X: Any) -> Array:
        """Natural logarithm of the density of what is there of each row; 0 where nothing is.

        Where columns are categories, the density is that of the Gaussian at their indicators: a number to
        compare rows by, but no probability.
        """
        from tacit.query.gaussian import log_density

        table = self._table(X)
        with self._threads():
            found = log_density(self.gaussian_, self.scores_.coordinates(table))
            return found + self.scores_.log_slopes(table)

    def score(self, X: Any, y: Any = None) -> float:
        """The mean of `score_samples`, in nats per row."""
        return float(self.score_samples(X).mean())

    def density(self, X: Any) -> Array:
        """The density of what is there of each row: (row,)."""
        return np.asarray(np.exp(self.score_samples(X)))

    def conditional_density(self, X: Any, target: str, grid: Any = None) -> tuple[Array, Array]:
        """Density of a column of numbers given the rest of each row.

        Parameters
        ----------
        X : table
        target : str
            A column of numbers.
        grid : (number,) array, optional
            Where; by default 200 numbers from below the least to above the largest of the training data.

        Returns
        -------
        grid : (number,) array
        density : (row, number) array
        """
        place = self._numbers_place(target)
        points = self._grid(place) if grid is None else _checked_numbers("grid", grid)
        mean, scale = self._conditional(X, place)
        scores = self.scores_.scores(place, points)
        z = (scores - mean[:, None]) / scale[:, None]
        log_density = -0.5 * (z**2 + np.log(2 * np.pi)) - np.log(scale[:, None])
        return points, np.exp(log_density + self.scores_.log_slope(place, points))

    def expectation(
        self, X: Any, target: str, function: Callable[[Array], Array] | None = None
    ) -> Array:
        """E[target | the rest of each row], or of a function of it: (row,).

        Parameters
        ----------
        X : table
        target : str
            A column of numbers.
        function : callable, optional
            From an array of numbers to an array of the same shape.
        """
        place = self._numbers_place(target)
        return self._expected(place, *self._conditional(X, place), function)

    def quantiles(self, X: Any, target: str, q: Any = 0.5) -> Array:
        """Quantiles of a column of numbers given the rest of each row.

        Parameters
        ----------
        X : table
        target : str
            A column of numbers.
        q : float, or (quantile,) array
            Between 0 and 1.

        Returns
        -------
        (row,) array, or (row, quantile)
        """
        from scipy.special import ndtri

        place = self._numbers_place(target)
        shares = np.asarray(q, dtype=np.float64)
        if shares.ndim > 1 or not ((shares > 0) & (shares < 1)).all():
            raise ArgumentError(f"q={q!r}; give numbers between 0 and 1, both excluded")
        mean, scale = self._conditional(X, place)
        z = ndtri(np.atleast_1d(shares))
        found = self.scores_.numbers(place, mean[:, None] + scale[:, None] * z)
        return found if shares.ndim else found[:, 0]

    def predict_proba(self, X: Any, target: str | None = None) -> Array:
        """P(target | the rest of each row) of a column of categories, in their order: (row, category).

        They are the conditional means of the indicators, made to lie between zero and one. Without a target:
        of all columns of categories side by side.
        """
        self._check_fitted()
        if target is None:
            names = [self.schema_.names[place] for place in self.schema_.categorical]
            nothing = np.empty((self._table(X).n_rows, 0))
            return np.hstack([nothing, *(self.predict_proba(X, name) for name in names)])
        place = self.schema_.index(target)
        if place in self.schema_.continuous:
            raise ColumnError(
                f"column {target!r} holds numbers, not categories; ask for conditional_density, "
                f"expectation or quantiles"
            )
        with self._threads():
            filled = self._filled(self._coordinates(X, without=place), variances=False)
        return self._classes(place, filled[0])

    # -- rows -------------------------------------------------------------------------------------

    def impute(self, X: Any, *, point: str = "mean") -> Any:
        """The rows with missing cells filled in; the caller's kind of table.

        Parameters
        ----------
        X : table
        point : {"mean", "median"}
            What stands for a missing number: its conditional mean, or median. These are the same unless
            numbers were transformed. The median has the smaller absolute error. A category is the most
            probable one.
        """
        from tacit.data.mixed import decode_mixed

        check_choice("point", point, ("mean", "median"))
        self._check_fitted()
        table = self._table(X)
        rows = self.scores_.coordinates(table)
        with self._threads():
            mean, variances = self._filled(rows, variances=True)
            columns: dict[int, NDArray[Any]] = {}
            for place in np.flatnonzero(table.missing.any(axis=0)).tolist():
                gone = table.missing[:, place]
                if place in self.schema_.continuous:
                    start = self.scores_.starts[place]
                    ours = mean[gone, start]
                    values = np.full(len(rows), np.nan)
                    if point == "median":
                        values[gone] = self.scores_.numbers(place, ours)
                    else:
                        scale = np.sqrt(variances[gone, start])
                        values[gone] = self._expected(place, ours, scale, None)
                    columns[place] = values
                else:
                    columns[place] = self._classes(place, mean).argmax(axis=1)
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

        A category is drawn as the one whose indicator is largest.

        Parameters
        ----------
        n : int
            Number of rows.
        given : mapping of column to value, optional
        random_state : int, Generator or None
        like : table or name of a library, optional
            The kind of table to return, by default that of the training data.
        """
        from tacit.data.mixed import decode_mixed, empty_mixed
        from tacit.query.gaussian import draws

        check_rows("n", n)
        self._check_fitted()
        if given is not None and not isinstance(given, Mapping):
            raise ArgumentTypeError(
                f"given is a {type(given).__name__}; give a mapping of column to value"
            )
        known = empty_mixed(1, self.schema_)
        if given:
            known = self._table({name: [value] for name, value in given.items()})
        rows = np.repeat(self.scores_.coordinates(known), n, axis=0)
        with self._threads():
            drawn = draws(self.gaussian_, rows, generator_from(random_state))
        columns: dict[int, NDArray[Any]] = {}
        for place in range(len(self.schema_)):
            if place in self.schema_.continuous:
                start = self.scores_.starts[place]
                columns[place] = self.scores_.numbers(place, drawn[:, start])
            else:
                columns[place] = self._classes(place, drawn).argmax(axis=1)
        whole = known.take(np.zeros(n, dtype=np.int64)).filled(columns)
        kind = self.diagnostics_.get("kind_of_table", "dict") if like is None else like
        return decode_mixed(whole, like=kind)

    def save(self, path: Any) -> None:
        """Write the model to one file that `tacit.load` reads; nothing is executed on loading."""
        from tacit.estimators.saved_gaussian import save_gaussian

        self._check_fitted()
        save_gaussian(self, path)

    # -- within -----------------------------------------------------------------------------------

    def _keep(self, X: Any, table: MixedTable, learnt: Learnt) -> None:
        """Take what was learnt."""
        from tacit.data.decoding import kind_of_table
        from tacit.estimators.keeping import _has_names

        kind = kind_of_table(X)
        self.schema_, self.scores_ = table.schema, learnt.scores
        self.gaussian_, self.topology_ = learnt.gaussian, learnt.topology
        self.n_features_in_ = len(table.schema)
        if _has_names(X, kind, table.schema.names):
            self.feature_names_in_ = np.array(table.schema.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self.diagnostics_ = {
            "n_rows": table.n_rows,
            "kind_of_table": kind,
            **learnt.diagnostics,
        }

    def _check_fitted(self) -> None:
        if not hasattr(self, "gaussian_"):
            from sklearn.utils.validation import check_is_fitted

            check_is_fitted(self)

    def _threads(self) -> Any:
        from tacit.loops.threads import limit_threads

        return limit_threads(self.n_jobs)

    def _table(self, X: Any) -> MixedTable:
        from tacit.data.mixedreading import encode_mixed

        self._check_fitted()
        check_choice("unknown", self.unknown, ("error", "missing"))
        return encode_mixed(X, self.schema_, unknown=self.unknown, partial=True)

    def _coordinates(self, X: Any, without: int) -> Array:
        """The scores of rows, those of one column set aside."""
        rows = self.scores_.coordinates(self._table(X))
        start = self.scores_.starts[without]
        rows[:, start : start + self.scores_.widths[without]] = np.nan
        return rows

    def _numbers_place(self, target: str) -> int:
        self._check_fitted()
        place = self.schema_.index(target)
        if place not in self.schema_.continuous:
            raise ColumnError(
                f"column {target!r} holds categories, not numbers; ask for predict_proba"
            )
        return place

    def _conditional(self, X: Any, place: int) -> tuple[Array, Array]:
        """Mean and standard deviation of the score of a column of numbers: (row,) each."""
        from tacit.query.gaussian import conditionals

        with self._threads():
            rows = self._coordinates(X, without=place)
            return conditionals(self.gaussian_, rows, self.scores_.starts[place])

    def _filled(self, rows: Array, *, variances: bool) -> tuple[Array, Array]:
        from tacit.query.gaussian import fill

        found = fill(self.gaussian_, rows, variances=variances)
        return found.values, found.variances

    def _expected(
        self, place: int, mean: Array, scale: Array, function: Callable[[Array], Array] | None
    ) -> Array:
        """(row,) E[function of the number] where its score is Gaussian."""
        from tacit.data.scores import mean_over_knots

        if self.scores_.margins[place] is None:
            if function is None:
                return mean
            nodes, weights = np.polynomial.hermite_e.hermegauss(_N_NODES)
            values = _applied(function, mean[:, None] + scale[:, None] * nodes)
            return np.asarray(values @ weights / weights.sum())
        knots, numbers = self.scores_.knots(place)
        return mean_over_knots(
            knots, numbers if function is None else _applied(function, numbers), mean, scale
        )

    def _classes(self, place: int, mean: Array) -> Array:
        """(row, category) probabilities from the means of a column's indicators."""
        start = self.scores_.starts[place]
        others = mean[:, start : start + self.scores_.widths[place]]
        shares = np.column_stack([others, 1.0 - others.sum(axis=1)])
        shares = np.clip(shares, _LEAST, None)
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def _grid(self, place: int) -> Array:
        column: Any = self.schema_.columns[place]
        reach = 0.1 * (column.high - column.low) or 1.0
        return np.linspace(column.low - reach, column.high + reach, 200)


def _checked_numbers(name: str, values: Any) -> Array:
    found = np.asarray(values, dtype=np.float64)
    if found.ndim != 1 or not np.isfinite(found).all():
        raise DataError(f"{name} must be numbers along one axis, all of them finite")
    return found


def _applied(function: Callable[[Array], Array], numbers: Array) -> Array:
    found = np.asarray(function(numbers), dtype=np.float64)
    if found.shape != numbers.shape:
        raise ArgumentError(
            f"function makes an array of shape {found.shape} of one of shape {numbers.shape}; it is "
            f"applied to each number"
        )
    return found
