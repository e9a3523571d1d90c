"""Encoders: the value of a cell as a vector of features.

A leaf has `size` features. Learning averages products of `features`; a query enters a cell by its
`likelihoods`, and what it finds at a leaf is a vector v of as many coefficients: the density
``likelihoods(x) @ v``, whose integral is ``total @ v`` and under which the mean of a function is
``functional(function) @ v``. A category is an indicator, so that the same words serve both kinds of column.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
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
    """Bins, each with a smooth density, and atoms: values that have a probability.

    Features are the bins, then the atoms. Where a column has atoms, the measure that densities refer to
    counts each of them as one and every interval without them by its length: the likelihood of an atom is a
    probability, that of any other number a density. A little of the mass of an atom, that of one row more,
    lies in the density of the column, so that no number is impossible.

    Parameters
    ----------
    edges : (bin - 1,)
        The cuts between the bins, ascending; a value equal to a cut is below it.
    margin : Margin
        The density of the column as a whole, without its atoms.
    bandwidth : float
        By how much a bin is blurred, as a fraction of the mass of all bins; zero is the bin as it stands.
    atoms : (atom,)
        Values with a probability of their own, ascending.

    Examples
    --------
    >>> from tacit.core.encoders.margins import fit_margin
    >>> margin = fit_margin(np.random.default_rng(0).exponential(size=500))
    >>> encoder = BinEncoder(np.array([1.0]), margin, atoms=np.array([0.0]))
    >>> encoder.codes(np.array([0.3, 1.5, 0.0])), encoder.size
    (array([0, 1, 2], dtype=int16), 3)
    >>> encoder.likelihoods(np.zeros(1)).round(2)
    array([[0., 0., 1.]])
    """

    edges: Array
    margin: Margin
    bandwidth: float = 0.0
    atoms: Array = field(default_factory=lambda: np.empty(0))

    @property
    def kind(self) -> str:
        """``"bins"``."""
        return "bins"

    @property
    def n_bins(self) -> int:
        """Number of bins."""
        return len(self.edges) + 1

    @property
    def size(self) -> int:
        """Number of bins and atoms."""
        return self.n_bins + len(self.atoms)

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
        """Numbers that span all but the farthest tails of the column, ascending, dense where its mass is.

        Atoms are among them, and the numbers right below them.
        """
        ends = self.margin.inverse(np.concatenate([_ENDS, 1 - _ENDS]))
        below = np.nextafter(self.atoms, -np.inf)
        return np.unique(np.concatenate([self.grid(N_PLACES), ends, below, self.atoms]))

    def codes(self, values: Array) -> NDArray[np.int16]:
        """The feature of each number, -1 where it is NaN."""
        numbers = np.asarray(values, dtype=np.float64)
        codes = codes_of_numbers(numbers, tuple(self.edges))
        atoms = self.atom_codes(numbers)
        return np.where(atoms >= 0, self.n_bins + atoms, codes).astype(codes.dtype)

    def atom_codes(self, values: Array) -> NDArray[np.int64]:
        """The atom that each number is, -1 where it is none."""
        if not len(self.atoms):
            return np.full(np.shape(values), -1)
        places = np.searchsorted(self.atoms, values).clip(max=len(self.atoms) - 1)
        return np.where(self.atoms[places] == values, places, -1)

    def column(self, name: str) -> Column:
        """The column of categories that bins and atoms make, with the median of each for its center."""
        centers = self.margin.inverse(0.5 * (self.cuts[1:] + self.cuts[:-1]))
        labels = (*bin_labels(self.edges), *(f"= {atom:.17g}" for atom in self.atoms))
        centers = np.concatenate([centers, self.atoms])
        return Column(name, labels, "binned", tuple(self.edges.tolist()), tuple(centers.tolist()))

    def features(self, values: NDArray[Any]) -> Array:
        """(row, feature) one at the feature of each number; a row of NaN where it is missing."""
        return _one_hot(self.codes(values), self.size, np.nan)

    def likelihoods(self, values: NDArray[Any]) -> Array:
        """(row, feature) densities, and probabilities of atoms; ones where the value is missing."""
        values = np.asarray(values, dtype=np.float64)
        likelihoods = self.densities(values)
        atoms = self.atom_codes(values)
        rows = np.flatnonzero(atoms >= 0)
        likelihoods[rows] = 0.0
        likelihoods[rows, self.n_bins + atoms[rows]] = 1.0 - self.leak
        likelihoods[np.isnan(values)] = 1.0
        return likelihoods

    def densities(self, values: NDArray[Any]) -> Array:
        """(row, feature) the density of each feature beside the atoms; NaN where the value is missing."""
        values = np.asarray(values, dtype=np.float64)
        densities = np.empty((len(values), self.size))
        bins = densities[:, : self.n_bins]
        if self.bandwidth == 0:  # by the cuts themselves, so that features and evidence agree
            codes = codes_of_numbers(values, tuple(self.edges))
            bins[:] = _one_hot(codes, self.n_bins, np.nan) / np.diff(self.cuts)
        else:
            bins[:] = blurred(self.margin.cdf(values), self.cuts, self.bandwidth)
        densities[:, self.n_bins :] = self.leak
        densities *= self.margin.density(values)[:, None]
        return densities

    def cumulative(self, values: Array) -> Array:
        """(row, feature) the integral of each density up to each value, which counts if it is an atom."""
        values = np.asarray(values, dtype=np.float64)
        below = self.margin.cdf(values)
        bins = blurred_below(below, self.cuts, self.bandwidth)
        if not len(self.atoms):
            return bins
        reached = (self.atoms <= values[:, None]) * (1.0 - self.leak)
        return np.hstack([bins, reached + self.leak * below[:, None]])

    def functional(self, function: Callable[[Array], Array]) -> Array:
        """(feature,) the mean of the function under each density; far outside the data nothing is counted."""
        places = self.margin.places
        mass = np.diff(blurred_below(self.margin.cdf(places), self.cuts, self.bandwidth), axis=0)
        middles = 0.5 * (places[1:] + places[:-1])
        bins = function(middles) @ mass / mass.sum(axis=0)
        if not len(self.atoms):
            return np.asarray(bins, dtype=np.float64)
        # The bins together, by their masses, are the margin.
        rest = bins @ np.diff(self.cuts)
        atoms = (1.0 - self.leak) * function(self.atoms) + self.leak * rest
        return np.asarray(np.concatenate([bins, atoms]), dtype=np.float64)

    def grid(self, n: int = 200) -> Array:
        """Numbers over what the column holds: half of them even, half where the mass is."""
        low, high = self.margin.inverse(np.array([1e-3, 1 - 1e-3]))
        even = np.linspace(low, high, n - n // 2)
        masses = np.linspace(1e-3, 1 - 1e-3, n // 2 + 2)[1:-1]
        return np.sort(np.concatenate([even, self.margin.inverse(masses)]))

    @property
    def leak(self) -> float:
        """The part of an atom's mass that lies in the density of the column."""
        return self.margin.tail_weight


def _one_hot(codes: NDArray[Any], size: int, missing: float) -> Array:
    table = np.vstack([np.eye(size), np.full(size, missing)])
    return np.asarray(table[codes])
