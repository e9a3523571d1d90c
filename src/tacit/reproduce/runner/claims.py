"""A claim as inequalities, and whether they held."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.reproduce.runner.panels import Line, Panel
from tacit.reproduce.runner.runs import Runs
from tacit.reproduce.runner.trials import Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Finding:
    """Whether an inequality held, and the numbers behind it."""

    held: bool
    measured: str


@dataclass(frozen=True)
class Inequality:
    """A part of a claim: in words, and as a question to the runs."""

    text: str
    judge: Callable[[Runs], Finding]


def inequality(text: str) -> Callable[[Callable[[Runs], Finding]], Inequality]:
    """Decorate the function that decides a part of a claim with the words for it."""
    return lambda judge: Inequality(text, judge)


@dataclass(frozen=True)
class Experiment:
    """A figure of the papers: its settings, its claim, its picture."""

    name: str
    title: str
    claim: str
    parts: tuple[Inequality, ...]  # what the claim says of the runs
    settings: Mapping[str, Settings]  # by scale
    lines: tuple[Line, ...] = ()  # of every panel of the picture
    panel_title: Callable[[Any], str] = str  # of a case
    panels_of: Callable[[Settings], Sequence[Panel]] | None = None  # else one for each case
    draw: Callable[[Runs], Figure] | None = None  # the picture, where it is not one of panels
    draw_more: Callable[[Path], object] = lambda _: None  # another picture, beside the CSV
    measures: tuple[str, ...] = ("error", "seconds")  # the columns that are drawn
    # Methods of the papers and the form that Tacit gives them, both by name.
    tacit_forms: Mapping[str, str] = field(default_factory=dict)
    over: str = "models"  # what a line of the picture is the median over
    check_data: Callable[[], object] = lambda: None  # raises where data are missing
    table: Callable[[Runs], str] = lambda _: ""  # figures in lines of text, where there are many

    def judge(self, runs: Runs) -> tuple[Finding, ...]:
        """Whether each part of the claim held."""
        return tuple(part.judge(runs) for part in self.parts)

    def panels(self, settings: Settings) -> Sequence[Panel]:
        """The columns of the picture."""
        if self.panels_of is not None:
            return self.panels_of(settings)
        return [Panel(self.panel_title(case), case, self.lines) for case in settings.cases]


@dataclass(frozen=True)
class Verdict:
    """The outcome of an experiment.

    Attributes
    ----------
    name : str
    claim : str
        The seed's claim, in words.
    held : bool
        Whether every part of it held, for the methods as they are printed.
    explanation : str
        Every part as an inequality, with the numbers that decided.
    csv, png : pathlib.Path
        The table of all runs, and the picture.
    line : str
        The verdict in one line, with the parts that did not hold.
    table : str
        Figures behind it in lines of text, where there are many; else empty.
    tacit_held : bool or None
        Whether every part holds for Tacit's own forms of the methods; None where there are none.
    tacit_explanation, tacit_line : str
        As `explanation` and `line`, for Tacit's own forms; else empty.
    """

    name: str
    claim: str
    held: bool
    explanation: str
    csv: Path
    png: Path
    line: str
    table: str = ""
    tacit_held: bool | None = None
    tacit_explanation: str = ""
    tacit_line: str = ""

    def __str__(self) -> str:
        return f"{self.line}\n{self.tacit_line}" if self.tacit_line else self.line


@dataclass(frozen=True)
class _Judgement:
    held: bool
    explanation: str
    summary: str


def verdict(experiment: Experiment, runs: Runs, csv: Path, png: Path) -> Verdict:
    """The verdict on the claim for the methods as printed, and a second one for Tacit's own forms of them."""
    printed = _judged(experiment, runs)
    name, tacit = experiment.name, None
    if experiment.tacit_forms:
        tacit = _judged(experiment, runs.with_names(experiment.tacit_forms))
    return Verdict(
        name=name,
        claim=experiment.claim,
        held=printed.held,
        explanation=printed.explanation,
        csv=csv,
        png=png,
        line=f"{name}{', printed' if tacit else ''}: {printed.summary}",
        table=experiment.table(runs),
        tacit_held=tacit.held if tacit else None,
        tacit_explanation=tacit.explanation if tacit else "",
        tacit_line=f"{name}, Tacit: {tacit.summary}" if tacit else "",
    )


def _judged(experiment: Experiment, runs: Runs) -> _Judgement:
    """Whether the claim holds of these runs, every part with its numbers, and a summary in one line."""
    findings = experiment.judge(runs)
    explained, missed = [], []
    for number, (part, finding) in enumerate(zip(experiment.parts, findings, strict=True), start=1):
        answer = "yes" if finding.held else "no"
        explained.append(f"({number}) {answer}: {part.text}: {finding.measured}")
        if not finding.held:
            missed.append(f"{part.text} ({finding.measured})")
    n_parts = len(findings)
    if not missed:
        summary = "the claim held"
    elif len(missed) < n_parts:
        summary = f"the claim held in {n_parts - len(missed)} of {n_parts} parts; not that "
    else:
        summary = "the claim did not hold; not that "
    return _Judgement(not missed, "; ".join(explained), summary + ", nor that ".join(missed))


def counted(noun: str, outcomes: Sequence[bool], at_least: float = 1.0, shown: str = "") -> Finding:
    """Held if at least this fraction of the outcomes is true; without outcomes it does not hold."""
    enough = bool(outcomes) and sum(outcomes) >= math.ceil(at_least * len(outcomes))
    return Finding(enough, f"{sum(outcomes)} of {len(outcomes)} {noun}{shown}")
