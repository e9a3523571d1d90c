"""Thesis, figure 7.8: the spectral algorithm of chapter 7 and that of Mossel and Roch.

The trees and the sizes are those of Parikh et al. (2011), from which the chapter grew.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from tacit.reproduce.runner.grids import Method
from tacit.reproduce.runner.panels import Panel, lines
from tacit.reproduce.runner.runs import Runs, in_standard_errors
from tacit.reproduce.runner.verdicts import Experiment, Finding, Inequality, counted
from tacit.reproduce.trees.fig_7_5 import ALTERNATE_OPTIONS
from tacit.reproduce.trees.trials import Case, Settings

SPECTRAL = Method("spectral", "spectral", ALTERNATE_OPTIONS, as_printed=True)
OWN_SPECTRAL = Method("Tacit spectral", "spectral", ALTERNATE_OPTIONS)
MOSSEL_ROCH = Method("Mossel-Roch", "mossel-roch")
OURS = {SPECTRAL.name: OWN_SPECTRAL.name}

SIZES = (200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 750_000)

# "Practically all sample sizes": nine of ten.
PRACTICALLY_ALL = 0.9


def settings(trees: Sequence[str], sizes: Sequence[int], n_seeds: int) -> Settings:
    """Two categories and two hidden states, on every tree."""
    cases = tuple(Case(tree, n_categories=2, n_states=2) for tree in trees)
    methods = (SPECTRAL, MOSSEL_ROCH, OWN_SPECTRAL)
    return Settings(cases, methods, tuple(sizes), n_seeds)


def nearly_everywhere(runs: Runs) -> Finding:
    """Sizes of each tree at which spectral is ahead."""
    outcomes = []
    for own in map(runs.of, runs.cases):
        ahead = [own.error(SPECTRAL.name, n) < own.error(MOSSEL_ROCH.name, n) for n in own.sizes]
        outcomes.append(counted("sizes", ahead, PRACTICALLY_ALL).held)
    return counted("trees", outcomes)


def significantly(runs: Runs) -> Finding:
    """The mean log ratio of the errors on the same rows, in standard errors; failures are left out."""
    scores = []
    for own in map(runs.of, runs.cases):
        theirs = {
            (row.n_rows, row.seed): row.error for row in own.where(method=MOSSEL_ROCH.name).rows
        }
        ratios = [
            theirs.get((row.n_rows, row.seed), math.nan) / row.error
            for row in own.where(method=SPECTRAL.name).rows
        ]
        scores.append(
            in_standard_errors([math.log(each) for each in ratios if 0 < each < math.inf])
        )
    shown = ", ".join(f"{score:.1f}" for score in scores)
    return Finding(all(score > 2 for score in scores), f"{shown} standard errors")


def panels(chosen: Settings) -> list[Panel]:
    """A column for each tree."""
    drawn = lines((SPECTRAL.name, MOSSEL_ROCH.name), OURS)
    return [Panel(case.tree, case, drawn) for case in chosen.cases]


EXPERIMENT = Experiment(
    name="fig-7.8",
    title="Thesis, figure 7.8: spectral learning and Mossel & Roch, 2 categories, 2 hidden states",
    claim=(
        "The alternate spectral algorithm significantly outperforms that of Mossel and Roch on all trees for "
        "practically all sample sizes."
    ),
    parts=(
        Inequality(
            "spectral's error is below Mossel-Roch's at 9 of 10 sizes on every tree",
            nearly_everywhere,
        ),
        Inequality(
            "the mean log ratio of the errors is more than two standard errors above zero on every tree",
            significantly,
        ),
    ),
    settings={
        "paper": settings(("broad4", "broad9", "deep4", "deep5"), SIZES, 10),
        "small": settings(
            ("broad4", "broad9", "deep4", "deep5"), (200, 1000, 5000, 20_000, 100_000), 10
        ),
        "tiny": settings(("deep4",), (200, 500), 2),
    },
    panels=panels,
    measures=("error",),
    ours=OURS,
)
