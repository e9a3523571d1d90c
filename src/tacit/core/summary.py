"""A page about a fitted model: headings, facts and small tables, as text and as HTML."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

_INDENT = "  "
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


def _cells(row: Sequence[Any]) -> list[str]:
    """The values of a row of a table; the last one may be longer."""
    return [*(_shown(value) for value in row[:-1]), _shown(row[-1], _LAST)]


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
