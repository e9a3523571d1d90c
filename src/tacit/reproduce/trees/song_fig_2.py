"""Song et al. (2013), figure 2: fewer hidden states are told than there are.

The paper names each panel by {observed variables, categories, true states, states told}, but the numbers
are in the picture only, which the text does not describe. The kinds of trees are the paper's: hidden Markov
models that change with time, balanced and random binary trees; one of 16 variables is among them, where the
linker over all of them, as printed, is known to fail. One is added to the diagonals: with uniform tables the
third and fourth direction of an edge are so weak that telling two states would cost nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from tacit.reproduce.runner.grids import Method
from tacit.reproduce.runner.panels import Panel, lines
from tacit.reproduce.runner.runs import Runs
from tacit.reproduce.runner.verdicts import Experiment, Finding, Inequality, counted
from tacit.reproduce.trees.trials import Case, Settings, em

SPECTRAL = Method(
    "spectral", "spectral", (("n_views", 1), ("representation", "tensor")), as_printed=True
)
NEW = Method("new", "hierarchical", as_printed=True)
EM = em("EM", 1e-4)
OWN_SPECTRAL = Method("Tacit spectral", "spectral")
OWN_NEW = Method("Tacit new, window of 2", "hierarchical", (("window", 2),))
OURS = {SPECTRAL.name: OWN_SPECTRAL.name, NEW.name: OWN_NEW.name}
METHODS = (NEW, EM, SPECTRAL, OWN_NEW, OWN_SPECTRAL)

SIZES = (200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000)

CASES = (
    Case("cat8", n_categories=4, n_states=4, diagonal=1.0, told=2),
    Case("bin4", n_categories=4, n_states=4, diagonal=1.0, told=2),
    Case("random8", n_categories=6, n_states=4, diagonal=1.0, told=3),
    Case("cat16", n_categories=4, n_states=4, diagonal=1.0, told=2),
)
KINDS = {"cat": "NH HMM", "bin": "balanced", "ran": "random"}

# "Levels off when the sample sizes go beyond 5,000": no quarter of the error goes with all the rows beyond.
LEVEL_FROM, LEVEL = 5000, 0.75


def settings(cases: Sequence[Case], sizes: Sequence[int], n_seeds: int) -> Settings:
    """The paper's three methods, and Tacit's form of two."""
    return Settings(tuple(cases), METHODS, tuple(sizes), n_seeds)


def few_rows(runs: Runs) -> Finding:
    """EM ahead, at the smallest size."""
    n = runs.sizes[0]
    outcomes = [
        own.error(EM.name, n) < min(own.error(NEW.name, n), own.error(SPECTRAL.name, n))
        for own in map(runs.of, runs.cases)
    ]
    return counted(f"panels at {n} rows", outcomes)


def many_rows(runs: Runs) -> Finding:
    """The new algorithm ahead, at the largest size."""
    n = runs.sizes[-1]
    outcomes = [
        own.error(NEW.name, n) < min(own.error(EM.name, n), own.error(SPECTRAL.name, n))
        for own in map(runs.of, runs.cases)
    ]
    return counted(f"panels at {n} rows", outcomes)


def level(runs: Runs) -> Finding:
    """EM's error beyond 5000 rows."""
    n = runs.sizes[-1]
    outcomes = [
        own.error(EM.name, n) >= LEVEL * own.error(EM.name, LEVEL_FROM)
        for own in (map(runs.of, runs.cases) if LEVEL_FROM in runs.sizes[:-1] else ())
    ]
    return counted(f"panels from {LEVEL_FROM} to {n} rows", outcomes)


def times(runs: Runs) -> Finding:
    """The order of the times, at the largest size."""
    n = runs.sizes[-1]
    outcomes = [
        own.seconds(SPECTRAL.name, n) < own.seconds(NEW.name, n) < own.seconds(EM.name, n)
        for own in map(runs.of, runs.cases)
    ]
    return counted(f"panels at {n} rows", outcomes)


def panels(chosen: Settings) -> list[Panel]:
    """A column for each case, under the paper's quadruple."""
    drawn = lines((NEW.name, EM.name, SPECTRAL.name), OURS)
    found = []
    for case in chosen.cases:
        n_leaves = int("".join(filter(str.isdigit, case.tree)))
        n_leaves = 2 ** (n_leaves - 1) if case.tree.startswith("bin") else n_leaves
        sizes = f"{{{n_leaves}, {case.n_categories}, {case.n_states}, {case.told_states}}}"
        found.append(Panel(f"{KINDS[case.tree[:3]]} {sizes}", case, drawn))
    return found


EXPERIMENT = Experiment(
    name="song-fig-2",
    title="Song et al. 2013, figure 2: fewer states told than there are {O, n, k, k'}",
    claim=(
        "Told too few states, EM does best with few rows and levels off beyond 5,000; with many the new "
        "hierarchical decomposition does best. It takes longer than earlier spectral algorithms and much "
        "less than EM."
    ),
    parts=(
        Inequality("at the smallest size EM's error is the lowest in every panel", few_rows),
        Inequality(
            "at the largest size the new algorithm's error is the lowest in every panel", many_rows
        ),
        Inequality(
            "at the largest size EM's error is at least 3/4 of what it was at 5000 rows, in every panel",
            level,
        ),
        Inequality(
            "at the largest size spectral takes less time than new and new less than EM, in every panel",
            times,
        ),
    ),
    settings={
        "paper": settings(CASES, SIZES, 10),
        "small": settings(CASES, (200, 1000, 5000, 20_000, 100_000), 5),
        "tiny": settings(CASES[:1], (200, 500), 1),
    },
    panels=panels,
    ours=OURS,
)
