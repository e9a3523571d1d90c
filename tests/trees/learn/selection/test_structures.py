"""Structure learners by name: known trees are found, and no table is too odd for a fit."""

import itertools
import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit.core.input.number_matrix import read_numbers
from tacit.errors import ArgumentError, ColumnError, DataError
from tacit.evaluate import robinson_foulds, splits
from tacit.trees.learn.selection.structures import (
    BY_DISTANCE,
    METRICS,
    STRUCTURES,
    structure_and_distances,
    topology_for,
)
from tacit.trees.structure.rooting import walk

# -- known trees ------------------------------------------------------------------------------------


def binary_model(seed, n_leaves=9, **options):
    """A model on a tree whose hidden nodes have three neighbours, which is all that joining can find."""
    topology = tacit.toy.random_topology(n_leaves, n_children=(2, 2), random_state=seed)
    return tacit.toy.random_tree_model(topology=topology, random_state=seed, **options)


@pytest.mark.parametrize("name", BY_DISTANCE)
@pytest.mark.parametrize("seed", range(3))
def test_exact_pairs_give_back_the_tree(name, seed):
    truth = binary_model(seed)
    topology = topology_for(name, truth.moments, truth.names, n_states=2)
    assert robinson_foulds(topology, truth.topology) == 0


@pytest.mark.parametrize("name", BY_DISTANCE)
def test_more_states_than_two_are_learnt_as_well(name):
    truth = binary_model(1, n_leaves=7, n_states=3, n_categories=4)
    topology = topology_for(name, truth.moments, truth.names, n_states=3)
    assert robinson_foulds(topology, truth.topology) == 0


def chain_of_columns(n_rows=3000, n_columns=5, seed=0):
    """Each column repeats the one before it, with some cells changed."""
    rng = np.random.default_rng(seed)
    cells = np.empty((n_rows, n_columns), dtype=np.int64)
    cells[:, 0] = rng.integers(0, 2, n_rows)
    for place in range(1, n_columns):
        cells[:, place] = cells[:, place - 1] ^ (rng.random(n_rows) < 0.1)
    return cells


@pytest.mark.parametrize("name", ["recursive-grouping", "chow-liu-grouping", "chow-liu"])
def test_columns_may_stand_inside_the_tree(name):
    topology = tacit.learn_structure(chain_of_columns(), name)
    assert topology.hidden == ()
    assert sorted(map(sorted, topology.edges)) == [[f"x{n}", f"x{n + 1}"] for n in range(4)]


@pytest.mark.parametrize("name", BY_DISTANCE)
def test_lengths_are_distances(name):
    """Of two columns of two categories: minus the logarithm of their correlation."""
    topology = tacit.learn_structure(chain_of_columns(), name)
    lengths = topology.edge_lengths
    path = ["x4"]
    above = walk(topology.neighbours, "x0")
    while path[-1] != "x0":
        path.append(above[path[-1]])
    total = sum(lengths[frozenset(pair)] for pair in itertools.pairwise(path))
    correlation = np.corrcoef(chain_of_columns().T)[0, 4]
    assert total == pytest.approx(-math.log(correlation), abs=0.05)


# -- odd tables -------------------------------------------------------------------------------------


def noisy_copies(rng, n_rows, cards, error=0.15):
    """Columns that follow one coin, each with its own number of categories."""
    coin = rng.integers(0, 2, n_rows)
    columns = []
    for card in cards:
        column = np.where(rng.random(n_rows) < error, rng.integers(0, card, n_rows), coin % card)
        columns.append(column)
    return np.stack(columns, axis=1)


