"""The loops behind grouping, against linear algebra and their own source."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.distances import path_lengths
from oracles.minimal_trees import minimal_trees
from oracles.python_source import python_source
from tacit.toy import random_topology
from tacit.trees.loops import grouping
from tacit.trees.structure.draft import Draft
from tacit.trees.structure.quartets import quartets_of
from tacit.trees.structure.recursive_grouping import _siblings
from tacit.trees.structure.topology import Topology


def random_tree(n_leaves, seed):
    rng = np.random.default_rng(seed)
    tree = random_topology(n_leaves, n_children=(2, 4), observed_inner=0.3, random_state=rng)
    lengths = tuple(rng.uniform(0.1, 0.8, len(tree.edges)).tolist())
    return Topology(tree.nodes, tree.edges, tree.observed, lengths)


def sides_of(draft, one, other):
    """The variables on the side of the first end of an edge, by what is behind each of its neighbours."""
    if one < draft.n_observed:
        return [[one]]
    sides = []
    for start in draft.near[one]:
        if start != other:
            members, waiting = [], [(start, one)]
            while waiting:
                node, came_from = waiting.pop()
                members += [node] if node < draft.n_observed else []
                waiting += [(next_, node) for next_ in draft.near[node] if next_ != came_from]
            sides.append(members)
    return sides


@settings(max_examples=30)
@given(tree=minimal_trees(max_nodes=16, shortest=0.1))
def test_groups_are_as_near_to_the_edge_as_the_best_linear_guess_can_be(tree):
    if len(tree.nodes) < 2:
        return
    draft = Draft.of(tree, tree.observed)
    names = [*tree.observed, *tree.hidden]
    similarity = np.exp(-path_lengths(tree, names))
    n_observed = len(tree.observed)
    quartets = quartets_of(draft, similarity[:n_observed, :n_observed].copy(), 1e-300)
    for edge, ends in enumerate(quartets.ends.tolist()):
        for half, (one, other) in ((0, ends), (2, ends[::-1])):
            sides = sides_of(draft, one, other)
            if len(sides) > 2 or len(sides[0]) == 0:
                continue  # how many sides are put together in two groups is another matter
            for group in range(2):
                members = sides[group % len(sides)]
                covariance, cross = similarity[np.ix_(members, members)], similarity[members, one]
                best = float(
                    cross @ np.linalg.pinv(covariance) @ cross
                )  # squared similarity of the guess
                depth = quartets.depths[edge, half + group]
                # Variables beyond an observed node add nothing, and what is nearly certain is capped.
                assert np.exp(-2 * depth) == pytest.approx(best, abs=2e-4)


@pytest.mark.parametrize("seed", range(3))
def test_similarities_of_groups_multiply_along_the_tree(seed):
    tree = random_tree(30, seed)
    draft = Draft.of(tree, tree.observed)
    quartets = quartets_of(draft, np.exp(-path_lengths(tree, tree.observed)), 1e-300)
    expected = [length for _, _, length in draft.edges()]
    assert quartets.lengths == pytest.approx(expected, abs=1e-9)
    inner = (quartets.ends >= draft.n_observed).all(axis=1)
    across = quartets.depths[:, 0] + quartets.depths[:, 2] + quartets.lengths
    assert quartets.distances[inner, 0, 2] == pytest.approx(across[inner], abs=1e-9)


def test_of_many_variables_the_most_telling_stand_for_a_side():
    n_leaves = 100  # of a star, at different distances
    lengths = np.linspace(0.1, 3.0, n_leaves)
    draft = Draft(n_leaves, [(n_leaves, leaf, length) for leaf, length in enumerate(lengths)])
    similarity = np.exp(-np.add.outer(lengths, lengths))
    np.fill_diagonal(similarity, 1.0)
    quartets = quartets_of(draft, similarity, 1e-300)
    assert quartets.lengths == pytest.approx(lengths, abs=1e-9)
    members, weights = (
        np.zeros(grouping.MOST_VARIABLES, dtype=np.int64),
        np.zeros(grouping.MOST_VARIABLES),
    )
    count = 0
    for number in np.random.default_rng(0).permutation(100).tolist():
        count = grouping.keep_largest(members, weights, count, number, float(number))
    assert count == grouping.MOST_VARIABLES
    assert sorted(members.tolist()) == list(range(100 - grouping.MOST_VARIABLES, 100))


def siblings_by_definition(similarity, exact):
    """The first pair to be joined: the least weighted spread of differences of distances, by a loop."""
    n, distances = len(similarity), -np.log(similarity)
    best, least = None, np.inf
    for i in range(n):
        for j in range(i + 1, n):
            others = [k for k in range(n) if k not in (i, j)]
            gaps = distances[i, others] - distances[j, others]
            a, b = 1 / similarity[i, others], 1 / similarity[j, others]
            variance = (a - b) ** 2 + 2 * (1 + 1e-6 - similarity[i, j]) * a * b
            weights = np.ones(n - 2) if exact else 1 / variance
            spread = np.sum(weights * (gaps - np.average(gaps, weights=weights)) ** 2)
            if spread < least:
                best, least = (i, j), spread
    return best


@given(seed=st.integers(0, 2**32 - 1), exact=st.booleans())
def test_the_likeliest_siblings_are_joined_first(seed, exact):
    rng = np.random.default_rng(seed)
    noise = np.triu(rng.normal(scale=0.05, size=(9, 9)), 1)
    tree = random_tree(8, seed)
    distances = path_lengths(tree, tree.observed)[:9, :9]
    n = len(distances)
    similarity = np.clip(np.exp(-distances) + (noise + noise.T)[:n, :n], 0.01, 1.0)
    joined, lengths = np.zeros((n - 3, 2), dtype=np.int64), np.zeros((n - 3, 2))
    expected = siblings_by_definition(similarity, exact)
    grouping.group_siblings(similarity, 0.01, exact, joined, lengths)
    assert tuple(joined[0]) == expected


@pytest.mark.parametrize("exact", [True, False])
def test_compiled_loops_agree_with_their_python_source(exact):
    tree = random_tree(9, 4)
    similarity = np.exp(-path_lengths(tree, tree.observed))
    rng = np.random.default_rng(0)
    noise = np.triu(rng.normal(scale=0.02, size=similarity.shape), 1)
    similarity = np.clip(similarity + noise + noise.T, 0.01, 1.0)
    draft = Draft.of(tree, tree.observed)
    edges = _siblings(similarity.copy(), 0.01, exact)
    quartets = quartets_of(draft, similarity, 0.01)
    with python_source(grouping):
        again = _siblings(similarity.copy(), 0.01, exact)
        plain = quartets_of(draft, similarity, 0.01)
    assert [edge[:2] for edge in edges] == [edge[:2] for edge in again]
    assert [edge[2] for edge in edges] == pytest.approx([edge[2] for edge in again], abs=1e-9)
    assert quartets.distances == pytest.approx(plain.distances, rel=1e-9, abs=1e-12)
    assert quartets.depths == pytest.approx(plain.depths, rel=1e-9, abs=1e-12)
