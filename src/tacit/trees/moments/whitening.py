"""Whitening of features: scaled so that they have unit variance in all directions.

Indicators are divided by the roots of their probabilities (`root_scale`). In general that is the inverse
root of the features' second moments, with the same pseudo-rows added; for indicators both agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tacit.trees.moments.features import FeaturePairs

Array = NDArray[np.float64]

# Pseudo-rows added to each category: rare categories would otherwise get very large weights.
PSEUDO_ROWS = 5.0

# Floor on the variance of a direction of kernel features, as a fraction of the largest.
LEAST_VARIANCE = 1e-8


def root_scale(probabilities: Array, n_rows: Array | float) -> Array:
    """One over the root of each category's probability; 1 for a category that cannot occur."""
    padded = probabilities + PSEUDO_ROWS / np.maximum(n_rows, 1)
    return 1 / np.sqrt(np.where(padded > 0, padded, 1))


@dataclass(frozen=True, slots=True, eq=False)
class Turn:
    """The whitening of the features of a leaf, or of the joint features of some."""

    inverse_root: Array  # (feature, feature)  symmetric
    total: Array  # (feature,)  the constant, for the features as they are
    constant: Array  # (feature,)  the constant, for the whitened features
    freedom: float  # in how many directions they vary, the constant apart
    indicators: bool  # whether they are indicators of categories

    @staticmethod
    def of(second: Array, total: Array, n_rows: float) -> Turn:
        """The whitening of features with given second moments and constant."""
        probabilities = second.diagonal()
        if (total == 1).all() and not second[~np.eye(len(second), dtype=np.bool_)].any():
            return _of_indicators(probabilities, n_rows)
        sizes, vectors = np.linalg.eigh(second)
        padded = sizes + PSEUDO_ROWS / max(n_rows, 1)
        padded = np.maximum(padded, LEAST_VARIANCE * max(sizes[-1], 0.0))
        padded = np.where(padded > 0, padded, 1.0)
        freedom = max(float((np.maximum(sizes, 0.0) / padded).sum()) - 1, 0.0)
        constant = (vectors * np.sqrt(padded)) @ (vectors.T @ total)
        inverse_root = (vectors / np.sqrt(padded)) @ vectors.T
        return Turn(inverse_root, total, constant, freedom, indicators=False)


@dataclass(frozen=True, slots=True, eq=False)
class Whitening:
    """The whitening of all leaves."""

    turns: tuple[Turn, ...]  # (leaf,)
    joint: Array  # (cell, cell)  second moments of the whitened features of all leaves
    means: Array  # (cell,)  of the whitened features

    @staticmethod
    def of(pairs: FeaturePairs, supports: Array) -> Whitening:
        """The whitening of the features behind all pairs."""
        spans = [slice(*span) for span in pairwise(pairs.offsets)]
        raw = pairs.probabilities
        turns = tuple(
            Turn.of(raw[span, span], pairs.totals[span], float(supports[leaf, leaf]))
            for leaf, span in enumerate(spans)
        )
        means = [
            turn.inverse_root @ pairs.means[span] for turn, span in zip(turns, spans, strict=True)
        ]
        return Whitening(turns, _scaled(turns, raw), np.concatenate([np.zeros(0), *means]))

    def scaled(self, second: Array) -> Array:
        """(cell, cell) Second moments, or covariances, of all features, as those of the whitened ones."""
        return _scaled(self.turns, second)

    @property
    def constants(self) -> Array:
        """(cell,) The constants of all leaves, for the whitened features."""
        return np.concatenate([np.zeros(0), *(turn.constant for turn in self.turns)])

    @property
    def freedom(self) -> Array:
        """(leaf,) In how many directions the features of each leaf vary, the constant apart."""
        return np.array([turn.freedom for turn in self.turns])

    def total(self, leaves: Sequence[int]) -> Array:
        """(joint feature,) The constant of the joint features of some leaves, as they are."""
        return reduce(_kron, (self.turns[leaf].total for leaf in leaves), np.ones(1))

    def of_group(self, leaves: Sequence[int], means: Array, n_rows: float) -> Turn:
        """The whitening of the joint features of several leaves.

        Joint indicators are indicators of joint categories. Of other features it is taken as if the leaves
        were independent: no moment of order four is needed, and any scaling will do.

        Parameters
        ----------
        leaves
        means : (joint feature,)
            Means of the joint features.
        n_rows
        """
        turns = [self.turns[leaf] for leaf in leaves]
        if all(turn.indicators for turn in turns):
            return _of_indicators(means, n_rows)
        return Turn(
            reduce(_kron, (turn.inverse_root for turn in turns), np.ones((1, 1))),
            self.total(leaves),
            reduce(_kron, (turn.constant for turn in turns), np.ones(1)),
            float(np.prod([turn.freedom + 1 for turn in turns])) - 1,
            indicators=False,
        )


def _scaled(turns: Sequence[Turn], second: Array) -> Array:
    ends = np.cumsum([len(turn.total) for turn in turns])
    spans = [slice(end - len(turn.total), end) for turn, end in zip(turns, ends, strict=True)]
    out = np.empty_like(second)
    for turn, span in zip(turns, spans, strict=True):
        out[span] = turn.inverse_root @ second[span]
    for turn, span in zip(turns, spans, strict=True):
        out[:, span] = out[:, span] @ turn.inverse_root
    return out


def _of_indicators(probabilities: Array, n_rows: float) -> Turn:
    scale = root_scale(probabilities, n_rows)
    return Turn(np.diag(scale), np.ones(len(scale)), 1 / scale, len(scale) - 1.0, indicators=True)


def _kron(first: Array, second: Array) -> Array:
    return np.asarray(np.kron(first, second), dtype=np.float64)
