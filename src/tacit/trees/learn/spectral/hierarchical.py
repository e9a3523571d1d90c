"""Latent trees as hierarchical low-rank decompositions of the joint table (Song et al., 2013).

Every edge of the tree cuts the leaves in two, and the joint table, unfolded that way, has low rank.
Algorithm 1 replaces the unfolding by a product of three matrices, with the middle one, the linker, chosen
to be the best of its rank (their equation 6); so a rank smaller than the true one costs less than in
`spectral`. Edges of leaves are not cut.

A linker may use all leaves above an edge at once. As soon as every row of the data has another configuration
there, it learns nothing: on 16 leaves and 10 000 rows its error is twice that of a linker that uses two or
three of the strongest leaves, which is the default here. The printed form is `printed_hierarchical`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.linalg.linker import best_linker
from tacit.errors import ArgumentError
from tacit.messages.network import Dense, Network
from tacit.messages.rooted_tree import RootedTree
from tacit.trees.learn.spectral.edges import EdgeSpectrum
from tacit.trees.learn.spectral.ranks import checked_states
from tacit.trees.learn.spectral.reports import Factored, Report
from tacit.trees.learn.spectral.splits import joined, split_tree
from tacit.trees.learn.spectral.stars import EdgeViews, Group, edge_views, pair_moments
from tacit.trees.moments.source import Moments
from tacit.trees.moments.whitening import root_scale

Array = NDArray[np.float64]

# Most joint cells of the leaves above an edge: a window is not made larger than this, and window=None
# goes through the rows where it would need more.
MOST_WINDOW_CELLS = 1024

# Configurations are counted anew before their numbers pass this.
MOST_NUMBERS = 1 << 40


@dataclass(frozen=True, slots=True, eq=False)
class Unfolding:
    """The joint table around an edge: what is below, one row per cell, against what is above."""

    branches: Any  # (cell of the branches, column)  an array, or a sparse one
    star: Array  # (cell of the leaves that represent them, column)
    linked: Array  # (cell of the branches, cell of the linker above)
    scales: tuple[Array, Array] | None = None  # the scales of branches and star


@dataclass(frozen=True, slots=True, eq=False)
class Link:
    """The decomposition at an edge."""

    core: Array  # (cell of the branches, rank)
    left: Array  # (cell of the leaves that represent them, rank)
    spectrum: EdgeSpectrum


def hierarchical(
    tree: RootedTree,
    moments: Moments,
    n_states: Sequence[int],
    *,
    window: int | None = 3,
    features: int = 3,
    whiten: bool = True,
    codes: NDArray[np.integer] | None = None,
) -> Factored:
    """A latent tree by recursive low-rank decomposition, with the best linker at every inner edge.

    Parameters
    ----------
    tree : RootedTree
    moments : Moments
        Used for all pairs, then for tables of a node's branches with the leaves in the window.
    n_states : (node,)
        Categories of each leaf, then for each hidden node the rank to keep.
    window : int or None
        Leaves above an edge that the linker uses. None: all of them.
    features : int
        An edge whose rank is larger than any leaf's number of categories is represented by joint
        categories of up to so many leaves on each side.
    whiten : bool
        Divide by the roots of the probabilities of cells: lowers the error by 3 to 8 %.
    codes : (row, leaf), optional
        The coded rows, needed for ``window=None`` where the leaves above an edge have too many
        configurations for a table. Rows with a missing cell are left out there.

    Returns
    -------
    Factored
    """
    all_states = checked_states(tree, moments, n_states)
    if window is not None and window < 1:
        raise ArgumentError(f"window={window} leaves; give 1 or more, or None for all")
    if features < 1:
        raise ArgumentError(f"features={features} leaves; give 1 or more")
    split = split_tree(tree, all_states, frozenset(tree.hidden))
    fine, states = split.tree, split.n_states
    pairs = pair_moments(moments, max(states[fine.n_leaves :]), whiten=whiten)
    views = edge_views(fine, states, pairs, window or 1, features)
    edges = {node: views[node] for node in fine.hidden if node != fine.root}
    links = {
        node: edge_link(_scaled(unfolding, moments.n_rows) if whiten else unfolding, edges[node])
        for node, unfolding in _unfoldings(fine, moments, edges, window, codes)
    }
    (top,) = moments.tables([_stars(fine, edges, fine.root)])
    nodes = []
    for node in fine.hidden:
        children = fine.children[node]
        core = top if node == fine.root else links[node].core
        core = core.reshape(*(n_cells(moments, _star(edges, child)) for child in children), -1)
        for mode, child in enumerate(children):
            if child in links:
                core = np.moveaxis(np.tensordot(core, links[child].left, (mode, 0)), -1, mode)
        nodes.append(Dense(np.ascontiguousarray(core)))
    cards = moments.cards
    network = Network(fine, tuple(map(np.eye, cards)), tuple(map(np.ones, cards)), tuple(nodes))
    spectra = {node: link.spectrum for node, link in links.items()}
    return Factored(joined(split, network), Report("hierarchical", fine, spectra))


def _star(edges: Mapping[int, EdgeViews], node: int) -> Group:
    """The leaves that represent the subtree below a node."""
    return edges[node].below if node in edges else (node,)


def _stars(tree: RootedTree, edges: Mapping[int, EdgeViews], node: int) -> Group:
    """The leaves that represent the branches below a node."""
    return tuple(leaf for child in tree.children[node] for leaf in _star(edges, child))


def n_cells(moments: Moments, group: Group) -> int:
    """Number of joint categories of some leaves."""
    return int(np.prod([float(moments.cards[leaf]) for leaf in group]))


def _scaled(unfolding: Unfolding, n_rows: float) -> Unfolding:
    """The unfolding with rows and columns divided by the roots of their probabilities."""
    below = root_scale(np.asarray(unfolding.branches.sum(axis=1)), n_rows)
    star = root_scale(unfolding.star.sum(axis=1), n_rows)
    above = root_scale(unfolding.star.sum(axis=0), n_rows)
    linker = root_scale(unfolding.linked.sum(axis=0), n_rows)
    return Unfolding(
        branches=unfolding.branches * below[:, None] * above,
        star=unfolding.star * star[:, None] * above,
        linked=unfolding.linked * below[:, None] * linker,
        scales=(below, star),
    )


def edge_link(unfolding: Unfolding, views: EdgeViews) -> Link:
    """The best linker of the edge's rank, as the tensor below the edge and the basis above it."""
    linker = best_linker(unfolding.branches, unfolding.linked, unfolding.star, views.rank)
    core, basis = linker.core, linker.basis
    if unfolding.scales is not None:
        core = core / unfolding.scales[0][:, None]
        basis = basis * unfolding.scales[1][:, None]
    return Link(core, basis, EdgeSpectrum(views, linker.values, linker.rank, linker.threshold))


