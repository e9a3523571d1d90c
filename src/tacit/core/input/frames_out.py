"""Returns columns in the same type of frame as the input, with the same column types."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from tacit.core.input.frames import as_frame
from tacit.core.input.values import dates_from, plain_value
from tacit.errors import DataError, DependencyError


@dataclass(frozen=True, slots=True, eq=False)
class Filled:
    """A column that is to be returned, and the values of its codes.

    Parameters
    ----------
    values : tuple
        What each code stands for.
    codes : (row,) integers
        -1 where the cell stays missing.
    numbers : (row,) float64, optional
        Numbers that stand in place of all that.
    dates : str, optional
        "date", "datetime", "time" or "duration" where the numbers are days (of dates: since 1970-01-01).
    """

    values: tuple[Any, ...]
    codes: NDArray[np.signedinteger[Any]]
    numbers: NDArray[np.float64] | None = None
    dates: str | None = None

    @property
    def gaps(self) -> bool:
        """Whether any cell stays missing."""
        return bool((self.codes < 0).any())

    def objects(self) -> NDArray[np.object_]:
        """A Python object per row, None where the cell stays missing."""
        if self.numbers is not None and self.dates is not None:
            return np.array([*self.arrow().to_pylist(), None], dtype=object)[:-1]
        if self.numbers is not None:
            numbers = self.numbers.astype(object)
            numbers[np.isnan(self.numbers)] = None
            return numbers
        table = np.empty(len(self.values) + 1, dtype=object)
        table[:-1] = self.values
        objects: NDArray[np.object_] = table[self.codes]
        return objects

    def arrow(self) -> Any:
        """The column as an Arrow array; values of several types become text."""
        import pyarrow as pa

        if self.numbers is not None and self.dates is not None:
            kinds = {"date": pa.date32(), "time": pa.time64("us"), "duration": pa.duration("us")}
            return dates_from(self.numbers, kinds.get(self.dates, pa.timestamp("us")))
        if self.numbers is not None:
            return pa.array(self.numbers, from_pandas=True)
        try:
            table = pa.array(self.values)
        except (pa.ArrowException, OverflowError):
            table = pa.array([str(value) for value in self.values])
        return table.take(pa.array(self.codes, mask=self.codes < 0))


def frame_like(columns: Mapping[Hashable, Filled], like: Any) -> Any:
    """A frame of the library that `like` is of, with its types and, for pandas, its index.

    Parameters
    ----------
    columns : mapping of label to Filled
        The columns; those that `like` has too get its type where they fit it.
    like : frame, or one of "pandas", "polars", "pyarrow"
        What the result should be.
    """
    if isinstance(like, str):
        return _new_frame(columns, like)
    frame = as_frame(like)
    assert frame is not None
    if frame.implementation.is_pandas_like():
        return _pandas_like(columns, frame)
    table = _arrow_like(columns, frame)
    if frame.implementation.is_pyarrow():
        return table
    result: nw.DataFrame[Any] = nw.from_arrow(table, backend=frame.implementation)
    filled = {str(label): column for label, column in columns.items()}
    for name, dtype in result.schema.items():
        if filled[name].numbers is not None:
            continue  # cast already where nothing is lost; here fractions would be cut off
        if name in frame.schema and dtype != frame.schema[name]:
            try:
                result = result.with_columns(nw.col(name).cast(frame.schema[name]))
            except nw.exceptions.InvalidOperationError:
                continue  # a category that this frame's type cannot hold keeps its own
    return result.to_native()


def with_other_columns(filled: Any, X: Any) -> Any:
    """A frame that was made of X, with those columns of X that it lacks, in the order of X."""
    frame, completed = as_frame(X), as_frame(filled)
    assert frame is not None
    assert completed is not None
    others = [name for name in frame.columns if name not in completed.columns]
    if not others:
        return filled
    every = completed.with_columns(*(frame[name] for name in others))
    added = [name for name in completed.columns if name not in frame.columns]
    return every.select([*frame.columns, *added]).to_native()


def _new_frame(columns: Mapping[Hashable, Filled], backend: Any) -> Any:
    import pyarrow as pa

    data = {str(label): filled.arrow() for label, filled in columns.items()}
    try:
        frame = nw.from_arrow(pa.table(data), backend=backend).to_native()
    except ImportError as error:
        raise DependencyError(f"{backend} is needed for this, and is not installed") from error
    if backend == "pandas":
        frame.columns = list(columns)
    return frame


def _arrow_like(columns: Mapping[Hashable, Filled], frame: nw.DataFrame[Any]) -> Any:
    """An Arrow table with the types of a frame, as far as the values fit them."""
    import pyarrow as pa

    arrays = {}
    for label, filled in columns.items():
        name = str(label)
        old = frame[name].to_arrow() if name in frame.schema else None
        if old is None:
            arrays[name] = filled.arrow()
        elif pa.types.is_dictionary(old.type) and frame.implementation.is_pyarrow():
            places = _level_places(filled, old.dictionary.to_pylist(), name)
            indices = pa.array(places, mask=places < 0).cast(old.type.index_type)
            arrays[name] = pa.DictionaryArray.from_arrays(
                indices, old.dictionary, ordered=old.type.ordered
            )
        else:
            kind = old.type.value_type if pa.types.is_dictionary(old.type) else old.type
            arrays[name] = _cast(filled.arrow(), kind)
    return pa.table(arrays)


def _cast(array: Any, kind: Any) -> Any:
    import pyarrow as pa

    if pa.types.is_temporal(kind) and pa.types.is_floating(array.type):
        return dates_from(array.to_numpy(zero_copy_only=False), kind)
    try:
        return array.cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return array  # a category that this frame's type cannot hold keeps its own


def _level_places(filled: Filled, levels: list[Any], name: str) -> NDArray[np.int64]:
    """Where each value stands among the levels of a categorical, -1 where it is missing."""
    places = {plain_value(level, name): place for place, level in enumerate(levels)}
    table = np.array([*(places.get(value, -2) for value in filled.values), -1])
    codes: NDArray[np.int64] = table[filled.codes]
    unknown = filled.codes[codes == -2]
    if len(unknown):
        raise DataError(
            f"column {name!r} is a categorical without the level {filled.values[unknown[0]]!r}"
        )
    return codes


def _pandas_like(columns: Mapping[Hashable, Filled], frame: nw.DataFrame[Any]) -> Any:
    native = frame.to_native()
    pandas = frame.implementation.to_native_namespace()
    labels = {str(label): label for label in native.columns}
    n_rows = len(next(iter(columns.values())).codes)
    index = native.index if len(native) == n_rows else pandas.RangeIndex(n_rows)
    data = {}
    for column, filled in columns.items():
        name = str(column)
        label = labels.get(name, column)
        old = native[label] if name in labels else None
        data[label] = _pandas_column(pandas, filled, old, index, name)
    return pandas.DataFrame(data, index=index)


def _pandas_column(pandas: Any, filled: Filled, old: Any, index: Any, name: str) -> Any:
    dtype = None if old is None else old.dtype
    if isinstance(dtype, pandas.CategoricalDtype):
        places = _level_places(filled, list(dtype.categories), name)
        return pandas.Series(pandas.Categorical.from_codes(places, dtype=dtype), index=index)
    if (
        dtype is not None
        and dtype.kind in ("M", "m")
        and (filled.numbers is not None or _floats(filled))
    ):
        days = filled.numbers
        if days is None:
            days = np.array([*filled.values, np.nan], dtype=np.float64)[filled.codes]
        import pyarrow as pa

        kind = pa.timestamp("ns") if dtype.kind == "M" else pa.duration("ns")
        dates = pandas.Series(dates_from(days, kind).to_pandas().to_numpy(), index=index)
        if getattr(dtype, "tz", None) is not None:
            return dates.dt.tz_localize("UTC").astype(dtype)
        return dates.astype(dtype)
    if filled.dates is not None and not _is_numeric(dtype):
        return _pandas_dates(pandas, filled, old, index)
    if filled.numbers is not None:
        return _pandas_numbers(pandas, filled.numbers, dtype, index)
    objects = pandas.Series(filled.objects(), index=index, dtype=object)
    if dtype is None:
        return objects.infer_objects()
    if isinstance(dtype, np.dtype) and dtype.kind in "iu" and filled.gaps:
        dtype = np.dtype(np.float64)  # what pandas itself makes of integers with gaps
    if isinstance(dtype, np.dtype) and dtype.kind == "b" and filled.gaps:
        return objects
    try:
        return objects.astype(dtype)
    except (TypeError, ValueError):
        return objects  # a category that this frame's type cannot hold keeps its own


def _is_numeric(dtype: Any) -> bool:
    return getattr(dtype, "kind", "O") in "iuf"


def _pandas_dates(pandas: Any, filled: Filled, old: Any, index: Any) -> Any:
    """Dates as the caller had them: as objects, or as ISO text."""
    if old is None:
        return pandas.Series(filled.arrow().to_pandas().to_numpy(), index=index)
    present = old.dropna()
    dates = pandas.Series(filled.objects(), index=index, dtype=object)
    if len(present) and isinstance(present.iloc[0], str):
        texts = [None if date is None else plain_value(date, "") for date in dates]
        return pandas.Series(texts, index=index, dtype=old.dtype)
    return dates


def _floats(filled: Filled) -> bool:
    return all(isinstance(value, float) for value in filled.values)


def _pandas_numbers(pandas: Any, numbers: NDArray[np.float64], dtype: Any, index: Any) -> Any:
    """Numbers in a type that the caller had, unless it is one of integers and they are not."""
    series = pandas.Series(numbers, index=index)
    if dtype is None:
        return series
    if isinstance(dtype, np.dtype) and dtype.kind in "iub" and (numbers != np.rint(numbers)).any():
        return series
    try:
        return series.astype(dtype)
    except (TypeError, ValueError):
        return series  # fractions or gaps that this type cannot hold
