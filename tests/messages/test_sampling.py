"""Drawn rows against the probabilities they were drawn with."""

import numpy as np
import pytest
from scipy.stats import chi2

from oracles.networks import (
    KINDS,
    caterpillar,
    full_joint,
    in_kind,
    leaf_joint,
    random_model,
    random_tables,
    rooted_tree,
    weighed,
)
from tacit.errors import ArgumentError, DataError
from tacit.messages.evidence import Evidence, nothing
from tacit.messages.network import Dense, Network
from tacit.messages.repairs import Repairs
from tacit.messages.sampling import sample

N = 20_000


def assert_frequencies(codes, expected):
    """Pearson's chi-square of the drawn combinations, within what 1 in 10^5 exceeds by chance.

    Seeds are fixed, so the test passes or fails for good; combinations expected less than 5 times count
    together, as the statistic's distribution asks for.
    """
    shape = expected.shape
    counts = np.bincount(np.ravel_multi_index(codes.T, shape), minlength=expected.size)
    counts_expected = expected.ravel() * len(codes)
    assert not counts[counts_expected == 0].any()
    often = counts_expected >= 5
    counts = np.append(counts[often], counts[~often].sum())
    counts_expected = np.append(counts_expected[often], counts_expected[~often].sum())
    counts, counts_expected = counts[counts_expected > 0], counts_expected[counts_expected > 0]
    statistic = ((counts - counts_expected) ** 2 / counts_expected).sum()
    assert statistic < chi2.isf(1e-5, len(counts_expected) - 1)


def test_the_bound_on_frequencies_notices_a_wrong_distribution():
    rng = np.random.default_rng(0)
    tables = random_model(rng, n_leaves=4, most_states=3)
    other = random_model(np.random.default_rng(0), n_leaves=4, most_states=3)
    other.table(0)[:] *= 0.9
    other.table(0)[:, 0] += 0.1
    drawn = sample(tables.network, N, rng)
    assert_frequencies(drawn.codes, leaf_joint(tables))
    with pytest.raises(AssertionError):
        assert_frequencies(drawn.codes, leaf_joint(other))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_drawn_rows_have_the_frequencies_of_the_joint_table(kind, seed):
    rng = np.random.default_rng(seed)
    tables = random_model(rng, n_leaves=5, most_children=3, most_states=3)
    drawn = sample(in_kind(rng, tables, kind), N, rng)
    assert drawn.codes.shape == (N, 5)
    assert drawn.codes.dtype == np.int16
    assert_frequencies(drawn.codes, leaf_joint(tables))
    assert (drawn.hidden is not None) == (kind == "tables")
    assert drawn.repairs.n_negative == drawn.repairs.n_undefined == 0


@pytest.mark.parametrize("kind", KINDS)
def test_draws_given_evidence_have_the_frequencies_of_the_conditional(kind):
    rng = np.random.default_rng(7)
    tables = random_model(rng, n_leaves=5, most_children=3, most_states=3)
    joint = leaf_joint(tables)
    soft = rng.exponential(size=(2, joint.shape[3]))
    evidence = Evidence(np.array([[1, -1, -1, -1, -1], [-1, -1, 0, 1, -1]]), {3: soft})
    drawn = sample(in_kind(rng, tables, kind), N, rng, evidence)
    assert drawn.codes.shape == (2 * N, 5)
    for row in range(2):
        expected = weighed(joint, evidence, row)
        assert_frequencies(drawn.codes[row * N : (row + 1) * N], expected / expected.sum())


def test_hidden_states_are_drawn_together_with_the_leaves():
    rng = np.random.default_rng(1)
    tables = random_model(rng, n_leaves=4, most_children=3, most_states=3)
    evidence = Evidence(np.array([[-1, 0, -1, -1]]))
    drawn = sample(tables.network, N, rng, evidence)
    expected = weighed(full_joint(tables), evidence, 0)
    together = np.column_stack([drawn.codes, drawn.hidden])
    assert_frequencies(together, expected / expected.sum())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("block_rows", [1, 7, 60, 100])
