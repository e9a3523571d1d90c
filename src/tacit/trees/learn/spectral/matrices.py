"""Hidden nodes as products of matrices, one for each branch: pairs and triples whatever the degree.

Chapter 7 of the thesis, after Parikh, Song & Xing (2011). The message of a branch becomes a matrix
between two bases of the node's states; a basis is the distribution of some leaves given the state. The thesis
takes a basis at each branch and goes round the siblings. Here a node has three bases, those of its three
strongest views, and the product changes from one to the next only where the branch that is multiplied in
holds the basis itself: weak branches then enter a product, but nothing is divided by them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.messages.network import Chain
from tacit.messages.rooted_tree import RootedTree
from tacit.trees.learn.spectral.edges import EdgeBasis, edge_bases
from tacit.trees.learn.spectral.ranks import edge_plan
from tacit.trees.learn.spectral.stars import EdgeViews, Group, PairMoments, strongest_views
from tacit.trees.learn.spectral.triads import Triad, branch_of_leaf
from tacit.trees.moments.products import Mode, Projecting
from tacit.trees.moments.source import Moments

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Step:
    """Multiplying in one branch of a node: from the basis of one view to that of the next."""

    node: int
    child: int
    source: int  # the view whose basis the matrix starts from
    target: int  # the view whose basis it leads to


def chains(
    tree: RootedTree,
    n_states: tuple[int, ...],
    moments: Moments,
    pairs: PairMoments,
    bases: Mapping[int, EdgeBasis],
    triads: Mapping[int, Triad],
    *,
    n_views: int,
    cut: float,
) -> dict[int, Chain]:
    """The chain of each node that has a triad, in the bases of the edges around it.

    Parameters
    ----------
    bases
        The bases of the edges, by lower node; an edge that is not there is sent as it is.
    triads
        Three views of each node that is to become a chain.
    """
    steps = [step for node, three in triads.items() for step in _steps(tree, node, three)]
    views = _step_views(tree, n_states, pairs, triads, steps, n_views)
    view_bases = edge_bases(moments, pairs, views, cut=cut)
    if isinstance(moments, Projecting):
        return _projected_chains(moments, bases, triads, steps, view_bases)
    subsets = _subsets(bases, triads, steps, views)
    tables = dict(zip(subsets, moments.tables(subsets), strict=True))

    def joined(groups: tuple[Group, ...], others: Group, *shape: int) -> Array:
        return np.concatenate([tables[group + others].reshape(-1, *shape) for group in groups])

    products: dict[int, list[Array]] = {node: [] for node in triads}
    for step in steps:
        onto = view_bases[step.node, step.target].left
        child = bases[step.child].left if step.child in bases else np.eye(n_states[step.child])
        others = _group(bases, step.child) + triads[step.node].groups[step.target]
        table = joined(view_bases[step].above, others, len(child), len(onto)) @ onto  # (cell, x, n)
        projected = np.tensordot(_source_inverse(view_bases, step), table, (0, 0))  # (m, x, n)
        products[step.node].append(np.ascontiguousarray(np.tensordot(child, projected, (0, 1))))
    last = {step.node: view_bases[step.node, step.target] for step in steps}
    out = {}
    for node, three in triads.items():
        left = view_bases[node, 0].left
        start = joined(_above(bases, node), three.groups[0], len(left)) @ left  # (cell, m)
        if node in bases:
            start = bases[node].right.T @ start
        stop = last[node].right.T @ joined(last[node].above, ())
        out[node] = Chain(start, tuple(products[node]), stop)
    return out


def _source_inverse(view_bases: Mapping[_Step | tuple[int, int], EdgeBasis], step: _Step) -> Array:
    """(cell, m) The inverse of the source basis: computed in another basis, then transformed."""
    left = view_bases[step.node, step.source].left
    return view_bases[step].right @ np.linalg.pinv(left.T @ view_bases[step].emit)


def _projected_chains(
    moments: Projecting,
    bases: Mapping[int, EdgeBasis],
    triads: Mapping[int, Triad],
    steps: Sequence[_Step],
    view_bases: Mapping[_Step | tuple[int, int], EdgeBasis],
) -> dict[int, Chain]:
    """The same from moments that put features in the bases before they multiply them."""
    requests = []
    for step in steps:
        known = bases.get(step.child)
        child = Mode(((step.child,),)) if known is None else Mode((known.below,), known.left)
        target = triads[step.node].groups[step.target]
        onto = Mode((target,), view_bases[step.node, step.target].left)
        requests.append(
            [child, onto, Mode(view_bases[step].above, _source_inverse(view_bases, step))]
        )
    last = {step.node: view_bases[step.node, step.target] for step in steps}
    for node, three in triads.items():
        right = bases[node].right if node in bases else np.ones((1, 1))
        first = Mode((three.groups[0],), view_bases[node, 0].left)
        requests.append([first, Mode(_above(bases, node), right)])
        requests.append([Mode(last[node].above, last[node].right)])
    results = iter(moments.projected(requests))
    products: dict[int, list[Array]] = {node: [] for node in triads}
    for step in steps:  # (x, n, m)
        products[step.node].append(np.ascontiguousarray(next(results).transpose(0, 2, 1)))
    return {node: Chain(next(results).T, tuple(products[node]), next(results)) for node in triads}


def _subsets(
    bases: Mapping[int, EdgeBasis],
    triads: Mapping[int, Triad],
    steps: Sequence[_Step],
    views: Mapping[_Step | tuple[int, int], EdgeViews],
) -> list[Group]:
    """The joint tables that are needed, each once."""
    subsets: dict[Group, None] = {}
    for step in steps:
        others = _group(bases, step.child) + triads[step.node].groups[step.target]
        subsets.update(dict.fromkeys(group + others for group in views[step].above))
    for node, three in triads.items():
        subsets.update(dict.fromkeys(group + three.groups[0] for group in _above(bases, node)))
        for place in range(3):
            subsets.update(dict.fromkeys(views[node, place].above))
    return list(subsets)


def _above(bases: Mapping[int, EdgeBasis], node: int) -> tuple[Group, ...]:
    """The views above a node; at the root one of no leaves."""
    return bases[node].above if node in bases else ((),)


def _group(bases: Mapping[int, EdgeBasis], node: int) -> Group:
    """The leaves that represent the subtree below a node."""
    return bases[node].below if node in bases else (node,)


def _steps(tree: RootedTree, node: int, three: Triad) -> Iterator[_Step]:
    """The order in which the branches of a node are multiplied in, and the bases between them."""
    source = 0
    for child in tree.children[node]:
        free = three.free_of(child)
        target = source if source in free else free[0]
        yield _Step(node, child, source, target)
        source = target


def _step_views(
    tree: RootedTree,
    n_states: tuple[int, ...],
    pairs: PairMoments,
    triads: Mapping[int, Triad],
    steps: Sequence[_Step],
    n_views: int,
) -> dict[_Step | tuple[int, int], EdgeViews]:
    """The views of each group, and of each step's source: leaves in branches that the step does not use."""
    path_ranks = edge_plan(tree, n_states).path_ranks
    out: dict[_Step | tuple[int, int], EdgeViews] = {}

    def add(key: _Step | tuple[int, int], node: int, source: int, used: set[int]) -> None:
        three = triads[node]
        apart = ~np.isin(branches[node], list(used))
        otherwise = tuple(
            group
            for group, owners in zip(three.groups, three.branches, strict=True)
            if not owners & used
        )
        out[key] = strongest_views(
            pairs, path_ranks, three.groups[source], apart, otherwise, n_states[node], n_views
        )

    branches = {node: branch_of_leaf(tree, node) for node in triads}
    for node, three in triads.items():
        for place in range(3):
            add((node, place), node, place, set(three.branches[place]))
    for step in steps:
        of_view = triads[step.node].branches
        used = {step.child, *of_view[step.source], *of_view[step.target]}
        add(step, step.node, step.source, used)
    return out
