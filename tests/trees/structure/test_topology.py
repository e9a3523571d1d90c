"""Trees over named nodes: where they come from, what they say, where they go."""

import copy
import itertools
import pickle

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.topologies import topologies
from tacit.errors import ArgumentTypeError, MissingDataError, TopologyError
from tacit.trees.structure.topology import Topology


def distances_between_observed(topology):
    """Sums of edge lengths along paths, by networkx; an edge without a length counts 1."""
    graph = nx.Graph()
    graph.add_nodes_from(topology.nodes)
    for (one, other), length in zip(topology.edges, topology.lengths, strict=True):
        graph.add_edge(one, other, weight=1.0 if length is None else length)
    reach = dict(nx.all_pairs_dijkstra_path_length(graph))
    return {
        (one, other): reach[one][other] for one in topology.observed for other in topology.observed
    }


# -- from elsewhere and back ------------------------------------------------------------------


@given(topologies(hidden_leaves=False))
def test_newick_text_gives_the_same_tree_back(topology):
    again = Topology.from_newick(topology.to_newick() + " ", observed=topology.observed)
    assert again.n_states == {}
    assert (
        Topology(again.nodes, again.edges, again.observed, again.lengths, topology.n_states)
        == topology
    )


@given(topologies())
def test_edges_give_the_same_tree_back(topology):
    edges = topology.to_edges()
    assert Topology.from_edges(edges, topology.observed, topology.n_states) == topology


@given(topologies())
def test_a_networkx_graph_gives_the_same_tree_back(topology):
    graph = topology.to_networkx()
    assert nx.is_tree(graph)
    assert Topology.from_networkx(graph) == topology


@given(topologies())
def test_pickles_and_copies_are_equal_and_hash_alike(topology):
    again = pickle.loads(pickle.dumps(topology))
    assert again == topology
    assert hash(again) == hash(topology)
    assert copy.deepcopy(topology) is topology


@given(topologies(), st.randoms(use_true_random=False))
def test_the_order_of_nodes_and_edges_and_their_direction_have_no_meaning(topology, random):
    nodes, observed = list(topology.nodes), list(topology.observed)
    edges = [
        (pair[::-1] if random.random() < 0.5 else pair, length)
        for pair, length in zip(topology.edges, topology.lengths, strict=True)
    ]
    for items in (nodes, observed, edges):
        random.shuffle(items)
    shuffled = Topology(
        tuple(nodes),
        tuple(pair for pair, _ in edges),
        tuple(observed),
        tuple(length for _, length in edges),
        topology.n_states,
    )
    assert shuffled == topology
    assert hash(shuffled) == hash(topology)


def test_different_trees_are_not_equal():
    tree = Topology.from_newick("((a,b)h,c,d)r;")
    assert tree != Topology.from_newick("((a,c)h,b,d)r;")
    assert tree != Topology.from_newick("((a,b)h,c,d)s;")
    assert tree != Topology.from_newick("((a,b)h,c,d:1)r;")
    assert tree != Topology.from_newick("((a,b)h,c,d)r;", observed=["h"])
    assert tree != "((a,b)h,c,d)r;"


def test_unnamed_and_repeatedly_named_inner_nodes_get_names_that_are_free():
    tree = Topology.from_newick("((a,b)95,(c,d)95,(h1,e)own,(f,g));")
    assert tree.observed == ("a", "b", "c", "d", "h1", "e", "f", "g")
    assert tree.hidden == ("h2", "h3", "h4", "own", "h5")


def test_a_variable_named_twice_is_refused():
    for text in ("(a,b,a);", "((a,b)c,c);"):
        with pytest.raises(TopologyError, match="different names"):
            Topology.from_newick(text)


def test_a_top_node_with_one_child_is_a_variable_only_if_it_is_meant():
    assert Topology.from_newick("(b)a;").observed == ("a", "b")
    assert Topology.from_newick("((a,b));").observed == ("a", "b")
    assert Topology.from_newick("((a,b)h)top;", observed=["a"]).observed == ("a", "b")
    assert Topology.from_newick("((a,b)h)top;", observed=["top"]).observed == ("top", "a", "b")


