"""Thesis, figure 6.6: trees recovered from numbers, by kernel, Gaussian and nonparanormal distances.

64 leaves, 200 to 100 000 rows, neighbour joining. `numbers.recovery` says what the thesis leaves
open (noise, root and strengths of edges). Beside the thesis' methods the same distances are joined by
`refined-joining`, the library's structure selector, and the kernel distance is taken with features that are
centred, where one singular value stands for the thesis' two.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from tacit.reproduce.numbers.recovery import (
    BALANCED,
    GAUSSIAN,
    RANDOM,
    SIGN_FLIP,
    SKEWED,
    TreeCase,
    TreeSettings,
)
from tacit.reproduce.runner.grids import Method
from tacit.reproduce.runner.panels import Panel, lines
from tacit.reproduce.runner.runs import Runs
from tacit.reproduce.runner.verdicts import Experiment, Finding, Inequality, counted

JOIN, SELECT = ("join", "neighbor-joining"), ("join", "refined-joining")
CORRELATION = Method("Gaussian", "gaussian", (JOIN,))
RANKS = Method("nonparanormal", "nonparanormal", (JOIN,))
KERNEL = Method("kernel 2", "kernel", (("rank", 2), ("centred", False), JOIN))
KERNEL_5 = Method("kernel 5", "kernel", (("rank", 5), ("centred", False), JOIN))
KERNEL_8 = Method("kernel 8", "kernel", (("rank", 8), ("centred", False), JOIN))
CENTRED = Method("centred kernel", "kernel", (("rank", 1), ("centred", True), JOIN))
SELECTED = tuple(
    Method(f"{each.name}, selected", each.learn, (*each.options[:-1], SELECT))
    for each in (CORRELATION, RANKS, CENTRED)
)
METHODS = (CORRELATION, RANKS, KERNEL, KERNEL_5, KERNEL_8, CENTRED, *SELECTED)
OTHERS = (CORRELATION.name, RANKS.name)
OURS = {
    CORRELATION.name: SELECTED[0].name,
    RANKS.name: SELECTED[1].name,
    KERNEL.name: SELECTED[2].name,
}
CASES = tuple(
    TreeCase(process, tree)
    for process in (GAUSSIAN, SIGN_FLIP)
    for tree in (BALANCED, SKEWED, RANDOM)
)


def settings(sizes: Sequence[int], n_seeds: int, n_leaves: int = 64) -> TreeSettings:
    """All cases with so many leaves."""
    cases = tuple(TreeCase(case.process, case.tree, n_leaves) for case in CASES)
    return TreeSettings(cases, METHODS, tuple(sizes), n_seeds)


def ahead_where_not_gaussian(runs: Runs) -> Finding:
    """The kernel against both others, for each tree and size."""
    outcomes = [
        _hops(runs, SIGN_FLIP, tree, KERNEL.name, size)
        < min(_hops(runs, SIGN_FLIP, tree, name, size) for name in OTHERS)
        for tree in (BALANCED, SKEWED, RANDOM)
        for size in runs.sizes
    ]
    return counted("trees and sizes", outcomes)


def ahead_where_gaussian(runs: Runs) -> Finding:
    """The kernel against both others, on average over the sizes, for balanced and random trees."""
    outcomes = [
        _mean(runs, GAUSSIAN, tree, KERNEL.name) < _mean(runs, GAUSSIAN, tree, name)
        for tree in (BALANCED, RANDOM)
        for name in OTHERS
    ]
    return counted("trees and methods", outcomes)


def behind_where_skewed(runs: Runs) -> Finding:
    """The kernel against both others, on average over the sizes, for skewed Gaussian trees."""
    own = _mean(runs, GAUSSIAN, SKEWED, KERNEL.name)
    theirs = [_mean(runs, GAUSSIAN, SKEWED, name) for name in OTHERS]
    shown = " and ".join(f"{each:.0f}" for each in theirs)
    return Finding(all(own > each for each in theirs), f"{own:.0f} against {shown}")


def easiest_and_hardest(runs: Runs) -> Finding:
    """The kernel's error on each shape, on average over processes and sizes."""
    balanced, skewed, random = (
        statistics.fmean(
            _mean(runs, process, tree, KERNEL.name) for process in (GAUSSIAN, SIGN_FLIP)
        )
        for tree in (BALANCED, SKEWED, RANDOM)
    )
    seen = f"{balanced:.0f} balanced, {random:.0f} random, {skewed:.0f} skewed"
    return Finding(balanced < random < skewed, seen)


def _hops(runs: Runs, process: str, tree: str, method: str, size: int) -> float:
    """The median over the seeds."""
    return runs.at(size).median("hops", process=process, tree=tree, method=method)


def _mean(runs: Runs, process: str, tree: str, method: str) -> float:
    return statistics.fmean(_hops(runs, process, tree, method, size) for size in runs.sizes)


def table(runs: Runs) -> str:
    """The medians of all methods, a line for each."""
    width = max(len(each.name) for each in METHODS)
    parts = []
    for case in CASES:
        own = runs.where(process=case.process, tree=case.tree)
        sizes = "".join(f"{size:>9}" for size in own.sizes)
        parts.append(f"{case.process}, {case.tree}: hop error\n  {'':{width}}{sizes}")
        for method in METHODS:
            errors = [own.at(size).median("hops", method=method.name) for size in own.sizes]
            parts.append(f"  {method.name:{width}}" + "".join(f"{each:9.0f}" for each in errors))
    return "\n".join(parts)


def panels(chosen: TreeSettings) -> list[Panel]:
    """A panel for each process and shape."""
    thesis = [CORRELATION.name, RANKS.name, KERNEL.name, KERNEL_5.name, KERNEL_8.name]
    drawn = lines(thesis, OURS)
    return [Panel(f"{case.process}, {case.tree}", case, drawn) for case in chosen.cases]


EXPERIMENT = Experiment(
    name="fig-6.6",
    title="Thesis, figure 6.6: trees of 64 leaves recovered from numbers",
    claim=(
        "Where numbers are not Gaussian the kernel distance recovers all shapes of trees better than "
        "Gaussian and nonparanormal ones; where they are, it is better for balanced and random trees and "
        "worse for skewed ones; balanced trees are the easiest and skewed ones the hardest."
    ),
    parts=(
        Inequality(
            "numbers not Gaussian: fewer wrong hops by the kernel for every shape and size",
            ahead_where_not_gaussian,
        ),
        Inequality(
            "Gaussian numbers: fewer wrong hops by the kernel for balanced and random trees, on average "
            "over the sizes",
            ahead_where_gaussian,
        ),
        Inequality("more wrong hops by the kernel for skewed ones", behind_where_skewed),
        Inequality(
            "by the kernel, fewer wrong hops for balanced than for random, and than for skewed trees",
            easiest_and_hardest,
        ),
    ),
    settings={
        "paper": settings((200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000), 10),
        "small": settings((200, 1000, 5000), 3),
        "tiny": settings((30, 100), 2, n_leaves=16),
    },
    panels=panels,
    measures=("hops",),
    ours=OURS,
    over="trees and draws",
    table=table,
)
