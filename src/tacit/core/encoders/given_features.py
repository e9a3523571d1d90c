"""Features of several variables at once, as a user gives them: by name, as arrays, or as a function.

Where hidden states outnumber categories, one variable is too small a view of a state; a feature vector of
several variables is larger (Siddiqi et al. 2010; Cohen et al. 2012; Parikh 2015, section 4.4.2). The same
forms serve tables, whose variables are columns, and sequences, whose variables are places around a position.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.arguments import check_choice, did_you_mean
from tacit.errors import ArgumentError, ArgumentTypeError, TooExpensiveError

Array = NDArray[np.float64]

NAMES = ("concatenated", "joint")
MOST_FEATURES = 4096  # of one side
LARGEST = 1e50  # products of three are finite

_FORMS = (
    'an integer, "concatenated", "joint", an array (category, feature), a mapping of such arrays, or a '
    "function of the variables on one side"
)


def are_given(features: Any) -> bool:
    """Whether features are given by the user, and not a number of variables; "auto" is such a number."""
    number = isinstance(features, Integral) and not isinstance(features, bool)
    return not number and not (isinstance(features, str) and features == "auto")


def check_given(features: Any) -> None:
    """Raise where features are neither a name, nor an array, nor a mapping of arrays, nor a function."""
    if isinstance(features, str):
        check_choice("features", features, NAMES)
    elif features is None or isinstance(features, bool | float):
        raise ArgumentTypeError(f"features={features!r}; give {_FORMS}")


def plain_features(model: Any) -> Any:
    """What a model file holds of the argument: all but functions."""
    features = model.features
    if callable(features):
        return None
    if isinstance(features, Mapping):
        return {str(name): np.asarray(array).tolist() for name, array in features.items()}
    return features if isinstance(features, str) else np.asarray(features).tolist()


@dataclass(frozen=True, eq=False)
class GivenFeatures:
    """Features of variables, whose categories are known.

    Examples
    --------
    >>> phi = GivenFeatures.of("joint", ("x", "y"), (("a", "b"), (0, 1)))
    >>> phi(np.array([[0, 1], [1, 1]]), (0, 1))
    array([[0., 1., 0., 0.],
           [0., 0., 0., 1.]])
    """

    kind: str  # "concatenated", "joint" or "function"
    function: Callable[..., Any] | None
    arrays: tuple[Array, ...]  # per variable: (category, feature), of the kind "concatenated"
    names: tuple[Hashable, ...]  # (variable,)
    categories: tuple[tuple[Any, ...], ...]  # (variable,)

    @staticmethod
    def of(
        features: Any, names: Sequence[Hashable], categories: Sequence[Sequence[Any]]
    ) -> GivenFeatures:
        """The features that an argument stands for.

        Raises
        ------
        ArgumentError, ArgumentTypeError
            An array has not one row for each category, or a name is not known.
        """
        check_given(features)
        known = tuple(tuple(values) for values in categories)
        kind, function = "concatenated", None
        arrays: Sequence[Array] = [np.eye(len(values)) for values in known]
        if isinstance(features, str):
            kind = features
        elif callable(features):
            kind, function = "function", features
        elif isinstance(features, Mapping):
            arrays = _named_arrays(features, names, known, arrays)
        else:
            arrays = [
                _checked_array(features, "features", name, values)
                for name, values in zip(names, known, strict=True)
            ]
        return GivenFeatures(kind, function, tuple(arrays), tuple(names), known)

    def __call__(self, codes: NDArray[np.integer], variables: Sequence[int]) -> Array:
        """(row, feature) The features of some variables, the columns of `codes`; none of them is missing."""
        if not len(variables):
            return np.zeros((len(codes), 0))
        if self.function is not None:
            return self._checked_result(codes, variables)
        if self.kind == "joint":
            sizes = [len(self.categories[variable]) for variable in variables]
            self._check_size(prod(map(float, sizes)), variables)
            indicators = np.zeros((len(codes), prod(sizes)))
            cells = np.ravel_multi_index(list(np.asarray(codes).T), sizes)
            indicators[np.arange(len(codes)), cells] = 1.0
            return indicators
        parts = [self.arrays[v][codes[:, place]] for place, v in enumerate(variables)]
        self._check_size(sum(part.shape[1] for part in parts), variables)
        return np.concatenate(parts, axis=1)

    def _checked_result(self, codes: NDArray[np.integer], variables: Sequence[int]) -> Array:
        assert self.function is not None
        side = {
            self.names[variable]: self._values[variable][codes[:, place]]
            for place, variable in enumerate(variables)
        }
        whose = f"features() of {_listed(list(side))}"
        result = self.function(side)
        try:
            result = np.asarray(result, dtype=np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            raise ArgumentTypeError(
                f"{whose} gave {type(result).__name__}, which is no array of numbers; return an array "
                f"(row, feature)"
            ) from error
        if result.ndim != 2 or len(result) != len(codes) or not result.shape[1]:
            raise ArgumentError(
                f"{whose} gave an array of shape {result.shape} for {len(codes)} rows; return an array "
                f"(row, feature)"
            )
        if not _is_moderate(result):
            raise ArgumentError(f"{whose} gave a number that is not finite, or beyond {LARGEST:g}")
        self._check_size(result.shape[1], variables)
        return result

    def _check_size(self, size: float, variables: Sequence[int]) -> None:
        if size > MOST_FEATURES:
            names = _listed([self.names[variable] for variable in variables])
            raise TooExpensiveError(
                f"{size:,.0f} features of {names} together, more than {MOST_FEATURES}; give features of "
                f'fewer variables, or features="concatenated"'
            )

    @cached_property
    def _values(self) -> list[NDArray[Any]]:
        """Per variable: its categories as an array; of objects where they are of several types."""
        out = []
        for values in self.categories:
            array = np.empty(len(values), dtype=object)
            array[:] = values
            alike = {type(value) for value in values} in ({str}, {int}, {float}, {bool})
            out.append(np.array(values) if alike else array)
        return out


def _named_arrays(
    features: Mapping[Any, Any],
    names: Sequence[Hashable],
    categories: Sequence[tuple[Any, ...]],
    indicators: Sequence[Array],
) -> list[Array]:
    """An array for each variable: the one given by its name, or indicators."""
    place = {str(name): number for number, name in enumerate(names)}
    arrays = list(indicators)
    for name, array in features.items():
        if str(name) not in place:
            raise ArgumentError(
                f"features name {name!r}, which is no variable{did_you_mean(name, names)} "
                f"The variables are {_listed(names)}"
            )
        number = place[str(name)]
        whose = f"features[{name!r}]"
        arrays[number] = _checked_array(array, whose, names[number], categories[number])
    return arrays


def _checked_array(given: Any, whose: str, name: Hashable, categories: tuple[Any, ...]) -> Array:
    try:
        array = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ArgumentTypeError(f"{whose} is no array of numbers; give {_FORMS}") from error
    if array.ndim != 2 or len(array) != len(categories) or not array.shape[1]:
        raise ArgumentError(
            f"{whose} has the shape {array.shape}, but {name!r} has {len(categories)} categories; give an "
            f"array (category, feature) with a row for each of {_listed(categories)}"
        )
    if not _is_moderate(array):
        raise ArgumentError(f"{whose} holds a number that is not finite, or beyond {LARGEST:g}")
    return array


def _is_moderate(array: Array) -> bool:
    """Whether products of the numbers are finite."""
    return bool((np.abs(array) <= LARGEST).all())


def _listed(values: Sequence[Any], most: int = 6) -> str:
    """Some values for a message."""
    shown = ", ".join(repr(value) for value in list(values)[:most])
    return f"[{shown}, ...]" if len(values) > most else f"[{shown}]"
