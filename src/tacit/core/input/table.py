"""A table of categories: its schema, and one code per cell."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tacit.core.arguments import did_you_mean
from tacit.core.limits import shown
from tacit.errors import ColumnError, DataError, FileFormatError

Codes = NDArray[np.int16 | np.int32]

TEMPORAL = ("date", "datetime", "time", "duration")
UNITS = ("", "count", *TEMPORAL)

MISSING = -1
UNKNOWN = -2  # only while reading: a value that is not one of the categories

SMALL_WIDTH = 256  # integers from -1 to 254 are looked up in a table

# The largest number of categories whose codes, and one code for "missing", fit into int16.
LARGEST_INT16_CARD = 32767


@dataclass(frozen=True)
class Column:
    """One variable: its name and the values it can take, in the order of their codes.

    Parameters
    ----------
    name : str
        What the user calls it.
    categories : tuple of str, int, float or bool
        The value of each code. Sorted; an ordered categorical keeps its own order, also of levels that
        the data never shows. For a column that was cut into bins: a label of each bin.
    kind : str
        ``"text"``, ``"integer"``, ``"boolean"``, ``"number"`` (few distinct floats), ``"mixed"`` (several of
        these together), ``"ordered"`` (an ordered categorical) or ``"binned"`` (cut at quantiles).
    edges : tuple of float, optional
        Of a binned column: the cuts between the bins, ascending; a value equal to a cut is below it.
    centers : tuple of float, optional
        Of a binned column: the median of the data in each bin, which stands for the bin as a number.
    label : hashable, optional
        What the user calls it, where that is not text: the name is then the text of the label.
    unit : str
        Of numbers, also where they are cut into bins: ``"count"`` (whole numbers from zero), ``"date"``,
        ``"datetime"``, ``"time"`` or ``"duration"`` (all in days), or nothing.
    """

    name: str
    categories: tuple[Any, ...]
    kind: str
    edges: tuple[float, ...] | None = None
    centers: tuple[float, ...] | None = None
    label: Hashable = None
    unit: str = ""

    @property
    def card(self) -> int:
        """Number of categories."""
        return len(self.categories)

    @cached_property
    def values(self) -> tuple[Any, ...]:
        """What a code turns back into: the category, or the center of a bin."""
        return self.categories if self.centers is None else self.centers

    def to_json(self) -> dict[str, Any]:
        """The column as plain values that JSON can hold."""
        plain: dict[str, Any] = {
            "name": self.name,
            "categories": list(self.categories),
            "kind": self.kind,
        }
        if self.edges is not None and self.centers is not None:
            plain["edges"], plain["centers"] = list(self.edges), list(self.centers)
        return plain | unit_to_json(self.unit) | label_to_json(self.label)


def unit_to_json(unit: str) -> dict[str, str]:
    """The unit of a column as plain values: nothing where it has none."""
    return {"unit": unit} if unit else {}


def unit_from_json(plain: Mapping[str, Any]) -> str:
    """The unit that `unit_to_json` wrote."""
    unit = plain.get("unit", "")
    if not isinstance(unit, str) or unit not in UNITS:
        raise ValueError(f"{shown(unit)} is no unit; units are {listing(UNITS[1:])}")
    return unit


def label_to_json(label: Hashable) -> dict[str, Any]:
    """The label of a column as plain values, where they can hold it; else its name has to do."""
    parts = label if isinstance(label, tuple) else (label,)
    if label is None or not all(isinstance(part, str | int | float) for part in parts):
        return {}
    return {"label": list(label) if isinstance(label, tuple) else label}


def label_from_json(plain: Mapping[str, Any]) -> Hashable:
    """The label that `label_to_json` wrote; None where there is none."""
    label = plain.get("label")
    if isinstance(label, list):
        label = tuple(label)
    parts = label if isinstance(label, tuple) else (label,)
    if label is not None and not all(isinstance(part, str | int | float) for part in parts):
        raise TypeError("the label of a column is text, a number, or a list of these")
    return label


@dataclass(frozen=True)
class Schema:
    """The columns of a table, in order.

    Examples
    --------
    >>> schema = Schema((Column("x", ("a", "b"), "text"), Column("y", (0, 1, 2), "integer")))
    >>> schema.names, schema.cards, schema.index("y")
    (('x', 'y'), (2, 3), 1)
    """

    columns: tuple[Column, ...]
    left_out: tuple[str, ...] = field(
        default=(), compare=False
    )  # columns that nothing can be learnt of
    ignored: tuple[str, ...] = field(default=(), compare=False)  # that the caller told to leave out

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)

    @cached_property
    def labels(self) -> tuple[Hashable, ...]:
        """What the user calls the columns: their names, or what is no text."""
        return tuple(
            column.name if column.label is None else column.label for column in self.columns
        )

    @cached_property
    def cards(self) -> tuple[int, ...]:
        """The number of categories of each column."""
        return tuple(len(column.categories) for column in self.columns)

    @cached_property
    def _places(self) -> dict[Hashable, int]:
        """By name and by label; columns without names, x0, x1, ..., go by their place too."""
        places: dict[Hashable, int] = {name: place for place, name in enumerate(self.names)}
        if all(name == f"x{place}" for place, name in enumerate(self.names)):
            places.update((place, place) for place in range(len(self.names)))
        return places | {label: place for place, label in enumerate(self.labels)}

    def index(self, name: Hashable) -> int:
        """The place of a column; a `ColumnError` that names a near one where it is not known."""
        if name not in self:
            raise ColumnError(unknown_column_text(name, self.labels))
        return self._places[name]

    def __contains__(self, name: object) -> bool:
        try:
            return name in self._places
        except TypeError:  # a list is no name
            return False

    def __getitem__(self, name: Hashable) -> Column:
        return self.columns[self.index(name)]

    def labelled(self, labels: Sequence[Hashable]) -> Self:
        """The same columns with labels that are not text; nothing changes without any."""
        if not labels:
            return self
        by_name = {str(label): label for label in labels}
        columns = (
            column
            if isinstance(by_name[column.name], str)
            else replace(column, label=by_name[column.name])
            for column in self.columns
        )
        return replace(self, columns=tuple(columns))

    def __len__(self) -> int:
        return len(self.columns)

    @cached_property
    def small_integers(self) -> NDArray[np.int16] | None:
        """The code of every small integer, for columns of nothing but small integers or booleans.

        Entry ``[j, v + 1]`` is the code of the value v in column j, for v from -1 to 254, and `UNKNOWN` where
        v is no category; None where some column has another kind of category.
        """
        table = np.full((len(self.columns), SMALL_WIDTH), UNKNOWN, dtype=np.int16)
        for row, column in zip(table, self.columns, strict=True):
            for code, value in enumerate(column.categories):
                if not (isinstance(value, int) and MISSING <= value < SMALL_WIDTH - 1):
                    return None
                row[value + 1] = code
        return table

    def select(self, columns: Sequence[str | int]) -> Schema:
        """The schema of some of the columns, in the order given."""
        return Schema(tuple(self.columns[place] for place in self.places(columns)))

    def places(self, columns: Sequence[str | int]) -> list[int]:
        """The places of columns given by name or by place."""
        return [
            self.index(column) if isinstance(column, str) else int(column) for column in columns
        ]

    def to_json(self) -> list[dict[str, Any]]:
        """The schema as plain values that JSON can hold; `from_json` reads them back."""
        return [column.to_json() for column in self.columns]

    @staticmethod
    def from_json(plain: Iterable[Mapping[str, Any]]) -> Schema:
        """The schema that `to_json` wrote.

        Raises
        ------
        FileFormatError
            Where fields are absent or hold something else than plain values.
        """
        try:
            schema = Schema(tuple(_column_from_json(entry) for entry in plain))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise FileFormatError(f"not a description of columns: {error!r}") from error
        if not schema.columns or len(set(schema.names)) < len(schema.names):
            raise FileFormatError("not a description of columns: there is none, or one comes twice")
        return schema


def _column_from_json(plain: Mapping[str, Any]) -> Column:
    name, kind, categories = plain["name"], plain["kind"], tuple(plain["categories"])
    if not (isinstance(name, str) and isinstance(kind, str)):
        raise TypeError("name and kind of a column are text")
    if not all(isinstance(value, str | int | float) for value in categories):
        raise TypeError("categories are text, numbers or booleans")
    _check_finite(name, [value for value in categories if isinstance(value, float)])
    if len({(type(value), value) for value in categories}) < len(categories):
        raise ValueError(f"column {name!r} has a category twice")
    label, unit = label_from_json(plain), unit_from_json(plain)
    if "edges" not in plain:
        return Column(name, categories, kind, label=label)
    edges = tuple(float(edge) for edge in plain["edges"])
    centers = tuple(float(center) for center in plain["centers"])
    _check_finite(name, [*edges, *centers])
    if not len(edges) + 1 == len(centers) == len(categories):
        raise ValueError(f"column {name!r} has {len(edges)} cuts but {len(categories)} bins")
    return Column(name, categories, kind, edges, centers, label, unit)


def _check_finite(name: str, values: Sequence[float]) -> None:
    if not all(math.isfinite(value) for value in values):
        raise ValueError(f"column {name!r} has a category that is no finite number")


@dataclass(frozen=True, eq=False)
class Table:
    """One code per cell, and perhaps a weight per row.

    Parameters
    ----------
    schema : Schema
        What the columns and their codes mean.
    codes : (row, column) int16 or int32
        The place of each cell's value in its column's categories, -1 where it is missing. Fortran order:
        each column is contiguous. int32 only where a column has more than 32767 categories.
    weights : (row,) float64, optional
        How much each row counts; None where all count one.
    """

    schema: Schema
    codes: Codes
    weights: NDArray[np.float64] | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.codes.shape[0])

    def select(self, columns: Sequence[str | int]) -> Table:
        """The table of some of the columns, by name or place, in the order given."""
        places = self.schema.places(columns)
        codes = np.asfortranarray(self.codes[:, places])
        return Table(self.schema.select(places), codes, self.weights)

    def take(self, rows: slice | NDArray[Any]) -> Table:
        """The table of some of the rows: a slice, row numbers or a mask."""
        weights = None if self.weights is None else self.weights[rows]
        return Table(self.schema, np.asfortranarray(self.codes[rows]), weights)


def empty_codes(n_rows: int, schema: Schema) -> Codes:
    """An empty array for the codes of a table: every cell missing, each column contiguous."""
    largest = max(schema.cards, default=0)
    dtype = np.dtype(np.int16 if largest <= LARGEST_INT16_CARD else np.int32)
    return np.full((n_rows, len(schema)), MISSING, dtype=dtype, order="F")


def unknown_column_text(name: object, known: Sequence[Hashable]) -> str:
    """The words for a column that is not there: what is near, and what there is."""
    return f"there is no column {shown(name)}{did_you_mean(name, known)} The columns are {listing(known)}"


def listing(values: Iterable[Any], most: int = 8) -> str:
    """Some values side by side, for the words of an error."""
    listed = list(values)
    more = f", ... ({len(listed)} in all)" if len(listed) > most else ""
    return ", ".join(shown(value) for value in listed[:most]) + more


def check_names(names: Sequence[str]) -> None:
    """Raise a `DataError` where two columns have the same name."""
    if len(set(names)) == len(names):
        return
    twice = sorted(name for name, times in Counter(names).items() if times > 1)
    raise DataError(
        f"column names must differ, but there is more than one column named {listing(twice)}; "
        f"rename them (a CSV file without a header line shows the same sign)"
    )
