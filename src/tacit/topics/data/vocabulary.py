"""The vocabulary of documents."""

from __future__ import annotations

import os
from collections.abc import Mapping
from numbers import Integral
from pathlib import Path
from typing import Any

from tacit.core.input.missing_files import is_there, missing_file
from tacit.core.limits import shown
from tacit.errors import ArgumentTypeError, DataError, FileFormatError
from tacit.topics.data.documents import Documents


def vocabulary_of(words: Any) -> tuple[str, ...] | None:
    """The given vocabulary, words in the order of their columns; None if none was given.

    Parameters
    ----------
    words : path, sequence of str, mapping or None
        A file with a word a line; words in order; words with their places (``vocabulary_`` of scikit-learn's
        vectorisers), or places with their words (gensim's ``Dictionary``).

    Raises
    ------
    DataError
        A word is there twice, or a place has no word.

    Examples
    --------
    >>> vocabulary_of({"rose": 1, "a": 0}), vocabulary_of({0: "a", 1: "rose"})
    (('a', 'rose'), ('a', 'rose'))
    """
    if words is None:
        return None
    if isinstance(words, str | os.PathLike):
        return read_words(words)
    if isinstance(words, Mapping):
        return different(_in_places(words), "the vocabulary")
    try:
        texts = tuple(map(str, words))
    except (TypeError, ValueError) as error:  # ValueError: an integer that Python does not write
        raise ArgumentTypeError(
            f"words={shown(words)}; give a path to a file with a word a line, a list of words, or a dict of "
            f"words and their places"
        ) from error
    return different(texts, "the vocabulary")


def _in_places(words: Mapping[Any, Any]) -> tuple[str, ...]:
    """The words of a mapping from words to places, or from places to words, in order."""
    turned = [
        (place, word) if isinstance(place, Integral) else (word, place)
        for word, place in words.items()
    ]
    places = [place for place, _ in turned]
    if not all(isinstance(place, Integral) for place in places):
        raise ArgumentTypeError("a vocabulary that is a dict has words and their places, from 0 on")
    if sorted(places) != list(range(len(places))):
        raise DataError(
            f"the {len(places)} words of the vocabulary have places from {shown(min(places))} to "
            f"{shown(max(places))}; give every place from 0 on one word (gensim: dictionary.compactify())"
        )
    return tuple(str(word) for _, word in sorted(turned))


def read_words(path: str | os.PathLike[str]) -> tuple[str, ...]:
    """The words of a vocabulary file, one a line."""
    if not is_there(path):
        raise missing_file(path, "file of words", "give one with a word a line, or a list of words")
    lines = text_lines(Path(path))
    while lines and not lines[-1].strip():
        lines.pop()
    return different(tuple(lines), repr(str(path)))


def text_lines(path: Path) -> list[str]:
    """The lines of a file of text, packed or not, without their ends."""
    from tacit.core.input.text import text_sources

    blocks = (block for source in text_sources(path) for block in source.blocks)
    try:
        text = b"".join(blocks).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileFormatError(f"{str(path)!r} is not UTF-8: {error}") from error
    lines = text.removesuffix("\n").split("\n") if text else []
    return [line.removesuffix("\r") for line in lines]


def different(words: tuple[str, ...], where: str) -> tuple[str, ...]:
    """The words, which must all be different."""
    if len(set(words)) < len(words):
        earlier: set[str] = set()
        twice = next(word for word in words if word in earlier or earlier.add(word))  # type: ignore[func-returns-value]
        raise DataError(f"{where}: the word {twice!r} occurs twice; words must differ")
    return words


def with_words(documents: Documents, words: tuple[str, ...] | None) -> Documents:
    """The documents with the given words, which must be the same if the documents have words."""
    if words is None or (documents.named and documents.words == words):
        return documents
    if documents.named:
        raise DataError(other_words(documents.words, words))
    return fitting(Documents(documents.counts, words))


def fitting(documents: Documents) -> Documents:
    """The documents, which must have a column for each word."""
    if len(documents.words) != documents.n_words:
        raise DataError(
            f"the documents have {documents.n_words} words, but the vocabulary has {len(documents.words)}; "
            f"give a word for each column"
        )
    return documents


def other_words(words: tuple[str, ...], expected: tuple[str, ...]) -> str:
    """The message about a vocabulary that is not the expected one."""
    strange = sorted(set(words) - set(expected))
    difference = "their order is another"
    if len(words) != len(expected):
        difference = f"there are {len(words)} words, not {len(expected)}"
    elif strange:
        difference = f"the word {strange[0]!r} is not among those expected"
    return (
        f"the documents are over another vocabulary: {difference}; count them over the same words"
    )
