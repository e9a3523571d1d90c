"""Trees of numbers and categories as scikit-learn estimators."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Self

from tacit.numbers.expert_queries import ExpertQueries


class KernelTree(ExpertQueries):
    """A joint density of the columns of a table, numbers and categories alike, with hidden variables.

    Every column is a leaf of a tree whose other nodes are hidden. A column of numbers may have any density:
    skewed, with several peaks, with values that occur often. Beside the tree stand other experts, classes of
    rows whose numbers are Gaussian or have Gaussian normal scores: the density is a mixture of all, whose
    weights held-out rows choose. Any conditional can be queried afterwards, with any cells missing.

    Parameters
    ----------
    n_states : int, mapping of hidden node to int, or "auto"
        States of the hidden nodes (ranks, for learn="spectral"); "auto" lets held-out rows choose.
    structure : str, Topology, path, networkx tree or edges
        The tree, or how it is learnt: see `LatentTree`. Two columns have a hidden node between them, unless
        the tree is given without one. A tree without hidden nodes ("chow-liu", or a given one) is learnt
        from moments of neighbours alone by learn="spectral": messages are functions of the columns, passed
        on by conditional embedding operators, whose rank is `n_states`.
    learn : {"auto", "spectral"}
        "auto": columns of numbers are cut into bins, trees of categories are learnt as `LatentTree` learns
        them, and every bin gets a smooth density. Densities are never negative. "spectral":
        kernel features of the numbers, whose moments are factorised (Song et al. 2011, 2014): fast, in
        a few passes over the rows; densities may be slightly negative.
    preset : None or "printed"
        "printed": Algorithms 8 to 10 of Parikh (2015), without Tacit's additions: kernels of the numbers as
        they are with the median bandwidth, a tree by neighbour joining of equation 6.18 (or the tree given),
        one view, nothing whitened, cut or averaged in. `n_states`, the rank of all hidden nodes, must be
        given; "auto" of other arguments is what is printed.
    columns : mapping of column to kind, optional
        What columns are, where it is not seen from their values: "category", "ordered", "count", "number",
        "date" or "ignore" (left out). Numbers have more than 20 distinct values, where nothing is said.
    continuous : collection of str
        Columns that hold numbers: the kind "number" for each of them.
    bandwidth : float or "auto"
        learn="auto": how far the density of a bin reaches into its neighbours, in bins. "spectral": bandwidth
        of the kernel at the leaves, as a multiple of the median distance of two rows. "auto" lets held-out
        rows choose.
    metric_bandwidth : float or "auto"
        Bandwidth of the kernel that the structure is learnt with by "spectral", in the same unit; "auto" lets
        held-out rows choose between the median distance and half of it.
    kernel : {"rbf", "laplacian", "matern32", "matern52"} or callable
        The kernel of "spectral": scikit-learn's names of pairwise kernels, and Matern kernels of smoothness
        3/2 and 5/2. A callable takes an array of distances, in bandwidths, and gives as many numbers: one
        at zero, never negative, with a finite integral, positive definite. Files hold a table of it.
    groups : mapping of str to list of columns, optional
        Columns of numbers that are one variable of the tree together, by learn="spectral": ``{"position":
        ["x", "y"]}``. Their kernel is the product of the columns' kernels. A group is a node of the tree,
        under its name, with its columns as leaves.
    normal_scores : bool or "auto"
        Whether the kernels of "spectral" work on a column's normal scores, or on the numbers as they are.
        "auto": on normal scores, and on the numbers as printed.
    n_features : int or "auto"
        The largest number of kernel features of a column; "auto": 200, and fewer where columns are many; as
        printed, as many as `tolerance` asks for.
    tolerance : float or "auto"
        The part of a kernel that its features may leave out; "auto": 1e-4, and 1e-6 as printed.
    n_bins : int or "auto"
        Bins of a column of numbers; "auto" lets held-out rows choose.
    n_components : int or "auto"
        Trees that are mixed, by learn="auto": see `LatentTree`. "auto": one where a few Gaussian classes are
        better than a small tree.
    effort : {"low", "default", "high"}
        The budget of what learn="auto" compares: see `LatentTree`.
    n_views : int or "auto"
        Leaves that each linear system of "spectral" uses; "auto" lets held-out rows choose.
    pseudo_counts : float or "auto"
        Dirichlet pseudo-counts per table row, by learn="auto".
    experts : "auto", "tree", or list of str
        The densities whose mixture the model is, by learn="auto". "auto": the tree, and whichever classes of
        rows held-out rows give weight to. "tree": the tree alone. A list names what is compared with it:
        "scores-full", "scores-diagonal" (classes in which normal scores are Gaussian, with any covariance or
        a diagonal one), "numbers-full", "numbers-diagonal" (the same of the numbers themselves),
        "scores-tree" (a Gaussian tree of normal scores). Posteriors of hidden states, `topology_` and
        profiles of states are the tree's in any case; every other answer is that of the mixture.
    atoms : bool
        Whether values that many rows share have probabilities, by learn="auto". False: they are narrow peaks
        of the density.
    blend : bool or "auto"
        Whether `impute` joins the model's means, medians and probabilities with those of a Gaussian of normal
        scores and indicators, and of rows nearby, by learn="auto". How much each counts in a column is
        learnt from hidden cells of held-out rows. Without other experts than the tree, the Gaussian has a
        part in its means and quantiles too; densities and probabilities are the model's own. A model that
        looks for rows nearby keeps up to 10,000 rows of X, in its file too. "auto": yes, and no as printed.
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
        What each column's cells are to the tree: blurred bins, kernel features, or indicators.
    experts_ : Experts or None
        Other experts than the tree, and the weights of all; None where the tree is alone.
    topology_, tree_, trees_, network_, tables_
        See `LatentTree`.
    diagnostics_ : dict
        What was compared, selected and cut, in plain values.

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
        preset: str | None = None,
        columns: Mapping[Any, str] | None = None,
        continuous: Collection[str] = (),
        bandwidth: float | str = "auto",
        metric_bandwidth: float | str = "auto",
        kernel: str | Callable[[Any], Any] = "rbf",
        groups: Mapping[str, Sequence[str]] | None = None,
        normal_scores: bool | str = "auto",
        n_features: int | str = "auto",
        tolerance: float | str = "auto",
        n_bins: int | str = "auto",
        n_components: int | str = "auto",
        effort: str = "default",
        n_views: int | str = "auto",
        pseudo_counts: float | str = "auto",
        experts: str | Collection[str] = "auto",
        atoms: bool = True,
        blend: bool | str = "auto",
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
        self.preset = preset
        self.columns = columns
        self.continuous = continuous
        self.bandwidth = bandwidth
        self.metric_bandwidth = metric_bandwidth
        self.kernel = kernel
        self.groups = groups
        self.normal_scores = normal_scores
        self.n_features = n_features
        self.tolerance = tolerance
        self.n_bins = n_bins
        self.n_components = n_components
        self.effort = effort
        self.n_views = n_views
        self.pseudo_counts = pseudo_counts
        self.experts = experts
        self.atoms = atoms
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
            Rows to choose with and to stop by. Without them a fifth of X is held out, and everything is
            learnt again from all of X at the end.
        """
        from tacit.numbers.learn.fit import fit_kernel_tree

        fit_kernel_tree(self, X, sample_weight, validation)
        return self
