"""Reads data frames: pandas, polars, pyarrow and all others that narwhals supports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from tacit.core.input.values import (
    Raw,
    distinct_levels,
    raw_from_arrow,
    raw_from_numpy,
    raw_from_objects,
)
from tacit.errors import DataError

# A frame of integers with at most this many cells is read as one matrix; column by column, a small frame
# would cost more in calls than in work, and a large one must not stand in memory twice.
_MATRIX_CELLS = 2**21

FrameColumns = tuple[list[Any], int, Callable[[int, str], Raw], NDArray[Any] | None]


def is_series(X: Any) -> bool:
    """Whether this is one column of some frame."""
    if _is_arrow_table(X):
        return False
    return _is_arrow_array(X) or isinstance(_narwhal(X), nw.Series)


def is_frame(X: Any) -> bool:
    """Whether this is a frame of some library; a lazy one is not run for the answer."""
    return _is_arrow_table(X) or isinstance(_narwhal(X), nw.DataFrame | nw.LazyFrame)


def _is_arrow_table(X: Any) -> bool:
    """The error that narwhals would raise, only later."""
    return type(X).__module__ == "pyarrow.lib" and type(X).__name__ == "Table"


def _is_arrow_array(X: Any) -> bool:
    return type(X).__module__.split(".")[0] == "pyarrow" and hasattr(X, "null_count")


def _narwhal(X: Any) -> Any:
    """A frame or series as narwhals sees it; anything else as it is."""
    if type(X).__module__.split(".")[0] == "pyarrow" and type(X).__name__ == "RecordBatch":
        import pyarrow as pa

        X = pa.Table.from_batches([X])
    try:
        return nw.from_native(X, pass_through=True, allow_series=True)
    except nw.exceptions.DuplicateError as error:
        raise DataError(f"column names must differ. {error}") from error


def as_frame(X: Any) -> nw.DataFrame[Any] | None:
    """A frame as narwhals sees it, a lazy one collected; None where X is no frame."""
    frame = _narwhal(X)
    if isinstance(frame, nw.LazyFrame):
        return frame.collect()
    return frame if isinstance(frame, nw.DataFrame) else None


def frame_columns(X: Any) -> FrameColumns | None:
    """The names, the number of rows, a reader of the columns, and the cells as one matrix of integers.

    None where X is no frame; no matrix where the columns are not all integers without gaps, or are many.
    """
    if _is_arrow_table(X) and not _is_integral_arrow(X):
        # Through narwhals, a column takes longer than reading it where rows are few.
        return X.column_names, X.num_rows, _arrow_reader(X), None
    frame = as_frame(X)
    if frame is None:
        return None
    names, read = list(frame.columns), _reader(frame)
    matrix = None
    if names and len(frame) * len(names) <= _MATRIX_CELLS and _is_integral(frame):
        matrix = frame.to_numpy()
    return names, len(frame), read, matrix if matrix is None or matrix.dtype.kind in "iu" else None


def _arrow_reader(arrow: Any) -> Callable[[int, str], Raw]:
    def read(place: int, name: str) -> Raw:
        return raw_from_arrow(arrow.column(place), name)

    return read


def _reader(frame: nw.DataFrame[Any]) -> Callable[[int, str], Raw]:
    def read(place: int, name: str) -> Raw:
        return _raw_column(frame[:, place], name)

    return _arrow_reader(frame.to_native()) if frame.implementation.is_pyarrow() else read


def _is_integral_arrow(table: Any) -> bool:
    import pyarrow as pa

    return all(map(pa.types.is_integer, table.schema.types))


def _is_integral(frame: nw.DataFrame[Any]) -> bool:
    if frame.implementation.is_pandas_like():
        # numpy's own integers have no gaps; asking for them would take longer than reading
        return all(isinstance(t, np.dtype) and t.kind in "iu" for t in frame.to_native().dtypes)
    if frame.implementation.is_pyarrow():
        if not _is_integral_arrow(frame.to_native()):
            return False
    elif not all(dtype.is_integer() for dtype in frame.schema.dtypes()):
        return False
    return not any(frame.select(nw.all().null_count()).row(0))


def raw_from_series(series: Any, name: str) -> Raw:
    """The column that a series of any frame library holds."""
    if _is_arrow_array(series):
        return raw_from_arrow(series, name)
    return _raw_column(nw.from_native(series, series_only=True), name)


def arrow_lists(series: Any) -> Any:
    """A column of lists as an Arrow array of lists; None where the column is no such one."""
    import pyarrow as pa

    column = series
    if not _is_arrow_array(series):
        wrapped = nw.from_native(series, series_only=True)
        if not isinstance(wrapped.dtype, nw.List | nw.Array):
            return None
        column = wrapped.to_arrow()
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    types = pa.types
    kinds = (types.is_list, types.is_large_list, types.is_fixed_size_list)
    return column if any(is_kind(column.type) for is_kind in kinds) else None


def is_text_or_objects(series: Any) -> bool:
    """Whether a column holds text, or Python objects of any kind."""
    if _is_arrow_array(series):
        return str(series.type) in {"string", "large_string", "string_view"}
    dtype = nw.from_native(series, series_only=True).dtype
    return isinstance(dtype, nw.String | nw.Object | nw.Unknown)


def cells(X: Any) -> NDArray[Any]:
    """(row, column) all cells of a frame."""
    frame = as_frame(X)
    assert frame is not None
    if frame.implementation.is_pyarrow():
        frame = as_frame(_undictionaried(frame.to_native()))
        assert frame is not None
    return np.asarray(frame.to_numpy())


def _undictionaried(table: Any) -> Any:
    """An Arrow table without dictionaries, whose missing entries would come as the first value."""
    import pyarrow as pa

    for place, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            plain = table.column(place).cast(field.type.value_type)
            table = table.set_column(place, field.name, plain)
    return table


def only_column(X: Any) -> tuple[str, Any] | None:
    """The name and the column of a frame that has one column; None where it has another number of them."""
    frame = as_frame(X)
    if frame is None or len(frame.columns) != 1:
        return None
    return str(frame.columns[0]), frame[:, 0].to_native()


def _raw_column(series: nw.Series[Any], name: str) -> Raw:
    dtype = series.dtype
    if series.implementation.is_pandas_like():
        if isinstance(dtype, nw.Enum | nw.Categorical):
            # Through Arrow, levels that are intervals or periods would lose their text.
            native = series.to_native().array
            levels = list(native.categories)
            raw = distinct_levels(levels, native.codes, name, ordered=native.ordered)
            return replace(raw, declared=True)
        if isinstance(dtype, nw.Object | nw.Unknown):
            return raw_from_objects(np.asarray(series.to_native(), dtype=object), name)
        if isinstance(series.to_native().dtype, np.dtype) and dtype.is_numeric():
            return raw_from_numpy(series.to_numpy(), name)
    return raw_from_arrow(series.to_arrow(), name)
