"""The trees of a forest that have the largest expected number of right brackets."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from tacit.parsing.query.grammar import Forest, Posterior

Array = NDArray[Any]
# A tree of a forest: the edge chosen at each of its items that is no word.
Choices = dict[int, int]


def best_choices(forest: Forest, posterior: Posterior) -> tuple[float, int, Choices]:
    """The tree whose labelled spans have the largest sum of posteriors: the sum, the root, the edges.

    The sum is the expected number of right spans (Goodman, 1996).
    """
    from tacit.parsing.loops.inside_outside import best_tree

    n_items = len(forest.label)
    best, choice = np.empty(n_items), np.empty(n_items, dtype=np.int64)
    best_tree(forest.arrays, posterior.items, np.zeros(len(forest.rule)), best, choice)
    root = int(forest.roots[np.argmax(best[forest.roots])])
    chosen: Choices = {}
    waiting = [root]
    while waiting:
        item = waiting.pop()
        edge = int(choice[item])
        if edge >= 0:
            chosen[item] = edge
            waiting += [int(forest.left[edge]), int(forest.right[edge])]
    return float(best[root]), root, chosen


# The sum of a tree below an item, its edge, and which trees of the two children it holds.
Derivation = tuple[float, int, int, int]


def n_best_choices(
    forest: Forest, posterior: Posterior, n: int
) -> list[tuple[float, int, Choices]]:
    """The `n` best trees by the same sum, the best first; fewer where there are no more.

    The best of every item come from heaps of the next best of its edges (Huang & Chiang, 2005).
    """
    lists: list[list[Derivation]] = []
    left, right = forest.left.tolist(), forest.right.tolist()
    bounds = forest.first_edge.tolist()
    for item, gain in enumerate(posterior.items.tolist()):
        edges = range(bounds[item], bounds[item + 1])
        if not edges:
            lists.append([(gain, -1, 0, 0)])
            continue
        lists.append(_best_of(edges, gain, left, right, lists, n))
    ends = [(d[0], int(root), at) for root in forest.roots for at, d in enumerate(lists[root])]
    ends.sort(key=lambda end: (-end[0], end[1], end[2]))
    return [(value, root, _unfolded(forest, lists, root, at)) for value, root, at in ends[:n]]


def _best_of(
    edges: range,
    gain: float,
    left: list[int],
    right: list[int],
    lists: list[list[Derivation]],
    n: int,
) -> list[Derivation]:
    def scored(edge: int, a: int, b: int) -> Derivation:
        # Heaps give the least first.
        return -(lists[left[edge]][a][0] + lists[right[edge]][b][0]), edge, a, b

    heap = [scored(edge, 0, 0) for edge in edges if lists[left[edge]] and lists[right[edge]]]
    heapq.heapify(heap)
    queued = {entry[1:] for entry in heap}
    best: list[Derivation] = []
    while heap and len(best) < n:
        minus, edge, a, b = heapq.heappop(heap)
        best.append((gain - minus, edge, a, b))
        for after in ((a + 1, b), (a, b + 1)):
            fits = after[0] < len(lists[left[edge]]) and after[1] < len(lists[right[edge]])
            if fits and (edge, *after) not in queued:
                queued.add((edge, *after))
                heapq.heappush(heap, scored(edge, *after))
    return best


def _unfolded(forest: Forest, lists: list[list[Derivation]], root: int, at: int) -> Choices:
    chosen: Choices = {}
    waiting = [(root, at)]
    while waiting:
        item, at = waiting.pop()
        _, edge, a, b = lists[item][at]
        if edge >= 0:
            chosen[item] = edge
            waiting += [(int(forest.left[edge]), a), (int(forest.right[edge]), b)]
    return chosen
