"""How strong the edges of a model are."""

import numpy as np
import pytest

from oracles.enumeration import enumerated_joint, summed_to
from tacit.evaluate.strength import edge_correlations
from tacit.toy import random_tables, random_topology
from tacit.trees.structure.topology import Topology


def largest_correlation(joint):
    """By alternating conditional expectations: iterate f -> E[g|x], g -> E[f|y], both standardised."""
    p, q = joint.sum(axis=1), joint.sum(axis=0)
    f = np.random.default_rng(0).normal(size=len(p))
    for _ in range(3000):
        f = f - p @ f
        f /= np.sqrt(p @ f**2)
        g = (joint / q).T @ f
        size = np.sqrt(q @ g**2)
        f = (joint / p[:, None]) @ g
    return size


def test_between_observed_variables_it_is_the_largest_correlation_of_their_functions():
    tree = Topology.from_edges([("a", "b"), ("b", "c")], observed="abc").rooted("abc")
    tables = random_tables(tree, [3, 4, 2], 1, random_state=0)
    joint = enumerated_joint(tables)
    actual = edge_correlations(tables)
    assert actual.keys() == {frozenset("ab"), frozenset("bc")}
    assert actual[frozenset("ab")] == pytest.approx(largest_correlation(summed_to(joint, [0, 1])))
    assert actual[frozenset("bc")] == pytest.approx(largest_correlation(summed_to(joint, [1, 2])))


@pytest.mark.parametrize("seed", range(4))
def test_there_is_one_number_from_0_to_1_for_each_edge_of_the_tree(seed):
    topology = random_topology(9, observed_inner=0.4, random_state=seed)
    tables = random_tables(topology.rooted(topology.observed), 3, 2, seed, diagonal=2.0)
    actual = edge_correlations(tables)
    assert actual.keys() == {frozenset(pair) for pair in topology.edges}
    assert all(0 <= value <= 1 for value in actual.values())


def test_independence_is_0_a_function_is_1_and_unused_states_do_no_harm():
    tree = Topology.star("abc").rooted("abc")
    leaves = [np.eye(2), np.full((2, 3), 1 / 3), np.ones((2, 1))]
    actual = edge_correlations(
        type(random_tables(tree, 2, 2)).of(tree, [*leaves, np.full((1, 2), 0.5)])
    )
    assert [actual[frozenset([x, "h"])] for x in "abc"] == pytest.approx([1.0, 0.0, 0.0], abs=1e-12)
    stuck = edge_correlations(
        type(random_tables(tree, 2, 2)).of(tree, [*leaves, np.array([[1.0, 0.0]])])
    )
    assert stuck[frozenset("ah")] == pytest.approx(0.0, abs=1e-12)
