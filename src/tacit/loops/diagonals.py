"""Compiled joint diagonalisation of symmetric matrices by Jacobi rotations."""

from __future__ import annotations

import math

from numba import njit


@njit(cache=True, nogil=True)
def rotate_jointly(matrices, vectors, tol, most_sweeps):
    """Rotate symmetric matrices until together they are as nearly diagonal as plane rotations make them.

    Cardoso and Souloumiac (1996), equations 5 to 9, for real symmetric matrices.

    Parameters
    ----------
    matrices : (matrix, k, k)  rotated in place
    vectors : (k, k)  their rotation, multiplied from the right
    tol : float  sines below which a rotation is left out
    most_sweeps : int

    Returns
    -------
    How many sweeps were made.
    """
    n, k = len(matrices), len(vectors)
    for sweep in range(most_sweeps):
        turned = False
        for p in range(k - 1):
            for q in range(p + 1, k):
                on, off = 0.0, 0.0
                for i in range(n):
                    difference = matrices[i, p, p] - matrices[i, q, q]
                    twice = matrices[i, p, q] + matrices[i, q, p]
                    on += difference * difference - twice * twice
                    off += 2.0 * difference * twice
                angle = 0.5 * math.atan2(off, on + math.sqrt(on * on + off * off))
                cosine, sine = math.cos(angle), math.sin(angle)
                if abs(sine) <= tol:
                    continue
                turned = True
                for i in range(n):
                    own = matrices[i]
                    for j in range(k):
                        a, b = own[j, p], own[j, q]
                        own[j, p], own[j, q] = cosine * a + sine * b, cosine * b - sine * a
                    for j in range(k):
                        a, b = own[p, j], own[q, j]
                        own[p, j], own[q, j] = cosine * a + sine * b, cosine * b - sine * a
                for j in range(k):
                    a, b = vectors[j, p], vectors[j, q]
                    vectors[j, p], vectors[j, q] = cosine * a + sine * b, cosine * b - sine * a
        if not turned:
            return sweep + 1
    return most_sweeps
