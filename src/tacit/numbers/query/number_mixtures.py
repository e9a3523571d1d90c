"""Distributions of a number in each row: a mixture of what a tree and other experts say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from tacit.numbers.data.normal_scores import Scores
from tacit.numbers.query.densities import Coefficients
from tacit.numbers.query.normal_scores import expected_numbers

Array = NDArray[np.float64]

# Components with less of a row than this are left out of its means: they move them less than rounding does.
_LEAST_SHARE = 1e-12
_N_NODES = 15  # of the quadrature
_N_HALVINGS = 64
_MAX_CELLS = 2_000_000  # of a block of points, rows and components


@cache
def quadrature() -> tuple[Array, Array]:
    """(node,) places and weights of the quadrature under a standard normal distribution."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(_N_NODES)
    return nodes, weights / weights.sum()


@dataclass(frozen=True, eq=False)
class GaussianParts:
    """What one expert says of a number: its score is a mixture of Gaussians."""

    scores: Scores
    place: int
    weights: Array  # (row, component)  they sum to the share of the expert
    means: Array  # (row, component)
    deviations: Array  # (row, component)

    def take(self, rows: Any) -> GaussianParts:
        """Those of some rows."""
        return GaussianParts(
            self.scores, self.place, self.weights[rows], self.means[rows], self.deviations[rows]
        )

    def densities(self, numbers: Array) -> Array:
        """(row, point) at numbers that are the same in all rows (point,), or not (row, point)."""

        def density(z: Array, deviation: Array) -> Array:
            heights = np.exp(-0.5 * np.minimum(z * z, 1400.0))
            return np.asarray(heights / (np.sqrt(2 * np.pi) * deviation))

        slopes = np.exp(self.scores.log_slope(self.place, numbers))
        return np.asarray(self._summed(numbers, density) * slopes)

    def below(self, numbers: Array) -> Array:
        """(row, point) the mass up to numbers of each row: (row, point)."""
        return self._summed(numbers, lambda z, _: ndtr(z))

    def _summed(self, numbers: Array, function: Callable[[Array, Array], Array]) -> Array:
        """(row, point) a function of standardised scores and deviations, averaged over the components."""
        at = np.atleast_2d(self.scores.scores(self.place, numbers))
        n_rows, n_components = self.weights.shape
        total = np.zeros((n_rows, numbers.shape[-1]))
        if n_rows == 1:  # with intervals, components are thousands
            z = (at - self.means.T) / self.deviations.T  # (component, point)
            # By rows, so that a point has the same answer whatever the others are.
            weighted = self.weights.T * function(z, self.deviations.T)
            return np.asarray(weighted.sum(axis=0, keepdims=True))
        for component in range(n_components):
            deviation = self.deviations[:, component, None]
            z = (at - self.means[:, component, None]) / deviation
            total += self.weights[:, component, None] * function(z, deviation)
        return total

    def expectations(
        self, function: Callable[[Array], Array] | None, *, exact: bool = True
    ) -> Array:
        """(row,) the mean of a function of the number, times the share of the expert."""
        counted = self.weights > _LEAST_SHARE
        means, deviations = self.means[counted], self.deviations[counted]
        expected = np.zeros(self.weights.shape)
        if exact:
            expected[counted] = expected_numbers(
                self.scores, self.place, means, deviations, function
            )
        else:
            expected[counted] = self._quadrature(means, deviations)
        return np.asarray(np.einsum("rc,rc->r", self.weights, expected))

    def _quadrature(self, means: Array, deviations: Array) -> Array:
        """(row,) about the mean of the number."""
        if self.scores.margins[self.place] is None:
            return means
        nodes, weights = quadrature()
        at = means[:, None] + deviations[:, None] * nodes
        return np.interp(at, *self.scores.knots(self.place)) @ weights


