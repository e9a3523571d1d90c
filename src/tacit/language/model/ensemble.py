"""Power low rank ensembles: n-gram models with low rank parts between an order and the one below.

Parikh, Saluja, Dyer & Xing (2014); Parikh (2015), chapter 9. The probability of a word w after a context h
is, for each order,

    ( f0 - f1 + sum_j LR(f_j - f_j+1) + (sum_w f_last) P(w | h without its first word) ) / sum_w f0,

where f0 >= f1 >= ... >= f_last are functions of the count c (f0 is c itself) and LR is a low rank
approximation that keeps the sums of rows and columns. The counts of the order below are f_last summed over
first words. Probabilities sum to one, and expected counts of words are those of the text. Without LR this is
Kneser-Ney; with a fraction of c as f_last it is Jelinek-Mercer smoothing, and with the counts of the text in
the order below absolute discounting.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ArgumentError
from tacit.language.model.backoff import GramModel

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
Step = tuple[float, float]  # exponents of the discount and of the count


@dataclass(frozen=True)
class OrderPlan:
    """The low rank parts of one order.

    With D the discount of a count c, f_j = D^(1 - p) c^p for descending powers p, then D. There is one low
    rank part for each power, f_j - f_j+1, and with one more rank, one for D itself. With a weight below one,
    the rest of the part is not replaced; the rest of D goes to the order below. With one rank less than
    powers, D c^p of the last power goes there instead of D.
    """

    powers: tuple[float, ...] = ()
    ranks: tuple[int, ...] = ()  # one for each power, and maybe one for the discount
    weights: tuple[float, ...] = ()  # one for each rank
    modified: bool = True  # three discounts or one
    n_sweeps: int = 20  # of EM
    n_collapsed: int = 0  # collapsed variational sweeps after these, of order 2
    prior: float = 0.0  # of collapsed sweeps, relative to a count of one
    n_restarts: int | None = None  # at most this many are averaged
    informed: bool = False  # slices start from one factorisation of first words by last words
    min_size: int | None = None  # slices need more rows and columns; by default the smallest rank
    even_steps: bool = False  # f_j = D^(j / n) c^p for n steps, as printed; powers may be equal
    plain_counts: bool = False  # the order below has the counts of the text: absolute discounting

    def __post_init__(self) -> None:
        powers, ranks = self.powers, self.ranks
        if not self.weights:
            object.__setattr__(self, "weights", (1.0,) * len(ranks))
        if not self._descends() or not len(powers) - 1 <= len(ranks) <= len(powers) + 1:
            raise ArgumentError(
                f"powers={powers} with ranks={ranks}; give descending powers between 1 and 0, a rank for "
                "each, and at most one more rank, for the discount, or one less: then the last power is "
                "that of counts for the order below"
            )
        if self.modified and (self.even_steps or self.steps[-1][1] > 0):
            raise ArgumentError(
                f"powers={powers} with ranks={ranks} and modified=True; give modified=False, as these "
                "steps are fractions of one discount"
            )
        if len(self.weights) != len(ranks) or not all(0 <= weight <= 1 for weight in self.weights):
            raise ArgumentError(
                f"weights={self.weights} for ranks={ranks}; give one for each, between 0 and 1"
            )
        if any(isinstance(rank, bool) or rank != int(rank) or rank < 1 for rank in ranks):
            raise ArgumentError(f"ranks={ranks}; give whole numbers of at least 1")

    def _descends(self) -> bool:
        """Whether powers fall from 1 to 0; those of low rank parts strictly, unless steps are even."""
        parts = self.powers[: len(self.ranks)]
        inner = zip((1.0, *parts), (*parts, 0.0), strict=True)
        whole = (1.0, *self.powers, 0.0)
        falls = all(a >= b for a, b in pairwise(whole))
        return falls and (self.even_steps or all(a > b for a, b in inner))

    @property
    def steps(self) -> list[Step]:
        """The exponents of D and c in f_0, f_1, ..., f_last."""
        n_parts = min(len(self.powers), len(self.ranks))
        last = self.powers[n_parts] if len(self.powers) > n_parts else 0.0
        parts = self.powers[:n_parts]
        exponents = [
            at / (n_parts + 1) if self.even_steps else 1.0 - power
            for at, power in enumerate(parts, 1)
        ]
        return [(0.0, 1.0), *zip(exponents, parts, strict=True), (1.0, last)]

    def with_weights(self, weights: tuple[float, ...]) -> OrderPlan:
        """The plan with other weights."""
        return replace(self, weights=weights)


@dataclass(frozen=True, eq=False)
class Ensemble:
    """A power low rank ensemble.

    The probabilities of n-grams in the training text are those of `grams`, all parts included. An unseen word
    after a context h has the back-off weight of h times its probability one order below, plus the product of
    row h and the column of the n-gram without its first word, times the scale of h. Rows and columns of all
    orders are concatenated.
    """

    grams: GramModel
    rows: Integers  # (context,)  start of its row in `left`, or -1
    columns: Integers  # (gram,)  start of its column in `right`, or -1
    ranks: Integers  # (context,)  length of rows
    left: NDArray[np.float32]
    right: NDArray[np.float32]
    left_rest: Array  # (context,)
    right_rest: Array  # (gram,)
    scales: Array  # (context,)  one over the total count

    def __post_init__(self) -> None:
        # Interleaved, since look-ups wait for memory.
        rows = {"at": "rows", "rank": "ranks", "rest": "left_rest", "scale": "scales"}
        columns = {"at": "columns", "rest": "right_rest"}
        for name, fields, size in (
            ("_rows", rows, len(self.rows)),
            ("_columns", columns, len(self.columns)),
        ):
            lengths = {field: len(getattr(self, field)) for field in fields.values()}
            if set(lengths.values()) != {size}:
                raise ArgumentError(f"arrays of different lengths, {lengths}; give equal ones")
            table = np.empty(size, [(key, getattr(self, fields[key]).dtype) for key in fields])
            for key, field in fields.items():
                table[key] = getattr(self, field)
                object.__setattr__(self, field, table[key])
            object.__setattr__(self, name, table)

    @property
    def order(self) -> int:
        """The highest order."""
        return self.grams.order

    @property
    def has_factors(self) -> bool:
        """Whether there are low rank parts."""
        return bool((self.rows >= 0).any())

    def factors(self) -> tuple[Any, ...]:
        """Rows and columns, as arguments of compiled loops."""
        return self._rows, self._columns, self.left, self.right  # type: ignore[attr-defined]
