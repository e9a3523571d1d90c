"""Jacobi rotations: singular values of many small matrices, and joint diagonalisation of symmetric ones."""

from __future__ import annotations

import math

import numpy as np

from tacit.core.loops.compiled import njit

MOST_SWEEPS = 60  # a dozen is much already; the bound is for what is not finite
COSINE = 1e-15  # times the root of a row's length: rows are as orthogonal as rounding allows


@njit(cache=True, nogil=True, inline="always")
def rotation(alpha, beta, gamma):
    """Cosine and sine of the smaller angle that makes two vectors orthogonal.

    Parameters
    ----------
    alpha, beta
        Their squared lengths.
    gamma
        Their inner product, not zero.
    """
    gap = beta - alpha
    root = math.sqrt(gap * gap + 4.0 * gamma * gamma)
    tangent = 2.0 * gamma / (gap + root if gap >= 0.0 else gap - root)
    cosine = 1.0 / math.sqrt(1.0 + tangent * tangent)
    return cosine, cosine * tangent


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def rotate_rows(rows, turns):
    """Rotate rows in pairs until all are orthogonal.

    Parameters
    ----------
    rows : (a, b)
        Changed in place.
    turns : (a, a)
        Changed in place: rotated alike, so that ``turns.T @ rows`` stays as it is.

    Returns
    -------
    bool
        Whether they are orthogonal now.
    """
    n_rows, n_columns = rows.shape
    enough = COSINE * COSINE * n_columns
    for _ in range(MOST_SWEEPS):
        turned = False
        for first in range(n_rows):
            for second in range(first + 1, n_rows):
                one, two = rows[first], rows[second]
                alpha, beta, gamma = 0.0, 0.0, 0.0
                for at in range(n_columns):
                    alpha += one[at] * one[at]
                    beta += two[at] * two[at]
                    gamma += one[at] * two[at]
                if gamma * gamma <= enough * alpha * beta:
                    continue
                turned = True
                cosine, sine = rotation(alpha, beta, gamma)
                for at in range(n_columns):
                    x, y = one[at], two[at]
                    one[at] = cosine * x - sine * y
                    two[at] = sine * x + cosine * y
                one, two = turns[first], turns[second]
                for at in range(n_rows):
                    x, y = one[at], two[at]
                    one[at] = cosine * x - sine * y
                    two[at] = sine * x + cosine * y
        if not turned:
            return True
    return False


@njit(cache=True, nogil=True)
def decompose_wide(matrices, left, values, right):
    """Thin singular value decompositions, the values descending.

    Parameters
    ----------
    matrices : (matrix, a, b)
        With ``a <= b``.
    left : (matrix, a, a)
        Overwritten.
    values : (matrix, a)
        Overwritten.
    right : (matrix, a, b)
        Overwritten; rows of zeros where the value is zero.

    Returns
    -------
    bool
        Whether all went well; false where an entry is not finite.
    """
    n_matrices, a, b = matrices.shape
    rows, turns = np.empty((a, b)), np.empty((a, a))
    lengths = np.empty(a)
    for number in range(n_matrices):
        rows[:] = matrices[number]
        turns[:] = 0.0
        for at in range(a):
            turns[at, at] = 1.0
        if not rotate_rows(rows, turns):
            return False
        for at in range(a):
            total = 0.0
            for column in range(b):
                total += rows[at, column] * rows[at, column]
            lengths[at] = math.sqrt(total)
        for rank in range(a):
            best = 0
            for at in range(1, a):
                if lengths[at] > lengths[best]:
                    best = at
            length = lengths[best]
            if not math.isfinite(length):
                return False
            values[number, rank] = length
            scale = 1.0 / length if length > 0.0 else 0.0
            for column in range(b):
                right[number, rank, column] = rows[best, column] * scale
            for at in range(a):
                left[number, at, rank] = turns[best, at]
            lengths[best] = -1.0
    return True


@njit(cache=True, nogil=True)
def turn_rows(one, two, cosine, sine):
    """Rotate two vectors in their plane."""
    for at in range(len(one)):
        a, b = one[at], two[at]
        one[at], two[at] = cosine * a + sine * b, cosine * b - sine * a


@njit(cache=True, nogil=True)
def rotate_jointly(matrices, vectors, tol, most_sweeps):
    """Rotate symmetric matrices until together they are as nearly diagonal as plane rotations make them.

    Cardoso and Souloumiac (1996), equations 5 to 9, for real symmetric matrices.

    Parameters
    ----------
    matrices : (k, k, matrix)  rotated in place
    vectors : (k, k)  their rotation, multiplied from the right
    tol : float  sines below which a rotation is left out
    most_sweeps : int

    Returns
    -------
    How many sweeps were made.
    """
    n, k = matrices.shape[2], len(vectors)
    for sweep in range(most_sweeps):
        turned = False
        for p in range(k - 1):
            for q in range(p + 1, k):
                on, off = 0.0, 0.0
                one, two, both, mirrored = (
                    matrices[p, p],
                    matrices[q, q],
                    matrices[p, q],
                    matrices[q, p],
                )
                for i in range(n):
                    difference = one[i] - two[i]
                    twice = both[i] + mirrored[i]
                    on += difference * difference - twice * twice
                    off += 2.0 * difference * twice
                angle = 0.5 * math.atan2(off, on + math.sqrt(on * on + off * off))
                cosine, sine = math.cos(angle), math.sin(angle)
                if abs(sine) <= tol:
                    continue
                turned = True
                for j in range(k):
                    turn_rows(matrices[j, p], matrices[j, q], cosine, sine)
                for j in range(k):
                    turn_rows(matrices[p, j], matrices[q, j], cosine, sine)
                for j in range(k):
                    a, b = vectors[j, p], vectors[j, q]
                    vectors[j, p], vectors[j, q] = cosine * a + sine * b, cosine * b - sine * a
        if not turned:
            return sweep + 1
    return most_sweeps
