"""Tables with columns of numbers beside columns of categories.

What is understood as a table is what `tacit.core.input.read_table` understands. A column is one of numbers
(*continuous*) where it holds nothing but numbers, integers or floats, and more than 20 different ones; or
where the caller says so. All others are coded like those of a `Table`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.encoders.encoders import BinEncoder, Encoder, IndicatorEncoder
from tacit.core.input.decode import written
from tacit.core.input.frames import is_frame
from tacit.core.input.frames_out import Filled, with_other_columns
from tacit.core.input.table import (
    TEMPORAL,
    Codes,
    Column,
    Schema,
    Table,
    empty_codes,
    label_from_json,
    label_to_json,
    unit_from_json,
    unit_to_json,
)
from tacit.errors import ArgumentError, FileFormatError

Floats = NDArray[np.float64]

CONTINUOUS = "continuous"
_FARTHEST = 1e150  # of the ends of columns in files: squares of such numbers are finite


@dataclass(frozen=True)
class NumberColumn(Column):
    """One variable whose values are numbers.

    Parameters
    ----------
    name : str
        What the user calls it.
    categories, kind
        Nothing, and ``"continuous"``.
    low, high : float
        The least and the largest number of the training data.
    """

    categories: tuple[Any, ...] = ()
    kind: str = CONTINUOUS
    low: float = 0.0
    high: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """The column as plain values that JSON can hold."""
        plain = {"name": self.name, "kind": self.kind, "low": self.low, "high": self.high}
        return plain | unit_to_json(self.unit) | label_to_json(self.label)


@dataclass(frozen=True)
class MixedSchema(Schema):
    """The columns of a table, in order; some of them may be numbers.

    Examples
    --------
    >>> schema = MixedSchema(
    ...     (Column("x", ("a", "b"), "text"), NumberColumn("y", low=0.0, high=9.5))
    ... )
    >>> schema.names, schema.cards, schema.continuous, schema.categorical
    (('x', 'y'), (2, 0), (1,), (0,))
    """

    @cached_property
    def continuous(self) -> tuple[int, ...]:
        """The places of the columns of numbers."""
        return tuple(
            place for place, column in enumerate(self.columns) if column.kind == CONTINUOUS
        )

    @cached_property
    def categorical(self) -> tuple[int, ...]:
        """The places of the other columns."""
        return tuple(
            place for place, column in enumerate(self.columns) if column.kind != CONTINUOUS
        )

    @cached_property
    def stored(self) -> tuple[int, ...]:
        """For each column its place among those of its kind."""
        places = dict(zip(self.continuous, range(len(self.continuous)), strict=True))
        places.update(zip(self.categorical, range(len(self.categorical)), strict=True))
        return tuple(places[place] for place in range(len(self)))

    def select(self, columns: Sequence[str | int]) -> MixedSchema:
        """The schema of some of the columns, in the order given."""
        return MixedSchema(tuple(self.columns[place] for place in self.places(columns)))

    @staticmethod
    def from_json(plain: Iterable[Mapping[str, Any]]) -> MixedSchema:
        """The schema that `to_json` wrote.

        Raises
        ------
        FileFormatError
            Where fields are absent or hold something else than plain values.
        """
        columns: list[Column] = []
        try:
            for entry in plain:
                if entry["kind"] == CONTINUOUS:
                    name, low, high = entry["name"], float(entry["low"]), float(entry["high"])
                    if not isinstance(name, str) or not -_FARTHEST <= low <= high <= _FARTHEST:
                        raise TypeError("a column of numbers has a name and two finite ends")
                    label = label_from_json(entry)
                    unit = unit_from_json(entry)
                    columns.append(NumberColumn(name, low=low, high=high, label=label, unit=unit))
                else:
                    columns.extend(Schema.from_json([entry]).columns)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise FileFormatError(f"not a description of columns: {error!r}") from error
        schema = MixedSchema(tuple(columns))
        if not columns or len(set(schema.names)) < len(columns):
            raise FileFormatError("not a description of columns: there is none, or one comes twice")
        return schema


@dataclass(frozen=True, eq=False)
class MixedTable:
    """A number or a code per cell, and perhaps a weight per row.

    Parameters
    ----------
    schema : MixedSchema
        What the columns mean.
    numbers : (row, continuous column) float64
        The columns of numbers, NaN where a cell is missing. Fortran order.
    codes : (row, categorical column) int16 or int32
        The other columns, -1 where a cell is missing. Fortran order.
    weights : (row,) float64, optional
        How much each row counts; None where all count one.
    """

    schema: MixedSchema
    numbers: Floats
    codes: Codes
    weights: Floats | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.numbers)

    def column(self, column: str | int) -> NDArray[Any]:
        """(row,) the numbers or the codes of one column: what its encoder takes."""
        place = self.schema.places([column])[0]
        kind = self.numbers if place in self.schema.continuous else self.codes
        return np.asarray(kind[:, self.schema.stored[place]])

    @cached_property
    def missing(self) -> NDArray[np.bool_]:
        """(row, column) which cells are missing."""
        missing = np.empty((self.n_rows, len(self.schema)), dtype=np.bool_, order="F")
        missing[:, self.schema.continuous] = np.isnan(self.numbers)
        missing[:, self.schema.categorical] = self.codes < 0
        return missing

    def select(self, columns: Sequence[str | int]) -> MixedTable:
        """The table of some of the columns, by name or place, in the order given."""
        places = self.schema.places(columns)
        schema = self.schema.select(places)
        numbers = [self.schema.stored[places[column]] for column in schema.continuous]
        codes = [self.schema.stored[places[column]] for column in schema.categorical]
        return MixedTable(
            schema,
            np.asfortranarray(self.numbers[:, numbers]),
            np.asfortranarray(self.codes[:, codes]),
            self.weights,
        )

    def take(self, rows: slice | NDArray[Any]) -> MixedTable:
        """The table of some of the rows: a slice, row numbers or a mask."""
        return MixedTable(
            self.schema,
            np.asfortranarray(self.numbers[rows]),
            np.asfortranarray(self.codes[rows]),
            None if self.weights is None else self.weights[rows],
        )

    def filled(self, columns: Mapping[int, NDArray[Any]]) -> MixedTable:
        """The table with the missing cells of some columns taken from numbers or codes."""
        numbers, codes = self.numbers.copy(order="F"), self.codes.copy(order="F")
        for place, values in columns.items():
            stored = self.schema.stored[place]
            if place in self.schema.continuous:
                old = numbers[:, stored]
                numbers[:, stored] = np.where(np.isnan(old), values, old)
            else:
                old_codes = codes[:, stored]
                codes[:, stored] = np.where(old_codes < 0, values, old_codes)
        return MixedTable(self.schema, numbers, codes, self.weights)

    def filled_with_draws(self, columns: Mapping[int, NDArray[Any]]) -> MixedTable:
        """The same with drawn values: those of counts are rounded to whole numbers from zero."""
        counts = [
            j
            for j in self.schema.continuous
            if j in columns and self.schema.columns[j].unit == "count"
        ]
        whole = {place: np.maximum(np.rint(columns[place]), 0.0) for place in counts}
        return self.filled({**columns, **whole})


def empty_mixed(n_rows: int, schema: MixedSchema, weights: Floats | None = None) -> MixedTable:
    """A table in which every cell is missing."""
    numbers = np.full((n_rows, len(schema.continuous)), np.nan, order="F")
    codes = empty_codes(n_rows, Schema(tuple(schema.columns[j] for j in schema.categorical)))
    return MixedTable(schema, numbers, codes, weights)


def joined_rows(parts: Sequence[MixedTable]) -> MixedTable:
    """The rows of several tables of the same columns, one after the other; without weights."""
    numbers = np.concatenate([part.numbers.T for part in parts], axis=1).T
    codes = np.concatenate([part.codes.T for part in parts], axis=1).T
    return MixedTable(parts[0].schema, numbers, codes)


def binned_table(table: MixedTable, encoders: Sequence[Encoder]) -> Table:
    """The table of categories in which every column of numbers is cut into its encoder's bins.

    Parameters
    ----------
    table : MixedTable
        The rows.
    encoders : sequence of Encoder
        One for each column: `BinEncoder` for numbers, `IndicatorEncoder` for categories.

    Returns
    -------
    Table
        With a column of kind ``"binned"`` in place of each column of numbers.
    """
    columns = []
    for place, (column, encoder) in enumerate(zip(table.schema.columns, encoders, strict=True)):
        if isinstance(encoder, BinEncoder):
            columns.append(encoder.column(column.name))
        elif isinstance(encoder, IndicatorEncoder) and place in table.schema.categorical:
            columns.append(column)
        else:
            raise ArgumentError(f"column {column.name!r} has features, but no bins")
    schema = Schema(tuple(columns))
    codes = empty_codes(table.n_rows, schema)
    for place, encoder in enumerate(encoders):
        values = table.column(place)
        codes[:, place] = encoder.codes(values) if isinstance(encoder, BinEncoder) else values
    return Table(schema, codes, table.weights)


def complete_mixed(X: Any, table: MixedTable) -> Any:
    """The table X with its gaps filled, in the caller's kind of table; see `decode.complete`.

    Parameters
    ----------
    X : table
        What the user brought. Columns of a frame that the model does not know stay as they are.
    table : MixedTable
        The completed rows.
    """
    decoded = decode_mixed(table, like=X)
    return with_other_columns(decoded, X) if is_frame(X) else decoded


def decode_mixed(table: MixedTable, *, like: Any = "numpy") -> Any:
    """The values of a table, in the caller's kind of table.

    Columns of numbers come back as floats, or as the integers of the caller's type where none has a
    fraction; dates and times as such; everything else as `tacit.core.input.decode.decode` says.

    Parameters
    ----------
    table : MixedTable
        Numbers and codes.
    like : table, or one of "numpy", "pandas", "polars", "pyarrow", "dict"
        What the result should be.

    Examples
    --------
    >>> from tacit.core.input.read_mixed_table import read_mixed
    >>> rows = [["a", 1.5], ["b", None]]
    >>> table = read_mixed(rows, continuous=["x1"])
    >>> decode_mixed(table.filled({1: np.array([9.0, 2.5])}), like=rows)
    [['a', 1.5], ['b', 2.5]]
    """
    columns = {}
    labels = table.schema.labels
    for place, (label, column) in enumerate(zip(labels, table.schema.columns, strict=True)):
        values = table.column(place)
        if place in table.schema.continuous:
            codes = np.where(np.isnan(values), np.int16(-1), np.int16(0))
            dates = column.unit if column.unit in TEMPORAL else None
            columns[label] = Filled((0.0,), codes, values, dates)
        else:
            columns[label] = Filled(column.values, values)
    return written(columns, like)
