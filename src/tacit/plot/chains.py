"""The picture of the states of a chain and of the transitions between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ArgumentError
from tacit.plot import style
from tacit.plot.models import check_can
from tacit.plot.rings import LINE, NOTE, SMALL, Ring, States

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]

_WIDEST = 0.6  # line of a transition that is certain
_PALEST = 0.5
_FLOOR = 0.05  # less likely transitions are drawn only on request


def transitions(
    model: Any,
    ax: Axes | None = None,
    *,
    least: float | str = "auto",
    n_symbols: int = 3,
    max_states: int = 40,
    max_label: int = 16,
) -> Axes:
    """A picture of hidden states and of the transitions between them.

    The larger a disc the more often its state is visited; the wider its dark outline the more sequences
    start there. The wider a line the more likely the transition to the state at its arrow; a ring beside a
    disc is a transition to the same state. Beside each state are the symbols that it emits most often, of an
    automaton also its end; of numbers, their mean and standard deviation.

    Parameters
    ----------
    model : fitted HMM or ProbabilisticAutomaton
        Of a mean of several automata the one that counts most is drawn.
    ax : matplotlib.axes.Axes, optional
        Where to draw; its axis lines are taken away.
    least : float or "auto"
        Transitions that are less likely are left out; how many is noted below the picture. "auto": 0.05, or
        more where that would draw too many lines.
    n_symbols : int
        Symbols beside each state, at most.
    max_states : int
        Of more states the most visited ones are drawn.
    max_label : int
        Longer symbols are cut.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    NotAvailableError
        The model has no hidden states, or is not fitted.
    DependencyError
        matplotlib is not installed.

    Examples
    --------
    >>> from tacit.sequences.hmm import HMM
    >>> model = HMM(n_states=2).fit([list("aabbbaabbb"), list("bbbaaabb"), list("aaabbbaa")])
    >>> axes = transitions(model)
    >>> [text.get_text() for text in axes.texts[:2]]
    ['0', '1']
    """
    plt = style.pyplot()
    if least != "auto" and (isinstance(least, str) or not 0 <= least <= 1):
        raise ArgumentError(f'least={least!r}; give a probability, or "auto"')
    if n_symbols < 0 or max_states < 1:
        raise ArgumentError(f"n_symbols={n_symbols}, max_states={max_states}; give 0 or 1 and more")
    states = _states_of(model, n_symbols, max_label)
    chosen = np.sort(np.argsort(-states.visits, kind="stable")[:max_states])
    threshold = _threshold(states.transitions[np.ix_(chosen, chosen)], least)
    note = _note(states, chosen, threshold)
    shown = states.only(chosen)
    ring = Ring.of(shown)
    left, right, bottom, top = ring.extent(note)
    width, height = right - left, top - bottom
    if ax is None:
        font = style.FONT_SIZE
        figure = plt.figure(figsize=(width * font / 72, height * font / 72))
        ax = figure.add_axes((0, 0, 1, 1))
    else:
        box = ax.bbox.transformed(ax.figure.dpi_scale_trans.inverted())  # in inches
        font = min(style.FONT_SIZE, box.width * 72 / width, box.height * 72 / height)
    ax.set_axis_off()
    ax.set_aspect("equal")
    ax.set_xlim(left, right)
    ax.set_ylim(bottom, top)
    _draw_transitions(ax, ring, threshold, font)
    _draw_discs(ax, ring, font)
    _draw_labels(ax, ring, font)
    look: Any = {"color": style.DIM, "ha": "center", "va": "bottom", "linespacing": LINE}
    ax.text((left + right) / 2, bottom + 0.4, ring.wrapped(note), fontsize=NOTE * font, **look)
    return ax


# -- states and labels --------------------------------------------------------------------------------


def _states_of(model: Any, n_symbols: int, max_label: int) -> States:
    check_can(
        model,
        "transitions",
        "has no hidden states to draw; pass a fitted HMM or ProbabilisticAutomaton",
    )
    if model.can("ends"):
        part = model.parts_[int(np.argmax(model.weights_))]
        visits = np.maximum(part.automaton.past, 0.0)
        symbols = [*(style.shortened(symbol, max_label) for symbol in model.symbols_), "(end)"]
        start, transitions, end = part.initial, part.through, True
        labels = [_likely(row, symbols, n_symbols) for row in part.emit]
    else:
        learnt = model.parameters_
        start, transitions, end = learnt.initial, learnt.transitions, False
        visits = np.maximum(learnt.stationary, 0.0)
        named = [style.shortened(symbol, max_label) for symbol in model.symbols_ or model.names_]
        labels = model._described(named, n_symbols)  # noqa: SLF001  in the model's own words
    total = float(visits.sum())
    visit_rates = visits / total if total > 0 else np.full(len(start), 1 / len(start))
    return States(
        [str(state) for state in range(len(start))], visit_rates, start, transitions, labels, end
    )


def _likely(row: Array, symbols: list[str], n_symbols: int) -> list[str]:
    """The most likely symbols of a state, each with its probability."""
    best = np.argsort(-row, kind="stable")[:n_symbols]
    return [f"{symbols[symbol]} {_percent(row[symbol])}" for symbol in best if row[symbol] >= 0.005]


def _percent(fraction: float) -> str:
    return f"{100 * fraction:.0f}%"


def _threshold(transitions: Array, least: float | str) -> float:
    """The least probability that is drawn: about three transitions per state, or 20 in all."""
    if not isinstance(least, str):
        return float(least)
    between = np.sort(transitions[~np.eye(len(transitions), dtype=np.bool_)])[::-1]
    most = max(3 * len(transitions), 20)
    floor = _FLOOR if len(between) <= most else max(_FLOOR, float(between[most]))
    return float(np.ceil(100 * floor - 1e-9) / 100)


def _note(states: States, chosen: NDArray[np.int64], threshold: float) -> str:
    """The note below the picture: what is drawn and what is left out."""
    flow = states.visits[:, None] * states.transitions
    drawn = np.zeros_like(flow, dtype=np.bool_)
    drawn[np.ix_(chosen, chosen)] = states.transitions[np.ix_(chosen, chosen)] >= threshold
    undrawn = 1 - float(flow[drawn].sum() / max(flow.sum(), 1e-300))
    parts = [
        "size: visits",
        "dark outline: starts",
        f"lines: transitions of {_percent(threshold)} and more",
    ]
    if undrawn >= 0.005:
        parts[-1] += f" ({_percent(undrawn)} of all transitions are not drawn)"
    if len(chosen) < len(states.names):
        visited = _percent(float(states.visits[chosen].sum()))
        parts.append(f"{len(chosen)} of {len(states.names)} states, with {visited} of the visits")
    return "; ".join(parts)


# -- how it looks -------------------------------------------------------------------------------------


def _line_look(transition: float, font: float) -> dict[str, Any]:
    return {
        "linewidth": max(_WIDEST * transition * font, 0.6),
        "alpha": _PALEST + (0.95 - _PALEST) * min(1.5 * transition, 1.0),
    }


def _draw_transitions(ax: Axes, ring: Ring, threshold: float, font: float) -> None:
    from matplotlib.patches import Circle, FancyArrowPatch

    places, transitions = ring.places, ring.states.transitions
    for i, j in zip(*np.nonzero((transitions >= threshold) & (transitions > 0)), strict=True):
        look = _line_look(float(transitions[i, j]), font)
        if i == j:
            round_ = ring.loop(i)
            middle = ring.outwards(i, 0.7 * round_)
            ax.add_patch(Circle(middle, round_, fill=False, edgecolor=style.DIM, zorder=1, **look))
            continue
        near = abs(float(np.angle(np.exp(1j * (ring.angles[i] - ring.angles[j]))))) < 1.0
        ax.add_patch(
            FancyArrowPatch(
                tuple(places[i]),
                tuple(places[j]),
                connectionstyle=f"arc3,rad={0.25 if near else 0.12}",
                arrowstyle="-|>",
                mutation_scale=0.7 * font + 2.2 * look["linewidth"],
                shrinkA=ring.discs[i] * font,
                shrinkB=ring.discs[j] * font + 0.5,
                color=style.DIM,
                zorder=1,
                joinstyle="miter",
                **look,
            )
        )


def _draw_discs(ax: Axes, ring: Ring, font: float) -> None:
    from matplotlib.patches import Circle

    starts = ring.states.start / max(float(ring.states.start.max()), 1e-300)
    for state, (x, y) in enumerate(ring.places):
        edge = style.BLACK if ring.states.start[state] >= 0.01 else "white"
        width = 0.06 + 0.16 * float(starts[state]) if edge == style.BLACK else 0.06
        ax.add_patch(
            Circle(
                (x, y),
                ring.discs[state],
                facecolor=style.ORANGE,
                edgecolor=edge,
                linewidth=width * font,
                zorder=2,
            )
        )
        ax.text(
            x,
            y,
            ring.states.names[state],
            fontsize=SMALL * font,
            ha="center",
            va="center_baseline",
            zorder=3,
        )


def _draw_labels(ax: Axes, ring: Ring, font: float) -> None:
    for state, lines in enumerate(ring.states.labels):
        x, y = ring.outwards(state, 2 * ring.loop(state) + 0.5)
        look: Any = {"fontsize": SMALL * font, "parse_math": False, "zorder": 3}
        if ring.upright:
            across, up = ring.alignment(state)
            look |= {"ha": across, "va": up, "linespacing": LINE}
            ax.text(x, y, "\n".join(lines), **look)
            continue
        degrees = float(np.degrees(ring.angles[state])) % 360
        leftwards = 90 < degrees < 270
        look |= {"ha": "right" if leftwards else "left", "va": "center_baseline"}
        turned = degrees - 180 if leftwards else degrees
        look |= {"rotation": turned, "rotation_mode": "anchor"}
        ax.text(x, y, ring.one_line(state), **look)
