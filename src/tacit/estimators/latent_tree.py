"""Latent trees as scikit-learn estimators."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from tacit.errors import ArgumentError, ArgumentTypeError, RankError
from tacit.estimators.keeping import keep
from tacit.estimators.recipes import WAYS, Job, Settings
from tacit.estimators.tree_queries import TreeQueries

if TYPE_CHECKING:
    from tacit.data.table import Table
    from tacit.moments.source import CountedMoments
    from tacit.structure.rooted import RootedTree
    from tacit.structure.topology import Topology

# Numbers of hidden states that are tried where none is given.
CANDIDATES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
# Share of the rows that is set aside to choose with, where no validation rows are given.
SET_ASIDE = 0.2


class LatentTree(TreeQueries):
    """A joint distribution of the columns of a table, with hidden variables between them.

    Every column is a leaf (or an inner node) of a tree whose other nodes are hidden variables with a few states
    each. Learnt from counts of pairs and triples of columns by linear algebra, without restarts; any conditional
    can be asked afterwards, with any cells missing.

    Parameters
    ----------
    n_states : int, mapping of hidden node to int, or "auto"
        States of the hidden nodes. "auto" tries a few and keeps the number with the best held-out likelihood.
    structure : str, Topology, path, networkx tree or edges
        "auto" and "hidden-chow-liu": a hidden node above every column, joined as the Chow-Liu tree of the
        columns. "star": one hidden node. "chow-liu": no hidden nodes. Anything else is a tree: Newick text or a
        file of it, a `Topology`, a networkx tree, a list of edges.
    learn : {"auto", "spectral", "hierarchical", "mossel-roch", "em", "online-em"}
        "auto": moment start, probability tables, accelerated MAP-EM. "spectral": observable operators (fast,
        consistent, possibly slightly negative). "hierarchical": Song et al. (2013). "mossel-roch": tables by
        eigenvectors. "em": plain EM with restarts. "online-em": stepwise EM.
    representation : {"auto", "train", "tensor", "matrix"}
        Of spectral operators at nodes of high degree.
    n_views : int
        Leaves that each linear system of "spectral" uses.
    window : int or None
        Leaves outside an edge that the linker of "hierarchical" looks at; None for all, as printed.
    features : int
        Leaves whose joint category is one view where hidden states are more than a leaf's categories.
    n_restarts, tol, max_iter : int, float or None, int
        Of EM: random starts; relative gain of the log-likelihood at which it stops (the seeds' rule), None for
        an absolute gain scaled by the number of parameters; largest number of steps.
    pseudo_counts : float or "auto"
        Dirichlet pseudo-counts per table row; "auto" is none for "em", a few otherwise.
    negative : {"floor", "nan", "raise"}
        What a logarithm of an estimate that is not positive becomes; the floor is 1e-3 of the independence
        model.
    unknown : {"error", "missing"}
        What a category is at query time that was never seen.
    n_bins : int
        Bins into which a column of many floats is cut.
    compress : bool
        Whether EM runs over distinct subtree patterns (exact, much less work) or over rows.
    n_jobs : int or None
        Threads.
    progress : None, bool or callable
        True draws a bar on a terminal; a callable gets (share done, text).
    random_state : int
        Seed of whatever is drawn: starts of EM, rows set aside.

    Attributes
    ----------
    topology_ : Topology
    tree_ : RootedTree
    network_ : Network
    tables_ : Tables or None
        Probability tables, where the way of learning gives them.
    schema_ : Schema
        The columns and their categories; `categories_` is the same by name.
    diagnostics_ : dict
        What was tried, kept and cut, in plain values.

    Examples
    --------
    >>> import tacit
    >>> rows = tacit.toy.random_tree_model(n_leaves=6, random_state=0).sample(500, random_state=1)
    >>> model = tacit.LatentTree(n_states=2).fit(rows)
    >>> model.score(rows) < 0
    True
    """

    def __init__(
        self,
        n_states: int | Mapping[str, int] | str = "auto",
        structure: Any = "auto",
        learn: str = "auto",
        *,
        representation: str = "auto",
        n_views: int = 5,
        window: int | None = 2,
        features: int = 3,
        n_restarts: int = 5,
        tol: float | None = 1e-4,
        max_iter: int = 1000,
        pseudo_counts: float | str = "auto",
        negative: str = "floor",
        unknown: str = "error",
        n_bins: int = 5,
        compress: bool = True,
        n_jobs: int | None = None,
        progress: Any = None,
        random_state: int = 0,
    ) -> None:
        self.n_states = n_states
        self.structure = structure
        self.learn = learn
        self.representation = representation
        self.n_views = n_views
        self.window = window
        self.features = features
        self.n_restarts = n_restarts
        self.tol = tol
        self.max_iter = max_iter
        self.pseudo_counts = pseudo_counts
        self.negative = negative
        self.unknown = unknown
        self.n_bins = n_bins
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
            Parquet, or an iterable of chunks of these that can be run through twice.
        y : None
            Not used.
        sample_weight : (row,) array, optional
        validation : table, optional
            Rows to choose with; without them a fifth of X is set aside for choosing and used again at the end.
        """
        from tacit.data.reading import encode, read_table
        from tacit.estimators.progress import reporting
        from tacit.loops.threads import limit_threads, n_threads
        from tacit.moments.source import CountedMoments

        self._check_arguments()
        table = read_table(X, n_bins=self.n_bins, sample_weight=sample_weight)
        with limit_threads(self.n_jobs), reporting(self.progress) as report:
            jobs = n_threads(self.n_jobs) or 1
            moments = CountedMoments.of(table.codes, table.schema.cards, table.weights, jobs)
            topology = self._topology(table, moments)
            tree = topology.rooted(table.schema.names)
            held_out = (
                None if validation is None else encode(validation, table.schema, unknown="missing")
            )
            choice: dict[str, Any] = {}
            states = self._states(topology, tree, table.schema.cards)
            if states is None:
                states, choice = self._chosen_states(table, held_out, tree, report)
            job = Job(table, tree, states, moments, self._settings(), report)
            learnt = WAYS[self.learn](job)
        learnt.diagnostics.update(choice)
        keep(self, X, table, moments.pairs().counts, topology, tree, learnt)
        return self

    # -- within -----------------------------------------------------------------------------------

    def _check_arguments(self) -> None:
        if self.learn not in WAYS:
            raise ArgumentError(f"learn={self.learn!r} is not known; choose one of {tuple(WAYS)}")
        if isinstance(self.pseudo_counts, str):
            good = self.pseudo_counts == "auto"
        else:
            good = self.pseudo_counts >= 0
        if not good:
            raise ArgumentError(
                f'pseudo_counts={self.pseudo_counts!r}; give a number that is not negative, or "auto"'
            )
        if self.max_iter < 1:
            raise ArgumentError(f"max_iter={self.max_iter}; give at least 1")
        if self.tol is not None and not self.tol > 0:
            raise ArgumentError(f"tol={self.tol}; give a positive number, or None")

    def _settings(self) -> Settings:
        from tacit.loops.threads import n_threads

        return Settings(
            n_views=self.n_views,
            representation=self.representation,
            window=self.window,
            features=self.features,
            n_restarts=self.n_restarts,
            tol=self.tol,
            max_iter=self.max_iter,
            pseudo_counts=self.pseudo_counts,
            compress=self.compress,
            n_jobs=n_threads(self.n_jobs) or 1,
            seed=self.random_state,
        )

    def _topology(self, table: Table, moments: CountedMoments) -> Topology:
        """The tree that was asked for, over the table's columns."""
        from tacit.structure.spanning import chow_liu_edges, chow_liu_topology, hidden_chow_liu
        from tacit.structure.topology import Topology

        names = table.schema.names
        if not isinstance(self.structure, str):
            return Topology.parse(self.structure, names)
        if self.structure == "star":
            return Topology.star(names).contracted()
        if self.structure not in {"auto", "hidden-chow-liu", "chow-liu"}:
            return Topology.parse(self.structure, names)
        edges = chow_liu_edges(moments.pairs().counts, table.schema.cards)
        if self.structure == "chow-liu":
            return chow_liu_topology(edges, names)
        return hidden_chow_liu(edges, names)

    def _states(
        self, topology: Topology, tree: RootedTree, cards: tuple[int, ...]
    ) -> tuple[int, ...] | None:
        """States of every node, or None where they are to be chosen."""
        known: Mapping[str, int] | int
        if isinstance(self.n_states, str):
            if self.n_states != "auto":
                raise ArgumentError(
                    f'n_states={self.n_states!r}; give a number, a number per hidden node, or "auto"'
                )
            free = [n for n in tree.hidden if tree.copy_of[n] < 0]
            if any(tree.names[node] not in topology.n_states for node in free):
                return None
            known = topology.n_states
        elif isinstance(self.n_states, Mapping):
            known = {**topology.n_states, **self.n_states}
            unknown = sorted(set(known).difference(tree.names))
            if unknown:
                raise ArgumentError(f"n_states names {unknown}, which are not hidden nodes")
        elif isinstance(self.n_states, int | np.integer):
            known = int(self.n_states)
        else:
            raise ArgumentTypeError(
                f"n_states={self.n_states!r}; give a number, a number per hidden node, or 'auto'"
            )
        return _state_counts(tree, cards, known)

    def _chosen_states(
        self,
        table: Table,
        held_out: Table | None,
        tree: RootedTree,
        report: Callable[[float, str], None],
    ) -> tuple[tuple[int, ...], dict[str, Any]]:
        """The number of states with the best held-out likelihood, and the table of all that were tried."""
        from tacit.evaluate.states import largest_useful_rank
        from tacit.moments.source import CountedMoments
        from tacit.query.answers import log_prob
        from tacit.query.evidence import Evidence

        train = table
        if held_out is None:
            rng = np.random.default_rng(self.random_state)
            order = rng.permutation(table.n_rows)
            cut = max(1, round(SET_ASIDE * table.n_rows))
            if cut == table.n_rows:
                return _state_counts(tree, table.schema.cards, 1), {}
            held_out = table.take(np.sort(order[:cut]))
            train = table.take(np.sort(order[cut:]))
        moments = CountedMoments.of(train.codes, table.schema.cards, train.weights)
        spectra = largest_useful_rank(tree, moments.pairs(), moments.n_rows)
        most = max(2, min(spectra.rank, train.n_rows))
        rows: list[dict[str, Any]] = []
        best, best_score, worse = 1, -np.inf, 0
        for k in [k for k in CANDIDATES if k <= most]:
            states = _state_counts(tree, table.schema.cards, k)
            report(k / (most + 1), f"trying {k} states")
            job = Job(train, tree, states, moments, self._settings(), lambda share, text: None)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    learnt = WAYS[self.learn](job)
                except RankError as error:
                    rows.append({"n_states": k, "refused": str(error)})
                    break
            values = log_prob(learnt.network, Evidence(held_out.codes)).values
            score = float(np.average(values, weights=held_out.weights))
            rows.append({"n_states": k, "score": score})
            if score > best_score:
                best, best_score, worse = k, score, 0
            else:
                worse += 1
                if worse == 2:
                    break
        chosen = _state_counts(tree, table.schema.cards, best)
        return chosen, {"candidates": rows, "edges": spectra.edges}


def _state_counts(
    tree: RootedTree, cards: tuple[int, ...], known: Mapping[str, int] | int
) -> tuple[int, ...]:
    """States of every node: categories of leaves and of what repeats them, the rest as given."""
    counts = list(cards)
    for node in tree.hidden:
        name = tree.names[node]
        if tree.copy_of[node] >= 0:
            counts.append(cards[tree.copy_of[node]])
            continue
        if isinstance(known, int):
            count = known
        elif name in known:
            count = int(known[name])
        else:
            raise ArgumentError(f"n_states says nothing of hidden node {name!r}")
        if count < 1:
            raise ArgumentError(f"n_states={count} for hidden node {name!r}; give at least 1")
        counts.append(count)
    return tuple(counts)


class LatentClass(LatentTree):
    """One hidden variable above all columns: latent class analysis, a mixture of product distributions.

    A door to `LatentTree` with ``structure="star"``; all arguments but `structure` are the same.
    """

    def __init__(
        self,
        n_states: int | str = "auto",
        learn: str = "auto",
        *,
        n_views: int = 5,
        features: int = 3,
        n_restarts: int = 5,
        tol: float | None = 1e-4,
        max_iter: int = 1000,
        pseudo_counts: float | str = "auto",
        negative: str = "floor",
        unknown: str = "error",
        n_bins: int = 5,
        n_jobs: int | None = None,
        progress: Any = None,
        random_state: int = 0,
    ) -> None:
        super().__init__(
            n_states,
            "star",
            learn,
            n_views=n_views,
            features=features,
            n_restarts=n_restarts,
            tol=tol,
            max_iter=max_iter,
            pseudo_counts=pseudo_counts,
            negative=negative,
            unknown=unknown,
            n_bins=n_bins,
            n_jobs=n_jobs,
            progress=progress,
            random_state=random_state,
        )
