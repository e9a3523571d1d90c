"""A tensor as a tree of small factors: a matrix at each leaf, a core at each inner node."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ArgumentError
from tacit.messages.evidence import Evidence
from tacit.messages.network import Dense, Network
from tacit.messages.passes import row_blocks, upward
from tacit.messages.rooted_tree import RootedTree

Array = NDArray[np.float64]
Edge = tuple[str, str]  # the node further from the root first


@dataclass(frozen=True, eq=False)
class HierarchicalDecomposition:
    """The factors of a tensor along a tree (Song et al., 2013, section 3.2).

    An entry of the tensor is the sum, over the indices of all edges, of the product of all factors and cores.
    """

    tree: RootedTree
    factors: tuple[Array, ...]  # per mode: (index of the mode, rank of its edge)
    cores: tuple[
        Array, ...
    ]  # per hidden node: (child, ..., child, parent); parent has size 1 at the root
    singular_values: Mapping[Edge, Array]  # of the unfolding that was cut at each edge, descending
    error: float  # Frobenius norm of the difference to the tensor

    @property
    def ranks(self) -> dict[Edge, int]:
        """The rank of each edge, by the names of its two nodes."""
        sizes = [factor.shape[1] for factor in self.factors] + [c.shape[-1] for c in self.cores]
        return {edge: sizes[node] for node, edge in enumerate(self.singular_values)}

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the tensor."""
        return tuple(len(factor) for factor in self.factors)

    @property
    def n_numbers(self) -> int:
        """How many numbers the factors and cores hold together."""
        return sum(part.size for part in (*self.factors, *self.cores))

    @property
    def network(self) -> Network:
        """The same for message passing; a missing index is summed over."""
        totals = tuple(factor.sum(axis=0) for factor in self.factors)
        return Network(self.tree, self.factors, totals, tuple(map(Dense, self.cores)))

    def to_tensor(self) -> Array:
        """The tensor that the factors multiply to, with all its entries."""
        parts = [factor.T for factor in self.factors]  # (rank of the edge above, mode, ..., mode)
        modes: list[tuple[int, ...]] = [(leaf,) for leaf in range(self.tree.n_leaves)]
        for node, core in zip(self.tree.hidden, self.cores, strict=True):
            part = core
            for child in self.tree.children[node]:
                part = np.tensordot(part, parts[child], (0, 0))
            parts.append(part)
            modes.append(tuple(leaf for c in self.tree.children[node] for leaf in modes[c]))
        full: Array = parts[-1][0].transpose(np.argsort(modes[-1]))
        return full

    def entries(self, indices: NDArray[np.integer]) -> Array:
        """Some entries of the tensor, without the others.

        Parameters
        ----------
        indices : (entry, mode)
            -1 sums over all indices of a mode.

        Returns
        -------
        (entry,)
        """
        indices = np.asarray(indices)
        n_modes = self.tree.n_leaves
        if indices.ndim != 2 or indices.shape[1] != n_modes or indices.dtype.kind not in "iu":
            raise ArgumentError(
                f"indices are {indices.dtype} of shape {indices.shape}; give integers of shape "
                f"(entry, {n_modes})"
            )
        if ((indices < -1) | (indices >= np.array(self.shape))).any():
            raise ArgumentError(f"an index is outside the shape {self.shape} of the tensor")
        entries = np.empty(len(indices))
        network = self.network
        for part in row_blocks(network, len(indices)):
            sign, log_abs = upward(network, Evidence(indices[part])).values()
            entries[part] = sign * np.exp(log_abs)
        return entries
