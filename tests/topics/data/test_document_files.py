"""Files of word counts."""

import gzip
import lzma

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array, vstack

from tacit.core.input import text as texts
from tacit.errors import ArgumentError, DataError, FileFormatError, MissingDataError
from tacit.topics.data import document_files
from tacit.topics.data.document_files import file_batches
from tacit.topics.data.read_documents import read_documents
from tacit.topics.loops import documents as loops

TABLES = st.integers(1, 6).flatmap(
    lambda n_words: st.lists(
        st.lists(st.integers(0, 12), min_size=n_words, max_size=n_words), min_size=1, max_size=8
    )
)


def uci(counts):
    entries = [(d + 1, w + 1, counts[d, w]) for d, w in zip(*np.nonzero(counts), strict=True)]
    lines = "".join(f"{d} {w} {c}\n" for d, w, c in entries)
    return f"{counts.shape[0]}\n{counts.shape[1]}\n{len(entries)}\n{lines}"


def lda_c(counts):
    lines = []
    for row in counts:
        pairs = [f"{word}:{row[word]}" for word in np.flatnonzero(row)]
        lines.append(" ".join([str(len(pairs)), *pairs]) + "\n")
    return "".join(lines)


def stacked(batches):
    return vstack(list(batches)).toarray()


@pytest.mark.parametrize("block", [1, 7, 1 << 20])
@settings(max_examples=20)
@given(table=TABLES)
def test_what_is_written_in_either_form_is_read_back_in_blocks_of_any_size(
    table, block, tmp_path_factory
):
    counts = np.array(table)
    path = tmp_path_factory.mktemp("documents") / "documents.txt"
    words = tuple(f"w{place}" for place in range(counts.shape[1]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(texts, "BLOCK", block)
        for form, text in (("uci", uci(counts)), ("lda-c", lda_c(counts))):
            path.write_text(text)
            batches = file_batches(path, words, form)
            assert np.array_equal(stacked(batches), counts)
            assert np.array_equal(stacked(batches), counts)
            assert (batches.n_passes, batches.n_documents) == (2, len(counts))


@pytest.mark.parametrize("ending", ["\n", ""])
@pytest.mark.parametrize("line", ["\n", "\r\n", " \n", "\t\n"])
@pytest.mark.parametrize("form", ["uci", "lda-c"])
def test_line_ends_and_the_end_of_the_file_may_be_of_any_kind(tmp_path, form, line, ending):
    counts = np.array([[0, 3, 1], [0, 0, 0], [12, 0, 2]])
    text = (uci if form == "uci" else lda_c)(counts)
    path = tmp_path / "documents"
    path.write_bytes((text.rstrip("\n") + ending).replace("\n", line).encode())
    assert np.array_equal(read_documents(path).counts.toarray(), counts)


def test_words_out_of_order_and_twice_are_added_up(tmp_path):
    path = tmp_path / "documents"
    path.write_text("3 4:1 1:2 4:5\n")
    actual = read_documents(path).counts
    assert actual.has_canonical_format
    assert actual.toarray().tolist() == [[0, 2, 0, 0, 6]]
    path.write_text("1\n5\n3\n1 5 1\n1 2 2\n1 5 5\n")
    assert read_documents(path).counts.toarray().tolist() == [[0, 2, 0, 0, 6]]


def test_packed_files_and_the_form_are_recognised(tmp_path):
    counts = np.array([[0, 3, 1], [12, 0, 2]])
    for name, opened in (("a.txt.gz", gzip.open), ("a.txt.xz", lzma.open)):
        for text in (uci(counts), lda_c(counts)):
            with opened(tmp_path / name, "wt") as file:
                file.write(text)
            assert np.array_equal(read_documents(tmp_path / name).counts.toarray(), counts)


def test_a_scan_for_the_number_of_words_counts_as_a_pass(tmp_path):
    path = tmp_path / "documents"
    path.write_text("1 3:1\n0\n")
    batches = file_batches(path)
    assert (batches.n_words, batches.n_passes, batches.named) == (4, 1, False)
    assert stacked(batches).tolist() == [[0, 0, 0, 1], [0, 0, 0, 0]]
    assert (batches.n_passes, batches.n_documents) == (2, 2)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("1\n3\n1\n1 2 -1\n", "line 4, '1 2 -1': a negative number"),
        ("1\n3\n1\n1 2\n", "line 4, '1 2': a number is missing"),
        ("1\n3\n1\n1 2 3 4\n", "expected a whole number"),
        ("1\n3\n1\n1 2 1.5\n", "expected a whole number"),
        ("1\n3\n1\n1 4 1\n", "a word beyond the 3"),
        ("1\n3\n1\n1 0 1\n", "a word beyond the 3"),
        ("1\n3\n1\n2 1 1\n", "not one of 1 to 1"),
        ("2\n3\n1\n2 1 1\n\n1 1 1\n", "line 6, '1 1 1': a document of lines that are not together"),
        ("1\n3\n1\n1 1 99999999999\n", "above 2,147,483,647"),
        ("2 0:1\n", "first number is not that of the words"),
        ("1 0:1\n1 0:-2\n", "line 2, '1 0:-2': a negative number"),
        ("1 0:1\n1 1\n", "expected a whole number"),
        ("1 0:1\n\n1 1:1\n", "line 2, '': a number is missing"),
        ("1 0:1\n1 1:1x\n", "expected a whole number"),
        ("2\n3\n4\n1 2 1\n1 3 0\n2 1 4\n", "has 3 of the 4 entries that its third line announces"),
        ("2\n3\n4\n", "has 0 of the 4 entries"),
        ("a rose is a rose\n", "begins with 'a rose is a rose'"),
        ("", "is not a file of word counts"),
    ],
)
def test_wrong_lines_are_named_with_the_reason(tmp_path, text, says):
    path = tmp_path / "documents.txt"
    path.write_text(text)
    with pytest.raises(FileFormatError) as caught:
        read_documents(path)
    assert says in str(caught.value)


