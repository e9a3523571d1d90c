"""Thesis, figure 4.6: the size of the linear systems of spectral learning, on a binary tree of depth 6."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from tacit.reproduce.runner.claims import Experiment, Finding, counted, inequality
from tacit.reproduce.runner.panels import lines
from tacit.reproduce.runner.runs import Runs, typical_ratio
from tacit.reproduce.runner.trials import Method, Settings
from tacit.reproduce.trees.synthetic import STUDY, THESIS_SIZES, TreeCase

SYSTEMS = (1, 2, 5, 10)
PRINTED = tuple(
    Method(f"size {z}", "spectral", (("n_views", z), ("representation", "tensor")), as_printed=True)
    for z in SYSTEMS
)
TACIT = tuple(
    Method(f"Tacit, size {z}", "spectral", (("n_views", z), ("representation", "tensor")))
    for z in SYSTEMS
)
TACIT_FORMS = {one.name: other.name for one, other in zip(PRINTED, TACIT, strict=True)}
ONE, MOST = PRINTED[0], PRINTED[-1]

# "Perform similarly": within a quarter. "Considerably more accurate": half of the error. Times "not
# considerably different": less than twice.
SIMILAR, CONSIDERABLE = 1.25, 2.0


def _settings(tree: str, states: Sequence[int], sizes: Sequence[int], n_seeds: int) -> Settings:
    cases = [TreeCase(tree, n_categories=5, n_states=n_states) for n_states in states]
    return STUDY.settings(cases, PRINTED + TACIT, sizes, n_seeds)


@inequality(
    "with 2 hidden states the worst error is at most 1.25 times the best, on average over the sizes"
)
def _similar_for_two(runs: Runs) -> Finding:
    two = runs.where(n_states=2)
    errors = [[two.error(method, n) for method in PRINTED] for n in two.sizes]
    ratio = typical_ratio([max(row) for row in errors], [min(row) for row in errors])
    return Finding(ratio <= SIMILAR, f"{ratio:.2f}")


@inequality(
    "with the most hidden states systems of 10 have at most half the error of 1 at every size"
)
def _better_for_most(runs: Runs) -> Finding:
    most = runs.where(n_states=max(case.n_states for case in runs.cases))
    outcomes = [most.error(MOST, n) <= most.error(ONE, n) / CONSIDERABLE for n in most.sizes]
    return counted("sizes", outcomes)


@inequality("the mean ratio of the errors of systems of 1 and of 10 grows with every hidden state")
def _growing(runs: Runs) -> Finding:
    gains = [
        typical_ratio(*([tree.error(system, n) for n in tree.sizes] for system in (ONE, MOST)))
        for tree in runs.by_case()
    ]
    outcomes = [more > less for less, more in itertools.pairwise(gains)]
    measured = "gains of " + ", ".join(f"{gain:.3g}" for gain in gains)
    return Finding(bool(outcomes) and all(outcomes), measured)


@inequality("systems of 10 take less than twice the time of systems of 1")
def _similar_times(runs: Runs) -> Finding:
    cells = [(tree, n) for tree in runs.by_case() for n in runs.sizes]
    ratio = typical_ratio(*([tree.seconds(z, n) for tree, n in cells] for z in (MOST, ONE)))
    return Finding(ratio < CONSIDERABLE, f"{ratio:.2f}")


EXPERIMENT = Experiment(
    name="fig-4.6",
    title="Thesis, figure 4.6: size of the linear systems, binary tree, 5 categories",
    claim=(
        "With two hidden states all sizes of the linear system perform alike; the more hidden states, the "
        "more a larger system helps, considerably; times hardly differ."
    ),
    parts=(_similar_for_two, _better_for_most, _growing, _similar_times),
    settings={
        "paper": _settings("bin6", (2, 3, 4, 5), THESIS_SIZES, 10),
        "small": _settings("bin5", (2, 3, 4, 5), (100, 1000, 10_000, 100_000), 5),
        "tiny": _settings("bin4", (2, 3), (60, 200), 1),
    },
    lines=lines(PRINTED, TACIT_FORMS),
    panel_title=lambda case: f"{case.n_states} hidden states",
    tacit_forms=TACIT_FORMS,
)
