"""Compiled expectation of pairs of hidden states behind pairs of symbols."""

from __future__ import annotations

import math

import numpy as np
from numba import njit


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz", "arcp"})
def expect_pairs(heads, columns, weights, first, second, joint, counts):
    """Expected weights of pairs of states, given weights of pairs of symbols and what states emit.

    Parameters
    ----------
    heads, columns, weights : rows of pairs of symbols: those of symbol a stand from heads[a] on
    first, second : (symbol, state)  P(symbol | state) of the first and the second of a pair
    joint : (state, state)  P(first state, second state)
    counts : (state, state)  filled

    Returns
    -------
    The log-likelihood of the pairs of symbols.
    """
    k, width = joint.shape
    summed = np.empty(width)
    shares = np.empty(width)
    gathered = np.zeros((k, width))
    log = 0.0
    for a in range(len(heads) - 1):
        if heads[a] == heads[a + 1]:
            continue
        for n in range(width):
            summed[n] = 0.0
            shares[n] = 0.0
        for m in range(k):
            for n in range(width):
                summed[n] += first[a, m] * joint[m, n]
        for at in range(heads[a], heads[a + 1]):
            b = columns[at]
            chance = 0.0
            for n in range(width):
                chance += summed[n] * second[b, n]
            chance = max(chance, 1e-300)
            log += weights[at] * math.log(chance)
            share = weights[at] / chance
            for n in range(width):
                shares[n] += share * second[b, n]
        for m in range(k):
            for n in range(width):
                gathered[m, n] += first[a, m] * shares[n]
    for m in range(k):
        for n in range(width):
            counts[m, n] = gathered[m, n] * joint[m, n]
    return log
