"""Compiled start of a mixture of product distributions: rows as points, clustered, clusters merged.

The points are a multiple correspondence analysis: second moments of the scaled one-hot rows, and their
leading axes by a few passes over the rows. The second moments of a column with itself are removed, so that
the dependence between columns decides. See `tacit.trees.loops.classes` for cells.
"""

from __future__ import annotations

import math

import numpy as np

from tacit.core.loops.compiled import njit
from tacit.trees.loops.classes import add_cells, spread_row

_LOOSE = {"reassoc", "contract", "nsz", "arcp"}
SELF_PART = 0.9  # of the covariances of a column with itself that is removed
POWER_STEPS = 12  # for the first axis of a cluster, in the few dimensions of the points
LEAST_LEFT = 1e-8  # of the length of an axis after projecting out the others; less is rounding


@njit(cache=True, nogil=True, fastmath=_LOOSE)
def _orthonormal(axes):
    """Columns made orthogonal and of length one; linearly dependent ones become zero."""
    n_cells, n_axes = axes.shape
    for axis in range(n_axes):
        before = 0.0
        for cell in range(n_cells):
            before += axes[cell, axis] ** 2
        for other in range(axis):
            part = 0.0
            for cell in range(n_cells):
                part += axes[cell, axis] * axes[cell, other]
            for cell in range(n_cells):
                axes[cell, axis] -= part * axes[cell, other]
        left = 0.0
        for cell in range(n_cells):
            left += axes[cell, axis] ** 2
        scale = 1.0 / math.sqrt(left) if left > LEAST_LEFT**2 * before else 0.0
        for cell in range(n_cells):
            axes[cell, axis] *= scale


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
    """(row, axis) Rows along the axes of strongest dependence between the columns.

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
                axes[cell, axis] = sums[cell, axis] - SELF_PART * axes[cell, axis]
        _orthonormal(axes)
    for cell in range(n_cells):
        for axis in range(n_axes):
            directions[cell, axis] = axes[cell, axis] / roots[cell]
    points = np.zeros((n_rows, n_axes))
    for row in range(n_rows):
        add_cells(codes[row], starts, directions, points[row])
    return points


@njit(cache=True, nogil=True, fastmath=_LOOSE)
def _first_axis(points, weights, labels, cluster, mean, axis):
    """Mean and first principal axis of a cluster, written to the last two; its scatter along the axis."""
    n_axes = points.shape[1]
    mean[:] = 0.0
    mass = 0.0
    for row in range(len(points)):
        if labels[row] == cluster:
            mass += weights[row]
            for i in range(n_axes):
                mean[i] += weights[row] * points[row, i]
    for i in range(n_axes):
        mean[i] /= max(mass, 1e-300)
    scatter = np.zeros((n_axes, n_axes))
    for row in range(len(points)):
        if labels[row] == cluster:
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
    """(row,) Numbers of clusters: the widest is split across its first axis until there are enough; k-means.

    The splits are by Su and Dy (2007) and deterministic. Clusters may be empty.
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
            for cluster in (widest, made):
                scatter[cluster] = _first_axis(
                    points, weights, labels, cluster, means[cluster], axes[cluster]
                )
    mass = np.empty(n_clusters)
    for _ in range(n_rounds):
        means[:] = 0.0
        mass[:] = 0.0
        for row in range(n_rows):
            cluster = labels[row]
            mass[cluster] += weights[row]
            for i in range(n_axes):
                means[cluster, i] += weights[row] * points[row, i]
        for cluster in range(n_clusters):
            for i in range(n_axes):
                means[cluster, i] /= max(mass[cluster], 1e-300)
        moved = False
        for row in range(n_rows):
            nearest, least = labels[row], np.inf
            for cluster in range(n_clusters):
                if mass[cluster] > 0.0:
                    apart = 0.0
                    for i in range(n_axes):
                        apart += (points[row, i] - means[cluster, i]) ** 2
                    if apart < least:
                        nearest, least = cluster, apart
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
        totals = counts[labels[row]]
        totals[-1] += weights[row]
        for column in range(codes.shape[1]):
            if codes[row, column] >= 0:
                totals[starts[column] + codes[row, column]] += weights[row]
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
    """(cluster,) Numbers of groups: the two whose merger loses least likelihood become one, and so on."""
    n = len(counts)
    counts, nothing = counts.copy(), np.zeros(counts.shape[1])
    likelihoods, loss = np.empty(n), np.full((n, n), np.inf)
    group, alive = np.arange(n), np.ones(n, np.bool_)
    for one in range(n):
        likelihoods[one] = _likelihood(counts[one], nothing, starts, pseudo)
        for other in range(one):
            both = _likelihood(counts[one], counts[other], starts, pseudo)
            loss[other, one] = likelihoods[one] + likelihoods[other] - both
    for _ in range(n - n_left):
        place = np.argmin(loss)
        merged, removed = place // n, place % n
        counts[merged] += counts[removed]
        alive[removed] = False
        group[group == removed] = merged
        loss[removed, :] = np.inf
        loss[:, removed] = np.inf
        likelihoods[merged] = _likelihood(counts[merged], nothing, starts, pseudo)
        for other in range(n):
            if alive[other] and other != merged:
                both = _likelihood(counts[merged], counts[other], starts, pseudo)
                between = likelihoods[merged] + likelihoods[other] - both
                if merged < other:
                    loss[merged, other] = between
                else:
                    loss[other, merged] = between
    return np.cumsum(alive)[group] - 1


