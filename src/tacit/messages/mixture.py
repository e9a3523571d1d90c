"""A mixture of trees: a component is drawn, then a row from its tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.errors import ArgumentError
from tacit.messages.network import Network, Tables

Array = NDArray[np.float64]

# Name of the hidden variable that says which tree a row is from.
COMPONENT = "component"

_SUM = 1e-6  # how far from one weights may sum


@dataclass(frozen=True, eq=False)
class Mixture:
    """Probability tables of several trees over the same leaves, and the weights of the trees.

    The trees and their numbers of hidden states may differ; the leaves are the same columns in the same
    order, with the same categories.

    Raises
    ------
    ArgumentError
        If the weights are no probabilities, or the trees have different leaves.
    """

    weights: Array  # (component,)
    parts: tuple[Tables, ...]  # (component,)

    def __post_init__(self) -> None:
        """Check that weights and trees fit together."""
        weights = np.array(self.weights, dtype=np.float64)
        if not self.parts or weights.shape != (len(self.parts),):
            raise ArgumentError(
                f"{len(self.parts)} components with weights of shape {weights.shape}; give one weight for "
                f"each, and at least one component"
            )
        if not (weights >= 0).all() or not abs(weights.sum() - 1.0) <= _SUM:
            raise ArgumentError(
                f"weights {weights.tolist()}; give numbers that are not negative and sum to one"
            )
        for number, part in enumerate(self.parts):
            if _leaves(part) != _leaves(self.parts[0]):
                raise ArgumentError(
                    f"component {number} has other leaves than component 0; all must have the same columns "
                    f"in the same order, with the same categories"
                )
        weights.flags.writeable = False
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "parts", tuple(self.parts))

    @staticmethod
    def of(weights: ArrayLike, parts: Sequence[Tables]) -> Mixture:
        """The mixture with the heaviest component first; weights need not sum to one.

        Examples
        --------
        >>> from tacit.trees.structure.topology import Topology
        >>> tree = Topology.star("a").rooted("a")
        >>> coins = [Tables.of(tree, [np.eye(2), np.array([[p, 1 - p]])]) for p in (0.5, 0.9)]
        >>> mixture = Mixture.of([1, 3], coins)
        >>> mixture.weights.tolist(), mixture.parts[0] is coins[1]
        ([0.75, 0.25], True)
        """
        unordered = np.asarray(weights, dtype=np.float64)
        order = np.argsort(-unordered, kind="stable")
        return Mixture(unordered[order] / unordered.sum(), tuple(parts[place] for place in order))

    @property
    def n_components(self) -> int:
        """Number of trees."""
        return len(self.parts)

    @property
    def heaviest(self) -> int:
        """The number of the component with the largest weight, the first of several."""
        return int(self.weights.argmax())

    @property
    def networks(self) -> tuple[Network, ...]:
        """Each component as a network, for the queries."""
        return tuple(part.network for part in self.parts)

    @property
    def n_states(self) -> dict[str, int]:
        """How many values each hidden variable has: the component, and the nodes of every tree.

        A node goes by the number of its component and its own name, as in ``"0/h1"``.
        """
        n_states = {COMPONENT: self.n_components}
        for number, part in enumerate(self.parts):
            for node in part.tree.hidden:
                n_states[f"{number}/{part.tree.names[node]}"] = part.layout.n_states[node]
        return n_states

    @property
    def n_parameters(self) -> int:
        """Free parameters of all components and the weights."""
        return sum(part.layout.n_parameters for part in self.parts) + self.n_components - 1


def _leaves(part: Tables) -> tuple[tuple[str, ...], tuple[int, ...]]:
    n_leaves = part.tree.n_leaves
    return part.tree.names[:n_leaves], part.layout.n_states[:n_leaves]
