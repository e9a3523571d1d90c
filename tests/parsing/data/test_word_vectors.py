"""Word vectors of files."""

import io
import lzma
import tracemalloc
import zipfile

import numpy as np
import pytest

from tacit.errors import DataError, FileFormatError, MissingDataError
from tacit.parsing.data.word_vectors import WordVectors, brown_vectors, read_word_vectors


def test_words_are_found_as_written_in_small_letters_or_as_unknown():
    vectors = WordVectors.of(["a", "B", "b", "<unk>"], [[1, 0], [2, 0], [3, 0], [0, 9]])
    assert vectors.of_words(["a", "A", "B", "b", "c"])[:, 0].tolist() == [1, 1, 2, 3, 0]
    assert WordVectors.of(["a", "b"], [[1, 0], [3, 2]]).of_words(["z"]).tolist() == [[2, 1]]


def test_all_kinds_of_files_are_read(tmp_path):
    np.savez(tmp_path / "a.npz", words=np.array(["x", "y"]), vecs=np.eye(2, dtype=np.float16))
    (tmp_path / "a.txt").write_text("x 1 0 0\ny 0 1 0\n")
    (tmp_path / "w2v.txt").write_text("2 3\nx 1 0 0\ny 0 1 0\n")
    (tmp_path / "b.tsv.xz").write_bytes(lzma.compress(b"x\t01\ny\t0\n"))
    (tmp_path / "liang.txt").write_text("01\tx\t17\n0\ty\t3\n")
    assert read_word_vectors(tmp_path / "a.npz").vectors.tolist() == [[1, 0], [0, 1]]
    for name in ("a.txt", "w2v.txt"):
        actual = read_word_vectors(tmp_path / name)
        assert actual.words == ("x", "y")
        assert actual.vectors.tolist() == [[1, 0, 0], [0, 1, 0]]
    clusters = brown_vectors({"x": "01", "y": "0"})
    for name in ("b.tsv.xz", "liang.txt"):
        assert np.allclose(read_word_vectors(tmp_path / name).vectors, clusters.vectors)


def test_brown_clusters_are_beginnings_and_bits_of_length_one():
    vectors = brown_vectors({"x": "01", "y": "0"}).vectors
    assert np.allclose(vectors, [[0, 3**-0.5, -(3**-0.5), 3**-0.5], [0.5**0.5, 0, -(0.5**0.5), 0]])


def test_vectors_are_joined_for_the_words_of_both():
    both = WordVectors.of(["a"], [[1]]) + WordVectors.of(["b"], [[2, 3]])
    assert both.of_words(["a", "b", "c"]).tolist() == [[1, 2, 3], [1, 2, 3], [1, 2, 3]]
    assert both.n_features == 3


def test_what_is_wrong_is_said(tmp_path):
    np.savez(tmp_path / "a.npz", words=np.array(["x"]))
    (tmp_path / "a.txt").write_text("x 1 0 0\ny 0 1\n")
    (tmp_path / "n.txt").write_text("x 1 0 0\ny 0 1 q\n")
    (tmp_path / "b.tsv").write_text("x\t01\ny\t02\n")
    (tmp_path / "c.npz").write_text("no archive")
    with pytest.raises(FileFormatError, match=r"has the arrays \['words'\]"):
        read_word_vectors(tmp_path / "a.npz")
    with pytest.raises(FileFormatError, match="cannot be read"):
        read_word_vectors(tmp_path / "c.npz")
    with pytest.raises(DataError, match="entry 2 has 2 numbers"):
        read_word_vectors(tmp_path / "a.txt")
    with pytest.raises(DataError, match="'q'"):
        read_word_vectors(tmp_path / "n.txt")
    with pytest.raises(DataError, match="'02' is no path"):
        read_word_vectors(tmp_path / "b.tsv")
    with pytest.raises(MissingDataError):
        read_word_vectors(tmp_path / "nowhere.npz")
    with pytest.raises(DataError, match="give one row for each"):
        WordVectors.of(["a"], [[1], [2]])
    with pytest.raises(DataError, match="no number"):
        WordVectors.of(["a"], [[np.nan]])


@pytest.mark.parametrize("place", range(0, 400, 7))
def test_a_damaged_file_of_arrays_is_refused_or_read_as_before(tmp_path, place):
    path = tmp_path / "vectors.npz"
    np.savez_compressed(path, words=np.array(["a", "b"]), vecs=np.eye(2))
    content = bytearray(path.read_bytes())
    content[place % len(content)] ^= 0x55
    path.write_bytes(bytes(content))
    try:
        read = read_word_vectors(path)
    except FileFormatError:
        return
    np.testing.assert_array_equal(read.vectors, np.eye(2))


def packed(path, vectors):
    """An archive of two words, and of vectors in the bytes of an npy file."""
    words = io.BytesIO()
    np.save(words, np.array(["a", "b"]))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("words.npy", words.getvalue())
        archive.writestr("vecs.npy", vectors)
    return path


def npy(header, content=b""):
    """An npy file of format 1."""
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + content


def test_vectors_that_would_unpack_to_far_more_than_the_file_are_refused_before(tmp_path):
    header = "{'descr': 'f4', 'fortran_order': False, 'shape': (2, 5000000)}\n"
    zeros = packed(tmp_path / "zeros.npz", npy(header, bytes(40_000_000)))
    short = packed(tmp_path / "short.npz", npy(header.replace("5000000", "5000000000000")))
    tracemalloc.start()
    for path in (zeros, short):
        with pytest.raises(
            FileFormatError, match=r"announces numbers: \d+, more than the \d+ .*numpy\.savez"
        ):
            read_word_vectors(path)
    assert tracemalloc.get_traced_memory()[1] < 2_000_000
    tracemalloc.stop()


@pytest.mark.parametrize("header", ["(" * 100, "{[]: 1}", "{'descr': (((", "{}", ""])
def test_damaged_header_of_an_array_is_refused(tmp_path, header):
    with pytest.raises(FileFormatError, match="cannot be read"):
        read_word_vectors(packed(tmp_path / "a.npz", npy(header)))


@pytest.mark.parametrize(
    ("words", "vectors"),
    [(["a", "b"], [["c"], ["d"]]), ("a", [[1.0]]), (["a", "b"], [[1j], [2j]])],
    ids=["text", "one word", "complex"],
)
def test_arrays_that_are_no_words_and_numbers_are_refused(tmp_path, words, vectors):
    np.savez(tmp_path / "a.npz", words=np.array(words), vecs=np.array(vectors))
    with pytest.raises(FileFormatError, match="one axis and numbers are needed"):
        read_word_vectors(tmp_path / "a.npz")
