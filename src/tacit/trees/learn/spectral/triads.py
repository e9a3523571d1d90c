"""Three views of a hidden node: groups of leaves that are independent given its state."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.messages.rooted_tree import RootedTree
from tacit.trees.learn.spectral.ranks import GroupRanks
from tacit.trees.learn.spectral.stars import MOST_GROUP_CELLS, Group, PairMoments

Array = NDArray[np.float64]

# Leaves that are candidates at one node: their triples are all compared.
MOST_CANDIDATES = 48


@dataclass(frozen=True, slots=True)
class Triad:
    """Three groups of leaves in different branches of a node, each showing all of its states.

    The first lies below the node. A branch is named by its child; what is above the node by -1.
    """

    groups: tuple[Group, Group, Group]
    branches: tuple[frozenset[int], frozenset[int], frozenset[int]]

    def free_of(self, branch: int) -> list[int]:
        """The groups that have no leaf in a branch."""
        return [place for place in range(3) if branch not in self.branches[place]]


def branch_of_leaf(tree: RootedTree, node: int) -> NDArray[np.int64]:
    """(leaf,) The branch of a node that each leaf lies in."""
    branches = np.full(tree.n_leaves, -1, dtype=np.int64)
    for child in tree.children[node]:
        branches[list(tree.below[child])] = child
    return branches


def triad(
    tree: RootedTree,
    n_states: tuple[int, ...],
    pairs: PairMoments,
    path_ranks: NDArray[np.int64],
    node: int,
    features: int,
) -> Triad | None:
    """The three strongest views of a node, or None where no three can show all of its states.

    Single leaves, if the weakest of the three pairs of them shows all states; else groups of up to `features`
    leaves, chosen by the numbers of states alone.
    """
    branches = branch_of_leaf(tree, node)
    rank = n_states[node]
    able = (path_ranks >= rank) & (branches[:, None] != branches)
    level = max(min(2, rank), min(rank, int(pairs.shown.max(where=able, initial=0))))
    strengths = np.where(able, pairs.spectra[:, :, level - 1], 0.0)
    best_of_leaf = strengths.max(axis=1)
    order = np.lexsort((-best_of_leaf, _places_within(branches, best_of_leaf)))[:MOST_CANDIDATES]
    table = strengths[np.ix_(order, order)]
    weakest = np.minimum(np.minimum(table[:, :, None], table[:, None, :]), table[None, :, :])
    strongest = np.unravel_index(weakest.argmax(), weakest.shape)
    if weakest[strongest] > 0:
        leaves = [int(order[place]) for place in strongest]
        return _ordered([(leaf,) for leaf in leaves], [{int(branches[leaf])} for leaf in leaves])
    return _grown(tree, n_states, best_of_leaf, branches.tolist(), node, features)


def _places_within(branches: NDArray[np.int64], scores: Array) -> NDArray[np.int64]:
    """(leaf,) The place of each leaf among those of its branch, the strongest first."""
    order = np.lexsort((-scores, branches))
    sorted_branches = branches[order]
    starts = np.flatnonzero(np.r_[True, sorted_branches[1:] != sorted_branches[:-1]])
    counts = np.diff(np.append(starts, len(branches)))
    places = np.empty(len(branches), dtype=np.int64)
    places[order] = np.arange(len(branches)) - np.repeat(starts, counts)
    return places


def _grown(
    tree: RootedTree,
    n_states: tuple[int, ...],
    scores: Array,
    branches: list[int],
    node: int,
    features: int,
) -> Triad | None:
    """Three groups, each grown leaf by leaf until it can show all states of the node."""
    rank = n_states[node]
    leaves = np.argsort(-scores, kind="stable").tolist()

    rank_at = GroupRanks(tree, n_states)

    def rank_of(group: Group) -> int:
        return rank_at(group, node)

    groups: list[Group] = []
    owners: list[set[int]] = []
    for _ in range(3):
        taken: set[int] = set().union(*owners)
        group: Group = ()
        branches_of_group: set[int] = set()
        while rank_of(group) < rank and len(group) < features:
            cells = int(np.prod([n_states[leaf] for leaf in group]))
            candidates = [
                leaf
                for leaf in leaves
                if leaf not in group
                and branches[leaf] not in taken
                and cells * n_states[leaf] <= MOST_GROUP_CELLS
            ]
            if not candidates:
                return None
            # A branch that is already in use is preferred, so that others stay free for other views.
            gains = [
                (rank_of((*group, leaf)), branches[leaf] in branches_of_group)
                for leaf in candidates
            ]
            best = max(range(len(candidates)), key=lambda place: (gains[place], -place))
            group = (*group, candidates[best])
            branches_of_group.add(branches[candidates[best]])
        if rank_of(group) < rank:
            return None
        groups.append(group)
        owners.append(branches_of_group)
    return _ordered(groups, owners)


def _ordered(groups: list[Group], owners: list[set[int]]) -> Triad | None:
    """The triad with a group first that lies below the node."""
    order = sorted(range(3), key=lambda place: -1 in owners[place])
    one, two, three = order
    return Triad(
        (groups[one], groups[two], groups[three]),
        (frozenset(owners[one]), frozenset(owners[two]), frozenset(owners[three])),
    )
