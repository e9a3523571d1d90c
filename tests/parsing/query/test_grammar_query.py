"""Inside-outside of latent-variable grammars: against all trees of short sentences."""

from collections import defaultdict

import numpy as np
import pytest

from oracles.grammars import coded, random_grammar, sentence_trees, tree_probability
from oracles.python_source import python_source
from tacit.parsing.loops import charts
from tacit.parsing.loops import inside_outside as loops
from tacit.parsing.model.grammar import GrammarTables, LatentGrammar
from tacit.parsing.query.grammar import (
    Posterior,
    mean_posterior,
    posterior,
    sentence_forest,
    tree_scores,
)


def spans_of(tree, start=0):
    """The labelled spans of a tree of nested tuples, and where it ends."""
    if len(tree) == 2:
        return [(tree[0], start, start + 1)], start + 1
    left, split = spans_of(tree[1], start)
    right, stop = spans_of(tree[2], split)
    return [*left, *right, (tree[0], start, stop)], stop


def plain(tables):
    """A grammar of one state with all the rules and words of another."""
    ones = np.ones((len(tables.rules), 1, 1))
    words = np.ones((len(tables.word_given), 1))
    start = (tables.start.sum(axis=1, keepdims=True) > 0).astype(float)
    return GrammarTables(
        tables.rules, tables.lexicon, start, ones[:, 0], ones, ones, words
    ).grammar()


def as_dense(grammar):
    """The same grammar with tensors in place of terms."""
    m = grammar.n_states
    n_rules = len(grammar.rules)
    terms = [a.reshape(n_rules, m, m) for a in (grammar.parents, grammar.lefts, grammar.rights)]
    tensors = np.einsum("rta,rtb,rtc->rabc", *terms).reshape(n_rules, m, m * m)
    empty = np.empty((0, m))
    return LatentGrammar(
        *(grammar.rules, grammar.lexicon, grammar.start, grammar.total, grammar.words),
        np.arange(n_rules, dtype=np.int32),
        tensors,
        np.zeros(n_rules + 1, dtype=np.int32),
        *(empty, empty, empty),
    )


@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_posteriors_of_spans_and_scores_equal_the_sums_over_all_trees(seed, dense):
    tables = random_grammar(n_states=3, random_state=seed)
    grammar = as_dense(tables.grammar()) if dense else tables.grammar()
    words = np.random.default_rng(seed).integers(0, 4, 5)
    chances, total = defaultdict(float), 0.0
    for tree in sentence_trees(tables, words):
        chance = tree_probability(tables, tree)
        total += chance
        for span in spans_of(tree)[0]:
            chances[span] += chance
    unknown = [-1] * len(words)
    forest = sentence_forest(plain(tables), words, unknown)
    actual = posterior(grammar, forest, words, unknown)
    assert actual.log_total == pytest.approx(np.log(total), abs=1e-10)
    spans = list(zip(forest.label, forest.start, forest.stop, strict=True))
    assert {span for span, chance in chances.items() if chance > 0} == set(spans)
    for span, fraction in zip(spans, actual.items, strict=True):
        assert fraction == pytest.approx(chances[span] / total, abs=1e-10)
    # An item that is made of others is made by one of its edges.
    sums = np.bincount(forest.parent, actual.edges, len(forest.label))
    inner = forest.word < 0
    assert sums[inner] == pytest.approx(actual.items[inner], abs=1e-10)


def test_scores_of_trees_equal_sums_over_their_states():
    tables = random_grammar(n_states=3, random_state=7)
    trees = sentence_trees(tables, [0, 3, 1])[::7]
    signs, logs = tree_scores(tables.grammar(), coded(trees))
    expected = [tree_probability(tables, tree) for tree in trees]
    assert signs * np.exp(logs) == pytest.approx(np.array(expected), rel=1e-10)


def test_nothing_runs_under_in_long_sentences():
    tables = random_grammar(random_state=1)
    words = np.random.default_rng(0).integers(0, 4, 60)
    unknown = [-1] * len(words)
    forest = sentence_forest(plain(tables), words, unknown, threshold=1e-3)
    actual = posterior(tables.grammar(), forest, words, unknown)
    assert actual.sign == 1
    assert np.isfinite(actual.log_total)
    words_only = actual.items[forest.word >= 0]
    sums = np.bincount(forest.word[forest.word >= 0], words_only, len(words))
    assert sums == pytest.approx(np.ones(60), abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_pruning_keeps_exactly_what_is_likely_enough(seed):
    tables = random_grammar(n_states=1, random_state=seed)
    words, unknown = [0, 1, 2, 3, 1, 0], [-1] * 6
    whole = sentence_forest(tables.grammar(), words, unknown)
    proportions = posterior(tables.grammar(), whole, words, unknown).items
    ascending = np.sort(proportions)
    for threshold in (ascending[1:] + ascending[:-1]) / 2:
        some = sentence_forest(tables.grammar(), words, unknown, threshold=threshold)
        expected = np.flatnonzero(proportions >= threshold)
        for name in ("label", "start", "stop"):
            assert np.array_equal(getattr(some, name), getattr(whole, name)[expected])


def test_a_sentence_that_no_tree_fits_has_no_forest():
    tables = random_grammar(n_layers=1)
    assert sentence_forest(plain(tables), [0, 1, 2], [-1] * 3) is None


def test_compiled_passes_agree_with_their_python_source():
    tables = random_grammar(n_states=2, random_state=5)
    words, unknown = [0, 2, 1, 3], [-1] * 4

    def everything():
        forest = sentence_forest(plain(tables), words, unknown)
        either = [
            posterior(grammar, forest, words, unknown)
            for grammar in (tables.grammar(), as_dense(tables.grammar()))
        ]
        return np.concatenate([[x.log_total, *x.items, *x.edges] for x in either])

    compiled = everything()
    with python_source(loops, charts):
        assert everything() == pytest.approx(compiled, abs=1e-12)


def test_means_of_posteriors_leave_out_what_has_no_positive_score():
    def some(sign, items):
        return Posterior(sign, -1.0, np.array(items), np.array(items))

    one = some(-1.0, [2.0, -1.0])
    assert mean_posterior([one]) is one
    assert mean_posterior([some(0.0, [0.0, 0.0])]) is None
    both = mean_posterior([some(1.0, [1.0, 0.5]), some(1.0, [3.0, -1.0]), one])
    assert both.items.tolist() == [1.0, 0.25]
    positive = some(1.0, [0.5, 0.5])
    assert mean_posterior([one, positive]) is positive
