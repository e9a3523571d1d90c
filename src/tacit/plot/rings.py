"""The places of the states of a chain: around a circle, with their symbols outside of it."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from tacit.plot import style

Array = NDArray[np.float64]

# All sizes are in units of the font size, which is a unit of both axes.
LINE = 1.25  # of text
SMALL = 0.85  # font of labels, as a fraction
NOTE = 0.78
_LEAST_DISC, _LARGEST_DISC = 0.8, 1.7  # radii
_FEW = 10  # states up to which labels stand upright, one symbol in a line


@dataclass(frozen=True, eq=False)
class States:
    """The hidden states to draw."""

    names: list[str]  # (state,)
    visits: Array  # (state,)  fractions
    start: Array  # (state,)
    transitions: Array  # (state, next state)
    labels: list[list[str]]  # (state,)  lines
    end: bool  # whether the model says where sequences end

    def only(self, chosen: NDArray[np.int64]) -> States:
        """Some of the states."""
        return replace(
            self,
            names=[self.names[state] for state in chosen],
            visits=self.visits[chosen],
            start=self.start[chosen],
            transitions=self.transitions[np.ix_(chosen, chosen)],
            labels=[self.labels[state] for state in chosen],
        )


@dataclass(frozen=True, eq=False)
class Ring:
    """States around a circle, with frequent transitions between neighbours."""

    states: States
    angles: Array  # (state,)
    radius: float
    discs: Array  # (state,)  radii
    upright: bool  # whether labels stand upright, else along the rays

    @staticmethod
    def of(states: States) -> Ring:
        """The circle of some states."""
        k = len(states.names)
        place = np.empty(k, dtype=np.int64)
        place[_round_order(states)] = np.arange(k)
        upright = k <= _FEW
        widths = [max(style.text_widths(lines), default=0.0) for lines in states.labels]
        apart = max(SMALL * max(widths, default=0.0) + 1.0, 5.0) if upright else 2.6
        radius = 0.0 if k == 1 else max(apart / (2 * np.sin(np.pi / k)), 6.0 if upright else 14.0)
        first = np.pi if k == 2 else np.pi / 2
        relative = np.sqrt(states.visits / max(float(states.visits.max()), 1e-300))
        largest = _LARGEST_DISC if upright else 1.2
        discs = np.maximum(largest * relative, _LEAST_DISC)
        return Ring(states, first - 2 * np.pi * place / k, float(radius), discs, upright)

    @property
    def places(self) -> Array:
        """(state, 2) the centres of the discs."""
        return self.radius * np.stack([np.cos(self.angles), np.sin(self.angles)], axis=1)

    def outwards(self, state: int, distance: float) -> tuple[float, float]:
        """A point beyond a disc's edge, on the ray from the centre."""
        reach = self.radius + self.discs[state] + distance
        return reach * float(np.cos(self.angles[state])), reach * float(np.sin(self.angles[state]))

    def loop(self, state: int) -> float:
        """Radius of the ring of a self-transition."""
        return 0.55 * float(self.discs[state])

    def label_box(self, state: int) -> tuple[float, float, float, float]:
        """Left, right, bottom and top of a label, roughly."""
        lines = self.states.labels[state] or [""]
        x, y = self.outwards(state, 2 * self.loop(state) + 0.5)
        if self.upright:
            width = 1.1 * SMALL * max(style.text_widths(lines))
            height = SMALL * LINE * len(lines)
            across, up = self.alignment(state)
            left = x - width * {"left": 0.0, "center": 0.5, "right": 1.0}[across]
            low = y - height * {"bottom": 0.0, "center": 0.5, "top": 1.0}[up]
            return left, left + width, low, low + height
        length = 1.1 * SMALL * style.text_widths([self.one_line(state)])[0]
        end = self.outwards(state, 2 * self.loop(state) + 0.5 + length)
        return min(x, end[0]), max(x, end[0]), min(y, end[1]), max(y, end[1])

    def alignment(self, state: int) -> tuple[str, str]:
        """Horizontal and vertical alignment of an upright label."""
        x, y = np.cos(self.angles[state]), np.sin(self.angles[state])
        across = "left" if x > 0.3 else "right" if x < -0.3 else "center"
        up = "bottom" if y > 0.5 else "top" if y < -0.5 else "center"
        if len(self.states.names) == 1:
            return "center", "bottom"
        return across, up

    def one_line(self, state: int) -> str:
        """The label of a state along its ray."""
        return "  ".join(self.states.labels[state])

    def extent(self, note: str) -> tuple[float, float, float, float]:
        """Left, right, bottom and top of everything, with room for the note below."""
        boxes = np.array([self.label_box(state) for state in range(len(self.discs))])
        beyond = 2.2 * self.discs + 0.5  # of discs and rings
        x, y = self.places.T
        half = max(
            12.0,
            float((np.abs(x) + beyond).max()),
            -float(boxes[:, 0].min()) + 0.6,
            float(boxes[:, 1].max()) + 0.6,
        )
        n_lines = len(self.wrapped(note, half).split("\n"))
        low = min(float((y - beyond).min()), float(boxes[:, 2].min()) - 0.6)
        high = max(float((y + beyond).max()), float(boxes[:, 3].max()) + 0.6)
        return -half, half, low - (NOTE * LINE * n_lines + 0.9), high

    def wrapped(self, note: str, half: float | None = None) -> str:
        """The note in lines that fit below the picture."""
        if half is None:
            half = self.extent(note)[1]
        return "\n".join(textwrap.wrap(note, max(int(2 * half / (0.55 * NOTE)), 20)))


def _round_order(states: States) -> NDArray[np.int64]:
    """The order of states around the circle: frequent transitions are short; pairs are swapped."""
    k = len(states.names)
    flow = states.visits[:, None] * states.transitions
    flow = flow + flow.T
    gap = np.abs(np.arange(k)[:, None] - np.arange(k))
    gap = np.minimum(gap, k - gap)
    order = np.arange(k)

    def length(ring: NDArray[np.int64]) -> float:
        return float((flow[np.ix_(ring, ring)] * gap).sum())

    best = length(order)
    for _ in range(10):
        before = best
        for i, j in combinations(range(k), 2):
            other = order.copy()
            other[[i, j]] = order[[j, i]]
            now = length(other)
            if now < best - 1e-12:
                order, best = other, now
        if best == before:
            break
    return order
