"""The type and the categories of a column, learnt from its values."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.encoders.bins import MOST_DISTINCT_FLOATS, binned_column
from tacit.core.input.table import Column, Schema, listing
from tacit.core.input.values import Numbers, Raw
from tacit.errors import BinningWarning, DataError, IdentifierWarning

Floats = NDArray[np.float64]

# With so many rows or more, a column in which a larger fraction of the values are distinct holds identifiers,
# free text or numbers, not categories.
FEWEST_ROWS, NEARLY_DISTINCT = 30, 0.9


@dataclass(frozen=True, slots=True, eq=False)
class Observed:
    """The distinct values that one block of rows shows of a column, and how much each weighs.

    Parameters
    ----------
    values : list, or (value,) float64
        The values that occur; an array where the column is one of floats.
    weights : (value,) float64
        Their summed weights, all positive.
    levels : list, optional
        All levels of an ordered categorical, in their order.
    n_rows : int
        How many rows have a value and count.
    declared : bool
        Whether the caller said that these are categories.
    days : (value,) float64, optional
        Of dates: each value in days.
    unit : str
        What the days are.
    kind : str, optional
        What the caller says that the column is.
    """

    values: list[Any] | Floats
    weights: Floats
    levels: list[Any] | None = None
    n_rows: int = 0
    declared: bool = False
    days: Floats | None = None
    unit: str = ""
    kind: str | None = None


def observed(raw: Raw, weights: Floats | None, kind: str | None = None) -> Observed:
    """What a column shows; rows of weight zero are as if they were not there."""
    if isinstance(raw, Numbers):
        is_counted = ~np.isnan(raw.values)
        if weights is not None:
            is_counted &= weights > 0
        numbers = raw.values[is_counted]
        return Observed(
            *_totals(numbers, None if weights is None else weights[is_counted]),
            n_rows=len(numbers),
            kind=kind,
        )
    # The first place is for what is missing.
    counts = np.bincount(raw.codes + 1, weights=weights, minlength=len(raw.values) + 1)[1:]
    levels, totals = raw.values if raw.levels else None, counts.astype(np.float64)
    is_counted = raw.codes >= 0 if weights is None else (raw.codes >= 0) & (weights > 0)
    n_rows = int(np.count_nonzero(is_counted))
    if np.count_nonzero(totals) == len(totals):
        return Observed(raw.values, totals, levels, n_rows, raw.declared, raw.days, raw.unit, kind)
    used = np.flatnonzero(totals)
    values = [raw.values[place] for place in used.tolist()]
    days = None if raw.days is None else raw.days[used]
    return Observed(values, totals[used], levels, n_rows, raw.declared, days, raw.unit, kind)


def column_of_levels(name: str, raw: Raw) -> Column | None:
    """The column of an ordered categorical, whose levels are its categories and whose codes are its own.

    None where the column is another one, or shows nothing. Short, because tables can have many such columns.
    """
    if isinstance(raw, Numbers) or not raw.levels or raw.codes.max(initial=-1) < 0:
        return None
    return Column(name, tuple(raw.values), "ordered")


def _totals(values: Floats, weights: Floats | None) -> tuple[Floats, Floats]:
    """Distinct values, ascending, and the weight of each."""
    if weights is None:
        distinct, counts = np.unique(values, return_counts=True)
        return distinct, counts.astype(np.float64)
    distinct, inverse = np.unique(values, return_inverse=True)
    totals = np.bincount(inverse, weights=weights, minlength=len(distinct))
    return distinct, totals.astype(np.float64, copy=False)


def learnt_column(
    name: str,
    parts: Sequence[Observed],
    *,
    n_bins: int,
    minus_one_is_missing: bool = False,
    integers_are_codes: bool = True,
) -> Column:
    """The column whose blocks showed these values.

    Parameters
    ----------
    name : str
        The column's name.
    parts : sequence of Observed
        What each block shows.
    n_bins : int
        Into how many bins numbers are cut.
    minus_one_is_missing : bool
        Whether -1 is no value.
    integers_are_codes : bool
        Whether integers are categories however many there are, unless they differ in nearly every row.

    Raises
    ------
    DataError
        Where no row has a value.
    """
    numbers = _numbers_of(parts, integers_are_codes=integers_are_codes)
    if numbers is not None:
        distinct, weights = _totals(
            np.concatenate(numbers), np.concatenate([part.weights for part in parts])
        )
        if len(distinct) > (MOST_DISTINCT_FLOATS if parts[0].kind is None else n_bins):
            dates = parts[0].days is not None
            column = binned_column(name, distinct, weights, n_bins, dates=dates)
            return replace(column, unit=unit_of(parts[0].unit, distinct))
    values = {
        value
        for part in parts
        for value in (part.values.tolist() if isinstance(part.values, np.ndarray) else part.values)
    }
    if minus_one_is_missing:
        values.discard(-1)
    if not values:
        raise DataError(all_missing_text(name))
    if any(part.levels is not None for part in parts):
        return Column(name, _ordered(values, parts), "ordered")
    return categorical_column(name, values)


def unit_of(unit: str, numbers: Floats) -> str:
    """The unit of numbers: that of dates, or of counts where all are whole and none is below zero."""
    if unit or not len(numbers):
        return unit
    return "count" if numbers.min() >= 0 and np.array_equal(numbers, np.rint(numbers)) else ""


def _numbers_of(
    parts: Sequence[Observed], *, integers_are_codes: bool = True
) -> list[Floats] | None:
    """The values of all blocks as numbers to be cut into bins; None where they are categories.

    Numbers are floats, dates and integers; integers that are codes only where they differ in nearly every
    row.
    """
    if any(part.declared or part.levels is not None for part in parts):
        return None
    days = [part.days for part in parts if part.days is not None]
    if len(days) == len(parts):
        return days
    floats = any(isinstance(part.values, np.ndarray) for part in parts)
    if not floats and integers_are_codes and not nearly_distinct(parts):
        return None
    if all(isinstance(part.values, np.ndarray) or _are_numbers(part.values) for part in parts):
        return [np.asarray(part.values, dtype=np.float64) for part in parts]
    return None


def nearly_distinct(parts: Sequence[Observed]) -> bool:
    """Whether values differ in nearly every row, in a column that was not declared categorical."""
    n_rows = sum(part.n_rows for part in parts)
    if n_rows < FEWEST_ROWS or any(part.declared or part.levels is not None for part in parts):
        return False
    if sum(len(part.values) for part in parts) <= NEARLY_DISTINCT * n_rows:
        return False
    distinct = set().union(*(part.values for part in parts))
    return len(distinct) > NEARLY_DISTINCT * n_rows


def is_identifier(parts: Sequence[Observed]) -> bool:
    """Whether a column is one of identifiers or free text, of which nothing can be learnt."""
    return (
        all(part.days is None and not isinstance(part.values, np.ndarray) for part in parts)
        and nearly_distinct(parts)
        and all(isinstance(value, str) for part in parts for value in part.values)
    )


def warn_of_identifiers(names: Sequence[str]) -> None:
    """An `IdentifierWarning` that names the columns that were left out, if any was."""
    if not names:
        return
    columns = f"column {names[0]!r}" if len(names) == 1 else f"columns {listing(names)}"
    warnings.warn(
        f"{columns} left out: nearly every row has a text of its own, as identifiers and free text have, and "
        f"nothing can be learnt of it. columns={{{names[0]!r}: 'category'}} keeps it, as does a categorical "
        f"column (pandas: astype(\"category\")); the kind 'ignore' leaves it out without a warning",
        IdentifierWarning,
        stacklevel=3,
    )


def all_missing_text(name: str) -> str:
    """The words for a column without a single value."""
    return (
        f"every value of column {name!r} is missing, so nothing can be learnt of it; "
        f"leave the column out"
    )


def minus_one_is_missing(values: Iterable[int]) -> bool:
    """Whether -1 stands for a missing value in an array of integers that holds these values.

    It does where nothing is smaller. It does not where the array holds nothing but -1 and 1: these are spins.
    """
    distinct = set(values)
    return -1 in distinct and min(distinct) == -1 and distinct != {-1, 1}


def _are_numbers(values: Iterable[Any]) -> bool:
    return all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)


def _ordered(values: Iterable[Any], parts: Sequence[Observed]) -> tuple[Any, ...]:
    """The levels of all blocks in their order, then what other blocks showed besides."""
    levels = dict.fromkeys(chain.from_iterable(part.levels or () for part in parts))
    others = [value for value in values if value not in levels]
    return (*levels, *canonical_values(others)) if others else tuple(levels)


def categorical_column(name: str, values: Iterable[Any]) -> Column:
    """The column whose categories are these values."""
    categories = canonical_values(values)
    types = {type(value) for value in categories}
    if types == {str}:
        kind = "text"
    elif types == {bool}:
        kind = "boolean"
    elif types == {int}:
        kind = "integer"
    else:
        kind = "number" if types <= {int, float} else "mixed"
    return Column(name, categories, kind)


def canonical_values(values: Iterable[Any]) -> tuple[Any, ...]:
    """Distinct values in their order: by type where there are several, then by value.

    Python holds 1, 1.0 and True for equal, and so they are one category: the integer, unless every number of
    the column is a boolean.
    """
    plain = [int(v) if isinstance(v, float) and v.is_integer() else v for v in values]
    if any(isinstance(v, int | float) and not isinstance(v, bool) for v in plain):
        plain = [int(v) if isinstance(v, bool) else v for v in plain]
    distinct = set(plain)
    if len({type(value) for value in distinct}) == 1 or _are_numbers(distinct):
        return tuple(sorted(distinct))
    return tuple(sorted(distinct, key=lambda value: (type(value).__name__, value)))


@lru_cache(maxsize=4096)
def small_column(name: str, values: tuple[int, ...], *, boolean: bool) -> Column:
    """The column of these integers, in ascending order, or of the booleans they stand for.

    Remembered, because tables of the same few integers are read again and again.
    """
    if not values:
        raise DataError(all_missing_text(name))
    if boolean:
        return Column(name, tuple(bool(value) for value in values), "boolean")
    return Column(name, values, "integer")


@lru_cache(maxsize=16)
def positional_names(n_columns: int) -> tuple[str, ...]:
    """The names of columns that have none: x0, x1, ..."""
    return tuple(f"x{place}" for place in range(n_columns))


def warn_of_binning(schema: Schema) -> None:
    """A `BinningWarning` that names the columns that were cut, if any was."""
    cut = [column.name for column in schema.columns if column.edges is not None]
    if not cut:
        return
    columns = f"column {cut[0]!r} holds" if len(cut) == 1 else f"columns {listing(cut)} hold"
    warnings.warn(
        f"{columns} numbers with more than {MOST_DISTINCT_FLOATS} distinct values, and this model is one of "
        f"categories: the values were cut at quantiles (n_bins). KernelTree and GaussianTree take "
        f"numbers as they are; a categorical column keeps every value as a category",
        BinningWarning,
        stacklevel=3,
    )
