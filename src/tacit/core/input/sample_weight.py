"""Checks of sample weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.magnitudes import LARGEST
from tacit.errors import DataError

# Sums of squares of weights in this range, over any number of rows, are finite and not zero.
_LEAST, _MOST = 1e-100, LARGEST


def as_weights(sample_weight: Any) -> NDArray[np.float64] | None:
    """Weights as a new array of floats, not checked; None stays None."""
    if sample_weight is None:
        return None
    try:
        weights = np.array(sample_weight, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(f"sample weights must be numbers: {error}") from error
    if weights.ndim != 1:
        raise DataError(f"sample weights must be one number for each row, not {weights.ndim}D")
    return weights


def checked_weights(sample_weight: Any, n_rows: int) -> NDArray[np.float64] | None:
    """Weights as an array of floats, one per row; None stays None.

    Parameters
    ----------
    sample_weight : sequence of numbers, or None
        Zero, or between 1e-100 and 1e100, and not all zero. A row of weight zero is as if it were not there.
    n_rows : int
        How many are wanted.

    Raises
    ------
    DataError
        Where a weight is not a number, negative, infinite, or out of the range, there are too few or too
        many, or all are zero.
    """
    weights = as_weights(sample_weight)
    if weights is None:
        return None
    if weights.shape != (n_rows,):
        raise DataError(
            f"sample weights must have shape ({n_rows},), one for each row, not {weights.shape}"
        )
    if not np.isfinite(weights).all():
        row = int(np.flatnonzero(~np.isfinite(weights))[0])
        raise DataError(f"sample weights must be finite, but that of row {row} is {weights[row]}")
    if (weights < 0).any():
        row = int(np.flatnonzero(weights < 0)[0])
        raise DataError(
            f"sample weights must not be negative, but that of row {row} is {weights[row]}"
        )
    if n_rows and not weights.any():
        raise DataError("all sample weights are zero, so no row counts; give some row a weight")
    outside = (weights != 0) & ((weights < _LEAST) | (weights > _MOST))
    if outside.any():
        row = int(np.flatnonzero(outside)[0])
        raise DataError(
            f"sample weights must be zero or between {_LEAST} and {_MOST}, but that of row {row} is "
            f"{weights[row]}; multiply all of them by one factor"
        )
    return weights
