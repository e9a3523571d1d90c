"""Networks, tables and mixtures in files: write, then read, is the identity; what does not fit is refused."""

from collections import ChainMap

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.edited_files import copied
from oracles.mixtures import cards_of, random_mixture
from oracles.networks import KINDS, in_kind, random_model
from tacit.core.files.fields import Source, damage_at
from tacit.errors import FileFormatError
from tacit.messages.network import Dense, Hadamard
from tacit.messages.network_files import PARAMETERS, leaf_names, leaf_sizes, tree_of


def tensors(node):
    """The arrays of a node in a fixed order."""
    if isinstance(node, Dense):
        return [node.core]
    if isinstance(node, Hadamard):
        return [node.table]
    return [node.start, *node.steps, node.stop]


def model(seed=0):
    return random_model(np.random.default_rng(seed), n_leaves=5, most_children=3)


def written(parameters):
    arrays = {}
    return PARAMETERS.write(parameters, "", arrays), arrays


def read(plain, arrays):
    with damage_at("parameters"):
        return PARAMETERS.read(plain, "", Source(dict(arrays)), ChainMap({}))


def same_tree(one, other):
    return one.names == other.names and np.array_equal(one.parent, other.parent)


@pytest.mark.parametrize("kind", KINDS)
@given(seed=st.integers(0, 10**6))
def test_a_network_comes_back(kind, seed):
    rng = np.random.default_rng(seed)
    tables = random_model(rng, n_leaves=6)
    network = in_kind(rng, tables, kind)
    restored = copied(PARAMETERS, network)
    assert same_tree(restored.tree, network.tree)
    assert leaf_sizes(restored) == tables.layout.n_states[:6]
    assert restored.ranks == network.ranks
    for old, new in zip(network.nodes, restored.nodes, strict=True):
        assert type(new) is type(old)
        for one, other in zip(tensors(old), tensors(new), strict=True):
            assert np.array_equal(one, other)
    for name in ("emit", "total"):
        for old, new in zip(getattr(network, name), getattr(restored, name), strict=True):
            assert np.array_equal(old, new)


@given(st.integers(0, 10**6))
def test_tables_come_back(seed):
    tables = model(seed)
    restored = copied(PARAMETERS, tables)
    assert same_tree(restored.tree, tables.tree)
    assert restored.layout.n_states == tables.layout.n_states
    assert np.array_equal(restored.values, tables.values)


@given(seed=st.integers(0, 10**6), n_components=st.integers(1, 4))
def test_a_mixture_comes_back(seed, n_components):
    mixture = random_mixture(np.random.default_rng(seed), n_components)
    restored = copied(PARAMETERS, mixture)
    assert np.array_equal(restored.weights, mixture.weights)
    assert leaf_sizes(restored) == tuple(cards_of(mixture))
    assert leaf_names(restored) == leaf_names(mixture)
    assert tree_of(restored) is restored.parts[restored.heaviest].tree
    for old, new in zip(mixture.parts, restored.parts, strict=True):
        assert same_tree(new.tree, old.tree)
        assert np.array_equal(new.values, old.values)


@pytest.mark.parametrize("kind", KINDS)
def test_any_array_that_is_missing_or_has_another_shape_is_refused(kind):
    tables = model()
    plain, arrays = written(in_kind(np.random.default_rng(1), tables, kind))
    for name, array in arrays.items():
        others = {key: value for key, value in arrays.items() if key != name}
        with pytest.raises(FileFormatError, match="missing"):
            read(plain, others)
        for wrong in (
            np.concatenate([array, array], axis=-1),
            array[..., :0],
            array.astype(np.float32),
            np.full_like(array, np.nan),
            array[None],
        ):
            with pytest.raises(FileFormatError):
                read(plain, {**others, name: wrong})


def test_a_root_that_sends_more_than_one_number_is_refused():
    plain, arrays = written(model().network)
    root = f"nodes.{len(plain['nodes']) - 1}.table"
    with pytest.raises(FileFormatError, match="root"):
        read(plain, {**arrays, root: np.repeat(arrays[root], 2, axis=0)})


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("emit", lambda leaves: leaves[1:]),
        ("nodes", lambda nodes: nodes[1:]),
        ("nodes", lambda nodes: [*nodes[1:], {"kind": "code"}]),
        ("tree", lambda tree: {**tree, "parent": tree["parent"][::-1]}),
        ("tree", lambda tree: {**tree, "n_leaves": tree["n_leaves"] - 1}),
    ],
)
def test_a_network_of_another_tree_is_refused(field, change):
    plain, arrays = written(model().network)
    with pytest.raises(FileFormatError):
        read({**plain, field: change(plain[field])}, arrays)


def test_tables_with_negative_entries_are_refused_though_their_rows_sum_to_one():
    plain, arrays = written(model())
    values = arrays["values"].copy()
    values[0] -= 1.0
    values[1] += 1.0  # the same row
    with pytest.raises(FileFormatError, match="is not between"):
        read(plain, {**arrays, "values": values})


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("values", lambda values: values * 2),
        ("values", lambda values: -values),
        ("values", lambda values: values[:-1]),
        ("values", lambda values: values.astype(np.float32)),
        ("values", lambda values: np.where(values == values.max(), np.nan, values)),
        ("n_states", lambda states: states[:-1]),
        ("n_states", lambda states: states - 2),
        ("n_states", lambda states: states.astype(float)),
        ("n_states", lambda states: np.full_like(states, 2**31 - 1)),
        ("n_states", lambda states: np.full_like(states, 2**63 - 1)),
    ],
)
def test_damaged_tables_are_refused(name, change):
    plain, arrays = written(model())
    with pytest.raises(FileFormatError):
        read(plain, {**arrays, name: change(arrays[name])})
    with pytest.raises(FileFormatError, match="missing"):
        read(plain, {key: array for key, array in arrays.items() if key != name})


def test_any_array_of_a_mixture_that_is_missing_or_damaged_is_refused():
    plain, arrays = written(random_mixture(np.random.default_rng(0)))
    assert set(arrays) == {
        "weights",
        *(f"parts.{c}.{n}" for n in ("values", "n_states") for c in range(3)),
    }
    for name, array in arrays.items():
        others = {key: value for key, value in arrays.items() if key != name}
        with pytest.raises(FileFormatError, match=name):
            read(plain, others)
        for wrong in (array[:-1], -array, array * 2, array[None], array.astype(np.float32)):
            with pytest.raises(FileFormatError):
                read(plain, {**others, name: wrong})
    for parts in ([], plain["parts"][:2], [*plain["parts"], plain["parts"][0]]):
        with pytest.raises(FileFormatError):
            read({**plain, "parts": parts}, arrays)


def test_trees_with_other_leaves_are_no_mixture():
    mixture = random_mixture(np.random.default_rng(0), n_components=2)
    plain, arrays = written(mixture)
    tree = plain["parts"][1]["tree"]
    plain["parts"][1]["tree"] = {**tree, "names": ["other", *tree["names"][1:]]}
    with pytest.raises(FileFormatError, match="component 1 has other leaves"):
        read(plain, arrays)
