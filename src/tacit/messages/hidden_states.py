"""Hidden states: their posterior, and the most probable completion of a row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.threads import one_blas_thread
from tacit.errors import ArgumentError, NotAvailableError
from tacit.messages.conditionals import Beliefs
from tacit.messages.evidence import Codes, Evidence, check_evidence, nothing
from tacit.messages.mixture import COMPONENT, Mixture
from tacit.messages.network import Hadamard, Network, Pointwise
from tacit.messages.node_messages import Messages, product, product_of
from tacit.messages.passes import (
    Inside,
    Outside,
    downward,
    leaf_likelihoods,
    leaf_patterns,
    row_blocks,
    upward,
)
from tacit.messages.patterns import Patterns
from tacit.messages.repairs import Repairs, distributions
from tacit.messages.weighted_networks import Learnt, parts_of, responsibilities

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Completion:
    """Rows without missing cells, and the hidden states that go with them."""

    codes: Codes  # (row, leaf)
    hidden: NDArray[np.int32]  # (row, hidden node of the component)  -1 beyond its last
    log_prob: Array  # (row,)  of the row, its hidden states and its component together
    component: NDArray[np.int32]  # (row,)  all 0 where there is one tree


def node_table(network: Network, node: int) -> Array:
    """The probability table of a hidden node: P(own state | parent's state).

    Raises
    ------
    NotAvailableError
        If the node has no such table.
    """
    tensor = network.node(node)
    if not isinstance(tensor, Hadamard) or isinstance(tensor, Pointwise):
        raise NotAvailableError(
            "hidden states have no meaning in this model, which was learnt in observable form; fit with "
            'learn="auto", "em", "online-em" or "mossel-roch" to get probability tables'
        )
    return tensor.table


def check_tables(network: Network) -> None:
    """Raise `NotAvailableError` where a hidden node has no probability table."""
    for node in network.tree.hidden:
        node_table(network, node)


@one_blas_thread()
def posterior(
    network: Network,
    evidence: Evidence,
    nodes: Sequence[int] | None = None,
    *,
    block_rows: int | None = None,
) -> Beliefs:
    """P(hidden state | what was observed of the row), for each row and each chosen hidden node.

    Parameters
    ----------
    network : Network
        Of probability tables.
    evidence : Evidence
    nodes : sequence of int, optional
        Hidden nodes, by default all.
    block_rows : int, optional
        See `row_blocks`.

    Returns
    -------
    Beliefs
        A row that is impossible gets the distribution without evidence and is counted as undefined.

    Raises
    ------
    NotAvailableError
        If the network has no probability tables.
    """
    check_evidence(network, evidence)
    check_tables(network)
    tree = network.tree
    chosen_nodes = tuple(tree.hidden) if nodes is None else tuple(nodes)
    if len(set(chosen_nodes)) < len(chosen_nodes) or any(
        node not in tree.hidden for node in chosen_nodes
    ):
        raise ArgumentError(
            f"nodes {list(chosen_nodes)}: give distinct hidden nodes, {tree.n_leaves} to {tree.root}"
        )
    tables = {
        node: np.empty((evidence.n_rows, node_table(network, node).shape[1]))
        for node in chosen_nodes
    }
    repairs = Repairs()
    for part in row_blocks(network, evidence.n_rows, block_rows):
        inside = upward(network, evidence.rows(part))
        counts = inside.patterns.weights.astype(np.int64)
        for outside in downward(inside, chosen_nodes):
            estimates = _state_estimates(inside, outside)
            instead = np.empty(0)
            if (estimates <= 0).all(axis=0).any():
                instead = _prior_of_states(network, outside.node)
            table, made = distributions(estimates, instead, counts)
            tables[outside.node][part] = table.T[inside.patterns.row_pattern]
            repairs += made
    return Beliefs(chosen_nodes, tuple(tables[node] for node in chosen_nodes), repairs)


def _state_estimates(inside: Inside, outside: Outside) -> Array:
    """Probabilities (state, distinct row) of a hidden node's state and the row, up to scale."""
    network, node = inside.network, outside.node
    from_above = Messages(node_table(network, node).T @ outside.messages.values)
    below = [
        inside.messages[child].at(inside.patterns.ids(child)[outside.patterns])
        for child in network.tree.children[node]
    ]
    return product(from_above, product_of(below)).values


def _prior_of_states(network: Network, node: int) -> Array:
    inside = upward(network, nothing(network.tree.n_leaves))
    estimates = _state_estimates(inside, next(downward(inside, [node])))
    return distributions(estimates, np.full(len(estimates), 1 / len(estimates)))[0][:, 0]


def posterior_by_name(
    learnt: Learnt, evidence: Evidence, *, block_rows: int | None = None
) -> tuple[dict[str, Array], Repairs]:
    """P(hidden variable | what was observed of the row), for all hidden variables by name.

    Of a mixture, ``"component"`` says which tree the row is from, and each tree's hidden nodes have the
    posterior that they have if the row is from that tree; their names are those of `Mixture.n_states`.

    Parameters
    ----------
    learnt : Network, Tables or Mixture
        Of probability tables.
    evidence : Evidence
    block_rows : int, optional
        See `row_blocks`.

    Returns
    -------
    dict of str to (row, state) array
    Repairs
    """
    posteriors: dict[str, Array] = {}
    repairs, prefix = Repairs(), ""
    if isinstance(learnt, Mixture):
        posteriors[COMPONENT], repairs = responsibilities(learnt, evidence, block_rows=block_rows)
    for number, network in enumerate(parts_of(learnt).networks):
        if isinstance(learnt, Mixture):
            prefix = f"{number}/"
        beliefs = posterior(network, evidence, block_rows=block_rows)
        for node, table in zip(beliefs.nodes, beliefs.tables, strict=True):
            posteriors[prefix + network.tree.names[node]] = table
        repairs += beliefs.repairs
    return posteriors, repairs


@one_blas_thread()
def most_likely(learnt: Learnt, evidence: Evidence, *, block_rows: int | None = None) -> Completion:
    """The missing cells and hidden states that are most probable together, for each row.

    Found by max-product: one pass up, one back. The first of equally probable states is taken. Observed
    cells stay as they are; a cell known through `Evidence.soft` is completed, its likelihoods counting.
    In a mixture the component is one more hidden variable: the best completion of the best one is taken.

    Parameters
    ----------
    learnt : Network, Tables or Mixture
        Of probability tables.
    evidence : Evidence
    block_rows : int, optional
        See `row_blocks`.

    Raises
    ------
    NotAvailableError
        If the network has no probability tables.
    """
    parts = parts_of(learnt)
    check_evidence(parts.first, evidence)
    for network in parts.networks:
        check_tables(network)
    n_hidden = max(len(network.tree.hidden) for network in parts.networks)
    best = Completion(
        codes=evidence.codes.copy(order="K"),
        hidden=np.full((evidence.n_rows, n_hidden), -1, dtype=np.int32),
        log_prob=np.full(evidence.n_rows, -np.inf),
        component=np.zeros(evidence.n_rows, dtype=np.int32),
    )
    for part in parts.blocks(evidence.n_rows, block_rows):
        rows = evidence.rows(part)
        for number, network in enumerate(parts.networks):
            with np.errstate(divide="ignore"):  # impossible is -inf
                search = _Search.of(network, rows)
                search.improve(best, part, number, parts.log_weights[number])
    return best


@dataclass(frozen=True, eq=False)
class _Search:
    """Log-probability of the best completion below each node, for each of its states and patterns."""

    network: Network
    evidence: Evidence
    patterns: Patterns
    scores: tuple[Array, ...]  # per hidden node: (state, own pattern)
    best: Array  # (root pattern,)

    @staticmethod
    def of(network: Network, evidence: Evidence) -> _Search:
        # Logarithms: a state that is improbable at a node may be the only one that its parent allows.
        tree = network.tree
        codes, cards = leaf_patterns(network, evidence)
        patterns = Patterns.of(codes, tree, cards)
        sent = [  # per node: (parent's state, own pattern)
            _leaf_scores(np.log(emit), evidence.soft.get(leaf))
            for leaf, emit in enumerate(network.emit)
        ]
        scores = []
        for node in tree.hidden:
            table = np.log(node_table(network, node))
            together = np.zeros((table.shape[1], int(patterns.n_patterns[node])))
            for child in tree.children[node]:
                together += sent[child].take(patterns.ids(child), axis=1)
            scores.append(together)
            sent.append(np.stack([(row[:, None] + together).max(axis=0) for row in table]))
        return _Search(network, evidence, patterns, tuple(scores), sent[-1][0])

    def improve(self, best: Completion, part: slice, number: int, log_weight: float) -> None:
        """Take the completions of this component where they are more probable than the best so far."""
        rows = self.patterns.row_pattern
        log_prob = self.best[rows] + log_weight
        improved = log_prob > best.log_prob[part]
        if number == 0:
            improved[:] = True  # an impossible row is completed too
        if not improved.any():
            return
        codes, states = self.backward()
        known, rows = self.evidence.codes[improved], rows[improved]
        best.codes[part][improved] = np.where(known < 0, codes[rows], known)
        best.hidden[part][improved] = -1
        best.hidden[part, : states.shape[1]][improved] = states[rows]
        best.log_prob[part][improved] = log_prob[improved]
        best.component[part][improved] = number

    def backward(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Best categories (distinct row, leaf) and hidden states (distinct row, hidden node)."""
        tree, n_distinct = self.network.tree, int(self.patterns.n_patterns[-1])
        choice = np.empty((tree.n_nodes, n_distinct), dtype=np.int64)
        patterns: dict[int, NDArray[Any]] = {tree.root: np.arange(n_distinct)}
        for node in range(tree.root, -1, -1):
            at = patterns.pop(node)
            for child in tree.children[node]:
                patterns[child] = self.patterns.ids(child)[at]
            if node < tree.n_leaves:
                table = self.network.emit[node]  # (own, parent)
                likelihoods = self.evidence.soft.get(node)
                scores = np.log(leaf_likelihoods(len(table), likelihoods, at))
            else:
                table = node_table(self.network, node).T
                scores = self.scores[node - tree.n_leaves][:, at]
            above = 0 if node == tree.root else choice[tree.parent[node]]
            choice[node] = (np.log(table)[:, above].reshape(len(table), -1) + scores).argmax(axis=0)
        return choice[: tree.n_leaves].T, choice[tree.n_leaves :].T


def _leaf_scores(log_emit: Array, likelihoods: Array | None) -> Array:
    """Best log-probability (parent's state, pattern) of a leaf's cell, see `leaf_patterns`."""
    missing = log_emit.max(axis=0)
    if likelihoods is None:
        return np.column_stack([log_emit.T, missing])
    soft = np.full((log_emit.shape[1], len(likelihoods)), -np.inf)
    for likelihood, row in zip(np.log(likelihoods).T, log_emit, strict=True):
        np.maximum(soft, likelihood + row[:, None], out=soft)
    return np.column_stack([log_emit.T, soft, missing])
