"""Splitting nodes of high degree, and joining the parts."""

import numpy as np
import pytest

from oracles.networks import in_kind, leaf_joint, random_tables, random_tree, rooted_tree
from oracles.population import network_joint
from tacit.messages.network import Chain, Dense
from tacit.trees.learn.spectral.splits import joined, split_tree


def split_model(tables, nodes):
    """The same distribution on the split tree: copies of a variable are linked by the identity."""
    tree, n_states = tables.tree, tables.layout.n_states
    split = split_tree(tree, n_states, frozenset(nodes))
    tops = [*range(tree.n_leaves), *(parts[0] for parts in split.parts)]
    fine = [np.eye(states) for states in split.n_states]
    for node, top in enumerate(tops):
        fine[top] = tables.table(node)
    return split, type(tables).of(split.tree, fine)


@pytest.mark.parametrize("seed", range(6))
def test_a_split_tree_says_the_same_and_joins_to_the_whole(seed):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 7, 6)
    tables = random_tables(rng, tree, tuple(rng.integers(2, 4, size=tree.n_nodes).tolist()))
    split, fine = split_model(tables, tree.hidden)
    assert max(split.tree.degree(node) for node in split.tree.hidden) <= 3
    assert leaf_joint(fine) == pytest.approx(leaf_joint(tables), rel=1e-12)
    network = joined(split, in_kind(rng, fine, "dense"))
    assert network.tree is tree
    assert network_joint(network) == pytest.approx(leaf_joint(tables), rel=1e-9)
    for node, learnt in zip(tree.hidden, network.nodes, strict=True):
        assert isinstance(learnt, Chain if tree.degree(node) > 3 else Dense)


def test_only_the_chosen_nodes_are_split():
    tree = rooted_tree([8, 8, 8, 8, 9, 9, 9, 9, 9, -1], 8)
    split = split_tree(tree, (2,) * 10, frozenset({9}))
    assert [len(parts) for parts in split.parts] == [1, 3]
    assert split.tree.names[-3:] == ("h9/2", "h9/1", "h9")
    assert split.tree.children[-1] == (4, 5, split.parts[1][1])


def test_a_tree_without_high_degrees_is_kept_as_it_is():
    tree = rooted_tree([4, 4, 5, 5, 5, -1], 4)
    split = split_tree(tree, (2,) * 6, frozenset(tree.hidden))
    assert split.tree is tree
    assert split.parts == ((4,), (5,))


def test_copies_of_an_observed_node_stay_copies():
    tree = rooted_tree([5] * 5 + [-1], 5, copies={5: 2})
    split = split_tree(tree, (2, 3, 4, 2, 2, 4), frozenset({5}))
    assert split.tree.copy_of.tolist() == [-1] * 5 + [2, 2, 2]
    assert split.n_states[5:] == (4, 4, 4)
