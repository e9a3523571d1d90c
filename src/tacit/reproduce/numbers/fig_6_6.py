"""Thesis, figure 6.6: trees recovered from numbers, by kernel, Gaussian and nonparanormal distances.

64 leaves, 200 to 100 000 rows. `numbers.recovery` says how what the thesis leaves open is chosen (noise, root
and strengths of edges). The methods of the thesis are as printed: neighbour joining of equation 6.18 with 2,
5 and 8 singular values, and of minus the logarithm of the size of correlations. Tacit's forms are joined by
`refined-joining`; their distances have a ceiling, and kernel features are centred and whitened, where
one singular value replaces the thesis' two. That distance joined by neighbour joining is in the table.
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

JOIN, REFINE = ("join", "neighbor-joining"), ("join", "refined-joining")
PRINTED = ("printed", True)


def _kernel(rank: int) -> Method:
    return Method(
        f"kernel {rank}, printed", "kernel", (("rank", rank), PRINTED, JOIN), as_printed=True
    )


CORRELATION = Method("Gaussian, printed", "gaussian", (PRINTED, JOIN), as_printed=True)
RANKS = Method("nonparanormal, printed", "nonparanormal", (PRINTED, JOIN), as_printed=True)
KERNEL, KERNEL_5, KERNEL_8 = map(_kernel, (2, 5, 8))
TACIT_CORRELATION = Method("Gaussian, Tacit", "gaussian", (REFINE,))
TACIT_RANKS = Method("nonparanormal, Tacit", "nonparanormal", (REFINE,))
CENTRED = (("rank", 1), ("centred", True))
TACIT_KERNEL = Method("kernel, Tacit", "kernel", (*CENTRED, REFINE))
TACIT_JOINED = Method("kernel, Tacit, neighbour joining", "kernel", (*CENTRED, JOIN))
THESIS = (CORRELATION, RANKS, KERNEL, KERNEL_5, KERNEL_8)
METHODS = (*THESIS, TACIT_CORRELATION, TACIT_RANKS, TACIT_KERNEL, TACIT_JOINED)
OTHERS = (CORRELATION, RANKS)
TACIT_FORMS = {
    CORRELATION.name: TACIT_CORRELATION.name,
    RANKS.name: TACIT_RANKS.name,
    KERNEL.name: TACIT_KERNEL.name,
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