def test_a_form_that_is_asked_for_must_be_that_of_the_file(tmp_path):
    path = tmp_path / "documents.txt"
    path.write_text("1 0:1\n")
    with pytest.raises(ArgumentError, match="form='csv'; choose"):
        read_documents(path, form="csv")
    with pytest.raises(FileFormatError, match="is not a UCI bag of words: its first three lines"):
        read_documents(path, form="uci")
    assert read_documents(path, form="text").words == ("0:1", "1")
    path.write_bytes(b"caf\xe9\n")
    with pytest.raises(FileFormatError, match="is not UTF-8"):
        read_documents(path, form="text")


def test_a_vocabulary_that_does_not_fit_the_file_is_refused(tmp_path):
    path = tmp_path / "documents.txt"
    path.write_text("1\n3\n1\n1 2 1\n")
    with pytest.raises(DataError, match="has 3 words, but the vocabulary has 2"):
        read_documents(path, ["a", "b"])
    path.write_text("1 2:1\n")
    with pytest.raises(FileFormatError, match="a word beyond the 2"):
        read_documents(path, ["a", "b"])
    (tmp_path / "vocabulary.txt").write_text("a\nb\nc\n")
    assert read_documents(path, tmp_path / "vocabulary.txt").words == ("a", "b", "c")
    with pytest.raises(MissingDataError, match="no file of documents"):
        read_documents(tmp_path / "absent.txt")


@pytest.mark.parametrize("form", ["uci", "lda-c"])
def test_compiled_loops_agree_with_their_python_source(form):
    rng = np.random.default_rng(0)
    counts = rng.poisson(0.5, size=(7, 9)) * rng.integers(1, 200, size=(7, 9))
    text = np.frombuffer((uci if form == "uci" else lda_c)(counts).encode(), dtype=np.uint8)
    actual = []
    for compiled in (True, False):
        state, ends = np.array([0, 0, 0, 0, 1, 0]), np.zeros(7, dtype=np.int64)
        ids, numbers = np.zeros(100, dtype=np.int32), np.zeros(100, dtype=np.int32)
        if form == "uci":
            state[0] = document_files._HEADER.match(text.tobytes()).end()
            loop, first = loops.read_triples, (text, True, 7, 9)
        else:
            loop, first = loops.read_lines, (text, 9)
        why = (loop if compiled else loop.py_func)(*first, state, ids, numbers, ends)
        assert why == loops.DONE
        actual.append([*state, *ids, *numbers, *ends])
    assert actual[0] == actual[1]
    n = state[loops.ENTRIES]
    back = csr_array((numbers[:n], ids[:n], np.r_[0, ends]), shape=counts.shape)
    assert np.array_equal(back.toarray(), counts)


@pytest.mark.parametrize("form", ["BleiCorpus", "UciCorpus"])
def test_files_of_gensim_are_read(tmp_path, form):
    corpora = pytest.importorskip("gensim.corpora", reason="one of `make peers`")
    lists = [["b", "a", "b"], ["c"], [], ["a", "c", "c", "ça"]]
    dictionary = corpora.Dictionary(lists)
    corpus = [dictionary.doc2bow(words) for words in lists]
    path = tmp_path / "documents.txt"
    getattr(corpora, form).serialize(str(path), corpus, id2word=dictionary)
    actual = read_documents(path, f"{path}.vocab")
    assert [sorted(words) for words in actual.lists()] == [sorted(words) for words in lists]
    again = read_documents(getattr(corpora, form)(str(path), f"{path}.vocab"), dictionary)
    assert again.counts.toarray().tolist() == actual.counts.toarray().tolist()
