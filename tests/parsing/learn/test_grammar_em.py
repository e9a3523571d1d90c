"""EM of latent-variable grammars: against sums over all states of given trees."""

from itertools import product

import numpy as np
import pytest

from oracles.grammars import coded, every_tree, random_grammar, tree_probability
from oracles.python_source import python_source
from tacit.parsing.learn.grammar_em import (
    Prior,
    expected_counts,
    polish,
    random_tables,
    tables_from_counts,
)
from tacit.parsing.learn.grammar_start import clustered_states, state_counts
from tacit.parsing.learn.spectral_grammar import node_vectors
from tacit.parsing.loops import grammar_em
from tacit.parsing.moments.inside_outside import NodeFeatures
from tacit.parsing.query.grammar import tree_scores

NONE = Prior(0.0, 0.0, 0.0)


def some_trees(n_states=2, seed=0, step=29):
    tables = random_grammar(n_states, n_layers=2, n_words=3, random_state=seed)
    trees = every_tree(tables)[::step]
    return tables, trees, coded(trees)


def test_expected_counts_are_sums_over_the_states_of_all_nodes():
    tables, _, trees = some_trees()
    trees = coded(every_tree(tables)[40:900:331])
    actual, log = expected_counts(tables, trees)
    expected = [np.zeros(one.shape) for one in actual]
    log_likelihood = 0.0
    for tree in range(trees.n_trees):
        nodes = range(trees.first[tree], trees.first[tree + 1])
        rule = tables.rules.rule_of(trees)
        cases = []
        for chosen in product(range(2), repeat=len(nodes)):
            states = np.zeros(len(trees.label), dtype=np.int32)
            states[list(nodes)] = chosen
            chance = tables.start[trees.label[nodes[-1]], chosen[-1]]
            for node in nodes:
                h = states[node]
                if rule[node] < 0:
                    pair = tables.lexicon.pair_of(trees.label[[node]], trees.word[[node]])[0]
                    chance *= tables.word_given[pair, h]
                else:
                    chance *= tables.rule_given[rule[node], h]
                    chance *= tables.left_given[rule[node], h, states[trees.left[node]]]
                    chance *= tables.right_given[rule[node], h, states[trees.right[node]]]
            cases.append((states, chance))
        total = sum(chance for _, chance in cases)
        log_likelihood += np.log(total)
        alone = coded([every_tree(tables)[40:900:331][tree]])
        for states, chance in cases:
            own = states[list(nodes)]
            counts = state_counts(own, alone, tables.rules, tables.lexicon, 2)
            for at, count in enumerate(counts):
                expected[at] += count * chance / total
    assert log == pytest.approx(log_likelihood)
    for ours, theirs in zip(actual, expected, strict=True):
        assert ours == pytest.approx(theirs, abs=1e-10)


def test_the_likelihood_never_falls():
    tables, _, trees = some_trees()
    start = random_tables(trees, tables.rules, tables.lexicon, 3, np.random.default_rng(0))
    learnt, logs = polish(start, trees, n_steps=12, prior=NONE, dtype=np.float64)
    assert np.all(np.diff(logs) > -1e-6)
    assert logs[-1] > logs[0] + 1
    assert tree_scores(learnt.grammar(), trees)[1].sum() >= logs[-1] - 1e-6


def test_the_truth_stays_where_trees_come_as_often_as_it_says():
    tables = random_grammar(2, n_layers=2, n_words=3, random_state=2)
    trees = every_tree(tables)
    chances = np.array([tree_probability(tables, tree) for tree in trees])
    # Of many trees: moves are never quite without pseudo-counts.
    often = coded(trees, 1e6 * chances)
    learnt, _ = polish(tables, often, n_steps=2, prior=NONE, dtype=np.float64)
    for name in ("start", "rule_given", "word_given", "left_given", "right_given"):
        assert getattr(learnt, name) == pytest.approx(getattr(tables, name), abs=1e-5)
    plain = polish(tables, coded(trees), n_steps=2, prior=NONE)[0]
    assert np.abs(plain.rule_given - tables.rule_given).max() > 1e-2


def test_threads_do_not_matter():
    tables, _, trees = some_trees()
    one = expected_counts(tables, trees, n_jobs=1)
    two = expected_counts(tables, trees, n_jobs=2)
    assert one[1] == two[1]
    assert all(map(np.array_equal, one[0], two[0]))


def test_tables_of_counts_are_probabilities_and_priors_draw_states_together():
    tables, _, trees = some_trees(3)
    rng = np.random.default_rng(0)
    states = rng.integers(0, 3, len(trees.label)).astype(np.int32)
    counts = state_counts(states, trees, tables.rules, tables.lexicon, 3)
    for strength in (0.0, 1.0, 1e9):
        made = tables_from_counts(
            counts, tables.rules, tables.lexicon, Prior(strength, strength, strength)
        )
        sums = np.zeros((tables.rules.n_labels, 3))
        np.add.at(sums, tables.rules.triples[:, 0], made.rule_given)
        np.add.at(sums, tables.lexicon.pair_label, made.word_given)
        assert sums[sums > 0] == pytest.approx(1)
        assert made.left_given.sum(axis=2) == pytest.approx(1)
    assert np.ptp(made.rule_given, axis=1).max() < 1e-6


def test_clusters_find_states_that_show():
    tables = random_grammar(2, n_layers=2, n_words=3, random_state=0)
    trees = every_tree(tables)
    chances = np.array([tree_probability(tables, tree) for tree in trees])
    treebank = coded(trees, 1000 * chances)
    vectors = node_vectors(NodeFeatures.of(treebank, tables.rules), treebank, 2)
    states = clustered_states(vectors, treebank, 2)
    assert np.array_equal(states, clustered_states(vectors, treebank, 2))

    def likelihood(found):
        counts = state_counts(found, treebank, tables.rules, tables.lexicon, 2)
        return expected_counts(
            tables_from_counts(counts, tables.rules, tables.lexicon, NONE), treebank
        )[1]

    shuffled = np.random.default_rng(0).permutation(states)
    one = np.zeros_like(states)
    assert likelihood(states) > likelihood(one) + 5
    assert likelihood(states) > likelihood(shuffled) + 5


def test_compiled_expectations_agree_with_their_python_source():
    tables, _, trees = some_trees(step=301)
    compiled = expected_counts(tables, trees)
    with python_source(grammar_em):
        plain = expected_counts(tables, trees)
    assert plain[1] == pytest.approx(compiled[1], rel=1e-12)
    for a, b in zip(plain[0], compiled[0], strict=True):
        assert a == pytest.approx(b, abs=1e-12)
