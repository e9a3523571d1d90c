"""Marginals of spans and probabilities of sentences: against all trees of short sentences."""

from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest

from oracles.grammars import random_grammar, sentence_trees, tree_probability
from tacit.errors import NegativeProbabilityError
from tacit.parsing.data.parse_trees import ParseTree
from tacit.parsing.latent_pcfg import LatentPCFG
from tacit.parsing.model.grammar import GrammarTables
from tacit.parsing.query.grammar import sentence_forest, span_marginals, tree_scores


def spans_of(tree, start=0):
    """The labelled spans of a tree of nested tuples, and where it ends."""
    if len(tree) == 2:
        return [(tree[0], start, start + 1)], start + 1
    left, split = spans_of(tree[1], start)
    right, stop = spans_of(tree[2], split)
    return [*left, *right, (tree[0], start, stop)], stop


def enumerated(tables, words):
    """mu(a, i, j) and the probability of a sentence, by all its trees."""
    marginals, total = defaultdict(float), 0.0
    for tree in sentence_trees(tables, words):
        value = tree_probability(tables, tree)
        total += value
        for span in spans_of(tree)[0]:
            marginals[span] += value
    return marginals, total


def plain(tables):
    """A grammar of one state with all the rules and words of another."""
    ones = np.ones((len(tables.rules), 1, 1))
    words = np.ones((len(tables.word_given), 1))
    start = (np.abs(tables.start).sum(axis=1, keepdims=True) > 0).astype(float)
    return GrammarTables(
        tables.rules, tables.lexicon, start, ones[:, 0], ones, ones, words
    ).grammar()


def agree(tables, words):
    expected, total = enumerated(tables, words)
    unknown = [-1] * len(words)
    forest = sentence_forest(plain(tables), words, unknown)
    actual = span_marginals(tables.grammar(), forest, words, unknown)
    assert actual.total * np.exp(actual.log_scale) == pytest.approx(total, rel=1e-10, abs=1e-14)
    values = actual.items * np.exp(actual.item_logs)
    spans = zip(forest.label, forest.start, forest.stop, strict=True)
    for span, value in zip(spans, values, strict=True):
        assert value == pytest.approx(expected.pop(span), rel=1e-9, abs=1e-14)
    assert not any(expected.values())
    return total


@pytest.mark.parametrize("n_words", [2, 3, 5])
def test_marginals_are_sums_over_all_trees(n_words):
    words = np.random.default_rng(n_words).integers(0, 4, n_words)
    assert agree(random_grammar(n_states=3, random_state=n_words), words) > 0


@pytest.mark.parametrize("seed", range(4))
def test_so_are_those_of_parameters_that_are_negative(seed):
    rng = np.random.default_rng(seed)
    tables = random_grammar(n_states=2, random_state=seed)
    names = ("start", "rule_given", "left_given", "right_given", "word_given")
    values = {name: getattr(tables, name) for name in names}
    signed = {name: rng.normal(size=value.shape) * (value != 0) for name, value in values.items()}
    agree(replace(tables, **signed), rng.integers(0, 4, 4))


def test_spans_have_marginals_where_the_scores_of_all_trees_cancel():
    tables = random_grammar(n_states=1, random_state=0)
    words = [0, 1, 2]
    by_root = {
        label: value
        for (label, *span), value in enumerated(tables, words)[0].items()
        if span == [0, 3]
    }
    start = tables.start.copy()
    start[0], start[1] = 1.0, -(by_root[0] / tables.start[0]) / (by_root[1] / tables.start[1])
    total = agree(replace(tables, start=start), words)
    assert total == pytest.approx(0.0, abs=1e-15)


# -- the estimator ------------------------------------------------------------------------------------

LINES = [
    "(S (A x) (B y))",
    "(S (S (A x) (B y)) (B y))",
    "(S (A x) (S (A x) (B y)))",
    "(S (A y) (S (A x) (B z)))",
    "(S (S (A y) (B z)) (S (A x) (B y)))",
    "(S (A z) (B x))",
] * 3


