"""Compiled start of a mixture of product distributions: rows as points, clusters of them, clusters merged.

The points are a multiple correspondence analysis: second moments of the scaled one-hot rows, and their
leading axes by a few passes over the rows. The part of the second moments that a column has with itself is
taken out, so that columns which hang together decide. See `tacit.trees.loops.classes` for cells.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from tacit.trees.loops.classes import add_cells, spread_row

_LOOSE = {"reassoc", "contract", "nsz", "arcp"}
OWN_PART = 0.9  # of what a column has to do with itself, taken from what it has to do with others
POWER_STEPS = 12  # for the first axis of a cluster, in the few dimensions of the points
LEAST_LEFT = 1e-8  # of the length of an axis after what others say is taken out; less is rounding


@njit(cache=True, nogil=True, fastmath=_LOOSE)
def _orthonormal(axes):
    """Columns made orthogonal and of length one; those that others say already become zero."""
    n_cells, n_axes = axes.shape
    for own in range(n_axes):
        before = 0.0
        for cell in range(n_cells):
            before += axes[cell, own] ** 2
        for other in range(own):
            part = 0.0
            for cell in range(n_cells):
                part += axes[cell, own] * axes[cell, other]
            for cell in range(n_cells):
                axes[cell, own] -= part * axes[cell, other]
        left = 0.0
        for cell in range(n_cells):
            left += axes[cell, own] ** 2
        scale = 1.0 / math.sqrt(left) if left > LEAST_LEFT**2 * before else 0.0
        for cell in range(n_cells):
            axes[cell, own] *= scale


@njit(cache=True, nogil=True)
def _centred(axes, roots, starts):
    """Take out of each column what is the same for all of its categories, weighted by their roots."""
    for column in range(len(starts) - 1):
        for axis in range(axes.shape[1]):
            mean = 0.0
            for cell in range(starts[column], starts[column + 1]):
                mean += axes[cell, axis] * roots[cell]
            for cell in range(starts[column], starts[column + 1]):
                axes[cell, axis] -= mean * roots[cell]


@njit(cache=True, nogil=True, fastmath=_LOOSE)
def points_of(codes, weights, starts, marginals, n_axes, n_passes):
    """(row, axis) Rows along the axes on which the columns hang together most.

    Noise within classes has about the same variance in all directions of these points.

    Parameters
    ----------
    codes : (row, column)  categories, negative where missing
    weights : (row,)
    starts : (column + 1,)  the first cell of each, and the number of cells
    marginals : (cell,)  all positive
    n_axes, n_passes : how many
    """
    n_rows, n_cells = len(codes), len(marginals)
    roots = np.sqrt(marginals)
    total = max(weights.sum(), 1e-300)
    axes = np.empty((n_cells, n_axes))
    for cell in range(n_cells):  # a start with no symmetry of its own
        for axis in range(n_axes):
            axes[cell, axis] = math.cos(1.0 + cell * (axis + 1.0) + 0.7 * axis * axis)
    _centred(axes, roots, starts)
    _orthonormal(axes)
    directions, place = np.empty((n_cells, n_axes)), np.empty(n_axes)
    for _ in range(n_passes):
        for cell in range(n_cells):
            for axis in range(n_axes):
                directions[cell, axis] = axes[cell, axis] / roots[cell]
        sums, totals = np.zeros((n_cells, n_axes)), np.zeros(n_axes)
        for row in range(n_rows):
            place[:] = 0.0
            add_cells(codes[row], starts, directions, place)
            for axis in range(n_axes):
                place[axis] *= weights[row]
                totals[axis] += place[axis]
            spread_row(codes[row], starts, place, sums)
        for cell in range(n_cells):
            for axis in range(n_axes):
                sums[cell, axis] = (
                    sums[cell, axis] / roots[cell] - roots[cell] * totals[axis]
                ) / total
        _centred(sums, roots, starts)
        for cell in range(n_cells):
            for axis in range(n_axes):
                axes[cell, axis] = sums[cell, axis] - OWN_PART * axes[cell, axis]
        _orthonormal(axes)
    for cell in range(n_cells):
        for axis in range(n_axes):
            directions[cell, axis] = axes[cell, axis] / roots[cell]
    points = np.zeros((n_rows, n_axes))
    for row in range(n_rows):
        add_cells(codes[row], starts, directions, points[row])
    return points


@njit(cache=True, nogil=True, fastmath=_LOOSE)
def _first_axis(points, weights, labels, own, mean, axis):
    """Mean and first principal axis of a cluster, written to the last two; its scatter along the axis."""
    n_axes = points.shape[1]
    mean[:] = 0.0
    mass = 0.0
    for row in range(len(points)):
        if labels[row] == own:
            mass += weights[row]
            for i in range(n_axes):
                mean[i] += weights[row] * points[row, i]
    for i in range(n_axes):
        mean[i] /= max(mass, 1e-300)
    scatter = np.zeros((n_axes, n_axes))
    for row in range(len(points)):
        if labels[row] == own:
            for i in range(n_axes):
                apart = weights[row] * (points[row, i] - mean[i])
                for j in range(n_axes):
                    scatter[i, j] += apart * (points[row, j] - mean[j])
    widest = 0
    for i in range(1, n_axes):
        if scatter[i, i] > scatter[widest, widest]:
            widest = i
    axis[:] = scatter[widest]
    length, image = 0.0, np.empty(n_axes)
    for _ in range(POWER_STEPS):
        length = 0.0
        for i in range(n_axes):
            image[i] = 0.0
            for j in range(n_axes):
                image[i] += scatter[i, j] * axis[j]
            length += image[i] * image[i]
        length = math.sqrt(length)
        if length <= 1e-300:
            return 0.0
        for i in range(n_axes):
            axis[i] = image[i] / length
    return length


@njit(cache=True, nogil=True, fastmath=_LOOSE)
def clusters_of(points, weights, n_clusters, n_rounds):
    """(row,) Numbers of clusters: the widest is cut across its first axis until there are enough; k-means.

    Cutting so is by Su and Dy (2007); nothing is drawn. Clusters may be empty.
    """
    n_rows, n_axes = points.shape
    labels = np.zeros(n_rows, np.int64)
    means, axes = np.zeros((n_clusters, n_axes)), np.zeros((n_clusters, n_axes))
    scatter = np.zeros(n_clusters)
    if n_clusters > 1:
        scatter[0] = _first_axis(points, weights, labels, 0, means[0], axes[0])
    for made in range(1, n_clusters):
        widest = np.argmax(scatter[:made])
        for row in range(n_rows):
            if labels[row] == widest:
                place = 0.0
                for i in range(n_axes):
                    place += (points[row, i] - means[widest, i]) * axes[widest, i]
                if place > 0.0:
                    labels[row] = made
        if made + 1 < n_clusters:
            for own in (widest, made):
                scatter[own] = _first_axis(points, weights, labels, own, means[own], axes[own])
    mass = np.empty(n_clusters)
    for _ in range(n_rounds):
        means[:] = 0.0
        mass[:] = 0.0
        for row in range(n_rows):
            own = labels[row]
            mass[own] += weights[row]
            for i in range(n_axes):
                means[own, i] += weights[row] * points[row, i]
        for own in range(n_clusters):
            for i in range(n_axes):
                means[own, i] /= max(mass[own], 1e-300)
        moved = False
        for row in range(n_rows):
            nearest, least = labels[row], np.inf
            for own in range(n_clusters):
                if mass[own] > 0.0:
                    apart = 0.0
                    for i in range(n_axes):
                        apart += (points[row, i] - means[own, i]) ** 2
                    if apart < least:
                        nearest, least = own, apart
            moved = moved or nearest != labels[row]
            labels[row] = nearest
        if not moved:
            break
    return labels


@njit(cache=True, nogil=True)
def cluster_counts(codes, weights, starts, labels, n_clusters):
    """(cluster, cell and size) How often each cell occurs in each cluster, and how many rows it has."""
    counts = np.zeros((n_clusters, starts[-1] + 1))
    for row in range(len(codes)):
        own = counts[labels[row]]
        own[-1] += weights[row]
        for column in range(codes.shape[1]):
            if codes[row, column] >= 0:
                own[starts[column] + codes[row, column]] += weights[row]
    return counts


@njit(cache=True, nogil=True)
def _likelihood(one, other, starts, pseudo):
    """Log-likelihood of the rows of two clusters as one class, whose tables have pseudo-counts (cell,)."""
    value, last, log_last = 0.0, -1.0, 0.0
    mass = one[-1] + other[-1]
    if mass > 0.0:
        value = mass * math.log(mass)
    for column in range(len(starts) - 1):
        total = 0.0
        for cell in range(starts[column], starts[column + 1]):
            count = one[cell] + other[cell] + pseudo[cell]
            total += count
            if count > 0.0:
                value += count * math.log(count)
        if total != last:  # without gaps it is the same in all columns
            last, log_last = total, math.log(max(total, 1e-300))
        value -= total * log_last
    return value


@njit(cache=True, nogil=True)
def _merged(counts, starts, pseudo, n_left):
    """(cluster,) Numbers of groups: of each two, those whose rows lose least likelihood become one."""
    n = len(counts)
    counts, nothing = counts.copy(), np.zeros(counts.shape[1])
    own, loss = np.empty(n), np.full((n, n), np.inf)
    group, alive = np.arange(n), np.ones(n, np.bool_)
    for one in range(n):
        own[one] = _likelihood(counts[one], nothing, starts, pseudo)
        for other in range(one):
            both = _likelihood(counts[one], counts[other], starts, pseudo)
            loss[other, one] = own[one] + own[other] - both
    for _ in range(n - n_left):
        place = np.argmin(loss)
        kept, gone = place // n, place % n
        counts[kept] += counts[gone]
        alive[gone] = False
        group[group == gone] = kept
        loss[gone, :] = np.inf
        loss[:, gone] = np.inf
        own[kept] = _likelihood(counts[kept], nothing, starts, pseudo)
        for other in range(n):
            if alive[other] and other != kept:
                both = _likelihood(counts[kept], counts[other], starts, pseudo)
                between = own[kept] + own[other] - both
                if kept < other:
                    loss[kept, other] = between
                else:
                    loss[other, kept] = between
    return np.cumsum(alive)[group] - 1


@njit(cache=True, nogil=True)
def grouped(counts, starts, pseudo, n_groups, n_rounds):
    """(group, cell and size) Counts of so many groups of clusters that make the rows likely.

    Clusters are merged where that loses least, and then moved one by one to where they gain most.

    Parameters
    ----------
    counts : (cluster, cell and size)
    starts : (column + 1,)
    pseudo : (cell,)  added to the counts of every group
    n_groups : at most as many as clusters
    n_rounds : the most turns of each cluster to be moved
    """
    group = _merged(counts, starts, pseudo, n_groups)
    nothing = np.zeros(counts.shape[1])
    sums, members = np.zeros((n_groups, counts.shape[1])), np.zeros(n_groups, np.int64)
    for cluster in range(len(counts)):
        sums[group[cluster]] += counts[cluster]
        members[group[cluster]] += 1
    own = np.empty(n_groups)
    for one in range(n_groups):
        own[one] = _likelihood(sums[one], nothing, starts, pseudo)
    for _ in range(n_rounds if n_groups > 1 else 0):
        moved = False
        for cluster in range(len(counts)):
            home = group[cluster]
            if members[home] == 1 or counts[cluster, -1] <= 0.0:
                continue
            without = _likelihood(sums[home], -counts[cluster], starts, pseudo)
            best, most, there = home, 1e-9, own[home]
            for other in range(n_groups):
                if other != home:
                    grown = _likelihood(sums[other], counts[cluster], starts, pseudo)
                    gain = grown - own[other] + without - own[home]
                    if gain > most:
                        best, most, there = other, gain, grown
            if best != home:
                group[cluster], moved = best, True
                members[home] -= 1
                members[best] += 1
                sums[home] -= counts[cluster]
                sums[best] += counts[cluster]
                own[home], own[best] = without, there
        if not moved:
            break
    return np.maximum(sums, 0.0)


@njit(cache=True, nogil=True)
def halvings(counts, starts, pseudo, most):
    """(halving, half, cell and size) Counts of the ways to make two groups of clusters, the likeliest first.

    All ways are tried; those count that no single cluster makes likelier by changing sides.

    Parameters
    ----------
    counts : (cluster, cell and size)
    starts : (column + 1,)
    pseudo : (cell,)  added to the counts of both groups
    most : of halvings
    """
    filled = counts[counts[:, -1] > 0.0]
    n, nothing = len(filled), np.zeros(counts.shape[1])
    if n < 2:
        return np.zeros((0, 2, counts.shape[1]))
    # Bit i of a way: the side of cluster i. The last is always on the other side.
    n_ways = 1 << (n - 1)
    values, whole = np.full(n_ways, -np.inf), nothing.copy()
    for cluster in range(n):
        whole += filled[cluster]
    side, before = nothing.copy(), 0
    for place in range(1, n_ways):
        way = place ^ (place >> 1)  # Gray's order: one cluster changes sides
        for cluster in range(n - 1):
            bit = 1 << cluster
            if (way ^ before) & bit:
                side += filled[cluster] if way & bit else -filled[cluster]
        before = way
        one = _likelihood(side, nothing, starts, pseudo)
        values[way] = one + _likelihood(whole, -side, starts, pseudo)
    best = values.copy()
    for way in range(1, n_ways):
        for cluster in range(n):
            other = way ^ (1 << cluster)
            other = min(other, 2 * n_ways - 1 - other)
            if values[other] > values[way]:
                best[way] = -np.inf
    order = np.argsort(-best)[:most]
    n_found = 0
    while n_found < len(order) and best[order[n_found]] > -np.inf:
        n_found += 1
    out = np.zeros((n_found, 2, counts.shape[1]))
    for place in range(n_found):
        for cluster in range(n):
            out[place, 1 - ((order[place] >> cluster) & 1)] += filled[cluster]
    return out
