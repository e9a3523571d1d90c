"""Distances of words from smoothed moments of their vectors: an additive metric (Parikh 2015, 8.3.2)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ArgumentError, DataError, RankError
from tacit.parsing.moments.tag_pairs import TagPairs

Array = NDArray[np.float64]
MIN_WEIGHT = 20.0  # the kernel is widened until its weights sum to this
WIDER = 1.5  # times, at each step
_MIN_RATIO = 1e-12  # to the largest singular value: smaller ones are rounding


def kernel_weights(longest: int, bandwidth: float) -> Array:
    """(distance, distance) weights of pairs at one distance for estimates at another (equation 8.7).

    ``max(0, 1 - |a - b| / ((a + b) bandwidth))`` for the distances 1, 2, ..., longest.
    """
    at = np.arange(1.0, longest + 1)
    apart = np.abs(at[:, None] - at) / (at[:, None] + at)
    return np.asarray(np.maximum(0.0, 1.0 - apart / bandwidth))


def smoothed_covariances(pairs: TagPairs, bandwidth: float) -> tuple[Array, Array]:
    """Kernel averages of the moments of each pair of tags over distances (algorithm 18).

    Where the weights of a distance sum to too little, the kernel is widened.

    Returns
    -------
    covariances : (tag, tag, distance, feature, feature)
        NaN for pairs of tags that were never seen.
    weights : (tag, tag, distance)
    """
    if bandwidth <= 0:
        raise ArgumentError(f"bandwidth={bandwidth!r} must be positive")
    longest = pairs.counts.shape[2]
    total = np.zeros(pairs.counts.shape)
    smooth = np.full(pairs.products.shape, np.nan)
    widths = [bandwidth]
    while widths[-1] < longest * 2:
        widths.append(widths[-1] * WIDER)
    kernels = [kernel_weights(longest, width) for width in widths]
    for t, u in zip(*np.nonzero(pairs.counts.sum(axis=2)), strict=True):
        counts = pairs.counts[t, u]
        enough = np.array([kernel @ counts for kernel in kernels])  # (width, distance)
        chosen = np.argmax(enough >= np.minimum(MIN_WEIGHT, counts.sum() * 0.5), axis=0)
        weights = np.stack([kernels[width][at] for at, width in enumerate(chosen)])
        total[t, u] = weights @ counts
        flat = pairs.products[t, u].reshape(longest, -1)
        smooth[t, u] = ((weights @ flat) / total[t, u][:, None]).reshape(smooth[t, u].shape)
    return smooth, total


def spectral_distances(covariances: Array, rank: int) -> Array:
    """Minus the sum of the logarithms of the leading singular values, for each pair of tags and distance.

    The terms of equation 8.5 that belong to one word alone are left out: they change no tree. Pairs of tags
    that were never seen get the mean of all others at that distance.

    Parameters
    ----------
    covariances : (tag, tag, distance, feature, feature)
    rank : int

    Raises
    ------
    RankError
        There are fewer features.
    """
    n_features = covariances.shape[-1]
    if not 1 <= rank <= n_features:
        raise RankError(
            f"rank={rank} of covariances of {n_features} features; pass 1 to {n_features}"
        )
    is_estimated = np.isfinite(covariances[..., 0, 0])
    if not is_estimated.any():
        raise DataError("no two words stand in one sentence: nothing can be learnt")
    values = np.linalg.svd(covariances[is_estimated], compute_uv=False)[:, :rank]
    values = np.maximum(values, _MIN_RATIO * values.max())
    distances = np.full(covariances.shape[:3], np.nan)
    distances[is_estimated] = -np.log(values).sum(axis=1)
    return np.where(np.isnan(distances), np.nanmean(distances, axis=(0, 1)), distances)
