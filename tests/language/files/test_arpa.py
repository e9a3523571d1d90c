"""ARPA files: what is written is read back, files of others are read, errors name the line."""

import gzip
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.python_source import python_source
from tacit.errors import FileFormatError, MissingDataError, ProbabilityWarning
from tacit.language.data.corpus import read_corpus
from tacit.language.data.vocabulary import Vocabulary
from tacit.language.files.arpa import read_arpa, write_arpa
from tacit.language.learn.kneser_ney import kneser_ney
from tacit.language.loops import arpa as loops
from tacit.language.moments.ngram_counts import GramCounts
from tacit.language.query.backoff import next_probs, score_corpus

LINES = ["der Hund bellt", "der Hund läuft", "", "die Katze läuft", "der Hund bellt laut"] * 3

# A pruned model, as SRILM writes them: the bigram "b c" is not there, and blanks stand for tabs in one line.
FOREIGN = """some words before

\\data\\
ngram 1=5
ngram 2=3
ngram 3=1

\\1-grams:
-99\t<s>\t-0.5
-1.0\t</s>
-0.5\ta\t-0.25
-0.6\tb -0.3
-7e-1\tc\t0.1

\\2-grams:
-0.2\t<s> a\t-0.125
-0.4\ta b\t0
-0.3 b </s>

\\3-grams:
-0.1\ta b c

\\end\\
"""


def fitted(order):
    return kneser_ney(GramCounts.of(read_corpus(LINES), order))[0]


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_what_is_written_is_read_back(tmp_path, order):
    model = fitted(order)
    write_arpa(model, tmp_path / "m.arpa")
    again = read_arpa(tmp_path / "m.arpa")
    assert again.vocabulary == model.vocabulary
    for name in ("offsets", "words", "suffixes", "firsts"):
        assert np.array_equal(getattr(again, name), getattr(model, name)), name
    # seven digits of logarithms to base 10
    assert again.probs == pytest.approx(model.probs, rel=2e-7)
    assert again.backoffs == pytest.approx(model.backoffs, rel=2e-7)
    (tmp_path / "m.arpa.gz").write_bytes(gzip.compress((tmp_path / "m.arpa").read_bytes()))
    assert np.array_equal(read_arpa(tmp_path / "m.arpa.gz").probs, again.probs)
    for ending in ("gz", "bz2", "xz", "zst"):
        write_arpa(model, tmp_path / f"packed.arpa.{ending}")
        assert np.array_equal(read_arpa(tmp_path / f"packed.arpa.{ending}").probs, again.probs)
    unpacked = gzip.decompress((tmp_path / "packed.arpa.gz").read_bytes())
    assert unpacked == (tmp_path / "m.arpa").read_bytes()


def test_the_file_looks_as_others_want_it(tmp_path):
    write_arpa(fitted(2), tmp_path / "m.arpa")
    lines = (tmp_path / "m.arpa").read_text(encoding="utf-8").splitlines()
    assert lines[:3] == ["\\data\\", "ngram 1=10", "ngram 2=12"]
    assert lines[4] == "\\1-grams:"
    cells = lines[6].split("\t")
    assert (cells[0], cells[1]) == ("-99.0000000", "<s>")
    assert all(line.count("\t") == 1 for line in lines[lines.index("\\2-grams:") + 1 : -2])
    assert lines[-2:] == ["", "\\end\\"]


