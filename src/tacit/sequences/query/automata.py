"""Predictions of automata: proper probabilities of the next symbol, whatever was learnt.

A predictor answers position by position. The probabilities of each symbol and of the end sum to one at each,
so those of all sequences do. Sequences with a common prefix are walked together, along the prefix tree.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tacit.core.threads import one_blas_thread
from tacit.messages.repairs import Repairs, distributions
from tacit.sequences.model.automata import Automaton
from tacit.sequences.model.interpolated_ngrams import Ngrams
from tacit.sequences.moments.prefixes import PrefixTree
from tacit.sequences.query.mean_automata import TINY, MeanAutomaton, by_symbols

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
State = tuple[NDArray[Any], ...]  # arrays with a row for each prefix

# A state whose last symbol had no higher probability than this is lost in noise and restarted.
BROKEN = 1e-4
# The weight of the n-grams where a state was restarted.
BROKEN_MIXING = 0.9
# Levels of a tree beyond this depth are narrow; so many nodes of them are walked at a time.
DEEP, BAND = 512, 4096
# Bytes of states that are walked at a time, and the least number of rows.
CACHED, LEAST_ROWS = 1 << 21, 256


class Predictor(Protocol):
    """Predicts the next symbol, or the end."""

    @property
    def n_symbols(self) -> int:
        """Different symbols; the end is one more."""
        ...

    def begin(self, n: int) -> State:
        """The states of empty prefixes."""
        ...

    def next_probs(self, state: State) -> tuple[Array, Repairs]:
        """(row, symbol + 1) probabilities that sum to one, and repairs."""
        ...

    def after(
        self, state: State, symbols: NDArray[np.integer], rows: Integers | None = None
    ) -> State:
        """The states after one more symbol (-1: missing) each, of these rows of `state` or of all."""
        ...

    def onwards(self, state: State, parents: Integers, symbols: Integers) -> State:
        """The states after symbols in turn; each follows a row of `state` or an earlier result.

        `parents` are row numbers: first those of `state`, then those of the results.
        """
        ...


@dataclass(frozen=True, eq=False)
class MixedAutomaton:
    """A weighted automaton, clipped, normalised at each position and mixed with n-grams."""

    automaton: Automaton
    ngrams: Ngrams
    mixing: float  # the weight of the n-grams

    @property
    def n_symbols(self) -> int:
        """Different symbols."""
        return self.automaton.n_symbols

    @cached_property
    def _readings(self) -> Array:
        """(rank, symbol + 1) a state times this gives the values of the next symbols."""
        automaton = self.automaton
        return np.column_stack([*(automaton.steps @ automaton.total), automaton.stop])

    def begin(self, n: int) -> State:
        """States of value one, whether they were restarted, and contexts of the n-grams."""
        automaton = self.automaton
        mass = float(automaton.initial @ automaton.total)
        broken = not mass > BROKEN
        initial = automaton.mean if broken else automaton.initial / mass
        return np.tile(initial, (n, 1)), np.full(n, broken), np.full(n, self.ngrams.first)

    def unmixed(self, state: State) -> tuple[Array, Array, Repairs]:
        """(row, symbol + 1) distributions of the automaton and of the n-grams, and repairs."""
        vectors, _, contexts = state
        ngram_probs = self.ngrams.tables[contexts]
        raw = self._readings.T @ vectors.T
        raw[:, ~np.isfinite(raw).all(axis=0)] = 0.0
        probs, repairs = distributions(raw, ngram_probs.T)
        return probs.T, ngram_probs, repairs

    def next_probs(self, state: State) -> tuple[Array, Repairs]:
        """(row, symbol + 1) probabilities, and repairs."""
        probs, ngram_probs, repairs = self.unmixed(state)
        return mixed(probs, ngram_probs, state[1], self.mixing), repairs

    def after(
        self, state: State, symbols: NDArray[np.integer], rows: Integers | None = None
    ) -> State:
        """The states after a symbol each; broken ones are restarted from the mean state."""
        automaton = self.automaton
        vectors, _, contexts = state if rows is None else _rows(state, rows)
        vectors_after = _next_vectors(vectors, _groups(symbols), automaton.steps, automaton.through)
        mass = vectors_after @ automaton.total
        broken = ~((mass > BROKEN) & np.isfinite(vectors_after).all(axis=1))
        vectors_after[broken] = automaton.mean
        vectors_after[~broken] /= mass[~broken, None]
        return vectors_after, broken, self.ngrams.after(contexts, symbols)

    def onwards(self, state: State, parents: Integers, symbols: Integers) -> State:
        """The states after symbols in turn, compiled."""
        from tacit.sequences.loops.automata import walk_contexts

        automaton, (vectors, _, contexts) = self.automaton, state
        vectors_after, mass = _walked_states(
            vectors, parents, symbols, automaton, automaton.total, automaton.mean, BROKEN
        )
        base = self.n_symbols + 2
        limit = base ** (self.ngrams.order - 1)
        return (
            vectors_after,
            ~(mass > BROKEN),
            walk_contexts(contexts, parents, symbols, base, limit),
        )


def mixed(probs: Array, ngram_probs: Array, broken: NDArray[np.bool_], mixing: float) -> Array:
    """Distributions mixed with those of the n-grams, which weigh more where a state was restarted."""
    weight = np.where(broken, max(BROKEN_MIXING, mixing), mixing)[:, None]
    return np.asarray((1 - weight) * probs + weight * ngram_probs)


def _groups(symbols: NDArray[np.integer]) -> list[tuple[int, Integers]]:
    """The rows of each symbol."""
    return [(int(symbol), np.flatnonzero(symbols == symbol)) for symbol in np.unique(symbols)]


def _next_vectors(
    vectors: Array, groups: list[tuple[int, Integers]], steps: Array, through: Array
) -> Array:
    """(row, state) the states after a symbol each."""
    out = np.empty_like(vectors)
    for symbol, rows in groups:
        out[rows] = vectors[rows] @ (steps[symbol] if symbol >= 0 else through)
    return out


def _walked_states(
    vectors: Array,
    parents: Integers,
    symbols: Integers,
    of: Automaton,
    total: Array,
    restart: Array,
    least: float,
) -> tuple[Array, Array]:
    """(row, state) states after symbols in turn, of value one, and (row,) their values before scaling."""
    from tacit.sequences.loops.automata import walk

    states = np.empty((len(vectors) + len(parents), len(total)))
    states[: len(vectors)] = vectors
    mass = np.empty(len(parents))
    walk(states, parents, symbols, of.steps, of.through, total, restart, least, mass)
    return states[len(vectors) :], mass


def _rows(state: State, rows: Integers | slice) -> State:
    return tuple(array[rows] for array in state)


def walked_levels(
    predictor: Predictor, tree: PrefixTree
) -> Iterator[tuple[slice | Integers, State]]:
    """The states at the nodes of a tree, parents before children, some nodes of a level at a time.

    Wide levels are walked in blocks that stay in the processor's cache, down to where the tree has become
    much narrower or wider. Deep levels are narrow: many are walked at once.
    """
    state, bounds = predictor.begin(1), tree.bounds
    yield slice(0, 1), state
    first = 1
    while first + 1 < len(bounds):
        if first >= DEEP:
            last = int(np.searchsorted(bounds, bounds[first] + BAND, side="right")) - 1
            last = max(last, first + 1)
            band = slice(int(bounds[first]), int(bounds[last]))
            parents, symbols = tree.parents[band] - bounds[first - 1], tree.symbols[band]
            state = predictor.onwards(state, parents, symbols)
            yield band, state
            state = _rows(state, slice(int(bounds[last - 1]) - band.start, None))  # the last level
        else:
            last = _end_of_similar(bounds, first)
            lowest: list[State] = []
            for low in range(int(bounds[first]), int(bounds[first + 1]), n_rows := _at_once(state)):
                high = min(low + n_rows, int(bounds[first + 1]))
                yield from _walked_down(predictor, tree, state, (first, last, low, high), lowest)
            state = lowest[0] if len(lowest) == 1 else _stacked(lowest)
        first = last


def _end_of_similar(bounds: Integers, first: int) -> int:
    """Where the levels that are about as wide as a first one end."""
    widths = np.diff(bounds[first : DEEP + 1])
    unlike = (4 * widths < widths[0]) | (widths > 2 * widths[0])
    return first + (int(unlike.argmax()) if unlike.any() else len(widths))


def _at_once(state: State) -> int:
    """How many rows fit into the cache."""
    row = sum(array.nbytes for array in state) // len(state[0])
    return max(CACHED // max(row, 1), LEAST_ROWS)


def _walked_down(
    predictor: Predictor,
    tree: PrefixTree,
    state: State,
    block: tuple[int, int, int, int],
    lowest: list[State],
) -> Iterator[tuple[Integers, State]]:
    """The states below a block of nodes, level by level; those of the last level are put into `lowest`.

    `state` holds the level above. The block is a range of levels and a range of nodes of its first level.
    Rows are in the order of symbols while they are walked.
    """
    first, last, low, high = block
    above, rows = int(tree.bounds[first - 1]), None
    for level in range(first, last):
        if level > first:
            level_parents = tree.parents[tree.bounds[level] : tree.bounds[level + 1]]
            above, nodes = low, np.searchsorted(level_parents, [low, high])
            low, high = (int(node + tree.bounds[level]) for node in nodes)
            if low == high:
                return
        parents, symbols = tree.parents[low:high] - above, tree.symbols[low:high]
        order = by_symbols(symbols)
        before = parents[order] if rows is None else rows[parents[order]]
        state = predictor.after(state, symbols[order], before)
        yield low + order, state
        rows = np.empty_like(order)
        rows[order] = np.arange(len(order))
    lowest.append(state if rows is None else _rows(state, rows))


def _stacked(states: list[State]) -> State:
    return tuple(np.concatenate(arrays) for arrays in zip(*states, strict=True))


@dataclass(frozen=True, eq=False)
class NodePredictions:
    """Predictions at every node of a prefix tree."""

    tree: PrefixTree
    probs: Array  # (node, symbol + 1)
    repairs: Repairs  # an answer is the prediction at a node
    n_broken: int  # states that were restarted

    @cached_property
    def log_prefixes(self) -> Array:
        """(node,) natural log of the probability that a sequence has this prefix."""
        above, symbols = self.tree.parents, self.tree.symbols
        probs = self.probs[above, symbols]  # of a missing symbol: that of the end
        return _log_prefixes(self.tree, np.where(symbols < 0, 1 - probs, probs))

    @cached_property
    def log_strings(self) -> Array:
        """(node,) natural log of the probability of the sequence that ends at the node."""
        return self.log_prefixes + np.log(np.maximum(self.probs[:, -1], TINY))

    @property
    def log_likelihood(self) -> float:
        """Summed over the sequences of the tree."""
        has_end = self.tree.ends > 0
        return float((self.tree.ends[has_end] * self.log_strings[has_end]).sum())


def _log_prefixes(tree: PrefixTree, probs: Array) -> Array:
    """(node,) natural logs of probabilities of prefixes, from those of their last symbols."""
    from tacit.sequences.loops.prefixes import add_downwards

    logs = np.log(np.maximum(probs, TINY))
    logs[0] = 0.0
    add_downwards(tree.parents, logs)
    return logs


@one_blas_thread()
def node_predictions(predictor: Predictor, tree: PrefixTree) -> NodePredictions:
    """Predictions at every node of a prefix tree."""
    probs = np.empty((tree.n_nodes, predictor.n_symbols + 1))
    repairs, n_broken = Repairs(), 0
    for level, state in walked_levels(predictor, tree):
        probs[level], level_repairs = predictor.next_probs(state)
        repairs += level_repairs
        if isinstance(predictor, MixedAutomaton):
            n_broken += int(state[1].sum())
    return NodePredictions(tree, probs, repairs, n_broken)


@dataclass(frozen=True, eq=False)
class NodeScores:
    """Log-probabilities of the nodes of a prefix tree."""

    log_prefixes: Array  # (node,)
    log_strings: Array  # (node,)
    repairs: Repairs
    n_broken: int


@one_blas_thread()
def node_scores(predictor: Predictor, tree: PrefixTree) -> NodeScores:
    """Log-probabilities of every node of a prefix tree."""
    if not isinstance(predictor, MeanAutomaton):
        predictions = node_predictions(predictor, tree)
        return NodeScores(
            predictions.log_prefixes,
            predictions.log_strings,
            predictions.repairs,
            predictions.n_broken,
        )
    probs, ends = np.empty(tree.n_nodes), np.empty(tree.n_nodes)
    for nodes, state in walked_levels(predictor, tree):
        probs[nodes], ends[nodes] = state[1], predictor.ends(state)
    logs = _log_prefixes(tree, probs)
    strings = logs + np.log(np.maximum(ends, TINY))
    return NodeScores(logs, strings, Repairs(n_answers=tree.n_nodes), 0)


def ahead(predictor: Predictor, state: State, steps: int) -> Array:
    """(row, symbol + 1) P(symbol some steps later), whatever comes between; last, P(end by then).

    Exact for probabilistic automata; weighted automata are normalised at each step.
    """
    rows = len(state[0])
    alive, ended = np.ones((rows, 1)), np.zeros(rows)
    for _ in range(steps - 1):
        probs, _ = predictor.next_probs(state)
        ended += alive[:, 0] * probs[:, -1]
        alive = alive * (1 - probs[:, -1:])
        state = predictor.after(state, np.full(rows, -1))
    probs, _ = predictor.next_probs(state)
    probs = alive * probs
    probs[:, -1] += ended
    return probs


def drawn(
    predictor: Predictor, state: State, max_length: int, rng: np.random.Generator
) -> tuple[NDArray[np.int32], Integers]:
    """Samples what follows each row of states: the symbols of all sequences in turn, and their lengths.

    Sequences that have not ended after `max_length` symbols are cut off.
    """
    n = len(state[0])
    active, owners, emitted = np.arange(n), [], []
    for _ in range(max_length):
        probs, _ = predictor.next_probs(state)
        reached = np.cumsum(probs, axis=1)
        uniforms = rng.random(len(active))[:, None] * reached[:, -1:]
        symbols = np.minimum((reached <= uniforms).sum(axis=1), predictor.n_symbols)
        going = np.flatnonzero(symbols < predictor.n_symbols)
        active, symbols = active[going], symbols[going]
        if not len(active):
            break
        owners.append(active)
        emitted.append(symbols)
        state = predictor.after(state, symbols, going)
    if not owners:
        return np.empty(0, dtype=np.int32), np.zeros(n, dtype=np.int64)
    owner = np.concatenate(owners)
    order = np.argsort(owner, kind="stable")
    return np.concatenate(emitted)[order].astype(np.int32), np.bincount(owner, minlength=n)
