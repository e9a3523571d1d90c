"""Latent trees by singular value decompositions of pairs of leaves and linear systems of triples."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from itertools import islice
from math import prod

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ArgumentError
from tacit.messages.network import Chain, Dense, Network
from tacit.messages.rooted_tree import RootedTree
from tacit.trees.learn.spectral.edges import EdgeBasis, edge_bases
from tacit.trees.learn.spectral.matrices import chains
from tacit.trees.learn.spectral.ranks import checked_states, edge_plan
from tacit.trees.learn.spectral.reports import Factored, Report
from tacit.trees.learn.spectral.splits import joined, split_tree
from tacit.trees.learn.spectral.stars import Group, PairMoments, edge_views, pair_moments
from tacit.trees.learn.spectral.triads import Triad, triad
from tacit.trees.moments.features import FeaturePairs
from tacit.trees.moments.products import Mode, Projecting
from tacit.trees.moments.source import Moments

Array = NDArray[np.float64]

# The shapes of a node's factors (None where a leaf is sent as it is), and of its views.
_Sizes = tuple[tuple[tuple[int, ...] | None, ...], tuple[tuple[int, ...], ...]]

REPRESENTATIONS = ("auto", "train", "tensor", "matrix")

# Beyond this degree the products of chapter 7 had the lower error, by 3 to 15 %; below it the train.
HIGH_DEGREE = 6


def spectral(
    tree: RootedTree,
    moments: Moments,
    n_states: Sequence[int],
    *,
    representation: str = "auto",
    n_views: int = 5,
    features: int = 3,
    whiten: bool = True,
    cut: float = 1.0,
) -> Factored:
    """A latent tree from pairs and triples of leaves, up to a change of basis at every edge.

    What crosses an edge is written in singular vectors of a leaf below it against several leaves above
    it; the tensor of a node is the joint table of its branches in these bases, with the basis towards
    the parent undone by a linear system (thesis chapter 4, Algorithm 4). Consistent, and exact on exact
    moments. Values may be slightly negative. With `whiten`, where no cell is missing and no node is a
    product of chapter 7, they sum to one and have the data's single margins.

    Parameters
    ----------
    tree : RootedTree
    moments : Moments
        Used for all pairs once, then once for all triples (twice where groups of leaves are needed).
    n_states : (node,)
        Categories of each leaf, then states of each hidden node.
    representation
        ``"tensor"``: a table of the order of its degree at every node. ``"train"``: nodes of degree above
        three are split into a chain of copies, so that pairs and triples are enough (`splits`).
        ``"matrix"``: the products of chapter 7 (`matrices`), and a train where a node has no three views of
        all its states. ``"auto"``: the products beyond degree six, else the train, which has the tensor's
        error up to degree four and a smaller one, down to a quarter, from degree five on.
    n_views : int
        Leaves above an edge that its linear system uses, the strongest ones.
    features : int
        An edge whose rank is larger than any leaf's number of categories is represented by joint
        categories of up to so many leaves on each side.
    whiten : bool
        Divide by the roots of the probabilities of the categories and weight views by strength. Without
        it, and with cut=0 and representation="tensor", this is Algorithm 4.
    cut : float
        Directions of an edge are kept whose singular value exceeds this many times the noise to be expected;
        0 keeps all that the numbers of states allow. Exact moments have no noise.

    Returns
    -------
    Factored
    """
    states = checked_states(tree, moments, n_states)
    _check(representation, n_views, features, cut)
    pairs = pair_moments(moments, max(states[tree.n_leaves :]), whiten=whiten)
    as_chains = {
        "tensor": (),
        "train": (),
        "matrix": tree.hidden,
        "auto": [node for node in tree.hidden if tree.degree(node) > HIGH_DEGREE],
    }[representation]
    able = _triads(tree, states, pairs, features, as_chains)
    unsplit = tree.hidden if representation == "tensor" else able
    split = split_tree(tree, states, frozenset(tree.hidden).difference(unsplit))
    fine, states = split.tree, split.n_states
    bases = _bases(fine, states, moments, pairs, n_views, features, cut)
    tops = [split.parts[node - tree.n_leaves][0] for node in able]
    triads = _triads(fine, states, pairs, features, tops)
    nodes: dict[int, Dense | Chain] = {}
    if triads:
        nodes.update(chains(fine, states, moments, pairs, bases, triads, n_views=n_views, cut=cut))
    nodes.update(
        node_cores(fine, moments, bases, [node for node in fine.hidden if node not in nodes])
    )
    network = assembled_network(fine, moments, bases, nodes)
    spectra = {edge: basis.spectrum for edge, basis in bases.items()}
    return Factored(joined(split, network), Report("spectral", fine, spectra, triads))


def assembled_network(
    tree: RootedTree,
    moments: Moments,
    bases: Mapping[int, EdgeBasis],
    nodes: Mapping[int, Dense | Chain],
) -> Network:
    """The network of all nodes, with the leaves' encoders."""
    emit = tuple(
        bases[leaf].emit if leaf in bases else np.eye(moments.cards[leaf])
        for leaf in range(tree.n_leaves)
    )
    pairs = moments.pairs()
    if isinstance(pairs, FeaturePairs):
        constants = np.split(pairs.totals, pairs.offsets[1:-1])
        total = tuple(constant @ encoder for constant, encoder in zip(constants, emit, strict=True))
    else:
        total = tuple(encoder.sum(axis=0) for encoder in emit)
    return Network(tree, emit, total, tuple(nodes[node] for node in tree.hidden))


