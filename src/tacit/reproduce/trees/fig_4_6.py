"""Thesis, figure 4.6: the size of the linear systems of spectral learning, on a binary tree of depth 6."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from tacit.reproduce.runner.grids import Method
from tacit.reproduce.runner.panels import Panel, lines
from tacit.reproduce.runner.runs import Runs, typical_ratio
from tacit.reproduce.runner.verdicts import Experiment, Finding, Inequality, counted
from tacit.reproduce.trees.trials import THESIS_SIZES, Case, Settings

SYSTEMS = (1, 2, 5, 10)
PRINTED = tuple(
    Method(f"size {z}", "spectral", (("n_views", z), ("representation", "tensor")), as_printed=True)
    for z in SYSTEMS
)
OWN = tuple(
    Method(f"Tacit, size {z}", "spectral", (("n_views", z), ("representation", "tensor")))
    for z in SYSTEMS
)
OURS = {one.name: other.name for one, other in zip(PRINTED, OWN, strict=True)}
ONE, MOST = PRINTED[0].name, PRINTED[-1].name

# "Perform similarly": within a quarter. "Considerably more accurate": half of the error. Times "not
# considerably different": less than twice.
SIMILAR, CONSIDERABLE = 1.25, 2.0


def settings(tree: str, states: Sequence[int], sizes: Sequence[int], n_seeds: int) -> Settings:
    """Five categories, and several numbers of hidden states."""
    cases = tuple(Case(tree, n_categories=5, n_states=k) for k in states)
    return Settings(cases, PRINTED + OWN, tuple(sizes), n_seeds)


def similar_for_two(runs: Runs) -> Finding:
    """The worst error over the best of all sizes of systems, at two hidden states."""
    own = runs.where(n_states=2)
    errors = [[own.error(method.name, n) for method in PRINTED] for n in own.sizes]
    ratio = typical_ratio([max(each) for each in errors], [min(each) for each in errors])
    return Finding(ratio <= SIMILAR, f"{ratio:.2f}")


def gain(runs: Runs, n_states: int) -> float:
    """How many times the error of systems of one equation is that of the largest ones."""
    own = runs.where(n_states=n_states)
    return typical_ratio(
        [own.error(ONE, n) for n in own.sizes], [own.error(MOST, n) for n in own.sizes]
    )


def better_for_most(runs: Runs) -> Finding:
    """Half of the error at the largest number of hidden states."""
    own = runs.where(n_states=max(case.n_states for case in runs.cases))
    outcomes = [own.error(MOST, n) <= own.error(ONE, n) / CONSIDERABLE for n in own.sizes]
    return counted("sizes", outcomes)


def growing(runs: Runs) -> Finding:
    """The gain from one number of hidden states to the next."""
    gains = [gain(runs, case.n_states) for case in runs.cases]
    outcomes = [more > less for less, more in itertools.pairwise(gains)]
    return Finding(
        bool(outcomes) and all(outcomes), "gains of " + ", ".join(f"{each:.3g}" for each in gains)
    )


def similar_times(runs: Runs) -> Finding:
    """The time of the largest systems over that of the smallest."""
    each = [(own, n) for own in map(runs.of, runs.cases) for n in runs.sizes]
    ratio = typical_ratio(
        [own.seconds(MOST, n) for own, n in each], [own.seconds(ONE, n) for own, n in each]
    )
    return Finding(ratio < CONSIDERABLE, f"{ratio:.2f}")


def panels(chosen: Settings) -> list[Panel]:
    """A column for each number of hidden states."""
    drawn = lines([method.name for method in PRINTED], OURS)
    return [Panel(f"{case.n_states} hidden states", case, drawn) for case in chosen.cases]


EXPERIMENT = Experiment(
    name="fig-4.6",
    title="Thesis, figure 4.6: size of the linear systems, binary tree, 5 categories",
    claim=(
        "With two hidden states all sizes of the linear system perform alike; the more hidden states, the "
        "more a larger system helps, considerably; times hardly differ."
    ),
    parts=(
        Inequality(
            "with 2 hidden states the worst error is at most 1.25 times the best, on average over the sizes",
            similar_for_two,
        ),
        Inequality(
            "with the most hidden states systems of 10 have at most half the error of 1 at every size",
            better_for_most,
        ),
        Inequality(
            "the mean ratio of the errors of systems of 1 and of 10 grows with every hidden state",
            growing,
        ),
        Inequality("systems of 10 take less than twice the time of systems of 1", similar_times),
    ),
    settings={
        "paper": settings("bin6", (2, 3, 4, 5), THESIS_SIZES, 10),
        "small": settings("bin5", (2, 3, 4, 5), (100, 1000, 10_000, 100_000), 5),
        "tiny": settings("bin4", (2, 3), (60, 200), 1),
    },
    panels=panels,
    ours=OURS,
)
