"""Rows drawn from a network, freely or given evidence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.threads import one_blas_thread
from tacit.errors import ArgumentError, DataError
from tacit.messages.conditionals import leaf_marginals
from tacit.messages.evidence import Codes, Evidence, check_evidence, nothing
from tacit.messages.hidden_states import node_table
from tacit.messages.network import Network
from tacit.messages.node_messages import Messages, message_up, messages_down, product_of, rescaled
from tacit.messages.passes import Inside, upward
from tacit.messages.repairs import Repairs, distributions
from tacit.messages.weighted_networks import Learnt, Parts, parts_of, responsibilities

Array = NDArray[np.float64]
Numbers = NDArray[np.integer[Any]]
# Stretches of draws, and the row of the evidence that each draw is of.
Blocks = Iterable[tuple[slice, NDArray[np.int64]]]


@dataclass(frozen=True, eq=False)
class Drawn:
    """Drawn rows, and the hidden states that were drawn with them."""

    codes: Codes  # (draw, leaf)
    # (draw, hidden node of the component)  -1 beyond its last; None without probability tables
    hidden: NDArray[np.int32] | None
    component: NDArray[np.int32]  # (draw,)  all 0 where there is one tree
    repairs: Repairs


@one_blas_thread()
def sample(
    learnt: Learnt,
    n: int,
    rng: np.random.Generator,
    evidence: Evidence | None = None,
    *,
    block_rows: int | None = None,
) -> Drawn:
    """Rows drawn from the distribution of a model, or from its conditional given evidence.

    Probability tables are drawn from exactly, state by state from the root down; of a mixture, the component
    is drawn first, given the evidence. Operators are drawn from leaf by leaf, each leaf given the evidence
    and the leaves before it; negative estimates on the way are cut off and counted.

    Parameters
    ----------
    learnt : Network, Tables or Mixture
    n : int
        Draws for each row of the evidence.
    rng : numpy.random.Generator
    evidence : Evidence, optional
        Observed cells stay as they are in every draw; by default one row of which nothing was observed.
    block_rows : int, optional
        See `row_blocks`.

    Returns
    -------
    Drawn
        The n draws of the first row, then those of the second, and so on. The same seed gives the same
        draws for every `block_rows`.

    Raises
    ------
    DataError
        If the evidence of a row is impossible by the model's probability tables.
    """
    if n < 0:
        raise ArgumentError(f"n={n}: the number of draws must not be negative")
    parts = parts_of(learnt)
    known = nothing(parts.n_leaves) if evidence is None else evidence
    check_evidence(parts.first, known)
    n_draws = known.n_rows * n
    kind = np.int16 if max(parts.cards) < 2**15 else np.int32
    codes = np.empty((n_draws, parts.n_leaves), dtype=kind, order="F")
    blocks = ((part, _numbers(part) // n) for part in parts.blocks(n_draws, block_rows))
    if parts.has_tables:
        return _sample_tables(parts, known, rng, blocks, codes)
    return _sample_operators(parts.first, known, rng, blocks, codes)


def _numbers(part: slice) -> NDArray[np.int64]:
    return np.arange(part.start, part.stop)


def _sample_tables(
    parts: Parts, known: Evidence, rng: np.random.Generator, blocks: Blocks, codes: Codes
) -> Drawn:
    n_nodes = max(network.tree.n_nodes for network in parts.networks)
    hidden = np.full((len(codes), n_nodes - parts.n_leaves), -1, dtype=np.int32)
    component = np.zeros(len(codes), dtype=np.int32)
    weights_given_evidence = responsibilities(parts, known)[0] if parts.several else None
    for part, rows in blocks:
        # Row by row, so that blocks of any size use up the same stream of numbers.
        uniforms = rng.random((len(rows), n_nodes + parts.several))
        if weights_given_evidence is not None:
            component[part] = _pick(weights_given_evidence[rows].T, uniforms[:, -1])
        for number, network in enumerate(parts.networks):
            mine = np.flatnonzero(component[part] == number)
            if not len(mine):
                continue
            inside, at_root = _upward_rows(network, known, rows[mine])
            if (inside.messages[-1].values[0, at_root] <= 0).any():
                raise DataError(
                    "the evidence has probability zero by the model, so nothing can be drawn given it"
                )
            drawn = _draw_states(inside, at_root, uniforms[mine, : network.tree.n_nodes])
            codes[part.start + mine] = drawn[:, : parts.n_leaves]
            hidden[part.start + mine, : len(network.tree.hidden)] = drawn[:, parts.n_leaves :]
    return Drawn(codes, hidden, component, Repairs())


def _sample_operators(
    network: Network, known: Evidence, rng: np.random.Generator, blocks: Blocks, codes: Codes
) -> Drawn:
    base, repairs = leaf_marginals(network), Repairs()
    for part, rows in blocks:
        inside, at_root = _upward_rows(network, known, rows)
        uniforms = rng.random((len(rows), network.tree.n_leaves))
        codes[part], made = _draw_leaves(inside, at_root, uniforms, base)
        repairs += made
    return Drawn(codes, None, np.zeros(len(codes), dtype=np.int32), repairs)


def _upward_rows(
    network: Network, known: Evidence, rows: NDArray[np.int64]
) -> tuple[Inside, Numbers]:
    """The upward pass over the evidence of some rows, and the root pattern of each draw."""
    first = int(rows[0])
    inside = upward(network, known.rows(slice(first, int(rows[-1]) + 1)))
    return inside, inside.patterns.row_pattern[rows - first]


def _pick(weights: Array, uniforms: Array) -> NDArray[np.int64]:
    """One index per column, with probabilities in proportion to the column's weights."""
    cumulative = np.cumsum(weights, axis=0)
    picked: NDArray[np.int64] = (cumulative <= uniforms * cumulative[-1]).sum(axis=0)
    return picked.clip(max=len(weights) - 1)  # a number next to one may round up to it


