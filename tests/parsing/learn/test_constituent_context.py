"""The constituent-context model against sums over all trees."""

import numpy as np
import pytest

from tacit.parsing.learn.constituent_context import (
    expected,
    fit_ratios,
    random_posterior,
    split_posterior,
)
from tacit.parsing.loops import constituent_context as loops
from tacit.parsing.model.span_ratios import SpanRatios
from tacit.parsing.moments.tag_spans import SpanTable
from tacit.parsing.structure.branching import random_branching


def bracketings(start, stop):
    if stop - start == 1:
        return [frozenset()]
    return [
        left | right | {(start, stop)}
        for split in range(start + 1, stop)
        for left in bracketings(start, split)
        for right in bracketings(split, stop)
    ]


def spans_of(n):
    return [(i, j) for i in range(n) for j in range(i + 2, n + 1)]


@pytest.mark.parametrize("n", [2, 3, 5, 6])
def test_sums_over_trees_are_sums_over_trees(n):
    random = np.random.default_rng(n)
    spans = spans_of(n)
    scores = random.normal(size=len(spans))
    weight = dict(zip(spans, np.exp(scores), strict=True))
    trees = {tree: np.prod([weight[span] for span in tree]) for tree in bracketings(0, n)}
    total = sum(trees.values())
    posterior = np.empty(len(spans))
    assert loops.tree_sums(scores, n, posterior) == pytest.approx(np.log(total))
    truth = [sum(w for tree, w in trees.items() if span in tree) / total for span in spans]
    assert posterior == pytest.approx(truth)
    actual = np.empty((n - 1, 2), dtype=np.int64)
    assert loops.best_tree(scores, n, actual) == pytest.approx(np.log(max(trees.values())))
    assert frozenset(map(tuple, actual.tolist())) == max(trees, key=trees.get)


def test_equally_likely_splits_have_the_probabilities_of_the_formula():
    random = np.random.default_rng(0)
    table = SpanTable.of([[0] * 6], 1)
    counts = dict.fromkeys(spans_of(6), 0)
    for _ in range(4000):
        for span in random_branching(6, random):
            counts[span] += 1
    assert split_posterior(table) == pytest.approx(np.array(list(counts.values())) / 4000, abs=0.04)


def test_spans_have_the_same_name_where_they_have_the_same_tags():
    table = SpanTable.of([[0, 1, 0, 1], [1, 0, 1]], 2)
    spans = [(0, *s) for s in spans_of(4)] + [(1, *s) for s in spans_of(3)]
    sentences = ([0, 1, 0, 1], [1, 0, 1])
    inside = [tuple(sentences[k][i:j]) for k, i, j in spans]
    around = [
        (sentences[k][i - 1] if i else 2, sentences[k][j] if j < len(sentences[k]) else 2)
        for k, i, j in spans
    ]
    for names, truth in ((table.yields, inside), (table.contexts, around)):
        assert [[a == b for b in names] for a in names] == [[a == b for b in truth] for a in truth]


def test_one_step_of_em_is_counting_over_all_trees():
    text, yes, no = [[0, 1, 1, 0], [1, 0, 1]], 2.0, 8.0
    table = SpanTable.of(text, 2)
    spans = [(k, i, j) for k, sentence in enumerate(text) for i, j in spans_of(len(sentence))]
    first = split_posterior(table)
    names = [
        (*text[k][i:j], "inside") for k, i, j in spans
    ], [
        ([*text[k], 2][i - 1], [*text[k], 2][j], "around") for k, i, j in spans
    ]  # fmt: skip

    # Single words are constituents always: what is around them counts.
    singles = [
        ([*sentence, 2][i - 1], [*sentence, 2][i + 1], "around")
        for sentence in text
        for i in range(len(sentence))
    ]

    def ratios(posterior):
        actual = np.zeros(len(spans))
        for kind in names:
            for place, name in enumerate(kind):
                same = np.array([other == name for other in kind])
                inside = posterior[same].sum()
                sure = singles.count(name)
                actual[place] += np.log(inside + sure + yes) - np.log(same.sum() - inside + no)
        return actual

    def step(posterior):
        weights = dict(zip(spans, np.exp(ratios(posterior)), strict=True))
        better = []
        for k, sentence in enumerate(text):
            trees = bracketings(0, len(sentence))
            proportions = [np.prod([weights[k, i, j] for i, j in tree]) for tree in trees]
            for span in spans_of(len(sentence)):
                here = sum(w for w, tree in zip(proportions, trees, strict=True) if span in tree)
                better.append(here / sum(proportions))
        return np.array(better)

    once, _ = fit_ratios(table, first, (yes, no), max_iter=1)
    assert once.scores(table) == pytest.approx(ratios(step(first)))
    long, changes = fit_ratios(table, first, (yes, no), max_iter=500, tol=1e-10)
    fixed, _ = expected(long.scores(table), table)
    assert step(fixed) == pytest.approx(fixed, abs=1e-7)
    assert changes[-1] < 1e-10


def test_unseen_sequences_have_the_ratio_of_the_smoothing():
    table = SpanTable.of([[0, 1, 1]], 3)
    ratios, _ = fit_ratios(table, split_posterior(table), pseudo_counts=(2.0, 8.0), max_iter=1)
    other = SpanTable.of([[2, 2]], 3)
    assert ratios.scores(other) - ratios.of_contexts[other.contexts] == pytest.approx(
        [np.log(2 / 8)]
    )
    empty, _ = fit_ratios(SpanTable.of([], 3), np.zeros(0))
    assert isinstance(empty, SpanRatios)
    assert len(empty.scores(other)) == 1


def test_starts_by_chance_are_probabilities():
    table = SpanTable.of([[0, 1, 1, 0], [1, 0]], 2)
    one, other = (random_posterior(table, np.random.default_rng(seed)) for seed in (0, 1))
    assert not np.allclose(one, other)
    assert one[:6].sum() == pytest.approx(3)  # brackets of a binary tree over four words
    assert one[6] == pytest.approx(1)


def test_compiled_loops_agree_with_their_python_source(monkeypatch):
    scores = np.random.default_rng(0).normal(size=10)
    compiled, plain = np.empty(10), np.empty(10)
    total = loops.tree_sums(scores, 5, compiled)
    for name in ("_log_add", "_place"):
        monkeypatch.setattr(loops, name, getattr(loops, name).py_func)
    assert loops.tree_sums.py_func(scores, 5, plain) == pytest.approx(total, rel=1e-12)
    assert compiled == pytest.approx(plain, rel=1e-12)


def test_trees_without_any_finite_score_stay_within_their_arrays():
    n = 6
    spans = np.full((n, 2), -7)  # one row more than there are brackets
    loops.best_tree(np.full(n * (n + 1) // 2, -np.inf), n, spans[:-1])
    assert spans[-1].tolist() == [-7, -7]
    assert (spans[:-1, 1] - spans[:-1, 0] >= 2).all()
