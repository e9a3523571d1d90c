"""Two variables and a hidden one between them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tacit.messages.rooted_tree import RootedTree
from tacit.trees.structure.topology import Topology


def pair_topology(names: Sequence[str]) -> Topology:
    """Two variables with a hidden node between them.

    `Topology` removes other hidden nodes with two neighbours, because the same distribution exists without
    them. Here the node stays, because its number of states k bounds the rank of the joint table.

    Examples
    --------
    >>> topology = pair_topology(["a", "b"])
    >>> topology.rooted(["a", "b"]).names
    ('a', 'b', 'h')
    """
    first, second = names
    star = Topology.star([first, second])
    hub = star.hidden[0]
    for columns in ((first, second), (second, first)):
        parent, copy_of = np.array([2, 2, -1], np.int32), np.full(3, -1, np.int32)
        star._rooted[columns] = RootedTree((*columns, hub), 2, parent, copy_of)  # noqa: SLF001  same package
    return star
