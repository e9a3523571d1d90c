"""Where a large tree is held."""

import networkx as nx
from hypothesis import given

from oracles.topologies import topologies
from tacit.plot.layout import balance_point
from tacit.trees.structure.topology import Topology


def largest_branch(topology, name):
    """Observed variables in the largest part that is left when a node is taken out."""
    graph = topology.to_networkx()
    graph.remove_node(name)
    observed = set(topology.observed)
    return max((len(observed & part) for part in nx.connected_components(graph)), default=0)


@given(topologies())
def test_no_other_node_has_a_smaller_largest_branch(topology):
    size = largest_branch(topology, balance_point(topology))
    assert size == min(largest_branch(topology, name) for name in topology.nodes)
    assert 2 * size <= len(topology.observed) or len(topology.observed) == 1


def test_of_equals_the_nearest_to_the_centre_is_taken():
    chain = Topology.from_edges([(str(n), str(n + 1)) for n in range(6)], observed=["0", "6"])
    assert balance_point(chain) == chain.centre == "3"
