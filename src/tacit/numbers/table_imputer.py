"""Gaps of tables filled, as a scikit-learn transformer."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import TransformerMixin

from tacit.core.arguments import check_count, generator_from
from tacit.core.limits import shown
from tacit.core.model import Kind, Model, checked_summary
from tacit.errors import ArgumentError, DataError, FileFormatError
from tacit.numbers.imputer_files import IMPUTER_FILE

if TYPE_CHECKING:
    from tacit.core.input.chunks import Block
    from tacit.core.input.mixed_table import MixedSchema, MixedTable
    from tacit.core.summary import Summary
    from tacit.numbers.kernel_tree import KernelTree
    from tacit.numbers.model.forests import Forests
    from tacit.trees.latent_tree import LatentTree


class TableImputer(TransformerMixin, Model):
    """Fills the gaps of tables of numbers, dates and categories; observed cells stay as they are.

    The table's joint distribution is learnt as `fit_table` learns it, so that any gaps can be filled, those
    of other rows and columns too. A gap becomes the mean of a number, or the most probable category, given
    the rest of its row; with ``sample_posterior=True`` all gaps of a row are drawn together from their joint
    distribution given the rest.

    Beside the model, forests of extremely randomised trees predict each column from the others, whose gaps
    are filled already. How much they count in a column is learnt from observed cells that are hidden for that
    purpose.

    Parameters
    ----------
    columns : mapping of column to kind, optional
        What columns are, where it is not seen from their values: "category", "ordered", "count", "number",
        "date" or "ignore". Columns that are ignored, and identifiers and free text, stay as they are, gaps
        included.
    forests : bool
        Whether forests are tried beside the model, where there are columns of numbers. Draws never use them.
    sample_posterior : bool
        Whether gaps are drawn; `draws` gives several completed tables.
    add_indicator : bool
        Whether a column ``missingindicator_NAME`` is added for each column that had gaps in `fit`.
    n_jobs : int or None
        Threads. None: one, and all processors where something is chosen by held-out rows.
    progress : None, bool or callable
        True draws a bar on a terminal; a callable gets (share done, text).
    random_state : int, numpy.random.Generator or None
        Seed of whatever is drawn. With an integer, the same rows get the same draws.

    Attributes
    ----------
    model_ : KernelTree or LatentTree
        The distribution of the rows, for every other question.
    forests_ : Forests or None
        None where they do not help.
    columns_ : tuple of str
        The columns of the training data, of which `empty_columns_` had no value: these are left out.
    indicators_ : (column,) integers
        The columns of the model that have an indicator.
    diagnostics_ : dict
        What was compared, in plain values.

    Examples
    --------
    >>> import numpy as np, pandas as pd, tacit
    >>> x = np.random.default_rng(0).normal(size=300)
    >>> frame = pd.DataFrame({"x": x, "y": 3 * x, "sign": np.where(x > 0, "plus", "minus")})
    >>> imputer = tacit.TableImputer().fit(frame)
    >>> imputer.transform(pd.DataFrame({"x": [1.0], "y": [np.nan], "sign": [None]})).round(1)
         x    y  sign
    0  1.0  3.0  plus
    """

    kind: ClassVar[Kind] = "imputer"
    abilities: ClassVar[frozenset[str]] = frozenset({"impute"})
    _file = IMPUTER_FILE
    model_: KernelTree | LatentTree
    forests_: Forests | None
    columns_: tuple[str, ...]
    empty_columns_: tuple[str, ...]
    indicators_: NDArray[np.int64]

    def __init__(
        self,
        *,
        columns: Mapping[Any, str] | None = None,
        forests: bool = True,
        sample_posterior: bool = False,
        add_indicator: bool = False,
        n_jobs: int | None = None,
        progress: Any = None,
        random_state: int = 0,
    ) -> None:
        self.columns = columns
        self.forests = forests
        self.sample_posterior = sample_posterior
        self.add_indicator = add_indicator
        self.n_jobs = n_jobs
        self.progress = progress
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn what gaps are filled by.

        Parameters
        ----------
        X : table
            See `fit_table`. A column without any value is left out, with an `EmptyColumnWarning`.
        y : None
            Not used.
        """
        from tacit.core.input.chunks import has_names, kind_of_table
        from tacit.numbers.fit_table import fit_coded
        from tacit.numbers.learn.imputer.fit import learn_imputer

        for name in ("forests", "sample_posterior", "add_indicator"):
            if not isinstance(getattr(self, name), bool | np.bool_):
                raise ArgumentError(f"{name}={shown(getattr(self, name))}; give True or False")
        with self._working() as report:
            learnt = learn_imputer(
                X,
                self.columns,
                partial(fit_coded, n_jobs=self.n_jobs),
                forests=bool(self.forests),
                random_state=self.random_state,
                report=report,
            )
        self.model_, self.forests_ = learnt.model, learnt.forests
        self.columns_, self.empty_columns_ = learnt.columns, learnt.empty
        gaps = learnt.table.missing.sum(axis=0)
        self.indicators_ = np.flatnonzero(gaps)
        self.n_features_in_ = len(learnt.columns)
        kind = kind_of_table(X)
        if has_names(X, kind, learnt.table.schema):
            self.feature_names_in_ = np.array(learnt.columns, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self.diagnostics_ = {
            "n_rows": learnt.table.n_rows,
            "kind_of_table": kind,
            "gaps": gaps.tolist(),
            **learnt.diagnostics,
        }
        return self

    def transform(self, X: Any) -> Any:
        """The table with its gaps filled, in the caller's kind of table; an array for a list of rows.

        Parameters
        ----------
        X : table
            With the columns of `fit`. A category that was never seen stays, and says nothing about the rest.
        """
        self._check_fitted()
        rng = generator_from(self.random_state) if self.sample_posterior else None
        like = self._output_kind()
        if like is None and _is_list_of_rows(X):
            like = "numpy"  # as scikit-learn's transformers return it
        return self._filled(X, rng, like=like)

    def impute(self, X: Any) -> Any:
        """The same as `transform`, always in the caller's kind of table and without indicators."""
        self._check_fitted()
        rng = generator_from(self.random_state) if self.sample_posterior else None
        return self._filled(X, rng, indicators=False)

    def draws(self, X: Any, n_draws: int = 5, *, random_state: Any = None) -> list[Any]:
        """Several completed tables, for multiple imputation.

        In each, all gaps of a row are drawn together from their joint distribution given the rest of the row.

        Parameters
        ----------
        X : table
            With the columns of `fit`.
        n_draws : int
            Number of tables.
        random_state : int, Generator or None

        Returns
        -------
        list of tables
            In the caller's kind of table.
        """
        self._check_fitted()
        check_count("n_draws", n_draws)
        rng = generator_from(random_state)
        return [self._filled(X, rng, indicators=False) for _ in range(n_draws)]

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The names of the columns that `transform` returns."""
        from sklearn.utils.validation import _check_feature_names_in

        from tacit.numbers.query.completed import INDICATOR

        self._check_fitted()
        given = _check_feature_names_in(self, input_features)
        called = dict(zip(self.columns_, map(str, given), strict=True))
        names = [called[name] for name in self.columns_ if name not in self.empty_columns_]
        if self.add_indicator:
            modelled = [self.schema_.names[leaf] for leaf in self.indicators_]
            names += [f"{INDICATOR}{called[name]}" for name in modelled]
        return np.array(names, dtype=object)

    @checked_summary
    def summary(self) -> Summary:
        """The columns and their gaps, the model behind, and how much forests count."""
        from tacit.numbers.query.imputer_summary import imputer_summary

        self._check_fitted()
        return imputer_summary(self)

    @property
    def schema_(self) -> MixedSchema:
        """The columns whose gaps are filled."""
        self._check_fitted()
        from tacit.core.input.mixed_table import MixedSchema

        return MixedSchema(self.model_.schema_.columns)

    def __sklearn_tags__(self) -> Any:
        """Tags for scikit-learn: cells may be missing, and may be text."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.transformer_tags.preserves_dtype = ["float64"]
        return tags

    def _restore(self, values: Mapping[str, Any]) -> None:
        super()._restore(values)
        self.forests_ = values["forests_"]
        known = set(self.columns_)
        left = known - set(self.empty_columns_)
        if not set(self.empty_columns_) < known or not set(self.schema_.names) <= left:
            raise FileFormatError("the columns are not those of the model")

    # -- within -----------------------------------------------------------------------------------

    def _output_kind(self) -> str | None:
        """The library that `set_output` asks for; None for the caller's."""
        from sklearn.utils._set_output import _get_output_config

        dense = _get_output_config("transform", self)["dense"]
        return None if dense == "default" else str(dense)

    def _filled(
        self,
        X: Any,
        rng: np.random.Generator | None,
        *,
        like: str | None = None,
        indicators: bool = True,
    ) -> Any:
        from tacit.core.input.chunks import Chunks, as_source, check_size
        from tacit.core.input.frames import is_frame
        from tacit.numbers.query.completed import completed

        source = as_source(X)
        shown = self.indicators_.tolist() if self.add_indicator and indicators else []
        parts = []
        for block in source if isinstance(source, Chunks) else [source]:
            check_size(block.n_rows, len(block.names))
            self._check_columns(block)
            filled = self._filled_rows(block, rng)
            kind = "pyarrow" if isinstance(source, Chunks) else like
            same = kind is not None and is_frame(X) and type(X).__module__.startswith(kind)
            parts.append(
                completed(
                    X,
                    block,
                    filled,
                    dropped=self.empty_columns_,
                    indicators=shown,
                    like=None if same else kind,
                )
            )
        if not isinstance(source, Chunks):
            return parts[0]
        import pyarrow as pa

        return pa.concat_tables(parts, promote_options="permissive")

    def _filled_rows(self, block: Block, rng: np.random.Generator | None) -> MixedTable:
        """The rows of a block without gaps: filled by means and modes, or drawn."""
        from tacit.numbers.model.forests import filled_table
        from tacit.numbers.query.completed import coded_rows
        from tacit.numbers.query.missing_cells import drawn_cells, predicted_cells

        table = coded_rows(block, self.schema_)
        if rng is not None:
            return drawn_cells(self.model_, table, rng)
        predictions = predicted_cells(self.model_, table)
        if self.forests_ is not None:
            predictions = self.forests_.refined(table, predictions)
        return filled_table(table, predictions)

    def _check_columns(self, block: Block) -> None:
        if not block.named and len(block.names) != self.n_features_in_:
            raise DataError(
                f"X has {len(block.names)} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input"
            )


def _is_list_of_rows(X: Any) -> bool:
    return isinstance(X, list | tuple) and len(X) > 0 and isinstance(X[0], list | tuple)
