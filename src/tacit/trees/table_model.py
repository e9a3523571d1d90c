"""The queries of every model of a table, each with one name and one signature."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import DensityMixin

from tacit.core.arguments import check_choice, check_rows, generator_from
from tacit.core.model import Counted, Kind, Model

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from tacit.core.input.table import Schema
    from tacit.trees.structure.topology import Topology

Array = NDArray[np.float64]
Soft = Mapping[Any, Any]  # of columns to (row, category) likelihoods
Given = Mapping[Any, Any]  # of columns to what is known of them
Target = Hashable | Sequence[Hashable]


class TableModel(Counted, DensityMixin, Model, ABC):
    """A joint distribution of the columns of a table; missing cells are summed out everywhere.

    Rows may lack columns and have them in any order; a missing cell is None, NaN, null or -1 in an array of
    integers. ``soft={"column": likelihoods}`` gives, for missing cells of a column of categories, one
    likelihood per row and category. No query changes the model: what had to be repaired in estimates that
    are not probabilities is returned with ``return_repairs=True``.
    """

    kind: ClassVar[Kind] = "table"
    abilities: ClassVar[frozenset[str]] = frozenset(
        {"score", "sample", "predict", "query", "impute", "tree"}
    )
    schema_: Schema
    topology_: Topology
    negative: str = "floor"
    unknown: str = "error"

    # -- queries ------------------------------------------------------------------------------------

    def score_samples(
        self, X: Any, *, soft: Soft | None = None, return_repairs: bool = False
    ) -> Any:
        """Natural log-likelihood of what was observed of each row; numbers count with their density.

        A row of which nothing was observed has 0. Estimates that are not positive (possible after
        ``learn="spectral"`` and ``"hierarchical"`` only) are treated as the estimator's `negative` says.

        Parameters
        ----------
        X : table
        soft : mapping of column to (row, category) likelihoods, optional
        return_repairs : bool
            Whether to return also how many estimates were not positive.

        Returns
        -------
        (row,) array, or this and a dict
        """
        values, repairs = self._log_likelihoods(X, soft)
        return (values, repairs) if return_repairs else values

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
            None of their cells is used. Without it each column in turn, given all others.
        joint : bool
            Several targets together: the table of all of their combinations.
        soft : mapping of column to (row, category) likelihoods, optional
            Of missing cells.
        return_repairs : bool
            Whether to return also how many estimates had a negative part, which was cut off.

        Returns
        -------
        array, or dict of column to array
            (row, category) for one target, in the order of ``categories_[target]``; a dict of these for
            several; with `joint` one array with an axis per target. Without a target one array, with the
            categories of all columns side by side. With `return_repairs` this and a dict.
        """
        from tacit.trees.query.given import is_column, target_columns

        self._check_fitted()
        in_turn = target is None
        columns = self._categorical if in_turn else target_columns(self.schema_, target)
        places = self._category_places(columns)
        tables, repairs = self._conditionals(X, places, soft, in_turn=in_turn, joint=joint)
        answer: Any
        if joint or (not in_turn and is_column(self.schema_, target)):
            answer = tables[0]
        else:
            answer = np.hstack(tables) if in_turn else dict(zip(columns, tables, strict=True))
        return (answer, repairs) if return_repairs else answer

    def posterior(self, X: Any, *, soft: Soft | None = None) -> dict[str, Array]:
        """P(hidden state | what was observed of the row), by name of the hidden node.

        Of a mixture, ``"component"`` says which tree each row is from; the nodes of every tree, called like
        ``"0/h1"``, have the posterior that they have if the row is from that tree.
        """
        return self._posterior(X, soft)

    def marginals(self, X: Any, *, soft: Soft | None = None) -> dict[Hashable, Array]:
        """P(cell | whole row) of every column of categories; an observed cell has its category for sure."""
        return self._marginals(X, soft)

    def most_likely(self, X: Any) -> Any:
        """The rows with missing cells filled by the most likely joint completion.

        Hidden states are completed along, and so is the component of a mixture. A `GaussianTree` has its
        numbers at the mode of their scores given all categories. Not available in a `KernelTree`.
        """
        return self._most_likely(X)

    def impute(self, X: Any) -> Any:
        """The rows with each missing cell set to its most probable category; the caller's kind of table."""
        return self._impute(X)

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

        Examples
        --------
        >>> import tacit
        >>> model = tacit.ChowLiuTree().fit({"a": [0, 0, 1, 1], "b": ["x", "x", "y", "x"]})
        >>> model.query("b", given={"a": 0})["x"] > 0.8
        True
        """
        from tacit.trees.query.given import is_column, target_columns

        self._check_fitted()
        columns = target_columns(self.schema_, target)
        single, first = is_column(self.schema_, target), self.schema_.index(columns[0])
        if single and self._is_number(first):
            return self._number_query(first, given)
        places = self._category_places(columns)
        values = self._joint_given(places, given).ravel().tolist()
        categories = [self.schema_.columns[place].categories for place in places]
        return dict(zip(categories[0] if single else product(*categories), values, strict=True))

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
        self._check_fitted()
        check_rows("n_samples", n_samples)
        kind = self._kind_of_table if like is None else like
        return self._sample(n_samples, given, generator_from(random_state), kind)

    def score(self, X: Any, y: Any = None, *, sample_weight: Any = None) -> float:
        """The mean of `score_samples`, weighted where weights are given."""
        from tacit.core.input.sample_weight import checked_weights

        values = self.score_samples(X)
        return float(np.average(values, weights=checked_weights(sample_weight, len(values))))

    def predict(self, X: Any, target: Target | None = None) -> Any:
        """The most likely category, or the mean of a number, of a target given the rest of each row.

        Parameters
        ----------
        X : table
        target : column, or sequence of columns, optional
            None of their cells is used. Without it each column in turn, given all others.

        Returns
        -------
        array, or dict of column to array
            (row,) for one target; a dict of these for several; (row, column) without a target.
        """
        from tacit.trees.query.given import is_column, target_columns

        self._check_fitted()
        columns = self.schema_.labels if target is None else target_columns(self.schema_, target)
        values = self._predictions(X, columns, in_turn=target is None)
        if target is None:
            one_type = len({column.dtype.kind for column in values}) == 1
            return np.stack(
                [column if one_type else column.astype(object) for column in values], axis=1
            )
        if is_column(self.schema_, target):
            return values[0]
        return dict(zip(columns, values, strict=True))

    # -- what was learnt ----------------------------------------------------------------------------

    @property
    def categories_(self) -> dict[Hashable, tuple[Any, ...]]:
        """The categories of each column that has any, in the order of all answers."""
        self._check_fitted()
        return {
            label: column.categories
            for label, column in zip(self.schema_.labels, self.schema_.columns, strict=True)
            if column.categories
        }

    @property
    def n_iter_(self) -> int:
        """Iterations of learning; 1 where there are none."""
        self._check_fitted()
        return int(self.diagnostics_.get("n_steps", 1))

    def __sklearn_tags__(self) -> Any:
        """Tags for scikit-learn: cells may be missing, and may be text."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    # -- hooks: what each model answers in its own way ----------------------------------------------

    @abstractmethod
    def _log_likelihoods(self, X: Any, soft: Soft | None) -> tuple[Array, dict[str, Any]]:
        """(row,) log-likelihoods, and how many estimates were not positive."""

    @abstractmethod
    def _conditionals(
        self, X: Any, places: Sequence[int], soft: Soft | None, *, in_turn: bool, joint: bool
    ) -> tuple[list[Array], dict[str, Any]]:
        """The distribution of each target in each row, or with `joint` one table; and the repairs.

        With `in_turn` each target is predicted from all other columns, else from those that are no targets.
        """

    @abstractmethod
    def _predictions(self, X: Any, targets: Sequence[Hashable], *, in_turn: bool) -> list[Any]:
        """For each target the most likely category, or the mean of a number, in each row."""

    @abstractmethod
    def _posterior(self, X: Any, soft: Soft | None) -> dict[str, Array]:
        """The posteriors of the hidden nodes."""

    @abstractmethod
    def _marginals(self, X: Any, soft: Soft | None) -> dict[Hashable, Array]:
        """P(cell | whole row)."""

    @abstractmethod
    def _most_likely(self, X: Any) -> Any:
        """The rows with the most likely joint completion."""

    @abstractmethod
    def _impute(self, X: Any, *, median: bool = False) -> Any:
        """The rows with each missing cell filled; with `median`, numbers by their medians."""

    @abstractmethod
    def _joint_given(self, places: Sequence[int], given: Given | None) -> Array:
        """The joint table of columns of categories given some cells."""

    @abstractmethod
    def _sample(
        self, n_samples: int, given: Given | None, rng: np.random.Generator, like: Any
    ) -> Any:
        """Rows drawn, in a kind of table."""

    def _number_query(self, place: int, given: Given | None) -> dict[Any, float]:
        """Mean and quantiles of a number given some cells."""
        raise AssertionError(f"{type(self).__name__} has no columns of numbers")

    def _is_number(self, place: int) -> bool:
        """Whether a column is modelled as numbers."""
        return False

    @property
    def _categorical(self) -> Sequence[Hashable]:
        """The columns of categories."""
        return self.schema_.labels

    def _category_places(self, columns: Sequence[Hashable]) -> list[int]:
        """The places of columns of categories."""
        return [self.schema_.index(column) for column in columns]

    # -- within -------------------------------------------------------------------------------------

    @property
    def _kind_of_table(self) -> str:
        """The kind of table that the training data came in."""
        return str(self.diagnostics_.get("kind_of_table", "dict"))

    def _threads(self) -> AbstractContextManager[int | None]:
        from tacit.core.threads import limit_threads

        return limit_threads(self.n_jobs)

    def _check_policies(self) -> None:
        """Check the arguments that queries use: they may have been set after fitting."""
        check_choice("negative", self.negative, ("floor", "nan", "raise"))
        check_choice("unknown", self.unknown, ("error", "missing"))
