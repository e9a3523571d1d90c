"""Parameters of a chain from those of a chain of a lower order, which it contains."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.junction.model.shared_tables import Block, Ties

Array = NDArray[np.float64]


def lifted(lower: Ties, values: Array, ties: Ties) -> Array:
    """The parameters that give a graph the distribution of one with fewer edges, of the same variables.

    A conditional distribution given more parents is the same whatever state the added ones have.

    Parameters
    ----------
    lower : Ties
        Of the graph with fewer edges; its variables have the same numbers of states.
    values : (parameter,)
        Its parameters.
    ties : Ties
    """
    blocks = {family.children: block for block in lower.blocks for family in block.families}
    out = np.empty(ties.size)
    for block in ties.blocks:
        out[block.span] = _expanded(lower, blocks[block.families[0].children], values, block)
    return out


def _expanded(lower: Ties, below: Block, values: Array, block: Block) -> Array:
    """The table of a block of the lower graph, repeated for every state of the parents that it lacks."""
    children, parents = block.families[0]
    known = next(family.parents for family in below.families if family.children == children)
    states = lower.junction.states
    table = values[below.span].reshape(*(states[name] for name in known), below.n_columns)
    order = [known.index(name) for name in parents if name in known]
    table = table.transpose(*order, table.ndim - 1)
    shape = [states[name] if name in known else 1 for name in parents]
    full = [states[name] for name in parents]
    repeated = np.broadcast_to(table.reshape(*shape, below.n_columns), (*full, below.n_columns))
    return repeated.ravel()