@dataclass(frozen=True, eq=False)
class NumberMixture:
    """The distribution of one column of numbers in each row."""

    tree: Coefficients
    tree_share: Array  # (row,)
    parts: Sequence[GaussianParts]
    part_atoms: Array  # (row, atom)  masses that the other experts give to the atoms

    @property
    def atom_masses(self) -> Array:
        """(row, atom) the probabilities of the numbers that have one."""
        return self.tree_share[:, None] * self.tree.atom_masses + self.part_atoms

    def densities(self, points: Array) -> Array:
        """(row, point) beside the atoms."""
        total = self.tree_share[:, None] * self.tree.densities(points).values
        for part in self.parts:
            total += part.densities(points)
        return total

    def expectations(
        self, function: Callable[[Array], Array] | None = None, *, exact: bool = True
    ) -> Array:
        """(row,) the mean of a function of the number, by default of the number itself."""
        total = self.tree_share * self.tree.expectations(function)
        for part in self.parts:
            total += part.expectations(function, exact=exact)
        if len(self.tree.atoms):
            atoms = self.tree.atoms if function is None else function(self.tree.atoms)
            total += self.part_atoms @ atoms
        return total

    def quantiles(self, levels: Array) -> Array:
        """(row, level) the numbers below which there is so much mass, by bisection.

        None is farther than one range of the training data outside of it: the little mass beyond is put
        there.
        """
        n_parts = 1 + sum(part.weights.shape[1] for part in self.parts)
        step = max(1, _MAX_CELLS // (n_parts * max(len(levels), 1)))
        blocks = [
            bisected(self.take(slice(first, first + step)), levels)
            for first in range(0, len(self.tree_share), step)
        ]
        return np.concatenate([np.empty((0, len(levels))), *blocks])

    def take(self, rows: Any) -> NumberMixture:
        """That of some rows."""
        tree = Coefficients(self.tree.encoder, self.tree.values[rows], self.tree.undefined[rows])
        parts = [part.take(rows) for part in self.parts]
        return NumberMixture(tree, self.tree_share[rows], parts, self.part_atoms[rows])

    def below(self, numbers: Array) -> Array:
        """(row, point) the mass up to numbers of each row: (row, point)."""
        total = self.tree_share[:, None] * self._tree_below(numbers)
        for part in self.parts:
            total += part.below(numbers)
        for atom, masses in zip(self.tree.atoms, self.part_atoms.T, strict=True):
            total += masses[:, None] * (numbers >= atom)
        return total

    @cached_property
    def range(self) -> tuple[float, float]:
        """One range of the training data beyond its ends, and all places of the tree."""
        part, places = self.parts[0], self.tree.places
        column: Any = part.scores.schema.columns[part.place]
        width = column.high - column.low
        return min(places[0], column.low - width), max(places[-1], column.high + width)

    def _tree_below(self, numbers: Array) -> Array:
        """The mass up to numbers under the tree; linear between its places, as its quantiles are."""
        places = self.tree.places
        cumulative = np.cumsum(self.tree.cell_masses, axis=1)
        cumulative /= cumulative[:, -1:]
        right = np.clip(np.searchsorted(places, numbers, side="right"), 1, len(places) - 1)
        low, high = places[right - 1], places[right]
        part = np.clip((numbers - low) / (high - low), 0.0, 1.0)
        rows = np.arange(len(numbers))[:, None]
        at = (1 - part) * cumulative[rows, right - 1] + part * cumulative[rows, right]
        return np.where(numbers < places[0], 0.0, np.where(numbers >= places[-1], 1.0, at))


def bisected(mixture: NumberMixture, levels: Array) -> Array:
    """(row, level) the numbers below which there is so much mass."""
    low, high = mixture.range
    shape = (len(mixture.tree_share), len(levels))
    lows, highs = np.full(shape, low), np.full(shape, high)
    for _ in range(_N_HALVINGS):
        middles = 0.5 * lows + 0.5 * highs
        under = mixture.below(middles) < levels
        lows, highs = np.where(under, middles, lows), np.where(under, highs, middles)
    numbers, atoms = 0.5 * lows + 0.5 * highs, mixture.tree.atoms
    if len(atoms):  # at an atom the mass jumps over the level
        nearest = atoms[np.searchsorted(atoms, lows).clip(max=len(atoms) - 1)]
        numbers = np.where((lows <= nearest) & (nearest <= highs), nearest, numbers)
    return numbers
