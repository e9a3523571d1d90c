"""Columns of different kinds side by side, independent of each other given the state."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tacit.core.arguments import check_choice
from tacit.core.files.fields import Record
from tacit.core.magnitudes import check_scale, largest_of
from tacit.errors import ArgumentError, ColumnError, NotAvailableError
from tacit.sequences.data.mixed_columns import SEQUENCE, TIME, Categories, MixedSeries, read_mixed
from tacit.sequences.emissions.categorical_density import CategoricalDensity, CategoricalRows
from tacit.sequences.emissions.density_emission import DensityEmission, check_counts
from tacit.sequences.emissions.mixed_density import (
    MIXED_DENSITY,
    PARTS,
    MixedDensity,
    MixedRows,
)
from tacit.sequences.model.emission_chain import EmissionChain

if TYPE_CHECKING:
    from tacit.sequences.data.number_sequences import Series
    from tacit.sequences.learn.hmm_task import HMMSettings
    from tacit.sequences.model.state_density import DensityRows

Array = NDArray[np.float64]

KINDS = ("categorical", *PARTS)
_NORMAL = ("gaussian", "gaussian-mixture")
_COUNTS = ("poisson", "negative-binomial", "multinomial")
_LEAST_PRODUCT = 1e-200  # of likelihoods scaled by group; smaller ones are computed from logarithms
_DIRICHLET = 5.0  # pseudo-counts of symbols in each state, by default


@dataclass(frozen=True, eq=False)
class CategoryLikelihoods:
    """Probabilities of one category."""

    table: Array  # (category, state)

    def __call__(self, cells: Array) -> tuple[Array, float]:
        """Likelihoods and the log of their scale."""
        return self.table[int(cells[0])], 0.0


@dataclass(frozen=True, eq=False)
class GroupLikelihoods:
    """Likelihoods of the cells of a group of columns at one position."""

    columns: list[int]
    complete: Callable[[Array], tuple[Array, float]]  # of cells without gaps
    density: Any  # a `StateDensity`


@dataclass(frozen=True, eq=False)
class MixedLikelihoods:
    """Likelihoods of one row of numbers and codes; NaN: missing."""

    groups: tuple[GroupLikelihoods, ...]
    n_states: int

    def __call__(self, row: Array) -> tuple[Array, float]:
        """Likelihoods and the log of their scale, which is NaN where their product underflows."""
        product, log_scale = np.ones(self.n_states), 0.0
        numbers = row.tolist()
        for group in self.groups:
            cells = [numbers[column] for column in group.columns]
            n_missing = sum(map(math.isnan, cells))
            if n_missing == len(cells):
                continue
            if n_missing:
                logs = group.density.log_likelihoods(np.array([cells]))[0]
                scale = float(logs.max())
                likelihoods = np.exp(logs - scale)
            else:
                likelihoods, scale = group.complete(np.array(cells))
            product = product * likelihoods
            log_scale += scale
        return product, log_scale if product.max() > _LEAST_PRODUCT else math.nan


def decoded(categories: Sequence[Any], codes: NDArray[np.int64]) -> list[Any]:
    """Categories by code; None where it is -1."""
    table = [*categories, None]
    return [table[code] for code in codes.tolist()]


def groups_of(parameters: EmissionChain) -> Iterator[tuple[NDArray[np.int64], Any]]:
    """The columns of each group, and their density in each state."""
    density: MixedDensity = parameters.emitted
    return zip(density.columns, density.parts, strict=True)


class Mixed(DensityEmission):
    """Columns of several kinds. Those of one kind are learnt together, categorical ones each by itself.

    Parameters
    ----------
    roles : mapping of str to str
        The kind of each column; "sequence" and "time" are the roles of two others.
    categories : tuple, optional
        Of the columns of a fitted model.
    """

    name: ClassVar[str] = "mixed"
    density: ClassVar[type] = MixedDensity
    density_record: ClassVar[Record] = MIXED_DENSITY

    def __init__(
        self, roles: Mapping[str, str] | None = None, categories: Categories | None = None
    ) -> None:
        self.roles, self.categories = dict(roles or {}), categories

    @staticmethod
    def of(spec: Mapping[Any, Any]) -> Mixed:
        """The emission that a dict of columns and kinds describes.

        Raises
        ------
        ArgumentError
            A kind is not known, or no column has one.
        """
        for name, role in spec.items():
            check_choice(f"emissions[{name!r}]", role, (*KINDS, SEQUENCE, TIME))
        roles = {str(name): str(role) for name, role in spec.items()}
        if all(role in (SEQUENCE, TIME) for role in roles.values()):
            raise ArgumentError(
                'emissions names no column that states emit; give a dict such as {"speed": "gaussian"}'
            )
        return Mixed(roles)

    @staticmethod
    def of_density(density: MixedDensity, emissions: Any = None) -> Mixed:
        """That of a fitted model; `emissions` of `HMM` may name columns of sequences and times."""
        spec = emissions if isinstance(emissions, Mapping) else {}
        roles = {str(name): role for name, role in spec.items() if role in (SEQUENCE, TIME)}
        return Mixed({**density.arguments["emissions"], **roles}, density.categories)

    def read(self, X: Any, lengths: Any, known: Any = None, unknown: str = "error") -> MixedSeries:
        """Sequences from frames."""
        check_choice("unknown", unknown, ("error", "missing"))
        series = read_mixed(X, self.roles, lengths, self.categories, unknown)
        if known and tuple(known) != series.names:
            raise ColumnError(
                f"the sequences have the columns {list(series.names)}, but the model was fitted with "
                f"{list(known)}"
            )
        for name, column in zip(series.names, series.values.T, strict=True):
            if self.roles.get(name) in _COUNTS:
                check_counts(column, self.roles[name])
        return series

    def check(self, data: Series) -> None:
        """Raise where a column holds nothing, or far too small numbers."""
        from tacit.sequences.data.number_sequences import check_observed

        check_observed(data)
        for name, column in zip(data.names, data.values.T, strict=True):
            if self.roles.get(name) in _NORMAL:
                check_scale(largest_of(column), f"column {name!r}")

    def bound(self, data: MixedSeries) -> Mixed:
        """With the categories of the data."""
        return Mixed(self.roles, data.categories)

    def drawn(self, parameters: Any, rows: Array) -> list[dict[str, list[Any]]]:
        """A dict of columns for each draw, as `read_mixed` takes them."""
        return [self.columns_of(parameters, draw) for draw in rows]

    def columns_of(self, parameters: Any, rows: Array) -> dict[str, list[Any]]:
        """Rows of numbers and codes as a dict of columns; missing categories are None, numbers NaN."""
        density = parameters.density
        columns: dict[str, list[Any]] = {}
        for name, known, cells in zip(density.names, density.categories, rows.T, strict=True):
            codes = np.where(np.isnan(cells), -1, cells).astype(np.int64)
            columns[name] = cells.tolist() if known is None else decoded(known, codes)
        return columns

    def fill(self, parameters: Any, rows: Array, posterior: Array) -> Array:
        """Each group of columns as its kind does; of categories the likeliest one."""
        filled = rows.copy()
        for columns, density in groups_of(parameters):
            cells = rows[:, columns]
            if isinstance(density, CategoricalDensity):
                gaps = np.flatnonzero(np.isnan(cells[:, 0]) & (posterior.sum(axis=1) > 0))
                likeliest = (posterior[gaps] @ density.probabilities).argmax(axis=1)
                filled[gaps, columns[0]] = likeliest
            else:
                chain = EmissionChain(parameters.initial, parameters.transitions, density)
                filled[:, columns] = PARTS[density.kind].fill(chain, cells, posterior)
        return filled

    def at_position(self, parameters: Any) -> MixedLikelihoods:
        """Those of all groups of columns."""
        groups = []
        for columns, density in groups_of(parameters):
            if isinstance(density, CategoricalDensity):
                complete: Any = CategoryLikelihoods(np.ascontiguousarray(density.probabilities.T))
            else:
                chain = EmissionChain(parameters.initial, parameters.transitions, density)
                complete = PARTS[density.kind].at_position(chain)
            groups.append(GroupLikelihoods(columns.tolist(), complete, density))
        return MixedLikelihoods(tuple(groups), len(parameters.initial))

    def rows(self, values: Array, settings: HMMSettings) -> MixedRows:
        """Rows to learn from, group by group."""
        assert self.categories is not None
        names = tuple(name for name, role in self.roles.items() if role not in (SEQUENCE, TIME))
        groups: dict[str, list[int]] = {}
        for column, name in enumerate(names):
            kind = self.roles[name]
            groups.setdefault(kind if kind in PARTS else f"column {column}", []).append(column)
        count = settings.pseudo_counts
        parts: list[DensityRows] = []
        for name, columns in groups.items():
            own_values = np.ascontiguousarray(values[:, columns])
            if name in PARTS:
                parts.append(PARTS[name].rows(own_values, settings))
            else:
                known = self.categories[columns[0]] or ()
                strength = _DIRICHLET if count is None else count
                parts.append(CategoricalRows(own_values, len(known), strength, known))
        places = tuple(np.array(columns, dtype=np.int64) for columns in groups.values())
        return MixedRows(parts, MixedDensity((), places, names))

    def probabilities_of(self, density: MixedDensity, target: str | None) -> Array:
        """(state, category) of a categorical column."""
        names = [
            name
            for name, known in zip(density.names, density.categories, strict=True)
            if known is not None
        ]
        if not names:
            raise NotAvailableError(
                "no column of this HMM holds categories; for numbers there are predict_next_density, "
                "expectation and quantiles"
            )
        if target is not None or len(names) > 1:
            check_choice("target", target, names)
        name = names[0] if target is None else target
        part = density.of_column[density.names.index(name)][0]
        assert isinstance(part, CategoricalDensity)
        return part.probabilities
