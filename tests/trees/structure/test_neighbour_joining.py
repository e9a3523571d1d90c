"""Neighbour joining, of everything and around a spanning tree."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.distances import joined_one_by_one, measured_splits, path_lengths
from tacit.errors import ArgumentError
from tacit.evaluate.trees import robinson_foulds, splits
from tacit.toy import caterpillar, random_topology
from tacit.trees.structure.neighbour_joining import chow_liu_joining, neighbor_joining
from tacit.trees.structure.topology import Topology

METHODS = [neighbor_joining, chow_liu_joining]
seeds = st.integers(0, 2**32 - 1)


def tree_with_lengths(n_leaves, seed, shortest=0.05, **shape):
    """A random tree with random lengths, and the distances along it."""
    rng = np.random.default_rng(seed)
    tree = random_topology(n_leaves, random_state=rng, **({"n_children": (2, 2)} | shape))
    lengths = tuple(rng.uniform(shortest, 1, len(tree.edges)).tolist())
    tree = Topology(tree.nodes, tree.edges, tree.observed, lengths)
    return tree, path_lengths(tree, tree.observed)


def noisy(distances, seed, scale=0.2):
    noise = np.triu(np.random.default_rng(seed).normal(scale=scale, size=distances.shape), 1)
    return distances + noise + noise.T


def assert_same_lengths(actual, expected, tolerance=1e-9):  # what rounding leaves after some sums
    assert actual.keys() == expected.keys()
    for side, length in expected.items():
        assert actual[side] == pytest.approx(length, abs=tolerance)


@pytest.mark.parametrize("method", METHODS)
@given(n_leaves=st.integers(3, 40), seed=seeds)
def test_distances_of_a_tree_give_it_back_with_its_lengths(method, n_leaves, seed):
    tree, distances = tree_with_lengths(n_leaves, seed)
    assert_same_lengths(measured_splits(method(distances, tree.observed)), measured_splits(tree))


@pytest.mark.parametrize("method", METHODS)
@given(n_leaves=st.integers(3, 15), seed=seeds)
def test_distances_of_any_tree_are_those_along_the_tree_found(method, n_leaves, seed):
    tree, distances = tree_with_lengths(n_leaves, seed, n_children=(2, 5), observed_inner=0.5)
    learnt = method(distances, tree.observed)
    assert path_lengths(learnt, tree.observed) == pytest.approx(distances, abs=1e-9)
    assert all(len(learnt.neighbours[name]) == 3 for name in learnt.hidden)


@given(n_leaves=st.integers(3, 25), seed=seeds, scale=st.sampled_from([0.01, 0.2, 2.0]))
def test_every_step_joins_the_best_of_all_pairs(n_leaves, seed, scale):
    tree, distances = tree_with_lengths(n_leaves, seed)
    distances = noisy(distances, seed, scale)
    learnt = neighbor_joining(distances, tree.observed)
    assert_same_lengths(measured_splits(learnt), joined_one_by_one(distances, tree.observed))


def test_so_it_does_with_many_leaves():
    names = [f"x{n}" for n in range(100)]
    distances = noisy(np.zeros((100, 100)), 0, 1.0)
    tree = neighbor_joining(distances, names)
    assert_same_lengths(measured_splits(tree), joined_one_by_one(distances, names))


@pytest.mark.parametrize("method", METHODS)
@given(n_leaves=st.integers(3, 20), seed=seeds)
def test_the_order_of_the_leaves_has_no_influence(method, n_leaves, seed):
    tree, distances = tree_with_lengths(n_leaves, seed)
    distances = noisy(distances, seed)
    order = np.random.default_rng(seed).permutation(n_leaves)
    learnt = measured_splits(method(distances, tree.observed))
    names = [tree.observed[n] for n in order]
    assert_same_lengths(measured_splits(method(distances[np.ix_(order, order)], names)), learnt)


@given(n_leaves=st.integers(3, 20), seed=seeds)
def test_longer_pendant_edges_change_nothing_else(n_leaves, seed):
    tree, distances = tree_with_lengths(n_leaves, seed)
    distances = noisy(distances, seed)
    more = np.random.default_rng(seed).uniform(-1, 3, n_leaves)
    expected = measured_splits(neighbor_joining(distances, tree.observed))
    first = min(tree.observed)
    for name, length in zip(tree.observed, more, strict=True):
        alone = frozenset(tree.observed) - {first} if name == first else frozenset([name])
        expected[alone] += length
    learnt = neighbor_joining(distances + more[:, None] + more, tree.observed)
    assert_same_lengths(measured_splits(learnt), expected)


@settings(max_examples=20)
@given(n_leaves=st.integers(4, 30), seed=seeds)
def test_noise_that_is_small_beside_all_edges_does_no_harm(n_leaves, seed):
    tree, distances = tree_with_lengths(n_leaves, seed, shortest=0.3)
    noise = np.random.default_rng(seed).uniform(
        -0.14, 0.14, distances.shape
    )  # Atteson (1999): half of it
    noise = np.triu(noise, 1)
    assert robinson_foulds(neighbor_joining(distances + noise + noise.T, tree.observed), tree) == 0


@pytest.mark.parametrize("method", METHODS)
def test_few_leaves(method):
    assert method([[0.0]], ["a"]) == Topology(("a",), (), ("a",))
    assert method([[0, 2], [2, 0]], "ab").edge_lengths == {frozenset("ab"): 2.0}
    three = method([[0, 3, 4], [3, 0, 5], [4, 5, 0]], "abc")
    assert three.hidden == ("h1",)
    lengths = {tuple(sorted(pair)): length for pair, length in three.edge_lengths.items()}
    assert lengths == {("a", "h1"): 1.0, ("b", "h1"): 2.0, ("c", "h1"): 3.0}


@pytest.mark.parametrize("method", METHODS)
def test_names_of_hidden_nodes_are_new(method):
    _, distances = tree_with_lengths(5, 0)
    learnt = method(distances, ["h1", "b", "h3", "d", "e"])
    assert learnt.hidden == ("h1'", "h2", "h3'")


@pytest.mark.parametrize("method", METHODS)
def test_negative_lengths_are_kept_unless_clipped(method):
    distances = np.array([[0, 1, 9, 9], [1, 0, 5, 9], [9, 5, 0, 1], [9, 9, 1, 0]])
    unclipped, clipped = method(distances, "abcd"), method(distances, "abcd", clip=True)
    assert min(unclipped.lengths) < 0
    assert clipped.lengths == tuple(max(length, 0.0) for length in unclipped.lengths)
    assert splits(clipped) == splits(unclipped)


@pytest.mark.parametrize("method", METHODS)
def test_the_distances_given_are_not_changed(method):
    _, distances = tree_with_lengths(12, 1)
    np.fill_diagonal(distances, np.nan)  # not looked at
    before = distances.copy()
    method(distances, [f"x{n}" for n in range(12)])
    assert np.array_equal(distances, before, equal_nan=True)


def test_rounding_may_differ_between_the_two_triangles():
    tree, distances = tree_with_lengths(300, 3)
    uneven = distances * (1 + 1e-12 * np.tri(300))
    assert robinson_foulds(neighbor_joining(uneven, tree.observed), tree) == 0


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("distances", "names", "message"),
    [
        (np.zeros((0, 0)), "", "no leaves"),
        (np.zeros((3, 3)), "ab", "distances of 2 leaves"),
        ([[0, np.inf], [np.inf, 0]], "ab", "finite"),
        ([[0, np.nan, 1], [1, 0, 1], [1, 1, 0]], "abc", "finite"),
        ([[0, 1, 1], [2, 0, 1], [1, 1, 0]], "abc", "symmetric"),
    ],
)
def test_what_are_no_distances_is_refused(method, distances, names, message):
    with pytest.raises(ArgumentError, match=message):
        method(distances, names)


def test_long_chains_are_found_from_near_pairs_alone():
    names = [f"x{n}" for n in range(30)]
    tree = caterpillar(30)
    tree = Topology(tree.nodes, tree.edges, tree.observed, (0.3,) * len(tree.edges))
    distances = noisy(np.minimum(path_lengths(tree, names), 2.5), 0, 0.02)
    assert robinson_foulds(chow_liu_joining(distances, names), tree) == 0
    assert robinson_foulds(neighbor_joining(distances, names), tree) > 0


# -------------------------------------------------------------------------------- blocks


def two_kinds(sizes, seed=0, largest=20.0):
    """Trees that have nothing to do with each other: their splits, distances of all leaves, what is known."""
    n = sum(sizes)
    distances, supported = np.full((n, n), largest), np.zeros((n, n), dtype=bool)
    names = [f"x{n:02d}" for n in range(n)]
    first, lengths = 0, []
    for size in sizes:
        block = slice(first, first + size)
        tree, within = (
            tree_with_lengths(size, seed + first) if size > 2 else (None, np.full((size,) * 2, 0.5))
        )
        distances[block, block], supported[block, block] = within, True
        renamed = dict(zip(tree.observed, names[block], strict=True)) if tree else {}
        if tree:
            edges = [(renamed.get(a, a), renamed.get(b, b)) for a, b in tree.edges]
            nodes = tuple(renamed.get(name, name) for name in tree.nodes)
            lengths.append(Topology(nodes, tuple(edges), tuple(names[block]), tree.lengths))
        first += size
    np.fill_diagonal(distances, 0.0)
    return names, distances, supported, lengths


def restricted(topology, names):
    """The splits of a part of the leaves."""
    first, part = min(names), set(names)
    sides = {frozenset(part & side) for side in splits(topology)} - {frozenset(), frozenset(part)}
    return {frozenset(part - side) if first in side else side for side in sides}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "sizes", [(6, 5), (7, 1), (5, 2, 1), (4, 3, 1, 1, 2), (1, 1, 1), (1, 1), (2, 2)]
)
def test_independent_blocks_have_trees_of_their_own(method, sizes):
    names, distances, supported, trees = two_kinds(sizes)
    learnt = method(distances, names, supported=supported)
    assert learnt.observed == tuple(names)
    along = path_lengths(learnt, names)
    assert along[supported] == pytest.approx(distances[supported], abs=1e-9)
    assert (along[~supported] >= 20).all()  # as far as is known, or farther
    for tree in trees:
        assert restricted(learnt, tree.observed) == splits(tree)
    n_hidden = sum(max(size - 2, size // 2, 0) for size in sizes) + (len(sizes) > 2)
    assert len(learnt.hidden) == n_hidden


@pytest.mark.parametrize("method", METHODS)
def test_variables_that_share_nothing_hang_on_one_node(method):
    distances = 5.0 - 5 * np.eye(6)
    learnt = method(distances, "abcdef", supported=np.eye(6, dtype=bool))
    assert len(learnt.hidden) == 1
    assert set(learnt.lengths) == {2.5}
    assert path_lengths(learnt, "abcdef") == pytest.approx(distances)


@pytest.mark.parametrize("method", METHODS)
def test_a_chain_of_supported_distances_is_one_block(method):
    tree, distances = tree_with_lengths(8, 4)
    supported = np.abs(np.subtract.outer(range(8), range(8))) < 2
    assert method(distances, tree.observed, supported=supported) == method(distances, tree.observed)


def test_flags_of_another_size_are_refused():
    with pytest.raises(ArgumentError, match="3 x 3"):
        neighbor_joining(np.zeros((3, 3)), "abc", supported=np.eye(2))


@pytest.mark.parametrize("scale", [0.0, 0.3])
@pytest.mark.parametrize("n_leaves", [4, 12, 40])
def test_scikit_bio_joins_the_same(n_leaves, scale):
    """Other edges and lengths below zero too, as noise has them."""
    skbio = pytest.importorskip("skbio", reason="one of `make lightpeers`")
    tree, distances = tree_with_lengths(n_leaves, n_leaves)
    distances = np.abs(noisy(distances, 0, scale))
    names = list(tree.observed)
    theirs = skbio.tree.nj(skbio.DistanceMatrix(distances, names), neg_as_zero=False)
    lengths = {}
    for node in theirs.traverse(include_self=False):
        beyond = frozenset([node.name] if node.is_tip() else (tip.name for tip in node.tips()))
        side = frozenset(names) - beyond if min(names) in beyond else beyond
        lengths[side] = node.length
    assert_same_lengths(measured_splits(neighbor_joining(distances, names)), lengths)
