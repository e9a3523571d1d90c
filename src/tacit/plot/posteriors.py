"""The picture of the posterior of the hidden states of a sequence."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ArgumentError, DataError
from tacit.plot import style
from tacit.plot.models import check_can

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]

_AREAS = len(style.COLOURS)  # states up to which each has an area of its own colour
_FONT = 7  # points, of symbols
_INCH_PER_SYMBOL = 0.15  # the least that a symbol on the axis takes
_BESIDE = 1.3  # inches beside the axes
_WIDEST = 14.0  # inches


def posterior(
    model: Any,
    sequence: Any,
    ax: Axes | None = None,
    *,
    first: int = 0,
    last: int | None = None,
    max_label: int = 12,
) -> Axes:
    """Probabilities of the hidden states at each position of a sequence, given all of it.

    Up to six states are stacked areas; more are rows of shades, the darker the more probable. Symbols are
    printed below their positions where there is room.

    Parameters
    ----------
    model : fitted HMM
    sequence : one sequence
        As `model.posterior` takes it: a list or an array of symbols, a string, or numbers. None and NaN are
        missing.
    ax : matplotlib.axes.Axes, optional
    first : int
        The first position that is shown; the posterior is given the whole sequence.
    last : int, optional
        The position after the last that is shown; the end of the sequence by default.
    max_label : int
        Longer symbols are cut.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    NotAvailableError
        The model has no hidden states, or is not fitted.
    DataError
        It is not one sequence, or an empty one.
    DependencyError
        matplotlib is not installed.

    Examples
    --------
    >>> from tacit.sequences.hmm import HMM
    >>> model = HMM(n_states=2).fit([list("aabbbaabbb"), list("bbbaaabb"), list("aaabbbaa")])
    >>> axes = posterior(model, "aabbb")
    >>> [text.get_text() for text in axes.get_xticklabels()]
    ['a', 'a', 'b', 'b', 'b']
    """
    plt = style.pyplot()
    check_can(model, "paths", "has no hidden states over time; pass a fitted HMM")
    posteriors, labels = _read(model, sequence, max_label)
    end = len(posteriors) if last is None else last
    if not 0 <= first < end <= len(posteriors):
        raise ArgumentError(
            f"first={first}, last={last}; the sequence has the positions 0 to {len(posteriors) - 1}"
        )
    posteriors, labels = posteriors[first:end], labels[first:end]
    times = np.arange(first, end)
    if ax is None:
        height = 2.4 if posteriors.shape[1] <= _AREAS else 1.2 + 0.13 * max(posteriors.shape[1], 12)
        needed = _BESIDE + _needed(labels) * len(labels)
        width = max(needed, 4.0) if needed <= _WIDEST else 9.0
        _, ax = plt.subplots(figsize=(width, height), layout="constrained")
        room = (width - _BESIDE) / len(labels)
    else:
        box = ax.bbox.transformed(ax.figure.dpi_scale_trans.inverted())  # in inches
        room = box.width / len(labels)
    if posteriors.shape[1] <= _AREAS:
        _draw_areas(ax, times, posteriors)
    else:
        _draw_rows(ax, times, posteriors)
    ax.set_xlim(first - 0.5, end - 0.5)
    _mark_positions(ax, times, labels, room)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _read(model: Any, sequence: Any, max_label: int) -> tuple[Array, list[str]]:
    """(time, state) the posterior, and the symbol at each position; empty texts for numbers."""
    posterior = of_one_sequence(model, model.posterior, sequence)
    if not len(posterior):
        raise DataError("the sequence is empty: there is no position to draw")
    if not model.symbols_:
        return posterior, [""] * len(posterior)
    shown = [style.shortened(symbol, max_label) for symbol in model.symbols_]
    read = model._read(model._as_one(sequence))  # noqa: SLF001
    return posterior, [shown[code] if code >= 0 else "?" for code in read.codes.tolist()]


def of_one_sequence(model: Any, query: Callable[[Any], Any], sequence: Any) -> NDArray[Any]:
    """What a model says of the positions of one sequence, which it reads with its own symbols."""
    answer = query(model._as_one(sequence))  # noqa: SLF001
    if isinstance(answer, list):
        if len(answer) != 1:
            raise DataError(f"{len(answer)} sequences were given; one can be drawn")
        (answer,) = answer
    return np.asarray(answer)


def _draw_areas(ax: Axes, times: NDArray[np.int64], posteriors: Array) -> None:
    """One area for each state, in steps, from the first at the bottom."""
    edges = np.append(times, times[-1] + 1) - 0.5
    tops = np.cumsum(posteriors, axis=1)
    for state in range(posteriors.shape[1]):
        low = tops[:, state - 1] if state else np.zeros(len(times))
        ax.fill_between(
            edges,
            np.append(low, low[-1]),
            np.append(tops[:, state], tops[-1, state]),
            step="post",
            color=style.COLOURS[state],
            linewidth=0.0,
            label=f"state {state}",
        )
    ax.set_ylim(0.0, 1.0)
    ax.set_ylabel("probability")
    ax.legend(fontsize=8, ncols=6, handlelength=1.2, columnspacing=1.2, **style.legend_place(ax))


def _draw_rows(ax: Axes, times: NDArray[np.int64], posteriors: Array) -> None:
    """One row of shades for each state, the first at the top."""
    from matplotlib.colors import LinearSegmentedColormap

    shades = LinearSegmentedColormap.from_list(
        "shades", ["#FFFFFF", style.SKY, style.BLUE, "#002B45"]
    )
    k = posteriors.shape[1]
    mesh = ax.pcolormesh(
        np.append(times, times[-1] + 1) - 0.5,
        np.arange(k + 1) - 0.5,
        posteriors.T,
        cmap=shades,
        vmin=0.0,
        vmax=1.0,
        rasterized=True,
    )
    ax.set_ylim(k - 0.5, -0.5)
    ax.set_ylabel("state")
    step = 1 if k <= 40 else 5
    ax.set_yticks(np.arange(0, k, step))
    ax.tick_params(axis="y", labelsize=7, length=2)
    bar = ax.figure.colorbar(mesh, ax=ax, pad=0.01, fraction=0.03, aspect=18)
    bar.set_label("probability", fontsize=8)
    bar.ax.tick_params(labelsize=7)
    bar.outline.set_visible(False)


def _needed(labels: list[str]) -> float:
    """Width of a position in inches, such that its symbol fits: upright, or rotated where it is long."""
    widest = max(style.text_widths(labels), default=0.0)
    return _INCH_PER_SYMBOL if widest > 2.5 else max((widest + 0.6) * _FONT / 72, _INCH_PER_SYMBOL)


def _mark_positions(ax: Axes, times: NDArray[np.int64], labels: list[str], room: float) -> None:
    """Label positions with their symbols where there is room, else with numbers."""
    widest = max(style.text_widths(labels), default=0.0)
    if widest == 0 or room < 0.8 * _INCH_PER_SYMBOL:
        ax.set_xlabel("position")
        ax.locator_params(axis="x", integer=True)
        return
    ax.set_xticks(times, labels, parse_math=False)
    ax.tick_params(axis="x", length=0, labelsize=_FONT)
    if (widest + 0.3) * _FONT / 72 > room:
        ax.tick_params(axis="x", labelrotation=90)
    span = f"positions {times[0]} to {times[-1]}" if len(times) > 1 else f"position {times[0]}"
    ax.set_xlabel(f"symbols at the {span}")
