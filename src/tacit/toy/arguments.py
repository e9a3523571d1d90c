"""Checks of the arguments of toy models, and how large these may be."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.arguments import check_count, check_number, check_rows
from tacit.core.limits import shown
from tacit.errors import ArgumentError, ArgumentTypeError, TooExpensiveError

MOST_CELLS = 10**7  # of the tables of a model, or of a joint table
MOST_NODES = 10**5  # of a graph, and leaves of a tree
MOST_DRAWN = 10**9  # codes that are drawn at once
MOST_AXES = 32  # of a table

TABLES = "tables of a tree, such as those of random_tree_model"


def check_size(things: str, number: float, most: int) -> None:
    """Raise a `TooExpensiveError` where there would be more of something than a toy model has."""
    if number > most:
        raise TooExpensiveError(
            f"{shown(number)} {things} are too many, at most {most} are made; give smaller numbers"
        )


def check_samples(n_samples: Any, n_codes: float) -> None:
    """Raise an error unless it is a number of samples, of so many codes each, that can be drawn."""
    check_rows("n_samples", n_samples)
    check_size("codes to draw", n_samples * (n_codes + 1), MOST_DRAWN)


def check_strings(n_symbols: int, length: Any, longest: int, n_states: int = 1) -> None:
    """Raise an error where there are too many strings of a length, or its axes are too many."""
    check_rows("length", length)
    # More than 24 positions are too many for two symbols.
    if length > longest or n_symbols ** min(length, 24) * n_states > MOST_CELLS:
        raise TooExpensiveError(
            f"a table of all {n_symbols}^{length} strings is too large; give a shorter length"
        )


def check_probability(name: str, value: Any) -> None:
    """Raise an `ArgumentError` unless a value is a number between 0 and 1."""
    check_number(name, value)
    if value > 1:
        raise ArgumentError(f"{name}={shown(value)}; give a probability between 0 and 1")


def numbers_of(name: str, value: Any, n: int) -> list[int]:
    """Positive integers for n things, from one for all of them or from one for each."""
    if not np.iterable(value) or isinstance(value, str | bytes):
        value = [value] * n
    numbers = list(value)
    for number in numbers:
        check_count(name, number)
    if len(numbers) != n:
        raise ArgumentError(
            f"{name} has {len(numbers)} numbers; give one for all, or {n}, one for each"
        )
    return [int(number) for number in numbers]


def names_of(name: str, value: Any) -> tuple[str, ...]:
    """Names from any collection of them."""
    names = tuple(value) if np.iterable(value) else (None,)
    if not all(isinstance(text, str) for text in names):
        raise ArgumentTypeError(f"{name}={shown(value)}; give a list of names, which are texts")
    return names


def checked_codes(codes: Any, cards: Sequence[int]) -> NDArray[np.integer]:
    """Rows of codes, once each is -1 or that of a category of its column."""
    try:
        array = np.asarray(codes)
    except ValueError as error:
        raise ArgumentTypeError(f"codes={shown(codes)}; give an array (row, variable)") from error
    if array.ndim != 2 or array.shape[1] != len(cards) or array.dtype.kind not in "iu":
        raise ArgumentError(
            f"codes={shown(codes)}; give integers (row, variable) for {len(cards)} variables"
        )
    if (array < -1).any() or (array >= np.array(cards)).any():
        raise ArgumentError(
            f"codes has a number that is no category; give 0 to {max(cards) - 1}, as far as the "
            f"variable has so many categories, or -1 where it is missing"
        )
    return array


def is_index(value: Any, n: int) -> bool:
    """Whether a value is the number of one of n things."""
    return isinstance(value, Integral) and not isinstance(value, bool) and 0 <= int(value) < n
