"""What tables and claims about brackets have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tacit.reproduce.language.text_tables import laid_out
from tacit.reproduce.parsing.brackets import BankCase
from tacit.reproduce.runner.runs import Runs

REPLACED = (
    "The thesis' treebanks are not to be had: its figures, marked (printed), stand beside ours on others, a "
    "sample of the Penn Treebank for English, Spanish (CESS) for German, Sinica for Chinese."
)


def banks_in(runs: Runs) -> list[tuple[BankCase, Runs]]:
    """Every case with its runs, in the order in which they first come."""
    cases = dict.fromkeys(row.case for row in runs.rows)
    return [(case, runs.of(case)) for case in cases]


def f1(runs: Runs, method: str, longest: int) -> float:
    """The F1 of a method on sentences of up to so many words; NaN where it was not run."""
    return runs.at(longest).median("f1", method=method)


def lengths_table(
    runs: Runs, methods: Sequence[str], printed: Mapping[str, Mapping[str, Mapping[int, float]]]
) -> list[str]:
    """Lines of a table: for each case, a row for each method, under the lengths; then what is printed.

    Parameters
    ----------
    runs : Runs
    methods : sequence of str
    printed : mapping
        By title, by method and by length.
    """
    rows: list[tuple[str, list[str]]] = []
    for case, own in banks_in(runs):
        done = {row.method for row in own.rows}
        rows += [
            (f"{case}: {name}", [f"{f1(own, name, size):.1f}" for size in runs.sizes])
            for name in methods
            if name in done
        ]
    for title, table in printed.items():
        for name, numbers in table.items():
            cells = [f"{numbers[size]:.1f}" if size in numbers else "" for size in runs.sizes]
            rows.append((f"(printed) {title}: {name}", cells))
    return laid_out([f"<= {size}" for size in runs.sizes], rows)
