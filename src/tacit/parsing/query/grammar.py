"""Latent-variable grammars: scores of trees, forests of sentences, posteriors of their spans."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from tacit.parsing.data.treebank import CodedTrees
    from tacit.parsing.model.grammar import LatentGrammar

Array = NDArray[Any]
Codes = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Forest:
    """Labelled spans of a sentence (or of many) and the rules that join two of them to a third.

    Items stand after those they are made of; edges in the order of items, of one item in that of rules.
    """

    label: Codes  # (item,)
    start: Codes  # (item,)
    stop: Codes  # (item,)
    word: Codes  # (item,)      place among the words; -1 where the item is made of others
    first_edge: NDArray[np.int64]  # (item + 1,)
    rule: Codes  # (edge,)
    left: Codes  # (edge,)      item
    right: Codes  # (edge,)
    roots: NDArray[np.int64]  # items that span a sentence and may be its root

    @property
    def arrays(self) -> tuple[Array, ...]:
        """The arrays of the edges, as compiled loops take them."""
        return self.first_edge, self.rule, self.left, self.right

    @cached_property
    def parent(self) -> NDArray[np.int64]:
        """(edge,) the item that an edge makes."""
        return np.repeat(np.arange(len(self.label)), np.diff(self.first_edge))


@dataclass(frozen=True, eq=False)
class Posterior:
    """Posterior probability of each item and edge: its part of the score of all trees; may be negative."""

    sign: float  # of the score of all trees together; 0 where there is none
    log_total: float  # logarithm of its absolute value
    items: Array  # (item,)
    edges: Array  # (edge,)


@dataclass(frozen=True, eq=False)
class SpanMarginals:
    """Sums of the scores of the trees that have an item or an edge; may be negative.

    Each is a value times the exponential of its logarithm, so that long sentences do not underflow.
    """

    total: float  # of all trees, divided by exp(log_scale)
    log_scale: float
    items: Array  # (item,)
    item_logs: Array  # (item,)
    edges: Array  # (edge,)
    edge_logs: Array  # (edge,)

    @property
    def log_total(self) -> float:
        """The logarithm of the absolute score of all trees together."""
        return float(np.log(abs(self.total)) + self.log_scale) if self.total else -np.inf


# -- given trees ------------------------------------------------------------------------------------


def tree_scores(grammar: LatentGrammar, trees: CodedTrees) -> tuple[Array, Array]:
    """Sign of each tree's score and log of its absolute value; 0 and -inf where a rule is unknown.

    Words come with the tags that the trees give them.
    """
    from tacit.parsing.loops.inside_outside import inside

    rule = grammar.rules.rule_of(trees)
    vectors = np.zeros((len(rule), grammar.n_states), grammar.tensors.dtype)
    for node in trees.leaves:
        label = trees.label[node]
        if label >= 0:
            tag = int(grammar.lexicon.tag_of_label[label])
            labels, of_labels = grammar.word_vectors(int(trees.word[node]), tag)
            vectors[node] = of_labels[labels == label][0]
    known = rule >= 0
    first = np.concatenate([[0], np.cumsum(known)]).astype(np.int64)
    logs = np.full(len(rule), -np.inf)
    forest = first, rule[known], trees.left[known], trees.right[known]
    inside(forest, grammar.rule_arrays, vectors, logs)
    roots = trees.roots
    value = (grammar.start[trees.label[roots]] * vectors[roots]).sum(axis=1)
    value = np.where((trees.label[roots] >= 0) & (logs[roots] > -np.inf), value, 0.0)
    with np.errstate(divide="ignore"):
        return np.sign(value), np.log(np.abs(value)) + np.where(value != 0, logs[roots], 0.0)


# -- sentences --------------------------------------------------------------------------------------


def sentence_forest(
    coarse: LatentGrammar, words: Sequence[int], tags: Sequence[int], threshold: float = 0.0
) -> Forest | None:
    """The spans that are likely enough by a plain grammar, and all edges between them; None if no tree fits.

    Parameters
    ----------
    coarse : LatentGrammar
        With one state and one term a rule, see `plain_grammar`.
    words, tags : sequences of int
        Codes; -1 where unknown.
    threshold : float
        Least posterior probability of a labelled span.
    """
    from tacit.parsing.loops import charts

    n, rules = len(words), coarse.rules
    cells = (n + 1) ** 2
    values = np.zeros((cells, rules.n_labels))
    for place, (word, tag) in enumerate(zip(words, tags, strict=True)):
        labels, vectors = coarse.word_vectors(word, tag)
        values[place * (n + 1) + place + 1, labels] = vectors[:, 0]
    first, order = rules.by_left
    weights = coarse.parents[:, 0]
    by_left = (
        *(first, rules.triples[order, 0], rules.triples[order, 2]),
        weights[order].astype(np.float64),
    )
    logs, out_logs = np.full(cells, -np.inf), np.full(cells, -np.inf)
    alive, counts = np.empty(values.shape, np.int32), np.zeros(cells, np.int32)
    charts.coarse_inside(n, by_left, values, logs, alive, counts)
    total = values[n] @ coarse.start[:, 0]
    if not total > 0:
        return None
    out = np.zeros_like(values)
    out[n], out_logs[n] = coarse.start[:, 0], 0.0
    charts.coarse_outside(n, by_left, values, logs, alive, counts, out, out_logs)
    item_of = np.full(values.shape, -1, dtype=np.int32)
    least = max(threshold, np.finfo(float).tiny)
    chart = values, logs, alive, counts, out, out_logs
    n_items = charts.kept_items(n, *chart, np.log(total) + logs[n], least, item_of)
    items, n_alive = np.empty((n_items, 3), np.int32), np.zeros(cells, np.int32)
    charts.list_items(n, item_of, alive, counts, items, n_alive)
    by_pair = *rules.by_pair, rules.triples[:, 0]
    n_edges = charts.list_edges(n, by_pair, item_of, alive, n_alive, np.empty((0, 4), np.int32))
    edges = np.empty((n_edges, 4), np.int32)
    charts.list_edges(n, by_pair, item_of, alive, n_alive, edges)
    return _forest(items, edges, n, len(rules))


def _forest(items: Codes, edges: Codes, n: int, n_rules: int) -> Forest:
    order = np.argsort(edges[:, 0].astype(np.int64) * max(n_rules, 1) + edges[:, 1], kind="stable")
    edges = edges[order]
    label, start, stop = np.ascontiguousarray(items.T)
    rule, left, right = np.ascontiguousarray(edges[:, 1:].T)
    return Forest(
        label,
        start,
        stop,
        np.where(stop - start == 1, start, -1).astype(np.int32),
        np.searchsorted(edges[:, 0], np.arange(len(items) + 1)),
        rule,
        left,
        right,
        np.flatnonzero((start == 0) & (stop == n)),
    )


def span_marginals(
    grammar: LatentGrammar, forest: Forest, words: Sequence[int], tags: Sequence[int]
) -> SpanMarginals:
    """mu(a, i, j) of all items and edges of a forest by the inside-outside recursion, with signs."""
    from tacit.parsing.loops import inside_outside as loops

    n_items, m, kind = len(forest.label), grammar.n_states, grammar.tensors.dtype
    vectors, out = np.zeros((n_items, m), kind), np.zeros((n_items, m), kind)
    logs, out_logs = np.full(n_items, -np.inf), np.full(n_items, -np.inf)
    word_vectors = [grammar.word_vectors(*pair) for pair in zip(words, tags, strict=True)]
    for item in np.flatnonzero(forest.word >= 0):
        labels, of_labels = word_vectors[forest.word[item]]
        vectors[item] = of_labels[labels == forest.label[item]][0]
    loops.inside(forest.arrays, grammar.rule_arrays, vectors, logs)
    roots = forest.roots
    out[roots] = grammar.start[forest.label[roots]]
    out_logs[roots] = 0.0
    edge_values, edge_logs = np.zeros(len(forest.rule)), np.full(len(forest.rule), -np.inf)
    top = logs[roots].max(initial=-np.inf)
    if top == -np.inf:
        return SpanMarginals(0.0, -np.inf, np.zeros(n_items), logs, edge_values, edge_logs)
    ends = (vectors[roots] * out[roots]).sum(axis=1, dtype=np.float64)
    total = float((ends * np.exp(logs[roots] - top)).sum())
    loops.outside(
        forest.arrays, grammar.rule_arrays, vectors, logs, out, out_logs, edge_values, edge_logs
    )
    both = (vectors * out).sum(axis=1, dtype=np.float64)
    return SpanMarginals(total, float(top), both, logs + out_logs, edge_values, edge_logs)


def posterior(
    grammar: LatentGrammar, forest: Forest, words: Sequence[int], tags: Sequence[int]
) -> Posterior:
    """Posteriors of all items and edges of a forest: their marginals divided by the score of all trees."""
    scores = span_marginals(grammar, forest, words, tags)
    if scores.total == 0:
        return Posterior(0.0, -np.inf, np.zeros(len(forest.label)), np.zeros(len(forest.rule)))
    total, log_total = scores.total, scores.log_total
    return Posterior(
        float(np.sign(total)),
        log_total,
        _posteriors(scores.items, scores.item_logs, total, log_total),
        _posteriors(scores.edges, scores.edge_logs, total, log_total),
    )


def mean_posterior(parts: Sequence[Posterior]) -> Posterior | None:
    """The mean of several grammars' posteriors of the same forest; None where none of them has a score.

    One grammar alone is taken as it is. Posteriors of several are clipped to 0 and 1; grammars whose score
    of all trees is not positive are left out, unless there are no others.
    """
    scored = [part for part in parts if part.sign > 0] or [part for part in parts if part.sign]
    if len(scored) < 2:
        return scored[0] if scored else None
    return Posterior(
        scored[0].sign,
        scored[0].log_total,
        np.mean([np.clip(part.items, 0.0, 1.0) for part in scored], axis=0),
        np.mean([np.clip(part.edges, 0.0, 1.0) for part in scored], axis=0),
    )


def _posteriors(values: Array, logs: Array, total: float, log_total: float) -> Array:
    # Where signs cancel, quotients may overflow; they stay finite.
    return np.asarray(np.sign(total) * values * np.exp(np.minimum(logs - log_total, 600.0)))
