"""Sequences in frames: columns of lists, and a row for each symbol."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.input.frames import arrow_lists, frame_columns, raw_from_series
from tacit.core.input.table import unknown_column_text
from tacit.core.input.values import Distinct, Numbers, Raw, distinct_numbers, raw_from_arrow
from tacit.errors import ColumnError, DataError
from tacit.sequences.data.sequences import Integers
from tacit.sequences.data.symbols import distinct_in

if TYPE_CHECKING:
    import pyarrow as pa

SEQUENCE, SYMBOL = "sequence", "symbol"


def distinct_of(raw: Raw) -> Distinct:
    """A column as distinct values."""
    return distinct_numbers(raw) if isinstance(raw, Numbers) else raw


def from_lists(series: Any) -> tuple[Distinct, Integers] | None:
    """All symbols in turn and the lengths, from a column of lists; None for other columns.

    Raises
    ------
    DataError
        A list is missing.
    """
    lists = arrow_lists(series)
    if lists is None:
        return None
    if lists.null_count:
        place = lists.is_null().to_pylist().index(True)
        raise DataError(
            f"sequence {place} is missing; give an empty list where there is nothing, null inside a list "
            f"where a symbol is missing"
        )
    return _distinct_arrow(lists.flatten()), _list_lengths(lists)


def _list_lengths(lists: pa.Array) -> Integers:
    import pyarrow.compute as pc

    lengths: NDArray[Any] = pc.list_value_length(lists).to_numpy(zero_copy_only=False)
    return lengths.astype(np.int64)


def _distinct_arrow(values: pa.Array) -> Distinct:
    import pyarrow as pa

    kind, types = values.type, pa.types
    plain = kind.value_type if types.is_dictionary(kind) else kind
    is_text = types.is_string(plain) or types.is_large_string(plain) or types.is_string_view(plain)
    if is_text or types.is_integer(plain) or types.is_floating(plain) or types.is_boolean(plain):
        return distinct_of(raw_from_arrow(values, SYMBOL))
    return distinct_in(values.to_pylist())  # dates and the like stay as they are


def is_long(names: list[Any], sequence: str | None, symbol: str | None) -> bool:
    """Whether a frame has a row for each symbol.

    Raises
    ------
    DataError
        It has a column for sequences, but none for symbols.
    """
    if sequence is not None or symbol is not None:
        return True
    if SEQUENCE in names and SYMBOL not in names and len(names) > 1:
        raise DataError(
            f"the frame has a column {SEQUENCE!r}, but none named {SYMBOL!r}. Where it has a row for each "
            f"symbol, name that column by symbol=; where {SEQUENCE!r} holds whole sequences, pass that "
            f"column alone"
        )
    return SEQUENCE in names and SYMBOL in names


def from_long(frame: Any, sequence: str | None, symbol: str | None) -> tuple[Distinct, Integers]:
    """All symbols in turn and the lengths, from a frame with a row for each symbol.

    Sequences come in order of appearance; within them the order of the rows is kept.

    Raises
    ------
    ColumnError
        A named column does not exist.
    DataError
        A row does not say to which sequence it belongs.
    """
    columns = frame_columns(frame)
    assert columns is not None
    names, n_rows, read, _ = columns
    places = {str(name): place for place, name in enumerate(names)}
    used = SEQUENCE if sequence is None else sequence, SYMBOL if symbol is None else symbol
    for name in used:
        if name not in places:
            raise ColumnError(unknown_column_text(name, list(places)))
    owner = distinct_of(read(places[used[0]], used[0])).codes
    distinct = distinct_of(read(places[used[1]], used[1]))
    if (owner < 0).any():
        raise DataError(
            f"row {int((owner < 0).argmax())} does not say to which sequence it belongs: column "
            f"{used[0]!r} is missing there; leave such rows out"
        )
    if n_rows == 0:
        return distinct, np.empty(0, dtype=np.int64)
    _, first, inverse = np.unique(owner, return_index=True, return_inverse=True)
    number = np.argsort(np.argsort(first))[inverse]  # (row,)  the sequence, as they first appear
    order = np.argsort(number, kind="stable")
    return Distinct(distinct.values, distinct.codes[order]), np.bincount(number)


def column_values(series: Any) -> Distinct:
    """The symbols of a column."""
    return distinct_of(raw_from_series(series, SYMBOL))
