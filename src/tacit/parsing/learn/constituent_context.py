"""EM for the constituent-context model (Klein & Manning 2002)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.parsing.model.span_ratios import SpanRatios
from tacit.parsing.moments.tag_spans import SpanTable

Array = NDArray[np.float64]


def split_posterior(table: SpanTable) -> Array:
    """The probability of each span where all splits of a bracket are equally likely.

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
    """Probabilities of spans where every sequence of tags and context has a random weight."""
    yields, yield_codes = np.unique(table.yields, return_inverse=True)
    start = SpanRatios(
        yields, random.normal(size=len(yields)), random.normal(size=(table.n_tags + 1) ** 2), 0.0
    )
    return expected(start.of_yields[yield_codes] + start.of_contexts[table.contexts], table)[0]


def expected(scores: Array, table: SpanTable) -> tuple[Array, float]:
    """The probability of each span, and the logarithm of the sums over all trees of all sentences."""
    from tacit.parsing.loops.constituent_context import all_tree_sums

    posterior = np.zeros(len(scores))
    totals = all_tree_sums(scores, table.starts, table.firsts, posterior)
    return posterior, float(totals.sum())


def fit_ratios(
    table: SpanTable,
    posterior: Array,
    pseudo_counts: tuple[float, float] = (2.0, 8.0),
    max_iter: int = 40,
    tol: float = 1e-4,
) -> tuple[SpanRatios, list[float]]:
    """EM from a first guess of the probabilities of spans.

    Parameters
    ----------
    table : SpanTable
    posterior : (span,) array
    pseudo_counts : (float, float)
        Of every sequence of tags and context, as a constituent and as no constituent.
    max_iter : int
    tol : float
        Stop when the posterior changes by less, on average over the spans.

    Returns
    -------
    ratios : SpanRatios
    changes : list of float
        Mean change of the posterior in each step.
    """
    yields, yield_codes = np.unique(table.yields, return_inverse=True)
    n_contexts = (table.n_tags + 1) ** 2
    totals = (
        np.bincount(yield_codes, minlength=len(yields)),
        np.bincount(table.contexts, minlength=n_contexts),
    )
    always_inside = np.zeros(len(yields)), table.singles
    changes: list[float] = []
    yes, no = pseudo_counts
    while True:
        logs = []
        for ids, total, certain in zip(
            (yield_codes, table.contexts), totals, always_inside, strict=True
        ):
            inside = np.bincount(ids, weights=posterior, minlength=len(total))
            outside = np.maximum(total - inside, 0.0)
            logs.append(np.log(inside + certain + yes) - np.log(outside + no))
        ratios = SpanRatios(yields, logs[0], logs[1], float(np.log(yes) - np.log(no)))
        if len(changes) == max_iter or (changes and changes[-1] < tol) or not len(posterior):
            return ratios, changes
        updated, _ = expected(logs[0][yield_codes] + logs[1][table.contexts], table)
        changes.append(float(np.abs(updated - posterior).mean()))
        posterior = updated
