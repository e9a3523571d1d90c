"""Runs as a collection that claims and pictures ask."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from tacit.reproduce.runner.outcomes import Family
from tacit.reproduce.trees.trials import Case


@dataclass(frozen=True)
class Runs:
    """Some lines of a table, all of one kind."""

    rows: tuple[Any, ...]

    def where(self, **wanted: Any) -> Runs:
        """The runs whose columns have these values."""
        return Runs(
            tuple(
                row
                for row in self.rows
                if all(getattr(row, name) == value for name, value in wanted.items())
            )
        )

    def of(self, case: Family) -> Runs:
        """The runs of a case."""
        return self.where(**case.columns)

    @property
    def cases(self) -> tuple[Case, ...]:
        """The cases that were run, in the order in which they first come."""
        every = {
            Case(row.tree, row.n_categories, row.n_states, row.diagonal, row.told_states): None
            for row in self.rows
        }
        return tuple(every)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes along the axis of the picture (training sets, mostly), rising."""
        return tuple(sorted({getattr(row, row.along) for row in self.rows}))

    def at(self, size: int) -> Runs:
        """The runs of one of these sizes."""
        return Runs(tuple(row for row in self.rows if getattr(row, row.along) == size))

    def median(self, measure: str, **wanted: Any) -> float:
        """The median of a column over the models; NaN where nothing was run.

        Where nothing was learnt the error is inf, so that failures count as worse than any success.
        """
        values = [getattr(row, measure) for row in self.where(**wanted).rows]
        return statistics.median(values) if values else math.nan

    def error(self, method: str, n_rows: int) -> float:
        """The median error of a method."""
        return self.median("error", method=method, n_rows=n_rows)

    def seconds(self, method: str, n_rows: int) -> float:
        """The median CPU time of a method."""
        return self.median("seconds", method=method, n_rows=n_rows)

    def with_names(self, names: Mapping[str, str]) -> Runs:
        """Some methods under the names of others, whose own runs are left out.

        Parameters
        ----------
        names : mapping
            From the name to be used to the name in the table.
        """
        shown = {own: name for name, own in names.items()}
        return Runs(
            tuple(
                replace(row, method=shown[row.method]) if row.method in shown else row
                for row in self.rows
                if row.method not in names
            )
        )


def typical_ratio(above: list[float], below: list[float]) -> float:
    """The geometric mean of ratios."""
    logs = [math.log(a / b) for a, b in zip(above, below, strict=True)]
    return math.exp(statistics.fmean(logs)) if logs else math.nan


def in_standard_errors(numbers: list[float]) -> float:
    """The mean of numbers in standard errors of it; NaN where that cannot be said."""
    if len(numbers) < 2 or not all(map(math.isfinite, numbers)):
        return math.nan
    mean, spread = statistics.fmean(numbers), statistics.stdev(numbers)
    if spread == 0:
        return math.copysign(math.inf, mean) if mean else 0.0
    return mean / spread * math.sqrt(len(numbers))
