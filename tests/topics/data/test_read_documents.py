"""Documents from matrices, lists of words and frames."""

from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from tacit.errors import ArgumentTypeError, DataError
from tacit.topics.data.documents import DocumentBatches
from tacit.topics.data.keep_words import over_words
from tacit.topics.data.read_documents import document_batches, read_documents
from tacit.topics.data.vocabulary import read_words

COUNTS = np.array([[2, 1, 0], [0, 0, 4], [0, 0, 0]])
LISTS = [["a", "b", "a"], ["c", "c", "c", "c"], []]


def object_array(lists):
    actual = np.empty(len(lists), dtype=object)
    actual[:] = lists
    return actual


class Wrapped:
    """Something that numpy takes for an array."""

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array


@pytest.mark.parametrize(
    "given",
    [
        COUNTS,
        COUNTS.astype(float),
        COUNTS.astype(np.uint8),
        COUNTS.astype(np.float16),
        COUNTS.astype(object),
        np.ma.masked_array(COUNTS),
        Wrapped(COUNTS),
        COUNTS.tolist(),
        sparse.csr_array(COUNTS),
        sparse.csc_matrix(COUNTS),
        sparse.coo_array(COUNTS),
        pd.DataFrame(COUNTS, columns=["a", "b", "c"]),
        pl.DataFrame(COUNTS, schema=["a", "b", "c"]),
        pa.table({"a": COUNTS[:, 0], "b": COUNTS[:, 1], "c": COUNTS[:, 2]}),
        LISTS,
        [np.array(words, dtype=str) for words in LISTS],
        [{"a": 2, "b": 1, "c": 0}, Counter(["c"] * 4), {}],
        [[("a", 2.0), ("b", 1)], [("c", 3), ("c", 1)], []],
        [[(0, 2), (1, 1)], [(2, np.float64(4))], []],
        object_array(LISTS),
        pd.Series(LISTS),
        pd.DataFrame({"words": LISTS}),
        pl.Series(LISTS),
        pl.DataFrame({"words": LISTS}),
        pa.array(LISTS),
        [sparse.csr_array(COUNTS[:1]), sparse.csr_array(COUNTS[1:])],
    ],
    ids=lambda given: type(given).__module__ + "." + type(given).__name__,
)
def test_every_kind_of_input_gives_the_same_documents(given):
    documents = read_documents(given, ["a", "b", "c"])
    assert documents.counts.toarray().tolist() == COUNTS.tolist()
    assert documents.counts.dtype == np.int32
    assert (documents.words, documents.named) == (("a", "b", "c"), True)
    alone = read_documents(given)
    assert alone.counts.toarray().tolist() == COUNTS.tolist()
    assert alone.words == (("a", "b", "c") if alone.named else ("0", "1", "2"))
    assert {type(word) for word in alone.words} == {str}
    batches = document_batches(given, ["a", "b", "c"])
    for _ in range(2):
        assert np.array_equal(np.vstack([batch.toarray() for batch in batches]), COUNTS)
    assert (batches.n_documents, batches.n_words, batches.n_passes) == (3, 3, 2)


def test_documents_know_their_lengths_and_parts():
    documents = read_documents(COUNTS)
    assert (documents.n_documents, documents.n_words, documents.words[2]) == (3, 3, "2")
    assert documents.lengths.tolist() == [3, 4, 0]
    assert documents.part(slice(1, 2)).counts.toarray().tolist() == [[0, 0, 4]]
    assert read_documents(documents) is documents
    assert read_documents(documents, ["a", "b", "c"]).words == ("a", "b", "c")
    assert read_documents(documents.batches()).counts is documents.counts


def test_what_was_given_is_not_changed():
    twice = sparse.csr_matrix(([1, 0, 2], [1, 0, 1], [0, 3]), shape=(1, 2))
    assert read_documents(twice).counts.data.tolist() == [3]
    assert twice.data.tolist() == [1, 0, 2]


@pytest.mark.parametrize(
    "given", [LISTS, pd.DataFrame({"words": LISTS}), pa.table({"words": LISTS}), pl.Series(LISTS)]
)
def test_words_outside_a_vocabulary_are_left_out(given):
    assert read_documents(given, ["c", "a"]).counts.toarray().tolist() == [[0, 2], [4, 0], [0, 0]]