def _unfoldings(
    tree: RootedTree,
    moments: Moments,
    edges: Mapping[int, EdgeViews],
    window: int | None,
    codes: NDArray[np.integer] | None,
) -> Iterator[tuple[int, Unfolding]]:
    """The unfolding at each inner edge; those that are tables are requested together."""
    unfoldings: dict[int, tuple[Group, Group, Group]] = {}
    for node, views in edges.items():
        linker = views.above[0]
        if window is None:
            outside = (*linker, *(leaf for leaf in tree.outside[node] if leaf not in linker))
        else:
            outside = _window(moments, views, window)
        if n_cells(moments, outside) <= MOST_WINDOW_CELLS:
            unfoldings[node] = (_stars(tree, edges, node), views.below, outside)
        elif codes is None:
            raise ArgumentError(
                f"the {len(outside)} leaves outside {tree.names[node]!r} have "
                f"{n_cells(moments, outside):.3g} configurations, too many for a table; "
                "pass codes=, or a window"
            )
        else:
            inside = (_stars(tree, edges, node), views.below, linker)
            yield node, unfolding_of_rows(codes, moments.cards, inside, tree.outside[node])
    groups = [
        inside + outside for stars, star, outside in unfoldings.values() for inside in (stars, star)
    ]
    tables = iter(moments.tables(groups) if groups else [])
    for node, (_, _, outside) in unfoldings.items():
        n_outside, n_linker = n_cells(moments, outside), n_cells(moments, edges[node].above[0])
        branches, star = next(tables).reshape(-1, n_outside), next(tables).reshape(-1, n_outside)
        linked = branches.reshape(len(branches), n_linker, -1).sum(axis=2)
        yield node, Unfolding(branches, star, linked)


def _window(moments: Moments, views: EdgeViews, window: int) -> Group:
    """The linker above an edge, then the next strongest leaves as long as there is room."""
    leaves = views.above[0]
    for group in views.above[1:]:
        for leaf in group:
            wider = (*leaves, leaf)
            fits = len(wider) <= window and n_cells(moments, wider) <= MOST_WINDOW_CELLS
            if leaf not in leaves and fits:
                leaves = wider
    return leaves


def unfolding_of_rows(
    codes: NDArray[np.integer],
    cards: Sequence[int],
    groups: tuple[Group, Group, Group],
    outside: Group,
) -> Unfolding:
    """The unfolding against all configurations above an edge that occur in the rows."""
    from scipy.sparse import csr_array

    used = sorted({*groups[0], *groups[1], *outside})
    codes = codes[(codes[:, used] >= 0).all(axis=1)]
    column = _numbered(codes, cards, outside)
    probability = np.full(len(codes), 1 / max(len(codes), 1))
    rows = [
        np.ravel_multi_index([codes[:, leaf] for leaf in group], [cards[leaf] for leaf in group])
        for group in groups
    ]
    sizes = [int(np.prod([cards[leaf] for leaf in group])) for group in groups]
    n_columns = int(column.max(initial=0)) + 1
    return Unfolding(
        branches=csr_array((probability, (rows[0], column)), shape=(sizes[0], n_columns)),
        star=csr_array((probability, (rows[1], column)), shape=(sizes[1], n_columns)).toarray(),
        linked=csr_array((probability, (rows[0], rows[2])), shape=(sizes[0], sizes[2])).toarray(),
    )


def _numbered(
    codes: NDArray[np.integer], cards: Sequence[int], columns: Group
) -> NDArray[np.int64]:
    """(row,) The number of each row's configuration of some columns, among those that occur."""
    numbers, n_numbers = np.zeros(len(codes), dtype=np.int64), 1
    for column in columns:
        numbers = numbers * cards[column] + codes[:, column]
        n_numbers *= cards[column]
        if n_numbers > MOST_NUMBERS:
            distinct, numbers = np.unique(numbers, return_inverse=True)
            n_numbers = len(distinct)
    return np.asarray(np.unique(numbers, return_inverse=True)[1], dtype=np.int64)
