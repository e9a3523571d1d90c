"""Bins of the unit interval, blurred: densities that overlap a little and together are even.

The blur is that of warmth in a rod with insulated ends: a Gaussian whose mass, where it leaves the interval,
comes back reflected. So every bump integrates to one, and bumps weighted by the widths of their bins sum to
one everywhere.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_REACH = 6.0  # bandwidths from a place to where its kernel ends


def blurred(shares: Array, cuts: Array, bandwidth: float) -> Array:
    """(row, bin) the density of each bump at each place of [0, 1]; NaN at NaN.

    Parameters
    ----------
    shares : (row,)
        The places.
    cuts : (bin + 1,)
        The ends of the bins, ascending, from 0 to 1.
    bandwidth : float
        Standard deviation of the blur; at zero a place that is a cut belongs to the bin below it.
    """
    found = np.empty((len(shares), len(cuts) - 1))
    if bandwidth > 0:
        from tacit.core.loops.bumps import blur_bins

        blur_bins(shares, cuts, bandwidth, found)
        return found
    bins = np.searchsorted(cuts[1:-1], shares)
    found[:] = 0.0
    found[np.arange(len(shares)), bins] = 1 / np.diff(cuts)[bins]
    found[np.isnan(shares)] = np.nan
    return found


def blurred_below(shares: Array, cuts: Array, bandwidth: float) -> Array:
    """(row, bin) the integral of `blurred` from 0 to each place."""
    if bandwidth == 0:
        return np.clip((shares[:, None] - cuts[:-1]) / np.diff(cuts), 0.0, 1.0)
    from scipy.special import ndtr

    def integral(z: Array) -> Array:
        normal = np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi)
        return bandwidth * np.asarray(z * ndtr(z) + normal)

    found = np.zeros((len(shares), len(cuts)))
    turns = int(np.ceil((1 + _REACH * bandwidth) / 2))
    for shift in 2.0 * np.arange(-turns, turns + 1):
        found -= integral((cuts - (shift + shares)[:, None]) / bandwidth)
        found += integral((cuts - (shift - shares)[:, None]) / bandwidth)
    return np.clip(np.diff(found, axis=1) / np.diff(cuts), 0.0, 1.0)
