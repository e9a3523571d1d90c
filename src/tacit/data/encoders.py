"""Cells as vectors: what a leaf of a tree knows of a value.

A leaf has `size` features. Learning averages products of `features`; a query enters a cell by its
`likelihoods`, and what it finds at a leaf is a vector v of as many coefficients: the density
``likelihoods(x) @ v``, whose integral is ``total @ v`` and under which the mean of a function is
``functional(function) @ v``. A category is an indicator, so that the same words serve both kinds of column.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tacit.data.bins import codes_of_numbers, even_cuts
from tacit.data.bumps import blurred, blurred_below
from tacit.data.margins import Margin, fit_margin
from tacit.errors import ArgumentError, FileFormatError

Array = NDArray[np.float64]
Plain = tuple[dict[str, Array], dict[str, Any]]

_BLOCK = 4096  # rows whose features are made together: they stay in the cache
_SQRT_2_PI = float(np.sqrt(2 * np.pi))


class Encoder(Protocol):
    """What the rest of the library asks of a column."""

    @property
    def kind(self) -> str:
        """``"kernel"``, ``"bumps"`` or ``"indicator"``."""
        ...

    @property
    def size(self) -> int:
        """Number of features."""
        ...

    @property
    def total(self) -> Array:
        """(feature,) the integral of each feature's density."""
        ...

    def features(self, values: NDArray[Any]) -> Array:
        """(row, feature) what learning averages; a row of NaN where the value is missing."""
        ...

    def likelihoods(self, values: NDArray[Any]) -> Array:
        """(row, feature) the evidence of each value; `total` where it is missing."""
        ...

    def functional(self, function: Callable[[Array], Array]) -> Array:
        """(feature,) the integral of a function under each feature's density."""
        ...

    def cumulative(self, values: Array) -> Array:
        """(row, feature) the integral of each feature's density up to each value."""
        ...

    def grid(self, n: int = 200) -> Array:
        """Numbers that span what the column holds, ascending."""
        ...

    def to_arrays(self) -> Plain:
        """Arrays and numbers for a file; `encoder_from_arrays` reads them back."""
        ...


@dataclass(frozen=True)
class IndicatorEncoder:
    """One feature for each category.

    Examples
    --------
    >>> IndicatorEncoder(3).likelihoods(np.array([2, -1]))
    array([[0., 0., 1.],
           [1., 1., 1.]])
    """

    size: int

    @property
    def kind(self) -> str:
        """``"indicator"``."""
        return "indicator"

    @property
    def total(self) -> Array:
        """(feature,) ones."""
        return np.ones(self.size)

    def features(self, values: NDArray[Any]) -> Array:
        """(row, feature) one at each code; a row of NaN where it is -1."""
        return _one_hot(np.asarray(values), self.size, np.nan)

    def likelihoods(self, values: NDArray[Any]) -> Array:
        """(row, feature) one at each code; a row of ones where it is -1."""
        return _one_hot(np.asarray(values), self.size, 1.0)

    def functional(self, function: Callable[[Array], Array]) -> Array:
        """(feature,) the function of each code."""
        return np.asarray(function(np.arange(self.size, dtype=np.float64)), dtype=np.float64)

    def cumulative(self, values: Array) -> Array:
        """(row, feature) whether each category is at most the code."""
        return (np.arange(self.size) <= np.asarray(values)[:, None]).astype(np.float64)

    def grid(self, n: int = 200) -> Array:
        """The codes."""
        return np.arange(self.size, dtype=np.float64)

    def to_arrays(self) -> Plain:
        """No arrays, one number."""
        return {}, {"kind": self.kind, "size": self.size}


