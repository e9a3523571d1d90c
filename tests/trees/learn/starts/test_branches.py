"""Features of branches: what they are made of, and what of the data they carry."""

import numpy as np
import pytest

from oracles.networks import random_tree, rooted_tree
from tacit.toy import ExactMoments, random_tables, sample_codes
from tacit.trees.learn.starts.branches import Features, feature_plan
from tacit.trees.moments.source import indicator_correlation


def random_case(seed, n_leaves=7, n_states=3, n_categories=4):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, n_leaves, 4)
    truth = random_tables(tree, n_categories, n_states, rng, diagonal=1.0)
    joint = ExactMoments(truth).pairs().probabilities
    correlation = indicator_correlation(joint, joint.diagonal())
    return truth, correlation, Features.of(feature_plan(tree, truth.layout.n_states), correlation)


def indicators(leaves, n_categories=4):
    return np.concatenate(
        [np.arange(leaf * n_categories, (leaf + 1) * n_categories) for leaf in leaves]
    )


def view(tree, node, g):
    return 2 * tree.n_nodes + 3 * node + g


@pytest.mark.parametrize("seed", range(3))
def test_every_feature_comes_after_what_it_is_made_of(seed):
    truth, _, features = random_case(seed)
    plan = features.plan
    made = set(range(truth.tree.n_leaves))
    for feature, sources, others in zip(plan.order, plan.sources, plan.others, strict=True):
        assert made.issuperset(sources)
        assert made.issuperset(others)
        made.add(feature)


@pytest.mark.parametrize("seed", range(3))
def test_inside_and_outside_features_and_views_keep_to_their_leaves(seed):
    truth, _, features = random_case(seed)
    tree, plan = truth.tree, features.plan
    every = set(range(features.weights.shape[1]))

    def leaves_of(feature):
        return {
            int(x) for x in np.flatnonzero(np.abs(features.weights[plan.rows(feature)]).any(axis=0))
        }

    for node in tree.hidden[:-1]:
        inside = set(indicators(tree.below[node]).tolist())
        assert leaves_of(node) <= inside
        assert leaves_of(tree.n_nodes + node) <= every - inside
    for node in tree.hidden:
        parts = [leaves_of(view(tree, node, g)) for g in range(3)]
        assert not parts[0] & parts[1]
        assert not parts[0] & parts[2]
        assert not parts[1] & parts[2]


@pytest.mark.parametrize("seed", range(3))
def test_features_have_variance_one_and_follow_as_their_weights_say(seed):
    _, correlation, features = random_case(seed)
    plan = features.plan
    assert features.follows == pytest.approx(features.weights @ correlation, abs=1e-9)
    for feature in plan.order:
        rows = features.weights[plan.rows(feature)]
        used = rows.any(axis=1)
        spread = rows[used] @ correlation @ rows[used].T
        assert spread == pytest.approx(np.eye(used.sum()), abs=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_of_exact_moments_inside_features_carry_all_that_crosses_their_edge(seed):
    truth, correlation, features = random_case(seed)
    tree, plan = truth.tree, features.plan
    for node in tree.hidden[:-1]:
        below, above = indicators(tree.below[node]), indicators(tree.outside[node])
        rows = features.weights[plan.rows(node)][:, below]
        across = correlation[np.ix_(below, above)]
        inner = correlation[np.ix_(below, below)]
        assert inner @ rows.T @ rows @ across == pytest.approx(across, abs=1e-7)


def test_a_turn_is_what_makes_a_feature_of_its_sources():
    _, _, features = random_case(0)
    plan = features.plan
    for place, (feature, sources) in enumerate(zip(plan.order, plan.sources, strict=True)):
        if plan.sizes[feature] and sources:
            used = [features.weights[plan.rows(s)][: plan.as_source[s]] for s in sources]
            rows = np.concatenate(used)
            turn = features.turn(place)
            assert turn @ rows == pytest.approx(features.weights[plan.rows(feature)], abs=1e-10)


@pytest.mark.parametrize("weighted", [False, True])
def test_third_moments_are_sums_over_the_rows(weighted):
    rng = np.random.default_rng(0)
    truth, _, features = random_case(1)
    tree, plan = truth.tree, features.plan
    codes = sample_codes(truth, 700, rng)  # more than a block
    codes[rng.random(codes.shape) < 0.2] = -1
    weights = rng.exponential(size=700) if weighted else np.ones(700)
    marginals = ExactMoments(truth).pairs().probabilities.diagonal().copy()
    cards = np.full(tree.n_leaves, 4)
    nodes = np.array(list(tree.hidden))
    flat = features.third_moments(nodes, codes, weights, cards, marginals)
    cells = np.zeros((700, len(marginals)))  # standardised indicators, zero where missing
    for leaf in range(tree.n_leaves):
        p = marginals[4 * leaf : 4 * leaf + 4]
        is_observed = codes[:, leaf] >= 0
        ones = np.eye(4)[codes[is_observed, leaf]]
        cells[np.ix_(is_observed, range(4 * leaf, 4 * leaf + 4))] = (ones - p) / np.sqrt(p)
    values = cells @ features.weights.T
    at = 0
    for node in nodes:
        a, b, c = (values[:, plan.rows(view(tree, int(node), g))] for g in range(3))
        cube = np.einsum("n,na,nb,nc->abc", weights, a, b, c)
        assert flat[at : at + cube.size].reshape(cube.shape) == pytest.approx(cube, abs=1e-6)
        at += cube.size
    assert at == len(flat)


def test_categories_that_never_occur_have_no_correlation():
    joint = np.diag([0.5, 0.5, 0.0])
    correlation = indicator_correlation(joint, joint.diagonal())
    assert np.isfinite(correlation).all()
    assert not correlation[2].any()


def test_nodes_with_one_state_have_no_features():
    tree = rooted_tree([4, 4, 5, 5, 5, -1], 4)
    plan = feature_plan(tree, (2, 2, 2, 2, 1, 2))
    assert plan.sizes[4] == 0
    assert plan.sizes[view(tree, 5, 0)] == 1
