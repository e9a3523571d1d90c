"""Compiled parts of the moment start: three views of every hidden node, and tables from them."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from tacit.loops.small import eigh, solve, svd


@njit(cache=True, nogil=True)
def joint_turn(slices, sweeps):
    """The rotation that makes several symmetric matrices as diagonal as can be, by Jacobi's rotations.

    Cardoso and Souloumiac (1996), for real matrices. `slices` is changed.
    """
    n, k, _ = slices.shape
    turn = np.eye(k)
    for _ in range(sweeps):
        largest = 0.0
        for p in range(k - 1):
            for q in range(p + 1, k):
                on, off = 0.0, 0.0
                for s in range(n):
                    u = slices[s, p, p] - slices[s, q, q]
                    v = slices[s, p, q] + slices[s, q, p]
                    on += u * u - v * v
                    off += 2.0 * u * v
                angle = 0.25 * math.atan2(off, on)
                largest = max(largest, abs(angle))
                c, d = math.cos(angle), math.sin(angle)
                for s in range(n):
                    for i in range(k):
                        x, y = slices[s, i, p], slices[s, i, q]
                        slices[s, i, p] = c * x + d * y
                        slices[s, i, q] = c * y - d * x
                    for i in range(k):
                        x, y = slices[s, p, i], slices[s, q, i]
                        slices[s, p, i] = c * x + d * y
                        slices[s, q, i] = c * y - d * x
                for i in range(k):
                    x, y = turn[i, p], turn[i, q]
                    turn[i, p] = c * x + d * y
                    turn[i, q] = c * y - d * x
        if largest < 1e-8:
            break
    return turn


@njit(cache=True, nogil=True)
def _symmetric_function(matrix, exponent, low, high):
    """A symmetric matrix to a power, its eigenvalues first kept between two bounds."""
    sizes, directions = eigh(0.5 * (matrix + matrix.T))
    out = np.zeros_like(matrix)
    for j in range(len(sizes)):
        size = min(max(sizes[j], low), high) ** exponent
        for a in range(len(sizes)):
            for b in range(len(sizes)):
                out[a, b] += size * directions[a, j] * directions[b, j]
    return out


@njit(cache=True, nogil=True)
def _cap(loadings):
    """Shrink loadings along directions where they explain more than nearly all of a variance of one."""
    sizes, directions = eigh(loadings @ loadings.T)
    for j in range(len(sizes)):
        if sizes[j] > 0.98:
            shrink = 1.0 - math.sqrt(0.98 / sizes[j])
            along = directions[:, j].copy()
            part = along @ loadings
            for i in range(len(loadings)):
                for h in range(loadings.shape[1]):
                    loadings[i, h] -= shrink * along[i] * part[h]


@njit(cache=True, nogil=True)
def _damped_inverse(loadings, noise):
    """Left inverse of loadings that vanishes where they are no larger than the noise."""
    gram = loadings.T @ loadings
    for j in range(len(gram)):
        gram[j, j] += noise * noise
    return solve(gram, loadings.T)


@njit(cache=True, nogil=True)
def view_loadings(ab, ac, bc, noise):
    """How three views load on the same standardised hidden coordinates, from their covariances.

    The product of the loadings of the two views a and b is what their covariance says; how it is shared
    between them follows from the third view, as far as it is above the noise.
    """
    r = len(ab)
    left, sizes, right = svd(ab)
    low = max(0.5 * noise, 1e-12)
    roots = np.empty(r)
    for j in range(r):
        roots[j] = math.sqrt(min(max(sizes[j], low), 0.98))
    x = left.T @ ac
    y = right @ bc
    for j in range(r):
        x[j] /= roots[j]
        y[j] /= roots[j]
    damp = noise * noise / max(roots[r - 1] ** 2, low)
    gram = y @ y.T
    cross = x @ y.T
    for j in range(r):
        gram[j, j] += damp
        cross[j, j] += damp
    share = np.ascontiguousarray(solve(gram, cross.T).T)
    bound = 0.98 / roots[0] ** 2
    half = _symmetric_function(share, 0.5, 1.0 / bound, bound)
    back = _symmetric_function(share, -0.5, 1.0 / bound, bound)
    of_a = np.ascontiguousarray(left * roots) @ half
    of_b = np.ascontiguousarray(right.T * roots) @ back
    both = np.concatenate((of_a, of_b))
    of_c = np.concatenate((ac, bc)).T @ _damped_inverse(both, noise).T
    _cap(of_a)
    _cap(of_b)
    _cap(of_c)
    return of_a, of_b, of_c


@njit(cache=True, nogil=True)
def hidden_points(of_a, of_b, of_c, third, noise, least):
    """Shares of the hidden states and where each stands in the hidden coordinates.

    Brings the third moment into the hidden coordinates and turns it diagonal (Anandkumar et al. 2012), with a
    constant coordinate in front that carries the shares.
    """
    r = len(of_a)
    k = r + 1
    from_a = _damped_inverse(of_a, noise)
    from_b = np.ascontiguousarray(_damped_inverse(of_b, noise).T)
    from_c = _damped_inverse(of_c, noise)
    cube = np.zeros((r, r, r))
    for i in range(r):
        slab = from_a @ np.ascontiguousarray(third[:, :, i]) @ from_b
        for j in range(r):
            for a in range(r):
                for b in range(r):
                    cube[a, b, j] += slab[a, b] * from_c[j, i]
    slices = np.zeros((r, k, k))
    for j in range(r):
        slices[j, 0, 1 + j] = 1.0
        slices[j, 1 + j, 0] = 1.0
        for a in range(r):
            for b in range(r):
                slices[j, 1 + a, 1 + b] = (
                    cube[a, b, j]
                    + cube[b, a, j]
                    + cube[a, j, b]
                    + cube[b, j, a]
                    + cube[j, a, b]
                    + cube[j, b, a]
                ) / 6.0
    turn = joint_turn(slices, 50)
    shares = np.empty(k)
    points = np.empty((r, k))
    for h in range(k):
        if turn[0, h] < 0:
            turn[:, h] = -turn[:, h]
        shares[h] = max(turn[0, h] ** 2, least)
    shares /= shares.sum()
    for h in range(k):
        for a in range(r):
            points[a, h] = turn[1 + a, h] / math.sqrt(shares[h])
    return shares, points


@njit(cache=True, nogil=True)
def _means_given(covariance, others, shares, noise):
    """E[f | state] of a feature of variance one, from its covariance with views whose means are known.

    Shrunk where the covariances are no larger than the noise, and where the states would explain more than
    the feature's whole variance.
    """
    k = len(shares)
    weighted = others * shares  # (m, k)
    gram = weighted.T @ weighted + np.outer(shares, shares)
    for h in range(k):
        gram[h, h] += noise * noise * shares[h]
    found = np.ascontiguousarray(solve(gram, weighted.T @ covariance.T).T)  # (f, k)
    middle = found @ shares
    roots = np.sqrt(shares)
    for i in range(len(found)):
        found[i] = (found[i] - middle[i]) * roots
    _cap(found)
    return found / roots


@njit(cache=True, nogil=True)
def _write_rows(out, columns, smooth):
    """Columns of estimated probabilities as table rows: clipped, summing to one, mixed with their mean."""
    n, k = columns.shape
    for h in range(k):
        total = 0.0
        for x in range(n):
            columns[x, h] = max(columns[x, h], 0.0)
            total += columns[x, h]
        for x in range(n):
            columns[x, h] = columns[x, h] / total if total > 0 else 1.0 / n
    for x in range(n):
        mean = 0.0
        for h in range(k):
            mean += columns[x, h] / k
        for h in range(k):
            out[h * n + x] = (1 - smooth) * columns[x, h] + smooth * (0.5 * mean + 0.5 / n)


@njit(cache=True, nogil=True)
def _decompose(follows, weights, begins, r, third, noise):
    """Shares of a node's states and the means of its three views in each."""
    rows = np.empty((3, r, follows.shape[1]))
    coefficients = np.empty((3, r, follows.shape[1]))
    for g in range(3):
        rows[g] = follows[begins[g] : begins[g] + r]
        coefficients[g] = weights[begins[g] : begins[g] + r]
    # The two views that follow each other best carry the third one.
    best, last = -1.0, 2
    for g in range(3):
        size = svd(rows[(g + 1) % 3] @ coefficients[(g + 2) % 3].T)[1][r - 1]
        if size > best:
            best, last = size, g
    a, b = (last + 1) % 3, (last + 2) % 3
    ab = rows[a] @ coefficients[b].T
    ac = rows[a] @ coefficients[last].T
    bc = rows[b] @ coefficients[last].T
    turned = np.empty((r, r, r))
    place = np.empty(3, np.int64)
    for i in range(r):
        for j in range(r):
            for m in range(r):
                place[a], place[b], place[last] = i, j, m
                turned[i, j, m] = third[place[0], place[1], place[2]]
    of_a, of_b, of_c = view_loadings(ab, ac, bc, noise)
    shares, points = hidden_points(of_a, of_b, of_c, turned, noise, 0.3 / (r + 1))
    means = np.empty((3, r, r + 1))
    means[a] = of_a @ points
    means[b] = of_b @ points
    means[last] = of_c @ points
    return shares, means


