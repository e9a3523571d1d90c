"""Newick text, read and written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import TopologyError
from tacit.trees.structure.newick import NewickTree, read_newick, write_newick

hostile = (
    st.text(st.sampled_from(list("ab '\"():;,[]_\n\t\\é木🌲\u00a0\u2028")), max_size=6) | st.text()
)
branch = st.none() | st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def newick_trees(draw):
    """Trees numbered as their text would number them: each node hangs on the path to the last one."""
    n_nodes = draw(st.integers(1, 12))
    parents, path = [-1], [0]
    for node in range(1, n_nodes):
        keep = draw(st.integers(1, len(path)))
        path = [*path[:keep], node]
        parents.append(path[-2])
    inner = set(parents)
    labels = [draw(st.none() | hostile if node in inner else hostile) for node in range(n_nodes)]
    lengths = [draw(branch) for _ in range(n_nodes)]
    return NewickTree(tuple(labels), tuple(parents), tuple(lengths))


@given(newick_trees())
def test_reading_what_was_written_gives_the_same_tree(tree):
    assert read_newick(write_newick(tree)) == tree


def test_a_text_with_everything_in_it():
    tree = read_newick(
        "[&R] ( a:1, 'it''s':2e-3 [&&NHX:S=x[nested]] ,\n(\"b, c\",d_e)95:.5, (f)\t) 'top node' ; "
    )
    assert tree.labels == ("top node", "a", "it's", "95", "b, c", "d_e", None, "f")
    assert tree.parents == (-1, 0, 0, 0, 3, 3, 0, 6)
    assert tree.lengths == (None, 1.0, 0.002, 0.5, None, None, None, None)


def test_an_empty_name_in_quotes_is_a_name():
    assert read_newick("('',a);").labels == (None, "", "a")


def test_a_lone_leaf_is_a_tree():
    assert read_newick("a;") == NewickTree(("a",), (-1,), (None,))


@pytest.mark.parametrize(
    ("text", "place", "complaint"),
    [
        ("(a,b)", "line 1, column 6", "ends before the ';'"),
        ("", "line 1, column 1", "ends before the ';'"),
        ("(a,(b,c);", "line 1, column 9", "before every '(' is closed"),
        ("(a,b));", "line 1, column 6", "outside every '('"),
        ("a,b;", "line 1, column 2", "outside every '('"),
        ("(a,\n  ,b);", "line 2, column 3", "leaf without a name"),
        ("();", "line 1, column 2", "leaf without a name"),
        (";", "line 1, column 1", "leaf without a name"),
        ("(a b,c);", "line 1, column 4", "quotes around spaces"),
        ("(a'b',c)'d''e' f;", "line 1, column 16", "quotes around spaces"),
        ("(a,b)(c,d);", "line 1, column 6", "is a comma missing"),
        ("(a:x,b);", "line 1, column 4", "'x' is not a branch length"),
        ("(a:nan,b);", "line 1, column 4", "'nan' is not a branch length"),
        ("(a:,b);", "line 1, column 4", "must follow ':'"),
        ("(a:'1',b);", "line 1, column 4", "must follow ':'"),
        ("(a:1:2,b);", "line 1, column 5", "two lengths"),
        ("(a,'b);", "line 1, column 4", "no partner"),
        ("(a,]b);", "line 1, column 4", "no partner"),
        ("(a[b,c);", "line 1, column 3", "comment is opened here"),
        ("(a,b);(c,d);", "line 1, column 7", "more after the ';'"),
    ],
)
def test_broken_text_is_refused_with_its_place(text, place, complaint):
    with pytest.raises(TopologyError) as error:
        read_newick(text)
    assert place in str(error.value)
    assert complaint in str(error.value)


@given(st.text(st.sampled_from(list("(),:;'[]a1 ")), max_size=20))
def test_any_text_is_a_tree_or_a_topology_error(text):
    try:
        tree = read_newick(text)
    except TopologyError:
        return
    assert read_newick(write_newick(tree)) == tree


def test_depth_is_not_limited_by_recursion():
    n_levels = 20_000
    text = "(" * n_levels + "a" + "".join(f",b{level})" for level in range(n_levels)) + ";"
    assert write_newick(read_newick(text)) == text
