"""Random trees in which every hidden node is needed, with lengths: for laws of learning them."""

import numpy as np
from hypothesis import strategies as st

from tacit.trees.structure.topology import Topology


@st.composite
def minimal_trees(draw, max_nodes=22, shortest=0.05):
    """Any degrees, observed inner nodes; hidden nodes have three neighbours or more."""
    n_nodes = draw(st.integers(1, max_nodes))
    # How far back each node's neighbour may lie: near ones make chains, far ones make stars.
    reach = draw(st.integers(1, max_nodes))
    edges = [(max(node - draw(st.integers(1, reach)), 0), node) for node in range(1, n_nodes)]
    degree = np.bincount(np.array(edges, dtype=int).ravel(), minlength=n_nodes)
    hidden = [node for node in range(n_nodes) if degree[node] > 2 and draw(st.booleans())]
    name = {node: f"h{node}" if node in hidden else f"x{node}" for node in range(n_nodes)}
    return Topology(
        nodes=tuple(name.values()),
        edges=tuple((name[one], name[other]) for one, other in edges),
        observed=tuple(name[node] for node in range(n_nodes) if node not in hidden),
        lengths=tuple(draw(st.floats(shortest, 1.0)) for _ in edges),
    )
