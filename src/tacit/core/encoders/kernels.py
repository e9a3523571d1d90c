"""Numbers as features whose inner products are a kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.encoders.bins import some_rows
from tacit.core.encoders.kernel_shapes import RBF, Kernel, TabulatedKernel
from tacit.core.encoders.margins import Margin
from tacit.errors import ArgumentError

Array = NDArray[np.float64]

_BLOCK = 4096  # rows whose features are made together: they stay in the cache
_MOST_CANDIDATES = 2048  # numbers among which pivots are chosen
_MOST_PAIRED = 1024  # largest number of values whose pairwise distances are all computed
_SQRT_2_PI = float(np.sqrt(2 * np.pi))


@dataclass(frozen=True, eq=False)
class KernelEncoder:
    """Features whose inner products are a kernel: ``inverse @ k(pivots, x)``.

    Parameters
    ----------
    pivots : (pivot,)
        The numbers whose kernels span the features.
    inverse : (feature, pivot)
        Makes the kernels at the pivots orthonormal.
    bandwidth : float
        The unit of the kernel's distances.
    margin : Margin, optional
        Where given, pivots and bandwidth are those of the column's normal scores, which have no far
        outliers; densities and functions are still those of the numbers themselves.
    kernel : Kernel or TabulatedKernel
        By default ``exp(-(x - y)^2 / (2 bandwidth^2))``.

    Examples
    --------
    >>> encoder = kernel_encoder(np.linspace(0, 1, 50), bandwidth=0.5)
    >>> features = encoder.features(np.array([0.2, 0.7]))
    >>> bool(abs(features[0] @ features[1] - np.exp(-0.5)) < 1e-3)
    True
    """

    pivots: Array
    inverse: Array
    bandwidth: float
    margin: Margin | None = None
    kernel: Kernel | TabulatedKernel = RBF

    @property
    def kind(self) -> str:
        """``"kernel"``."""
        return "kernel"

    @property
    def size(self) -> int:
        """Number of features."""
        return len(self.inverse)

    @cached_property
    def total(self) -> Array:
        """(feature,) the integral of each feature's density; also the coefficients of the function one."""
        return np.asarray(self.inverse.sum(axis=1))

    @cached_property
    def pivot_features(self) -> Array:
        """(pivot, feature) the features of the pivots."""
        return self.features(self._numbers)

    def features(self, values: NDArray[Any]) -> Array:
        """(row, feature) what learning averages; a row of NaN where the value is missing."""
        values = self._placed(values)
        features = np.empty((len(values), self.size))
        projection = np.ascontiguousarray(self.inverse.T)
        for start in range(0, len(values), _BLOCK):
            block = np.subtract.outer(values[start : start + _BLOCK] / self.bandwidth, self._scaled)
            np.matmul(self.kernel.values(block), projection, out=features[start : start + _BLOCK])
        return features

    def kernel_values(self, values: NDArray[Any]) -> Array:
        """(pivot, row) the kernel between the pivots and each number; NaN where it is missing."""
        scaled = self._placed(values) / self.bandwidth
        return self.kernel.values(np.subtract.outer(self._scaled, scaled))

    def _placed(self, values: NDArray[Any]) -> Array:
        """The numbers on the scale of the pivots."""
        values = np.asarray(values, dtype=np.float64)
        return values if self.margin is None else self.margin.scores(values)

    @cached_property
    def _scaled(self) -> Array:
        return self.pivots / self.bandwidth

    @cached_property
    def _numbers(self) -> Array:
        """The pivots as numbers."""
        return self.pivots if self.margin is None else self.margin.from_scores(self.pivots)

    def likelihoods(self, values: NDArray[Any]) -> Array:
        """(row, feature) features as densities; `total` where the value is missing."""
        values = np.asarray(values, dtype=np.float64)
        densities = self.features(values)
        densities /= self.kernel.integral * self.bandwidth
        if self.margin is not None:
            scores = self.margin.scores(values)
            slope = self.margin.density(values) * _SQRT_2_PI * np.exp(0.5 * scores * scores)
            densities *= slope[:, None]
        densities[np.isnan(values)] = self.total
        return densities

    def functional(self, function: Callable[[Array], Array]) -> Array:
        """(feature,) the coefficients of the function: features times them are the function, at the pivots.

        Between the pivots they are its kernel interpolant. The integral under each feature's density would
        be that of the function blurred by the bandwidth; this is the function itself. Least squares over
        the data instead is no closer, and wild between the data where the bandwidth is small.
        """
        return np.asarray(self.inverse @ np.asarray(function(self._numbers), dtype=np.float64))

    def cumulative(self, values: Array) -> Array:
        """(row, feature) the integral of each feature's density up to each value."""
        below = self.kernel.below(
            np.subtract.outer(self._placed(values) / self.bandwidth, self._scaled)
        )
        return np.asarray(below @ self.inverse.T)

    def grid(self, n: int = 200) -> Array:
        """Numbers over the training range and three bandwidths on either side, even on the pivots' scale."""
        reach = 3 * self.bandwidth
        grid = np.linspace(self.pivots.min() - reach, self.pivots.max() + reach, n)
        return grid if self.margin is None else self.margin.from_scores(grid)


