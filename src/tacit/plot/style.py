"""Colours and fonts of all pictures, and the import of matplotlib."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

from tacit.errors import DependencyError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The palette of Okabe and Ito, which people with any kind of colour vision can tell apart.
BLACK = "#000000"
ORANGE = "#E69F00"
SKY = "#56B4E9"
GREEN = "#009E73"
BLUE = "#0072B2"
VERMILION = "#D55E00"
PURPLE = "#CC79A7"
PALE_GREEN = "#A6DBCB"  # what stands beside something green
PALE = "#D9D9D9"  # what stands behind
LINE = "#8C8C8C"  # lines that carry others
DIM = "#595959"  # text that matters less, still with the contrast that small text needs

FONT_SIZE = 9.0  # points

# Looks of several curves in one picture: colours first, then dashes.
COLOURS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY)
DASHES = ("-", "--", ":", "-.")


def pyplot() -> ModuleType:
    """The module matplotlib.pyplot, or a `DependencyError` that says how to get it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise DependencyError('pictures need matplotlib: pip install "tacit[plot]"') from error
    return plt


def legend_place(ax: Axes) -> dict[str, Any]:
    """The place of a legend: above the axes, if the figure has a layout engine, or within them."""
    if ax.figure.get_layout_engine() is None:
        return {"loc": "best", "framealpha": 0.8, "edgecolor": "none"}
    return {
        "loc": "lower left",
        "bbox_to_anchor": (0.0, 1.0),
        "frameon": False,
        "borderaxespad": 0.3,
    }


def text_widths(texts: list[str]) -> list[float]:
    """How wide each text is, in units of the font size."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextToPath

    measure, font = TextToPath(), FontProperties(size=100)
    return [
        measure.get_text_width_height_descent(text, font, ismath=False)[0] / 100 for text in texts
    ]


def shortened(name: object, max_label: int) -> str:
    """A name on one line, cut to a length; the repr of a blank one."""
    line = " ".join(str(name).split()) or repr(name)
    return line if len(line) <= max_label else line[: max(max_label - 1, 1)] + "…"
