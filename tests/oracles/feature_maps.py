"""Small feature maps written out plainly, and exact moments of features."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tacit.moments.features import FeatureMoments, FeaturePairs


@dataclass(frozen=True, eq=False)
class Indicators:
    """One feature per category; -1 is missing."""

    size: int

    @property
    def total(self):
        return np.ones(self.size)

    def features(self, values):
        out = (np.asarray(values)[:, None] == np.arange(self.size)).astype(float)
        out[np.asarray(values) < 0] = np.nan
        return out


@dataclass(frozen=True, eq=False)
class Kernel:
    """The features of a Gaussian kernel: their products are those of its Nystroem approximation."""

    pivots: np.ndarray
    bandwidth: float

    @property
    def size(self):
        return len(self.pivots)

    @cached_property
    def inverse(self):
        return np.linalg.inv(np.linalg.cholesky(self.kernel(self.pivots)))

    @cached_property
    def total(self):
        at = np.linspace(self.pivots.min(), self.pivots.max(), 200)
        return np.linalg.lstsq(self.features(at), np.ones(200), rcond=None)[0]

    def kernel(self, values):
        apart = np.subtract.outer(np.asarray(values, dtype=float), self.pivots)
        return np.exp(-(apart**2) / (2 * self.bandwidth**2))

    def features(self, values):
        return self.kernel(values) @ self.inverse.T


class FeaturePopulation:
    """Exact moments of features of variables with finitely many values each.

    Parameters
    ----------
    joint : (value of the first, value of the second, ...)
    values : per variable its values
    encoders : per variable
    """

    n_rows = math.inf

    def __init__(self, joint, values, encoders):
        rows = np.array(list(np.ndindex(joint.shape)))
        columns = [np.asarray(each)[rows[:, i]] for i, each in enumerate(values)]
        self.moments = FeatureMoments.of(columns, encoders, joint.ravel())
        self.cards = self.moments.cards

    def pairs(self) -> FeaturePairs:
        return self.moments.pairs()

    def tables(self, subsets):
        return self.moments.tables(subsets)
