"""Trees and networks as arrays and plain values: write, then read, is the identity."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.mixtures import cards_of, random_mixture
from oracles.networks import KINDS, in_kind, random_model
from oracles.topologies import topologies
from tacit.errors import FileFormatError
from tacit.messages.network import Dense, Hadamard
from tacit.trees.files.network_arrays import (
    mixture_arrays,
    mixture_from,
    network_arrays,
    network_from,
    parameters_arrays,
    parameters_from,
    tables_arrays,
    tables_from,
    topology_from_json,
    topology_to_json,
    tree_from_json,
    tree_to_json,
)
from tacit.trees.structure.topology import Topology


def through_json(plain):
    return json.loads(json.dumps(plain, allow_nan=False))


def tensors(node):
    """The arrays of a node in a fixed order."""
    if isinstance(node, Dense):
        return [node.core]
    if isinstance(node, Hadamard):
        return [node.table]
    return [node.start, *node.steps, node.stop]


def model(seed=0):
    return random_model(np.random.default_rng(seed), n_leaves=5, most_children=3)


# -- trees --------------------------------------------------------------------------------------


@given(topologies())
def test_a_topology_comes_back_with_every_order(topology):
    found = topology_from_json(through_json(topology_to_json(topology)))
    for field in ("nodes", "edges", "observed", "lengths", "n_states"):
        assert getattr(found, field) == getattr(topology, field)


def test_the_order_of_the_observed_nodes_comes_back():
    topology = Topology(("a", "b", "h"), (("h", "a"), ("h", "b")), ("b", "a"))
    assert topology_from_json(topology_to_json(topology)).observed == ("b", "a")


@given(topologies())
def test_a_rooted_tree_comes_back(topology):
    tree = topology.rooted(topology.observed)
    found = tree_from_json(through_json(tree_to_json(tree)))
    assert (found.names, found.n_leaves) == (tree.names, tree.n_leaves)
    assert np.array_equal(found.parent, tree.parent)
    assert np.array_equal(found.copy_of, tree.copy_of)
    assert found.parent.dtype == found.copy_of.dtype == np.int32


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("edges", [[0, 7]]),
        ("edges", [[0, -1], [1, 2]]),
        ("edges", [[0, 1]]),
        ("edges", [[0, 1, 2]]),
        ("edges", None),
        ("nodes", ["a", "a", "h"]),
        ("nodes", ["a", 3, "h"]),
        ("observed", []),
        ("observed", [True]),
        ("observed", [0, 1, 0]),
        ("lengths", ["long", None]),
        ("lengths", [1.0]),
        ("n_states", {"2": 0}),
        ("n_states", {"x": 2}),
        ("n_states", [2]),
    ],
)
def test_a_damaged_topology_is_refused(field, value):
    plain = {
        "nodes": ["a", "b", "h"],
        "edges": [[2, 0], [2, 1]],
        "observed": [0, 1],
        "lengths": [None, 0.5],
        "n_states": {"2": 2},
    }
    assert topology_from_json(plain).hidden == ("h",)
    with pytest.raises(FileFormatError, match="not a topology"):
        topology_from_json({**plain, field: value})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("names", ["a", "b", "h"]),
        ("names", ["a", "b", "h", "h"]),
        ("n_leaves", 0),
        ("n_leaves", 4),
        ("n_leaves", 2.0),
        ("parent", [2, 2, -1, -1]),
        ("parent", [2, 2, 3, 3]),
        ("parent", [1, 2, 3, -1]),
        ("parent", [3, 3, 3, -1]),
        ("parent", [2, 9, 3, -1]),
        ("parent", [2, 2, 2, -1]),
        ("copy_of", [-1, -1, 1, 0]),
        ("copy_of", [-1, 0, -1, -1]),
        ("copy_of", [-1, -1, 2, -1]),
        ("copy_of", "none"),
    ],
)
def test_a_damaged_rooted_tree_is_refused(field, value):
    plain = {
        "names": ["a", "b", "h", "r"],
        "n_leaves": 2,
        "parent": [2, 2, 3, -1],
        "copy_of": [-1, -1, 1, -1],
    }
    assert tree_from_json(plain).root == 3
    with pytest.raises(FileFormatError, match="not a rooted tree"):
        tree_from_json({**plain, field: value})


@pytest.mark.parametrize("plain", [None, [], 3, "text", {}])
def test_something_else_is_no_tree(plain):
    for read in (topology_from_json, tree_from_json):
        with pytest.raises(FileFormatError):
            read(plain)


# -- networks -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@given(seed=st.integers(0, 10**6))
def test_a_network_comes_back(kind, seed):
    rng = np.random.default_rng(seed)
    tables = random_model(rng, n_leaves=6)
    network = in_kind(rng, tables, kind)
    cards = tables.layout.n_states[:6]
    found = network_from(network.tree, network_arrays(network), cards)
    assert found.ranks == network.ranks
    for old, new in zip(network.nodes, found.nodes, strict=True):
        assert type(new) is type(old)
        for one, other in zip(tensors(old), tensors(new), strict=True):
            assert np.array_equal(one, other)
    for name in ("emit", "total"):
        for old, new in zip(getattr(network, name), getattr(found, name), strict=True):
            assert np.array_equal(old, new)


@given(st.integers(0, 10**6))
def test_tables_come_back(seed):
    tables = model(seed)
    found = tables_from(tables.tree, tables_arrays(tables), tables.layout.n_states[:5])
    assert found.layout.n_states == tables.layout.n_states
    assert np.array_equal(found.values, tables.values)


def test_parameters_are_tables_where_there_are_any():
    tables = model()
    found = parameters_from(tables.tree, parameters_arrays(tables))
    assert np.array_equal(found.values, tables.values)


def test_parameters_are_the_network_where_there_are_no_tables():
    tables = model()
    dense = in_kind(np.random.default_rng(1), tables, "dense")
    network = parameters_from(tables.tree, parameters_arrays(dense))
    assert np.array_equal(network.nodes[0].core, dense.nodes[0].core)


@pytest.mark.parametrize("kind", KINDS)
def test_any_array_that_is_missing_or_has_another_shape_is_refused(kind):
    tables = model()
    network = in_kind(np.random.default_rng(1), tables, kind)
    arrays = network_arrays(network)
    for name, array in arrays.items():
        others = {key: value for key, value in arrays.items() if key != name}
        with pytest.raises(FileFormatError, match="missing"):
            network_from(tables.tree, others)
        for wrong in (
            np.concatenate([array, array]),
            np.concatenate([array, array], axis=-1),
            array[..., :0],
            array.astype(np.float32),
            np.full_like(array, np.nan),
            array[None],
        ):
            fits_below = wrong.shape[1:] == array.shape[1:] and wrong.dtype == array.dtype
            if name.startswith("table") and fits_below and np.isfinite(wrong).all():
                continue  # more parent states: seen where the parent is built
            with pytest.raises(FileFormatError, match=r"array|message|categories"):
                network_from(tables.tree, {**others, name: wrong}, tables.layout.n_states[:5])


def test_a_root_that_sends_more_than_one_number_is_refused():
    tables = model()
    arrays = network_arrays(tables.network)
    root = f"table.{tables.tree.root}"
    arrays[root] = np.repeat(arrays[root], 2, axis=0)
    with pytest.raises(FileFormatError, match="root"):
        network_from(tables.tree, arrays)


def test_tables_of_other_columns_are_refused():
    tables = model()
    cards = np.array(tables.layout.n_states[:5]) + 1
    for arrays in (tables_arrays(tables), network_arrays(tables.network)):
        with pytest.raises(FileFormatError, match="categories"):
            parameters_from(tables.tree, arrays, cards.tolist())


def test_tables_with_negative_entries_are_refused_though_their_rows_sum_to_one():
    tables = model()
    values = tables.values.copy()
    values[0] -= 1.0
    values[1] += 1.0  # the same row
    with pytest.raises(FileFormatError, match="not probabilities"):
        tables_from(tables.tree, {**tables_arrays(tables), "tables": values})


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("tables", lambda values: values * 2),
        ("tables", lambda values: -values),
        ("tables", lambda values: values[:-1]),
        ("tables", lambda values: values.astype(np.float32)),
        ("tables", lambda values: np.where(values == values.max(), np.nan, values)),
        ("n_states", lambda states: states[:-1]),
        ("n_states", lambda states: states - 2),
        ("n_states", lambda states: states.astype(float)),
    ],
)
def test_damaged_tables_are_refused(name, change):
    tables = model()
    arrays = tables_arrays(tables)
    with pytest.raises(FileFormatError):
        tables_from(tables.tree, {**arrays, name: change(arrays[name])})
    with pytest.raises(FileFormatError, match="missing"):
        tables_from(tables.tree, {key: array for key, array in arrays.items() if key != name})


# -- mixtures -----------------------------------------------------------------------------------


@given(seed=st.integers(0, 10**6), n_components=st.integers(1, 4))
def test_a_mixture_comes_back(seed, n_components):
    mixture = random_mixture(np.random.default_rng(seed), n_components)
    trees = [part.tree for part in mixture.parts]
    found = mixture_from(trees, parameters_arrays(mixture), cards_of(mixture))
    assert np.array_equal(found.weights, mixture.weights)
    for old, new in zip(mixture.parts, found.parts, strict=True):
        assert new.tree is old.tree
        assert new.layout.n_states == old.layout.n_states
        assert np.array_equal(new.values, old.values)


def test_any_array_of_a_mixture_that_is_missing_or_damaged_is_refused():
    mixture = random_mixture(np.random.default_rng(0))
    trees = [part.tree for part in mixture.parts]
    arrays = mixture_arrays(mixture)
    assert set(arrays) == {
        "weights",
        *(f"{n}.{c}" for n in ("tables", "n_states") for c in range(3)),
    }
    for name, array in arrays.items():
        where = "weights" if name == "weights" else f"component {name[-1]}: "
        others = {key: value for key, value in arrays.items() if key != name}
        with pytest.raises(FileFormatError, match=where):
            mixture_from(trees, others)
        for wrong in (array[:-1], -array, array * 2, array[None], array.astype(np.float32)):
            with pytest.raises(FileFormatError):
                mixture_from(trees, {**others, name: wrong})
    with pytest.raises(FileFormatError, match="component 0: the leaves have"):
        mixture_from(trees, arrays, [9] * 5)
    for wrong in ([], trees[:2], [*trees, trees[0]]):
        with pytest.raises(FileFormatError, match="weights"):
            mixture_from(wrong, arrays)


def test_trees_with_other_leaves_are_no_mixture():
    mixture = random_mixture(np.random.default_rng(0), n_components=2)
    one, other = (part.tree for part in mixture.parts)
    renamed = replace(other, names=("other", *other.names[1:]))
    with pytest.raises(FileFormatError, match="not a mixture: component 1 has other leaves"):
        mixture_from([one, renamed], mixture_arrays(mixture))
