"""Two variables and a hidden one between them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tacit.messages.rooted_tree import RootedTree
from tacit.trees.structure.topology import Topology


def pair_topology(names: Sequence[str]) -> Topology:
    """Two variables hung on a hidden node that stays.

    From other trees `Topology` takes a hidden node with two neighbours, because the same distribution can be
    had without it. Here the node is wanted for its number of states, which bounds what the two variables
    can have to do with each other: with k states, their joint table has rank k.

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
        star._rooted[columns] = RootedTree((*columns, hub), 2, parent, copy_of)  # noqa: SLF001  the same room
    return star
