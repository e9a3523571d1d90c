"""Thesis, figure 6.5: the density of a mixture of two Laplace distributions in two columns.

Its components are at (mu, mu) and (-mu, -mu); the error is the root of the sum of squared errors on a grid of
61 x 61 points (the thesis does not say how many). The kernel tree of the thesis has the rank of the mixture,
2; its bandwidth is not said of this figure. It is run with the median distance, the rule of the thesis
elsewhere, and with the multiple of it that held-out rows select. Histograms and kernel estimates choose bins
and bandwidth by held-out rows, and the mixture of Gaussians its number by BIC, which is more than the thesis
grants them; it has no kernel estimate.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from tacit.reproduce.numbers.laplace import STUDY, LaplaceCase
from tacit.reproduce.runner.claims import Experiment, Finding, counted, inequality
from tacit.reproduce.runner.panels import lines
from tacit.reproduce.runner.runs import Runs
from tacit.reproduce.runner.tables import aligned
from tacit.reproduce.runner.trials import Method, Settings

ONE = Method("Gaussian", "gaussians", (("n_components", 1),))
TWO = Method("2 Gaussians", "gaussians", (("n_components", 2),))
BIC = Method("Gaussians by BIC", "gaussians", (("n_components", None),))
DISCRETE = Method("histogram", "histogram")
KDE = Method("kernel estimate", "kde")
AS_PRINTED = (("n_states", 2), ("preset", "printed"))
PRINTED = Method("kernel tree, printed", "kernel-tree", AS_PRINTED, as_printed=True)
SELECTED = Method(
    "kernel tree, printed, bandwidth selected",
    "kernel-tree, bandwidth selected",
    AS_PRINTED,
    as_printed=True,
)
KERNEL = Method("kernel tree, Tacit", "kernel-tree", (("learn", "auto"),))
SPECTRAL = Method("kernel tree, Tacit spectral", "kernel-tree", (("learn", "spectral"),))
THESIS = (ONE, TWO, BIC, DISCRETE)
OTHERS = (*THESIS, KDE)
KERNELS = (PRINTED, SELECTED, KERNEL, SPECTRAL)
METHODS = (*OTHERS, *KERNELS)
TACIT_FORMS = {PRINTED.name: KERNEL.name, SELECTED.name: SPECTRAL.name}


def _settings(sizes: Sequence[int], n_seeds: int, mus: Sequence[float] = (2, 4, 6)) -> Settings:
    return STUDY.settings([LaplaceCase(float(mu)) for mu in mus], METHODS, sizes, n_seeds)


def distance(runs: Runs, method: Method, size: int) -> float:
    """The median error of a method."""
    return runs.at(size).median("distance", method=method)


def ratio(runs: Runs, method: Method, size: int) -> float:
    """The error of a method, divided by that of the best of the others."""
    return distance(runs, method, size) / min(distance(runs, other, size) for other in OTHERS)


def _ahead(runs: Runs, method: Method) -> Finding:
    """Whether a method has a smaller error than the others of the thesis everywhere."""
    ratios = [
        distance(mu, method, n) / min(distance(mu, other, n) for other in THESIS)
        for mu in runs.by_case()
        for n in runs.sizes
    ]
    worst = f", at worst {max(ratios):.2f} of the best"
    return counted("distances and sizes", [r < 1 for r in ratios], shown=worst)


@inequality(
    "with the median bandwidth the kernel tree's error is below those of the Gaussian, the mixtures and the "
    "histogram for every distance and size"
)
def _ahead_with_the_median(runs: Runs) -> Finding:
    return _ahead(runs, PRINTED)


@inequality("so it is with the bandwidth that held-out rows select")
def _ahead_where_selected(runs: Runs) -> Finding:
    return _ahead(runs, SELECTED)


@inequality("its error is larger where components are closer")
def _harder_when_closer(runs: Runs) -> Finding:
    by_distance = sorted(runs.by_case(), key=lambda mu: mu.case.mu)
    outcomes = [
        distance(near, PRINTED, size) > distance(distant, PRINTED, size)
        for size in runs.sizes
        for near, distant in pairwise(by_distance)
    ]
    return counted("pairs of distances", outcomes)


def _table(runs: Runs) -> str:
    """The medians of all methods, and those of the kernel trees divided by the best other one."""
    parts = []
    for mu in runs.by_case():
        rows = [
            (f"  {method.name}", [f"{distance(mu, method, n):.3f}" for n in mu.sizes])
            for method in METHODS
        ]
        rows += [
            (f"  {method.name} / best", [f"{ratio(mu, method, n):.2f}" for n in mu.sizes])
            for method in KERNELS
        ]
        parts += [f"mu = {mu.case.mu:g}", *aligned([str(n) for n in mu.sizes], rows)]
    return "\n".join(parts)


EXPERIMENT = Experiment(
    name="fig-6.5",
    title="Thesis, figure 6.5: density of a mixture of two Laplace distributions",
    claim=(
        "The kernel tree has a smaller error than a Gaussian, mixtures of Gaussians and a histogram; errors "
        "are larger where the components are closer together."
    ),
    parts=(_ahead_with_the_median, _ahead_where_selected, _harder_when_closer),
    settings={
        "paper": _settings((200, 500, 1000, 2000, 5000, 10_000, 20_000), 10),
        "small": _settings((200, 1000, 5000), 3),
        "tiny": _settings((100, 300), 1, mus=(3,)),
    },
    lines=lines((PRINTED, SELECTED, *OTHERS), TACIT_FORMS),
    panel_title=lambda case: f"mu = {case.mu:g}",
    measures=("distance",),
    tacit_forms=TACIT_FORMS,
    over="draws",
    table=_table,
)
