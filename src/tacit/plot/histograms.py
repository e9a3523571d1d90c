"""Small histograms of the marginal distributions of a tree's columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import NotAvailableError
from tacit.plot import style
from tacit.plot.layout import OFFSET, TreeLayout
from tacit.plot.models import can, number_places

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]

# All in units of the font size.
ROW = 2.1  # height of a row that holds a histogram
WIDTH, HEIGHT = 5.0, 1.6
SPACE = 0.5  # between a histogram and the name beside it

_N_BARS = 24  # of a column of numbers
_FINE = 8  # places at which the density is looked up within a bar
_TAILS = (0.005, 0.995)  # what lies farther out is not shown
_GAP = 0.25  # between two categories, as a fraction of the width of each


@dataclass(frozen=True, eq=False)
class Histogram:
    """Bars of equal width."""

    heights: Array  # (bar,)  0 to 1, the highest is 1
    numbers: bool  # else categories
    category: int = -1  # the bar that the leaf stands for, where it stands for one category only


def histograms_of(model: Any) -> dict[str, Histogram]:
    """The marginal distribution of each column, by name of the leaf.

    Raises
    ------
    NotAvailableError
        The model has no distributions of columns.
    """
    if not can(model, "predict"):
        raise NotAvailableError(
            f"{type(model).__name__} has no distributions of columns; pass a fitted model or histograms=False"
        )
    schema, numbers = model.schema_, number_places(model)
    histograms: dict[str, Histogram] = {}
    for place, name in enumerate(schema.names):
        if place in numbers:
            histograms[name] = Histogram(_scaled(_bar_heights(model, name)), numbers=True)
            continue
        (probabilities,) = model.predict_proba({name: [None]}, target=name)
        histograms[name] = Histogram(_scaled(probabilities), numbers=False)
        if not model.can(
            "components"
        ):  # of a Gaussian tree: one leaf for each category but the last
            leaves = model.scores_.names[model.scores_.coordinates_of(place)]
            for category, leaf in enumerate(leaves):
                mark = category if len(leaves) > 1 else -1
                histograms[leaf] = Histogram(_scaled(probabilities), numbers=False, category=mark)
    return histograms


def holds_numbers(model: Any) -> bool:
    """Whether a fitted model has columns of numbers."""
    return bool(number_places(model))


def _bar_heights(model: Any, name: str) -> Array:
    """(bar,) the mean density in bars of equal width over all but the tails."""
    nothing = {name: [None]}
    (ends,) = model.quantiles(nothing, name, _TAILS)
    low, high = float(ends[0]), float(ends[1])
    if not high > low:
        low, high = low - 0.5, high + 0.5
    fine = np.linspace(low, high, _N_BARS * _FINE + 1)
    _, (density,) = model.conditional_density(nothing, name, (fine[:-1] + fine[1:]) / 2)
    means: Array = density.reshape(_N_BARS, _FINE).mean(axis=1)
    return means


def _scaled(heights: Array) -> Array:
    top = float(heights.max(initial=0.0))
    return heights / top if top > 0 else np.zeros_like(heights)


def draw_histograms(
    ax: Axes, layout: TreeLayout, histograms: Mapping[str, Histogram], font: float
) -> None:
    """Draw the histograms outwards of their nodes, on a thin line."""
    from matplotlib.collections import LineCollection, PolyCollection

    bars: dict[str, list[Any]] = {}
    lines = []
    for node, name in enumerate(layout.names):
        if name not in histograms:
            continue
        side = int(layout.side[node])
        inner = layout.x[node] + side * OFFSET
        left, bottom = min(inner, inner + side * WIDTH), layout.y[node] - HEIGHT / 2
        for colour, corners in _bars(histograms[name], left, bottom):
            bars.setdefault(colour, []).append(corners)
        lines.append([(left, bottom), (left + WIDTH, bottom)])
    for colour, corners in bars.items():
        ax.add_collection(
            PolyCollection(corners, facecolors=colour, linewidths=0.0, zorder=2), autolim=False
        )
    ax.add_collection(
        LineCollection(lines, colors=style.LINE, linewidths=0.06 * font, zorder=2.1), autolim=False
    )


def _bars(histogram: Histogram, left: float, bottom: float) -> list[tuple[str, Any]]:
    """The colour and the corners of each shape; the bars of numbers are one shape, since they touch."""
    heights = bottom + HEIGHT * histogram.heights
    edges = left + WIDTH * np.arange(len(heights) + 1) / len(heights)
    if histogram.numbers:
        x, y = np.repeat(edges, 2), np.concatenate([[bottom], np.repeat(heights, 2), [bottom]])
        return [(style.SKY, np.column_stack([x, y]))]
    gap = _GAP * (edges[1] - edges[0]) / 2
    shapes = []
    for bar, height in enumerate(heights):
        low, high = edges[bar] + gap, edges[bar + 1] - gap
        colour = style.GREEN if histogram.category in {-1, bar} else style.PALE_GREEN
        shapes.append((colour, [(low, bottom), (low, height), (high, height), (high, bottom)]))
    return shapes
