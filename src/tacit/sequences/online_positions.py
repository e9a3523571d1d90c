"""Likelihoods of one observation: of a symbol, of numbers, of a row of columns of several kinds."""

from __future__ import annotations

import copy
import math
from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from tacit.core.input.table import unknown_column_text
from tacit.core.limits import shown
from tacit.errors import ColumnError, DataError
from tacit.sequences.emissions.mixed import Mixed
from tacit.sequences.emissions.protocol import emits_numbers, emits_symbols

if TYPE_CHECKING:
    from tacit.sequences.emissions.protocol import Emission, NumberEmission, SymbolEmission
    from tacit.sequences.hmm_queries import HMMQueries

Array = NDArray[np.float64]
Likelihoods = tuple[Array, float]  # (state,), and the log of a factor taken out

_LARGE = 1e50  # numbers that are read with care: their squares may overflow


class PositionReader(Protocol):
    """Likelihoods of one observation."""

    def __call__(self, x: Any) -> Likelihoods | None:
        """None where it is missing."""
        ...

    def copy(self) -> Self:
        """One with an array of its own to read into."""
        ...


def position_reader(model: HMMQueries, emission: Emission) -> PositionReader:
    """The reader of what a fitted model emits."""
    if isinstance(emission, Mixed):
        return MixedReader(model, emission)
    if emits_symbols(emission):
        return SymbolReader(model, emission)
    assert emits_numbers(emission)
    return NumberReader(model, emission)


class SymbolReader:
    """Likelihoods of a symbol."""

    def __init__(self, model: HMMQueries, emission: SymbolEmission) -> None:
        self._model = model
        self._codes: dict[Hashable, int] = {
            symbol: code for code, symbol in enumerate(model.symbols_)
        }
        self._table = np.ascontiguousarray(emission.probabilities(model.parameters_).T)

    def __call__(self, x: Any) -> Likelihoods | None:
        """A row of a table."""
        try:
            code = self._codes.get(x, -2)
        except TypeError:  # not hashable: an error below
            code = -2
        if code == -2:
            code = -1 if x is None else int(self._model._read([[x]]).codes[0])  # noqa: SLF001
        return None if code < 0 else (self._table[code], 0.0)

    def copy(self) -> Self:
        """The same: it reads into nothing."""
        return self


class NumberReader:
    """Likelihoods of a number, or of a row of numbers."""

    def __init__(self, model: HMMQueries, emission: NumberEmission) -> None:
        self._model, self._emission = model, emission
        self._parameters = model.parameters_
        self._likelihoods = emission.at_position(self._parameters)
        self._row = np.empty(len(model.names_))

    def __call__(self, x: Any) -> Likelihoods | None:
        """By a function for one row, or with care where it has gaps."""
        row = self._row
        if x is None:
            return None
        try:
            row[:] = x
        except (TypeError, ValueError, OverflowError) as error:
            raise DataError(self._wrong(x)) from error
        if len(row) > 1 and np.shape(x) != row.shape:
            raise DataError(self._wrong(x))
        if all(abs(number) < _LARGE for number in row.tolist()):
            likelihoods, log_scale = self._likelihoods(row)
            if math.isfinite(log_scale):
                return likelihoods, log_scale
        if np.isnan(row).all():
            return None
        values = row[None] if len(row) > 1 else row
        series = self._model._read([values.copy()])  # noqa: SLF001
        return evidence_of_one(self._emission, self._parameters, series.values)

    def copy(self) -> Self:
        """With a row of its own."""
        twin = copy.copy(self)
        twin._row = self._row.copy()  # noqa: SLF001
        return twin

    def _wrong(self, x: Any) -> str:
        n = len(self._row)
        wanted = "a number" if n == 1 else f"{n} numbers"
        return f"update got {shown(x)}; give {wanted}, with NaN or None where one is missing"


class MixedReader:
    """Likelihoods of a row of columns of several kinds: a dict by column, or cells in their order."""

    def __init__(self, model: HMMQueries, emission: Mixed) -> None:
        self._model, self._emission = model, emission
        self._parameters, self._names = model.parameters_, tuple(model.names_)
        self._likelihoods = emission.at_position(self._parameters)
        self._codes: list[dict[Hashable, float] | None] = [
            None if known is None else {value: float(code) for code, value in enumerate(known)}
            for known in emission.categories or ()
        ]

    def __call__(self, x: Any) -> Likelihoods | None:
        """By a function for one row, or as a frame of one row where a cell is not plain."""
        if x is None:
            return None
        cells = self._cells(x)
        try:
            numbers = [self._number(cell, place) for place, cell in enumerate(cells)]
        except (KeyError, TypeError, ValueError, OverflowError):
            numbers = [math.inf]
        if all(map(math.isnan, numbers)):
            return None
        if not any(abs(number) >= _LARGE for number in numbers):
            likelihoods, log_scale = self._likelihoods(np.array(numbers))
            if math.isfinite(log_scale):
                return likelihoods, log_scale
        frame = {name: [cell] for name, cell in zip(self._names, cells, strict=True)}
        values = self._model._read([frame]).values  # noqa: SLF001
        if np.isnan(values).all():
            return None
        return evidence_of_one(self._emission, self._parameters, values)

    def copy(self) -> Self:
        """The same: each row is made anew."""
        return self

    def _cells(self, x: Any) -> list[Any]:
        """The cells in the order of the columns."""
        if isinstance(x, Mapping):
            for name in self._names:
                if name not in x:
                    raise ColumnError(unknown_column_text(name, list(x)))
            return [x[name] for name in self._names]
        cells = None if isinstance(x, str) or not hasattr(x, "__len__") else list(x)
        if cells is None or len(cells) != len(self._names):
            raise DataError(
                f"update got {shown(x)}; give a dict of {', '.join(map(repr, self._names))}, or these cells "
                f"in this order, with None where one is missing"
            )
        return cells

    def _number(self, cell: Any, place: int) -> float:
        """The number or the code of a cell, NaN where it is missing."""
        if cell is None:
            return math.nan
        codes = self._codes[place]
        if codes is None:
            return float(cell)
        return codes[cell] if cell in codes or cell == cell else math.nan  # noqa: PLR0124  NaN


def evidence_of_one(emission: Emission, parameters: Any, values: Array) -> Likelihoods:
    """Likelihoods of a single row of cells, which may have gaps."""
    evidence = emission.evidence(parameters, values, np.array([0, 1], dtype=np.int64))
    return evidence.likelihoods[0], float(evidence.log_scales[0])
