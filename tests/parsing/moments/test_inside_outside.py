"""Features of nodes of trees: by hand."""

import numpy as np
import pytest

from tacit.parsing.data.parse_trees import read_trees
from tacit.parsing.data.treebank import coded_treebank, coded_trees
from tacit.parsing.moments import inside_outside
from tacit.parsing.moments.inside_outside import NodeFeatures, inside_codes, outside_codes
from tacit.parsing.structure.rules import Rules
from tacit.toy import sample_trees

LINES = [
    "(S (NP (D a) (N b)) (VP (V c) (NP (D d) (N e))))",
    "(S (NP (D a) (N f)) (VP (V c) (NP (D a) (N b))))",
]


def some_treebank():
    trees, symbols = coded_treebank(read_trees(LINES), min_count=1)
    return trees, symbols, Rules.of(trees, len(symbols.labels))


def nodes_of(trees, symbols, name, tree=0):
    codes = [str(label) for label in symbols.labels]
    here = (trees.label == codes.index(name)) & (trees.tree == tree)
    return sorted(np.flatnonzero(here), key=lambda node: trees.start[node])


def test_what_is_below_and_around_is_distinguished():
    trees, symbols, rules = some_treebank()
    subject, thing = nodes_of(trees, symbols, "NP")
    other_subject, other_thing = nodes_of(trees, symbols, "NP", 1)
    left, right, rule, _, _, width, left_word, right_word = inside_codes(trees, rules)
    for same in (left, right, rule, width):
        assert same[subject] == same[thing] == same[other_subject]
    words = symbols.words
    assert [words[left_word[n]] for n in (subject, thing, other_thing)] == ["a", "d", "a"]
    assert [words[right_word[n]] for n in (subject, thing, other_thing)] == ["b", "e", "b"]
    above, two, three, parent, _, before, after, beside = outside_codes(trees, rules)
    for apart in (above, two, three, parent, before, after):
        assert apart[subject] != apart[thing]
        assert apart[subject] == apart[other_subject]
    assert beside[subject] == -1  # a phrase stands there
    assert beside[thing] == beside[other_thing] == 2 * words.index("c") + 1


def test_features_are_scaled_by_how_rare_they_are():
    trees, symbols, rules = some_treebank()
    features = NodeFeatures.of(trees, rules)
    rows = {int(node): row for row, node in enumerate(features.order)}
    (node,) = nodes_of(trees, symbols, "V")
    values = features.inside[[rows[node]]].toarray().ravel()
    # Two verbs, both with the same word, which is all that is below.
    assert values[values != 0] == pytest.approx([np.sqrt(2 / (2 + inside_outside.PSEUDO_COUNT))])
    n_kinds = len(outside_codes(trees, rules)) - 1  # a phrase stands beside it
    assert (features.outside[[rows[node]]].toarray() != 0).sum() == n_kinds


def test_labels_share_no_feature():
    trees, _, rules = some_treebank()
    features = NodeFeatures.of(trees, rules)
    for matrix, begins in (
        (features.inside, features.inside_first),
        (features.outside, features.outside_first),
    ):
        for label in range(rules.n_labels):
            rows = matrix[features.first[label] : features.first[label + 1]].toarray()
            own = slice(begins[label], begins[label + 1])
            assert np.all(rows[:, own].any(axis=0))
            assert np.count_nonzero(rows) == np.count_nonzero(rows[:, own])
    assert np.array_equal(np.sort(features.order), np.arange(len(trees.label)))


def same(one, other):
    """Whether two sets of features are alike, to the last bit."""
    return all(
        np.array_equal(a, b)
        for a, b in (
            (one.order, other.order),
            (one.first, other.first),
            (one.inside.toarray(), other.inside.toarray()),
            (one.outside.toarray(), other.outside.toarray()),
            (one.inside_first, other.inside_first),
            (one.outside_first, other.outside_first),
        )
    )


@pytest.mark.parametrize("cuts", [[20], [1], [7, 9], [0, 33, 40]])
def test_features_of_parts_add_up_to_those_of_the_whole(cuts):
    every = sample_trees(40, random_state=0)
    trees, symbols = coded_treebank(every, min_count=1)
    rules = Rules.of(trees, len(symbols.labels))
    total = NodeFeatures.empty(rules.n_labels)
    for begin, end in zip([0, *cuts], [*cuts, len(every)], strict=True):
        if begin < end:
            total += NodeFeatures.of(coded_trees(every[begin:end], symbols), rules)
    assert same(total, NodeFeatures.of(trees, rules))
    assert same(total + NodeFeatures.empty(rules.n_labels), total)


def test_adding_is_the_same_in_any_grouping():
    every = sample_trees(30, random_state=1)
    trees, symbols = coded_treebank(every, min_count=1)
    rules = Rules.of(trees, len(symbols.labels))
    a, b, c = (
        NodeFeatures.of(coded_trees(part, symbols), rules)
        for part in (every[:8], every[8:19], every[19:])
    )
    assert same((a + b) + c, a + (b + c))
    assert not same(a + b, b + a)  # nodes are numbered in order


def test_kinds_of_features_are_as_many_as_are_distinguished():
    trees, _, rules = some_treebank()
    features = NodeFeatures.of(trees, rules)
    below, around = len(inside_codes(trees, rules)) + 1, len(outside_codes(trees, rules))
    for actual, kinds, begins in (
        (features.below, below, features.inside_first),
        (features.around, around, features.outside_first),
    ):
        label = np.repeat(np.arange(rules.n_labels), np.diff(begins))
        assert np.array_equal(actual.group // inside_outside.KINDS, label)
        assert (actual.group % inside_outside.KINDS).max() < kinds <= inside_outside.KINDS
