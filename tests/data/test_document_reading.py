"""Documents from matrices, lists of words and frames."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from tacit.data.document_reading import document_batches, read_documents, read_words
from tacit.data.documents import DocumentBatches
from tacit.errors import ArgumentTypeError, DataError

COUNTS = np.array([[2, 1, 0], [0, 0, 4], [0, 0, 0]])
LISTS = [["a", "b", "a"], ["c", "c", "c", "c"], []]


@pytest.mark.parametrize(
    "given",
    [
        COUNTS,
        COUNTS.astype(float),
        COUNTS.astype(np.uint8),
        COUNTS.tolist(),
        sparse.csr_array(COUNTS),
        sparse.csc_matrix(COUNTS),
        sparse.coo_array(COUNTS),
        pd.DataFrame(COUNTS, columns=["a", "b", "c"]),
        pl.DataFrame(COUNTS, schema=["a", "b", "c"]),
        pa.table({"a": COUNTS[:, 0], "b": COUNTS[:, 1], "c": COUNTS[:, 2]}),
        LISTS,
        pd.Series(LISTS),
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


def test_words_outside_a_vocabulary_are_left_out():
    assert read_documents(LISTS, ["c", "a"]).counts.toarray().tolist() == [[0, 2], [4, 0], [0, 0]]


@pytest.mark.parametrize(
    ("given", "error", "says"),
    [
        (-COUNTS, DataError, "never negative, but one is -4"),
        (COUNTS / 3, DataError, "without weights such as tf-idf"),
        (COUNTS * np.nan, DataError, "missing or infinite"),
        (COUNTS * 1e10, DataError, "above 2147483647"),
        (COUNTS.astype(str), DataError, "of type"),
        (COUNTS[0], DataError, "has 1 dimensions"),
        (["a rose"], ArgumentTypeError, "cut texts into words first"),
        ([["a", 3]], ArgumentTypeError, "3 is no word"),
        (3, ArgumentTypeError, "not int"),
        ({"a": 1}, ArgumentTypeError, "not dict"),
        (pd.DataFrame({"a": ["x"]}), DataError, "of type object"),
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
    with pytest.raises(DataError, match="'a' stands there twice"):
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
