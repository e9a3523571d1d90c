"""The clustered start of EM: tables counted from clusters of rows, near the truth where states lie apart."""

import itertools

import numpy as np
import pytest

from oracles.networks import caterpillar, random_tables, random_tree, rooted_tree
from tacit.messages.network import Layout, Tables, layout
from tacit.toy.models import sample_codes
from tacit.trees.learn.em.many_states import ManyStatesExpectation
from tacit.trees.learn.spectral.canonical import NodeFeatures
from tacit.trees.learn.starts import clusters
from tacit.trees.learn.starts.clusters import clustered_start, counted_tables
from tacit.trees.moments.source import PairTables
from tacit.trees.structure.topology import Topology


def start_of(lay, codes, weights=None, *, seed=0, n_jobs=1):
    pairs = PairTables.of(codes, lay.n_states[: lay.tree.n_leaves], weights)
    return clustered_start(lay, pairs, codes, weights, seed=seed, n_jobs=n_jobs)


def check_tables(lay, values):
    """All are probabilities; tables of copies are the identity."""
    assert np.isfinite(values).all()
    assert values.min() >= 0.0
    assert np.add.reduceat(values, lay.row_starts) == pytest.approx(np.ones(len(lay.row_starts)))
    tables = Tables(lay, values)
    for leaf in lay.tree.copy_of[lay.tree.copy_of >= 0]:
        assert np.array_equal(tables.table(leaf), np.eye(lay.n_states[leaf]))


def telling_model(rng, n_states):
    """Three groups of four leaves, each of which nearly tells its group's state."""
    tree = rooted_tree([12] * 4 + [13] * 4 + [14] * 4 + [15, 15, 15, -1], 12)

    def near_diagonal(strength):
        table = rng.dirichlet(np.ones(n_states), n_states) * (1 - strength)
        return table + strength * np.eye(n_states)[rng.permutation(n_states)]

    tables = [near_diagonal(0.95) for _ in range(12)] + [near_diagonal(0.6) for _ in range(3)]
    return Tables.of(tree, [*tables, np.full((1, n_states), 1 / n_states)])


@pytest.mark.parametrize("n_states", [2, 3, 5])
def test_states_that_leaves_show_are_learnt_at_once(n_states):
    rng = np.random.default_rng(n_states)
    truth = telling_model(rng, n_states)
    codes, unseen = sample_codes(truth, 4000, rng), sample_codes(truth, 2000, rng)
    lay = truth.layout
    start = start_of(lay, codes)
    score = ManyStatesExpectation(lay, unseen).mean
    marginals = (
        np.concatenate([np.bincount(column, minlength=n_states) for column in codes.T]) / 4000
    )
    alone = np.mean(sum(np.log(marginals[leaf * n_states + unseen[:, leaf]]) for leaf in range(12)))
    # The root, three hops from any leaf, is found less exactly: a little is left for EM.
    assert score(start) > score(truth.values) - 0.02 * (score(truth.values) - alone)


def test_a_state_that_leaves_determine_is_counted_exactly():
    rng = np.random.default_rng(0)
    tree = rooted_tree([3, 3, 3, -1], 3)
    state = rng.integers(0, 3, 600)
    codes = np.asfortranarray(np.column_stack([state, state, state]).astype(np.int16))
    lay = Layout(tree, (3, 3, 3, 3))
    tables = Tables(lay, start_of(lay, codes))
    counts = np.bincount(state)
    assert sorted(tables.table(3)[0]) == pytest.approx(np.sort(counts) / 600, abs=1e-3)
    for leaf in range(3):
        # One count is spread, of two hundred.
        assert np.sort(tables.table(leaf), axis=1)[:, -1] == pytest.approx(np.ones(3), abs=0.01)
        assert sorted(np.argmax(tables.table(leaf), axis=1)) == [0, 1, 2]


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_one_seed_gives_the_same_start_on_any_number_of_threads(n_jobs):
    rng = np.random.default_rng(0)
    tree = random_tree(rng, 12, 3)
    lay = Layout(tree, (3,) * 12 + (5,) * (tree.n_nodes - 12))
    codes = sample_codes(random_tables(rng, tree, lay.n_states), 500, rng)
    codes[rng.random(codes.shape) < 0.1] = -1
    first = start_of(lay, codes, seed=7)
    assert np.array_equal(first, start_of(lay, codes, seed=7, n_jobs=n_jobs))
    assert not np.array_equal(first, start_of(lay, codes, seed=8, n_jobs=n_jobs))


