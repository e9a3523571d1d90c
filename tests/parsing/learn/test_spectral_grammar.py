"""Spectral grammars: exact moments give back the exact distribution over trees."""

import numpy as np
import pytest

from oracles.grammars import coded, every_tree, random_grammar, tree_probability
from tacit.parsing.learn.spectral_grammar import Smoothing, node_vectors, spectral_grammar
from tacit.parsing.moments.inside_outside import NodeFeatures
from tacit.parsing.query.grammar import tree_scores


def learnt(tables, trees, rank, smoothing):
    features = NodeFeatures.of(trees, tables.rules)
    vectors = node_vectors(features, trees, rank)
    return spectral_grammar(vectors, trees, tables.rules, tables.lexicon, smoothing=smoothing)


@pytest.mark.parametrize("seed", range(3))
def test_exact_moments_give_back_the_exact_probability_of_every_tree(seed):
    tables = random_grammar(n_states=2, n_layers=2, n_words=3, random_state=seed)
    trees = every_tree(tables)
    truth = np.array([tree_probability(tables, tree) for tree in trees])
    assert truth.sum() == pytest.approx(1)
    # All trees, each as often as it comes, are a treebank whose moments are exact.
    treebank = coded(trees, truth)
    signs, logs = tree_scores(learnt(tables, treebank, 2, Smoothing(0.0, 0.0)), treebank)
    assert signs * np.exp(logs) == pytest.approx(truth, abs=1e-8)


def test_a_rank_too_small_does_not():
    tables = random_grammar(n_states=2, n_layers=2, n_words=3, random_state=0)
    trees = every_tree(tables)
    truth = np.array([tree_probability(tables, tree) for tree in trees])
    treebank = coded(trees, truth)
    signs, logs = tree_scores(learnt(tables, treebank, 1, Smoothing(0.0, 0.0)), treebank)
    assert np.abs(signs * np.exp(logs) - truth).max() > 1e-5


def test_terms_of_rare_rules_are_their_tensors():
    from tacit.parsing.learn.spectral_grammar import _few_terms, _smoothed

    rng = np.random.default_rng(0)
    for n in (1, 2, 5):
        three = tuple(rng.normal(size=(3, n, 4)))
        fraction = rng.dirichlet(np.ones(n))
        terms = _few_terms(three, fraction, 0.3, 2.0)
        made = np.einsum("ta,tb,tc->abc", *terms)
        assert made == pytest.approx(2.0 * _smoothed(three, fraction, 0.3), abs=1e-12)


def test_full_smoothing_leaves_the_product_of_means():
    from tacit.parsing.learn.spectral_grammar import _smoothed

    rng = np.random.default_rng(0)
    three = tuple(rng.normal(size=(3, 6, 4)))
    fraction = np.full(6, 1 / 6)
    means = [one.mean(axis=0) for one in three]
    assert _smoothed(three, fraction, 0.0) == pytest.approx(np.einsum("a,b,c->abc", *means))
    whole = np.einsum("n,na,nb,nc->abc", fraction, *three)
    assert _smoothed(three, fraction, 1.0) == pytest.approx(whole)


def test_one_state_is_the_plain_grammar():
    from tacit.parsing.learn.plain_grammar import plain_grammar

    tables = random_grammar(n_states=2, n_layers=2, n_words=3, random_state=1)
    trees = every_tree(tables)[::17]
    treebank = coded(trees)
    plain = plain_grammar(treebank, tables.rules, tables.lexicon).grammar()
    expected = tree_scores(plain, treebank)
    # Constant features: one direction, the same for all nodes.
    features = NodeFeatures.of(treebank, tables.rules)
    vectors = node_vectors(features, treebank, 1)
    vectors.inside[:] = vectors.outside[:] = 1.0
    flat = spectral_grammar(vectors, treebank, tables.rules, tables.lexicon, smoothing=Smoothing())
    assert tree_scores(flat, treebank)[1] == pytest.approx(expected[1], abs=1e-12)
