"""Distances between trees, and matching of hidden states."""

import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.enumeration import enumerated_joint
from oracles.topologies import topologies
from tacit.errors import ArgumentError, TopologyError
from tacit.evaluate import align_states, hop_error, robinson_foulds, splits, state_orders
from tacit.evaluate.trees import _profiles
from tacit.messages.network import Tables
from tacit.toy import named_topology, random_tables, random_topology
from tacit.trees.structure.topology import Topology


def splits_by_cutting(topology):
    """Both sides of each edge, found by taking the edge out of the graph."""
    actual = set()
    graph = topology.to_networkx()
    for edge in list(graph.edges):
        graph.remove_edge(*edge)
        sides = [part & set(topology.observed) for part in nx.connected_components(graph)]
        if all(sides):
            actual.add(frozenset(map(frozenset, sides)))
        graph.add_edge(*edge)
    return actual


@given(topologies())
def test_splits_are_what_cutting_each_edge_leaves(topology):
    everything = frozenset(topology.observed)
    both_sides = {frozenset([side, everything - side]) for side in splits(topology)}
    assert both_sides == splits_by_cutting(topology)


@given(topologies())
def test_a_tree_has_no_distance_to_itself_however_it_is_written(topology):
    assert robinson_foulds(topology, topology.contracted()) == 0
    assert robinson_foulds(topology, topology, normalised=True) == 0


@given(st.integers(2, 10), st.tuples(*[st.integers(0, 2**32 - 1)] * 3))
def test_the_distance_is_a_metric(n_leaves, seeds):
    one, two, three = (random_topology(n_leaves, random_state=seed) for seed in seeds)
    assert robinson_foulds(one, two) == robinson_foulds(two, one)
    assert robinson_foulds(one, three) <= robinson_foulds(one, two) + robinson_foulds(two, three)
    expected = len(splits_by_cutting(one) ^ splits_by_cutting(two))
    assert robinson_foulds(one, two) == expected
    assert 0 <= robinson_foulds(one, two, normalised=True) <= 1


def test_trees_with_nothing_in_common_have_normalised_distance_one():
    one, two = Topology.from_newick("((a,b),(c,d),e);"), Topology.from_newick("((a,c),(b,e),d);")
    assert robinson_foulds(one, two) == 4
    assert robinson_foulds(one, two, normalised=True) == 1
    star = Topology.star("abcde")
    assert robinson_foulds(one, star) == 2
    assert robinson_foulds(star, star, normalised=True) == 0


def test_observed_inner_nodes_count():
    chain = Topology.from_edges([("a", "b"), ("b", "c")], observed="abc")
    other = Topology.from_edges([("b", "a"), ("a", "c")], observed="abc")
    assert robinson_foulds(chain, other) == 2
    assert robinson_foulds(chain, Topology.star("abc")) == 1


def test_trees_over_different_variables_cannot_be_compared():
    with pytest.raises(TopologyError, match="only one of these has 'd'"):
        robinson_foulds(Topology.star("abc"), Topology.star("abcd"))


def hops_by_networkx(topology):
    return dict(nx.all_pairs_shortest_path_length(topology.contracted().to_networkx()))


@given(topologies(), st.integers(0, 2**32 - 1))
def test_hop_error_is_the_sum_that_the_thesis_prints(one, seed):
    names = one.observed
    if len(names) == 1:
        assert hop_error(one, one) == hop_error(one, one, mean=True) == 0
        return
    edges = [(names[seed % n], names[n]) for n in range(1, len(names))]
    other = Topology.from_edges(edges, observed=names)
    here, there = hops_by_networkx(one), hops_by_networkx(other)
    expected = []
    for a, b in itertools.combinations(names, 2):
        gap = abs(here[a][b] - there[a][b])
        expected.append(gap / here[a][b] + gap / there[a][b])
    assert hop_error(one, other) == pytest.approx(sum(expected))
    assert hop_error(other, one, mean=True) == pytest.approx(np.mean(expected))
    assert hop_error(one, one.contracted()) == 0


def test_hops_of_different_variables_cannot_be_compared():
    with pytest.raises(TopologyError, match="only one of these has 'd'"):
        hop_error(Topology.star("abc"), Topology.star("abcd"))


# -- hidden states -------------------------------------------------------------------------------


