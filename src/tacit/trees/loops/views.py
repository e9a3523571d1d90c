"""Leaves that represent a subtree: singular values of all pairs of leaves, and the best per edge."""

from __future__ import annotations

import math

import numpy as np

from tacit.core.loops.compiled import njit
from tacit.core.loops.jacobi import rotation

OVERSAMPLING = 2  # directions kept beyond those requested, so that the last one requested is right
MAX_SWEEPS = 12
COSINE_SQUARED = 1e-9  # rows are orthogonal enough: their lengths are then right to 1e-9


@njit(cache=True, nogil=True)
def leading_values(block, n_values, reduced, values):
    """The largest singular values of a small matrix, in descending order, written to `values`.

    A few steps of orthogonalisation by the longest remaining row, then one-sided Jacobi rotations of
    the coefficients. Exact when the smaller side has at most ``n_wanted + 2`` entries, else a close
    lower bound, which is enough to compare pairs and much cheaper for long lists of categories.

    Parameters
    ----------
    block : (row, column)
        Overwritten.
    n_values : how many values
    reduced : (n_wanted + 2 or more, row or more)
        Room to work in.
    values : (n_wanted + 2 or more,)
    """
    n_rows, n_columns = block.shape
    n_kept = min(n_rows, n_columns, n_values + OVERSAMPLING)
    values[:] = 0.0
    for step in range(n_kept):
        pivot, longest = 0, 0.0
        for row in range(n_rows):
            length = 0.0
            for column in range(n_columns):
                length += block[row, column] * block[row, column]
            if length > longest:
                pivot, longest = row, length
        if longest == 0.0:
            n_kept = step
            break
        scale = 1.0 / math.sqrt(longest)
        for row in range(n_rows):
            if row != pivot:
                part = 0.0
                for column in range(n_columns):
                    part += block[pivot, column] * block[row, column]
                reduced[step, row] = part * scale
                part *= scale * scale
                for column in range(n_columns):
                    block[row, column] -= part * block[pivot, column]
        reduced[step, pivot] = math.sqrt(longest)
        for column in range(n_columns):
            block[pivot, column] = 0.0
    for _ in range(MAX_SWEEPS):
        turned = False
        for first in range(n_kept):
            for second in range(first + 1, n_kept):
                alpha, beta, gamma = 0.0, 0.0, 0.0
                for row in range(n_rows):
                    one, two = reduced[first, row], reduced[second, row]
                    alpha += one * one
                    beta += two * two
                    gamma += one * two
                if gamma * gamma <= COSINE_SQUARED * alpha * beta:
                    continue
                turned = True
                cosine, sine = rotation(alpha, beta, gamma)
                for row in range(n_rows):
                    one, two = reduced[first, row], reduced[second, row]
                    reduced[first, row] = cosine * one - sine * two
                    reduced[second, row] = sine * one + cosine * two
        if not turned:
            break
    for step in range(n_kept):
        total = 0.0
        for row in range(n_rows):
            total += reduced[step, row] * reduced[step, row]
        total = math.sqrt(total)
        place = step
        while place > 0 and values[place - 1] < total:
            values[place] = values[place - 1]
            place -= 1
        values[place] = total


@njit(cache=True, nogil=True)
def pair_spectra(joint, marginals, scale, offsets, n_values):
    """The leading singular values of every two leaves' joint table less the product of its margins, scaled.

    Parameters
    ----------
    joint : (cell, cell)
        Joint probabilities; the cells of leaf `i` are ``offsets[i] : offsets[i + 1]``.
    marginals : (cell,)
        Marginal probabilities, or zeros where the tables are to be taken as they are.
    scale : (cell,)
        Factors of rows and columns.
    offsets : (leaf + 1,)
    n_values : how many singular values to keep

    Returns
    -------
    (leaf, leaf, n_values)
    """
    n_leaves = len(offsets) - 1
    spectra = np.zeros((n_leaves, n_leaves, n_values))
    widest = 0
    for i in range(n_leaves):
        widest = max(widest, offsets[i + 1] - offsets[i])
    room = np.empty((widest, widest))
    reduced = np.empty((n_values + OVERSAMPLING, widest))
    values = np.empty(n_values + OVERSAMPLING)
    for i in range(n_leaves):
        for j in range(i + 1, n_leaves):
            block = room[: offsets[i + 1] - offsets[i], : offsets[j + 1] - offsets[j]]
            for x in range(block.shape[0]):
                for y in range(block.shape[1]):
                    at, to = offsets[i] + x, offsets[j] + y
                    covariance = joint[at, to] - marginals[at] * marginals[to]
                    block[x, y] = scale[at] * covariance * scale[to]
            leading_values(block, n_values, reduced, values)
            for value in range(n_values):
                spectra[i, j, value] = values[value]
                spectra[j, i, value] = values[value]
    return spectra


@njit(cache=True, nogil=True)
def best_views(spectra, shown, path_ranks, inside, ranks, n_views):
    """Per edge, the leaf below it and the leaves above it that show the edge's rank most strongly.

    Pairs are compared by the singular value at the largest rank, up to the edge's, that any of them shows
    (at 2 if none shows more than the constant): beyond it there is only noise.

    Parameters
    ----------
    spectra : (leaf, leaf, value)
    shown : (leaf, leaf)
        How many singular values of the pair stand out from noise.
    path_ranks : (leaf, leaf)
        The largest rank that the pair's table can have; pairs below the edge's rank are not chosen.
    inside : (edge, leaf)
    ranks : (edge,)
    n_views : number of leaves above

    Returns
    -------
    stars : (edge,)  the leaf below
    views : (edge, n_views)  the leaves above, strongest first, -1 where there are no more
    strengths : (edge, n_views)  the singular value of each; zero where no pair is suitable
    reached : (edge,)  the largest rank, up to the edge's, that any pair shows
    """
    n_edges, n_leaves = inside.shape
    stars = np.full(n_edges, -1, np.int64)
    views = np.full((n_edges, n_views), -1, np.int64)
    strengths = np.zeros((n_edges, n_views))
    reached = np.zeros(n_edges, np.int64)
    leaves = np.empty(n_views, np.int64)
    values = np.empty(n_views)
    for edge in range(n_edges):
        best = -1.0
        rank = ranks[edge]
        reached[edge] = 1
        for a in range(n_leaves):
            if not inside[edge, a]:
                continue
            for b in range(n_leaves):
                if not inside[edge, b] and path_ranks[a, b] >= rank:
                    reached[edge] = max(reached[edge], min(rank, shown[a, b]))
        level = max(reached[edge], min(2, rank))
        for a in range(n_leaves):
            if not inside[edge, a]:
                continue
            leaves[:] = -1
            values[:] = 0.0
            for b in range(n_leaves):
                if inside[edge, b]:
                    continue
                value = spectra[a, b, level - 1] if path_ranks[a, b] >= rank else 0.0
                place = n_views
                while place > 0 and (leaves[place - 1] < 0 or values[place - 1] < value):
                    place -= 1
                if place == n_views:
                    continue
                for later in range(n_views - 1, place, -1):
                    leaves[later], values[later] = leaves[later - 1], values[later - 1]
                leaves[place], values[place] = b, value
            score = 0.0
            for view in range(n_views):
                score += values[view] ** 2
            if score > best:
                best = score
                stars[edge] = a
                views[edge] = leaves
                strengths[edge] = values
    return stars, views, strengths, reached
