"""How large and how small numbers may be: sums of their squares are finite and do not vanish."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.limits import shown
from tacit.errors import DataError

Floats = NDArray[np.float64]

LARGEST = 1e100  # the absolute value of a number
LEAST_SCALE = 1e-50  # the largest absolute value of a column to learn from, unless all are zero


def check_magnitude(number: float, place: str) -> None:
    """Raise a `DataError` for a number that is too large.

    Parameters
    ----------
    number : float or int
        Infinities are left to others, who know what to say of them.
    place : str
        Where it stands, such as ``"column 'x'"``.

    Examples
    --------
    >>> check_magnitude(10**400, "column 'x'")
    Traceback (most recent call last):
        ...
    tacit.errors.DataError: column 'x' holds an integer of 1329 bits; numbers may be at most 1e+100 ...
    """
    if LARGEST < abs(number) != float("inf"):
        raise DataError(
            f"{place} holds {shown(number)}; numbers may be at most {LARGEST:g} in absolute value, so that "
            f"their squares are finite: divide all by one factor, or take logarithms"
        )


def check_magnitudes(numbers: NDArray[Any], place: str) -> None:
    """Raise a `DataError` where some number is too large; NaN is missing."""
    largest = largest_of(numbers)
    if largest > LARGEST:
        check_magnitude(numbers[np.abs(numbers) == largest][0].item(), place)


def check_scale(largest: float, place: str) -> None:
    """Raise a `DataError` where all numbers to learn from are so small that their squares vanish.

    Parameters
    ----------
    largest : float
        The largest absolute value; at zero there is no scale.
    place : str
        Where the numbers stand.
    """
    if 0 < largest < LEAST_SCALE:
        raise DataError(
            f"{place} holds no number larger than {largest:g} in absolute value; the largest must be "
            f"at least {LEAST_SCALE:g}, so that squares do not vanish: multiply all by one factor"
        )


def largest_of(numbers: NDArray[Any]) -> float:
    """The largest absolute value; zero where there is no number."""
    absolute = np.abs(numbers)
    # Several times as fast as fmax, but NaN where one is.
    largest = float(np.max(absolute, initial=0.0))
    if np.isnan(largest):
        return float(np.fmax.reduce(absolute, axis=None, initial=0.0))
    return largest
