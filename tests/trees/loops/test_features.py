"""Compiled parts of the moment start, against numpy and their own source."""

import numpy as np
import pytest

from oracles.networks import random_tree, rooted_tree
from oracles.python_source import python_source
from tacit.toy import random_tables, sample_codes
from tacit.trees.learn.starts.branches import Features, feature_plan
from tacit.trees.loops import features
from tacit.trees.moments.source import CountedMoments, indicator_correlation


def random_symmetric(rng, n, rank=None):
    half = rng.normal(size=(n, n if rank is None else rank))
    return half @ half.T


@pytest.mark.parametrize("n", [1, 2, 3, 8, 16, 17, 40])
def test_eigenvalues_and_vectors_are_numpy_s(n):
    matrix = random_symmetric(np.random.default_rng(n), n)
    values, vectors = features.symmetric(matrix)
    assert values == pytest.approx(np.linalg.eigvalsh(matrix), rel=1e-9, abs=1e-9)
    assert vectors @ vectors.T == pytest.approx(np.eye(n), abs=1e-10)
    assert (vectors.T * values) @ vectors == pytest.approx(matrix, abs=1e-9 * n)


@pytest.mark.parametrize("matrix", [np.zeros((3, 3)), np.diag([2.0, 2.0, 1.0]), np.ones((4, 4))])
def test_equal_eigenvalues_are_no_obstacle(matrix):
    values, vectors = features.symmetric(matrix)
    assert (vectors.T * values) @ vectors == pytest.approx(matrix, abs=1e-12)


@pytest.mark.parametrize("n", [2, 5, 20])
def test_directions_are_those_that_follow_most(n):
    """The singular vectors of the whitened covariance, by numpy."""
    rng = np.random.default_rng(n)
    spread, shared = random_symmetric(rng, n), rng.normal(size=(n, 7))
    actual = features.canonical(spread, shared @ shared.T, 2)
    values, directions = np.linalg.eigh(spread)
    whiten = (directions / np.sqrt(values)).T
    left, sizes, _ = np.linalg.svd(whiten @ shared)
    expected = left[:, :2].T @ whiten
    for one, other in zip(actual, expected, strict=True):
        assert np.abs(one) == pytest.approx(np.abs(other), rel=1e-6, abs=1e-9)
    assert actual @ spread @ actual.T == pytest.approx(np.eye(2), abs=1e-8)
    assert np.linalg.norm(actual @ shared, axis=1) == pytest.approx(sizes[:2], rel=1e-6)


def test_directions_without_variance_are_left_out():
    rng = np.random.default_rng(0)
    spread, shared = random_symmetric(rng, 4, rank=2), rng.normal(size=(4, 3))
    shared = spread @ shared  # nothing of what does not vary can be followed
    actual = features.canonical(spread, shared @ shared.T, 3)
    assert not actual[2].any()
    assert actual[:2] @ spread @ actual[:2].T == pytest.approx(np.eye(2), abs=1e-6)
    assert not features.canonical(np.zeros((3, 3)), np.zeros((3, 3)), 2).any()
    assert features.canonical(np.zeros((0, 0)), np.zeros((0, 0)), 2).shape == (2, 0)
    assert features.canonical(np.array([[4.0]]), np.ones((1, 1)), 2).tolist() == [[0.5], [0.0]]


@pytest.mark.parametrize("seed", range(2))
def test_compiled_features_agree_with_their_python_source(seed):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 6, 4)
    cards = rng.integers(2, 4, 6)
    truth = random_tables(tree, cards.tolist(), rng.integers(1, 4, len(tree.hidden)).tolist(), rng)
    # Counted moments: of exact ones, directions beyond the rank are nothing but rounding.
    pairs = CountedMoments.of(sample_codes(truth, 500, rng), cards).pairs()
    plan = feature_plan(tree, truth.layout.n_states)
    correlation = indicator_correlation(pairs.probabilities, pairs.probabilities.diagonal())
    codes = sample_codes(truth, 10, rng)
    codes[rng.random(codes.shape) < 0.2] = -1
    free = np.array([node for node in tree.hidden if truth.layout.n_states[node] > 1])
    marginals = pairs.probabilities.diagonal().copy()

    weights = rng.random(10)

    def answers():
        actual = Features.of(plan, correlation)
        third = actual.third_moments(free, codes, weights, cards, marginals)
        return actual.weights, actual.follows, actual.turns, third

    compiled = answers()
    with python_source(features):
        plain = answers()
    for one, other in zip(compiled, plain, strict=True):
        assert one == pytest.approx(other, rel=1e-8, abs=1e-10)


def test_a_view_of_the_only_leaf_reads_nothing_beyond_its_arrays():
    """Seen to fail: it took a row of `keep` that is not there, which Python refuses and numba does not."""
    plan = feature_plan(rooted_tree([1, -1], 1), (3, 2))
    correlation = np.eye(3)
    compiled = Features.of(plan, correlation)
    with python_source(features):
        plain = Features.of(plan, correlation)
    assert compiled.weights == pytest.approx(plain.weights, abs=1e-12)
    assert np.isfinite(compiled.follows).all()
