"""What is given of some columns, as one row."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.limits import shown
from tacit.errors import ArgumentError, ArgumentTypeError, DataError, NotAvailableError

if TYPE_CHECKING:
    from tacit.core.input.mixed_table import MixedSchema, MixedTable

Array = NDArray[np.float64]
# Rows, and what is known of cells that are missing in them, by column: (row, category) likelihoods of
# categories, (row, 2) ends of intervals of numbers.
Known = tuple["MixedTable", dict[int, Array]]

_FARTHEST = 1e300  # an open end


def given_rows(
    schema: MixedSchema,
    known: Mapping[Any, Any] | None,
    *,
    unknown: str,
    with_intervals: bool = True,
) -> Known:
    """One row of the given cells.

    Parameters
    ----------
    schema : MixedSchema
    known : mapping of column to number, interval, category, set of categories, or likelihoods, optional
        An interval is a pair of numbers, both included; None is an open end.
    unknown : {"error", "missing"}
        How to treat values that are not categories.
    with_intervals : bool
        Whether the model knows what to make of intervals.
    """
    from tacit.core.input.mixed_table import empty_mixed
    from tacit.core.input.table import Schema
    from tacit.trees.query.given import given_evidence

    if known is not None and not isinstance(known, Mapping):
        raise ArgumentTypeError(
            f"given is a {type(known).__name__}; give a mapping of column to number or category"
        )
    table = empty_mixed(1, schema)
    others, intervals = {}, {}
    for name, value in (known or {}).items():
        leaf = schema.index(name)
        if leaf in schema.continuous and isinstance(value, tuple | list) and len(value) == 2:
            low, high = _interval(name, value)
            if low < high and not with_intervals:
                raise NotAvailableError(
                    f"column {name!r} is given as an interval, which KernelTree answers alone; give a number"
                )
            if low < high:
                intervals[leaf] = np.array([[low, high]])
            else:
                table.numbers[0, schema.stored[leaf]] = low
        elif leaf in schema.continuous:
            table.numbers[0, schema.stored[leaf]] = _one_number(name, value)
        else:
            others[name] = value
    categories = Schema(tuple(schema.columns[leaf] for leaf in schema.categorical))
    evidence = given_evidence(categories, others, unknown=unknown)
    table.codes[0] = evidence.codes[0]
    soft = {schema.categorical[place]: likelihoods for place, likelihoods in evidence.soft.items()}
    return table, soft | intervals


def intervals_of(schema: MixedSchema, soft: Mapping[int, Array] | None) -> dict[int, Array]:
    """What is known of columns of numbers: (row, 2) ends of intervals."""
    return {place: ends for place, ends in (soft or {}).items() if place in schema.continuous}


def _interval(name: Hashable, value: Sequence[Any]) -> tuple[float, float]:
    """The ends of an interval."""
    ends = [
        open_end if end is None or _is_infinite(end, open_end) else _one_number(name, end)
        for end, open_end in zip(value, (-_FARTHEST, _FARTHEST), strict=True)
    ]
    if not ends[0] <= ends[1] or np.abs(ends).min() == _FARTHEST:
        raise ArgumentError(
            f"column {name!r} is given as {shown(tuple(value))}; an interval goes from a number to one "
            f"that is not smaller, and has one end at least"
        )
    return ends[0], ends[1]


def _is_infinite(end: Any, open_end: float) -> bool:
    return isinstance(end, float) and np.isinf(end) and (end > 0) == (open_end > 0)


def _one_number(name: Hashable, value: Any) -> float:
    """The given number; NaN where it is missing."""
    from tacit.core.input.values import plain_value

    if isinstance(value, set | frozenset | list | tuple | dict | np.ndarray):
        raise ArgumentError(
            f"column {name!r} holds numbers; give a number or an interval (low, high), not {shown(value)}"
        )
    plain = plain_value(value, str(name))
    try:
        number = np.nan if plain is None else float(plain)
    except (ValueError, OverflowError) as error:
        raise DataError(f"column {name!r} holds numbers; {shown(value)} is not a number") from error
    if np.isinf(number):
        raise DataError(f"column {name!r} is given as {shown(value)}; give a finite number")
    return number
