"""Tables in files: CSV, TSV and Parquet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.core.input.missing_files import is_file, missing_file
from tacit.core.input.values import Distinct, Raw, raw_from_arrow
from tacit.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa

_TEXT_SUFFIXES = (".csv", ".csv.gz", ".tsv", ".tsv.gz")
SUFFIXES = (*_TEXT_SUFFIXES, ".parquet")

# What is missing in a CSV file: nothing at all, the usual words for "not available", and the question mark of
# the UCI repository. "None" is not among them: it often is an answer ("no garage").
MISSING_WORDS = (
    *("", "?", "NA", "N/A", "n/a", "#N/A", "<NA>"),
    *("NaN", "nan", "-NaN", "-nan", "NULL", "null", "NaT"),
)

_ROWS_PER_BYTE = (
    64  # of a Parquet file: beyond that the number of rows that it announces is not believed
)

PathColumns = tuple[list[str], int, Callable[[int, str], Raw]]


def path_columns(path: Path) -> PathColumns:
    """The names, the number of rows and a reader of the columns of a file.

    A CSV file has a header line. Its types are guessed: integers, floats, true/false, dates (kept as text),
    text; see `MISSING_WORDS` for what is missing. A Parquet file is read column by column.

    Raises
    ------
    MissingDataError
        Where there is no such file.
    DataError
        Where the file is of another kind, is empty, or cannot be read.
    """
    name = path.name.lower()
    if not name.endswith(SUFFIXES):
        raise DataError(
            f"{str(path)!r} is not a kind of file that is read here; "
            f"the kinds are {', '.join(SUFFIXES)}"
        )
    if not is_file(path):
        raise missing_file(path)
    import pyarrow as pa

    try:
        return _csv_columns(path) if name.endswith(_TEXT_SUFFIXES) else _parquet_columns(path)
    except (pa.ArrowException, OSError, UnicodeError) as error:
        raise DataError(f"{str(path)!r} cannot be read: {error}") from error


def _parquet_columns(path: Path) -> PathColumns:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        names, n_rows = list(file.schema_arrow.names), file.metadata.num_rows
        if names and not 0 <= n_rows <= _ROWS_PER_BYTE * path.stat().st_size + 2**20:
            n_rows = file.read(columns=names[:1]).num_rows  # far more than usual: see what is there

    def read(place: int, name: str) -> Raw:
        try:
            with pq.ParquetFile(path) as file:
                column = file.read(columns=[names[place]]).column(0)
        except (pa.ArrowException, OSError, UnicodeError) as error:
            raise DataError(f"{str(path)!r} cannot be read: {error}") from error
        if len(column) != n_rows:
            problem = f"column {name!r} has {len(column)} rows, and the file says {n_rows}"
            raise DataError(f"{str(path)!r} cannot be read: {problem}")
        try:
            return raw_from_arrow(column, name)
        except UnicodeError as error:
            raise DataError(f"{str(path)!r} cannot be read: {error}") from error

    return names, n_rows, read


def _csv_columns(path: Path) -> PathColumns:
    table = read_csv(path)

    def read(place: int, name: str) -> Raw:
        raw = raw_from_arrow(table.column(place), name)
        # Dictionaries are how text was read here: nobody said that these are categories.
        return replace(raw, declared=False) if isinstance(raw, Distinct) else raw

    return list(table.column_names), table.num_rows, read


def read_csv(path: Path) -> pa.Table:
    """The file as an Arrow table; columns of text with few values come as dictionaries."""
    from pyarrow import csv

    delimiter = "\t" if ".tsv" in path.name.lower() else ","
    return csv.read_csv(
        path,
        parse_options=csv.ParseOptions(delimiter=delimiter),
        convert_options=csv.ConvertOptions(
            null_values=list(MISSING_WORDS),
            strings_can_be_null=True,
            auto_dict_encode=True,
            auto_dict_max_cardinality=4096,
        ),
    )