@dataclass(frozen=True, eq=False)
class KernelEncoder:
    """Features whose inner products are a Gaussian kernel: ``inverse @ k(pivots, x)``.

    Parameters
    ----------
    pivots : (pivot,)
        The numbers whose kernels span the features.
    inverse : (feature, pivot)
        Makes the kernels at the pivots orthonormal.
    bandwidth : float
        The kernel is ``exp(-(x - y)^2 / (2 bandwidth^2))``.
    """

    pivots: Array
    inverse: Array
    bandwidth: float

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

    def features(self, values: NDArray[Any]) -> Array:
        """(row, feature) what learning averages; a row of NaN where the value is missing."""
        values = np.asarray(values, dtype=np.float64)
        found = np.empty((len(values), self.size))
        back = np.ascontiguousarray(self.inverse.T)
        for start in range(0, len(values), _BLOCK):
            block = np.subtract.outer(values[start : start + _BLOCK] / self.bandwidth, self._scaled)
            np.square(block, out=block)
            block *= -0.5
            np.exp(block, out=block)
            np.matmul(block, back, out=found[start : start + _BLOCK])
        return found

    @cached_property
    def _scaled(self) -> Array:
        return self.pivots / self.bandwidth

    def likelihoods(self, values: NDArray[Any]) -> Array:
        """(row, feature) features as densities; `total` where the value is missing."""
        found = self.features(values)
        found /= _SQRT_2_PI * self.bandwidth
        found[np.isnan(np.asarray(values, dtype=np.float64))] = self.total
        return found

    def functional(self, function: Callable[[Array], Array]) -> Array:
        """(feature,) the coefficients of the function: features times them are the function, at the pivots.

        Between the pivots they are its kernel interpolant. The integral under each feature's density would
        be that of the function blurred by the bandwidth; this is the function itself. Least squares over
        the data instead is no closer, and wild between the data where the bandwidth is small.
        """
        return np.asarray(self.inverse @ np.asarray(function(self.pivots), dtype=np.float64))

    def cumulative(self, values: Array) -> Array:
        """(row, feature) the integral of each feature's density up to each value."""
        from scipy.special import ndtr

        below = ndtr(np.subtract.outer(np.asarray(values) / self.bandwidth, self._scaled))
        return np.asarray(below @ self.inverse.T)

    def grid(self, n: int = 200) -> Array:
        """Even numbers over the training range and three bandwidths on either side."""
        reach = 3 * self.bandwidth
        return np.linspace(self.pivots.min() - reach, self.pivots.max() + reach, n)

    def to_arrays(self) -> Plain:
        """Arrays and numbers for a file."""
        arrays = {"pivots": self.pivots, "inverse": self.inverse}
        return arrays, {"kind": self.kind, "bandwidth": self.bandwidth}


@dataclass(frozen=True, eq=False)
class BinEncoder:
    """Bins, each with a smooth bump of density.

    Parameters
    ----------
    edges : (bin - 1,)
        The cuts between the bins, ascending; a value equal to a cut is below it.
    margin : Margin
        The density of the column as a whole.
    bandwidth : float
        By how much a bin is blurred, in shares of the column's mass; zero is the bin as it stands.
    """

    edges: Array
    margin: Margin
    bandwidth: float = 0.0

    @property
    def kind(self) -> str:
        """``"bumps"``."""
        return "bumps"

    @property
    def size(self) -> int:
        """Number of bins."""
        return len(self.edges) + 1

    @property
    def total(self) -> Array:
        """(feature,) ones."""
        return np.ones(self.size)

    @cached_property
    def cuts(self) -> Array:
        """(bin + 1,) the mass below each bin, and one."""
        return np.concatenate([[0.0], self.margin.cdf(self.edges), [1.0]])

    def codes(self, values: Array) -> NDArray[np.int16]:
        """The bin of each number, -1 where it is NaN."""
        return codes_of_numbers(np.asarray(values, dtype=np.float64), tuple(self.edges))

    def features(self, values: NDArray[Any]) -> Array:
        """(row, feature) one at the bin of each number; a row of NaN where it is missing."""
        return _one_hot(self.codes(values), self.size, np.nan)

    def likelihoods(self, values: NDArray[Any]) -> Array:
        """(row, feature) the density of each bin's bump; ones where the value is missing."""
        values = np.asarray(values, dtype=np.float64)
        if self.bandwidth == 0:
            found = _one_hot(self.codes(values), self.size, 1.0) / np.diff(self.cuts)
        else:
            found = blurred(self.margin.cdf(values), self.cuts, self.bandwidth)
        found *= self.margin.density(values)[:, None]
        found[np.isnan(values)] = 1.0
        return found

    def cumulative(self, values: Array) -> Array:
        """(row, feature) the integral of each bump up to each value."""
        return blurred_below(self.margin.cdf(np.asarray(values)), self.cuts, self.bandwidth)

    def functional(self, function: Callable[[Array], Array]) -> Array:
        """(feature,) the mean of the function under each bump."""
        shares = np.linspace(0, 1, 2049)
        mass = np.diff(blurred_below(shares, self.cuts, self.bandwidth), axis=0)
        places = self.margin.inverse(0.5 * (shares[1:] + shares[:-1]))
        return np.asarray(function(places) @ mass, dtype=np.float64)

    def grid(self, n: int = 200) -> Array:
        """Numbers over what the column holds."""
        low, high = self.margin.inverse(np.array([1e-3, 1 - 1e-3]))
        return np.linspace(low, high, n)

    def to_arrays(self) -> Plain:
        """Arrays and numbers for a file."""
        arrays, numbers = self.margin.to_arrays()
        return {"edges": self.edges, **arrays}, {
            "kind": self.kind,
            "bandwidth": self.bandwidth,
            **numbers,
        }


def _one_hot(codes: NDArray[Any], size: int, missing: float) -> Array:
    table = np.vstack([np.eye(size), np.full(size, missing)])
    return np.asarray(table[codes])


