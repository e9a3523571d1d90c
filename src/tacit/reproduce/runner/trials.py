"""What an experiment runs: a study, and its trials over every case, size, seed and method."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from operator import attrgetter
from typing import Any

from tacit import __version__
from tacit.errors import RankError

Results = Mapping[str, float | str]


@dataclass(frozen=True)
class Method:
    """A method of learning, under the name that it has in the table and in the picture.

    `as_printed` runs the algorithm as the seed prints it; without it, the estimator that users get.
    """

    name: str
    learn: str
    options: tuple[tuple[str, Any], ...] = ()
    as_printed: bool = False

    @property
    def preset(self) -> str | None:
        """The preset of estimators."""
        return "printed" if self.as_printed else None

    @property
    def title(self) -> str:
        """The name in tables of text."""
        return f"{self.name}, as printed" if self.as_printed else self.name

    @property
    def settings(self) -> str:
        """Everything that distinguishes this method from others, as text for the table."""
        form = [f"{self.learn} (as printed)" if self.as_printed else self.learn]
        return " ".join([*form, *(f"{name}={value}" for name, value in self.options)])


@dataclass(frozen=True)
class Case:
    """What the trials of one panel have in common; its fields are the first columns of the table."""

    @property
    def columns(self) -> dict[str, Any]:
        """Values by column."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class Fit:
    """What was learnt and the CPU time that it took, or the error because of which nothing was learnt."""

    result: Any
    seconds: float
    error: Exception | None = None

    @property
    def value(self) -> Any:
        """What was learnt; raises the error where there is one."""
        if self.error is not None:
            raise self.error
        return self.result


def timed(function: Callable[..., Any], *args: Any, spent: float = 0.0, **options: Any) -> Fit:
    """Call a function and measure its CPU time, on top of what was spent before.

    Data that do not carry the states (RankError, LinAlgError) are an outcome; other errors are raised.
    """
    from numpy.linalg import LinAlgError

    result, failure = None, None
    begun = time.process_time()
    try:
        result = function(*args, **options)
    except (RankError, LinAlgError) as error:
        failure = error
    return Fit(result, spent + time.process_time() - begun, failure)


@dataclass(frozen=True, eq=False)
class Study:
    """What is measured and how: the columns of a table of runs, the fit, and how it is judged."""

    size: str  # the column that grows along the axis of the picture
    results: Results  # the last columns, each with its value where nothing was learnt
    fit: Callable[[Trial], Fit]  # trials may share a fit
    judge: Callable[[Trial, Any], Results]  # given what was learnt
    words: str  # a trial for the progress bar: a format of case, size, seed, split and method
    work: Callable[[Trial], int] = attrgetter("size")  # how long a trial takes, in any unit
    constants: Mapping[str, int] = field(default_factory=dict)  # columns that are always the same
    one_fit_for_all_sizes: bool = False  # the trials of all sizes then follow each other
    is_run: Callable[[Trial], bool] = lambda _: True  # whether a trial is among those that are run

    def settings(
        self, cases: Sequence[Case], methods: Sequence[Method], sizes: Sequence[int], n_seeds: int
    ) -> Settings:
        """Every case with every method, size and seed."""
        return Settings(self, tuple(cases), tuple(methods), tuple(sizes), n_seeds)

    def parse(self, cells: Iterable[str]) -> dict[str, float | str]:
        """The results that stand in the cells of a table; ValueError if they are something else."""
        columns = zip(self.results.items(), cells, strict=True)
        return {name: type(value)(cell) for (name, value), cell in columns}


@dataclass(frozen=True)
class Trial:
    """One method on one case."""

    study: Study
    case: Any
    size: int  # training rows, or whatever else grows along the axis of the picture
    seed: int
    method: Method

    @property
    def columns(self) -> dict[str, Any]:
        """The columns that say what is run."""
        return {
            **self.case.columns,
            self.study.size: self.size,
            "seed": self.seed,
            **self.study.constants,
            "method": self.method.name,
            "settings": self.method.settings,
            "version": __version__,
        }

    @property
    def key(self) -> tuple[str, ...]:
        """These columns as they stand in the table; no other trial has the same."""
        return tuple(map(cell, self.columns.values()))

    def __str__(self) -> str:
        known = {name: getattr(self, name) for name in ("case", "size", "seed", "method")}
        return self.study.words.format(**known, split=self.seed + 1)


@dataclass(frozen=True)
class Settings:
    """Every case with every size, seed and method."""

    study: Study
    cases: tuple[Any, ...]
    methods: tuple[Method, ...]
    sizes: tuple[int, ...]
    n_seeds: int

    @property
    def columns(self) -> tuple[str, ...]:
        """The header of the table."""
        first = Trial(self.study, self.cases[0], 0, 0, self.methods[0])
        return (*first.columns, *self.study.results)

    def trials(self) -> list[Trial]:
        """All trials in the order in which they are run; methods learn from the same rows in turn."""
        pairs = [(size, method) for size in self.sizes for method in self.methods]
        if self.study.one_fit_for_all_sizes:
            pairs = [(size, method) for method in self.methods for size in self.sizes]
        trials = [
            Trial(self.study, case, size, seed, method)
            for seed in range(self.n_seeds)
            for case in self.cases
            for size, method in pairs
        ]
        return [trial for trial in trials if self.study.is_run(trial)]


def cell(value: object) -> str:
    """A value as it stands in tables; six digits of numbers that are not whole."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)
