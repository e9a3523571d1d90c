"""The two passes behind every query: from the leaves to the root, and back.

Both run over distinct patterns: upward over the distinct patterns below each node, downward over the distinct
rows. Rows come in blocks, so that memory is bounded whatever their number.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.threads import one_blas_thread
from tacit.errors import ArgumentError
from tacit.messages.evidence import Evidence, check_evidence
from tacit.messages.network import Chain, Dense, Hadamard, Network
from tacit.messages.node_messages import Messages, message_up, messages_down, rescaled
from tacit.messages.patterns import Patterns

Array = NDArray[np.float64]

# Memory that the passes over one block of rows may take, roughly.
_BYTES_AT_ONCE = 1 << 26


@dataclass(frozen=True, eq=False)
class Inside:
    """Messages of every node to its parent, over the patterns of the evidence below it."""

    network: Network
    patterns: Patterns
    soft: Mapping[int, Array]  # of the evidence
    messages: tuple[Messages, ...]  # (node,)

    def values(self) -> tuple[Array, Array]:
        """Sign and log of the absolute value of each row."""
        root = self.messages[-1]
        values = root.values[0]
        with np.errstate(divide="ignore"):
            log_abs = np.log(np.abs(values))
        if root.exponent is not None:
            log_abs += root.exponent * math.log(2)
        rows = self.patterns.row_pattern
        return np.sign(values)[rows], log_abs[rows]

    def leaf_likelihoods(self, leaf: int, patterns: NDArray[np.integer[Any]]) -> Array:
        """Likelihoods (category, pattern) of a leaf by its own evidence, see `leaf_likelihoods`."""
        return leaf_likelihoods(len(self.network.emit[leaf]), self.soft.get(leaf), patterns)


@dataclass(frozen=True, eq=False)
class Outside:
    """The message to one node from the rest of the tree, for each distinct row."""

    node: int
    messages: Messages  # (rank of the node's edge, distinct row)
    patterns: NDArray[np.integer[Any]]  # (distinct row,)  the node's own pattern


def upward(network: Network, evidence: Evidence) -> Inside:
    """Messages from the leaves to the root, for all rows at once.

    Parameters
    ----------
    network : Network
    evidence : Evidence
        Taken as checked, see `check_evidence`; use `row_blocks` where rows may be many.

    Returns
    -------
    Inside
        A missing cell sends the leaf's `total`, a likelihood vector the mean of `emit` that it weighs.
    """
    tree = network.tree
    codes, cards = leaf_patterns(network, evidence)
    patterns = Patterns.of(codes, tree, cards)
    messages = []
    for leaf, (emit, total) in enumerate(zip(network.emit, network.total, strict=True)):
        if leaf in evidence.soft:
            leaf_messages = np.column_stack([emit.T, emit.T @ evidence.soft[leaf].T, total])
        else:
            leaf_messages = np.column_stack([emit.T, total])
        messages.append(rescaled(Messages(leaf_messages)))
    for node in tree.hidden:
        below = [messages[child].at(patterns.ids(child)) for child in tree.children[node]]
        messages.append(message_up(network.node(node), below))
    return Inside(network, patterns, evidence.soft, tuple(messages))


def leaf_patterns(network: Network, evidence: Evidence) -> tuple[NDArray[Any], list[int]]:
    """Rows as patterns of the leaves, and how many each leaf has (but for missing): see `Patterns.of`.

    The patterns of a leaf are its categories, then (where it has soft evidence) one for every row, then
    one for a missing cell.
    """
    cards = [len(emit) for emit in network.emit]
    # One type and layout of codes for most: each would compile the numbering of patterns anew.
    narrow = np.int16 if max(cards) < 2**15 and not evidence.soft else np.int32
    codes: NDArray[Any] = np.asfortranarray(evidence.codes, dtype=narrow)
    if evidence.soft:
        codes = codes.copy(order="F")
    for leaf in evidence.soft:
        unsure = np.flatnonzero(codes[:, leaf] < 0)
        codes[unsure, leaf] = cards[leaf] + unsure
        cards[leaf] += evidence.n_rows
    return codes, cards


def leaf_likelihoods(
    n_categories: int, likelihoods: Array | None, patterns: NDArray[np.integer[Any]]
) -> Array:
    """Likelihoods of a leaf's categories by its own evidence, for some patterns (see `leaf_patterns`).

    Parameters
    ----------
    n_categories : int
    likelihoods : (row, category) array, or None
        The leaf's soft evidence.
    patterns : (pattern,) array

    Returns
    -------
    (category, pattern) array
    """
    leaf_values = np.ones((n_categories, len(patterns)))
    certain = np.flatnonzero(patterns < n_categories)
    leaf_values[:, certain] = 0.0
    leaf_values[patterns[certain], certain] = 1.0
    if likelihoods is not None:
        number = patterns - n_categories
        soft = np.flatnonzero((number >= 0) & (number < len(likelihoods)))
        leaf_values[:, soft] = likelihoods[number[soft]].T
    return leaf_values


def downward(inside: Inside, nodes: Collection[int]) -> Iterator[Outside]:
    """The messages to some nodes from the rest of the tree, for each distinct row.

    Only the paths from the root to the chosen nodes are walked. The evidence at or below a node has no
    part in what that node gets; multiplied with the node's own message it gives the value of the row.

    Parameters
    ----------
    inside : Inside
    nodes : collection of int
        Nodes, leaves or hidden.

    Yields
    ------
    Outside
        One per chosen node, parents before children; `Patterns.row_pattern` leads from rows to
        distinct rows.
    """
    tree, patterns = inside.network.tree, inside.patterns
    targets = set(nodes)
    on_path = set(targets)
    for node in range(tree.n_nodes - 1):
        if node in on_path:
            on_path.add(int(tree.parent[node]))
    n_distinct = int(patterns.n_patterns[-1])
    alone = Outside(tree.root, Messages(np.ones((1, n_distinct))), np.arange(n_distinct))
    waiting = {tree.root: alone}
    for node in range(tree.root, -1, -1):
        if node not in waiting:
            continue
        outside = waiting.pop(node)
        if node in targets:
            yield outside
        children = tree.children[node]
        places = [place for place, child in enumerate(children) if child in on_path]
        if not places:
            continue
        at = [patterns.ids(child)[outside.patterns] for child in children]
        below = [inside.messages[child].at(ids) for child, ids in zip(children, at, strict=True)]
        down = messages_down(inside.network.node(node), outside.messages, below, places)
        for place, messages in down:
            waiting[children[place]] = Outside(children[place], messages, at[place])


def row_blocks(network: Network, n_rows: int, block_rows: int | None = None) -> Iterator[slice]:
    """Stretches of rows that together are all rows, each small enough for one pass.

    Parameters
    ----------
    network : Network
    n_rows : int
    block_rows : int, optional
        Rows per block; by default what takes a few dozen megabytes. Answers do not depend on it.
    """
    size = rows_at_once(network) if block_rows is None else block_rows
    if size < 1:
        raise ArgumentError(f"block_rows={block_rows}; give a positive number of rows, or None")
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))


def rows_at_once(network: Network) -> int:
    """How many rows both passes may run over at once within a few dozen megabytes; at least 256."""
    widest = 1
    for node in network.nodes:
        if isinstance(node, Dense):
            widest = max(widest, node.core.size)
        elif isinstance(node, Hadamard):
            widest = max(widest, node.table.shape[1])
        else:
            assert isinstance(node, Chain)
            widest = max(widest, *(step.size for step in node.steps))
    per_row = 8 * (4 * sum(network.ranks) + 2 * widest) + 16 * network.tree.n_nodes
    return min(max(_BYTES_AT_ONCE // per_row, 256), 1 << 16)


@one_blas_thread()
def log_values(
    network: Network, evidence: Evidence, *, block_rows: int | None = None
) -> tuple[Array, Array]:
    """Sign and natural log of the absolute value that a network gives each row.

    A missing cell is summed out. The value of a network of probability tables is a probability; spectral
    estimates of small probabilities may be zero or negative.

    Parameters
    ----------
    network : Network
    evidence : Evidence
    block_rows : int, optional
        See `row_blocks`.

    Returns
    -------
    sign : (row,) array of -1, 0 and 1
    log_abs : (row,) array
        -inf where the sign is 0.
    """
    check_evidence(network, evidence)
    sign, log_abs = np.empty(evidence.n_rows), np.empty(evidence.n_rows)
    for part in row_blocks(network, evidence.n_rows, block_rows):
        sign[part], log_abs[part] = upward(network, evidence.rows(part)).values()
    return sign, log_abs
