"""Encodes values as codes by a known schema."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from tacit.core.arguments import did_you_mean
from tacit.core.encoders.bins import codes_of_numbers
from tacit.core.input.table import MISSING, TEMPORAL, UNKNOWN, Codes, Column, listing
from tacit.core.input.values import (
    Distinct,
    Numbers,
    Raw,
    as_numbers,
    day_number,
    distinct_numbers,
    plain_value,
)
from tacit.core.magnitudes import check_magnitude
from tacit.errors import CategoryError


def category_code(column: Column, value: Any) -> int:
    """The code of one value of a column, -1 where it is missing.

    A number given for a column that was cut into bins falls into its bin; text that reads like a category of
    another type is taken for it (``"1"`` for 1), because files and command lines only know text.

    Raises
    ------
    CategoryError
        Where the value is no category; the message names the nearest one.

    Examples
    --------
    >>> category_code(Column("colour", ("blue", "green"), "text"), "green")
    1
    """
    plain = plain_value(value, column.name)
    if plain is None:
        return MISSING
    code = _Lookup(column).code(plain)
    if code == UNKNOWN and isinstance(plain, str) and column.edges is not None:
        try:
            number: float | None = float(plain)
        except ValueError:
            number = day_number(value)
        if number is not None:
            check_magnitude(number, f"column {column.name!r}")
            return int(codes_of_numbers(np.array([number]), column.edges)[0])
    if code == UNKNOWN:
        raise CategoryError(unknown_category_text(column, plain))
    return code


def coded(raw: Raw, column: Column, *, unknown: str, minus_one_is_missing: bool = False) -> Codes:
    """The codes of a whole column.

    Parameters
    ----------
    raw : Distinct or Numbers
        The column as it came.
    column : Column
        What it can hold.
    unknown : {"error", "missing"}
        What to do with a value that is no category.
    minus_one_is_missing : bool
        Whether -1 stands for a missing value, unless it is a category.
    """
    if column.edges is not None:
        numbers = numbers_in(raw, column)
        if numbers is not None:
            return codes_of_numbers(numbers.values, column.edges)
    distinct = distinct_numbers(raw) if isinstance(raw, Numbers) else raw
    if distinct.values == list(column.categories):
        return distinct.codes.astype(np.int32, copy=False)
    table = _code_table(distinct, column, unknown, minus_one_is_missing=minus_one_is_missing)
    codes: Codes = table[distinct.codes]
    return codes


def numbers_in(raw: Raw, column: Column) -> Numbers | None:
    """The numbers of a column that was cut into bins, also where they are text.

    None where something is neither a number nor a date, or is the name of a bin.
    """
    numbers = as_numbers(raw)
    if numbers is not None or not isinstance(raw, Distinct):
        return numbers
    if any(value in column.categories for value in raw.values):
        return None
    parsed = [number_in_text(value, column) for value in raw.values]
    if any(number is None for number in parsed):
        return None
    return Numbers(np.array([*parsed, np.nan], dtype=np.float64)[raw.codes])


def number_in_text(value: Any, column: Column) -> float | None:
    """The number that a text or a number says, of dates and times in days; None where it says none."""
    if column.unit in TEMPORAL:
        return day_number(value)
    try:
        number = float(value)
    except ValueError:
        return None
    check_magnitude(number, f"column {column.name!r}")
    return number if np.isfinite(number) else None


def _code_table(
    distinct: Distinct, column: Column, unknown: str, *, minus_one_is_missing: bool
) -> Codes:
    """The code of each distinct value, and one entry more for what is missing."""
    lookup = _Lookup(column)
    codes = [lookup.code(value) for value in distinct.values]
    for place, code in enumerate(codes):
        if code != UNKNOWN:
            continue
        value = distinct.values[place]
        if (minus_one_is_missing and value == -1) or unknown == "missing":
            codes[place] = MISSING
        elif (distinct.codes == place).any():  # a level that no row shows does no harm
            raise CategoryError(unknown_category_text(column, value))
    return np.array([*codes, MISSING], dtype=np.int32)


class _Lookup:
    """The codes of a column's categories, by value and, where that fails, by text."""

    def __init__(self, column: Column) -> None:
        self.column = column
        self.places = {value: code for code, value in enumerate(column.categories)}

    @cached_property
    def by_text(self) -> dict[str, int]:
        """The codes of categories that are not text, by how they are written."""
        code_of: dict[str, int] = {}
        for code, value in enumerate(self.column.categories):
            if not isinstance(value, str):
                code_of[str(value)] = code
                code_of.setdefault(str(value).lower(), code)
        return code_of

    def code(self, value: Any) -> int:
        """The code of a plain value, `UNKNOWN` where it is no category."""
        code = self.places.get(value)
        if code is not None:
            return code
        # A file of a few rows may show digits only where the model was taught text, or the reverse.
        if isinstance(value, str):
            return self.by_text.get(value, UNKNOWN)
        if self.column.edges is not None:
            return int(codes_of_numbers(np.array([float(value)]), self.column.edges)[0])
        return self.places.get(str(value), UNKNOWN)


def unknown_category_text(column: Column, value: Any) -> str:
    """The words for a value that is no category: what is near, and what there is."""
    guess = did_you_mean(value, column.categories) if isinstance(value, str) else "."
    return (
        f"column {column.name!r} has no category {value!r}{guess} Its "
        f"categories are {listing(column.categories)}; unknown='missing' treats others as missing"
    )
