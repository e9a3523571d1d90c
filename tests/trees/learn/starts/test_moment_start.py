"""The start from moments: near the truth where there are many rows, proper tables everywhere."""

import numpy as np
import pytest

from oracles.networks import rooted_tree
from tacit.messages.conditionals import log_prob
from tacit.messages.evidence import Evidence
from tacit.messages.network import Tables, layout
from tacit.toy import random_tables, sample_codes
from tacit.toy.trees import named_topology
from tacit.trees.learn.starts import moments as module
from tacit.trees.learn.starts.moments import moment_start
from tacit.trees.moments.source import CountedMoments

# Leaf 0 stands inside the tree: node 5 repeats it.
WITH_COPY = rooted_tree([5, 5, 5, 6, 6, 6, -1], 5, {5: 0})


def tree_of(name):
    topology = named_topology(name)
    return topology.rooted([f"x{place}" for place in range(len(topology.observed))])


def start_of(tree, n_states, codes, weights=None, *, most_states=12, seed=0):
    lay = layout(tree, n_states)
    pairs = CountedMoments.of(codes, n_states[: tree.n_leaves], weights).pairs()
    rng = np.random.default_rng(seed)
    return Tables(lay, moment_start(lay, pairs, codes, weights, most_states=most_states, rng=rng))


def gap(truth, tables, codes):
    """Nats per row by which the tables are worse than the truth."""
    evidence = Evidence(codes)
    theirs = log_prob(tables.network, evidence).values
    return float((log_prob(truth.network, evidence).values - theirs).mean())


def with_states(tree, cards, k):
    """States of all nodes: k everywhere but at copies."""
    hidden = [cards[tree.copy_of[node]] if tree.copy_of[node] >= 0 else k for node in tree.hidden]
    return (*cards, *hidden)


def check_tables(tables):
    tree = tables.tree
    for node in range(tree.n_nodes):
        table = tables.table(node)
        if node < tree.n_leaves and tree.copy_of[tree.parent[node]] == node:
            assert np.array_equal(table, np.eye(len(table)))
        else:
            assert table.min() > 0
            assert table.sum(axis=1) == pytest.approx(1.0)


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize(
    ("name", "n_categories", "k", "diagonal"),
    [
        ("bin4", 4, 2, 2.0),
        ("bin5", 4, 2, 1.0),
        ("bin4", 4, 3, 3.0),
        ("t33", 4, 3, 3.0),
        ("cat16", 3, 3, 3.0),
        ("star12", 4, 3, 3.0),  # many branches in three views
        ("star6", 4, 4, 4.0),
        ("bin4", 3, 5, 3.0),  # more states than categories
    ],
)
def test_with_many_rows_it_is_near_the_truth(name, n_categories, k, diagonal, missing):
    tree = tree_of(name)
    truth = random_tables(tree, n_categories, k, 0, diagonal=diagonal)
    codes, test = sample_codes(truth, 60_000, 1), sample_codes(truth, 5000, 2)
    codes[np.random.default_rng(0).random(codes.shape) < missing] = -1
    cards = (n_categories,) * tree.n_leaves
    independent = gap(truth, start_of(tree, with_states(tree, cards, 1), codes), test)
    start = start_of(tree, truth.layout.n_states, codes)
    check_tables(start)
    assert gap(truth, start, test) < independent * (0.25 if missing else 0.1)


def test_one_state_is_independence():
    tree = tree_of("bin4")
    truth = random_tables(tree, 3, 2, 0)
    codes = sample_codes(truth, 1000, 1)
    start = start_of(tree, (3,) * 8 + (1,) * 6, codes)
    check_tables(start)
    for leaf in range(8):
        proportions = np.bincount(codes[:, leaf], minlength=3) / 1000
        assert start.table(leaf)[0] == pytest.approx(proportions, abs=0.01)  # but for smoothing


@pytest.mark.parametrize("k", [1, 2, 3])
def test_observed_inner_nodes_are_copied(k):
    cards = (3, 4, 2, 3, 3)
    truth = random_tables(WITH_COPY, cards, 2, 0, diagonal=2.0)
    codes, test = sample_codes(truth, 30_000, 1), sample_codes(truth, 3000, 2)
    start = start_of(WITH_COPY, with_states(WITH_COPY, cards, k), codes)
    check_tables(start)
    if k > 1:
        assert gap(truth, start, test) < 0.02


