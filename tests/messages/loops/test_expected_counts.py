"""Expected counts over patterns, against enumeration and their own source."""

import contextlib

import numpy as np
import pytest

from oracles.expectations import enumerated_counts
from oracles.networks import caterpillar, random_tables, random_tree, rooted_tree
from oracles.python_source import python_source
from tacit.messages import network as params
from tacit.messages.conditionals import log_prob
from tacit.messages.em import Expectation
from tacit.messages.evidence import Evidence
from tacit.messages.loops import expected_counts as expectation
from tacit.messages.network import Layout, Tables
from tacit.messages.patterns import Patterns, pattern_blocks


def random_case(seed, *, n_leaves=5, n_rows=40, missing=0.25, most_children=5):
    """Tables, rows and weights; states differ from node to node, some states are one."""
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, n_leaves, most_children)
    tables = random_tables(rng, tree, tuple(rng.integers(1, 4, tree.n_nodes).tolist()))
    cards = tables.layout.n_states[:n_leaves]
    codes = np.column_stack([rng.integers(0, card, n_rows) for card in cards]).astype(np.int16)
    codes[rng.random(codes.shape) < missing] = -1
    return tables, np.asfortranarray(codes), rng.exponential(size=n_rows)


def expected(tables, codes, weights=None, *, merge=True):
    """The E-step over the rows' patterns."""
    cards = tables.layout.n_states[: tables.tree.n_leaves]
    patterns = Patterns.of(codes, tables.tree, cards, weights, merge=merge)
    return Expectation(tables.layout, [patterns])(tables.values)


def fresh_layout(tables):
    """The same tables with a layout of their own, nothing of it worked out yet."""
    return Tables(Layout(tables.tree, tables.layout.n_states), tables.values)


