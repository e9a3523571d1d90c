"""Which words of documents are kept."""

from __future__ import annotations

from collections.abc import Callable, Collection

import numpy as np

from tacit.data.documents import Documents
from tacit.errors import DataError


def plain_word(word: str) -> bool:
    """Whether a word has three letters or more and nothing else."""
    return len(word) >= 3 and word.isalpha()


def keep_words(
    documents: Documents,
    *,
    least_documents: int = 1,
    most_share: float = 1.0,
    stop_words: Collection[str] = (),
    form: Callable[[str], bool] | None = None,
) -> Documents:
    """The same documents without words that are too rare, too common, or of no interest.

    Parameters
    ----------
    documents : Documents
    least_documents : int
        Words of fewer documents are left out.
    most_share : float
        So are words of more than this share of the documents,
    stop_words : collection of str
        these words, in lower case,
    form : callable, optional
        and words that it says False of, for instance `plain_word`.

    Raises
    ------
    DataError
        No word is left.

    Examples
    --------
    >>> from tacit.data.document_reading import read_documents
    >>> documents = read_documents([["the", "rose"], ["the", "rose", "is"], ["the", "thorn"]])
    >>> keep_words(documents, least_documents=2, stop_words={"the"}).words
    ('rose',)
    """
    counts = documents.counts
    in_documents = np.bincount(counts.indices, minlength=documents.n_words)
    kept = in_documents >= least_documents
    kept &= in_documents <= most_share * documents.n_documents
    stop = set(stop_words)
    if stop or form is not None:
        kept &= [
            word.lower() not in stop and (form is None or form(word)) for word in documents.words
        ]
    places = np.flatnonzero(kept)
    if not len(places):
        raise DataError(
            f"none of the {documents.n_words} words is left; keep words of fewer or of more documents"
        )
    words = tuple(documents.words[place] for place in places)
    return Documents(counts[:, places], words, documents.named)
