"""The algorithms as the papers print them.

Tacit's estimators go beyond the papers: they divide by the roots of the marginals, weigh views by what they
show and cut directions that are lost in noise. A seed's claim is about what the seed describes, so that its
experiment runs these stages without any of that. Which leaves stand for a subtree the papers leave open;
Tacit chooses them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tacit.messages.network import Network
    from tacit.trees.structure.topology import Topology


def learn_as_printed(
    learn: str, n_states: int, topology: Topology, rows: Any, **options: Any
) -> Network:
    """What `LatentTree(preset="printed")` learns."""
    from tacit.trees.latent_tree import LatentTree

    return LatentTree(n_states, topology, learn, preset="printed", **options).fit(rows).network_
