"""Kernel density estimates in one dimension, with the choice of scale and bandwidth.

Both are chosen by the likelihood of each value under the others. Sums over values are sums over even nodes:
a value is shared by the two nodes beside it, and the density is linear between nodes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Of more distinct values than this, a sample chooses the scale and the bandwidth.
_MOST_JUDGED = 4096
_MOST_NODES = 4096
_NODES_PER_BANDWIDTH = 4
_REACH = 4  # bandwidths from a value to where its kernel ends
_ROUNDED = 0.2  # of the rows have equals: then values were rounded
_FINEST = 1e-9  # of the range: no scale is finer
_FEWEST_BENT = 8  # fewest distinct values for another scale
_DOUBT = 1.0  # of log-likelihood, that must speak for a smaller bandwidth or a bent scale


@dataclass(frozen=True, slots=True)
class Scale:
    """Numbers as ``y = (x - center) / scale``, or bent: its ``asinh``, logarithmic far from the center."""

    center: float
    scale: float
    bent: bool

    def of(self, x: Array) -> Array:
        """The numbers on this scale."""
        with np.errstate(over="ignore"):
            z = (x - self.center) / self.scale
            return np.arcsinh(z) if self.bent else z

    def slope(self, x: Array) -> Array:
        """How fast the scale rises at each number."""
        if not self.bent:
            return np.full(np.shape(x), 1 / self.scale)
        with np.errstate(over="ignore"):
            z = (x - self.center) / self.scale
            return np.asarray(1 / (self.scale * np.hypot(1.0, z)))

    def inverse(self, y: Array) -> Array:
        """The numbers that stand at these places of the scale."""
        return np.asarray(self.center + self.scale * (np.sinh(y) if self.bent else y))


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """Heights on even nodes of a scale; it integrates to one."""

    scale: Scale
    start: float
    step: float
    heights: Array  # (node,)
    bandwidth: float

    def bandwidth_at(self, x: Array) -> Array:
        """The bandwidth around some numbers, in units of x."""
        return np.asarray(self.bandwidth / self.scale.slope(x))


def smoothed(
    x: Array, counts: Array, other_density: Callable[[Array], Array], mass: float
) -> Estimate:
    """The estimate on the scale and with the bandwidth that explain values by the others best.

    Parameters
    ----------
    x : (value,)
        Distinct values, ascending, two or more.
    counts : (value,)
        How many rows have each.
    other_density : callable
        The density of other mass, which is mixed in; zero nowhere.
    mass : float
        How much of that there is.
    """
    x, counts = _unrounded(x, counts)
    some, weights = x, counts
    if len(x) > _MOST_JUDGED:
        chosen = np.sort(np.random.default_rng(0).permutation(len(x))[:_MOST_JUDGED])
        some, weights = x[chosen], counts[chosen]
    base = mass * other_density(some)
    judged = [(*_judged(some, weights, scale, base), scale) for scale in _scales(some, weights)]
    _, bandwidth, scale = max(judged, key=lambda row: row[0] - _DOUBT * row[2].bent)
    y = scale.of(x)
    shrunk = bandwidth * (float(weights.sum()) / float(counts.sum())) ** 0.2
    bandwidth = max(shrunk, _finest(y))
    start, step, nodes, _, _ = _shared(y, counts, bandwidth)
    heights = np.convolve(nodes, _taps(bandwidth, step), mode="same")
    heights[0] = heights[-1] = 0.0
    return Estimate(scale, start, step, heights / (step * heights.sum()), bandwidth)


def _scales(x: Array, counts: Array) -> list[Scale]:
    """The candidate scales: linear; logarithmic away from the median, the least, the largest value."""
    low, q1, middle, q3, high = quantile(x, counts, np.array([0.0, 0.25, 0.5, 0.75, 1.0])).tolist()
    width = (q3 - q1) / 1.35 or (high - low) / 4
    least = _FINEST * (high - low)
    plain = Scale(middle, max(width, least), bent=False)
    if len(x) < _FEWEST_BENT:
        return [plain]
    bent = [(middle, width), (middle, width / 8)]
    bent += [(end, abs(middle - end) / part) for end in (low, high) for part in (2, 20, 200)]
    return [plain, *(Scale(center, size, bent=True) for center, size in bent if size >= least)]


def _judged(x: Array, counts: Array, scale: Scale, base: Array) -> tuple[float, float]:
    """The log-likelihood of each value under the others, summed, and the bandwidth where it is highest."""
    y, slope = scale.of(x), scale.slope(x)
    least = _finest(y)
    q1, q9 = quantile(y, counts, np.array([0.1, 0.9])).tolist()
    rule = 0.4 * ((q9 - q1) or (y[-1] - y[0])) * len(y) ** -0.2

    def score(bandwidth: float) -> float:
        return float(counts @ np.log(_left_out(y, counts, bandwidth) * slope + base))

    bandwidths = sorted({max(rule * 2.0**power, least) for power in range(-5, 2)})
    scores = {bandwidth: score(bandwidth) for bandwidth in bandwidths}
    best = max(scores, key=scores.__getitem__)
    for factor in (2**-0.5, 2**0.5):
        bandwidth = max(best * factor, least)
        scores.setdefault(bandwidth, score(bandwidth))
    best = max(scores.values())
    return best, max(candidate for candidate, score_ in scores.items() if score_ >= best - _DOUBT)


def _finest(y: Array) -> float:
    """The least bandwidth that the nodes can show."""
    return float(y[-1] - y[0]) / _MOST_NODES


def _unrounded(x: Array, counts: Array) -> tuple[Array, Array]:
    """Rounded values, spread over the interval that is rounded to them; others as they are.

    Rounded values are explained by their equals all too well: the narrower the kernels, the better. So the
    rows of a value are spread by chance over half the distance to the next value on either side, though no
    farther than where values usually lie.
    """
    spare = np.maximum(counts - 1, 0.0)
    if spare.sum() < _ROUNDED * counts.sum():
        return x, counts
    gaps = np.diff(x)
    order = np.argsort(gaps, kind="stable")
    usual = float(quantile(gaps[order], np.minimum(spare[1:], spare[:-1])[order] + 1e-9, 0.5))
    reach = np.minimum(gaps, 1.5 * usual) / 2
    first, last = reach[:1], reach[-1:]
    left, right = np.concatenate([first, reach]), np.concatenate([reach, last])
    times = np.maximum(np.rint(counts), 1).astype(np.int64)
    parts = np.random.default_rng(0).random(int(times.sum()))
    spread = np.repeat(x - left, times) + parts * np.repeat(left + right, times)
    weights = np.repeat(counts / times, times)
    order = np.argsort(spread, kind="stable")
    return spread[order], weights[order]


def _shared(
    y: Array, counts: Array, bandwidth: float
) -> tuple[float, float, Array, NDArray[np.int64], Array]:
    """Counts shared by the two nodes beside each value.

    Where the nodes start, their step, the counts, the node left of each value and how far it is from there.
    """
    step = max(bandwidth / _NODES_PER_BANDWIDTH, float(y[-1] - y[0]) / _MOST_NODES)
    pad = int(np.ceil(_REACH * bandwidth / step)) + 1
    start = float(y[0]) - pad * step
    place = (y - start) / step
    left = place.astype(np.int64)
    part = np.asarray(place - left)
    n_nodes = int(left[-1]) + 2 + pad
    nodes = np.bincount(left, counts * (1 - part), n_nodes).astype(np.float64, copy=False)
    nodes += np.bincount(left + 1, counts * part, n_nodes)
    return start, step, nodes, left, part


def _taps(bandwidth: float, step: float) -> Array:
    """The kernel at the nodes around one."""
    reach = int(np.ceil(_REACH * bandwidth / step))
    taps = np.exp(-0.5 * np.square(np.arange(-reach, reach + 1) * (step / bandwidth)))
    return np.asarray(taps / (taps.sum() * step))


def _left_out(y: Array, counts: Array, bandwidth: float) -> Array:
    """The density at each value, estimated from all rows but one that has it (leave-one-out)."""
    _, step, nodes, left, part = _shared(y, counts, bandwidth)
    taps = _taps(bandwidth, step)
    heights = np.convolve(nodes, taps, mode="same")
    smoothed_heights = heights[left] + part * (heights[left + 1] - heights[left])
    middle = len(taps) // 2
    itself = (part**2 + (1 - part) ** 2) * taps[middle] + 2 * part * (1 - part) * taps[middle + 1]
    return np.asarray(
        np.maximum(smoothed_heights - itself, 0.0) / max(float(counts.sum()) - 1, 1.0)
    )


def quantile(values: Array, weights: Array, probabilities: Any) -> Array:
    """Quantiles of ascending values."""
    reached = np.cumsum(weights)
    places = np.searchsorted(reached, np.asarray(probabilities) * reached[-1])
    return np.asarray(values[np.minimum(places, len(values) - 1)])
