"""Bins of the unit interval, blurred: densities that overlap a little and together are even.

The blur is that of warmth in a rod with insulated ends: a Gaussian whose mass, where it leaves the interval,
comes back reflected. So every bump integrates to one, and bumps weighted by the widths of their bins sum to
one everywhere.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_SQRT_2_PI = float(np.sqrt(2 * np.pi))


def blurred(shares: Array, cuts: Array, bandwidth: float) -> Array:
    """(row, bin) each bin's flat density on [0, 1], blurred; what leaves at an end comes back."""
    from scipy.special import ndtr

    found = np.zeros((len(shares), len(cuts)))
    for shift in (-2.0, 0.0, 2.0):
        found += ndtr((cuts - (shares + shift)[:, None]) / bandwidth)
        found += ndtr((cuts - (shift - shares)[:, None]) / bandwidth)
    return np.diff(found, axis=1) / np.diff(cuts)


def blurred_below(shares: Array, cuts: Array, bandwidth: float) -> Array:
    """(row, bin) the integral of `blurred` from 0."""
    from scipy.special import ndtr

    if bandwidth == 0:
        return np.clip((shares[:, None] - cuts[:-1]) / np.diff(cuts), 0.0, 1.0)

    def integral(z: Array) -> Array:
        normal = np.exp(-0.5 * z * z) / _SQRT_2_PI
        return bandwidth * np.asarray(z * ndtr(z) + normal)

    found = np.zeros((len(shares), len(cuts)))
    for shift in (-2.0, 0.0, 2.0):
        start = integral((cuts - shift) / bandwidth)
        found += start - integral((cuts - (shares + shift)[:, None]) / bandwidth)
        found += integral((cuts - (shift - shares)[:, None]) / bandwidth) - start
    return np.diff(found, axis=1) / np.diff(cuts)
