"""The tree of the attributes of towns: learnt by the kernel distance, drawn with histograms."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.reproduce.numbers.recovery import TOLERANCE, joined
from tacit.reproduce.numbers.towns import Columns

if TYPE_CHECKING:
    from tacit.trees.structure.topology import Topology

# Enough for a picture: what they say of the strength of edges is no longer coarse.
N_STATES, N_BINS = 4, 8


def kernel_topology(columns: Columns) -> Topology:
    """The tree that the library's structure selector makes of kernel distances.

    Parameters
    ----------
    columns : mapping of str to (row,) array
        Numbers, NaN where they are missing.
    """
    from tacit.core.encoders.kernels import kernel_encoder, median_bandwidth
    from tacit.trees.learn.kernel_distances import kernel_distances
    from tacit.trees.moments.features import FeatureMoments

    encoders = [
        kernel_encoder(column, median_bandwidth(column), TOLERANCE) for column in columns.values()
    ]
    moments = FeatureMoments.of(list(columns.values()), encoders)
    n_rows = len(next(iter(columns.values())))
    return joined("refined-joining", kernel_distances(moments), tuple(columns), n_rows)


def draw_tree(columns: Columns, path: Path) -> Path:
    """Draw the tree of a table of numbers, edges as wide as the dependence across them is strong."""
    from tacit.core.files.atomic import atomic_path
    from tacit.numbers.kernel_tree import KernelTree
    from tacit.plot.style import pyplot
    from tacit.plot.trees import tree

    model = KernelTree(
        N_STATES,
        kernel_topology(columns),
        continuous=list(columns),
        n_bins=N_BINS,
        n_components=1,
        blend=False,
    ).fit(columns)
    figure: Any = tree(model).figure
    with atomic_path(path) as temporary:
        figure.savefig(temporary, dpi=130)
    pyplot().close(figure)
    return path
