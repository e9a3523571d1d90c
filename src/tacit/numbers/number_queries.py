"""The queries about columns of numbers that every model with such columns answers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.core.arguments import check_choice, check_function
from tacit.numbers.query.arguments import (
    category_place,
    checked_grid,
    checked_levels,
    number_place,
)
from tacit.trees.table_model import TableModel

if TYPE_CHECKING:
    from tacit.core.input.mixed_table import MixedSchema

Array = NDArray[np.float64]
Function = Callable[[Array], Array]

IMPUTED = ("mean", "median")


class NumberQueries(TableModel):
    """A fitted model of columns of numbers and of categories."""

    schema_: MixedSchema
    _infinite_range: ClassVar[bool] = False  # whether the quantiles of 0 and 1 are infinite

    def density(self, X: Any) -> Array:
        """(row,) the density of the observed cells of each row: ``exp(score_samples(X))``."""
        return np.asarray(np.exp(self.score_samples(X)))

    def conditional_density(
        self,
        X: Any,
        target: Hashable,
        grid: ArrayLike | None = None,
        *,
        return_repairs: bool = False,
    ) -> Any:
        """The density of a column of numbers given whatever else is present in each row.

        Parameters
        ----------
        X : table
            The target's own cells are not used.
        target : column
        grid : (place,) numbers, optional
            Where the densities are computed; by default 200 numbers that span the column.
        return_repairs : bool
            Whether to return also how much was negative, and cut off.

        Returns
        -------
        grid : (place,) array
        densities : (row, place) array
            Not negative, of integral one over all numbers.
        repairs : dict
            With `return_repairs` only.
        """
        place = self._number(target)
        points = self._grid(place) if grid is None else checked_grid(grid)
        densities, repairs = self._conditional_densities(X, place, points)
        return (points, densities, repairs) if return_repairs else (points, densities)

    def expectation(self, X: Any, target: Hashable, function: Function | None = None) -> Array:
        """The mean of a column of numbers, or of a function of it, given whatever else is in each row.

        Parameters
        ----------
        X : table
            The target's own cells are not used.
        target : column
        function : callable, optional
            Takes an array of numbers and gives one of the same shape.

        Returns
        -------
        (row,) array
        """
        check_function(function)
        return self._expectations(X, self._number(target), function)

    def quantiles(self, X: Any, target: Hashable, q: ArrayLike = (0.05, 0.5, 0.95)) -> Array:
        """Quantiles of a column of numbers given whatever else is present in each row.

        Parameters
        ----------
        X : table
            The target's own cells are not used.
        target : column
        q : number or (level,) numbers from 0 to 1
            A `GaussianTree` has no quantiles of 0 and 1.

        Returns
        -------
        (row,) array for a single number, else (row, level) array
        """
        place, levels = self._number(target), checked_levels(q, ends=not self._infinite_range)
        numbers = self._conditional_quantiles(X, place, np.atleast_1d(levels))
        return numbers if levels.ndim else numbers[:, 0]

    def impute(self, X: Any, *, numbers: str = "mean") -> Any:
        """The rows with each missing cell filled for itself, in the caller's kind of table.

        Parameters
        ----------
        X : table
        numbers : {"mean", "median"}
            What a missing number becomes, given the row; a missing category becomes the most probable one.
        """
        check_choice("numbers", numbers, IMPUTED)
        return self._impute(X, median=numbers == "median")

    # -- hooks ------------------------------------------------------------------------------------

    @abstractmethod
    def _grid(self, place: int) -> Array:
        """Numbers that span a column."""

    @abstractmethod
    def _conditional_densities(
        self, X: Any, place: int, points: Array
    ) -> tuple[Array, dict[str, Any]]:
        """(row, point) densities of a number, and how much was negative."""

    @abstractmethod
    def _expectations(self, X: Any, place: int, function: Function | None) -> Array:
        """(row,) means of a function of a number."""

    @abstractmethod
    def _conditional_quantiles(self, X: Any, place: int, levels: Array) -> Array:
        """(row, level) quantiles of a number."""

    # -- columns ----------------------------------------------------------------------------------

    def _number(self, target: Hashable) -> int:
        """The place of a column of numbers."""
        self._check_fitted()
        return number_place(self.schema_, target)

    def _is_number(self, place: int) -> bool:
        return place in self.schema_.continuous

    @property
    def _categorical(self) -> list[Hashable]:
        return [self.schema_.labels[place] for place in self.schema_.categorical]

    def _category_places(self, columns: Sequence[Hashable]) -> list[int]:
        return [category_place(self.schema_, column) for column in columns]
