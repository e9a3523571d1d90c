"""Thesis, table 8.1: the constituent-context model with other tags than those of the treebank.

Universal tags (U), and either kind joined with the word's Brown cluster (OB, UB). Sentences of up to so many
words are learnt from and judged. The thesis does not say how many clusters it has; here they are 999.
"""

from __future__ import annotations

from collections.abc import Sequence

from tacit.reproduce.parsing.bracket_tables import REPLACED, f1, lengths_table
from tacit.reproduce.parsing.brackets import (
    CONTEXTS,
    ENGLISH,
    LENGTHS,
    BankCase,
    BankSettings,
    all_there,
)
from tacit.reproduce.runner.grids import Method
from tacit.reproduce.runner.panels import Panel, lines
from tacit.reproduce.runner.runs import Runs
from tacit.reproduce.runner.verdicts import Experiment, Finding, Inequality, counted

CCM = Method("CCM", CONTEXTS, (("tags", "given"),))
OTHERS = (
    Method("CCM-U", CONTEXTS, (("tags", "universal"),)),
    Method("CCM-OB", CONTEXTS, (("tags", "given"), ("clusters", True))),
    Method("CCM-UB", CONTEXTS, (("tags", "universal"), ("clusters", True))),
)
METHODS = (CCM, *OTHERS)
NAMES = tuple(method.name for method in METHODS)

PRINTED = {
    "CCM": dict(zip(LENGTHS, (72.5, 54.1, 50.0, 47.2, 44.8, 26.3), strict=True)),
    "CCM-U": dict(zip(LENGTHS, (57.1, 36.0, 34.7, 30.7, 29.6, 13.5), strict=True)),
    "CCM-OB": dict(zip(LENGTHS, (58.2, 24.0, 19.3, 16.8, 15.3, 13.9), strict=True)),
    "CCM-UB": dict(zip(LENGTHS, (62.9, 23.7, 19.1, 16.6, 15.2, 13.8), strict=True)),
}


def settings(case: BankCase, lengths: Sequence[int] = LENGTHS) -> BankSettings:
    """Every length and kind of tags."""
    return BankSettings((case,), METHODS, tuple(lengths), 1)


def vanilla_is_best(runs: Runs) -> Finding:
    """The treebank's tags against all others."""
    outcomes = [
        f1(runs, CCM.name, size) > f1(runs, other.name, size)
        for size in runs.sizes
        for other in OTHERS
    ]
    shown = "/".join(f"{f1(runs, CCM.name, size):.1f}" for size in runs.sizes)
    return Finding(counted("", outcomes).held, f"{counted('comparisons', outcomes).seen}; {shown}")


def worse_on_long_sentences(runs: Runs) -> Finding:
    """The shortest sentences against the longest."""
    low, high = runs.sizes[0], runs.sizes[-1]
    outcomes = [f1(runs, name, low) > f1(runs, name, high) for name in NAMES]
    return counted("kinds of tags", outcomes)


def table(runs: Runs) -> str:
    """F1 by length, beside the printed ones."""
    shown = lengths_table(runs, NAMES, {"English, train": PRINTED})
    return "\n".join([REPLACED, *shown])


def panels(chosen: BankSettings) -> list[Panel]:
    """One panel."""
    return [Panel(str(case), case, lines(NAMES)) for case in chosen.cases]


EXPERIMENT = Experiment(
    name="table-8.1",
    title="Thesis, table 8.1: tags of the constituent-context model, on another treebank",
    claim=(
        "The constituent-context model does best with the tags of the treebank: better than with universal "
        "tags, and than with either joined with Brown clusters."
    ),
    parts=(
        Inequality("CCM is above the three others at every length", vanilla_is_best),
        Inequality(
            "all are worse on sentences of every length than on short ones", worse_on_long_sentences
        ),
    ),
    settings={
        "paper": settings(BankCase(ENGLISH)),
        "small": settings(BankCase(ENGLISH, every=3), (10, 20, 40)),
        "tiny": settings(BankCase(ENGLISH), (6, 10)),
    },
    panels=panels,
    measures=("f1",),
    need=lambda: all_there(ENGLISH),
    table=table,
)
