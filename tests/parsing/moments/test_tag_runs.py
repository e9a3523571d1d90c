"""Runs of tags between marks: counted by hand."""

import numpy as np

from tacit.parsing.moments.tag_runs import TagRuns, tag_runs

TEXT = [
    [("well", "UH"), (",", ","), ("a", "DT"), ("cat", "NN"), ("sleeps", "VBZ"), (".", ".")],
    [("a", "DT"), ("cat", "NN"), (",", ","), (",", ","), ("a", "DT"), ("cat", "NN")],
    [(".", ".")],
    [("rain", "NOUN")],
]


def test_runs_stand_between_marks():
    assert [tag_runs(sentence) for sentence in TEXT] == [
        (("UH",), ("DT", "NN", "VBZ")),
        (("DT", "NN"), ("DT", "NN")),
        (),
        (("NOUN",),),
    ]
    runs = TagRuns.of(TEXT)
    assert runs.tags == ("DT", "NN", "NOUN", "UH", "VBZ")
    assert runs.runs() == {("UH",): 1, ("DT", "NN", "VBZ"): 1, ("DT", "NN"): 2, ("NOUN",): 1}
    assert (TagRuns.of(TEXT[:1]) + TagRuns.of(TEXT[1:])).sentences == runs.sentences


def test_tags_that_end_runs_by_hand():
    # 9 words, 5 of them last: of DT 0 of 3, NN 2 of 3, the others 1 of 1; 5 more of each, 5/9 of them last.
    usual = 5 / 9
    last, seen = np.array([0, 2, 1, 1, 1]), np.array([3, 3, 1, 1, 1])
    expected = np.log((last + 5 * usual) / (seen + 5) / usual)
    assert np.allclose(TagRuns.of(TEXT).endings(), expected)


def test_tags_of_each_sentence():
    has, lengths, weights, rates = TagRuns.of([*TEXT, TEXT[1]]).presence()
    assert has.tolist() == [
        [True, True, False, True, True],
        [True, True, False, False, False],
        [False, False, True, False, False],
    ]
    assert lengths.tolist() == [4, 4, 1]
    assert weights.tolist() == [1, 2, 1]
    assert np.allclose(rates, np.array([5, 5, 1, 1, 1]) / 13)


def test_sets_of_tags_that_never_meet_are_distinguished():
    chained = [[("", a), ("", b)] for a, b in ("AB", "CD", "BD", "EF")]  # A to D meet in the end
    parts = TagRuns.of([*chained, [("", "E")]]).by_tag_set()
    assert [part.tags for part in parts] == [("A", "B", "C", "D"), ("E", "F")]
    assert sum((part.sentences for part in parts), start=parts[0].sentences.__class__()) == (
        TagRuns.of([*chained, [("", "E")]]).sentences
    )