@pytest.mark.parametrize("n_rows", [0, 1, 3])
def test_more_states_than_rows(n_rows):
    rng = np.random.default_rng(0)
    tree = random_tree(rng, 6, 3)
    lay = Layout(tree, (2,) * 6 + (9,) * (tree.n_nodes - 6))
    codes = np.asfortranarray(rng.integers(0, 2, (n_rows, 6)).astype(np.int16))
    check_tables(lay, start_of(lay, codes))


@pytest.mark.parametrize("kind", ["constant", "missing", "one category"])
@pytest.mark.parametrize("columns", [(2,), (0, 3), range(5)], ids=["one", "two", "all"])
def test_columns_that_say_nothing(kind, columns):
    rng = np.random.default_rng(0)
    tree = random_tree(rng, 5, 3)
    cards = [3] * 5
    codes = np.asfortranarray(rng.integers(0, 3, (80, 5)).astype(np.int16))
    for column in columns:
        codes[:, column] = -1 if kind == "missing" else 0
        cards[column] = 1 if kind == "one category" else 3
    lay = Layout(tree, (*cards, *[4] * (tree.n_nodes - 5)))
    values = start_of(lay, codes)
    check_tables(lay, values)
    for column in columns:
        table = Tables(lay, values).table(column)
        if kind == "missing":
            assert table == pytest.approx(np.full(table.shape, 1 / 3))
        else:
            # A category never seen keeps a chance.
            assert (table[:, 0] > 0.99).all()
            assert (table > 0).all()


@pytest.mark.parametrize("n_columns", [1, 2, 3])
@pytest.mark.parametrize("copied", [False, True])
def test_few_columns(n_columns, copied):
    rng = np.random.default_rng(0)
    names = [f"x{i}" for i in range(n_columns)]
    if copied:
        edges = tuple(itertools.pairwise(names))
        tree = Topology(tuple(names), edges, tuple(names)).rooted(names)
    else:
        tree = rooted_tree([n_columns] * n_columns + [-1], n_columns)
    cards = (3, 2, 4)[:n_columns]
    copies = int(tree.copy_of[-1])
    lay = Layout(tree, (*cards, cards[copies] if copied else 5))
    codes = np.asfortranarray(
        np.column_stack([rng.integers(-1, card, 50) for card in cards]).astype(np.int16)
    )
    check_tables(lay, start_of(lay, codes))


def test_observed_inner_nodes_are_their_own_states():
    tree = rooted_tree([5, 5, 5, 6, 6, 6, -1], 5, {5: 0})
    lay = Layout(tree, (3, 2, 2, 4, 2, 3, 2))
    rng = np.random.default_rng(0)
    codes = sample_codes(random_tables(rng, tree, lay.n_states), 400, rng)
    codes[rng.random(codes.shape) < 0.1] = -1
    values = start_of(lay, codes)
    check_tables(lay, values)
    both = (codes[:, 0] >= 0) & (codes[:, 1] >= 0)
    counts = np.zeros((3, 2))
    np.add.at(counts, (codes[both, 0], codes[both, 1]), 1)
    relative = counts / counts.sum(axis=1, keepdims=True)
    # One count is spread.
    assert Tables(lay, values).table(1) == pytest.approx(relative, abs=0.02)


def test_rows_count_as_their_weights_say():
    rng = np.random.default_rng(0)
    truth = telling_model(rng, 3)
    codes = sample_codes(truth, 2000, rng)
    weights = np.where(codes[:, 0] == 0, 8.0, 1.0)
    for row_weights in (weights, np.ones(2000)):
        start = Tables(truth.layout, start_of(truth.layout, codes, row_weights))
        marginal = start.table(15) @ start.table(12) @ start.table(0)  # P(leaf 0)
        want = np.bincount(codes[:, 0], row_weights) / row_weights.sum()
        assert marginal[0] == pytest.approx(want, abs=0.01)


def test_of_rows_with_weights_or_without_the_same_ones_find_together():
    rng = np.random.default_rng(0)
    truth = telling_model(rng, 3)
    codes = sample_codes(truth, 400, rng)
    one, two = (start_of(truth.layout, codes, np.full(400, weight)) for weight in (1.0, 2.0))
    assert np.array_equal(one, start_of(truth.layout, codes))
    assert one == pytest.approx(two, abs=0.02)  # of twice the counts less is spread


