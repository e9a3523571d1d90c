"""Sentences of words with their parts of speech: CoNLL-U, tagged text, trees, lists."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from tacit.core.limits import shown
from tacit.errors import ArgumentTypeError, DataError
from tacit.parsing.data.parse_trees import (
    ParseTree,
    is_punctuation,
    located_trees,
    text_lines,
    without_empties,
)

Tagged = list[tuple[str, str]]  # each word and its tag
_BETWEEN = ("|||", "_", "/")  # what stands between word and tag, the first that every token has


def read_tagged(source: Any) -> list[Tagged]:
    """All sentences of a source; see `stream_tagged`."""
    return list(stream_tagged(source))


def stream_tagged(source: Any) -> Iterator[Tagged]:
    """Sentences of words and tags, one after another.

    The first line of a text decides its form: brackets (words and tags of the trees, empties left out),
    CoNLL-U (ten columns with tabs between them; the universal tag, or the language's own where that is
    ``_``), or a sentence on each line, tokens ``word|||TAG``, ``word_TAG`` or ``word/TAG``.

    Parameters
    ----------
    source : path, list of paths, file object, or iterable
        The iterable gives lines of text, trees, or sentences, each a list of pairs of word and tag.

    Raises
    ------
    DataError
        A token has no tag, a line has not ten columns, brackets do not fit; with the line.

    Examples
    --------
    >>> read_tagged(["rain/NN falls/VBZ"])
    [[('rain', 'NN'), ('falls', 'VBZ')]]
    """
    for _, sentence in located_sentences(source):
        if isinstance(sentence, DataError):
            raise sentence
        yield sentence


def located_sentences(source: Any) -> Iterator[tuple[str, Tagged | DataError]]:
    """Each sentence after its place, such as ``text.txt, line 3``; see `stream_tagged`.

    A sentence of text that cannot be read comes as its error, so that others can be used. If it is the first
    of its text, the error is raised: the text has another form.
    """
    if _is_text(source):
        for name, lines in text_lines(source):
            yield from _sentences(name, lines)
        return
    items = iter(source)
    first = next(items, None)
    if first is None:
        return
    items = chain([first], items)
    if isinstance(first, str):
        for name, lines in text_lines(items):
            yield from _sentences(name, lines)
    else:
        for number, item in enumerate(items, 1):
            yield f"sentence {number}", _listed(item, number)


def without_marks(sentence: Tagged) -> Tagged:
    """The sentence without its punctuation."""
    return [(word, tag) for word, tag in sentence if not is_punctuation(tag)]


# -- forms ------------------------------------------------------------------------------------------


def _is_text(source: Any) -> bool:
    import os

    if isinstance(source, str | os.PathLike) or hasattr(source, "read"):
        return True
    if not isinstance(source, Iterable):
        raise ArgumentTypeError(
            f"tagged sentences are a path, lines, trees or lists of (word, tag), not {type(source)}"
        )
    return isinstance(source, list | tuple) and bool(source) and isinstance(source[0], os.PathLike)


def _listed(item: Any, number: int) -> Tagged:
    """A sentence of a list: a tree, or pairs."""
    if isinstance(item, ParseTree):
        tree = without_empties(item)
        return [] if tree is None else tree.leaves()
    try:
        pairs = [(word, tag) for word, tag in item]
    except (TypeError, ValueError) as error:
        raise DataError(
            f"sentence {number} is no list of pairs of word and tag ({error}); give [(word, tag), ...]"
        ) from error
    for word, tag in pairs:
        if not isinstance(word, str) or not isinstance(tag, str):
            raise DataError(f"sentence {number}: {shown(word)} and {shown(tag)} must be strings")
    return pairs


def _sentences(name: str, lines: Iterator[str]) -> Iterator[tuple[str, Tagged | DataError]]:
    """The sentences of a text, by the form of its first line that is not empty."""
    before: list[str] = []
    for line in lines:
        before.append(line)
        if line.strip() and not _is_comment(line):
            break
    else:
        return
    all_lines = chain(before, lines)
    if before[-1].lstrip().startswith("("):
        for number, tree in located_trees(name, all_lines):
            yield f"{name}, line {number}", _listed(tree, 0)
        return
    read = _conllu if before[-1].count("\t") >= 3 else _lines
    for count, (number, sentence) in enumerate(read(name, all_lines)):
        if isinstance(sentence, DataError) and not count:
            raise sentence
        yield f"{name}, line {number}", sentence


def _is_comment(line: str) -> bool:
    """A comment of CoNLL-U; in tagged text, ``#`` begins a token."""
    return line.startswith("#") and not any(mark in line.split(maxsplit=1)[0] for mark in _BETWEEN)


def _conllu(name: str, lines: Iterable[str]) -> Iterator[tuple[int, Tagged | DataError]]:
    """Sentences of ten columns, an empty line after each; of a merged word, its parts count."""
    sentence: Tagged = []
    error: DataError | None = None
    first = 0  # line of the sentence
    for number, line in enumerate(chain(lines, [""]), 1):
        if not line.strip():
            if sentence or error:
                yield first, error or sentence
            sentence, error, first = [], None, 0
        elif not line.startswith("#"):
            first = first or number
            fields = line.rstrip("\r\n").split("\t")
            if len(fields) != 10:
                error = error or DataError(
                    f"{name}, line {number} has {len(fields)} columns with tabs between them; CoNLL-U has 10"
                )
            elif fields[0].isdigit():
                sentence.append((fields[1], fields[3] if fields[3] != "_" else fields[4]))


def _lines(name: str, lines: Iterable[str]) -> Iterator[tuple[int, Tagged | DataError]]:
    """A sentence on each line."""
    between = ""
    for number, line in enumerate(lines, 1):
        tokens = line.split()
        if not tokens:
            continue
        if not between:
            between = next((mark for mark in _BETWEEN if all(mark in t for t in tokens)), "/")
        parts = [token.rpartition(between) for token in tokens]
        bad = next(
            (token for token, part in zip(tokens, parts, strict=True) if not all(part)), None
        )
        if bad is None:
            yield number, [(word, tag) for word, _, tag in parts]
        else:
            yield (
                number,
                DataError(
                    f"{name}, line {number}: {bad!r} has no tag; write word{between}TAG, or give CoNLL-U "
                    f"or trees in brackets"
                ),
            )
