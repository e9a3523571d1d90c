"""Classes of rows, in each of which the numbers are Gaussian and the categories independent."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tacit.numbers.model.gaussian import Gaussian

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class GaussianClasses:
    """A mixture whose components are a Gaussian of numbers times a distribution of each category.

    Examples
    --------
    >>> one = GaussianClasses(np.ones(1), np.zeros((1, 2)), np.eye(2)[None], ())
    >>> one.n_components, one.is_diagonal
    (1, False)
    """

    weights: Array  # (component,)
    means: Array  # (component, number)
    covariances: (
        Array  # (component, number, number), or (component, number) where they are diagonal
    )
    tables: tuple[Array, ...]  # for each column of categories: (component, category)

    @property
    def n_components(self) -> int:
        """How many classes there are."""
        return len(self.weights)

    @property
    def is_diagonal(self) -> bool:
        """Whether numbers are independent in each class."""
        return self.covariances.ndim == 2

    @property
    def n_parameters(self) -> int:
        """Free parameters."""
        k, d = self.means.shape
        per_class = d + (d if self.is_diagonal else d * (d + 1) // 2)
        per_class += sum(table.shape[1] - 1 for table in self.tables)
        return int(k - 1 + k * per_class)

    @cached_property
    def gaussians(self) -> tuple[Gaussian, ...]:
        """The Gaussian of each component, where covariances are full."""
        return tuple(map(Gaussian, self.means, self.covariances))

    @cached_property
    def log_weights(self) -> Array:
        """(component,) natural logarithms; -inf of a weight of zero."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.weights))
