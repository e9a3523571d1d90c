"""Ranks that the numbers of states allow, against those of random tables."""

import numpy as np
import pytest

from oracles.networks import full_joint, random_tables, random_tree
from oracles.random_moments import SIZES, population
from tacit.trees.learn.spectral.ranks import GroupRanks, edge_plan


def numeric_rank(table):
    values = np.linalg.svd(table, compute_uv=False)
    return int((values > 1e-11 * values[0]).sum())


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("seed", range(4))
def test_the_planned_ranks_are_those_of_the_unfoldings(seed, size):
    tree, n_states, moments = population(seed, size)
    plan = edge_plan(tree, n_states)
    for edge, rank in enumerate(plan.ranks.tolist()):
        inside = tree.below[edge]
        assert np.flatnonzero(plan.inside[edge]).tolist() == list(inside)
        rows = int(np.prod([n_states[leaf] for leaf in inside]))
        unfolded = moments.marginal((*inside, *tree.outside[edge])).reshape(rows, -1)
        assert numeric_rank(unfolded) == rank


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("seed", range(4))
def test_the_ranks_of_paths_are_those_of_pairs(seed, size):
    tree, n_states, moments = population(seed, size)
    plan = edge_plan(tree, n_states)
    for i in range(tree.n_leaves):
        for j in range(i):
            assert numeric_rank(moments.marginal((i, j))) == plan.path_ranks[i, j]
            assert plan.path_ranks[j, i] == plan.path_ranks[i, j]


@pytest.mark.parametrize("seed", range(10))
def test_the_rank_of_a_group_is_that_of_its_joint_category_given_the_node(seed):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 5, 3)
    n_states = tuple(rng.integers(2, 5, size=tree.n_nodes).tolist())
    joint = full_joint(random_tables(rng, tree, n_states))
    rank_at = GroupRanks(tree, n_states)
    for node in tree.hidden:
        for size in range(1, 4):
            group = tuple(sorted(rng.choice(5, size=size, replace=False).tolist()))
            others = tuple(v for v in range(tree.n_nodes) if v not in {*group, node})
            table = joint.sum(axis=others).reshape(-1, n_states[node])
            assert rank_at(group, node) == numeric_rank(table)
    assert rank_at((), tree.root) == 1
