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
        values = [getattr(self, name) for name in self.columns()]
        return [f"{value:.6g}" if isinstance(value, float) else str(value) for value in values]

    @classmethod
    def of_cells(cls, cells: Iterable[str]) -> Self:
        """The outcome that a line of the table tells of; ValueError if it tells of none."""
        kinds = get_type_hints(cls)
        named = zip(cls.columns(), cells, strict=True)
        return cls(*(kinds[name](cell) for name, cell in named))


class Family(Protocol):
    """Trials that one panel of a picture shows."""

    @property
    def columns(self) -> Mapping[str, Any]:
        """What all of their lines have in common."""
        ...


class AnyTrial(Protocol):
    """One thing to run, whatever its kind."""

    @property
    def key(self) -> tuple[str, ...]:
        """The first columns of its line in the table; no other trial has the same."""
        ...

    @property
    def work(self) -> int:
        """How long it takes beside others, as far as progress is concerned."""
        ...

    def run(self) -> Outcome:
        """Do it."""
        ...


class AnySettings(Protocol):
    """All that an experiment runs."""

    @property
    def kind(self) -> type[Outcome]:
        """What the lines of its table are."""
        ...

    def trials(self) -> list[Any]:
        """All that is to be run, in order."""
        ...
