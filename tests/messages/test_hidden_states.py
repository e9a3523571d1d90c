"""Posteriors of hidden states and most likely completions, against the full joint table."""

import math

import numpy as np
import pytest

from oracles.networks import (
    caterpillar,
    full_joint,
    in_kind,
    random_evidence,
    random_model,
    random_tables,
    rooted_tree,
    weighed,
)
from tacit.errors import ArgumentError, NotAvailableError
from tacit.messages.evidence import Evidence, nothing
from tacit.messages.hidden_states import most_likely, posterior
from tacit.messages.repairs import Repairs


@pytest.mark.parametrize("soft_leaves", [0, 2])
@pytest.mark.parametrize("seed", range(5))
def test_posteriors_agree_with_enumeration(soft_leaves, seed):
    rng = np.random.default_rng(seed)
    tables = random_model(rng, n_leaves=6, most_children=4, most_states=3)
    tree, joint = tables.tree, full_joint(tables)
    evidence = random_evidence(rng, joint.shape[:6], n_rows=15, soft_leaves=soft_leaves)
    beliefs = posterior(tables.network, evidence)
    assert beliefs.nodes == tuple(tree.hidden)
    for node, table in zip(beliefs.nodes, beliefs.tables, strict=True):
        for row in range(15):
            expected = weighed(joint, evidence, row)
            expected = expected.sum(axis=tuple(a for a in range(tree.n_nodes) if a != node))
            assert table[row] == pytest.approx(expected / expected.sum(), abs=1e-10)
    assert beliefs.repairs == Repairs(15 * len(tree.hidden))


def test_some_hidden_nodes_are_answered_in_the_order_of_the_query_and_in_any_blocks():
    rng = np.random.default_rng(3)
    tables = random_model(rng, n_leaves=7, most_children=2)
    evidence = random_evidence(rng, tables.layout.n_states[:7], soft_leaves=1)
    everything = posterior(tables.network, evidence).tables
    some = posterior(tables.network, evidence, [10, 8], block_rows=4)
    assert some.nodes == (10, 8)
    assert some.tables[0] == pytest.approx(everything[3], abs=1e-12)
    assert some.tables[1] == pytest.approx(everything[1], abs=1e-12)


def test_a_leaf_has_no_posterior():
    with pytest.raises(ArgumentError, match="hidden nodes, 5 to"):
        posterior(random_model(np.random.default_rng(0)).network, nothing(5), [4])


def test_the_posterior_of_an_impossible_row_is_that_without_evidence():
    tables = random_tables(np.random.default_rng(0), rooted_tree([2, 2, -1], 2), (2, 2, 2))
    for leaf in (0, 1):
        tables.table(leaf)[:] = np.eye(2)
    beliefs = posterior(tables.network, Evidence(np.array([[0, 1], [1, 1]])))
    assert beliefs.tables[0] == pytest.approx(np.array([tables.table(2)[0], [0, 1]]), abs=1e-12)
    assert beliefs.repairs == Repairs(2, n_undefined=1)


@pytest.mark.parametrize("soft_leaves", [0, 2])
@pytest.mark.parametrize("seed", range(5))
def test_no_other_completion_is_more_probable(soft_leaves, seed):
    rng = np.random.default_rng(seed)
    tables = random_model(rng, n_leaves=6, most_children=4, most_states=3)
    joint = full_joint(tables)
    evidence = random_evidence(rng, joint.shape[:6], n_rows=15, soft_leaves=soft_leaves)
    before = evidence.codes.copy()
    completion = most_likely(tables.network, evidence)
    assert np.array_equal(evidence.codes, before)
    assert np.array_equal(completion.codes[before >= 0], before[before >= 0])
    assert completion.codes.min() >= 0
    for row in range(15):
        expected = weighed(joint, evidence, row)
        at = (*completion.codes[row], *completion.hidden[row])
        assert expected[at] == expected.max()
        assert completion.log_prob[row] == pytest.approx(math.log(expected.max()), rel=1e-10)


