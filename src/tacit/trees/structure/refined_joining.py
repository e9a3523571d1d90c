"""The better of neighbour joining and Chow-Liu joining, refined by interchanges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.trees.structure.distance_matrices import connected_blocks
from tacit.trees.structure.draft import Draft, learnt_in_blocks
from tacit.trees.structure.interchange import (
    effective_rows,
    refine,
    refit,
    similarity_of,
    surrogate_likelihood,
)
from tacit.trees.structure.neighbour_joining import _joined_edges, _locally_joined_edges
from tacit.trees.structure.quartets import floor_of
from tacit.trees.structure.short_edges import merge_shortest
from tacit.trees.structure.topology import Topology

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

# Standard errors that an edge between blocks must be long.
CLEAR = 2.0


def refined_joining(
    distances: Any,
    names: Sequence[str],
    *,
    supported: Any = None,
    n_rows: float | None = None,
    n_states: int = 2,
) -> Topology:
    """The better of neighbour joining and joining around a spanning tree, after both were refined.

    Which of the two finds the better tree depends on its shape, and `interchange.refine` makes either better.
    Judged by `surrogate_likelihood`, one of the two is kept.

    Parameters
    ----------
    distances : (variable, variable)
        Additive along the true tree, up to noise.
    names : sequence of str
        Names of the variables, in the order of the distances.
    n_rows : float, optional
        Rows that the distances were estimated from; without it they count as exact.
    n_states : int
        Singular values that each distance is made of: 2 for correlations, k for determinants of k states.
    supported : (variable, variable) of bool, optional
        Which distances the data support. Variables without any meet the others in one more hidden node, at
        half the largest distance of all. Blocks of several variables with no supported distance between
        them are joined as the distances say, for all of these together tell more than each by itself; but
        where three or more of them meet, edges that could be chance are contracted.

    Returns
    -------
    Topology
        Every hidden node has three neighbours; lengths are not negative.

    Examples
    --------
    >>> distances = np.array([[0, 3, 7, 8], [3, 0, 8, 9], [7, 8, 0, 5], [8, 9, 5, 0]])
    >>> refined_joining(distances, "abcd").to_newick()
    '(a:1.0,b:2.0,(c:2.0,d:3.0)h2:4.0)h1;'
    """
    rows = effective_rows(n_rows, n_states)
    similarity = similarity_of(distances, names, n_states)
    if supported is None:
        return _likelier(similarity, rows).topology(names, scale=n_states - 1)
    blocks = [block for block in connected_blocks(supported, len(names)) if len(block) > 1]
    several = np.zeros(len(names), dtype=np.bool_)
    for block in blocks:
        several[block] = True
    place = np.cumsum(several) - 1  # among the variables of these blocks

    def learnt(within: Array) -> Draft:
        draft = _likelier(within, rows)
        if len(within) > 1 and len(blocks) > 2:
            _contract_between(draft, [place[block] for block in blocks], within, rows)
        return draft

    together = np.asarray(supported, dtype=np.bool_) | np.logical_and.outer(several, several)
    return learnt_in_blocks(learnt, similarity, together).topology(names, scale=n_states - 1)


def _likelier(similarity: Array, n_rows: float | None) -> Draft:
    """The likelier of two drafts: joined all together, and around a spanning tree."""
    distances = -np.log(np.maximum(similarity, floor_of(n_rows)))
    drafts = [
        Draft(len(distances), join(distances.copy()))
        for join in (_joined_edges, _locally_joined_edges)
    ]
    for draft in drafts:
        refine(draft, similarity, n_rows)
    return max(drafts, key=lambda draft: surrogate_likelihood(draft, similarity))


def _contract_between(
    draft: Draft, blocks: Sequence[Integers], similarity: Array, n_rows: float | None
) -> None:
    """Contract what lies between blocks and could be chance; the draft changes."""
    while True:
        quartets = refit(draft, similarity, n_rows)
        if n_rows is None:
            return
        inside = _nodes_of_blocks(draft, blocks)
        between = [not inside & set(pair) for pair in quartets.ends.tolist()]
        limits = CLEAR * np.sqrt(np.maximum(quartets.variances, 1e-300) / n_rows)
        ratios = np.where(between, quartets.lengths / limits, np.inf)
        if not merge_shortest(draft, quartets, ratios):
            return


def _nodes_of_blocks(draft: Draft, blocks: Sequence[Integers]) -> set[int]:
    """The variables, and the hidden nodes on paths between variables of one block."""
    below = np.zeros((len(draft.near), len(blocks)), dtype=np.int64)  # variables of each block
    for number, block in enumerate(blocks):
        below[block, number] = 1
    total = below.sum(axis=0)
    order, above = draft.walk(0)
    inside = set(range(draft.n_observed))
    for node in reversed(order[1:]):
        if ((below[node] > 0) & (below[node] < total)).any():
            inside |= {node, above[node]}
        below[above[node]] += below[node]
    return inside