def encoder_from_arrays(arrays: Mapping[str, Array], numbers: Mapping[str, Any]) -> Encoder:
    """The encoder that `to_arrays` wrote."""
    try:
        kind = numbers["kind"]
        if kind == "indicator":
            return IndicatorEncoder(int(numbers["size"]))
        bandwidth = float(numbers["bandwidth"])
        if kind == "kernel":
            return KernelEncoder(arrays["pivots"], arrays["inverse"], bandwidth)
        if kind == "bumps":
            margin = Margin.from_arrays(arrays, numbers)
            return BinEncoder(arrays["edges"], margin, bandwidth)
    except (KeyError, TypeError, ValueError) as error:
        raise FileFormatError(f"not a description of a column's features: {error!r}") from error
    raise FileFormatError(f"features of a kind {kind!r} are not known")


def bin_encoder(
    values: Array, n_bins: int, bandwidth: float | None = None, weights: Array | None = None
) -> BinEncoder:
    """Bins of about equal mass, at most `n_bins`, with the smooth density of the column.

    Parameters
    ----------
    values : (row,)
        Numbers, NaN where they are missing.
    n_bins : int
        The largest number of bins; there are fewer where values are repeated often.
    bandwidth : float, optional
        By how much bins are blurred, in shares of the column's mass; half of a bin by default.
    weights : (row,), optional
        How much each row counts.
    """
    margin = fit_margin(values, weights)
    edges = even_cuts(values, n_bins, weights)
    return BinEncoder(edges, margin, 0.5 / (len(edges) + 1) if bandwidth is None else bandwidth)


def kernel_encoder(
    values: Array, bandwidth: float, tolerance: float = 1e-4, *, n_features: int | None = None
) -> KernelEncoder:
    """Kernel features by pivoted incomplete Cholesky.

    Parameters
    ----------
    values : (row,)
        Numbers; NaN is left out. Of more than a few thousand, even quantiles with both ends stand for all.
    bandwidth : float
        Of the Gaussian kernel.
    tolerance : float
        How much of the kernel's trace may be left over, in shares.
    n_features : int, optional
        The largest number of features.
    """
    from tacit.loops.cholesky import choose_pivots

    _check_bandwidth(bandwidth)
    some = even_quantiles(values, _MOST_CANDIDATES)
    most = len(some) if n_features is None else n_features
    places, factor = choose_pivots(some, float(bandwidth), float(tolerance), most)
    square = factor[:, places].T  # (pivot, pivot) lower triangular
    from scipy.linalg import solve_triangular

    inverse = solve_triangular(square, np.eye(len(places)), lower=True)
    return KernelEncoder(some[places], inverse, float(bandwidth))


def grid_encoder(low: float, high: float, n: int, bandwidth: float) -> KernelEncoder:
    """Kernel features from n even landmarks between two numbers; no data are looked at.

    Directions that the landmarks hardly span are left out, so there may be fewer than n features.
    """
    _check_bandwidth(bandwidth)
    if not high >= low:
        raise ArgumentError(f"low={low!r} must not be above high={high!r}")
    landmarks = np.linspace(low, high, n) if high > low else np.array([float(low)])
    kernel = np.exp(-0.5 * np.square(np.subtract.outer(landmarks, landmarks) / bandwidth))
    sizes, directions = np.linalg.eigh(kernel)
    kept = np.flatnonzero(sizes > 1e-10 * sizes[-1])[::-1]
    inverse = (directions[:, kept] / np.sqrt(sizes[kept])).T
    return KernelEncoder(landmarks, np.ascontiguousarray(inverse), float(bandwidth))


_MOST_CANDIDATES = 2048
_MOST_PAIRED = 1024


def _check_bandwidth(bandwidth: float) -> None:
    if not 0 < bandwidth < np.inf:
        raise ArgumentError(f"bandwidth must be a positive number, not {bandwidth!r}")


def even_quantiles(values: Array, most: int) -> Array:
    """At most so many of the numbers, ascending, even in rank and with both ends; NaN is left out."""
    there = np.sort(values[~np.isnan(values)])
    if len(there) == 0:
        raise ArgumentError("there is not a single number")
    if len(there) <= most:
        return there
    return there[np.rint(np.linspace(0, len(there) - 1, most)).astype(np.int64)]


def median_bandwidth(values: Array) -> float:
    """The median distance of two rows: exactly, or of even quantiles where the rows are many.

    Where most rows are equal it is the median distance of two different values, and one for a constant.
    """
    some = even_quantiles(np.asarray(values, dtype=np.float64), _MOST_PAIRED)
    for candidates in (some, np.unique(some)):
        first, second = np.triu_indices(len(candidates), 1)
        if len(first):
            found = float(np.median(candidates[second] - candidates[first]))
            if found > 0:
                return found
    return 1.0
