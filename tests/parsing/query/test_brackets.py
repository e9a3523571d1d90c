"""F1 of brackets, by hand."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import DataError
from tacit.parsing.data.parse_trees import read_trees, without_empties
from tacit.parsing.query.brackets import gold_spans, score_brackets, scores_by_length
from tacit.parsing.structure.branching import left_branching, right_branching, top_split

FOLDER = Path(os.environ.get("TACIT_DATA") or "nowhere")
TREES = [
    # the cat | sat | on the mat : (0,2) (2,6) (3,6) (4,6) and the whole
    "(TOP (S (NP (DT the) (NN cat)) (VP (VBD sat) (PP (IN on) (NP (DT the) (NN mat)))) (. .)))",
    # it rains : the whole alone
    "(TOP (S (NP (PRP it)) (VP (VBZ rains)) (. .)))",
    # cats , dogs and mice : flat, the whole alone
    "(TOP (NP (NNS cats) (, ,) (NNS dogs) (CC and) (NNS mice)))",
    # one word
    "(TOP (UH yes) (. .))",
]


def golds():
    return [gold_spans(tree) for tree in read_trees(TREES)]


def test_brackets_of_trees_are_without_marks_chains_and_single_words():
    assert golds() == [
        (6, {(0, 6), (0, 2), (2, 6), (3, 6), (4, 6)}),
        (2, {(0, 2)}),
        (4, {(0, 4)}),
        (1, set()),
    ]
    assert gold_spans(read_trees(["(S (NP (-NONE- *)) (. .))"])[0]) == (0, set())


def test_right_branching_scored_by_hand():
    scores = score_brackets([right_branching(n) for n, _ in golds()], golds())
    # Found (2,6) (3,6) (4,6) and 3 whole ones; guessed 4 + 0 + 2 inner ones; gold has 4 + 0 + 0.
    assert scores.f1 == pytest.approx(100 * 2 * 6 / (9 + 7))
    assert scores.without_whole == pytest.approx(100 * 2 * 3 / (6 + 4))
    # Sentences: 3/4 and 3/4; both empty, 1; none of two right while gold is empty, 0.
    assert scores.by_sentence == pytest.approx(100 * (0.75 + 1 + 0) / 3)
    assert scores.n_sentences == 3


def test_left_branching_scored_by_hand_and_by_length():
    scores = scores_by_length([left_branching(n) for n, _ in golds()], golds(), (2, 4, None))
    assert scores[2].f1 == scores[2].by_sentence == 100
    assert scores[2].without_whole == 0
    assert scores[4].f1 == pytest.approx(100 * 2 * 2 / (4 + 2))
    assert scores[None].f1 == pytest.approx(
        100 * 2 * (1 + 3) / (9 + 7)
    )  # (0,2) and three whole ones
    assert scores[None].by_sentence == pytest.approx(100 * (0.25 + 1 + 0) / 3)


def test_a_whole_bracket_is_guessed_whether_given_or_not():
    assert score_brackets([[(0, 2)]], [(3, [(0, 3), (0, 2)])]).f1 == 100
    assert score_brackets([[(0, 3), (0, 2), (0, 2), (1, 2)]], [(3, [(0, 3), (0, 2)])]).f1 == 100
    assert score_brackets([], []).f1 == 0


@given(st.lists(st.integers(2, 9), min_size=1))
def test_what_is_right_has_full_marks(lengths):
    guesses = [right_branching(n) for n in lengths]
    scores = score_brackets(guesses, list(zip(lengths, guesses, strict=True)))
    assert scores.f1 == pytest.approx(100)
    assert scores.by_sentence == pytest.approx(100)


def test_what_does_not_fit_is_refused():
    with pytest.raises(DataError, match="1 sentences were parsed, but 0"):
        score_brackets([[]], [])
    with pytest.raises(DataError, match="sentence 1 has 3 words, and a bracket from 1 to 4"):
        score_brackets([[(1, 4)]], [(3, [])])


@pytest.mark.skipif(not (FOLDER / "treebanks").is_dir(), reason="TACIT_DATA lacks treebanks")
def test_baselines_on_the_wall_street_journal_have_the_known_figures():
    trees = read_trees(FOLDER / "treebanks" / "wsj_sample" / "wsj_sample.mrg.xz")
    gold = [gold_spans(tree) for tree in trees]
    said = [without_empties(tree) for tree in trees]
    tops = [top_split(tree.leaves()) for tree in said]
    ways = {
        "left": [left_branching(n) for n, _ in gold],
        "right": [right_branching(n) for n, _ in gold],
        "top": [right_branching(n, top) for (n, _), top in zip(gold, tops, strict=True)],
    }
    actual = {
        name: [round(score.f1, 1) for score in scores_by_length(ways[name], gold).values()]
        for name in ways
    }
    # Left and right within 2 points of Klein & Manning (2002) on all of it: 28.7 and 61.7 up to ten words.
    assert actual == {
        "left": [29.3, 17.3, 12.2, 11.7],
        "right": [63.3, 47.9, 40.6, 39.4],
        "top": [74.0, 58.8, 49.6, 47.8],
    }
