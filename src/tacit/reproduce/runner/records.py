"""The table of all runs, a CSV file to which every run adds a line."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from tacit.core.files.atomic import write_text
from tacit.errors import FileFormatError, FileWriteError
from tacit.reproduce.runner.outcomes import Outcome


def read_runs(path: Path, kind: type[Outcome]) -> dict[tuple[str, ...], Outcome]:
    """The runs of a kind that a file tells of, by key; nothing if there is no file.

    A last line without its end was being written when the program was stopped and is left out.

    Raises
    ------
    FileFormatError
        The file is something else.
    """
    if not path.exists():
        return {}
    runs: dict[tuple[str, ...], Outcome] = {}
    lines = _whole_lines(path)
    for number, cells in enumerate(csv.reader(io.StringIO(lines, newline="")), start=1):
        if number == 1:
            if tuple(cells) != kind.columns():
                raise _foreign(path, number, f"the columns are not {', '.join(kind.columns())}")
            continue
        try:
            run = kind.of_cells(cells)
        except ValueError as error:
            raise _foreign(path, number, str(error)) from error
        runs[run.key] = run
    return runs


def open_record(path: Path, kind: type[Outcome]) -> None:
    """Make a file ready for more lines: with a header, and ending where a line ends."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileWriteError(f"{str(path.parent)!r} cannot be made: {error.strerror}") from error
    lines = _whole_lines(path) if path.exists() else ""
    if not lines:
        write_text(path, _line(kind.columns()))
    elif len(lines.encode()) != path.stat().st_size:
        write_text(path, lines)


def append_run(path: Path, run: Outcome) -> None:
    """Add a line in one piece."""
    try:
        with path.open("ab") as file:
            file.write(_line(run.cells()).encode())
    except OSError as error:
        raise FileWriteError(f"{str(path)!r} cannot be written: {error.strerror}") from error


def _whole_lines(path: Path) -> str:
    try:
        text = path.read_bytes().decode()
    except OSError as error:
        raise _foreign(path, 1, str(error.strerror)) from error
    except UnicodeDecodeError as error:
        raise _foreign(path, 1, "it is not text") from error
    return text[: text.rfind("\n") + 1]


def _line(cells: Sequence[str]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue()


def _foreign(path: Path, number: int, reason: str) -> FileFormatError:
    return FileFormatError(
        f"{str(path)!r} is no table of runs, see line {number}: {reason}; "
        "remove it or choose another folder"
    )
