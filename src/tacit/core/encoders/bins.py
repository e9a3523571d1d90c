"""Numbers cut into categories at quantiles."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tacit.core.input.table import Column
from tacit.core.limits import shown
from tacit.errors import ArgumentError

# A column of floats with more distinct values than this is cut; with fewer, each value is a category.
MOST_DISTINCT_FLOATS = 20

# Of more rows than this a sample is used: it gives quantiles to a few tenths of a percent of the rows.
_MOST_ROWS = 2**17

Floats = NDArray[np.float64]

MOST_BINS = 10**6  # of a column


def binned_column(
    name: str, values: Floats, weights: Floats, n_bins: int, *, dates: bool = False
) -> Column:
    """A column cut at quantiles of its values, into at most `n_bins` bins and none of them empty.

    A cut is one of the values: the first whose cumulated weight reaches the quantile. So a row of weight two
    counts as two rows, and a value that most of the data have gets a bin of its own.

    Parameters
    ----------
    name : str
        The column's name.
    values : (value,) float64
        The distinct values, ascending.
    weights : (value,) float64
        How much each of them weighs; positive.
    n_bins : int
        Number of bins, at least two.
    dates : bool
        Whether the values are days since 1970-01-01, and the bins are to be called by dates.
    """
    reached = np.cumsum(weights)
    _check_bins(n_bins)
    targets = np.arange(1, n_bins) / n_bins * reached[-1]
    cuts = np.unique(values[np.searchsorted(reached, targets)])
    cuts = cuts[cuts < values[-1]]  # nothing lies above the largest value
    if len(cuts) == 0:
        cuts = values[-2:-1]
    bins = np.searchsorted(cuts, values)
    centers = [
        float(_weighted_median(values[bins == place], weights[bins == place]))
        for place in range(len(cuts) + 1)
    ]
    return Column(
        name, bin_labels(cuts, dates=dates), "binned", tuple(cuts.tolist()), tuple(centers)
    )


def even_cuts(values: Floats, n_bins: int, weights: Floats | None = None) -> Floats:
    """Cuts that lie between the values and leave about the same weight in every bin.

    A value that many rows have gets a bin of its own, and there are then fewer bins.

    Parameters
    ----------
    values : (row,) float64
        The numbers; NaN where they are missing.
    n_bins : int
        The largest number of bins.
    weights : (row,) float64, optional
        How much each row counts.
    """
    _check_bins(n_bins)
    values, weights = some_rows(values, weights)
    if weights is None:
        ordered = np.sort(values)
        sums = np.arange(1.0, len(ordered) + 1)
    else:
        order = np.argsort(values, kind="stable")
        ordered, sums = values[order], np.cumsum(weights[order])
    gaps = np.flatnonzero(ordered[1:] > ordered[:-1])  # the value before each gap
    if len(gaps) == 0:
        return np.empty(0)
    reached, total = sums[gaps], float(sums[-1])
    targets = np.arange(1, n_bins) / n_bins * total
    right = np.minimum(np.searchsorted(reached, targets), len(reached) - 1)
    left = np.maximum(right - 1, 0)
    nearer = targets - reached[left] <= reached[right] - targets
    chosen = np.unique(np.where(nearer, left, right))
    # A bin is no smaller than a quarter of what it would be.
    least = 0.25 * total / n_bins
    cut_gaps: list[int] = []
    before = 0.0
    for gap in chosen.tolist():
        if reached[gap] - before >= least and total - reached[gap] >= least:
            cut_gaps.append(gap)
            before = float(reached[gap])
    cuts = gaps[cut_gaps]
    return np.asarray(0.5 * ordered[cuts] + 0.5 * ordered[cuts + 1])


def some_rows(values: Floats, weights: Floats | None = None) -> tuple[Floats, Floats | None]:
    """The rows that have a value and count, or of very many a sample; always the same, with both ends."""
    counted = ~np.isnan(values)
    if weights is not None:
        counted &= weights > 0
        weights = weights[counted]
    values = values[counted]
    if len(values) <= _MOST_ROWS:
        return values, weights
    rows = np.random.default_rng(0).integers(0, len(values), _MOST_ROWS)
    rows[:2] = values.argmin(), values.argmax()
    return values[rows], None if weights is None else weights[rows]


def codes_of_numbers(values: Floats, edges: tuple[float, ...]) -> NDArray[np.int16]:
    """The bin of each number, -1 where it is NaN."""
    codes = np.searchsorted(np.asarray(edges), values).astype(np.int16)
    codes[np.isnan(values)] = -1
    return codes


def _weighted_median(values: Floats, weights: Floats) -> np.float64:
    reached = np.cumsum(weights)
    median: np.float64 = values[np.searchsorted(reached, 0.5 * reached[-1])]
    return median


def bin_labels(cuts: Floats, *, dates: bool = False) -> tuple[str, ...]:
    """What the bins are called: as few digits as keep the cuts apart, or dates."""
    if len(cuts) == 0:
        return ("any",)
    if dates:
        texts = [str(np.datetime64(0, "D") + np.timedelta64(int(cut), "D")) for cut in cuts]
        if len(set(texts)) == len(texts):
            inner = [f"{low} to {high}" for low, high in pairwise(texts)]
            return (f"up to {texts[0]}", *inner, f"after {texts[-1]}")
    for digits in range(3, 18):
        texts = [f"{cut:.{digits}g}" for cut in cuts]
        if len(set(texts)) == len(texts):
            break
    inner = [f"{low} to {high}" for low, high in pairwise(texts)]
    return (f"up to {texts[0]}", *inner, f"above {texts[-1]}")


def _check_bins(n_bins: int) -> None:
    if n_bins > MOST_BINS:
        raise ArgumentError(f"n_bins={shown(n_bins)}; give at most {MOST_BINS}")
