"""Prefix trees and counts of substrings: against counting by hand, and in any chunks."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.python_source import python_source
from tacit.errors import ArgumentError
from tacit.sequences.data.sequences import Sequences
from tacit.sequences.loops import prefixes
from tacit.sequences.moments.hankel import STATISTICS, SubstringCounts, hankel_blocks
from tacit.sequences.moments.prefixes import PrefixTree

lists = st.lists(st.lists(st.integers(-1, 2), max_size=7), max_size=8)


def sequences_of(rows, n_symbols=3):
    codes = np.array([code for row in rows for code in row], dtype=np.int32)
    lengths = np.array([len(row) for row in rows], dtype=np.int64)
    return Sequences(codes, lengths, tuple(range(n_symbols)))


def same(one, other):
    assert type(one) is type(other)
    for field in fields(one):
        assert np.array_equal(getattr(one, field.name), getattr(other, field.name)), field.name


def occurrences(row, word):
    n = len(word)
    return sum(tuple(row[i : i + n]) == word for i in range(len(row) - n + 1))


@settings(deadline=None, max_examples=60)
@given(lists)
def test_counts_are_those_made_by_hand(rows):
    counts = SubstringCounts.of(sequences_of(rows), 4)
    strings = np.arange(len(counts.parents))
    listed = counts.words(strings)
    assert len(set(listed)) == len(listed)
    observed = {
        tuple(row[i : i + n])
        for row in rows
        for n in range(5)
        for i in range(len(row) - n + 1)
        if -1 not in row[i : i + n]
    }
    assert set(listed) == observed | {()}
    for string, word in zip(strings, listed, strict=True):
        n = len(word)
        assert counts.occurrences[string] == sum(occurrences(row, word) for row in rows)
        assert counts.starts[string] == sum(tuple(row[:n]) == word for row in rows)
        ends = (tuple(row[len(row) - n :]) == word for row in rows if len(row) >= n)
        assert counts.stops[string] == sum(ends)
        assert counts.complete[string] == sum(tuple(row) == word for row in rows)


@settings(deadline=None, max_examples=60)
@given(lists, st.integers(0, 8), st.randoms(use_true_random=False))
def test_pieces_in_any_order_give_the_same_counts(rows, cut, random):
    mixed = list(rows)
    random.shuffle(mixed)
    one, other = sequences_of(mixed[:cut]), sequences_of(mixed[cut:])
    same(PrefixTree.of(one) + PrefixTree.of(other), PrefixTree.of(sequences_of(rows)))
    same(
        SubstringCounts.of(one, 3) + SubstringCounts.of(other, 3),
        SubstringCounts.of(sequences_of(rows), 3),
    )
    same(SubstringCounts.empty(3, 3) + SubstringCounts.of(one, 3), SubstringCounts.of(one, 3))
    same(PrefixTree.empty(3) + PrefixTree.of(one), PrefixTree.of(one))


@settings(deadline=None, max_examples=60)
@given(lists)
def test_a_prefix_tree_counts_sequences_that_pass_and_end(rows):
    tree, places = PrefixTree.placed(sequences_of(rows))
    words = [()]
    for node in range(1, tree.n_nodes):
        words.append((*words[tree.parents[node]], int(tree.symbols[node])))
    assert len(set(words)) == tree.n_nodes
    assert words == sorted(words, key=lambda word: (len(word), word))
    at = 0
    for row in rows:
        for length in range(len(row) + 1):
            assert words[places[at]] == tuple(row[:length])
            at += 1
    for node, word in enumerate(words):
        assert tree.ends[node] == sum(tuple(row) == word for row in rows)
        assert tree.passes[node] == sum(tuple(row[: len(word)]) == word for row in rows)
        assert tree.depths[node] == len(word)
    assert tree.n_positions == sum(map(len, rows))


@settings(deadline=None, max_examples=60)
@given(lists, st.integers(0, 8), st.integers(0, 99))
def test_a_tree_lists_its_sequences_and_may_be_divided(rows, n, seed):
    tree = PrefixTree.of(sequences_of(rows))
    sequences = tree.sequences()
    listed = [tuple(codes.tolist()) for codes in sequences.split(sequences.codes)]
    assert listed == sorted(map(tuple, rows), key=lambda row: (len(row), row))
    n = min(n, len(rows))
    remaining, drawn = tree.divided(n, np.random.default_rng(seed))
    assert drawn.n_sequences == n
    same(remaining + drawn, tree)
    same(PrefixTree.of(remaining.sequences()), remaining)


def test_compiled_loops_agree_with_their_python_source():
    rng = np.random.default_rng(0)
    rows = [rng.integers(-1, 3, rng.integers(0, 6)).tolist() for _ in range(40)]

    def everything():
        tree, places = PrefixTree.placed(sequences_of(rows))
        twice = tree + PrefixTree.of(sequences_of(rows[:9]))
        sequences = twice.sequences()
        return tree.parents, places, twice.parents, twice.ends, twice.passes, sequences.codes

    compiled = everything()
    with python_source(prefixes):
        plain = everything()
    for one, other in zip(compiled, plain, strict=True):
        assert np.array_equal(one, other)


@pytest.mark.parametrize("statistics", STATISTICS)
@pytest.mark.parametrize("sparse", [False, True])
def test_blocks_hold_the_values_of_strings(statistics, sparse, monkeypatch):
    if sparse:
        monkeypatch.setattr("tacit.sequences.moments.hankel._DENSE_CELLS", 0)
    rng = np.random.default_rng(0)
    rows = [rng.integers(0, 3, rng.integers(0, 8)).tolist() for _ in range(40)]
    counts = SubstringCounts.of(sequences_of(rows), 5)
    blocks = hankel_blocks(counts, statistics, 12, 2)
    value = {
        "string": lambda word: sum(tuple(row) == word for row in rows),
        "prefix": lambda word: sum(tuple(row[: len(word)]) == word for row in rows),
        "substring": lambda word: sum(occurrences(row, word) for row in rows),
    }[statistics]
    beyond = counts.occurrences if statistics == "substring" else counts.starts
    ahead = counts.stops if statistics == "string" else counts.occurrences
    left = counts.words(counts.most_frequent(beyond, 12, 2))
    right = counts.words(counts.most_frequent(ahead, 12, 2))
    assert len(left) == len(right) == 12
    for block, middle in zip((blocks.hankel, *blocks.steps), ((), (0,), (1,), (2,)), strict=True):
        dense = block.toarray() if sparse else block
        expected = [[value(u + middle + v) for v in right] for u in left]
        assert dense == pytest.approx(np.array(expected) / len(rows), abs=1e-15)


def test_too_short_strings_and_unlike_counts_are_refused():
    counts = SubstringCounts.of(sequences_of([[0, 1]]), 4)
    with pytest.raises(ArgumentError, match="need 5"):
        hankel_blocks(counts, "string", 3, 2)
    with pytest.raises(ArgumentError, match="do not add"):
        counts + SubstringCounts.of(sequences_of([[0, 1]]), 3)
