"""A basis of densities for a column of numbers: normal densities at its quantiles, coarse and fine ones.

A level of b normal densities stands at the middles of b bins of equal mass, each as wide as its bin; levels
double from two to the finest. Smooth densities are mixtures of few wide ones, sharp ones of narrow ones where
the data are dense, so that weights learnt from few rows are smooth where equal bins of the finest width are
not. EM then fits centres and widths to the column's density. One more density has heavy tails: no number is
impossible.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.encoders.bins import some_rows
from tacit.errors import ArgumentError, DataError

Array = NDArray[np.float64]

_SQRT_2_PI = float(np.sqrt(2 * np.pi))
_SQRT_3 = float(np.sqrt(3.0))
_NARROWEST = 0.01  # of the standard deviation
_WIDE = (0.5, 1.0, 2.0, 4.0)  # standard deviations of the densities around the median
_N_MARKS = 65  # quantiles that are kept, for grids
# EM steps that fit the basis, rows that the start of each density counts for, and the most rows used.
_STEPS, _HOLD, _MOST_ROWS = 60, 20.0, 2000


@dataclass(frozen=True, eq=False)
class BasisEncoder:
    """Normal densities, and one of Student's t with three degrees of freedom, as features of a number.

    Parameters
    ----------
    centers, widths : (density,)
        Of the normal densities.
    middle, spread : float
        Of the last feature, which has heavy tails.
    marks : (mark,)
        Even quantiles of the numbers, from the least to the largest.

    Examples
    --------
    >>> encoder = basis_encoder(np.random.default_rng(0).normal(size=500), 8)
    >>> encoder.size
    19
    """

    centers: Array
    widths: Array
    middle: float
    spread: float
    marks: Array

    @property
    def kind(self) -> str:
        """``"basis"``."""
        return "basis"

    @property
    def size(self) -> int:
        """Number of features."""
        return len(self.centers) + 1

    @property
    def total(self) -> Array:
        """(feature,) ones."""
        return np.ones(self.size)

    def features(self, values: NDArray[Any]) -> Array:
        """(row, feature) each density over their sum; a row of NaN where the number is missing."""
        values = np.asarray(values, dtype=np.float64)
        weights = self.likelihoods(values)
        weights /= weights.sum(axis=1, keepdims=True)
        weights[np.isnan(values)] = np.nan
        return weights

    def likelihoods(self, values: NDArray[Any]) -> Array:
        """(row, feature) the densities at each number; ones where it is missing."""
        values = np.asarray(values, dtype=np.float64)
        densities = np.empty((len(values), self.size))
        z = np.subtract.outer(values, self.centers)
        z /= self.widths
        np.clip(z, -40.0, 40.0, out=z)  # beyond, nothing is left
        np.square(z, out=z)
        z *= -0.5
        np.exp(z, out=z)
        np.divide(z, _SQRT_2_PI * self.widths, out=densities[:, :-1])
        squared = np.square(np.clip((values - self.middle) / self.spread, -1e70, 1e70))
        densities[:, -1] = 2 / (np.pi * _SQRT_3 * self.spread * np.square(1 + squared / 3))
        densities[np.isnan(values)] = 1.0
        return densities

    def cumulative(self, values: Array) -> Array:
        """(row, feature) the integral of each density up to each number."""
        from scipy.special import ndtr

        values = np.asarray(values, dtype=np.float64)
        masses = np.empty((len(values), self.size))
        masses[:, :-1] = ndtr(np.subtract.outer(values, self.centers) / self.widths)
        r = (values - self.middle) / (self.spread * _SQRT_3)
        masses[:, -1] = 0.5 + (r / (1 + r * r) + np.arctan(r)) / np.pi
        return masses

    def functional(self, function: Callable[[Array], Array]) -> Array:
        """(feature,) the mean of the function under each density; far outside the data nothing counts."""
        places = self.grid(4000)
        mass = np.diff(self.cumulative(places), axis=0)
        middles = 0.5 * (places[1:] + places[:-1])
        return np.asarray(function(middles) @ mass / mass.sum(axis=0), dtype=np.float64)

    def grid(self, n: int = 200) -> Array:
        """Numbers over what the column holds and half of that on either side, dense where the mass is."""
        low, high = self.marks[0], self.marks[-1]
        reach = 0.5 * (high - low) or 5 * self.spread
        n_outside = n // 10
        inside = n - 2 * n_outside
        even = np.linspace(low, high, inside - inside // 2)
        ranks = np.linspace(0, len(self.marks) - 1, inside // 2 + 2)[1:-1]
        dense = np.interp(ranks, np.arange(len(self.marks)), self.marks)
        away = reach * np.square(np.arange(1, n_outside + 1) / max(n_outside, 1))
        return np.sort(np.concatenate([low - away, even, dense, high + away]))


def basis_encoder(values: Array, n_basis: int, bandwidth: float = 1.0) -> BasisEncoder:
    """The basis for a column of numbers.

    Parameters
    ----------
    values : (row,)
        Numbers, NaN where they are missing.
    n_basis : int
        Densities of the finest level; a power of two, else the next one below.
    bandwidth : float
        Widths of the densities, in those of their bins.

    Raises
    ------
    DataError
        There is not a single number.
    """
    if n_basis < 1 or not 0 < bandwidth < np.inf:
        raise ArgumentError(
            f"n_basis={n_basis!r}, bandwidth={bandwidth!r}; both must be positive numbers"
        )
    numbers = np.sort(some_rows(np.asarray(values, dtype=np.float64))[0])
    if len(numbers) == 0:
        raise DataError("a column without a single number has no density; leave it out")
    middle = float(np.median(numbers))
    size = float(np.abs(numbers[[0, -1]]).max()) or 1.0
    scale = size * float((numbers / size).std())
    if scale <= 1e-12 * size:  # one value, and nothing but rounding errors around it
        scale = 1e-3 * size
    centers, widths = [], []
    level = 2 ** int(np.log2(n_basis))
    while level >= 2:
        at, level_widths = _level(numbers, level)
        centers.append(at)
        widths.append(np.maximum(bandwidth * level_widths, _NARROWEST * scale))
        level //= 2
    centers.append(np.full(len(_WIDE), middle))
    widths.append(scale * np.array(_WIDE))
    marks = np.quantile(numbers, np.linspace(0, 1, _N_MARKS))
    drawn = BasisEncoder(np.concatenate(centers), np.concatenate(widths), middle, 2 * scale, marks)
    return _refined(drawn, numbers, _NARROWEST * scale)


def _refined(drawn: BasisEncoder, numbers: Array, narrowest: float) -> BasisEncoder:
    """The basis after EM for the column's density, as a mixture of it.

    The start of each density counts as much as a few rows.
    """
    sample = numbers
    if len(numbers) > _MOST_ROWS:  # even quantiles with both ends stand for all
        sample = numbers[np.rint(np.linspace(0, len(numbers) - 1, _MOST_ROWS)).astype(np.int64)]
    hold = _HOLD * len(sample) / len(numbers)
    weights, encoder = np.full(drawn.size, 1 / drawn.size), drawn
    for _ in range(_STEPS):
        posteriors = encoder.likelihoods(sample)
        posteriors *= weights
        posteriors /= posteriors.sum(axis=1, keepdims=True)
        mass = posteriors.sum(axis=0)
        weights = (mass + 1 / drawn.size) / (len(sample) + 1)
        responsibilities, weight = posteriors[:, :-1], mass[:-1] + hold
        centers = (responsibilities.T @ sample + hold * drawn.centers) / weight
        apart = np.subtract.outer(sample, centers) / drawn.spread  # else squares may overflow
        spread = np.einsum("ib,ib->b", responsibilities, np.square(apart))
        widths = np.sqrt((spread + hold * np.square(drawn.widths / drawn.spread)) / weight)
        widths *= drawn.spread
        encoder = replace(encoder, centers=centers, widths=np.maximum(widths, narrowest))
    return encoder


def joined_basis(encoders: Sequence[BasisEncoder]) -> BasisEncoder:
    """The densities of several encoders of one column, and the heavy tails of the first."""
    first = encoders[0]
    centers = np.concatenate([encoder.centers for encoder in encoders])
    widths = np.concatenate([encoder.widths for encoder in encoders])
    return BasisEncoder(centers, widths, first.middle, first.spread, first.marks)


def placed_weights(weights: Array, encoders: Sequence[BasisEncoder], place: int) -> Array:
    """(..., feature) Weights of the features of one of several encoders, as those of all of them joined."""
    before = sum(len(encoder.centers) for encoder in encoders[:place])
    after = sum(len(encoder.centers) for encoder in encoders[place + 1 :])
    lead = weights.shape[:-1]
    parts = [
        np.zeros((*lead, before)),
        weights[..., :-1],
        np.zeros((*lead, after)),
        weights[..., -1:],
    ]
    return np.concatenate(parts, axis=-1)


def _level(numbers: Array, n_bins: int) -> tuple[Array, Array]:
    """The middles of bins of equal mass, and how wide each is, smoothed over its neighbours."""
    # Within a bin from its first tenth to its last: the ends of the outer bins are far out by chance.
    ranks = (np.arange(n_bins)[:, None] + np.array([0.1, 0.5, 0.9])) / n_bins
    low, middles, high = np.quantile(numbers, ranks).T
    widths = high - low
    if n_bins >= 4:
        logs = np.log(np.maximum(widths, 1e-3 * widths.max() or 1.0))
        padded = np.concatenate([logs[:1], logs, logs[-1:]])
        widths = np.exp(0.25 * padded[:-2] + 0.5 * padded[1:-1] + 0.25 * padded[2:])
    return middles, widths
