"""The trees of the attributes of towns: learnt by the kernel distances, drawn with histograms."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.reproduce.numbers.recovery import joined, kernel_moments
from tacit.reproduce.numbers.towns import Columns

if TYPE_CHECKING:
    from tacit.trees.structure.topology import Topology

# Enough for a picture: the strength of edges is no longer coarse.
N_STATES, N_BINS = 4, 8
PRINTED_RANK = 2


def kernel_topology(columns: Columns) -> Topology:
    """Tacit's form: the tree that `refined-joining` makes of kernel distances; missing numbers are NaN."""
    from tacit.trees.learn.kernel_distances import kernel_distances

    distances = kernel_distances(kernel_moments(list(columns.values())))
    n_rows = len(next(iter(columns.values())))
    return joined("refined-joining", distances, tuple(columns), n_rows)


def printed_topology(columns: Columns) -> Topology:
    """The tree of the thesis: neighbour joining of equation 6.18."""
    from tacit.numbers.kernel_tree import KernelTree

    return (
        KernelTree(PRINTED_RANK, preset="printed", continuous=list(columns)).fit(columns).topology_
    )


def draw_trees(columns: Columns, csv: Path) -> None:
    """Draw both trees beside the table of runs."""
    for form, topology in (("printed", printed_topology), ("tacit", kernel_topology)):
        draw_tree(columns, topology(columns), csv.with_name(f"{csv.stem}-tree-{form}.png"))


def draw_tree(columns: Columns, topology: Topology, path: Path) -> Path:
    """Draw a tree of a table of numbers, edges as wide as the dependence across them is strong."""
    from tacit.core.files.atomic import atomic_path
    from tacit.numbers.kernel_tree import KernelTree
    from tacit.plot.style import pyplot
    from tacit.plot.trees import tree

    model = KernelTree(
        N_STATES,
        topology,
        continuous=list(columns),
        n_bins=N_BINS,
        n_components=1,
        experts="tree",
        blend=False,
    ).fit(columns)
    figure: Any = tree(model).figure
    with atomic_path(path) as temporary:
        figure.savefig(temporary, dpi=130)
    pyplot().close(figure)
    return path
