"""What tables and claims about texts have in common: texts, gains, and the order that is printed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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

REPLACED = "The thesis' texts are not to be had: its figures, marked (printed), stand beside ours on others."
# Printed perplexities that differ by a smaller share are taken for equal.
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


def texts_in(runs: Runs) -> list[tuple[TextCase, Runs]]:
    """Every text with its runs, in the order in which they first come."""
    cases = dict.fromkeys(row.case for row in runs.rows)
    return [(case, runs.of(case)) for case in cases]


def of_language(runs: Runs, language: str) -> list[Runs]:
    """The runs of each text that stands for one of the thesis' in a language."""
    return [own for case, own in texts_in(runs) if STANDS_FOR[case.corpus] == language]


def gain_at(runs: Runs, method: str, order: int) -> float:
    """Per cent that a method's perplexity of the test text is below that of int-MKN of the same order."""
    own = runs.at(order)
    return gain(own.median("test", method=method), own.median("test", method=INT_MKN.name))


def ordered_pairs(
    found: Mapping[str, float], printed: Mapping[str, float]
) -> dict[tuple[str, str], bool]:
    """For each two methods that differ in print, the lower one first: whether it is lower here."""
    outcomes = {}
    for pair in combinations(printed, 2):
        low, high = sorted(pair, key=printed.__getitem__)
        if printed[low] < (1 - NEAR) * printed[high]:
            outcomes[low, high] = found[low] < found[high]
    return outcomes


def laid_out(header: Sequence[str], rows: Sequence[tuple[str, Sequence[str]]]) -> list[str]:
    """Lines of a table: names on the left, cells under their header."""
    left = max(len(name) for name, _ in rows)
    widths = [
        2 + max(len(word), *(len(cells[place]) for _, cells in rows))
        for place, word in enumerate(header)
    ]
    shown = [("", header), *rows]
    return [
        f"{name:{left}}"
        + "".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
        for name, cells in shown
    ]
