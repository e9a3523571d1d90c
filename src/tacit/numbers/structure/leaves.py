"""Observed variables moved from inside a tree to its leaves."""

from __future__ import annotations

from tacit.trees.structure.rooting import fresh
from tacit.trees.structure.topology import Topology


def with_leaves_only(topology: Topology) -> Topology:
    """The tree with a hidden node in place of each inner observed variable, which becomes a leaf of it.

    Examples
    --------
    >>> chain = Topology.from_edges([("a", "b"), ("b", "c")], observed="abc")
    >>> with_leaves_only(chain).to_newick()
    "(a,c,b)'h(b)';"
    """
    inside = [name for name in topology.observed if len(topology.neighbours[name]) > 1]
    if not inside:
        return topology
    taken = set(topology.nodes)
    hooks = {name: fresh(f"h({name})", taken) for name in inside}
    edges = [(hooks.get(one, one), hooks.get(other, other)) for one, other in topology.edges]
    return Topology(
        nodes=(*topology.nodes, *hooks.values()),
        edges=(*edges, *((hook, name) for name, hook in hooks.items())),
        observed=topology.observed,
        lengths=(*topology.lengths, *(None for _ in hooks)),
        n_states=topology.n_states,
    )
