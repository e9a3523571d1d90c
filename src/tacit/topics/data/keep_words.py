"""Documents restricted to some words."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from tacit.core.arguments import check_kind, check_number, check_rows
from tacit.core.limits import shown
from tacit.errors import ArgumentTypeError, DataError
from tacit.topics.data.documents import Documents


def plain_word(word: str) -> bool:
    """Whether a word has three letters or more and nothing else."""
    return len(word) >= 3 and word.isalpha()


def keep_words(
    documents: Documents,
    *,
    min_df: int = 1,
    max_df: float = 1.0,
    stop_words: Collection[str] = (),
    form: Callable[[str], bool] | None = None,
) -> Documents:
    """Documents without words that are too rare, too frequent, or stop words.

    Parameters
    ----------
    documents : Documents
    min_df : int
        Words of fewer documents are left out.
    max_df : float
        Words of more than this fraction of the documents are left out.
    stop_words : collection of str
        Words to leave out, in lower case.
    form : callable, optional
        Words for which it returns False are left out; for instance `plain_word`.

    Raises
    ------
    DataError
        No word is left.

    Examples
    --------
    >>> from tacit.topics.data.read_documents import read_documents
    >>> documents = read_documents([["the", "rose"], ["the", "rose", "is"], ["the", "thorn"]])
    >>> keep_words(documents, min_df=2, stop_words={"the"}).words
    ('rose',)
    """
    _check(documents, min_df, max_df, stop_words, form)
    counts = documents.counts
    in_documents = np.bincount(counts.indices, minlength=documents.n_words)
    is_kept = in_documents >= min_df
    is_kept &= in_documents <= max_df * documents.n_documents
    stop = set(stop_words)
    if stop or form is not None:
        is_kept &= [
            word.lower() not in stop and (form is None or form(word)) for word in documents.words
        ]
    places = np.flatnonzero(is_kept)
    if not len(places):
        raise DataError(
            f"none of the {documents.n_words} words is left; keep words of fewer or of more documents"
        )
    words = tuple(documents.words[place] for place in places)
    return Documents(counts[:, places], words, documents.named)


def _check(documents: Any, min_df: Any, max_df: Any, stop_words: Any, form: Any) -> None:
    check_kind("documents", documents, Documents, "Documents, such as those of read_documents")
    check_rows("min_df", min_df)
    check_number("max_df", max_df)
    if isinstance(stop_words, str) or not isinstance(stop_words, Collection):
        raise ArgumentTypeError(f"stop_words={shown(stop_words)}; give a collection of words")
    for word in stop_words:
        check_kind("a word of stop_words", word, str, "text")
    if form is not None and not callable(form):
        raise ArgumentTypeError(f"form={shown(form)}; give a function of a word")


def over_words(documents: Documents, words: Sequence[str]) -> Documents:
    """Documents over another vocabulary; other words are left out.

    Parameters
    ----------
    documents : Documents
    words : sequence of str

    Raises
    ------
    DataError
        The documents have none of these words.

    Examples
    --------
    >>> from tacit.topics.data.read_documents import read_documents
    >>> documents = read_documents([["a", "rose"], ["rose", "rose"]])
    >>> over_words(documents, ["thorn", "rose"]).counts.toarray().tolist()
    [[0, 1], [0, 2]]
    """
    from scipy.sparse import csr_array

    names = tuple(words)
    if names == documents.words:
        return documents
    places = {word: place for place, word in enumerate(names)}
    columns = np.array([places.get(word, -1) for word in documents.words], dtype=np.int64)
    if not (columns >= 0).any():
        raise DataError(
            f"none of the {len(names)} words, such as {names[0]!r}, is among those of the documents, such as "
            f"{documents.words[0]!r}; were they counted over another vocabulary?"
        )
    known = np.flatnonzero(columns >= 0)
    ones = np.ones(len(known), dtype=np.int32)
    selection = csr_array((ones, (known, columns[known])), shape=(documents.n_words, len(names)))
    counts = csr_array(documents.counts @ selection)
    counts.sort_indices()
    return Documents(counts, names)
