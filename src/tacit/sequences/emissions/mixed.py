"""Columns of different kinds side by side, independent of each other given the state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tacit.core.arguments import check_choice
from tacit.core.files.fields import Record
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

if TYPE_CHECKING:
    from tacit.sequences.data.number_sequences import Series
    from tacit.sequences.learn.hmm_task import HMMSettings
    from tacit.sequences.model.state_density import DensityRows

Array = NDArray[np.float64]

KINDS = ("categorical", *PARTS)
_COUNTS = ("poisson", "negative-binomial", "multinomial")
_DIRICHLET = 5.0  # pseudo-counts of symbols in each state, by default


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
    fills: ClassVar[bool] = False
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
        """Raise where a column holds nothing."""
        from tacit.sequences.data.number_sequences import check_observed

        check_observed(data)

    def bound(self, data: MixedSeries) -> Mixed:
        """With the categories of the data."""
        return Mixed(self.roles, data.categories)

    def drawn(self, parameters: Any, rows: Array) -> list[dict[str, list[Any]]]:
        """A dict of columns for each draw, as `read_mixed` takes them."""
        density = parameters.density
        known = dict(zip(density.names, density.categories, strict=True))
        return [
            {
                name: [known[name][code] for code in column.astype(int)]
                if known[name] is not None
                else column.tolist()
                for name, column in zip(density.names, draw.T, strict=True)
            }
            for draw in rows
        ]

    def fill(self, parameters: Any, rows: Array, posterior: Array) -> Array:
        """Not available."""
        raise NotAvailableError(
            "impute knows columns of one kind only; posterior and predict_next_proba(target=) take several"
        )

    def at_position(self, parameters: Any) -> Any:
        """Not available."""
        raise NotAvailableError(
            "one observation at a time goes with columns of one kind; filter(X) takes several"
        )

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
