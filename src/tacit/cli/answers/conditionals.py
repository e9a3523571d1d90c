"""What a model of numbers says of one column, given what is known of others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)
_LEVELS = 999  # quantiles by which distributions are mixed
_TAIL = 0.005  # what lies farther out is not in the picture


@dataclass(frozen=True, eq=False)
class Answer:
    """What is known of a number."""

    mean: float
    quantiles: dict[float, float]  # by share
    grid: Array  # (place,)
    density: Array  # (place,)


def number_answer(
    fitted: Any,
    target: str,
    known: Mapping[str, Sequence[Any]],
    shares: Sequence[float],
    *,
    n_places: int | None = None,
) -> Answer:
    """Mean, quantiles and density of a column of numbers.

    Parameters
    ----------
    fitted : KernelTree or GaussianTree
    target : str
    known : mapping of column to values
        Where there are several, the cell has one of these.
    shares : sequence of float
        Of the quantiles.
    n_places : int, optional
        Places of the density, even over all but the tails; without it, the model's own.
    """
    import numpy as np

    rows = rows_of_given(known)
    table = columns_of(rows, target)
    weights = _weights(fitted, rows)
    quantiles = _quantiles(fitted, table, target, weights, [*shares, _TAIL, 1 - _TAIL])
    low, high = quantiles[-2:].tolist()
    grid = None if n_places is None else np.linspace(low, high, n_places)
    places, densities = fitted.conditional_density(table, target, grid)
    return Answer(
        mean=float(weights @ fitted.expectation(table, target)),
        quantiles=dict(zip(shares, quantiles.tolist(), strict=False)),
        grid=places,
        density=weights @ densities,
    )


def category_answer(fitted: Any, target: Sequence[str], known: Mapping[str, Sequence[Any]]) -> Any:
    """The probabilities of columns of categories together, by tuples of them."""
    from tacit.errors import NotAvailableError

    if hasattr(fitted, "query"):
        given = {name: each[0] if len(each) == 1 else set(each) for name, each in known.items()}
        return fitted.query(target, given=given)
    if len(target) > 1:
        raise NotAvailableError(
            f"{type(fitted).__name__} tells the probabilities of one column at a time; ask for "
            f"{target[0]!r} alone, or fit a kernel-tree"
        )
    rows = rows_of_given(known)
    chances = fitted.predict_proba(columns_of(rows, target[0]), target=target[0])
    shares = (_weights(fitted, rows) @ chances).tolist()
    categories = fitted.categories_[target[0]]
    return {(value,): share for value, share in zip(categories, shares, strict=True)}


def rows_of_given(known: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """A row for every combination of values that are given."""
    return [dict(zip(known, values, strict=True)) for values in product(*known.values())]


def columns_of(rows: Sequence[Mapping[str, Any]], target: str) -> dict[str, list[Any]]:
    """The rows as a table, in which the target is missing."""
    return {**{name: [row[name] for row in rows] for name in rows[0]}, target: [None] * len(rows)}


def _weights(fitted: Any, rows: Sequence[Mapping[str, Any]]) -> Array:
    """(row,) how probable each row is among them."""
    import numpy as np

    if len(rows) == 1:
        return np.ones(1)
    logs = fitted.score_samples({name: [row[name] for row in rows] for name in rows[0]})
    found = np.exp(logs - logs.max())
    weights: Array = found / found.sum()
    return weights


def _quantiles(
    fitted: Any, table: Any, target: str, weights: Array, shares: Sequence[float]
) -> Array:
    """(share,) quantiles of the rows' distributions mixed by weights."""
    import numpy as np

    if len(weights) == 1:
        own: Array = fitted.quantiles(table, target, shares)[0]
        return own
    levels = np.arange(1, _LEVELS + 1) / (_LEVELS + 1)
    each = fitted.quantiles(table, target, levels)
    places = np.unique(each)
    below = sum(w * np.interp(places, row, levels) for w, row in zip(weights, each, strict=True))
    mixed: Array = np.interp(shares, below, places)
    return mixed


def checked_shares(shares: list[float] | None, otherwise: Sequence[float]) -> list[float]:
    """The shares of quantiles that are asked for, in order; each once and between 0 and 1."""
    found = sorted(set(shares or otherwise))
    wrong = [share for share in found if not 0 < share < 1]
    if wrong:
        raise typer.BadParameter(f"{wrong[0]:g} is not between 0 and 1", param_hint="--quantile")
    return found


def percent(share: float) -> str:
    """A share in per cent, with as few digits as tell it."""
    return f"{100 * share:.6g}%"
