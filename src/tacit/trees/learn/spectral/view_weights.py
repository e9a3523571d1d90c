"""Strengths and weights of the views of an edge, and the size of noise."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.core.linalg.svd import stacked_svd

Array = NDArray[np.float64]


def view_strengths(tables: Array, ranks: NDArray[np.int64], *, whiten: bool) -> Array:
    """(edge,) The singular value of each table at a rank; the first of whitened ones is 1, and not in it."""
    try:
        values = np.linalg.svd(tables, compute_uv=False)
    except np.linalg.LinAlgError:
        values = stacked_svd(tables)[1]
    if whiten:
        values = np.concatenate([np.ones((len(values), 1)), values], axis=1)
    most = values.shape[1]
    strengths = values[np.arange(len(values)), np.minimum(ranks, most) - 1]
    return np.asarray(np.where(ranks <= most, strengths, 0.0))


def view_weights(strengths: Array, *, whiten: bool) -> Array:
    """(edge, view) The weight of each view, in proportion to its strength. Squares sum to one.

    Equal weights, as in the thesis, cost 5 to 15 % in error where views differ in strength.
    """
    if not whiten or not strengths.any():
        strengths = np.ones_like(strengths)
    strengths = np.where(strengths.any(axis=1, keepdims=True), strengths, 1.0)
    return np.asarray(strengths / np.linalg.norm(strengths, axis=1, keepdims=True))


def noise_levels(variances: Array, freedom: Array, freedoms: Array, *, whiten: bool) -> Array:
    """(edge,) The largest singular value that views independent of the star would have.

    Parameters
    ----------
    variances : (edge, view)
        Squared weight of each view over the rows behind it.
    freedom : (edge,)
        Dimensions in which the star varies, without the constant.
    freedoms : (edge, view)
        The same of each view.
    """
    if not whiten:
        return np.asarray(0.5 * np.sqrt(variances.sum(axis=1)))
    by_row, by_column = freedom * variances.max(axis=1), (variances * freedoms).sum(axis=1)
    return np.asarray(np.sqrt(by_row) + np.sqrt(by_column))
