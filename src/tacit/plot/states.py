"""The picture of the states of a sequence over time: their posterior, and the most likely path."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.plot import style
from tacit.plot.posteriors import of_one_sequence, posterior

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Integers = NDArray[np.int64]

_STRIP = 0.12  # height of the path, of that of the posterior
_GAP = 0.05
_LEAST_LABEL = 0.035  # of the width: shorter runs of the path have no number


def states(
    model: Any,
    sequence: Any,
    ax: Axes | None = None,
    *,
    first: int = 0,
    last: int | None = None,
    max_label: int = 12,
) -> Axes:
    """The hidden states of a sequence over time: the posterior as bands, and the Viterbi path.

    As `posterior`, with the most likely path of states: up to six states as a strip above the bands in the
    same colours, with the number of each state where there is room; more as a line through the rows of
    shades. Where path and bands disagree, the sequence leaves the state open.

    Parameters
    ----------
    model : fitted HMM
    sequence : one sequence
        As `model.posterior` takes it; None and NaN are missing.
    ax : matplotlib.axes.Axes, optional
    first : int
        The first position that is shown; the states are given the whole sequence.
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
    >>> axes = states(model, "aabbb")
    >>> axes.get_ylabel()
    'probability'
    """
    ax = posterior(model, sequence, ax, first=first, last=last, max_label=max_label)
    path = of_one_sequence(model, model.predict, sequence)
    shown = path[first:last]
    if model.n_states_ <= len(style.COLOURS):
        _draw_strip(ax, shown, first)
    else:
        _draw_line(ax, shown, first)
    return ax


def _runs(path: NDArray[Any]) -> Integers:
    """Where runs of one state start, and the end."""
    changes = 1 + np.flatnonzero(path[1:] != path[:-1])
    return np.concatenate([[0], changes, [len(path)]])


def _draw_strip(ax: Axes, path: NDArray[Any], first: int) -> None:
    """The path in the colours of the bands, above them."""
    low, high = 1.0 + _GAP, 1.0 + _GAP + _STRIP
    for start, stop in pairwise(_runs(path).tolist()):
        state = int(path[start])
        left, right = first + start - 0.5, first + stop - 0.5
        ax.fill_between(
            [left, right], low, high, color=style.COLOURS[state], linewidth=0.0, clip_on=False
        )
        if stop - start >= _LEAST_LABEL * len(path):
            look: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 7}
            colour = "white" if style.COLOURS[state] == style.BLUE else style.BLACK
            ax.text((left + right) / 2, (low + high) / 2, str(state), color=colour, **look)
    ax.set_ylim(0.0, high)
    ax.set_yticks([0.0, 0.5, 1.0, (low + high) / 2], ["0", "0.5", "1", "path"])


def _draw_line(ax: Axes, path: NDArray[Any], first: int) -> None:
    """The path as a line through the rows of shades."""
    edges = first + np.arange(len(path) + 1) - 0.5
    ax.stairs(path, edges, baseline=None, color=style.ORANGE, linewidth=1.2, label="Viterbi path")
    ax.legend(fontsize=8, **style.legend_place(ax))
