"""Reads what users pass as X into a `MixedTable` of numbers and categories."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.encoders.bins import MOST_DISTINCT_FLOATS
from tacit.core.input.chunks import Block, Chunks, as_source, check_size
from tacit.core.input.column_kinds import NUMERIC, declared
from tacit.core.input.column_matching import matched_places
from tacit.core.input.columns import (
    Observed,
    all_missing_text,
    is_identifier,
    learnt_column,
    observed,
    warn_of_identifiers,
)
from tacit.core.input.encode import coded, number_in_text
from tacit.core.input.mixed_table import (
    CONTINUOUS,
    MixedSchema,
    MixedTable,
    NumberColumn,
    empty_mixed,
)
from tacit.core.input.read_table import _places_of, check_anything_left
from tacit.core.input.sample_weight import as_weights, checked_weights
from tacit.core.input.table import TEMPORAL, Column, unknown_column_text
from tacit.core.input.values import Distinct, Raw, as_numbers
from tacit.core.limits import shown
from tacit.core.magnitudes import check_scale
from tacit.errors import ArgumentError, ArgumentTypeError, ColumnError, DataError

Floats = NDArray[np.float64]

_FIRST_ROWS = 1024  # enough to see that a column holds many numbers


def read_mixed(
    X: Any,
    *,
    continuous: Collection[Hashable] = (),
    categorical: Collection[Hashable] = (),
    columns: Mapping[Any, Any] | None = None,
    sample_weight: Any = None,
) -> MixedTable:
    """The table that X holds, with its columns learnt from it.

    Parameters
    ----------
    X : table
        See `tacit.core.input.read_table`.
    continuous, categorical : collections of str
        Columns that are numbers, or categories, whatever they look like.
    columns : mapping of column to kind, optional
        The same by name of column, and more kinds; see `tacit.core.input.column_kinds`.
    sample_weight : (row,) numbers, optional
        How much each row counts. A row of weight zero teaches nothing.

    Raises
    ------
    DataError
        Where X is no table, is empty, or has a column in which every value is missing.

    Examples
    --------
    >>> table = read_mixed({"x": np.linspace(0, 1, 30), "y": ["a", "b"] * 15})
    >>> table.schema.continuous, table.numbers.shape, table.codes.shape
    ((0,), (30, 1), (30, 1))
    """
    if isinstance(X, MixedTable) and not columns:
        return _weighed(X, sample_weight)
    source = declared(as_source(X), columns)
    blocks = _blocks(source)
    _check_names("continuous", continuous)
    _check_names("categorical", categorical)
    schema, n_rows = _learnt(blocks, continuous, categorical, sample_weight)
    warn_of_identifiers(schema.left_out)
    weights = checked_weights(sample_weight, n_rows)
    table = empty_mixed(n_rows, schema, weights)
    unknown = "error" if weights is None else "missing"
    start = 0
    for block in blocks:
        stop = start + block.n_rows
        if stop <= n_rows:
            _fill(table, slice(start, stop), block, unknown, partial=False, extras="error")
        start = stop
    if start != n_rows:
        raise DataError(
            f"the chunks had {n_rows} rows when they were run through first, and {start} the second time"
        )
    return table


def learnt_schema(X: Any, *, columns: Mapping[Any, Any] | None = None) -> MixedSchema:
    """What the columns of a table are, without its cells; nothing is said of columns that are left out."""
    if isinstance(X, MixedTable):
        return X.schema
    blocks = _blocks(declared(as_source(X), columns))
    return _learnt(blocks, (), (), None)[0]


def encode_mixed(
    X: Any,
    schema: MixedSchema,
    *,
    unknown: str = "error",
    partial: bool = False,
    extras: str | None = None,
    sample_weight: Any = None,
) -> MixedTable:
    """The table that X holds, by a schema that is already known; see `tacit.core.input.read_table.encode`."""
    if unknown not in {"error", "missing"}:
        raise ArgumentError(f"unknown must be 'error' or 'missing', not {unknown!r}")
    if extras is None:
        extras = "typos" if partial else "error"
    if extras not in {"error", "typos", "ignore"}:
        raise ArgumentError(f"extras must be 'error', 'typos' or 'ignore', not {extras!r}")
    if isinstance(X, MixedTable) and X.schema == schema:
        return _weighed(X, sample_weight)
    parts = []
    for block in _blocks(as_source(X)):
        part = empty_mixed(block.n_rows, schema)
        _fill(part, slice(None), block, unknown, partial=partial, extras=extras)
        parts.append(part)
    n_rows = sum(part.n_rows for part in parts)
    check_size(n_rows, len(schema))
    weights = checked_weights(sample_weight, n_rows)
    if len(parts) == 1:
        return MixedTable(schema, parts[0].numbers, parts[0].codes, weights)
    numbers = np.concatenate([part.numbers.T for part in parts], axis=1).T
    codes = np.concatenate([part.codes.T for part in parts], axis=1).T
    return MixedTable(schema, numbers, codes, weights)


def _check_names(argument: str, given: Any) -> None:
    if isinstance(given, str) or not isinstance(given, Collection):
        raise ArgumentTypeError(f"{argument}={shown(given)}; give names of columns in a list")


def _weighed(table: MixedTable, sample_weight: Any) -> MixedTable:
    """A table that was read before, its weights times those given."""
    check_size(table.n_rows, len(table.schema))
    weights = checked_weights(sample_weight, table.n_rows)
    if weights is None:
        return table
    row_weights = 1.0 if table.weights is None else table.weights
    return replace(table, weights=weights * row_weights)


def _blocks(source: Block | Chunks) -> Iterable[Block]:
    if isinstance(source, Chunks):
        return source
    check_size(source.n_rows, len(source.names))
    return [source]


def _fill(
    table: MixedTable, rows: slice, block: Block, unknown: str, *, partial: bool, extras: str
) -> None:
    """Write the cells of a block into some rows of a table that was just made."""
    schema = table.schema
    places = matched_places(block, schema, partial=partial, extras=extras)
    for place, column, stored in zip(places, schema.columns, schema.stored, strict=True):
        if place < 0:
            continue
        raw = block.read(place)
        if isinstance(column, NumberColumn):
            table.numbers[rows, stored] = numbers_of(
                raw, column, unknown, minus_one=block.minus_one
            )
        else:
            table.codes[rows, stored] = coded(
                raw, column, unknown=unknown, minus_one_is_missing=block.minus_one
            )


def numbers_of(raw: Raw, column: NumberColumn, unknown: str, *, minus_one: bool = False) -> Floats:
    """The numbers of a column, NaN where a cell is missing; text is read as a number where it can be.

    Raises
    ------
    DataError
        Where a value is no number, unless unknown values are taken as missing.
    """
    numbers = as_numbers(raw)
    if numbers is None:
        assert isinstance(raw, Distinct)
        parsed = [_number(value, column, unknown) for value in raw.values]
        return np.asarray(np.array([*parsed, np.nan])[raw.codes])
    if minus_one and column.low > -1:
        return np.where(numbers.values == -1, np.nan, numbers.values)
    return numbers.values


def _number(value: Any, column: NumberColumn, unknown: str) -> float:
    number = number_in_text(value, column)
    if number is not None:
        return number
    if unknown == "missing":
        return np.nan
    what = "dates or times" if column.unit in TEMPORAL else "numbers"
    raise DataError(
        f"column {column.name!r} holds {what}, but here also {value!r}; "
        f"unknown='missing' takes what is no number as missing"
    )


@dataclass
class _Watched:
    """One column while blocks are read: its values, until it is clear that they are numbers."""

    name: str
    declared: str | None  # the kind that the caller gives
    parts: list[Observed] = field(default_factory=list)
    numeric: bool = True  # nothing but numbers so far
    distinct: set[float] = field(default_factory=set)  # while they are few
    many: bool = False  # numbers, and too many of them to be categories
    low: float = np.inf  # of all numbers but a -1 that may stand for a missing one
    high: float = -np.inf
    minus_one: bool = False  # whether there is such a -1
    whole: bool = True  # no number has a fraction
    units: set[str] = field(default_factory=set)  # of dates and times

    def watch(self, raw: Raw, weights: Floats | None, *, minus_one: bool) -> None:
        """Look at one block."""
        values = None if self.declared == "categorical" else _plain_numbers(raw)
        if values is None:
            if self.many or self.declared == CONTINUOUS:
                raise DataError(
                    f"column {self.name!r} holds numbers, but in some rows something else; "
                    f"columns={{{self.name!r}: 'category'}} takes every value as a category"
                )
            self.numeric = False
        else:
            counted = values if weights is None else values[weights > 0]
            self._note_range(counted, minus_one=minus_one)
            if not np.isnan(values).all():  # a block of gaps alone has no unit
                self.units.add(raw.unit if isinstance(raw, Distinct) else "")
            self._note_distinct(counted)
        if not self.many:
            self.parts.append(observed(raw, weights))

    def _note_range(self, values: Floats, *, minus_one: bool) -> None:
        if minus_one:
            aside = values == -1
            self.minus_one |= bool(aside.any())
            values = values[~aside]
        self.low = min(self.low, float(np.fmin.reduce(values, initial=np.inf)))
        self.high = max(self.high, float(np.fmax.reduce(values, initial=-np.inf)))
        if self.whole:
            known = values[~np.isnan(values)]
            self.whole = bool((known == np.rint(known)).all())

    def _note_distinct(self, values: Floats) -> None:
        if self.many or not self.numeric:
            return
        for rows in (values[:_FIRST_ROWS], values):
            distinct = np.unique(rows)
            self.distinct.update(distinct[~np.isnan(distinct)].tolist())
            if len(self.distinct) > MOST_DISTINCT_FLOATS or len(values) <= _FIRST_ROWS:
                break
        if len(self.distinct) > MOST_DISTINCT_FLOATS or self.declared == CONTINUOUS:
            self.many, self.parts, self.distinct = True, [], set()

    @property
    def left_out(self) -> bool:
        """Whether the column holds identifiers or free text, of which nothing can be learnt."""
        return not self.many and self.declared is None and is_identifier(self.parts)

    def learnt(self, *, minus_one_is_missing: bool) -> Column:
        """The column that was watched."""
        if not self.many:
            # As lists without days, so that nothing is cut into bins.
            parts = [
                Observed(list(np.asarray(part.values).tolist()), part.weights, part.levels)
                if isinstance(part.values, np.ndarray)
                else replace(part, n_rows=0, days=None)
                for part in self.parts
            ]
            return learnt_column(
                self.name, parts, n_bins=2, minus_one_is_missing=minus_one_is_missing
            )
        low, high = self.low, self.high
        if self.minus_one and not minus_one_is_missing:
            low, high = min(low, -1.0), max(high, -1.0)
        if not low <= high:
            raise DataError(all_missing_text(self.name))
        check_scale(max(-low, high), f"column {self.name!r}")
        return NumberColumn(self.name, low=low, high=high, unit=self._unit(low))

    def _unit(self, low: float) -> str:
        """What the numbers count: days of some kind, or things."""
        if self.units and "" not in self.units:
            return self.units.pop() if len(self.units) == 1 else "datetime"
        return "count" if self.whole and low >= 0 else ""


def _plain_numbers(raw: Raw) -> Floats | None:
    """The column as numbers; None where it holds text, booleans or the levels of a categorical."""
    if isinstance(raw, Distinct) and (
        raw.levels or raw.declared or any(isinstance(value, bool) for value in raw.values)
    ):
        return None
    numbers = as_numbers(raw)
    return None if numbers is None else numbers.values


def _learnt(
    blocks: Iterable[Block],
    continuous: Collection[Hashable],
    categorical: Collection[Hashable],
    sample_weight: Any,
) -> tuple[MixedSchema, int]:
    """The schema of all blocks together, and how many rows they have."""
    weights = as_weights(sample_weight)
    watched: list[_Watched] = []
    labels: tuple[Hashable, ...] = ()
    ignored: tuple[str, ...] = ()
    integers = _Integers()
    n_rows = 0
    for block in blocks:
        places = list(range(len(block.names)))
        if not watched:
            check_size(block.n_rows, len(block.names))
            watched, labels = _first_sight(block, continuous, categorical), block.labels
            ignored = block.ignored
        else:
            places = _places_of(tuple(column.name for column in watched), block)
        these = None if weights is None else weights[n_rows : n_rows + block.n_rows]
        n_rows += block.n_rows
        if these is not None and len(these) < block.n_rows:
            continue  # counted to the end, so that the error can say how many rows there are
        for column, place in zip(watched, places, strict=True):
            raw = block.read(place)
            column.watch(raw, these, minus_one=block.minus_one)
            if block.minus_one and isinstance(raw, Distinct):
                integers.note(raw, these)
    check_size(n_rows, len(watched) or 1)
    checked_weights(sample_weight, n_rows)
    missing = integers.minus_one_is_missing
    columns = [
        column.learnt(minus_one_is_missing=missing) for column in watched if not column.left_out
    ]
    left_out = tuple(column.name for column in watched if column.left_out)
    check_anything_left(columns, left_out)
    return MixedSchema(tuple(columns), left_out, ignored).labelled(labels), n_rows


def _first_sight(
    block: Block, continuous: Collection[Hashable], categorical: Collection[Hashable]
) -> list[_Watched]:
    labels = block.labels or block.names
    names = dict(zip((*block.names, *labels), block.names * 2, strict=True))
    for label in (*continuous, *categorical):
        if not isinstance(label, Hashable) or label not in names:
            raise ColumnError(unknown_column_text(label, labels))
    both = [label for label in continuous if label in categorical]
    if both:
        raise ArgumentError(f"column {both[0]!r} cannot be both continuous and categorical")
    said = {
        **{names[label]: CONTINUOUS for label in continuous},
        **{names[label]: "categorical" for label in categorical},
    }
    for name, kind in block.kinds.items():
        said[name] = CONTINUOUS if kind in NUMERIC else "categorical"
    return [_Watched(name, said.get(name)) for name in block.names]


@dataclass
class _Integers:
    """What an array of integers shows of -1; see `tacit.core.input.columns.minus_one_is_missing`."""

    low: int = 0
    ones: bool = False
    others: bool = False  # neither -1 nor 1

    def note(self, raw: Distinct, weights: Floats | None) -> None:
        """Look at one column of a block."""
        values = raw.values if weights is None else observed(raw, weights).values
        if len(values):
            self.low = min(self.low, *values)
            self.ones |= 1 in values
            self.others |= any(value not in {-1, 1} for value in values)

    @property
    def minus_one_is_missing(self) -> bool:
        """Whether -1 stands for a missing value."""
        return self.low == -1 and (self.others or not self.ones)
