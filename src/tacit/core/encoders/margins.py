"""The marginal distribution of a column of numbers: density, distribution function and quantiles.

Most of the mass lies in a kernel estimate on a scale that suits the data: that of the numbers, or one that
is logarithmic away from a centre (transformed kernel estimates: Wand, Marron & Ruppert, 1991). Scale and
bandwidth are chosen by the likelihood of each value under the others. Values that a noticeable
fraction of the rows have are narrow peaks of their own, and a little mass (that of one row more) has heavy
tails, so that no number is impossible.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tacit.core.encoders.bins import some_rows
from tacit.core.encoders.density_estimates import Estimate, Scale, quantile, smoothed
from tacit.core.input.columns import _totals
from tacit.errors import DataError

Array = NDArray[np.float64]

_SQRT_3 = float(np.sqrt(3.0))
_MOST_STEPS = 60  # from a first guess of a quantile to the quantile
_LEAST_MASS = 1e-15  # below the first score and above the last
_PEAK_REACH = 3.0  # of a peak, in its standard deviations


@dataclass(frozen=True, eq=False)
class Margin:
    """A density on the real line.

    Parameters
    ----------
    scale : Scale
        On which the kernel estimate stands.
    start, step : float
        Where its nodes lie on that scale.
    heights : (node,)
        The density there, linear between the nodes, zero outside; it integrates to one.
    atoms : (atom,)
        Values with a peak of their own, ascending,
    atom_weights : (atom,)
        the mass of each, together at most one, and
    widths : (atom,)
        their standard deviations.
    tail_weight : float
        The mass of the tails: Student's t with three degrees of freedom,
    middle, spread : float
        its location and scale.

    Examples
    --------
    >>> margin = fit_margin(np.random.default_rng(0).normal(size=2000))
    >>> bool(abs(margin.cdf(np.array([0.0]))[0] - 0.5) < 0.05)
    True
    """

    scale: Scale
    start: float
    step: float
    heights: Array
    atoms: Array
    atom_weights: Array
    widths: Array
    tail_weight: float
    middle: float
    spread: float

    def density(self, values: Array) -> Array:
        """The density at each number; positive everywhere, NaN at NaN."""
        heights = _interpolated(self.scale.of(values), self.start, self.step, self.heights)
        density = self._body * heights * self.scale.slope(values)
        for atom, weight, width in zip(self.atoms, self.atom_weights, self.widths, strict=True):
            z = np.clip(_standard(values, atom, width), -40.0, 40.0)
            density += (
                (1 - self.tail_weight)
                * weight
                * np.exp(-0.5 * z * z)
                / (np.sqrt(2 * np.pi) * width)
            )
        density += (
            self.tail_weight
            * _student_density(_standard(values, self.middle, self.spread))
            / self.spread
        )
        return density

    def cdf(self, values: Array) -> Array:
        """The mass below each number; NaN at NaN."""
        from scipy.special import ndtr

        y = self.scale.of(values)
        masses = self._body * _integrated(y, self.start, self.step, self.heights, self._below)
        for atom, weight, width in zip(self.atoms, self.atom_weights, self.widths, strict=True):
            masses += (1 - self.tail_weight) * weight * ndtr(_standard(values, atom, width))
        masses += self.tail_weight * _student_cdf(_standard(values, self.middle, self.spread))
        return masses

    def inverse(self, masses: Array) -> Array:
        """The quantile function, the inverse of `cdf`; masses are strictly between 0 and 1."""
        masses = np.asarray(masses, dtype=np.float64)
        places, below = self._table
        right = np.clip(np.searchsorted(below, masses), 1, len(below) - 1)
        low, high = places[right - 1], places[right]
        part = (masses - below[right - 1]) / np.maximum(below[right] - below[right - 1], 1e-300)
        values = low + np.clip(part, 0.0, 1.0) * (high - low)
        open_ = np.flatnonzero(~np.isnan(masses))
        for _ in range(_MOST_STEPS):
            now = values[open_]
            excess = self.cdf(now) - masses[open_]
            low[open_] = np.where(excess < 0, now, low[open_])
            high[open_] = np.where(excess > 0, now, high[open_])
            with np.errstate(all="ignore"):
                step = now - excess / self.density(now)  # Newton's, or bisection
            inside = (step > low[open_]) & (step < high[open_])
            step = np.where(inside, step, 0.5 * (low[open_] + high[open_]))
            moving = (np.abs(excess) > 1e-14) & (step != now)
            values[open_[moving]] = step[moving]
            open_ = open_[moving]
            if len(open_) == 0:
                break
        return values

    def scores(self, values: Array) -> Array:
        """The normal scores: the standard normal quantiles of the masses below each number."""
        from scipy.special import ndtri

        return np.asarray(ndtri(np.clip(self.cdf(values), _LEAST_MASS, 1 - _LEAST_MASS)))

    def from_scores(self, scores: Array) -> Array:
        """The numbers that have these normal scores."""
        from scipy.special import ndtr

        return self.inverse(np.clip(ndtr(scores), _LEAST_MASS, 1 - _LEAST_MASS))

    def snapped(self, values: Array) -> Array:
        """The numbers, of which those within a peak became its value."""
        if not len(self.atoms):
            return values
        middles = 0.5 * (self.atoms[1:] + self.atoms[:-1])
        nearest = np.searchsorted(middles, values)
        within = np.abs(values - self.atoms[nearest]) <= _PEAK_REACH * self.widths[nearest]
        return np.where(within, self.atoms[nearest], values)

    @property
    def _body(self) -> float:
        return (1 - self.tail_weight) * (1 - float(self.atom_weights.sum()))

    @cached_property
    def nodes(self) -> Array:
        """The numbers where the nodes lie, ascending."""
        y = self.start + self.step * np.arange(len(self.heights), dtype=np.float64)
        return self.scale.inverse(y)

    @cached_property
    def _below(self) -> Array:
        """(node,) the integral of the heights up to each node."""
        pieces = 0.5 * self.step * (self.heights[1:] + self.heights[:-1])
        return np.concatenate([[0.0], np.cumsum(pieces)])

    @cached_property
    def places(self) -> Array:
        """Numbers that are dense where the mass is, ascending, to half the training range outside of it."""
        places, _ = self._table
        reach = 3 * self.spread
        held = np.concatenate([self.nodes[[0, -1]] if self._body > 0 else [], self.atoms])
        inside = (places >= held.min() - reach) & (places <= held.max() + reach)
        return np.asarray(places[inside])

    @cached_property
    def _table(self) -> tuple[Array, Array]:
        """Numbers that span all but the farthest tails, ascending, and the mass below them."""
        reach = self.spread * np.concatenate([np.linspace(0, 1, 10)[:-1], np.logspace(0, 6, 61)])
        around = np.add.outer(np.linspace(-6, 6, 25), np.zeros(len(self.atoms)))
        peaks = (self.atoms + around * self.widths).ravel()
        tails = np.concatenate([self.middle - reach, self.middle + reach])
        places = np.unique(np.concatenate([self.nodes, peaks, tails]))
        return places, self.cdf(places)


def _interpolated(y: Array, start: float, step: float, heights: Array) -> Array:
    place = np.clip((y - start) / step, -1, len(heights))
    left = np.clip(place, 0, len(heights) - 2)
    with np.errstate(invalid="ignore"):
        left = left.astype(np.int64)
    left[np.isnan(place)] = 0
    part = place - left
    interpolated = heights[left] + part * (heights[left + 1] - heights[left])
    return np.where((part < 0) | (part > 1), 0.0, interpolated)


def _integrated(y: Array, start: float, step: float, heights: Array, below: Array) -> Array:
    place = np.clip((y - start) / step, 0, len(heights) - 1)
    with np.errstate(invalid="ignore"):
        left = np.minimum(place, len(heights) - 2).astype(np.int64)
    left[np.isnan(place)] = 0
    part = place - left
    rise = heights[left + 1] - heights[left]
    return below[left] + step * part * (heights[left] + 0.5 * part * rise)


def _standard(values: Array, location: float, scale: float) -> Array:
    with np.errstate(over="ignore"):  # an overflow is infinitely far
        return np.asarray((values - location) / scale)


def _student_density(z: Array) -> Array:
    z = np.clip(z, -1e70, 1e70)  # so that it stays above zero
    return 2 / (np.pi * _SQRT_3 * np.square(1 + z * z / 3))


def _student_cdf(z: Array) -> Array:
    r = np.clip(z, -1e70, 1e70) / _SQRT_3  # so that squares are finite
    return 0.5 + (r / (1 + r * r) + np.arctan(r)) / np.pi


_FEW = 20  # with so few distinct values each is an atom
_SMALLEST = 1e-100  # numbers below are nothing
_FINEST = 1e-12  # of the largest number: differences below are nothing
_LEAST_FRACTION = 0.005  # of the rows, for an atom
_STANDS_OUT = 4.0  # times as many rows as its neighbours, for an atom
_BEYOND_CHANCE = 6.0  # standard deviations of a count above them, for an atom
FEWEST_BESIDE_ATOMS = 5  # different numbers that have a density of their own


def fit_margin(values: Array, weights: Array | None = None, *, with_peaks: bool = True) -> Margin:
    """The density from which these numbers seem to be drawn.

    Parameters
    ----------
    values : (row,) float64
        The numbers; NaN where they are missing.
    weights : (row,) float64, optional
        How much each counts.
    with_peaks : bool
        Whether values that many rows share are narrow peaks; a single value is one in any case.

    Raises
    ------
    DataError
        Where there is no number at all.
    """
    values, weights = some_rows(values, weights)
    n_rows = len(values)
    if n_rows == 0:
        raise DataError("a column without a single number has no density; leave it out")
    distinct, counts = _totals(values, weights)
    counts *= n_rows / counts.sum()  # one for a row of the usual weight
    middle = float(quantile(distinct, counts, 0.5))
    size = float(np.abs(distinct[[0, -1]]).max())
    size = size if size > _SMALLEST else 1.0
    if distinct[-1] - distinct[0] <= _FINEST * size:  # nothing but rounding errors around one value
        distinct, counts = np.array([middle]), np.array([float(n_rows)])
    spread = float(distinct[-1] - distinct[0]) / 6 or 1e-3 * size
    tail_weight = 1 / (n_rows + 1)
    peaks = _atom_mask(distinct, counts)
    if not with_peaks and len(distinct) > 1:
        peaks[:] = False
    near = np.diff(distinct, prepend=-np.inf, append=np.inf)
    gaps = np.minimum(near[:-1], near[1:])[peaks]
    widths = np.where(np.isfinite(gaps), np.maximum(gaps / 6, 1e-9 * spread), 1e-3 * size)
    atom_weights = counts[peaks] / n_rows
    if peaks.all():
        body = Estimate(Scale(0.0, 1.0, bent=False), -1.0, 1.0, np.array([0.0, 1.0, 0.0]), 0.0)
        atom_weights[-1] += 1 - atom_weights.sum()
    else:
        body = smoothed(
            distinct[~peaks],
            counts[~peaks],
            lambda x: _student_density((x - middle) / spread) / spread,
            tail_weight,
        )
        widths = np.maximum(widths, body.bandwidth_at(distinct[peaks]) / 20)
    return Margin(
        body.scale,
        body.start,
        body.step,
        body.heights,
        distinct[peaks],
        atom_weights,
        widths,
        tail_weight,
        middle,
        spread,
    )


def atoms_of(values: Array, weights: Array | None = None) -> Array:
    """(atom,) the values that many rows share, and far more than share the values around, ascending.

    Of a column of few values that repeat often, all are atoms.

    Parameters
    ----------
    values : (row,) float64
        The numbers; NaN where they are missing.
    weights : (row,) float64, optional
        How much each counts.

    Examples
    --------
    >>> numbers = np.append(np.zeros(50), np.random.default_rng(0).exponential(size=100))
    >>> atoms_of(numbers)
    array([0.])
    """
    values, weights = some_rows(values, weights)
    if len(values) == 0:
        return np.empty(0)
    distinct, counts = _totals(values, weights)
    counts *= len(values) / counts.sum()
    return distinct[_atom_mask(distinct, counts)]


def margin_without(values: Array, weights: Array | None, atoms: Array) -> Margin:
    """The density of the numbers that are no atoms; where hardly any are left, that of all distinct ones.

    Parameters
    ----------
    values, weights
        See `fit_margin`.
    atoms : (atom,)
        Values that have probabilities.
    """
    if not len(atoms):
        return fit_margin(values, weights)
    rest = np.where(np.isin(values, atoms), np.nan, values)
    if has_rest(rest, weights):
        margin = fit_margin(rest, weights, with_peaks=False)
    else:
        distinct = np.unique(np.append(atoms, rest[~np.isnan(rest)]))
        margin = fit_margin(distinct, with_peaks=False)
    return replace(margin, tail_weight=1 / (len(some_rows(values, weights)[0]) + 1))


def has_rest(rest: Array, weights: Array | None) -> bool:
    """Whether so many different numbers are left beside the atoms that they have a density of their own."""
    return len(np.unique(some_rows(rest, weights)[0])) >= FEWEST_BESIDE_ATOMS


def _atom_mask(distinct: Array, counts: Array) -> NDArray[np.bool_]:
    """Which values are peaks of their own: many rows, and far more than their neighbours have."""
    if len(distinct) == 1 or (len(distinct) <= _FEW and counts.sum() >= 3 * len(distinct)):
        return np.ones(len(distinct), dtype=np.bool_)
    is_peak = np.zeros(len(distinct), dtype=np.bool_)
    least = max(_LEAST_FRACTION * float(counts.sum()), 5.0)
    for place in np.flatnonzero(counts >= least):
        around = counts[max(place - 5, 0) : place + 6]
        others = (around.sum() - counts[place]) / max(len(around) - 1, 1)
        # Rounded values repeat by chance: of many counts around one mean, the largest is far above it.
        chance = others + _BEYOND_CHANCE * np.sqrt(others)
        is_peak[place] = counts[place] > max(_STANDS_OUT * float(np.median(around)), chance)
    if len(distinct) - is_peak.sum() < 2:
        is_peak[:] = True
    return is_peak
