"""Chow-Liu trees and the hidden trees made after them."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import ArgumentError
from tacit.trees.structure import chow_liu as spanning
from tacit.trees.structure.chow_liu import (
    chow_liu_edges,
    chow_liu_topology,
    hidden_chow_liu,
    mutual_information,
)


def pair_counts(codes, cards):
    """Pair counts by a loop over rows; -1 is missing."""
    offsets = np.concatenate([[0], np.cumsum(cards)])
    counts = np.zeros((offsets[-1], offsets[-1]), dtype=np.int64)
    for row in codes:
        present = [offsets[i] + x for i, x in enumerate(row) if x >= 0]
        for one, other in itertools.product(present, present):
            counts[one, other] += 1
    return counts


def information_of(one, other):
    """Mutual information of two columns by its definition, over the rows that have both."""
    both = [(x, y) for x, y in zip(one, other, strict=True) if x >= 0 and y >= 0]
    total = 0.0
    for x, y in set(both):
        joint = both.count((x, y)) / len(both)
        first = sum(a == x for a, _ in both) / len(both)
        second = sum(b == y for _, b in both) / len(both)
        total += joint * np.log(joint / first / second)
    return total


def random_codes(seed, n_rows=60, cards=(2, 3, 1, 4, 2)):
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(-1, card, size=n_rows) for card in cards], axis=1)
    copied = rng.random(n_rows) < 0.7
    codes[copied, 4] = codes[copied, 0]
    return codes, cards


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("block", [1, 100, 10**6])
def test_mutual_information_is_what_its_definition_says(seed, block, monkeypatch):
    monkeypatch.setattr(spanning, "_BLOCK", block)
    codes, cards = random_codes(seed)
    information = mutual_information(pair_counts(codes, cards), cards)
    for i, j in itertools.permutations(range(len(cards)), 2):
        expected = information_of(codes[:, i], codes[:, j])
        assert information[i, j] == pytest.approx(expected, abs=1e-11)  # rounded to 12 digits
    assert np.array_equal(np.diag(information), np.zeros(len(cards)))


def test_counts_and_probabilities_give_the_same_information():
    codes, cards = random_codes(0)
    counts = pair_counts(np.abs(codes) % np.array(cards), cards)
    assert mutual_information(counts / len(codes), cards) == pytest.approx(
        mutual_information(counts, cards), abs=1e-11
    )


def test_columns_never_seen_together_share_no_information():
    codes = np.array([[0, -1], [1, -1], [-1, 0], [-1, 1]])
    assert mutual_information(pair_counts(codes, (2, 2)), (2, 2)).tolist() == [[0, 0], [0, 0]]


def test_counts_of_the_wrong_size_are_refused():
    with pytest.raises(ArgumentError, match="5 categories"):
        mutual_information(np.zeros((4, 4)), [2, 3])


def test_one_variable_has_no_edges():
    assert chow_liu_edges(np.array([[3, 0], [0, 4]]), [2]).shape == (0, 2)
    assert mutual_information(np.zeros((0, 0)), []).shape == (0, 0)


def test_a_markov_chain_is_found():
    rng = np.random.default_rng(0)
    codes = np.empty((400, 6), dtype=int)
    codes[:, 0] = rng.integers(0, 2, size=400)
    for column in range(1, 6):
        is_kept = rng.random(400) < 0.85
        codes[:, column] = np.where(is_kept, codes[:, column - 1], rng.integers(0, 2, size=400))
    order = [3, 0, 5, 1, 4, 2]  # column order[t] of the data is time t
    shuffled = np.empty_like(codes)
    shuffled[:, order] = codes
    edges = chow_liu_edges(pair_counts(shuffled, [2] * 6), [2] * 6)
    expected = {frozenset(pair) for pair in itertools.pairwise(order)}
    assert {frozenset(pair) for pair in edges.tolist()} == expected


def test_the_chow_liu_topology_has_no_hidden_node():
    tree = chow_liu_topology(np.array([[0, 1], [1, 2]]), ["a", "b", "c"])
    assert tree.hidden == ()
    assert tree.neighbours["b"] == ("a", "c")


def test_the_hidden_tree_hangs_leaves_of_the_chow_liu_tree_on_their_neighbour():
    names = ["a", "b", "c", "d", "e"]  # a - b - c, b - d - e
    tree = hidden_chow_liu([(0, 1), (1, 2), (1, 3), (3, 4)], names, n_states=3)
    assert tree.hidden == ("h_b", "h_d")
    assert set(tree.neighbours["h_b"]) == {"a", "b", "c", "h_d"}
    assert set(tree.neighbours["h_d"]) == {"d", "e", "h_b"}
    assert tree.n_states == {"h_b": 3, "h_d": 3}


def test_the_hidden_tree_of_one_or_two_variables_has_no_hidden_node_left():
    assert hidden_chow_liu([], ["a"]).nodes == ("a",)
    assert hidden_chow_liu([(0, 1)], ["a", "b"]).hidden == ()


def test_hidden_names_are_new_and_states_may_differ():
    names = ["a", "h_b", "b", "c", "d"]
    edges = [(0, 2), (2, 1), (2, 3), (3, 4)]
    tree = hidden_chow_liu(edges, names, n_states=dict(zip(names, range(2, 7), strict=True)))
    assert tree.n_states == {"h_b'": 4, "h_c": 5}


@given(st.integers(3, 12), st.integers(0, 2**32 - 1))
def test_the_hidden_tree_can_be_rooted_whatever_the_chow_liu_tree(n_variables, seed):
    rng = np.random.default_rng(seed)
    edges = [(int(rng.integers(node)), node) for node in range(1, n_variables)]
    names = [f"x{n}" for n in range(n_variables)]
    tree = hidden_chow_liu(edges, names)
    inner = {n for n in range(n_variables) if sum(n in pair for pair in edges) > 1}
    assert set(tree.hidden) == {f"h_{names[n]}" for n in inner}
    assert tree.rooted(names).n_leaves == n_variables
