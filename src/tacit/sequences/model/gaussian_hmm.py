"""Hidden Markov models with Gaussian emissions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tacit.sequences.model.chains import ChainTables
from tacit.sequences.model.gaussians import UNITS, Gaussians

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class GaussianChain(Gaussians):
    """Initial and transition probabilities, and a Gaussian for each state."""

    segments: ClassVar[None] = None  # durations are geometric

    initial: Array  # (state,)
    transitions: Array  # (state, next state)   rows sum to one
    means: Array  # (state, column)
    covariances: Array  # (state, column, column)
    diagonal: bool  # whether columns are independent given the state

    @property
    def n_parameters(self) -> int:
        """Free parameters."""
        return GaussianLayout(self.n_states, self.n_columns, self.diagonal).n_parameters

    @cached_property
    def stationary(self) -> Array:
        """(state,) the stationary distribution."""
        return ChainTables(self.initial, self.transitions, ()).stationary

    def ordered(self, order: NDArray[np.integer]) -> GaussianChain:
        """The same model with its states in another order."""
        return GaussianChain(
            self.initial[order],
            self.transitions[np.ix_(order, order)],
            self.means[order],
            self.covariances[order],
            self.diagonal,
        )

    def rescaled(self, centre: Array, spread: Array) -> GaussianChain:
        """The model of ``centre + spread * x`` where this is that of x, column by column."""
        return GaussianChain(
            self.initial,
            self.transitions,
            centre + spread * self.means,
            self.covariances * (spread[:, None] * spread),
            self.diagonal,
        )


@dataclass(frozen=True)
class GaussianLayout:
    """Where the parameters of a chain stand in one flat array of positive numbers, for accelerated EM.

    Initial and transition probabilities and the diagonals of the Cholesky factors stand as they are; means
    and the entries below the diagonals as exponentials. A step in logarithms is then a step in means and in
    factors with logarithms on the diagonal, where every value is valid.
    """

    n_states: int
    n_columns: int
    diagonal: bool

    @cached_property
    def lower(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Rows and columns of the entries of the Cholesky factors, the diagonal first."""
        d = self.n_columns
        rows, columns = (np.zeros(0, np.int64),) * 2 if self.diagonal else np.tril_indices(d, -1)
        places = np.arange(d)
        return np.concatenate([places, rows]), np.concatenate([places, columns])

    @cached_property
    def bounds(self) -> NDArray[np.int64]:
        """Where initial and transition probabilities, means and factors start, and the end."""
        k = self.n_states
        return np.cumsum([0, k, k * k, k * self.n_columns, k * len(self.lower[0])])

    @cached_property
    def row_starts(self) -> NDArray[np.int64]:
        """Where rows of probabilities start."""
        k = self.n_states
        return np.arange(k + 1, dtype=np.int64) * k

    @property
    def n_parameters(self) -> int:
        """Free parameters."""
        k = self.n_states
        return k - 1 + k * (k - 1) + int(self.bounds[-1] - self.bounds[2])

    def allowed(self, values: Array) -> Array:
        """The nearest valid parameters: rows sum to one, means and factors are bounded."""
        from tacit.core.loops.acceleration import normalise

        end, d = self.row_starts[-1] + self.n_states, self.n_columns
        factors = values[self.bounds[3] :].reshape(self.n_states, -1)
        parts = (
            normalise(values[:end], self.row_starts),
            np.clip(values[end : self.bounds[3]], 1e-250, 1e250),
            np.hstack([np.clip(factors[:, :d], 1e-6, 1e6), np.clip(factors[:, d:], 1e-250, 1e250)]),
        )
        return np.concatenate([part.ravel() for part in parts])

    def flat(self, chain: GaussianChain) -> Array:
        """The parameters of a chain in one array."""
        rows, columns = self.lower
        factors = chain.factors[:, rows, columns]
        factors[:, self.n_columns :] = np.exp(factors[:, self.n_columns :])
        # means that the data leave open may go far: what `allowed` allows, at most
        means = np.exp(np.clip(chain.means / UNITS, -570.0, 570.0))
        parts = (chain.initial, chain.transitions, means, factors)
        return np.concatenate([part.ravel() for part in parts])

    def chain(self, values: Array) -> GaussianChain:
        """The chain that a flat array holds."""
        k, d = self.n_states, self.n_columns
        rows, columns = self.lower
        initial, transitions, means, factors = np.split(values, self.bounds[1:-1])
        triangles = np.zeros((k, d, d))
        entries = factors.reshape(k, -1).copy()
        entries[:, d:] = np.log(entries[:, d:])
        triangles[:, rows, columns] = entries
        covariances = triangles @ triangles.transpose(0, 2, 1)
        chain = GaussianChain(
            initial,
            transitions.reshape(k, k),
            UNITS * np.log(means.reshape(k, d)),
            covariances,
            self.diagonal,
        )
        chain.__dict__["factors"] = triangles  # known already, and exact
        return chain

    def masses(
        self, chain: GaussianChain, visits: Array, transitions: Array, starts: Array
    ) -> Array:
        """Information on each parameter: expected counts, and Fisher information of the Gaussians."""
        rows, columns = self.lower
        inverse = chain.inverse_factors
        precision = np.einsum(
            "kji,kji->ki", inverse, inverse
        )  # the diagonal of each precision matrix
        factors = np.where(rows == columns, 2.0, precision[:, rows]) * visits[:, None]
        parts = (starts, transitions, UNITS**2 * visits[:, None] * precision, factors)
        return np.concatenate([part.ravel() for part in parts])
