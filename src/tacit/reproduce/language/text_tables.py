"""What tables and claims about texts have in common: texts, gains, and the order that is printed."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

from tacit.reproduce.language.texts import (
    CORPORA,
    ENGLISH,
    INT_MKN,
    RUSSIAN,
    STANDS_FOR,
    TextCase,
    gain,
)
from tacit.reproduce.runner.runs import Runs
from tacit.reproduce.runner.trials import Method

REPLACED = "The thesis' texts are not available: its figures, marked (printed), stand beside ours on others."
# Printed perplexities that differ by a smaller fraction count as equal.
NEAR = 0.01
# Texts of tables that compare more of a corpus with less of it, by scale.
MORE_AND_LESS = {
    "paper": (*map(TextCase, CORPORA), TextCase(ENGLISH, 10), TextCase(RUSSIAN, 10)),
    "small": (
        TextCase("ptb", 8),
        TextCase("ptb", 2),
        TextCase(RUSSIAN, 30, 2),
        TextCase(RUSSIAN, 8, 2),
    ),
    "tiny": (TextCase("ptb", 2), TextCase("ptb"), TextCase(RUSSIAN)),
}


def of_language(runs: Runs, language: str) -> list[Runs]:
    """The runs of each text that stands for one of the thesis' in a language."""
    return [text for text in runs.by_case() if STANDS_FOR[text.case.corpus] == language]


def less_and_more(runs: Runs) -> dict[str, tuple[Runs, Runs]]:
    """The runs with the least and with the most of each corpus that is learnt from in parts."""
    pairs = {}
    for corpus in dict.fromkeys(runs.column("corpus")):
        texts = sorted(runs.where(corpus=corpus).by_case(), key=lambda text: -text.case.every)
        if len(texts) > 1:
            pairs[corpus] = texts[0], texts[-1]
    return pairs


def gain_at(runs: Runs, method: Method | str, order: int) -> float:
    """Per cent that a method's perplexity of the test text is below that of int-MKN of the same order."""
    perplexity, peer = (runs.at(order).median("test", method=m) for m in (method, INT_MKN))
    return gain(perplexity, peer)


def ordered_pairs(
    values: Mapping[str, float], printed: Mapping[str, float]
) -> dict[tuple[str, str], bool]:
    """For each two methods that differ in print, the lower one first: whether it is lower here."""
    outcomes = {}
    for pair in combinations(printed, 2):
        low, high = sorted(pair, key=printed.__getitem__)
        if printed[low] < (1 - NEAR) * printed[high]:
            outcomes[low, high] = values[low] < values[high]
    return outcomes