@njit(cache=True, nogil=True)
def grouped(counts, starts, pseudo, n_groups, n_rounds):
    """(group, cell and size) Counts of `n_groups` groups of clusters with high likelihood.

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
    likelihoods = np.empty(n_groups)
    for one in range(n_groups):
        likelihoods[one] = _likelihood(sums[one], nothing, starts, pseudo)
    for _ in range(n_rounds if n_groups > 1 else 0):
        moved = False
        for cluster in range(len(counts)):
            home = group[cluster]
            if members[home] == 1 or counts[cluster, -1] <= 0.0:
                continue
            without = _likelihood(sums[home], -counts[cluster], starts, pseudo)
            best, most, likelihood = home, 1e-9, likelihoods[home]
            for other in range(n_groups):
                if other != home:
                    grown = _likelihood(sums[other], counts[cluster], starts, pseudo)
                    gain = grown - likelihoods[other] + without - likelihoods[home]
                    if gain > most:
                        best, most, likelihood = other, gain, grown
            if best != home:
                group[cluster], moved = best, True
                members[home] -= 1
                members[best] += 1
                sums[home] -= counts[cluster]
                sums[best] += counts[cluster]
                likelihoods[home], likelihoods[best] = without, likelihood
        if not moved:
            break
    return np.maximum(sums, 0.0)


@njit(cache=True, nogil=True)
def halvings(counts, starts, pseudo, most):
    """(halving, half, cell and size) Counts of splits of the clusters in two, the likeliest first.

    All splits are compared; local maxima are returned: no single cluster gains by changing sides.

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
    # Bit i of a split: the side of cluster i. The last is always on the other side.
    n_splits = 1 << (n - 1)
    values, total = np.full(n_splits, -np.inf), nothing.copy()
    for cluster in range(n):
        total += filled[cluster]
    side, before = nothing.copy(), 0
    for place in range(1, n_splits):
        split = place ^ (place >> 1)  # Gray's order: one cluster changes sides
        for cluster in range(n - 1):
            bit = 1 << cluster
            if (split ^ before) & bit:
                side += filled[cluster] if split & bit else -filled[cluster]
        before = split
        one = _likelihood(side, nothing, starts, pseudo)
        values[split] = one + _likelihood(total, -side, starts, pseudo)
    best = values.copy()
    for split in range(1, n_splits):
        for cluster in range(n):
            other = split ^ (1 << cluster)
            other = min(other, 2 * n_splits - 1 - other)
            if values[other] > values[split]:
                best[split] = -np.inf
    order = np.argsort(-best)[:most]
    n_best = 0
    while n_best < len(order) and best[order[n_best]] > -np.inf:
        n_best += 1
    out = np.zeros((n_best, 2, counts.shape[1]))
    for place in range(n_best):
        for cluster in range(n):
            out[place, 1 - ((order[place] >> cluster) & 1)] += filled[cluster]
    return out
