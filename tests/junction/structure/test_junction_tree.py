"""Junction trees of latent graphs: trees over sets of variables."""

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.errors import ArgumentTypeError, TooExpensiveError, TopologyError
from tacit.junction.structure.graphs import VariableGraph
from tacit.junction.structure.junction_tree import junction_tree


def chain(length, order):
    """The edges of a hidden Markov model."""
    edges = [(f"h{t}", f"x{t}") for t in range(length)]
    edges += [(f"h{t - d}", f"h{t}") for t in range(length) for d in range(1, order + 1) if t >= d]
    return edges, [f"x{t}" for t in range(length)]


def made(edges, columns, n_states=2, n_categories=3):
    graph = VariableGraph.of(edges)
    states = {name: n_categories if name in columns else n_states for name in graph.variables}
    return junction_tree(graph, columns, states)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_a_chain_has_the_treewidth_of_its_order_and_no_more_states_than_its_separators(order):
    edges, columns = chain(9, order)
    junction = made(edges, columns)
    assert junction.treewidth == order
    assert max(junction.n_states[node] for node in junction.tree.hidden) == 2**order
    assert max(junction.caps) == 2**order


def test_two_chains_are_one_chain_of_pairs():
    edges = []
    for t in range(6):
        edges += [(f"a{t}", f"x{t}"), (f"b{t}", f"x{t}")]
        if t:
            edges += [(f"a{t - 1}", f"a{t}"), (f"b{t - 1}", f"b{t}")]
    junction = made(edges, [f"x{t}" for t in range(6)])
    assert sorted(junction.members[6:]) == [(f"a{t}", f"b{t}") for t in range(6)]


def holds_together(junction):
    """Every variable is in connected nodes; every node has a child and at most three branches."""
    tree = junction.tree
    for name in {name for node in tree.hidden for name in junction.members[node]}:
        holders = [node for node in tree.hidden if name in junction.members[node]]
        tops = [
            node
            for node in holders
            if node == tree.root or name not in junction.members[int(tree.parent[node])]
        ]
        assert len(tops) == 1, name
    for leaf in range(tree.n_leaves):
        assert set(junction.conditioned_on[leaf]) <= set(junction.members[int(tree.parent[leaf])])
    assert all(tree.children[node] for node in tree.hidden)
    assert all(tree.degree(node) <= 3 for node in tree.hidden)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_every_random_graph_becomes_a_proper_junction_tree(data):
    n_hidden = data.draw(st.integers(1, 6))
    hidden = [f"h{i}" for i in range(n_hidden)]
    edges = [
        (hidden[i], hidden[j])
        for j in range(n_hidden)
        for i in range(j)
        if data.draw(st.booleans())
    ]
    columns = [f"x{i}" for i in range(data.draw(st.integers(n_hidden, n_hidden + 3)))]
    for number, column in enumerate(columns):
        others = data.draw(st.lists(st.sampled_from(hidden), max_size=2, unique=True))
        first = hidden[number] if number < n_hidden else data.draw(st.sampled_from(hidden))
        edges += [(above, column) for above in dict.fromkeys([first, *others])]
    holds_together(made(edges, columns))
    holds_together(made(nx.Graph(edges), columns))


def test_observed_variables_that_others_depend_on_are_inside():
    edges = [("h0", "x0"), ("h0", "h1"), ("h1", "x1"), ("x0", "x1"), ("h1", "x2")]
    junction = made(edges, ["x0", "x1", "x2"])
    assert junction.conditioned_on[0] == ("x0",)
    holds_together(junction)


def test_independent_parts_are_one_tree():
    edges = [("a", "x"), ("a", "y"), ("a", "z"), ("b", "u"), ("b", "v"), ("b", "w")]
    junction = made(edges, list("xyzuvw"))
    holds_together(junction)
    assert min(junction.caps[:-1]) == 1


def test_hidden_variables_that_nothing_depends_on_are_left_out():
    edges, columns = chain(5, 1)
    junction = made([*edges, ("h2", "barren"), ("barren", "more")], columns)
    assert "barren" not in junction.hidden_variables


@pytest.mark.parametrize(
    ("edges", "columns", "error", "words"),
    [
        ([("a", "x"), ("x", "a")], ["x"], TopologyError, "cycle"),
        ([("a", "a")], ["a"], TopologyError, "itself"),
        ([("a", "x", 3)], ["x"], TopologyError, "not a pair"),
        ([], ["x"], TopologyError, "no variables"),
        ("a-x", ["x"], ArgumentTypeError, "networkx"),
        ([("a", "x")], ["x", "y"], TopologyError, "'y' is not in the graph"),
    ],
)
def test_what_is_no_graph_is_refused(edges, columns, error, words):
    with pytest.raises(error, match=words):
        made(edges, columns)


def test_a_graph_that_is_too_wide_is_refused_with_its_width_and_variables():
    hidden = [f"h{i}" for i in range(30)]
    edges = [(one, other) for j, other in enumerate(hidden) for one in hidden[:j]]
    edges += [(parent, f"x{i}") for i, parent in enumerate(hidden)]
    with pytest.raises(TooExpensiveError, match=r"treewidth 29.*'h0'.*'h29'"):
        made(edges, [f"x{i}" for i in range(30)])
