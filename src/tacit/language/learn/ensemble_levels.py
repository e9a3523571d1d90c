"""The counts and discounts of each order of a power low rank ensemble."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tacit.language.learn.kneser_ney import estimated_discounts
from tacit.language.model.backoff import Discounts
from tacit.language.model.ensemble import OrderPlan
from tacit.language.moments.ngram_counts import GramCounts, GramTable

Array = NDArray[np.float64]
Ids = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class OrderLevel:
    """The counts of one order, as the order above passes them down, and their discounts."""

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
        """The value of a count of one in the part between two powers."""
        one = self.estimated.values[0]
        return float(one ** (1 - upper) - (one ** (1 - lower) if lower >= 0 else 0.0))

    def sums(self, values: Array) -> Array:
        """(context,) sums over the n-grams of each context."""
        from tacit.language.loops.ensemble import sum_by

        out = np.zeros(self.table.n_contexts)
        sum_by(self.contexts, values, out)
        return out


def order_levels(
    counts: GramCounts, plans: Mapping[int, OrderPlan], base: str = "uniform"
) -> list[OrderLevel]:
    """The counts of every order, from the first on; each order gets the discounts of the one above."""
    levels: list[OrderLevel] = []
    values = counts.adjusted(counts.order).astype(np.float64)
    for order in range(counts.order, 0, -1):
        plan = plans.get(order, OrderPlan(modified=False))
        table = counts.tables[order - 1]
        estimated = estimated_discounts(counts.adjusted(order), modified=plan.modified)
        if order == 1 and base == "unigram":
            estimated = Discounts((0.0, 0.0, 0.0), "given")
        discounts = np.interp(values, [0, 1, 2, 3], [0.0, *estimated.values])
        contexts = table.contexts() if order > 1 else np.zeros(len(table), np.int32)
        level = OrderLevel(order, table, contexts, values, discounts, np.zeros(0), estimated)
        levels.append(replace(level, totals=level.sums(values)))
        if order > 1:
            values = _lower_counts(counts, level)
    return levels[::-1]


def _lower_counts(counts: GramCounts, level: OrderLevel) -> Array:
    """(gram,) counts of the order below: summed discounts of n-grams with the same ending.

    With a single discount they are the numbers of different preceding words, as in Kneser-Ney.
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
        # Nothing precedes a single `<s>`: these n-grams keep their counts.
        low, high = counts.line_starts(order)
        out[low:high] = plain[low:high]
    return out