def _check(representation: str, n_views: int, features: int, cut: float) -> None:
    """Check the settings."""
    if representation not in REPRESENTATIONS:
        raise ArgumentError(
            f"representation={representation!r} is not known; choose one of {REPRESENTATIONS}"
        )
    if n_views < 1 or features < 1:
        raise ArgumentError(f"n_views={n_views} and features={features} must both be 1 or more")
    if not cut >= 0:
        raise ArgumentError(f"cut={cut} must be 0 or more")


def _bases(
    tree: RootedTree,
    n_states: tuple[int, ...],
    moments: Moments,
    pairs: PairMoments,
    n_views: int,
    features: int,
    cut: float,
) -> dict[int, EdgeBasis]:
    """The basis of each edge, by lower node.

    A leaf's edge has none where the leaf has too few categories for the states behind it, and the data show
    all that it has: the leaf is then sent as it is, and nothing needs to be inverted there.
    """
    views = edge_views(tree, n_states, pairs, n_views, features)
    edges = {edge: views_of_edge for edge, views_of_edge in enumerate(views) if views_of_edge.above}
    return edge_bases(moments, pairs, edges, cut=cut)


def _triads(
    tree: RootedTree,
    n_states: tuple[int, ...],
    pairs: PairMoments,
    features: int,
    nodes: Collection[int],
) -> dict[int, Triad]:
    """Three views of each of some nodes, where there are three that show all of the node's states."""
    path_ranks = edge_plan(tree, n_states).path_ranks
    triads = {node: triad(tree, n_states, pairs, path_ranks, node, features) for node in nodes}
    return {node: three for node, three in triads.items() if three is not None}


def node_cores(
    tree: RootedTree,
    moments: Moments | Projecting,
    bases: Mapping[int, EdgeBasis],
    nodes: Sequence[int],
) -> dict[int, Dense]:
    """The tensor of each node: the joint table of its branches, in the bases of the edges."""
    if isinstance(moments, Projecting):
        return _projected_cores(tree, moments, bases, nodes)
    subsets: list[Group] = []
    for node in nodes:
        below = tuple(
            leaf
            for child in tree.children[node]
            for leaf in (bases[child].below if child in bases else (child,))
        )
        subsets.extend(below + group for group in _above(bases, node))
    tables = iter(moments.tables(subsets) if subsets else [])
    alike: dict[_Sizes, list[tuple[int, list[Array], list[Array | None]]]] = defaultdict(list)
    for node in nodes:
        factors = [bases[child].left if child in bases else None for child in tree.children[node]]
        factors.append(bases[node].right if node in bases else None)
        views = list(islice(tables, len(_above(bases, node))))
        sizes = tuple(None if factor is None else factor.shape for factor in factors)
        alike[sizes, tuple(view.shape for view in views)].append((node, views, factors))
    dense: dict[int, Dense] = {}
    for (sizes, _), members in alike.items():
        shape = [
            moments.cards[child] if size is None else size[0]
            for child, size in zip(tree.children[members[0][0]], sizes[:-1], strict=True)
        ]
        views = [
            np.array(tables_of_view)
            for tables_of_view in zip(
                *(tables_of_node for _, tables_of_node, _ in members), strict=True
            )
        ]
        side_by_side = [view.reshape(len(members), prod(shape), -1) for view in views]
        table = np.concatenate(side_by_side, axis=2).reshape(len(members), *shape, -1)
        cores = _contracted(table, [factors for _, _, factors in members])
        dense.update((node, Dense(core)) for (node, _, _), core in zip(members, cores, strict=True))
    return dense


def _projected_cores(
    tree: RootedTree,
    moments: Projecting,
    bases: Mapping[int, EdgeBasis],
    nodes: Sequence[int],
) -> dict[int, Dense]:
    """The same from moments that put features in the bases before they multiply them."""
    requests = []
    for node in nodes:
        modes = [
            Mode((bases[child].below,), bases[child].left) if child in bases else Mode(((child,),))
            for child in tree.children[node]
        ]
        if node in bases:
            modes.append(Mode(bases[node].above, bases[node].right))
        requests.append(modes)
    dense = {}
    for node, core in zip(nodes, moments.projected(requests), strict=True):
        dense[node] = Dense(core if node in bases else core[..., None])
    return dense


def _above(bases: Mapping[int, EdgeBasis], node: int) -> tuple[Group, ...]:
    """The views above a node; at the root one of no leaves."""
    return bases[node].above if node in bases else ((),)


def _contracted(tables: Array, factors: Sequence[Sequence[Array | None]]) -> Array:
    """Tables of equal shape, each of their modes multiplied with a matrix (or with none)."""
    n_tables, *shape = tables.shape
    for mode, size in enumerate(shape):
        # The first mode is multiplied and put last: after a full cycle the order is as before.
        tables = tables.reshape(n_tables, size, -1)
        if factors[0][mode] is not None:
            turns = np.array([matrices[mode] for matrices in factors])
            tables = turns.swapaxes(1, 2) @ tables
            shape[mode] = tables.shape[1]
        tables = tables.swapaxes(1, 2)
    return np.ascontiguousarray(tables.reshape(n_tables, *shape))
