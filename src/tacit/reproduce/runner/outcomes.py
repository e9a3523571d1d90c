"""A line of a table of runs: what was run, then what came of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Protocol, Self, get_type_hints


@dataclass(frozen=True)
class Outcome:
    """The base of the lines of all tables; the fields of a kind of line are its columns."""

    along: ClassVar[str]  # the column that grows along the axis of a picture
    first_result: ClassVar[str]  # the columns before it say what was run

    @classmethod
    def columns(cls) -> tuple[str, ...]:
        """The header of the table."""
        return tuple(field.name for field in fields(cls))

    @property
    def key(self) -> tuple[str, ...]:
        """What was run, as the trial's key says it."""
        return tuple(self.cells()[: self.columns().index(self.first_result)])

    def cells(self) -> list[str]:
        """The line of the table."""
        return [cell(getattr(self, name)) for name in self.columns()]

    @classmethod
    def of_cells(cls, cells: Iterable[str]) -> Self:
        """The outcome that a line of the table tells of; ValueError if it tells of none."""
        kinds = get_type_hints(cls)
        named = zip(cls.columns(), cells, strict=True)
        return cls(*(kinds[name](text) for name, text in named))

    @classmethod
    def of(cls, key: Iterable[str], *results: float | str) -> Self:
        """The outcome of the trial with a key, as its line will tell of it."""
        return cls.of_cells((*key, *map(cell, results)))


def cell(value: object) -> str:
    """A value as tables have it; six digits of numbers that are not whole."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


class Family(Protocol):
    """Trials that one panel of a picture shows."""

    @property
    def columns(self) -> Mapping[str, Any]:
        """What all of their lines have in common."""
        ...
