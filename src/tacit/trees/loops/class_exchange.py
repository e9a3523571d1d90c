"""Compiled exchange of classes: a redundant class is removed, and another is split in two.

Tables, pseudo-counts and counts stand as in `tacit.trees.loops.class_em`: (cell and weight, class).
"""

from __future__ import annotations

import math

import numpy as np

from tacit.core.loops.compiled import njit
from tacit.trees.loops.class_em import step
from tacit.trees.loops.classes import direction_sums, half_counts, halve, lost_without

# Passes that look for the directions. Chosen on tables of 200 and 1500 rows, as are the next three.
PASSES = 2
PSEUDO_ROWS = (
    5.0  # added to each class before its columns are scaled: rare categories would weigh too much
)
SHARPNESS = 3.0  # of the split of a class, in standard deviations along its direction
SELF_PART = 0.9  # of the covariances of a column with itself that is removed
LEAST_SPREAD = 0.1


@njit(cache=True, nogil=True)
def _centred(axes, roots, starts):
    """Take out of each column what is the same for all of its categories, class by class; length one."""
    for h in range(axes.shape[1]):
        for column in range(len(starts) - 1):
            mean = 0.0
            for cell in range(starts[column], starts[column + 1]):
                mean += axes[cell, h] * roots[cell, h]
            for cell in range(starts[column], starts[column + 1]):
                axes[cell, h] -= mean * roots[cell, h]


@njit(cache=True, nogil=True)
def _scaled(axes):
    """Bring the direction of every class to length one."""
    for h in range(axes.shape[1]):
        length = 0.0
        for cell in range(len(axes)):
            length += axes[cell, h] ** 2
        scale = 1.0 / max(math.sqrt(length), 1e-300)
        for cell in range(len(axes)):
            axes[cell, h] *= scale


@njit(cache=True, nogil=True)
def directions_within(codes, starts, conditionals, mass, membership):
    """The direction (cell, class) along which the columns of a class depend on each other most, its variance.

    The first axis of a correspondence analysis within the class, by power steps.
    """
    n_cells, k = conditionals.shape
    total, every = mass + PSEUDO_ROWS, max(mass.sum(), 1e-300)
    roots, axes = np.empty((n_cells, k)), np.empty((n_cells, k))
    for cell in range(n_cells):
        overall = 0.0
        for h in range(k):
            overall += conditionals[cell, h] * mass[h] / every
        for h in range(k):
            probability = (conditionals[cell, h] * mass[h] + PSEUDO_ROWS * overall) / total[h]
            roots[cell, h] = math.sqrt(max(probability, 1e-300))
            axes[cell, h] = math.cos(1.0 + cell)  # a start with no symmetry of its own
    _centred(axes, roots, starts)
    _scaled(axes)
    spread = np.ones(k)
    for _ in range(PASSES):
        sums, totals = np.zeros((n_cells, k)), np.zeros(k)
        direction_sums(codes, membership, starts, axes / roots, sums, totals)
        for cell in range(n_cells):
            for h in range(k):
                apart = sums[cell, h] / roots[cell, h] - roots[cell, h] * totals[h]
                sums[cell, h] = apart / total[h]
        _centred(sums, roots, starts)
        spread[:] = 1.0
        for cell in range(n_cells):
            for h in range(k):
                sums[cell, h] -= axes[cell, h] * SELF_PART * mass[h] / total[h]
                spread[h] += sums[cell, h] * axes[cell, h]
        axes[:] = sums
        _scaled(axes)
    return axes / roots, spread


@njit(cache=True, nogil=True)
def _half_tables(counts, sizes, starts):
    """Logarithms of the probabilities of the cells in every half, and of the halves' weights, from counts."""
    n_cells, n = counts.shape
    tables, weights = np.empty((n_cells, n)), np.empty(n)
    for half in range(n):
        for column in range(len(starts) - 1):
            total = 0.0
            for cell in range(starts[column], starts[column + 1]):
                total += counts[cell, half]
            for cell in range(starts[column], starts[column + 1]):
                probability = counts[cell, half] / max(total, 1e-300)
                tables[cell, half] = math.log(max(probability, 1e-300))
        both = sizes[half] + sizes[half ^ 1]
        weights[half] = math.log(max(sizes[half] / max(both, 1e-300), 1e-300))
    return tables, weights


@njit(cache=True, nogil=True)
def halves_of(codes, starts, conditionals, mass, membership, pseudo):
    """Every class as a mixture of two: halves 2h and 2h + 1 are of class h.

    Classes are split across the directions in which their columns are dependent; a step of EM follows.

    Returns
    -------
    tables : (cell, half)  logarithms of probabilities
    weights : (half,)  logarithms of the weights within the class
    logs : (class,)  penalised log-likelihood of the members, before the last step
    """
    n_cells, k = conditionals.shape
    directions, spread = directions_within(codes, starts, conditionals, mass, membership)
    steep = np.empty(k)
    for h in range(k):
        steep[h] = SHARPNESS / math.sqrt(max(spread[h], LEAST_SPREAD))
    prior, sizes, prior_sizes = np.empty((n_cells, 2 * k)), np.empty(2 * k), np.empty(2 * k)
    for half in range(2 * k):
        prior[:, half] = pseudo[:-1, half // 2]
        prior_sizes[half] = pseudo[-1, half // 2] / 2
    counts, sizes = prior.copy(), prior_sizes.copy()
    halve(codes, membership, starts, directions, steep, counts, sizes)
    tables, weights = _half_tables(counts, sizes, starts)
    counts, sizes, logs = prior.copy(), prior_sizes.copy(), np.zeros(k)
    half_counts(codes, membership, starts, tables, weights, counts, sizes, logs)
    for cell in range(n_cells):
        for half in range(2 * k):
            logs[half // 2] += prior[cell, half] * tables[cell, half]
    tables, weights = _half_tables(counts, sizes, starts)
    return tables, weights, logs


@njit(cache=True, nogil=True)
def exchanged(codes, weights, starts, tables, pseudo):
    """Tables with one class removed and another split in two: where that gains most.

    Parameters
    ----------
    codes, weights, starts, tables, pseudo : see `tacit.trees.loops.class_em.step`
    """
    n_cells, k = len(tables) - 1, tables.shape[1]
    counts, image = np.empty(tables.shape), np.empty(tables.shape)
    membership = np.empty((len(codes), k))
    step(codes, weights, starts, tables, pseudo, counts, image, membership)
    mass, conditionals = counts[-1] - pseudo[-1], tables[:-1]
    half_tables, half_weights, gained = halves_of(
        codes, starts, conditionals, mass, membership, pseudo
    )
    lost = np.zeros(k)
    lost_without(membership, weights, lost)
    total = weights.sum()
    for h in range(k):
        # The other classes take over its weight, and its tables need no prior.
        lost[h] += total * math.log1p(-min(tables[-1, h], 1 - 1e-9))
        for cell in range(n_cells):
            log_probability = math.log(max(conditionals[cell, h], 1e-300))
            gained[h] -= counts[cell, h] * log_probability
            lost[h] += pseudo[cell, h] * log_probability
    cut, removed, best = 0, 1, -np.inf
    for one in range(k):
        for other in range(k):
            if one != other and gained[one] - lost[other] > best:
                cut, removed, best = one, other, gained[one] - lost[other]
    out = tables.copy()
    for half, h in ((2 * cut, cut), (2 * cut + 1, removed)):
        for cell in range(n_cells):
            out[cell, h] = math.exp(half_tables[cell, half])
        out[-1, h] = tables[-1, cut] * math.exp(half_weights[half])
    out[-1] /= out[-1].sum()
    return out
