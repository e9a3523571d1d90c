"""Trees made binary and whole again."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import DataError
from tacit.parsing.data.parse_trees import ParseTree, read_trees
from tacit.parsing.data.treebank import (
    BRACKET,
    REST,
    TAG,
    Label,
    coded_treebank,
    coded_trees,
    whole_tree,
    word_class,
)
from tacit.parsing.structure.rules import Rules

words = st.builds(
    ParseTree, st.sampled_from(["N", "V", "A+B", "@N"]), st.just(()), st.sampled_from("abcdef")
)
trees = st.recursive(
    words,
    lambda below: st.builds(
        ParseTree,
        st.sampled_from(["S", "N", "@S"]),
        st.lists(below, min_size=1, max_size=4).map(tuple),
    ),
    max_leaves=12,
)


def made_whole(coded, symbols, number, tree):
    labels = [symbols.labels[label] for label in coded.label]

    def children(node):
        return None if coded.left[node] < 0 else (coded.left[node], coded.right[node])

    return whole_tree(int(coded.roots[number]), labels, children, [w for w, _ in tree.leaves()])


@given(st.lists(trees, min_size=1, max_size=4))
def test_binary_trees_stand_for_the_trees_they_came_from(given_trees):
    coded, symbols = coded_treebank(given_trees, min_count=1)
    for number, tree in enumerate(given_trees):
        assert made_whole(coded, symbols, number, tree) == tree
    again = coded_trees(given_trees, symbols)
    for name in ("label", "left", "right", "word", "start", "stop", "first"):
        assert np.array_equal(getattr(again, name), getattr(coded, name))
    # Children come before parents, and their spans make up the parent's.
    for node in coded.inner:
        left, right = coded.left[node], coded.right[node]
        assert left < node > right
        assert coded.start[left] == coded.start[node]
        assert coded.stop[left] == coded.start[right]
        assert coded.stop[right] == coded.stop[node]
        assert coded.parent[left] == coded.parent[right] == node
    rules = Rules.of(coded, len(symbols.labels))
    triples = rules.triples[rules.rule_of(coded)[coded.inner]]
    expected = [coded.label[one[coded.inner]] for one in (coded.left, coded.right)]
    assert np.array_equal(triples[:, 0], coded.label[coded.inner])
    assert np.array_equal(triples[:, 1:], np.transpose(expected))


def test_a_tree_by_hand():
    tree = read_trees(["(TOP (S (NP (N a)) (V b) (A c) (A d)))"])
    coded, symbols = coded_treebank(tree, min_count=1)
    assert [str(symbols.labels[label]) for label in coded.label] == [
        *("A", "A", "@S", "V", "@S", "NP+N", "TOP+S"),
    ]
    assert symbols.tags == ("A", "N", "V")
    kinds = {str(label): label.kind for label in symbols.labels}
    assert kinds == {"A": TAG, "V": TAG, "NP+N": TAG, "@S": REST, "TOP+S": BRACKET}
    tags = [int(symbols.tag_of_label[label]) for label in coded.label]
    assert tags == [0, 0, -1, 2, -1, 1, -1]


def test_labels_that_look_alike_are_distinguished():
    assert Label(("@S",), BRACKET) != Label(("S",), REST)
    assert Label(("A", "B"), TAG) != Label(("A+B",), TAG)


def test_rare_words_become_their_class():
    tree = read_trees(["(S (N rain) (N rain) (N Rome) (V raining) (N 1990s))"])
    coded, symbols = coded_treebank(tree, min_count=2)
    assert set(symbols.words) == {"rain", "?A", "?a-ing", "?0"}
    assert symbols.word_code("rain") == symbols.words.index("rain")
    assert symbols.word_code("London") == symbols.words.index("?A")
    assert symbols.word_code("well-known") == -1
    assert word_class("well-known") == "?a-"
    assert sorted(coded.word[coded.leaves]) == sorted(
        symbols.word_code(word) for word, _ in tree[0].leaves()
    )


def test_unknown_labels_and_rules_are_marked():
    coded, symbols = coded_treebank(read_trees(["(S (N a) (V b))"]), min_count=1)
    rules = Rules.of(coded, len(symbols.labels))
    other = coded_trees(read_trees(["(S (V a) (N b))", "(S (X a) (V b))"]), symbols)
    assert np.all(rules.rule_of(other) == -1)
    assert -1 in other.label
    assert len(rules.rule_of(coded)) == 3


def test_no_tree_is_refused():
    with pytest.raises(DataError, match="no tree"):
        coded_treebank([])
