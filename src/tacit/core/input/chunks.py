"""The input data as one block of rows, or several.

A block gives its columns one at a time, so that a wide table never stands in memory twice.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.input.columns import positional_names
from tacit.core.input.table import Schema, Table, check_names
from tacit.core.input.values import Raw, raw_from_numpy, raw_from_objects
from tacit.errors import ArgumentTypeError, DataError

# Kinds of tables that are given back.
LIBRARIES = ("numpy", "pandas", "polars", "pyarrow", "dict")


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Rows that came together.

    Parameters
    ----------
    names : tuple of str
        The columns, in the order they came.
    n_rows : int
        How many rows there are.
    read : callable
        Gives the column at a place.
    named : bool
        Whether the names are the user's own; otherwise columns are matched by place.
    matrix : (row, column) integers or booleans, optional
        All cells at once, where they are of one integer type.
    minus_one : bool
        Whether -1 in this block may stand for a missing value.
    labels : tuple of hashables
        What the user calls the columns, where one of them is not text; else nothing.
    ignored : tuple of str
        Columns that the caller told to leave out.
    kinds : mapping of str to str
        The kinds that the caller declared; see `tacit.core.input.column_kinds`.
    """

    names: tuple[str, ...]
    n_rows: int
    read: Callable[[int], Raw]
    named: bool = True
    matrix: NDArray[Any] | None = None
    minus_one: bool = False
    labels: tuple[Hashable, ...] = ()
    ignored: tuple[str, ...] = ()
    kinds: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Chunks:
    """Blocks that come one after the other, as often as they are read."""

    source: Iterable[Any]

    def __iter__(self) -> Iterator[Block]:
        for chunk in self.source:
            block = as_source(chunk)
            if isinstance(block, Chunks):
                raise DataError("a chunk must be a table itself, not an iterable of chunks")
            if block.n_rows:
                yield block


def as_source(X: Any) -> Block | Chunks:
    """One block or several, from any kind of data.

    Raises
    ------
    DataError, ArgumentTypeError
        Where X is not a table in any of the forms that are understood.
    """
    if isinstance(X, np.ndarray):
        return _array_block(X)
    if isinstance(X, Table):
        return _table_block(X)
    if isinstance(X, str | Path):
        from tacit.core.input.table_files import path_columns

        return _column_block(*path_columns(Path(X)))
    if hasattr(X, "tocsr") and hasattr(X, "nnz"):  # before mappings: one kind is a dict as well
        raise ArgumentTypeError(
            "Sparse data is not supported, because every cell is a category; "
            "pass X.toarray() where it fits into memory"
        )
    if isinstance(X, Mapping):
        return _mapping_block(X)
    if isinstance(X, list | tuple):
        return _sequence_source(X)
    from tacit.core.input.frames import frame_columns, is_series

    if is_series(X):
        raise DataError(_one_dimensional_text("a series", "pass series.to_frame()"))
    frame = frame_columns(X)
    if frame is not None:
        return _column_block(*frame)
    if hasattr(X, "__array__"):
        return _array_block(np.asarray(X))
    if isinstance(X, Iterable):
        return _chunks(X)
    raise ArgumentTypeError(
        f"a table was expected, not {type(X).__name__!r}; pass a pandas, polars or pyarrow table, a 2-D "
        f"array, a list of rows, a dict of columns, a path to a CSV or Parquet file, or an iterable of those"
    )


def kind_of_table(X: Any) -> str:
    """The name by which `decode` makes a table of the same kind as X."""
    from tacit.core.input.frames import is_frame

    if isinstance(X, np.ndarray):
        return "numpy"
    if isinstance(X, Mapping | list | tuple | Table):
        return "dict"
    if isinstance(X, str | Path) or not is_frame(X):
        return "numpy" if hasattr(X, "__array__") else "pyarrow"
    module = type(X).__module__.partition(".")[0]
    return module if module in LIBRARIES else "pyarrow"


def has_names(X: Any, kind: str, schema: Schema) -> bool:
    """Whether the columns have names, all of them text; arrays and lists of rows have none."""
    names = schema.names
    if schema.labels != names:
        return False
    if isinstance(X, list | tuple):
        return names != positional_names(len(names))
    return kind != "numpy"


def _array_block(X: NDArray[Any]) -> Block:
    if isinstance(X, np.ma.MaskedArray):
        mask, X = np.ma.getmaskarray(X), np.ma.getdata(X).astype(object)
        X[mask] = None
    if X.ndim != 2:
        shape = "a scalar" if X.ndim == 0 else f"{X.ndim}D array of shape {X.shape}"
        if X.ndim < 2:
            raise DataError(
                _one_dimensional_text(
                    shape,
                    "Reshape your data: X.reshape(-1, 1) if it is one column, "
                    "X.reshape(1, -1) if it is one row",
                )
            )
        raise DataError(f"a table has two dimensions, but this is a {shape}")
    if X.dtype.kind == "c":
        raise DataError("Complex data not supported; pass real and imaginary parts as columns")
    names = positional_names(X.shape[1])
    integral = X.dtype.kind in "iub"

    def read(place: int) -> Raw:
        return raw_from_numpy(X[:, place], names[place])

    return Block(
        names,
        len(X),
        read,
        named=False,
        matrix=X if integral else None,
        minus_one=X.dtype.kind == "i",
    )


