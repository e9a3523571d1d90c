"""`KernelTree(preset="printed")`: Algorithms 8 to 10 of Parikh (2015), chapter 6, without Tacit's additions.

Features of the numbers themselves with the median bandwidth, the tree by neighbour joining of equation 6.18,
one leaf X_-s* for each edge, singular vectors of means of products as they are, no singular value cut.

The thesis leaves open: the rank, the bandwidth of the density (a multiple of the median distance), the
tolerance of the incomplete Cholesky decomposition, and which leaves stand for a subtree, which are chosen as
those with the largest singular value at the rank, or at the largest one below it, but at least two, that some
pair shows above noise. Its Algorithm 2 takes pivots in the order of the rows, and
divides by zero where a number occurs twice; here the next pivot is the number that is spanned worst, as in
Bach and Jordan (2003), which it follows, until the trace that is left is the tolerance times the whole. Of
more than 2,048 numbers pivots are chosen among even quantiles; of more than 1,024 the median distance is that
of even quantiles. Values are unnormalised (Algorithm 9); they are divided by their integral.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tacit.errors import ArgumentError
from tacit.numbers.learn.bins import LearntTree
from tacit.numbers.learn.kernel_selection import normalised
from tacit.numbers.structure.pairs import pair_topology
from tacit.trees.learn.kernel_distances import printed_kernel_distances
from tacit.trees.learn.kernel_metric import printed_joining
from tacit.trees.learn.learners import Learnt
from tacit.trees.learn.number_features import FeatureColumns
from tacit.trees.learn.selection.states import known_states, state_counts
from tacit.trees.learn.selection.structures import parse_topology
from tacit.trees.learn.spectral.operators import spectral
from tacit.trees.structure.topology import Topology

if TYPE_CHECKING:
    from tacit.core.input.mixed_table import MixedTable
    from tacit.numbers.learn.kernels import KernelOptions
    from tacit.trees.moments.features import FeatureMoments

# In median distances, where none is given.
BANDWIDTH = 1.0


def learn_kernels_as_printed(table: MixedTable, options: KernelOptions) -> LearntTree:
    """The tree of the thesis: structure, where it is not given, and observable operators."""
    names, rank = table.schema.names, int(options.n_states)
    # Only the tolerance bounds the number of features, unless the user does.
    most = table.n_rows if isinstance(options.n_features, str) else options.n_features
    columns = FeatureColumns(table, options.normal_scores, most, options.tolerance, options.kernel)
    bandwidth, metric_bandwidth = (
        BANDWIDTH if isinstance(multiple, str) else float(multiple)
        for multiple in (options.bandwidth, options.metric_bandwidth)
    )
    options.report(0.0, "moments of all rows")
    moments = columns.moments(table, bandwidth)
    _check_rank(moments, rank, names)
    of_metric = moments
    if metric_bandwidth != bandwidth:
        of_metric = columns.moments(table, metric_bandwidth)
    topology = _topology(options.structure, of_metric, rank, names)
    options.report(0.6, "operators")
    tree = topology.rooted(names)
    states = state_counts(tree, moments.cards, known_states(rank, topology, tree), rank)
    assert states is not None
    factored = spectral(
        tree, moments, states, representation="tensor", n_views=1, whiten=False, cut=0.0
    )
    record = {
        "bandwidth": bandwidth,
        "metric_bandwidth": metric_bandwidth,
        "rank": rank,
        "n_views": 1,
        "n_features": list(moments.cards),
        **factored.report.as_dict(),
    }
    return LearntTree(
        Learnt(normalised(factored.network), record),
        columns.encoders(bandwidth),
        topology,
        tree,
        moments.pairs().counts,
        (),
        columns.margins,
    )


def _check_rank(moments: FeatureMoments, rank: int, names: tuple[str, ...]) -> None:
    fewest = min(range(len(names)), key=lambda column: moments.cards[column])
    if moments.cards[fewest] < rank:
        raise ArgumentError(
            f"n_states={rank}, but the column {names[fewest]!r} has {moments.cards[fewest]} features; "
            'with preset="printed" every column has at least as many as there are states'
        )


def _topology(
    structure: object, moments: FeatureMoments, rank: int, names: tuple[str, ...]
) -> Topology:
    """The given tree, or that of Algorithm 10."""
    if len(names) == 2:
        return pair_topology(names)
    if len(names) < 2 or (isinstance(structure, str) and structure == "star"):
        return Topology.star(names)
    if isinstance(structure, str) and structure in {"auto", "neighbor-joining"}:
        return printed_joining(printed_kernel_distances(moments, rank, names), names)
    topology = parse_topology(structure, names)
    inside = [name for name in topology.observed if len(topology.neighbours[name]) > 1]
    if inside:
        raise ArgumentError(
            f'the column {inside[0]!r} stands inside the tree; with preset="printed" all columns are leaves'
        )
    return replace(topology, observed=names)
