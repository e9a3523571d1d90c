"""Runs: trials with their results, as claims and pictures look at them."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tacit.reproduce.runner.trials import Method, Results, Trial, cell


@dataclass(frozen=True)
class Run:
    """A trial and its results: one line of the table, whose columns are attributes."""

    trial: Trial
    results: Results

    @cached_property
    def values(self) -> dict[str, Any]:
        """Values by column."""
        return {**self.trial.columns, **self.results}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self.values:
            raise AttributeError(name)
        return self.values[name]

    @property
    def cells(self) -> list[str]:
        """The line of the table."""
        return [*self.trial.key, *map(cell, self.results.values())]

    def but(self, **changed: float | str) -> Run:
        """The run with other values in some columns."""
        return Run(self.trial, {**self.results, **changed})


@dataclass(frozen=True)
class Runs:
    """Some lines of a table."""

    rows: tuple[Run, ...]

    def where(self, **conditions: Any) -> Runs:
        """The runs whose columns have these values; methods are given by name or as themselves."""
        names = {k: v.name if isinstance(v, Method) else v for k, v in conditions.items()}
        return Runs(
            tuple(
                row
                for row in self.rows
                if all(row.values[name] == value for name, value in names.items())
            )
        )

    def of(self, case: Any) -> Runs:
        """The runs of a case."""
        return Runs(tuple(row for row in self.rows if row.trial.case == case))

    @property
    def cases(self) -> tuple[Any, ...]:
        """The cases that were run, in the order in which they first come."""
        return tuple(dict.fromkeys(row.trial.case for row in self.rows))

    @property
    def case(self) -> Any:
        """The case of runs that have only one."""
        (case,) = self.cases
        return case

    def by_case(self) -> list[Runs]:
        """The runs of each case."""
        return [self.of(case) for case in self.cases]

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes along the axis of the picture (training sets, mostly), rising."""
        return tuple(sorted({row.trial.size for row in self.rows}))

    def at(self, size: int) -> Runs:
        """The runs of one of these sizes."""
        return Runs(tuple(row for row in self.rows if row.trial.size == size))

    def column(self, name: str, **conditions: Any) -> list[Any]:
        """The values of a column."""
        return [row.values[name] for row in self.where(**conditions).rows]

    def median(self, measure: str, **conditions: Any) -> float:
        """The median of a column over the models; NaN where nothing was run.

        Where nothing was learnt the error is inf, so that failures count as worse than any success.
        """
        values = self.column(measure, **conditions)
        return statistics.median(values) if values else math.nan

    def mean(self, measure: str, **conditions: Any) -> float:
        """The mean of a column over the models."""
        return statistics.fmean(self.column(measure, **conditions))

    def error(self, method: Method | str, size: int) -> float:
        """The median error of a method."""
        return self.at(size).median("error", method=method)

    def seconds(self, method: Method | str, size: int) -> float:
        """The median CPU time of a method."""
        return self.at(size).median("seconds", method=method)

    def with_names(self, names: Mapping[str, str]) -> Runs:
        """Some methods (the values) under the names of others (the keys), whose runs are left out."""
        shown = {name: new for new, name in names.items()}
        return Runs(
            tuple(
                row.but(method=shown[row.method]) if row.method in shown else row
                for row in self.rows
                if row.method not in names
            )
        )


def typical_ratio(above: Sequence[float], below: Sequence[float]) -> float:
    """The geometric mean of ratios."""
    logs = [math.log(a / b) for a, b in zip(above, below, strict=True)]
    return math.exp(statistics.fmean(logs)) if logs else math.nan


def in_standard_errors(numbers: Sequence[float]) -> float:
    """The mean of numbers divided by its standard error; NaN where there is none."""
    if len(numbers) < 2 or not all(map(math.isfinite, numbers)):
        return math.nan
    mean, spread = statistics.fmean(numbers), statistics.stdev(numbers)
    if spread == 0:
        return math.copysign(math.inf, mean) if mean else 0.0
    return mean / spread * math.sqrt(len(numbers))
