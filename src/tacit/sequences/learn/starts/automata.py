"""Starts for learning probabilistic automata: prefixes are clustered by the futures they predict.

Two prefixes that lead to the same state of an automaton have the same distribution of futures, which the
states of a weighted automaton encode. Clusters of these are the states of a probabilistic automaton, whose
tables are counted.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.core.linalg.kmeans import kmeans
from tacit.sequences.model.automata import AutomatonTables
from tacit.sequences.moments.prefixes import PrefixTree

Array = NDArray[np.float64]

NODES_FOR_CENTRES = 4_000
SWEEPS = 20
# State vectors are clipped to this quantile of their norms: longer ones are noise. The second is a bound in
# any case, so that squares fit single precision.
_LONGEST, _LARGEST = 0.995, 1e15
# Pseudo-counts of every symbol, and of every transition.
_EMIT, _MOVE = 0.1, 0.05


def clustered_automaton(
    tree: PrefixTree,
    states: Array,
    n_states: int,
    rng: np.random.Generator,
    *,
    tied: bool,
) -> AutomatonTables:
    """A probabilistic automaton counted from clusters of prefixes.

    Parameters
    ----------
    tree : PrefixTree
    states : (node, rank)
        Of a weighted automaton after each prefix; similar where futures are.
    n_states : int
    rng : numpy.random.Generator
        Of the first centres.
    tied : bool
        Whether transitions are to be the same for all symbols.
    """
    labels = _clusters(states, tree.passes.astype(np.float64), n_states, rng)
    return counted_automaton(tree, labels, n_states, tied=tied)


def counted_automaton(
    tree: PrefixTree, labels: NDArray[np.integer], n_states: int, *, tied: bool
) -> AutomatonTables:
    """The automaton whose states are (node,) labels of prefixes: relative counts, smoothed."""
    n_symbols = tree.n_symbols
    emit = np.full((n_states, n_symbols + 1), _EMIT)
    emit[:, -1] += np.bincount(labels, tree.ends, minlength=n_states)
    known = np.flatnonzero(tree.symbols >= 0)
    above, below = labels[tree.parents[known]], labels[known]
    symbols, passes = tree.symbols[known], tree.passes[known]
    np.add.at(emit, (above, symbols), passes)
    transitions = np.full((1 if tied else n_symbols, n_states, n_states), _MOVE)
    np.add.at(transitions, (0 * symbols if tied else symbols, above, below), passes)
    initial = np.full(n_states, _MOVE)
    initial[labels[0]] += tree.n_sequences
    return AutomatonTables(
        initial / initial.sum(),
        emit / emit.sum(axis=1, keepdims=True),
        transitions / transitions.sum(axis=2, keepdims=True),
    )


def random_automaton(
    n_symbols: int, n_states: int, rng: np.random.Generator, *, tied: bool
) -> AutomatonTables:
    """A random start: all probabilities nearly uniform."""
    emit = rng.dirichlet(np.full(n_symbols + 1, 10.0), size=n_states)
    shape = (1 if tied else n_symbols, n_states)
    transitions = rng.dirichlet(np.full(n_states, 10.0), size=shape)
    return AutomatonTables(rng.dirichlet(np.full(n_states, 10.0)), emit, transitions)


def _clusters(
    states: Array, weights: Array, n_states: int, rng: np.random.Generator
) -> NDArray[np.int32]:
    """(node,) clusters, by k-means."""
    spread = np.sqrt(np.maximum(weights @ (states - states.mean(axis=0)) ** 2, 1e-300))
    rows = states / spread.max(initial=1e-300)
    with np.errstate(over="ignore"):
        sizes = np.sqrt((rows**2).sum(axis=1))
    longest = min(float(np.quantile(sizes, _LONGEST)), _LARGEST)
    rows = (rows * np.minimum(1.0, longest / np.maximum(sizes, 1e-300))[:, None]).astype(np.float32)
    n_rows = len(rows)
    candidates, candidate_weights = np.arange(n_rows), weights
    if n_rows > NODES_FOR_CENTRES:
        probabilities = weights / weights.sum()
        candidates = np.sort(rng.choice(n_rows, NODES_FOR_CENTRES, replace=False, p=probabilities))
        candidate_weights = np.ones(NODES_FOR_CENTRES)
    return kmeans(
        rows,
        n_states,
        rng,
        max_iter=SWEEPS,
        weights=weights,
        candidates=candidates,
        candidate_weights=candidate_weights,
    ).labels
