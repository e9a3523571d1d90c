"""Missing symbols given whole sequences."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Codes = NDArray[np.int32]


def symbol_probabilities(emissions: Array, codes: Codes, posterior: Array) -> Array:
    """(position, symbol) P(symbol | the whole sequence).

    Parameters
    ----------
    emissions : (state, symbol)
    codes : (position,)
        -1: missing.
    posterior : (position, state)
        Given the whole sequence; zeros where it is impossible.
    """
    probabilities = np.zeros((len(codes), emissions.shape[1]))
    missing, observed = np.flatnonzero(codes < 0), np.flatnonzero(codes >= 0)
    probabilities[observed, codes[observed]] = 1.0
    probabilities[missing] = posterior[missing] @ emissions
    return probabilities


def filled_symbols(probabilities: Array, symbols: Sequence[Hashable]) -> NDArray[np.object_]:
    """(position,) the most likely symbols; None where all probabilities are zero."""
    table = np.empty(len(symbols) + 1, dtype=np.object_)
    table[:-1] = [*symbols]
    best = probabilities.argmax(axis=1)
    best[~(probabilities.sum(axis=1) > 0)] = len(symbols)
    return np.asarray(table[best])


def filled_rows(rows: Array, expected: Array, posterior: Array) -> Array:
    """Rows of numbers with the mean of a mixture in each gap; where its weights are zero the gap remains.

    Parameters
    ----------
    rows : (position, column)
        NaN: missing.
    expected : (state, column) or (position, state, column)
        Means of the states; as the second, of each position.
    posterior : (position, state)
    """
    is_common = expected.ndim == 2
    means = posterior @ expected if is_common else np.einsum("ps,psc->pc", posterior, expected)
    means[~(posterior.sum(axis=1) > 0)] = np.nan
    return np.where(np.isnan(rows), means, rows)
