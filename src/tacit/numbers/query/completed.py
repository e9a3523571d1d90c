"""Tables with their gaps filled, in the caller's kind of table; observed cells stay exactly as they are."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from tacit.core.input.chunks import Block
from tacit.core.input.column_matching import matched_places
from tacit.core.input.decode import written
from tacit.core.input.encode import coded
from tacit.core.input.frames import as_frame, is_frame
from tacit.core.input.frames_out import Filled, with_other_columns
from tacit.core.input.mixed_table import MixedSchema, MixedTable, NumberColumn, empty_mixed
from tacit.core.input.read_mixed_table import numbers_of
from tacit.core.input.table import TEMPORAL, Column
from tacit.core.input.values import Distinct, Numbers, Raw, distinct_numbers

INDICATOR = "missingindicator_"


def gaps_of(block: Block, schema: MixedSchema) -> NDArray[np.bool_]:
    """(row, column) which cells of a block are missing; a category that was never seen is not."""
    gaps = np.empty((block.n_rows, len(schema)), dtype=np.bool_)
    for leaf, place in enumerate(matched_places(block, schema, extras="ignore")):
        raw, column = block.read(place), schema.columns[leaf]
        if isinstance(column, NumberColumn):
            numbers = numbers_of(raw, column, "missing", minus_one=block.minus_one)
            gaps[:, leaf] = np.isnan(numbers)
        else:
            gaps[:, leaf] = _missing(_distinct(raw), column, minus_one=block.minus_one)
    return gaps


def completed(
    X: Any,
    block: Block,
    filled: MixedTable,
    *,
    dropped: Sequence[str] = (),
    indicators: Sequence[int] = (),
    like: Any = None,
) -> Any:
    """A table with its gaps filled.

    Parameters
    ----------
    X : table
        What the caller brought.
    block : Block
        The same as it was read.
    filled : MixedTable
        The rows without gaps.
    dropped : sequence of str
        Columns to leave out.
    indicators : sequence of int
        Columns of the schema for which a column is added that says where it was missing.
    like : table or name of a library, optional
        The kind of table to return; by default that of X.
    """
    schema = filled.schema
    leaf_at = {p: leaf for leaf, p in enumerate(matched_places(block, schema, extras="ignore"))}
    labels = block.labels or block.names
    native = like is None and is_frame(X)
    columns: dict[Hashable, Filled] = {}
    for place, name in enumerate(block.names):
        if name in dropped or (native and place not in leaf_at):
            continue
        raw = block.read(place)
        if place in leaf_at:
            leaf = leaf_at[place]
            values = filled.column(leaf)
            columns[labels[place]] = _completed(raw, schema.columns[leaf], values, block.minus_one)
        else:
            columns[labels[place]] = _as_it_is(raw)
    if native:
        columns = _with_indicators(columns, block, schema, ())
        frame = as_frame(with_other_columns(written(columns, X), X))
        assert frame is not None
        frame = frame.drop([name for name in frame.columns if str(name) in dropped])
        return _frame_with_indicators(frame, block, schema, indicators)
    return written(
        _with_indicators(columns, block, schema, indicators), X if like is None else like
    )


def _with_indicators(
    columns: dict[Hashable, Filled], block: Block, schema: MixedSchema, indicators: Sequence[int]
) -> dict[Hashable, Filled]:
    if not len(indicators):
        return columns
    gaps = gaps_of(block, schema)
    shown = {
        f"{INDICATOR}{schema.names[leaf]}": Filled((False, True), gaps[:, leaf].astype(np.int16))
        for leaf in indicators
    }
    return columns | dict(shown)


def _frame_with_indicators(
    frame: nw.DataFrame[Any], block: Block, schema: MixedSchema, indicators: Sequence[int]
) -> Any:
    if not len(indicators):
        return frame.to_native()
    gaps = gaps_of(block, schema)
    native = frame.to_native()
    if frame.implementation.is_pandas_like():
        return native.assign(
            **{f"{INDICATOR}{schema.names[leaf]}": gaps[:, leaf] for leaf in indicators}
        )
    added = [
        nw.new_series(
            f"{INDICATOR}{schema.names[leaf]}", gaps[:, leaf].tolist(), backend=frame.implementation
        )
        for leaf in indicators
    ]
    return frame.with_columns(*added).to_native()


def _distinct(raw: Raw) -> Distinct:
    return distinct_numbers(raw) if isinstance(raw, Numbers) else raw


def _missing(raw: Distinct, column: Column, *, minus_one: bool) -> NDArray[np.bool_]:
    missing = raw.codes < 0
    if minus_one and -1 in raw.values and -1 not in column.categories:
        missing |= raw.codes == raw.values.index(-1)
    return np.asarray(missing)


def _completed(raw: Raw, column: Column, values: NDArray[Any], minus_one: bool) -> Filled:
    """A column with its gaps filled by numbers, or by codes of categories."""
    if isinstance(column, NumberColumn):
        numbers = numbers_of(raw, column, "missing", minus_one=minus_one)
        unit = raw.unit if isinstance(raw, Distinct) and raw.unit else column.unit
        known = np.where(np.isnan(numbers), values, numbers)
        none_missing = np.zeros(len(numbers), dtype=np.int16)
        return Filled((0.0,), none_missing, known, unit if unit in TEMPORAL else None)
    distinct = _distinct(raw)
    missing = _missing(distinct, column, minus_one=minus_one)
    codes = np.where(missing, len(distinct.values) + values.astype(np.int64), distinct.codes)
    # Only what occurs, so that types are those of the cells.
    used, places = np.unique(codes, return_inverse=True)
    every = [*distinct.values, *column.categories]
    return Filled(tuple(every[code] for code in used), places.astype(np.int64))


def _as_it_is(raw: Raw) -> Filled:
    if isinstance(raw, Numbers):
        codes = np.where(np.isnan(raw.values), np.int16(-1), np.int16(0))
        return Filled((0.0,), codes, raw.values)
    if raw.days is not None:
        numbers = np.append(raw.days, np.nan)[raw.codes]
        return Filled((0.0,), np.where(raw.codes < 0, -1, 0), numbers, raw.unit)
    return Filled(tuple(raw.values), raw.codes)


def coded_rows(block: Block, schema: MixedSchema) -> MixedTable:
    """The rows of a block as numbers and codes; what was never seen is missing."""
    table = empty_mixed(block.n_rows, schema)
    for leaf, place in enumerate(matched_places(block, schema, extras="ignore")):
        raw, column, stored = block.read(place), schema.columns[leaf], schema.stored[leaf]
        if isinstance(column, NumberColumn):
            numbers = numbers_of(raw, column, "missing", minus_one=block.minus_one)
            table.numbers[:, stored] = numbers
        else:
            table.codes[:, stored] = coded(
                raw, column, unknown="missing", minus_one_is_missing=block.minus_one
            )
    return table
