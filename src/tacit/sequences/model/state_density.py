"""What the states of a chain emit, as the generic chain and its learner see it.

A kind of emissions has two classes: a `StateDensity` holds the parameters and answers queries, a
`DensityRows` holds the rows to learn from, with all that depends on them alone, and makes densities of
posteriors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
States = NDArray[np.int32]


class StateDensity(Protocol):
    """A density of rows of cells for each state. Missing cells (NaN) are summed or integrated out."""

    kind: ClassVar[str]  # the name in files

    @property
    def n_states(self) -> int:
        """Number of densities."""
        ...

    @property
    def n_columns(self) -> int:
        """Cells of a row."""
        ...

    @property
    def n_parameters(self) -> int:
        """Free parameters."""
        ...

    def log_likelihoods(self, values: Array) -> Array:
        """(position, state) of rows (position, column)."""
        ...

    def ordered(self, order: NDArray[np.integer]) -> Self:
        """The densities of some states, in this order; states may come twice."""
        ...

    # -- for accelerated EM -----------------------------------------------------------------------

    @property
    def flat(self) -> Array:
        """All parameters in one array of positive numbers, on whose logarithms EM extrapolates."""
        ...

    def of_flat(self, values: Array) -> Self:
        """The nearest valid density to what a flat array holds."""
        ...

    def masses(self, visits: Array) -> Array:
        """(parameter,) information on the logarithm of each flat parameter, given visits of each state."""
        ...

    # -- queries ----------------------------------------------------------------------------------

    def sample(self, states: States, rng: np.random.Generator) -> Array:
        """(..., column) a row for each of an array of states."""
        ...

    @property
    def means(self) -> Array:
        """(state, column)."""
        ...

    def expectation(self, weights: Array) -> Array:
        """(row, column) means of mixtures of the states with (row, state) weights."""
        ...

    def densities(self, column: int, grid: Array) -> Array:
        """(state, grid point) densities, or probabilities of integers, of a column."""
        ...

    def quantiles(self, weights: Array, levels: Array) -> Array:
        """(row, column, level) quantiles of mixtures of the states with (row, state) weights."""
        ...

    def describe(self, labels: Sequence[str], most: int) -> list[list[str]]:
        """A few words about each state."""
        ...

    @property
    def attributes(self) -> dict[str, Any]:
        """Fitted attributes by name."""
        ...

    @property
    def arguments(self) -> dict[str, Any]:
        """Arguments of `HMM` that go with it, besides `emissions`."""
        ...


class DensityRows(Protocol):
    """Rows to learn densities of one kind from, and the prior."""

    @property
    def features(self) -> Array:
        """(position, feature) on a common scale, in which clusters are sensible; NaN where missing."""
        ...

    @property
    def log_constant(self) -> float:
        """What `log_likelihoods` leave out, summed over all rows."""
        ...

    def log_likelihoods(self, density: Any) -> Array:
        """(position, state), up to terms that do not depend on the density."""
        ...

    def maximised(self, posterior: Array, density: Any = None) -> Any:
        """Densities of highest posterior density, or at least better than the given ones.

        Parameters
        ----------
        posterior : (position, state)
        density : StateDensity, optional
            The one before; without it, the start of learning.
        """
        ...

    def log_prior(self, density: Any) -> float:
        """Log-density of the prior, up to a constant."""
        ...

    def taken(self, places: NDArray[np.integer]) -> DensityRows:
        """Some of the rows, with the same prior."""
        ...

    def finished(self, density: Any) -> Any:
        """The density of rows as they were given, of one of rows as they were learnt from."""
        ...
