"""Probabilities and single-cell conditionals against the full joint table."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.networks import (
    KINDS,
    cell_likelihoods,
    in_kind,
    leaf_joint,
    random_evidence,
    random_model,
    random_tables,
    rooted_tree,
    weighed,
)
from tacit.errors import ArgumentError, NegativeProbabilityError
from tacit.messages.conditionals import conditionals, impute, leaf_marginals, log_prob, marginals
from tacit.messages.evidence import Evidence, nothing
from tacit.messages.network import Network
from tacit.messages.repairs import Repairs

EXACT = 1e-10


def cell_distribution(joint, evidence, row, leaf, *, include_cell):
    """By enumeration: P(cell | row), with or without what is known of the cell itself."""
    table = weighed(joint, evidence, row, leave_out=() if include_cell else (leaf,))
    alone = table.sum(axis=tuple(axis for axis in range(table.ndim) if axis != leaf))
    return alone / alone.sum()


@pytest.mark.parametrize("include_cell", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("soft_leaves", [0, 2])
@pytest.mark.parametrize("seed", range(3))
def test_cell_distributions_agree_with_enumeration(include_cell, kind, soft_leaves, seed):
    rng = np.random.default_rng(seed)
    tables = random_model(rng, n_leaves=6, most_children=4, most_states=3)
    joint = leaf_joint(tables)
    evidence = random_evidence(rng, joint.shape, soft_leaves=soft_leaves)
    ask = marginals if include_cell else conditionals
    beliefs = ask(in_kind(rng, tables, kind), evidence)
    assert beliefs.nodes == tuple(range(6))
    for leaf, table in zip(beliefs.nodes, beliefs.tables, strict=True):
        assert table.shape == (30, joint.shape[leaf])
        for row in range(30):
            expected = cell_distribution(joint, evidence, row, leaf, include_cell=include_cell)
            assert table[row] == pytest.approx(expected, abs=EXACT)
    n_answers = 30 * 6 if not include_cell else int((evidence.codes < 0).sum())
    assert beliefs.repairs == Repairs(n_answers, negative_mass=beliefs.repairs.negative_mass)
    assert beliefs.repairs.negative_mass < EXACT


@pytest.mark.parametrize("kind", KINDS)
def test_some_leaves_are_answered_as_among_all_and_in_the_order_of_the_query(kind):
    rng = np.random.default_rng(0)
    tables = random_model(rng, n_leaves=6, most_children=3)
    network = in_kind(rng, tables, kind)
    evidence = random_evidence(rng, tables.layout.n_states[:6])
    everything = conditionals(network, evidence).tables
    some = conditionals(network, evidence, [4, 1])
    assert some.nodes == (4, 1)
    assert some.tables[0] == pytest.approx(everything[4], abs=1e-12)
    assert some.tables[1] == pytest.approx(everything[1], abs=1e-12)


@pytest.mark.parametrize("block_rows", [1, 7, 29, 30, 31])
@pytest.mark.parametrize("kind", KINDS)
def test_answers_do_not_depend_on_blocks(block_rows, kind):
    rng = np.random.default_rng(0)
    tables = random_model(rng, n_leaves=6, most_children=3)
    network = in_kind(rng, tables, kind)
    evidence = random_evidence(rng, tables.layout.n_states[:6], soft_leaves=1)
    for ask in (conditionals, marginals):
        all_at_once, apart = ask(network, evidence), ask(network, evidence, block_rows=block_rows)
        for one, other in zip(all_at_once.tables, apart.tables, strict=True):
            assert other == pytest.approx(one, abs=1e-12)
        assert apart.repairs.n_answers == all_at_once.repairs.n_answers
    assert np.array_equal(
        impute(network, evidence).codes, impute(network, evidence, block_rows=block_rows).codes
    )
    assert log_prob(network, evidence, block_rows=block_rows).values == pytest.approx(
        log_prob(network, evidence).values, rel=1e-12
    )


@pytest.mark.parametrize("leaves", [[5], [-1], [1, 1]])
def test_leaves_that_are_not_there_or_named_twice_are_refused(leaves):
    network = random_model(np.random.default_rng(0), n_leaves=5).network
    with pytest.raises(ArgumentError, match="0 to 4"):
        conditionals(network, nothing(5), leaves)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("soft_leaves", [0, 2])
def test_missing_cells_are_filled_with_their_most_probable_category(kind, soft_leaves):
    rng = np.random.default_rng(5)
    tables = random_model(rng, n_leaves=6, most_children=4, most_states=3)
    joint = leaf_joint(tables)
    evidence = random_evidence(rng, joint.shape, soft_leaves=soft_leaves)
    before = evidence.codes.copy()
    imputed = impute(in_kind(rng, tables, kind), evidence)
    assert np.array_equal(evidence.codes, before)
    assert imputed.codes.dtype == before.dtype
    for row, leaf in np.ndindex(imputed.codes.shape):
        if before[row, leaf] >= 0:
            assert imputed.codes[row, leaf] == before[row, leaf]
        else:
            expected = cell_distribution(joint, evidence, row, leaf, include_cell=True)
            assert imputed.codes[row, leaf] == expected.argmax()
    assert imputed.repairs.n_answers == int((before < 0).sum())


def test_rows_without_missing_cells_are_left_alone():
    network = random_model(np.random.default_rng(0), n_leaves=5).network
    codes = np.zeros((4, 5), dtype=np.int16)
    assert np.array_equal(impute(network, Evidence(codes)).codes, codes)


@pytest.mark.parametrize("kind", KINDS)
def test_no_rows_have_no_answers(kind):
    rng = np.random.default_rng(0)
    network = in_kind(rng, random_model(rng, n_leaves=5), kind)
    assert [len(table) for table in conditionals(network, nothing(5, 0)).tables] == [0] * 5
    assert [len(table) for table in marginals(network, nothing(5, 0)).tables] == [0] * 5
    assert impute(network, nothing(5, 0)).codes.shape == (0, 5)
    assert log_prob(network, nothing(5, 0)).values.shape == (0,)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("parent", [[-1], [1, -1]])
def test_one_variable_has_its_marginal_distribution(kind, parent):
    rng = np.random.default_rng(0)
    tables = random_tables(rng, rooted_tree(parent, 1), (3, 2)[: len(parent)])
    network = in_kind(rng, tables, kind)
    evidence = Evidence(np.array([[-1], [1], [-1]]), {0: np.array([[1.0, 1, 1]] * 2 + [[0, 1, 1]])})
    alone = leaf_joint(tables)
    expected = alone * [0, 1, 1] / (alone * [0, 1, 1]).sum()
    assert np.exp(log_prob(network, evidence).values) == pytest.approx(
        [1, alone[1], alone[1] + alone[2]], rel=EXACT
    )
    assert conditionals(network, evidence).tables[0] == pytest.approx(
        np.array([alone] * 3), abs=EXACT
    )
    assert marginals(network, evidence).tables[0] == pytest.approx(
        np.array([alone, [0, 1, 0], expected]), abs=EXACT
    )


MODEL = random_model(np.random.default_rng(8), n_leaves=5, most_children=3)
NETWORKS = {kind: in_kind(np.random.default_rng(9), MODEL, kind) for kind in KINDS}
ROWS = st.tuples(*(st.integers(-1, card - 1) for card in MODEL.layout.n_states[:5]))


@given(ROWS, st.integers(0, 4), st.sampled_from(KINDS))
def test_a_row_is_a_cell_given_the_others_times_the_others(row, leaf, kind):
    evidence = Evidence(np.array([row]))
    others = log_prob(NETWORKS[kind], evidence.without([leaf])).values[0]
    cell = conditionals(NETWORKS[kind], evidence, [leaf]).tables[0][0]
    certain = 1.0 if row[leaf] < 0 else cell[row[leaf]]
    all_at_once = log_prob(NETWORKS[kind], evidence).values[0]
    assert all_at_once == pytest.approx(others + math.log(certain), abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_marginals_of_leaves_agree_with_enumeration(kind):
    rng = np.random.default_rng(2)
    tables = random_model(rng)
    joint = leaf_joint(tables)
    for leaf, actual in enumerate(leaf_marginals(in_kind(rng, tables, kind))):
        others = tuple(axis for axis in range(joint.ndim) if axis != leaf)
        assert actual == pytest.approx(joint.sum(axis=others), abs=EXACT)


def noisy(rng, tables):
    """A network as it might be estimated from few rows: near the truth, some values negative."""
    network = in_kind(rng, tables, "dense")
    cores = tuple(
        type(node)(node.core * rng.normal(1, 0.7, size=node.core.shape)) for node in network.nodes
    )
    return Network(network.tree, network.emit, network.total, cores)


def spoilt():
    rng = np.random.default_rng(4)
    tables = random_model(rng, n_leaves=6, most_children=3, most_states=3)
    evidence = random_evidence(rng, tables.layout.n_states[:6], n_rows=200, soft_leaves=1)
    return noisy(rng, tables), evidence


def test_estimates_that_are_not_positive_become_a_fraction_of_independence():
    network, evidence = spoilt()
    raw = log_prob(network, evidence, negative="nan")
    scores = log_prob(network, evidence)
    wrong = np.isnan(raw.values)
    assert 5 < wrong.sum() < 150
    assert np.array_equal(scores.values[~wrong], raw.values[~wrong])
    assert scores.repairs.n_answers == 200
    assert scores.repairs.n_undefined == scores.repairs.n_negative == wrong.sum()
    base = leaf_marginals(network)
    cards = [len(marginal) for marginal in base]
    for row in np.flatnonzero(wrong):
        cells = cell_likelihoods(evidence, row, cards)
        independent = math.prod(max(a @ b, 1e-9) for a, b in zip(cells, base, strict=True))
        assert scores.values[row] == pytest.approx(math.log(1e-3 * independent), rel=1e-9)


def test_floor_and_independence_model_can_be_chosen():
    network, evidence = spoilt()
    even = [np.ones(len(emit)) for emit in network.emit]
    codes = Evidence(evidence.codes)
    wrong = np.isnan(log_prob(network, codes, negative="nan").values)
    scores = log_prob(network, codes, floor=0.5, base=even)
    assert scores.values[wrong] == pytest.approx(np.full(wrong.sum(), math.log(0.5)), rel=1e-12)


def test_estimates_that_are_not_positive_raise_if_requested():
    network, evidence = spoilt()
    with pytest.raises(NegativeProbabilityError, match=r"of 200 rows, the first being row \d+"):
        log_prob(network, evidence, negative="raise")


def test_an_estimate_that_is_not_a_number_is_not_positive():
    network, evidence = spoilt()
    broken = Network(
        network.tree, (network.emit[0] * np.nan, *network.emit[1:]), network.total, network.nodes
    )
    rows = Evidence(np.where(evidence.codes < 0, 0, evidence.codes))
    scores = log_prob(broken, rows, base=[np.ones(len(emit)) for emit in network.emit])
    assert scores.values == pytest.approx(np.full(200, math.log(1e-3)))
    assert scores.repairs.n_undefined == 200


def test_nothing_is_raised_or_counted_where_all_is_positive():
    rng = np.random.default_rng(0)
    tables = random_model(rng)
    evidence = random_evidence(rng, tables.layout.n_states[:5])
    scores = log_prob(in_kind(rng, tables, "dense"), evidence, negative="raise")
    assert scores.repairs == Repairs(30)


@pytest.mark.parametrize("how", [{"negative": "ignore"}, {"floor": 0.0}, {"floor": 2.0}])
def test_unknown_policies_are_refused(how):
    network = random_model(np.random.default_rng(0)).network
    with pytest.raises(ArgumentError, match=next(iter(how))):
        log_prob(network, nothing(5), **how)


@pytest.mark.parametrize("ask", [conditionals, marginals])
def test_cell_distributions_of_a_noisy_network_are_distributions(ask):
    network, evidence = spoilt()
    beliefs = ask(network, evidence)
    for table in beliefs.tables:
        assert (table >= 0).all()
        assert table.sum(axis=1) == pytest.approx(np.ones(200), rel=1e-12)
    assert beliefs.repairs.n_negative > beliefs.repairs.n_undefined > 0
    assert 0 < beliefs.repairs.as_dict()["mean_negative_mass"] < 1


def impossible():
    """x1 is a copy of x0, and x2 hangs below: rows with x0 != x1 cannot be."""
    tree = rooted_tree([3, 3, 3, -1], 3)
    tables = random_tables(np.random.default_rng(0), tree, (2, 2, 3, 2))
    for leaf in (0, 1):
        tables.table(leaf)[:] = np.eye(2)
    return tables


def test_impossible_rows_have_log_probability_minus_infinity_in_tables():
    tables = impossible()
    evidence = Evidence(np.array([[0, 1, -1], [0, 0, -1]]))
    for negative in ("floor", "nan", "raise"):
        scores = log_prob(tables.network, evidence, negative=negative)
        assert scores.values[0] == -math.inf
        assert scores.values[1] == pytest.approx(math.log(tables.table(3)[0, 0]))
        assert scores.repairs == Repairs(2)


@pytest.mark.parametrize("ask", [conditionals, marginals])
def test_cells_of_impossible_rows_get_their_distribution_without_evidence(ask):
    tables = impossible()
    evidence = Evidence(np.array([[0, 1, -1], [0, 0, -1]]))
    beliefs = ask(tables.network, evidence, [2])
    assert beliefs.tables[0][0] == pytest.approx(tables.table(3)[0] @ tables.table(2), rel=1e-12)
    assert beliefs.tables[0][1] == pytest.approx(tables.table(2)[0], rel=1e-12)
    assert beliefs.repairs == Repairs(2, n_undefined=1)


def test_an_observed_cell_keeps_its_category_however_impossible():
    evidence = Evidence(np.array([[0, 1, -1]]), {2: np.array([[0.0, 1.0, 3.0]])})
    tables = impossible()
    beliefs = marginals(tables.network, evidence)
    assert beliefs.tables[0].tolist() == [[1, 0]]
    assert beliefs.tables[1].tolist() == [[0, 1]]
    prior = tables.table(3)[0] @ tables.table(2) * [0, 1, 3]
    assert beliefs.tables[2][0] == pytest.approx(prior / prior.sum(), rel=1e-12)


def test_a_cell_known_to_have_an_impossible_category_has_it():
    tables = impossible()
    tables.table(2)[:] = [0.0, 0.5, 0.5]
    evidence = Evidence(np.array([[0, 0, -1]]), {2: np.array([[2.0, 0.0, 0.0]])})
    beliefs = marginals(tables.network, evidence, [2])
    assert beliefs.tables[0].tolist() == [[1, 0, 0]]
    assert beliefs.repairs == Repairs(1, n_undefined=1)