def test_without_weight_all_tables_are_even():
    tree = random_tree(np.random.default_rng(0), 5, 3)
    lay = Layout(tree, (2,) * 5 + (3,) * (tree.n_nodes - 5))
    codes = np.zeros((20, 5), dtype=np.int16, order="F")
    assert start_of(lay, codes, np.zeros(20)) == pytest.approx(lay.even)


def test_of_many_rows_evenly_spaced_ones_are_looked_at(monkeypatch):
    rng = np.random.default_rng(0)
    truth = telling_model(rng, 3)
    codes = sample_codes(truth, 1000, rng)
    weights = rng.exponential(size=1000)
    lay = truth.layout
    pairs = PairTables.of(codes, (3,) * 12, weights)
    monkeypatch.setattr(clusters, "ROWS_LOOKED_AT", 400)
    some = clustered_start(lay, pairs, codes, weights, seed=0)
    every_third = np.asfortranarray(codes[::3])
    assert np.array_equal(
        some, clustered_start(lay, pairs, every_third, weights[::3].copy(), seed=0)
    )
    monkeypatch.setattr(clusters, "ROWS_FOR_CENTRES", 10)
    check_tables(lay, clustered_start(lay, pairs, codes, weights, seed=0))


def test_a_chain_of_many_states_starts_far_above_independence():
    rng = np.random.default_rng(1)
    tree = caterpillar(10)
    truth = random_tables(rng, tree, (6,) * 10 + (6,) * 9)
    sharp = truth.values**4
    lay = truth.layout
    sharp /= np.repeat(np.add.reduceat(sharp, lay.row_starts), 6)
    codes = sample_codes(Tables(lay, sharp), 3000, rng)
    one = layout(tree, (6,) * 10 + (1,) * 9)
    alone = ManyStatesExpectation(one, codes).mean(start_of(one, codes))
    assert ManyStatesExpectation(lay, codes).mean(start_of(lay, codes)) > alone + 0.5


# -- clusters -------------------------------------------------------------------------------


def test_every_row_is_nearest_to_the_mean_of_its_own_cluster(monkeypatch):
    monkeypatch.setattr(clusters, "SWEEPS", 100)
    rng = np.random.default_rng(0)
    codes = np.asfortranarray(rng.integers(0, 30, (200, 2)).astype(np.int16))
    values = rng.normal(size=(60, 3)).astype(np.float32)
    features = NodeFeatures(np.array([0, 1]), np.array([0, 30]), values)
    weights = rng.exponential(size=200)
    states = clusters._clusters(codes, features, weights, 6, rng)
    rows = values[codes[:, 0]] + values[30 + codes[:, 1]]
    members = [states == h for h in range(6)]
    means = np.array(
        [np.average(rows[inside], weights=weights[inside], axis=0) for inside in members]
    )
    gaps = ((rows[:, None] - means) ** 2).sum(axis=2)
    assert np.array_equal(states, gaps.argmin(axis=1))


# -- counted tables -------------------------------------------------------------------------


def test_counted_tables_are_smoothed_relative_counts():
    tree = rooted_tree([2, 2, -1], 2)
    lay = Layout(tree, (2, 3, 2))
    states = np.array([[0, 1, 1, -1], [2, 2, 0, 1], [0, 0, 1, 1]], dtype=np.int32)
    weights = np.array([1.0, 2.0, 3.0, 4.0])
    tables = Tables(lay, counted_tables(lay, states, weights))
    # P(leaf 0 | root): one count is spread as all rows are, and that with 0.01 on each category.
    spread = np.array([1.01, 5.01]) / 6.02
    want = np.array([[1.0, 2.0], [0.0, 3.0]]) + spread
    assert tables.table(0) == pytest.approx(want / want.sum(axis=1, keepdims=True))
    spread = np.array([3.01, 4.01, 3.01]) / 10.03
    want = np.array([[0.0, 0.0, 3.0], [3.0, 4.0, 0.0]]) + spread
    assert tables.table(1) == pytest.approx(want / want.sum(axis=1, keepdims=True))
    want = np.array([[3.0, 7.0]]) + np.array([3.01, 7.01]) / 10.02
    assert tables.table(2) == pytest.approx(want / want.sum())


def test_a_state_that_no_row_has_follows_all_rows():
    tree = rooted_tree([1, -1], 1)
    lay = Layout(tree, (2, 3))
    states = np.array([[0, 0, 0, 1], [0, 0, 1, 1]], dtype=np.int32)
    table = Tables(lay, counted_tables(lay, states, np.ones(4))).table(0)
    assert table[2] == pytest.approx([0.75, 0.25], abs=0.01)
