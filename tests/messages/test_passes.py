"""The two passes against the full joint table, on every kind of network."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.networks import (
    KINDS,
    all_rows,
    caterpillar,
    in_kind,
    leaf_joint,
    random_evidence,
    random_model,
    random_tables,
    rooted_tree,
    weighed,
)
from tacit.errors import ArgumentError
from tacit.messages.evidence import Evidence, nothing
from tacit.messages.network import Chain, Network
from tacit.messages.passes import downward, log_values, row_blocks, upward

# Sums of at most a few thousand products: rounding stays far below this.
EXACT = 1e-10


def values(network, evidence, **how):
    sign, log_abs = log_values(network, evidence, **how)
    return sign * np.exp(log_abs)


def by_enumeration(tables, evidence):
    joint = leaf_joint(tables)
    return np.array([weighed(joint, evidence, row).sum() for row in range(evidence.n_rows)])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(6))
def test_value_of_every_row_is_its_probability(kind, seed):
    rng = np.random.default_rng(seed)
    tables = random_model(rng)
    joint = leaf_joint(tables)
    actual = values(in_kind(rng, tables, kind), Evidence(all_rows(joint.shape)))
    assert actual == pytest.approx(joint.ravel(), rel=EXACT, abs=1e-14)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("soft_leaves", [0, 2])
@pytest.mark.parametrize("seed", range(4))
def test_missing_cells_are_summed_out_and_likelihoods_weigh(kind, soft_leaves, seed):
    rng = np.random.default_rng(seed)
    tables = random_model(rng, n_leaves=6, most_children=4, most_states=3)
    evidence = random_evidence(rng, tables.layout.n_states[:6], soft_leaves=soft_leaves)
    actual = values(in_kind(rng, tables, kind), evidence)
    assert actual == pytest.approx(by_enumeration(tables, evidence), rel=EXACT)


MODEL = random_model(np.random.default_rng(8), n_leaves=5, most_states=3)
NETWORKS = {kind: in_kind(np.random.default_rng(9), MODEL, kind) for kind in KINDS}
CELLS = st.tuples(*(st.integers(-1, card - 1) for card in MODEL.layout.n_states[:5]))


@given(st.lists(CELLS, max_size=8), st.sampled_from(KINDS))
@settings(max_examples=60)
def test_any_pattern_of_missing_cells_agrees_with_enumeration(rows, kind):
    evidence = Evidence(np.array(rows, dtype=np.int16).reshape(-1, 5))
    expected = by_enumeration(MODEL, evidence)
    assert values(NETWORKS[kind], evidence) == pytest.approx(expected, rel=EXACT)


@given(st.lists(CELLS, min_size=1, max_size=8), st.integers(1, 9), st.sampled_from(KINDS))
@settings(max_examples=60)
def test_rows_in_blocks_are_rows_at_once(rows, block_rows, kind):
    evidence = Evidence(np.array(rows, dtype=np.int16).reshape(-1, 5))
    together = values(NETWORKS[kind], evidence, block_rows=100)
    # Equal but for the last bits: BLAS adds in another order for other sizes.
    assert values(NETWORKS[kind], evidence, block_rows=block_rows) == pytest.approx(
        together, rel=1e-12
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_network_may_have_negative_values(kind):
    rng = np.random.default_rng(3)
    network = in_kind(rng, random_model(rng), kind)
    turned = Network(
        network.tree, (-network.emit[0], *network.emit[1:]), network.total, network.nodes
    )
    evidence = random_evidence(rng, [len(emit) for emit in network.emit], missing=0.0)
    sign, log_abs = log_values(network, evidence)
    turned_sign, turned_log_abs = log_values(turned, evidence)
    assert (sign == 1).all()
    assert (turned_sign == -1).all()
    assert turned_log_abs == pytest.approx(log_abs, rel=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_a_row_of_which_nothing_was_observed_has_log_one(kind):
    sign, log_abs = log_values(NETWORKS[kind], nothing(5, 4))
    assert sign.tolist() == [1, 1, 1, 1]
    assert log_abs == pytest.approx(np.zeros(4), abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_no_rows_have_no_values(kind):
    sign, log_abs = log_values(NETWORKS[kind], nothing(5, 0))
    assert sign.shape == log_abs.shape == (0,)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("parent", "n_leaves", "copies"),
    [
        pytest.param([-1], 1, {}, id="one variable alone"),
        pytest.param([1, -1], 1, {}, id="one variable under a hidden one"),
        pytest.param([2, 2, -1], 2, {}, id="two variables"),
        pytest.param([3, 3, 4, 4, -1], 3, {3: 0}, id="an observed inner node"),
        pytest.param([3, 3, 4, 4, -1], 3, {3: 0, 4: 2}, id="observed inner nodes only"),
    ],
)
def test_small_and_copying_trees_agree_with_enumeration(kind, parent, n_leaves, copies):
    rng = np.random.default_rng(0)
    tree = rooted_tree(parent, n_leaves, copies)
    n_states = [3, 2, 2, 3, 2][: len(parent)]
    for node, leaf in copies.items():
        n_states[node] = n_states[leaf]
    tables = random_tables(rng, tree, tuple(n_states))
    joint = leaf_joint(tables)
    evidence = Evidence(all_rows([card + 1 for card in joint.shape]) - 1)
    actual = values(in_kind(rng, tables, kind), evidence)
    # A copy makes rows impossible: zero, or what rounding leaves of it.
    assert actual == pytest.approx(by_enumeration(tables, evidence), rel=EXACT, abs=1e-14)


@pytest.mark.parametrize("kind", KINDS)
def test_three_hundred_leaves_in_a_row_neither_under_nor_overflow(kind):
    rng = np.random.default_rng(0)
    tree = caterpillar(300)
    tables = random_tables(rng, tree, (40,) * 300 + (2,) * 299)
    codes = rng.integers(0, 40, size=(7, 300))
    actual = log_values(in_kind(rng, tables, kind), Evidence(codes))
    # The same product as in a hidden Markov chain, in logarithms, row by row.
    expected = []
    for row in codes:
        log_emit = [np.log(tables.table(leaf)[:, x]) for leaf, x in enumerate(row)]
        message = log_emit[0] + log_emit[1]
        for node in range(300, 598):
            message = np.logaddexp.reduce(np.log(tables.table(node)) + message, axis=1)
            message += log_emit[node - 298]
        expected.append(np.logaddexp.reduce(np.log(tables.table(598)[0]) + message))
    assert max(expected) < math.log(np.finfo(float).tiny)
    assert (actual[0] == 1).all()
    assert actual[1] == pytest.approx(np.array(expected), rel=1e-9)


@pytest.mark.parametrize("kind", ["tables", "chain"])
def test_a_node_of_a_thousand_children_neither_under_nor_overflows(kind):
    rng = np.random.default_rng(0)
    tree = rooted_tree([1000] * 1000 + [-1], 1000)
    tables = random_tables(rng, tree, (9,) * 1000 + (2,))
    network = tables.network
    if kind == "chain":
        # No change of basis: in a thousand steps it would mix the rounding of one state into the other.
        steps = (np.eye(2)[:, :, None] * np.eye(2)[:, None, :],) * 1000
        node = Chain(tables.table(1000), steps, np.ones(2))
        network = Network(tree, network.emit, network.total, (node,))
    codes = rng.integers(0, 9, size=(3, 1000))
    sign, log_abs = log_values(network, Evidence(codes))
    log_conditionals = [
        sum(np.log(tables.table(leaf)[:, x]) for leaf, x in enumerate(row)) for row in codes
    ]
    expected = np.logaddexp.reduce(
        np.log(tables.table(1000)[0]) + np.array(log_conditionals), axis=1
    )
    assert expected.max() < math.log(np.finfo(float).tiny)
    assert sign.tolist() == [1, 1, 1]
    assert log_abs == pytest.approx(expected, rel=1e-9)


def test_likelihoods_of_any_size_neither_under_nor_overflow():
    evidence = Evidence(
        np.full((2, 5), -1),
        {
            leaf: np.full((2, len(emit)), 1e-250) * [[1.0], [1e300]]
            for leaf, emit in enumerate(NETWORKS["tables"].emit)
        },
    )
    _, log_abs = log_values(NETWORKS["tables"], evidence)
    assert log_abs == pytest.approx(5 * np.log([1e-250, 1e50]), rel=1e-12)


def test_an_impossible_row_has_sign_zero():
    tables = random_tables(np.random.default_rng(0), rooted_tree([2, 2, -1], 2, {2: 0}), (2, 2, 2))
    tables.table(1)[0] = [1.0, 0.0]
    sign, log_abs = log_values(tables.network, Evidence(np.array([[0, 1], [0, 0]])))
    assert sign.tolist() == [0, 1]
    assert log_abs[0] == -math.inf


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("soft_leaves", [0, 1])
@pytest.mark.parametrize("seed", range(3))
def test_message_and_outside_message_multiply_to_the_value_at_every_node(kind, soft_leaves, seed):
    rng = np.random.default_rng(seed)
    tables = random_model(rng, n_leaves=7, most_children=4)
    network = in_kind(rng, tables, kind)
    evidence = random_evidence(rng, tables.layout.n_states[:7], soft_leaves=soft_leaves)
    inside = upward(network, evidence)
    distinct = inside.messages[-1].values[0]
    met = []
    for outside in downward(inside, range(tables.tree.n_nodes)):
        met.append(outside.node)
        inside_messages = inside.messages[outside.node].at(outside.patterns)
        assert (inside_messages.values * outside.messages.values).sum(axis=0) == pytest.approx(
            distinct, rel=EXACT
        )
    assert sorted(met) == list(range(tables.tree.n_nodes))


def test_few_nodes_get_the_same_as_among_all():
    rng = np.random.default_rng(1)
    tables = random_model(rng, n_leaves=7, most_children=4)
    for kind in KINDS:
        inside = upward(
            in_kind(rng, tables, kind), random_evidence(rng, tables.layout.n_states[:7])
        )
        everything = {
            outside.node: outside for outside in downward(inside, range(tables.tree.n_nodes))
        }
        for node in range(tables.tree.n_nodes):
            (alone,) = downward(inside, [node])
            assert alone.node == node
            assert alone.messages.values == pytest.approx(
                everything[node].messages.values, rel=1e-12
            )
    assert list(downward(inside, [])) == []


def test_blocks_are_all_rows_in_order():
    network = NETWORKS["dense"]
    for n_rows, block_rows in [(0, 3), (7, 3), (9, 3), (200_000, None)]:
        parts = list(row_blocks(network, n_rows, block_rows))
        covered = [row for part in parts for row in range(part.start, part.stop)]
        assert covered == list(range(n_rows))


def test_blocks_get_smaller_where_nodes_are_large():
    rng = np.random.default_rng(0)
    tree = rooted_tree([5] * 5 + [-1], 5)
    tables = random_tables(rng, tree, (9,) * 5 + (9,))
    sizes = [
        next(row_blocks(in_kind(rng, tables, kind), 10**6)).stop for kind in ("tables", "dense")
    ]
    assert sizes[1] < sizes[0] / 10


def test_blocks_of_no_rows_are_refused():
    with pytest.raises(ArgumentError, match="block_rows=0"):
        log_values(NETWORKS["tables"], nothing(5), block_rows=0)
