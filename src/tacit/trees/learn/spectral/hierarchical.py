"""Latent trees as hierarchical low-rank decompositions of the joint table (Song et al., 2013).

Every edge of the tree cuts the leaves in two, and the joint table, unfolded that way, has low rank.
Algorithm 1 replaces the unfolding by a product of three matrices, with the middle one, the linker, chosen
to be the best of its rank (their equation 6); so a rank smaller than the true one costs less than in
`spectral`. Edges of leaves are not cut.

The literal linker looks at all leaves above an edge at once. As soon as every row of the data has a
configuration of its own there, it learns nothing: on 16 leaves and 10 000 rows its error is twice that of
a linker that looks at the two or three strongest leaves only, which is the default here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.linalg.svd import stacked_svd
from tacit.errors import ArgumentError
from tacit.messages.network import Dense, Network
from tacit.messages.rooted_tree import RootedTree
from tacit.trees.learn.spectral.edges import EdgeSpectrum
from tacit.trees.learn.spectral.ranks import checked_states
from tacit.trees.learn.spectral.reports import Factored, Report
from tacit.trees.learn.spectral.splits import joined, split_tree
from tacit.trees.learn.spectral.stars import ROUNDING, EdgeViews, Group, edge_views, pair_moments
from tacit.trees.moments.source import Moments
from tacit.trees.moments.whitening import root_scale

Array = NDArray[np.float64]

# Cells of the leaves above an edge that are looked at together: a window is not made wider than this, and the
# literal form goes through the rows where it would need more.
MOST_WINDOW_CELLS = 1024

# Configurations are counted anew before their numbers pass this.
MOST_NUMBERS = 1 << 40


@dataclass(frozen=True, slots=True, eq=False)
class _Unfolding:
    """The joint table around an edge: what is below, one row per cell, against what is above."""

    branches: Any  # (cell of the branches, column)  an array, or a sparse one
    star: Array  # (cell of what stands for them, column)
    linked: Array  # (cell of the branches, cell of the linker above)
    scales: tuple[Array, Array] | None = None  # what branches and star were multiplied with


@dataclass(frozen=True, slots=True, eq=False)
class _Link:
    """The decomposition at an edge."""

    core: Array  # (cell of the branches, rank)
    left: Array  # (cell of what stands for them, rank)
    seen: EdgeSpectrum


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
        Asked for all pairs, then for tables of a node's branches with the leaves in the window.
    n_states : (node,)
        Categories of each leaf, then for each hidden node the rank to keep.
    window : int or None
        Leaves above an edge that the linker looks at. None: all of them, as printed in the paper.
    features : int
        An edge whose rank is larger than any leaf's number of categories is seen by joint categories of up to
        so many leaves on each side.
    whiten : bool
        Divide by the roots of the shares of cells, which lowers the error by 3 to 8 %. Without: as printed.
    codes : (row, leaf), optional
        The coded rows, needed for ``window=None`` where the leaves above an edge have too many
        configurations for a table. Rows with a missing cell are left out there.

    Returns
    -------
    Factored
    """
    whole_states = checked_states(tree, moments, n_states)
    if window is not None and window < 1:
        raise ArgumentError(f"window={window} leaves; give 1 or more, or None for all")
    if features < 1:
        raise ArgumentError(f"features={features} leaves; give 1 or more")
    split = split_tree(tree, whole_states, frozenset(tree.hidden))
    fine, states = split.tree, split.n_states
    pairs = pair_moments(moments, max(states[fine.n_leaves :]), whiten=whiten)
    views = edge_views(fine, states, pairs, window or 1, features)
    edges = {node: views[node] for node in fine.hidden if node != fine.root}
    links = {
        node: _link(_scaled(unfolding, moments.n_rows) if whiten else unfolding, edges[node])
        for node, unfolding in _unfoldings(fine, moments, edges, window, codes)
    }
    (top,) = moments.tables([_stars(fine, edges, fine.root)])
    nodes = []
    for node in fine.hidden:
        children = fine.children[node]
        core = top if node == fine.root else links[node].core
        core = core.reshape(*(_n_cells(moments, _star(edges, child)) for child in children), -1)
        for mode, child in enumerate(children):
            if child in links:
                core = np.moveaxis(np.tensordot(core, links[child].left, (mode, 0)), -1, mode)
        nodes.append(Dense(np.ascontiguousarray(core)))
    cards = moments.cards
    network = Network(fine, tuple(map(np.eye, cards)), tuple(map(np.ones, cards)), tuple(nodes))
    seen = {node: link.seen for node, link in links.items()}
    return Factored(joined(split, network), Report("hierarchical", fine, seen))


def _star(edges: Mapping[int, EdgeViews], node: int) -> Group:
    """The leaves that stand for what lies below a node."""
    return edges[node].below if node in edges else (node,)


def _stars(tree: RootedTree, edges: Mapping[int, EdgeViews], node: int) -> Group:
    """The leaves that stand for the branches below a node."""
    return tuple(leaf for child in tree.children[node] for leaf in _star(edges, child))


def _n_cells(moments: Moments, group: Group) -> int:
    """Number of joint categories of some leaves."""
    return int(np.prod([float(moments.cards[leaf]) for leaf in group]))


