"""Counts of n-grams in a folder: one file for each array, and a JSON file with the rest.

The arrays are memory-mapped, so that counts may be larger than memory. The JSON file holds the SHA-256 of
each other file, and of itself with zeros in place of those 64 digits. Format 1 has none of these.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from tokenize import TokenError
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tacit.core.files.atomic import check_folder, replace_folder, version_of
from tacit.core.files.json_values import from_json, to_json
from tacit.core.files.temporary import sync_file, sync_folder, temporary_folder
from tacit.core.input.missing_files import near_name
from tacit.errors import FileFormatError, FileWriteError, MissingDataError
from tacit.language.data.vocabulary import BEGIN, END, Vocabulary
from tacit.language.moments.ngram_counts import MAX_ORDER, GramCounts, GramTable

_FORMAT = 2
_HEADER = "counts.json"
_OPEN = "0" * 64  # in place of the digest of the header
# What the reading of damaged arrays and headers may raise
_DAMAGE = (
    OSError,
    EOFError,
    KeyError,
    TypeError,
    ValueError,
    OverflowError,
    SyntaxError,
    TokenError,
)
_KINDS = {"words": np.int32, "suffixes": np.int32, "counts": np.int64, "starts": np.int64}


def write_counts(
    counts: GramCounts, path: str | os.PathLike[str], notes: Mapping[str, Any] | None = None
) -> None:
    """Write counts of n-grams to a folder, completely or not at all.

    Parameters
    ----------
    path : str or path
        The folder; one that holds other counts is replaced.
    notes : mapping, optional
        Plain values to store with the counts.

    Raises
    ------
    FileWriteError
        The folder cannot be written, or contains something else.
    """
    with CountsFolder(path) as folder:
        for order, table in enumerate(counts.tables, 1):
            for name in _KINDS:
                folder.put(f"{name}.{order}", getattr(table, name))
        folder.finish(counts, notes)


class CountsFolder:
    """A folder of counts that is being written; it is renamed when it is finished.

    Every writer has a temporary folder of its own: of two that finish, the second replaces the first.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.target = Path(path)
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        try:
            self._check_target()
            check_folder(self.target)
            # With a folder inside for the counts, whose permissions are those of any new folder.
            own = self._stack.enter_context(temporary_folder(self.target))
            self.temporary = own / "counts"
            self.temporary.mkdir()
        except OSError as error:
            raise self._failed(error) from error
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def put(self, name: str, array: NDArray[Any]) -> None:
        """Write an array."""
        try:
            np.save(self.temporary / f"{name}.npy", np.asarray(array))
        except OSError as error:
            raise self._failed(error) from error

    def allocate(self, name: str, size: int, kind: type) -> NDArray[Any]:
        """A writable array on disk; `finish` cuts off what was not used."""
        if size == 0:
            return np.empty(0, dtype=kind)
        try:
            place = self.temporary / f"{name}.room"
            room = np.lib.format.open_memmap(place, mode="w+", dtype=kind, shape=(size,))
            # A full disk raises here; later it would crash the process.
            if hasattr(os, "posix_fallocate"):
                with place.open("rb+") as file:
                    os.posix_fallocate(file.fileno(), 0, place.stat().st_size)
            return room
        except OSError as error:
            raise self._failed(error) from error

    def finish(self, counts: GramCounts, notes: Mapping[str, Any] | None = None) -> None:
        """Write what is missing, and rename the folder."""
        known = counts.vocabulary
        header: dict[str, Any] = {
            "format": _FORMAT,
            "order": counts.order,
            "pads": counts.pads,
            "n_lines": counts.n_lines,
            "notes": dict(notes or {}),
        }
        for order, table in enumerate(counts.tables, 1):
            for name in _KINDS:
                if not (self.temporary / f"{name}.{order}.npy").is_file():
                    self.put(f"{name}.{order}", getattr(table, name))
                (self.temporary / f"{name}.{order}.room").unlink(missing_ok=True)
        self.put("vocabulary.store", known.store)
        self.put("vocabulary.starts", known.starts)
        try:
            header["digests"] = {
                path.name: _digest(path) for path in sorted(self.temporary.iterdir())
            }
            (self.temporary / _HEADER).write_bytes(_signed(header))
            for path in self.temporary.iterdir():
                sync_file(path)  # a crash after the renaming must not leave half of them
            sync_folder(self.temporary)
            self._check_target()
            replace_folder(self.temporary, self.target)
        except OSError as error:
            raise self._failed(error) from error

    def _check_target(self) -> None:
        if self.target.exists() and not (self.target / _HEADER).is_file():
            raise FileExistsError("something else is there")

    def _failed(self, error: OSError) -> FileWriteError:
        if isinstance(error, FileWriteError):
            return error
        # NumPy tells of bytes that were not written, and not why.
        reason = error.strerror or f"the disk is full, or a file too large ({error})"
        return FileWriteError(f"counts cannot be written to {str(self.target)!r}: {reason}")


def read_counts(path: str | os.PathLike[str]) -> tuple[GramCounts, dict[str, Any]]:
    """Counts of n-grams of a folder, memory-mapped, and their notes.

    Raises
    ------
    MissingDataError, FileFormatError
        There is no such folder, or its counts are inconsistent.
    """
    folder = Path(path)
    if not (folder / _HEADER).is_file():
        near = near_name(folder)
        guess = f"but there is {near!r}" if near else "write one with `tacit lm count`"
        raise MissingDataError(f"there is no folder of counts {str(path)!r}; {guess}")
    while True:
        version = version_of(folder)
        try:
            header = _header(folder)
            counts = _checked(folder, header)
            if version_of(folder) == version:
                return counts, dict(header["notes"])
        except _DAMAGE as error:
            if version_of(folder) == version:
                raise FileFormatError(
                    f"the counts in {str(path)!r} are damaged: {error}"
                ) from error
        # Another process has replaced the folder: some of this may be of the old one.


