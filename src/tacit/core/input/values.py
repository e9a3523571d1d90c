"""One input column in one of two forms: distinct values with codes, or numbers.

Whatever the column was made of, its values end as text, integers, floats or booleans of Python, so that they
can be compared, sorted, shown and written to a file:

* dates, times and spans of time become their ISO text and a number beside it, in days (of dates: since
  1970-01-01), members of an ``Enum`` their name, pandas' intervals and periods their text, bytes are read as
  UTF-8, decimals become floats;
* ``None``, NaN, null, ``pandas.NA`` and ``NaT`` are missing;
* anything else (dicts, lists, objects) is refused.
"""

from __future__ import annotations

import datetime as dt
import decimal
import enum
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.magnitudes import check_magnitude, check_magnitudes
from tacit.errors import ArgumentTypeError, DataError

if TYPE_CHECKING:
    import pyarrow as pa

# Integers up to here are exact as floats, so an integral float may be shown as an integer.
_LARGEST_EXACT = 2.0**53

# The types that stand for themselves.
_PLAIN = frozenset({str, bool})


@dataclass(frozen=True, slots=True, eq=False)
class Distinct:
    """Distinct values, and for each row which of them it holds.

    Parameters
    ----------
    values : list of str, int, float or bool
        In no particular order, unless they are levels. Some may not occur.
    codes : (row,) integers
        The place of each row's value in `values`, -1 where it is missing.
    levels : bool
        Whether the values are the levels of an ordered categorical, whose order has a meaning.
    declared : bool
        Whether the caller said that these are categories: the column is a categorical, ordered or not.
    days : (value,) float64, optional
        Of dates, times and spans of time: each value in days.
    unit : str
        What the days are: "date", "datetime", "time" or "duration".
    """

    values: list[Any]
    codes: NDArray[np.signedinteger[Any]]
    levels: bool = False
    declared: bool = False
    days: NDArray[np.float64] | None = None
    unit: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """A column of floats: one number per row, NaN where it is missing; none is infinite or too large."""

    values: NDArray[np.float64]


Raw = Distinct | Numbers


def raw_from_numpy(values: NDArray[Any], name: str) -> Raw:
    """The column that a one-dimensional array holds.

    Raises
    ------
    DataError, ArgumentTypeError
        Where the array holds infinities, complex numbers, or things that are no categories.
    """
    kind = values.dtype.kind
    if kind == "b":
        return _from_integers(values.view(np.uint8), None, boolean=True)
    if kind == "i" or (kind == "u" and values.dtype.itemsize < 8):
        return _from_integers(values, None)
    if kind == "f":
        return _numbers(values, name)
    if kind in "OuUSMm":
        return raw_from_objects(values, name)
    if kind == "c":
        raise DataError(f"Complex data not supported (column {name!r})")
    raise ArgumentTypeError(f"column {name!r} has elements of type {values.dtype}, {_WANTED}")


def raw_from_objects(values: Sequence[Any] | NDArray[Any], name: str) -> Raw:
    """The column that a sequence of Python objects holds."""
    import pyarrow as pa

    if isinstance(values, np.ndarray):
        values = np.ascontiguousarray(values)
    try:
        column = pa.array(values, from_pandas=True)
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        return _from_any(
            values, name
        )  # several types in one column, or one that Arrow does not know
    if pa.types.is_binary(column.type):
        return _from_any(values, name)  # text and bytes together come out as bytes
    return raw_from_arrow(column, name)


def raw_from_arrow(column: pa.Array | pa.ChunkedArray, name: str) -> Raw:
    """The column that an Arrow array holds."""
    import pyarrow as pa

    if isinstance(column, pa.ChunkedArray):
        column = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    if isinstance(column, pa.DictionaryArray):
        raw = _from_dictionary(column, name, ordered=column.type.ordered)
        return replace(raw, declared=True)
    kind, types = column.type, pa.types
    if types.is_null(kind):
        return Distinct([], np.full(len(column), -1, dtype=np.int32))
    if types.is_boolean(kind):
        return _from_integers(*_filled(column.cast(pa.uint8())), boolean=True)
    if types.is_integer(kind) and kind != pa.uint64():
        return _from_integers(*_filled(column))
    if types.is_floating(kind) or types.is_decimal(kind):
        return _numbers(column.cast(pa.float64()).to_numpy(zero_copy_only=False), name)
    if types.is_temporal(kind) and not types.is_interval(kind):
        return _from_dates(column, name)
    if types.is_nested(kind) or isinstance(kind, pa.BaseExtensionType):
        return _from_any(column.to_pylist(), name)
    if kind == pa.string_view():
        column = column.cast(pa.large_string())
    return _from_dictionary(column.dictionary_encode(), name, ordered=False)


def _from_dictionary(column: pa.DictionaryArray, name: str, *, ordered: bool) -> Distinct:
    codes = column.indices.to_numpy(zero_copy_only=False)
    if codes.dtype.kind == "f":  # NaN where the code is missing
        codes = np.where(np.isnan(codes), -1.0, codes)
    return distinct_levels(column.dictionary.to_pylist(), codes, name, ordered=ordered)


