"""Thesis, figure 4.5: what restarts do for EM, on a binary tree of depth 6.

The numbers of restarts are in the picture only, which the text does not describe: 1, 2, 5 and 10 here.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from tacit.reproduce.runner.grids import Method
from tacit.reproduce.runner.panels import Line, Panel, lines
from tacit.reproduce.runner.runs import Runs
from tacit.reproduce.runner.verdicts import Experiment, Finding, Inequality, counted
from tacit.reproduce.trees.fig_4_4 import (
    HIGH,
    LOW,
    OURS,
    OWN_AUTO,
    OWN_SPECTRAL,
    SPECTRAL,
    STANDARD,
)
from tacit.reproduce.trees.trials import THESIS_SIZES, Case, Settings, em

TOLERANCES = {LOW.name: 1e-3, STANDARD.name: 1e-4, HIGH.name: 1e-5}

# "Tends to improve": in three cells of four.
MOSTLY = 0.75


def method_name(precision: str, n_restarts: int) -> str:
    """The name in the table of EM with so many restarts."""
    return f"{precision} x{n_restarts}"


def settings(tree: str, restarts: Sequence[int], sizes: Sequence[int], n_seeds: int) -> Settings:
    """Four categories and two hidden states, EM at three precisions and with several numbers of restarts."""
    methods: list[Method] = [SPECTRAL, OWN_SPECTRAL, OWN_AUTO]
    methods += [
        em(method_name(name, count), tol, count)
        for count in restarts
        for name, tol in TOLERANCES.items()
    ]
    return Settings((Case(tree, 4, 2),), tuple(methods), tuple(sizes), n_seeds)


def restarts_of(runs: Runs) -> list[int]:
    """The numbers of restarts that were run, rising."""
    names = {row.method for row in runs.rows if row.method.startswith(f"{STANDARD.name} x")}
    return sorted(int(name.rpartition("x")[2]) for name in names)


def better(runs: Runs) -> Finding:
    """The error with the most restarts against that with one."""
    counts = restarts_of(runs)
    outcomes = [
        runs.error(method_name(name, counts[-1]), n) <= runs.error(method_name(name, 1), n)
        for name in TOLERANCES
        for n in runs.sizes
    ]
    return counted("precisions and sizes", outcomes, MOSTLY)


def slower(runs: Runs) -> Finding:
    """The time with the most restarts against that with one."""
    counts = restarts_of(runs)
    outcomes = [
        runs.seconds(method_name(name, counts[-1]), n) > runs.seconds(method_name(name, 1), n)
        for name in TOLERANCES
        for n in runs.sizes
    ]
    return counted("precisions and sizes", outcomes)


def smaller_effect(runs: Runs) -> Finding:
    """Mean change of the log error, from one to the most restarts and from 1e-3 to 1e-5."""
    counts = restarts_of(runs)

    def change(one: str, other: str, n: int) -> float:
        return abs(math.log(runs.error(one, n) / runs.error(other, n)))

    of_restarts = statistics.fmean(
        change(method_name(name, 1), method_name(name, counts[-1]), n)
        for name in TOLERANCES
        for n in runs.sizes
    )
    of_precision = statistics.fmean(
        change(method_name(LOW.name, count), method_name(HIGH.name, count), n)
        for count in counts
        for n in runs.sizes
    )
    return Finding(
        of_restarts < of_precision,
        f"by a factor of {math.exp(of_restarts):.2f} against {math.exp(of_precision):.2f}",
    )


def panels(chosen: Settings) -> list[Panel]:
    """A column for each number of restarts; spectral learning is the same in all."""
    (case,) = chosen.cases
    names = [method.name for method in chosen.methods]
    counts = [int(name.rpartition("x")[2]) for name in names if name.startswith(f"{LOW.name} x")]
    plain = lines((SPECTRAL.name, STANDARD.name, LOW.name, HIGH.name), OURS, OWN_AUTO.name)
    found = []
    for count in counts:
        shown = tuple(
            Line(line.label, method_name(line.method, count), line.colour, line.mark, line.dashed)
            if line.method in TOLERANCES
            else line
            for line in plain
        )
        found.append(Panel(f"{count} restart{'s' if count > 1 else ''} of EM", case, shown))
    return found


EXPERIMENT = Experiment(
    name="fig-4.5",
    title="Thesis, figure 4.5: restarts of EM, binary tree, 4 categories, 2 hidden states",
    claim=(
        "More restarts tend to improve EM and take longer, but matter considerably less than the threshold "
        "at which EM stops."
    ),
    parts=(
        Inequality(
            "EM's error with the most restarts is not above that with one at 3 of 4 precisions and sizes",
            better,
        ),
        Inequality("the most restarts take longer than one at every precision and size", slower),
        Inequality(
            "the error changes less from one to the most restarts than from 1e-3 to 1e-5, on average",
            smaller_effect,
        ),
    ),
    settings={
        "paper": settings("bin6", (1, 2, 5, 10), THESIS_SIZES, 10),
        "small": settings("bin6", (1, 2, 5, 10), (100, 1000, 10_000), 5),
        "tiny": settings("bin4", (1, 2), (60, 200), 1),
    },
    panels=panels,
)