def every_tree(words):
    """All trees of a sentence with labels of `LINES`."""

    def over(start, stop):
        if stop - start == 1:
            yield from (ParseTree(tag, (), words[start]) for tag in "AB")
            return
        for split in range(start + 1, stop):
            for left in over(start, split):
                for right in over(split, stop):
                    yield ParseTree("S", (left, right))

    return list(over(0, len(words)))


@pytest.fixture(scope="module", params=["auto", "spectral", "em"])
def model(request):
    return LatentPCFG(2, request.param, min_count=1, negative="nan").fit(LINES)


@pytest.mark.parametrize("words", ["x y", "x y y", "x x y z"])
def test_of_a_learnt_grammar_they_are_sums_of_the_probabilities_of_its_trees(model, words):
    from tacit.parsing.data.grammar_input import prepared_trees
    from tacit.parsing.data.treebank import coded_trees

    words = words.split()
    trees = every_tree(words)
    signs, logs = tree_scores(
        model.grammars_[0], coded_trees(prepared_trees(trees), model.symbols_)
    )
    probabilities = signs * np.exp(logs)
    expected = defaultdict(float)
    for tree, probability in zip(trees, probabilities, strict=True):
        leaves = ((tag, at, at + 1) for at, (_, tag) in enumerate(tree.leaves()))
        for span in (*tree.spans(), *leaves):
            expected[span] += probability
    actual = model.span_marginals(words)
    # Learnt grammars are of single precision.
    scale = np.abs(probabilities).sum()
    assert actual.probability == pytest.approx(probabilities.sum(), abs=1e-5 * scale)
    assert actual.marginals == pytest.approx(
        {span: expected[span] for span in actual.spans}, abs=1e-5 * scale
    )
    assert all(abs(value) < 1e-12 for span, value in expected.items() if span not in actual.spans)
    assert actual.posteriors["S", 0, len(words)] == pytest.approx(1.0, abs=1e-5)
    if actual.sign > 0:
        assert model.score_sentences([words])[0] == pytest.approx(actual.log_probability)


def test_given_tags_count_only_trees_that_have_them():
    model = LatentPCFG(2, "em", min_count=1).fit(LINES)
    words, tags = ["x", "y"], "AB"
    every = [[(words[0], a), (words[1], b)] for a in tags for b in tags]
    parts = np.exp(model.score_sentences(every)).sum()
    assert parts == pytest.approx(np.exp(model.score_sentences([words])[0]), rel=1e-6)


def test_probabilities_of_all_sentences_sum_to_at_most_one():
    model = LatentPCFG(2, "em", min_count=1).fit(["(S (A x) (B y))", "(S (A y) (B y))"] * 4)
    pairs = [[a, b] for a in "xy" for b in "xy"]
    assert 0.8 < np.exp(model.score_sentences(pairs)).sum() <= 1 + 1e-6


def test_a_sentence_that_no_tree_fits_has_no_probability(model):
    marginals = LatentPCFG(1, min_count=1).fit(["(S (A x) (B y))"]).span_marginals("x y y")
    assert (marginals.sign, marginals.log_probability) == (0.0, -np.inf)
    assert marginals.probability == 0.0
    assert marginals.marginals == {}
    none = LatentPCFG(1, min_count=1).fit(["(S (A x) (B y))"]).score_sentences(["x y y"])
    assert none.tolist() == [-np.inf]


def test_scores_of_sentences_that_are_not_positive_are_floored_or_told():
    fitted = LatentPCFG(2, "spectral", min_count=1).fit(LINES)
    expected = LatentPCFG(1, min_count=1).fit(LINES).score_sentences(["x y", "x y y"])
    grammar = fitted.grammars_[0]
    fitted.grammars_ = (replace(grammar, start=-grammar.start),)
    scores, repairs = fitted.score_sentences(["x y", "x y y"], return_repairs=True)
    assert repairs == {"non_positive": 2}
    assert scores == pytest.approx(expected + np.log(1e-3), abs=1e-6)
    assert fitted.span_marginals("x y").probability < 0
    with pytest.raises(NegativeProbabilityError, match="2 of 2 sentences"):
        fitted.set_params(negative="raise").score_sentences(["x y", "x y y"])
