"""Joint conditionals against the full joint table."""

import numpy as np
import pytest

from oracles.networks import (
    KINDS,
    caterpillar,
    in_kind,
    leaf_joint,
    random_evidence,
    random_model,
    random_tables,
    rooted_tree,
    weighed,
)
from tacit.errors import ArgumentError, TooExpensiveError
from tacit.messages.conditionals import conditionals
from tacit.messages.evidence import Evidence, nothing
from tacit.messages.joint import joint_conditional
from tacit.messages.network import Dense, Network
from tacit.messages.repairs import Repairs


def by_enumeration(joint, evidence, row, leaves):
    table = weighed(joint, evidence, row, leave_out=leaves)
    others = tuple(axis for axis in range(table.ndim) if axis not in leaves)
    table = table.sum(axis=others)
    order = np.argsort(np.argsort(leaves))  # axes are left in the order of the leaves
    return np.transpose(table, order) / table.sum()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("leaves", [(2,), (0, 3), (4, 1, 2), ()])
@pytest.mark.parametrize("soft_leaves", [0, 2])
def test_joint_tables_agree_with_enumeration(kind, leaves, soft_leaves):
    rng = np.random.default_rng(len(leaves))
    tables = random_model(rng, n_leaves=6, most_children=4, most_states=3)
    joint = leaf_joint(tables)
    evidence = random_evidence(rng, joint.shape, n_rows=12, soft_leaves=soft_leaves)
    belief = joint_conditional(in_kind(rng, tables, kind), evidence, leaves)
    assert belief.leaves == leaves
    assert belief.table.shape == (12, *(joint.shape[leaf] for leaf in leaves))
    for row in range(12):
        expected = by_enumeration(joint, evidence, row, leaves)
        assert belief.table[row] == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("block_rows", [1, 5, 1000])
def test_joint_tables_do_not_depend_on_blocks(block_rows):
    rng = np.random.default_rng(0)
    tables = random_model(rng, n_leaves=5)
    evidence = random_evidence(rng, tables.layout.n_states[:5], n_rows=7, soft_leaves=1)
    all_at_once = joint_conditional(tables.network, evidence, [3, 0])
    apart = joint_conditional(tables.network, evidence, [3, 0], block_rows=block_rows)
    assert apart.table == pytest.approx(all_at_once.table, abs=1e-12)


def test_the_joint_table_of_one_leaf_is_its_conditional():
    rng = np.random.default_rng(1)
    tables = random_model(rng, n_leaves=5)
    evidence = random_evidence(rng, tables.layout.n_states[:5])
    alone = conditionals(tables.network, evidence, [2]).tables[0]
    assert joint_conditional(tables.network, evidence, [2]).table == pytest.approx(alone, abs=1e-12)


def test_evidence_is_left_as_it_was():
    rng = np.random.default_rng(0)
    tables = random_model(rng, n_leaves=5)
    evidence = random_evidence(rng, tables.layout.n_states[:5])
    before = evidence.codes.copy()
    joint_conditional(tables.network, evidence, [0, 1])
    assert np.array_equal(evidence.codes, before)


def test_a_table_that_is_too_large_is_refused_before_any_work():
    network = random_model(np.random.default_rng(0), n_leaves=5).network
    with pytest.raises(TooExpensiveError, match="for each of 1000 rows, more than max_cells=2000"):
        joint_conditional(network, nothing(5, 1000), [0, 1], max_cells=2000)


def test_a_leaf_named_twice_is_refused():
    network = random_model(np.random.default_rng(0), n_leaves=5).network
    with pytest.raises(ArgumentError, match="distinct"):
        joint_conditional(network, nothing(5), [1, 1])


def test_no_rows_have_an_empty_table():
    tables = random_model(np.random.default_rng(0), n_leaves=5)
    belief = joint_conditional(tables.network, nothing(5, 0), [1, 2])
    assert belief.table.shape == (0, *tables.layout.n_states[1:3])


def test_impossible_rows_get_the_joint_table_without_evidence():
    tree = rooted_tree([4, 4, 4, 4, -1], 4)
    tables = random_tables(np.random.default_rng(0), tree, (2, 2, 3, 2, 2))
    for leaf in (0, 1):
        tables.table(leaf)[:] = np.eye(2)
    evidence = Evidence(np.array([[0, 1, -1, -1], [0, 0, -1, -1]]))
    belief = joint_conditional(tables.network, evidence, [2, 3])
    joint = leaf_joint(tables)
    assert belief.table[0] == pytest.approx(joint.sum(axis=(0, 1)), abs=1e-12)
    assert belief.table[1] == pytest.approx(
        np.outer(tables.table(2)[0], tables.table(3)[0]), abs=1e-12
    )
    assert belief.repairs == Repairs(2, n_undefined=1)


def test_negative_entries_are_cut_off_and_counted():
    # P(x, y) as estimated: one entry is below zero.
    core = np.array([[0.5, 0.1], [-0.2, 0.6]])[:, :, None]
    tree = rooted_tree([2, 2, -1], 2)
    network = Network(tree, (np.eye(2),) * 2, (np.ones(2),) * 2, (Dense(core),))
    belief = joint_conditional(network, nothing(2), [0, 1])
    assert belief.table[0] == pytest.approx(np.array([[5, 1], [0, 6]]) / 12, abs=1e-12)
    assert belief.repairs.n_negative == 1
    assert belief.repairs.negative_mass == pytest.approx(0.2 / 1.4)


def test_rows_too_improbable_for_a_number_have_joint_tables():
    rng = np.random.default_rng(0)
    tables = random_tables(rng, caterpillar(300), (40,) * 300 + (2,) * 299)
    evidence = Evidence(rng.integers(0, 40, size=(3, 300)))
    actual = joint_conditional(tables.network, evidence, [7, 150]).table
    apart = conditionals(tables.network, evidence.without([150]), [7]).tables[0]
    assert actual.sum(axis=2) == pytest.approx(apart, abs=1e-10)
