"""Refining trees by nearest-neighbour interchange: branches swapped, lengths estimated anew."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ArgumentError
from tacit.trees.structure.distance_matrices import checked_distances
from tacit.trees.structure.draft import Draft
from tacit.trees.structure.quartets import LONGEST, SHORTEST, Quartets, floor_of, quartets_of

Array = NDArray[np.float64]

MOST_ROUNDS = 60
# A pairing must be better than that of the tree by more than rounding errors.
LEAST_GAIN = 1e-9
# And by this many standard errors of the length of the edge: where nothing is clear, the tree stays as it
# was made.
CLEAR = 0.7
# Weight of the identity matrix in the correlations that are compared by likelihood.
RIDGE = 1e-3


def similarity_of(distances: Any, names: Sequence[str], n_states: int) -> Array:
    """exp(-distance) per singular value; distances checked."""
    if n_states < 2:
        raise ArgumentError(f"n_states={n_states}; hidden variables have at least two states")
    return np.exp(-np.maximum(checked_distances(distances, len(names)), 0.0) / (n_states - 1))


def effective_rows(n_rows: float | None, n_states: int) -> float | None:
    """Rows that one singular value would need to be as precise as the mean of all; None is without noise."""
    if n_rows is None:
        return None
    if not n_rows > 1:
        raise ArgumentError(f"n_rows={n_rows}: distances are estimated from at least 2 rows")
    return n_rows * (n_states - 1)


def refine(draft: Draft, similarity: Array, n_rows: float | None) -> None:
    """Interchange branches and estimate lengths until no interchange is better; the draft changes.

    Each side of an edge is represented by the best linear guess of the edge's end from the variables on
    that side, so that the four branches around the edge are compared with all that is known about them.
    Where another pairing of the four has the smaller sum of distances, two of them change places. Nodes
    with more than three neighbours, and observed ones, keep them. Neighbour joining cannot revise an early
    decision; this corrects most of what it got wrong.
    """
    if not draft.edges():
        return
    quartets = refit(draft, similarity, n_rows, n_rounds=3)
    for _ in range(MOST_ROUNDS):
        if not interchange(draft, quartets, n_rows):
            return
        quartets = refit(draft, similarity, n_rows)


def refit(draft: Draft, similarity: Array, n_rows: float | None, n_rounds: int = 2) -> Quartets:
    """New lengths of all edges, and the quartets that belong to them; the draft changes.

    More than one round, because how the variables of a group are weighted depends on the lengths.
    """
    floor = floor_of(n_rows)
    quartets = quartets_of(draft, similarity, floor)
    for _ in range(n_rounds):
        lengths = np.clip(quartets.lengths, SHORTEST, LONGEST).tolist()
        for (one, other), length in zip(quartets.ends.tolist(), lengths, strict=True):
            draft.join(one, other, length)
        quartets = quartets_of(draft, similarity, floor)
    return quartets


def interchange(draft: Draft, quartets: Quartets, n_rows: float | None) -> int:
    """Swap branches across edges where another pairing is better, the clearest first; how many swaps.

    Edges whose branches were just moved wait for the next round.
    """
    gains = quartets.sums[:, 0] - quartets.sums[:, 1:].min(axis=1)
    noise = np.sqrt(np.maximum(quartets.variances, 1e-300))
    needed = np.full(len(gains), LEAST_GAIN)
    if n_rows is not None:
        needed = np.maximum(needed, CLEAR * noise / math.sqrt(n_rows))
    moved: set[int] = set()
    n_swaps = 0
    for edge in np.argsort(-gains / noise):
        one, other = quartets.ends[edge].tolist()
        if gains[edge] <= needed[edge] or not _both_binary(draft, one, other):
            continue
        groups_ab = [node for node in draft.near[one] if node != other]  # groups A and B
        groups_cd = [node for node in draft.near[other] if node != one]  # groups C and D
        around = {one, other, *groups_ab, *groups_cd}
        if around & moved:
            continue
        moved |= around
        # A goes together with C (AC + BD) or with D (AD + BC), so B makes room for it.
        leaving, partner = groups_ab[1], groups_cd[int(np.argmin(quartets.sums[edge, 1:]))]
        length, partner_length = draft.cut(one, leaving), draft.cut(other, partner)
        draft.join(other, leaving, length)
        draft.join(one, partner, partner_length)
        n_swaps += 1
    return n_swaps


def _both_binary(draft: Draft, one: int, other: int) -> bool:
    """Whether both ends of an edge are hidden and have two other neighbours each."""
    return all(node >= draft.n_observed and len(draft.near[node]) == 3 for node in (one, other))


def surrogate_likelihood(draft: Draft, similarity: Array) -> float:
    """Natural log-likelihood per row of Gaussian variables with these correlations under the tree's.

    For variables of any kind it weights the deviations of all pairs by the covariance of their noise,
    which sums of squares do not.
    """
    of_tree = np.exp(-draft.paths())
    # Variables closer than rounding would make the matrix singular.
    of_tree = (1.0 - RIDGE) * of_tree + RIDGE * np.eye(len(of_tree))
    factor = np.linalg.cholesky(of_tree)
    half_log_det = float(np.log(np.diag(factor)).sum())
    return -half_log_det - 0.5 * float(np.trace(np.linalg.solve(of_tree, similarity)))
