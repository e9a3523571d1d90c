"""Exact moments of features of variables with finitely many values, and what a network says of points."""

import math
from dataclasses import replace

import numpy as np

from tacit.messages.evidence import Evidence
from tacit.messages.passes import log_values
from tacit.trees.moments.features import FeatureMoments


class FeaturePopulation:
    """Moments of a joint table of values: means over all combinations of values, each with its probability.

    Parameters
    ----------
    joint : (value of the first, value of the second, ...)
    values : per variable its values
    encoders : per variable
    """

    n_rows = math.inf

    def __init__(self, joint, values, encoders):
        places = np.indices(joint.shape).reshape(joint.ndim, -1)
        columns = [np.asarray(column)[at] for column, at in zip(values, places, strict=True)]
        self.moments = FeatureMoments.of(columns, encoders, joint.ravel())
        self.cards = self.moments.cards

    def pairs(self):
        return self.moments.pairs()

    def tables(self, subsets):
        return self.moments.tables(subsets)

    def projected(self, requests):
        return self.moments.projected(requests)


def smoothed(joint, values, encoders, points):
    """(point,) The mean over a joint table of the product of all kernels at each point.

    None for a variable's points: its constant stands for its kernel.
    """
    out = np.broadcast_to(joint, (len(next(x for x in points if x is not None)), *joint.shape))
    for column, encoder, at in reversed(list(zip(values, encoders, points, strict=True))):
        features = encoder.features(np.asarray(column)).T  # (feature, value)
        kernels = encoder.total[None] if at is None else encoder.features(at)
        kernels = np.broadcast_to(kernels @ features, (len(out), features.shape[1]))
        out = np.einsum("p...v,pv->p...", out, kernels)
    return out


def values_at(network, encoders, points):
    """(point,) What a network says of points; None for a variable's points: it is missing."""
    emit, codes = list(network.emit), []
    n = len(next(x for x in points if x is not None))
    for leaf, at in enumerate(points):
        codes.append(np.full(n, -1) if at is None else np.arange(n))
        if at is not None:
            emit[leaf] = encoders[leaf].features(at) @ emit[leaf]
    sign, log_abs = log_values(replace(network, emit=tuple(emit)), Evidence(np.array(codes).T))
    return sign * np.exp(log_abs)
