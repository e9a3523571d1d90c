"""Pictures of tables of perplexities: a column for each text, a line for each model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tacit.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from tacit.experiments.texts import TextRun


def dots(title: str, texts: Sequence[tuple[str, Sequence[tuple[str, TextRun]]]]) -> Figure:
    """The figure: perplexities of the test text, with its standard deviation, and of the other.

    Parameters
    ----------
    title : str
    texts : sequence
        The name of each text, with the name and the run of every model from top to bottom.
    """
    style.pyplot()  # says what to install where it is missing
    from matplotlib.figure import Figure

    n_models, n_texts = max(len(rows) for _, rows in texts), len(texts)
    size = (max(2.3 * n_texts + 1.6, 6.4), 0.26 * n_models + 1.5)
    figure = Figure(figsize=size, layout="constrained")
    (axes,) = figure.subplots(1, n_texts, sharey=True, squeeze=False)
    for ax, (name, rows) in zip(axes, texts, strict=True):
        _draw(ax, [run for _, run in rows])
        ax.set_title(name, fontsize=style.FONT_SIZE)
        ax.set_xlabel("perplexity", fontsize=style.FONT_SIZE)
    names = [name for name, _ in texts[0][1]]
    axes[0].set_yticks(range(len(names)), names)
    axes[0].invert_yaxis()
    figure.suptitle(title, fontsize=style.FONT_SIZE + 2)
    figure.legend(
        *axes[0].get_legend_handles_labels(),
        loc="outside lower center",
        ncols=2,
        frameon=False,
        fontsize=style.FONT_SIZE,
    )
    return figure


def _draw(ax: Axes, runs: Sequence[TextRun]) -> None:
    places = range(len(runs))
    ax.plot(
        [run.valid for run in runs],
        places,
        linestyle="",
        marker="o",
        markersize=5,
        markerfacecolor="white",
        color=style.LINE,
        label="text to choose by",
    )
    ax.errorbar(
        [run.test for run in runs],
        list(places),
        xerr=[run.spread for run in runs],
        linestyle="",
        marker="D",
        markersize=4,
        elinewidth=1.2,
        color=style.BLUE,
        label="test text, with its standard deviation over draws of lines",
    )
    ax.grid(color="#DDDDDD", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.margins(x=0.08)
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize=style.FONT_SIZE - 1)
