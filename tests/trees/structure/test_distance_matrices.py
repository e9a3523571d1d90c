"""Spanning trees of matrices of distances."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.trees.structure.distance_matrices import maximum_spanning_tree


@given(st.integers(1, 9), st.integers(0, 2**32 - 1), st.booleans())
def test_the_spanning_tree_is_as_heavy_as_that_of_networkx(n_nodes, seed, many_ties):
    rng = np.random.default_rng(seed)
    weights = (
        rng.integers(0, 3, size=(n_nodes, n_nodes)) if many_ties else rng.random((n_nodes,) * 2)
    )
    weights = np.triu(weights, 1).astype(float)
    weights += weights.T
    edges = maximum_spanning_tree(weights)
    graph = nx.Graph(edges.tolist())
    graph.add_nodes_from(range(n_nodes))
    assert nx.is_tree(graph)
    heaviest = nx.maximum_spanning_tree(nx.from_numpy_array(weights + 1))
    expected = sum(attributes["weight"] - 1 for _, _, attributes in heaviest.edges(data=True))
    assert weights[edges[:, 0], edges[:, 1]].sum() == pytest.approx(expected)


def test_ties_go_to_the_lower_number():
    assert maximum_spanning_tree(np.zeros((4, 4))).tolist() == [[0, 1], [0, 2], [0, 3]]


def test_no_variables_have_no_edges():
    assert maximum_spanning_tree(np.zeros((0, 0))).shape == (0, 2)
