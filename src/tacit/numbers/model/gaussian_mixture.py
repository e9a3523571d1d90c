"""Mixtures of spherical Gaussians."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ArgumentError

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class SphericalMixture:
    """A mixture whose components have the same variance in all directions."""

    weights: Array  # (component,)  sum to one
    means: Array  # (component, column)
    variances: Array  # (component,)

    def __post_init__(self) -> None:
        k = len(self.weights)
        fits = self.weights.shape == self.variances.shape == (k,) and self.means.shape[:1] == (k,)
        if not fits or self.means.ndim != 2:
            raise ArgumentError(
                f"weights {self.weights.shape}, means {self.means.shape} and variances "
                f"{self.variances.shape} do not belong to the same number of components"
            )

    @property
    def n_components(self) -> int:
        """Number of components."""
        return len(self.weights)