def test_a_file_is_read_byte_for_byte(tmp_path):
    path = tmp_path / "tree (1).nwk"
    path.write_bytes("\ufeff('a\r\nb',c,é);\n".encode())
    for form in (path, str(path)):
        assert Topology.from_newick(form).observed == ("a\r\nb", "c", "é")


def test_a_file_that_is_absent_or_not_text_is_refused(tmp_path):
    with pytest.raises(MissingDataError, match=r"neither Newick text .* nor a file"):
        Topology.from_newick("tree.nwk")
    (tmp_path / "tree.nwk").write_bytes(b"(a,\xff);")
    with pytest.raises(TopologyError, match="not UTF-8 text"):
        Topology.from_newick(tmp_path / "tree.nwk")


def test_networkx_nodes_are_observed_by_attribute_by_name_or_by_degree():
    graph = nx.DiGraph([("r", 1), ("r", 2), ("r", "s"), ("s", 3), ("s", 4)])
    assert Topology.from_networkx(graph).observed == ("1", "2", "3", "4")
    assert Topology.from_networkx(graph, observed=["s"]).observed == ("1", "2", "s", "3", "4")
    graph.nodes[4]["observed"] = False
    assert Topology.from_networkx(graph).observed == ("1", "2", "3")


def test_a_star_finds_a_free_name_for_its_hub():
    assert Topology.star(["h", "h'", "a"], n_states=3).n_states == {"h''": 3}


@pytest.mark.parametrize(
    ("edges", "observed", "complaint"),
    [
        ([("a", "b"), ("b", "c"), ("c", "a")], ["a"], "'c' - 'a' closes a cycle"),
        ([("a", "a")], ["a"], "'a' - 'a' closes a cycle"),
        ([("a", "b"), ("c", "d")], ["a"], "nothing joins 'a' and 'c'"),
        ([("a", "b")], ["aa"], r"no node 'aa' \(did you mean 'a'\?\)"),
        ([("a", "b")], [], "at least one observed"),
        ([("a", "b", 1, 2)], ["a"], "an edge is two names"),
        (["ab"], ["a"], "an edge is two names"),
        ([("a", "b", float("nan"))], ["a"], "finite"),
    ],
)
def test_what_is_no_tree_is_refused(edges, observed, complaint):
    with pytest.raises(TopologyError, match=complaint):
        Topology.from_edges(edges, observed)


@pytest.mark.parametrize(
    ("n_states", "complaint"),
    [({"hh": 2}, "no node 'hh'"), ({"a": 2}, "comes? from the data"), ({"h": 0}, "at least 1")],
)
def test_numbers_of_states_belong_to_hidden_nodes(n_states, complaint):
    edges = [("h", "a"), ("h", "b"), ("h", "c")]
    with pytest.raises(TopologyError, match=complaint):
        Topology.from_edges(edges, n_states=n_states)


def test_a_topology_cannot_be_changed():
    tree = Topology.star(["a", "b", "c"], n_states=2)
    with pytest.raises(AttributeError):
        tree.nodes = ()
    with pytest.raises(TypeError):
        tree.n_states["h"] = 3


# -- parse -------------------------------------------------------------------------------------


def test_parse_takes_a_tree_in_any_form(tmp_path):
    text = "((a,b),(c,d));"
    (tmp_path / "tree.nwk").write_text(text)
    tree = Topology.from_newick(text)
    forms = [
        tree,
        text,
        tmp_path / "tree.nwk",
        tree.to_networkx(),
        tree.to_edges(),
        iter(tree.to_edges()),
    ]
    columns = ["d", "b", "c", "a"]
    for form in forms:
        assert Topology.parse(form, columns) == tree.contracted()


def test_parse_takes_nodes_named_like_a_column_as_observed():
    columns = ["a", "b", "c", "d"]
    text = "((a,b)c,d)h;"
    expected = Topology.from_newick(text, observed=["c"]).contracted()
    assert set(expected.observed) == set(columns)
    edges = [("h", "c"), ("h", "d"), ("c", "a"), ("c", "b")]
    for form in (text, edges, nx.Graph(edges)):
        assert Topology.parse(form, columns) == expected


