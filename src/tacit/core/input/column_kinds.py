"""What a column is: the kinds that a caller may declare, and how a column is read as one of them."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tacit.core.arguments import did_you_mean
from tacit.core.input.chunks import Block, Chunks
from tacit.core.input.columns import canonical_values
from tacit.core.input.table import listing, unknown_column_text
from tacit.core.input.values import Distinct, Numbers, Raw, as_numbers, day_number, distinct_numbers
from tacit.core.limits import shown
from tacit.core.magnitudes import check_magnitudes
from tacit.errors import ArgumentError, ArgumentTypeError, ColumnError, DataError

# What `columns=` may say of a column.
CATEGORY, ORDERED, COUNT, NUMBER, DATE, IGNORE = KINDS = (
    "category",
    "ordered",
    "count",
    "number",
    "date",
    "ignore",
)
NUMERIC = (COUNT, NUMBER, DATE)

Source = Block | Chunks


@dataclass(frozen=True, slots=True, eq=False)
class DeclaredChunks(Chunks):
    """Blocks whose columns are read as the caller declares them."""

    kinds: Mapping[Any, Any] | None = None

    def __iter__(self) -> Iterator[Block]:
        for block in super(DeclaredChunks, self).__iter__():
            yield _declared_block(block, self.kinds)


def declared(source: Source, columns: Mapping[Any, Any] | None) -> Source:
    """The same data with every column read as the kind that `columns` gives it; others as they are.

    Parameters
    ----------
    source : Block or Chunks
        The data.
    columns : mapping of column to kind, optional
        Kinds of `KINDS`. A column to be ignored is left out.

    Raises
    ------
    ArgumentError, ArgumentTypeError, ColumnError, DataError
        Where a kind or a column is not known, or a value cannot be of that kind.
    """
    check_kinds(columns)
    if not columns:
        return source
    if isinstance(source, Chunks):
        return DeclaredChunks(source.source, columns)
    return _declared_block(source, columns)


def check_kinds(columns: Mapping[Any, Any] | None) -> None:
    """Raise an error that names column, kind and the nearest kind where one is not known."""
    if columns is None:
        return
    if not isinstance(columns, Mapping):
        raise ArgumentTypeError(
            f"columns={shown(columns)}; give a mapping of columns to kinds, such as {{'age': 'number'}}"
        )
    for label, kind in columns.items():
        if kind not in KINDS:
            raise ArgumentError(
                f"columns: column {shown(label)} cannot be of kind {shown(kind)}{did_you_mean(kind, KINDS)} "
                f"The kinds are {listing(KINDS)}"
            )


def kinds_by_name(block: Block, columns: Mapping[Any, Any] | None) -> dict[str, str]:
    """The declared kinds by name of column; a column may be given by name, by label or by its place."""
    if not columns:
        return {}
    labels = block.labels or block.names
    names: dict[Hashable, str] = dict(zip(block.names, block.names, strict=True))
    if not block.named:
        names.update(enumerate(block.names))
    names.update(zip(labels, block.names, strict=True))
    for label in columns:
        if label not in names:
            raise ColumnError(unknown_column_text(label, labels))
    return {names[label]: kind for label, kind in columns.items()}


def plain_kinds(model: Any) -> dict[str, str] | None:
    """What files hold of the argument `columns`: the kinds of columns whose labels are text."""
    kinds = {label: kind for label, kind in (model.columns or {}).items() if isinstance(label, str)}
    return kinds or None


def _declared_block(block: Block, columns: Mapping[Any, Any] | None) -> Block:
    kinds = kinds_by_name(block, columns)
    kept = [place for place, name in enumerate(block.names) if kinds.get(name) != IGNORE]
    if not kept:
        raise DataError("columns: every column is to be ignored, so nothing is left to learn from")

    def read(place: int) -> Raw:
        name = block.names[kept[place]]
        raw = block.read(kept[place])
        return raw if name not in kinds else as_kind(raw, kinds[name], name)

    return replace(
        block,
        names=tuple(block.names[place] for place in kept),
        labels=tuple(block.labels[place] for place in kept) if block.labels else (),
        ignored=tuple(name for name in block.names if kinds.get(name) == IGNORE),
        kinds=kinds,
        read=read,
        matrix=None,
    )


def as_kind(raw: Raw, kind: str, name: str) -> Raw:
    """A column read as one of the kinds that a caller may declare.

    Examples
    --------
    >>> raw = Distinct(["2", "10"], np.array([0, 1, -1]))
    >>> as_kind(raw, "number", "x").values
    array([ 2., 10., nan])
    """
    if kind in NUMERIC:
        return _as_number(raw, kind, name)
    distinct = distinct_numbers(raw) if isinstance(raw, Numbers) else raw
    if kind == CATEGORY or distinct.levels:
        return replace(distinct, declared=True, days=None, unit="")
    values = list(canonical_values(distinct.values))
    places = {value: place for place, value in enumerate(values)}
    table = np.array([*(places[value] for value in distinct.values), -1])
    return Distinct(values, table[distinct.codes], levels=True, declared=True)


def _as_number(raw: Raw, kind: str, name: str) -> Raw:
    """The numbers of a column; text is parsed, as dates where these are declared."""
    if isinstance(raw, Distinct) and raw.days is not None:
        if kind != DATE:
            raise DataError(
                f"columns: column {name!r} holds dates or times, and cannot be of kind {kind!r}; "
                f"declare it as 'date'"
            )
        return replace(raw, levels=False, declared=False)
    numbers = as_numbers(raw)
    if numbers is None:
        assert isinstance(raw, Distinct)
        if kind == DATE:
            days = np.array([_parsed(value, day_number, kind, name) for value in raw.values])
            unit = "date" if np.array_equal(days, np.rint(days)) else "datetime"
            return Distinct(raw.values, raw.codes, days=days, unit=unit)
        parsed = [_parsed(value, _number, kind, name) for value in raw.values]
        check_magnitudes(np.array(parsed), f"column {name!r}")
        numbers = Numbers(np.array([*parsed, np.nan])[raw.codes])
    if kind == DATE:
        raise DataError(
            f"columns: column {name!r} holds numbers, and cannot be of kind 'date'; "
            f"give dates as such, or as ISO text like 2026-01-31"
        )
    known = numbers.values[~np.isnan(numbers.values)]
    if kind == COUNT and not ((known >= 0) & (known == np.rint(known))).all():
        wrong = known[(known < 0) | (known != np.rint(known))][0].item()
        raise DataError(
            f"columns: column {name!r} holds {wrong!r}, and cannot be of kind 'count': counts are whole "
            f"numbers from zero; declare it as 'number'"
        )
    return numbers


def _parsed(value: Any, parse: Any, kind: str, name: str) -> float:
    number = parse(value)
    if number is None or not np.isfinite(number):
        raise DataError(f"columns: column {name!r} holds {value!r}, and cannot be of kind {kind!r}")
    return float(number)


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except ValueError:
        return None