def test_pruned_files_of_others_are_read(tmp_path):
    path = tmp_path / "m.arpa"
    path.write_text(FOREIGN)
    model = read_arpa(path, normalize=False)
    scores = score_corpus(model, read_corpus(["a b c a"], vocabulary=model.vocabulary))
    # <s> a; then "a b" backs off from "<s> a"; then "a b c" is there, but no n-gram "b c" before "a".
    expected = [-0.2, -0.125 - 0.4, -0.1, 0.1 - 0.5, -0.25 - 1.0]
    assert scores.log_probs / np.log(10) == pytest.approx(expected, abs=1e-12)
    assert scores.orders.tolist() == [2, 2, 3, 1, 1]
    assert model.probs[0] == 0  # no <unk> is listed


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("\\data\\", "data", "line 8: expected '.data.'; is this an ARPA file"),
        ("ngram 2=3", "ngram 3=3", "line 5: expected 'ngram 2=...'"),
        ("ngram 1=5\nngram 2=3\nngram 3=1\n", "", "line 5: expected 'ngram 1=...'"),
        ("\\1-grams:", "\\2-grams:", "line 8: expected '.1-grams:', but there is '.2-grams:'"),
        ("ngram 1=5", "ngram 1=6", "line 15: expected logarithm.*6 unigrams are announced, 5 were"),
        ("ngram 1=5", "ngram 1=4", "line 13: expected '.2-grams:', but there is '-7e-1"),
        ("ngram 1=5", "ngram 1=99999999999", "line 9: 99999999999 1-grams are announced, but the"),
        ("ngram 2=3", "ngram 2=99999999999", "line 16: 99999999999 2-grams are announced, but the"),
        ("ngram 3=1", "".join(f"ngram {n}=1\n" for n in range(3, 80)), "n-grams of 79 words"),
        ("-0.5\ta", "-0,5\ta", "line 11: '-0,5' is not a number"),
        ("-0.5\ta", "nan\ta", "line 11: 'nan' is not a number"),
        ("-0.5\ta", "-0_5\ta", "line 11: '-0_5' is not a number"),
        ("-0.5\ta", "-index\ta", "line 11: '-index' is not a number"),
        ("a\t-0.25", "a\tinf", "line 11: inf is .* of too large a weight"),
        ("a\t-0.25", "a\tNaN", "line 11: 'NaN' is not a number"),
        ("-0.4\ta b", "nan\ta b", "line 17: expected a number"),
        ("a b\t0", "a b\t100", "line 17: .* of too large a weight"),
        ("-0.6\tb", "-0.6\ta", "line 12: the word 'a' is listed twice"),
        ("-0.6\tb", "0.6\tb", "line 12: 0.6 is the logarithm of a probability above one"),
        (
            "ngram 2=3",
            "ngram 2=4",
            "line 20: expected an n-gram of 2 words: 4 are announced, 3 were",
        ),
        ("ngram 2=3", "ngram 2=2", "line 18: expected '.3-grams:', but there is '-0.3 b"),
        ("-0.4\ta b", "x\ta b", "line 17: expected a number"),
        ("-0.4\ta b", "0.4\ta b", "line 17: the logarithm of a probability above one"),
        ("-0.4\ta b\t0", "-0.4\ta\n", "line 17: expected an n-gram of 2 words"),
        ("-0.4\ta b\t0", "-0.4\ta b\t0 0", "line 17: there is more"),
        ("-0.4\ta b", "-0.4\ta d", "line 17: a word is not among the unigrams"),
        ("-0.3 b </s>", "-0.3 a b", "line 18: the n-gram is listed twice"),
        ("a b c", "b a c", "line 21: the n-gram without its last word is not listed .* order 2"),
        ("\\end\\", "", "line 24: the file ends here"),
    ],
)
def test_errors_name_the_line(tmp_path, old, new, complaint):
    path = tmp_path / "m.arpa"
    assert old in FOREIGN
    path.write_text(FOREIGN.replace(old, new, 1))
    with pytest.raises(FileFormatError, match=complaint):
        read_arpa(path)


def test_text_that_ends_within_a_line_is_not_read_beyond_its_end():
    text = np.frombuffer(b"-0.3 a", dtype=np.uint8)
    vocabulary = Vocabulary.of_words(["a"])
    table = (vocabulary.table.slots, vocabulary.table.hashes, vocabulary.starts, vocabulary.store)
    ids, logs, weights = np.empty((2, 1), dtype=np.int32), np.empty(2), np.empty(2)
    n, at, why = loops.parse_grams(text, 0, 2, table, ids, logs, weights)
    assert (n, at, why) == (1, len(text), loops.FEW_WORDS)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_damaged_files_are_refused_or_can_be_used(tmp_path_factory, data):
    """Cut off anywhere, or with other bytes: an error with the line, or a model that every query works on."""
    path = tmp_path_factory.mktemp("damaged") / "m.arpa"
    content = bytearray(FOREIGN.encode())
    if data.draw(st.booleans()):
        content = content[: data.draw(st.integers(0, len(content) - 1))]
    for _ in range(data.draw(st.integers(0, 3))):
        place = data.draw(st.integers(0, max(len(content) - 1, 0)))
        content[place : place + 1] = data.draw(st.binary(max_size=2))
    path.write_bytes(content)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ProbabilityWarning)
            model = read_arpa(path)
    except FileFormatError as error:
        assert "line " in str(error) or "probability zero" in str(error)  # noqa: PT017
        return
    score_corpus(model, read_corpus(["a b c a"], vocabulary=model.vocabulary))
    for state in range(-1, model.n_contexts):
        assert next_probs(model, state).sum() == pytest.approx(
            1, abs=1e-3
        )  # as far as files are rounded


def test_what_is_no_file_is_refused(tmp_path):
    with pytest.raises(MissingDataError, match="is no file"):
        read_arpa(tmp_path / "none.arpa")


def test_the_compiled_loops_agree_with_their_python_source(tmp_path):
    model = fitted(3)
    write_arpa(model, tmp_path / "a")
    with python_source(loops), np.errstate(over="ignore"):
        write_arpa(model, tmp_path / "b")
        again = read_arpa(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert np.array_equal(again.probs, read_arpa(tmp_path / "a").probs)


@pytest.mark.parametrize("text", ["-1.25", "3", "-0.5e-3", "1E2", "-inf", "+.5", "1e-400", "7e999"])
def test_numbers_are_read_as_python_reads_them(text):
    coded = np.frombuffer(text.encode(), dtype=np.uint8)
    value, at, good = loops.read_number(coded, 0)
    assert (at, good) == (len(text), True)
    assert value == pytest.approx(float(text), rel=1e-15)


@pytest.mark.parametrize("text", ["", "-", "1e", "1x", ".", "e5", "nan", "in", "index", "infx"])
def test_what_is_no_number_is_noticed(text):
    assert not loops.read_number(np.frombuffer(text.encode(), dtype=np.uint8), 0)[2]
