"""Files of word counts: UCI bag-of-words and LDA-C, compressed or not, read in batches of documents."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tacit.core.input.missing_files import is_there, missing_file
from tacit.core.input.text import text_sources
from tacit.core.limits import ENTRIES_PER_BYTE, FREE_ENTRIES, check_entries
from tacit.errors import ArgumentError, DataError, FileFormatError
from tacit.topics.data.documents import Counts, DocumentBatches

FORMS = ("uci", "lda-c")
_MAX = 2**31 - 1
_HEADER = re.compile(rb"\s*(\d{1,18})\s*\n\s*(\d{1,18})\s*\n\s*(\d{1,18})\s*\n")
_LINE = re.compile(rb"\s*\d+([ \t]+\d+:\d+)*[ \t\r]*\n")
_PEEK = 1 << 16  # bytes; more than the header of any file


def file_batches(
    path: Path, words: tuple[str, ...] | None = None, form: str = "auto"
) -> DocumentBatches:
    """The documents of a file in batches, which can be read several times.

    A file without the number of words (LDA-C without a vocabulary) is read once for that, which counts as a
    pass.

    Parameters
    ----------
    path : Path
        Compressed if it ends in ``.gz``, ``.bz2``, ``.xz`` or ``.zst``.
    words : tuple of str, optional
        The vocabulary; by default words are named by their numbers, from "0" on.
    form : {"auto", "uci", "lda-c"}
        ``"uci"``: three lines with the numbers of documents, words and entries, then lines ``document word
        count``, both numbered from one, documents in order. ``"lda-c"``: a line for each document, ``number
        word:count word:count ...``, words numbered from zero.

    Raises
    ------
    FileFormatError
        With line and reason.
    DataError
        The vocabulary does not fit.
    """
    if form not in ("auto", *FORMS):
        raise ArgumentError(f'form={form!r}; choose "auto", "uci" or "lda-c"')
    start = _beginning(path)
    if form == "auto":
        form = _form_of(start, path)
    if form == "uci":
        return _uci(path, start, words)
    scanned = words is None
    if words is None:
        size = max((batch.shape[1] for batch in _batches(path, "lda-c", _MAX, _MAX)), default=0)
        _check_size(path, "words that its largest word number stands for", size)
        words = tuple(map(str, range(size)))
    n_words = len(words)
    batches = DocumentBatches(
        lambda: _batches(path, "lda-c", _MAX, n_words), words, named=not scanned
    )
    batches.n_passes = int(scanned)
    return batches


def _uci(path: Path, start: bytes, words: tuple[str, ...] | None) -> DocumentBatches:
    header = _HEADER.match(start)
    if header is None:
        raise FileFormatError(
            f"{str(path)!r} is not a UCI bag of words: its first three lines are not the numbers of "
            f"documents, words and entries"
        )
    n_documents, n_words = int(header[1]), int(header[2])
    if words is not None and len(words) != n_words:
        raise DataError(
            f"{str(path)!r} has {n_words} words, but the vocabulary has {len(words)}; "
            f"give the vocabulary of this file, one word a line"
        )
    _check_size(path, "documents that its first line announces", n_documents)
    if words is None:
        _check_size(path, "words that its second line announces", n_words)
    names = words if words is not None else tuple(map(str, range(n_words)))
    return DocumentBatches(
        lambda: _batches(path, "uci", n_documents, n_words), names, n_documents, words is not None
    )


def _check_size(path: Path, what: str, size: int) -> None:
    """Refuse a number in the file that asks for many more entries than the file has bytes."""
    n_bytes = path.stat().st_size
    if size <= FREE_ENTRIES + ENTRIES_PER_BYTE * n_bytes:
        return
    n_bytes = sum(len(block) for source in text_sources(path) for block in source.blocks)
    advice = "correct that number" if "documents" in what else "correct it, or give the vocabulary"
    check_entries(f"the {what} in {str(path)!r} are too many", size, n_bytes, advice)


def _beginning(path: Path) -> bytes:
    if not is_there(path) or path.is_dir():
        raise missing_file(path, "file of documents", "give the path of one, or documents as lists")
    source = next(text_sources(path))
    start = b""
    for block in source.blocks:
        start += block
        if len(start) >= _PEEK:
            break
    return start + b"\n"


def is_counts(path: Path) -> bool:
    """Whether a file looks like UCI bag-of-words or LDA-C."""
    return bool(_known_form(_beginning(path)))


def _known_form(start: bytes) -> str:
    if _HEADER.match(start):
        return "uci"
    return "lda-c" if _LINE.match(start) or _LINE.match(start + b"\n") else ""


def _form_of(start: bytes, path: Path) -> str:
    if form := _known_form(start):
        return form
    line = start.splitlines()[0][:60].decode(errors="replace") if start.strip() else ""
    raise FileFormatError(
        f"{str(path)!r} is not a file of word counts: it begins with {line!r}; expected UCI bag-of-words "
        f"(three lines with the numbers of documents, words and entries, then 'document word count') or "
        f"LDA-C ('number word:count ...')"
    )


def _batches(path: Path, form: str, n_documents: int, n_words: int) -> Iterator[Counts]:
    reader = _Reader(path, form, n_documents, n_words)
    for source in text_sources(path):
        for block in source.blocks:
            yield from reader.documents(block, last=False)
    yield from reader.documents(b"", last=True)


class _Reader:
    """A file that is being read: the rest of the last block, and the position."""

    def __init__(self, path: Path, form: str, n_documents: int, n_words: int) -> None:
        self.path, self.form, self.n_documents, self.n_words = path, form, n_documents, n_words
        self.left, self.line, self.ended = b"", 1, 0
        self.headed = form != "uci"
        self.announced, self.n_entries = 0, 0  # entries

    def documents(self, block: bytes, *, last: bool) -> Iterator[Counts]:
        """The documents that end in this block."""
        from tacit.topics.loops.documents import AT, DONE, ENDS, ENTRIES, NEXT, SORTED, ZEROS

        buffer = self.left + block
        if last and not buffer.endswith(b"\n"):
            buffer += b"\n"
        if not self.headed:
            buffer = self._past_header(buffer, last=last)
            if not self.headed:
                return
        state = np.array([0, self.ended, 0, 0, 1, 0])
        why, ids, counts, ends = self._read(buffer, state, last)
        at = int(state[AT])
        if why != DONE and not (self.form == "lda-c" and not buffer[at:].strip()):
            raise self._wrong(why, buffer, at)
        self.line += buffer.count(b"\n", 0, at)
        self.left, self.ended = buffer[at:], int(state[NEXT])
        self.n_entries += int(state[ENTRIES] + state[ZEROS])
        if last and self.n_entries < self.announced:
            raise FileFormatError(
                f"{str(self.path)!r} has {self.n_entries} of the {self.announced} entries that its third "
                f"line announces; it seems to be cut short"
            )
        if state[ENDS]:
            entries = int(state[ENTRIES])
            yield self._array(ids[:entries], counts[:entries], ends[: state[ENDS]], state[SORTED])

    def _past_header(self, buffer: bytes, *, last: bool) -> bytes:
        header = _HEADER.match(buffer)
        if header is None and not last and len(buffer) < _PEEK:
            self.left = buffer
            return b""
        assert header is not None  # or the file has changed since it was looked at
        self.headed, self.announced = True, int(header[3])
        self.line += buffer.count(b"\n", 0, header.end())
        return buffer[header.end() :]

    def _read(self, buffer: bytes, state: Any, last: bool) -> tuple[int, Any, Any, Any]:
        from tacit.topics.loops.documents import read_lines, read_triples

        text = np.frombuffer(buffer, dtype=np.uint8)
        most = len(buffer) // 4 + 1  # an entry has at least four bytes: two numbers and separators
        ids, counts = np.empty(most, dtype=np.int32), np.empty(most, dtype=np.int32)
        if self.form == "uci":
            ends = np.empty(self.n_documents - self.ended, dtype=np.int64)
            sizes = self.n_documents, self.n_words
            return read_triples(text, last, *sizes, state, ids, counts, ends), ids, counts, ends
        ends = np.empty(buffer.count(b"\n"), dtype=np.int64)
        return read_lines(text, self.n_words, state, ids, counts, ends), ids, counts, ends

    def _array(self, ids: Any, counts: Any, ends: Any, ordered: Any) -> Counts:
        from scipy.sparse import csr_array

        n_words = self.n_words
        if n_words == _MAX:
            n_words = int(ids.max()) + 1 if len(ids) else 0
        places = np.concatenate([[0], ends]).astype(np.int32)
        batch = csr_array((counts.copy(), ids.copy(), places), shape=(len(ends), n_words))
        if not ordered:
            batch.sum_duplicates()
        return batch

    def _wrong(self, why: int, buffer: bytes, at: int) -> FileFormatError:
        from tacit.topics.loops import documents as loops

        reasons = {
            loops.FIELDS: "a number is missing",
            loops.NEGATIVE: "a negative number; words are counted from zero up",
            loops.HUGE: "a number above 2,147,483,647",
            loops.WORD: f"a word beyond the {self.n_words} of the vocabulary",
            loops.DOCUMENT: f"a document that is not one of 1 to {self.n_documents}, as the file begins",
            loops.ORDER: "a document of lines that are not together; sort the lines by document",
            loops.TOTAL: "its first number is not that of the words that follow",
        }
        form = "document word count" if self.form == "uci" else "number word:count word:count ..."
        line = self.line + buffer.count(b"\n", 0, at)
        shown = buffer[at : at + 60].splitlines()[0].decode(errors="replace")
        return FileFormatError(
            f"{str(self.path)!r}, line {line}, {shown!r}: "
            f"{reasons.get(why, 'expected a whole number')}; expected {form!r}"
        )
