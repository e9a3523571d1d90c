"""Text in any form gives the same numbers of words; what is no text is refused with its place."""

import bz2
import gzip
import lzma
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.python_source import python_source
from tacit.core.input.text import BLOCK
from tacit.errors import (
    ArgumentError,
    ArgumentTypeError,
    DataError,
    FileFormatError,
    MissingDataError,
)
from tacit.language.data.corpus import read_blocks, read_corpus, read_vocabulary
from tacit.language.data.vocabulary import Vocabulary
from tacit.language.loops import tokens as loops

TEXT = "der Hund\tbellt \n\n  ein Hund läuft\r\nder\n"
LINES = [["der", "Hund", "bellt"], [], ["ein", "Hund", "läuft"], ["der"]]

words = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Zs", "Cs"]), min_size=1)
lines = st.lists(st.lists(words.filter(lambda word: word not in {"<s>", "</s>"})))


def spelled(corpus):
    cuts = [0, *corpus.ends.tolist()]
    known = corpus.vocabulary.words
    return [[known[i] for i in corpus.ids[low:high]] for low, high in pairwise(cuts)]


def packed(text, ending):
    if ending == ".zst":
        return pa.compress(text, codec="zstd", asbytes=True)
    return {".gz": gzip, ".bz2": bz2, ".xz": lzma}[ending].compress(text)


@pytest.mark.parametrize("ending", ["", ".gz", ".bz2", ".xz", ".zst"])
def test_files_are_read_packed_or_not(tmp_path, ending):
    path = tmp_path / f"text.txt{ending}"
    path.write_bytes(packed(TEXT.encode(), ending) if ending else TEXT.encode())
    assert spelled(read_corpus(path)) == LINES
    assert spelled(read_corpus(str(path))) == LINES
    assert spelled(read_corpus([path, path])) == LINES + LINES


@pytest.mark.parametrize(
    "given",
    [
        TEXT.splitlines(),
        [line + "\n" for line in TEXT.split("\n")[:-1]],
        LINES,
        (tuple(line) for line in LINES),
        pa.array([" ".join(line) for line in LINES]),
        pa.chunked_array([LINES[:1], LINES[1:]]),
        pa.array(LINES, pa.large_list(pa.large_string())),
        pa.array([" ".join(line) for line in LINES]).dictionary_encode(),
    ],
)
def test_lines_lists_and_columns_are_read(given):
    assert spelled(read_corpus(given)) == LINES


def test_the_last_line_needs_no_newline(tmp_path):
    for text, n_lines in (("a\nb", 2), ("a\nb\n", 2), ("a\n\n", 2), ("", 0), ("\n", 1), ("a ", 1)):
        (tmp_path / "text").write_text(text)
        assert read_corpus(tmp_path / "text").n_lines == n_lines


def test_words_are_numbered_by_falling_count_then_by_letter():
    corpus = read_corpus(["b c a", "b z z b"])
    assert corpus.vocabulary.words == ("<unk>", "<s>", "</s>", "b", "z", "a", "c")
    rare = read_corpus(["b c a", "b z z b"], min_count=2)
    assert rare.vocabulary.words[3:] == ("b", "z")
    assert rare.ids.tolist() == [3, 0, 0, 3, 4, 4, 3]
    assert read_corpus(["b c a", "b z z b"], n_words=1).vocabulary.words[3:] == ("b",)


def test_a_given_vocabulary_stays_as_it_is():
    vocabulary = Vocabulary.of_words(["z", "b"])
    corpus = read_corpus(["b <unk> z new"], vocabulary=vocabulary)
    assert corpus.ids.tolist() == [4, 0, 3, 0]
    assert corpus.vocabulary is vocabulary
    assert "b" in vocabulary
    assert vocabulary == Vocabulary.of_words(["z", "b"])


@given(lines)
def test_any_words_come_back_as_they_were(given):
    assert spelled(read_corpus(given)) == given


@given(lines, st.integers(1, 7))
def test_where_blocks_end_does_not_matter(given, size):
    text = "".join(" ".join(line) + "\n" for line in given).encode()
    from tacit.core.input.text import TextSource
    from tacit.language.data.corpus import _actions, _Reader
    from tacit.language.data.vocabulary import WordTable

    special = Vocabulary.of_words(())
    table = WordTable(special.store, special.starts)
    reader = _Reader(TextSource("text", iter(())), table, True, _actions("error", "word"))
    parts = [reader.encoded(text[low : low + size]) for low in range(0, len(text), size)]
    parts.append(reader.encoded(b"", last=True))
    known = table.store[: table.starts[table.n_words]].tobytes().decode().split("\n")
    actual = [known[i] for ids, _ in parts for i in ids]
    assert actual == [word for line in given for word in line]
    assert sum(len(ends) for _, ends in parts) == len(given)


