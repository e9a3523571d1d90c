"""Thesis, figure 7.8: the spectral algorithm of chapter 7 and that of Mossel and Roch.

The trees and the sizes are those of Parikh et al. (2011), from which the chapter grew. Both algorithms run
as printed, that of Mossel and Roch after their paper of 2006, which the thesis cites; Tacit has forms of
its own of both.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from tacit.reproduce.runner.claims import Experiment, Finding, counted, inequality
from tacit.reproduce.runner.panels import lines
from tacit.reproduce.runner.runs import Runs, in_standard_errors
from tacit.reproduce.runner.trials import Method, Settings
from tacit.reproduce.trees.fig_7_5 import ALTERNATE_OPTIONS, PRINTED_OPTIONS
from tacit.reproduce.trees.synthetic import STUDY, TreeCase

SPECTRAL = Method("spectral", "spectral", PRINTED_OPTIONS, as_printed=True)
TACIT_SPECTRAL = Method("Tacit spectral", "spectral", ALTERNATE_OPTIONS)
MOSSEL_ROCH = Method("Mossel-Roch", "mossel-roch", as_printed=True)
TACIT_MOSSEL_ROCH = Method("Tacit Mossel-Roch", "mossel-roch")
METHODS = (SPECTRAL, MOSSEL_ROCH, TACIT_SPECTRAL, TACIT_MOSSEL_ROCH)
TACIT_FORMS = {
    SPECTRAL.name: TACIT_SPECTRAL.name,
    MOSSEL_ROCH.name: TACIT_MOSSEL_ROCH.name,
}

TREES = ("broad4", "broad9", "deep4", "deep5")
SIZES = (200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 750_000)

# "Practically all sample sizes": nine of ten.
PRACTICALLY_ALL = 0.9


def _settings(trees: Sequence[str], sizes: Sequence[int], n_seeds: int) -> Settings:
    cases = [TreeCase(tree, n_categories=2, n_states=2) for tree in trees]
    return STUDY.settings(cases, METHODS, sizes, n_seeds)


@inequality("spectral's error is below Mossel-Roch's at 9 of 10 sizes on every tree")
def _nearly_everywhere(runs: Runs) -> Finding:
    outcomes = []
    for tree in runs.by_case():
        ahead = [tree.error(SPECTRAL, n) < tree.error(MOSSEL_ROCH, n) for n in tree.sizes]
        outcomes.append(counted("sizes", ahead, PRACTICALLY_ALL).held)
    return counted("trees", outcomes)


@inequality(
    "the mean log ratio of the errors is more than two standard errors above zero on every tree"
)
def _significantly(runs: Runs) -> Finding:
    scores = []
    for tree in runs.by_case():
        # On the same rows; failures are left out.
        peer = {(row.n_rows, row.seed): row.error for row in tree.where(method=MOSSEL_ROCH).rows}
        ratios = [
            peer.get((row.n_rows, row.seed), math.nan) / row.error
            for row in tree.where(method=SPECTRAL).rows
        ]
        logs = [math.log(ratio) for ratio in ratios if 0 < ratio < math.inf]
        scores.append(in_standard_errors(logs))
    shown = ", ".join(f"{score:.1f}" for score in scores)
    return Finding(all(score > 2 for score in scores), f"{shown} standard errors")


EXPERIMENT = Experiment(
    name="fig-7.8",
    title="Thesis, figure 7.8: spectral learning and Mossel & Roch, 2 categories, 2 hidden states",
    claim=(
        "The alternate spectral algorithm significantly outperforms that of Mossel and Roch on all trees for "
        "practically all sample sizes."
    ),
    parts=(_nearly_everywhere, _significantly),
    settings={
        "paper": _settings(TREES, SIZES, 10),
        "small": _settings(TREES, (200, 1000, 5000, 20_000, 100_000), 10),
        "tiny": _settings(("deep4",), (200, 500), 2),
    },
    lines=lines((SPECTRAL, MOSSEL_ROCH), TACIT_FORMS),
    panel_title=lambda case: case.tree,
    measures=("error",),
    tacit_forms=TACIT_FORMS,
)
