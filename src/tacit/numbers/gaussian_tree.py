"""Gaussian and nonparanormal trees as scikit-learn estimators."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any, Self

from tacit.core.arguments import check_choice, check_number, seed_from
from tacit.errors import ArgumentError, DataError
from tacit.numbers.gaussian_queries import GaussianQueries

TRANSFORMS = (None, "normal-scores")
# Kinds of columns of categories that are numbers all the same; see `tacit.core.input.table.Column`.
_NUMBERS = ("integer", "number")


class _Argument:
    """An argument by whose name scikit-learn would know a method.

    It can be set, and `get_params` tells it, but it is no attribute: what has an attribute ``transform`` is
    taken for a transformer.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, model: object, kind: type | None = None) -> Any:
        raise AttributeError(f"{self.name!r} is an argument; get_params() tells it")

    def __set__(self, model: object, value: Any) -> None:
        vars(model)[self.name] = value


class GaussianTree(GaussianQueries):
    """A Gaussian distribution of the columns of a table that hangs on a tree.

    Every column is a leaf (or an inner node) of a tree of Gaussian variables, so that the correlation of two
    columns is the product of those along the path between them (Choi et al. 2011). With normal scores it is
    the columns' ranks that are Gaussian, and every column has whatever distribution it has: a nonparanormal
    tree (Liu et al. 2009). All conditionals are exact, with any cells missing.

    Parameters
    ----------
    structure : str, Topology, path, networkx tree or edges
        "auto": held-out rows choose among "refined-joining", "neighbor-joining", "chow-liu-joining",
        "chow-liu-grouping" and "chow-liu"; the first is left only for one that is better by more than a
        standard error. Other names are those of `learn_structure`. Anything else is a tree: Newick text or a
        file of it, a `Topology`, a networkx tree, a list of edges.
    transform : {None, "normal-scores"}
        What of a number is Gaussian: the number itself, or the standard normal quantile of its rank, made
        smooth. Equal numbers have the middle of their ranks.
    shrinkage : float from 0 to 1, or "auto"
        How much of the covariance is that of the data without a tree: 0 is the tree alone, 1 a Gaussian (with
        normal scores: a Gaussian copula) without any tree. "auto" takes what held-out rows are likeliest
        under.
    learn : {"em", "distances"}
        How correlations along the edges are learnt: the likeliest ones, or those that the joined distances
        give (as in Parikh's thesis).
    prior : float
        The covariance is that of the data and of as many rows more without any correlation. Keeps it away
        from singular ones.
    categorical : {"scores", "error"} or sequence of str
        What becomes of columns of text, booleans and levels: indicators of their categories (of all but the
        last) are coordinates of the Gaussian, or they are refused. Names are those of columns of numbers
        that are to be treated as categories, too.
    unknown : {"error", "missing"}
        What a category is at query time that was never seen.
    n_jobs : int or None
        Threads.
    progress : None, bool or callable
        True draws a bar on a terminal; a callable gets (share done, text).
    random_state : int, numpy.random.Generator or None
        Seed of the choice of rows that are set aside.

    Attributes
    ----------
    topology_ : Topology
        The tree, with ``-log |correlation|`` for lengths; its leaves are the columns, or ``column=category``
        for columns of three or more categories.
    gaussian_ : Gaussian
        Mean and covariance of what is Gaussian, in the order of ``scores_.names``.
    scores_ : Scores
        What each column is to the Gaussian.
    schema_ : MixedSchema
        The columns.
    diagnostics_ : dict
        What was tried and chosen, in plain values: "structure", "shrinkage"; of choices by held-out rows
        "structures" and "shrinkages" (candidates and their scores in nats per row), "held_out_score".

    Examples
    --------
    >>> import numpy as np, tacit
    >>> x = np.random.default_rng(0).normal(size=(500, 1)) + [0, 1, 2, 3]
    >>> x = np.exp(x + 0.5 * np.random.default_rng(1).normal(size=x.shape))
    >>> model = tacit.GaussianTree(transform="normal-scores").fit(x)
    >>> model.score(x) > tacit.GaussianTree().fit(x).score(x)
    True
    """

    transform = _Argument("transform")

    def __init__(
        self,
        structure: Any = "auto",
        transform: str | None = None,
        shrinkage: float | str = 0.0,
        *,
        learn: str = "em",
        prior: float = 1.0,
        categorical: str | Sequence[str] = "scores",
        unknown: str = "error",
        n_jobs: int | None = None,
        progress: Any = None,
        random_state: Any = 0,
    ) -> None:
        self.structure = structure
        self.transform = transform
        self.shrinkage = shrinkage
        self.learn = learn
        self.prior = prior
        self.categorical = categorical
        self.unknown = unknown
        self.n_jobs = n_jobs
        self.progress = progress
        self.random_state = random_state

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The arguments, by name."""
        return {name: vars(self)[name] for name in self._get_param_names()}

    def fit(
        self, X: Any, y: Any = None, *, sample_weight: Any = None, validation: Any = None
    ) -> Self:
        """Learn scores, tree and covariance, and choose what is left open.

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
            Rows to choose by. Without them parts of X are set aside in turn, and everything is learnt again
            from all of X at the end.
        """
        from tacit.core.input.read_mixed_table import encode_mixed
        from tacit.core.progress import reporting
        from tacit.core.threads import limit_threads
        from tacit.numbers.learn.gaussian_tree import fit_gaussian_tree

        settings = self._settings()
        table = self._read(X, sample_weight)
        held_out = None
        if validation is not None:
            held_out = encode_mixed(validation, table.schema, unknown="missing")
        with limit_threads(self.n_jobs), reporting(self.progress) as report:
            learnt = fit_gaussian_tree(table, held_out, settings, report)
        self._keep(X, table, learnt)
        return self

    # -- within -----------------------------------------------------------------------------------

    def _settings(self) -> Any:
        """The arguments about learning, checked."""
        from tacit.numbers.learn.gaussian_tree import Settings

        transform = vars(self)["transform"]
        if transform not in TRANSFORMS:
            raise ArgumentError(
                f"transform={transform!r} is not known; choose None or 'normal-scores'"
            )
        check_choice("learn", self.learn, ("em", "distances"))
        check_number("prior", self.prior)
        check_choice("unknown", self.unknown, ("error", "missing"))
        if isinstance(self.categorical, str):
            check_choice("categorical", self.categorical, ("scores", "error"))
        shrinkage = self.shrinkage
        share = isinstance(shrinkage, Real) and not isinstance(shrinkage, bool)
        if shrinkage != "auto" and not (share and 0.0 <= shrinkage <= 1.0):  # type: ignore[operator]
            raise ArgumentError(f"shrinkage={shrinkage!r}; give a number from 0 to 1, or 'auto'")
        return Settings(
            structure=self.structure,
            normal=transform is not None,
            shrinkage=None if isinstance(shrinkage, str) else float(shrinkage),
            learn=self.learn,
            prior=float(self.prior),
            seed=seed_from(self.random_state),
        )

    def _read(self, X: Any, sample_weight: Any) -> Any:
        """The table: numbers are numbers, however few of them there are."""
        from tacit.core.input.read_mixed_table import read_mixed

        named = () if isinstance(self.categorical, str) else tuple(self.categorical)
        table = read_mixed(X, categorical=named, sample_weight=sample_weight)
        columns = [table.schema.columns[place] for place in table.schema.categorical]
        few = [c.name for c in columns if c.kind in _NUMBERS and c.name not in named]
        if few:
            table = read_mixed(X, continuous=few, categorical=named, sample_weight=sample_weight)
        if self.categorical == "error" and table.schema.categorical:
            name = table.schema.names[table.schema.categorical[0]]
            raise DataError(
                f"column {name!r} holds something else than numbers; leave it out, or say "
                f"categorical='scores'"
            )
        return table
