"""Questions about columns of numbers, as they come in at the doors of all models that have some."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.errors import ArgumentError

if TYPE_CHECKING:
    from tacit.core.input.mixed_table import MixedSchema

Array = NDArray[np.float64]


def categories_by_name(schema: MixedSchema) -> dict[str, tuple[Any, ...]]:
    """The categories of each column that has any."""
    columns = (schema.columns[place] for place in schema.categorical)
    return {column.name: column.categories for column in columns}


def number_place(schema: MixedSchema, target: Any) -> int:
    """The place of a column of numbers that is asked for; an `ArgumentError` where it is none."""
    if target not in schema and not isinstance(target, str) and isinstance(target, Iterable | None):
        raise ArgumentError(f"target={target!r}; name one column of numbers")
    place = schema.index(target)
    if place not in schema.continuous:
        raise ArgumentError(
            f"column {target!r} holds categories; predict_proba tells their probabilities"
        )
    return place


def category_place(schema: MixedSchema, name: Hashable) -> int:
    """The place of a column of categories that is asked for; an `ArgumentError` where it is none."""
    place = schema.index(name)
    if place in schema.continuous:
        raise ArgumentError(
            f"column {name!r} holds numbers; conditional_density, expectation and quantiles tell of them"
        )
    return place


def checked_grid(grid: ArrayLike) -> Array:
    """(place,) the numbers at which a density is wanted."""
    places = _numbers("grid", grid)
    if places.ndim != 1 or not np.isfinite(places).all():
        raise ArgumentError(f"grid of shape {places.shape}; give a list of finite numbers")
    return places


def checked_shares(q: ArrayLike, *, ends: bool = True) -> Array:
    """() or (share,) the shares whose quantiles are wanted.

    Parameters
    ----------
    q : number or (share,) numbers
    ends : bool
        Whether 0 and 1 have quantiles: those of a Gaussian are infinite.
    """
    shares = _numbers("q", q)
    if shares.ndim > 1:
        raise ArgumentError(f"q has shape {shares.shape}; give a number, or a list of numbers")
    inside = (shares >= 0) & (shares <= 1) if ends else (shares > 0) & (shares < 1)
    if not inside.all():
        wanted = "shares from 0 to 1" if ends else "shares between 0 and 1, both excluded"
        raise ArgumentError(f"q={q!r}; give {wanted}")
    return shares


def _numbers(name: str, values: ArrayLike) -> Array:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"{name} must be numbers: {error}") from error
