"""Decodes codes into values, in the caller's type of table."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.input.chunks import LIBRARIES, Block, as_source
from tacit.core.input.column_matching import matched_places
from tacit.core.input.encode import numbers_in
from tacit.core.input.frames import is_frame
from tacit.core.input.frames_out import Filled, frame_like, with_other_columns
from tacit.core.input.table import TEMPORAL, Codes, Column, Schema, Table
from tacit.core.input.values import Distinct
from tacit.errors import ArgumentError, ArgumentTypeError


def decode(coded: Table | Codes, schema: Schema | None = None, *, like: Any = "numpy") -> Any:
    """The values that codes stand for, in the caller's kind of table.

    A category comes back as it was; a bin comes back as the median of the training data in it; a missing
    cell as the kind of table marks it (None, NaN, null, -1 in an array of integers).

    Parameters
    ----------
    coded : Table, or (row, column) integers
        Codes, -1 where a cell is missing.
    schema : Schema, optional
        What the codes mean; not needed with a `Table`.
    like : table, or one of "numpy", "pandas", "polars", "pyarrow", "dict"
        What the result should be: a frame of the same library with the same types (and index, for pandas),
        an array of the same type, a list of rows, a list of dicts, a dict of lists. For a path or an
        iterable of chunks it is an Arrow table.

    Returns
    -------
    table
        The columns of the schema, in its order.

    Examples
    --------
    >>> from tacit.core.input.read_table import read_table
    >>> rows = [["a", 1], ["b", None]]
    >>> decode(read_table(rows), like=rows)
    [['a', 1], ['b', None]]
    """
    codes, schema = _codes_and_schema(coded, schema)
    columns = {
        label: _filled(schema.columns[place], codes[:, place])
        for place, label in enumerate(schema.labels)
    }
    return written(columns, like)


def _filled(column: Column, codes: NDArray[Any]) -> Filled:
    """The values of some codes; the centers of bins of dates are dates."""
    if column.edges is None or column.unit not in TEMPORAL:
        return Filled(column.values, codes)
    return Filled(column.values, codes, np.array([*column.values, np.nan])[codes], column.unit)


def complete(X: Any, coded: Table | Codes, schema: Schema | None = None) -> Any:
    """The table X with its holes filled from codes, in the caller's kind of table.

    Observed numbers of columns that were cut into bins stay as they are; only the missing ones become the
    median of a bin.

    Parameters
    ----------
    X : table
        What the user brought, with holes. Columns that it lacks are added; those of a frame that the model
        does not know stay as they are.
    coded : Table, or (row, column) integers
        The completed codes, a row for each row of X.
    schema : Schema, optional
        What the codes mean; not needed with a `Table`.
    """
    codes, schema = _codes_and_schema(coded, schema)
    numbers, dates = _observed_numbers(X, schema)
    columns = {}
    for place, column in enumerate(schema.columns):
        filled = Filled(column.values, codes[:, place])
        if place in numbers:
            imputed = np.array([*column.values, np.nan])[filled.codes]
            observed = numbers[place]
            known = np.where(np.isnan(observed), imputed, observed)
            temporal = column.unit if column.unit in TEMPORAL else None
            filled = Filled(column.values, filled.codes, known, dates.get(place, temporal))
        columns[schema.labels[place]] = filled
    decoded = written(columns, X)
    return with_other_columns(decoded, X) if is_frame(X) else decoded


def column_values(column: Column, codes: NDArray[np.integer[Any]]) -> NDArray[Any]:
    """What the codes of one column stand for; none of them is missing."""
    one_type = len({type(value) for value in column.values}) == 1
    values: NDArray[Any] = np.array(column.values, dtype=None if one_type else object)[codes]
    return values


def _observed_numbers(
    X: Any, schema: Schema
) -> tuple[dict[int, NDArray[np.float64]], dict[int, str]]:
    """The numbers of the columns that the schema cuts into bins, NaN where they are missing.

    And which of them are dates.
    """
    binned = [place for place, column in enumerate(schema.columns) if column.edges is not None]
    dates: dict[int, str] = {}
    if not binned:
        return {}, dates
    source = as_source(X)
    numbers_of: dict[int, list[NDArray[np.float64]]] = {place: [] for place in binned}
    for block in [source] if isinstance(source, Block) else source:
        sources = matched_places(block, schema, partial=True, extras="ignore")
        for place in binned:
            raw = block.read(sources[place]) if sources[place] >= 0 else None
            numbers = None if raw is None else numbers_in(raw, schema.columns[place])
            if isinstance(raw, Distinct) and raw.days is not None:
                dates[place] = raw.unit
            nothing = np.full(block.n_rows, np.nan)
            numbers_of[place].append(nothing if numbers is None else numbers.values)
    return {place: np.concatenate(parts) for place, parts in numbers_of.items()}, dates


def _codes_and_schema(coded: Table | Codes, schema: Schema | None) -> tuple[Codes, Schema]:
    if isinstance(coded, Table):
        return coded.codes, coded.schema
    if schema is None:
        raise ArgumentTypeError("codes mean nothing without a schema; pass the schema too")
    if coded.ndim != 2 or coded.shape[1] != len(schema):
        raise ArgumentError(
            f"codes of shape {coded.shape} do not fit a schema of {len(schema)} columns"
        )
    return coded, schema


def written(columns: Mapping[Hashable, Filled], like: Any) -> Any:
    """Columns in the kind of table that `like` is, or names; see `decode`."""
    if isinstance(like, np.ndarray):
        return _array(list(columns.values()), like.dtype)
    if isinstance(like, str) and like in LIBRARIES:
        if like == "numpy":
            return _array(list(columns.values()), _common_type(list(columns.values())))
        return _lists(columns) if like == "dict" else frame_like(columns, like)
    if isinstance(like, Mapping | Table):
        return _lists(columns)
    if isinstance(like, list | tuple) and len(like):
        if isinstance(like[0], Mapping) and not _is_chunk(like[0]):
            return _records(columns)
        if isinstance(like[0], list | tuple | np.ndarray) and not _is_chunk(like[0]):
            return [list(row) for row in zip(*_lists(columns).values(), strict=True)]
        return frame_like(columns, "pyarrow")
    if isinstance(like, str | Path):
        return frame_like(columns, "pyarrow")
    if is_frame(like):
        return frame_like(columns, like)
    if hasattr(like, "__array__"):
        return _array(list(columns.values()), np.asarray(like).dtype)
    return frame_like(columns, "pyarrow")


def _is_chunk(first: Any) -> bool:
    """Whether the first element of a list is a whole table rather than a row."""
    if isinstance(first, np.ndarray):
        return first.ndim > 1
    inside = next(iter(first.values()) if isinstance(first, Mapping) else iter(first), None)
    return isinstance(inside, list | tuple | Mapping | np.ndarray)


def _lists(columns: Mapping[Hashable, Filled]) -> dict[Hashable, list[Any]]:
    return {name: filled.objects().tolist() for name, filled in columns.items()}


def _records(columns: Mapping[Hashable, Filled]) -> list[dict[Hashable, Any]]:
    lists = _lists(columns)
    return [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)]


def _types(columns: Iterable[Filled]) -> set[type]:
    return {
        (object if filled.dates else float) if filled.numbers is not None else type(value)
        for filled in columns
        for value in filled.values
    }


def _common_type(columns: list[Filled]) -> np.dtype[Any]:
    """The type of array that holds all columns: integers, booleans, floats, or objects."""
    types = _types(columns)
    if types == {int}:
        return np.dtype(np.int64)
    if types == {bool}:
        return np.dtype(np.bool_)
    return np.dtype(np.float64) if types <= {int, float} else np.dtype(object)


def _fitting_type(columns: list[Filled], dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The requested type, or the nearest that can hold the values and the gaps."""
    types, gaps = _types(columns), any(filled.gaps for filled in columns)
    if dtype.kind in "iu":
        if not types <= {int, bool}:
            return np.dtype(np.float64) if types <= {int, bool, float} else np.dtype(object)
        if gaps and (dtype.kind == "u" or any(-1 in filled.values for filled in columns)):
            return np.dtype(np.float64)
    elif dtype.kind == "f" and str in types:
        return np.dtype(object)
    elif dtype.kind in "US" and not gaps:  # as long as the longest
        return np.result_type(*(np.array(filled.values, dtype=dtype.kind) for filled in columns))
    elif dtype.kind in "bUS" and gaps:
        return np.dtype(object)
    return dtype


_GAPS: dict[str, Any] = {"i": -1, "f": np.nan, "M": "NaT", "m": "NaT", "O": None}


def _array(columns: list[Filled], dtype: np.dtype[Any]) -> NDArray[Any]:
    dtype = _fitting_type(columns, dtype)
    out = np.empty((len(columns[0].codes), len(columns)), dtype=dtype)
    for place, filled in enumerate(columns):
        if filled.numbers is not None:
            is_date = filled.dates is not None and dtype.kind in "OMm"
            out[:, place] = filled.objects() if is_date else filled.numbers
            continue
        table = np.empty(len(filled.values) + 1, dtype=dtype)
        table[:-1] = filled.values
        if dtype.kind in _GAPS:
            table[-1] = _GAPS[dtype.kind]
        out[:, place] = table[filled.codes]
    return out
