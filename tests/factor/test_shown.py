"""Numbers of states from the singular values."""

import numpy as np
import pytest

from oracles.networks import leaf_joint, random_tables, rooted_tree
from oracles.population import Population
from tacit.errors import ArgumentError
from tacit.factor.shown import shown_states
from tacit.moments.source import CountedMoments
from tacit.toy.models import random_tables as toy_tables
from tacit.toy.models import sample_codes
from tacit.toy.trees import named_topology


def toy(name, cards, n_states, seed):
    topology = named_topology(name)
    return toy_tables(topology.rooted(topology.observed), cards, n_states, seed, diagonal=3.0)


@pytest.mark.parametrize("n_states", [2, 3, 4])
def test_strong_states_are_all_shown(n_states):
    model = toy("t43", 5, n_states, 0)
    moments = CountedMoments.of(sample_codes(model, 20_000, 1), (5,) * 16)
    assert shown_states(model.tree, moments).n_states == model.layout.n_states


def test_exact_moments_show_more_states_than_any_leaf_has_categories():
    tree = rooted_tree([6, 6, 7, 7, 8, 8, 9, 9, 9, -1], 6)
    n_states = (2,) * 6 + (3,) * 4
    joint = leaf_joint(random_tables(np.random.default_rng(0), tree, n_states))
    assert shown_states(tree, Population(joint), features=2).n_states == n_states


def test_few_rows_show_fewer_states():
    model = toy("t43", 5, 4, 0)
    few = CountedMoments.of(sample_codes(model, 300, 1), (5,) * 16)
    found = shown_states(model.tree, few).n_states[16:]
    assert max(found) <= 4
    assert sum(found) < 4 * len(found)


def test_a_limit_and_observed_inner_nodes_are_heeded():
    tree = rooted_tree([6, 6, 9, 7, 8, 8, 7, 9, 9, -1], 6, copies={7: 3})
    n_states = (3, 4, 3, 4, 3, 3, 3, 4, 3, 3)
    joint = leaf_joint(random_tables(np.random.default_rng(1), tree, n_states))
    assert shown_states(tree, Population(joint), most=2).n_states == (*n_states[:6], 2, 4, 2, 2)
    with pytest.raises(ArgumentError, match="1 or more"):
        shown_states(tree, Population(joint), most=0)
