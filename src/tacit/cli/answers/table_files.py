"""Tables that commands read as a whole, and columns that they write."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa


def arrow_table(path: Path) -> pa.Table:
    """All columns of a file; errors as the estimators raise them."""
    import pyarrow as pa

    from tacit.core.input.table_files import SUFFIXES, path_columns, read_csv
    from tacit.errors import DataError

    if not path.is_file() or not path.name.lower().endswith(SUFFIXES):
        path_columns(path)  # says what is wrong
    try:
        if path.suffix.lower() == ".parquet":
            import pyarrow.parquet as pq

            return pq.read_table(path)
        return read_csv(path)
    except (pa.ArrowException, OSError, UnicodeError) as error:
        raise DataError(f"{str(path)!r} cannot be read: {error}") from error


def as_column(values: list[Any], known: Iterable[Any]) -> list[Any]:
    """Values as a table can hold them: text, unless all that are known are of one simple type.

    Examples
    --------
    >>> (
    ...     as_column([1, 2], [1, 2, 3]),
    ...     as_column([1, 2], [1, 2, "a"]),
    ...     as_column([("c", 1)], [("c", 1)]),
    ... )
    ([1, 2], ['1', '2'], ["('c', 1)"])
    """
    types = {type(value) for value in known}
    if len(types) > 1 or types & {tuple, frozenset}:
        return [str(value) for value in values]
    return values


def without(path: Path, columns: list[str]) -> pa.Table:
    """The table of a file without some of its columns."""
    from tacit.core.input.table import unknown_column_text
    from tacit.errors import ColumnError

    table = arrow_table(path)
    for name in columns:
        if name not in table.column_names:
            raise ColumnError(unknown_column_text(name, table.column_names))
    return table.drop_columns(columns)
