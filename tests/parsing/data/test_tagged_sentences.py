"""Sentences of words and tags, whatever they come from."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import ArgumentTypeError, DataError
from tacit.parsing.data.parse_trees import read_trees
from tacit.parsing.data.tagged_sentences import read_tagged, without_marks

RAIN = [("Rain", "NN"), ("falls", "VBZ"), (".", ".")]
CONLLU = """# a comment
1\tRain\train\tNOUN\tNN\t_\t2\tnsubj\t_\t_
2-3\tdoesn't\t_\t_\t_\t_\t_\t_\t_\t_
2\tdoes\tdo\tAUX\tVBZ\t_\t0\troot\t_\t_
3\tn't\tnot\t_\tRB\t_\t2\tadvmod\t_\t_

# another
1\tYes\tyes\tINTJ\tUH\t_\t0\troot\t_\t_
"""
pieces = st.text("ab/_|.é", min_size=1, max_size=5)


@pytest.mark.parametrize(
    "source",
    [
        [RAIN],
        (sentence for sentence in [RAIN]),
        ["Rain|||NN falls|||VBZ .|||."],
        ["Rain_NN falls_VBZ ._."],
        ["", "Rain/NN falls/VBZ ./."],
        ["(S (NP (NN Rain)) (VP (VBZ falls) (NP (-NONE- *)))", "(. .))"],
        read_trees(["(S (NP (NN Rain)) (VP (VBZ falls)) (. .))"]),
    ],
)
def test_a_sentence_is_the_same_in_every_form(source):
    assert read_tagged(source) == [RAIN]


def test_conllu_gives_words_and_universal_tags(tmp_path):
    path = tmp_path / "a.conllu"
    path.write_text(CONLLU)
    assert read_tagged(path) == [
        [("Rain", "NOUN"), ("does", "AUX"), ("n't", "RB")],
        [("Yes", "INTJ")],
    ]
    assert read_tagged([path, path]) == read_tagged(path) * 2
    with path.open() as file:
        assert read_tagged(file) == read_tagged(path)


@given(st.lists(st.lists(st.tuples(pieces, st.sampled_from(["A", "B"])), min_size=1), max_size=3))
def test_tagged_text_is_read_as_it_was_written(sentences):
    lines = [" ".join(f"{word}|||{tag}" for word, tag in sentence) for sentence in sentences]
    assert read_tagged(lines) == sentences


def test_marks_go():
    assert without_marks(RAIN) == RAIN[:2]


def test_nothing_is_nothing():
    assert read_tagged([]) == read_tagged([""]) == []


@pytest.mark.parametrize(
    ("source", "what"),
    [
        (["a/B", "c"], r"line 2: 'c' has no tag; write word/TAG"),
        ([CONLLU.splitlines()[1], "2\tx\ty\tz\tw"], "line 2 has 5 columns"),
        ([RAIN, ["word"]], "sentence 2 is no list of pairs"),
        ([RAIN, [("word", 3)]], "sentence 2: 'word' and 3 must be strings"),
        (["(S (NN Rain)"], "line 1: 1 of the brackets"),
    ],
)
def test_what_is_no_tagged_sentence_is_refused_with_its_place(source, what):
    with pytest.raises(DataError, match=what):
        read_tagged(source)


def test_a_number_is_no_text():
    with pytest.raises(ArgumentTypeError, match="a path, lines, trees or lists"):
        read_tagged(3)


def test_errors_name_the_file_of_trees_and_its_line(tmp_path):
    path = tmp_path / "some.mrg"
    path.write_text("(S (NN Rain))\n\n(S (NN Rain)\n")
    with pytest.raises(DataError, match=r"some\.mrg, line 3: 1 of the brackets"):
        read_tagged(path)


def test_files_that_are_open_say_which_line_is_no_text():
    with pytest.raises(DataError, match="the file given, line 2 is no UTF-8"):
        read_tagged(io.BytesIO(b"a/B\nschl\xe4ft/V\n"))