def test_parse_lists_what_is_missing_and_what_is_extra_with_the_nearest_names():
    with pytest.raises(TopologyError) as error:
        Topology.parse("(age,heigth,(color,x),y);", ["age", "height", "weight", "colour", "x"])
    message = str(error.value)
    assert "missing from the tree: 'height' (did you mean 'heigth'?), 'weight'" in message
    assert "'colour' (did you mean 'color'?)" in message
    assert (
        "no columns: 'heigth' (did you mean 'height'?), 'color' (did you mean 'colour'?), 'y'"
        in message
    )


def test_parse_says_so_if_a_column_is_a_hidden_node():
    tree = Topology.from_newick("((a,b)c,d)h;")
    with pytest.raises(TopologyError, match="'c' stand in the tree as hidden"):
        Topology.parse(tree, ["a", "b", "c", "d"])


def test_parse_names_only_a_few_of_many():
    with pytest.raises(TopologyError, match="and 92 more"):
        Topology.parse(Topology.star("ab"), ["a", "b", *(f"column {n}" for n in range(100))])


def test_parse_refuses_a_leaf_that_is_no_column_in_every_form():
    edges = [("h", "a"), ("h", "b"), ("h", "c"), ("h", "extra")]
    for form in ("(a,b,c,extra);", edges, nx.Graph(edges)):
        with pytest.raises(TopologyError, match="no columns: 'extra'"):
            Topology.parse(form, ["a", "b", "c"])


def test_parse_refuses_what_is_no_tree_at_all():
    for form in (3, None, {"a": "b"}):
        with pytest.raises(ArgumentTypeError, match="a tree is given as"):
            Topology.parse(form, ["a"])


def test_parse_refuses_repeated_columns():
    with pytest.raises(TopologyError, match="'a' occur twice"):
        Topology.parse("(a,b);", ["a", "b", "a"])


def test_parse_gives_the_same_object_for_the_same_text():
    columns = ("a", "b", "c")
    assert Topology.parse("(a,b,c);", columns) is Topology.parse("(a,b,c);", columns)


# -- contraction and rooting ---------------------------------------------------------------------


@given(topologies())
def test_contraction_leaves_no_superfluous_hidden_node_and_keeps_every_distance(topology):
    unit = [1.0 if length is None else length for length in topology.lengths]
    measured = Topology(
        topology.nodes, topology.edges, topology.observed, tuple(unit), topology.n_states
    )
    small = measured.contracted()
    assert all(len(small.neighbours[name]) >= 3 for name in small.hidden)
    assert set(small.observed) == set(topology.observed)
    assert set(small.n_states.items()) <= set(topology.n_states.items())
    before, after = distances_between_observed(measured), distances_between_observed(small)
    assert after == pytest.approx(before)
    assert small.contracted() is small


def test_an_edge_made_of_a_known_and_an_unknown_length_is_unknown():
    tree = Topology.from_newick("((a:1,b:2):3,(c,d:5));").contracted()
    assert sorted(tree.edge_lengths.values()) == [1.0, 2.0, 5.0]


@given(topologies(), st.randoms(use_true_random=False))
def test_a_rooted_tree_is_the_contracted_tree_numbered_for_the_engine(topology, random):
    columns = list(topology.observed)
    random.shuffle(columns)
    tree = topology.rooted(columns)
    small = topology.contracted()
    assert tree.names[: tree.n_leaves] == tuple(columns)
    assert len(set(tree.names)) == tree.n_nodes
    assert tree.parent[-1] == -1
    assert all(above > node for node, above in enumerate(tree.parent.tolist()[:-1]))
    assert all(above >= tree.n_leaves for above in tree.parent.tolist()[:-1])
    assert tree.below[tree.root] == tuple(range(tree.n_leaves))
    # Copies merged with what they copy, the edges are those of the contracted tree.
    site = [
        tree.names[tree.copy_of[n]] if tree.copy_of[n] >= 0 else tree.names[n]
        for n in range(tree.n_nodes)
    ]
    joined = {frozenset((site[n], site[tree.parent[n]])) for n in range(tree.n_nodes - 1)}
    assert {pair for pair in joined if len(pair) == 2} == {frozenset(pair) for pair in small.edges}
    for node in tree.hidden:
        if len(small.nodes) > 2:
            assert tree.degree(node) >= 3


