"""Features of every branch of a tree: what in its leaves is correlated with the leaves on the other side.

Every hidden node has an inside feature (of the leaves below it), an outside feature (of all others) and
three views: features of three groups of its branches, which are independent given its state. Inside features
are computed bottom up, the others top down, each from the few features next to it.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.threads import one_blas_thread
from tacit.messages.rooted_tree import RootedTree

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

# Up to so many rows, BLAS and LAPACK do not start threads; beyond, these cost ten times what they save.
FEW_ROWS = 24


@dataclass(frozen=True, eq=False)
class FeaturePlan:
    """Which features there are and what they are made of.

    Features are numbered: node ``i`` has its inside feature at ``i``, its outside feature at ``n + i``, and
    hidden nodes have their views at ``2n + 3i + g``. Leaves' inside features are their indicators.
    """

    order: tuple[int, ...]  # all but those of the leaves, each after its sources
    sizes: Integers  # (feature,) dimensions
    as_source: (
        Integers  # (feature,) of these, used by what is made of it: a leaf's last indicator follows
    )
    begins: Integers  # (feature,) first row of each in the arrays of all rows
    sources: tuple[tuple[int, ...], ...]  # like `order`: what each is a turn of
    others: tuple[
        tuple[int, ...], ...
    ]  # like `order`: what it is to follow; all leaves outside if empty
    turn_starts: Integers  # like `order`: where each one's turn starts
    n_turns: int
    most_rows: int
    keep: Array  # (node, indicator)  one for the indicators outside of a node
    groups: tuple[int, ...]  # (node,) to which of its parent's views a node belongs

    def arrays(self) -> tuple[Integers, ...]:
        """The arguments of the compiled loops."""
        return (
            np.array(self.order, dtype=np.int64),
            self.sizes,
            self.as_source,
            self.begins,
            *_joined(self.sources),
            *_joined(self.others),
            self.turn_starts,
        )

    def rows(self, feature: int) -> slice:
        """The rows of a feature."""
        return slice(self.begins[feature], self.begins[feature] + self.sizes[feature])


@lru_cache(maxsize=64)
def feature_plan(tree: RootedTree, n_states: tuple[int, ...]) -> FeaturePlan:
    """The plan of a tree with these numbers of states; cached, because trees are fitted many times."""
    n, n_leaves, root = tree.n_nodes, tree.n_leaves, tree.root
    sizes = np.zeros(5 * n, dtype=np.int64)
    sizes[:n_leaves] = n_states[:n_leaves]
    groups = [0] * n
    for node in tree.hidden:
        rank = n_states[node] - 1
        sizes[2 * n + 3 * node : 2 * n + 3 * node + 3] = rank
        if node < root:
            sizes[node] = sizes[n + node] = rank
        for place, child in enumerate(tree.children[node]):
            groups[child] = place % (2 if node < root else 3)  # what is above the node is view 2
    made: list[tuple[int, tuple[int, ...], tuple[int, ...]]] = [
        (node, tree.children[node], ()) for node in range(n_leaves, root)
    ]
    for node in reversed(tree.hidden):
        above = (n + node,) if node < root else ()
        below = tree.children[node]
        for child in below:
            if child >= n_leaves:
                around = (*(other for other in below if other != child), *above)
                made.append((n + child, around, tree.children[child]))
        for g in range(3):
            members = tuple(child for child in below if groups[child] == g)
            others_below = tuple(child for child in below if groups[child] != g)
            members, others_below = (
                (members + above, others_below) if g == 2 else (members, others_below + above)
            )
            made.append((2 * n + 3 * node + g, members, others_below))
    order, sources, others = zip(*made, strict=True)
    as_source = sizes.copy()
    as_source[:n_leaves] -= 1
    spans = [int(sizes[feature] * as_source[list(of)].sum()) for feature, of, _ in made]
    starts = [0, *accumulate(spans)]
    keep = np.ones((n, int(sizes[:n_leaves].sum())))
    card_starts = [0, *accumulate(n_states[:n_leaves])]
    for node in range(n_leaves, root):
        for leaf in tree.below[node]:
            keep[node, card_starts[leaf] : card_starts[leaf + 1]] = 0.0
    return FeaturePlan(
        order=order,
        sizes=sizes,
        as_source=as_source,
        begins=np.cumsum(sizes) - sizes,
        sources=sources,
        others=others,
        turn_starts=np.array(starts[:-1], dtype=np.int64),
        n_turns=starts[-1],
        most_rows=max(int(sizes[list(group)].sum()) for group in (*sources, *others)),
        keep=keep,
        groups=tuple(groups),
    )


@lru_cache(maxsize=64)
def _plan_arrays(plan: FeaturePlan) -> tuple[Integers, ...]:
    return plan.arrays()


@dataclass(frozen=True, eq=False)
class Features:
    """The features of a plan, found from the correlations of the indicators."""

    plan: FeaturePlan
    weights: Array  # (row, indicator) coefficients on the standardised indicators
    follows: Array  # (row, indicator) covariances with them
    turns: Array  # flat, see the plan

    @staticmethod
    def of(plan: FeaturePlan, correlation: Array) -> Features:
        """All features, from the correlation of the standardised indicators of all leaves."""
        from tacit.trees.loops.features import derive_features

        total = int(plan.begins[-1] + plan.sizes[-1])
        width = len(correlation)
        weights, follows = np.zeros((total, width)), np.zeros((total, width))
        weights[:width] = np.eye(width)
        follows[:width] = correlation
        turns = np.zeros(plan.n_turns)
        with one_blas_thread() if plan.most_rows > FEW_ROWS else nullcontext():
            derive_features(_plan_arrays(plan), plan.keep, plan.most_rows, weights, follows, turns)
        return Features(plan, weights, follows, turns)

    def turn(self, place: int) -> Array:
        """The turn (dimension, row of sources) of the feature at a place of the plan's order."""
        plan = self.plan
        rows = int(plan.sizes[plan.order[place]])
        start = int(plan.turn_starts[place])
        stop = int(plan.turn_starts[place + 1]) if place + 1 < len(plan.order) else plan.n_turns
        return self.turns[start:stop].reshape(rows, -1) if rows else np.zeros((0, 0))

    def third_moments(
        self,
        nodes: NDArray[np.int64],
        codes: NDArray[Any],
        weights: Array,
        cards: Integers,
        marginals: Array,
    ) -> Array:
        """Sums over weighted rows of the products of the three views of some nodes, one after the other."""
        from tacit.trees.loops.features import third_moments

        plan = self.plan
        first = 2 * (len(plan.sizes) // 5) + 3 * nodes
        views = np.empty((len(nodes), 4), dtype=np.int64)
        views[:, :3] = plan.begins[first[:, None] + np.arange(3)]
        views[:, 3] = plan.sizes[first]
        starts = plan.begins[: len(cards)]
        sums: Array = third_moments(
            _plan_arrays(plan), self.turns, views, codes, weights, cards, marginals, starts
        )
        return sums


def _joined(parts: tuple[tuple[int, ...], ...]) -> tuple[Integers, Integers]:
    """Tuples one after the other, and where each starts."""
    flat = np.array([value for part in parts for value in part], dtype=np.int64)
    return flat, np.array([0, *accumulate(len(part) for part in parts)], dtype=np.int64)