def _from_dates(column: pa.Array, name: str) -> Distinct:
    """Dates, times and spans of time: their text, and in days."""
    coded = column.dictionary_encode()
    distinct = _from_dictionary(coded, name, ordered=False)
    days = days_of(coded.dictionary)
    if len(days) != len(distinct.values):
        return distinct
    return replace(distinct, days=days, unit=_temporal_unit(column.type))


def _temporal_unit(kind: pa.DataType) -> str:
    import pyarrow as pa

    if pa.types.is_date(kind):
        return "date"
    if pa.types.is_timestamp(kind):
        return "datetime"
    return "time" if pa.types.is_time(kind) else "duration"


_PER_DAY = {"s": 86_400.0, "ms": 86_400e3, "us": 86_400e6, "ns": 86_400e9}


def days_of(column: pa.Array) -> NDArray[np.float64]:
    """Dates, times and spans of time of an Arrow array without gaps, in days; dates since 1970-01-01."""
    import pyarrow as pa

    is_32_bit = pa.types.is_date32(column.type) or pa.types.is_time32(column.type)
    integers = column.cast(pa.int32() if is_32_bit else pa.int64()).to_numpy(zero_copy_only=False)
    if pa.types.is_date(column.type):
        return np.asarray(integers / (1.0 if is_32_bit else _PER_DAY["ms"]), dtype=np.float64)
    per_day = int(_PER_DAY[column.type.unit])
    whole, part = np.divmod(integers.astype(np.int64, copy=False), per_day)
    return np.asarray(whole + part / per_day, dtype=np.float64)


_DATES = (-719162, 2932896)  # the days of years 1 and 9999, the first and last of Python


def dates_from(days: NDArray[np.float64], kind: pa.DataType) -> pa.Array:
    """Days as an Arrow array of dates, times or spans of time; null where they are NaN.

    What is beyond all dates, such as a draw from a heavy tail, becomes the first or the last.
    """
    import pyarrow as pa

    missing = np.isnan(days)
    if not pa.types.is_time(kind):
        per_day = 1.0 if pa.types.is_date(kind) else _PER_DAY[kind.unit]
        low, high = (-1e8, 1e8) if pa.types.is_duration(kind) else _DATES
        most = 0.99 * 2.0**63 / per_day
        days = np.clip(days, max(low, -most), min(high, most))
    is_32_bit = pa.types.is_date32(kind) or pa.types.is_time32(kind)
    if pa.types.is_date(kind):
        scaled = _ticks(np.rint(days), 1.0 if is_32_bit else _PER_DAY["ms"])
    else:
        scaled = _ticks(days, _PER_DAY[kind.unit])
    integers = np.where(missing, 0, scaled).astype(np.int32 if is_32_bit else np.int64)
    return pa.array(integers, mask=missing).cast(kind)


def _ticks(days: NDArray[np.float64], per_day: float) -> NDArray[np.int64]:
    """Days as whole numbers of so many a day, rounded to microseconds: days know no finer ones.

    Whole days are counted by themselves, so that no digit is lost.
    """
    known = np.where(np.isnan(days), 0.0, days)
    whole = np.floor(known)
    finest = min(per_day, _PER_DAY["us"])
    part = np.rint((known - whole) * finest).astype(np.int64)
    return whole.astype(np.int64) * int(per_day) + part * int(per_day / finest)


def day_number(value: Any) -> float | None:
    """One date, time or span of time in days, also as ISO text; None where the value is something else."""
    import pyarrow as pa

    if isinstance(value, str):
        try:
            value = dt.datetime.fromisoformat(value)
        except ValueError:
            return None
    try:
        scalar = pa.array([value], from_pandas=True)
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        return None
    if (
        not pa.types.is_temporal(scalar.type)
        or pa.types.is_interval(scalar.type)
        or scalar.null_count
    ):
        return None
    return float(days_of(scalar)[0])


def distinct_levels(
    levels: Sequence[Any], codes: NDArray[Any], name: str, *, ordered: bool
) -> Distinct:
    """The column that a categorical holds: levels of any kind, and codes into them (-1 is missing)."""
    plain = list(levels)
    if not set(map(type, plain)) <= _PLAIN:
        plain = [plain_value(level, name) for level in levels]
    codes = codes.astype(np.int64, copy=False)
    if codes.size and (codes.min() < -1 or codes.max() >= len(plain)):
        raise DataError(
            f"column {name!r} is damaged: it has {len(plain)} levels, but its codes go from {codes.min()} to "
            f"{codes.max()}; build it anew"
        )
    different = list(dict.fromkeys(plain))
    if len(different) == len(plain) and None not in different:
        return Distinct(plain, codes, levels=ordered)
    # Levels may be null, or equal once they are plain. The last entry answers for code -1.
    different = [value for value in different if value is not None]
    places = {value: place for place, value in enumerate(different)}
    table = np.array([*(places.get(value, -1) for value in plain), -1])
    return Distinct(different, table[codes], levels=ordered)