def random_model(seed, observed_inner=0.0):
    topology = random_topology(
        4, n_children=(2, 2), observed_inner=observed_inner, random_state=seed
    )
    tree = topology.rooted(topology.observed)
    return random_tables(tree, 3, [2 + n % 2 for n in range(len(tree.hidden))], seed, diagonal=0.5)


def renumbered(tables, seed):
    """The same model with the states of hidden nodes in a random order, and those orders."""
    rng = np.random.default_rng(seed)
    tree = tables.tree
    orders = [
        rng.permutation(n) if node >= tree.n_leaves and tree.copy_of[node] < 0 else np.arange(n)
        for node, n in enumerate(tables.layout.n_states)
    ]
    moved = []
    for node, above in enumerate(tree.parent.tolist()):
        rows = [0] if above < 0 else orders[above]
        moved.append(tables.table(node)[np.ix_(rows, orders[node])])
    return Tables.of(tree, moved), orders


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("observed_inner", [0.0, 0.5])
def test_renumbered_states_are_put_back_in_order(seed, observed_inner):
    tables = random_model(seed, observed_inner)
    shuffled, orders = renumbered(tables, seed + 100)
    assert align_states(shuffled, tables).values == pytest.approx(tables.values, abs=1e-14)
    for order, actual in zip(orders, state_orders(shuffled, tables), strict=True):
        assert np.array_equal(order[actual], np.arange(len(order)))


@pytest.mark.parametrize("seed", range(3))
def test_alignment_does_not_change_the_distribution(seed):
    tables = random_model(seed)
    n_states = tables.layout.n_states[tables.tree.n_leaves :]
    reference = random_tables(tables.tree, 3, n_states, seed + 1)
    aligned = align_states(tables, reference)
    assert enumerated_joint(aligned) == pytest.approx(enumerated_joint(tables), abs=1e-14)


@pytest.mark.parametrize("seed", range(4))
def test_profiles_are_conditional_probabilities_of_leaves_given_states(seed):
    tables = random_model(seed, observed_inner=0.3)
    tree, n_states = tables.tree, tables.layout.n_states
    starts = np.concatenate([[0], np.cumsum(n_states[: tree.n_leaves])])
    joint = [np.zeros((n, starts[-1])) for n in n_states]
    for states in itertools.product(*map(range, n_states)):
        value = 1.0
        for node, above in enumerate(tree.parent.tolist()):
            value *= tables.table(node)[0 if above < 0 else states[above], states[node]]
        for node, leaf in itertools.product(range(tree.n_nodes), range(tree.n_leaves)):
            joint[node][states[node], starts[leaf] + states[leaf]] += value
    for node, actual in enumerate(_profiles(tables)):
        total = joint[node].sum(axis=1, keepdims=True) / tree.n_leaves
        assert actual == pytest.approx(joint[node] / total, abs=1e-12)


def test_states_of_a_copy_are_categories_and_stay_in_place():
    tree = Topology.from_edges([("a", "b"), ("b", "c"), ("b", "d")], observed="abcd").rooted("abcd")
    same, reverse, even = np.eye(2), np.eye(2)[::-1], np.full((1, 2), 0.5)
    straight = Tables.of(tree, [same, same, same, same, even])
    crossed = Tables.of(tree, [reverse, same, reverse, reverse, even])
    assert np.array_equal(align_states(crossed, straight).values, crossed.values)


def test_states_that_never_occur_do_no_harm():
    tables = random_model(0)
    values = tables.values.copy()
    root = tables.layout.starts[tables.tree.root]
    values[root:] = np.eye(len(values[root:]))[0]  # the root is always in its first state
    certain = Tables(tables.layout, values)
    assert align_states(certain, certain).values == pytest.approx(values)


def test_models_that_differ_in_shape_cannot_be_aligned():
    columns = [f"x{n}" for n in range(8)]
    tree = named_topology("bin4").rooted(columns)
    tables = random_tables(tree, 3, 2, 0)
    with pytest.raises(ArgumentError, match="equal trees"):
        align_states(tables, random_tables(tree, 3, 3, 0))
    other = named_topology("cat8").rooted(columns)
    with pytest.raises(ArgumentError, match="equal trees"):
        align_states(tables, random_tables(other, 3, 2, 0))
