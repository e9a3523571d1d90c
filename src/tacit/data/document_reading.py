"""Documents from whatever holds them: matrices, lists of words, frames, files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tacit.data.document_files import file_batches
from tacit.data.documents import Counts, DocumentBatches, Documents
from tacit.errors import ArgumentTypeError, DataError, FileFormatError

_LARGEST = 2**31 - 1


def read_documents(
    X: Any, words: str | os.PathLike[str] | Sequence[str] | None = None, *, form: str = "auto"
) -> Documents:
    """How often each word occurs in each document, in memory.

    Parameters
    ----------
    X : matrix, list of lists of words, frame, column of lists, path, Documents or DocumentBatches
        A matrix (document, word), sparse or not, of whole numbers; a list with a list of words for each
        document; a frame with a column for each word; a series or Arrow column of lists of words; a path to
        a file of UCI bag-of-words or LDA-C (see `tacit.data.document_files.file_batches`).
    words : path or sequence of str, optional
        The vocabulary, or a file with a word a line. With lists of words, other words are left out; without
        it, all words are taken in alphabetical order. A matrix or file without it has words "0", "1", ...
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
        return _with_words(X, _vocabulary(words))
    if isinstance(X, str | os.PathLike | DocumentBatches):
        batches = document_batches(X, words, form=form)
        return Documents(_stacked(batches), batches.words, batches.named)
    return _in_memory(X, _vocabulary(words))


def document_batches(
    X: Any, words: str | os.PathLike[str] | Sequence[str] | None = None, *, form: str = "auto"
) -> DocumentBatches:
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
        vocabulary = _vocabulary(words)
        if vocabulary is not None and vocabulary != X.words:
            raise DataError(_other_words(X.words, vocabulary))
        return X
    if isinstance(X, str | os.PathLike):
        if form == "text":
            return _of_lists(_text_lines(Path(X)), _vocabulary(words)).batches()
        return file_batches(Path(X), _vocabulary(words), form)
    if isinstance(X, Iterator):
        raise ArgumentTypeError(
            "documents are read more than once, but an iterator gives them once; give a list of matrices, "
            "an object whose __iter__ begins anew, or a path"
        )
    first = _first(X)
    if _is_matrix(first) and first.ndim == 2:
        vocabulary = _vocabulary(words)
        names = vocabulary or tuple(map(str, range(first.shape[1])))
        return DocumentBatches(lambda: map(_checked, X), names, named=vocabulary is not None)
    return read_documents(X, words).batches()


def read_words(path: str | os.PathLike[str]) -> tuple[str, ...]:
    """The words of a vocabulary file, one a line."""
    return _different(tuple(_lines(Path(path))), repr(str(path)))


def _lines(path: Path) -> list[str]:
    from tacit.data.texts import text_sources

    blocks = (block for source in text_sources(path) for block in source.blocks)
    try:
        return b"".join(blocks).decode().splitlines()
    except UnicodeDecodeError as error:
        raise FileFormatError(f"{str(path)!r} is no UTF-8: {error}") from error


def _text_lines(path: Path) -> Iterator[list[str]]:
    return (line.split() for line in _lines(path))


# -- what was given -----------------------------------------------------------------------------------


def _in_memory(X: Any, words: tuple[str, ...] | None) -> Documents:
    from tacit.data.frames import arrow_lists, is_frame, is_series

    if _is_matrix(X):
        counts = _checked(X)
        names = words or tuple(map(str, range(counts.shape[1])))
        return _fitting(Documents(counts, names, words is not None))
    if is_series(X):
        column = arrow_lists(X)
        return _of_lists(X if column is None else column.to_pylist(), words)
    if is_frame(X):
        return _with_words(_of_frame(X), words)
    if isinstance(X, Iterable) and not isinstance(X, bytes | dict):
        first = _first(X)
        if _is_matrix(first) and first.ndim == 2:
            batches = document_batches(X, words)
            return Documents(_stacked(batches), batches.words, batches.named)
        if _is_row(first):
            return _in_memory(np.asarray(X), words)
        return _of_lists(X, words)
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


