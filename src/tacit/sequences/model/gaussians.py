"""Normal densities of the states of a chain."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

UNITS = 16.0  # scale of means: exponentials of outlying means stay finite


class Gaussians:
    """Normal densities of several states: what follows from their means and covariances."""

    means: Array  # (state, column)
    covariances: Array  # (state, column, column)
    diagonal: bool  # whether columns are independent given the state

    @property
    def n_states(self) -> int:
        """Number of densities."""
        return len(self.means)

    @property
    def n_columns(self) -> int:
        """Numbers at each position."""
        return int(self.means.shape[1])

    @cached_property
    def factors(self) -> Array:
        """(state, column, column) Cholesky factors of the covariances."""
        return np.asarray(np.linalg.cholesky(self.covariances), dtype=np.float64)

    @cached_property
    def inverse_factors(self) -> Array:
        """(state, column, column) inverses of the Cholesky factors."""
        if self.diagonal:
            inverses = np.zeros_like(self.factors)
            places = np.arange(self.n_columns)
            inverses[:, places, places] = 1 / self.factors[:, places, places]
            return inverses
        return np.asarray(np.linalg.inv(self.factors), dtype=np.float64)

    @cached_property
    def log_sizes(self) -> Array:
        """(state,) half the log-determinants of the covariances."""
        return np.asarray(np.log(np.diagonal(self.factors, axis1=1, axis2=2)).sum(axis=1))

    @cached_property
    def common_spread(self) -> Array:
        """(column, column) the inverse of the mean precision matrix of the states."""
        inverses = self.inverse_factors
        if self.diagonal:
            return np.diag(len(self.means) / np.einsum("kii,kii->i", inverses, inverses))
        return np.asarray(np.linalg.inv((inverses.transpose(0, 2, 1) @ inverses).mean(axis=0)))