def test_the_same_seed_gives_the_same_draws_in_any_blocks(kind, block_rows):
    model = random_model(np.random.default_rng(0), n_leaves=5)
    network = in_kind(np.random.default_rng(1), model, kind)
    evidence = Evidence(np.array([[-1, 0, -1, -1, -1], [-1, -1, -1, 1, -1], [-1] * 5]))
    all_at_once = sample(network, 20, np.random.default_rng(5), evidence)
    apart = sample(network, 20, np.random.default_rng(5), evidence, block_rows=block_rows)
    other = sample(network, 20, np.random.default_rng(6), evidence)
    assert np.array_equal(all_at_once.codes, apart.codes)
    assert not np.array_equal(all_at_once.codes, other.codes)


@pytest.mark.parametrize("kind", KINDS)
def test_observed_cells_stay_in_every_draw(kind):
    rng = np.random.default_rng(0)
    network = in_kind(rng, random_model(rng, n_leaves=5), kind)
    codes = np.array([[1, 0, 1, 1, 0], [0, 1, -1, 0, 1]])
    drawn = sample(network, 3, rng, Evidence(codes)).codes
    assert drawn[:3].tolist() == [codes[0].tolist()] * 3
    assert np.array_equal(np.delete(drawn[3:], 2, axis=1), np.delete(codes[[1] * 3], 2, axis=1))


@pytest.mark.parametrize("kind", KINDS)
def test_no_draws_and_no_rows_are_no_rows(kind):
    rng = np.random.default_rng(0)
    network = in_kind(rng, random_model(rng, n_leaves=5), kind)
    assert sample(network, 0, rng).codes.shape == (0, 5)
    assert sample(network, 4, rng, nothing(5, 0)).codes.shape == (0, 5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("parent", [[-1], [1, -1], [2, 2, -1]])
def test_trees_of_one_and_two_variables_are_drawn_from(kind, parent):
    rng = np.random.default_rng(0)
    n_leaves = (len(parent) + 1) // 2
    tables = random_tables(rng, rooted_tree(parent, n_leaves), (3, 2, 2)[: len(parent)])
    drawn = sample(in_kind(rng, tables, kind), N, rng)
    assert_frequencies(drawn.codes, leaf_joint(tables))


def test_a_copy_is_drawn_as_its_variable():
    rng = np.random.default_rng(0)
    tree = rooted_tree([3, 3, 4, 4, -1], 3, {3: 0})
    tables = random_tables(rng, tree, (3, 2, 2, 3, 2))
    drawn = sample(tables.network, 200, rng)
    assert np.array_equal(drawn.hidden[:, 0], drawn.codes[:, 0])


@pytest.mark.parametrize("kind", KINDS)
def test_a_caterpillar_deeper_than_the_stack_is_drawn_from(kind):
    rng = np.random.default_rng(0)
    tables = random_tables(rng, caterpillar(1200), (2,) * 2399)
    drawn = sample(in_kind(rng, tables, kind), 3, rng)
    assert set(np.unique(drawn.codes)) == {0, 1}
    assert drawn.repairs.n_undefined == 0


def test_impossible_evidence_is_refused():
    tables = random_tables(np.random.default_rng(0), rooted_tree([2, 2, -1], 2), (2, 2, 2))
    for leaf in (0, 1):
        tables.table(leaf)[:] = np.eye(2)
    with pytest.raises(DataError, match="probability zero"):
        sample(tables.network, 5, np.random.default_rng(0), Evidence(np.array([[0, 1]])))


def test_negative_estimates_are_cut_off_and_counted():
    # P(x, y) as estimated: one entry is below zero.
    core = np.array([[0.5, 0.1], [-0.1, 0.5]])[:, :, None]
    tree = rooted_tree([2, 2, -1], 2)
    network = Network(tree, (np.eye(2),) * 2, (np.ones(2),) * 2, (Dense(core),))
    drawn = sample(network, N, np.random.default_rng(0))
    assert_frequencies(drawn.codes, np.array([[0.5, 0.1], [0, 0.4]]))
    assert drawn.repairs.n_answers == 2 * N
    assert drawn.repairs.n_negative == (drawn.codes[:, 0] == 1).sum()
    assert drawn.repairs.n_undefined == 0
    assert sample(network, 1, np.random.default_rng(0), Evidence(np.array([[1, 0]]))).repairs == (
        Repairs()
    )


def test_a_negative_number_of_draws_is_refused():
    network = random_model(np.random.default_rng(0)).network
    with pytest.raises(ArgumentError, match="n=-1"):
        sample(network, -1, np.random.default_rng(0))