@njit(cache=True, nogil=True)
def _given_hidden(child, group, views, shares, means, noise, state):
    """E[feature of a child | state of its parent], seen through the views that it is not part of."""
    weights, follows, begins, sizes = state[0], state[1], state[2], state[3]
    m, k = sizes[child], len(shares)
    r = k - 1
    if r == 0 or m == 0:
        return np.zeros((m, k))
    rows = follows[begins[child] : begins[child] + m]
    covariance = np.empty((m, 2 * r))
    others = np.empty((2 * r, k))
    n = 0
    for g in range(3):
        if g != group:
            v = begins[views + g]
            covariance[:, n : n + r] = rows @ weights[v : v + r].T
            others[n : n + r] = means[g]
            n += r
    return _means_given(covariance, others, shares, noise)


@njit(cache=True, nogil=True)
def _given_category(child, first, marginals, state):
    """E[feature of a child | category of the leaf that its parent repeats]."""
    follows, begins, sizes = state[1], state[2], state[3]
    out = np.zeros((sizes[child], len(marginals)))
    for x in range(len(marginals)):
        if marginals[x] > 0:
            for j in range(sizes[child]):
                out[j, x] = follows[begins[child] + j, first + x] / math.sqrt(marginals[x])
    return out


@njit(cache=True, nogil=True)
def _hidden_columns(mine, inner, given, noise):
    """P(child's state | parent's state), from the means of the child's feature in both."""
    m = len(mine)
    estimate = np.zeros((len(inner), given.shape[1]))
    if m > 0:
        gram = (mine * inner) @ mine.T
        for j in range(m):
            gram[j, j] += noise * noise
        estimate = (mine * inner).T @ solve(gram, given)
    for h in range(given.shape[1]):
        estimate[:, h] += inner
    return estimate


