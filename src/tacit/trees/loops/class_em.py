"""Compiled MAP-EM of a mixture of product distributions: many steps in one call.

Tables stand in one array (cell and weight, class): ``tables[cell, h]`` is the probability of a category of
some column in class h, and the last row holds the weights of the classes. Pseudo-counts and expected counts
have the same shape.
"""

from __future__ import annotations

import math

import numpy as np

from tacit.core.loops.acceleration import extrapolate
from tacit.core.loops.compiled import njit
from tacit.trees.loops.classes import class_counts


@njit(cache=True, nogil=True)
def tables_of(counts, starts, out):
    """Probabilities from counts, column by column in every class, and class weights; uniform without counts.

    Parameters
    ----------
    counts : (cell and weight, class)
    starts : (column + 1,)  the first cell of each, and the number of cells
    out : (cell and weight, class)  may be `counts`
    """
    k = counts.shape[1]
    totals = np.empty(k)
    for column in range(len(starts) - 1):
        first, stop = starts[column], starts[column + 1]
        totals[:] = 0.0
        for cell in range(first, stop):
            for h in range(k):
                totals[h] += counts[cell, h]
        for cell in range(first, stop):
            for h in range(k):
                total = totals[h]
                out[cell, h] = counts[cell, h] / total if total > 0.0 else 1.0 / (stop - first)
    total = counts[-1].sum()
    for h in range(k):
        out[-1, h] = counts[-1, h] / total if total > 0.0 else 1.0 / k


@njit(cache=True, nogil=True)
def step(codes, weights, starts, tables, pseudo, mass, image, membership):
    """One step of MAP-EM: the penalised log-likelihood of `tables`; the updated ones go to `image`.

    Parameters
    ----------
    codes, weights, membership : see `tacit.trees.loops.classes.class_counts`
    starts : (column + 1,)
    tables, pseudo : (cell and weight, class)
    mass : (cell and weight, class)  overwritten with expected counts, pseudo-counts among them
    image : (cell and weight, class)  overwritten
    """
    logs = np.empty(tables.shape)
    prior = 0.0
    for row in range(len(tables)):
        for h in range(tables.shape[1]):
            logs[row, h] = math.log(max(tables[row, h], 1e-300))
            prior += pseudo[row, h] * logs[row, h]
            mass[row, h] = pseudo[row, h]
    value = class_counts(
        codes, weights, starts, logs[:-1], logs[-1], mass[:-1], mass[-1], membership
    )
    tables_of(mass, starts, image)
    return value + prior


@njit(cache=True, nogil=True)
def run_em(codes, weights, starts, tables, pseudo, least, most, memory):
    """Accelerated steps until one gains less than `least` nats; see `tacit.core.em.run_accelerated_em`.

    Parameters
    ----------
    codes, weights, starts, pseudo : see `step`
    tables : (cell and weight, class)  where to start
    least : the least gain of a step
    most : the most steps
    memory : earlier steps that the extrapolation uses

    Returns
    -------
    tables : (cell and weight, class)  one plain step beyond the last that was evaluated
    mass : (cell and weight, class)  expected counts at the last, with pseudo-counts
    trace : objectives, one for each accepted step
    count : steps made
    converged : whether the gain became small
    """
    shape, size = tables.shape, tables.size
    values, image, mass = tables.copy(), np.empty(shape), np.empty(shape)
    trial, trial_image, trial_mass = np.empty(shape), np.empty(shape), np.empty(shape)
    no_rows = np.empty((0, shape[1]))
    objective = step(codes, weights, starts, values, pseudo, mass, image, no_rows)
    trace = np.empty(max(most, 1))
    trace[0] = objective
    points, images = np.empty((memory + 1, size)), np.empty((memory + 1, size))
    order = np.zeros(memory + 1, np.int64)
    known, count, accepted, converged = 0, 1, 1, False
    while count < most and not converged:
        newest = order[memory] if known > memory else known
        known = min(known, memory) + 1
        for place in range(known - 1, 0, -1):
            order[place] = order[place - 1]
        order[0] = newest
        flat = values.ravel(), image.ravel(), mass.ravel()
        guess = extrapolate(*flat, order[:known], points, images)
        if len(guess) > 0:
            tables_of(guess.reshape(shape), starts, trial)
        else:
            trial[:] = image
        trial_objective = step(
            codes, weights, starts, trial, pseudo, trial_mass, trial_image, no_rows
        )
        count += 1
        if known > 1 and not trial_objective >= objective:
            # The extrapolation went downhill: take the plain step, and forget the earlier ones.
            known = 0
            trial[:] = image
            if count == most:
                break
            trial_objective = step(
                codes, weights, starts, trial, pseudo, trial_mass, trial_image, no_rows
            )
            count += 1
        converged = trial_objective - objective < least
        objective = trial_objective
        values, trial = trial, values
        image, trial_image = trial_image, image
        mass, trial_mass = trial_mass, mass
        trace[accepted] = objective
        accepted += 1
    return image, mass, trace[:accepted].copy(), count, converged
