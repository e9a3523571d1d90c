"""Thesis, figure 6.6: trees recovered from numbers, by kernel, Gaussian and nonparanormal distances.

64 leaves, 200 to 100 000 rows, neighbour joining. `numbers.recovery` says how what the thesis leaves open
is chosen (noise, root and strengths of edges). Beside the thesis' methods the same distances are joined by
`refined-joining`, the default structure learner, and the kernel distance is taken with features that are
centred, where one singular value replaces the thesis' two.
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
    STUDY,
    ProcessCase,
)
from tacit.reproduce.runner.claims import Experiment, Finding, counted, inequality
from tacit.reproduce.runner.panels import lines
from tacit.reproduce.runner.runs import Runs
from tacit.reproduce.runner.tables import aligned
from tacit.reproduce.runner.trials import Method, Settings

JOIN, SELECT = ("join", "neighbor-joining"), ("join", "refined-joining")
CORRELATION = Method("Gaussian", "gaussian", (JOIN,))
RANKS = Method("nonparanormal", "nonparanormal", (JOIN,))
KERNEL = Method("kernel 2", "kernel", (("rank", 2), ("centred", False), JOIN))
KERNEL_5 = Method("kernel 5", "kernel", (("rank", 5), ("centred", False), JOIN))
KERNEL_8 = Method("kernel 8", "kernel", (("rank", 8), ("centred", False), JOIN))
CENTRED = Method("centred kernel", "kernel", (("rank", 1), ("centred", True), JOIN))
SELECTED = tuple(
    Method(f"{method.name}, selected", method.learn, (*method.options[:-1], SELECT))
    for method in (CORRELATION, RANKS, CENTRED)
)
THESIS = (CORRELATION, RANKS, KERNEL, KERNEL_5, KERNEL_8)
METHODS = (*THESIS, CENTRED, *SELECTED)
OTHERS = (CORRELATION, RANKS)
TACIT_FORMS = {
    CORRELATION.name: SELECTED[0].name,
    RANKS.name: SELECTED[1].name,
    KERNEL.name: SELECTED[2].name,
}
CASES = tuple(
    ProcessCase(process, tree)
    for process in (GAUSSIAN, SIGN_FLIP)
    for tree in (BALANCED, SKEWED, RANDOM)
)


def _settings(sizes: Sequence[int], n_seeds: int, n_leaves: int = 64) -> Settings:
    cases = [ProcessCase(case.process, case.tree, n_leaves) for case in CASES]
    return STUDY.settings(cases, METHODS, sizes, n_seeds)


def _hops(runs: Runs, process: str, tree: str, method: Method, size: int) -> float:
    """The median over the seeds."""
    return runs.at(size).median("hops", process=process, tree=tree, method=method)


def _mean(runs: Runs, process: str, tree: str, method: Method) -> float:
    return statistics.fmean(_hops(runs, process, tree, method, size) for size in runs.sizes)


@inequality("numbers not Gaussian: fewer wrong hops by the kernel for every shape and size")
def _ahead_where_not_gaussian(runs: Runs) -> Finding:
    outcomes = [
        _hops(runs, SIGN_FLIP, tree, KERNEL, size)
        < min(_hops(runs, SIGN_FLIP, tree, method, size) for method in OTHERS)
        for tree in (BALANCED, SKEWED, RANDOM)
        for size in runs.sizes
    ]
    return counted("trees and sizes", outcomes)


@inequality(
    "Gaussian numbers: fewer wrong hops by the kernel for balanced and random trees, on average "
    "over the sizes"
)
def _ahead_where_gaussian(runs: Runs) -> Finding:
    outcomes = [
        _mean(runs, GAUSSIAN, tree, KERNEL) < _mean(runs, GAUSSIAN, tree, method)
        for tree in (BALANCED, RANDOM)
        for method in OTHERS
    ]
    return counted("trees and methods", outcomes)


@inequality("more wrong hops by the kernel for skewed ones")
def _behind_where_skewed(runs: Runs) -> Finding:
    kernel = _mean(runs, GAUSSIAN, SKEWED, KERNEL)
    others = [_mean(runs, GAUSSIAN, SKEWED, method) for method in OTHERS]
    shown = " and ".join(f"{hops:.0f}" for hops in others)
    return Finding(kernel > max(others), f"{kernel:.0f} against {shown}")


@inequality(
    "by the kernel, fewer wrong hops for balanced than for random, and than for skewed trees"
)
def _easiest_and_hardest(runs: Runs) -> Finding:
    balanced, skewed, random = (
        statistics.fmean(_mean(runs, process, tree, KERNEL) for process in (GAUSSIAN, SIGN_FLIP))
        for tree in (BALANCED, SKEWED, RANDOM)
    )
    measured = f"{balanced:.0f} balanced, {random:.0f} random, {skewed:.0f} skewed"
    return Finding(balanced < random < skewed, measured)


def _table(runs: Runs) -> str:
    """The medians of all methods."""
    parts = []
    for tree in runs.by_case():
        rows = [
            (
                f"  {method.name}",
                [f"{tree.at(n).median('hops', method=method):.0f}" for n in tree.sizes],
            )
            for method in METHODS
        ]
        parts.append(f"{tree.case.process}, {tree.case.tree}: hop error")
        parts += aligned([str(n) for n in tree.sizes], rows)
    return "\n".join(parts)


EXPERIMENT = Experiment(
    name="fig-6.6",
    title="Thesis, figure 6.6: trees of 64 leaves recovered from numbers",
    claim=(
        "Where numbers are not Gaussian the kernel distance recovers all shapes of trees better than "
        "Gaussian and nonparanormal ones; where they are, it is better for balanced and random trees and "
        "worse for skewed ones; balanced trees are the easiest and skewed ones the hardest."
    ),
    parts=(
        _ahead_where_not_gaussian,
        _ahead_where_gaussian,
        _behind_where_skewed,
        _easiest_and_hardest,
    ),
    settings={
        "paper": _settings((200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000), 10),
        "small": _settings((200, 1000, 5000), 3),
        "tiny": _settings((30, 100), 2, n_leaves=16),
    },
    lines=lines(THESIS, TACIT_FORMS),
    panel_title=lambda case: f"{case.process}, {case.tree}",
    measures=("hops",),
    tacit_forms=TACIT_FORMS,
    over="trees and draws",
    table=_table,
)
