"""What an experiment runs: every case with every size, seed and method, and a trial for each."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from tacit import __version__
from tacit.reproduce.runner.outcomes import Family, Outcome, cell

SomeCase = TypeVar("SomeCase", bound=Family)


@dataclass(frozen=True)
class Method:
    """A way of learning, under the name that it has in the table and in the picture.

    `as_printed` asks for the algorithm as the seed prints it; without it, it is the estimator that users get.
    """

    name: str
    learn: str
    options: tuple[tuple[str, Any], ...] = ()
    as_printed: bool = False

    @property
    def settings(self) -> str:
        """All that tells this method from others, in words for the table."""
        form = [f"{self.learn} (as printed)" if self.as_printed else self.learn]
        return " ".join([*form, *(f"{name}={value}" for name, value in self.options)])


@dataclass(frozen=True)
class GridTrial(ABC, Generic[SomeCase]):
    """One method on one case; the base of the trials of all experiments."""

    rows_per_fit: ClassVar[int] = 0  # a fit takes as long as so many rows, beside those that it has
    judged_on: ClassVar[tuple[int, ...]] = ()  # test rows, where the table has a column of them

    case: SomeCase
    size: int  # training rows, or what else grows along the axis of the picture
    seed: int
    method: Method

    @property
    def key(self) -> tuple[str, ...]:
        """The first columns of its line in the table; no other trial has the same."""
        numbers = (*self.case.columns.values(), self.size, self.seed, *self.judged_on)
        return (*map(cell, numbers), self.method.name, self.method.settings, __version__)

    @property
    def work(self) -> int:
        """How long it takes, in rows."""
        return self.size + self.rows_per_fit

    @abstractmethod
    def run(self) -> Outcome:
        """Draw, learn and judge."""


@dataclass(frozen=True)
class Grid(Generic[SomeCase]):
    """Every case with every size, seed and method; the base of the settings of all experiments."""

    trial: ClassVar[type[GridTrial[Any]]]  # what is run
    kind: ClassVar[type[Outcome]]  # what the lines of the table are

    cases: tuple[SomeCase, ...]
    methods: tuple[Method, ...]
    sizes: tuple[int, ...]
    n_seeds: int

    def trials(self) -> list[GridTrial[SomeCase]]:
        """All that is to be run; methods learn from the same rows, one after the other."""
        return [
            self.trial(case, size, seed, method)
            for seed in range(self.n_seeds)
            for case in self.cases
            for size in self.sizes
            for method in self.methods
        ]