@njit(cache=True, nogil=True)
def tables_from_views(
    moments,
    total_weight,
    marginals,
    card_starts,
    cards,
    n_states,
    children,
    child_starts,
    groups,
    copy_of,
    starts,
    noise,
    smooth,
    state,
):
    """Flat probability tables from the features' covariances and third moments.

    Parameters are those of `branch_features` and `third_moments`, and
    copy_of : (node,) the leaf that a hidden node repeats, or -1
    starts : where each node's table starts
    noise : the size of a covariance that is not told from none
    smooth : share of every table row that is spread
    """
    follows, weights, begins, sizes = state[1], state[0], state[2], state[3]
    turns, turn_begins = state[4], state[5]
    n_nodes, n_leaves = len(n_states), len(cards)
    root = n_nodes - 1
    out = np.zeros(starts[-1])
    widest = 1
    for node in range(n_leaves, n_nodes):
        widest = max(widest, n_states[node])
    shares_of = np.zeros((n_nodes, widest))
    own = np.zeros(
        (n_nodes, widest, widest)
    )  # (node, feature, state)  E[inside feature | own state]
    at = 0
    for node in range(n_leaves, n_nodes):
        k = n_states[node]
        r = k - 1
        views = 2 * n_nodes + 3 * node
        below = children[child_starts[node] : child_starts[node + 1]]
        leaf = copy_of[node]
        shares = np.ones(1)
        means = np.zeros((3, r, k))
        if leaf >= 0:
            shares = marginals[card_starts[leaf] : card_starts[leaf + 1]].copy()
        elif r > 0:
            third = moments[at : at + r * r * r].reshape((r, r, r)) / total_weight
            at += r * r * r
            shares, means = _decompose(follows, weights, begins[views : views + 3], r, third, noise)
        shares_of[node, :k] = shares
        if node == root:
            out[starts[node] : starts[node + 1]] = (1 - smooth) * shares + smooth / k
        span = 0
        for child in below:
            span += sizes[child]
        place = 0
        for child in below:
            m = sizes[child]
            if leaf >= 0:
                given = _given_category(child, card_starts[leaf], shares, state)
            else:
                given = _given_hidden(child, groups[child], views, shares, means, noise, state)
            table = out[starts[child] : starts[child + 1]]
            if child == leaf:
                for x in range(k):
                    table[x * k + x] = 1.0
            elif child < n_leaves:
                p = marginals[card_starts[child] : card_starts[child + 1]].copy()
                estimate = given.copy()
                for x in range(m):
                    estimate[x] = p[x] + math.sqrt(p[x]) * given[x]
                _write_rows(table, estimate, smooth)
            else:
                mine = np.ascontiguousarray(own[child, :m, : n_states[child]])
                inner = shares_of[child, : n_states[child]].copy()
                _write_rows(table, _hidden_columns(mine, inner, given, noise), smooth)
            if node < root:
                for i in range(sizes[node]):
                    for j in range(m):
                        turn = turns[turn_begins[node] + i * span + place + j]
                        for h in range(k):
                            own[node, i, h] += turn * given[j, h]
            place += m
    return out
