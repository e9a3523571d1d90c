"""Baselines of brackets by hand, and against what bounds them."""

import pytest

from tacit.evaluate.bracket_baselines import (
    IN_TOP,
    IN_TRUE_TOP,
    LEFT,
    RANDOM_SPLITS,
    RANDOM_TREES,
    RIGHT,
    UPPER,
    baseline_brackets,
)
from tacit.parsing.query.brackets import gold_spans, score_brackets
from tacit.toy.sentences import sample_trees

SENTENCE = [("the", "DT"), ("cat", "NN"), ("saw", "VBD"), (",", ","), ("a", "DT"), ("dog", "NN")]
GOLD = (5, {(0, 5), (0, 2), (3, 5)})


def test_brackets_of_a_sentence_by_hand():
    actual = baseline_brackets([SENTENCE], [GOLD])
    assert actual[LEFT] == [[(0, 5), (0, 4), (0, 3), (0, 2)]]
    assert actual[RIGHT] == [[(0, 5), (1, 5), (2, 5), (3, 5)]]
    # The verb is the third word; the first child of the treebank's top bracket has two words.
    assert actual[IN_TOP] == actual[IN_TRUE_TOP] == [[(0, 5), (0, 2), (2, 5), (3, 5)]]
    assert actual[UPPER] == [[(0, 5), (0, 2), (2, 5), (3, 5)]]


def test_every_baseline_is_binary_and_below_the_upper_bound():
    trees = sample_trees(40, random_state=3)
    golds = [gold_spans(tree) for tree in trees]
    actual = baseline_brackets([tree.leaves() for tree in trees], golds, random_state=1)
    scores = {name: score_brackets(spans, golds).f1 for name, spans in actual.items()}
    for spans in actual.values():
        assert [len(some) for some in spans] == [n - 1 for n, _ in golds]
    assert max(scores, key=scores.get) == UPPER
    assert scores[LEFT] < scores[RIGHT] < scores[IN_TRUE_TOP]
    again = baseline_brackets([tree.leaves() for tree in trees], golds, random_state=1)
    other = baseline_brackets([tree.leaves() for tree in trees], golds, random_state=2)
    for name in (RANDOM_SPLITS, RANDOM_TREES):
        assert again[name] == actual[name] != other[name]


def test_short_sentences_have_no_brackets():
    for spans in baseline_brackets([[], [("rain", "NN")]], [(0, set()), (1, set())]).values():
        assert spans == [[], []]


def test_each_sentence_has_a_gold_one():
    with pytest.raises(ValueError, match="shorter"):
        baseline_brackets([SENTENCE], [GOLD, GOLD])
