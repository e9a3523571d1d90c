"""Gaussian and nonparanormal trees as scikit-learn estimators."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from tacit.core.arguments import check_choice, check_number, seed_from
from tacit.core.limits import shown
from tacit.core.model import checked_summary
from tacit.errors import ArgumentError, ArgumentTypeError, DataError
from tacit.numbers.gaussian_queries import GaussianQueries

if TYPE_CHECKING:
    from tacit.core.input.examples import Examples
    from tacit.core.summary import Summary

MARGINS = ("normal-scores", "gaussian")
# Kinds of columns of categories whose values are numbers; see `tacit.core.input.table.Column`.
_NUMBERS = ("integer", "number")


class GaussianTree(GaussianQueries):
    """A Gaussian, or Gaussian copula, of the columns of a table along a tree.

    Every column is a node of a tree of Gaussian variables, so that the correlation of two columns is the
    product of the correlations along the path between them (Choi et al. 2011). With normal scores it is the
    normal scores of the columns that are Gaussian, and every column keeps its own distribution: a
    nonparanormal tree (Liu et al. 2009). All conditionals are exact, with any cells missing.

    Parameters
    ----------
    structure : str, Topology, path, networkx tree or edges
        "auto": held-out rows choose among "refined-joining", "neighbor-joining", "chow-liu-joining",
        "chow-liu-grouping" and "chow-liu"; the first is kept unless another is more than one standard error
        better. Other names are those of `learn_structure`. Anything else is a tree: Newick text or a file of
        it, a `Topology`, a networkx tree, a list of edges.
    margins : {"normal-scores", "gaussian"}
        The distribution of a column of numbers: any, smoothed from its ranks (ties have the middle of their
        ranks), or Gaussian.
    shrinkage : float from 0 to 1, or "auto"
        Weight of the covariance without a tree: 0 is the tree alone, 1 a Gaussian (with normal scores, a
        Gaussian copula) without a tree. "auto" lets held-out rows choose.
    learn : {"em", "distances"}
        How correlations along the edges are learnt: by maximum likelihood, or from the tree distances (as in
        Parikh's thesis).
    prior : float
        Number of additional uncorrelated rows. Keeps the covariance away from singular ones.
    categorical : {"scores", "error"} or sequence of str
        Columns of text, booleans and levels: indicators of their categories (of all but the last) are
        coordinates of the Gaussian, or they raise an error. Names are columns of numbers to be treated as
        categories, too.
    columns : mapping of column to kind, optional
        What columns are, where it is not seen from their values: "category", "ordered", "count", "number",
        "date" or "ignore" (left out).
    unknown : {"error", "missing"}
        How to treat categories at query time that were not in the training data.
    n_jobs : int or None
        Threads.
    progress : None, bool or callable
        True draws a bar on a terminal; a callable gets (share done, text).
    random_state : int, numpy.random.Generator or None
        Seed of the held-out rows.

    Attributes
    ----------
    topology_ : Topology
        The tree, with ``-log |correlation|`` for lengths; its leaves are the columns, or ``column=category``
        for columns of three or more categories.
    gaussian_ : Gaussian
        Mean and covariance, in the order of ``scores_.names``.
    scores_ : Scores
        The coordinates of each column.
    schema_ : MixedSchema
        The columns.
    diagnostics_ : dict
        "structure" and "shrinkage" that were chosen; "structures" and "shrinkages" (candidates and their
        held-out log-densities per row), "held_out_score".

    Examples
    --------
    >>> import numpy as np, tacit
    >>> x = np.random.default_rng(0).normal(size=(500, 1)) + [0, 1, 2, 3]
    >>> x = np.exp(x + 0.5 * np.random.default_rng(1).normal(size=x.shape))
    >>> model = tacit.GaussianTree().fit(x)
    >>> model.score(x) > tacit.GaussianTree(margins="gaussian").fit(x).score(x)
    True
    """

    def __init__(
        self,
        structure: Any = "auto",
        margins: str = "normal-scores",
        shrinkage: float | str = "auto",
        *,
        learn: str = "em",
        prior: float = 1.0,
        categorical: str | Sequence[str] = "scores",
        columns: Mapping[Any, str] | None = None,
        unknown: str = "error",
        n_jobs: int | None = None,
        progress: Any = None,
        random_state: Any = 0,
    ) -> None:
        self.structure = structure
        self.margins = margins
        self.shrinkage = shrinkage
        self.learn = learn
        self.prior = prior
        self.categorical = categorical
        self.columns = columns
        self.unknown = unknown
        self.n_jobs = n_jobs
        self.progress = progress
        self.random_state = random_state

    def fit(
        self, X: Any, y: Any = None, *, sample_weight: Any = None, validation: Any = None
    ) -> Self:
        """Learn margins, tree and covariance; held-out rows choose structure and shrinkage where "auto".

        Parameters
        ----------
        X : table
            A pandas, polars or Arrow frame, an array, a dict or list of columns or rows, a path to CSV or
            Parquet, or an iterable of chunks of these. Columns of numbers may be of any type; NaN, None and
            null are missing.
        y : None
            Not used.
        sample_weight : (row,) array, optional
        validation : table, optional
            Held-out rows. Without them structure and shrinkage are chosen by cross-validation, and then
            learnt from all of X.
        """
        from tacit.core.input.chunks import has_names, kind_of_table
        from tacit.core.input.read_mixed_table import encode_mixed
        from tacit.numbers.learn.gaussian_tree import fit_gaussian_tree

        settings = self._settings()
        table = self._read(X, sample_weight)
        held_out = None
        if validation is not None:
            held_out = encode_mixed(validation, table.schema, unknown="missing")
        with self._working() as report:
            learnt = fit_gaussian_tree(table, held_out, settings, report)
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
            "gaps": table.missing.sum(axis=0).tolist(),
            **learnt.diagnostics,
        }
        return self

    @checked_summary
    def summary(self) -> Summary:
        """The strongest dependences, what was chosen among what, and the fit."""
        from tacit.numbers.summary import gaussian_tree_summary

        return gaussian_tree_summary(self)

    # -- within -----------------------------------------------------------------------------------

    def _settings(self) -> Any:
        """The arguments about learning, checked."""
        from tacit.numbers.learn.gaussian_tree import Settings

        check_choice("margins", self.margins, MARGINS)
        check_choice("learn", self.learn, ("em", "distances"))
        check_number("prior", self.prior)
        check_choice("unknown", self.unknown, ("error", "missing"))
        if isinstance(self.categorical, str):
            check_choice("categorical", self.categorical, ("scores", "error"))
        shrinkage = self.shrinkage
        is_number = isinstance(shrinkage, Real) and not isinstance(shrinkage, bool)
        is_auto = isinstance(shrinkage, str) and shrinkage == "auto"
        if not (is_auto or (is_number and 0.0 <= shrinkage <= 1.0)):  # type: ignore[operator]
            raise ArgumentError(
                f"shrinkage={shown(shrinkage)}; give a number from 0 to 1, or 'auto'"
            )
        return Settings(
            structure=self.structure,
            normal=self.margins == "normal-scores",
            shrinkage=None if isinstance(shrinkage, str) else float(shrinkage),
            learn=self.learn,
            prior=float(self.prior),
            seed=seed_from(self.random_state),
        )

    def _examples(self, X: Any) -> Examples:
        from tacit.core.input.examples import Examples

        table = self._read(X, None)
        return Examples(table.n_rows, table.take)

    def _read(self, X: Any, sample_weight: Any) -> Any:
        """The table; columns of few distinct numbers are numbers, too."""
        from tacit.core.input.read_mixed_table import read_mixed

        if not isinstance(self.categorical, Iterable):
            raise ArgumentTypeError(
                f'categorical={shown(self.categorical)}; give a list of columns, "scores" or "error"'
            )
        named = () if isinstance(self.categorical, str) else tuple(self.categorical)
        declared = self.columns
        table = read_mixed(X, categorical=named, columns=declared, sample_weight=sample_weight)
        columns = [table.schema.columns[place] for place in table.schema.categorical]
        said = {*named, *(declared or {}), *map(str, declared or {})}
        few = [c.name for c in columns if c.kind in _NUMBERS and c.name not in said]
        if few:
            table = read_mixed(
                X,
                continuous=few,
                categorical=named,
                columns=declared,
                sample_weight=sample_weight,
            )
        if self.categorical == "error" and table.schema.categorical:
            name = table.schema.names[table.schema.categorical[0]]
            raise DataError(
                f"column {name!r} does not hold numbers; leave it out, or pass categorical='scores'"
            )
        return table
