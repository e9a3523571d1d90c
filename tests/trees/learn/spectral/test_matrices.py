"""Products of matrices at nodes of high degree, alone and beside tensors."""

import numpy as np
import pytest

from oracles.networks import leaf_joint, random_tables, rooted_tree
from oracles.population import Population, network_joint
from oracles.random_moments import SIZES, population
from tacit.messages.network import Chain, Dense
from tacit.trees.learn.spectral.operators import spectral
from tacit.trees.learn.spectral.ranks import edge_plan
from tacit.trees.learn.spectral.stars import pair_moments
from tacit.trees.learn.spectral.triads import branch_of_leaf, triad


@pytest.mark.parametrize("n_leaves", [3, 5, 8])
def test_a_star_of_any_degree_is_one_exact_product(n_leaves):
    tree = rooted_tree([n_leaves] * n_leaves + [-1], n_leaves)
    n_states = (3,) * n_leaves + (2,)
    joint = leaf_joint(random_tables(np.random.default_rng(0), tree, n_states))
    network = spectral(tree, Population(joint), n_states, representation="matrix").network
    assert isinstance(network.nodes[0], Chain)
    assert len(network.nodes[0].steps) == n_leaves
    assert network_joint(network) == pytest.approx(joint, rel=1e-9)


def test_a_star_with_more_states_than_categories_is_seen_by_groups_of_leaves():
    tree = rooted_tree([7] * 7 + [-1], 7)
    n_states = (2,) * 7 + (4,)
    joint = leaf_joint(random_tables(np.random.default_rng(0), tree, n_states))
    fitted = spectral(tree, Population(joint), n_states, representation="matrix")
    assert [len(group) for group in fitted.report.triads[7].groups] == [2, 2, 2]
    assert network_joint(fitted.network) == pytest.approx(joint, rel=1e-9)


def test_products_stand_beside_tensors_in_one_network():
    # Node 9 has seven neighbours and becomes a product; node 10 with two children stays a tensor.
    tree = rooted_tree([9, 9, 9, 9, 9, 9, 10, 10, 11, 11, 11, -1], 9)
    n_states = (3, 2, 3, 2, 3, 2, 3, 3, 3, 2, 2, 3)
    joint = leaf_joint(random_tables(np.random.default_rng(2), tree, n_states))
    network = spectral(tree, Population(joint), n_states).network
    assert [type(node) for node in network.nodes] == [Chain, Dense, Dense]
    assert network_joint(network) == pytest.approx(joint, rel=1e-9)


def test_a_node_without_three_full_views_is_split_instead():
    # Two leaves of two categories cannot show three states of their node, and the outside is one view.
    tree = rooted_tree([5, 5, 6, 6, 6, 6, -1], 5)
    n_states = (2, 2, 3, 3, 3, 3, 3)
    joint = leaf_joint(random_tables(np.random.default_rng(0), tree, n_states))
    fitted = spectral(tree, Population(joint), n_states, representation="matrix")
    assert set(fitted.report.triads) == {6}
    assert network_joint(fitted.network) == pytest.approx(joint, rel=1e-9)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("seed", range(5))
def test_three_views_are_apart_and_show_all_states(seed, size):
    tree, n_states, moments = population(seed, size, n_leaves=8)
    pairs = pair_moments(moments, max(n_states), whiten=True)
    path_ranks = edge_plan(tree, n_states).path_ranks
    model_ranks = 0
    for node in tree.hidden:
        three = triad(tree, n_states, pairs, path_ranks, node, 3)
        if three is None:
            continue
        branches = branch_of_leaf(tree, node)
        owners = [set(branches[list(group)].tolist()) for group in three.groups]
        assert [frozenset(owner) for owner in owners] == list(three.branches)
        assert not owners[0] & owners[1]
        assert not owners[0] & owners[2]
        assert not owners[1] & owners[2]
        assert -1 not in owners[0]
        for one in range(3):
            for two in range(one):
                table = moments.marginal(three.groups[one] + three.groups[two])
                rows = int(np.prod([n_states[leaf] for leaf in three.groups[one]]))
                values = np.linalg.svd(table.reshape(rows, -1), compute_uv=False)
                assert (values > 1e-12).sum() >= n_states[node]
                model_ranks += 1
    assert model_ranks or size == "more states than categories"
