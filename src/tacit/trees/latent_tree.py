"""Latent trees as scikit-learn estimators."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from tacit.trees.learn.learners import LEARNERS
from tacit.trees.tree_model import TreeModel

if TYPE_CHECKING:
    from tacit.trees.files.bif import BifTree


class LatentTree(TreeModel):
    """A joint distribution of the columns of a table, with hidden variables between them.

    Every column is a leaf (or an inner node) of a tree whose other nodes are hidden variables. With nothing
    given, held-out rows select the tree, the numbers of states, and whether a mixture is better than one
    tree: of several trees, latent classes, the Chow-Liu tree and independent columns. Initialisation is
    deterministic, from moments of the columns; the order of the columns does not matter. Any conditional can
    be queried afterwards, with any cells missing.

    Parameters
    ----------
    n_states : int, mapping of hidden node to int, or "auto"
        States of the hidden nodes. "auto" selects by held-out rows among 1, 2, 3, 4, 6, ... (up
        to 64 columns, or few rows), of which more are taken only if they are better by a quarter of a
        standard error, and with learn="auto" and at least 500 rows to learn from also 8, 16, 32 and 64, as
        long as more are better. Of up to 2,000 rows each fifth is held out in turn to judge few states.
    structure : str, Topology, path, networkx tree or edges
        "auto": held-out rows choose among "refined-joining", "hidden-chow-liu", "neighbor-joining",
        "chow-liu-grouping" and "chow-liu"; the first is kept unless another is better by more than a
        standard error, and always with fewer than 100 rows. (With another `learn` than "auto" it is
        "hidden-chow-liu".) "hidden-chow-liu": a hidden node above every column, joined as the Chow-Liu tree
        of the columns. "refined-joining", "neighbor-joining", "chow-liu-joining", "recursive-grouping",
        "chow-liu-grouping": a tree learnt from distances between the columns, see `learn_structure`. "star":
        one hidden node. "chow-liu": no hidden nodes. Anything else is a tree: Newick text or a file of it,
        a `Topology`, a networkx tree, a list of edges.
    learn : {"auto", "spectral", "hierarchical", "mossel-roch", "em", "online-em"}
        "auto": probability tables. Up to 12 states: moment start, accelerated MAP-EM. More states, or several
        trees: rows clustered at every hidden node, EM in small batches, stopped when held-out rows no longer
        gain. "spectral": observable operators (fast, consistent, possibly slightly negative). "hierarchical":
        Song et al. (2013). "mossel-roch": tables by eigenvectors. "em": plain EM with restarts. "online-em":
        stepwise EM.
    n_components : int or "auto"
        Trees whose mixture the model is, by learn="auto". "auto" is one where a structure, a number of states
        or another learner is given; else held-out rows select: up to 12 trees with many states, each with
        another structure, and beside them a tree with few states, latent classes, the Chow-Liu tree and
        independent columns. A given number of trees have many states, or as many as given; the first has the
        structure that was given or chosen.
    effort : {"low", "default", "high"}
        The budget of what learn="auto" compares. "low": no further trees in a mixture, no further starts of
        latent classes. "default": work in proportion to the cells of the table. "high": up to twelve trees
        of small tables as well, EM from random starts among the candidates, more starts of classes.
    preset : None or "printed"
        "printed": the algorithm exactly as in its paper, without Tacit's additions; structure and number of
        states must be given. learn="spectral" with representation="tensor" is Parikh (2015), Algorithm 4,
        with "matrix" Parikh, Song and Xing (2011), Algorithm 1; learn="hierarchical" is Song et al. (2013),
        equation 6; learn="mossel-roch" is Mossel and Roch (2006), where columns have as many categories as
        there are states.
    representation : {"auto", "train", "tensor", "matrix"}
        Of spectral operators at nodes of high degree.
    siblings : {"adopted", "uncle"}
        Of printed products of matrices at nodes of two children: a third child is adopted from the left
        sibling (2011), or the left sibling is an uncle (Parikh 2015, Algorithm 13).
    n_views : int or "auto"
        Leaves that each linear system of "spectral" uses; "auto" is 5, and 1 as printed.
    window : int, None or "auto"
        Leaves outside an edge that the linker of "hierarchical" looks at; None for all. "auto" is 2, and all
        as printed.
    features : int, str, array, mapping or callable
        What represents a side of an edge where hidden states are more than a column's categories. An
        integer: the joint category of up to so many columns, which are chosen. The others are features of all
        columns on a side, for learn="spectral" (Parikh 2015, section 4.4.2), from rows without missing cells.
        "concatenated": indicators of each column, one after the other. "joint": indicators of the joint
        category. An array (category, feature), or a mapping of columns to such arrays, in the order of
        `categories_`: the vector of each column's category, one after the other; columns not named have
        indicators. A callable phi: gets a dict of column to array (row,) of categories, and returns an array
        (row, feature), whose rows depend on nothing but their own categories; files do not hold it.
    n_restarts, max_iter : int
        Of EM: random starts; largest number of steps.
    learning_rate : float or list of float
        Of "online-em", above 0.5 and up to 1: batch t has weight ``(t + 2) ** -learning_rate`` (Liang and
        Klein 2009). Of several, one start each, the one with the highest likelihood is kept.
    tol : float or "auto"
        EM stops when a step gains less than this: nats of the mean log-likelihood per row. "auto": a gain in
        proportion to the number of parameters.
    stopping : {"gain", "relative"}
        "relative": `tol` (by "auto" 1e-4) is a fraction of the log-likelihood, as in Parikh's thesis; of
        learn="em" only.
    pseudo_counts : float or "auto"
        Dirichlet pseudo-counts per table row; "auto" is none for "em", a few otherwise; with many states, 1,
        0.3 and 3 are compared.
    negative : {"floor", "nan", "raise"}
        What a logarithm of an estimate that is not positive becomes; the floor is 1e-3 of the independence
        model.
    unknown : {"error", "missing"}
        What a category is at query time that was never seen.
    n_bins : int
        Bins into which a column of many numbers is cut.
    columns : mapping of column to kind, optional
        What columns are, where it is not seen from their values: "category", "ordered", "count", "number",
        "date" or "ignore" (left out). Numbers with more than 20 distinct values are cut into bins.
    compress : bool
        Whether EM runs over distinct subtree patterns (exact, much less work) or over rows.
    n_jobs : int or None
        Threads. None: one, and all processors where something is chosen by held-out rows.
    progress : None, bool or callable
        True draws a bar on a terminal; a callable gets (fraction done, text).
    random_state : int, numpy.random.Generator or None
        Seed of random starts, batches and held-out rows. None draws anew each time.

    Attributes
    ----------
    trees_ : tuple of components
        The trees, the heaviest first, each with `weight`, `topology`, `tables` and `node_states`.
    node_states_ : dict of str to int
        States of each hidden node.
    topology_, tree_ : Topology, RootedTree
        Of the only tree, or of the heaviest.
    network_ : Network
        Of a single tree; there is none of several.
    tables_ : Tables or None
        Probability tables of a single tree, where the learner gives them.
    schema_ : Schema
        The columns and their categories; `categories_` is the same by name.
    diagnostics_ : dict
        What learning compared and selected, in plain values. Of selection by held-out rows: "structures"
        (candidates and their scores, in order of preference), "candidates" (numbers of states and their
        scores), "classes" (numbers of latent classes), "members" (simpler models and the first tree),
        "trees" (weight, states, passes and steps of each tree), "held_out_score" (of the selected
        model, in nats per row), "n_rows_tried_with", "skipped" (what was not compared, and why).

    Examples
    --------
    >>> import tacit
    >>> rows = tacit.toy.random_tree_model(n_leaves=6, random_state=0).sample(500, random_state=1)
    >>> model = tacit.LatentTree(n_states=2).fit(rows)
    >>> model.score(rows) < 0
    True
    """

    _learners = LEARNERS

    def __init__(
        self,
        n_states: int | Mapping[str, int] | str = "auto",
        structure: Any = "auto",
        learn: str = "auto",
        *,
        n_components: int | str = "auto",
        effort: str = "default",
        preset: str | None = None,
        representation: str = "auto",
        siblings: str = "adopted",
        n_views: int | str = "auto",
        window: int | str | None = "auto",
        features: Any = 3,
        n_restarts: int = 5,
        tol: float | str = "auto",
        stopping: str = "gain",
        max_iter: int = 1000,
        learning_rate: float | Sequence[float] = 0.6,
        pseudo_counts: float | str = "auto",
        negative: str = "floor",
        unknown: str = "error",
        n_bins: int = 5,
        columns: Mapping[Any, str] | None = None,
        compress: bool = True,
        n_jobs: int | None = None,
        progress: Any = None,
        random_state: int = 0,
    ) -> None:
        self.n_states = n_states
        self.structure = structure
        self.learn = learn
        self.n_components = n_components
        self.effort = effort
        self.preset = preset
        self.representation = representation
        self.siblings = siblings
        self.n_views = n_views
        self.window = window
        self.features = features
        self.n_restarts = n_restarts
        self.tol = tol
        self.stopping = stopping
        self.max_iter = max_iter
        self.learning_rate = learning_rate
        self.pseudo_counts = pseudo_counts
        self.negative = negative
        self.unknown = unknown
        self.n_bins = n_bins
        self.columns = columns
        self.compress = compress
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
            A pandas, polars or Arrow frame, an array, a dict or list of columns or rows, a path to CSV or
            Parquet, an iterable of chunks of these that can be run through twice, or a `Table` that was read
            before.
        y : None
            Not used.
        sample_weight : (row,) array, optional
        validation : table, optional
            Rows to select with and to stop by; the weights of several trees are fitted to them, tables are
            not. Without them a fifth of X is held out, and the tables are learnt again from all of X at
            the end.
        """
        from tacit.trees.learn.fit import fit_tree

        self._check_policies()
        with self._working() as report:
            fit_tree(self, X, sample_weight, validation, report)
        return self

    @classmethod
    def from_bif(cls, path: Any, hidden: Iterable[str] | None = None) -> Self:
        """The fitted model of a Bayesian network in a BIF file, if it is a tree.

        Parameters
        ----------
        path : str or path
        hidden : iterable of str, optional
            Names of the hidden variables; without it, those that the file marks as latent.

        Raises
        ------
        TopologyError
            A variable has two parents, or the network falls into parts; of `LatentClass`, there is not
            one hidden variable above all others.
        FileFormatError
            The file is no BIF.
        """
        from tacit.trees.files.bif import read_bif, tree_from_bif
        from tacit.trees.learn.fit import put_network

        network = tree_from_bif(read_bif(path), hidden)
        model = cls._for_network(network)
        put_network(model, network)
        return model

    @classmethod
    def _for_network(cls, network: BifTree) -> Self:
        """A model with the arguments that would learn such a network."""
        return cls(n_states=network.node_states or "auto", structure=network.topology)
