"""The algorithms as the papers print them.

Tacit's estimators go beyond the papers: they divide by the roots of the shares, weigh views by what they
see and cut directions that are lost in noise. A seed's claim is about what the seed describes, so that its
experiment runs these stages without any of that. Which leaves stand for a subtree the papers leave open;
Tacit chooses them.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tacit.params.tree import Network
    from tacit.structure.junction import JunctionTree
    from tacit.structure.topology import Topology
    from tacit.toy import GraphModel


def learn_as_printed(
    learn: str, n_states: int, topology: Topology, rows: Any, **options: Any
) -> Network:
    """What an algorithm learns without Tacit's additions.

    Parameters
    ----------
    learn : {"spectral", "hierarchical"}
        Thesis chapters 4 and 7, with ``representation="tensor"`` or ``"matrix"``; Song et al. (2013) with the
        linker over all leaves outside an edge.
    n_states : int
        States of every hidden node.
    topology : Topology
    rows : table
    **options
        Of the stage: `n_views`, `representation`.
    """
    from tacit.data.reading import read_table
    from tacit.moments.source import CountedMoments
    from tacit.params.hierarchical import hierarchical
    from tacit.params.spectral import spectral

    table = read_table(rows)
    tree = topology.rooted(table.schema.names)
    states = (*table.schema.cards, *(n_states for _ in tree.hidden))
    moments = CountedMoments.of(table.codes, table.schema.cards)
    if learn == "spectral":
        return spectral(tree, moments, states, whiten=False, cut=0.0, **options).network
    assert learn == "hierarchical", learn
    found = hierarchical(
        tree, moments, states, window=None, whiten=False, codes=table.codes, **options
    )
    return found.network


def junction_as_printed(model: GraphModel, rows: Any, **options: Any) -> Network:
    """What thesis chapter 5 learns of a graph: all joint states of every separator, and tables as they are.

    Parameters
    ----------
    model : GraphModel
        Of which the graph and the numbers of states are used.
    rows : table
    **options
        Of the stage: `n_views`, `features`.
    """
    from tacit.data.reading import read_table
    from tacit.moments.source import CountedMoments
    from tacit.params.junction import junction_spectral

    table = read_table(rows)
    names, cards = table.schema.names, table.schema.cards
    states = {**model.n_states, **dict(zip(names, cards, strict=True))}
    junction = _junction(model, tuple(names), tuple(states.items()))
    moments = CountedMoments.of(table.codes, cards)
    return junction_spectral(junction, moments, whiten=False, cut=0.0, **options).network


@lru_cache(maxsize=8)
def _junction(
    model: GraphModel, names: tuple[str, ...], states: tuple[tuple[str, int], ...]
) -> JunctionTree:
    """Remembered, because many tables are learnt with the same graph."""
    from tacit.structure.graphs import VariableGraph
    from tacit.structure.junction import junction_tree

    return junction_tree(VariableGraph.of(model.graph), names, dict(states))
