"""Thesis, figure 6.5: the density of a mixture of two Laplace distributions in two columns.

Its components are at (mu, mu) and (-mu, -mu); the error is the root of the sum of squared errors on a grid of
61 x 61 points (the thesis does not say how many). Histograms and kernel estimates choose bins and bandwidth
by held-out rows, and the mixture of Gaussians its number by BIC, which is more than the thesis grants them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from tacit.reproduce.numbers.laplace import LaplaceCase, LaplaceSettings
from tacit.reproduce.runner.grids import Method
from tacit.reproduce.runner.panels import Panel, lines
from tacit.reproduce.runner.runs import Runs
from tacit.reproduce.runner.verdicts import Experiment, Finding, Inequality, counted

ONE = Method("Gaussian", "gaussians", (("n_components", 1),))
TWO = Method("2 Gaussians", "gaussians", (("n_components", 2),))
BIC = Method("Gaussians by BIC", "gaussians", (("n_components", None),))
DISCRETE = Method("histogram", "histogram")
KDE = Method("kernel estimate", "kde")
KERNEL = Method("kernel tree", "auto", (("learn", "auto"),))
SPECTRAL = Method("spectral kernel tree", "spectral", (("learn", "spectral"),))
METHODS = (ONE, TWO, BIC, DISCRETE, KDE, KERNEL, SPECTRAL)
OTHERS = (ONE.name, TWO.name, BIC.name, DISCRETE.name, KDE.name)

MANY = 5000  # rows from which on the kernel tree is to be the best
NEAR, AIM = 1.25, 1.10  # times the best of the others with fewer rows


def settings(
    sizes: Sequence[int], n_seeds: int, mus: Sequence[float] = (2, 4, 6)
) -> LaplaceSettings:
    """Mixtures with these means."""
    cases = tuple(LaplaceCase(float(mu)) for mu in mus)
    return LaplaceSettings(cases, METHODS, tuple(sizes), n_seeds)


def ratios(runs: Runs, method: str = KERNEL.name) -> dict[tuple[float, int], float]:
    """The median error of a method, in units of that of the best of the others, by mean and size."""
    found = {}
    for mu in sorted({row.mu for row in runs.rows}):
        for size in runs.sizes:
            own = runs.where(mu=mu).at(size)
            best = min(own.median("distance", method=name) for name in OTHERS)
            found[mu, size] = own.median("distance", method=method) / best
    return found


def best_with_many(runs: Runs) -> Finding:
    """The kernel tree against the best of the others."""
    found = [ratio for (_, size), ratio in ratios(runs).items() if size >= MANY]
    held = counted(f"cells with {MANY} rows or more", [ratio < 1 for ratio in found])
    return Finding(held.held, f"{held.seen}, at worst {max(found, default=0):.2f} of the best")


def near_with_few(runs: Runs) -> Finding:
    """The kernel tree against the best of the others."""
    found = [ratio for (_, size), ratio in ratios(runs).items() if size < MANY]
    held = counted(f"cells with fewer than {MANY} rows", [ratio <= NEAR for ratio in found])
    nearer = sum(ratio <= AIM for ratio in found)
    seen = f"{held.seen}, at worst {max(found, default=0):.2f}; {nearer} within {AIM}"
    return Finding(held.held, seen)


def harder_when_closer(runs: Runs) -> Finding:
    """The kernel tree's errors for each distance of the components."""
    mus = sorted({row.mu for row in runs.rows})
    outcomes = []
    for size in runs.sizes:
        own = [runs.at(size).median("distance", mu=mu, method=KERNEL.name) for mu in mus]
        outcomes += [near > far for near, far in pairwise(own)]
    return counted("pairs of distances", outcomes)


def table(runs: Runs) -> str:
    """The medians of all methods, a line for each, and the ratio of the kernel tree to the best other."""
    width = max(len(each.name) for each in METHODS)
    parts = []
    for mu in sorted({row.mu for row in runs.rows}):
        own = runs.where(mu=mu)
        parts.append(f"mu = {mu:g}\n  {'':{width}}" + "".join(f"{size:>8}" for size in own.sizes))
        for method in METHODS:
            errors = [own.at(size).median("distance", method=method.name) for size in own.sizes]
            parts.append(f"  {method.name:{width}}" + "".join(f"{each:8.3f}" for each in errors))
        for method in (KERNEL, SPECTRAL):
            found = [ratios(own, method.name)[mu, size] for size in own.sizes]
            shown = "".join(f"{each:8.2f}" for each in found)
            parts.append(f"  {method.name + ' / best':{width}}{shown}")
    return "\n".join(parts)


def panels(chosen: LaplaceSettings) -> list[Panel]:
    """A panel for each distance of the components."""
    drawn = lines(OTHERS, {ONE.name: SPECTRAL.name}, KERNEL.name)
    return [Panel(f"mu = {case.mu:g}", case, drawn) for case in chosen.cases]


EXPERIMENT = Experiment(
    name="fig-6.5",
    title="Thesis, figure 6.5: density of a mixture of two Laplace distributions",
    claim=(
        "The kernel tree has a smaller error than a Gaussian, mixtures of Gaussians and a histogram; errors "
        "are larger where the components are closer together."
    ),
    parts=(
        Inequality(
            f"from {MANY} rows on the kernel tree has the smallest error of all", best_with_many
        ),
        Inequality(
            f"with fewer rows its error is at most {NEAR} times that of the best other one",
            near_with_few,
        ),
        Inequality("its error is larger where components are closer", harder_when_closer),
    ),
    settings={
        "paper": settings((200, 500, 1000, 2000, 5000, 10_000, 20_000), 10),
        "small": settings((200, 1000, 5000), 3),
        "tiny": settings((100, 300), 1, mus=(3,)),
    },
    panels=panels,
    measures=("distance",),
    over="draws",
    table=table,
)
