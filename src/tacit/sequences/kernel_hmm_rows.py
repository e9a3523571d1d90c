"""Sequences of numbers as evidence about a fitted chain."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import DensityMixin

from tacit.core.limits import shown
from tacit.core.model import Model, Scored
from tacit.errors import ColumnError, FileFormatError

if TYPE_CHECKING:
    from tacit.core.encoders.encoders import Encoder
    from tacit.core.encoders.vector_kernels import VectorKernelEncoder
    from tacit.messages.node_messages import Messages
    from tacit.sequences.data.number_sequences import Series
    from tacit.sequences.model.chains import ChainTables, Operators
    from tacit.sequences.query.operators import Walk

Array = NDArray[np.float64]


class ChainRows(Scored, DensityMixin, Model):
    """A fitted chain of numbers, and sequences as it takes them."""

    parameters_: ChainTables | Operators
    encoders_: tuple[Any, ...]  # Encoder of each column, or one VectorKernelEncoder of all
    names_: tuple[str, ...]
    fallback_: float

    @property
    def operators_(self) -> Operators:
        """The model as operators."""
        from tacit.sequences.model.chains import ChainTables

        self._check_fitted()
        learnt = self.parameters_
        return learnt.operators if isinstance(learnt, ChainTables) else learnt

    def _restore(self, values: Mapping[str, Any]) -> None:
        super()._restore(values)
        vector = self._vector
        if vector is not None and (self._has_tables or len(self.encoders_) > 1):
            raise FileFormatError("features of several columns together, beside others")
        margins: list[Any] = [getattr(encoder, "margin", None) for encoder in self.encoders_]
        if vector is not None:
            margins = list(vector.margins)
        if self.fallback_ > 0 and not all(margins):
            raise FileFormatError("a weight of each column's marginal density, which is missing")

    def _read(self, X: Any, lengths: Any = None) -> Series:
        from tacit.sequences.data.number_sequences import read_series

        self._check_fitted()
        return read_series(X, self.names_, lengths)

    def _column(self, target: str | None) -> int:
        self._check_fitted()
        if target is None and len(self.names_) == 1:
            return 0
        if not isinstance(target, Hashable) or target not in self.names_:
            problem = "no target" if target is None else f"target={shown(target)}"
            raise ColumnError(f"{problem}; the columns are {list(self.names_)}: name one of them")
        return self.names_.index(target)

    def _walk(self, series: Series) -> tuple[Walk, Messages]:
        """All sequences walked, and the evidence of each position."""
        from tacit.sequences.query.operators import walked

        operators, evidence = self.operators_, self._evidence(series.values)
        return walked(operators, evidence, series.lengths, restart=not self._has_tables), evidence

    def _evidence(self, rows: Array) -> Messages:
        """The messages of (position, column) numbers to their steps."""
        from tacit.sequences.query.operators import evidence_messages

        vector = self._vector
        if vector is not None:
            missing = np.isnan(rows).all(axis=1, keepdims=True)
            features = [np.where(missing, np.nan, vector.likelihoods(rows))]
        else:
            features = [
                np.where(np.isnan(column)[:, None], np.nan, encoder.likelihoods(column))
                for encoder, column in zip(self.encoders_, rows.T, strict=True)
            ]
        return evidence_messages(self.operators_, features)

    @property
    def _vector(self) -> VectorKernelEncoder | None:
        """The features of all columns together, of operators of several columns."""
        from tacit.core.encoders.vector_kernels import VectorKernelEncoder

        first = self.encoders_[0]
        return first if isinstance(first, VectorKernelEncoder) else None

    def _encoder(self, column: int) -> Encoder:
        """The features of a column alone."""
        return self.encoders_[column] if self._vector is None else self._vector.members[column]

    @property
    def _has_tables(self) -> bool:
        from tacit.sequences.model.chains import ChainTables

        return isinstance(self.parameters_, ChainTables)

    def _message(self, column: int, numbers: Array) -> Messages:
        """The messages of numbers of a column to their step."""
        from tacit.messages.node_messages import Messages

        likelihoods = self.encoders_[column].likelihoods(numbers)
        return Messages(self.operators_.emit[column].T @ likelihoods.T)