def _draw_states(inside: Inside, at_root: Numbers, uniforms: Array) -> NDArray[np.int32]:
    """States and categories (draw, node), each given its parent's state and the evidence below."""
    network, tree = inside.network, inside.network.tree
    drawn = np.empty(uniforms.shape, dtype=np.int32)
    patterns: dict[int, Numbers] = {tree.root: at_root}
    for node in range(tree.root, -1, -1):
        at = patterns.pop(node)
        below = tree.children[node]
        for child in below:
            patterns[child] = inside.patterns.ids(child)[at]
        if below:
            table = node_table(network, node).T  # (own, parent)
            sent = product_of(
                [inside.messages[child].at(patterns[child]) for child in below]
            ).values
        else:
            table = network.emit[node]
            sent = inside.leaf_likelihoods(node, at)
        above = np.zeros(len(at), np.int32) if node == tree.root else drawn[:, tree.parent[node]]
        drawn[:, node] = _pick(table[:, above] * sent, uniforms[:, node])
    return drawn


@dataclass(slots=True, eq=False)
class _Frame:
    """A hidden node whose children are being drawn."""

    node: int
    above: Messages
    patterns: Sequence[Numbers]  # per child
    below: list[Messages]  # per child: replaced by what it sends once drawn

    @staticmethod
    def of(inside: Inside, node: int, above: Messages, at: Numbers) -> _Frame:
        children = inside.network.tree.children[node]
        patterns = [inside.patterns.ids(child)[at] for child in children]
        pairs = zip(children, patterns, strict=True)
        return _Frame(node, above, patterns, [inside.messages[c].at(ids) for c, ids in pairs])


def _draw_leaves(
    inside: Inside, at_root: Numbers, uniforms: Array, base: Sequence[Array]
) -> tuple[NDArray[np.int64], Repairs]:
    """Categories (draw, leaf), each leaf given the evidence and all leaves drawn before it.

    Depth first: the message to a child contains the leaves drawn before it, and the message it returns
    contains its own, so that one walk over the tree is enough.
    """
    network, tree = inside.network, inside.network.tree
    codes = np.empty(uniforms.shape, dtype=np.int64)
    repairs = Repairs()
    alone = Messages(np.ones((1, len(at_root))))
    # An explicit stack: a caterpillar is deeper than Python's recursion limit.
    stack = [_Frame.of(inside, tree.root, alone, at_root)]
    places = [0]
    while stack:
        frame, place = stack[-1], places[-1]
        tensor, children = network.node(frame.node), tree.children[frame.node]
        if place < len(children):
            child, at = children[place], frame.patterns[place]
            _, above = next(messages_down(tensor, frame.above, frame.below, [place]))
            if child >= tree.n_leaves:
                stack.append(_Frame.of(inside, child, above, at))
                places.append(0)
                continue
            drawn, made = _draw_leaf(inside, child, above, at, uniforms[:, child], base[child])
            codes[:, child] = drawn
            repairs += made
            frame.below[place] = rescaled(Messages(network.emit[child].T[:, drawn]))
        else:
            stack.pop()
            places.pop()
            if not stack:
                break
            stack[-1].below[places[-1]] = message_up(tensor, frame.below)
        places[-1] += 1
    return codes, repairs


def _draw_leaf(
    inside: Inside, leaf: int, above: Messages, at: Numbers, uniforms: Array, base: Array
) -> tuple[NDArray[np.int64], Repairs]:
    emit = inside.network.emit[leaf]
    likelihoods = inside.leaf_likelihoods(leaf, at)
    certain = at < len(emit)
    estimates = np.where(certain, likelihoods, (emit @ above.values) * likelihoods)
    instead = base[:, None] * likelihoods
    instead = np.where(instead.sum(axis=0) > 0, instead, likelihoods)
    counts = np.where(certain, 0, 1)
    weights, repairs = distributions(estimates, instead / instead.sum(axis=0), counts)
    return _pick(weights, uniforms), repairs
