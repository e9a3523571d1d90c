"""Pictures of tables of perplexities: a column for each text, a row for each model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tacit.plot import style
from tacit.reproduce.runner.panels import legend_below, plain_frame
from tacit.reproduce.runner.runs import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_IN_A_ROW = 4


def scatter_plot(title: str, texts: Sequence[tuple[str, Sequence[tuple[str, Run]]]]) -> Figure:
    """The figure: perplexities of the validation text and of the test text, with its standard deviation.

    `texts` has the name of each text, with the name and the run of every model from top to bottom.
    """
    style.pyplot()  # says what to install where it is missing
    from matplotlib.figure import Figure

    names = [name for name, _ in texts[0][1]]
    n_rows = math.ceil(len(texts) / MOST_IN_A_ROW)
    n_columns = math.ceil(len(texts) / n_rows)
    size = (max(2.3 * n_columns + 1.6, 6.4), n_rows * (0.26 * len(names) + 0.75) + 0.75)
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(n_rows, n_columns, sharey=True, squeeze=False).ravel()
    for ax, (name, rows) in zip(axes, texts, strict=False):
        _draw(ax, [run for _, run in rows])
        ax.set_title(name, fontsize=style.FONT_SIZE)
        ax.set_xlabel("perplexity", fontsize=style.FONT_SIZE)
    for ax in axes[len(texts) :]:
        ax.remove()
    axes[0].set_yticks(range(len(names)), names)
    axes[0].set_ylim(len(names) - 0.4, -0.6)  # from top to bottom
    figure.suptitle(title, fontsize=style.FONT_SIZE + 2)
    legend_below(figure, *axes[0].get_legend_handles_labels())
    return figure


def _draw(ax: Axes, runs: Sequence[Run]) -> None:
    rows = range(len(runs))
    ax.plot(
        [run.valid for run in runs],
        rows,
        linestyle="",
        marker="o",
        markersize=5,
        markerfacecolor="white",
        color=style.LINE,
        label="validation text",
    )
    ax.errorbar(
        [run.test for run in runs],
        list(rows),
        xerr=[run.spread for run in runs],
        linestyle="",
        marker="D",
        markersize=4,
        elinewidth=1.2,
        color=style.BLUE,
        label="test text, with its standard deviation over draws of lines",
    )
    ax.margins(x=0.08)
    plain_frame(ax)
