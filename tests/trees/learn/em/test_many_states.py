"""The E-step in single precision: against enumeration, and against that in double precision."""

import numpy as np
import pytest

from oracles.expectations import enumerated_counts
from oracles.networks import caterpillar, random_tables, random_tree, rooted_tree
from tacit.messages.conditionals import log_prob
from tacit.messages.em import Expectation, normalise_rows
from tacit.messages.evidence import Evidence
from tacit.messages.network import Layout, Tables
from tacit.messages.patterns import Patterns
from tacit.toy.models import sample_codes
from tacit.trees.learn.em import many_states
from tacit.trees.learn.em.many_states import ManyStatesExpectation

# Leaf 0 is repeated by node 5, leaf 3 by the root.
WITH_COPIES = rooted_tree([5, 5, 5, 6, 6, 6, -1], 5, {5: 0, 6: 3})
SMALL = {
    "unequal": (random_tree(np.random.default_rng(1), 5), (2, 4, 3, 2, 5)),
    "three at a time": (random_tree(np.random.default_rng(2), 6, 3), (2, 2, 3, 1, 2, 3)),
    "copies": (WITH_COPIES, (3, 2, 2, 2, 4)),
    "chain": (caterpillar(5), (2, 3, 2, 4, 2)),
    "one leaf": (rooted_tree([1, -1], 1), (4,)),
    "two leaves": (rooted_tree([2, 2, -1], 2), (3, 2)),
    "one hidden node": (rooted_tree([5, 5, 5, 5, 5, -1], 5), (2, 3, 2, 4, 1)),
    "a line of hidden nodes": (rooted_tree([2, 4, 3, 4, -1], 2), (3, 3)),
    "more children than few": (rooted_tree([9] * 9 + [-1], 9), (2,) * 9),
}


def case(name, seed, *, zeros=False, n_rows=60):
    """Tables, rows with holes drawn from them, and weights; hidden states differ from node to node."""
    rng = np.random.default_rng(seed)
    tree, cards = SMALL[name]
    states = [*cards, *rng.integers(1, 5, tree.n_nodes - tree.n_leaves).tolist()]
    for node, leaf in enumerate(tree.copy_of.tolist()):
        if leaf >= 0:
            states[node] = states[leaf]
    tables = random_tables(rng, tree, tuple(states))
    if zeros:
        values = tables.values * (rng.random(len(tables.values)) < 0.6)
        values[tables.layout.row_starts] += 1e-3  # no row of a table is all zero
        values[tables.layout.copy_entries] = 0.0
        values[tables.layout.copy_diagonal] = 1.0
        tables = Tables(tables.layout, normalise_rows(tables.layout, values))
    codes = sample_codes(tables, n_rows, rng)
    codes[rng.random(codes.shape) < 0.25] = -1
    return tables, codes, rng.exponential(size=n_rows)


def in_double(tables, codes, weights=None):
    cards = tables.layout.n_states[: tables.tree.n_leaves]
    patterns = Patterns.of(codes, tables.tree, cards, weights)
    return Expectation(tables.layout, [patterns])(tables.values)


def uniform_codes(rng, cards, n_rows):
    columns = [rng.integers(0, card, n_rows) for card in cards]
    return np.asfortranarray(np.column_stack(columns).astype(np.int16))


@pytest.mark.parametrize("zeros", [False, True], ids=["positive", "zeros"])
@pytest.mark.parametrize("weighted", [False, True], ids=["rows", "weights"])
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", SMALL)
def test_small_trees_agree_with_enumeration(name, seed, weighted, zeros):
    tables, codes, weights = case(name, seed, zeros=zeros)
    weights = weights if weighted else None
    expect = ManyStatesExpectation(tables.layout, codes, weights)
    value, counts = expect(tables.values)
    true_value, true_counts = enumerated_counts(tables, codes, weights)
    # Single precision: seven digits of every term.
    assert value == pytest.approx(true_value, rel=1e-6, abs=1e-7 * len(codes))
    assert counts == pytest.approx(true_counts, rel=1e-5, abs=1e-5)
    assert expect.log_likelihood(tables.values) == value
    assert expect.mean(tables.values) == value / expect.total_weight
    assert expect.total_weight == pytest.approx(len(codes) if weights is None else weights.sum())