def _header(folder: Path) -> dict[str, Any]:
    """The header of a folder, and the digests of all files compared."""
    content = (folder / _HEADER).read_bytes()
    header: dict[str, Any] = from_json(content.decode("utf-8"))
    if header["format"] == 1 and "digest" not in header:
        return header
    if header["format"] != _FORMAT:
        raise FileFormatError(f"format {header['format']}; this version reads 1 and {_FORMAT}")
    if content != _signed(header | {"digest": _OPEN}):
        raise FileFormatError(f"the digest in {_HEADER} is that of other content")
    if not isinstance(header["digests"], dict):
        raise FileFormatError(f"{_HEADER} has no digests of the other files")
    for name, digest in header["digests"].items():
        if _digest(_file(folder, name)) != digest:
            raise FileFormatError(f"the digest of {name} is that of other content")
    return header


def _signed(header: Mapping[str, Any]) -> bytes:
    """The header as JSON, with its own digest."""
    text = to_json({**header, "digest": _OPEN})
    before, _, after = text.rpartition(_OPEN)
    return f"{before}{hashlib.sha256(text.encode()).hexdigest()}{after}".encode()


def _file(folder: Path, name: str) -> Path:
    """A file of a folder, and nothing else: reading a pipe might never end."""
    if Path(name).name != name or not (folder / name).is_file():
        raise FileFormatError(f"there is no file {name!r}")
    return folder / name


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _checked(folder: Path, header: Any) -> GramCounts:
    """The counts of a folder, after all checks that compiled loops rely on."""
    order, pads, n_lines = (header[name] for name in ("order", "pads", "n_lines"))
    if not all(type(value) is int for value in (order, pads, n_lines)):
        raise FileFormatError("order, pads and n_lines must be integers")
    if not 1 <= order <= MAX_ORDER or pads not in (1, max(order - 1, 1)) or n_lines < 0:
        raise FileFormatError(f"order {order} with {pads} <s> in front of {n_lines} lines")
    known = Vocabulary.of_arrays(
        _array(folder, "vocabulary.store"), _array(folder, "vocabulary.starts")
    )
    tables = [_unigrams(folder, len(known), n_lines)]
    for at in range(2, order + 1):
        tables.append(_table(folder, at, len(tables[-1])))
        _check(at, tables[-1], tables[-2], len(known), n_lines)
    if order > 1 and (BEGIN in tables[1].words) != (pads > 1 and n_lines > 0):
        raise FileFormatError(f"these are not n-grams with {pads} <s> in front of lines")
    return GramCounts(known, tuple(tables), pads, n_lines)


def _unigrams(folder: Path, n_words: int, n_lines: int) -> GramTable:
    table = _table(folder, 1, 1)
    numbers = np.arange(n_words)
    if not np.array_equal(table.words, numbers) or table.suffixes.any():
        raise FileFormatError("the vocabulary does not fit the counts")
    counts = table.counts
    if table.starts.tolist() != [0, n_words] or counts.min() < 0 or counts[BEGIN] != 0:
        raise FileFormatError("the counts of order 1 do not fit the words")
    if counts[END] != n_lines or counts.sum(dtype=np.float64) > 2.0**62:
        raise FileFormatError("the counts of order 1 do not fit the number of lines")
    return table


def _check(order: int, table: GramTable, below: GramTable, n_words: int, n_lines: int) -> None:
    from tacit.language.loops import ngrams as grams

    one, two = (tuple(getattr(one_table, name) for name in _KINDS) for one_table in (table, below))
    problem = grams.check_order(one, two, n_words, BEGIN, END, n_lines)
    reasons = {
        grams.BAD_STARTS: "n-grams do not fit their contexts",
        grams.BAD_WORD: "words are not in the vocabulary, or not sorted",
        grams.BAD_SUFFIX: "n-grams without their first word are not those of the order below",
        grams.BAD_COUNT: "counts do not add up to those of the order below",
    }
    if problem != grams.GOOD:
        raise FileFormatError(f"order {order}: {reasons[problem]}")


def _table(folder: Path, order: int, n_contexts: int) -> GramTable:
    parts = {name: _array(folder, f"{name}.{order}") for name in _KINDS}
    n = len(parts["words"])
    if any(parts[name].dtype != kind for name, kind in _KINDS.items()):
        raise FileFormatError(f"the counts of order {order} have wrong types")
    sizes = dict.fromkeys(_KINDS, n) | {"starts": n_contexts + 1}
    if any(len(parts[name]) != size for name, size in sizes.items()):
        raise FileFormatError(f"the counts of order {order} have different lengths")
    return GramTable(**parts)


def _array(folder: Path, name: str) -> NDArray[Any]:
    path = _file(folder, f"{name}.npy")
    try:
        # "c" (copy on write), since compiled loops take only writable arrays
        array = np.asarray(np.load(path, mmap_mode="c", allow_pickle=False))
    except ValueError:
        array = _empty_array(path)  # which cannot be mapped
    if array.ndim != 1 or not array.flags.c_contiguous:
        raise FileFormatError(f"the array {name!r} is not one-dimensional")
    return array


def _empty_array(path: Path) -> NDArray[Any]:
    with path.open("rb") as file:
        np.lib.format.read_magic(file)
        shape, _, kind = np.lib.format.read_array_header_1_0(file)
    if shape != (0,):
        raise FileFormatError(f"{path.name!r} is cut off, or not an array")
    return np.empty(0, dtype=kind)
