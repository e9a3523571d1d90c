"""Runs as a collection that claims and pictures ask."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from tacit.experiments.trials import Case, Run


@dataclass(frozen=True)
class Runs:
    """Some lines of the table."""

    rows: tuple[Run, ...]

    def where(self, **wanted: Any) -> Runs:
        """The runs whose columns have these values."""
        return Runs(
            tuple(
                row
                for row in self.rows
                if all(getattr(row, name) == value for name, value in wanted.items())
            )
        )

    def of(self, case: Case) -> Runs:
        """The runs of a case."""
        return self.where(
            tree=case.tree,
            n_categories=case.n_categories,
            n_states=case.n_states,
            diagonal=float(case.diagonal),
            told_states=case.told_states,
        )

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
        """The training set sizes, rising."""
        return tuple(sorted({row.n_rows for row in self.rows}))

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
