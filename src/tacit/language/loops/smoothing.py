"""Compiled smoothing of n-gram counts."""

from __future__ import annotations

from tacit.core.loops.compiled import njit

MIN_UNSEEN = 1e-9  # lower-order probability of unseen words below which they get nothing


@njit(cache=True, nogil=True)
def count_small(counts, out):
    """Add the numbers of n-grams with counts 1, 2, ... to `out`."""
    for count in counts:
        if 1 <= count <= len(out):
            out[count - 1] += 1


@njit(cache=True, nogil=True)
def smooth_order(starts, counts, discounts, interpolated, probs, backoffs):
    """Write the probabilities of the n-grams of an order, and the back-off weights of its contexts.

    Parameters
    ----------
    starts : (context + 1,)
    counts : (gram,)
    discounts : (4,)  of counts of 0 (which is 0), 1, 2, and 3 or more
    interpolated : whether the lower order is added to words that were seen too
    probs : (gram,)  those of the order below, without the first word; overwritten
    backoffs : (context,)  written
    """
    for context in range(len(starts) - 1):
        low, high = starts[context], starts[context + 1]
        total, discounted = 0, 0.0
        for gram in range(low, high):
            total += counts[gram]
            discounted += discounts[min(counts[gram], 3)]
        if total == 0:
            backoffs[context] = 1.0
            continue
        backoff = discounted / total
        if interpolated:
            backoffs[context] = backoff
            for gram in range(low, high):
                count = counts[gram]
                remaining = (count - discounts[min(count, 3)]) / total
                probs[gram] = remaining + backoff * probs[gram]
            continue
        unseen = 1.0
        for gram in range(low, high):
            count = counts[gram]
            unseen -= probs[gram]
            probs[gram] = (count - discounts[min(count, 3)]) / total
        if unseen > MIN_UNSEEN:
            backoffs[context] = backoff / unseen
        else:  # all words were seen: the discounts go back to them
            backoffs[context] = 0.0
            for gram in range(low, high):
                probs[gram] = counts[gram] / total
