"""Documents from matrices, lists of words, frames, files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ArgumentTypeError, DataError
from tacit.topics.data.document_files import file_batches
from tacit.topics.data.document_lists import documents_of_lists
from tacit.topics.data.documents import Counts, DocumentBatches, Documents
from tacit.topics.data.vocabulary import (
    different,
    fitting,
    other_words,
    text_lines,
    vocabulary_of,
    with_words,
)

_LARGEST = 2**31 - 1
_LAYOUTS = ("csr", "csc", "bsr", "coo")  # of sparse matrices, whose indices are looked at


def read_documents(X: Any, words: Any = None, *, form: str = "auto") -> Documents:
    """The word counts of documents, in memory.

    Parameters
    ----------
    X : matrix, list of lists of words, frame, column of lists, path, Documents or DocumentBatches
        A matrix (document, word), sparse or not, of whole numbers; a list with a list of words for each
        document, or with pairs and dicts (see `document_lists.documents_of_lists`); a frame with
        a column for each word; a series, an Arrow column, or the one column of a frame with lists of words;
        a path to a file of UCI bag-of-words or LDA-C (see `tacit.topics.data.document_files.file_batches`).
    words : path, sequence of str or mapping, optional
        The vocabulary, see `tacit.topics.data.vocabulary.vocabulary_of`. With lists of words, other words
        are left out; without it, all words are taken in alphabetical order. A matrix or file without it has
        words "0", "1", ...
    form : {"auto", "uci", "lda-c", "text"}
        The form of the file; ``"text"`` is a document on each line, with blanks between words.

    Raises
    ------
    DataError
        Negative counts, counts that are not whole, or another number of words than the vocabulary has.
    FileFormatError, MissingDataError, ArgumentTypeError

    Examples
    --------
    >>> documents = read_documents([["a", "rose", "is", "a", "rose"], ["is", "a"]])
    >>> documents.words, documents.counts.toarray().tolist()
    (('a', 'is', 'rose'), [[2, 1, 2], [1, 1, 0]])
    """
    if isinstance(X, Documents):
        return with_words(X, vocabulary_of(words))
    if isinstance(X, str | os.PathLike | DocumentBatches):
        batches = document_batches(X, words, form=form)
        return Documents(_stacked(batches), batches.words, batches.named)
    return _in_memory(X, vocabulary_of(words))


def document_batches(X: Any, words: Any = None, *, form: str = "auto") -> DocumentBatches:
    """The same documents in batches, for what does not fit memory.

    Parameters
    ----------
    X : as in `read_documents`, or an iterable of matrices
        A file is read again in each pass, batch by batch. An iterable (a list, or an object whose
        ``__iter__`` begins anew) gives matrices (document, word) over the same words. All else is one batch.
    words, form : see `read_documents`

    Raises
    ------
    ArgumentTypeError
        An iterator, which can be read only once.
    """
    if isinstance(X, DocumentBatches):
        vocabulary = vocabulary_of(words)
        if vocabulary is not None and vocabulary != X.words:
            raise DataError(other_words(X.words, vocabulary))
        return X
    if isinstance(X, str | os.PathLike):
        if form == "text":
            lines = (line.split() for line in text_lines(Path(X)))
            return documents_of_lists(lines, vocabulary_of(words)).batches()
        return file_batches(Path(X), vocabulary_of(words), form)
    if isinstance(X, Iterator):
        raise ArgumentTypeError(
            "documents are read more than once, but an iterator gives them once; give a list of matrices, "
            "an object whose __iter__ begins anew, or a path"
        )
    first = _first(X)
    if _is_matrix(first) and first.ndim == 2:
        vocabulary = vocabulary_of(words)
        names = vocabulary or tuple(map(str, range(first.shape[1])))
        return DocumentBatches(lambda: map(_checked, X), names, named=vocabulary is not None)
    return read_documents(X, words).batches()


# -- kinds of input ----------------------------------------------------------------------------------


def _in_memory(X: Any, words: tuple[str, ...] | None) -> Documents:
    from tacit.core.input.frames import is_frame, is_series

    if _is_matrix(X):
        if X.dtype == object and X.ndim == 1:
            return _in_memory(list(X), words)
        counts = _checked(X)
        names = words or tuple(map(str, range(counts.shape[1])))
        return fitting(Documents(counts, names, words is not None))
    if is_series(X):
        return documents_of_lists(_cells_of(X), words)
    if is_frame(X):
        return _of_frame(X, words)
    if isinstance(X, Iterable) and not isinstance(X, bytes | dict):
        first = _first(X)
        if _is_matrix(first) and first.ndim == 2:
            batches = document_batches(X, words)
            return Documents(_stacked(batches), batches.words, batches.named)
        if _is_row(first):
            return _in_memory(_of_rows(X), words)
        return documents_of_lists(X, words)
    if hasattr(X, "__array__"):
        return _in_memory(np.asarray(X), words)
    raise ArgumentTypeError(
        f"documents are a matrix of counts, lists of words, a frame or a path, not {type(X).__name__}"
    )


def _first(X: Any) -> Any:
    if isinstance(X, list | tuple):
        return X[0] if len(X) else None
    if _is_matrix(X) or not isinstance(X, Iterable) or isinstance(X, Iterator | Documents):
        return None
    return next(iter(X), None)


def _is_matrix(X: Any) -> bool:
    return isinstance(X, np.ndarray) or (hasattr(X, "tocsr") and hasattr(X, "nnz"))


def _is_row(first: Any) -> bool:
    """Whether the first of a list is a row of numbers, not a list of words."""
    row = isinstance(first, list | tuple | np.ndarray)
    return row and len(first) > 0 and isinstance(first[0], int | float | np.number)


def _of_rows(X: Any) -> Any:
    """Rows of numbers as a matrix."""
    try:
        return np.asarray(X)
    except ValueError as error:
        raise DataError(
            f"the rows of counts are not all of one length ({error}); give a count for each word of the "
            f"vocabulary, or pairs (number of the word, count), or words as strings"
        ) from error


def _cells_of(series: Any) -> Iterable[Any]:
    """The lists of a column, or whatever stands in its place."""
    from tacit.core.input.frames import arrow_lists

    column = arrow_lists(series)
    cells: Iterable[Any] = series if column is None else column.to_pylist()
    return cells


def _of_frame(X: Any, words: tuple[str, ...] | None) -> Documents:
    """A frame with a column of counts for each word, or one column of lists of words."""
    from tacit.core.input.frames import cells, frame_columns, only_column

    single = only_column(X)
    if single is not None:
        documents = _cells_of(single[1])
        if not isinstance(next(iter(documents), None), Real | None):
            return documents_of_lists(documents, words)
    columns = frame_columns(X)
    assert columns is not None
    names = different(tuple(map(str, columns[0])), "the columns of the frame")
    matrix = cells(X)
    if matrix.dtype == object and len(matrix):
        for name, cell in zip(names, matrix[0], strict=True):
            if not isinstance(cell, Real | None):
                raise DataError(
                    f"column {name!r} of the frame holds no counts, but {type(cell).__name__}; give a column "
                    f"of counts for each word, or only the column with a list of words for each document"
                )
    return with_words(Documents(_checked(matrix), names), words)


# -- checks -------------------------------------------------------------------------------------------


def _checked(X: Any) -> Counts:
    """A matrix as a CSR array of 32-bit counts, each word of a document once."""
    from scipy.sparse import csr_array

    if getattr(X, "ndim", 2) != 2:
        raise DataError(
            f"counts are a matrix (document, word), but this has {X.ndim} dimension(s). Reshape your data: "
            f"X.reshape(1, -1) if it is one document"
        )
    if not isinstance(X, np.ndarray):
        X = X if X.format in _LAYOUTS else X.tocsr()
        _check_places(X)
    counts = csr_array(_numbers(X))
    data = counts.data
    if not np.isfinite(data).all():
        raise DataError(
            "counts are whole numbers, but some are missing or infinite (NaN, inf); a word that is not in a "
            "document has the count 0"
        )
    if len(data) and data.min() < 0:
        raise DataError(
            f"Negative values in data: counts are never negative, but one is {data.min():g}; give how often "
            f"each word occurs"
        )
    if data.dtype.kind == "f" and not (data == np.floor(data)).all():
        wrong = data[data != np.floor(data)][0]
        raise DataError(
            f"counts are whole numbers, but one is {wrong:g}; give how often each word occurs "
            f"(scikit-learn's CountVectorizer), without weights such as tf-idf"
        )
    if len(data) and data.max() > _LARGEST:
        raise DataError(f"a count of {data.max():g} is above {_LARGEST}")
    if not counts.has_canonical_format or data.dtype != np.int32 or not data.all():
        counts = counts.astype(np.int32)  # a copy, since the input is never changed
        counts.sum_duplicates()
        counts.eliminate_zeros()
    return counts


def _check_places(X: Any) -> None:
    """Raise if entries of a sparse matrix lie outside of it: SciPy does not look."""
    if X.format == "coo":
        sizes = zip((X.row, X.col), X.shape, strict=True)
        fits = all(_are_below(places, size) for places, size in sizes)
    else:
        heights = [size // block for size, block in zip(X.shape, _blocks(X), strict=True)]
        n_lines, width = heights[::-1] if X.format == "csc" else heights
        starts = X.indptr
        fits = len(starts) == n_lines + 1 and starts[0] == 0 and len(X.indices) == len(X.data)
        fits = fits and starts[-1] <= len(X.indices) and bool((starts[1:] >= starts[:-1]).all())
        fits = fits and _are_below(X.indices, width)
    if not fits:
        raise DataError(
            f"the sparse matrix of shape {X.shape} has entries outside of it; build it anew, for example "
            f"with scipy.sparse.coo_array"
        )


def _blocks(X: Any) -> tuple[int, int]:
    return X.blocksize if X.format == "bsr" else (1, 1)


def _are_below(places: NDArray[Any], size: int) -> bool:
    return not len(places) or bool(places.min() >= 0 and places.max() < size)


def _numbers(X: Any) -> Any:
    """A matrix of numbers; one of objects is looked into."""
    if isinstance(X, np.ma.MaskedArray):
        X = np.ma.filled(X.astype(np.float64), np.nan)
    if X.dtype.kind in "iubf":
        return X.astype(np.float32) if X.dtype == np.float16 else X
    if X.dtype.kind == "c":
        raise DataError("Complex data not supported: counts are whole numbers")
    if X.dtype.kind != "O":
        raise DataError(
            f"counts are whole numbers, but the matrix is of type {X.dtype}; give a list of words for each "
            f"document (X.tolist()), or counts as numbers"
        )
    try:
        return X.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ArgumentTypeError(
            f"counts are whole numbers, but the matrix holds something else ({error}); documents of words "
            f"are lists (X.tolist())"
        ) from error


def _stacked(batches: DocumentBatches) -> Counts:
    from scipy.sparse import csr_array, vstack

    parts = list(batches)
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return csr_array((0, batches.n_words), dtype=np.int32)
    return csr_array(vstack(parts, format="csr"))
