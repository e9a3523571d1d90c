"""Units of a sentence by tags and punctuation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.parsing.structure.branching import right_branching, tree_of_spans
from tacit.parsing.structure.projective import projective_tree
from tacit.parsing.structure.units import (
    CROSSED,
    noun_groups,
    right_branching_units,
    sentence_units,
    unit_costs,
)

KINDS = ("DET", "ADJ", "NOUN", "VERB", "ADP", ",", "-LRB-", "-RRB-", "CONJ")
sentences = st.lists(st.sampled_from(KINDS), min_size=3, max_size=14).map(
    lambda tags: [(tag, tag) for tag in tags]
)


def words_of(sentence):
    return sum(tag not in (",", "-LRB-", "-RRB-") for _, tag in sentence)


@pytest.mark.parametrize(
    ("kinds", "groups"),
    [
        ("DET ADJ NOUN ADP DET NOUN", [(0, 3), (4, 6)]),
        ("NOUN NOUN DET NOUN", [(0, 2), (2, 4)]),
        ("DET ADJ VERB NOUN", []),
        ("DET NOUN ADJ", [(0, 2)]),
        ("NUM NOUN NUM NOUN", [(0, 4)]),
        ("ADJ DET NOUN", [(1, 3)]),
        ("NOUN", []),
        ("", []),
    ],
)
def test_noun_groups_end_in_a_noun_and_begin_with_what_modifies_it(kinds, groups):
    assert noun_groups(kinds.split()) == groups


def test_pauses_and_brackets_make_units_that_cross_nothing_before_them():
    text = (
        "rain/NOUN ,/, the/DET cat/NOUN -LRB-/-LRB- big/ADJ cat/NOUN -RRB-/-RRB- ran/VERB far/ADV"
    )
    sentence = [tuple(token.split("/")) for token in text.split()]
    assert sentence_units(sentence, 5) == [(0, 7), (0, 5), (5, 7), (1, 5), (3, 5), (1, 3)]
    assert sentence_units(sentence, 2) == [(0, 7), (0, 2), (2, 7), (3, 5)]  # the cat is cut in two
    given = sentence_units(
        sentence, 5, groups=[(3, 7), (1, 4), (3, 4), (0, 2)]
    )  # these cross others
    assert given == [(0, 7), (0, 5), (5, 7), (1, 5), (3, 5)]


@given(sentences, st.integers(1, 4))
def test_right_branching_among_units_is_what_costs_nothing(sentence, top):
    n_words = words_of(sentence)
    units = sentence_units(sentence, min(top, n_words - 1) if n_words > 1 else None)
    spans = right_branching_units(n_words, units)
    assert set(units) <= set(spans)
    assert len(spans) == max(n_words - 1, 0)
    if n_words > 1:
        tree = tree_of_spans([("w", "T")] * n_words, spans)
        assert all(len(node.children) == 2 for node in tree.nodes() if node.word is None)
    costs = unit_costs(n_words, units)
    assert sum(costs[span] for span in spans) == 0
    if n_words > 2:
        best = projective_tree(np.zeros((n_words, n_words)), extra=costs)
        assert sorted(best.spans) == sorted(spans)
        assert best.margin > 0


def test_brackets_cost_by_what_they_cross_and_where_they_end():
    costs = unit_costs(4, [(1, 3)])
    assert [costs[0, 4], costs[1, 4], costs[1, 3]] == [0, 0, 0]
    assert costs[0, 3] == 1  # branches to the left, crosses nothing
    assert costs[0, 2] == 1 + CROSSED
    assert costs[2, 4] == CROSSED  # ends with the sentence, but begins inside the unit


def test_without_units_trees_branch_to_the_right():
    assert right_branching_units(4, []) == right_branching(4)
    assert right_branching_units(5, [(0, 3), (3, 5)]) == sorted(
        right_branching(5, 3), key=lambda span: (span[0], -span[1])
    )
    assert right_branching_units(0, []) == right_branching_units(1, []) == []
