"""The maximum-likelihood tree without hidden variables."""

from __future__ import annotations

from typing import Any, Self

from tacit.core.arguments import check_number
from tacit.trees.learn.fit import keep
from tacit.trees.learn.learners import Learnt
from tacit.trees.tree_model import TreeModel


class ChowLiuTree(TreeModel):
    """The tree of observed variables with the largest likelihood (Chow and Liu 1968).

    Structure and tables follow from the pair counts alone; all queries of `LatentTree` work.

    Parameters
    ----------
    pseudo_counts : float
        Added to every table row, spread as the column's marginal.
    unknown : {"error", "missing"}
        What a category is at query time that was never seen.
    n_bins : int
        Bins into which a column of many floats is cut.
    n_jobs : int or None
        Threads.

    Examples
    --------
    >>> import tacit
    >>> model = tacit.ChowLiuTree().fit([["a", "x"], ["a", "x"], ["b", "y"], ["b", "x"]])
    >>> model.topology_.hidden
    ()
    """

    abilities = TreeModel.abilities - {"states", "singular values"}

    def __init__(
        self,
        pseudo_counts: float = 1.0,
        *,
        unknown: str = "error",
        n_bins: int = 5,
        n_jobs: int | None = None,
    ) -> None:
        self.pseudo_counts = pseudo_counts
        self.unknown = unknown
        self.n_bins = n_bins
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None, *, sample_weight: Any = None) -> Self:
        """Learn structure and tables from the pair counts; see `LatentTree.fit` for what X may be."""
        from tacit.core.input.read_table import read_table
        from tacit.core.threads import limit_threads, n_threads
        from tacit.trees.learn.chow_liu import tables_from_pairs
        from tacit.trees.moments.source import CountedMoments
        from tacit.trees.structure.chow_liu import chow_liu_edges, chow_liu_topology

        check_number("pseudo_counts", self.pseudo_counts)
        self._check_policies()
        table = read_table(X, n_bins=self.n_bins, sample_weight=sample_weight, cut_integers=True)
        cards, names = table.schema.cards, table.schema.names
        with limit_threads(self.n_jobs):
            jobs = n_threads(self.n_jobs) or 1
            pairs = CountedMoments.of(table.codes, cards, table.weights, jobs).pairs()
            topology = chow_liu_topology(chow_liu_edges(pairs.counts, cards), names)
        tree = topology.rooted(names)
        learnt = Learnt(tables_from_pairs(tree, pairs, self.pseudo_counts), {"learn": "chow-liu"})
        keep(self, X, table, pairs.counts, topology, tree, learnt)
        return self
