"""Exact Hankel blocks give the exact automaton, in all three forms."""

from __future__ import annotations

import numpy as np
import pytest

from oracles.automata import automaton_of, exact_counts, random_tables, string_value, words
from tacit.errors import RankError
from tacit.sequences.data.read_sequences import read_sequences
from tacit.sequences.model.automata import hankel_factors, hankel_values
from tacit.sequences.moments.hankel import STATISTICS, SubstringCounts, hankel_blocks


def values(operators, word):
    return string_value(operators.initial, operators.steps, operators.stop, word)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("statistics", STATISTICS)
@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("tied", [False, True])
def test_exact_blocks_give_exact_values(seed, statistics, scaled, tied):
    truth = random_tables(seed, tied=tied)
    blocks = hankel_blocks(exact_counts(truth, 5), statistics, 7, 2)
    automaton = hankel_factors(blocks, 10, scaled=scaled).automaton(3)
    exact = truth.automaton
    for word in words(2, 5):
        for form in ("string", "prefix", "substring"):
            expected = values(getattr(exact, form), word)
            assert values(getattr(automaton, form), word) == pytest.approx(expected, abs=1e-8)
    assert automaton.spectral_radius == pytest.approx(exact.spectral_radius, abs=1e-7)


@pytest.mark.parametrize("form", ["string", "prefix", "substring"])
def test_each_form_determines_the_others(form):
    exact = random_tables(4, 3, 3).automaton
    automaton = automaton_of(getattr(exact, form), form)
    for name in ("initial", "steps", "stop", "total", "past"):
        assert getattr(automaton, name) == pytest.approx(getattr(exact, name), abs=1e-12)


def test_probabilities_of_all_strings_sum_to_one():
    exact = random_tables(5).automaton
    assert exact.initial @ exact.total == pytest.approx(1.0)
    mass = sum(values(exact.string, word) for word in words(2, 6))
    longer = sum(values(exact.prefix, word) for word in words(2, 7) if len(word) == 7)
    assert mass + longer == pytest.approx(1.0)
    assert values(exact.substring, ()) == pytest.approx(exact.past.sum())


def test_truncated_and_sparse_decompositions_agree_with_the_full_one(monkeypatch):
    truth = random_tables(6, 3, 3)
    counts = exact_counts(truth, 7)
    blocks = hankel_blocks(counts, "substring", 200, 3)
    full = hankel_factors(blocks, 40, scaled=True).automaton(3)
    monkeypatch.setattr("tacit.sequences.model.automata._SMALL", 0)
    cut = hankel_factors(blocks, 5, scaled=True).automaton(3)
    monkeypatch.setattr("tacit.sequences.moments.hankel._DENSE_CELLS", 0)
    sparse = hankel_factors(hankel_blocks(counts, "substring", 200, 3), 5, scaled=True).automaton(3)
    for other in (cut, sparse):
        assert other.steps == pytest.approx(full.steps, abs=1e-8)
        assert other.initial == pytest.approx(full.initial, abs=1e-8)


@pytest.mark.parametrize("scaled", [False, True])
def test_singular_values_include_those_beyond_the_rank(scaled, monkeypatch):
    counts = SubstringCounts.of(read_sequences([[0, 1, 2, 1], [2, 0], [1, 1, 0, 2, 2]]), 5)
    blocks = hankel_blocks(counts, "substring", 40, 2)
    matrix = blocks.hankel
    if scaled:
        matrix = matrix / np.sqrt(np.outer(blocks.open, blocks.anywhere))
    expected = np.linalg.svd(matrix, compute_uv=False)
    assert hankel_values(blocks, 1000, scaled=scaled) == pytest.approx(expected, abs=1e-12)
    assert hankel_values(blocks, 4, scaled=scaled) == pytest.approx(expected[:4], abs=1e-12)
    monkeypatch.setattr("tacit.sequences.model.automata._SMALL", 0)
    assert hankel_values(blocks, 2, scaled=scaled) == pytest.approx(expected[:2], abs=1e-12)
    monkeypatch.setattr("tacit.sequences.moments.hankel._DENSE_CELLS", 0)
    sparse = hankel_blocks(counts, "substring", 40, 2)
    assert hankel_values(sparse, 2, scaled=scaled) == pytest.approx(expected[:2], abs=1e-12)


def test_a_rank_above_that_of_the_counts_is_refused():
    blocks = hankel_blocks(exact_counts(random_tables(1), 5), "string", 7, 2)
    factors = hankel_factors(blocks, 10, scaled=False)
    assert factors.max_rank == 3
    with pytest.raises(RankError, match="rank<=3"):
        factors.automaton(4)


def test_a_layout_holds_all_tables():
    for tied in (False, True):
        tables = random_tables(2, 4, 3, tied=tied)
        layout = tables.layout
        unpacked = layout.tables(tables.flat)
        assert len(tables.flat) == layout.size
        assert np.array_equal(unpacked.transitions, tables.transitions)
        assert np.array_equal(unpacked.emit, tables.emit)
        rows = np.add.reduceat(tables.flat, layout.row_starts)
        assert rows == pytest.approx(np.ones(len(rows)))
        assert layout.n_parameters == layout.size - len(rows)
        assert tables.tied == tied
        reordered = tables.ordered(np.array([3, 1, 0, 2])).automaton
        exact = tables.automaton
        assert values(reordered.string, (0, 2, 1)) == pytest.approx(values(exact.string, (0, 2, 1)))
