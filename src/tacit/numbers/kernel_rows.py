"""Rows of numbers and categories as evidence about a fitted tree."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.encoders.kernel_shapes import TabulatedKernel
from tacit.numbers.model_files import KERNEL_TREE_FILE
from tacit.numbers.query.arguments import category_place
from tacit.numbers.query.given import Known, given_rows
from tacit.trees.tree_model import TreeModel

if TYPE_CHECKING:
    from tacit.core.encoders.encoders import Encoder
    from tacit.core.encoders.margins import Margin
    from tacit.core.input.examples import Examples
    from tacit.core.input.mixed_table import MixedSchema, MixedTable
    from tacit.messages.evidence import Evidence
    from tacit.numbers.learn.blend import Blend
    from tacit.numbers.learn.gaussian_copula import Conditionals
    from tacit.numbers.model.experts import Experts
    from tacit.numbers.query.densities import Coefficients

Array = NDArray[np.float64]


class KernelRows(TreeModel):
    """A fitted tree whose leaves are numbers or categories."""

    schema_: MixedSchema
    encoders_: tuple[Encoder, ...]
    margins_: tuple[Margin | Array, ...] | None  # of operators: the distribution of each column
    _file = KERNEL_TREE_FILE
    kernel: Any
    columns: Mapping[Any, str] | None
    continuous: Any
    groups: Mapping[Any, Any] | None
    experts_: Experts | None  # other densities that the tree's is mixed with
    blend_: Blend | None  # other predictors, for means, quantiles and missing cells

    def _restore(self, values: Mapping[str, Any]) -> None:
        super()._restore(values)
        self.margins_, self.blend_ = values["margins_"], values["blend_"]
        self.experts_ = values["experts_"]
        kernels = [encoder.kernel for encoder in self.encoders_ if hasattr(encoder, "kernel")]
        if self.kernel == TabulatedKernel.name:  # a callable; columns of categories have no kernel
            self.kernel = kernels[0] if kernels else "rbf"

    def _examples(self, X: Any) -> Examples:
        from tacit.core.input.examples import Examples
        from tacit.core.input.read_mixed_table import read_mixed

        table = read_mixed(X, continuous=self.continuous, columns=self.columns)
        return Examples(table.n_rows, table.take)

    def _rows(self, X: Any, soft: Mapping[Any, Any] | None = None) -> Known:
        """The rows of a table, and likelihoods of categories."""
        from tacit.core.input.read_mixed_table import encode_mixed
        from tacit.trees.query.given import soft_likelihoods

        self._check_fitted()
        self._check_policies()
        table = encode_mixed(X, self.schema_, unknown=self.unknown, partial=True)
        likelihoods = soft_likelihoods(soft, self.schema_)
        for leaf in likelihoods:
            category_place(self.schema_, self.schema_.names[leaf])
        return table, likelihoods

    def _evidence_blocks(
        self, table: MixedTable, soft: Mapping[int, Array] | None = None
    ) -> Iterator[Evidence]:
        from tacit.numbers.query.evidence import table_blocks, table_evidence

        for part, rows in table_blocks(table, self.encoders_):
            block_soft = {leaf: likelihoods[part] for leaf, likelihoods in (soft or {}).items()}
            yield table_evidence(rows, self.encoders_, block_soft)

    def _evidence(self, X: Any, soft: Mapping[Any, Any] | None) -> Evidence:
        from tacit.numbers.query.evidence import table_evidence

        table, likelihoods = self._rows(X, soft)
        return table_evidence(table, self.encoders_, likelihoods)

    def _given_rows(self, known: Mapping[Any, Any] | None) -> Known:
        """The given cells as one row."""
        self._check_fitted()
        self._check_policies()
        return given_rows(self.schema_, known, unknown=self.unknown)

    def _given(self, known: Mapping[Any, Any] | None) -> Evidence:
        return next(self._evidence_blocks(*self._given_rows(known)))

    def _coefficients(
        self, table: MixedTable, leaf: int, soft: Mapping[int, Array] | None = None
    ) -> Iterator[Coefficients]:
        """The vectors of a leaf given the rows, block by block."""
        for evidence in self._evidence_blocks(table, soft):
            (coefficients,) = self._coefficients_of(evidence, [leaf])
            yield coefficients

    def _coefficients_of(
        self, evidence: Evidence, leaves: Sequence[int]
    ) -> tuple[Coefficients, ...]:
        from tacit.numbers.query.densities import leaf_coefficients

        with self._threads():
            return leaf_coefficients(self.parameters_, evidence, leaves, self.encoders_)

    @property
    def _blend(self) -> Blend | None:
        return self.blend_ if self.blend else None

    def _averaged(
        self, table: MixedTable, leaf: int, tree: Array, ask: Callable[[Conditionals], Array]
    ) -> Array:
        """The tree's answer about a column of numbers, averaged with that of the copula."""
        from tacit.numbers.data.masking import without_column

        blend = self._blend
        if blend is None or blend.copula is None or blend.copula_weights[leaf] == 0:
            return tree
        conditionals = blend.copula.conditionals(without_column(table, leaf))
        return blend.average(leaf, tree, ask(conditionals))
