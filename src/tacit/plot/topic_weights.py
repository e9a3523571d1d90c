"""The picture of topics: their weights and their words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.errors import ArgumentError
from tacit.plot import style
from tacit.plot.models import check_can

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROW = 0.3  # inches for each topic
_FIGURE_SPACE = "\u2007"  # as wide as a digit


def topics(
    model: Any,
    ax: Axes | None = None,
    *,
    n_topics: int = 30,
    n_words: int = 8,
    max_label: int = 80,
) -> Axes:
    """Weights of topics as bars, the heaviest first, with the most likely words of each.

    Parameters
    ----------
    model : TopicModel
        A fitted one.
    ax : matplotlib.axes.Axes, optional
    n_topics : int
        So many topics at most, the heaviest.
    n_words : int
        Words of each.
    max_label : int
        Longer lists of words are cut.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    NotAvailableError
        The model has no topics.
    DependencyError
        matplotlib is not installed.

    Examples
    --------
    >>> from tacit.topics.topic_model import TopicModel
    >>> documents = [["cat", "dog", "cat"], ["tax", "law", "tax"], ["tax", "law", "law"]] * 20
    >>> axes = topics(TopicModel(n_topics=2).fit(documents), n_words=2)
    >>> [label.get_text() for label in axes.get_yticklabels()]
    ['0  law tax', '1  cat dog']
    """
    check_can(model, "topics", "has no topics; give a fitted TopicModel")
    if n_topics < 1 or n_words < 1:
        raise ArgumentError(f"n_topics={n_topics}, n_words={n_words}; give numbers of at least 1")
    plt = style.pyplot()
    weights = np.asarray(model.topics_.weights)[:n_topics]
    labels = _labels(model.top_words(n_words)[:n_topics], max_label)
    size = style.FONT_SIZE
    if ax is None:
        longest = max(style.text_widths(labels)) * size / 72
        inches = (longest + 3.0, _ROW * len(weights) + 0.9)
        _, ax = plt.subplots(figsize=inches, layout="constrained")
    else:
        size = min(size, 0.95 * 72 * _height(ax) / len(weights))  # rows of small axes are low
    places = np.arange(len(weights))
    ax.barh(places, weights, height=0.7, color=style.BLUE)
    ax.yaxis.tick_right()  # where words begin below each other
    ax.set_yticks(places, labels, fontsize=size)
    ax.set_ylim(len(weights) - 0.4, -0.6)  # the heaviest on top
    ax.tick_params(axis="y", length=0)
    ax.set_xlim(0.0, 1.05 * max(float(weights.max()), 1e-12))
    ax.locator_params(axis="x", nbins=4)
    label = "share of all words" if model.topics_.model == "lda" else "share of all documents"
    left = len(model.topics_.weights) - len(weights)
    if left:
        label += f"\nand {left} more topic{'s' if left > 1 else ''}"
    ax.set_xlabel(label)
    ax.grid(axis="x", color="#DDDDDD", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right", "left"]].set_visible(False)
    return ax


def _labels(words: list[list[str]], max_label: int) -> list[str]:
    """The number of each topic, from 0 as elsewhere, and its words."""
    digits = len(str(len(words) - 1))
    labels = []
    for number, row in enumerate(words):
        text = style.shortened(" ".join(row), max_label).replace("$", r"\$")
        labels.append(str(number).rjust(digits, _FIGURE_SPACE) + "  " + text)
    return labels


def _height(ax: Axes) -> float:
    """Of axes, in inches."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    return float(ax.get_window_extent().height / figure.dpi)
