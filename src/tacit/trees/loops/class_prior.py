"""Strength of the Dirichlet prior of each column's tables, from expected counts."""

from __future__ import annotations

import math

import numpy as np

from tacit.core.loops.compiled import njit

NEWTON_STEPS = 6
LONGEST_STEP = 2.0  # of the logarithm
CLOSE = 0.05  # a step as short as this is the last


@njit(cache=True, nogil=True)
def digamma(x):
    """The derivative of the logarithm of the gamma function, for positive numbers."""
    value = 0.0
    while x < 6.0:
        value -= 1.0 / x
        x += 1.0
    over = 1.0 / (x * x)
    series = over * (1 / 12 - over * (1 / 120 - over * (1 / 252 - over / 240)))
    return value + math.log(x) - 0.5 / x - series


@njit(cache=True, nogil=True)
def trigamma(x):
    """The second derivative of the logarithm of the gamma function, for positive numbers."""
    value = 0.0
    while x < 6.0:
        value += 1.0 / (x * x)
        x += 1.0
    over = 1.0 / (x * x)
    series = 1 / 6 - over * (1 / 30 - over * (1 / 42 - over / 30))
    return value + 1.0 / x + over / 2 + over / x * series


@njit(cache=True, nogil=True)
def prior_strengths(counts, marginals, starts, usual, spread, most, shared):
    """(column,) Pseudo-counts of a column's tables that make the counts in all classes likeliest.

    The tables of a column are draws from a Dirichlet distribution around the marginal; its strength
    maximises the likelihood of the counts (Minka 2000) times a log-normal density, by Newton's steps.

    Parameters
    ----------
    counts : (cell, class)  expected
    marginals : (cell,)  all positive
    starts : (column + 1,)
    usual, spread : median of the log-normal density, and its standard deviation in logarithms
    most : the largest strength
    shared : how far the strengths are brought to their geometric mean, from 0 to 1
    """
    k = counts.shape[1]
    out = np.empty(len(starts) - 1)
    for column in range(len(out)):
        strength = usual
        for _ in range(NEWTON_STEPS):
            slope, bend = 0.0, 0.0
            for h in range(k):
                total = 0.0
                for cell in range(starts[column], starts[column + 1]):
                    count, probability = counts[cell, h], marginals[cell]
                    total += count
                    if count > 0.0:
                        prior = strength * probability
                        slope += probability * (digamma(count + prior) - digamma(prior))
                        bend += probability**2 * (trigamma(count + prior) - trigamma(prior))
                slope -= digamma(total + strength) - digamma(strength)
                bend -= trigamma(total + strength) - trigamma(strength)
            # By the logarithm of the strength.
            bend = strength * slope + strength**2 * bend - 1 / spread**2
            slope = strength * slope - math.log(strength / usual) / spread**2
            step = -slope / bend if bend < 0.0 else math.copysign(LONGEST_STEP, slope)
            step = min(max(step, -LONGEST_STEP), LONGEST_STEP)
            strength = min(strength * math.exp(step), most)
            if abs(step) < CLOSE:
                break
        out[column] = strength
    mean = np.exp(np.log(out).mean())
    return mean * (out / mean) ** (1 - shared)


@njit(cache=True, nogil=True)
def pseudo_counts(strengths, marginals, starts, of_weights, n_classes):
    """(cell and weight, class) Pseudo-counts: of a column as its marginal, of weights evenly."""
    out = np.empty((len(marginals) + 1, n_classes))
    for column in range(len(strengths)):
        for cell in range(starts[column], starts[column + 1]):
            out[cell, :] = strengths[column] * marginals[cell]
    out[-1, :] = of_weights / n_classes
    return out
