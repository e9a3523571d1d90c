"""Several numbers at once as features whose inner products are a product of kernels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.encoders.kernel_shapes import RBF, Kernel, TabulatedKernel
from tacit.core.encoders.kernels import KernelEncoder, pivoted_cholesky
from tacit.core.encoders.margins import Margin
from tacit.errors import ArgumentError, DataError

Array = NDArray[np.float64]

# Rows among which pivots are chosen.
_MOST_CANDIDATES = 2048


@dataclass(frozen=True, eq=False)
class VectorKernelEncoder:
    """Features of several numbers together: ``inverse @ k(pivots, x)``, k the product of a kernel of each.

    A member of which nothing was observed is integrated out: its factor of the kernel is left out. So the
    likelihoods of a row with some members are those of its observed members.

    Parameters
    ----------
    pivots : (pivot, member)
    inverse : (feature, pivot)
        Makes the kernels at the pivots orthonormal.
    bandwidths : (member,)
    margins : (member,) Margin or None
        Where given, pivots and bandwidth are those of the member's normal scores.
    kernel : Kernel or TabulatedKernel

    Examples
    --------
    >>> rows = np.random.default_rng(0).normal(size=(100, 2))
    >>> encoder = vector_kernel_encoder(rows, [0.8, 0.8])
    >>> features = encoder.features(rows[:2])
    >>> kernel = np.exp(-0.5 * ((rows[0] - rows[1]) ** 2).sum() / 0.64)
    >>> bool(abs(features[0] @ features[1] - kernel) < 1e-2)
    True
    """

    pivots: Array
    inverse: Array
    bandwidths: Array
    margins: tuple[Margin | None, ...]
    kernel: Kernel | TabulatedKernel = RBF

    @property
    def kind(self) -> str:
        """``"kernel"``."""
        return "kernel"

    @property
    def size(self) -> int:
        """Number of features."""
        return len(self.inverse)

    @property
    def n_members(self) -> int:
        """How many numbers a value has."""
        return int(self.pivots.shape[1])

    @cached_property
    def total(self) -> Array:
        """(feature,) the integral of each feature's density."""
        return np.asarray(self.inverse.sum(axis=1))

    @cached_property
    def members(self) -> tuple[KernelEncoder, ...]:
        """Each number alone: one feature for each pivot."""
        eye = np.eye(len(self.pivots))
        return tuple(
            KernelEncoder(
                np.ascontiguousarray(self.pivots[:, place]), eye, float(width), margin, self.kernel
            )
            for place, (width, margin) in enumerate(zip(self.bandwidths, self.margins, strict=True))
        )

    def features(self, values: NDArray[Any]) -> Array:
        """(row, feature) what learning averages; a row of NaN where any member is missing."""
        rows = self._rows(values)
        kernels = np.ones((len(self.pivots), len(rows)))
        for place, member in enumerate(self.members):
            kernels *= member.kernel_values(rows[:, place])
        return np.ascontiguousarray((self.inverse @ kernels).T)

    def pivot_densities(self, values: NDArray[Any], skip: int | None = None) -> Array:
        """(row, pivot) the density of the observed members around each pivot; ones where none is there.

        Parameters
        ----------
        values : (row, member)
        skip : int, optional
            A member that counts as missing.
        """
        rows = self._rows(values)
        densities = np.ones((len(rows), len(self.pivots)))
        for place, member in enumerate(self.members):
            if place != skip:
                densities *= member.likelihoods(rows[:, place])
        return densities

    def likelihoods(self, values: NDArray[Any]) -> Array:
        """(row, feature) features as densities of the observed members; `total` where there is none."""
        return np.asarray(self.pivot_densities(values) @ self.inverse.T)

    def member_coefficients(
        self, vectors: Array, place: int, others: NDArray[Any] | None = None
    ) -> Array:
        """(row, pivot) the coefficients of one member, of integral one, given the others of the row.

        Parameters
        ----------
        vectors : (row, feature)
            The coefficients of the whole value.
        place : int
            The member; the answer is for ``members[place]``.
        others : (row, member), optional
            What is known of the value; the member's own number is not used.
        """
        weights = vectors @ self.inverse
        if others is None:
            return np.asarray(weights)
        near = self.pivot_densities(others, skip=place)
        joint = weights * near
        mass = joint.sum(axis=1, keepdims=True)
        size = np.abs(joint).sum(axis=1, keepdims=True)
        # The estimate of the others' density may be noise, where there are no data: they are not used then.
        usable = mass > 1e-9 * np.maximum(size, 1e-300)
        return np.where(usable, joint / np.where(usable, mass, 1.0), weights)

    @cached_property
    def numbers(self) -> Array:
        """(pivot, member) the pivots as numbers."""
        columns = [
            column if margin is None else margin.from_scores(column)
            for column, margin in zip(self.pivots.T, self.margins, strict=True)
        ]
        return np.column_stack(columns)

    @cached_property
    def pivot_features(self) -> Array:
        """(pivot, feature) the features of the pivots."""
        return self.features(self.numbers)

    def functional(self, function: Callable[[Array], Array]) -> Array:
        """(feature,) the coefficients of a function of (row, member) arrays, exact at the pivots."""
        return np.asarray(self.inverse @ np.asarray(function(self.numbers), dtype=np.float64))

    def _rows(self, values: NDArray[Any]) -> Array:
        rows = np.asarray(values, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != self.n_members:
            raise DataError(
                f"values of shape {rows.shape}; give {self.n_members} numbers in each row"
            )
        return rows


def vector_kernel_encoder(
    values: Array,
    bandwidths: Sequence[float] | Array,
    tolerance: float = 1e-4,
    *,
    n_features: int | None = None,
    margins: Sequence[Margin | None] | None = None,
    kernel: Kernel | TabulatedKernel = RBF,
) -> VectorKernelEncoder:
    """Features of several numbers together, by pivoted incomplete Cholesky.

    Parameters
    ----------
    values : (row, member)
        Rows with NaN are left out. Of more than a few thousand, every so-many-th stands for all.
    bandwidths : (member,)
    tolerance : float
        The fraction of the kernel's trace that may be left over.
    n_features : int, optional
        The largest number of features.
    margins : (member,), optional
        Work with normal scores of the members; bandwidths are then theirs.
    kernel : Kernel or TabulatedKernel
    """
    from scipy.linalg import solve_triangular

    rows = np.asarray(values, dtype=np.float64)
    widths = np.array(bandwidths, dtype=np.float64)
    if not ((widths > 0) & np.isfinite(widths)).all() or widths.shape != rows.shape[1:]:
        raise ArgumentError(f"bandwidths={bandwidths!r}; give a positive number for each member")
    complete = rows[~np.isnan(rows).any(axis=1)]
    if len(complete) == 0:
        raise ArgumentError("there is not a single row with all members")
    some = complete[:: -(-len(complete) // _MOST_CANDIDATES)]
    distributions = tuple(margins) if margins is not None else (None,) * rows.shape[1]
    placed = np.column_stack(
        [
            column if margin is None else margin.scores(column)
            for column, margin in zip(some.T, distributions, strict=True)
        ]
    )
    scaled = placed / widths
    places, factor = pivoted_cholesky(
        lambda pivot: np.prod(kernel.values(scaled - scaled[pivot]), axis=1),
        len(scaled),
        tolerance,
        len(scaled) if n_features is None else n_features,
    )
    inverse = solve_triangular(factor[:, places].T, np.eye(len(places)), lower=True)
    return VectorKernelEncoder(
        placed[places], np.ascontiguousarray(inverse), widths, distributions, kernel
    )
