"""The counts and discounts of each order of a power low rank ensemble."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ArgumentError
from tacit.language.learn.kneser_ney import estimated_discounts
from tacit.language.model.backoff import Discounts
from tacit.language.model.ensemble import OrderPlan, Step
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
    passed: Array  # (gram,)  what goes to the order below: discounts, or fractions of counts

    def step(self, step: Step) -> Array:
        """(gram,) a function f of the counts."""
        exponent, power = step
        if exponent == 0.0:
            return self.counts
        if power == 0.0:
            return self.discounts if exponent == 1.0 else np.asarray(self.discounts**exponent)
        return np.asarray(self.discounts**exponent * self.counts**power)

    def unit(self, upper: Step, lower: Step | None) -> float:
        """The value of a count of one in the part between two steps."""
        one = self.estimated.values[0]
        return float(one ** upper[0] - (0.0 if lower is None else one ** lower[0]))

    def sums(self, values: Array) -> Array:
        """(context,) sums over the n-grams of each context."""
        from tacit.language.loops.ensemble import sum_by

        out = np.zeros(self.table.n_contexts)
        sum_by(self.contexts, values, out)
        return out


def order_levels(
    counts: GramCounts,
    plans: Mapping[int, OrderPlan],
    base: str = "uniform",
    given: Sequence[Discounts] | None = None,
) -> list[OrderLevel]:
    """The counts of every order, from the first on; each order gets what the one above passes down.

    Parameters
    ----------
    given
        The discounts of each order, instead of estimated ones.
    """
    levels: list[OrderLevel] = []
    whole = counts.adjusted(counts.order)
    values = whole.astype(np.float64)
    for order in range(counts.order, 0, -1):
        plan = plans.get(order, OrderPlan(modified=False))
        table = counts.tables[order - 1]
        if order == 1 and base == "unigram":
            estimated = Discounts((0.0, 0.0, 0.0), "given")
        elif given is not None:
            estimated = given[order - 1]
        else:
            estimated = estimated_discounts(whole, modified=plan.modified)
        if plan.steps[-1][1] > 0 and max(estimated.values) > 1:
            raise ArgumentError(
                f"discounts {estimated.values} of order {order}, whose discounts are fractions of counts; "
                "give numbers from 0 to 1"
            )
        discounts = np.interp(values, [0, 1, 2, 3], [0.0, *estimated.values])
        contexts = table.contexts() if order > 1 else np.zeros(len(table), np.int32)
        empty = np.zeros(0)
        level = OrderLevel(order, table, contexts, values, discounts, empty, estimated, empty)
        passed = level.step(plan.steps[-1])
        levels.append(replace(level, totals=level.sums(values), passed=passed))
        if order > 1:
            below, power = counts.tables[order - 2], plan.steps[-1][1]
            is_plain = plan.plain_counts or power == 1.0
            whole = below.counts if is_plain else counts.adjusted(order - 1)
            values = _lower_counts(counts, levels[-1], power)
            if plan.plain_counts:
                values = whole.astype(np.float64)
    return levels[::-1]


def _lower_counts(counts: GramCounts, level: OrderLevel, power: float) -> Array:
    """(gram,) counts of the order below: what n-grams with the same ending pass down, summed.

    With a single discount they are the numbers of different preceding words, as in Kneser-Ney, and with a
    power of one the counts of the text.
    """
    from tacit.language.loops.ensemble import sum_by

    order, unit = level.order - 1, level.estimated.values[0]
    table = counts.tables[order - 1]
    passed = level.passed
    if unit <= 0:  # nothing is discounted: the limit of a small discount
        passed, unit = (level.counts > 0) * level.counts**power, 1.0
    out = np.zeros(len(table))
    sum_by(level.table.suffixes, passed, out)
    out /= unit
    if counts.pads == 1:
        # Nothing precedes a single `<s>`: these n-grams keep their counts.
        low, high = counts.line_starts(order)
        out[low:high] = table.counts[low:high]
    return out
