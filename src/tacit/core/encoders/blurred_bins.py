"""Bins of the unit interval, blurred: densities that overlap a little and whose mixture is uniform.

The blur is a Gaussian that is reflected at both ends of the interval. So every density integrates to one, and
weighted by the widths of their bins they sum to one everywhere.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_REACH = 6.0  # bandwidths from a place to where its kernel ends


def blurred(masses: Array, cuts: Array, bandwidth: float) -> Array:
    """(row, bin) the density of each blurred bin at each place of [0, 1]; NaN at NaN.

    Parameters
    ----------
    masses : (row,)
        The places.
    cuts : (bin + 1,)
        The ends of the bins, ascending, from 0 to 1.
    bandwidth : float
        Standard deviation of the blur; at zero a place that is a cut belongs to the bin below it.
    """
    densities = np.empty((len(masses), len(cuts) - 1))
    if bandwidth > 0:
        from tacit.core.loops.blurred_bins import blur_bins

        blur_bins(masses, cuts, bandwidth, densities)
        return densities
    bins = np.searchsorted(cuts[1:-1], masses)
    densities[:] = 0.0
    densities[np.arange(len(masses)), bins] = 1 / np.diff(cuts)[bins]
    densities[np.isnan(masses)] = np.nan
    return densities


def blurred_below(masses: Array, cuts: Array, bandwidth: float) -> Array:
    """(row, bin) the integral of `blurred` from 0 to each place."""
    if bandwidth == 0:
        return np.clip((masses[:, None] - cuts[:-1]) / np.diff(cuts), 0.0, 1.0)
    from scipy.special import ndtr

    def integral(z: Array) -> Array:
        normal = np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi)
        return bandwidth * np.asarray(z * ndtr(z) + normal)

    integrals = np.zeros((len(masses), len(cuts)))
    turns = int(np.ceil((1 + _REACH * bandwidth) / 2))
    for shift in 2.0 * np.arange(-turns, turns + 1):
        integrals -= integral((cuts - (shift + masses)[:, None]) / bandwidth)
        integrals += integral((cuts - (shift - masses)[:, None]) / bandwidth)
    return np.clip(np.diff(integrals, axis=1) / np.diff(cuts), 0.0, 1.0)
