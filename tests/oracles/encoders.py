"""Encoders of columns of numbers by bins."""

from tacit.core.encoders.bins import even_cuts
from tacit.core.encoders.encoders import BinEncoder
from tacit.core.encoders.margins import fit_margin


def bin_encoder(values, n_bins, bandwidth=None, weights=None):
    """Bins of about equal mass, at most `n_bins`, fewer where values are repeated often.

    By default the bins are blurred by half of a bin, as a fraction of the column's mass.
    """
    margin = fit_margin(values, weights)
    edges = even_cuts(values, n_bins, weights)
    inner = []
    below = 0.0
    for place, mass in enumerate(margin.cdf(edges).tolist()):
        # else the density holds next to nothing there
        if min(mass - below, 1 - mass) >= 0.1 / n_bins:
            inner.append(place)
            below = mass
    edges = edges[inner]
    return BinEncoder(edges, margin, 0.5 / (len(edges) + 1) if bandwidth is None else bandwidth)
