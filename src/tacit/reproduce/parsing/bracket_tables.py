"""What tables and claims about brackets have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tacit.reproduce.runner.runs import Runs
from tacit.reproduce.runner.tables import aligned
from tacit.reproduce.runner.trials import Method

Numbers = Mapping[str, Mapping[str, Mapping[int, float]]]

REPLACED = (
    "The thesis' treebanks are not available: its figures, marked (printed), stand beside ours on others, a "
    "sample of the Penn Treebank for English, Spanish (CESS) for German, Sinica for Chinese."
)


def f1(runs: Runs, method: Method | str, longest: int) -> float:
    """The F1 of a method on sentences up to a length; NaN where it was not run."""
    return runs.at(longest).median("f1", method=method)


def lengths_table(
    runs: Runs, methods: Sequence[Method], printed: Numbers, cited: Numbers | None = None
) -> list[str]:
    """Lines of a table: for each case, a row for each method, under the lengths; then what is printed.

    Printed numbers, and those cited of methods that are not run, are given by title, by method and by length.
    """
    rows: list[tuple[str, list[str]]] = []
    for bank in runs.by_case():
        rows += [
            (f"{bank.case}: {method.title}", [f"{f1(bank, method, n):.1f}" for n in runs.sizes])
            for method in methods
            if bank.where(method=method).rows
        ]
    for mark, tables in (("printed", printed), ("cited", cited or {})):
        for title, table in tables.items():
            for name, numbers in table.items():
                cells = [f"{numbers[size]:.1f}" if size in numbers else "" for size in runs.sizes]
                rows.append((f"({mark}) {title}: {name}", cells))
    return aligned([f"<= {size}" for size in runs.sizes], rows)
