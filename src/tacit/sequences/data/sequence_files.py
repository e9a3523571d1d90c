"""Sequences in files.

* FASTA (``.fa``, ``.fasta``, ``.fna``, ``.ffn``, ``.faa``): a sequence of characters for each record, see
  `tacit.sequences.data.fasta`;
* PAutomaC (``.pautomac``, or ``.pautomac.train`` and the like): a line with the number of strings and of
  symbols, then a line for each string: its length and its symbols, integers from zero;
* CSV, TSV and Parquet: a row for each symbol, or (Parquet) a column of lists;
* anything else that is text (``.txt``, ``.seq``, ...): a line for each sequence, symbols with blanks between
  them. An empty line is an empty sequence.

Text may be compressed (``.gz``, ``.bz2``, ``.xz``).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np

from tacit.core.input.missing_files import is_file, missing_file
from tacit.core.input.table_files import read_csv
from tacit.core.limits import check_entries
from tacit.errors import FileFormatError
from tacit.sequences.data.sequences import Codes, Integers

if TYPE_CHECKING:
    import pyarrow as pa

COMPRESSED = (".gz", ".bz2", ".xz")
TABLE_SUFFIXES = (".csv", ".tsv", ".parquet")


def plain_suffix(path: Path) -> str:
    """The suffix that says the format of a file, without that of compression.

    Examples
    --------
    >>> plain_suffix(Path("genes.FA.gz"))
    '.fa'
    """
    name = path.name.lower()
    for ending in COMPRESSED:
        name = name.removesuffix(ending)
    return Path(name).suffix


@contextmanager
def opened_text(path: Path) -> Iterator[IO[str]]:
    """Opens a text file, compressed or not.

    Raises
    ------
    MissingDataError
        There is no such file.
    FileFormatError
        It is not text, or a damaged compressed file.
    """
    if not is_file(path):
        advice = "a text that is itself a sequence of characters is given as [list(text)]"
        raise missing_file(path, advice=advice)
    import lzma
    import zlib

    try:
        with _opened(path) as file:
            yield file
    except (UnicodeError, EOFError, OSError, zlib.error, lzma.LZMAError) as error:
        raise FileFormatError(f"{str(path)!r} cannot be read as text: {error}") from error


def _opened(path: Path) -> IO[str]:
    ending = path.suffix.lower()
    if ending == ".gz":
        import gzip

        return gzip.open(path, "rt", encoding="utf-8")
    if ending == ".bz2":
        import bz2

        return bz2.open(path, "rt", encoding="utf-8")
    if ending == ".xz":
        import lzma

        return lzma.open(path, "rt", encoding="utf-8")
    return path.open(encoding="utf-8")


def table_in(path: Path) -> pa.Table:
    """A CSV, TSV or Parquet file as an Arrow table.

    Raises
    ------
    MissingDataError, FileFormatError
        There is no such file, or it is damaged.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not is_file(path):
        raise missing_file(path)
    try:
        return pq.read_table(path) if plain_suffix(path) == ".parquet" else read_csv(path)
    except (pa.ArrowException, OSError, UnicodeError) as error:
        raise FileFormatError(f"{str(path)!r} cannot be read: {error}") from error


def text_lines(path: Path) -> Iterator[list[str]]:
    """A sequence for each line, split at blanks."""
    with opened_text(path) as file:
        for line in file:
            yield line.split()


def parsed_pautomac(text: str | bytes, name: str) -> tuple[Codes, Integers, int]:
    r"""The symbols of all strings in turn, the lengths of the strings, and the number of symbols.

    Parameters
    ----------
    text : str or bytes
        The contents of a file in the format of the PAutomaC competition.
    name : str
        Its name in error messages.

    Raises
    ------
    FileFormatError
        It is of another format.

    Examples
    --------
    >>> codes, lengths, n_symbols = parsed_pautomac("2 3\n2 0 2\n0\n", "small")
    >>> codes.tolist(), lengths.tolist(), n_symbols
    ([0, 2], [2, 0], 3)
    """
    try:
        numbers = np.array([int(token) for token in text.split()], dtype=np.int64)
    except (ValueError, OverflowError) as error:
        raise FileFormatError(f"{name}: not all are integers ({error}); {_FORM}") from error
    if len(numbers) < 2 or numbers.min() < 0:
        raise FileFormatError(f"{name}: no two counts in front, or one below zero; {_FORM}")
    n_strings, n_symbols = numbers[:2].tolist()
    check_entries(
        f"{name} announces too many symbols", n_symbols, len(text), "number symbols without gaps"
    )
    body, places, place = numbers[2:].tolist(), [], 0
    while place < len(body):
        places.append(place)
        place += body[place] + 1
    heads = np.array(places, dtype=np.int64)
    if len(heads) != n_strings or place != len(body):
        raise FileFormatError(
            f"{name}: {n_strings} strings are announced, {len(heads)} are there, or the last is cut off; "
            f"{_FORM}"
        )
    inside = np.ones(len(body), dtype=np.bool_)
    inside[heads] = False
    codes = numbers[2:][inside]
    if codes.max(initial=0) >= max(n_symbols, 1):
        raise FileFormatError(
            f"{name}: a symbol is {int(codes.max())}, but {n_symbols} are announced; {_FORM}"
        )
    return codes.astype(np.int32), numbers[2:][heads], n_symbols


_FORM = (
    "expected a line with the number of strings and of symbols, then for each string a line with its length "
    "and its symbols, integers from zero"
)
