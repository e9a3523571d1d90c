"""Thesis, figure 7.5: the spectral algorithms of chapters 4 and 7, as degree and depth of the tree grow."""

from __future__ import annotations

from collections.abc import Sequence

from tacit.reproduce.runner.claims import Experiment, Finding, counted, inequality
from tacit.reproduce.runner.panels import lines
from tacit.reproduce.runner.runs import Runs
from tacit.reproduce.runner.trials import Method, Settings
from tacit.reproduce.trees.synthetic import STUDY, THESIS_SIZES, TreeCase

# "For both methods we use a linear system size of 1."
ORIGINAL_OPTIONS = (("n_views", 1), ("representation", "tensor"))
ALTERNATE_OPTIONS = (("n_views", 1), ("representation", "matrix"))
ORIGINAL = Method("original", "spectral", ORIGINAL_OPTIONS, as_printed=True)
PRINTED_OPTIONS = (*ALTERNATE_OPTIONS, ("siblings", "uncle"))  # Algorithm 13
ALTERNATE = Method("alternate", "spectral", PRINTED_OPTIONS, as_printed=True)
TACIT_ORIGINAL = Method("Tacit original", "spectral", ORIGINAL_OPTIONS)
TACIT_ALTERNATE = Method("Tacit alternate", "spectral", ALTERNATE_OPTIONS)
METHODS = (ORIGINAL, ALTERNATE, TACIT_ORIGINAL, TACIT_ALTERNATE)
TACIT_FORMS = {ORIGINAL.name: TACIT_ORIGINAL.name, ALTERNATE.name: TACIT_ALTERNATE.name}
LINES = lines((ALTERNATE, ORIGINAL), TACIT_FORMS)


def _settings(trees: Sequence[str], sizes: Sequence[int], n_seeds: int) -> Settings:
    cases = [TreeCase(tree, n_categories=6, n_states=2) for tree in trees]
    return STUDY.settings(cases, METHODS, sizes, n_seeds)


@inequality("at the smallest size the original's error is below the alternate's on every tree")
def _few_rows(runs: Runs) -> Finding:
    n = runs.sizes[0]
    outcomes = [tree.error(ORIGINAL, n) < tree.error(ALTERNATE, n) for tree in runs.by_case()]
    return counted(f"trees at {n} rows", outcomes)


@inequality("at the largest size the alternate's error is below the original's on every tree")
def _many_rows(runs: Runs) -> Finding:
    n = runs.sizes[-1]
    outcomes = [tree.error(ALTERNATE, n) < tree.error(ORIGINAL, n) for tree in runs.by_case()]
    return counted(f"trees at {n} rows", outcomes)


EXPERIMENT = Experiment(
    name="fig-7.5",
    title="Thesis, figure 7.5: order-3 tensors (alternate) and order-degree tensors (original)",
    claim=(
        "With few rows the original spectral algorithm is more robust; as they become more, the alternate "
        "one consistently performs better."
    ),
    parts=(_few_rows, _many_rows),
    settings={
        "paper": _settings(("t33", "t34", "t43", "t44"), THESIS_SIZES, 10),
        "small": _settings(("t33", "t34", "t43", "t44"), (100, 1000, 10_000, 100_000), 10),
        "tiny": _settings(("t33",), (60, 200), 1),
    },
    lines=LINES,
    panel_title=lambda case: f"{case.tree[1]} children, depth {case.tree[2]}",
    measures=("error",),
    tacit_forms=TACIT_FORMS,
)
