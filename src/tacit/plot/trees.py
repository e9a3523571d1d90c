"""The picture of a tree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.errors import ArgumentError
from tacit.plot import histograms as small
from tacit.plot import style
from tacit.plot.layout import OFFSET, ROW, TreeLayout, balance_point, tidy_layout
from tacit.plot.subjects import Subject, subject_of
from tacit.trees.structure.rooting import walk
from tacit.trees.structure.topology import Topology

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ONE_SIDED = 12  # observed variables up to which a tree grows to one side only
_HIDDEN_LABEL = 14  # characters of a hidden node's name that are shown
_DEEPEST = 8  # generations up to which hidden nodes are named unasked
_DEEPEST_SETS = 40  # the same where the names are what the nodes stand for
_ROW_OF_SETS = 2.0  # a set may have a single row, and its name stands above its line
_LONGEST = 100.0  # inches that a picture of its own may measure
_HIDDEN_FONT = 0.75  # of the font size
_STATES_FONT = 0.65
_DOT, _DISC = 0.6, 1.15  # sizes of markers without and with a number in them
_THIN, _THICK = 0.06, 0.5  # lines of edges without and with full dependence
_LEGEND_ROW = 1.25
_MARK = 4.2  # what a mark of the legend and the space around it take, in its own font

Entry = tuple[str, dict[str, Any]]


def tree(
    model: Any,
    ax: Axes | None = None,
    *,
    histograms: bool | str = "auto",
    hidden_labels: bool | None = None,
    max_label: int = 40,
    legend: bool = True,
) -> Axes:
    """A picture of a tree: observed variables as squares, hidden ones as discs with their states.

    The root is the centre of the tree; a large tree grows to both sides of a node that balances its
    variables. No two labels overlap: without `ax` the figure is as large as needed, with `ax` the font is as
    small as needed. If the model has probability tables, the wider an edge the stronger the dependence across
    it (maximal correlation; of a Gaussian tree, the correlation).
    The hidden nodes of a junction tree are named after the variables that each of them holds.

    Parameters
    ----------
    model : fitted tree model, one of its ``trees_``, or Topology
        Of a mixture, the heaviest tree is drawn.
    ax : matplotlib.axes.Axes, optional
        Where to draw; its axis lines are taken away.
    histograms : bool or "auto"
        Whether every column has a small histogram of its marginal distribution: from the 0.5 % to the 99.5 %
        quantile of numbers, or one bar for each category. "auto": where a column holds numbers.
    hidden_labels : bool, optional
        Whether hidden nodes are named; without it, where the tree is not too deep.
    max_label : int
        Longer names are cut.
    legend : bool
        Whether the marks are explained below the tree.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    NotAvailableError
        The model has no tree: it was not fitted, or is no tree model. Or histograms were requested of
        something that is not a fitted model.
    DependencyError
        matplotlib is not installed.

    Examples
    --------
    >>> axes = tree(Topology.from_newick("((a,b),(c,d),e);"))
    >>> [text.get_text() for text in axes.texts]
    ['h1', 'e', 'a', 'b', 'c', 'd', 'h2', 'h3']
    """
    plt = style.pyplot()
    subject = subject_of(model)
    pictures = _histograms(model, subject, histograms)
    hidden = set(subject.topology.hidden)
    labels = _labels(subject, max_label)
    layout, outer, inner = _layout(subject, labels, pictures, hidden_labels=hidden_labels)
    entries = _legend_entries(subject, pictures) if legend else []
    left, right, bottom, top = _with_legend(layout.extent, entries)
    width, height = right - left, top - bottom
    if ax is None:
        font = min(style.FONT_SIZE, _LONGEST * 72 / max(width, height))
        figure = plt.figure(figsize=(width * font / 72, height * font / 72))
        ax = figure.add_axes((0, 0, 1, 1))
    else:
        box = ax.bbox.transformed(ax.figure.dpi_scale_trans.inverted())  # in inches
        font = min(style.FONT_SIZE, box.width * 72 / width, box.height * 72 / height)
    ax.set_axis_off()
    ax.set_xlim(left, right)
    ax.set_ylim(bottom, top)
    _draw_edges(ax, layout, subject, font)
    _draw_nodes(ax, layout, subject, font)
    _draw_states(ax, layout, subject, font)
    if pictures:
        small.draw_histograms(ax, layout, pictures, font)
    for where in (outer, inner):
        shown = {name: labels[name] for name in layout.names if name in where}
        beyond = dict.fromkeys(pictures, small.WIDTH + small.SPACE) if where is outer else {}
        _draw_labels(ax, layout, shown, beyond, hidden, font, outwards=where is outer)
    if entries:
        _draw_legend(ax, entries, font)
    return ax


def _histograms(model: Any, subject: Subject, option: bool | str) -> dict[str, small.Histogram]:
    """The histograms of the observed nodes, by name; none where none are wanted."""
    if option not in {True, False, "auto"}:
        raise ArgumentError(f'histograms={option!r}; give True, False or "auto"')
    if not (small.holds_numbers(model) if option == "auto" else option):
        return {}
    histograms = small.histograms_of(model)
    return {name: histograms[name] for name in subject.topology.observed}


def _labels(subject: Subject, max_label: int) -> dict[str, str]:
    """The label of each node."""
    hidden = {
        name: subject.sets.get(name) or _shown(name, min(max_label, _HIDDEN_LABEL))
        for name in subject.topology.hidden
    }
    return {name: _shown(hidden.get(name, name), max_label) for name in subject.topology.nodes}


def _shown(name: str, max_label: int) -> str:
    """The name on one line and not too long."""
    line = " ".join(name.split())
    return line if len(line) <= max_label else line[: max(max_label - 1, 1)] + "…"


def _layout(
    subject: Subject,
    labels: Mapping[str, str],
    pictures: Mapping[str, small.Histogram],
    *,
    hidden_labels: bool | None,
) -> tuple[TreeLayout, set[str], set[str]]:
    """The layout, and the nodes with labels outwards of them and above the line to the parent."""
    topology = subject.topology
    two_sided = len(topology.observed) > _ONE_SIDED
    root = balance_point(topology) if two_sided else topology.centre
    hidden = set(topology.hidden)
    widths = dict(zip(labels, style.text_widths(list(labels.values())), strict=True))
    if hidden_labels is None:
        deepest = _DEEPEST_SETS if subject.sets else _DEEPEST
        hidden_labels = _n_generations(topology, root) <= deepest
    outer = {name: 1.08 * widths[name] for name in topology.observed}  # hinting widens a little
    for name in pictures:
        outer[name] += small.WIDTH + small.SPACE
    inner = {}
    if hidden_labels:
        inner = {name: 1.08 * _HIDDEN_FONT * widths[name] for name in hidden - {root}}
        if root in hidden:
            outer[root] = 1.08 * _HIDDEN_FONT * widths[root]
    row = small.ROW if pictures else _ROW_OF_SETS if subject.sets else ROW
    layout = tidy_layout(topology, root, outer, inner, two_sided=two_sided, row=row)
    return layout, set(outer), set(inner)


def _n_generations(topology: Topology, root: str) -> int:
    depth: dict[str | None, int] = {None: -1}
    for name, up in walk(topology.neighbours, root).items():
        depth[name] = depth[up] + 1
    return max(depth.values())


def _draw_edges(ax: Axes, layout: TreeLayout, subject: Subject, font: float) -> None:
    """Draw thin bars down the generations, and a line to each child, as wide as its edge is strong."""
    from matplotlib.collections import LineCollection

    bars, lines, widths = [], [], []
    for node in range(1, len(layout.names)):
        up = int(layout.parent[node])
        bars.append([(layout.x[up], layout.y[up]), (layout.x[up], layout.y[node])])
        start = layout.x[up] - _THIN * layout.side[node]  # as far as the bar is wide
        lines.append([(start, layout.y[node]), (layout.x[node], layout.y[node])])
        ends = frozenset((layout.names[node], layout.names[up]))
        strength = subject.strengths.get(ends)
        widths.append(font * (2 * _THIN if strength is None else _line_width(strength)))
    bar_width = 2 * _THIN * font
    for segments, width, layer in ((bars, bar_width, 1), (lines, widths, 1.1)):
        ax.add_collection(
            LineCollection(
                segments, linewidths=width, colors=style.LINE, capstyle="butt", zorder=layer
            ),
            autolim=False,
        )


def _line_width(strength: float) -> float:
    return _THIN + (_THICK - _THIN) * strength


def _draw_nodes(ax: Axes, layout: TreeLayout, subject: Subject, font: float) -> None:
    observed = set(subject.topology.observed)
    squares = np.array([name in observed for name in layout.names])
    size = _DISC if subject.n_states else _DOT
    for mask, marker, em, colour in (
        (squares, "s", _DOT, style.BLUE),
        (~squares, "o", size, style.ORANGE),
    ):
        ax.scatter(
            layout.x[mask],
            layout.y[mask],
            s=(em * font) ** 2,
            marker=marker,
            color=colour,
            edgecolors="white",
            linewidths=0.06 * font,
            zorder=2,
        )


def _draw_states(ax: Axes, layout: TreeLayout, subject: Subject, font: float) -> None:
    """The number of states in each disc."""
    for node, name in enumerate(layout.names):
        if name in subject.n_states:
            ax.text(
                layout.x[node],
                layout.y[node],
                str(subject.n_states[name]),
                fontsize=_STATES_FONT * font,
                ha="center",
                va="center_baseline",
                zorder=3,
            )


def _draw_labels(
    ax: Axes,
    layout: TreeLayout,
    labels: Mapping[str, str],
    beyond: Mapping[str, float],
    hidden: set[str],
    font: float,
    *,
    outwards: bool,
) -> None:
    """Draw names beside their nodes (beyond their histograms), or above the lines to the root."""
    for node, name in enumerate(layout.names):
        if name not in labels:
            continue
        side = int(layout.side[node]) if outwards else -int(layout.side[node])
        ax.text(
            layout.x[node] + side * (OFFSET + beyond.get(name, 0.0)),
            layout.y[node] + (0.0 if outwards else 0.3),
            labels[name],
            fontsize=_HIDDEN_FONT * font if name in hidden else font,
            color=style.DIM if name in hidden else style.BLACK,
            ha="left" if side > 0 else "right",
            va="center_baseline" if outwards else "bottom",
            parse_math=False,
            zorder=3,
        )


def _legend_entries(subject: Subject, pictures: Mapping[str, small.Histogram]) -> list[Entry]:
    """The entries of the legend: text and line style (sizes in units of the font size)."""
    square = {"marker": "s", "markersize": _DOT, "color": style.BLUE, "linewidth": 0.0}
    entries = [("observed", square)]
    if subject.topology.hidden:
        size = _DISC if subject.n_states else _DOT
        disc = {"marker": "o", "markersize": size, "color": style.ORANGE, "linewidth": 0.0}
        text = "hidden (number of states)" if subject.n_states else "hidden"
        if subject.sets:
            text = "hidden variables (number of joint states)"
        entries.append((text, disc))
    for numbers, text, colour in ((True, "numbers", style.SKY), (False, "categories", style.GREEN)):
        if any(histogram.numbers == numbers for histogram in pictures.values()):
            entries.append((text, {"color": colour, "linewidth": 0.7}))
    if subject.strengths:
        for strength in (0.1, 0.5, 1.0):
            line = {"color": style.LINE, "linewidth": _line_width(strength)}
            entries.append((f"correlation {strength:g}", line))
    return entries


def _with_legend(
    extent: tuple[float, float, float, float], entries: list[Entry]
) -> tuple[float, float, float, float]:
    """The extent of the tree with room for the legend below it."""
    left, right, bottom, top = extent
    if not entries:
        return extent
    n_columns, legend_width = _legend_columns(entries, right - left)
    more = max(0.0, legend_width - (right - left)) / 2
    n_rows = -(-len(entries) // n_columns)
    return left - more, right + more, bottom - _LEGEND_ROW * n_rows - 0.5, top


def _legend_columns(entries: list[Entry], width: float) -> tuple[int, float]:
    """The number of columns with which the legend fits into a width, and its width then."""
    widths = [_HIDDEN_FONT * (w + _MARK) for w in style.text_widths([text for text, _ in entries])]
    for n_columns in range(len(entries), 0, -1):
        n_rows = -(-len(entries) // n_columns)
        columns = [max(widths[place : place + n_rows]) for place in range(0, len(widths), n_rows)]
        if sum(columns) <= width:
            break
    return len(columns), sum(columns)


def _draw_legend(ax: Axes, entries: list[Entry], font: float) -> None:
    from matplotlib.lines import Line2D

    handles = []
    for _, look in entries:
        sized = {key: look[key] * font for key in ("markersize", "linewidth") if key in look}
        handles.append(Line2D([], [], solid_capstyle="butt", **(look | sized)))
    left, right = ax.get_xlim()
    ax.legend(
        handles,
        [text for text, _ in entries],
        loc="lower center",
        ncols=_legend_columns(entries, right - left)[0],
        fontsize=_HIDDEN_FONT * font,
        frameon=False,
        borderaxespad=0.3,
        borderpad=0.2,
        handlelength=1.8,
        handletextpad=0.5,
        columnspacing=1.5,
        labelspacing=0.4,
    )
