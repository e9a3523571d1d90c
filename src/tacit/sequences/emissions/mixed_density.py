"""Densities of columns of different kinds, independent of each other given the state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tacit.core.files.fields import (
    Arrays,
    Field,
    Many,
    OneOf,
    Record,
    Sizes,
    Source,
    damage_at,
    joined,
)
from tacit.core.files.header_values import texts
from tacit.errors import FileFormatError
from tacit.sequences.data.mixed_columns import (
    Categories,
)
from tacit.sequences.data.number_sequences import centre_and_spread
from tacit.sequences.emissions.categorical_density import (
    CATEGORICAL_DENSITY,
)
from tacit.sequences.emissions.density_emission import DensityEmission
from tacit.sequences.emissions.gaussian import Gaussian
from tacit.sequences.emissions.gaussian_mixture import GaussianMixture
from tacit.sequences.emissions.multinomial import Multinomial
from tacit.sequences.emissions.negative_binomial import NegativeBinomial
from tacit.sequences.emissions.poisson import Poisson
from tacit.sequences.emissions.von_mises import VonMises

if TYPE_CHECKING:
    from tacit.sequences.model.state_density import DensityRows, StateDensity

Array = NDArray[np.float64]

PARTS: dict[str, DensityEmission] = {
    emission.name: emission
    for emission in (
        Gaussian(),
        GaussianMixture(),
        Poisson(),
        NegativeBinomial(),
        Multinomial(),
        VonMises(),
    )
}


_JOINT = ("weights_", "covariances_")  # attributes that say something of all columns of a group


@dataclass(frozen=True, eq=False)
class MixedDensity:
    """Densities of groups of columns; the likelihood of a row is their product."""

    kind: ClassVar[str] = "mixed"

    parts: tuple[Any, ...]  # a `StateDensity` for each group
    columns: tuple[NDArray[np.int64], ...]  # (column,) of each group
    names: tuple[str, ...]  # of all columns

    @property
    def n_states(self) -> int:
        """Number of densities."""
        return int(self.parts[0].n_states)

    @property
    def n_columns(self) -> int:
        """Cells of a row."""
        return len(self.names)

    @property
    def n_parameters(self) -> int:
        """Free parameters."""
        return sum(int(part.n_parameters) for part in self.parts)

    @cached_property
    def of_column(self) -> tuple[tuple[StateDensity, int], ...]:
        """Of each column the density of its group, and its place there."""
        places = {
            int(column): (part, place)
            for part, columns in zip(self.parts, self.columns, strict=True)
            for place, column in enumerate(columns)
        }
        return tuple(places[column] for column in range(self.n_columns))

    def with_parts(self, parts: Sequence[Any]) -> MixedDensity:
        """Other densities of the same columns."""
        return MixedDensity(tuple(parts), self.columns, self.names)

    def log_likelihoods(self, values: Array) -> Array:
        """(position, state)."""
        logs = np.zeros((len(values), self.n_states))
        for part, columns in zip(self.parts, self.columns, strict=True):
            logs += part.log_likelihoods(values[:, columns])
        return logs

    def ordered(self, order: NDArray[np.integer]) -> MixedDensity:
        """The densities of some states."""
        return self.with_parts([part.ordered(order) for part in self.parts])

    @property
    def flat(self) -> Array:
        """Those of all groups."""
        return np.concatenate([part.flat for part in self.parts])

    def of_flat(self, values: Array) -> MixedDensity:
        """The nearest valid densities."""
        ends = np.cumsum([len(part.flat) for part in self.parts])[:-1]
        pairs = zip(self.parts, np.split(values, ends), strict=True)
        return self.with_parts([part.of_flat(own_values) for part, own_values in pairs])

    def masses(self, visits: Array) -> Array:
        """Those of all groups."""
        return np.concatenate([part.masses(visits) for part in self.parts])

    def sample(self, states: NDArray[np.int32], rng: np.random.Generator) -> Array:
        """Rows of numbers and codes."""
        rows = np.empty((*states.shape, self.n_columns))
        for part, columns in zip(self.parts, self.columns, strict=True):
            rows[..., columns] = part.sample(states, rng)
        return rows

    def _joined(self, parts: Sequence[Array], shape: tuple[int, ...]) -> Array:
        """An array whose axis 1 are columns."""
        joined = np.empty(shape)
        for part, columns in zip(parts, self.columns, strict=True):
            joined[:, columns] = part
        return joined

    @property
    def means(self) -> Array:
        """(state, column); NaN of categories."""
        parts = [part.means for part in self.parts]
        return self._joined(parts, (self.n_states, self.n_columns))

    def expectation(self, weights: Array) -> Array:
        """(row, column) means of mixtures; NaN of categories."""
        parts = [part.expectation(weights) for part in self.parts]
        return self._joined(parts, (len(weights), self.n_columns))

    def densities(self, column: int, grid: Array) -> Array:
        """(state, grid point) of a column."""
        part, place = self.of_column[column]
        return part.densities(place, grid)

    def quantiles(self, weights: Array, levels: Array) -> Array:
        """(row, column, level); NaN of categories."""
        parts = [part.quantiles(weights, levels) for part in self.parts]
        return self._joined(parts, (len(weights), self.n_columns, len(levels)))

    def describe(self, labels: Sequence[str], most: int) -> list[list[str]]:
        """A few words about each column."""
        described: list[list[str]] = [[] for _ in range(self.n_states)]
        for part, columns in zip(self.parts, self.columns, strict=True):
            names = [labels[column] for column in columns]
            for state, phrases in enumerate(part.describe(names, most)):
                is_single = len(names) == 1
                described[state] += [f"{names[0]} {', '.join(phrases)}"] if is_single else phrases
        return [phrases[:most] for phrases in described]

    @property
    def attributes(self) -> dict[str, Any]:
        """What each column emits, by its name: a dict of the attributes of its kind."""
        by_column = {}
        for column, name in enumerate(self.names):
            part, place = self.of_column[column]
            by_column[name] = {
                key: _of_column(value, place, part.n_columns) if key not in _JOINT else value
                for key, value in part.attributes.items()
            }
        return {"columns_": by_column}

    @property
    def arguments(self) -> dict[str, Any]:
        """The kinds of all columns."""
        emissions = {
            name: part.kind for name, (part, _) in zip(self.names, self.of_column, strict=True)
        }
        more: dict[str, Any] = {}
        for part in self.parts:
            more |= part.arguments
        return {"emissions": emissions, **more}

    @property
    def categories(self) -> Categories:
        """Of each column; None of numbers."""
        return tuple(getattr(part, "categories", None) for part, _ in self.of_column)


def _of_column(value: Any, place: int, n_columns: int) -> Any:
    """What an attribute (state, ..., column) of a group says of one of its columns; else all of it."""
    is_by_column = n_columns > 1 and isinstance(value, np.ndarray) and value.ndim > 1
    return value[..., place] if is_by_column and value.shape[-1] == n_columns else value


class GroupForm:
    """What files hold of a group of columns: their places, and a density of just these."""

    density = OneOf(
        categorical=CATEGORICAL_DENSITY,
        **{name: part.density_record for name, part in PARTS.items()},
    )

    def write(self, value: Any, path: str, arrays: Arrays) -> dict[str, Any]:
        """The header of the group; its arrays are added."""
        columns, density = value
        header = self.density.write(density, joined(path, "density"), arrays)
        return {"columns": columns.tolist(), "density": header}

    def read(self, plain: Any, path: str, source: Source, sizes: Sizes) -> Any:
        """The group."""
        if not isinstance(plain, dict) or set(plain) != {"columns", "density"}:
            raise FileFormatError("is no group of columns")
        columns = plain["columns"]
        if not isinstance(columns, list) or not all(type(column) is int for column in columns):
            raise FileFormatError("has columns that are no integers")
        inner = sizes.new_child({"column": len(columns)})
        with damage_at(joined(path, "density")):
            density = self.density.read(plain["density"], joined(path, "density"), source, inner)
        return np.array(columns, dtype=np.int64), density


def _mixed(groups: tuple[Any, ...], names: tuple[str, ...]) -> MixedDensity:
    columns, parts = zip(*groups, strict=True)
    if sorted(np.concatenate(columns).tolist()) != list(range(len(names))):
        raise FileFormatError("has groups that do not hold each column once")
    if len({part.n_states for part in parts}) != 1:
        raise FileFormatError("has groups with different numbers of states")
    if any(part.n_columns != len(places) for part, places in zip(parts, columns, strict=True)):
        raise FileFormatError("has a group with another number of columns than its density")
    return MixedDensity(parts, columns, names)


MIXED_DENSITY = Record(
    MixedDensity,
    Field("names", texts()),
    Field(
        "groups",
        Many(GroupForm(), least=1),
        get=lambda density: list(zip(density.columns, density.parts, strict=True)),
    ),
    make=_mixed,
)


class MixedRows:
    """Rows of all groups of columns to learn from."""

    def __init__(self, parts: Sequence[DensityRows], like: MixedDensity) -> None:
        self.parts, self.like = list(parts), like

    @property
    def features(self) -> Array:
        """Those of all groups, each on a scale of its own."""
        features = []
        for part in self.parts:
            values = part.features
            spread = np.sqrt(np.square(centre_and_spread(values)[1]).sum())
            features.append(values / (spread if spread > 0 else 1.0))
        return np.hstack(features)

    @property
    def log_constant(self) -> float:
        """Of all groups."""
        return sum(part.log_constant for part in self.parts)

    def log_likelihoods(self, density: MixedDensity) -> Array:
        """(position, state)."""
        first, *others = zip(self.parts, density.parts, strict=True)
        logs = first[0].log_likelihoods(first[1])
        for part, own_density in others:
            logs = logs + part.log_likelihoods(own_density)
        return logs

    def maximised(self, posterior: Array, density: MixedDensity | None = None) -> MixedDensity:
        """Each group by itself."""
        before = [None] * len(self.parts) if density is None else density.parts
        pairs = zip(self.parts, before, strict=True)
        return self.like.with_parts([part.maximised(posterior, old) for part, old in pairs])

    def log_prior(self, density: MixedDensity) -> float:
        """Of all groups."""
        pairs = zip(self.parts, density.parts, strict=True)
        return sum(part.log_prior(own_density) for part, own_density in pairs)

    def taken(self, places: NDArray[np.integer]) -> MixedRows:
        """Some of the rows."""
        return MixedRows([part.taken(places) for part in self.parts], self.like)

    def finished(self, density: MixedDensity) -> MixedDensity:
        """The densities of the cells as they were."""
        pairs = zip(self.parts, density.parts, strict=True)
        return density.with_parts([part.finished(own_density) for part, own_density in pairs])
