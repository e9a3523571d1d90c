"""Pictures like the papers': one column per case, errors above, times below."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from tacit.plot import style
from tacit.reproduce.runner.runs import Runs
from tacit.reproduce.runner.trials import Case, Method

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend

LABELS = {
    "error": "error (L1)",
    "seconds": "training time (CPU s)",
    "wrong": "error rate",
    "distance": "error on the grid",
    "hops": "wrong hops (summed over pairs)",
    "off": "mean absolute error",
    "gain": "perplexity below int-MKN (per cent)",
    "f1": "F1 of brackets (per cent)",
}
ALONG = {
    "n_rows": "training rows",
    "query_size": "stocks in the query",
    "n_states": "states",
    "order": "order",
    "longest": "words of the longest sentences",
}
LINEAR = {"wrong", "off", "gain", "f1", "query_size", "n_states", "order", "longest"}
# On log scales that have a zero: up to this number they are plain.
PLAIN_UP_TO = {"hops": 10.0}  # all others are on log scales

# Lines may leave the panel at the top: the estimate that is zero everywhere has error 1, and by how many
# orders of magnitude another one is worse tells nothing. Predictions of crime that are off by more are nearly
# as bad as the median of all towns.
MOST = {"error": 1e3, "off": 0.14}

MANY_PANELS, FEW_SIZES = 6, 4

# In a legend: the mark and the space around it, and a letter of the name.
_INCHES_PER_ENTRY, _INCHES_PER_LETTER = 0.65, 0.08

# Colours and marks of the lines of the papers' figures, in the order in which a picture names its methods.
MARKS = (
    (style.BLUE, "o"),
    (style.VERMILION, "s"),
    (style.GREEN, "^"),
    (style.PURPLE, "D"),
    (style.ORANGE, "v"),
    (style.SKY, "P"),
    (style.DIM, "*"),
    (style.LINE, "<"),
    (style.PALE_GREEN, ">"),
)


@dataclass(frozen=True)
class Line:
    """A method in a panel: its name in the legend and its name in the table."""

    label: str
    method: str
    colour: str
    mark: str
    dashed: bool = False


@dataclass(frozen=True)
class Panel:
    """One column of the picture."""

    title: str
    case: Case
    lines: tuple[Line, ...]


def lines(
    methods: Sequence[Method],
    tacit_forms: Mapping[str, str] | None = None,
    other: Method | None = None,
) -> tuple[Line, ...]:
    """Lines of a panel, in the order of the legend.

    Methods of the seed, "printed" where there is a form of Tacit's own too; these forms, both by name,
    dashed, of the same colour; and one more of Tacit's methods, in black.
    """
    marks = {method.name: mark for method, mark in zip(methods, MARKS, strict=False)}
    printed = {m.name for m in methods if m.as_printed} | set(tacit_forms or {})
    printed = {name for name in printed if "printed" not in name}
    labels = {m.name: f"{m.name} (printed)" if m.name in printed else m.name for m in methods}
    solid = [Line(label, name, *marks[name]) for name, label in labels.items()]
    same_marks = {form: marks[name] for name, form in (tacit_forms or {}).items()}
    dashed = [Line(form, form, *mark, dashed=True) for form, mark in same_marks.items()]
    if other is not None:
        dashed.append(Line(other.name, other.name, style.BLACK, "x", dashed=True))
    return (*solid, *dashed)


def picture(
    runs: Runs, title: str, panels: Sequence[Panel], measures: Sequence[str], over: str = "models"
) -> Figure:
    """The figure: medians over the models, with the middle half of the models as a band, or single runs.

    Panels stand from left to right, in two rows where there are many and one measure; measures stand from top
    to bottom. `over` names what is drawn anew for each run of the same trial.
    """
    style.pyplot()  # says what to install where it is missing
    from matplotlib.figure import Figure

    in_two = len(measures) == 1 and len(panels) >= MANY_PANELS and len(panels) % 2 == 0
    n_rows = 2 if in_two else len(measures)
    n_columns = len(panels) // 2 if in_two else len(panels)
    width = max(2.6 * n_columns + 0.6, 6.4)
    labels = list(dict.fromkeys(line.label for panel in panels for line in panel.lines))
    legend_columns = _legend_columns(labels, width)
    n_lines = math.ceil(len(labels) / legend_columns)
    size = (width, 2.3 * n_rows + 0.9 + 0.2 * max(n_lines, 2))
    along = runs.rows[0].trial.study.size
    figure = Figure(figsize=size, layout="constrained")
    shared: Literal["all", "row"] = "all" if in_two else "row"
    grid = figure.subplots(n_rows, n_columns, sharex=True, sharey=shared, squeeze=False)
    drawn = [(measure, panel) for measure in measures for panel in panels]
    for number, (ax, (measure, panel)) in enumerate(zip(grid.flat, drawn, strict=True)):
        for line in panel.lines:
            _draw(ax, runs.of(panel.case), line, measure)
        _set_scales(ax, along, measure)
        row, column = divmod(number, n_columns)
        if row == 0 or in_two:
            ax.set_title(panel.title, fontsize=style.FONT_SIZE)
        if column == 0:
            ax.set_ylabel(LABELS[measure], fontsize=style.FONT_SIZE)
        if row == n_rows - 1:
            ax.set_xlabel(ALONG[along], fontsize=style.FONT_SIZE)
    for row, axes in enumerate(grid):
        _limit(axes, MOST.get(measures[0 if in_two else row], math.inf))
        _mark_sizes(axes, runs.sizes, along)
    handles: dict[str, Any] = {}
    for ax in grid.flat:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    figure.suptitle(title, fontsize=style.FONT_SIZE + 2)
    legend = legend_below(figure, list(handles.values()), list(handles), legend_columns)
    legend.set_title(_legend_title(runs, over))
    legend.get_title().set_fontsize(style.FONT_SIZE - 1)
    return figure


def legend_below(
    figure: Figure, handles: Sequence[Any], labels: Sequence[str], n_columns: int = 2
) -> Legend:
    """A legend below all panels."""
    return figure.legend(
        handles,
        labels,
        loc="outside lower center",
        ncols=n_columns,
        frameon=False,
        fontsize=style.FONT_SIZE,
    )


def _legend_title(runs: Runs, over: str) -> str:
    """What lines and bands are, in words; of a single run there is no median."""
    if len({row.seed for row in runs.rows}) == 1:
        return "lines: a single run each"
    return f"lines: median over the {over}; bands: the middle half of them"


def _mark_sizes(axes: Sequence[Axes], sizes: Sequence[int], along: str) -> None:
    """Name the sizes themselves on a log scale of so few of them that powers of ten say little.

    On a plain scale whole numbers are named, there is no half a state; of lengths those that there are.
    """
    from matplotlib.ticker import FixedLocator, MaxNLocator, NullFormatter

    if axes[0].get_xscale() != "log":
        for ax in axes:
            named = FixedLocator(sizes) if along == "longest" else MaxNLocator(integer=True)
            ax.xaxis.set_major_locator(named)
        return
    if len(sizes) > FEW_SIZES:
        return
    for ax in axes:
        ax.set_xticks(sizes, [f"{size:,}".replace(",", " ") for size in sizes])
        ax.xaxis.set_minor_formatter(NullFormatter())


def _legend_columns(labels: Sequence[str], width: float) -> int:
    """Columns of a legend of this width in inches: one line of labels if they fit, else two, and so on."""
    widths = [_INCHES_PER_ENTRY + _INCHES_PER_LETTER * len(label) for label in labels]
    if len(labels) <= 6 and sum(widths) <= width:
        return len(labels)
    for n_lines in range(2, len(labels)):
        stacks = [widths[first : first + n_lines] for first in range(0, len(labels), n_lines)]
        if sum(max(stack) for stack in stacks) <= width:
            return len(stacks)
    return 1


def _draw(ax: Axes, runs: Runs, line: Line, measure: str) -> None:
    """A method's medians; sizes at which it mostly failed have no mark."""
    import numpy as np

    runs = runs.where(method=line.method)
    sizes, middles, lows, highs = [], [], [], []
    for size in runs.sizes:
        # Quartiles that are among the values: between a number and inf there is nothing.
        values = runs.at(size).column(measure)
        low, high = np.quantile(values, [0.25, 0.75], method="nearest")
        middle = runs.at(size).median(measure)
        if math.isfinite(middle) and (middle > 0 or measure in LINEAR or measure in PLAIN_UP_TO):
            sizes.append(size)
            middles.append(middle)
            lows.append(min(low, middle))
            highs.append(max(high, middle) if math.isfinite(high) else middle)
    if not sizes:
        return
    if any(high > low for low, high in zip(lows, highs, strict=True)) and not line.dashed:
        ax.fill_between(sizes, lows, highs, color=line.colour, alpha=0.13, linewidth=0)
    ax.plot(
        sizes,
        middles,
        color=line.colour,
        marker=line.mark,
        markersize=4,
        linewidth=1.4,
        linestyle=(0, (4, 2)) if line.dashed else "-",
        markerfacecolor="white" if line.dashed and line.mark != "x" else line.colour,
        label=line.label,
    )


