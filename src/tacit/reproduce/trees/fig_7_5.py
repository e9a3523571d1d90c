"""Thesis, figure 7.5: the spectral algorithms of chapters 4 and 7, as degree and depth of the tree grow."""

from __future__ import annotations

from collections.abc import Sequence

from tacit.reproduce.runner.grids import Method
from tacit.reproduce.runner.panels import Panel, lines
from tacit.reproduce.runner.runs import Runs
from tacit.reproduce.runner.verdicts import Experiment, Finding, Inequality, counted
from tacit.reproduce.trees.trials import THESIS_SIZES, Case, Settings

# "For both methods we use a linear system size of 1."
ORIGINAL_OPTIONS = (("n_views", 1), ("representation", "tensor"))
ALTERNATE_OPTIONS = (("n_views", 1), ("representation", "matrix"))
ORIGINAL = Method("original", "spectral", ORIGINAL_OPTIONS, as_printed=True)
ALTERNATE = Method("alternate", "spectral", ALTERNATE_OPTIONS, as_printed=True)
OWN_ORIGINAL = Method("Tacit original", "spectral", ORIGINAL_OPTIONS)
OWN_ALTERNATE = Method("Tacit alternate", "spectral", ALTERNATE_OPTIONS)
METHODS = (ORIGINAL, ALTERNATE, OWN_ORIGINAL, OWN_ALTERNATE)
OURS = {ORIGINAL.name: OWN_ORIGINAL.name, ALTERNATE.name: OWN_ALTERNATE.name}
LINES = lines((ALTERNATE.name, ORIGINAL.name), OURS)


def settings(trees: Sequence[str], sizes: Sequence[int], n_seeds: int) -> Settings:
    """Six categories and two hidden states, on every tree."""
    cases = tuple(Case(tree, n_categories=6, n_states=2) for tree in trees)
    return Settings(cases, METHODS, tuple(sizes), n_seeds)


def few_rows(runs: Runs) -> Finding:
    """The original ahead, at the smallest size."""
    n = runs.sizes[0]
    outcomes = [
        own.error(ORIGINAL.name, n) < own.error(ALTERNATE.name, n)
        for own in map(runs.of, runs.cases)
    ]
    return counted(f"trees at {n} rows", outcomes)


def many_rows(runs: Runs) -> Finding:
    """The alternate ahead, at the largest size."""
    n = runs.sizes[-1]
    outcomes = [
        own.error(ALTERNATE.name, n) < own.error(ORIGINAL.name, n)
        for own in map(runs.of, runs.cases)
    ]
    return counted(f"trees at {n} rows", outcomes)


def panels(chosen: Settings) -> list[Panel]:
    """A column for each tree."""
    return [
        Panel(f"{case.tree[1]} children, depth {case.tree[2]}", case, LINES)
        for case in chosen.cases
    ]


EXPERIMENT = Experiment(
    name="fig-7.5",
    title="Thesis, figure 7.5: order-3 tensors (alternate) and order-degree tensors (original)",
    claim=(
        "With few rows the original spectral algorithm is more robust; as they become more, the alternate "
        "one consistently performs better."
    ),
    parts=(
        Inequality(
            "at the smallest size the original's error is below the alternate's on every tree",
            few_rows,
        ),
        Inequality(
            "at the largest size the alternate's error is below the original's on every tree",
            many_rows,
        ),
    ),
    settings={
        "paper": settings(("t33", "t34", "t43", "t44"), THESIS_SIZES, 10),
        "small": settings(("t33", "t34", "t43", "t44"), (100, 1000, 10_000, 100_000), 10),
        "tiny": settings(("t33",), (60, 200), 1),
    },
    panels=panels,
    measures=("error",),
    ours=OURS,
)
