"""Documents from lists: of words, of words with counts, or of numbered words with counts."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.limits import shown
from tacit.errors import ArgumentTypeError, DataError
from tacit.topics.data.documents import Documents

_MAX = 2**31 - 1


def documents_of_lists(X: Iterable[Any], words: tuple[str, ...] | None = None) -> Documents:
    """The word counts of documents in a list.

    Parameters
    ----------
    X : iterable
        For each document its words, or a dict (a `collections.Counter`) of words and counts, or pairs of the
        number of a word, from zero, and its count (gensim's form).
    words : tuple of str, optional
        The vocabulary. Other words are left out; without it all words are taken in alphabetical order, and
        numbered ones are called "0", "1", ...

    Raises
    ------
    ArgumentTypeError, DataError

    Examples
    --------
    >>> documents = documents_of_lists([["rose", "a", "rose"], {"a": 3}])
    >>> documents.words, documents.counts.toarray().tolist()
    (('a', 'rose'), [[1, 2], [3, 0]])
    >>> documents_of_lists([[(0, 1), (2, 5)], []]).counts.toarray().tolist()
    [[1, 0, 5], [0, 0, 0]]
    """
    from scipy.sparse import csr_array

    places = _Places(words)
    ids, numbers, ends = array("l"), array("l"), array("l", [0])
    for number, document in enumerate(X):
        for word, count in _counted(document, number).items():
            place = places.of(word, number)
            if place >= 0 and _checked_count(count, word, number):
                ids.append(place)
                numbers.append(int(count))
        ends.append(len(ids))
    vocabulary, order = places.vocabulary()
    indices = order[np.array(ids, dtype=np.int64)]
    entries = np.array(numbers, dtype=np.int32), indices, np.array(ends)
    counts = csr_array(entries, shape=(len(ends) - 1, len(vocabulary)))
    counts.sort_indices()
    return Documents(counts, vocabulary, named=words is not None or not places.largest >= 0)


def _counted(document: Any, number: int) -> Mapping[Any, Any]:
    """The words of a document with their counts."""
    if isinstance(document, Mapping):
        return document
    if isinstance(document, str | bytes) or not isinstance(document, Iterable):
        raise ArgumentTypeError(
            f"document {number} is {type(document).__name__}, not a list of words; cut texts into words "
            f"first (text.lower().split()), or give a matrix of counts (scikit-learn's CountVectorizer)"
        )
    listed = list(document)
    if listed and isinstance(listed[0], tuple | list):
        return _added_pairs(listed, number)
    try:
        counts = Counter(listed)
    except TypeError as error:
        raise ArgumentTypeError(f"document {number} is no list of words: {error}") from error
    for word in counts:
        if not isinstance(word, str):
            raise ArgumentTypeError(
                f"document {number}: {shown(word)} is no word; words are strings"
            )
    return counts


def _added_pairs(pairs: list[Any], number: int) -> dict[Any, Any]:
    counts: dict[Any, Any] = {}
    for pair in pairs:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise _no_pair(pair, number)
        try:
            counts[pair[0]] = counts.get(pair[0], 0) + pair[1]
        except TypeError as error:  # a list as a word, a text as a count
            raise _no_pair(pair, number) from error
    return counts


def _no_pair(pair: Any, number: int) -> ArgumentTypeError:
    return ArgumentTypeError(
        f"document {number}: {shown(pair)} is no pair of a word, or its number, and a count"
    )


def _checked_count(count: Any, word: Any, number: int) -> bool:
    """Whether a count is positive; one that is no count is an error."""
    if type(count) is int and 0 < count <= _MAX:  # nearly all of them
        return True
    value: Any = count if isinstance(count, Real) else -1.0
    if not 0 <= value <= _MAX or value != int(value):
        text = f"{count:g}" if isinstance(count, float) else shown(count)
        raise DataError(
            f"document {number}: the count of {shown(word)} is {text}; counts are whole numbers that are not "
            f"negative, without weights such as tf-idf"
        )
    return bool(value > 0)


class _Places:
    """The columns of words: those of a vocabulary, or of all words in the order they occur."""

    def __init__(self, words: tuple[str, ...] | None) -> None:
        self.words = words
        self.known = {word: place for place, word in enumerate(words or ())}
        self.largest = -1  # of the numbers of words

    def of(self, word: Any, number: int) -> int:
        """The column of a word or of the number of one, -1 where it is not in the vocabulary."""
        if isinstance(word, str):
            if self.words is None:
                return self.known.setdefault(word, len(self.known))
            return self.known.get(word, -1)
        most = _MAX if self.words is None else len(self.words)
        place = int(word) if isinstance(word, Integral) else -1
        if not 0 <= place < most:
            raise DataError(
                f"document {number}: {shown(word)} is no word; words are strings, or numbers from 0 to "
                f"{most - 1}"
            )
        self.largest = max(self.largest, place)
        return place

    def vocabulary(self) -> tuple[tuple[str, ...], NDArray[np.int32]]:
        """The words in alphabetical order, and the new column of each."""
        if self.words is not None:
            return self.words, np.arange(len(self.words), dtype=np.int32)
        if self.largest >= 0:
            if self.known:
                raise DataError(
                    f"some words are numbers, others strings such as {next(iter(self.known))!r}; "
                    f"give all of one kind, or the vocabulary (words)"
                )
            return tuple(map(str, range(self.largest + 1))), np.arange(
                self.largest + 1, dtype=np.int32
            )
        words = np.array([*self.known], dtype=object)
        order = np.argsort(words)
        columns = np.empty(len(words), dtype=np.int32)
        columns[order] = np.arange(len(words), dtype=np.int32)
        return tuple(map(str, words[order])), columns
