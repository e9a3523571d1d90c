"""What figures 7.6 and 7.7 of the thesis share: tables that become diagonally dominant.

How much was added to the diagonals is in the pictures only, which the text does not describe: 0, 0.5, 1 and 2
here.
"""

from __future__ import annotations

from collections.abc import Sequence

from tacit.reproduce.runner.panels import Panel
from tacit.reproduce.runner.runs import Runs, typical_ratio
from tacit.reproduce.runner.verdicts import Experiment, Finding, Inequality
from tacit.reproduce.trees.fig_7_5 import ALTERNATE, LINES, METHODS, ORIGINAL, OURS
from tacit.reproduce.trees.trials import THESIS_SIZES, Case, Settings

ADDED = (0.0, 0.5, 1.0, 2.0)

# Gains are "similar" where one is at most half as large again as the other.
SIMILAR = 1.5


def settings(tree: str, added: Sequence[float], sizes: Sequence[int], n_seeds: int) -> Settings:
    """Four categories and three hidden states, with more and more on the diagonals."""
    cases = tuple(Case(tree, n_categories=4, n_states=3, diagonal=each) for each in added)
    return Settings(cases, METHODS, tuple(sizes), n_seeds)


def gain(runs: Runs, method: str) -> float:
    """How many times its error with most on the diagonals is a method's error with nothing added."""
    added = sorted(case.diagonal for case in runs.cases)
    plain, strong = runs.where(diagonal=added[0]), runs.where(diagonal=added[-1])
    return typical_ratio(
        [plain.error(method, n) for n in runs.sizes], [strong.error(method, n) for n in runs.sizes]
    )


def both_gain(runs: Runs) -> Finding:
    """Lower errors of both methods."""
    gains = {name: gain(runs, name) for name in (ORIGINAL.name, ALTERNATE.name)}
    seen = ", ".join(f"{name} by a factor of {each:.2f}" for name, each in gains.items())
    return Finding(min(gains.values()) > 1, seen)


def similar_gain(runs: Runs) -> Finding:
    """The ratio of the gains."""
    ratio = gain(runs, ORIGINAL.name) / gain(runs, ALTERNATE.name)
    return Finding(1 / SIMILAR <= ratio <= SIMILAR, f"{ratio:.2f}")


def panels(chosen: Settings) -> list[Panel]:
    """A column for each number that is added."""
    return [Panel(f"{case.diagonal:g} added", case, LINES) for case in chosen.cases]


def experiment(name: str, tree: str) -> Experiment:
    """The experiment on a tree of some number of children and depth 3."""
    figure = name.removeprefix("fig-")
    return Experiment(
        name=name,
        title=f"Thesis, figure {figure}: diagonals added to, {tree[1]} children, depth {tree[2]}",
        claim=(
            f"On a tree of {tree[1]} children and depth {tree[2]}, both spectral algorithms benefit "
            "similarly from larger diagonals of the tables."
        ),
        parts=(
            Inequality(
                "both have a lower error with the most added than with nothing, on average over the sizes",
                both_gain,
            ),
            Inequality(
                "the ratio of the original's gain to the alternate's is between 2/3 and 3/2",
                similar_gain,
            ),
        ),
        settings={
            "paper": settings(tree, ADDED, THESIS_SIZES, 10),
            "small": settings(tree, ADDED, (100, 1000, 10_000, 100_000), 10),
            "tiny": settings("t33", (0.0, 1.0), (60, 200), 1),
        },
        panels=panels,
        measures=("error",),
        ours=OURS,
    )
