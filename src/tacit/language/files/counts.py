"""Counted n-grams in a folder: an array for each file, and a JSON text with the rest.

The arrays are mapped into memory when they are asked for, so that counts may be larger than memory.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from tokenize import TokenError
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tacit.core.files.json_values import from_json, to_json
from tacit.core.input.missing_files import near_name
from tacit.errors import FileFormatError, FileWriteError, MissingDataError
from tacit.language.data.vocabulary import BEGIN, END, Vocabulary
from tacit.language.moments.ngram_counts import MOST_ORDER, GramCounts, GramTable

SUFFIX = ".counts"
_FORMAT = 1
_HEADER = "counts.json"
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
    """Write counted n-grams to a folder, whole or not at all.

    Parameters
    ----------
    path : str or path
        The folder; one that holds other counts is replaced.
    notes : mapping, optional
        Plain values to be kept with the counts.

    Raises
    ------
    FileWriteError
        The folder cannot be written there, or holds something else.
    """
    with CountsFolder(path) as folder:
        for order, table in enumerate(counts.tables, 1):
            for name in _KINDS:
                folder.put(f"{name}.{order}", getattr(table, name))
        folder.finish(counts, notes)


class CountsFolder:
    """A folder of counts that is being written: it takes its place when it is finished."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.target = Path(path)
        self.temporary = self.target.with_name(f".{self.target.name}.part")

    def __enter__(self) -> Self:
        try:
            if self.target.exists() and not (self.target / _HEADER).is_file():
                raise FileExistsError("something else is there")
            shutil.rmtree(self.temporary, ignore_errors=True)
            self.temporary.mkdir(parents=True)
        except OSError as error:
            raise self._failed(error) from error
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.temporary, ignore_errors=True)

    def put(self, name: str, array: NDArray[Any]) -> None:
        """Write an array."""
        try:
            np.save(self.temporary / f"{name}.npy", np.asarray(array))
        except OSError as error:
            raise self._failed(error) from error

    def allocate(self, name: str, size: int, kind: type) -> NDArray[Any]:
        """Room for an array on disk, to be written to; `finish` cuts off what was not used."""
        if size == 0:
            return np.empty(0, dtype=kind)
        try:
            place = self.temporary / f"{name}.room"
            room = np.lib.format.open_memmap(place, mode="w+", dtype=kind, shape=(size,))
            # A disk that is full is noticed here; later, it would be a crash without a word.
            if hasattr(os, "posix_fallocate"):
                with place.open("rb+") as file:
                    os.posix_fallocate(file.fileno(), 0, place.stat().st_size)
            return room
        except OSError as error:
            raise self._failed(error) from error

    def finish(self, counts: GramCounts, notes: Mapping[str, Any] | None = None) -> None:
        """Write what is not there yet, and put the folder in its place."""
        known = counts.vocabulary
        header = {
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
            (self.temporary / _HEADER).write_text(to_json(header), encoding="utf-8")
            self._take_place()
        except OSError as error:
            raise self._failed(error) from error

    def _take_place(self) -> None:
        """Put the folder in its place; what was there is removed last, and is never the only one gone."""
        before = self.target.with_name(f".{self.target.name}.before")
        shutil.rmtree(before, ignore_errors=True)
        replaced = self.target.exists()
        if replaced:
            self.target.rename(before)
        try:
            self.temporary.rename(self.target)
        except OSError:
            if replaced:
                before.rename(self.target)
            raise
        shutil.rmtree(before, ignore_errors=True)

    def _failed(self, error: OSError) -> FileWriteError:
        return FileWriteError(
            f"counts cannot be written to {str(self.target)!r}: {error.strerror or error}"
        )


def read_counts(path: str | os.PathLike[str]) -> tuple[GramCounts, dict[str, Any]]:
    """Counted n-grams of a folder, mapped into memory, and the notes that were kept with them.

    Raises
    ------
    MissingDataError, FileFormatError
        There is no such folder, or it does not hold counts that fit each other.
    """
    folder = Path(path)
    if not (folder / _HEADER).is_file():
        near = near_name(folder)
        guess = f"but there is {near!r}" if near else "write one with `tacit lm count`"
        raise MissingDataError(f"there is no folder of counts {str(path)!r}; {guess}")
    try:
        header = from_json((folder / _HEADER).read_text(encoding="utf-8"))
        return _checked(folder, header), dict(header["notes"])
    except _DAMAGE as error:
        raise FileFormatError(f"the counts in {str(path)!r} are damaged: {error}") from error


def _checked(folder: Path, header: Any) -> GramCounts:
    """The counts of a folder; whatever compiled loops rely on is checked, and that counts fit each other."""
    if header["format"] != _FORMAT:
        raise FileFormatError(f"format {header['format']}; this version reads {_FORMAT}")
    order, pads, n_lines = (header[name] for name in ("order", "pads", "n_lines"))
    if not all(type(each) is int for each in (order, pads, n_lines)):
        raise FileFormatError("order, pads and n_lines are no integers")
    if not 1 <= order <= MOST_ORDER or pads not in (1, max(order - 1, 1)) or n_lines < 0:
        raise FileFormatError(f"order {order} with {pads} <s> in front of {n_lines} lines")
    known = Vocabulary.of_arrays(
        _array(folder, "vocabulary.store"), _array(folder, "vocabulary.starts")
    )
    tables = [_unigrams(folder, len(known), n_lines)]
    for at in range(2, order + 1):
        tables.append(_table(folder, at, len(tables[-1])))
        _check(at, tables[-1], tables[-2], len(known), n_lines)
    if order > 1 and (BEGIN in tables[1].words) != (pads > 1 and n_lines > 0):
        raise FileFormatError(f"these are no n-grams with {pads} <s> in front of lines")
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

    one, two = (tuple(getattr(each, name) for name in _KINDS) for each in (table, below))
    found = grams.check_order(one, two, n_words, BEGIN, END, n_lines)
    what = {
        grams.BAD_STARTS: "n-grams do not fit their contexts",
        grams.BAD_WORD: "words are not in the vocabulary, or not in their order",
        grams.BAD_SUFFIX: "n-grams without their first word are not those of the order below",
        grams.BAD_COUNT: "counts do not add up to those of the order below",
    }
    if found != grams.GOOD:
        raise FileFormatError(f"order {order}: {what[found]}")


def _table(folder: Path, order: int, n_contexts: int) -> GramTable:
    parts = {name: _array(folder, f"{name}.{order}") for name in _KINDS}
    n = len(parts["words"])
    if any(parts[name].dtype != kind for name, kind in _KINDS.items()):
        raise FileFormatError(f"the counts of order {order} are of other types")
    sizes = dict.fromkeys(_KINDS, n) | {"starts": n_contexts + 1}
    if any(len(parts[name]) != size for name, size in sizes.items()):
        raise FileFormatError(f"the counts of order {order} have different lengths")
    return GramTable(**parts)


def _array(folder: Path, name: str) -> NDArray[Any]:
    path = folder / f"{name}.npy"
    try:
        # "c": what is written (nothing) would not go to disk; compiled loops take it for any other array
        found = np.asarray(np.load(path, mmap_mode="c", allow_pickle=False))
    except ValueError:
        found = _empty_array(path)  # which cannot be mapped
    if found.ndim != 1 or not found.flags.c_contiguous:
        raise FileFormatError(f"the array {name!r} is not one row of numbers")
    return found


def _empty_array(path: Path) -> NDArray[Any]:
    with path.open("rb") as file:
        np.lib.format.read_magic(file)
        shape, _, kind = np.lib.format.read_array_header_1_0(file)
    if shape != (0,):
        raise FileFormatError(f"{path.name!r} is cut off, or no array")
    return np.empty(0, dtype=kind)
