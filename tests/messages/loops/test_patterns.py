"""Numbering of patterns, against its own source."""

import numpy as np
import pytest

from oracles.networks import random_tree, rooted_tree
from oracles.python_source import python_source
from tacit.messages.loops import patterns


def random_codes(rng, cards, n_rows):
    codes = np.column_stack([rng.integers(-1, card, n_rows) for card in cards])
    return np.asfortranarray(codes.astype(np.int16))


@pytest.mark.parametrize("n_categories", [3, 5000], ids=["table of all pairs", "hashed pairs"])
def test_pairs_are_numbered_in_order_of_appearance(n_categories):
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, n_categories, (2, 100)).astype(np.int32)
    first[50:], second[50:] = first[:50], second[:50]
    out, example = np.empty(100, np.int32), np.empty(100, np.int64)
    n = patterns.pair_patterns(first, n_categories, second, n_categories, out, example)
    numbers = {}
    expected = [numbers.setdefault(pair, len(numbers)) for pair in zip(first, second, strict=True)]
    assert out.tolist() == expected
    assert n == len(numbers)
    for number, row in enumerate(example[:n]):
        assert row == expected.index(number)


def test_pairs_that_fall_into_one_slot_are_distinguished():
    """Open addressing walks on past other pairs, and around the end of the table."""
    rng = np.random.default_rng(1)
    first = rng.integers(0, 2**30, 3000).astype(np.int32)
    second = rng.integers(0, 2**30, 3000).astype(np.int32)
    out, example = np.empty(3000, np.int32), np.empty(3000, np.int64)
    n = patterns.pair_patterns(first, 2**30, second, 2**30, out, example)
    assert n == len({*zip(first.tolist(), second.tolist(), strict=True)}) == len(np.unique(out))


@pytest.mark.parametrize("merge", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_compiled_numbering_agrees_with_its_python_source(seed, merge):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 6) if seed else rooted_tree([2, 2, -1], 2, {2: 0})
    cards = rng.integers(1, 4, tree.n_leaves)
    codes = random_codes(rng, cards, 40)
    arguments = (codes, cards, *tree.child_table, merge)
    actual = patterns.subtree_patterns(*arguments)
    with python_source(patterns):
        expected = patterns.subtree_patterns(*arguments)
    for one, other in zip(actual, expected, strict=True):
        assert np.array_equal(one, other)


def test_compiled_spreading_of_weights_agrees_with_its_python_source():
    rng = np.random.default_rng(0)
    tree = random_tree(rng, 6)
    cards = np.full(6, 3)
    n_patterns, ids, starts, rows = patterns.subtree_patterns(
        random_codes(rng, cards, 40), cards, *tree.child_table, True
    )
    out_starts = np.concatenate([[0], np.cumsum(n_patterns)])
    outs = []
    for spread in (patterns.spread_weights, patterns.spread_weights.py_func):
        out = np.zeros(out_starts[-1])
        out[out_starts[-2] :] = np.bincount(rows, minlength=n_patterns[-1])
        spread(n_patterns, ids, starts, tree.parent, out, out_starts)
        outs.append(out)
    assert np.array_equal(*outs)
    assert outs[0][: n_patterns[0]].sum() == 40