@given(topologies())
def test_the_root_is_where_the_farthest_leaf_is_nearest(topology):
    graph = topology.contracted().to_networkx()
    assert topology.contracted().centre in nx.center(graph)


@pytest.mark.parametrize("text", ["((a,b,c)h,(d,e)g);", "((d,e)g,(a,b,c)h);"])
def test_of_two_centres_the_one_nearer_to_all_nodes_is_the_root(text):
    assert Topology.from_newick(text).contracted().centre == "h"


def test_degenerate_trees_are_rooted_at_a_copy():
    one = Topology.from_newick("a;").rooted(["a"])
    assert (one.names, one.parent.tolist(), one.copy_of.tolist()) == (
        ("a", "copy(a)"),
        [1, -1],
        [-1, 0],
    )
    two = Topology.star(["a", "b"]).rooted(["b", "a"])
    assert two.names == ("b", "a", "copy(b)")
    assert (two.parent.tolist(), two.copy_of.tolist()) == ([2, 2, -1], [-1, -1, 0])


def test_a_copy_finds_a_free_name():
    tree = Topology.from_edges([("a", "b"), ("b", "copy(b)")], ["a", "b", "copy(b)"])
    assert tree.rooted(["a", "b", "copy(b)"]).names[-1] == "copy(b)'"


def test_rooted_trees_are_remembered_by_columns():
    tree = Topology.from_newick("((a,b),(c,d));")
    assert tree.rooted(["a", "b", "c", "d"]) is tree.rooted(("a", "b", "c", "d"))
    assert tree.rooted("dcba") is not tree.rooted("abcd")
    assert tree.rooted("dcba").names[:4] == ("d", "c", "b", "a")
    with pytest.raises(TopologyError, match="missing from the tree: 'e'"):
        tree.rooted("abcde")


def test_a_balanced_binary_tree_has_the_shortest_paths_and_a_root_of_degree_three():
    leaves = [f"x{n}" for n in range(32)]
    level = leaves
    while len(level) > 1:
        level = [f"({one},{two})" for one, two in zip(level[::2], level[1::2], strict=True)]
    tree = Topology.from_newick(level[0] + ";").rooted(leaves)
    assert tree.n_nodes == 62
    assert len(tree.children[tree.root]) == 3
    depth = np.zeros(tree.n_nodes, dtype=int)
    for node in reversed(range(tree.n_nodes - 1)):
        depth[node] = depth[tree.parent[node]] + 1
    assert depth.max() == 5


# -- drawing -------------------------------------------------------------------------------------


def test_the_text_drawing_shows_every_node_under_its_parent():
    tree = Topology.from_newick("((a,b)h,c,(d,(e,f)i)j)r;", observed=["j"])
    tree = Topology(tree.nodes, tree.edges, tree.observed, tree.lengths, {"i": 3})
    assert tree.to_text().splitlines() == [
        "○ r",
        "├─ ○ h",
        "│  ├─ ● a",
        "│  └─ ● b",
        "├─ ● c",
        "└─ ● j",
        "   ├─ ● d",
        "   └─ ○ i (3 states)",
        "      ├─ ● e",
        "      └─ ● f",
    ]


@given(topologies(names=st.text(st.characters(categories=["L"]), min_size=1, max_size=3)))
def test_the_text_drawing_has_one_line_per_node(topology):
    assert len(topology.to_text().splitlines()) == len(topology.nodes)


def test_a_very_long_chain_is_no_problem():
    names = [f"x{n}" for n in range(3000)]
    chain = Topology.from_edges(itertools.pairwise(names), observed=names)
    assert chain.rooted(names).n_nodes == 2 * 3000 - 2
    assert len(chain.to_text().splitlines()) == 3000
    assert Topology.from_newick(chain.to_newick(), observed=names) == chain
