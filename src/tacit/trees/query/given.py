"""Evidence on the columns from the arguments of a query."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from tacit.core.input.encode import category_code
from tacit.core.input.read_table import encode
from tacit.core.input.table import MISSING
from tacit.core.limits import shown
from tacit.errors import ArgumentError, ArgumentTypeError, CategoryError, DataError
from tacit.messages.evidence import Evidence, evidence_row

if TYPE_CHECKING:
    from tacit.core.input.table import Column, Schema


def row_evidence(
    X: Any, schema: Schema, *, unknown: str, soft: Mapping[Any, Any] | None = None
) -> Evidence:
    """The evidence of a table's rows.

    Parameters
    ----------
    X : table
        Columns may be absent; all of their cells are then missing.
    schema : Schema
    unknown : {"error", "missing"}
        What a value is that is no category.
    soft : mapping of column to (row, category) likelihoods, optional
        Used where the cell itself is missing.
    """
    codes = encode(X, schema, unknown=unknown, partial=True).codes
    return Evidence(codes, soft_likelihoods(soft, schema))


def soft_likelihoods(
    soft: Mapping[Any, Any] | None, schema: Schema
) -> dict[int, np.ndarray[Any, np.dtype[np.float64]]]:
    """Likelihoods of categories by the place of their column."""
    if soft is None:
        return {}
    if not isinstance(soft, Mapping):
        raise ArgumentTypeError(
            f"soft is a {type(soft).__name__}; give a mapping of column to (row, category) likelihoods"
        )
    return {schema.index(name): _likelihoods(name, values) for name, values in soft.items()}


def given_evidence(schema: Schema, known: Mapping[Any, Any] | None, *, unknown: str) -> Evidence:
    """One row of evidence: for each column a category, a set of categories, or likelihoods.

    Parameters
    ----------
    schema : Schema
    known : mapping, optional
        A set means that the cell has one of these categories; a list or array holds likelihoods.
    unknown : {"error", "missing"}
        What a value is that is no category.
    """
    if known is not None and not isinstance(known, Mapping):
        raise ArgumentTypeError(
            f"given is a {type(known).__name__}; give a mapping of column to category, set of categories, "
            f"or likelihoods"
        )
    coded: dict[int, Any] = {}
    for name, value in (known or {}).items():
        leaf = schema.index(name)
        column = schema.columns[leaf]
        if isinstance(value, set | frozenset):
            codes = {_code(column, category, unknown) for category in value}
            if codes == {MISSING} and unknown == "missing":
                continue
            coded[leaf] = codes - {MISSING} if unknown == "missing" else codes
            if not coded[leaf] or MISSING in coded[leaf]:
                raise ArgumentError(
                    f"column {name!r} is given as {shown(value)}; a set holds one or more categories, and "
                    f"what is missing is left out"
                )
        elif isinstance(value, list | np.ndarray):
            coded[leaf] = _likelihoods(name, value)
            if coded[leaf].shape != (column.card,):
                raise DataError(
                    f"column {name!r} has {column.card} categories, but is given as likelihoods of shape "
                    f"{coded[leaf].shape}; give one for each category, or a set of categories"
                )
        else:
            coded[leaf] = _code(column, value, unknown)
    return evidence_row(schema.cards, coded)


def is_column(schema: Schema, target: Any) -> bool:
    """Whether a target is one column rather than several."""
    return target in schema or isinstance(target, str) or not isinstance(target, Iterable)


def target_columns(schema: Schema, target: Hashable | Sequence[Hashable]) -> list[Hashable]:
    """The columns that a query is about, each once and known."""
    columns = [target] if is_column(schema, target) else list(cast("Sequence[Hashable]", target))
    places = [schema.index(column) for column in columns]
    if not places or len(set(places)) < len(places):
        raise ArgumentError(f"target={shown(target)}; name one or more columns, each once")
    return columns


def _code(column: Column, value: Any, unknown: str) -> int:
    try:
        return category_code(column, value)
    except CategoryError:
        if unknown == "missing":
            return MISSING
        raise


def _likelihoods(name: Hashable, values: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(
            f"likelihoods of column {name!r} must be numbers, one for each category: {error}; "
            f"categories are given as a single value or a set"
        ) from error
