"""Trees in files: write, then read, is the identity."""

import json

import numpy as np
import pytest
from hypothesis import given

from oracles.topologies import topologies
from tacit.errors import FileFormatError
from tacit.messages.network_files import TREE
from tacit.trees.model_files import TOPOLOGY
from tacit.trees.structure.topology import Topology

DAMAGE = (FileFormatError, TypeError, ValueError, KeyError, IndexError, AttributeError)


def through_json(plain):
    return json.loads(json.dumps(plain, allow_nan=False))


@given(topologies())
def test_a_topology_comes_back_with_every_order(topology):
    restored = TOPOLOGY.from_plain(through_json(TOPOLOGY.to_plain(topology)))
    for field in ("nodes", "edges", "observed", "lengths", "n_states"):
        assert getattr(restored, field) == getattr(topology, field)


def test_the_order_of_the_observed_nodes_comes_back():
    topology = Topology(("a", "b", "h"), (("h", "a"), ("h", "b")), ("b", "a"))
    assert TOPOLOGY.from_plain(TOPOLOGY.to_plain(topology)).observed == ("b", "a")


@given(topologies())
def test_a_rooted_tree_comes_back(topology):
    tree = topology.rooted(topology.observed)
    restored = TREE.from_plain(through_json(TREE.to_plain(tree)))
    assert (restored.names, restored.n_leaves) == (tree.names, tree.n_leaves)
    assert np.array_equal(restored.parent, tree.parent)
    assert np.array_equal(restored.copy_of, tree.copy_of)
    assert restored.parent.dtype == restored.copy_of.dtype == np.int32


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
    assert TOPOLOGY.from_plain(plain).hidden == ("h",)
    with pytest.raises(DAMAGE):
        TOPOLOGY.from_plain({**plain, field: value})


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
    assert TREE.from_plain(plain).root == 3
    with pytest.raises(DAMAGE):
        TREE.from_plain({**plain, field: value})


@pytest.mark.parametrize("plain", [None, [], 3, "text", {}])
def test_something_else_is_no_tree(plain):
    for form in (TOPOLOGY, TREE):
        with pytest.raises(DAMAGE):
            form.from_plain(plain)
