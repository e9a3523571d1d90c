"""Hierarchical decomposition of a tensor along a tree (Song et al., 2013, Algorithm 1)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.core.arguments import check_choice, check_count
from tacit.core.limits import shown
from tacit.core.linalg.linker import ROUNDING, best_linker
from tacit.core.linalg.svd import stacked_svd
from tacit.errors import ArgumentError, ArgumentTypeError
from tacit.messages.rooted_tree import RootedTree
from tacit.trees.model.tensor_tree import HierarchicalDecomposition
from tacit.trees.structure.topology import Topology

Array = NDArray[np.float64]
Rank = int | Mapping[tuple[str, str], int] | None


class _Cut(NamedTuple):
    """The unfolding at an edge as ``core @ basis.T @ rest``."""

    core: Array  # (cell below the edge, rank)
    basis: Array  # (index of the new mode, rank)
    rest: Array  # (index of the new mode, outer mode, ..., outer mode)
    values: Array  # singular values, descending


def hierarchical_decomposition(
    tensor: Any,
    tree: Any,
    rank: Rank = None,
    *,
    names: Sequence[str] | None = None,
    linker: str = "svd",
) -> HierarchicalDecomposition:
    """Small factors along a tree whose product is near to a tensor, or equal to it.

    Every edge of the tree splits the modes in two. If the tensor, unfolded in that way, has at most the
    requested rank at each edge, the product is the tensor. Otherwise its squared error is at most the sum of
    the squared singular values left out at all edges, and at most d times that of the best tensor of these
    ranks, where d is the number of edges (Theorems 4 and 5). The tensor may hold any numbers; it need be no
    distribution.

    Edges are cut from the leaves towards the centre of the tree: only one side of each is then cut further.

    Parameters
    ----------
    tensor : array of two or more modes
    tree : Topology, Newick text or path, networkx graph or list of edges
        Its observed nodes are the modes. A mode may stand inside the tree; hidden nodes with fewer than three
        neighbours are left out.
    rank : int, mapping of (node, node) to int, or None
        The largest rank of all edges, or of each edge by the names of its ends (in any order). None keeps the
        whole rank, so that the product is exact.
    names : sequence of str, optional
        The names of the modes in the tree, in their order; by default "0", "1", ...
    linker : {"svd", "marginals"}
        The matrices A and B of equation 6. "svd": singular vectors of the whole unfolding, which needs no
        condition; both theorems hold. "marginals": as in section 4.1, sums over all modes but one on each
        side of an edge, which must keep the rank; the strongest pair of modes is taken. The bounds then do
        not hold in general: the error of later cuts is multiplied with the factors of earlier ones.

    Returns
    -------
    HierarchicalDecomposition
        With `factors`, `cores`, `ranks`, `singular_values`, `error`, `to_tensor()` and `entries(indices)`.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        The tensor has fewer than two modes or an entry that is no finite number, or a rank is none.
    TopologyError
        It is no tree, or its observed nodes are not the modes.

    Examples
    --------
    >>> import numpy as np
    >>> ones = np.ones((2, 3, 4, 5))
    >>> parts = hierarchical_decomposition(ones, "((0,1),(2,3));", rank=1)
    >>> [factor.shape for factor in parts.factors], parts.error < 1e-12
    ([(2, 1), (3, 1), (4, 1), (5, 1)], True)
    """
    check_choice("linker", linker, tuple(_CUTS))
    array = _checked(tensor)
    if names is not None and (not isinstance(names, Collection) or len(names) != array.ndim):
        raise ArgumentError(
            f"names={shown(names)}; give a list of {array.ndim} names, one for each mode"
        )
    columns = [*map(str, range(array.ndim) if names is None else names)]
    rooted = Topology.parse(tree, columns).rooted(columns)
    cuts, top = _cut_all(array, rooted, _ranks(rooted, rank), _CUTS[linker])
    cores = []
    for node in rooted.hidden:
        children = rooted.children[node]
        core = top if node == rooted.root else cuts[node].core
        core = core.reshape(*(len(cuts[child].basis) for child in children), -1)
        for child in children:  # each goes to the end, so that the parent's mode comes first
            core = np.tensordot(core, cuts[child].basis, (0, 0))
        cores.append(np.ascontiguousarray(np.moveaxis(core, 0, -1)))
    values = {_edge(rooted, node): cut.values for node, cut in enumerate(cuts)}
    factors = tuple(cut.core for cut in cuts[: rooted.n_leaves])
    decomposition = HierarchicalDecomposition(rooted, factors, tuple(cores), values, 0.0)
    error = float(np.linalg.norm(decomposition.to_tensor() - array))
    return HierarchicalDecomposition(rooted, factors, decomposition.cores, values, error)


def _cut_all(
    array: Array, tree: RootedTree, ranks: Sequence[int | None], cut: Callable[..., _Cut]
) -> tuple[list[_Cut], Array]:
    """The cut at the edge above every node but the root, and the tensor that is left there."""
    cuts: list[_Cut] = []
    rest, modes = array, list(range(array.ndim))  # the node that each mode of the rest belongs to
    for node in range(tree.root):
        inner = [node] if node < tree.n_leaves else list(tree.children[node])
        outer = [mode for mode in modes if mode not in inner]
        unfolded = rest.transpose([modes.index(mode) for mode in (*inner, *outer)])
        cuts.append(cut(unfolded, len(inner), ranks[node]))
        rest, modes = cuts[-1].rest, [node, *outer]
    order = [modes.index(child) for child in tree.children[tree.root]]
    return cuts, rest.transpose(order)


def _svd_cut(tensor: Array, n_inner: int, rank: int | None) -> _Cut:
    """The cut by the singular vectors of the whole unfolding."""
    matrix = tensor.reshape(int(np.prod(tensor.shape[:n_inner])), -1)
    left, values, _ = stacked_svd(matrix)
    n_singular = max(1, int((values > ROUNDING * values[0]).sum()))
    core = left[:, : n_singular if rank is None else min(rank, n_singular)]
    rest = (core.T @ matrix).reshape(-1, *tensor.shape[n_inner:])
    return _Cut(core, np.eye(core.shape[1]), rest, values)


def _marginal_cut(tensor: Array, n_inner: int, rank: int | None) -> _Cut:
    """The cut by equation 6, with A and B that keep one mode on each side and sum over the others."""
    n_modes = tensor.ndim
    limit = max(tensor.shape) if rank is None else rank
    inner, outer = max(
        product(range(n_inner), range(n_inner, n_modes)),
        key=lambda pair: _link_strength(_summed_over_all_but(tensor, pair), limit),
    )
    matrix = tensor.reshape(int(np.prod(tensor.shape[:n_inner])), -1)
    rest = _summed_over_all_but(tensor, (inner, *range(n_inner, n_modes)))
    right = _summed_over_all_but(tensor, (*range(n_inner), outer)).reshape(len(matrix), -1)
    link = best_linker(matrix, right, rest.reshape(len(rest), -1), limit)
    return _Cut(link.core, link.basis, rest, link.values)


_CUTS: dict[str, Callable[..., _Cut]] = {"svd": _svd_cut, "marginals": _marginal_cut}


def _summed_over_all_but(tensor: Array, modes: Sequence[int]) -> Array:
    over = tuple(mode for mode in range(tensor.ndim) if mode not in modes)
    return np.asarray(tensor.sum(axis=over))


def _link_strength(matrix: Array, rank: int) -> tuple[int, float]:
    """How many singular values a linker between two modes has, up to a rank, and the last of them."""
    values = stacked_svd(matrix)[1]
    used = max(1, min(rank, int((values > ROUNDING * values[0]).sum())))
    return used, float(values[used - 1])


def _checked(tensor: Any) -> Array:
    try:
        if np.iscomplexobj(tensor):
            raise TypeError("complex numbers")
        array = np.asarray(tensor, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ArgumentTypeError(
            f"the tensor is no array of real numbers, but a {type(tensor).__name__}; give an array of floats"
        ) from error
    if array.ndim < 2 or 0 in array.shape:
        raise ArgumentError(
            f"the tensor has shape {array.shape}; give two or more modes, none empty"
        )
    if not np.isfinite(array).all():
        raise ArgumentError("the tensor has entries that are not finite")
    return array


def _edge(tree: RootedTree, node: int) -> tuple[str, str]:
    return tree.names[node], tree.names[tree.parent[node]]


def _ranks(tree: RootedTree, rank: Rank) -> list[int | None]:
    """The largest rank of the edge above each node but the root."""
    if not isinstance(rank, Mapping):
        check_count("rank", rank, none_is="the whole rank")
        return [rank] * tree.root
    given = {}
    for edge, value in rank.items():
        check_count(f"rank[{edge!r}]", value)
        given[frozenset(edge)] = value
    known = [frozenset(_edge(tree, node)) for node in range(tree.root)]
    if strange := [tuple(sorted(edge)) for edge in given if edge not in known]:
        edges = [_edge(tree, node) for node in range(tree.root)]
        raise ArgumentError(f"rank names {strange[0]}, which is no edge; the edges are {edges}")
    return [given.get(edge) for edge in known]
