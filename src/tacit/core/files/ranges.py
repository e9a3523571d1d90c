"""What may stand in the arrays of a model file.

A range is a function of an array and the sizes known so far that says what is wrong, or None. No check adds
or subtracts integers of the file: an index is compared with a size, and a start with the size less a length,
so that the largest int64 does not wrap around.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Sizes = Mapping[str, Any]
Range = Callable[[NDArray[Any], Sizes], str | None]

_SUM = 1e-6  # how far from one probabilities may sum
_LARGEST = 1e100  # products of three such numbers are still finite


def finite(array: NDArray[Any], _: Sizes) -> str | None:
    """No infinities, no NaN."""
    fits = array.dtype.kind != "f" or np.isfinite(array).all()
    return None if fits else "holds infinities or NaN"


def no_infinities(array: NDArray[Any], _: Sizes) -> str | None:
    """No infinities; NaN stands for what is missing."""
    return "holds infinities" if np.isinf(array).any() else None


def moderate(array: NDArray[Any], _: Sizes) -> str | None:
    """Numbers of which a few can be multiplied."""
    return None if _between(array, -_LARGEST, _LARGEST) else f"exceeds {_LARGEST:g}"


def logarithms(array: NDArray[Any], _: Sizes) -> str | None:
    """Numbers whose exponentials are finite; minus infinity is one of them."""
    return None if _between(array, -np.inf, 700) else "holds no logarithms"


def within(low: float, high: float) -> Range:
    """Numbers from low to high, both included.

    Examples
    --------
    >>> within(0, 1)(np.array([0.5, 2.0]), {})
    'is not between 0 and 1'
    """

    def check(array: NDArray[Any], _: Sizes) -> str | None:
        return None if _between(array, low, high) else f"is not between {low} and {high}"

    return check


def not_negative(array: NDArray[Any], _: Sizes) -> str | None:
    """Numbers from zero on."""
    return None if _between(array, 0, np.inf) else "is negative"


def positive(array: NDArray[Any], _: Sizes) -> str | None:
    """Numbers above zero by which a few others can be divided."""
    return None if _between(array, 1 / _LARGEST, np.inf) else "is not positive"


def probabilities(array: NDArray[Any], _: Sizes) -> str | None:
    """Numbers that are not negative and sum to one along the last axis."""
    if not _between(array, 0, 1 + _SUM):
        return "holds numbers that are no probabilities"
    if (np.abs(array.sum(axis=-1) - 1) > _SUM).any():
        return "holds probabilities that do not sum to one"
    return None


def covariances(array: NDArray[Any], sizes: Sizes) -> str | None:
    """Symmetric positive definite matrices in the last two axes."""
    if wrong := moderate(array, sizes):
        return wrong
    diagonal = np.diagonal(array, axis1=-2, axis2=-1)
    if positive(diagonal, sizes):
        return "has variances that are not positive"
    deviations = np.sqrt(diagonal)
    apart = (
        np.abs(array - np.swapaxes(array, -1, -2))
        / deviations[..., None]
        / deviations[..., None, :]
    )
    if (apart > 1e-9).any():
        return "is not symmetric"
    try:
        factors = np.linalg.cholesky(array)
    except np.linalg.LinAlgError:
        return "is not positive definite"
    return positive(np.diagonal(factors, axis1=-2, axis2=-1), sizes)


def below(size: str, least: int = 0) -> Range:
    """Indices from `least` to one below a named size.

    Examples
    --------
    >>> below("word")(np.array([0, 2**63 - 1]), {"word": 3})
    'holds an index outside of 0 to 2'
    """

    def check(array: NDArray[Any], sizes: Sizes) -> str | None:
        last = sizes[size] - 1
        fits = _between(array, least, last)
        return None if fits else f"holds an index outside of {least} to {last}"

    return check


def offsets(size: str) -> Range:
    """Where parts begin that stand one after another: zero first, never falling, a named size at the end."""

    def check(array: NDArray[Any], sizes: Sizes) -> str | None:
        if array[0] != 0 or array[-1] != sizes[size]:
            return f"does not run from 0 to {sizes[size]}"
        return rising(array, sizes)

    return check


def places(size: str) -> Range:
    """Places from 0 to a named size, that included, never falling; the last one is the end."""

    def check(array: NDArray[Any], sizes: Sizes) -> str | None:
        if not _between(array, 0, sizes[size]) or array[-1] != sizes[size]:
            return f"does not end at {sizes[size]}"
        return rising(array, sizes)

    return check


def rising(array: NDArray[Any], _: Sizes) -> str | None:
    """Numbers in order, some perhaps equal, along the last axis."""
    return None if (array[..., 1:] >= array[..., :-1]).all() else "falls"


def ascending(array: NDArray[Any], _: Sizes) -> str | None:
    """Numbers in order, no two equal, along the last axis."""
    return None if (array[..., 1:] > array[..., :-1]).all() else "does not ascend"


def parts_within(starts: NDArray[Any], lengths: NDArray[Any], size: int) -> bool:
    """Whether parts of an array of some size lie within it; a start of -1 is no part.

    Examples
    --------
    >>> parts_within(np.array([2**63 - 4]), np.array([8]), 10)
    False
    """
    if not _between(lengths, 0, size) or not _between(starts, -1, size):
        return False
    return bool((starts <= size - lengths)[starts >= 0].all())


def _between(array: NDArray[Any], low: float, high: float) -> bool:
    """Whether all numbers are between two others; NaN is not."""
    # Python's numbers, since limits may be beyond those of single precision
    return array.size == 0 or bool(array.min().item() >= low and array.max().item() <= high)
