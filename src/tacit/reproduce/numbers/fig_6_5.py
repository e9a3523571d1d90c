"""Thesis, figure 6.5: the density of a mixture of two Laplace distributions in two columns.

Its components are at (mu, mu) and (-mu, -mu); the error is the root of the sum of squared errors on a grid of
61 x 61 points (the thesis does not say how many). Histograms and kernel estimates choose bins and bandwidth
by held-out rows, and the mixture of Gaussians its number by BIC, which is more than the thesis grants them.
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
KERNEL = Method("kernel tree", "auto", (("learn", "auto"),))
SPECTRAL = Method("spectral kernel tree", "spectral", (("learn", "spectral"),))
OTHERS = (ONE, TWO, BIC, DISCRETE, KDE)
METHODS = (*OTHERS, KERNEL, SPECTRAL)

MANY = 5000  # rows from which on the kernel tree should be the best
NEAR, AIM = 1.25, 1.10  # times the best of the others with fewer rows


def _settings(sizes: Sequence[int], n_seeds: int, mus: Sequence[float] = (2, 4, 6)) -> Settings:
    return STUDY.settings([LaplaceCase(float(mu)) for mu in mus], METHODS, sizes, n_seeds)


def distance(runs: Runs, method: Method, size: int) -> float:
    """The median error of a method."""
    return runs.at(size).median("distance", method=method)


def ratio(runs: Runs, method: Method, size: int) -> float:
    """The error of a method, divided by that of the best of the others."""
    return distance(runs, method, size) / min(distance(runs, other, size) for other in OTHERS)


@inequality(f"from {MANY} rows on the kernel tree has the smallest error of all")
def _best_with_many(runs: Runs) -> Finding:
    ratios = [ratio(mu, KERNEL, n) for mu in runs.by_case() for n in runs.sizes if n >= MANY]
    worst = f", at worst {max(ratios, default=0):.2f} of the best"
    return counted(f"cells with {MANY} rows or more", [r < 1 for r in ratios], shown=worst)


@inequality(f"with fewer rows its error is at most {NEAR} times that of the best other one")
def _near_with_few(runs: Runs) -> Finding:
    ratios = [ratio(mu, KERNEL, n) for mu in runs.by_case() for n in runs.sizes if n < MANY]
    nearer = sum(value <= AIM for value in ratios)
    shown = f", at worst {max(ratios, default=0):.2f}; {nearer} within {AIM}"
    return counted(f"cells with fewer than {MANY} rows", [r <= NEAR for r in ratios], shown=shown)


@inequality("its error is larger where components are closer")
def _harder_when_closer(runs: Runs) -> Finding:
    by_distance = sorted(runs.by_case(), key=lambda mu: mu.case.mu)
    outcomes = [
        distance(near, KERNEL, size) > distance(distant, KERNEL, size)
        for size in runs.sizes
        for near, distant in pairwise(by_distance)
    ]
    return counted("pairs of distances", outcomes)


def _table(runs: Runs) -> str:
    """The medians of all methods, and the ratios of the kernel trees to the best other."""
    parts = []
    for mu in runs.by_case():
        rows = [
            (f"  {method.name}", [f"{distance(mu, method, n):.3f}" for n in mu.sizes])
            for method in METHODS
        ]
        rows += [
            (f"  {method.name} / best", [f"{ratio(mu, method, n):.2f}" for n in mu.sizes])
            for method in (KERNEL, SPECTRAL)
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
    parts=(_best_with_many, _near_with_few, _harder_when_closer),
    settings={
        "paper": _settings((200, 500, 1000, 2000, 5000, 10_000, 20_000), 10),
        "small": _settings((200, 1000, 5000), 3),
        "tiny": _settings((100, 300), 1, mus=(3,)),
    },
    lines=lines(OTHERS, {ONE.name: SPECTRAL.name}, KERNEL),
    panel_title=lambda case: f"mu = {case.mu:g}",
    measures=("distance",),
    over="draws",
    table=_table,
)
