"""N-grams with starts and ends: counted by hand."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.sequences.data.sequences import Sequences
from tacit.sequences.model.interpolated_ngrams import Ngrams, tree_contexts
from tacit.sequences.moments.prefixes import PrefixTree


def tree_of(rows, n_symbols):
    codes = np.array([code for row in rows for code in row], dtype=np.int32)
    lengths = np.array([len(row) for row in rows], dtype=np.int64)
    return PrefixTree.of(Sequences(codes, lengths, tuple(range(n_symbols))))


def counted(rows, context, n_symbols):
    """Counts of the symbol or end after a context; "^" is before the start."""
    out = np.zeros(n_symbols + 1)
    for row in rows:
        padded = ["^", "^", *row]
        for place in range(len(row) + 1):
            before = tuple(padded[: place + 2])
            if before[len(before) - len(context) :] == context:
                out[row[place] if place < len(row) else n_symbols] += 1
    return out


def test_each_order_is_interpolated_with_the_one_below():
    rng = np.random.default_rng(0)
    rows = [rng.integers(0, 2, rng.integers(0, 5)).tolist() for _ in range(12)]
    grams = Ngrams.of(tree_of(rows, 2))

    def prob(context):
        if context is None:
            return np.full(3, 1 / 3)
        counts = counted(rows, context, 2)
        kinds = max((counts > 0).sum(), 1)
        below = prob(context[1:] if context else None)
        return (counts + kinds * below) / (counts.sum() + kinds)

    for context in [("^", "^"), ("^", 0), ("^", 1), (0, 0), (0, 1), (1, 0), (1, 1)]:
        number = grams.first
        for symbol in context:
            if symbol != "^":
                number = grams.after(np.array([number]), np.array([symbol]))[0]
        assert grams.tables[number] == pytest.approx(prob(context), abs=1e-12)
    assert grams.tables.sum(axis=1) == pytest.approx(np.ones(len(grams.tables)))


def test_large_alphabets_have_shorter_contexts_and_symbols_may_be_missing(monkeypatch):
    rows = [[0, -1, 1], [2], []]
    assert Ngrams.of(tree_of(rows, 3)).order == 3
    monkeypatch.setattr("tacit.sequences.model.interpolated_ngrams._MOST_CELLS", 30)
    grams = Ngrams.of(tree_of(rows, 3))
    assert grams.order == 2
    assert grams.after(np.array([0]), np.array([-1])).tolist() == [4]
    monkeypatch.setattr("tacit.sequences.model.interpolated_ngrams._MOST_CELLS", 5)
    grams = Ngrams.of(tree_of(rows, 3))
    assert grams.order == 1
    assert tree_contexts(tree_of(rows, 3), 1).tolist() == [0] * 5
    assert grams.tables.sum() == pytest.approx(1.0)