def test_a_vocabulary_may_say_the_places_of_words():
    for words in ({"c": 2, "a": 0, "b": 1}, {2: "c", 0: "a", 1: "b"}):
        assert read_documents(COUNTS, words).words == ("a", "b", "c")
    texts = [" ".join(words) for words in LISTS]
    vectorizer = CountVectorizer(token_pattern=r"\w", vocabulary=["b", "c", "a"])
    counts = vectorizer.fit_transform(texts)
    actual = read_documents(counts, vectorizer.vocabulary_)
    assert actual.words == tuple(vectorizer.get_feature_names_out())
    assert over_words(actual, ["a", "b", "c"]).counts.toarray().tolist() == COUNTS.tolist()


def test_corpora_of_gensim_are_documents():
    corpora = pytest.importorskip("gensim.corpora", reason="one of `make peers`")
    dictionary = corpora.Dictionary(LISTS)
    corpus = [dictionary.doc2bow(words) for words in LISTS]
    actual = read_documents(corpus, dictionary)
    assert over_words(actual, ["a", "b", "c"]).counts.toarray().tolist() == COUNTS.tolist()


def test_a_vocabulary_may_have_a_mark_and_blank_lines_at_its_ends(tmp_path):
    (tmp_path / "words.txt").write_bytes(b"\xef\xbb\xbfa\r\nlinks\x0brechts\r\nc\r\n\r\n")
    assert read_words(tmp_path / "words.txt") == ("a", "links\x0brechts", "c")


@pytest.mark.parametrize(
    ("given", "error", "says"),
    [
        (-COUNTS, DataError, "never negative, but one is -4"),
        (COUNTS / 3, DataError, "without weights such as tf-idf"),
        (COUNTS * np.nan, DataError, "missing or infinite"),
        (COUNTS * 1e10, DataError, "above 2147483647"),
        (np.ma.masked_equal(COUNTS, 4), DataError, "missing or infinite"),
        (COUNTS * 1j, DataError, "Complex data not supported"),
        (COUNTS.astype(str), DataError, r"list of words for each document \(X.tolist"),
        (object_array([["a"], ["b"]]).reshape(1, 2), ArgumentTypeError, r"lists \(X.tolist"),
        ([[1, 2], [3]], DataError, "rows of counts are not all of one length"),
        (COUNTS[0], DataError, "has 1 dimension"),
        (["a rose"], ArgumentTypeError, "cut texts into words first"),
        ([["a", 3]], ArgumentTypeError, "3 is no word"),
        ([[], [3, 4]], ArgumentTypeError, "3 is no word"),
        ([["a", ["b"]]], ArgumentTypeError, "document 0 is no list of words: unhashable"),
        ([["a"], None], ArgumentTypeError, "document 1 is NoneType"),
        ([[(0, 1), "a"]], ArgumentTypeError, "'a' is no pair"),
        ([[(0, 1, 2)]], ArgumentTypeError, "is no pair"),
        ([[(-1, 1)]], DataError, "-1 is no word"),
        ([[(0, 1.5)]], DataError, "the count of 0 is 1.5"),
        ([{"a": -1}], DataError, "the count of 'a' is -1"),
        ([{"a": "many"}], DataError, "the count of 'a' is 'many'"),
        ([{"a": np.nan}], DataError, "the count of 'a' is nan"),
        ([{"a": 1}, [(0, 1)]], DataError, "some words are numbers, others strings such as 'a'"),
        (pd.DataFrame({"id": [1], "w": [["a"]]}), DataError, "'w' of the frame holds no counts"),
        (3, ArgumentTypeError, "not int"),
        ({"a": 1}, ArgumentTypeError, "not dict"),
        (pd.DataFrame({"a": ["x y"]}), ArgumentTypeError, "cut texts into words first"),
    ],
)
def test_what_are_no_counts_is_refused_with_the_reason(given, error, says):
    with pytest.raises(error, match=says):
        read_documents(given)


def test_vocabularies_that_do_not_fit_are_refused(tmp_path):
    with pytest.raises(DataError, match="have 3 words, but the vocabulary has 2"):
        read_documents(COUNTS, ["a", "b"])
    named = read_documents(COUNTS, ["a", "b", "c"])
    for words, says in (
        (["a", "b", "d"], "the word 'c' is not among"),
        (["b", "a", "c"], "their order is another"),
        (["a", "b"], "there are 3 words, not 2"),
    ):
        with pytest.raises(DataError, match=says):
            read_documents(named, words)
        with pytest.raises(DataError, match=says):
            document_batches(named.batches(), words)
    with pytest.raises(DataError, match=r"3 is no word; .* numbers from 0 to 2"):
        read_documents([[(3, 1)]], ["a", "b", "c"])
    with pytest.raises(DataError, match=r"places from 0 to 3; .*compactify"):
        read_documents(COUNTS, {"a": 0, "b": 1, "c": 3})
    with pytest.raises(ArgumentTypeError, match="words and their places"):
        read_documents(COUNTS, {"a": "b"})
    with pytest.raises(ArgumentTypeError, match="words=3; give a path"):
        read_documents(COUNTS, 3)
    with pytest.raises(DataError, match="'a' occurs twice"):
        read_documents(COUNTS, ["a", "b", "a"])
    (tmp_path / "words.txt").write_text("a\nb\n")
    assert read_words(tmp_path / "words.txt") == ("a", "b")


