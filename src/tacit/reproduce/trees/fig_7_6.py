"""Thesis, figures 7.6 and 7.7: tables that become diagonally dominant, on trees of 3 and of 4 children.

How much was added to the diagonals is in the pictures only, which the text does not describe: 0, 0.5, 1 and 2
here.
"""

from __future__ import annotations

from collections.abc import Sequence

from tacit.reproduce.runner.claims import Experiment, Finding, inequality
from tacit.reproduce.runner.runs import Runs, typical_ratio
from tacit.reproduce.runner.trials import Method, Settings
from tacit.reproduce.trees.fig_7_5 import ALTERNATE, LINES, METHODS, ORIGINAL, TACIT_FORMS
from tacit.reproduce.trees.synthetic import STUDY, THESIS_SIZES, TreeCase

ADDED = (0.0, 0.5, 1.0, 2.0)

# Gains are "similar" where one is at most half as large again as the other.
SIMILAR = 1.5


def _settings(tree: str, added: Sequence[float], sizes: Sequence[int], n_seeds: int) -> Settings:
    cases = [TreeCase(tree, n_categories=4, n_states=3, diagonal=diagonal) for diagonal in added]
    return STUDY.settings(cases, METHODS, sizes, n_seeds)


def gain(runs: Runs, method: Method) -> float:
    """How many times a method's error with most on the diagonals its error with nothing added is."""
    trees = sorted(runs.by_case(), key=lambda tree: tree.case.diagonal)
    plain, dominant = (
        [tree.error(method, n) for n in runs.sizes] for tree in (trees[0], trees[-1])
    )
    return typical_ratio(plain, dominant)


@inequality(
    "both have a lower error with the most added than with nothing, on average over the sizes"
)
def _both_gain(runs: Runs) -> Finding:
    gains = {method.name: gain(runs, method) for method in (ORIGINAL, ALTERNATE)}
    measured = ", ".join(f"{name} by a factor of {factor:.2f}" for name, factor in gains.items())
    return Finding(min(gains.values()) > 1, measured)


@inequality("the ratio of the original's gain to the alternate's is between 2/3 and 3/2")
def _similar_gain(runs: Runs) -> Finding:
    ratio = gain(runs, ORIGINAL) / gain(runs, ALTERNATE)
    return Finding(1 / SIMILAR <= ratio <= SIMILAR, f"{ratio:.2f}")


def diagonals(name: str, tree: str) -> Experiment:
    """The experiment on a tree of some number of children and depth 3."""
    figure = name.removeprefix("fig-")
    return Experiment(
        name=name,
        title=f"Thesis, figure {figure}: diagonals added to, {tree[1]} children, depth {tree[2]}",
        claim=(
            f"On a tree of {tree[1]} children and depth {tree[2]}, both spectral algorithms benefit "
            "similarly from larger diagonals of the tables."
        ),
        parts=(_both_gain, _similar_gain),
        settings={
            "paper": _settings(tree, ADDED, THESIS_SIZES, 10),
            "small": _settings(tree, ADDED, (100, 1000, 10_000, 100_000), 10),
            "tiny": _settings("t33", (0.0, 1.0), (60, 200), 1),
        },
        lines=LINES,
        panel_title=lambda case: f"{case.diagonal:g} added",
        measures=("error",),
        tacit_forms=TACIT_FORMS,
    )


EXPERIMENT = diagonals("fig-7.6", "t33")
