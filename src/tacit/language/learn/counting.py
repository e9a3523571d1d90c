"""Counting the n-grams of texts, in memory or in pieces on disk.

On disk a text is read twice, for its vocabulary and for its n-grams. Each piece is a folder of counts;
interrupted work continues after the last one. Counts of several texts can be joined, with different
vocabularies or the same.
"""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tacit.core.files.atomic import check_path
from tacit.core.files.temporary import locked, remove_dead, temporary_folder
from tacit.core.input.missing_files import is_there
from tacit.core.limits import memory_bytes, shown
from tacit.core.progress import Report, silent
from tacit.errors import (
    ArgumentError,
    ArgumentTypeError,
    DataError,
    FileWriteError,
    TacitError,
)
from tacit.language.data.corpus import Corpus, Watch, read_blocks, read_corpus, read_vocabulary
from tacit.language.data.vocabulary import Vocabulary, joint_vocabulary
from tacit.language.files.counts import CountsFolder, read_counts, write_counts
from tacit.language.moments.ngram_counts import GramCounts

_logger = logging.getLogger(__name__)

_MIN_PIECE = 10_000  # words of a piece at least
WORDS_GIVEN = "words_given"  # a note of counts with a given vocabulary
_PIECE, _JOINT = "piece", "joint"  # prefixes of folders
_OTHERS = "others"  # of the pieces of a process that found the folder in use


@dataclass(frozen=True)
class Reading:
    """How a text is read and counted."""

    order: int
    pads: str = "one"
    vocabulary: Vocabulary | None = None
    min_count: int = 1
    n_words: int | None = None
    markers: str = "error"
    unknown: str = "word"

    def corpus(self, X: Any, watch: Watch | None = None) -> Corpus:
        """A text that fits in memory."""
        return read_corpus(
            X,
            vocabulary=self.vocabulary,
            min_count=self.min_count,
            n_words=self.n_words,
            markers=self.markers,
            unknown=self.unknown,
            watch=watch,
        )


def pace(report: Report, task: str, low: float = 0.0, high: float = 1.0) -> Watch:
    """Reports the number of words and words per second, with progress from `low` to `high`."""
    report(low, task)
    begun = time.perf_counter()

    def watch(n_words: int, fraction: float) -> None:
        speed = n_words / max(time.perf_counter() - begun, 1e-9)
        report(low + (high - low) * fraction, f"{task}: {n_words:,} words, {speed:,.0f} words/s")

    return watch


def count_in_memory(X: Any, reading: Reading, report: Report = silent) -> GramCounts:
    """The counts of a text that fits in memory."""
    corpus = reading.corpus(X, pace(report, "reading", 0.0, 0.4))
    watch = pace(report, "counting", 0.4, 0.8)
    counts = GramCounts.of(corpus, reading.order, pads=reading.pads)
    watch(corpus.n_words, 1.0)
    return counts


@contextmanager
def count_on_disk(
    X: Any, reading: Reading, memory: int, folder: Any = None, report: Report = silent
) -> Iterator[GramCounts]:
    """The counts of a text, memory-mapped; deleted after the block unless a folder is given.

    Parameters
    ----------
    X : path, list of paths, list of lines, or Arrow column
        It is read twice.
    memory : int
        Approximate memory for counting, in bytes.
    folder : path, optional
        Where pieces are kept. If it holds pieces of the same text and options, counting continues after them;
        otherwise it starts over, and the log says so.
    """
    if isinstance(X, Iterator):
        raise ArgumentError(
            "with memory= a text is read twice, and an iterator can be read once; give a path or a list"
        )
    for path in X if isinstance(X, list | tuple) else [Path(X)] if isinstance(X, str) else [X]:
        if isinstance(path, os.PathLike) and _is_pipe(Path(path)):
            raise ArgumentError(
                f"with memory= a text is read twice, and {str(path)!r} can be read once; give a file"
            )
    with _place(folder) as place:
        yield _counted(X, reading, memory, place, report)


def _is_pipe(path: Path) -> bool:
    return is_there(path) and not (path.is_file() or path.is_dir())


@contextmanager
def counts_of(
    X: Any,
    reading: Reading,
    *,
    memory: int | str | None = None,
    folder: Any = None,
    report: Report = silent,
) -> Iterator[GramCounts]:
    """The counts of a text, in memory, or on disk if memory or a folder is given."""
    if memory is None and folder is None:
        yield count_in_memory(X, reading, report)
        return
    room = memory_bytes("2GB" if memory is None else memory)
    with count_on_disk(X, reading, room, folder, report) as counts:
        yield counts


