"""FASTA files, plain and compressed."""

import bz2
import gzip
import lzma

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import FileFormatError, MissingDataError
from tacit.sequences.data.fasta import read_fasta
from tacit.sequences.data.read_sequences import read_sequences

TEXT = "; an old comment\n>one first of all\nACGT\nac gt\n\n>two\n>three\r\nNN-*\r\n"
RECORDS = [("one first of all", "ACGTACGT"), ("two", ""), ("three", "NN-*")]


@pytest.mark.parametrize("name", ["a.fa", "a.fasta", "a.FNA", "a.fa.gz", "a.faa.bz2", "a.ffn.xz"])
def test_records_are_names_and_letters(tmp_path, name):
    path = tmp_path / name
    compress = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}.get(
        name.rsplit(".", 1)[1], bytes
    )
    path.write_bytes(compress(TEXT.encode()))
    assert list(read_fasta(path)) == RECORDS
    sequences = read_sequences(path)
    assert sequences.lengths.tolist() == [8, 0, 4]
    assert sequences.symbols == ("*", "-", "A", "C", "G", "N", "T")


def test_lower_case_can_be_kept(tmp_path):
    (tmp_path / "a.fa").write_text(TEXT)
    assert next(read_fasta(str(tmp_path / "a.fa"), upper=False))[1] == "ACGTacgt"


def test_records_come_one_after_the_other(tmp_path):
    (tmp_path / "a.fa").write_text(">one\nAC\n>two\nGT\n")
    records = read_fasta(tmp_path / "a.fa")
    assert next(records) == ("one", "AC")
    assert list(records) == [("two", "GT")]


@given(st.lists(st.text("ACGTN", max_size=30), min_size=1, max_size=5), st.integers(1, 12))
def test_lines_may_be_cut_anywhere(tmp_path_factory, texts, width):
    path = tmp_path_factory.mktemp("fasta") / "cut.fa"
    lines = []
    for number, text in enumerate(texts):
        lines += [
            f">{number}",
            *(text[first : first + width] for first in range(0, len(text), width)),
        ]
    path.write_text("\n".join(lines))
    assert [text for _, text in read_fasta(path)] == texts


@pytest.mark.parametrize(
    ("text", "words"),
    [("", "holds no record"), ("ACGT\n>one\n", "line 1: letters before the first name")],
)
def test_what_is_no_fasta_file_is_refused(tmp_path, text, words):
    (tmp_path / "a.fa").write_text(text)
    with pytest.raises(FileFormatError, match=words):
        list(read_fasta(tmp_path / "a.fa"))


def test_missing_and_damaged_files_are_named(tmp_path):
    with pytest.raises(MissingDataError, match="there is no file"):
        list(read_fasta(tmp_path / "none.fa"))
    compressed = gzip.compress(TEXT.encode() * 100)
    for name, content in (
        ("a.fa", b"\xff\xfe>"),
        ("b.fa.gz", compressed[:-20]),
        ("c.fa.xz", b"no"),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(FileFormatError, match=f"{name}' cannot be read as text"):
            list(read_fasta(tmp_path / name))
