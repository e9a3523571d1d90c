"""FASTA files: a line with ``>`` and a name, then lines of letters."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tacit.errors import FileFormatError
from tacit.sequences.data.sequence_files import opened_text

SUFFIXES = (".fa", ".fasta", ".fna", ".ffn", ".faa")


def read_fasta(path: str | Path, *, upper: bool = True) -> Iterator[tuple[str, str]]:
    """The records of a file, one at a time: the text after ``>``, and the letters.

    Only one record is in memory at a time. Blanks within lines, empty lines and old comments (``;``) are
    skipped. N, X, - and * are letters like any other.

    Parameters
    ----------
    path : str or Path
        The file, which may be compressed (``.gz``, ``.bz2``, ``.xz``).
    upper : bool
        Whether letters are converted to upper case; lower case often marks repeats.

    Raises
    ------
    MissingDataError
        There is no such file.
    FileFormatError
        It is no FASTA file, or damaged.
    """
    name: str | None = None
    parts: list[str] = []
    with opened_text(Path(path)) as file:
        for number, line in enumerate(file, start=1):
            text = line.strip()
            if not text or text.startswith(";"):
                continue
            if text.startswith(">"):
                if name is not None:
                    yield name, _joined(parts, upper=upper)
                name, parts = text[1:].strip(), []
            elif name is None:
                raise FileFormatError(
                    f"{str(path)!r}, line {number}: letters before the first name; "
                    f"a FASTA file begins with a line '>name'"
                )
            else:
                parts.append(text)
    if name is None:
        raise FileFormatError(f"{str(path)!r} holds no record; each begins with a line '>name'")
    yield name, _joined(parts, upper=upper)


def _joined(parts: list[str], *, upper: bool) -> str:
    letters = "".join("".join(parts).split())
    return letters.upper() if upper else letters
