"""Arguments of queries about columns of numbers, checked."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.core.limits import shown
from tacit.errors import ArgumentError

if TYPE_CHECKING:
    from tacit.core.input.mixed_table import MixedSchema

Array = NDArray[np.float64]

# Of the quantiles that `query` gives of a column of numbers.
QUERY_LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
_LEAST_SHOWN = 0.005  # of the probability of an atom


def number_place(schema: MixedSchema, target: Any) -> int:
    """The place of a target column of numbers; an `ArgumentError` where it is something else."""
    if target not in schema and not isinstance(target, str) and isinstance(target, Iterable | None):
        raise ArgumentError(f"target={shown(target)}; name one column of numbers")
    place = schema.index(target)
    if place not in schema.continuous:
        raise ArgumentError(f"column {target!r} holds categories; use predict_proba")
    return place


def category_place(schema: MixedSchema, name: Hashable) -> int:
    """The place of a target column of categories; an `ArgumentError` where it is something else."""
    place = schema.index(name)
    if place in schema.continuous:
        raise ArgumentError(
            f"column {name!r} holds numbers; use conditional_density, expectation or quantiles"
        )
    return place


def checked_grid(grid: ArrayLike) -> Array:
    """(place,) the numbers at which to compute a density."""
    places = _numbers("grid", grid)
    if places.ndim != 1 or not np.isfinite(places).all():
        raise ArgumentError(f"grid of shape {places.shape}; give a list of finite numbers")
    return places


def checked_points(target: Hashable, grid: Any, n_columns: int) -> Array:
    """(point, column) the points at which to compute the density of a group."""
    if grid is None:
        raise ArgumentError(f"group {target!r} needs a grid of (point, {n_columns}) numbers")
    points = _numbers("grid", grid)
    if points.ndim != 2 or points.shape[1] != n_columns or not np.isfinite(points).all():
        raise ArgumentError(
            f"grid of shape {points.shape} for group {target!r}; give (point, {n_columns}) finite numbers"
        )
    return points


def checked_levels(q: ArrayLike, *, ends: bool = True) -> Array:
    """() or (level,) the levels of quantiles.

    Parameters
    ----------
    q : number or (level,) numbers
    ends : bool
        Whether 0 and 1 are allowed: those quantiles of a Gaussian are infinite.
    """
    levels = _numbers("q", q)
    if levels.ndim > 1:
        raise ArgumentError(f"q has shape {levels.shape}; give a number, or a list of numbers")
    inside = (levels >= 0) & (levels <= 1) if ends else (levels > 0) & (levels < 1)
    if not inside.all():
        allowed = "from 0 to 1" if ends else "between 0 and 1, both excluded"
        raise ArgumentError(f"q={q!r}; give levels {allowed}")
    return levels


def number_summary(mean: float, quantiles: Sequence[float]) -> dict[Any, float]:
    """The answer of `query` about a number: its mean and its quantiles at `QUERY_LEVELS`."""
    names = [f"{level:.0%}" for level in QUERY_LEVELS]
    return {"mean": mean, **dict(zip(names, quantiles, strict=True))}


def atom_summary(atoms: Sequence[float], masses: Sequence[float]) -> dict[Any, float]:
    """What `query` says of the atoms of a number: the probabilities of those that have a noticeable one.

    Examples
    --------
    >>> atom_summary([0.0, 99.0], [0.25, 1e-5])
    {'= 0': 0.25}
    """
    return {
        f"= {atom:.12g}": mass
        for atom, mass in zip(atoms, masses, strict=True)
        if mass >= _LEAST_SHOWN
    }


def _numbers(name: str, values: ArrayLike) -> Array:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ArgumentError(f"{name} must be numbers: {error}") from error
