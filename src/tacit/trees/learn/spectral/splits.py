"""Nodes of high degree, split into chains of nodes of degree three, and put together again.

A hidden variable may be written several times, each copy next to the one before and with one branch
each: the distribution stays the same, and no node needs a table of more than three branches. The
copies of a variable are then one `Chain`: a product of matrices, one for each branch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from tacit.messages.network import Chain, Dense, Hadamard, Network
from tacit.messages.rooted_tree import RootedTree


@dataclass(frozen=True, slots=True, eq=False)
class SplitTree:
    """A tree some of whose nodes were written as chains of copies."""

    original: RootedTree
    tree: RootedTree
    n_states: tuple[int, ...]  # (node of `tree`,)
    parts: tuple[
        tuple[int, ...], ...
    ]  # per hidden node of `original`: its copies, from the top down


@lru_cache(maxsize=32)
def split_tree(tree: RootedTree, n_states: tuple[int, ...], nodes: frozenset[int]) -> SplitTree:
    """The tree with the chosen hidden nodes split; those of degree three or less are not split.

    Cached, because a tree is often fitted many times.
    """
    if all(tree.degree(node) <= 3 for node in nodes):
        return SplitTree(tree, tree, n_states, tuple((node,) for node in tree.hidden))
    names, states = list(tree.names[: tree.n_leaves]), list(n_states[: tree.n_leaves])
    copies = [-1] * tree.n_leaves
    parent = [-1] * tree.n_leaves
    number = list(range(tree.n_leaves))  # of each node of the original tree, in the split one
    parts = []

    def add(node: int, children: Sequence[int], name: str) -> int:
        for child in children:
            parent[child] = len(names)
        names.append(name)
        states.append(n_states[node])
        copies.append(int(tree.copy_of[node]))
        parent.append(-1)
        return len(names) - 1

    for node in tree.hidden:
        branches = [number[child] for child in tree.children[node]]
        n_top = 3 if node == tree.root else 2  # branches of the topmost copy, without its parent
        copies_of_node: list[int] = []
        while node in nodes and len(branches) > n_top:
            label = f"{tree.names[node]}/{len(branches) - n_top}"
            copies_of_node.append(add(node, branches[-2:], label))
            branches[-2:] = copies_of_node[-1:]
        copies_of_node.append(add(node, branches, tree.names[node]))
        number.append(copies_of_node[-1])
        parts.append(tuple(reversed(copies_of_node)))
    split = RootedTree(
        tuple(names), tree.n_leaves, np.array(parent, np.int32), np.array(copies, np.int32)
    )
    return SplitTree(tree, split, tuple(states), tuple(parts))


def joined(split: SplitTree, network: Network) -> Network:
    """The network of the original tree: the copies of a node become one `Chain`."""
    if split.tree is split.original:
        return network
    nodes: list[Dense | Hadamard | Chain] = []
    for parts in split.parts:
        cores = [network.node(part) for part in parts]
        if len(parts) == 1:
            nodes.extend(cores)
        else:
            nodes.append(_chain([core.core for core in cores if isinstance(core, Dense)]))
    return Network(split.original, network.emit, network.total, tuple(nodes))


def _chain(cores: Sequence[np.ndarray[tuple[int, ...], np.dtype[np.float64]]]) -> Chain:
    """One product of matrices from cores (child, copy below or last child, copy above)."""
    steps = [core.transpose(0, 2, 1) for core in cores[1:]]
    top = cores[0]
    if top.ndim == 3:
        steps.insert(0, top.transpose(0, 2, 1))
    else:  # at the root: (first, second, copy below, 1)
        first = np.eye(len(top))[:, None, :]
        steps[:0] = [first, top[..., 0].transpose(1, 0, 2)]
    last = np.eye(steps[-1].shape[2])[:, :, None]
    return Chain(
        start=np.eye(steps[0].shape[1]),
        steps=(*(np.ascontiguousarray(step) for step in steps), last),
        stop=np.ones(1),
    )
