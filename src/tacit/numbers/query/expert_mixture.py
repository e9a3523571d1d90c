"""Answers of a mixture of a tree and other experts; exact for every kind of evidence.

Each expert answers for itself, and answers are averaged by the weights that the experts have given the
evidence: their own, times the density that each gives to what was observed of the row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from tacit.messages.conditionals import conditionals
from tacit.messages.joint import joint_conditional
from tacit.numbers.query.densities import leaf_coefficients, sample_rows
from tacit.numbers.query.evidence import log_densities, table_blocks, table_evidence
from tacit.numbers.query.gaussian_classes import (
    ClassesGiven,
    drawn_codes,
    log_joint,
    posterior,
    sampled_rows,
)
from tacit.numbers.query.given import intervals_of
from tacit.numbers.query.intervals import classes_within, sampled_within
from tacit.numbers.query.number_mixtures import GaussianParts, NumberMixture

if TYPE_CHECKING:
    from tacit.core.encoders.encoders import Encoder
    from tacit.core.input.mixed_table import MixedTable
    from tacit.messages.evidence import Evidence
    from tacit.messages.weighted_networks import Learnt
    from tacit.numbers.model.experts import Expert, Experts

Array = NDArray[np.float64]
# By place of the column: (row, category) likelihoods of categories, (1, 2) ends of an interval of numbers,
# of which there may be some where there is one row.
Soft = Mapping[int, Array]


def expert_log_densities(expert: Expert, table: MixedTable, soft: Soft | None = None) -> Array:
    """(row,) natural log-density of what was observed of each row."""
    joint = log_joint(expert.classes, *expert.coordinates(table), _by_column(table, soft))
    return np.asarray(logsumexp(joint, axis=1) + expert.log_slopes(table))


def _by_column(table: MixedTable, soft: Soft | None) -> dict[int, Array]:
    """Likelihoods by number of the column of categories."""
    schema = table.schema
    return {
        schema.stored[place]: values
        for place, values in (soft or {}).items()
        if place in schema.categorical
    }


def _intervals(table: MixedTable, soft: Soft | None) -> dict[int, Array]:
    """Ends of intervals by number of the column of numbers."""
    known = intervals_of(table.schema, soft)
    return {table.schema.stored[place]: ends for place, ends in known.items()}


@dataclass(frozen=True, eq=False)
class ExpertMixture:
    """A tree and other experts."""

    parameters: Learnt
    encoders: Sequence[Encoder]
    experts: Experts

    def log_densities(self, table: MixedTable, soft: Soft | None = None) -> Array:
        """(row,) natural log-density of what was observed of each row; 0 where that is nothing."""
        tree = log_densities(self.parameters, table, self.encoders, soft=soft)[0]
        others = [expert_log_densities(expert, table, soft) for expert in self.experts.members]
        shares = np.column_stack([tree, *others]) + self.experts.log_weights
        return np.asarray(logsumexp(shares, axis=1))

    def given(
        self, table: MixedTable, soft: Soft | None = None, targets: Sequence[int] = ()
    ) -> Iterator[MixtureGiven]:
        """What the experts say given the rows, block by block; `targets` are columns of numbers."""
        for part, rows in table_blocks(table, self.encoders):
            block = {place: likelihoods[part] for place, likelihoods in (soft or {}).items()}
            yield MixtureGiven.of(self, rows, block, targets)

    def missing_cells(
        self,
        table: MixedTable,
        columns: Sequence[int],
        *,
        median: bool = False,
        exact: bool = True,
    ) -> dict[int, Array]:
        """Predictions of missing cells: means or medians of numbers, probabilities of categories.

        Parameters
        ----------
        table : MixedTable
        columns : sequence of int
        median : bool
            Medians of numbers instead of means.
        exact : bool
            Means by quadrature otherwise: much faster, and close enough to compare predictors.

        Returns
        -------
        dict
            By column: (row,) numbers, NaN where no cell is missing, or (row, category) probabilities.
        """
        numbers = [place for place in columns if place in table.schema.continuous]
        coded = [place for place in columns if place not in table.schema.continuous]
        parts: dict[int, list[Array]] = {place: [] for place in columns}
        for given in self.given(table, None, numbers) if columns else ():
            for place, number in zip(numbers, given.numbers(), strict=True):
                rows = np.flatnonzero(np.isnan(given.table.column(place)))
                missing, values = number.take(rows), np.full(given.table.n_rows, np.nan)
                if median:
                    values[rows] = missing.quantiles(np.array([0.5]))[:, 0]
                else:
                    values[rows] = missing.expectations(exact=exact)
                parts[place].append(values)
            for place, chances in zip(coded, given.categories(coded), strict=True):
                parts[place].append(chances)
        return {place: np.concatenate(blocks) for place, blocks in parts.items()}

    def sample(
        self, table: MixedTable, n: int, rng: np.random.Generator, soft: Soft
    ) -> dict[int, NDArray[np.generic]]:
        """Columns of rows drawn given one row of evidence; those of cells that are given have no meaning."""
        given = next(self.given(table, soft))
        chosen = drawn_codes(np.repeat(given.shares, n, axis=0), rng)
        schema = table.schema
        columns: dict[int, NDArray[np.generic]] = {
            place: np.zeros(n, dtype=np.float64 if place in schema.continuous else np.int64)
            for place in range(len(schema))
        }
        for number in range(given.shares.shape[1]):
            drawn = np.flatnonzero(chosen == number)
            if not len(drawn):
                continue
            if number == 0:
                tree = sample_rows(
                    self.parameters,
                    len(drawn),
                    rng,
                    self.encoders,
                    given.evidence,
                    intervals=intervals_of(schema, soft),
                ).columns
                for place, values in enumerate(tree):
                    columns[place][drawn] = values
                continue
            expert = self.experts.members[number - 1]
            numbers, codes = self._drawn_by(expert, table, len(drawn), rng, soft)
            for column, place in enumerate(schema.continuous):
                columns[place][drawn] = expert.numbers(column, numbers, codes)
            for column, place in enumerate(schema.categorical):
                columns[place][drawn] = codes[:, column]
        return columns

    def _drawn_by(
        self, expert: Expert, table: MixedTable, n: int, rng: np.random.Generator, soft: Soft
    ) -> tuple[Array, NDArray[np.integer]]:
        """Coordinates and codes of rows that an expert draws given one row of evidence."""
        by_column, intervals = _by_column(table, soft), _intervals(table, soft)
        if intervals:
            return sampled_within(expert, table, n, rng, by_column, intervals)
        rows = table.take(np.zeros(n, dtype=np.int64))
        tiled = {j: np.repeat(likelihoods, n, axis=0) for j, likelihoods in by_column.items()}
        return sampled_rows(expert.classes, *expert.coordinates(rows), rng, tiled)


@dataclass(frozen=True, eq=False)
class MixtureGiven:
    """What the experts say of a block of rows."""

    mixture: ExpertMixture
    table: MixedTable
    evidence: Evidence
    shares: Array  # (row, 1 + expert)  P(expert | what was observed of the row)
    targets: Sequence[int]
    classes: Sequence[ClassesGiven]  # by expert

    @classmethod
    def of(
        cls, mixture: ExpertMixture, table: MixedTable, soft: Soft, targets: Sequence[int]
    ) -> MixtureGiven:
        """That of a block."""
        members, by_column = mixture.experts.members, _by_column(table, soft)
        coordinates = [table.schema.stored[place] for place in targets]
        intervals = _intervals(table, soft)
        classes = [
            classes_within(member, table, by_column, intervals, coordinates)
            if intervals
            else ClassesGiven.of(member.classes, *member.coordinates(table), by_column, coordinates)
            for member in members
        ]
        logs = [log_densities(mixture.parameters, table, mixture.encoders, soft=soft)[0]]
        logs += [
            logsumexp(given.joint, axis=1) + member.log_slopes(table)
            for given, member in zip(classes, members, strict=True)
        ]
        shares = posterior(np.column_stack(logs) + mixture.experts.log_weights)
        evidence = table_evidence(table, mixture.encoders, soft)
        return cls(mixture, table, evidence, shares, targets, classes)

    def numbers(self) -> list[NumberMixture]:
        """The distribution of each target given what was observed; for rows where it is missing."""
        trees = leaf_coefficients(
            self.mixture.parameters, self.evidence, self.targets, self.mixture.encoders
        )
        mixtures = []
        for number, (place, tree) in enumerate(zip(self.targets, trees, strict=True)):
            parts, atoms = [], np.zeros((self.table.n_rows, len(tree.atoms)))
            column = self.table.schema.stored[place]
            for e, (member, given) in enumerate(
                zip(self.mixture.experts.members, self.classes, strict=True)
            ):
                weights = self.shares[:, 1 + e, None] * given.weights
                table = member.table_of_atoms(column)
                if table is not None:
                    of_parts = given.at_parts(table)
                    atoms += weights @ of_parts[:, 1:]
                    weights = weights * of_parts[:, 0]
                means, deviations = given.means[:, :, number], given.deviations[:, :, number]
                parts.append(GaussianParts(member.scores, place, weights, means, deviations))
            mixtures.append(NumberMixture(tree, self.shares[:, 0], parts, atoms))
        return mixtures

    def categories(self, places: Sequence[int]) -> list[Array]:
        """(row, category) P(category | row) of columns whose cells are missing."""
        tree = conditionals(self.mixture.parameters, self.evidence, places).tables
        return [self._averaged(table, [place]) for place, table in zip(places, tree, strict=True)]

    def joint_categories(self, places: Sequence[int]) -> Array:
        """(row, category of the first column, ...) of columns whose cells are missing."""
        tree = joint_conditional(self.mixture.parameters, self.evidence, places).table
        return self._averaged(tree, places)

    def _averaged(self, tree: Array, places: Sequence[int]) -> Array:
        wide = (slice(None), *([None] * len(places)))
        total = self.shares[:, 0][wide] * tree
        members = self.mixture.experts.members
        for e, (member, given) in enumerate(zip(members, self.classes, strict=True)):
            of_components = given.of_components(member.classes.n_components)
            weights = self.shares[:, 1 + e, None] * of_components
            for component in range(weights.shape[1]):
                table = np.ones(())
                for place in places:
                    of_column = member.classes.tables[self.table.schema.stored[place]]
                    table = np.multiply.outer(table, of_column[component])
                total = total + weights[:, component][wide] * table
        return np.asarray(total)

    def drawn(self, rng: np.random.Generator) -> dict[int, NDArray[np.generic]]:
        """Values for all cells of each row, drawn together given those that are observed."""
        mixture, schema = self.mixture, self.table.schema
        chosen = drawn_codes(self.shares, rng)
        tree = sample_rows(mixture.parameters, 1, rng, mixture.encoders, self.evidence).columns
        columns: dict[int, NDArray[np.generic]] = {
            place: np.array(values) for place, values in enumerate(tree)
        }
        for number, expert in enumerate(mixture.experts.members, start=1):
            rows = np.flatnonzero(chosen == number)
            if not len(rows):
                continue
            known = expert.coordinates(self.table.take(rows))
            numbers, codes = sampled_rows(expert.classes, *known, rng, {})
            for column, place in enumerate(schema.continuous):
                columns[place][rows] = expert.numbers(column, numbers, codes)
            for column, place in enumerate(schema.categorical):
                columns[place][rows] = codes[:, column]
        return columns
