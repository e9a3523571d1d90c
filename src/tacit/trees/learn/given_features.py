"""Observable operators from features of several columns that a user gives (Parikh 2015, section 4.4.2).

What is below an edge is a feature vector of the columns there, and what is above it one of the other columns;
singular vectors of the mean of their product are the basis of the edge. Columns by themselves need not
show all hidden states then: it is enough that their features do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.encoders.given_features import GivenFeatures
from tacit.core.input.table import Table
from tacit.core.threads import one_blas_thread
from tacit.messages.network import Network
from tacit.messages.rooted_tree import RootedTree
from tacit.trees.learn.spectral.edges import EdgeBasis, plain_bases, whitened_bases
from tacit.trees.learn.spectral.operators import node_cores
from tacit.trees.learn.spectral.ranks import edge_plan
from tacit.trees.learn.spectral.reports import Factored, Report
from tacit.trees.learn.spectral.sides import Stack, whitened_sides
from tacit.trees.learn.spectral.splits import joined, split_tree
from tacit.trees.learn.spectral.stars import LEAF_NOISE, EdgeViews
from tacit.trees.moments.side_features import EdgeMoments, SideMoments
from tacit.trees.moments.whitening import Turn

if TYPE_CHECKING:
    from tacit.trees.learn.learners import Job

Array = NDArray[np.float64]

# A tensor is as good as a train up to this degree, and splits no side into smaller ones.
HIGH_DEGREE = 4

# Mean square of the sum of features minus one, below which features sum to one in every row.
SUMS_TO_ONE = 1e-12


def features_of_table(table: Table, features: Any) -> GivenFeatures:
    """The features that an argument stands for, of the columns of a table."""
    columns = table.schema.columns
    return GivenFeatures.of(features, table.schema.labels, [column.values for column in columns])


@one_blas_thread()  # many small products
def operators_from_features(job: Job) -> tuple[Network, dict[str, Any]]:
    """The network of observable operators of a tree, and its diagnostics."""
    printed = job.settings.preset == "printed"
    given = features_of_table(job.table, job.settings.features)
    least = {"tensor": job.tree.n_nodes, "train": 0}.get(job.settings.representation, HIGH_DEGREE)
    to_split = frozenset(node for node in job.tree.hidden if job.tree.degree(node) > least)
    split = split_tree(job.tree, job.n_states, to_split)
    fine, states = split.tree, split.n_states
    parents = [states[parent] for parent in fine.parent[:-1].tolist()]
    factored = factored_by_features(
        fine,
        SideMoments.of(fine, job.table, given),
        edge_plan(fine, states).ranks.tolist(),
        parents,
        whiten=not printed,
        cut=0.0 if printed else 1.0,
    )
    return joined(split, factored.network), factored.report.as_dict()


def factored_by_features(
    tree: RootedTree,
    moments: SideMoments,
    ranks: Sequence[int],
    widths: Sequence[int],
    *,
    whiten: bool = True,
    cut: float = 1.0,
    shrink: bool = False,
) -> Factored:
    """The network of a tree from the features of the two sides of each edge.

    Parameters
    ----------
    tree : RootedTree
    moments : SideMoments
    ranks : (edge,)
        Directions that are kept at most.
    widths : (edge,)
        States behind each edge. A leaf with fewer categories is sent as it is: nothing is inverted there.
    whiten : bool
        Multiply features with the inverse root of their second moments; without it, as printed.
    cut, shrink
        Of singular values, see `tacit.trees.learn.spectral.edges.edge_bases`.
    """
    bases = {
        edge: _basis(moments, edge, ranks[edge], whiten=whiten, cut=cut, shrink=shrink)
        for edge in range(tree.n_nodes - 1)
        if edge >= tree.n_leaves or moments.cards[edge] >= widths[edge]
    }
    nodes = node_cores(tree, moments, bases, list(tree.hidden))
    emit = tuple(
        bases[leaf].emit if leaf in bases else np.eye(moments.cards[leaf])
        for leaf in range(tree.n_leaves)
    )
    total = tuple(encoder.sum(axis=0) for encoder in emit)
    network = Network(tree, emit, total, tuple(nodes[node] for node in tree.hidden))
    spectra = {}
    for edge, basis in bases.items():
        views = basis.spectrum.views._replace(below=tree.below[edge], above=(tree.outside[edge],))
        spectra[edge] = basis.spectrum._replace(views=views)
    return Factored(network, Report("spectral", tree, spectra))


def _basis(
    moments: SideMoments, edge: int, rank: int, *, whiten: bool, cut: float, shrink: bool
) -> EdgeBasis:
    """The basis of an edge."""
    is_leaf = edge < moments.n_leaves
    above = len(moments.sides) // 2 + edge
    views = EdgeViews((edge,), ((above,),), (1.0,), rank, LEAF_NOISE if is_leaf else 1.0)
    means = moments.edge(edge)
    low = len(means.below) if is_leaf else _n_used(means.below_below, means.below, whiten=whiten)
    high = _n_used(means.above_above, means.above, whiten=whiten)
    table = means.joint[:low, :high]
    if whiten:
        turns = _turns(means, low, high, moments.n_rows)
        stack, edges = whitened_sides(views, [table], turns, moments.n_rows)
        (basis,) = whitened_bases(stack, edges, cut, shrink)
    else:
        scales = np.ones((1, low)), np.ones((1, high))
        stack = Stack(table[None], *scales, np.zeros(1), np.array([high]))
        (basis,) = plain_bases(stack, [views], cut, shrink)
    return basis._replace(
        left=_padded(basis.left, len(means.below)), right=_padded(basis.right, len(means.above))
    )


def _n_used(second: Array, mean: Array, *, whiten: bool) -> int:
    """Features that are used: without the constant, the last, where it is not needed.

    Whitening needs the constant among the features, and has it already where they sum to one. The printed
    form has no constant.
    """
    n = len(mean) - 1
    if n == 0:
        return 1
    if not whiten:
        return n
    error = second[:n, :n].sum() - 2 * mean[:n].sum() + 1
    return n if error <= SUMS_TO_ONE else n + 1


def _turns(means: EdgeMoments, low: int, high: int, n_rows: float) -> tuple[Turn, tuple[Turn, ...]]:
    """The whitening of the features below an edge, and above it."""
    sides = []
    for second, n in ((means.below_below, low), (means.above_above, high)):
        total = np.ones(n)
        if n == len(second) and n > 1 and not _are_indicators(second):
            total = np.zeros(n)
            total[-1] = 1.0
        sides.append(Turn.of(second[:n, :n], total, n_rows))
    return sides[0], (sides[1],)


def _are_indicators(second: Array) -> bool:
    """Whether second moments are those of the indicators of a leaf."""
    return not second[~np.eye(len(second), dtype=np.bool_)].any()


def _padded(matrix: Array, n: int) -> Array:
    """The matrix with rows of zeros for features that are not used."""
    return np.concatenate([matrix, np.zeros((n - len(matrix), matrix.shape[1]))])