def test_a_tree_of_nothing_but_observed_nodes_has_the_tables_of_the_data():
    tree = rooted_tree([3, 4, 4, 4, -1], 3, {3: 0, 4: 1})
    truth = random_tables(tree, 3, 2, 0, diagonal=2.0)
    codes = sample_codes(truth, 20_000, 1)
    start = start_of(tree, truth.layout.n_states, codes)
    check_tables(start)
    assert gap(truth, start, sample_codes(truth, 2000, 2)) < 0.01


def test_many_states_start_from_fewer_that_are_split():
    tree = tree_of("bin4")
    truth = random_tables(tree, 30, 20, 0, diagonal=10.0)
    codes, test = sample_codes(truth, 30_000, 1), sample_codes(truth, 3000, 2)
    states = truth.layout.n_states
    start = start_of(tree, states, codes, most_states=6)
    check_tables(start)
    independent = gap(truth, start_of(tree, (30,) * 8 + (1,) * 6, codes), test)
    assert gap(truth, start, test) < 0.8 * independent
    rows = start.table(0)
    assert len(np.unique(rows.round(12), axis=0)) == 20  # no two states alike
    assert rows[0] == pytest.approx(rows[6], rel=1.0)
    again = start_of(tree, states, codes, most_states=6)
    assert np.array_equal(again.values, start.values)
    assert not np.array_equal(
        start_of(tree, states, codes, most_states=6, seed=1).values, start.values
    )


def test_copies_keep_their_states_where_others_are_split():
    cards = (5, 4, 2, 3, 3)
    truth = random_tables(WITH_COPY, cards, 4, 0, diagonal=2.0)
    codes = sample_codes(truth, 5000, 1)
    check_tables(start_of(WITH_COPY, truth.layout.n_states, codes, most_states=2))


def test_weights_count_like_repeated_rows():
    tree = tree_of("bin4")
    truth = random_tables(tree, 4, 2, 0, diagonal=2.0)
    codes = sample_codes(truth, 800, 1)
    weights = np.random.default_rng(0).integers(0, 3, 800)
    weighted = start_of(tree, truth.layout.n_states, codes, weights.astype(float))
    plain = start_of(tree, truth.layout.n_states, codes[np.repeat(np.arange(800), weights)])
    assert weighted.values == pytest.approx(plain.values, rel=1e-6)


def test_of_many_rows_some_are_looked_at_from_first_to_last(monkeypatch):
    tree = tree_of("bin4")
    truth = random_tables(tree, 4, 2, 0, diagonal=2.0)
    codes, test = sample_codes(truth, 20_000, 1), sample_codes(truth, 3000, 2)
    codes = np.asfortranarray(codes[np.lexsort(codes.T)])  # the first rows are unlike the others
    every = start_of(tree, truth.layout.n_states, codes)
    monkeypatch.setattr(module, "ROWS_LOOKED_AT", 5000)
    some = start_of(tree, truth.layout.n_states, codes)
    assert not np.array_equal(some.values, every.values)
    assert gap(truth, some, test) < 2 * gap(truth, every, test) + 0.002


def test_rows_that_count_are_looked_at_wherever_they_stand(monkeypatch):
    tree = tree_of("bin4")
    truth = random_tables(tree, 4, 2, 0, diagonal=2.0)
    codes = sample_codes(truth, 20_000, 1)
    weights = np.zeros(20_000)
    weights[1::4] = 1.0
    monkeypatch.setattr(module, "ROWS_LOOKED_AT", 5000)  # every fourth row, none of which counts
    start = start_of(tree, truth.layout.n_states, codes, weights)
    alone = start_of(tree, truth.layout.n_states, np.asfortranarray(codes[1::4]))
    assert start.values == pytest.approx(alone.values, rel=1e-6)


@pytest.mark.parametrize("name", ["bin4", "star6", "t33"])
@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("n_rows", [1, 2, 10])
def test_few_rows_give_proper_tables(name, k, n_rows):
    tree = tree_of(name)
    truth = random_tables(tree, 3, k, 0)
    codes = sample_codes(truth, n_rows, 1)
    codes[0, :2] = -1
    check_tables(start_of(tree, truth.layout.n_states, codes))


def test_categories_and_pairs_never_seen_are_no_obstacle():
    tree = tree_of("bin4")
    codes = np.zeros((50, 8), dtype=np.int16, order="F")
    codes[:25, 0], codes[25:, 1] = -1, -1
    codes[::2, 3] = 2
    check_tables(start_of(tree, (3,) * 8 + (2,) * 6, codes))
    check_tables(start_of(tree, (1,) * 8 + (2,) * 6, np.zeros((5, 8), np.int16, order="F")))
