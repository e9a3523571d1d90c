"""Thesis, table 8.1: the constituent-context model with other tags than those of the treebank.

Universal tags (U), and either kind joined with the word's Brown cluster (OB, UB). Sentences up to a length
are both learnt from and judged. The thesis does not say how many clusters it has; here they are 999.
"""

from __future__ import annotations

from collections.abc import Sequence

from tacit.reproduce.parsing.bracket_tables import REPLACED, f1, lengths_table
from tacit.reproduce.parsing.brackets import (
    CONTEXTS,
    ENGLISH,
    LENGTHS,
    STUDY,
    BankCase,
    check_treebanks,
)
from tacit.reproduce.runner.claims import Experiment, Finding, counted, inequality
from tacit.reproduce.runner.panels import lines
from tacit.reproduce.runner.runs import Runs
from tacit.reproduce.runner.trials import Method, Settings

CCM = Method("CCM", CONTEXTS, (("tags", "given"),))
OTHERS = (
    Method("CCM-U", CONTEXTS, (("tags", "universal"),)),
    Method("CCM-OB", CONTEXTS, (("tags", "given"), ("clusters", True))),
    Method("CCM-UB", CONTEXTS, (("tags", "universal"), ("clusters", True))),
)
METHODS = (CCM, *OTHERS)

PRINTED = {
    "CCM": dict(zip(LENGTHS, (72.5, 54.1, 50.0, 47.2, 44.8, 26.3), strict=True)),
    "CCM-U": dict(zip(LENGTHS, (57.1, 36.0, 34.7, 30.7, 29.6, 13.5), strict=True)),
    "CCM-OB": dict(zip(LENGTHS, (58.2, 24.0, 19.3, 16.8, 15.3, 13.9), strict=True)),
    "CCM-UB": dict(zip(LENGTHS, (62.9, 23.7, 19.1, 16.6, 15.2, 13.8), strict=True)),
}


def _settings(case: BankCase, lengths: Sequence[int] = LENGTHS) -> Settings:
    return STUDY.settings([case], METHODS, lengths, 1)


@inequality("CCM is above the three others at every length")
def _vanilla_is_best(runs: Runs) -> Finding:
    outcomes = [
        f1(runs, CCM, size) > f1(runs, other, size) for size in runs.sizes for other in OTHERS
    ]
    shown = "/".join(f"{f1(runs, CCM, size):.1f}" for size in runs.sizes)
    return counted("comparisons", outcomes, shown=f"; {shown}")


@inequality("all are worse on sentences of every length than on short ones")
def _worse_on_long_sentences(runs: Runs) -> Finding:
    low, high = runs.sizes[0], runs.sizes[-1]
    outcomes = [f1(runs, method, low) > f1(runs, method, high) for method in METHODS]
    return counted("kinds of tags", outcomes)


def _table(runs: Runs) -> str:
    """F1 by length, beside the printed ones."""
    return "\n".join([REPLACED, *lengths_table(runs, METHODS, {"English, train": PRINTED})])


EXPERIMENT = Experiment(
    name="table-8.1",
    title="Thesis, table 8.1: tags of the constituent-context model, on another treebank",
    claim=(
        "The constituent-context model does best with the tags of the treebank: better than with universal "
        "tags, and than with either joined with Brown clusters."
    ),
    parts=(_vanilla_is_best, _worse_on_long_sentences),
    settings={
        "paper": _settings(BankCase(ENGLISH)),
        "small": _settings(BankCase(ENGLISH, every=3), (10, 20, 40)),
        "tiny": _settings(BankCase(ENGLISH), (6, 10)),
    },
    lines=lines(METHODS),
    measures=("f1",),
    check_data=lambda: check_treebanks(ENGLISH),
    table=_table,
)
