"""Euclidean projection onto the probability simplex."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def nearest_distributions(rows: Array) -> Array:
    """For each row the nearest vector, in Euclidean distance, that is not negative and sums to one.

    Rows with an entry that is not finite become uniform.

    Examples
    --------
    >>> nearest_distributions(np.array([[0.5, 0.7], [1.2, -0.1], [0.25, 0.75]]))
    array([[0.4 , 0.6 ], [1.  , 0.  ], [0.25, 0.75]])
    """
    n_columns = rows.shape[-1]
    finite = np.isfinite(rows).all(axis=-1, keepdims=True)
    rows = np.where(finite, rows, 0.0)
    descending = -np.sort(-rows, axis=-1)
    excess = (np.cumsum(descending, axis=-1) - 1) / np.arange(1, n_columns + 1)
    n_positive = (descending > excess).sum(axis=-1, keepdims=True)
    shift = np.take_along_axis(excess, n_positive - 1, axis=-1)
    positive = np.maximum(rows - shift, 0.0)
    return np.asarray(positive / positive.sum(axis=-1, keepdims=True))
