"""Graphs from text, GraphML and GML."""

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import FileFormatError, MissingDataError, TopologyError
from tacit.junction.files.graphs import graph_from_text, read_graph

EDGES = [("h", "x"), ("h", "a b"), ("x", "y")]


@pytest.mark.parametrize(
    "text",
    [
        "h -> x\nh -> a b\nx -> y\n",
        "h->x\n\n# a remark\nh->'a b'\n  x->y",
        "h,x\nh,a b\nx,y\n",
        'parent,child\nh,x\nh,"a b"\nx, y\n',
        "h x\nh\ta b\nx  y\n",
        "h -> x -> y\nh -> a b\n",
    ],
)
def test_an_edge_on_each_line(text):
    graph = graph_from_text(text)
    assert graph.is_directed()
    assert set(graph.edges) == set(EDGES)


def test_edges_without_directions():
    graph = graph_from_text("a -- b -- c\n")
    assert not graph.is_directed()
    assert {frozenset(edge) for edge in graph.edges} == {frozenset("ab"), frozenset("bc")}


def test_a_heading_is_an_edge_where_it_says_so():
    assert set(graph_from_text("parent -> child").edges) == {("parent", "child")}
    assert set(graph_from_text("a,b\nparent,child").edges) == {("a", "b"), ("parent", "child")}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "there is no edge"),
        ("# nothing\n", "there is no edge"),
        ("a -> b\nc", "line 2, 'c', is no edge"),
        ("a b c", "is no edge"),
        ("a,b,c", "is no edge"),
        ("a -> ", "is no edge"),
        ("a -> b\nc -- d", "line 2, 'c -- d': some edges have a direction and others none"),
    ],
)
def test_a_line_that_is_no_edge_is_refused(text, complaint):
    with pytest.raises(TopologyError, match=complaint):
        graph_from_text(text)


def test_a_text_or_its_path(tmp_path):
    assert set(read_graph("h -> x; h -> a b; x -> y").edges) == set(EDGES)
    path = tmp_path / "graph.txt"
    path.write_bytes("\ufeffh -> x\r\nh -> a b\r\nx -> y\r\n".encode())
    assert set(read_graph(path).edges) == set(EDGES)
    assert set(read_graph(str(path)).edges) == set(EDGES)


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiDiGraph])
@pytest.mark.parametrize("suffix", ["graphml", "gml"])
def test_formats_of_networkx(tmp_path, kind, suffix):
    graph = kind(EDGES)
    graph.add_node("alone")
    path = tmp_path / f"g.{suffix}"
    (nx.write_graphml if suffix == "graphml" else nx.write_gml)(graph, path)
    loaded = read_graph(path)
    assert loaded.is_directed() == graph.is_directed()
    assert set(loaded.nodes) == {"h", "x", "y", "a b", "alone"}
    assert {frozenset(edge) for edge in loaded.edges} == {frozenset(edge) for edge in EDGES}


def test_a_file_that_is_not_there_or_not_what_it_says(tmp_path):
    with pytest.raises(MissingDataError, match="neither a file with a graph nor edges"):
        read_graph(tmp_path / "no.txt")
    with pytest.raises(MissingDataError, match="neither a file with a graph nor edges"):
        read_graph("my--graph.txt")
    for name in ("g.graphml", "g.gml"):
        (tmp_path / name).write_text("h -> x\n")
        with pytest.raises(FileFormatError, match="cannot be read as a graph"):
            read_graph(tmp_path / name)
    (tmp_path / "g.txt").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(FileFormatError, match="not UTF-8"):
        read_graph(tmp_path / "g.txt")


NAMES = st.text(st.characters(categories=["L", "Nd"], include_characters="_. "), min_size=1)
WORDS = NAMES.map(lambda name: " ".join(name.split())).filter(bool)
PAIRS = st.lists(st.tuples(WORDS, WORDS).filter(lambda p: p[0] != p[1]), min_size=1)


@given(PAIRS, st.sampled_from([" -> ", "->", ",", "\t"]))
def test_what_is_written_is_read(pairs, mark):
    lines = [mark.join(pair) for pair in pairs]
    if mark == ",":
        lines.insert(0, "parent,child")
    assert set(graph_from_text("\n".join(lines)).edges) == set(pairs)


def test_a_graph_of_an_unknown_encoding_is_refused(tmp_path):
    path = tmp_path / "graph.graphml"
    path.write_text("<?xml version='1.0' encoding='utf-7-8'?><graphml/>", encoding="ascii")
    with pytest.raises(FileFormatError, match="cannot be read as a graph"):
        read_graph(path)
