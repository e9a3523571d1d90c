"""Folders of counts: written, read back, and refused when anything in them cannot be."""

import hashlib
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.python_source import python_source
from tacit.errors import ArgumentError, DataError, FileFormatError, FileWriteError, MissingDataError
from tacit.language.data.corpus import read_corpus
from tacit.language.files import counts as counts_files
from tacit.language.files.counts import read_counts, write_counts
from tacit.language.learn.kneser_ney import kneser_ney
from tacit.language.loops import ngrams as loops
from tacit.language.moments.ngram_counts import GramCounts

LINES = ["a b a c", "", "b a", "c c a b a", "a"]
NAMES = ("words", "suffixes", "counts", "starts")


def counted(order=3, pads="one", lines=LINES):
    return GramCounts.of(read_corpus(lines), order, pads=pads)


def same(one, two):
    assert (one.pads, one.n_lines, one.vocabulary) == (two.pads, two.n_lines, two.vocabulary)
    for left, right in zip(one.tables, two.tables, strict=True):
        for name in NAMES:
            assert np.array_equal(getattr(left, name), getattr(right, name)), name


def sign_again(folder, change=None):
    """Change the header, and give it the digests of what is there now: not by accident, but on purpose."""
    path = folder / "counts.json"
    files = sorted(one for one in folder.iterdir() if one.name != path.name)
    digests = {one.name: hashlib.sha256(one.read_bytes()).hexdigest() for one in files}
    header = json.loads(path.read_text()) | {"digests": digests} | (change or {})
    header["digest"] = "0" * 64
    digest = hashlib.sha256(json.dumps(header).encode()).hexdigest()
    path.write_text(json.dumps(header | {"digest": digest}))


lines = st.lists(st.lists(st.sampled_from("abcd"), max_size=6), max_size=8)


@settings(max_examples=25, deadline=None)
@given(lines, st.integers(1, 4), st.sampled_from(["one", "all"]))
def test_what_is_written_is_read_back(tmp_path_factory, text, order, pads):
    counts = counted(order, pads, text)
    path = tmp_path_factory.mktemp("counts") / "c.counts"
    write_counts(counts, path, {"some": [1, "two"]})
    actual, notes = read_counts(path)
    same(actual, counts)
    assert notes == {"some": [1, "two"]}


@pytest.mark.parametrize("pads", ["one", "all"])
def test_every_number_that_is_another_is_noticed(tmp_path, pads):
    write_counts(counted(pads=pads), tmp_path / "c")
    for path in sorted((tmp_path / "c").glob("*.npy")):
        if path.name == "vocabulary.store.npy":
            continue
        right = np.load(path)
        for place in range(len(right)):
            for shift in (1, -1, 2**30):
                wrong = right.copy()
                wrong[place] += shift
                np.save(path, wrong)
                sign_again(tmp_path / "c")
                with pytest.raises(FileFormatError, match="damaged"):
                    read_counts(tmp_path / "c")
        np.save(path, right)
    sign_again(tmp_path / "c")
    read_counts(tmp_path / "c")


def test_a_flipped_bit_anywhere_is_refused(tmp_path):
    write_counts(counted(2, lines=["a b"]), tmp_path / "c", {"some": "note"})
    for path in sorted((tmp_path / "c").iterdir()):
        right = path.read_bytes()
        for place in range(0, len(right), 1 if path.name == "counts.json" else 7):
            for bit in range(8):
                wrong = bytearray(right)
                wrong[place] ^= 1 << bit
                path.write_bytes(wrong)
                with pytest.raises(FileFormatError, match="damaged"):
                    read_counts(tmp_path / "c")
        path.write_bytes(right)
    assert read_counts(tmp_path / "c")[1] == {"some": "note"}


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_damaged_files_are_refused_or_can_be_used(tmp_path_factory, data):
    """Bytes are changed anywhere, or files cut off: an error, or counts that every loop can work with."""
    path = tmp_path_factory.mktemp("counts") / "c"
    write_counts(counted(), path)
    file = data.draw(st.sampled_from(sorted(path.iterdir())))
    content = bytearray(file.read_bytes())
    if data.draw(st.booleans()):
        content = content[: data.draw(st.integers(0, len(content) - 1))]
    else:
        content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    file.write_bytes(content)
    if file.name != "counts.json":
        sign_again(path)
    try:
        actual, _ = read_counts(path)
    except FileFormatError:
        return
    kneser_ney(actual + actual)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"format": 9}, "format 9"),
        ({"order": 0}, "order 0"),
        ({"order": 10**9}, "order 1000000000"),
        ({"order": 4}, "no file"),
        ({"order": "3"}, "must be integers"),
        ({"pads": 2}, "not n-grams with 2 <s>"),
        ({"pads": 7}, "7 <s>"),
        ({"n_lines": -1}, "-1 lines"),
        ({"n_lines": 4}, "do not fit the number of lines"),
        ({"notes": 3}, "damaged"),
        ({"digests": 3}, "no digests"),
        ({"digests": {"../c/counts.1.npy": "0"}}, "no file"),
        ({"digests": {"counts.1.npy": 3}}, "other content"),
    ],
)
def test_hand_made_headers_are_refused(tmp_path, change, words):
    write_counts(counted(), tmp_path / "c")
    sign_again(tmp_path / "c", change)
    with pytest.raises(FileFormatError, match=words):
        read_counts(tmp_path / "c")


