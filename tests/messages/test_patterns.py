"""Distinct subtree patterns say the same as the rows they were made from."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.networks import caterpillar, random_tree, rooted_tree
from tacit.messages import patterns as module
from tacit.messages.patterns import Patterns, pattern_blocks


def random_rows(rng, cards, n_rows, missing=0.2):
    codes = np.column_stack([rng.integers(0, card, n_rows) for card in cards]).astype(np.int16)
    codes[rng.random(codes.shape) < missing] = -1
    return np.asfortranarray(codes)


def rows_from(patterns, cards):
    """The rows that the patterns stand for: from the root's pattern down to the leaves'."""
    tree = patterns.tree
    at = {tree.root: patterns.row_pattern}
    for node in reversed(tree.hidden):
        for child in tree.children[node]:
            at[child] = patterns.ids(child)[at[node]]
    codes = np.column_stack([at[leaf] for leaf in range(tree.n_leaves)])
    codes[codes == np.array(cards)] = -1
    return codes


def patterns_at(patterns, node):
    """Each row's pattern at a node."""
    if node == patterns.tree.root:
        return patterns.row_pattern
    return patterns.ids(node)[patterns_at(patterns, int(patterns.tree.parent[node]))]


@given(st.integers(0, 10_000), st.integers(1, 9), st.integers(1, 60), st.booleans())
def test_following_the_patterns_down_gives_the_rows_back(seed, n_leaves, n_rows, merge):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, n_leaves) if n_leaves > 1 else rooted_tree([1, -1], 1)
    cards = rng.integers(1, 5, n_leaves)
    codes = random_rows(rng, cards, n_rows)
    patterns = Patterns.of(codes, tree, cards, merge=merge)
    assert np.array_equal(rows_from(patterns, cards), codes)


@given(st.integers(0, 10_000), st.integers(2, 9))
def test_a_node_has_as_many_patterns_as_there_are_different_rows_below_it(seed, n_leaves):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, n_leaves)
    cards = rng.integers(1, 4, n_leaves)
    codes = random_rows(rng, cards, 50)
    patterns = Patterns.of(codes, tree, cards)
    for node in tree.hidden:
        different = np.unique(codes[:, tree.below[node]], axis=0)
        assert patterns.n_patterns[node] == len(different)
    assert patterns.n_patterns[:n_leaves].tolist() == [card + 1 for card in cards]


@pytest.mark.parametrize("merge", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_weights_of_patterns_are_the_summed_weights_of_their_rows(merge, weighted):
    rng = np.random.default_rng(0)
    tree, cards = caterpillar(6), [3, 2, 4, 1, 2, 3]
    codes = random_rows(rng, cards, 200)
    weights = rng.exponential(size=200) if weighted else None
    patterns = Patterns.of(codes, tree, cards, weights, merge=merge)
    for node in range(tree.n_nodes):
        start, stop = patterns.pattern_starts[node : node + 2]
        expected = np.bincount(patterns_at(patterns, node), weights, minlength=stop - start)
        assert patterns.all_weights[start:stop] == pytest.approx(expected, rel=1e-12)


def test_without_merging_every_row_is_a_separate_pattern():
    tree = caterpillar(4)
    codes = np.zeros((7, 4), dtype=np.int16, order="F")
    patterns = Patterns.of(codes, tree, [2] * 4, merge=False)
    assert patterns.n_patterns[tree.root] == 7
    assert Patterns.of(codes, tree, [2] * 4).n_patterns[tree.root] == 1


def test_many_categories_have_different_patterns():
    """More pairs of patterns are possible than a table of all of them may have."""
    rng = np.random.default_rng(0)
    tree, cards = caterpillar(3), [3000, 3000, 3000]
    codes = random_rows(rng, cards, 500)
    codes[250:] = codes[:250]
    patterns = Patterns.of(codes, tree, cards)
    assert np.array_equal(rows_from(patterns, cards), codes)
    assert patterns.n_patterns[tree.root] == len(np.unique(codes, axis=0))


def test_blocks_together_are_the_rows(monkeypatch):
    rng = np.random.default_rng(0)
    tree, cards = caterpillar(5), [2, 3, 2, 3, 2]
    codes = random_rows(rng, cards, 10_000)
    weights = rng.random(10_000)
    monkeypatch.setattr(module, "CELLS_AT_ONCE", 1)
    blocks = list(pattern_blocks(codes, tree, cards, weights))
    assert [len(block.row_pattern) for block in blocks] == [4096, 4096, 1808]
    assert np.array_equal(np.vstack([rows_from(block, cards) for block in blocks]), codes)
    assert sum(block.weights.sum() for block in blocks) == pytest.approx(weights.sum())
