"""Thesis, figure 4.5: what restarts do for EM, on a binary tree of depth 6.

The numbers of restarts are in the picture only, which the text does not describe: 1, 2, 5 and 10 here.
Tacit's own form of EM stops when a step gains less than the threshold in nats per row, instead of a
fraction of the likelihood.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import replace

from tacit.reproduce.runner.claims import Experiment, Finding, counted, inequality
from tacit.reproduce.runner.panels import Panel, lines
from tacit.reproduce.runner.runs import Runs
from tacit.reproduce.runner.trials import Method, Settings
from tacit.reproduce.trees.fig_4_4 import (
    HIGH,
    LOW,
    SPECTRAL,
    STANDARD,
    TACIT_AUTO,
    TACIT_FORMS,
    TACIT_SPECTRAL,
)
from tacit.reproduce.trees.synthetic import STUDY, THESIS_SIZES, TreeCase, em

TOLERANCES = {"EM 1e-3": 1e-3, "EM 1e-4": 1e-4, "EM 1e-5": 1e-5}
TACIT_EMS = {name: f"Tacit {name}" for name in TOLERANCES}
RESTARTS = (1, 2, 5, 10)
MOST_STEPS = 10_000  # of Tacit's EM: its rule is the stricter one
LINES = lines((SPECTRAL, STANDARD, LOW, HIGH), {**TACIT_FORMS, **TACIT_EMS}, TACIT_AUTO)

# "Tends to improve": in three cells of four.
MOSTLY = 0.75


def method_name(precision: str, n_restarts: int) -> str:
    """The name in the table of EM with restarts."""
    return f"{precision} x{n_restarts}"


def _tacit_em(name: str, tol: float, n_restarts: int) -> Method:
    """EM with Tacit's stopping rule."""
    return Method(name, "em", (("tol", tol), ("n_restarts", n_restarts), ("max_iter", MOST_STEPS)))


def _settings(tree: str, restarts: Sequence[int], sizes: Sequence[int], n_seeds: int) -> Settings:
    ems = [
        method
        for count in restarts
        for name, tol in TOLERANCES.items()
        for method in (
            em(method_name(name, count), tol, count),
            _tacit_em(method_name(TACIT_EMS[name], count), tol, count),
        )
    ]
    methods = (SPECTRAL, TACIT_SPECTRAL, TACIT_AUTO, *ems)
    return STUDY.settings([TreeCase(tree, 4, 2)], methods, sizes, n_seeds)


def _restarts(names: Sequence[str]) -> list[int]:
    """The numbers of restarts that were run, rising."""
    counts = {name.removeprefix(f"{LOW.name} x") for name in names}
    return sorted(int(count) for count in counts if count.isdigit())


def _most_restarts(runs: Runs) -> int:
    return _restarts(runs.column("method"))[-1]


@inequality(
    "EM's error with the most restarts is not above that with one at 3 of 4 precisions and sizes"
)
def _better(runs: Runs) -> Finding:
    most = _most_restarts(runs)
    outcomes = [
        runs.error(method_name(name, most), n) <= runs.error(method_name(name, 1), n)
        for name in TOLERANCES
        for n in runs.sizes
    ]
    return counted("precisions and sizes", outcomes, MOSTLY)


@inequality("the most restarts take longer than one at every precision and size")
def _slower(runs: Runs) -> Finding:
    most = _most_restarts(runs)
    outcomes = [
        runs.seconds(method_name(name, most), n) > runs.seconds(method_name(name, 1), n)
        for name in TOLERANCES
        for n in runs.sizes
    ]
    return counted("precisions and sizes", outcomes)


@inequality(
    "the error changes less from one to the most restarts than from 1e-3 to 1e-5, on average"
)
def _smaller_effect(runs: Runs) -> Finding:
    counts = _restarts(runs.column("method"))

    def change(one: str, other: str) -> float:
        """The mean absolute change of the log error."""
        return statistics.fmean(
            abs(math.log(runs.error(one, n) / runs.error(other, n))) for n in runs.sizes
        )

    of_restarts = statistics.fmean(
        change(method_name(name, 1), method_name(name, counts[-1])) for name in TOLERANCES
    )
    of_precision = statistics.fmean(
        change(method_name(LOW.name, count), method_name(HIGH.name, count)) for count in counts
    )
    measured = f"by a factor of {math.exp(of_restarts):.2f} against {math.exp(of_precision):.2f}"
    return Finding(of_restarts < of_precision, measured)


def _panels(settings: Settings) -> list[Panel]:
    """A column for each number of restarts; spectral learning is the same in all."""
    panels = []
    for count in _restarts([method.name for method in settings.methods]):
        shown = tuple(
            replace(line, method=method_name(line.method, count))
            if line.method in {*TOLERANCES, *TACIT_EMS.values()}
            else line
            for line in LINES
        )
        title = f"{count} restart{'s' if count > 1 else ''} of EM"
        panels.append(Panel(title, settings.cases[0], shown))
    return panels


EXPERIMENT = Experiment(
    name="fig-4.5",
    title="Thesis, figure 4.5: restarts of EM, binary tree, 4 categories, 2 hidden states",
    claim=(
        "More restarts tend to improve EM and take longer, but matter considerably less than the threshold "
        "at which EM stops."
    ),
    parts=(_better, _slower, _smaller_effect),
    settings={
        "paper": _settings("bin6", RESTARTS, THESIS_SIZES, 10),
        "small": _settings("bin6", RESTARTS, (100, 1000, 10_000), 5),
        "tiny": _settings("bin4", (1, 2), (60, 200), 1),
    },
    panels_of=_panels,
    tacit_forms={
        method_name(name, count): method_name(form, count)
        for name, form in TACIT_EMS.items()
        for count in RESTARTS
    },
)