def _column_block(
    names: Sequence[Any],
    n_rows: int,
    read: Callable[[int, str], Raw],
    matrix: NDArray[Any] | None = None,
) -> Block:
    texts = tuple(str(name) for name in names)
    check_names(texts)
    labels = () if all(isinstance(name, str) for name in names) else tuple(names)
    return Block(
        texts, n_rows, lambda place: read(place, texts[place]), matrix=matrix, labels=labels
    )


def _table_block(X: Table) -> Block:
    """What the codes of a table stand for."""

    def read(place: int, name: str) -> Raw:
        values = np.array([*X.schema.columns[place].values, None], dtype=object)
        return raw_from_objects(values[X.codes[:, place]], name)

    return _column_block(X.schema.labels, X.n_rows, read)


def _mapping_block(X: Mapping[Any, Any]) -> Block:
    """A dict of columns, or of single values: one row."""
    columns = [[value] if _is_scalar(value) else value for value in X.values()]
    lengths = {str(name): len(column) for name, column in zip(X, columns, strict=True)}
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{name!r}: {length}" for name, length in list(lengths.items())[:8])
        raise DataError(f"the columns must be equally long, but their lengths are {shown}")

    def read(place: int, name: str) -> Raw:
        return _raw_sequence(columns[place], name)

    return _column_block(list(X), next(iter(lengths.values()), 0), read)


def _raw_sequence(values: Any, name: str) -> Raw:
    if isinstance(values, list | tuple):
        return raw_from_objects(values, name)
    from tacit.core.input.frames import is_series, raw_from_series

    if is_series(values):
        return raw_from_series(values, name)
    array = np.asarray(values)
    if array.ndim != 1:
        raise DataError(f"column {name!r} must have one dimension, not {array.ndim}")
    return raw_from_numpy(array, name)


def _sequence_source(X: Sequence[Any]) -> Block | Chunks:
    """A list of rows, of records, or of chunks."""
    if not X:
        raise DataError(empty_rows_text(0, 0))
    first = X[0]
    if isinstance(first, Mapping):
        if all(_is_scalar(value) for value in first.values()):
            return _record_block(X)
        return Chunks(X)
    if isinstance(first, list | tuple) or (isinstance(first, np.ndarray) and first.ndim == 1):
        inside = first[0] if len(first) else None
        return Chunks(X) if isinstance(inside, list | tuple | Mapping) else _row_block(X)
    if _is_scalar(first):
        from tacit.core.input.table_files import SUFFIXES

        if isinstance(first, Path) or (isinstance(first, str) and first.endswith(SUFFIXES)):
            return Chunks(X)
        raise DataError(
            _one_dimensional_text(
                "a 1-D sequence",
                "Reshape your data: pass [[value] for value in X] if it is one column, "
                "[X] if it is one row",
            )
        )
    return Chunks(X)


def _row_block(X: Sequence[Any]) -> Block:
    width = len(X[0])
    for place, row in enumerate(X):
        if not isinstance(row, list | tuple | np.ndarray) or len(row) != width:
            size = len(row) if hasattr(row, "__len__") else "no"
            raise DataError(
                f"every row must have {width} values like the first, but row {place} has {size}"
            )
    names = positional_names(width)
    columns = list(zip(*X, strict=True))
    return Block(
        names, len(X), lambda place: raw_from_objects(columns[place], names[place]), named=False
    )


def _record_block(X: Sequence[Mapping[Any, Any]]) -> Block:
    for place, record in enumerate(X):
        if not isinstance(record, Mapping):
            raise DataError(f"the first row is a dict, so all must be, but row {place} is not")
    keys = list(dict.fromkeys(key for record in X for key in record))

    def read(place: int, name: str) -> Raw:
        return raw_from_objects([record.get(keys[place]) for record in X], name)

    return _column_block(keys, len(X), read)


def _chunks(X: Iterable[Any]) -> Chunks:
    if isinstance(X, Iterator):
        raise DataError(
            f"{type(X).__name__!r} can be run through only once, but the data is read twice: once to learn "
            f"the categories, once to code them. Pass something that can be iterated again, such as a "
            f"list of chunks or an object with __iter__"
        )
    return Chunks(X)


def _is_scalar(value: Any) -> bool:
    """Whether a value is one cell rather than a column of them."""
    return isinstance(value, str | bytes) or not hasattr(value, "__len__")


def _one_dimensional_text(kind: str, remedy: str) -> str:
    return f"Expected 2D array (rows and columns), got {kind} instead. {remedy}"


def empty_rows_text(n_rows: int, n_columns: int) -> str:
    """The words for a table without rows, as scikit-learn says it."""
    return (
        f"Found array with {n_rows} sample(s) (shape=({n_rows}, {n_columns})) "
        f"while a minimum of 1 is required."
    )


def check_size(n_rows: int, n_columns: int) -> None:
    """Raise a `DataError` for a table without columns or without rows."""
    if n_columns == 0:
        raise DataError(
            f"Found array with 0 feature(s) (shape=({n_rows}, 0)) while a minimum of 1 is required."
        )
    if n_rows == 0:
        raise DataError(empty_rows_text(n_rows, n_columns))
