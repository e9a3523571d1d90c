"""Trees in brackets: read, written, and rid of what is not used."""

import gzip
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import ArgumentError, DataError
from tacit.parsing.data.parse_trees import (
    ParseTree,
    is_punctuation,
    read_trees,
    with_tags,
    without_empties,
    without_functions,
    without_leaves,
    without_punctuation,
)

names = st.text("abcXYZ-.|é的", min_size=1, max_size=4)
words = st.builds(ParseTree, names, st.just(()), names)
kids = st.lists(st.deferred(lambda: words | trees), min_size=1, max_size=2).map(tuple)
trees = st.builds(ParseTree, names, kids)
SENTENCE = "(TOP (S (NP-SBJ-1 (NNP Vinken)) (, ,) (VP (VBZ is) (S (NP (-NONE- *)) (VP (VBN named)))) (. .)))"


@given(st.lists(trees, max_size=4))
def test_what_is_written_is_read_again(some):
    assert read_trees([str(tree) for tree in some]) == some
    assert (
        read_trees(io.StringIO("\n".join(str(tree).replace(" ", "\n ") for tree in some))) == some
    )


@given(trees)
def test_spans_cover_the_words_of_their_brackets(tree):
    brackets = [node for node in tree.nodes() if node.word is None]
    leaves = tree.leaves()
    assert [label for label, _, _ in tree.spans()] == [node.label for node in brackets]
    for node, (_, start, stop) in zip(brackets, tree.spans(), strict=True):
        assert leaves[start:stop] == node.leaves()


def test_files_are_read_packed_or_not(tmp_path):
    (tmp_path / "a.mrg").write_text("(A (b c))\n\n( (D\n (e f))\n)\n")
    (tmp_path / "a.mrg.gz").write_bytes(gzip.compress(b"(A (b c))"))
    assert list(map(str, read_trees(tmp_path / "a.mrg"))) == ["(A (b c))", "(TOP (D (e f)))"]
    assert list(map(str, read_trees(str(tmp_path / "a.mrg.gz")))) == ["(A (b c))"]
    with (tmp_path / "a.mrg").open("rb") as file:
        assert len(read_trees(file)) == 2


def test_several_trees_stand_on_one_line():
    assert list(map(str, read_trees(["(A (b c)) (D (e f))"]))) == ["(A (b c))", "(D (e f))"]


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("(A (b c))\n(A (b c)\n(A (b c))\n", 2, "not closed"),
        ("(A (b c))\n\n(A (b c)))\n", 3, "closes no bracket"),
        ("(A (b c))\n(A\n (b c) d)\n", 3, "the word 'd' stands beside"),
        ("(A (b c))\nword\n", 2, "or in none"),
        ("(A\n ())", 2, "no label"),
        ("(A (b))", 1, "holds nothing"),
        ("(A b c)", 1, "stands beside"),
    ],
)
def test_what_is_no_tree_is_refused_with_its_line(tmp_path, text, line, what):
    path = tmp_path / "bad.mrg"
    path.write_text(text)
    with pytest.raises(DataError, match=rf"bad\.mrg, line {line}: .*{what}"):
        read_trees(path)


def test_a_node_has_a_word_or_children():
    with pytest.raises(ArgumentError, match="either a word or children"):
        ParseTree("A")
    with pytest.raises(ArgumentError, match="either a word or children"):
        ParseTree("A", (ParseTree("b", (), "c"),), "d")


def test_empties_functions_and_punctuation_go():
    (tree,) = read_trees([SENTENCE])
    tree = without_empties(tree)
    assert (
        str(tree)
        == "(TOP (S (NP-SBJ-1 (NNP Vinken)) (, ,) (VP (VBZ is) (S (VP (VBN named)))) (. .)))"
    )
    tree = without_punctuation(without_functions(tree))
    assert str(tree) == "(TOP (S (NP (NNP Vinken)) (VP (VBZ is) (S (VP (VBN named))))))"


def test_nothing_is_left_of_a_tree_of_marks():
    (tree,) = read_trees(["(S (NP (-NONE- *)) (. .))"])
    assert without_punctuation(without_empties(tree)) is None
    assert str(without_leaves(tree, lambda _, tag: tag == ".")) == "(S (NP (-NONE- *)))"


def test_marks_of_all_tag_sets_are_known():
    assert all(map(is_punctuation, [",", "-LRB-", "$", "COMMA", "LRB", "Fc", "Fpa", "PUNCT"]))
    assert not any(map(is_punctuation, ["FW", "NN", "F", "fc", "TO", "_", "???", "C$", "-1"]))
    assert all(
        map(is_punctuation, [";", "?", "«", "»", "--", "``", "''", ".", ":", "#", "...", "¿"])
    )


@given(trees)
def test_a_tree_that_loses_nothing_stays(tree):
    assert without_leaves(tree, lambda *_: False) is tree


def test_deep_trees_do_not_exhaust_the_stack():
    text = "(A (b c) " * 5000 + "(b c)" + ")" * 5000
    (tree,) = read_trees([text])
    assert len(tree.leaves()) == 5001
    assert tree.spans()[-1] == ("A", 4999, 5001)
    assert str(without_functions(tree)) == text


@given(trees)
def test_tags_are_changed_and_nothing_else(tree):
    renamed = {tag: f"{tag}-new" for _, tag in tree.leaves()}
    actual = with_tags(tree, renamed)
    assert actual.leaves() == [(word, renamed[tag]) for word, tag in tree.leaves()]
    assert actual.spans() == tree.spans()
    assert with_tags(actual, {new: old for old, new in renamed.items()}) == tree


def test_a_bracket_that_was_not_opened_is_named(tmp_path):
    path = tmp_path / "trees.mrg"
    path.write_text(
        "( (S (NP (D the) (N dogaw) (NP (N Bob)))) )\n(S (N a) (V b)))) (VP (V s\n",
        encoding="utf-8",
    )
    with pytest.raises(DataError, match="closed that was not opened"):
        read_trees(path)