def test_pieces_are_whole_lines_of_the_same_numbers(tmp_path):
    path = tmp_path / "text"
    path.write_text("one two three\n" * (BLOCK // 10) + "a line without end")
    whole = read_corpus(path)
    parts = list(read_blocks(path, whole.vocabulary))
    assert len(parts) > 1
    assert np.array_equal(np.concatenate([part.ids for part in parts]), whole.ids)
    assert sum(part.n_lines for part in parts) == whole.n_lines
    assert np.array_equal(whole.part(2, 4).ids, whole.ids[6:12])


def test_a_line_of_a_million_words_is_read(tmp_path):
    path = tmp_path / "text"
    path.write_text("ab " * 3_000_000)
    corpus = read_corpus(path)
    assert (corpus.n_words, corpus.n_lines, corpus.ends.tolist()) == (3_000_000, 1, [3_000_000])


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (
            b"good\nbad \xff here\n",
            r"line 2, byte 9: byte 0xff is not UTF-8 \(invalid start byte\)",
        ),
        (b"ends in \xc3", r"line 1, byte 8: byte 0xc3 is not UTF-8"),
        (b"a b\nc \xc3 d", r"line 2, byte 6: byte 0xc3 is not UTF-8"),
        (b"a\n\x7fELF\0\0 b\n", r"line 2, byte 6: a NUL byte; this is a binary file"),
        (
            b"a\n\nb <s> c\n",
            r"line 3, byte 5: the text contains the marker '<s>'.*markers=\"skip\"",
        ),
        (b"x" * 3_000_000, r"a word of more than 1048576 bytes; is this text\?"),
    ],
)
def test_what_is_no_text_is_refused_with_its_place(tmp_path, content, complaint):
    path = tmp_path / "text"
    path.write_bytes(content)
    kind = DataError if b"<s>" in content else FileFormatError
    with pytest.raises(kind, match=complaint):
        read_corpus(path)
    with pytest.raises(kind, match=complaint):
        list(read_blocks(path, Vocabulary.of_words(["a"])))


def test_markers_and_the_unknown_word_may_be_skipped():
    given = ["<s> a <unk> b </s>"]
    with pytest.raises(DataError, match="line 1: the text contains the marker '<s>'"):
        read_corpus(given)
    assert spelled(read_corpus(given, markers="skip")) == [["a", "<unk>", "b"]]
    assert spelled(read_corpus(given, markers="skip", unknown="skip")) == [["a", "b"]]
    with pytest.raises(DataError, match='pass unknown="word" or "skip"'):
        read_corpus(given, markers="skip", unknown="error")
    with pytest.raises(ArgumentError, match="markers='drop'"):
        read_corpus(given, markers="drop")


def test_other_things_are_refused(tmp_path):
    with pytest.raises(MissingDataError, match="is no file; give a file of text"):
        read_corpus(tmp_path / "none.txt")
    with pytest.raises(MissingDataError, match="is a folder"):
        read_corpus(tmp_path)
    (tmp_path / "bad.xz").write_bytes(b"no xz at all")
    (tmp_path / "bad.zst").write_bytes(b"no zst at all")
    for name in ("bad.xz", "bad.zst"):
        with pytest.raises(FileFormatError, match="cannot be read"):
            read_corpus(tmp_path / name)
    with pytest.raises(ArgumentTypeError, match="bytes are no text"):
        read_corpus(b"a b")
    with pytest.raises(ArgumentTypeError, match="not <class 'int'>"):
        read_corpus(3)
    with pytest.raises(ArgumentTypeError, match="line 2 is neither a string nor a list"):
        read_corpus(["a", 3])
    with pytest.raises(DataError, match="line 1: 'a b' is no word"):
        read_corpus([["a b"]])
    with pytest.raises(DataError, match="line 2: '' is no word"):
        read_corpus([["a"], ["b", ""]])
    with pytest.raises(DataError, match="a word of the column is empty or has blanks"):
        read_corpus(pa.array([["a b"]]))
    with pytest.raises(DataError, match="missing lines"):
        read_corpus(pa.array(["a", None]))
    with pytest.raises(ArgumentTypeError, match="line 1 of the column"):
        read_corpus(pa.array([1, 2]))
    with pytest.raises(DataError, match="'a' occurs twice"):
        Vocabulary.of_words(["a", "a"])
    with pytest.raises(DataError, match="'a b' is not a word"):
        Vocabulary.of_words(["a b"])


def test_the_compiled_loop_agrees_with_its_python_source():
    given = ["zu viel zu tun", "", "é è zu", "tun"]
    expected = read_corpus(given)
    with python_source(loops), np.errstate(over="ignore"):
        actual = read_corpus(given)
        known = read_corpus(given, vocabulary=expected.vocabulary)
    assert np.array_equal(actual.ids, expected.ids)
    assert np.array_equal(known.ids, expected.ids)
    assert actual.vocabulary == expected.vocabulary


@pytest.mark.parametrize("settings", [{}, {"min_count": 2}, {"n_words": 2}])
def test_the_vocabulary_can_be_read_alone(settings):
    given = ["zu viel zu tun", "", "é è zu", "tun"]
    assert read_vocabulary(given, **settings) == read_corpus(given, **settings).vocabulary


def test_a_corpus_is_read_already():
    corpus = read_corpus(["a b", "", "b c"])
    assert read_corpus(corpus) is corpus
    assert read_corpus(corpus, vocabulary=Vocabulary.of_words(corpus.vocabulary.words)) is corpus
    assert read_vocabulary(corpus) is corpus.vocabulary
    assert list(read_blocks(corpus, corpus.vocabulary)) == [corpus]
    other = Vocabulary.of_words(["z"])
    with pytest.raises(DataError, match="read with another vocabulary"):
        read_corpus(corpus, vocabulary=other)
    with pytest.raises(DataError, match="read with another vocabulary"):
        list(read_blocks(corpus, other))
    assert corpus.word_places().tolist() == [0, 1, 4, 5]  # "</s>" at 2, 3 and 6
    assert corpus.word_places(ends=False).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("words", [[None], ["a", None], [b"a"], [3.5], 3, None])
def test_words_that_are_not_texts_are_refused(words):
    vocabulary = Vocabulary.of_words(["a", "b"])
    for take in (vocabulary.ids, Vocabulary.of_words):
        with pytest.raises(ArgumentTypeError, match="words must be texts in a list"):
            take(words)
