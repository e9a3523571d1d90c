"""Sequences of numbers at the doors of estimators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.data.series import Series, read_series
from tacit.errors import ArgumentTypeError, DataError


def read_sequences(X: Any, names: Sequence[str] | None = None) -> Series:
    """Sequences from whatever holds them, see `read_series`.

    What scikit-learn has errors for is refused in its words, by which other programs know them.

    Parameters
    ----------
    X : list of sequences, one sequence, (values, lengths), or frame
    names : sequence of str, optional
        The columns that a model was fitted with.

    Raises
    ------
    DataError
        There is nothing, something is not a number or infinite, or the columns are other ones.
    ArgumentTypeError
        Something is neither a number nor text.
    """
    if isinstance(X, np.ndarray):
        _check_array(X)
    series = read_series(X)
    if names is None:
        return series
    if series.n_columns != len(names):
        raise DataError(
            f"X has {series.n_columns} features, but Tacit is expecting {len(names)} features as input: "
            f"the model was fitted with {list(names)}"
        )
    return read_series(series, names)


def _check_array(X: NDArray[Any]) -> None:
    if X.dtype.kind == "c":
        raise DataError("Complex data not supported; pass real and imaginary parts as columns")
    if X.ndim == 2 and X.shape[1] == 0:
        raise DataError(
            f"Found array with 0 feature(s) (shape={X.shape}) while a minimum of 1 is required."
        )
    if X.dtype.kind == "O":
        try:
            X.astype(np.float64)
        except TypeError as error:
            raise ArgumentTypeError(f"the sequence does not hold numbers alone: {error}") from error
        except ValueError:
            pass  # `read_series` says what is wrong
