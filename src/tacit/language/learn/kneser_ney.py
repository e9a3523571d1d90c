"""Kneser-Ney smoothing of n-gram counts.

The highest order uses the counts of n-grams, lower orders the numbers of different words that precede them.
A discount is subtracted from every count, and the sum of the discounts of a context goes to the order below
(Kneser and Ney, 1995); with three discounts, for counts of one, two and more, it is called modified (Chen and
Goodman, 1998).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tacit.core.limits import shown
from tacit.errors import ArgumentError, DataError
from tacit.language.data.vocabulary import BEGIN
from tacit.language.model.backoff import Discounts, GramModel, gram_model, gram_offsets
from tacit.language.moments.ngram_counts import GramCounts, GramTable

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

FIXED = (0.5, 1.0, 1.5)  # if they cannot be estimated, as KenLM's --discount_fallback
BASES = ("uniform", "unigram")


def estimated_discounts(counts: Integers, *, modified: bool = True) -> Discounts:
    """Discounts from the numbers of n-grams with counts of one, two, three and four.

    With n1 to n4 these numbers and Y = n1 / (n1 + 2 n2), the discounts are 1 - 2 Y n2 / n1, 2 - 3 Y n3 / n2
    and 3 - 4 Y n4 / n3 (Chen and Goodman, 1998), or Y for all counts if not modified. Small, repetitive or
    class data may have no n-grams of some count, or discounts below zero or above the count: then Y is used
    for all counts, and if n1 or n2 is zero too, 0.5, 1 and 1.5 (modified) or 0.5.

    Parameters
    ----------
    counts : (gram,)
        Those of one order, adjusted if it is not the highest.

    Examples
    --------
    >>> estimated_discounts(np.array([1, 1, 1, 1, 2, 2, 3, 4]), modified=False)
    Discounts(values=(0.5, 0.5, 0.5), source='estimated')
    >>> estimated_discounts(np.array([7, 7, 7]))
    Discounts(values=(0.5, 1.0, 1.5), source='fixed')
    """
    from tacit.language.loops.smoothing import count_small

    small = np.zeros(4, dtype=np.int64)
    count_small(counts, small)
    n = small.astype(np.float64)
    if not n[0] or not n[1]:
        return Discounts(FIXED if modified else (FIXED[0],) * 3, "fixed")
    one = float(n[0] / (n[0] + 2 * n[1]))
    if not modified:
        return Discounts((one,) * 3, "estimated")
    if n.all():
        first, second, third = (float(k - (k + 1) * one * n[k] / n[k - 1]) for k in (1, 2, 3))
        if 0 <= first <= 1 and 0 <= second <= 2 and 0 <= third <= 3:
            return Discounts((first, second, third), "estimated")
    return Discounts((one,) * 3, "one for all")


def given_discounts(
    discounts: Sequence[float] | Sequence[Sequence[float]], order: int
) -> list[Discounts]:
    """Discounts given by the user: one or three numbers for all orders, or a list of these for each.

    Raises
    ------
    ArgumentError
        They have another shape, or are below zero or above the count.
    """
    try:
        table = np.asarray(discounts, dtype=np.float64)
    except (ValueError, TypeError, OverflowError) as error:
        raise ArgumentError(f"discounts={shown(discounts)} are not numbers; {_WANTED}") from error
    if table.ndim < 2:
        table = np.tile(np.atleast_1d(table), (order, 1))
    if table.ndim != 2 or table.shape[0] != order or table.shape[1] not in (1, 3):
        raise ArgumentError(f"discounts={shown(discounts)} have shape {table.shape}; {_WANTED}")
    table = np.broadcast_to(table, (order, 3))
    if not ((table >= 0) & (table <= [1, 2, 3])).all():
        raise ArgumentError(
            f"discounts={shown(discounts)}; give numbers from 0 to the count: 1, 2 and 3"
        )
    return [Discounts((row[0], row[1], row[2]), "given") for row in table.tolist()]


_WANTED = (
    "give one number or three (for counts of 1, 2, and 3 or more), or a list of these per order"
)


def kneser_ney(
    counts: GramCounts,
    *,
    modified: bool = True,
    interpolated: bool = True,
    discounts: Sequence[Discounts] | None = None,
    base: str = "uniform",
) -> tuple[GramModel, list[Discounts]]:
    """The Kneser-Ney model of n-gram counts, and the discounts of each order.

    Parameters
    ----------
    counts : GramCounts
    modified : bool
        Three discounts for each order, or one.
    interpolated : bool
        Whether all words after a context get probability from the order below, or only unseen ones
        (back-off).
    discounts : sequence of Discounts, optional
        For each order, instead of estimated ones.
    base : {"uniform", "unigram"}
        Below order 1: a uniform distribution over all words but ``<s>``, including ``<unk>``, as in KenLM; or
        nothing, with order 1 not discounted, so that unseen words have probability zero (Parikh, 2015,
        chapter 9).

    Raises
    ------
    DataError
        There are no words.
    """
    if base not in BASES:
        raise ArgumentError(f"base={base!r}; choose one of {BASES}")
    if not counts.tables[0].counts.any():
        raise DataError("the text is empty, not even a blank line; there is nothing to learn from")
    offsets = gram_offsets(counts.tables)
    probs, backoffs = np.empty(offsets[-1]), np.empty(offsets[-2])
    all_discounts, lower = [], np.array([1.0 / (len(counts.vocabulary) - 1)])
    for order in range(1, counts.order + 1):
        adjusted = counts.adjusted(order)
        if discounts is not None:
            order_discounts = discounts[order - 1]
        elif order == 1 and base == "unigram":
            order_discounts = Discounts((0.0, 0.0, 0.0), "given")
        else:
            order_discounts = estimated_discounts(adjusted, modified=modified)
        all_discounts.append(order_discounts)
        order_probs = probs[offsets[order - 1] : offsets[order]]
        weights = np.empty(1) if order == 1 else backoffs[offsets[order - 2] : offsets[order - 1]]
        table, mixed = counts.tables[order - 1], interpolated or order == 1
        _smooth(table, adjusted, order_discounts, lower, order_probs, weights, interpolated=mixed)
        if order == 1:
            order_probs[BEGIN] = 0.0  # never follows anything
        lower = order_probs
    return gram_model(counts.vocabulary, counts.tables, probs, backoffs), all_discounts


def _smooth(
    table: GramTable,
    counts: Integers,
    discounts: Discounts,
    lower: Array,
    probs: Array,
    weights: Array,
    *,
    interpolated: bool,
) -> None:
    """Write the probabilities of the n-grams of an order, and the weights of its contexts."""
    from tacit.language.loops.ngrams import gather
    from tacit.language.loops.smoothing import smooth_order

    gather(lower, table.suffixes, 0, probs)
    steps = np.array([0.0, *discounts.values])
    smooth_order(table.starts, counts, steps, interpolated, probs, weights)
