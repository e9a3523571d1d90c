"""Two variables with a hidden one between them, and variables moved to the leaves."""

import numpy as np
import pytest

from tacit.numbers.structure.leaves import with_leaves_only
from tacit.numbers.structure.pairs import pair_topology
from tacit.trees.structure.topology import Topology


@pytest.mark.parametrize("columns", [("a", "b"), ("b", "a"), ("h", "g")])
def test_the_hidden_node_between_two_variables_stays(columns):
    topology = pair_topology(columns)
    assert len(topology.hidden) == 1
    tree = topology.rooted(columns)
    assert tree.names[:2] == columns
    assert tree.names[2] == topology.hidden[0]
    assert tree.parent.tolist() == [2, 2, -1]
    assert (tree.copy_of == -1).all()
    assert topology.rooted(columns) is tree
    assert Topology.star(columns).rooted(columns).copy_of.tolist() == [
        -1,
        -1,
        0,
    ]  # elsewhere it goes


def test_a_pair_needs_two_names():
    with pytest.raises(ValueError, match="unpack"):
        pair_topology(["a", "b", "c"])


def test_variables_inside_a_tree_are_hung_on_hidden_nodes():
    tree = Topology.from_newick("((a:1,b:2)c:3,(d,e)f);", observed=["c"])
    hung = with_leaves_only(tree)
    assert set(hung.observed) == set(tree.observed)
    assert all(len(hung.neighbours[name]) == 1 for name in hung.observed)
    assert set(hung.hidden) == {*tree.hidden, "h(c)"}
    assert set(hung.neighbours["h(c)"]) == {*tree.neighbours["c"], "c"}
    assert hung.edge_lengths[frozenset(("a", "h(c)"))] == 1
    assert with_leaves_only(hung) is hung


def test_names_that_are_taken_are_not_taken_again():
    tree = Topology.from_edges([("a", "b"), ("b", "h(b)")], observed=["a", "b", "h(b)"])
    hung = with_leaves_only(tree)
    assert hung.hidden == ("h(b)'",)
    assert np.array_equal(hung.rooted(["a", "b", "h(b)"]).copy_of, [-1] * 4)