@pytest.mark.parametrize("most_children", [2, 5, 40])
def test_trees_with_many_states_agree_with_double_precision(most_children):
    rng = np.random.default_rng(most_children)
    tree = random_tree(rng, 40, most_children)
    states = [*rng.integers(2, 9, 40).tolist(), *rng.integers(1, 40, tree.n_nodes - 40).tolist()]
    tables = random_tables(rng, tree, tuple(states))
    codes = sample_codes(tables, 1500, rng)  # more than a block of patterns, more than one of rows
    codes[rng.random(codes.shape) < 0.1] = -1
    weights = rng.exponential(size=1500)
    value, counts = ManyStatesExpectation(tables.layout, codes, weights)(tables.values)
    true_value, true_counts = in_double(tables, codes, weights)
    assert value == pytest.approx(true_value, rel=1e-7)
    assert counts == pytest.approx(true_counts, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("least", [1e-9, 1e-5], ids=["rare", "less rare"])
@pytest.mark.parametrize("shape", ["hub", "two hubs", "chain"])
def test_hundreds_of_leaves_do_not_run_out_of_range(shape, least):
    """Of rows nobody expects: half way through the leaves of a hub, the best state is far behind."""
    n = 600
    trees = {
        "hub": rooted_tree([n] * n + [-1], n),
        "two hubs": rooted_tree([n] * 300 + [n + 1] * 300 + [n + 1, -1], n),
        "chain": caterpillar(n),
    }
    rng = np.random.default_rng(0)
    tree = trees[shape]
    layout = Layout(tree, (4,) * n + (6,) * (tree.n_nodes - n))
    values = normalise_rows(layout, rng.gamma(0.3, size=layout.size) + least)
    tables, codes = Tables(layout, values), uniform_codes(rng, (4,) * n, 50)
    expect = ManyStatesExpectation(layout, codes)
    value, counts = expect(values)
    truth = log_prob(tables.network, Evidence(codes)).values
    assert expect.rows(values) == pytest.approx(truth, rel=1e-6)
    assert value == pytest.approx(truth.sum(), rel=1e-7)
    assert counts == pytest.approx(in_double(tables, codes)[1], rel=1e-4, abs=1e-4)
    for start, stop in zip(layout.starts[:-1], layout.starts[1:], strict=True):
        assert counts[start:stop].sum() == pytest.approx(50, rel=1e-5)


def test_tables_far_beyond_the_range_of_single_precision_still_give_numbers():
    rng = np.random.default_rng(0)
    tree = random_tree(rng, 200, 200)
    layout = Layout(tree, (4,) * 200 + (6,) * (tree.n_nodes - 200))
    values = normalise_rows(layout, rng.gamma(0.02, size=layout.size))
    expect = ManyStatesExpectation(layout, uniform_codes(rng, (4,) * 200, 100))
    value, counts = expect(values)
    assert np.isfinite(value)
    assert np.isfinite(counts).all()
    assert np.isfinite(expect.rows(values)).all()


def test_an_impossible_row_counts_for_nothing_and_costs_much():
    tree = rooted_tree([3, 3, 4, 4, -1], 3)
    same = np.eye(2)
    tables = Tables.of(tree, [same, same, np.full((2, 2), 0.5), same, np.full((1, 2), 0.5)])
    possible = np.array([[0, 0, 0], [1, 1, 1], [1, 1, 0]], dtype=np.int16)
    value, counts = ManyStatesExpectation(tables.layout, possible)(tables.values)
    rows = np.vstack([possible, [[0, 1, 0]]]).astype(np.int16)
    with_impossible, same_counts = ManyStatesExpectation(tables.layout, rows)(tables.values)
    assert value == pytest.approx(6 * np.log(0.5), rel=1e-6)
    assert with_impossible < value - 80
    assert same_counts == pytest.approx(counts)


@pytest.mark.parametrize("name", SMALL)
def test_rows_are_what_the_query_says(name):
    tables, codes, _ = case(name, 0, n_rows=1200)  # two blocks of rows
    codes[7] = -1
    log_likelihoods = ManyStatesExpectation(tables.layout, codes).rows(tables.values)
    truth = log_prob(tables.network, Evidence(codes)).values
    assert log_likelihoods == pytest.approx(truth, rel=1e-5, abs=1e-5)
    assert log_likelihoods[7] == pytest.approx(0.0, abs=1e-6)  # nothing was observed


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_the_number_of_threads_does_not_show(n_jobs, monkeypatch):
    monkeypatch.setattr(many_states, "MOST_ROWS", 500)
    tables, codes, weights = case("unequal", 0, n_rows=2600)
    one = ManyStatesExpectation(tables.layout, codes, weights)
    many = ManyStatesExpectation(tables.layout, codes, weights, n_jobs)
    assert len(many.blocks) == 6
    for _ in range(3):  # later calls find the working space of earlier ones
        value, counts = many(tables.values)
        assert value == one(tables.values)[0] == many.log_likelihood(tables.values)
        assert np.array_equal(counts, one(tables.values)[1])
        assert np.array_equal(many.rows(tables.values), one.rows(tables.values))


@pytest.mark.parametrize("size", [1, 7, 100])
def test_the_size_of_blocks_hardly_shows(size, monkeypatch):
    tables, codes, weights = case("copies", 1, n_rows=150)
    in_one_block = ManyStatesExpectation(tables.layout, codes, weights)
    monkeypatch.setattr(many_states, "FEWEST_ROWS", 1)
    monkeypatch.setattr(many_states, "MOST_ROWS", size)
    cut = ManyStatesExpectation(tables.layout, codes, weights)
    assert len(in_one_block.blocks) == 1
    assert len(cut.blocks) >= 150 / size
    value, counts = cut(tables.values)
    true_value, true_counts = in_one_block(tables.values)
    assert value == pytest.approx(true_value, rel=1e-7)
    assert counts == pytest.approx(true_counts, rel=1e-5, abs=1e-5)
    assert cut.rows(tables.values) == pytest.approx(
        in_one_block.rows(tables.values), rel=1e-6, abs=1e-6
    )


def test_blocks_are_bounded_by_what_sums_and_memory_allow():
    few = Layout(rooted_tree([2, 2, -1], 2), (2, 2, 2))
    many = Layout(caterpillar(500), (2,) * 500 + (1000,) * 499)
    assert many_states._rows_at_once(few, 10**7) == many_states.MOST_ROWS
    assert many_states._rows_at_once(many, 10**7) == many_states.FEWEST_ROWS
    assert many_states._rows_at_once(few, 3000) == 1500
    assert many_states._rows_at_once(few, 300) == 300
    assert many_states._rows_at_once(few, 0) == 1


def test_the_order_of_the_codes_in_memory_does_not_show():
    tables, codes, _ = case("unequal", 0)
    spaced = np.repeat(codes, 2, axis=0)[::2]
    want = ManyStatesExpectation(tables.layout, codes)(tables.values)
    for other in (np.ascontiguousarray(codes), spaced, codes.astype(np.int32)):
        value, counts = ManyStatesExpectation(tables.layout, other)(tables.values)
        assert value == want[0]
        assert np.array_equal(counts, want[1])


@pytest.mark.parametrize("n_rows", [0, 4])
def test_without_rows_or_weight_there_is_nothing_to_count(n_rows):
    tables, codes, _ = case("copies", 0)
    expect = ManyStatesExpectation(tables.layout, codes[:n_rows], np.zeros(n_rows))
    value, counts = expect(tables.values)
    assert value == 0.0 == expect.mean(tables.values)
    assert not counts.any()
    assert len(expect.rows(tables.values)) == n_rows


def test_parameters_are_not_changed():
    tables, codes, _ = case("unequal", 0)
    before = tables.values.copy()
    expect = ManyStatesExpectation(tables.layout, codes)
    expect(tables.values)
    expect.rows(tables.values)
    assert np.array_equal(tables.values, before)
