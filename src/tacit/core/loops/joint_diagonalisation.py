"""Compiled joint diagonalisation of symmetric matrices by Jacobi rotations."""

from __future__ import annotations

import math

from numba import njit


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
                one, two, both, back = (
                    matrices[p, p],
                    matrices[q, q],
                    matrices[p, q],
                    matrices[q, p],
                )
                for i in range(n):
                    difference = one[i] - two[i]
                    twice = both[i] + back[i]
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
