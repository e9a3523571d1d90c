"""Thesis, figure 4.4: spectral learning and EM on binary trees of various depth.

Tables have uniform entries before their rows are normalised: the thesis does not say how they were drawn,
nor how many models each point stands for (10 here, as in the papers it grew from). EM is Tacit's, over
distinct patterns of rows, which is several times faster than EM over rows. In the text "EM-" is EM at 1e-4
and low precision at once; the caption decides: 1e-3, 1e-4 and 1e-5 are compared.
"""

from __future__ import annotations

from collections.abc import Sequence

from tacit.reproduce.runner.claims import Experiment, Finding, counted, inequality
from tacit.reproduce.runner.panels import lines
from tacit.reproduce.runner.runs import Runs, typical_ratio
from tacit.reproduce.runner.trials import Method, Settings
from tacit.reproduce.trees.synthetic import STUDY, THESIS_SIZES, TreeCase, em

SPECTRAL = Method(
    "spectral", "spectral", (("n_views", 10), ("representation", "tensor")), as_printed=True
)
TACIT_SPECTRAL = Method("Tacit spectral", "spectral")
TACIT_AUTO = Method("Tacit auto", "auto")
LOW, STANDARD, HIGH = em("EM 1e-3", 1e-3), em("EM 1e-4", 1e-4), em("EM 1e-5", 1e-5)
EMS = (LOW, STANDARD, HIGH)
TACIT_FORMS = {SPECTRAL.name: TACIT_SPECTRAL.name}
METHODS = (SPECTRAL, *EMS, TACIT_SPECTRAL, TACIT_AUTO)
LINES = lines((SPECTRAL, STANDARD, LOW, HIGH), TACIT_FORMS, TACIT_AUTO)

# Where the thesis sees its second of three regions.
MIDDLE = 1000

# "Almost two orders of magnitude": nearer to two than to one.
ALMOST_TWO_ORDERS = 10**1.5

# "Tend to": three trees of four.
MOSTLY = 0.75


def _settings(trees: Sequence[str], sizes: Sequence[int], n_seeds: int) -> Settings:
    cases = [TreeCase(tree, n_categories=4, n_states=2) for tree in trees]
    return STUDY.settings(cases, METHODS, sizes, n_seeds)


@inequality(
    "at the smallest size the errors of spectral and EM 1e-3 are below those of EM 1e-4 and 1e-5 on "
    "3 of 4 trees"
)
def _few_rows(runs: Runs) -> Finding:
    n = runs.sizes[0]
    outcomes = [
        max(tree.error(SPECTRAL, n), tree.error(LOW, n))
        < min(tree.error(STANDARD, n), tree.error(HIGH, n))
        for tree in runs.by_case()
    ]
    return counted(f"trees at {n} rows", outcomes, MOSTLY)


@inequality(
    "at 1000 rows the best error of EM 1e-4 and 1e-5 < spectral's < EM 1e-3's on 3 of 4 trees"
)
def _middling_rows(runs: Runs) -> Finding:
    outcomes = []
    for tree in runs.by_case() if MIDDLE in runs.sizes else ():
        spectral, low, *precise = (tree.error(method, MIDDLE) for method in (SPECTRAL, *EMS))
        outcomes.append(min(precise) < spectral < low and max(precise) < low)
    return counted(f"trees at {MIDDLE} rows", outcomes, MOSTLY)


@inequality("at the largest size spectral's error is below that of every EM on every tree")
def _many_rows(runs: Runs) -> Finding:
    n = runs.sizes[-1]
    outcomes = [
        tree.error(SPECTRAL, n) < min(tree.error(method, n) for method in EMS)
        for tree in runs.by_case()
    ]
    return counted(f"trees at {n} rows", outcomes)


@inequality("spectral takes less time than any EM on every tree at every size")
def _faster(runs: Runs) -> Finding:
    outcomes = [
        tree.seconds(SPECTRAL, n) < min(tree.seconds(method, n) for method in EMS)
        for tree in runs.by_case()
        for n in runs.sizes
    ]
    return counted("trees and sizes", outcomes)


@inequality("at the largest size EM 1e-5 takes at least 32 times as long as spectral")
def _much_faster(runs: Runs) -> Finding:
    n = runs.sizes[-1]
    slow, fast = ([t.seconds(method, n) for t in runs.by_case()] for method in (HIGH, SPECTRAL))
    ratio = typical_ratio(slow, fast)
    return Finding(ratio >= ALMOST_TWO_ORDERS, f"{ratio:.0f} times at {n} rows")


EXPERIMENT = Experiment(
    name="fig-4.4",
    title="Thesis, figure 4.4: binary trees, 4 categories, 2 hidden states",
    claim=(
        "With few rows spectral learning and low-precision EM do best, in the middle precise EM, and with "
        "many rows spectral learning beats all EM; it is considerably faster, almost two orders of magnitude "
        "than EM at 1e-5."
    ),
    parts=(_few_rows, _middling_rows, _many_rows, _faster, _much_faster),
    settings={
        "paper": _settings(("bin4", "bin5", "bin6", "bin7"), THESIS_SIZES, 10),
        "small": _settings(("bin4", "bin5", "bin6", "bin7"), (100, 1000, 10_000, 50_000), 3),
        "tiny": _settings(("bin4",), (60, 200), 1),
    },
    lines=LINES,
    panel_title=lambda case: f"binary, depth {case.tree.removeprefix('bin')}",
    tacit_forms=TACIT_FORMS,
)
