"""Length of each edge of a tree and its variance, from the four groups of variables around it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tacit.trees.structure.draft import Draft

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

# Of a draft; distances beyond the longest tell nothing, and one of zero would make a guess certain.
SHORTEST, LONGEST = 1e-9, 12.0
# Of the noise of a similarity: what is less is taken for this much.
FLOOR = 0.3


@dataclass(frozen=True, eq=False)
class Quartets:
    """Groups A, B on one side of each edge and C, D on its other side.

    A group represents the variables behind one or more neighbours of the edge's end; an observed end is both
    groups of its side.
    """

    ends: Integers  # (edge, 2)
    distances: Array  # (edge, 4, 4)  between the groups
    depths: Array  # (edge, 4)  from the end of the edge to the group

    @cached_property
    def sums(self) -> Array:
        """(edge, 3): distances of AB + CD, AC + BD, AD + BC; the first is least where the edge is right."""
        d = self.distances
        return np.stack(
            [d[:, 0, 1] + d[:, 2, 3], d[:, 0, 2] + d[:, 1, 3], d[:, 0, 3] + d[:, 1, 2]], axis=1
        )

    @cached_property
    def lengths(self) -> Array:
        """(edge,): by the four-point condition; negative where another pairing fits better."""
        pairings = self.sums
        return 0.25 * (pairings[:, 1] + pairings[:, 2]) - 0.5 * pairings[:, 0]

    @cached_property
    def variances(self) -> Array:
        """(edge,): of the lengths, times the number of rows; see `_covariance`."""
        weights = np.array([-0.5, -0.5, 0.25, 0.25, 0.25, 0.25])
        return np.asarray(np.einsum("p,epq,q->e", weights, self._covariance, weights))

    @cached_property
    def misfits(self) -> Array:
        """(edge,): squares of (AC + BD) - (AD + BC), which should be nothing, over their variance.

        NaN where an end is observed: the groups are then not four.
        """
        weights = np.array([0.0, 0.0, 1.0, 1.0, -1.0, -1.0])
        variance = np.einsum("p,epq,q->e", weights, self._covariance, weights)
        gap = self.sums[:, 1] - self.sums[:, 2]
        four = (self.depths > 0).all(axis=1)
        return np.where(four, gap**2 / np.where(four, variance, 1.0), np.nan)

    @cached_property
    def _covariance(self) -> Array:
        """(edge, pair, pair) of estimated distances AB, CD, AC, BD, AD, BC, times the number of rows.

        Exact for uniform binary variables on a tree, where the mean of a product of four of them is that of
        the nearest pairing: the covariance of the logarithms of r(ij) and r(kl) is
        ``r(ijkl) / (r(ij) r(kl)) - 1``. Larger than for Gaussian variables, so that what is found significant
        with it is so for those too.
        """
        length = np.maximum(self.lengths, 0.0)
        distance = self.depths[:, :, None] + self.depths[:, None, :]
        distance[:, :2, 2:] += length[:, None, None]
        distance[:, 2:, :2] += length[:, None, None]
        distance[:, range(4), range(4)] = 0.0
        same = (self.depths[:, [0, 2]] == 0) & (self.depths[:, [1, 3]] == 0)
        distance[:, 0, 1] = distance[:, 1, 0] = np.where(same[:, 0], 0.0, distance[:, 0, 1])
        distance[:, 2, 3] = distance[:, 3, 2] = np.where(same[:, 1], 0.0, distance[:, 2, 3])
        one, other = np.array([0, 2, 0, 1, 0, 1]), np.array([1, 3, 2, 3, 3, 2])
        i, j, k, l = one[:, None], other[:, None], one[None, :], other[None, :]
        together = distance[:, i, j] + distance[:, k, l]
        crossed = np.minimum(
            distance[:, i, k] + distance[:, j, l], distance[:, i, l] + distance[:, j, k]
        )
        return np.expm1(together - np.minimum(together, crossed))


def floor_of(n_rows: float | None) -> float:
    """A similarity so small that it could be chance, or nearly nothing where there is no noise."""
    return 1e-300 if n_rows is None else FLOOR / math.sqrt(n_rows)


def quartets_of(draft: Draft, similarity: Array, floor: float) -> Quartets:
    """The groups around every edge and the distances between them.

    The variables of a group are weighted as the best linear guess of the edge's end, by the draft's
    lengths. Guesses are compared by similarities, in which noise averages out, and not by distances, in
    which it does not.

    Parameters
    ----------
    draft : Draft
    similarity : (variable, variable)
        exp(-distance).
    floor : float
        Least similarity that counts as such, see `floor_of`.
    """
    from tacit.trees.loops.grouping import MOST_VARIABLES, gather_sides, quartets

    order, above = draft.walk(0)
    slot: dict[tuple[int, int], int] = {}
    starts = np.zeros(len(draft.near) + 1, dtype=np.int64)
    for node, others in enumerate(draft.near):
        for other in others:
            slot[node, other] = len(slot)
        starts[node + 1] = len(slot)
    near = np.array([other for _, other in slot], dtype=np.int64)
    reverse = np.array([slot[other, node] for node, other in slot], dtype=np.int64)
    lengths = np.array([length for others in draft.near for length in others.values()])
    lengths = np.clip(lengths, SHORTEST, LONGEST)
    below = order[1:]
    upwards = [slot[above[node], node] for node in reversed(below)]
    downwards = [slot[node, above[node]] for node in below]
    members = np.zeros((len(slot), MOST_VARIABLES), dtype=np.int64)
    weights = np.zeros((len(slot), MOST_VARIABLES))
    counts, strengths = np.zeros(len(slot), dtype=np.int64), np.zeros(len(slot))
    gather_sides(
        np.array(upwards + downwards), starts, near, reverse, lengths, draft.n_observed,
        members, weights, counts, strengths,
    )  # fmt: skip
    ends = np.array([(one, other) for one, other, _ in draft.edges()], dtype=np.int64)
    slots = np.array([(slot[a, b], slot[b, a]) for a, b in ends.tolist()], dtype=np.int64)
    similarities, depths = np.empty((len(ends), 4, 4)), np.empty((len(ends), 4))
    quartets(
        ends, slots, similarity, starts, lengths, draft.n_observed,
        members, weights, counts, strengths, similarities, depths,
    )  # fmt: skip
    return Quartets(ends, -np.log(np.maximum(similarities, floor)), depths)
