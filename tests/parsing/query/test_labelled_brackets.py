"""Labelled brackets: against sums done by hand."""

import pytest

from tacit.errors import ArgumentError, DataError
from tacit.parsing.data.parse_trees import read_trees
from tacit.parsing.query.labelled_brackets import LabelledScore, labelled_score

GOLD = read_trees(
    [
        # TOP, S 0-6, NP 0-2, VP 2-5, NP 3-5: four that count; without marks S 0-5.
        "(TOP (S (NP (DT the) (NN cat)) (VP (VBD saw) (NP (DT a) (NN dog))) (. .)))",
        # S 0-4, VP 1-4, PRT 2-3, NP 3-4, NP 0-1.
        "(TOP (S (NP (PRP he)) (VP (VBD gave) (PRT (RP up)) (NP (NN it)))))",
        # A chain twice over the same words, and a bracket of marks alone.
        "(TOP (NP (NP (NN rain)) (PRN (: --))))",
    ]
)
PREDICTED = read_trees(
    [
        # S 0-6, NP 0-2, VP 2-6, NP 3-6: all: two match. Without marks: all four match.
        "(TOP (S (NP (DT the) (NN cat)) (VP (VBD saw) (NP (DT a) (NN dog) (. .)))))",
        # NP 0-1, S 0-4, VP 1-4, ADVP 2-3: the particle matches without marks only.
        "(TOP (S (NP (PRP he)) (VP (VBD gave) (ADVP (RP up)) (NN it))))",
        # NP 0-2 matches; X and the second NP do not. Without marks NP 0-1 twice, of which one is X.
        "(TOP (NP (X (NN rain)) (: --)))",
    ]
)


def test_every_word_counts_by_default():
    score = labelled_score(GOLD, PREDICTED)
    assert score == LabelledScore(
        matched=2 + 3 + 1, gold=4 + 5 + 3, predicted=4 + 4 + 2, exact=0, n_trees=3
    )
    assert score.precision == pytest.approx(6 / 10)
    assert score.recall == pytest.approx(6 / 12)
    assert score.f1 == pytest.approx(12 / 22)


def test_conventions_of_evalb():
    score = labelled_score(GOLD, PREDICTED, convention="evalb")
    assert score == LabelledScore(
        matched=4 + 4 + 1, gold=4 + 5 + 2, predicted=4 + 4 + 2, exact=1, n_trees=3
    )


def test_a_tree_agrees_with_itself_and_counts_add():
    parts = [labelled_score([tree], [tree]) for tree in GOLD]
    whole = labelled_score(GOLD, GOLD)
    assert parts[0] + parts[1] + parts[2] == whole
    assert whole.f1 == 1
    assert whole.exact == 3


def test_nothing_to_find():
    bare = read_trees(["(TOP (NN rain))"])
    assert labelled_score(bare, bare).f1 == 1
    assert labelled_score(bare, bare).precision == 0


def test_what_does_not_belong_together_is_refused():
    with pytest.raises(DataError, match="number 0 have different words"):
        labelled_score(GOLD[:1], GOLD[1:2])
    with pytest.raises(DataError, match="more trees of one kind"):
        labelled_score(GOLD, GOLD[:2])
    with pytest.raises(ArgumentError, match="convention='strict'"):
        labelled_score(GOLD, GOLD, convention="strict")
