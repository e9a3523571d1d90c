"""What is given of some columns, as one row."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ArgumentError, ArgumentTypeError, DataError

if TYPE_CHECKING:
    from tacit.core.input.mixed_table import MixedSchema, MixedTable

Array = NDArray[np.float64]
# Rows, and likelihoods of categories that are missing in them, by column.
Known = tuple["MixedTable", dict[int, Array]]


def given_rows(schema: MixedSchema, known: Mapping[Any, Any] | None, *, unknown: str) -> Known:
    """One row of the given cells.

    Parameters
    ----------
    schema : MixedSchema
    known : mapping of column to number, category, set of categories, or likelihoods, optional
    unknown : {"error", "missing"}
        How to treat values that are not categories.
    """
    from tacit.core.input.mixed_table import empty_mixed
    from tacit.core.input.table import Schema
    from tacit.trees.query.given import given_evidence

    if known is not None and not isinstance(known, Mapping):
        raise ArgumentTypeError(
            f"given is a {type(known).__name__}; give a mapping of column to number or category"
        )
    table = empty_mixed(1, schema)
    others = {}
    for name, value in (known or {}).items():
        leaf = schema.index(name)
        if leaf in schema.continuous:
            table.numbers[0, schema.stored[leaf]] = _one_number(name, value)
        else:
            others[name] = value
    categories = Schema(tuple(schema.columns[leaf] for leaf in schema.categorical))
    evidence = given_evidence(categories, others, unknown=unknown)
    table.codes[0] = evidence.codes[0]
    soft = {schema.categorical[place]: likelihoods for place, likelihoods in evidence.soft.items()}
    return table, soft


def _one_number(name: Hashable, value: Any) -> float:
    """The given number; NaN where it is missing."""
    from tacit.core.input.values import plain_value

    if isinstance(value, set | frozenset | list | tuple | dict | np.ndarray):
        raise ArgumentError(f"column {name!r} holds numbers; give one number, not {value!r}")
    plain = plain_value(value, str(name))
    try:
        number = np.nan if plain is None else float(plain)
    except ValueError as error:
        raise DataError(f"column {name!r} holds numbers; {value!r} is not a number") from error
    if np.isinf(number):
        raise DataError(f"column {name!r} is given as {value!r}; give a finite number")
    return number
