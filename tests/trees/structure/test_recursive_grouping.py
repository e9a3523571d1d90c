"""Trees with observed inner nodes and any degrees, from exact and from estimated distances."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.distances import measured_splits, path_lengths
from oracles.minimal_trees import minimal_trees
from tacit.errors import ArgumentError
from tacit.evaluate.trees import robinson_foulds
from tacit.toy import random_topology
from tacit.trees.structure.distances import discrete_distances
from tacit.trees.structure.recursive_grouping import chow_liu_grouping, recursive_grouping
from tacit.trees.structure.rooting import walk
from tacit.trees.structure.topology import Topology

METHODS = [recursive_grouping, chow_liu_grouping]
both_methods = pytest.mark.parametrize("method", METHODS)


@both_methods
@given(tree=minimal_trees())
def test_exact_distances_give_back_the_tree_with_its_lengths(method, tree):
    learnt = method(path_lengths(tree, tree.observed), tree.observed)
    assert len(learnt.hidden) == len(tree.hidden)
    lengths, expected = measured_splits(learnt), measured_splits(tree)
    assert lengths.keys() == expected.keys()
    for side, length in expected.items():
        assert lengths[side] == pytest.approx(length, abs=1e-6)  # rounding, in sums of exponentials


@both_methods
@given(tree=minimal_trees(), n_states=st.integers(2, 5), seed=st.integers(0, 2**32 - 1))
def test_order_and_scale_have_no_influence(method, tree, n_states, seed):
    names = np.random.default_rng(seed).permutation(np.array(tree.observed)).tolist()
    learnt = method(path_lengths(tree, names), names, n_states=n_states)
    assert learnt.observed == tuple(names)
    assert robinson_foulds(learnt, tree) == 0
    assert path_lengths(learnt, names) == pytest.approx(path_lengths(tree, names), abs=1e-5)


def rows_of_tree(tree, n_rows, n_categories, rng, correlations=(0.6, 0.9)):
    """Each node repeats its neighbour's category with this probability, and is drawn anew otherwise."""
    values = {}
    for name, towards in walk(tree.neighbours, tree.observed[0]).items():
        values[name] = rng.integers(0, n_categories, size=n_rows)
        if towards is not None:
            is_kept = rng.random(n_rows) < rng.uniform(*correlations)
            values[name] = np.where(is_kept, values[towards], values[name])
    return np.stack([values[name] for name in tree.observed], axis=1)


def distances_of_rows(codes, n_categories, n_states=None):
    indicators = (codes[:, :, None] == np.arange(n_categories)).reshape(len(codes), -1)
    counts = indicators.astype(np.float32).T @ indicators.astype(np.float32)
    return discrete_distances(counts.astype(np.int64), [n_categories] * codes.shape[1], n_states)


def tree_of_twenty(seed):
    """Twenty variables, some of them inside the tree, with nodes of more than three neighbours."""
    rng = np.random.default_rng(seed)
    while True:
        shape = {"n_children": (2, 5), "observed_inner": 0.35, "random_state": rng}
        tree = random_topology(int(rng.integers(12, 18)), **shape)
        degrees = [len(tree.neighbours[name]) for name in tree.nodes]
        inside = [name for name in tree.observed if len(tree.neighbours[name]) > 1]
        if len(tree.observed) == 20 and tree.hidden and inside and max(degrees) > 3:
            return tree, rng


@both_methods
@pytest.mark.parametrize("n_categories", [2, 3])
@pytest.mark.parametrize("seed", range(5))
def test_twenty_thousand_rows_give_the_exact_tree(method, n_categories, seed):
    tree, rng = tree_of_twenty(seed)
    codes = rows_of_tree(tree, 20_000, n_categories, rng)
    distances = distances_of_rows(codes, n_categories, n_categories)
    learnt = method(
        distances.values,
        tree.observed,
        supported=distances.supported,
        n_rows=20_000,
        n_states=n_categories,
    )
    assert robinson_foulds(learnt, tree) == 0
    assert len(learnt.hidden) == len(tree.hidden)


@both_methods
def test_few_rows_give_a_tree_that_says_no_more_than_they_do(method):
    tree, rng = tree_of_twenty(0)
    codes = rows_of_tree(tree, 150, 2, rng)
    learnt = method(distances_of_rows(codes, 2).values, tree.observed, n_rows=150)
    assert len(learnt.hidden) < len(tree.hidden) + 3
    assert robinson_foulds(learnt, tree, normalised=True) < 0.6


