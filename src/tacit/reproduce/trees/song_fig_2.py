"""Song et al. (2013), figure 2: fewer hidden states are learnt than there are.

The paper names each panel by {observed variables, categories, true states, learnt states}, but the numbers
are in the picture only, which the text does not describe. The kinds of trees are the paper's: hidden Markov
models that change with time, balanced and random binary trees; one of 16 variables is among them, where the
linker over all of them, as printed, is known to fail. One is added to the diagonals: with uniform tables the
third and fourth direction of an edge are so weak that learning two states would cost nothing.
"""

from __future__ import annotations

from tacit.reproduce.runner.claims import Experiment, Finding, counted, inequality
from tacit.reproduce.runner.panels import lines
from tacit.reproduce.runner.runs import Runs
from tacit.reproduce.runner.trials import Method
from tacit.reproduce.trees.synthetic import STUDY, TreeCase, em

SPECTRAL = Method(
    "spectral", "spectral", (("n_views", 1), ("representation", "tensor")), as_printed=True
)
NEW = Method("new", "hierarchical", as_printed=True)
EM = em("EM", 1e-4)
TACIT_SPECTRAL = Method("Tacit spectral", "spectral")
TACIT_NEW = Method("Tacit new, window of 2", "hierarchical", (("window", 2),))
TACIT_FORMS = {SPECTRAL.name: TACIT_SPECTRAL.name, NEW.name: TACIT_NEW.name}
METHODS = (NEW, EM, SPECTRAL, TACIT_NEW, TACIT_SPECTRAL)

SIZES = (200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000)

CASES = (
    TreeCase("cat8", n_categories=4, n_states=4, diagonal=1.0, learnt_states=2),
    TreeCase("bin4", n_categories=4, n_states=4, diagonal=1.0, learnt_states=2),
    TreeCase("random8", n_categories=6, n_states=4, diagonal=1.0, learnt_states=3),
    TreeCase("cat16", n_categories=4, n_states=4, diagonal=1.0, learnt_states=2),
)
KINDS = {"cat": "NH HMM", "bin": "balanced", "ran": "random"}

# "Levels off when the sample sizes go beyond 5,000": no quarter of the error goes with all the rows beyond.
LEVEL_FROM, LEVEL = 5000, 0.75


@inequality("at the smallest size EM's error is the lowest in every panel")
def _few_rows(runs: Runs) -> Finding:
    n = runs.sizes[0]
    outcomes = [
        tree.error(EM, n) < min(tree.error(NEW, n), tree.error(SPECTRAL, n))
        for tree in runs.by_case()
    ]
    return counted(f"panels at {n} rows", outcomes)


@inequality("at the largest size the new algorithm's error is the lowest in every panel")
def _many_rows(runs: Runs) -> Finding:
    n = runs.sizes[-1]
    outcomes = [
        tree.error(NEW, n) < min(tree.error(EM, n), tree.error(SPECTRAL, n))
        for tree in runs.by_case()
    ]
    return counted(f"panels at {n} rows", outcomes)


@inequality(
    "at the largest size EM's error is at least 3/4 of what it was at 5000 rows, in every panel"
)
def _level(runs: Runs) -> Finding:
    n = runs.sizes[-1]
    outcomes = [
        tree.error(EM, n) >= LEVEL * tree.error(EM, LEVEL_FROM)
        for tree in (runs.by_case() if LEVEL_FROM in runs.sizes[:-1] else ())
    ]
    return counted(f"panels from {LEVEL_FROM} to {n} rows", outcomes)


@inequality(
    "at the largest size spectral takes less time than new and new less than EM, in every panel"
)
def _times(runs: Runs) -> Finding:
    n = runs.sizes[-1]
    outcomes = [
        tree.seconds(SPECTRAL, n) < tree.seconds(NEW, n) < tree.seconds(EM, n)
        for tree in runs.by_case()
    ]
    return counted(f"panels at {n} rows", outcomes)


def _title(case: TreeCase) -> str:
    """The paper's quadruple."""
    n_leaves = int("".join(filter(str.isdigit, case.tree)))
    n_leaves = 2 ** (n_leaves - 1) if case.tree.startswith("bin") else n_leaves
    sizes = f"{{{n_leaves}, {case.n_categories}, {case.n_states}, {case.n_learnt_states}}}"
    return f"{KINDS[case.tree[:3]]} {sizes}"


EXPERIMENT = Experiment(
    name="song-fig-2",
    title="Song et al. 2013, figure 2: fewer states learnt than there are {O, n, k, k'}",
    claim=(
        "With too few states, EM does best with few rows and levels off beyond 5,000; with many the new "
        "hierarchical decomposition does best. It takes longer than earlier spectral algorithms and much "
        "less than EM."
    ),
    parts=(_few_rows, _many_rows, _level, _times),
    settings={
        "paper": STUDY.settings(CASES, METHODS, SIZES, 10),
        "small": STUDY.settings(CASES, METHODS, (200, 1000, 5000, 20_000, 100_000), 5),
        "tiny": STUDY.settings(CASES[:1], METHODS, (200, 500), 1),
    },
    lines=lines((NEW, EM, SPECTRAL), TACIT_FORMS),
    panel_title=_title,
    tacit_forms=TACIT_FORMS,
)
