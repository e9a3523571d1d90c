"""Sequences of numbers, one after the other in one array."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.input.columns import positional_names
from tacit.core.magnitudes import LARGEST, check_magnitude, check_scale, largest_of
from tacit.errors import ArgumentTypeError, DataError
from tacit.sequences.data.sequences import sum_of_lengths

Array = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Series:
    """Sequences of numbers, or of rows of numbers.

    Examples
    --------
    >>> read_series([[0.5, 1.5], [2.0, None, 3.0]]).lengths
    array([2, 3])
    """

    values: Array  # (position, column)  of all sequences in turn; NaN where a number is missing
    lengths: Integers  # (sequence,)
    names: tuple[str, ...]  # of the columns
    single: bool = False  # whether the input was one sequence, not a list of them
    joined: bool = (
        False  # whether the input was one array with lengths: results are then one array too
    )

    @property
    def n_columns(self) -> int:
        """Numbers at each position."""
        return int(self.values.shape[1])

    @cached_property
    def ends(self) -> Integers:
        """(sequence + 1,) where each sequence starts, and where the last one ends."""
        return np.concatenate([[0], np.cumsum(self.lengths)]).astype(np.int64)

    @property
    def positions(self) -> Array:
        """The observations, position by position."""
        return self.values

    @property
    def symbols(self) -> tuple[Any, ...]:
        """Empty: these are numbers."""
        return ()

    def pieces(self, places: Integers, lengths: Integers) -> Series:
        """Sequences made of some of the positions."""
        values = self.values[places]
        return replace(self, values=values, lengths=lengths, single=False, joined=False)

    def split(self, values: NDArray[Any]) -> list[NDArray[Any]] | NDArray[Any]:
        """Splits an array over all positions by sequence, unless the input was one array."""
        if self.single or self.joined:
            return values
        return [values[first:stop] for first, stop in pairwise(self.ends)]

    @property
    def n_positions(self) -> int:
        """Positions of all sequences together."""
        return len(self.values)

    def cut(self, length: int, most: int) -> Series:
        """At most about `most` positions: pieces of at most `length`, evenly spaced.

        Returned unchanged where there are not more.
        """
        if self.n_positions <= most:
            return self
        pieces = [
            (first, min(first + length, stop))
            for start, stop in pairwise(self.ends.tolist())
            for first in range(start, stop, length)
        ]
        n_pieces = max(most * len(pieces) // self.n_positions, 1)
        indices = np.linspace(0, len(pieces) - 1, n_pieces).round().astype(np.int64)
        taken = [pieces[place] for place in np.unique(indices)]
        values = np.concatenate([self.values[first:stop] for first, stop in taken])
        lengths = np.array([stop - first for first, stop in taken], dtype=np.int64)
        return replace(self, values=values, lengths=lengths, single=False, joined=False)


def read_series(X: Any, names: Sequence[str] | None = None, lengths: Any = None) -> Series:
    """Sequences of numbers from any supported input.

    Parameters
    ----------
    X : list of sequences, one sequence, (values, lengths), or frame
        A list holds a sequence in each entry: numbers, or rows of numbers (time, column). A single array of
        numbers is one sequence; one with two axes, or a frame, is one sequence of rows. A tuple of an array
        and of integers holds all sequences one after the other, and their lengths. None and NaN are missing.
    names : sequence of str, optional
        The expected columns.
    lengths : (sequence,) integers, optional
        Lengths of the sequences if X is one array of them.

    Raises
    ------
    DataError
        The input is empty, not numeric or infinite, or has other columns. Messages are those of
        scikit-learn where it has one.
    ArgumentTypeError
        A value is neither a number nor text.
    """
    if isinstance(X, np.ndarray):
        _check_array(X)
    if isinstance(X, Series):
        series = X
    elif lengths is not None:
        series = _with_lengths(X, lengths)
    elif _has_lengths(X):
        series = _with_lengths(*X)
    elif isinstance(X, list | tuple) and any(_is_nested(sequence) for sequence in X):
        series = _joined([_rows(sequence, number) for number, sequence in enumerate(X)])
    else:
        values, columns = _rows(X, None)
        series = Series(values, np.array([len(values)], dtype=np.int64), columns, single=True)
    if np.isinf(series.values).any():
        raise DataError("a sequence holds infinite numbers; give NaN where a number is missing")
    _check_magnitudes(series)
    if names is not None and series.n_columns != len(names):
        raise DataError(
            f"X has {series.n_columns} features, but Tacit is expecting {len(names)} features as input: "
            f"the model was fitted with the columns {list(names)}"
        )
    if names is not None and _differ_in_names(series.names, tuple(names)):
        raise DataError(
            f"the sequences have the columns {list(series.names)}, but the model was fitted with "
            f"{list(names)}"
        )
    return series


def _check_magnitudes(series: Series) -> None:
    """Raise a `DataError` that says where a number is too large."""
    if largest_of(series.values) <= LARGEST:
        return
    position, column = np.argwhere(np.abs(series.values) > LARGEST)[0].tolist()
    sequence = int(np.searchsorted(series.ends, position, side="right")) - 1
    place = f"position {position - series.ends[sequence]} of sequence {sequence}"
    if series.n_columns > 1:
        place += f", column {series.names[column]!r},"
    check_magnitude(series.values[position, column].item(), place)


def centre_and_spread(values: Array) -> tuple[Array, Array]:
    """(column,) means and standard deviations of the numbers that are there.

    The deviation of a constant column is zero, whatever rounding makes of it; so are both where nothing is
    observed.

    Examples
    --------
    >>> centre, spread = centre_and_spread(np.array([[0.1, np.nan], [0.1, np.nan], [0.1, np.nan]]))
    >>> centre.tolist(), spread.tolist()
    ([0.1, 0.0], [0.0, 0.0])
    """
    low: Array = np.fmin.reduce(values, axis=0)
    high: Array = np.fmax.reduce(values, axis=0)
    if np.isnan(low).any():
        low, high = np.nan_to_num(low), np.nan_to_num(high)
        values = np.where(np.isnan(values).all(axis=0), 0.0, values)
    is_constant = low == high
    centre: Array = np.where(is_constant, low, np.nanmean(values, axis=0))
    spread: Array = np.where(is_constant, 0.0, np.nanstd(values, axis=0))
    return centre, spread


def check_observed(series: Series) -> None:
    """Raise a `DataError` where some column holds no number."""
    if series.n_positions == 0 or np.isnan(series.values).all():
        raise DataError("there is not a single number to learn from; give longer sequences")
    for name, column in zip(series.names, series.values.T, strict=True):
        if np.isnan(column).all():
            raise DataError(f"column {name!r} holds no number at all; leave it out")


def check_learnable(series: Series) -> None:
    """Raise a `DataError` where nothing can be learnt of some column: no numbers, or far too small ones."""
    check_observed(series)
    for name, column in zip(series.names, series.values.T, strict=True):
        check_scale(largest_of(column), f"column {name!r}")


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
        except (ValueError, OverflowError):
            pass  # reported when the values are read


def _differ_in_names(columns: tuple[str, ...], names: tuple[str, ...]) -> bool:
    """Whether both have explicit names, and these differ."""
    positional = positional_names(len(columns))
    return columns not in (names, positional) and names != positional


def _has_lengths(X: Any) -> bool:
    """Whether this is a tuple (values, lengths); each entry of a list is a sequence."""
    if not (isinstance(X, tuple) and len(X) == 2) or not _is_nested(X[0]):
        return False
    lengths = X[1]
    if isinstance(lengths, np.ndarray):
        return lengths.ndim == 1 and lengths.dtype.kind in "iu"
    return isinstance(lengths, list | tuple) and all(
        isinstance(length, int | np.integer) and not isinstance(length, bool) for length in lengths
    )


def _is_nested(value: Any) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, str | bytes)


def _with_lengths(values: Any, lengths: Any) -> Series:
    rows, names = _rows(values, None)
    return Series(rows, checked_lengths(lengths, len(rows)), names, joined=True)


def checked_lengths(lengths: Any, n_positions: int) -> Integers:
    """(sequence,) lengths that sum to so many positions; else a `DataError`."""
    try:
        counts = np.asarray(lengths)
    except ValueError:  # lists of unequal lengths
        counts = np.empty((0, 0))
    if counts.ndim != 1 or (counts.size and counts.dtype.kind not in "iu"):
        raise DataError(
            "lengths hold something else than integers; give the length of each sequence"
        )
    total = sum_of_lengths(counts)
    if (counts < 0).any() or total != n_positions:
        raise DataError(
            f"lengths sum to {total} (least: {int(counts.min(initial=0))}), but there are "
            f"{n_positions} positions; give lengths that sum to them, or a list of sequences"
        )
    return counts.astype(np.int64)


def _joined(parts: list[tuple[Array, tuple[str, ...]]]) -> Series:
    sized = [part for part in parts if len(part[0])] or parts[:1]
    width, names = sized[0][0].shape[1], sized[0][1]
    for number, (values, _) in enumerate(parts):
        if len(values) and values.shape[1] != width:
            raise DataError(
                f"sequence {number} has {values.shape[1]} numbers at each position, others have {width}"
            )
    nonempty = [values for values, _ in parts if len(values)]
    together = np.concatenate(nonempty) if nonempty else np.empty((0, width))
    return Series(together, np.array([len(values) for values, _ in parts], dtype=np.int64), names)


def _rows(values: Any, number: int | None) -> tuple[Array, tuple[str, ...]]:
    """One sequence as (time, column) numbers, and the names of its columns."""
    subject = "the sequence" if number is None else f"sequence {number}"
    if isinstance(values, str | bytes) or not hasattr(values, "__iter__"):
        raise ArgumentTypeError(
            f"{subject} is a {type(values).__name__}; give an array of numbers, a list of such arrays, or "
            f"(values, lengths)"
        )
    if hasattr(values, "nnz") or getattr(values, "dtype", None) == np.complex128:
        kind = "sparse" if hasattr(values, "nnz") else "complex"
        raise DataError(f"{subject} is {kind}; sparse input and complex data not supported")
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(f"{subject} does not hold numbers alone: {error}") from error
    if array.ndim not in (1, 2) or (array.ndim == 2 and array.shape[1] == 0):
        raise DataError(
            f"{subject} has shape {array.shape}; give (time,) numbers, or (time, column) rows of them"
        )
    rows = array[:, None] if array.ndim == 1 else array
    columns = getattr(values, "columns", None)
    names = positional_names(rows.shape[1])
    if array.ndim == 2 and columns is not None and len(columns) == rows.shape[1]:
        names = tuple(str(name) for name in columns)
    return rows, names


def holds_numbers(X: Any) -> bool:
    """Whether sequences are of numbers: arrays of floats, or lists of numbers with floats among them.

    Integers, text and anything else are symbols; files, and frames with a row for each symbol, hold symbols.
    """
    if isinstance(X, Series):
        return True
    if isinstance(X, tuple) and _has_lengths(X):
        X = X[0]
    if isinstance(X, list | tuple):
        return _float_among(X)
    if isinstance(X, np.ndarray) and X.dtype.kind == "O":
        return _float_among(X.ravel().tolist())
    if isinstance(X, np.ndarray):
        return bool(X.dtype.kind == "f")
    if isinstance(X, str | bytes) or not hasattr(X, "__array__"):
        return False
    if "symbol" in getattr(X, "columns", getattr(X, "column_names", ())):
        return False
    try:
        return np.asarray(X).dtype.kind == "f"
    except (TypeError, ValueError):
        return False


def _float_among(values: Any) -> bool:
    """Whether there is a float, and all other values are numbers or missing."""
    has_float = False
    for value in values:
        if value is None or isinstance(value, int | np.integer):
            continue
        if isinstance(value, float | np.floating):
            has_float = has_float or value == value  # noqa: PLR0124  NaN is missing, among integers too
        elif isinstance(value, np.ndarray) or _is_nested(value):
            numbers = holds_numbers(value)
            has_float = has_float or numbers
            if not numbers and not _is_empty_or_integral(value):
                return False
        else:
            return False
    return has_float


def _is_empty_or_integral(values: Any) -> bool:
    """Whether all values of a sequence are integers or missing."""
    if isinstance(values, np.ndarray):
        return values.dtype.kind in "iub" or not values.size
    return all(
        value is None or isinstance(value, int | np.integer) or value != value  # noqa: PLR0124
        for value in values
    )


def folds(n_positions: int, n_folds: int, block: int) -> Iterator[NDArray[np.bool_]]:
    """Held-out positions of each fold: blocks assigned to the folds in turn.

    Parameters
    ----------
    n_positions, n_folds : int
    block : int
        Length of a block.
    """
    fold_of = (np.arange(n_positions) // block) % n_folds
    for fold in range(n_folds):
        yield fold_of == fold
