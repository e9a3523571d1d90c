"""Queries of a fitted tree of numbers and categories that is mixed with other experts."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.model import checked_summary
from tacit.numbers.data.masking import without_columns
from tacit.numbers.kernel_queries import KernelQueries
from tacit.trees.table_model import Given, Soft

if TYPE_CHECKING:
    from tacit.core.input.mixed_table import MixedTable
    from tacit.core.summary import Summary
    from tacit.numbers.query.expert_mixture import ExpertMixture
    from tacit.numbers.query.number_mixtures import NumberMixture

Array = NDArray[np.float64]
Function = Callable[[Array], Array]
Likelihoods = Mapping[int, Array]


class ExpertQueries(KernelQueries):
    """Queries of a mixture of a tree and experts; without experts they are those of the tree.

    Every expert is weighted by the density that it gives to what was observed of a row.
    """

    @property
    def _mixture(self) -> ExpertMixture | None:
        from tacit.numbers.query.expert_mixture import ExpertMixture

        self._check_fitted()
        if self.experts_ is None:
            return None
        return ExpertMixture(self.parameters_, self.encoders_, self.experts_)

    @property
    def n_parameters_(self) -> int:
        """Free parameters of the tree and of all experts, and their weights; margins do not count."""
        alone = super().n_parameters_
        members = () if self.experts_ is None else self.experts_.members
        return alone + sum(member.classes.n_parameters + 1 for member in members)

    @checked_summary
    def summary(self) -> Summary:
        """What was learnt, on a page: experts and their weights, and what the tree has learnt.

        Structure, states and their profiles are the tree's: a profile has the columns of numbers whose means
        differ most in the state, and the categories that are much more likely in it.
        """
        from tacit.numbers.summary import with_experts

        return with_experts(super().summary(), self.diagnostics_)

    def _log_likelihoods(self, X: Any, soft: Soft | None) -> tuple[Array, dict[str, Any]]:
        mixture = self._mixture
        if mixture is None:
            return super()._log_likelihoods(X, soft)
        from tacit.messages.repairs import Repairs

        table, likelihoods = self._rows(X, soft)
        with self._threads():
            values = mixture.log_densities(table, likelihoods)
        return values, Repairs(n_answers=len(values)).as_dict()

    # -- numbers ----------------------------------------------------------------------------------

    def _conditional_densities(
        self, X: Any, place: int, points: Array
    ) -> tuple[Array, dict[str, Any]]:
        mixture = self._mixture
        if mixture is None:
            return super()._conditional_densities(X, place, points)
        from tacit.messages.repairs import Repairs

        densities = self._of_number(
            mixture, self._rows(X)[0], place, lambda number: number.densities(points)
        )
        return densities, Repairs(n_answers=len(densities)).as_dict()

    def _means(
        self,
        table: MixedTable,
        leaf: int,
        function: Function | None = None,
        soft: Likelihoods | None = None,
    ) -> Array:
        mixture = self._mixture
        if mixture is None:
            return super()._means(table, leaf, function, soft)
        return self._of_number(
            mixture, table, leaf, lambda number: number.expectations(function), soft
        )

    def _quantiles(
        self, table: MixedTable, leaf: int, levels: Array, soft: Likelihoods | None = None
    ) -> Array:
        mixture = self._mixture
        if mixture is None:
            return super()._quantiles(table, leaf, levels, soft)
        return self._of_number(mixture, table, leaf, lambda number: number.quantiles(levels), soft)

    def _atom_masses(self, table: MixedTable, leaf: int, soft: Likelihoods | None = None) -> Array:
        mixture = self._mixture
        if mixture is None:
            return super()._atom_masses(table, leaf, soft)
        return self._of_number(mixture, table, leaf, lambda number: number.atom_masses, soft)

    def _of_number(
        self,
        mixture: ExpertMixture,
        table: MixedTable,
        leaf: int,
        ask: Callable[[NumberMixture], Array],
        soft: Likelihoods | None = None,
    ) -> Array:
        """(row, ...) an answer about a number given all other cells of each row."""
        rows = without_columns(table, [leaf])
        with self._threads():
            blocks = [ask(*given.numbers()) for given in mixture.given(rows, soft, [leaf])]
        return np.concatenate(blocks)

    # -- categories -------------------------------------------------------------------------------

    def _conditionals(
        self, X: Any, places: Sequence[int], soft: Soft | None, *, in_turn: bool, joint: bool
    ) -> tuple[list[Array], dict[str, Any]]:
        mixture = self._mixture
        if mixture is None or not places:
            return super()._conditionals(X, places, soft, in_turn=in_turn, joint=joint)
        from tacit.messages.repairs import Repairs

        table, likelihoods = self._rows(X, soft)
        with self._threads():
            if in_turn:
                tables = [self._categories(mixture, table, [j], likelihoods)[0] for j in places]
            elif joint:
                tables = [self._joint(mixture, table, places, likelihoods)]
            else:
                tables = self._categories(mixture, table, places, likelihoods)
        return tables, Repairs(n_answers=len(tables) * table.n_rows).as_dict()

    def _categories(
        self,
        mixture: ExpertMixture,
        table: MixedTable,
        places: Sequence[int],
        soft: Likelihoods,
    ) -> list[Array]:
        """(row, category) of each column, given the other cells of each row."""
        others = {place: soft[place] for place in soft if place not in places}
        rows = without_columns(table, places)
        blocks = [given.categories(places) for given in mixture.given(rows, others)]
        return [np.concatenate(tables) for tables in zip(*blocks, strict=True)]

    def _joint(
        self,
        mixture: ExpertMixture,
        table: MixedTable,
        places: Sequence[int],
        soft: Likelihoods,
    ) -> Array:
        others = {place: soft[place] for place in soft if place not in places}
        rows = without_columns(table, places)
        blocks = [given.joint_categories(places) for given in mixture.given(rows, others)]
        return np.concatenate(blocks)

    def _joint_given(self, places: Sequence[int], given: Given | None) -> Array:
        mixture = self._mixture
        if mixture is None:
            return super()._joint_given(places, given)
        rows, soft = self._given_rows(given)
        with self._threads():
            return np.asarray(self._joint(mixture, rows, places, soft)[0])

    def _marginals(self, X: Any, soft: Soft | None) -> dict[Hashable, Array]:
        mixture = self._mixture
        if mixture is None:
            return super()._marginals(X, soft)
        table, likelihoods = self._rows(X, soft)
        answers: dict[Hashable, Array] = {}
        for place in self.schema_.categorical:
            with self._threads():
                (chances,) = self._categories(mixture, table, [place], likelihoods)
            if place in likelihoods:
                chances = chances * likelihoods[place]
                chances = chances / chances.sum(axis=1, keepdims=True)
            codes = table.column(place)
            observed = codes >= 0
            chances[observed] = codes[observed, None] == np.arange(chances.shape[1])
            answers[self.schema_.labels[place]] = chances
        return answers

    # -- rows -------------------------------------------------------------------------------------

    def _predictions(self, X: Any, targets: Sequence[Hashable], *, in_turn: bool) -> list[Any]:
        mixture = self._mixture
        if mixture is None:
            return super()._predictions(X, targets, in_turn=in_turn)
        from tacit.core.input.decode import column_values

        table, _ = self._rows(X)
        leaves = [self.schema_.index(target) for target in targets]
        if not in_turn:
            table = without_columns(table, leaves)
        values: list[Any] = []
        for leaf in leaves:
            if leaf in self.schema_.continuous:
                values.append(self._means(table, leaf))
                continue
            with self._threads():
                (chances,) = self._categories(mixture, table, [leaf], {})
            values.append(column_values(self.schema_.columns[leaf], chances.argmax(axis=1)))
        return values

    def _drawn_blocks(
        self, table: MixedTable, rng: np.random.Generator
    ) -> Iterator[tuple[MixedTable, dict[int, NDArray[Any]]]]:
        mixture = self._mixture
        if mixture is None:
            yield from super()._drawn_blocks(table, rng)
            return
        for given in mixture.given(table):
            yield given.table, given.drawn(rng)

    def _cell_predictions(
        self, table: MixedTable, leaves: Sequence[int], *, median: bool
    ) -> dict[int, Array]:
        mixture = self._mixture
        if mixture is None:
            return super()._cell_predictions(table, leaves, median=median)
        return mixture.missing_cells(table, leaves, median=median)

    def _sample(
        self, n_samples: int, given: Given | None, rng: np.random.Generator, like: Any
    ) -> Any:
        mixture = self._mixture
        if mixture is None:
            return super()._sample(n_samples, given, rng, like)
        from tacit.core.input.mixed_table import decode_mixed

        rows, soft = self._given_rows(given)
        with self._threads():
            columns = mixture.sample(rows, n_samples, rng, soft)
        table = rows.take(np.zeros(n_samples, dtype=np.int64))
        return decode_mixed(table.filled_with_draws(columns), like=like)