def test_sources_that_cannot_be_read_twice_are_refused():
    with pytest.raises(ArgumentTypeError, match="begins anew"):
        document_batches(iter([COUNTS]))
    fading = [[sparse.csr_array(COUNTS)], []]
    batches = DocumentBatches(lambda: iter(fading.pop(0)), ("a", "b", "c"))
    list(batches)
    with pytest.raises(DataError, match="0 documents were read where 3 were expected"):
        list(batches)
    with pytest.raises(DataError, match="a batch has 2 words"):
        list(document_batches([COUNTS, COUNTS[:, :2]]))


def test_first_documents_are_no_pass():
    parts = [
        sparse.csr_array([[1, 2]]),
        sparse.csr_array([[3, 4], [5, 6]]),
        sparse.csr_array([[7, 8]]),
    ]
    batches = DocumentBatches(lambda: iter(parts), ("a", "b"))
    whole = np.vstack([part.toarray() for part in parts])
    for n in (0, 1, 2, 3, 9):
        assert batches.first(n).toarray().tolist() == whole[:n].tolist()
    assert batches.n_passes == 0
    assert batches.n_documents is None


@pytest.mark.parametrize("sizes", [[7], [900, 1, 2500], [4000, 4000, 3000, 5]])
@pytest.mark.parametrize("in_memory", [True, False])
def test_documents_from_all_over_are_kept_in_the_first_pass(sizes, in_memory):
    rows = np.arange(1, sum(sizes) + 1)[:, None]
    parts = np.split(rows, np.cumsum(sizes)[:-1]) if not in_memory else [rows]
    made = [sparse.csr_array(part) for part in parts]
    batches = DocumentBatches(lambda: iter(made), ("a",), in_memory=in_memory)
    for n_wanted in (500, 2000):
        for _ in range(2):
            actual = batches.sample(n_wanted).toarray().ravel()
            assert min(n_wanted, len(rows)) <= len(actual) <= max(2 * n_wanted, 7)
            assert len(set(np.diff(actual))) == 1  # evenly
            assert actual[0] == 1
            assert actual[-1] > len(rows) - np.diff(actual)[0]
    assert batches.n_passes == (0 if in_memory else 1)
    assert len([*batches]) == len(made)
    assert np.array_equal(batches.sample(n_wanted).toarray().ravel(), actual)
    assert DocumentBatches(lambda: iter([]), ("a",)).sample().shape == (0, 1)


def damaged(form, **parts):
    matrix = sparse.csr_array(np.arange(20).reshape(4, 5) % 2).asformat(form)
    for name, values in parts.items():
        array = getattr(matrix, name)
        array[: len(values)] = values
    return matrix


@pytest.mark.parametrize(
    "matrix",
    [
        damaged("csr", indices=[5]),
        damaged("csr", indices=[2**31 - 1]),
        damaged("csr", indices=[-1]),
        damaged("csr", indptr=[0, 9, 2]),
        damaged("csr", indptr=[0, -3]),
        damaged("csr", indptr=[1]),
        damaged("csc", indices=[4]),
        damaged("csc", indptr=[0, 10, 2]),
        damaged("bsr", indices=[2**31 - 1]),
        damaged("coo", row=[4]),
        damaged("coo", col=[-1]),
    ],
    ids=lambda matrix: matrix.format,
)
def test_a_sparse_matrix_with_entries_outside_of_it_is_refused(matrix):
    with pytest.raises(DataError, match="entries outside of it"):
        read_documents(matrix)


@pytest.mark.parametrize("form", ["csr", "csc", "bsr", "coo", "lil", "dok", "dia"])
def test_sparse_matrices_of_every_layout_are_read(form):
    matrix = np.array([[1, 0, 2], [0, 3, 0], [0, 0, 0], [4, 0, 0]])
    assert np.array_equal(
        read_documents(sparse.csr_array(matrix).asformat(form)).counts.toarray(), matrix
    )