@contextmanager
def joined_counts(
    paths: Sequence[Path],
    *,
    min_count: int = 1,
    n_words: int | None = None,
    folder: Any = None,
    report: Report = silent,
) -> Iterator[GramCounts]:
    """The sum of the counts of several folders, memory-mapped: those of all their texts at once.

    At most one of the folders is in memory at a time, if vocabularies differ.

    Parameters
    ----------
    paths : list of paths
        Folders that `counts.write_counts` wrote, all with their own words or all with the same.
    min_count, n_words : int
        Which words are kept, see `tacit.language.data.vocabulary.counted_vocabulary`.
    folder : path, optional
        For intermediate counts; by default a temporary one.

    Raises
    ------
    DataError
        The counts have different orders, or only some have a given vocabulary.
    """
    parts = [read_counts(path) for path in paths]
    if not parts:
        raise DataError("there are no counts to join; give at least one")
    selects = min_count > 1 or n_words is not None
    same = all(part.vocabulary == parts[0][0].vocabulary for part, _ in parts)
    _check_alike(paths, parts, same=same, selects=selects)
    with _place(folder) as place:
        names = list(paths)
        if selects or not same:
            pairs = [(part.vocabulary, part.tables[0].counts) for part, _ in parts]
            known, maps = joint_vocabulary(pairs, min_count=min_count, n_words=n_words)
            for number, ((part, _), numbers) in enumerate(zip(parts, maps, strict=True)):
                report(0.6 * number / len(paths), f"numbering words of {paths[number].name} anew")
                names[number] = place / f"{_PIECE}-{number:05d}"
                write_counts(part.renamed(known, numbers), names[number])
        report(0.6, f"joining {len(names)} counts")
        yield _joined(names, place)


def _check_alike(
    paths: Sequence[Path],
    parts: Sequence[tuple[GramCounts, dict[str, Any]]],
    *,
    same: bool,
    selects: bool,
) -> None:
    """Raise if counts cannot be joined."""
    first, _ = parts[0]
    for path, (part, notes) in zip(paths, parts, strict=True):
        if (part.order, part.pads) != (first.order, first.pads):
            raise DataError(
                f"{str(path)!r} has n-grams of order {part.order} with {part.pads} <s> in front of lines, "
                f"{str(paths[0])!r} of order {first.order} with {first.pads}; count all with the same options"
            )
        if WORDS_GIVEN in notes and not same:
            raise DataError(
                f"{str(path)!r} was counted with a list of words, and others have other words; count all "
                "with the same list, or all without"
            )
        if WORDS_GIVEN in notes and selects:
            raise DataError(
                f"{str(path)!r} was counted with a list of words, which are all kept; leave out min_count "
                "and n_words"
            )


@contextmanager
def _place(folder: Any) -> Iterator[Path]:
    """The folder, or a temporary one if none is given or another process uses it."""
    if folder is None:
        with tempfile.TemporaryDirectory(prefix="tacit-") as name:
            yield Path(name)
        return
    if not isinstance(folder, str | os.PathLike):
        raise ArgumentTypeError(
            f"folder={shown(folder)}; give a path, or None for a temporary folder"
        )
    check_path(folder)
    given = Path(folder)
    is_new = not given.exists()
    with ExitStack() as stack:
        try:
            own = stack.enter_context(locked(given))
            place = given if own else stack.enter_context(temporary_folder(given / _OTHERS))
        except OSError as error:
            raise FileWriteError(
                f"counts cannot be written to {str(folder)!r}: {error.strerror or error}"
            ) from error
        if not own:
            _logger.info("another process uses %s; nothing is kept of this one's pieces", given)
        try:
            yield place
        finally:
            if is_new and own:
                with suppress(OSError):  # it holds pieces
                    given.rmdir()


def clear_pieces(folder: Path) -> bool:
    """Remove the pieces in a folder, and the folder if it is then empty; whether there were any.

    Nothing happens while another process uses the folder.
    """
    if not folder.is_dir():
        return False
    with locked(folder) as own:
        if not own:
            return False
        remove_dead(folder, _OTHERS)
        pieces = [
            path
            for kind in (_PIECE, _JOINT)
            for path in (*folder.glob(f"{kind}-*"), *folder.glob(f".{kind}-*.part"))
        ]
        for path in pieces:
            shutil.rmtree(path, ignore_errors=True)
        with suppress(OSError):  # not there, or not empty
            folder.rmdir()
    return bool(pieces)