def kernel_encoder(
    values: Array,
    bandwidth: float,
    tolerance: float = 1e-4,
    *,
    n_features: int | None = None,
    margin: Margin | None = None,
    kernel: Kernel | TabulatedKernel = RBF,
) -> KernelEncoder:
    """Kernel features by pivoted incomplete Cholesky.

    Parameters
    ----------
    values : (row,)
        Numbers; NaN is left out. Of more than a few thousand, even quantiles with both ends stand for all.
    bandwidth : float
        Of the kernel.
    tolerance : float
        The fraction of the kernel's trace that may be left over.
    n_features : int, optional
        The largest number of features.
    margin : Margin, optional
        Work with the column's normal scores; the bandwidth is then theirs.
    kernel : Kernel or TabulatedKernel
    """
    _check_bandwidth(bandwidth)
    some = even_quantiles(np.asarray(values, dtype=np.float64), _MOST_CANDIDATES)
    if margin is not None:
        some = margin.scores(some)
    most = len(some) if n_features is None else n_features
    places, inverse = _pivots_and_inverse(some, float(bandwidth), float(tolerance), most, kernel)
    return KernelEncoder(some[places], inverse, float(bandwidth), margin, kernel)


def _pivots_and_inverse(
    values: Array, bandwidth: float, tolerance: float, most: int, kernel: Kernel | TabulatedKernel
) -> tuple[NDArray[np.int64], Array]:
    """The places of the pivots among some numbers, and what makes their kernels orthonormal."""
    from scipy.linalg import solve_triangular

    from tacit.core.loops.kernel_features import choose_pivots

    if kernel == RBF:
        places, factor = choose_pivots(values, bandwidth, tolerance, most)
    else:
        places, factor = pivoted_cholesky(
            lambda pivot: kernel.values((values - values[pivot]) / bandwidth),
            len(values),
            tolerance,
            most,
        )
    square = factor[:, places].T  # (pivot, pivot) lower triangular
    return places, np.ascontiguousarray(solve_triangular(square, np.eye(len(places)), lower=True))


def pivoted_cholesky(
    column: Callable[[int], Array], n: int, tolerance: float, most: int
) -> tuple[NDArray[np.int64], Array]:
    """What `choose_pivots` computes for Gaussian kernels of numbers, for any kernel of anything.

    Parameters
    ----------
    column : callable
        Gives the kernel between one of the values, by its number, and all of them.
    n : int
        Number of values.
    tolerance, most : float, int
        See `choose_pivots`.
    """
    from tacit.core.loops.kernel_features import SMALLEST

    most = min(most, n)
    left, pivots, factor = np.ones(n), [], np.empty((most, n))
    for size in range(most):
        pivot = int(left.argmax())
        if left.sum() <= tolerance * n or left[pivot] <= SMALLEST:
            break
        row = column(pivot) - factor[:size, pivot] @ factor[:size]
        row /= np.sqrt(left[pivot])
        factor[size] = row
        left = np.maximum(left - row * row, 0.0)
        left[pivot] = 0.0
        pivots.append(pivot)
    return np.array(pivots, dtype=np.int64), factor[: len(pivots)]


def grid_encoder(low: float, high: float, n: int, bandwidth: float) -> KernelEncoder:
    """Kernel features from n even landmarks between two numbers; no data are looked at.

    Directions that the landmarks hardly span are left out, so there may be fewer than n features. Landmarks
    farther apart than the bandwidth leave gaps: n should be at least ``(high - low) / bandwidth``.
    """
    _check_bandwidth(bandwidth)
    if not high >= low:
        raise ArgumentError(f"low={low!r} must not be above high={high!r}")
    landmarks = np.linspace(low, high, n) if high > low else np.array([float(low)])
    kernel = np.exp(-0.5 * np.square(np.subtract.outer(landmarks, landmarks) / bandwidth))
    sizes, directions = np.linalg.eigh(kernel)
    usable = np.flatnonzero(sizes > 1e-10 * sizes[-1])[::-1]
    inverse = (directions[:, usable] / np.sqrt(sizes[usable])).T
    return KernelEncoder(landmarks, np.ascontiguousarray(inverse), float(bandwidth))


def _check_bandwidth(bandwidth: float) -> None:
    if not 0 < bandwidth < np.inf:
        raise ArgumentError(f"bandwidth must be a positive number, not {bandwidth!r}")


def even_quantiles(values: Array, most: int) -> Array:
    """At most `most` of the numbers, ascending, even in rank and with both ends; NaN is left out."""
    numbers = np.sort(some_rows(values)[0])
    if len(numbers) == 0:
        raise ArgumentError("there is not a single number")
    if len(numbers) <= most:
        return numbers
    return numbers[np.rint(np.linspace(0, len(numbers) - 1, most)).astype(np.int64)]


def median_bandwidth(values: Array) -> float:
    """The median distance of two rows: exactly, or of even quantiles where the rows are many.

    Where most rows are equal it is the median distance of two different values, and one for a constant.
    """
    some = even_quantiles(np.asarray(values, dtype=np.float64), _MOST_PAIRED)
    for candidates in (some, np.unique(some)):
        first, second = np.triu_indices(len(candidates), 1)
        if len(first):
            distance = float(np.median(candidates[second] - candidates[first]))
            if distance > 0:
                return distance
    return 1.0