def odd_tables():
    rng = np.random.default_rng(0)
    plain = noisy_copies(rng, 300, [2] * 6)
    constant = plain.copy()
    constant[:, 2] = 1
    holes = plain.copy()
    holes[rng.random(holes.shape) < 0.3] = -1
    never = plain.copy()
    never[:150, 0] = -1
    never[150:, 1] = -1  # the first two columns are never seen together
    few = noisy_copies(rng, 5, [2] * 6)
    return {
        "one column": plain[:, :1],
        "two columns": plain[:, :2],
        "three columns": plain[:, :3],
        "one constant column": constant[:, 2:3],
        "two columns, one constant": constant[:, 1:3],
        "a constant column": constant,
        "all constant": np.zeros((20, 5), dtype=np.int64),
        "many categories": noisy_copies(rng, 400, [2, 3, 7, 2, 12, 4]),
        "missing cells": holes,
        "columns never seen together": never,
        "independent columns": rng.integers(0, 3, size=(200, 6)),
        "independent blocks": np.hstack([plain, noisy_copies(rng, 300, [3] * 4)]),
        "equal columns": np.repeat(plain[:, :2], 3, axis=1),
        "few rows": few,
        "one row": plain[:1],
    }


ODD = odd_tables()


@pytest.mark.parametrize("name", STRUCTURES)
@pytest.mark.parametrize("kind", ODD)
def test_every_structure_goes_through_a_fit_of_any_table(name, kind):
    rows = ODD[kind]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        n_states = 1 if len(rows) == 1 else 2
        model = tacit.LatentTree(n_states, name).fit(rows)
    assert set(model.topology_.observed) == {f"x{place}" for place in range(rows.shape[1])}
    scores = model.score_samples(rows)
    assert np.isfinite(scores).all()
    assert (scores <= 1e-12).all()
    again = tacit.LatentTree(n_states, name).fit(rows)
    assert again.topology_ == model.topology_


@pytest.mark.parametrize("name", STRUCTURES)
@pytest.mark.parametrize("learn", ["spectral", "em"])
def test_learnt_trees_carry_other_learners(name, learn):
    rows = ODD["independent blocks"]
    model = tacit.LatentTree(2, name, learn, n_restarts=1).fit(rows)
    assert np.isfinite(model.score(rows))


@pytest.mark.parametrize("name", STRUCTURES)
def test_names_of_hidden_nodes_are_new(name):
    rows = noisy_copies(np.random.default_rng(1), 200, [2] * 5)
    taken = ["h", "h1", "h2", "h3", "h_h"]
    topology = tacit.learn_structure(dict(zip(taken, rows.T, strict=True)), name)
    assert topology.observed == tuple(taken)
    assert len(set(topology.nodes)) == len(topology.nodes)
    assert tacit.Topology.parse(topology.to_newick(), taken) == topology.contracted()


def test_distances_that_are_not_supported_are_counted():
    learnt = structure_and_distances(ODD["a constant column"], "neighbor-joining")
    assert learnt.n_unsupported == 5  # the constant with each of the others
    assert structure_and_distances(ODD["a constant column"], "star").n_unsupported == 0


def test_blocks_that_are_independent_stay_together():
    rng = np.random.default_rng(2)
    rows = np.hstack([noisy_copies(rng, 3000, [2] * 4), noisy_copies(rng, 3000, [2] * 4)])
    block = frozenset(f"x{place}" for place in range(4, 8))
    for name in BY_DISTANCE:
        assert block in splits(tacit.learn_structure(rows, name)), name


@pytest.mark.parametrize("name", BY_DISTANCE)
def test_independent_blocks_meet_in_one_node(name):
    rng = np.random.default_rng(3)
    rows = np.hstack([noisy_copies(rng, 2000, [2] * 3) for _ in range(4)])
    topology = tacit.learn_structure(rows, name)
    assert max(len(topology.neighbours[hidden]) for hidden in topology.hidden) == 4


@pytest.mark.parametrize("name", ["neighbor-joining", "chow-liu-joining"])
def test_edges_without_length_between_hidden_nodes_are_contracted(name):
    rng = np.random.default_rng(4)
    rows = np.repeat(noisy_copies(rng, 500, [2] * 2), 4, axis=1)  # two columns, four times each
    topology = tacit.learn_structure(rows, name)
    assert len(topology.hidden) == 2
    assert min(topology.lengths) >= 0


# -- laws -------------------------------------------------------------------------------------------

MODEL = tacit.toy.random_tree_model(n_leaves=8, random_state=5)
ROWS = MODEL.sample(4000, random_state=6)