def _counted(X: Any, reading: Reading, memory: int, folder: Path, report: Report) -> GramCounts:
    known = reading.vocabulary or read_vocabulary(
        X,
        min_count=reading.min_count,
        n_words=reading.n_words,
        markers=reading.markers,
        unknown=reading.unknown,
        watch=pace(report, "reading words", 0.0, 0.2),
    )
    # Word numbers, positions and their order; memory for sorting; tables of every order.
    n_words = max(memory // (2 * (24 + 24 * reading.order)), _MIN_PIECE)
    watch = pace(report, "counting", 0.2, 0.6)
    blocks = read_blocks(X, known, markers=reading.markers, unknown=reading.unknown, watch=watch)
    names: list[Path] = []
    n_done = 0
    for number, piece in enumerate(_pieces(blocks, n_words, known)):
        path = folder / f"{_PIECE}-{number:05d}"
        notes = {"order": reading.order, "pads": reading.pads, "text": _digest(piece)}
        if n_done == number and _is_done(path, notes, known):
            n_done += 1
        else:
            write_counts(GramCounts.of(piece, reading.order, pads=reading.pads), path, notes)
        names.append(path)
    if n_done:
        _logger.info("continued after %d pieces that were counted before", n_done)
    if not names:
        return GramCounts.empty(known, reading.order, pads=reading.pads)
    report(0.6, f"joining {len(names)} pieces")
    return _joined(names, folder)


def _pieces(blocks: Iterable[Corpus], n_words: int, known: Vocabulary) -> Iterator[Corpus]:
    """Pieces of whole lines, of about `n_words` words."""
    parts: list[Corpus] = []
    for block in blocks:
        low = 0
        while low < block.n_lines:
            before = int(block.ends[low - 1]) if low else 0
            room = n_words - sum(part.n_words + part.n_lines for part in parts)
            sizes = block.ends[low:] - before + np.arange(1, block.n_lines - low + 1)
            high = low + max(int(np.searchsorted(sizes, room, side="right")), 0 if parts else 1)
            if high > low:
                parts.append(block.part(low, high))
                low = high
            if low < block.n_lines:
                yield _together(parts, known)
                parts = []
    if parts:
        yield _together(parts, known)


def _together(parts: Sequence[Corpus], known: Vocabulary) -> Corpus:
    shifts = np.cumsum([0, *(part.n_words for part in parts[:-1])])
    ends = [part.ends + shift for part, shift in zip(parts, shifts, strict=True)]
    return Corpus(np.concatenate([part.ids for part in parts]), np.concatenate(ends), known)


def _is_done(path: Path, notes: dict[str, Any], known: Vocabulary) -> bool:
    """Whether a folder holds this piece already."""
    if not is_there(path):
        return False
    try:
        counts, stored_notes = read_counts(path)
        if stored_notes == notes and counts.vocabulary == known:
            return True
    except TacitError as error:
        _logger.warning("%s", error)
    _logger.warning("%s holds counts of something else; counting starts over from there", path)
    return False


def _digest(piece: Corpus) -> str:
    """A hash of a piece of text."""
    digest = hashlib.blake2b(piece.ids.tobytes(), digest_size=16)
    digest.update(piece.ends.tobytes())
    return digest.hexdigest()


def _joined(names: list[Path], folder: Path) -> GramCounts:
    """The sum of all pieces, joined pairwise, so that each is read few times."""
    level, step = names, 0
    while len(level) > 1:
        above: list[Path] = []
        for place in range(0, len(level), 2):
            pair = level[place : place + 2]
            if len(pair) == 1:
                above += pair
                continue
            path = folder / f"{_JOINT}-{step:02d}-{place:05d}"
            one, two = (read_counts(part)[0] for part in pair)
            with CountsFolder(path) as made:
                made.finish(one.added(two, made.allocate))
            for part in pair:
                if part not in names:
                    shutil.rmtree(part, ignore_errors=True)
            above.append(path)
        level, step = above, step + 1
    return read_counts(level[0])[0]