def _scaled(unfolding: _Unfolding, n_rows: float) -> _Unfolding:
    """The unfolding with rows and columns divided by the roots of their shares."""
    below = root_scale(np.asarray(unfolding.branches.sum(axis=1)), n_rows)
    star = root_scale(unfolding.star.sum(axis=1), n_rows)
    above = root_scale(unfolding.star.sum(axis=0), n_rows)
    linker = root_scale(unfolding.linked.sum(axis=0), n_rows)
    return _Unfolding(
        branches=unfolding.branches * below[:, None] * above,
        star=unfolding.star * star[:, None] * above,
        linked=unfolding.linked * below[:, None] * linker,
        scales=(below, star),
    )


def _link(unfolding: _Unfolding, views: EdgeViews) -> _Link:
    """The best linker of the edge's rank, as the tensor below the edge and the basis above it.

    With ``PB = U S V'`` (branches by linker) and ``A'P = W D Z'`` (star by window), equation 6 gives
    ``M = V S^-1 [U' P Z]_k D^-1 W'``, so that ``PB M = U [U' P Z]_k D^-1 W'``: the tensor is ``U [U' P Z]_k``
    and the rest is the basis of the edge above; nothing is divided by S.
    """
    near, values, _ = stacked_svd(unfolding.linked)
    near = near[:, values > ROUNDING * values[0]]
    star, values, far = stacked_svd(unfolding.star)
    kept = values > ROUNDING * values[0]
    left, middle, right = stacked_svd(near.T @ (unfolding.branches @ far[kept].T))
    threshold = ROUNDING * float(middle[0])
    rank = max(1, min(views.rank, int((middle > threshold).sum())))
    core = near @ left[:, :rank]
    basis = star[:, kept] @ (middle[:rank, None] * right[:rank] / values[kept]).T
    if unfolding.scales is not None:
        core = core / unfolding.scales[0][:, None]
        basis = basis * unfolding.scales[1][:, None]
    return _Link(core, basis, EdgeSpectrum(views, middle, rank, threshold))


def _unfoldings(
    tree: RootedTree,
    moments: Moments,
    edges: Mapping[int, EdgeViews],
    window: int | None,
    codes: NDArray[np.integer] | None,
) -> Iterator[tuple[int, _Unfolding]]:
    """The unfolding at each inner edge; those that are tables are requested together."""
    unfoldings: dict[int, tuple[Group, Group, Group]] = {}
    for node, views in edges.items():
        linker = views.above[0]
        if window is None:
            seen = (*linker, *(leaf for leaf in tree.outside[node] if leaf not in linker))
        else:
            seen = _window(moments, views, window)
        if _n_cells(moments, seen) <= MOST_WINDOW_CELLS:
            unfoldings[node] = (_stars(tree, edges, node), views.below, seen)
        elif codes is None:
            raise ArgumentError(
                f"the {len(seen)} leaves outside {tree.names[node]!r} have {_n_cells(moments, seen):.3g} "
                "configurations, too many for a table; pass codes=, or a window"
            )
        else:
            inside = (_stars(tree, edges, node), views.below, linker)
            yield node, _from_rows(codes, moments.cards, inside, tree.outside[node])
    groups = [
        inside + seen for stars, star, seen in unfoldings.values() for inside in (stars, star)
    ]
    tables = iter(moments.tables(groups) if groups else [])
    for node, (_, _, seen) in unfoldings.items():
        n_seen, n_linker = _n_cells(moments, seen), _n_cells(moments, edges[node].above[0])
        branches, star = next(tables).reshape(-1, n_seen), next(tables).reshape(-1, n_seen)
        linked = branches.reshape(len(branches), n_linker, -1).sum(axis=2)
        yield node, _Unfolding(branches, star, linked)


def _window(moments: Moments, views: EdgeViews, window: int) -> Group:
    """The linker above an edge, then the next strongest leaves as long as there is room."""
    seen = views.above[0]
    for group in views.above[1:]:
        for leaf in group:
            wider = (*seen, leaf)
            if leaf in seen or len(wider) > window or _n_cells(moments, wider) > MOST_WINDOW_CELLS:
                continue
            seen = wider
    return seen


def _from_rows(
    codes: NDArray[np.integer],
    cards: Sequence[int],
    groups: tuple[Group, Group, Group],
    outside: Group,
) -> _Unfolding:
    """The unfolding against all configurations above an edge that occur in the rows."""
    from scipy.sparse import csr_array

    used = sorted({*groups[0], *groups[1], *outside})
    codes = codes[(codes[:, used] >= 0).all(axis=1)]
    column = _numbered(codes, cards, outside)
    share = np.full(len(codes), 1 / max(len(codes), 1))
    rows = [
        np.ravel_multi_index([codes[:, leaf] for leaf in group], [cards[leaf] for leaf in group])
        for group in groups
    ]
    sizes = [int(np.prod([cards[leaf] for leaf in group])) for group in groups]
    n_columns = int(column.max(initial=0)) + 1
    return _Unfolding(
        branches=csr_array((share, (rows[0], column)), shape=(sizes[0], n_columns)),
        star=csr_array((share, (rows[1], column)), shape=(sizes[1], n_columns)).toarray(),
        linked=csr_array((share, (rows[0], rows[2])), shape=(sizes[0], sizes[2])).toarray(),
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
            found, numbers = np.unique(numbers, return_inverse=True)
            n_numbers = len(found)
    return np.asarray(np.unique(numbers, return_inverse=True)[1], dtype=np.int64)
