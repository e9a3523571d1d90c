"""A claim as inequalities, and whether they held."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.reproduce.runner.grids import Grid
from tacit.reproduce.runner.panels import Panel
from tacit.reproduce.runner.runs import Runs

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Finding:
    """Whether an inequality held, and the numbers that say so."""

    held: bool
    seen: str


@dataclass(frozen=True)
class Inequality:
    """A part of a claim: in words, and as a question to the runs."""

    text: str
    judge: Callable[[Runs], Finding]


@dataclass(frozen=True)
class Experiment:
    """A figure of the papers: its settings, its claim, its picture."""

    name: str
    title: str
    claim: str
    parts: tuple[Inequality, ...]
    settings: Mapping[str, Grid[Any]]  # by scale
    panels: Callable[[Any], Sequence[Panel]]
    measures: tuple[str, ...] = ("error", "seconds")
    # Methods of the papers and the form that Tacit gives them, both by name.
    ours: Mapping[str, str] = field(default_factory=dict)
    over: str = "models"  # what a line of the picture is the median over
    need: Callable[[], object] = lambda: None  # raises where data are not there
    # The picture, where it is not one of `panels`.
    draw: Callable[[Runs], Figure] | None = None
    # Draws another picture, beside the table of runs.
    more: Callable[[Path], object] = lambda _: None
    # Figures in lines of text, for experiments that have many.
    table: Callable[[Runs], str] = lambda _: ""

    def judge(self, runs: Runs) -> tuple[Finding, ...]:
        """What became of each part of the claim."""
        return tuple(part.judge(runs) for part in self.parts)


@dataclass(frozen=True)
class Verdict:
    """What an experiment found.

    Attributes
    ----------
    name : str
    claim : str
        The seed's claim, in words.
    held : bool
        Whether every part of it held.
    explanation : str
        Every part as an inequality, with the numbers that decided.
    csv, png : pathlib.Path
        The table of all runs, and the picture.
    line : str
        The verdict in one line, with the parts that did not hold.
    table : str
        Figures behind it in lines of text, where there are many; else empty.
    """

    name: str
    claim: str
    held: bool
    explanation: str
    csv: Path
    png: Path
    line: str
    table: str = ""

    def __str__(self) -> str:
        return self.line


def verdict(experiment: Experiment, runs: Runs, csv: Path, png: Path) -> Verdict:
    """The verdict on the claim, and beside it how Tacit's own form of the methods fares."""
    findings = experiment.judge(runs)
    told, missed = [], []
    for number, (part, finding) in enumerate(zip(experiment.parts, findings, strict=True), start=1):
        told.append(f"({number}) {'yes' if finding.held else 'no'}: {part.text}: {finding.seen}")
        if not finding.held:
            missed.append(f"{part.text} ({finding.seen})")
    if experiment.ours:
        again = experiment.judge(runs.with_names(experiment.ours))
        lost = [f"({number})" for number, found in enumerate(again, start=1) if not found.held]
        without = f", all but {' '.join(lost)}" if lost else ""
        told.append(
            f"in Tacit's own form of the methods {len(again) - len(lost)} of {len(again)}{without}"
        )
    if not missed:
        said = "the claim held"
    elif len(missed) < len(findings):
        said = (
            f"the claim held in {len(findings) - len(missed)} of {len(findings)} parts; not that "
        )
    else:
        said = "the claim did not hold; not that "
    return Verdict(
        name=experiment.name,
        claim=experiment.claim,
        held=not missed,
        explanation="; ".join(told),
        csv=csv,
        png=png,
        line=f"{experiment.name}: {said}{', nor that '.join(missed)}",
        table=experiment.table(runs),
    )


def counted(what: str, outcomes: Sequence[bool], at_least: float = 1.0) -> Finding:
    """Held if a share of the outcomes is true; nothing that was not run can hold."""
    enough = bool(outcomes) and sum(outcomes) >= math.ceil(at_least * len(outcomes))
    return Finding(enough, f"{sum(outcomes)} of {len(outcomes)} {what}")
