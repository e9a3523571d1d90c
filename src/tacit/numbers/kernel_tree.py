"""Trees of numbers and categories as scikit-learn estimators."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, Self

from tacit.core.arguments import check_choice, check_count, check_number, seed_from
from tacit.errors import ArgumentError
from tacit.numbers.kernel_queries import KernelQueries
from tacit.trees.learn.fit import keep
from tacit.trees.learn.learners import Settings

if TYPE_CHECKING:
    from tacit.core.input.mixed_table import MixedTable
    from tacit.core.progress import Report
    from tacit.numbers.learn.bins import LearntTree

LEARN = ("auto", "spectral")


class KernelTree(KernelQueries):
    """A joint density of the columns of a table, numbers and categories alike, with hidden variables.

    Every column is a leaf of a tree whose other nodes are hidden. A column of numbers may have any density:
    skewed, with several peaks, with values that occur often. Any conditional can be asked afterwards, with
    any cells missing.

    Parameters
    ----------
    n_states : int, mapping of hidden node to int, or "auto"
        States of the hidden nodes (ranks, for learn="spectral"); "auto" lets held-out rows choose.
    structure : str, Topology, path, networkx tree or edges
        The tree, or how it is learnt: see `LatentTree`. Two columns have a hidden node between them.
    learn : {"auto", "spectral"}
        "auto": columns of numbers are cut into bins, trees of categories are learnt as `LatentTree` learns
        them, and every bin becomes a smooth bump of density. Densities are never negative. "spectral":
        kernel features of the numbers, whose moments are factorised (Song et al. 2011, 2014): fast, in
        a few passes over the rows; densities may be slightly negative.
    continuous : collection of str
        Columns that hold numbers. Others do where they hold numbers with more than 20 distinct values.
    bandwidth : float or "auto"
        learn="auto": how far the bump of a bin reaches into its neighbours, in bins. "spectral": bandwidth
        of the kernel at the leaves, as a multiple of the median distance of two rows. "auto" lets held-out
        rows choose.
    metric_bandwidth : float or "auto"
        Bandwidth of the kernel that the structure is learnt with by "spectral", in the same unit; "auto" lets
        held-out rows choose between the median distance and half of it.
    normal_scores : bool
        Whether the kernels of "spectral" work on a column's normal scores, or on the numbers as they are.
    n_features : int or "auto"
        The largest number of kernel features of a column; "auto": 200, and fewer where columns are many.
    n_bins : int or "auto"
        Bins of a column of numbers; "auto" lets held-out rows choose.
    n_components : int or "auto"
        Trees whose mixture the model is, by learn="auto": see `LatentTree`.
    n_views : int or "auto"
        Leaves that each linear system of "spectral" uses; "auto" lets held-out rows choose.
    pseudo_counts : float or "auto"
        Dirichlet pseudo-counts per table row, by learn="auto".
    blend : bool
        Whether means, quantiles and missing cells are those of the tree joined with those of a Gaussian of
        normal scores and indicators, by learn="auto"; `impute` also looks for rows nearby, where that is
        better. How much each counts in a column is learnt from hidden cells of held-out rows; densities
        and probabilities are the tree's own. A model that looks for rows nearby keeps up to 10,000 rows
        of X, in its file too.
    max_iter : int
        Largest number of steps of EM.
    negative : {"floor", "nan", "raise"}
        What a logarithm of an estimate that is not positive becomes; the floor is 1e-3 of the density that
        the row had if all columns were independent.
    unknown : {"error", "missing"}
        What a category is at query time that was never seen.
    n_jobs : int or None
        Threads. None: one, and all processors where something is chosen by held-out rows.
    progress : None, bool or callable
        True draws a bar on a terminal; a callable gets (share done, text).
    random_state : int, numpy.random.Generator or None
        Seed of whatever is drawn while fitting.

    Attributes
    ----------
    schema_ : MixedSchema
        The columns; `categories_` has the categories by name.
    encoders_ : tuple of Encoder
        What each column's cells are to the tree: bumps, kernel features, or indicators.
    topology_, tree_, trees_, network_, tables_
        See `LatentTree`.
    diagnostics_ : dict
        What was tried, kept and cut, in plain values.

    Examples
    --------
    >>> import numpy as np, tacit
    >>> rng = np.random.default_rng(0)
    >>> group = rng.integers(2, size=400)
    >>> x, y = rng.laplace(4.0 * group), rng.laplace(-4.0 * group)
    >>> model = tacit.KernelTree().fit({"x": x, "y": y, "group": group})
    >>> low, high = model.expectation({"x": [0.0, 4.0]}, "y")
    >>> bool(low > -1.0), bool(high < -3.0)
    (True, True)
    """

    def __init__(
        self,
        n_states: int | Mapping[str, int] | str = "auto",
        structure: Any = "auto",
        learn: str = "auto",
        *,
        continuous: Collection[str] = (),
        bandwidth: float | str = "auto",
        metric_bandwidth: float | str = "auto",
        normal_scores: bool = True,
        n_features: int | str = "auto",
        n_bins: int | str = "auto",
        n_components: int | str = "auto",
        n_views: int | str = "auto",
        pseudo_counts: float | str = "auto",
        blend: bool = True,
        max_iter: int = 1000,
        negative: str = "floor",
        unknown: str = "error",
        n_jobs: int | None = None,
        progress: Any = None,
        random_state: int = 0,
    ) -> None:
        self.n_states = n_states
        self.structure = structure
        self.learn = learn
        self.continuous = continuous
        self.bandwidth = bandwidth
        self.metric_bandwidth = metric_bandwidth
        self.normal_scores = normal_scores
        self.n_features = n_features
        self.n_bins = n_bins
        self.n_components = n_components
        self.n_views = n_views
        self.pseudo_counts = pseudo_counts
        self.blend = blend
        self.max_iter = max_iter
        self.negative = negative
        self.unknown = unknown
        self.n_jobs = n_jobs
        self.progress = progress
        self.random_state = random_state

    def fit(
        self, X: Any, y: Any = None, *, sample_weight: Any = None, validation: Any = None
    ) -> Self:
        """Learn structure, numbers of states and parameters, as far as they are not given.

        Parameters
        ----------
        X : table
            See `LatentTree.fit`. Cells may be missing.
        y : None
            Not used.
        sample_weight : (row,) array, optional
        validation : table, optional
            Rows to choose with and to stop by. Without them a fifth of X is set aside, and everything is
            learnt again from all of X at the end.
        """
        from tacit.core.input.read_mixed_table import encode_mixed, read_mixed
        from tacit.core.progress import reporting
        from tacit.core.threads import limit_threads
        from tacit.numbers.learn.blend import fit_blend, held_out_trees

        settings = self._settings()
        table = read_mixed(X, continuous=self.continuous, sample_weight=sample_weight)
        watching = None
        if validation is not None:
            watching = encode_mixed(validation, table.schema, unknown="missing")
        with limit_threads(self.n_jobs), reporting(self.progress) as report:
            found = self._learn(table, watching, settings, report)
        keep(self, X, table, found.counts, found.topology, found.tree, found.learnt)
        self.encoders_, self.margins_ = found.encoders, found.margins
        self.blend_ = None
        if self.blend:
            trees = held_out_trees(table, found.trials, found.encoders)
            self.blend_ = fit_blend(table, trees, random_state=settings.seed)
        return self

    # -- within -----------------------------------------------------------------------------------

    def _settings(self) -> Settings:
        """The arguments about learning, checked."""
        from tacit.core.threads import n_threads

        check_choice("learn", self.learn, LEARN)
        self._check_policies()
        check_count("max_iter", self.max_iter)
        for name in ("n_bins", "n_components", "n_features", "n_views"):
            if isinstance(getattr(self, name), str):
                check_choice(name, getattr(self, name), ("auto",))
            else:
                check_count(name, getattr(self, name))
        check_number("bandwidth", self.bandwidth, positive=self.learn == "spectral", word="auto")
        check_number("metric_bandwidth", self.metric_bandwidth, positive=True, word="auto")
        check_number("pseudo_counts", self.pseudo_counts, word="auto")
        if isinstance(self.continuous, str):
            raise ArgumentError(f"continuous={self.continuous!r}; give a list of names")
        if self.learn == "spectral" and self.n_components not in {1, "auto"}:
            raise ArgumentError(
                f"n_components={self.n_components} with learn='spectral'; several trees are learnt by "
                f'learn="auto" only'
            )
        return Settings(
            max_iter=self.max_iter,
            pseudo_counts=self.pseudo_counts,
            n_jobs=n_threads(self.n_jobs) or 1,
            seed=seed_from(self.random_state),
        )

    def _learn(
        self,
        table: MixedTable,
        validation: MixedTable | None,
        settings: Settings,
        report: Report,
    ) -> LearntTree:
        """What the learner finds."""
        n_jobs = None if self.n_jobs is None else settings.n_jobs
        if self.learn == "auto":
            from tacit.numbers.learn.bins import BinOptions, learn_in_bins

            options = BinOptions(
                structure=self.structure,
                n_states=self.n_states,
                n_components=self.n_components,
                n_bins=self.n_bins,
                bandwidth=self.bandwidth,
                blend=bool(self.blend),
                settings=settings,
                n_jobs=n_jobs,
                report=report,
            )
            return learn_in_bins(table, validation, options)
        from tacit.numbers.learn.kernels import KernelOptions, learn_by_kernels

        return learn_by_kernels(
            table,
            validation,
            KernelOptions(
                structure=self.structure,
                n_states=self.n_states,
                bandwidth=self.bandwidth,
                metric_bandwidth=self.metric_bandwidth,
                normal_scores=self.normal_scores,
                n_features=self.n_features,
                n_views=self.n_views,
                blend=bool(self.blend),
                settings=settings,
                report=report,
            ),
        )
