"""Bins of the unit interval, blurred by a reflected Gaussian."""

from __future__ import annotations

import math

import numpy as np

from tacit.core.loops.compiled import njit

REACH = 6.0  # bandwidths from a place to where its kernel ends


@njit(cache=True, nogil=True)
def blur_bins(masses, cuts, bandwidth, out):
    """The flat densities of bins, blurred by a Gaussian that is reflected at both ends of [0, 1].

    Parameters
    ----------
    masses : (row,)
        Where the densities are wanted, from 0 to 1; NaN gives a row of NaN.
    cuts : (bin + 1,)
        The ends of the bins, ascending, from 0 to 1.
    bandwidth : float
        Positive.
    out : (row, bin)
        Filled with the densities.
    """
    n_bins = len(cuts) - 1
    reach = REACH * bandwidth
    n_images = math.ceil((1 + reach) / 2)
    factor = -1 / (math.sqrt(2.0) * bandwidth)
    for row in range(len(masses)):
        mass = masses[row]
        if math.isnan(mass):
            out[row] = np.nan
            continue
        out[row] = 0.0
        for turn in range(-n_images, n_images + 1):
            for image in (2.0 * turn + mass, 2.0 * turn - mass):
                if image < -reach or image > 1 + reach:
                    continue
                below = 0.0 if -image < -reach else 0.5 * math.erfc(factor * -image)
                for place in range(n_bins):
                    away = cuts[place + 1] - image
                    if away > reach:
                        above = 1.0
                    elif away < -reach:
                        above = 0.0
                    else:
                        above = 0.5 * math.erfc(factor * away)
                    out[row, place] += above - below
                    if above == 1.0:
                        break
                    below = above
        for place in range(n_bins):
            out[row, place] /= cuts[place + 1] - cuts[place]