@pytest.mark.parametrize("block_rows", [1, 7, 30])
def test_completions_do_not_depend_on_blocks(block_rows):
    rng = np.random.default_rng(0)
    tables = random_model(rng, n_leaves=6)
    evidence = random_evidence(rng, tables.layout.n_states[:6], soft_leaves=1)
    all_at_once = most_likely(tables.network, evidence)
    apart = most_likely(tables.network, evidence, block_rows=block_rows)
    assert np.array_equal(all_at_once.codes, apart.codes)
    assert np.array_equal(all_at_once.hidden, apart.hidden)
    assert np.array_equal(all_at_once.log_prob, apart.log_prob)


def test_a_long_chain_is_completed_without_underflow():
    tables = random_tables(np.random.default_rng(0), caterpillar(300), (30,) * 300 + (3,) * 299)
    rng = np.random.default_rng(1)
    evidence = random_evidence(rng, (30,) * 300, n_rows=4)
    completion = most_likely(tables.network, evidence)
    assert np.isfinite(completion.log_prob).all()
    for row in range(4):
        states = [*completion.codes[row], *completion.hidden[row]]
        log_prob = math.log(tables.table(598)[0, states[598]])
        for node in range(598):
            above = states[tables.tree.parent[node]]
            log_prob += math.log(tables.table(node)[above, states[node]])
        assert completion.log_prob[row] == pytest.approx(log_prob, rel=1e-10)
    beliefs = posterior(tables.network, evidence)
    for table in beliefs.tables:
        assert table.sum(axis=1) == pytest.approx(np.ones(4), rel=1e-12)


def test_a_copied_variable_has_the_state_that_was_observed():
    tree = rooted_tree([3, 3, 4, 4, -1], 3, {3: 0})
    tables = random_tables(np.random.default_rng(0), tree, (3, 2, 2, 3, 2))
    evidence = Evidence(np.array([[2, -1, 0], [-1, 1, 1]]))
    assert posterior(tables.network, evidence).tables[0][0].tolist() == [0, 0, 1]
    completion = most_likely(tables.network, evidence)
    assert completion.hidden[:, 0].tolist() == completion.codes[:, 0].tolist()


def test_no_rows_are_completed_to_no_rows():
    tables = random_model(np.random.default_rng(0), n_leaves=5)
    completion = most_likely(tables.network, nothing(5, 0))
    assert completion.codes.shape == (0, 5)
    assert completion.log_prob.shape == (0,)
    assert [len(table) for table in posterior(tables.network, nothing(5, 0)).tables] == [0] * len(
        tables.tree.hidden
    )


def test_one_variable_alone_is_completed():
    tables = random_tables(np.random.default_rng(0), rooted_tree([-1], 1), (3,))
    completion = most_likely(tables.network, Evidence(np.array([[-1], [2]])))
    assert completion.codes[:, 0].tolist() == [tables.table(0)[0].argmax(), 2]
    assert completion.hidden.shape == (2, 0)


def test_an_impossible_row_has_log_probability_minus_infinity():
    tables = random_tables(np.random.default_rng(0), rooted_tree([2, 2, -1], 2), (2, 2, 2))
    for leaf in (0, 1):
        tables.table(leaf)[:] = np.eye(2)
    completion = most_likely(tables.network, Evidence(np.array([[0, 1], [1, -1]])))
    assert completion.log_prob[0] == -math.inf
    assert completion.codes.tolist() == [[0, 1], [1, 1]]


@pytest.mark.parametrize("kind", ["dense", "chain", "mixed"])
@pytest.mark.parametrize("ask", [posterior, most_likely])
def test_hidden_states_are_refused_where_there_are_no_tables(kind, ask):
    rng = np.random.default_rng(3)
    network = in_kind(rng, random_model(rng, n_leaves=7, most_children=2), kind)
    with pytest.raises(NotAvailableError, match='learn="auto", "em"'):
        ask(network, nothing(7))


def test_one_node_with_a_table_among_others_without_has_no_posterior():
    rng = np.random.default_rng(3)
    tables = random_model(rng, n_leaves=7, most_children=2)
    forms = ["tables"] + ["dense"] * (len(tables.tree.hidden) - 1)
    with pytest.raises(NotAvailableError, match="observable form"):
        posterior(in_kind(rng, tables, forms), nothing(7), [7])
