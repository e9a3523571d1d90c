"""EM for the constituent-context model (Klein & Manning 2002)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SpanTable:
    """The spans of two or more words of many sentences: what tags are in them and around them."""

    n_tags: int
    starts: Integers  # (sentence + 1,)  where the words of each begin
    firsts: Integers  # (sentence + 1,)  where the spans of each begin
    yields: NDArray[np.uint64]  # (span,)  the tags inside, mixed to one number
    contexts: Integers  # (span,)  the tags on both sides
    singles: (
        Integers  # (context,)  how often single words, which are constituents always, stand between
    )

    @staticmethod
    def of(sentences: Sequence[Sequence[int]], n_tags: int) -> SpanTable:
        """The spans of sentences of tags from 0 to n_tags - 1."""
        from tacit.parsing.loops.constituent_context import span_names

        lengths = np.array([len(sentence) for sentence in sentences], dtype=np.int64)
        starts = np.concatenate([[0], np.cumsum(lengths)])
        firsts = np.concatenate([[0], np.cumsum(lengths * (lengths - 1) // 2)])
        tags = np.array([tag for sentence in sentences for tag in sentence], dtype=np.int64)
        yields = np.empty(firsts[-1], dtype=np.uint64)
        contexts = np.empty(firsts[-1], dtype=np.int64)
        span_names(tags, starts, n_tags, yields, contexts)
        around = [
            before * (n_tags + 1) + after
            for sentence in sentences
            for before, after in zip([n_tags, *sentence][:-1], [*sentence, n_tags][1:], strict=True)
        ]
        singles = np.bincount(np.array(around, dtype=np.int64), minlength=(n_tags + 1) ** 2)
        return SpanTable(n_tags, starts, firsts, yields, contexts, singles)


@dataclass(frozen=True, eq=False)
class SpanRatios:
    """How much more likely tags inside and around a span are if it is a constituent: logarithms.

    Binary trees over n words have n - 1 constituents, so that the sums by which probabilities are divided
    are the same for all trees; they are left out.
    """

    yields: NDArray[np.uint64]  # (yield,)  ascending
    of_yields: Array  # (yield,)
    of_contexts: Array  # (context,)
    unseen: float  # for yields that are not there

    def scores(self, table: SpanTable) -> Array:
        """The logarithm of the ratio of each span of some sentences."""
        if not len(self.yields):
            return np.full(len(table.yields), self.unseen) + self.of_contexts[table.contexts]
        places = np.minimum(np.searchsorted(self.yields, table.yields), len(self.yields) - 1)
        known = self.yields[places] == table.yields
        return (
            np.where(known, self.of_yields[places], self.unseen) + self.of_contexts[table.contexts]
        )


def split_posterior(table: SpanTable) -> Array:
    """The probability of each span where every split of every bracket is equally likely.

    1 for a whole sentence; 1/k for k words at one end of it; 2/(k(k+1)) for k words inside.
    """
    parts = []
    for n in np.diff(table.starts).tolist():
        left, right = np.triu_indices(n, 1)
        size = right - left + 1.0
        edge = (left == 0).astype(int) + (right == n - 1)
        parts.append(
            np.where(edge == 2, 1.0, np.where(edge == 1, 1 / size, 2 / (size * (size + 1))))
        )
    return np.concatenate([np.zeros(0), *parts])


def random_posterior(table: SpanTable, random: np.random.Generator) -> Array:
    """Probabilities of spans where every tag sequence and context has a weight by chance."""
    names, numbers = np.unique(table.yields, return_inverse=True)
    start = SpanRatios(
        names, random.normal(size=len(names)), random.normal(size=(table.n_tags + 1) ** 2), 0.0
    )
    return expected(start.of_yields[numbers] + start.of_contexts[table.contexts], table)[0]


def expected(scores: Array, table: SpanTable) -> tuple[Array, float]:
    """The probability of each span, and the logarithm of the sums over all trees of all sentences."""
    from tacit.parsing.loops.constituent_context import all_tree_sums

    posterior = np.zeros(len(scores))
    totals = all_tree_sums(scores, table.starts, table.firsts, posterior)
    return posterior, float(totals.sum())


def fit_ratios(
    table: SpanTable,
    posterior: Array,
    smoothing: tuple[float, float] = (2.0, 8.0),
    max_iter: int = 40,
    tol: float = 1e-4,
) -> tuple[SpanRatios, list[float]]:
    """EM from a first guess of the probabilities of spans.

    Parameters
    ----------
    table : SpanTable
    posterior : (span,) array
    smoothing : (float, float)
        Times that each sequence and context is taken to have been seen as a constituent and as none.
    max_iter : int
    tol : float
        Stop when the posterior changes by less, on average over the spans.

    Returns
    -------
    ratios : SpanRatios
    changes : list of float
        Mean change of the posterior in each step.
    """
    names, numbers = np.unique(table.yields, return_inverse=True)
    n_contexts = (table.n_tags + 1) ** 2
    every = (
        np.bincount(numbers, minlength=len(names)),
        np.bincount(table.contexts, minlength=n_contexts),
    )
    always = np.zeros(len(names)), table.singles
    changes: list[float] = []
    yes, no = smoothing
    while True:
        logs = []
        for ids, total, sure in zip((numbers, table.contexts), every, always, strict=True):
            inside = np.bincount(ids, weights=posterior, minlength=len(total))
            outside = np.maximum(total - inside, 0.0)
            logs.append(np.log(inside + sure + yes) - np.log(outside + no))
        ratios = SpanRatios(names, logs[0], logs[1], float(np.log(yes) - np.log(no)))
        if len(changes) == max_iter or (changes and changes[-1] < tol) or not len(posterior):
            return ratios, changes
        better, _ = expected(logs[0][numbers] + logs[1][table.contexts], table)
        changes.append(float(np.abs(better - posterior).mean()))
        posterior = better
