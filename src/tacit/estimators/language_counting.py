"""Counting the n-grams of texts that do not fit memory: piece by piece, on disk.

A text is read twice, once for its vocabulary, once for its n-grams. Each piece that was counted is a folder
of its own; work that was broken off goes on after the last one.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tacit.data.corpus import Corpus, read_blocks, read_corpus, read_vocabulary
from tacit.data.vocabulary import Vocabulary
from tacit.errors import ArgumentError, TacitError
from tacit.estimators.progress import Report, silent
from tacit.files.grams import CountsFolder, read_counts, write_counts
from tacit.moments.grams import GramCounts

_logger = logging.getLogger(__name__)

_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_FEWEST = 10_000  # words of a piece, however little memory there is


@dataclass(frozen=True)
class Reading:
    """How a text is read and counted."""

    order: int
    pads: str = "one"
    vocabulary: Vocabulary | None = None
    least_count: int = 1
    n_words: int | None = None
    markers: str = "error"
    unknown: str = "word"


def memory_bytes(memory: Any) -> int:
    """The number of bytes that a caller allows: a number, or a text as ``"2GB"`` or ``"300 MB"``.

    Examples
    --------
    >>> memory_bytes("300MB"), memory_bytes(5000)
    (300000000, 5000)
    """
    if isinstance(memory, int | np.integer) and not isinstance(memory, bool) and memory > 0:
        return int(memory)
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?B?)\s*", str(memory).upper())
    if isinstance(memory, str) and found and float(found[1]) > 0:
        unit = found[2] if found[2] in _UNITS else found[2] + "B"
        return int(float(found[1]) * _UNITS[unit])
    raise ArgumentError(f"memory={memory!r}; give bytes, or a text as '2GB' or '300MB'")


def count_in_memory(X: Any, reading: Reading, report: Report = silent) -> GramCounts:
    """The counts of a text that fits memory."""
    report(0.0, "reading")
    corpus = read_corpus(
        X,
        vocabulary=reading.vocabulary,
        least_count=reading.least_count,
        n_words=reading.n_words,
        markers=reading.markers,
        unknown=reading.unknown,
    )
    report(0.4, f"counting {corpus.n_words:,} words")
    return GramCounts.of(corpus, reading.order, pads=reading.pads)


@contextmanager
def count_on_disk(
    X: Any, reading: Reading, memory: int, folder: Any = None, report: Report = silent
) -> Iterator[GramCounts]:
    """The counts of a text, mapped from disk; gone after the block, unless a folder is given.

    Parameters
    ----------
    X : path, list of paths, list of lines, or Arrow column
        What can be read twice.
    memory : int
        Bytes that counting may use, about.
    folder : path, optional
        Where pieces are kept. If it holds pieces of the same text, counted alike, work goes on after them;
        otherwise it starts over, and the log says so.
    """
    if isinstance(X, Iterator):
        raise ArgumentError(
            "with memory= a text is read twice, but an iterator is gone after once; give a path or a list"
        )
    if folder is None:
        with tempfile.TemporaryDirectory(prefix="tacit-") as place:
            yield _counted(X, reading, memory, Path(place), report)
    else:
        yield _counted(X, reading, memory, Path(folder), report)


def _counted(X: Any, reading: Reading, memory: int, folder: Path, report: Report) -> GramCounts:
    report(0.0, "reading words")
    known = reading.vocabulary or read_vocabulary(
        X,
        least_count=reading.least_count,
        n_words=reading.n_words,
        markers=reading.markers,
        unknown=reading.unknown,
    )
    # Numbers of words, places and their order; room for sorting; tables of every order.
    n_words = max(memory // (2 * (24 + 24 * reading.order)), _FEWEST)
    blocks = read_blocks(X, known, markers=reading.markers, unknown=reading.unknown)
    mark = {**_sources(X), "order": reading.order, "pads": reading.pads, "n_words": n_words}
    names, done = [], 0
    going = True
    for number, piece in enumerate(_pieces(blocks, n_words, known)):
        path = folder / f"piece-{number:05d}"
        notes = {**mark, "piece": number, "words": piece.n_words, "lines": piece.n_lines}
        going = going and _is_done(path, notes, known)
        if not going:
            write_counts(GramCounts.of(piece, reading.order, pads=reading.pads), path, notes)
        names.append(path)
        done += piece.n_words
        report(0.4, f"counted {done:,} words")
    if not names:
        return GramCounts.empty(known, reading.order, pads=reading.pads)
    report(0.7, f"joining {len(names)} pieces")
    return _joined(names, folder)


def _pieces(blocks: Iterable[Corpus], n_words: int, known: Vocabulary) -> Iterator[Corpus]:
    """Whole lines, about so many words at once."""
    held: list[Corpus] = []
    for block in blocks:
        low = 0
        while low < block.n_lines:
            before = int(block.ends[low - 1]) if low else 0
            room = n_words - sum(part.n_words + part.n_lines for part in held)
            sizes = block.ends[low:] - before + np.arange(1, block.n_lines - low + 1)
            high = low + max(int(np.searchsorted(sizes, room, side="right")), 0 if held else 1)
            if high > low:
                held.append(block.part(low, high))
                low = high
            if low < block.n_lines:
                yield _together(held, known)
                held = []
    if held:
        yield _together(held, known)


def _together(parts: Sequence[Corpus], known: Vocabulary) -> Corpus:
    shifts = np.cumsum([0, *(part.n_words for part in parts[:-1])])
    ends = [part.ends + shift for part, shift in zip(parts, shifts, strict=True)]
    return Corpus(np.concatenate([part.ids for part in parts]), np.concatenate(ends), known)


def _is_done(path: Path, notes: dict[str, Any], known: Vocabulary) -> bool:
    """Whether a folder holds this very piece already."""
    if not path.exists():
        return False
    try:
        counts, found = read_counts(path)
        if found == notes and counts.vocabulary == known:
            return True
    except TacitError as error:
        _logger.warning("%s", error)
    _logger.warning("%s holds counts of something else; counting starts over from there", path)
    return False


def _sources(X: Any) -> dict[str, Any]:
    """What tells one text from another without reading it: names, sizes and times of files."""
    paths = [X] if isinstance(X, str | os.PathLike) else X if isinstance(X, list | tuple) else []
    files = []
    for path in paths:
        if isinstance(path, os.PathLike) or path is X:
            state = Path(path).stat()
            files.append([str(path), state.st_size, state.st_mtime_ns])
    return {"files": files}


def _joined(names: list[Path], folder: Path) -> GramCounts:
    """The sum of all pieces; neighbours are joined two by two, so that each is read few times."""
    level, step = names, 0
    while len(level) > 1:
        above: list[Path] = []
        for place in range(0, len(level), 2):
            pair = level[place : place + 2]
            if len(pair) == 1:
                above += pair
                continue
            path = folder / f"joint-{step:02d}-{place:05d}"
            one, two = (read_counts(each)[0] for each in pair)
            with CountsFolder(path) as made:
                made.finish(one.added(two, made.allocate))
            for each in pair:
                if each not in names:
                    shutil.rmtree(each, ignore_errors=True)
            above.append(path)
        level, step = above, step + 1
    return read_counts(level[0])[0]