@both_methods
def test_blocks_without_support_between_them_are_learnt_apart(method):
    a = Topology.from_newick("((a1:.3,a2:.4):.3,a3:.2,(a4:.5,a5:.3):.4);").contracted()
    b = Topology.from_edges([("b1", "b2", 0.3), ("b2", "b3", 0.4)], observed=["b1", "b2", "b3"])
    names = [*a.observed, *b.observed, "c", "d1", "d2"]
    distances, supported = np.full((11, 11), 4.0), np.zeros((11, 11), dtype=bool)
    blocks = [(a, slice(0, 5)), (b, slice(5, 8)), (None, slice(8, 9)), (None, slice(9, 11))]
    for tree, span in blocks:
        supported[span, span] = True
        distances[span, span] = path_lengths(tree, tree.observed) if tree else 0.7
    np.fill_diagonal(distances, 0.0)
    learnt = method(distances, names, supported=supported)
    along = path_lengths(learnt, names)
    for _, span in blocks:
        assert along[span, span] == pytest.approx(distances[span, span], abs=1e-6)
    assert (
        len(learnt.hidden) == len(a.hidden) + 2
    )  # one between d1 and d2, and one where blocks meet
    assert (along[~supported] >= 4.0 - 1e-9).all()
    assert any(len(learnt.neighbours[name]) == 4 for name in learnt.hidden)


@both_methods
def test_two_blocks_are_joined_by_one_long_edge(method):
    distances = np.array([[0, 1, 5, 5], [1, 0, 5, 5], [5, 5, 0, 1], [5, 5, 1, 0]], dtype=float)
    learnt = method(distances, "abcd", supported=distances < 5)
    assert robinson_foulds(learnt, Topology.from_newick("((a,b),(c,d));")) == 0
    assert max(learnt.lengths) == pytest.approx(5.0)


@both_methods
def test_one_two_and_three_variables(method):
    assert method([[0.0]], ["a"]).nodes == ("a",)
    assert method([[0.0, 0.5], [0.5, 0.0]], "ab").to_edges() == [("a", "b", pytest.approx(0.5))]
    star = method([[0, 2, 2], [2, 0, 2], [2, 2, 0]], "abc")
    assert star.hidden == ("h1",)
    chain = method([[0, 1, 2], [1, 0, 1], [2, 1, 0]], "abc")
    assert chain.hidden == ()
    assert set(chain.neighbours["b"]) == {"a", "c"}


@both_methods
def test_variables_that_are_the_same_stand_side_by_side(method):
    tree = Topology.from_newick("(a:.5,b:.5,(c:.5,d:.5):.5);").contracted()
    distances = path_lengths(tree, "aabcd")
    learnt = method(distances, ["a", "a'", "b", "c", "d"])
    assert "a'" in learnt.neighbours["a"] or learnt.neighbours["a"] == learnt.neighbours["a'"]
    assert path_lengths(learnt, ["a", "a'", "b", "c", "d"]) == pytest.approx(distances, abs=1e-6)


@both_methods
def test_edges_shorter_than_the_least_length_are_contracted(method):
    tree = Topology.from_newick("((a:.5,b:.5)h:.1,c:.5,(d:.5,e:.5)k:.5)r;")
    distances = path_lengths(tree, "abcde")
    assert len(method(distances, "abcde", n_rows=10**6).hidden) == 3
    assert len(method(distances, "abcde", n_rows=10**6, least=0.2).hidden) == 2
    assert len(method(distances, "abcde", n_rows=30).hidden) < 3


@both_methods
def test_what_cannot_be_is_refused(method):
    with pytest.raises(ArgumentError, match="no leaves"):
        method(np.zeros((0, 0)), [])
    with pytest.raises(ArgumentError, match="distances of 3"):
        method(np.zeros((2, 2)), "abc")
    with pytest.raises(ArgumentError, match="finite"):
        method([[0.0, np.inf], [np.inf, 0.0]], "ab")
    with pytest.raises(ArgumentError, match="n_rows=1"):
        method(np.zeros((2, 2)), "ab", n_rows=1)
    with pytest.raises(ArgumentError, match="two states"):
        method(np.zeros((2, 2)), "ab", n_states=1)
    with pytest.raises(ArgumentError, match="shape"):
        method(np.zeros((2, 2)), "ab", supported=np.ones((3, 3)))