def _of_lists(X: Iterable[Any], words: tuple[str, ...] | None) -> Documents:
    """The documents of lists of words."""
    from scipy.sparse import csr_array

    places = {} if words is None else {word: place for place, word in enumerate(words)}
    ids: list[int] = []
    ends = [0]
    for number, document in enumerate(X):
        if isinstance(document, str | bytes) or not isinstance(document, Iterable):
            raise ArgumentTypeError(
                f"document {number} is {type(document).__name__}, not a list of words; cut texts into words "
                f"first (text.lower().split()), or give a matrix of counts (scikit-learn's CountVectorizer)"
            )
        for word in document:
            if not isinstance(word, str):
                raise ArgumentTypeError(
                    f"document {number}: {word!r} is no word; words are strings"
                )
            place = places.setdefault(word, len(places)) if words is None else places.get(word, -1)
            if place >= 0:
                ids.append(place)
        ends.append(len(ids))
    found = tuple(places) if words is None else words
    order = np.argsort(np.array(found, dtype=object)) if words is None else np.arange(len(found))
    renamed = np.empty(len(found), dtype=np.int32)
    renamed[order] = np.arange(len(found), dtype=np.int32)
    indices = renamed[np.array(ids, dtype=np.int64)]
    data = np.ones(len(ids), dtype=np.int32)
    counts = csr_array((data, indices, np.array(ends)), shape=(len(ends) - 1, len(found)))
    counts.sum_duplicates()
    return Documents(counts, tuple(found[place] for place in order))


def _of_frame(X: Any) -> Documents:
    from tacit.data.frames import arrow_lists, cells, frame_columns, only_column

    single = only_column(X)
    if single is not None and arrow_lists(single[1]) is not None:
        return _of_lists(arrow_lists(single[1]).to_pylist(), None)
    columns = frame_columns(X)
    assert columns is not None
    return Documents(
        _checked(cells(X)), _different(tuple(map(str, columns[0])), "the columns of the frame")
    )


# -- checks -------------------------------------------------------------------------------------------


def _checked(X: Any) -> Counts:
    """A matrix as a CSR array of 32-bit counts, each word of a document once."""
    from scipy.sparse import csr_array

    if getattr(X, "ndim", 2) != 2:
        raise DataError(f"counts are a matrix (document, word), but this has {X.ndim} dimensions")
    if X.dtype.kind not in "iubf":
        raise DataError(f"counts are whole numbers, but the matrix is of type {X.dtype}")
    found = csr_array(X)
    data = found.data
    if not np.isfinite(data).all():
        raise DataError("counts are whole numbers, but some are missing or infinite")
    if len(data) and data.min() < 0:
        raise DataError(
            f"counts are never negative, but one is {data.min()}; give how often each word occurs"
        )
    if data.dtype.kind == "f" and not (data == np.floor(data)).all():
        wrong = data[data != np.floor(data)][0]
        raise DataError(
            f"counts are whole numbers, but one is {wrong:g}; give how often each word occurs "
            f"(scikit-learn's CountVectorizer), without weights such as tf-idf"
        )
    if len(data) and data.max() > _LARGEST:
        raise DataError(f"a count of {data.max():g} is above {_LARGEST}")
    if not found.has_canonical_format or data.dtype != np.int32 or not data.all():
        found = found.astype(np.int32)  # a copy: what was given stays as it is
        found.sum_duplicates()
        found.eliminate_zeros()
    return found


def _vocabulary(words: Any) -> tuple[str, ...] | None:
    if words is None:
        return None
    if isinstance(words, str | os.PathLike):
        return read_words(words)
    return _different(tuple(map(str, words)), "the vocabulary")


def _different(words: tuple[str, ...], where: str) -> tuple[str, ...]:
    if len(set(words)) < len(words):
        seen: set[str] = set()
        twice = next(word for word in words if word in seen or seen.add(word))  # type: ignore[func-returns-value]
        raise DataError(f"{where}: the word {twice!r} stands there twice; words must differ")
    return words


def _with_words(documents: Documents, words: tuple[str, ...] | None) -> Documents:
    """The same documents, whose words must be those given where they have names of their own."""
    if words is None or (documents.named and documents.words == words):
        return documents
    if documents.named:
        raise DataError(_other_words(documents.words, words))
    return _fitting(Documents(documents.counts, words))


def _fitting(documents: Documents) -> Documents:
    if len(documents.words) != documents.n_words:
        raise DataError(
            f"the documents have {documents.n_words} words, but the vocabulary has {len(documents.words)}; "
            f"give a word for each column"
        )
    return documents


def _other_words(found: tuple[str, ...], wanted: tuple[str, ...]) -> str:
    """What to say of two vocabularies that are not the same."""
    strange = sorted(set(found) - set(wanted))
    what = "their order is another"
    if len(found) != len(wanted):
        what = f"there are {len(found)} words, not {len(wanted)}"
    elif strange:
        what = f"the word {strange[0]!r} is not among those expected"
    return f"the documents are over another vocabulary: {what}; count them over the same words"


def _stacked(batches: DocumentBatches) -> Counts:
    from scipy.sparse import csr_array, vstack

    parts = list(batches)
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return csr_array((0, batches.n_words), dtype=np.int32)
    return csr_array(vstack(parts, format="csr"))