@pytest.mark.parametrize(
    ("name", "array", "words"),
    [
        ("counts.2", np.zeros(1, np.int64), "different lengths"),
        ("counts.2", np.zeros(1, np.int32), "wrong types"),
        ("counts.2", np.zeros((2, 2), np.int64), "not one-dimensional"),
        ("counts.2", np.array(["a"], dtype=object), "not an array"),
        ("vocabulary.starts", np.zeros(2, np.int64), "their starts"),
        ("vocabulary.starts", np.zeros(2, np.int32), "wrong types"),
        ("vocabulary.store", np.frombuffer(b"<unk>\n<s>\n</s>\na\nb\na\n", np.uint8), "twice"),
        ("vocabulary.store", np.frombuffer(b"<unk>\n<s>\n</s>\na\nb\n \n", np.uint8), "blanks"),
        ("vocabulary.store", np.frombuffer(b"<unk>\n<s>\n</s>\na\nb\n\xff\n", np.uint8), "UTF-8"),
        ("vocabulary.store", np.frombuffer(b"<unk>\n<z>\n</s>\na\nb\nc\n", np.uint8), "begin"),
    ],
)
def test_hand_made_arrays_are_refused(tmp_path, name, array, words):
    write_counts(counted(), tmp_path / "c")
    np.save(tmp_path / "c" / f"{name}.npy", array)
    sign_again(tmp_path / "c")
    with pytest.raises(FileFormatError, match=words):
        read_counts(tmp_path / "c")


def test_what_was_there_stays_where_it_cannot_be_replaced(tmp_path, monkeypatch):
    write_counts(counted(), tmp_path / "c")

    def refused(*_):
        raise OSError("no")

    monkeypatch.setattr(counts_files, "replace_folder", refused)
    with pytest.raises(FileWriteError, match="no"):
        write_counts(counted(2), tmp_path / "c")
    assert [one.name for one in tmp_path.iterdir()] == ["c"]
    same(read_counts(tmp_path / "c")[0], counted())


def test_other_folders_are_left_alone(tmp_path):
    write_counts(counted(), tmp_path / "c")
    write_counts(counted(), tmp_path / "c")  # replaces its own kind
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").write_text("precious")
    with pytest.raises(FileWriteError, match="something else is there"):
        write_counts(counted(), tmp_path / "other")
    assert (tmp_path / "other" / "file").read_text() == "precious"
    with pytest.raises(MissingDataError, match="no folder of counts"):
        read_counts(tmp_path / "other")


def test_lower_orders_are_part_of_the_counts():
    for order in (1, 2, 3):
        same(counted(3).up_to(order), counted(order))
    for wrong in (0, 4):
        with pytest.raises(DataError, match=f"those of order {wrong}"):
            counted(3).up_to(wrong)
    with pytest.raises(DataError, match="count the text again"):
        counted(3, "all").up_to(2)


def test_orders_have_an_end():
    assert counted(64).order == 64
    with pytest.raises(ArgumentError, match="at most 64"):
        counted(65)


def test_the_check_agrees_with_its_python_source():
    counts = counted()
    arrays = [tuple(getattr(table, name) for name in NAMES) for table in counts.tables]
    rest = (len(counts.vocabulary), 1, 2)
    for n_lines, expected in ((counts.n_lines, loops.GOOD), (0, loops.BAD_COUNT)):
        assert loops.check_order(arrays[1], arrays[0], *rest, n_lines) == expected
        with python_source(loops):
            assert loops.check_order(arrays[1], arrays[0], *rest, n_lines) == expected
