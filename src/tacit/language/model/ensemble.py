"""Power low rank ensembles: n-gram models with something between an n-gram and the next shorter one.

Parikh, Saluja, Dyer & Xing (2014); Parikh (2015), chapter 9. Written over the total of a context, the
probability of a word w after a context h is, for each order,

    ( f0 - f1 + sum_j LR(f_j - f_j+1) + (sum_w f_last) P(w | h without its first word) ) / sum_w f0,

where f0 >= f1 >= ... >= f_last are functions of the count c (f0 is c itself) and LR is a low rank fit that
keeps the sums of rows and columns. The order below is made from the masses that it is handed, f_last summed
over first words. Then probabilities sum to one, and expected counts of words are those of the text.
Kneser-Ney is the case without LR.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ArgumentError
from tacit.language.model.backoff import GramModel
from tacit.language.model.kneser_ney import Discounts, estimated_discounts
from tacit.language.moments.ngram_counts import GramCounts, GramTable

Array = NDArray[np.float64]
Ids = NDArray[np.int32]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class OrderPlan:
    """How the counts of one order are taken apart.

    With D the discount of a count c, f_j = D^(1 - p) c^p for falling powers p, then D. There is one low rank
    part for each power, between f_j and what follows it, and where one more rank is given, one for D itself.
    A weight below one leaves that share of a part as it is: of D, it goes to the order below. `least` is by
    default the smallest rank: a smaller slice is its own best fit.
    """

    powers: tuple[float, ...] = ()
    ranks: tuple[int, ...] = ()  # one for each power, and maybe one for the discount
    weights: tuple[float, ...] = ()  # one for each rank
    modified: bool = True  # three discounts or one
    n_sweeps: int = 20  # of EM
    n_apart: int = 0  # of EM without what an entry itself gave, for order 2
    prior: float = 0.0  # for these, in units of what a count of one gives
    n_starts: int | None = None  # at most so many are averaged
    informed: bool = False  # slices begin with what their first words tell of their last
    least: int | None = None  # slices with as few rows or columns stay as they are

    def __post_init__(self) -> None:
        powers, ranks = self.powers, self.ranks
        if not self.weights:
            object.__setattr__(self, "weights", (1.0,) * len(ranks))
        falling = all(a > b for a, b in zip((1.0, *powers), (*powers, 0.0), strict=True))
        if not falling or not len(powers) <= len(ranks) <= len(powers) + 1:
            raise ArgumentError(
                f"powers={powers} with ranks={ranks}; give falling powers between 1 and 0, a rank for each, "
                "and at most one rank more, for the discount"
            )
        if len(self.weights) != len(ranks) or not all(0 <= each <= 1 for each in self.weights):
            raise ArgumentError(
                f"weights={self.weights} for ranks={ranks}; give one for each, between 0 and 1"
            )
        if any(isinstance(rank, bool) or rank != int(rank) or rank < 1 for rank in ranks):
            raise ArgumentError(f"ranks={ranks}; give whole numbers of at least 1")

    def with_weights(self, weights: tuple[float, ...]) -> OrderPlan:
        """The same with other weights."""
        return replace(self, weights=weights)


def default_plans(order: int) -> dict[int, OrderPlan]:
    """The plans of all orders from two on, chosen on validation texts: Penn Treebank, WikiText-2."""
    plans = {at: OrderPlan() for at in range(4, order + 1)}
    if order >= 3:
        plans[3] = OrderPlan((0.5,), (24,), n_sweeps=2, informed=True, n_starts=1, least=8)
    if order >= 2:
        plans[2] = OrderPlan(
            (2 / 3,), (128, 48), (1.0, 0.95), modified=False, n_sweeps=5, n_apart=20, prior=6.0
        )
    return plans


def thesis_plans(
    order: int, n_words: int, fractions: tuple[float, float] = (5e-3, 1e-3)
) -> dict[int, OrderPlan]:
    """The plans of chapter 9: one low rank bigram, one low rank trigram, power 1/2, one discount.

    Parameters
    ----------
    n_words
        Size of the vocabulary.
    fractions
        Ranks of the bigram and of the trigram over that.
    """
    plans = {at: OrderPlan(modified=False) for at in range(4, order + 1)}
    for at, fraction in zip((2, 3), fractions, strict=True):
        if at <= order:
            rank = max(1, round(fraction * n_words))
            plans[at] = OrderPlan((0.5,), (rank,), modified=False)
    return plans


@dataclass(frozen=True, eq=False)
class OrderLevel:
    """The counts of one order, with what they were handed from above, and their discounts."""

    order: int
    table: GramTable
    contexts: Ids  # (gram,)
    counts: Array  # (gram,)
    discounts: Array  # (gram,)
    totals: Array  # (context,)
    estimated: Discounts

    def step(self, power: float) -> Array:
        """(gram,) the function f of the counts for a power."""
        if power == 1.0:
            return self.counts
        if power == 0.0:
            return self.discounts
        return np.asarray(self.discounts ** (1 - power) * self.counts**power)

    def unit(self, upper: float, lower: float) -> float:
        """What a count of one gives to the part between two powers."""
        one = self.estimated.values[0]
        return float(one ** (1 - upper) - (one ** (1 - lower) if lower >= 0 else 0.0))

    def sums(self, values: Array) -> Array:
        """(context,) sums over the n-grams of each context."""
        from tacit.language.loops.ensemble import sum_by

        out = np.zeros(self.table.n_contexts)
        sum_by(self.contexts, values, out)
        return out


@dataclass(frozen=True, eq=False)
class Ensemble:
    """A power low rank ensemble.

    Probabilities of n-grams that were seen are those of `grams`, all parts added. After a context h, a word
    that was not seen has the context's weight times its probability one order below, plus the product of row
    h and the column of the n-gram without its first word, times the context's scale. Rows and columns of all
    orders stand one after another.
    """

    grams: GramModel
    rows: Integers  # (context,)  where its row begins, or -1
    columns: Integers  # (gram,)  where its column begins, or -1
    ranks: Integers  # (context,)  length of rows
    left: NDArray[np.float32]
    right: NDArray[np.float32]
    left_rest: Array  # (context,)
    right_rest: Array  # (gram,)
    scales: Array  # (context,)  one over the total count

    def __post_init__(self) -> None:
        # What is needed at the same time stands side by side in memory, since look-ups wait for that.
        rows = {"at": "rows", "rank": "ranks", "rest": "left_rest", "scale": "scales"}
        columns = {"at": "columns", "rest": "right_rest"}
        for name, kept, size in (
            ("_rows", rows, len(self.rows)),
            ("_columns", columns, len(self.columns)),
        ):
            lengths = {field: len(getattr(self, field)) for field in kept.values()}
            if set(lengths.values()) != {size}:
                raise ArgumentError(f"arrays of different lengths, {lengths}; give equal ones")
            table = np.empty(size, [(key, getattr(self, kept[key]).dtype) for key in kept])
            for key, field in kept.items():
                table[key] = getattr(self, field)
                object.__setattr__(self, field, table[key])
            object.__setattr__(self, name, table)

    @property
    def order(self) -> int:
        """The highest order."""
        return self.grams.order

    def factors(self) -> tuple[Any, ...]:
        """Rows and columns as compiled loops want them."""
        return self._rows, self._columns, self.left, self.right  # type: ignore[attr-defined]


def order_levels(
    counts: GramCounts, plans: Mapping[int, OrderPlan], base: str = "uniform"
) -> list[OrderLevel]:
    """The counts of every order, from the first on; each order is fed what the one above hands down."""
    levels: list[OrderLevel] = []
    own = counts.adjusted(counts.order).astype(np.float64)
    for order in range(counts.order, 0, -1):
        plan = plans.get(order, OrderPlan(modified=False))
        table = counts.tables[order - 1]
        found = estimated_discounts(counts.adjusted(order), modified=plan.modified)
        if order == 1 and base == "unigram":
            found = Discounts((0.0, 0.0, 0.0), "given")
        discounts = np.interp(own, [0, 1, 2, 3], [0.0, *found.values])
        contexts = table.contexts() if order > 1 else np.zeros(len(table), np.int32)
        level = OrderLevel(order, table, contexts, own, discounts, np.zeros(0), found)
        levels.append(replace(level, totals=level.sums(own)))
        if order > 1:
            own = _handed_down(counts, level)
    return levels[::-1]


def _handed_down(counts: GramCounts, level: OrderLevel) -> Array:
    """(gram,) counts of the order below: the discounts of all n-grams that end alike, over that of one count.

    With a single discount they are the numbers of different words in front, as in Kneser-Ney.
    """
    from tacit.language.loops.ensemble import sum_by

    order, unit = level.order - 1, level.estimated.values[0]
    plain = counts.adjusted(order).astype(np.float64)
    if unit <= 0:
        return plain
    out = np.zeros(len(counts.tables[order - 1]))
    sum_by(level.table.suffixes, level.discounts, out)
    out /= unit
    if counts.pads == 1:
        # Nothing stands before a single `<s>`: these n-grams keep their counts.
        low, high = counts.line_starts(order)
        out[low:high] = plain[low:high]
    return out