def _limit(row: Sequence[Axes], most: float) -> None:
    """Cut the scale of a row of panels at the top, and name the lines that are lost altogether.

    The panels of a row share one scale, which is known only when the last of them is drawn.
    """
    import numpy as np

    if row[0].get_ylim()[1] <= most:
        return
    row[0].set_ylim(top=most)
    for ax in row:
        lost = [
            str(line.get_label())
            for line in ax.get_lines()
            if np.asarray(line.get_ydata(), dtype=np.float64).min() > most
        ]
        if lost:
            text = f"above this: {', '.join(lost)}"
            note = ax.text(0.98, 0.97, text, ha="right", va="top", transform=ax.transAxes)
            note.set(fontsize=7, color=style.DIM)


def _set_scales(ax: Axes, along: str, measure: str) -> None:
    ax.set_xscale("linear" if along in LINEAR else "log")
    if measure in PLAIN_UP_TO:
        ax.set_yscale("symlog", linthresh=PLAIN_UP_TO[measure])
    else:
        ax.set_yscale("linear" if measure in LINEAR else "log")
    plain_frame(ax)


def plain_frame(ax: Axes) -> None:
    """A light grid, and no frame at the top and on the right."""
    ax.grid(color="#DDDDDD", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize=style.FONT_SIZE - 1)
