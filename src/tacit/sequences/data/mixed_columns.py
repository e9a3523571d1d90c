"""Sequences of columns of different kinds, from frames with a row for each position."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.input.frames import as_frame, frame_columns
from tacit.core.input.table import unknown_column_text
from tacit.core.input.values import Distinct, Numbers, Raw, distinct_numbers, raw_from_objects
from tacit.core.limits import shown
from tacit.errors import ArgumentTypeError, CategoryError, ColumnError, DataError
from tacit.sequences.data.number_sequences import Series, checked_lengths

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

SEQUENCE, TIME = "sequence", "time"  # roles of columns besides kinds of emissions
_DEFAULTS = {SEQUENCE: ("sequence", "id"), TIME: ("time",)}  # names of columns that have them

Categories = tuple[tuple[Hashable, ...] | None, ...]


@dataclass(frozen=True, eq=False)
class MixedSeries(Series):
    """Sequences of rows of numbers, and of codes of categories."""

    categories: Categories = ()  # of each column; None of numbers
    order: Integers | None = (
        None  # (position,) its row in the frame; None where all are as they came
    )

    def recoded(self, categories: Categories) -> MixedSeries:
        """The same with codes of other categories, among which these are."""
        values = self.values.copy()
        for column, (old, new) in enumerate(zip(self.categories, categories, strict=True)):
            if old is None or new is None or old == new:
                continue
            places = {value: float(place) for place, value in enumerate(new)}
            table = np.array([places[value] for value in old] + [np.nan])
            codes = np.where(np.isnan(values[:, column]), -1, values[:, column]).astype(np.int64)
            values[:, column] = table[codes]
        return replace(self, values=values, categories=categories)


def joint_categories(one: Categories, other: Categories) -> Categories:
    """Those of both, column by column."""
    return tuple(
        None if old is None or new is None else old if old == new else _sorted({*old, *new})
        for old, new in zip(one, other, strict=True)
    )


def read_mixed(
    X: Any,
    roles: Mapping[str, str],
    lengths: Any = None,
    known: Categories | None = None,
    unknown: str = "error",
) -> MixedSeries:
    """Sequences from a frame with a row for each position.

    Rows of a sequence come in the order of their times, sequences in that of their first rows.

    Parameters
    ----------
    X : frame, or list of frames
        Of any library, or a dict of columns. Without a column that says to which sequence a row belongs it is
        one sequence; a list holds a sequence in each.
    roles : mapping of str to str
        What each column is: "categorical" or another kind of emissions, "sequence" or "time". Columns of
        these two roles are also found by their names: "sequence" or "id", "time". Others are left out.
    lengths : (sequence,) integers, optional
        Where the frame holds all sequences in turn.
    known : tuple, optional
        Categories of each column of a fitted model; columns of sequences and times may then be absent.
    unknown : {"error", "missing"}
        What is done with other categories.
    """
    if isinstance(X, MixedSeries):
        return X
    if isinstance(X, tuple) and len(X) == 2 and lengths is None and _is_table(X[0]):
        X, lengths = X
    columns = [name for name, role in roles.items() if role not in (SEQUENCE, TIME)]
    parts = list(X) if isinstance(X, list | tuple) else [X]
    if not parts:
        raise DataError("there is not a single sequence; give a frame, or a list of frames")
    tables = [_Rows.of(part, roles, columns, is_fitted=known is not None) for part in parts]
    if len(tables) == 1:
        sizes = tables[0].lengths
    else:
        several = np.flatnonzero([len(table.lengths) > 1 for table in tables])
        if len(several):
            raise DataError(
                f"frame {int(several[0])} of the list holds {len(tables[several[0]].lengths)} sequences; "
                f"give one frame with all of them, or one for each sequence"
            )
        sizes = np.array([int(table.lengths.sum()) for table in tables])
    joined = lengths is not None
    if lengths is not None:
        sizes = checked_lengths(lengths, int(sum(table.lengths.sum() for table in tables)))
    values: list[Array] = []
    categories: list[tuple[Hashable, ...] | None] = []
    for place, name in enumerate(columns):
        raws = [table.columns[place] for table in tables]
        if roles[name] == "categorical":
            names = None if known is None else known[place]
            codes, names = _coded(raws, name, names, unknown)
            values.append(codes)
            categories.append(names)
        else:
            values.append(np.concatenate([_numbers(raw, name) for raw in raws]))
            categories.append(None)
    single = not isinstance(X, list | tuple) and not joined and not tables[0].has_label
    matrix = np.ascontiguousarray(np.stack(values, axis=1))
    starts = np.cumsum([0, *(len(table.order) for table in tables[:-1])])
    order = np.concatenate(
        [table.order + start for table, start in zip(tables, starts, strict=True)]
    )
    return MixedSeries(matrix, sizes, tuple(columns), single, joined, tuple(categories), order)


def _is_table(X: Any) -> bool:
    return isinstance(X, Mapping) or as_frame(X) is not None


@dataclass(frozen=True, eq=False)
class _Rows:
    """The rows of a frame, sequence by sequence."""

    columns: list[Raw]
    lengths: Integers
    has_label: bool  # whether a column says to which sequence a row belongs
    order: Integers  # (position,) its row

    @staticmethod
    def of(
        frame: Any, roles: Mapping[str, str], columns: Sequence[str], *, is_fitted: bool
    ) -> _Rows:
        names, n_rows, reader = _columns_of(frame)
        places = {name: place for place, name in enumerate(names)}

        def column(name: str) -> Raw:
            if name not in places:
                raise ColumnError(unknown_column_text(name, list(places)))
            return reader(places[name], name)

        label, time = (column_of_role(role, roles, names) for role in (SEQUENCE, TIME))
        if is_fitted:
            label, time = (name if name in places else None for name in (label, time))
        order, lengths = np.arange(n_rows), np.array([n_rows], dtype=np.int64)
        if time is not None:
            order = np.argsort(_times(column(time), time), kind="stable")
        if label is not None:
            owners = _owners(column(label), label)
            order = order[np.argsort(owners[order], kind="stable")]
            lengths = np.bincount(owners).astype(np.int64)
        taken = [_taken(column(name), order) for name in columns]
        return _Rows(taken, lengths, label is not None, order)


def _columns_of(frame: Any) -> tuple[list[str], int, Callable[[int, str], Raw]]:
    """Names of columns, the number of rows, and a reader of columns."""
    if isinstance(frame, Mapping):
        columns = list(frame.values())
        scalar = [name for name, values in frame.items() if not hasattr(values, "__len__")]
        if scalar:
            raise DataError(
                f"column {shown(scalar[0])} is {shown(frame[scalar[0]])}; give a list of cells, one "
                f"for each position"
            )
        sizes = {len(values) for values in columns}
        if len(sizes) != 1:
            raise DataError(f"the columns of a dict have different lengths: {sorted(sizes)}")
        names = [str(name) for name in frame]
        return names, sizes.pop(), lambda place, name: raw_from_objects(columns[place], name)
    read = frame_columns(frame)
    if read is None:
        raise ArgumentTypeError(
            f"a {type(frame).__name__} is no frame; columns of several kinds come in a frame with a row for "
            f"each position, or a list of such frames"
        )
    return [str(name) for name in read[0]], read[1], read[2]


def column_of_role(role: str, roles: Mapping[str, str], names: Sequence[str]) -> str | None:
    """The column of a role, if there is one."""
    named = [name for name, given in roles.items() if given == role]
    usual = [name for name in _DEFAULTS[role] if name in names and name not in roles]
    return next(iter([*named, *usual]), None)


def _owners(raw: Raw, name: str) -> Integers:
    """(row,) the number of the sequence, as they first appear."""
    codes = (distinct_numbers(raw) if isinstance(raw, Numbers) else raw).codes
    if (codes < 0).any():
        raise DataError(
            f"row {int((codes < 0).argmax())} does not say to which sequence it belongs: column {name!r} "
            f"is missing there; leave such rows out"
        )
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[inverse.ravel()], dtype=np.int64)


def _times(raw: Raw, name: str) -> Array:
    if isinstance(raw, Distinct) and raw.days is not None:
        times = np.append(raw.days, np.nan)[raw.codes]
    else:
        try:
            times = _numbers(raw, name)
        except DataError as error:
            raise DataError(
                f"column {name!r} holds times that are neither numbers nor dates; parse them, as "
                f"pandas.to_datetime does"
            ) from error
    if np.isnan(times).any():
        raise DataError(
            f"row {int(np.isnan(times).argmax())} has no time: column {name!r} is missing there; leave "
            f"such rows out"
        )
    return np.asarray(times, dtype=np.float64)


def _taken(raw: Raw, order: Integers) -> Raw:
    if isinstance(raw, Numbers):
        return Numbers(raw.values[order])
    return Distinct(raw.values, raw.codes[order], days=raw.days)


def _numbers(raw: Raw, name: str) -> Array:
    if isinstance(raw, Numbers):
        return np.asarray(raw.values, dtype=np.float64)
    try:
        values = np.array([*raw.values, np.nan], dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(
            f'column {name!r} does not hold numbers alone: {error}; its kind may be "categorical"'
        ) from error
    return np.asarray(values[raw.codes])


def _sorted(values: set[Hashable]) -> tuple[Hashable, ...]:
    """Numbers before texts."""
    return tuple(sorted(values, key=lambda value: (isinstance(value, str), value)))


def _coded(
    raws: Sequence[Raw], name: str, known: tuple[Hashable, ...] | None, unknown: str
) -> tuple[Array, tuple[Hashable, ...]]:
    """(row,) codes as floats, NaN where missing, and the categories."""
    parts = [distinct_numbers(raw) if isinstance(raw, Numbers) else raw for raw in raws]
    if known is None:
        seen = {part.values[code] for part in parts for code in np.unique(part.codes) if code >= 0}
        if not seen:
            raise DataError(f"column {name!r} holds no category at all; leave it out")
        known = _sorted(seen)
    places = {value: float(place) for place, value in enumerate(known)}
    columns = []
    for part in parts:
        table = [places.get(value, -1.0) for value in part.values]
        codes = np.array([*table, np.nan])[part.codes]
        if (codes < 0).any():
            if unknown == "error":
                value = part.values[part.codes[int((codes < 0).argmax())]]
                raise CategoryError(
                    f"column {name!r} holds {shown(value)}, which is not one of its {len(known)} known "
                    f'categories; with unknown="missing" such cells count as missing'
                )
            codes[codes < 0] = np.nan
        columns.append(codes)
    return np.concatenate(columns), known