def plain_value(value: Any, name: str) -> Any:
    """The str, int, float or bool that stands for a value; None where it is missing."""
    if value is None or type(value) in _PLAIN:
        return value
    if isinstance(value, np.generic):
        return plain_value(value.item(), name)
    if isinstance(value, float | decimal.Decimal):
        return _plain_float(float(value), name)
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        check_magnitude(value, f"column {name!r}")
        return int(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", errors="backslashreplace")
    if isinstance(value, enum.Enum):
        return value.name
    if isinstance(value, complex):
        raise DataError(f"Complex data not supported (column {name!r} holds {value!r})")
    if type(value).__module__.split(".")[0] == "pandas":
        return None if type(value).__name__ in {"NAType", "NaTType"} else str(value)
    if isinstance(value, dt.datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    if isinstance(value, dt.timedelta):
        return str(value)
    raise ArgumentTypeError(f"column {name!r}: {_WANTED}, not {type(value).__name__!r}")


# scikit-learn's own estimators say it in these words, and its checks look for them.
_WANTED = "argument must be a string or a number"


def _plain_float(value: float, name: str) -> float | None:
    if math.isinf(value):
        raise DataError(_infinite_text(name))
    check_magnitude(value, f"column {name!r}")
    return None if math.isnan(value) else value


def _infinite_text(name: str) -> str:
    return (
        f"column {name!r} holds inf; replace infinities by a number, "
        f"or by NaN where they stand for a missing value"
    )


def _numbers(values: NDArray[Any], name: str) -> Numbers:
    numbers = np.ascontiguousarray(values, dtype=np.float64)
    if np.isinf(numbers).any():
        raise DataError(_infinite_text(name))
    check_magnitudes(numbers, f"column {name!r}")
    return Numbers(numbers)


def _filled(column: pa.Array) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
    """The integers of an Arrow array, and which of them are missing (None where none is)."""
    if column.null_count == 0:
        return column.to_numpy(zero_copy_only=False), None
    missing = column.is_null().to_numpy(zero_copy_only=False)
    return column.fill_null(0).to_numpy(zero_copy_only=False), missing


def _from_integers(
    values: NDArray[Any], missing: NDArray[np.bool_] | None, *, boolean: bool = False
) -> Distinct:
    """Integers as distinct values, by a table of all values in their range where that is short."""
    observed = values if missing is None else values[~missing]
    if len(observed) == 0:
        return Distinct([], np.full(len(values), -1, dtype=np.int32))
    low, high = int(observed.min()), int(observed.max())
    if high - low < max(1024, 4 * len(values)):
        places = values.astype(np.int64) - low
        if missing is not None:
            places[missing] = 0
        present = np.zeros(high - low + 1, dtype=np.bool_)
        present[places if missing is None else places[~missing]] = True
        codes = (np.cumsum(present, dtype=np.int32) - np.int32(1))[places]
        distinct_values = (np.flatnonzero(present) + low).tolist()
    else:
        distinct, inverse = np.unique(values, return_inverse=True)
        codes, distinct_values = inverse.astype(np.int32), distinct.tolist()
    if missing is not None:
        codes[missing] = -1
    return Distinct(
        [bool(value) for value in distinct_values] if boolean else distinct_values, codes
    )


def _from_any(values: Sequence[Any] | NDArray[Any], name: str) -> Distinct:
    """Values of several types, one by one."""
    places: dict[Any, int] = {}
    codes = np.empty(len(values), dtype=np.int32)
    for row, value in enumerate(values):
        plain = plain_value(value, name)
        codes[row] = -1 if plain is None else places.setdefault(plain, len(places))
    return Distinct(list(places), codes)


def distinct_numbers(numbers: Numbers) -> Distinct:
    """A column of floats as distinct values; integers where all of them are integral."""
    values = numbers.values
    missing = np.isnan(values)
    observed = values[~missing]
    if np.array_equal(observed, np.rint(observed)) and (np.abs(observed) < _LARGEST_EXACT).all():
        integers = np.where(missing, 0.0, values).astype(np.int64)
        return _from_integers(integers, missing)
    distinct, inverse = np.unique(observed, return_inverse=True)
    codes = np.full(len(values), -1, dtype=np.int32)
    codes[~missing] = inverse
    return Distinct(distinct.tolist(), codes)


def as_numbers(raw: Raw) -> Numbers | None:
    """A column as floats; None where it holds something else than numbers."""
    if isinstance(raw, Numbers):
        return raw
    if raw.days is not None:
        return Numbers(np.append(raw.days, math.nan)[raw.codes])
    if not all(isinstance(value, int | float) for value in raw.values):
        return None
    table = np.array([*raw.values, math.nan], dtype=np.float64)
    return Numbers(table[raw.codes])