@pytest.mark.parametrize("merge", [False, True], ids=["rows", "patterns"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_expected_counts_agree_with_enumeration(seed, weighted, merge):
    tables, codes, weights = random_case(seed)
    weights = weights if weighted else None
    value, counts = expected(tables, codes, weights, merge=merge)
    true_value, true_counts = enumerated_counts(tables, codes, weights)
    assert value == pytest.approx(true_value, rel=1e-12)
    assert counts == pytest.approx(true_counts, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("n_leaves", [8, 30])
@pytest.mark.parametrize("seed", range(3))
def test_patterns_and_rows_give_the_same(seed, n_leaves):
    tables, codes, weights = random_case(seed, n_leaves=n_leaves, n_rows=700)
    value, counts = expected(tables, codes, weights, merge=False)
    compressed_value, compressed_counts = expected(tables, codes, weights)
    assert compressed_value == pytest.approx(value, rel=1e-9)
    assert compressed_counts == pytest.approx(counts, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_rescaling_changes_nothing_but_the_size_of_messages(seed, monkeypatch):
    tables, codes, weights = random_case(seed, n_leaves=9, most_children=3)
    value, counts = expected(tables, codes, weights)
    monkeypatch.setattr(params, "LEAVES_BETWEEN_RESCALING", 1)
    often = fresh_layout(tables)
    assert often.layout.rescale.sum() > 1
    rescaled_value, rescaled_counts = expected(often, codes, weights)
    assert rescaled_value == pytest.approx(value, rel=1e-12)
    assert rescaled_counts == pytest.approx(counts, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("low", [1e-100, 0.3], ids=["plain", "lifted"])
@pytest.mark.parametrize("seed", range(3))
def test_nodes_of_high_degree_agree_with_enumeration(seed, low, monkeypatch):
    monkeypatch.setattr(params, "MANY_CHILDREN", 5)
    rng = np.random.default_rng(seed)
    tree = rooted_tree([7, 7, 7, 7, 7, 7, 8, 8, -1], 7)
    assert Layout(tree, (2,) * 9).stepwise[7]
    tables = random_tables(rng, tree, (2, 3, 2, 2, 3, 2, 2, 3, 2))
    codes = np.column_stack([rng.integers(-1, k, 30) for k in (2, 3, 2, 2, 3, 2, 2)])
    codes = np.asfortranarray(codes.astype(np.int16))
    monkeypatch.setattr(expectation, "LOW", low)
    with python_source(expectation) if low > 0.1 else contextlib.nullcontext():
        value, counts = expected(tables, codes)
    true_value, true_counts = enumerated_counts(tables, codes)
    assert value == pytest.approx(true_value, rel=1e-12)
    assert counts == pytest.approx(true_counts, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("shape", ["star", "caterpillar", "star of stars"])
def test_a_thousand_leaves_do_not_run_out_of_range(shape):
    n_leaves = 1200
    if shape == "star":
        tree = rooted_tree([n_leaves] * n_leaves + [-1], n_leaves)
    elif shape == "caterpillar":
        tree = caterpillar(n_leaves)
    else:
        above = [n_leaves + leaf // 40 for leaf in range(n_leaves)]
        tree = rooted_tree([*above, *[n_leaves + 30] * 30, -1], n_leaves)
    rng = np.random.default_rng(0)
    tables = random_tables(rng, tree, (4,) * n_leaves + (3,) * (tree.n_nodes - n_leaves))
    codes = np.asfortranarray(rng.integers(0, 4, (20, n_leaves)).astype(np.int16))
    value, counts = expected(tables, codes)
    assert value == pytest.approx(log_prob(tables.network, Evidence(codes)).values.sum(), rel=1e-9)
    for node, (rows, columns) in enumerate(tables.layout.shapes):
        part = counts[tables.layout.starts[node] : tables.layout.starts[node + 1]]
        assert part.sum() == pytest.approx(20, rel=1e-9), (node, rows, columns)


def test_an_impossible_row_counts_for_nothing_and_costs_much():
    tree = rooted_tree([2, 2, -1], 2)
    same = np.eye(2)
    tables = Tables.of(tree, [same, same, np.full((1, 2), 0.5)])
    possible = np.array([[0, 0], [1, 1]], dtype=np.int16, order="F")
    value, counts = expected(tables, possible)
    with_impossible, same_counts = expected(
        tables, np.vstack([possible, [[0, 1]]]).astype(np.int16)
    )
    assert value == pytest.approx(2 * np.log(0.5))
    assert with_impossible < value - 500
    assert np.isfinite(same_counts).all()
    assert same_counts == pytest.approx(counts)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_blocks_and_threads_do_not_show(n_jobs, monkeypatch):
    from tacit.messages import patterns

    tables, codes, weights = random_case(0, n_rows=9000)
    value, counts = expected(tables, codes, weights)
    monkeypatch.setattr(patterns, "CELLS_AT_ONCE", 1)
    cards = tables.layout.n_states[: tables.tree.n_leaves]
    blocks = list(pattern_blocks(codes, tables.tree, cards, weights))
    assert len(blocks) == 3
    step = Expectation(tables.layout, blocks, n_jobs)
    assert step.total_weight == pytest.approx(weights.sum())
    for _ in range(2):  # the second call finds the working space of the first
        actual_value, actual_counts = step(tables.values)
        assert actual_value == pytest.approx(value, rel=1e-12)
        assert actual_counts == pytest.approx(counts, rel=1e-10)


@pytest.mark.parametrize("often", [False, True], ids=["plain", "rescaled"])
@pytest.mark.parametrize("seed", range(2))
def test_compiled_expectation_agrees_with_its_python_source(seed, often, monkeypatch):
    if often:
        monkeypatch.setattr(params, "LEAVES_BETWEEN_RESCALING", 1)
    monkeypatch.setattr(params, "MANY_CHILDREN", 2)
    tables, codes, weights = random_case(seed, n_rows=10, n_leaves=6)
    tables = fresh_layout(tables)
    value, counts = expected(tables, codes, weights)
    with python_source(expectation):
        python_value, python_counts = expected(tables, codes, weights)
    assert value == pytest.approx(python_value, rel=1e-12)
    assert counts == pytest.approx(python_counts, rel=1e-12, abs=1e-14)