@pytest.mark.parametrize("name", [name for name in STRUCTURES if name != "star"])
@given(order=st.permutations(range(8)))
def test_the_order_of_columns_does_not_matter(name, order):
    names = [f"x{place}" for place in range(8)]
    rows = dict(zip(names, ROWS.T, strict=True))
    moved = {names[place]: rows[names[place]] for place in order}
    one, other = tacit.learn_structure(rows, name), tacit.learn_structure(moved, name)
    assert splits(one) == splits(other)


@pytest.mark.parametrize("name", BY_DISTANCE)
def test_a_weight_of_two_is_a_row_twice(name):
    weights = np.where(np.arange(len(ROWS)) % 3 == 0, 2, 1)
    weighted = tacit.learn_structure(ROWS, name, sample_weight=weights)
    assert splits(weighted) == splits(tacit.learn_structure(np.repeat(ROWS, weights, axis=0), name))


@pytest.mark.parametrize("name", STRUCTURES)
def test_a_fit_has_the_tree_that_is_learnt_alone(name):
    model = tacit.LatentTree(2, name).fit(ROWS)
    alone = tacit.learn_structure(ROWS, name)
    assert model.topology_ == alone.contracted()


# -- numbers ----------------------------------------------------------------------------------------


def gaussian_chain(n_rows=2000, seed=0):
    steps = np.random.default_rng(seed).normal(size=(n_rows, 5))
    return steps.cumsum(axis=1)


@pytest.mark.parametrize("metric", ["gaussian", "nonparanormal"])
@pytest.mark.parametrize("name", ["chow-liu", "chow-liu-grouping", "recursive-grouping"])
def test_trees_of_numbers(name, metric):
    numbers = gaussian_chain()
    if metric == "nonparanormal":
        numbers = np.exp(numbers)  # which changes no normal score
    topology = tacit.learn_structure(numbers, name, metric=metric)
    assert sorted(map(sorted, topology.edges)) == [[f"x{n}", f"x{n + 1}"] for n in range(4)]


@pytest.mark.parametrize("metric", [metric for metric in METRICS if metric != "discrete"])
@pytest.mark.parametrize("name", STRUCTURES)
def test_numbers_may_be_missing_or_constant(name, metric):
    numbers = gaussian_chain(200)
    numbers[np.random.default_rng(1).random(numbers.shape) < 0.2] = np.nan
    numbers[:, 3] = 7.0
    topology = tacit.learn_structure(numbers, name, metric=metric)
    assert len(topology.observed) == 5


def test_numbers_are_read_from_any_table():
    names, numbers = read_numbers({"a": [1, None, 3], "b": [True, False, True], "c": [0.5, 1, -1]})
    assert names == ("a", "b", "c")
    np.testing.assert_array_equal(numbers, [[1, 1, 0.5], [np.nan, 0, 1], [3, 1, -1]])
    _, chunked = read_numbers([np.ones((2, 3)), np.zeros((1, 3))])
    assert chunked.shape == (3, 3)


def test_what_is_no_number_is_named():
    with pytest.raises(DataError, match="'b' holds something else than numbers"):
        read_numbers({"a": [1.0, 2.0], "b": ["x", "y"]})
    with pytest.raises(DataError, match="every value of column 'a'"):
        read_numbers({"a": [None, None], "b": [1.0, 2.0]})
    with pytest.raises(ColumnError, match="same columns"):
        read_numbers([{"a": [1.0]}, {"b": [1.0]}])


# -- arguments --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"method": "neighbour-joining"}, "did you mean 'neighbor-joining'"),
        ({"method": "auto"}, "method='auto' is not known"),
        ({"metric": "normal"}, "metric='normal' is not known"),
        ({"n_states": 0}, "n_states=0"),
        ({"metric": "gaussian", "n_states": 2}, "n_states belongs to"),
        ({"metric": "gaussian", "sample_weight": [1, 1]}, "sample_weight belongs to"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(arguments, complaint):
    with pytest.raises(ArgumentError, match=complaint):
        tacit.learn_structure([[0, 1], [1, 0]], **arguments)


def test_progress_is_reported():
    reports = []
    tacit.learn_structure(ROWS, "chow-liu", progress=lambda *report: reports.append(report))
    assert [done for done, _ in reports] == sorted(done for done, _ in reports)
    assert "chow-liu of 8 columns" in reports[-1][1]
