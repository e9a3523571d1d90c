"""Probability tables from eigenvectors: exact on exact moments, proper tables on counted ones."""

from itertools import permutations

import numpy as np
import pytest

from oracles.networks import leaf_joint, random_tables, rooted_tree
from oracles.population import Population, network_joint
from oracles.random_moments import LEAST_VALUE, SIZES, population, smallest_value
from tacit.errors import RankError
from tacit.toy.models import sample_codes
from tacit.trees.learn.spectral.mossel_roch import mossel_roch
from tacit.trees.moments.source import CountedMoments


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("seed", range(3))
def test_exact_moments_give_back_the_exact_joint(seed, size):
    n_exact = 0
    for attempt in range(60):
        tree, n_states, moments = population([seed, attempt], size, n_leaves=7)
        try:
            fitted = mossel_roch(tree, moments, n_states, features=3)
        except RankError:
            continue  # a node without three views of all its states
        if smallest_value(fitted.report) > LEAST_VALUE:
            assert network_joint(fitted.network) == pytest.approx(moments.joint, rel=1e-9)
            n_exact += 1
        if n_exact == 2:
            return
    raise AssertionError("too few populations had three views everywhere")


def test_the_tables_themselves_come_back_up_to_the_numbering_of_states():
    tree = rooted_tree([3, 3, 3, -1], 3)
    truth = random_tables(np.random.default_rng(0), tree, (3, 4, 3, 3))
    tables = mossel_roch(tree, Population(leaf_joint(truth)), (3, 4, 3, 3)).tables
    gaps = [
        max(
            np.abs(tables.table(3)[:, list(order)] - truth.table(3)).max(),
            *(np.abs(tables.table(x)[list(order)] - truth.table(x)).max() for x in range(3)),
        )
        for order in permutations(range(3))
    ]
    assert min(gaps) < 1e-9


def test_observed_inner_nodes_are_learnt_exactly():
    tree = rooted_tree([7, 7, 7, 8, 8, 9, 9, 8, 9, -1], 7, copies={8: 3})
    n_states = (3, 3, 2, 3, 2, 3, 3, 2, 3, 2)
    joint = leaf_joint(random_tables(np.random.default_rng(1), tree, n_states))
    fitted = mossel_roch(tree, Population(joint), n_states)
    assert fitted.tables.table(3) == pytest.approx(np.eye(3), abs=0)
    assert network_joint(fitted.network) == pytest.approx(joint, rel=1e-9)


@pytest.mark.parametrize("n_rows", [0, 1, 30, 3000])
def test_counted_moments_give_proper_tables(n_rows):
    tree = rooted_tree([6, 6, 7, 7, 8, 8, 8, 8, -1], 6)
    n_states = (3,) * 6 + (2,) * 3
    truth = random_tables(np.random.default_rng(0), tree, n_states)
    codes = sample_codes(truth, n_rows, 1) if n_rows else np.zeros((0, 6), np.int16)
    moments = CountedMoments.of(codes, n_states[:6])
    if n_rows < 2:
        with pytest.raises(RankError, match="show only 1"):
            mossel_roch(tree, moments, n_states)
        return
    tables = mossel_roch(tree, moments, n_states).tables
    again = mossel_roch(tree, moments, n_states).tables
    assert np.array_equal(tables.values, again.values)
    for node in range(tree.n_nodes):
        assert tables.table(node).min() >= 0
        assert tables.table(node).sum(axis=1) == pytest.approx(1)
    if n_rows == 3000:
        assert np.abs(network_joint(tables.network) - leaf_joint(truth)).sum() < 0.3


def test_a_node_with_more_states_than_its_leaves_can_show_is_named():
    tree = rooted_tree([3, 3, 3, -1], 3)
    moments = Population(leaf_joint(random_tables(np.random.default_rng(0), tree, (2, 2, 2, 3))))
    with pytest.raises(RankError, match="'h3' has 3 states, but no three"):
        mossel_roch(tree, moments, (2, 2, 2, 3))
