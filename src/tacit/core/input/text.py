"""Text as blocks of bytes: files, lines, lists of words, Arrow columns.

Whatever is given becomes UTF-8 with a newline at the end of each line. Words are what stands between blanks.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any

from tacit.core.input.missing_files import is_there, near_name
from tacit.core.threads import ahead
from tacit.errors import ArgumentTypeError, DataError, FileFormatError, MissingDataError

BLOCK = 1 << 22  # bytes that are read at once
_LINES = 4096  # lines of an iterable that are joined at once


@dataclass(frozen=True)
class TextSource:
    """A text, in blocks of bytes that may end anywhere."""

    name: str  # what errors call it
    blocks: Iterator[bytes]
    fraction_read: Callable[[], float] = (
        float  # of all texts that were given: how much was read, 0 if unknown
    )
    is_file: bool = True


def text_sources(X: Any) -> Iterator[TextSource]:
    """The texts that are given: one, or one for each path of a list.

    Parameters
    ----------
    X : path, list of paths, iterable of lines, iterable of lists of words, or Arrow column
        A path names a file of UTF-8 text, packed where it ends in ``.gz``, ``.bz2``, ``.xz`` or ``.zst``. A
        string is a path; lines of text go into a list. An Arrow column holds strings or lists of strings.

    Raises
    ------
    MissingDataError, FileFormatError, DataError, ArgumentTypeError
    """
    if isinstance(X, str | os.PathLike):
        yield from _files([Path(X)])
    elif hasattr(X, "__arrow_c_array__") or hasattr(X, "__arrow_c_stream__"):
        yield TextSource("the column", _joined(_column_lines(X)), is_file=False)
    elif isinstance(X, bytes):
        raise ArgumentTypeError("bytes are no text here; give a path, or decoded lines in a list")
    elif isinstance(X, Iterable):
        if isinstance(X, list | tuple) and X and all(isinstance(one, os.PathLike) for one in X):
            yield from _files([Path(one) for one in X])
            return
        total, n_read = len(X) if isinstance(X, Sized) else 0, [0]
        lines = _joined(_lines(X, n_read))
        yield TextSource("the lines given", lines, lambda: n_read[0] / max(total, 1), is_file=False)
    else:
        raise ArgumentTypeError(
            f"text is a path, an iterable of lines or of lists of words, or an Arrow column, not {type(X)}"
        )


# -- files ------------------------------------------------------------------------------------------


def _files(paths: Sequence[Path]) -> Iterator[TextSource]:
    sizes = [_size(path) for path in paths]  # all are there before the first is read
    total, done = max(sum(sizes), 1), 0
    for path, size in zip(paths, sizes, strict=True):
        read = [0]
        fraction = partial(_fraction, read, done, total)
        yield TextSource(repr(str(path)), ahead(_read(path, read)), fraction)
        done += size


def _fraction(read: list[int], done: int, total: int) -> float:
    return min((done + read[0]) / total, 1.0)


def _size(path: Path) -> int:
    if is_there(path) and not path.is_dir():  # a file, or a pipe
        return path.stat().st_size
    near = near_name(path)
    if near:
        raise MissingDataError(f"{str(path)!r} is no file, but there is {near!r}")
    kind = "a folder" if is_there(path) else "no file"
    raise MissingDataError(
        f"{str(path)!r} is {kind}; give a file of text, or lines of text in a list: [line, ...]"
    )


def _read(path: Path, read: list[int]) -> Iterator[bytes]:
    """The blocks of a file; how many of its bytes were read is written to a list."""
    import lzma
    import zlib

    import pyarrow as pa

    damage = (OSError, EOFError, zlib.error, lzma.LZMAError, pa.ArrowException)
    try:
        with path.open("rb") as raw, _opened(path, raw) as file:
            while block := file.read(BLOCK):
                read[0] = raw.tell() if raw.seekable() else 0
                yield block
    except damage as error:
        raise FileFormatError(f"{str(path)!r} cannot be read: {error}") from error


def _opened(path: Path, raw: IO[bytes]) -> IO[bytes] | Any:
    """A file, unpacked by its ending."""
    ending = path.suffix.lower()
    if ending == ".gz":
        import gzip

        return gzip.open(raw)
    if ending == ".bz2":
        import bz2

        return bz2.open(raw)
    if ending == ".xz":
        import lzma

        return lzma.open(raw)
    if ending == ".zst":
        import pyarrow as pa

        return pa.input_stream(raw, compression="zstd")
    return raw


# -- lines ------------------------------------------------------------------------------------------


def _joined(lines: Iterable[bytes]) -> Iterator[bytes]:
    held: list[bytes] = []
    for line in lines:
        held.append(line)
        if len(held) == _LINES:
            yield b"\n".join([*held, b""])
            held = []
    if held:
        yield b"\n".join([*held, b""])


def _lines(X: Iterable[Any], n_read: list[int]) -> Iterator[bytes]:
    for number, line in enumerate(X, 1):
        n_read[0] = number
        if isinstance(line, str):
            text = line.rstrip("\r\n")
            coded = text.encode(errors="surrogatepass")
            yield coded.replace(b"\n", b" ") if "\n" in text else coded
        else:
            yield _joined_words(line, number)


def _joined_words(words: Any, number: int) -> bytes:
    try:
        listed = list(words)
        coded = " ".join(listed).encode(errors="surrogatepass")
    except TypeError as error:
        raise ArgumentTypeError(
            f"line {number} is neither a string nor a list of strings: {error}"
        ) from error
    if len(coded.split()) != len(listed):
        wrong = next(word for word in listed if len(word.encode().split()) != 1)
        raise DataError(f"line {number}: {wrong!r} is no word: it is empty or has blanks in it")
    return coded


def _column_lines(X: Any) -> Iterator[bytes]:
    """The lines of an Arrow column, of strings or of lists of strings."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column = X if isinstance(X, pa.ChunkedArray | pa.Array) else pa.chunked_array(X)
    number = 0
    for chunk in column.chunks if isinstance(column, pa.ChunkedArray) else [column]:
        lines = chunk.dictionary_decode() if pa.types.is_dictionary(chunk.type) else chunk
        if lines.null_count:
            raise DataError("the column has missing lines; leave them out, or fill in ''")
        if pa.types.is_list(lines.type) or pa.types.is_large_list(lines.type):
            words = lines.flatten()
            blank = pc.match_substring_regex(words, r"[ \t\n\v\f\r]|^$")
            if pc.any(blank).as_py():
                raise DataError("a word of the column is empty or has blanks in it")
            lines = pc.binary_join(lines, pa.scalar(" ", type=words.type))
        for low in range(0, len(lines), _LINES):
            for line in lines.slice(low, _LINES).to_pylist():
                number += 1
                if not isinstance(line, str):
                    raise ArgumentTypeError(
                        f"line {number} of the column is neither a string nor a list of strings"
                    )
                yield line.rstrip("\r\n").encode().replace(b"\n", b" ")
