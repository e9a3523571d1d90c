"""The questions that every model of a table answers, under one name and with one signature each."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import DensityMixin

from tacit.core.arguments import check_choice
from tacit.core.model import Counted, Kind, Model

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from tacit.core.input.table import Schema
    from tacit.trees.structure.topology import Topology

Array = NDArray[np.float64]
Soft = Mapping[Any, Any]  # of columns to (row, category) likelihoods
Given = Mapping[Any, Any]  # of columns to what is known of them
Target = Hashable | Sequence[Hashable]


class TableModel(Counted, DensityMixin, Model):
    """A joint distribution of the columns of a table; missing cells are summed out everywhere.

    Rows may lack columns and have them in any order; a missing cell is None, NaN, null or -1 in an array of
    integers. ``soft={"column": likelihoods}`` gives, for missing cells of a column of categories, one
    likelihood per row and category. No question changes the model: what had to be repaired in estimates that
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

    # -- questions that each model answers in its own way ------------------------------------------

    def score_samples(
        self, X: Any, *, soft: Soft | None = None, return_repairs: bool = False
    ) -> Any:
        """Natural log-likelihood of what was observed of each row; numbers count with their density."""
        raise NotImplementedError

    def predict_proba(
        self,
        X: Any,
        target: Target | None = None,
        *,
        joint: bool = False,
        soft: Soft | None = None,
        return_repairs: bool = False,
    ) -> Any:
        """P(target | whatever else is present in each row) of columns of categories."""
        raise NotImplementedError

    def posterior(self, X: Any, *, soft: Soft | None = None) -> dict[str, Array]:
        """P(hidden state | what was observed of the row), by name of the hidden node."""
        raise NotImplementedError

    def marginals(self, X: Any, *, soft: Soft | None = None) -> dict[Hashable, Array]:
        """P(cell | whole row) of every column of categories."""
        raise NotImplementedError

    def most_likely(self, X: Any) -> Any:
        """The rows with missing cells filled by the most likely joint completion."""
        raise NotImplementedError

    def impute(self, X: Any) -> Any:
        """The rows with each missing cell filled for itself, in the caller's kind of table."""
        raise NotImplementedError

    def query(self, target: Target, given: Given | None = None) -> dict[Any, float]:
        """What is known of a target given some cells."""
        raise NotImplementedError

    def sample(
        self,
        n_samples: int = 1,
        *,
        given: Given | None = None,
        random_state: Any = None,
        like: Any = None,
    ) -> Any:
        """Rows drawn from the model, or from its conditional given evidence."""
        raise NotImplementedError

    def _predictions(self, X: Any, targets: Sequence[Hashable], *, in_turn: bool) -> list[Any]:
        """For each target the most likely category, or the mean of a number, in each row.

        With `in_turn` each is predicted from all other columns, else from those that are no targets.
        """
        raise NotImplementedError

    # -- questions that follow from these -----------------------------------------------------------

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
            one_type = len({each.dtype.kind for each in values}) == 1
            return np.stack([each if one_type else each.astype(object) for each in values], axis=1)
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
        """Steps of learning; 1 where it does not go in steps."""
        self._check_fitted()
        return int(self.diagnostics_.get("n_steps", 1))

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn wants to know: cells may be missing, and may be text."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    # -- within -------------------------------------------------------------------------------------

    @property
    def _kind_of_table(self) -> str:
        """The kind of table that the training data came in."""
        return str(self.diagnostics_.get("kind_of_table", "dict"))

    def _threads(self) -> AbstractContextManager[int | None]:
        from tacit.core.threads import limit_threads

        return limit_threads(self.n_jobs)

    def _check_policies(self) -> None:
        """Check the arguments that queries obey: they may have been set after fitting."""
        check_choice("negative", self.negative, ("floor", "nan", "raise"))
        check_choice("unknown", self.unknown, ("error", "missing"))
