"""Printing and writing the results of commands."""

from __future__ import annotations

import csv
import io
import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from tacit.errors import ArgumentError

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.console import Console

_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_SUFFIXES = (*_DELIMITERS, ".parquet")


def console() -> Console:
    """The console for text: with colours on a terminal unless NO_COLOR is set, plain in a pipe."""
    from rich.console import Console

    class Text(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # which the program knows; rich would end it with exit code 1

    # A pipe has no width; rich would wrap at 80.
    width = None if sys.stdout.isatty() else 160
    return Text(file=sys.stdout, width=width, highlight=False, soft_wrap=True)


def print_json(value: Any) -> None:
    """Print a value as strict JSON, one object on one or more lines; NaN and infinities become null."""
    typer.echo(json.dumps(_strict(value), ensure_ascii=False, indent=2))


def _strict(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {str(key): _strict(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_strict(item) for item in value]
    return value.tolist() if hasattr(value, "tolist") else value


def check_table_path(path: Path | None) -> None:
    """Raise an `ArgumentError` if the path is not that of a table."""
    if path is not None and path.suffix.lower() not in _SUFFIXES:
        raise ArgumentError(
            f"tables are written as {', '.join(_SUFFIXES)}, but {str(path)!r} is none of these"
        )


def put_table(table: pa.Table, path: Path | None) -> None:
    """Write an Arrow table to a file atomically; without a path, print it as CSV."""
    if path is None:
        typer.echo(_delimited(table, ",").decode(), nl=False)
        return
    from tacit.core.files.atomic import atomic_path, write_bytes

    check_table_path(path)
    suffix = path.suffix.lower()
    if suffix in _DELIMITERS:
        write_bytes(path, _delimited(table, _DELIMITERS[suffix]))
        return
    import pyarrow.parquet as pq

    with atomic_path(path) as temporary:
        pq.write_table(table, temporary)


@contextmanager
def lines_to(path: Path | None) -> Iterator[Callable[[str], Any]]:
    """Within the block, a function that writes a line to a file (atomically), or prints it."""
    if path is None:
        yield typer.echo
        return
    from tacit.core.files.atomic import atomic_path

    with atomic_path(path) as temporary, temporary.open("w", encoding="utf-8") as file:
        yield lambda line: file.write(f"{line}\n")


def give_table(table: pa.Table, path: Path | None, *, json: bool) -> None:
    """Write a table to a file and report it, or print it as CSV or JSON."""
    if json and path is None:
        print_rows(table)
        return
    put_table(table, path)
    if json:
        print_json({"n_rows": table.num_rows, "output": str(path)})
    elif path is not None:
        console().print(f"{table.num_rows} rows written to {path}", markup=False)


def print_rows(table: pa.Table) -> None:
    """Print a table as a JSON list with one object per row."""
    print_json(table.to_pylist())


def _delimited(table: pa.Table, delimiter: str) -> bytes:
    """CSV; quotes only where some value needs them."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    # Arrow quotes either every text or none, and always the header, which is therefore written here.
    head = io.StringIO()
    csv.writer(head, delimiter=delimiter, lineterminator="\n").writerow(table.column_names)
    for style in ("none", "needed"):
        sink = io.BytesIO(head.getvalue().encode())
        sink.seek(0, io.SEEK_END)
        options = arrow_csv.WriteOptions(
            include_header=False, delimiter=delimiter, quoting_style=style
        )
        try:
            arrow_csv.write_csv(table, sink, options)
        except pa.ArrowInvalid:  # a value with a comma, a quote or a new line
            continue
        break
    return sink.getvalue()
