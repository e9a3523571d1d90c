"""The table of all runs, a CSV file to which every run adds a line."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from tacit.core.files.atomic import write_text
from tacit.errors import FileFormatError, FileWriteError
from tacit.reproduce.runner.trials import Results, Settings


def read_results(path: Path, settings: Settings) -> dict[tuple[str, ...], Results]:
    """The results in a file, by the key of their trial; nothing if there is no file.

    A last line without its end was being written when the program was stopped and is left out.

    Raises
    ------
    FileFormatError
        The file is something else.
    """
    if not path.exists():
        return {}
    study, columns = settings.study, settings.columns
    n_keys = len(columns) - len(study.results)
    results: dict[tuple[str, ...], Results] = {}
    text = io.StringIO(_whole_lines(path), newline="")
    for number, cells in enumerate(csv.reader(text), start=1):
        if number == 1:
            if tuple(cells) != columns:
                raise _not_a_table(path, number, f"the columns are not {', '.join(columns)}")
            continue
        try:
            results[tuple(cells[:n_keys])] = study.parse(cells[n_keys:])
        except ValueError as error:
            raise _not_a_table(path, number, str(error)) from error
    return results


def open_record(path: Path, columns: Sequence[str]) -> None:
    """Prepare a file for more lines: with a header, and ending where a line ends."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileWriteError(f"{str(path.parent)!r} cannot be made: {error.strerror}") from error
    lines = _whole_lines(path) if path.exists() else ""
    if not lines:
        write_text(path, _line(columns))
    elif len(lines.encode()) != path.stat().st_size:
        write_text(path, lines)


def append_line(path: Path, cells: Sequence[str]) -> None:
    """Add a line in one piece."""
    try:
        with path.open("ab") as file:
            file.write(_line(cells).encode())
    except OSError as error:
        raise FileWriteError(f"{str(path)!r} cannot be written: {error.strerror}") from error


def _whole_lines(path: Path) -> str:
    try:
        text = path.read_bytes().decode()
    except OSError as error:
        raise _not_a_table(path, 1, str(error.strerror)) from error
    except UnicodeDecodeError as error:
        raise _not_a_table(path, 1, "it is not text") from error
    return text[: text.rfind("\n") + 1]


def _line(cells: Sequence[str]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue()


def _not_a_table(path: Path, number: int, reason: str) -> FileFormatError:
    return FileFormatError(
        f"{str(path)!r} is no table of runs, see line {number}: {reason}; "
        "remove it or choose another folder"
    )
