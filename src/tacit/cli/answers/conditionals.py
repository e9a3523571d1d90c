"""The conditional distribution of a column given values of others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

from tacit.errors import ArgumentError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_LEVELS = 999  # quantiles by which distributions are mixed
_TAIL = 0.005  # what lies farther out is not in the picture


@dataclass(frozen=True, eq=False)
class Answer:
    """The conditional distribution of a number."""

    mean: float
    quantiles: dict[float, float]  # by level
    grid: Array  # (place,)
    density: Array  # (place,)
    atoms: dict[float, float]  # the probabilities of numbers that have one


def number_answer(
    fitted: Any,
    target: str,
    known: Mapping[str, Sequence[Any]],
    levels: Sequence[float],
    *,
    n_places: int | None = None,
) -> Answer:
    """Mean, quantiles and density of a column of numbers.

    Parameters
    ----------
    fitted : KernelTree or GaussianTree
    target : str
    known : mapping of column to values
        Several values mean that the cell is one of these.
    levels : sequence of float
        Of the quantiles.
    n_places : int, optional
        Points of the density, evenly over all but the tails; without it, the model's grid.
    """
    import numpy as np

    for name, values in known.items():
        if is_interval(values):
            raise ArgumentError(f"column {name!r} is given as an interval; give a number")
    rows = rows_of_given(known)
    table = columns_of(rows, target)
    weights = _weights(fitted, rows)
    quantiles = _quantiles(fitted, table, target, weights, [*levels, _TAIL, 1 - _TAIL])
    low, high = quantiles[-2:].tolist()
    grid = None if n_places is None else np.linspace(low, high, n_places)
    places, densities = fitted.conditional_density(table, target, grid)
    return Answer(
        mean=float(weights @ fitted.expectation(table, target)),
        quantiles=dict(zip(levels, quantiles.tolist(), strict=False)),
        grid=places,
        density=weights @ densities,
        atoms=_atoms(fitted, table, target, weights),
    )


def _atoms(fitted: Any, table: Any, target: str, weights: Array) -> dict[float, float]:
    """The probabilities of a column's atoms."""
    if not fitted.can("atoms") or target not in fitted.atoms_:
        return {}
    masses = weights @ fitted.atom_probabilities(table, target)
    return dict(zip(fitted.atoms_[target].tolist(), masses.tolist(), strict=True))


def is_interval(values: Sequence[Any]) -> bool:
    """Whether a column of numbers is given as an interval."""
    return len(values) == 1 and isinstance(values[0], tuple)


def answer_within(fitted: Any, target: str, known: Mapping[str, Sequence[Any]]) -> Answer:
    """Mean, quantiles and atoms of a column of numbers where others are given as intervals."""
    import numpy as np

    given = {name: values[0] if len(values) == 1 else set(values) for name, values in known.items()}
    facts = fitted.query(target, given=given)
    return Answer(
        mean=facts["mean"],
        quantiles={level: facts[f"{level:.0%}"] for level in QUANTILES},
        grid=np.empty(0),
        density=np.empty(0),
        atoms={float(name[2:]): mass for name, mass in facts.items() if name.startswith("= ")},
    )


def category_answer(fitted: Any, target: Sequence[str], known: Mapping[str, Sequence[Any]]) -> Any:
    """The probabilities of columns of categories together, by tuples of them."""
    given = {name: values[0] if len(values) == 1 else set(values) for name, values in known.items()}
    return fitted.query(target, given=given)


def rows_of_given(known: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """A row for every combination of values that are given."""
    return [dict(zip(known, values, strict=True)) for values in product(*known.values())]


def columns_of(rows: Sequence[Mapping[str, Any]], target: str) -> dict[str, list[Any]]:
    """The rows as a table, in which the target is missing."""
    return {**{name: [row[name] for row in rows] for name in rows[0]}, target: [None] * len(rows)}


def _weights(fitted: Any, rows: Sequence[Mapping[str, Any]]) -> Array:
    """(row,) the probability of each row, normalised over the rows."""
    import numpy as np

    if len(rows) == 1:
        return np.ones(1)
    logs = fitted.score_samples({name: [row[name] for row in rows] for name in rows[0]})
    likelihoods = np.exp(logs - logs.max())
    weights: Array = likelihoods / likelihoods.sum()
    return weights


def _quantiles(
    fitted: Any, table: Any, target: str, weights: Array, levels: Sequence[float]
) -> Array:
    """(level,) quantiles of the rows' distributions mixed by weights."""
    import numpy as np

    if len(weights) == 1:
        alone: Array = fitted.quantiles(table, target, levels)[0]
        return alone
    fine = np.arange(1, _LEVELS + 1) / (_LEVELS + 1)
    by_row = fitted.quantiles(table, target, fine)
    places = np.unique(by_row)
    below = sum(w * np.interp(places, row, fine) for w, row in zip(weights, by_row, strict=True))
    mixed: Array = np.interp(levels, below, places)
    return mixed
