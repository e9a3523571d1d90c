"""Gaussians on trees: correlations along paths, their signs, and back from exact covariances."""

import math

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.gaussians import random_gaussian, random_gaussian_tree, random_lengths
from tacit.errors import ArgumentError
from tacit.numbers.model.gaussian import CorrelationTree, Gaussian, consistent_signs, with_lengths
from tacit.trees.structure.distances import covariance_distances
from tacit.trees.structure.neighbour_joining import chow_liu_joining, neighbor_joining
from tacit.trees.structure.recursive_grouping import chow_liu_grouping, recursive_grouping
from tacit.trees.structure.refined_joining import refined_joining
from tacit.trees.structure.topology import Topology

seeds = st.integers(0, 2**32 - 1)


@given(seeds, st.integers(2, 12))
def test_correlations_are_products_along_paths(seed, n_leaves):
    topology, tree = random_gaussian_tree(n_leaves, np.random.default_rng(seed))
    graph = topology.to_networkx()
    names = topology.observed
    far = dict(nx.all_pairs_dijkstra_path_length(graph, weight="length"))
    lengths = np.array([[far[a][b] for b in names] for a in names])
    assert np.abs(tree.observed) == pytest.approx(np.exp(-lengths), abs=1e-12)
    # Every node is its parent's multiple and independent noise: the covariance is positive definite.
    assert np.linalg.eigvalsh(tree.matrix)[0] > 0
    assert np.diag(tree.matrix) == pytest.approx(1.0, abs=1e-12)


@given(seeds, st.integers(1, 12))
def test_signs_of_a_tree_are_found(seed, n_leaves):
    rng = np.random.default_rng(seed)
    _, tree = random_gaussian_tree(n_leaves, rng) if n_leaves > 1 else (None, None)
    correlation = np.eye(1) if tree is None else tree.observed
    signs = consistent_signs(correlation)
    assert (np.multiply.outer(signs, signs) * correlation > 0).all()
    assert signs[0] == 1


def test_strong_correlations_decide_where_signs_do_not_agree():
    correlation = np.array([[1.0, 0.9, 0.5], [0.9, 1.0, -0.1], [0.5, -0.1, 1.0]])
    assert consistent_signs(correlation).tolist() == [1, 1, 1]
    correlation = np.array([[1.0, -0.9, 0.1], [-0.9, 1.0, 0.5], [0.1, 0.5, 1.0]])
    assert consistent_signs(correlation).tolist() == [1, -1, -1]


def test_many_correlations_overrule_the_strongest():
    correlation = np.full((5, 5), 0.9)
    correlation[4] = correlation[:, 4] = [0.5, -0.4, -0.4, -0.4, 1.0]
    correlation[np.diag_indices(5)] = 1.0
    assert consistent_signs(correlation).tolist() == [1, 1, 1, 1, -1]


JOINERS = {
    "neighbor-joining": neighbor_joining,
    "chow-liu-joining": chow_liu_joining,
    "refined-joining": refined_joining,
    "recursive-grouping": recursive_grouping,
    "chow-liu-grouping": chow_liu_grouping,
}


@pytest.mark.parametrize("name", JOINERS)
@pytest.mark.parametrize("seed", range(5))
def test_the_exact_covariance_comes_back_from_its_distances(name, seed):
    rng = np.random.default_rng(seed)
    topology, tree = random_gaussian_tree(9, rng)
    truth = tree.gaussian(rng.normal(size=9), rng.uniform(0.5, 3.0, 9))
    names = topology.observed
    correlation = truth.covariance / np.multiply.outer(truth.scale, truth.scale)
    far = covariance_distances(correlation, [1] * 9, n_rows=math.inf)
    joined = JOINERS[name](far.values, names)
    back = CorrelationTree.of(joined, names, consistent_signs(correlation))
    actual = back.gaussian(truth.mean, truth.scale)
    assert actual.covariance == pytest.approx(truth.covariance, abs=1e-8)


def test_observed_variables_may_stand_inside():
    rng = np.random.default_rng(0)
    topology = random_lengths(
        Topology.from_edges([("a", "b"), ("b", "c"), ("b", "d")], "abcd"), rng
    )
    tree = CorrelationTree.of(topology, "dcba")
    far = dict(nx.all_pairs_dijkstra_path_length(topology.to_networkx(), weight="length"))
    assert tree.observed[0, 3] == pytest.approx(math.exp(-far["d"]["a"]))
    assert tree.observed[2, 1] == pytest.approx(math.exp(-far["b"]["c"]))


@given(seeds, st.integers(2, 10))
def test_lengths_go_to_correlations_and_back(seed, n_leaves):
    topology, tree = random_gaussian_tree(n_leaves, np.random.default_rng(seed))
    bare = Topology(topology.nodes, topology.edges, topology.observed)
    back = with_lengths(bare, topology.observed, tree)
    assert back.lengths == pytest.approx(topology.lengths, abs=1e-9)
    other = CorrelationTree.of(back, topology.observed, consistent_signs(tree.observed))
    assert other.observed == pytest.approx(tree.observed, abs=1e-9)


def test_an_edge_without_length_is_refused():
    with pytest.raises(ArgumentError, match="between 'a' and 'b' has no length"):
        CorrelationTree.of(Topology.from_edges([("a", "b")], "ab"), "ab")


def test_edges_of_no_length_keep_the_covariance_positive_definite():
    topology = Topology.from_edges([("h", "a", 0.0), ("h", "b", 0.0), ("h", "c", 1.0)])
    tree = CorrelationTree.of(topology, "abc")
    assert np.linalg.eigvalsh(tree.observed)[0] > 0


@given(seeds, st.integers(1, 8), st.floats(0, 1))
def test_a_mixed_gaussian_lies_between_its_parts(seed, d, share):
    rng = np.random.default_rng(seed)
    one, other = random_gaussian(d, rng), random_gaussian(d, rng)
    mixed = one.shrunk(other, share)
    assert mixed.covariance == pytest.approx(
        one.covariance + share * (other.covariance - one.covariance), abs=1e-12
    )
    assert mixed.precision @ mixed.covariance == pytest.approx(np.eye(d), abs=1e-7)
    assert mixed.log_det == pytest.approx(np.linalg.slogdet(mixed.covariance)[1], abs=1e-9)
    assert one.shrunk(other, 0.0).covariance == pytest.approx(one.covariance)


def test_what_is_no_gaussian_is_refused():
    with pytest.raises(ArgumentError, match=r"shape \(2,\) does not fit"):
        Gaussian(np.zeros(2), np.eye(3))
    with pytest.raises(ArgumentError, match="not positive definite"):
        Gaussian(np.zeros(2), np.ones((2, 2))).factor  # noqa: B018
