"""Thesis, figure 4.4: spectral learning and EM on binary trees of various depth.

Tables have uniform entries before their rows are brought to sum one: the thesis does not say how they
were drawn, nor how many models each point stands for (10 here, as in the papers it grew from). EM is this
project's own, over distinct patterns of rows, which is several times faster than EM over rows. In the text
"EM-" is EM at 1e-4 and low precision at once; the caption decides: 1e-3, 1e-4 and 1e-5 are compared.
"""

from __future__ import annotations

from collections.abc import Sequence

from tacit.reproduce.runner.grids import Method
from tacit.reproduce.runner.panels import Panel, lines
from tacit.reproduce.runner.runs import Runs, typical_ratio
from tacit.reproduce.runner.verdicts import Experiment, Finding, Inequality, counted
from tacit.reproduce.trees.trials import THESIS_SIZES, Case, Settings, em

SPECTRAL = Method(
    "spectral", "spectral", (("n_views", 10), ("representation", "tensor")), as_printed=True
)
OWN_SPECTRAL = Method("Tacit spectral", "spectral")
OWN_AUTO = Method("Tacit auto", "auto")
LOW, STANDARD, HIGH = em("EM 1e-3", 1e-3), em("EM 1e-4", 1e-4), em("EM 1e-5", 1e-5)
EMS = (LOW.name, STANDARD.name, HIGH.name)
OURS = {SPECTRAL.name: OWN_SPECTRAL.name}
METHODS = (SPECTRAL, LOW, STANDARD, HIGH, OWN_SPECTRAL, OWN_AUTO)

# Where the thesis sees its second of three regions.
MIDDLE = 1000

# "Almost two orders of magnitude": nearer to two than to one.
ALMOST_TWO_ORDERS = 10**1.5

# "Tend to": three trees of four.
MOSTLY = 0.75


def settings(trees: Sequence[str], sizes: Sequence[int], n_seeds: int) -> Settings:
    """Four categories and two hidden states, on every tree."""
    cases = tuple(Case(tree, n_categories=4, n_states=2) for tree in trees)
    return Settings(cases, METHODS, tuple(sizes), n_seeds)


def few_rows(runs: Runs) -> Finding:
    """Spectral and low-precision EM against the other two, at the smallest size."""
    n = runs.sizes[0]
    outcomes = [
        max(own.error("spectral", n), own.error(LOW.name, n))
        < min(own.error(STANDARD.name, n), own.error(HIGH.name, n))
        for own in map(runs.of, runs.cases)
    ]
    return counted(f"trees at {n} rows", outcomes, MOSTLY)


def middling_rows(runs: Runs) -> Finding:
    """Low-precision EM worst, and one of the others ahead of spectral."""
    outcomes = []
    for own in map(runs.of, runs.cases) if MIDDLE in runs.sizes else ():
        spectral, low, *precise = (own.error(name, MIDDLE) for name in ("spectral", *EMS))
        outcomes.append(min(precise) < spectral < low and max(precise) < low)
    return counted(f"trees at {MIDDLE} rows", outcomes, MOSTLY)


def many_rows(runs: Runs) -> Finding:
    """Spectral against every EM, at the largest size."""
    n = runs.sizes[-1]
    outcomes = [
        own.error("spectral", n) < min(own.error(name, n) for name in EMS)
        for own in map(runs.of, runs.cases)
    ]
    return counted(f"trees at {n} rows", outcomes)


def faster(runs: Runs) -> Finding:
    """Spectral against every EM, everywhere."""
    outcomes = [
        own.seconds("spectral", n) < min(own.seconds(name, n) for name in EMS)
        for own in map(runs.of, runs.cases)
        for n in runs.sizes
    ]
    return counted("trees and sizes", outcomes)


def much_faster(runs: Runs) -> Finding:
    """The ratio of times at the largest size."""
    n = runs.sizes[-1]
    each = [runs.of(case) for case in runs.cases]
    ratio = typical_ratio(
        [own.seconds(HIGH.name, n) for own in each], [own.seconds("spectral", n) for own in each]
    )
    return Finding(ratio >= ALMOST_TWO_ORDERS, f"{ratio:.0f} times at {n} rows")


def panels(chosen: Settings) -> list[Panel]:
    """A column for each tree."""
    drawn = lines((SPECTRAL.name, STANDARD.name, LOW.name, HIGH.name), OURS, OWN_AUTO.name)
    return [
        Panel(f"binary, depth {case.tree.removeprefix('bin')}", case, drawn)
        for case in chosen.cases
    ]


EXPERIMENT = Experiment(
    name="fig-4.4",
    title="Thesis, figure 4.4: binary trees, 4 categories, 2 hidden states",
    claim=(
        "With few rows spectral learning and low-precision EM do best, in the middle precise EM, and with "
        "many rows spectral learning beats all EM; it is considerably faster, almost two orders of magnitude "
        "than EM at 1e-5."
    ),
    parts=(
        Inequality(
            "at the smallest size the errors of spectral and EM 1e-3 are below those of EM 1e-4 and 1e-5 on "
            "3 of 4 trees",
            few_rows,
        ),
        Inequality(
            "at 1000 rows the best error of EM 1e-4 and 1e-5 < spectral's < EM 1e-3's on 3 of 4 trees",
            middling_rows,
        ),
        Inequality(
            "at the largest size spectral's error is below that of every EM on every tree",
            many_rows,
        ),
        Inequality("spectral takes less time than any EM on every tree at every size", faster),
        Inequality(
            "at the largest size EM 1e-5 takes at least 32 times as long as spectral", much_faster
        ),
    ),
    settings={
        "paper": settings(("bin4", "bin5", "bin6", "bin7"), THESIS_SIZES, 10),
        "small": settings(("bin4", "bin5", "bin6", "bin7"), (100, 1000, 10_000, 50_000), 3),
        "tiny": settings(("bin4",), (60, 200), 1),
    },
    panels=panels,
    ours=OURS,
)
