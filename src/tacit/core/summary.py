"""A page about a fitted model: headings, facts and small tables, as text and as HTML."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.input.table import TEMPORAL, Column

_INDENT = "  "
MOST_COLUMNS, MOST_VALUES = 20, 4  # that a table of columns shows
_MOST_DAYS = 3e6  # from 1970 on, with four digits of a year
_WIDEST, _LAST = 40, 100  # characters of a cell, of one in the last column


@dataclass(frozen=True)
class Section:
    """A part of a summary: a heading, then lines of text, facts by name, or a table."""

    heading: str
    text: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[Any]] = ()

    def __str__(self) -> str:
        lines = [self.title] if self.heading else []
        if self.text:
            lines += [_INDENT + line for line in self.text.splitlines()]
        if self.facts:
            lines += _aligned([[name, _shown(value)] for name, value in self.facts.items()])
        if self.rows:
            lines += _aligned([list(self.columns), *(_cells(row) for row in self.rows)])
        return "\n".join(lines)

    @property
    def title(self) -> str:
        """The heading, as a sentence begins."""
        return self.heading[:1].upper() + self.heading[1:]

    def to_html(self) -> str:
        """The same as HTML."""
        parts = [f"<h4>{html.escape(self.title)}</h4>"] if self.heading else []
        if self.text:
            parts.append(f"<pre>{html.escape(self.text)}</pre>")
        if self.facts:
            parts.append(_html_table((), list(self.facts.items())))
        if self.rows:
            parts.append(_html_table(self.columns, self.rows))
        return "\n".join(parts)


@dataclass(frozen=True)
class Summary:
    """What was learnt, on a page.

    Examples
    --------
    >>> print(
    ...     Summary("HMM: 2 states", [Section("fit", facts={"log-likelihood": -1.25, "steps": 12})])
    ... )
    HMM: 2 states
    <BLANKLINE>
    Fit
      log-likelihood  -1.25
      steps              12
    """

    title: str
    sections: Sequence[Section] = ()

    def __str__(self) -> str:
        return "\n\n".join([self.title, *(str(section) for section in self.sections)])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        parts = [f"<h3>{html.escape(self.title)}</h3>", *(s.to_html() for s in self.sections)]
        return '<div class="tacit-summary">\n' + "\n".join(parts) + "\n</div>"


def profile(
    tables: Mapping[str, NDArray[np.float64]],
    overall: Mapping[str, NDArray[np.float64]],
    names: Mapping[str, Sequence[Any]],
    n_states: int,
    *,
    most: int = 5,
) -> list[list[tuple[str, Any, float, float]]]:
    """For each hidden state what is much more likely in it than overall.

    Parameters
    ----------
    tables : mapping of column to (state, category)
        Probabilities in each state.
    overall : mapping of column to (category,)
        Probabilities without knowing the state.
    names : mapping of column to categories
    n_states : int
    most : int
        How many are listed for each state.

    Returns
    -------
    list of list of (column, category, probability in the state, probability overall)
        Those first that are most informative: p log(p / overall).
    """
    profiles: list[list[tuple[str, Any, float, float]]] = []
    for state in range(n_states):
        lifts = [
            (float(p[state, c] * np.log(p[state, c] / overall[column][c])), column, c)
            for column, p in tables.items()
            for c in range(p.shape[1])
            if p[state, c] > overall[column][c] > 0
        ]
        lifts.sort(key=lambda lift: -lift[0])
        profiles.append(
            [
                (
                    column,
                    names[column][c],
                    float(tables[column][state, c]),
                    float(overall[column][c]),
                )
                for _, column, c in lifts[:most]
            ]
        )
    return profiles


def column_section(
    columns: Sequence[Column],
    gaps: Sequence[int] | None = None,
    often: Mapping[int, NDArray[np.float64]] | None = None,
) -> Section:
    """What each column was taken for: its kind, its values or their range, and how many cells are missing.

    Parameters
    ----------
    columns : sequence of Column
    gaps : sequence of int, optional
        Missing cells of each, of the training data.
    often : mapping of place to (value,) array, optional
        The numbers that have a probability of their own.
    """
    rows = [
        [
            column.name if column.label is None else column.label,
            column_kind(column),
            _values(column) + _often(column, (often or {}).get(place, ())),
            "" if gaps is None or len(gaps) != len(columns) else gaps[place],
        ]
        for place, column in enumerate(columns[:MOST_COLUMNS])
    ]
    if len(columns) > MOST_COLUMNS:
        rows.append([f"... and {len(columns) - MOST_COLUMNS} more", "", "", ""])
    return Section("Columns", columns=("column", "kind", "values", "gaps"), rows=rows)


def column_kind(column: Column) -> str:
    """What a column was taken for, in the words of the argument `columns`.

    Examples
    --------
    >>> from tacit.core.input.table import Column
    >>> (
    ...     column_kind(Column("size", ("S", "M"), "ordered")),
    ...     column_kind(Column("x", (0, 1), "integer")),
    ... )
    ('ordered', 'category')
    """
    if column.kind in ("continuous", "binned"):
        return "date" if column.unit in TEMPORAL else column.unit or "number"
    return "ordered" if column.kind == "ordered" else "category"


def _values(column: Column) -> str:
    """The categories of a column, or the range of its numbers, in few words."""
    if column.kind == "continuous":
        ends = (column.low, column.high)  # type: ignore[attr-defined]
        whole_days = all(float(end).is_integer() for end in ends)
        return " to ".join(_end(end, column.unit, whole_days=whole_days) for end in ends)
    listed = [str(category) for category in column.categories]
    if column.kind == "binned":
        return f"{len(listed)} bins: {listed[0]}, ..., {listed[-1]}"
    few = ", ".join(listed[:MOST_VALUES])
    return few if len(listed) <= MOST_VALUES else f"{len(listed)}: {few}, ..."


def _often(column: Column, atoms: Sequence[float] | NDArray[np.float64]) -> str:
    """The numbers of a column that have a probability of their own, in few words."""
    if not len(atoms):
        return ""
    days = all(float(atom).is_integer() for atom in atoms)
    few = ", ".join(_end(float(atom), column.unit, whole_days=days) for atom in atoms[:MOST_VALUES])
    return f"; often {few}" + (", ..." if len(atoms) > MOST_VALUES else "")


def _end(number: float, unit: str, *, whole_days: bool) -> str:
    if unit not in ("date", "datetime") or abs(number) > _MOST_DAYS:
        return f"{number:.6g}" + (" days" if unit in TEMPORAL else "")
    moment = str(np.datetime64(0, "m") + np.timedelta64(round(number * 1440), "m"))
    return moment[:10] if whole_days else moment.replace("T", " ")


def _cells(row: Sequence[Any]) -> list[str]:
    """The values of a row of a table; the last one may be longer."""
    return [*(_shown(value) for value in row[:-1]), *(_shown(value, _LAST) for value in row[-1:])]


def _shown(value: Any, widest: int = _WIDEST) -> str:
    """A value in few characters."""
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, float | np.floating):
        return f"{value:.6g}"
    text = " ".join(str(value).split())
    return text if len(text) <= widest else text[: widest - 3] + "..."


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of columns: numbers to the right, words to the left."""
    widths = [max(len(row[j]) for row in rows) for j in range(len(rows[0]))]
    right = [all(_is_number(row[j]) for row in rows[1:] or rows) for j in range(len(rows[0]))]
    return [
        _INDENT
        + "  ".join(
            cell.rjust(width) if to_right else cell.ljust(width)
            for cell, width, to_right in zip(row, widths, right, strict=True)
        ).rstrip()
        for row in rows
    ]


def _is_number(text: str) -> bool:
    try:
        float(text.rstrip("%"))
    except ValueError:
        return text in ("", "-")
    return True


def _html_table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    head = "".join(f"<th>{html.escape(name)}</th>" for name in columns)
    body = "\n".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in _cells(row)) + "</tr>"
        for row in rows
    )
    return f"<table>\n{f'<thead><tr>{head}</tr></thead>' if head else ''}<tbody>\n{body}\n</tbody></table>"
