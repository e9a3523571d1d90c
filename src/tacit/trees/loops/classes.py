"""Compiled passes over the rows of a mixture of product distributions: one hidden class above all columns.

Tables stand by cell, which is a category of some column: ``log_conditionals[cell, h]`` is the logarithm of
its probability in class h, so that the terms of a cell for all classes are contiguous. Missing cells are
negative.
"""

from __future__ import annotations

import math

import numpy as np

from tacit.core.loops.compiled import njit

_LOOSE = {"reassoc", "contract", "nsz", "arcp"}
LEAST_LEFT = 1e-12  # of a row's probability, if one class is removed
STEEPEST = 30.0  # arguments of exponentials are cut here: beyond, nothing changes


@njit(cache=True, nogil=True, fastmath=_LOOSE)
def add_cells(codes, starts, of_cells, out):
    """Add the values of the cells of a row to `out`."""
    for column in range(len(codes)):
        if codes[column] >= 0:
            line = of_cells[starts[column] + codes[column]]
            for h in range(len(out)):
                out[h] += line[h]


@njit(cache=True, nogil=True, fastmath=_LOOSE)
def spread_row(codes, starts, values, sums):
    """Add a row's `values` to the sums of its cells."""
    for column in range(len(codes)):
        if codes[column] >= 0:
            line = sums[starts[column] + codes[column]]
            for h in range(len(values)):
                line[h] += values[h]


@njit(cache=True, nogil=True, fastmath=_LOOSE)
def class_counts(
    codes, weights, starts, log_conditionals, log_class_weights, counts, mass, membership
):
    """Log-likelihood of weighted rows; expected counts of classes and of cells in them are added up.

    Parameters
    ----------
    codes : (row, column)  categories, negative where missing
    weights : (row,)
    starts : (column,)  the first cell of each
    log_conditionals : (cell, class)
    log_class_weights : (class,)
    counts : (cell, class)  added to
    mass : (class,)  added to
    membership : (row, class) or with no rows  weights times the posterior of each class
    """
    n_rows, k = len(codes), len(log_class_weights)
    posterior = np.empty(k)
    total = 0.0
    for row in range(n_rows):
        for h in range(k):
            posterior[h] = log_class_weights[h]
        add_cells(codes[row], starts, log_conditionals, posterior)
        top = posterior[0]
        for h in range(1, k):
            top = max(top, posterior[h])
        summed = 0.0
        for h in range(k):
            posterior[h] = math.exp(posterior[h] - top)
            summed += posterior[h]
        total += weights[row] * (top + math.log(summed))
        scale = weights[row] / summed
        for h in range(k):
            posterior[h] *= scale
            mass[h] += posterior[h]
        if len(membership) > 0:
            for h in range(k):
                membership[row, h] = posterior[h]
        spread_row(codes[row], starts, posterior, counts)
    return total


@njit(cache=True, nogil=True, fastmath=_LOOSE)
def direction_sums(codes, membership, starts, directions, sums, totals):
    """For a direction in each class: sums of the rows' positions along it, over all rows and by cell.

    Parameters
    ----------
    codes, starts : see `class_counts`
    membership : (row, class)
    directions : (cell, class)  a row's position is the sum over its cells
    sums : (cell, class)  added to
    totals : (class,)  added to
    """
    k = directions.shape[1]
    place = np.empty(k)
    for row in range(len(codes)):
        for h in range(k):
            place[h] = 0.0
        add_cells(codes[row], starts, directions, place)
        for h in range(k):
            place[h] *= membership[row, h]
            totals[h] += place[h]
        spread_row(codes[row], starts, place, sums)


@njit(cache=True, nogil=True, fastmath=_LOOSE)
def halve(codes, membership, starts, directions, steep, counts, mass):
    """Split every class in two across its direction, softly: counts of the halves 2h and 2h + 1.

    Parameters
    ----------
    codes, membership, starts, directions : see `direction_sums`
    steep : (class,)  how sharp the split is
    counts : (cell, half)  added to
    mass : (half,)  added to
    """
    k = directions.shape[1]
    place, halves = np.empty(k), np.empty(2 * k)
    for row in range(len(codes)):
        for h in range(k):
            place[h] = 0.0
        add_cells(codes[row], starts, directions, place)
        for h in range(k):
            where = max(min(steep[h] * place[h], STEEPEST), -STEEPEST)
            halves[2 * h] = membership[row, h] / (1.0 + math.exp(-where))
            halves[2 * h + 1] = membership[row, h] - halves[2 * h]
        for h in range(2 * k):
            mass[h] += halves[h]
        spread_row(codes[row], starts, halves, counts)


@njit(cache=True, nogil=True, fastmath=_LOOSE)
def half_counts(codes, membership, starts, log_conditionals, log_half_weights, counts, mass, logs):
    """The same as `class_counts` within every class: a mixture of its two halves over its members.

    Parameters
    ----------
    codes, starts : see `class_counts`
    membership : (row, class)
    log_conditionals : (cell, half)
    log_half_weights : (half,)  of the class
    counts, mass : (cell, half), (half,)  added to
    logs : (class,)  log-likelihoods of the members, added to
    """
    k = membership.shape[1]
    halves = np.empty(2 * k)
    for row in range(len(codes)):
        for h in range(2 * k):
            halves[h] = log_half_weights[h]
        add_cells(codes[row], starts, log_conditionals, halves)
        for h in range(k):
            one, other = halves[2 * h], halves[2 * h + 1]
            top = max(one, other)
            one, other = math.exp(one - top), math.exp(other - top)
            logs[h] += membership[row, h] * (top + math.log(one + other))
            scale = membership[row, h] / (one + other)
            halves[2 * h], halves[2 * h + 1] = one * scale, other * scale
        for h in range(2 * k):
            mass[h] += halves[h]
        spread_row(codes[row], starts, halves, counts)


@njit(cache=True, nogil=True)
def lost_without(membership, weights, lost):
    """Nats by which the rows are less likely if the terms of a class are left out, added to `lost`."""
    for row in range(len(membership)):
        for h in range(len(lost)):
            left = 1.0 - membership[row, h] / weights[row] if weights[row] > 0.0 else 1.0
            lost[h] -= weights[row] * math.log(max(left, LEAST_LEFT))
