"""Encoders: the value of a cell as a vector of features.

A leaf has `size` features. Learning averages products of `features`; a query enters a cell by its
`likelihoods`, and what it finds at a leaf is a vector v of as many coefficients: the density
``likelihoods(x) @ v``, whose integral is ``total @ v`` and under which the mean of a function is
``functional(function) @ v``. A category is an indicator, so that the same words serve both kinds of column.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tacit.core.encoders.basis import BasisEncoder, basis_encoder
from tacit.core.encoders.bins import bin_labels, codes_of_numbers
from tacit.core.encoders.blurred_bins import blurred, blurred_below
from tacit.core.encoders.kernels import (
    KernelEncoder,
    even_quantiles,
    grid_encoder,
    kernel_encoder,
    median_bandwidth,
)
from tacit.core.encoders.margins import Margin
from tacit.core.input.table import Column

Array = NDArray[np.float64]

# Grid points at which densities are integrated, and the masses of tails beyond which they need not be.
N_PLACES = 400
_ENDS = np.array([1e-6, 1e-5, 1e-4])

__all__ = [
    "N_PLACES",
    "BasisEncoder",
    "BinEncoder",
    "Encoder",
    "IndicatorEncoder",
    "KernelEncoder",
    "basis_encoder",
    "even_quantiles",
    "grid_encoder",
    "kernel_encoder",
    "median_bandwidth",
]


class Encoder(Protocol):
    """The interface of encoders of a column."""

    @property
    def kind(self) -> str:
        """``"kernel"``, ``"bins"``, ``"basis"`` or ``"indicator"``."""
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


@dataclass(frozen=True, eq=False)
class BinEncoder:
    """Bins, each with a smooth density.

    Parameters
    ----------
    edges : (bin - 1,)
        The cuts between the bins, ascending; a value equal to a cut is below it.
    margin : Margin
        The density of the column as a whole.
    bandwidth : float
        By how much a bin is blurred, as a fraction of the column's mass; zero is the bin as it stands.
    """

    edges: Array
    margin: Margin
    bandwidth: float = 0.0

    @property
    def kind(self) -> str:
        """``"bins"``."""
        return "bins"

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

    @cached_property
    def places(self) -> Array:
        """Numbers that span all but the farthest tails of the column, ascending, dense where its mass is."""
        ends = self.margin.inverse(np.concatenate([_ENDS, 1 - _ENDS]))
        return np.unique(np.concatenate([self.grid(N_PLACES), ends]))

    def codes(self, values: Array) -> NDArray[np.int16]:
        """The bin of each number, -1 where it is NaN."""
        return codes_of_numbers(np.asarray(values, dtype=np.float64), tuple(self.edges))

    def column(self, name: str) -> Column:
        """The column of categories that the bins make, with the median of each for its center."""
        centers = self.margin.inverse(0.5 * (self.cuts[1:] + self.cuts[:-1]))
        labels = bin_labels(self.edges)
        return Column(name, labels, "binned", tuple(self.edges.tolist()), tuple(centers.tolist()))

    def features(self, values: NDArray[Any]) -> Array:
        """(row, feature) one at the bin of each number; a row of NaN where it is missing."""
        return _one_hot(self.codes(values), self.size, np.nan)

    def likelihoods(self, values: NDArray[Any]) -> Array:
        """(row, feature) the blurred density of each bin; ones where the value is missing."""
        values = np.asarray(values, dtype=np.float64)
        if self.bandwidth == 0:  # by the cuts themselves, so that features and evidence agree
            densities = _one_hot(self.codes(values), self.size, 1.0) / np.diff(self.cuts)
        else:
            densities = blurred(self.margin.cdf(values), self.cuts, self.bandwidth)
        densities *= self.margin.density(values)[:, None]
        densities[np.isnan(values)] = 1.0
        return densities

    def cumulative(self, values: Array) -> Array:
        """(row, feature) the integral of each density up to each value."""
        return blurred_below(self.margin.cdf(np.asarray(values)), self.cuts, self.bandwidth)

    def functional(self, function: Callable[[Array], Array]) -> Array:
        """(feature,) the mean of the function under each density; far outside the data nothing is counted."""
        places = self.margin.places
        mass = np.diff(self.cumulative(places), axis=0)
        middles = 0.5 * (places[1:] + places[:-1])
        return np.asarray(function(middles) @ mass / mass.sum(axis=0), dtype=np.float64)

    def grid(self, n: int = 200) -> Array:
        """Numbers over what the column holds: half of them even, half where the mass is."""
        low, high = self.margin.inverse(np.array([1e-3, 1 - 1e-3]))
        even = np.linspace(low, high, n - n // 2)
        masses = np.linspace(1e-3, 1 - 1e-3, n // 2 + 2)[1:-1]
        return np.sort(np.concatenate([even, self.margin.inverse(masses)]))


def _one_hot(codes: NDArray[Any], size: int, missing: float) -> Array:
    table = np.vstack([np.eye(size), np.full(size, missing)])
    return np.asarray(table[codes])
