"""Random tables, their exact joint tables, and rows drawn from them."""

import math

import numpy as np
import pytest

from oracles.enumeration import enumerated_joint, summed_to
from tacit.errors import ArgumentError, ArgumentTypeError, TooExpensiveError
from tacit.toy import (
    ExactMoments,
    exact_marginal,
    joint_table,
    named_topology,
    random_tables,
    random_topology,
    random_tree_model,
    sample_codes,
)
from tacit.trees.structure.topology import Topology


def small_model(seed, observed_inner=0.4):
    """A tree with copies, unequal cards and unequal states, small enough to enumerate."""
    rng = np.random.default_rng(seed)
    topology = random_topology(
        4, n_children=(2, 2), observed_inner=observed_inner, random_state=rng
    )
    tree = topology.rooted(topology.observed)
    cards = rng.integers(1, 4, size=tree.n_leaves).tolist()
    n_states = rng.integers(1, 4, size=len(tree.hidden)).tolist()
    return random_tables(tree, cards, n_states, rng, diagonal=0.5)


@pytest.mark.parametrize("seed", range(8))
def test_the_joint_table_is_the_one_found_by_enumeration(seed):
    tables = small_model(seed)
    assert joint_table(tables) == pytest.approx(enumerated_joint(tables), abs=1e-14)


@pytest.mark.parametrize("seed", range(8))
def test_marginals_have_the_axes_in_the_order_asked(seed):
    tables = small_model(seed)
    joint = enumerated_joint(tables)
    rng = np.random.default_rng(seed)
    for size in range(joint.ndim + 1):
        leaves = rng.permutation(joint.ndim)[:size].tolist()
        expected = summed_to(joint, leaves)
        assert exact_marginal(tables, leaves) == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize("seed", range(8))
def test_exact_moments_are_the_marginals_of_the_joint_table(seed):
    tables = small_model(seed)
    joint = enumerated_joint(tables)
    moments = ExactMoments(tables)
    assert moments.cards == joint.shape
    assert moments.n_rows == math.inf
    pairs = moments.pairs()
    for i in range(joint.ndim):
        assert pairs.marginal(i) == pytest.approx(summed_to(joint, [i]), abs=1e-14)
        assert pairs.joint(i, i) == pytest.approx(np.diag(pairs.marginal(i)), abs=0)
        for j in set(range(joint.ndim)) - {i}:
            assert pairs.joint(i, j) == pytest.approx(summed_to(joint, [i, j]), abs=1e-14)
    subsets = [(0,), (2, 1), (3, 0, 2)]
    for subset, table in zip(subsets, moments.tables(subsets), strict=True):
        assert table == pytest.approx(summed_to(joint, subset), abs=1e-14)


def test_marginals_of_a_few_leaves_of_a_large_tree_are_cheap():
    model = random_tree_model(topology=named_topology("bin7"), n_categories=4, random_state=0)
    joint = exact_marginal(model.tables, (63, 0, 31))
    assert joint.shape == (4, 4, 4)
    pairs = model.moments.pairs()
    assert joint.sum(axis=2) == pytest.approx(pairs.joint(63, 0), abs=1e-14)
    assert joint.sum(axis=0) == pytest.approx(pairs.joint(0, 31), abs=1e-14)


def test_a_joint_table_that_would_not_fit_is_refused():
    model = random_tree_model(n_leaves=30, random_state=0)
    with pytest.raises(TooExpensiveError, match="30 leaves"):
        joint_table(model.tables)


def test_leaves_that_are_repeated_or_unknown_are_refused():
    tables = small_model(0)
    for leaves in ([0, 0], [99], [-1]):
        with pytest.raises(ArgumentError, match="different leaves"):
            exact_marginal(tables, leaves)
    with pytest.raises(ArgumentTypeError, match="an array for each node"):
        exact_marginal(tables, [0], [np.ones(3)])


def test_tables_are_distributions_and_copies_are_identities():
    topology = Topology.from_newick("((a,b)c,d,(e,f));", observed=["c"])
    tree = topology.rooted(list("abcdef"))
    tables = random_tables(tree, [2, 3, 4, 2, 3, 2], 5, random_state=0)
    for node, (rows, columns) in enumerate(tables.layout.shapes):
        assert tables.table(node).shape == (rows, columns)
        assert tables.table(node).sum(axis=1) == pytest.approx(np.ones(rows))
    copy = int(np.flatnonzero(tree.copy_of >= 0)[0])
    assert tree.copy_of[copy] == 2
    assert tables.layout.n_states[copy] == 4
    assert np.array_equal(tables.table(2), np.eye(4))


def test_states_may_be_given_by_name_or_in_order():
    tree = Topology.from_newick("((a,b)g,c,d)h;").rooted(list("abcd"))
    by_name = random_tables(tree, 3, {"g": 2, "h": 4}, random_state=0)
    in_order = random_tables(tree, 3, [{"g": 2, "h": 4}[n] for n in tree.names[4:]], random_state=0)
    assert by_name.layout.n_states == in_order.layout.n_states
    assert np.array_equal(by_name.values, in_order.values)
    with pytest.raises(ArgumentError, match="lacks 'g'"):
        random_tables(tree, 3, {"h": 4})
    with pytest.raises(ArgumentError, match="cards has 2 numbers; give one for all, or 4"):
        random_tables(tree, [3, 3], 2)
    with pytest.raises(ArgumentError, match="n_states=0; give an integer of at least 1"):
        random_tables(tree, 3, 0)


def test_a_larger_diagonal_makes_stronger_dependences():
    tree = named_topology("star3").rooted(["x0", "x1", "x2"])
    proportions = [
        np.mean([random_tables(tree, 3, 3, seed, diagonal=d).table(0).trace() for seed in range(9)])
        for d in (0.0, 1.0, 5.0)
    ]
    assert proportions[0] < proportions[1] < proportions[2]


@pytest.mark.parametrize("seed", range(3))
def test_drawn_rows_have_the_frequencies_of_the_joint_table(seed):
    tables = small_model(seed)
    joint = enumerated_joint(tables)
    n_rows = 20_000
    codes = sample_codes(tables, n_rows, random_state=seed)
    assert codes.dtype == np.int16
    assert codes.flags.f_contiguous
    counts = np.bincount(np.ravel_multi_index(codes.T, joint.shape), minlength=joint.size)
    assert not counts[joint.ravel() == 0].any()
    deviation = counts - n_rows * joint.ravel()
    # Six standard deviations in every cell.
    assert (np.abs(deviation) <= 6 * np.sqrt(n_rows * joint.ravel()) + 1e-9).all()


def test_the_same_seed_gives_the_same_rows():
    model = random_tree_model(random_state=0)
    assert np.array_equal(model.sample(50, random_state=1), model.sample(50, random_state=1))
    assert not np.array_equal(model.sample(50, random_state=1), model.sample(50, random_state=2))


def test_a_model_knows_the_log_probability_of_its_rows():
    model = random_tree_model(n_leaves=5, n_categories=[2, 3, 2, 4, 2], random_state=0)
    joint = enumerated_joint(model.tables)
    codes = model.sample(40, random_state=0)
    assert model.names == ("x0", "x1", "x2", "x3", "x4")
    assert model.log_prob(codes) == pytest.approx(np.log(joint[tuple(codes.T)]), rel=1e-12)
    codes[:, 3] = -1
    expected = np.log(joint.sum(axis=3)[tuple(codes[:, [0, 1, 2, 4]].T)])
    assert model.log_prob(codes) == pytest.approx(expected, rel=1e-12)
