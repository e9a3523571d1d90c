"""Tables of figures as lines of text."""

from __future__ import annotations

from collections.abc import Sequence


def aligned(header: Sequence[str], rows: Sequence[tuple[str, Sequence[str]]]) -> list[str]:
    """Lines of a table: names on the left, cells under their header."""
    left = max(len(name) for name, _ in rows)
    widths = [
        2 + max(len(word), *(len(cells[column]) for _, cells in rows))
        for column, word in enumerate(header)
    ]
    return [
        f"{name:{left}}"
        + "".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
        for name, cells in [("", header), *rows]
    ]
