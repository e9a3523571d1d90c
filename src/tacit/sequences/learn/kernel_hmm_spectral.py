"""Operators of sequences of numbers from kernel features; bandwidth and rank by cross-validation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import pairwise
from operator import add
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tacit.core.encoders.kernels import KernelEncoder, kernel_encoder, median_bandwidth
from tacit.core.encoders.margins import Margin, fit_margin
from tacit.core.encoders.vector_kernels import VectorKernelEncoder, vector_kernel_encoder
from tacit.errors import DataError
from tacit.sequences.data.number_sequences import Series, folds
from tacit.sequences.learn.kernel_hmm_selection import (
    MOST_POSITIONS,
    N_FOLDS,
    USUAL_STARTS,
    ChainSettings,
    LearntChain,
    fold_block,
)
from tacit.sequences.learn.spectral.operators import (
    Directions,
    leading_directions,
    spectral_operators,
)
from tacit.sequences.model.chains import Operators
from tacit.sequences.moments.windows import WindowMoments, Windows, windows_of
from tacit.sequences.query.forecasts import forecasts
from tacit.sequences.query.operators import evidence_messages, walked
from tacit.sequences.query.vector_forecasts import log_densities_in_turn

if TYPE_CHECKING:
    from tacit.core.progress import Report

Array = NDArray[np.float64]

# In multiples of the median distance of two rows' normal scores.
BANDWIDTHS = (0.1, 0.2, 0.3, 0.5)
RANKS = (1, 2, 3, 4, 5, 6, 8, 10, 12)
STRETCHES = (1, 2, 4, 8, 16)
FALLBACKS = np.array([0.02, 0.05, 0.1, 0.2, 0.4])
MOST_FEATURES = 30
# The same of several columns together: a kernel of the same bandwidth has more of them.
VECTOR_BANDWIDTHS = (0.2, 0.3, 0.5, 0.8)
MOST_VECTOR_FEATURES = 80
AT_ONCE = 50_000  # positions whose windows are held in memory
WARM_UP = 60  # positions before those that are scored


@dataclass(frozen=True, eq=False)
class KernelWindows:
    """Windows of kernel features of sequences."""

    series: Series
    bandwidth: float  # as a multiple
    encoder: KernelEncoder | VectorKernelEncoder
    stretches: tuple[int, ...]

    @cached_property
    def fold_moments(self) -> list[WindowMoments]:
        """The sums without each fold; formed once for all ranks."""
        n = self.series.n_positions
        return [self.moments(left_out) for left_out in folds(n, N_FOLDS, fold_block(n))]

    @property
    def reach(self) -> int:
        """Positions of a window on either side."""
        return sum(self.stretches)

    def windows(self) -> Iterator[tuple[int, Windows]]:
        """All windows, a block of positions at a time, and where the block begins."""
        ends = self.series.ends
        begin = 0  # sequences, as many as fit together; one that is too long comes in pieces
        while begin < len(ends) - 1:
            last = int(np.searchsorted(ends, ends[begin] + AT_ONCE, side="right")) - 1
            if last > begin:
                low, high = int(ends[begin]), int(ends[last])
                features = features_of(self.encoder, self.series.values[low:high])
                yield low, windows_of(features, self.series.lengths[begin:last], self.stretches)
                begin = last
            else:
                yield from self._windows_of_one(int(ends[begin]), int(ends[begin + 1]))
                begin += 1

    def _windows_of_one(self, start: int, stop: int) -> Iterator[tuple[int, Windows]]:
        """The windows of one long sequence; each window is in one piece."""
        for first in range(start, stop, AT_ONCE):
            low, high = max(first - self.reach, start), min(first + AT_ONCE + self.reach, stop)
            features = features_of(self.encoder, self.series.values[low:high])
            windows = windows_of(features, np.array([high - low]), self.stretches)
            yield low, windows if first == start else replace(windows, firsts=windows.firsts[:0])

    @cached_property
    def directions(self) -> Directions:
        """The leading directions of past and future."""
        nothing = np.empty((len(self.stretches) * self.encoder.size, 0))
        parts = (WindowMoments.of(windows, nothing, nothing) for _, windows in self.windows())
        return leading_directions(reduce(add, parts), max(RANKS))

    def moments(self, left_out: NDArray[np.bool_] | None = None) -> WindowMoments:
        """Sums over the windows that do not overlap positions left out."""
        left, right = self.directions.left, self.directions.right
        touched = None if left_out is None else np.concatenate([[0], np.cumsum(left_out)])
        parts = []
        for start, windows in self.windows():
            weights = None
            if touched is not None:
                at = windows.positions + start
                apart = touched[at + self.reach + 1] == touched[at - self.reach]
                weights = apart.astype(np.float64)
            parts.append(WindowMoments.of(windows, left, right, weights))
        return reduce(add, parts)

    @cached_property
    def n_windows(self) -> int:
        """Number of windows."""
        return sum(len(windows.positions) for _, windows in self.windows())

    def operators(self, moments: WindowMoments, rank: int) -> Operators:
        """The operators of some rank."""
        usual = moments.future / float(moments.n_windows)
        n_firsts = float(moments.n_firsts)
        start = (moments.first + USUAL_STARTS * usual) / (n_firsts + USUAL_STARTS)
        return spectral_operators(moments, self.directions, rank, self.encoder.total, initial=start)


def fitting_stretches(lengths: NDArray[np.int64]) -> tuple[int, ...]:
    """As many stretches of lags as fit the median position, at least one."""
    typical = float(np.quantile(np.repeat(lengths, lengths), 0.5)) if lengths.sum() else 0.0
    stretches = [STRETCHES[0]]
    for stretch in STRETCHES[1:]:
        if 4 * (sum(stretches) + stretch) + 1 <= typical:
            stretches.append(stretch)
    return tuple(stretches)


def features_of(encoder: KernelEncoder | VectorKernelEncoder, values: Array) -> Array:
    """(position, feature) of (position, column) numbers; NaN where a number is missing."""
    return encoder.features(values if isinstance(encoder, VectorKernelEncoder) else values[:, 0])


def predictive_logs(
    operators: Operators,
    encoder: KernelEncoder | VectorKernelEncoder,
    series: Series,
    fallbacks: Array,
) -> Array:
    """(fallback, position) log-densities of all positions given those before them."""
    if isinstance(encoder, VectorKernelEncoder):
        rows = series.values
        messages = evidence_messages(operators, [encoder.likelihoods(rows)])
        walk = walked(operators, messages, series.lengths, restart=True)
        return log_densities_in_turn(operators, walk, encoder, rows, fallbacks)[0]
    numbers = series.values[:, 0]
    messages = evidence_messages(operators, [encoder.likelihoods(numbers)])
    walk = walked(operators, messages, series.lengths, restart=True)
    predictions = forecasts(operators, walk.states.at(walk.before), 0, encoder)
    return predictions.log_densities_with(numbers, fallbacks)


def _pieces(series: Series, left_out: NDArray[np.bool_]) -> tuple[Series, NDArray[np.bool_]]:
    """Held-out pieces with the positions before them; and which positions are held out."""
    spans = []
    for start, stop in pairwise(series.ends.tolist()):
        edges = np.flatnonzero(np.diff(left_out[start:stop].astype(np.int8), prepend=0, append=0))
        spans += [
            (max(first + start - WARM_UP, start), first + start, last + start)
            for first, last in edges.reshape(-1, 2)
        ]
    if not spans:
        return Series(series.values[:0], np.zeros(0, np.int64), series.names), left_out[:0]
    values = np.concatenate([series.values[a:c] for a, _, c in spans])
    judged = np.concatenate([np.arange(a, c) >= b for a, b, c in spans])
    lengths = np.array([c - a for a, _, c in spans], dtype=np.int64)
    return Series(values, lengths, series.names), judged


def learn_spectral(
    series: Series, validation: Series | None, settings: ChainSettings, report: Report
) -> LearntChain:
    """Operators; their rank and the kernel's bandwidth are selected by held-out densities.

    Parameters are those of `learn_chain`.
    """
    margins = [fit_margin(column) for column in series.values.T]
    selection_series = series.cut(1000, MOST_POSITIONS)
    stretches = fitting_stretches(series.lengths)
    candidates = []
    widths: Sequence[float] = BANDWIDTHS if series.n_columns == 1 else VECTOR_BANDWIDTHS
    if settings.bandwidth is not None:
        widths = (settings.bandwidth,)
    for number, bandwidth in enumerate(widths):
        report(0.9 * number / len(widths), f"bandwidth {bandwidth}")
        kernel_windows = _kernel_windows(selection_series, bandwidth, margins, stretches)
        candidates += list(_trials(kernel_windows, validation, settings))
    best = max(candidates, key=lambda candidate: candidate["held_out_score"])
    final = _kernel_windows(series, float(best["bandwidth"]), margins, stretches)
    rank = min(int(best["rank"]), len(final.directions.sizes))
    operators = final.operators(final.moments(), rank)
    diagnostics = {
        "learn": "spectral",
        "rank": rank,
        "bandwidth": best["bandwidth"],
        "fallback": best["fallback"],
        "stretches": list(stretches),
        "singular_values": final.directions.sizes.tolist(),
        "n_features": final.encoder.size,
        "n_windows": final.n_windows,
        "held_out_score": best["held_out_score"],
        "candidates": candidates,
    }
    return LearntChain(operators, (final.encoder,), float(best["fallback"]), diagnostics)


def _kernel_windows(
    series: Series, bandwidth: float, margins: Sequence[Margin], stretches: tuple[int, ...]
) -> KernelWindows:
    widths = [
        bandwidth * median_bandwidth(margin.scores(numbers[~np.isnan(numbers)]))
        for numbers, margin in zip(series.values.T, margins, strict=True)
    ]
    encoder: KernelEncoder | VectorKernelEncoder
    if series.n_columns == 1:
        encoder = kernel_encoder(
            series.values[:, 0], widths[0], n_features=MOST_FEATURES, margin=margins[0]
        )
    elif np.isnan(series.values).any(axis=1).all():
        raise DataError("no position has all columns; spectral learning needs such positions")
    else:
        encoder = vector_kernel_encoder(
            series.values, widths, n_features=MOST_VECTOR_FEATURES, margins=margins
        )
    kernel_windows = KernelWindows(series, bandwidth, encoder, stretches)
    if kernel_windows.n_windows == 0:
        raise DataError(
            "no sequence has three positions in a row that were all observed; spectral learning "
            "needs them"
        )
    return kernel_windows


def _trials(
    kernel_windows: KernelWindows, validation: Series | None, settings: ChainSettings
) -> Iterator[dict[str, float]]:
    """Ranks with their best fallback weight, and held-out scores."""
    most = len(kernel_windows.directions.sizes)
    candidates = RANKS if settings.n_states == "auto" else (int(settings.n_states),)
    ranks = [rank for rank in candidates if rank <= most] or [most]
    for rank in ranks:
        logs = _held_out(kernel_windows, validation, rank)
        scores = np.where(np.isfinite(logs), logs, -50.0).mean(axis=1)
        place = int(scores.argmax())
        yield {
            "bandwidth": kernel_windows.bandwidth,
            "rank": rank,
            "fallback": float(FALLBACKS[place]),
            "held_out_score": float(scores[place]),
        }


def _held_out(kernel_windows: KernelWindows, validation: Series | None, rank: int) -> Array:
    """(fallback, position) held-out log-densities; missing positions are left out."""
    if validation is not None:
        operators = kernel_windows.operators(kernel_windows.moments(), rank)
        logs = predictive_logs(operators, kernel_windows.encoder, validation, FALLBACKS)
        return logs[:, ~np.isnan(validation.values).all(axis=1)]
    parts: list[Array] = []
    n = kernel_windows.series.n_positions
    turns = folds(n, N_FOLDS, fold_block(n))
    for left_out, moments in zip(turns, kernel_windows.fold_moments, strict=True):
        series, judged = _pieces(kernel_windows.series, left_out)
        if not judged.any() or float(moments.n_windows) == 0:
            continue
        logs = predictive_logs(
            kernel_windows.operators(moments, rank), kernel_windows.encoder, series, FALLBACKS
        )
        parts.append(logs[:, judged & ~np.isnan(series.values).all(axis=1)])
    return np.hstack(parts) if parts else np.zeros((len(FALLBACKS), 1))
