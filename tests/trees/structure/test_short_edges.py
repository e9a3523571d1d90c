"""Short edges contracted."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.distances import measured_splits, path_lengths
from oracles.minimal_trees import minimal_trees
from oracles.topologies import topologies
from tacit.errors import ArgumentError
from tacit.trees.structure.short_edges import contract_short, noise_factor
from tacit.trees.structure.topology import Topology


@given(tree=minimal_trees(shortest=0.0), least=st.floats(0, 1.2))
def test_long_edges_stay_and_short_ones_between_hidden_nodes_go(tree, least):
    contracted = contract_short(tree, least)
    hidden = set(tree.hidden)
    stay = {
        side: length
        for side, length in measured_splits(tree).items()
        if length >= least or side not in _inner_sides(tree, hidden)
    }
    assert measured_splits(contracted) == stay
    assert set(contracted.nodes) <= set(tree.nodes)


def _inner_sides(tree, hidden):
    """Splits of the edges between hidden nodes."""
    between = {frozenset(pair) for pair in tree.edges if set(pair) <= hidden}
    bare = Topology(
        tree.nodes,
        tree.edges,
        tree.observed,
        tuple(1.0 if frozenset(pair) in between else 0.0 for pair in tree.edges),
    )
    return {side for side, length in measured_splits(bare).items() if length}


@given(tree=minimal_trees(shortest=0.0), least=st.floats(0, 1.2))
def test_variables_may_take_the_place_of_hidden_nodes(tree, least):
    contracted = contract_short(tree, least, observed=True)
    observed_names = set(tree.observed)
    assert contracted.observed == tree.observed
    for pair, length in zip(contracted.edges, contracted.lengths, strict=True):
        assert length >= least or set(pair) <= observed_names
    n_contracted = len(tree.edges) - len(contracted.edges)
    change = path_lengths(tree, tree.observed) - path_lengths(contracted, tree.observed)
    assert (change >= -1e-9).all()
    assert change.max(initial=0.0) <= n_contracted * least + 1e-9


@given(topologies(), st.floats(0, 2), st.booleans())
def test_any_tree_can_be_contracted_and_only_once(topology, least, observed):
    contracted = contract_short(topology, least, observed=observed)
    assert set(contracted.observed) == set(topology.observed)
    again = contract_short(contracted, least, observed=observed)
    assert len(again.nodes) <= len(contracted.nodes)
    assert contract_short(topology, 0.0) == topology.contracted()


def test_edges_without_length_stay():
    tree = Topology.from_newick("((a,b)h,c:0,(d:1,e:1)k:0)r;")
    contracted = contract_short(tree, 0.5)
    assert set(contracted.hidden) == {"h", "r"}
    assert set(contracted.neighbours["r"]) == {"h", "c", "d", "e"}


def test_of_two_variables_near_a_node_the_nearest_takes_its_place():
    tree = Topology.from_newick("(a:.02,b:.01,c:1)h;")
    contracted = contract_short(tree, 0.1, observed=True)
    assert contracted == Topology.from_edges([("a", "b", 0.02), ("b", "c", 1.0)], observed="abc")


def test_numbers_of_states_stay_with_the_nodes_that_stay():
    tree = Topology.from_newick("((a:1,b:1)h:.01,c:1,(d:1,e:1)k:1)r;")
    tree = Topology(tree.nodes, tree.edges, tree.observed, tree.lengths, {"h": 3, "r": 4, "k": 5})
    contracted = contract_short(tree, 0.1)
    assert contracted.n_states["k"] == 5
    assert set(contracted.n_states) == set(contracted.hidden)


def test_a_limit_that_is_no_number_is_refused():
    with pytest.raises(ArgumentError, match="NaN"):
        contract_short(Topology.star("abc"), math.nan)


class Misfits:
    def __init__(self, values):
        self.misfits = np.array(values)


def test_noise_is_taken_for_larger_only_if_misfits_are():
    assert noise_factor(Misfits([]), 100.0) == 1.0
    assert noise_factor(Misfits([np.nan]), 100.0) == 1.0
    assert noise_factor(Misfits([0.01] * 100), 100.0) == pytest.approx(1.0)
    assert noise_factor(Misfits([0.001] * 100), 100.0) == 1.0
    assert noise_factor(Misfits([0.05] * 1000), 100.0) == pytest.approx(5.0, rel=0.05)
    one_wrong = noise_factor(Misfits([*([0.01] * 50), 1000.0]), 100.0)
    assert one_wrong < 1.3  # the misfit of an edge that is misplaced says nothing about noise
