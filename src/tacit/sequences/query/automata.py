"""What automata say comes next, as proper probabilities whatever was learnt.

A predictor is asked place by place: the probabilities of each symbol and of the end sum to one at each, so
those of all sequences do. Sequences that begin alike are walked together, along the tree of beginnings.
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
State = tuple[NDArray[Any], ...]  # arrays with a row for each place

# A state whose next symbol had no more chance than this is lost in noise and begun anew.
BROKEN = 1e-4
# The share of the n-grams where a state was begun anew.
BROKEN_MIXING = 0.9
# Levels of a tree beyond this depth are narrow, and walked together: so many nodes at a time.
DEEP, BAND = 512, 4096
# Bytes of states that are walked at a time, and at least so many of them.
CACHED, LEAST_ROWS = 1 << 21, 256


class Predictor(Protocol):
    """What says which symbol comes next, or whether the end does."""

    @property
    def n_symbols(self) -> int:
        """Different symbols; the end is one more."""
        ...

    def begin(self, n: int) -> State:
        """The states before anything was seen."""
        ...

    def next_probs(self, state: State) -> tuple[Array, Repairs]:
        """(row, symbol + 1) probabilities that sum to one, and what had to be repaired."""
        ...

    def after(
        self, state: State, symbols: NDArray[np.integer], rows: Integers | None = None
    ) -> State:
        """The states after a symbol each, -1 is a missing one, of these rows of `state`; else of all."""
        ...

    def onwards(self, state: State, parents: Integers, symbols: Integers) -> State:
        """The states after symbols in turn, of which each follows one of the states given, or found, before.

        `parents` are numbers of rows: first those of the states given, then those of what is found.
        """
        ...


@dataclass(frozen=True, eq=False)
class MixedAutomaton:
    """A weighted automaton, clipped, normalised at each place and mixed with n-grams."""

    automaton: Automaton
    ngrams: Ngrams
    mixing: float  # the share of the n-grams

    @property
    def n_symbols(self) -> int:
        """Different symbols."""
        return self.automaton.n_symbols

    @cached_property
    def _readings(self) -> Array:
        """(rank, symbol + 1) what a state is multiplied with to say what comes next."""
        own = self.automaton
        return np.column_stack([*(own.steps @ own.total), own.stop])

    def begin(self, n: int) -> State:
        """States of value one, whether they were begun anew, and contexts of the n-grams."""
        own = self.automaton
        mass = float(own.initial @ own.total)
        broken = not mass > BROKEN
        initial = own.mean if broken else own.initial / mass
        return np.tile(initial, (n, 1)), np.full(n, broken), np.full(n, self.ngrams.first)

    def unmixed(self, state: State) -> tuple[Array, Array, Repairs]:
        """(row, symbol + 1) what the automaton and the n-grams say, each a distribution."""
        vectors, _, contexts = state
        usual = self.ngrams.tables[contexts]
        raw = self._readings.T @ vectors.T
        raw[:, ~np.isfinite(raw).all(axis=0)] = 0.0
        found, repairs = distributions(raw, usual.T)
        return found.T, usual, repairs

    def next_probs(self, state: State) -> tuple[Array, Repairs]:
        """(row, symbol + 1) probabilities, and what had to be repaired."""
        found, usual, repairs = self.unmixed(state)
        return mixed(found, usual, state[1], self.mixing), repairs

    def after(
        self, state: State, symbols: NDArray[np.integer], rows: Integers | None = None
    ) -> State:
        """The states after a symbol each; broken ones are begun anew from the mean state."""
        own = self.automaton
        vectors, _, contexts = state if rows is None else _rows(state, rows)
        moved = _moved(vectors, _groups(symbols), own.steps, own.through)
        mass = moved @ own.total
        broken = ~((mass > BROKEN) & np.isfinite(moved).all(axis=1))
        moved[broken] = own.mean
        moved[~broken] /= mass[~broken, None]
        return moved, broken, self.ngrams.after(contexts, symbols)

    def onwards(self, state: State, parents: Integers, symbols: Integers) -> State:
        """The states after symbols in turn, compiled."""
        from tacit.sequences.loops.automata import walk_contexts

        own, (vectors, _, contexts) = self.automaton, state
        moved, mass = _walked(vectors, parents, symbols, own, own.total, own.mean, BROKEN)
        base = self.n_symbols + 2
        limit = base ** (self.ngrams.order - 1)
        return moved, ~(mass > BROKEN), walk_contexts(contexts, parents, symbols, base, limit)


def mixed(found: Array, usual: Array, broken: NDArray[np.bool_], mixing: float) -> Array:
    """Distributions with a share of the usual ones, more of them where a state was begun anew."""
    share = np.where(broken, max(BROKEN_MIXING, mixing), mixing)[:, None]
    return np.asarray((1 - share) * found + share * usual)


def _groups(symbols: NDArray[np.integer]) -> list[tuple[int, Integers]]:
    """The rows of each symbol."""
    return [(int(each), np.flatnonzero(symbols == each)) for each in np.unique(symbols)]


def _moved(
    vectors: Array, groups: list[tuple[int, Integers]], steps: Array, through: Array
) -> Array:
    """(row, state) the states after a symbol each."""
    out = np.empty_like(vectors)
    for symbol, rows in groups:
        out[rows] = vectors[rows] @ (steps[symbol] if symbol >= 0 else through)
    return out


def _walked(
    vectors: Array,
    parents: Integers,
    symbols: Integers,
    of: Automaton,
    total: Array,
    anew: Array,
    least: float,
) -> tuple[Array, Array]:
    """(row, state) states of value one after symbols in turn, and (row,) the value before: compiled."""
    from tacit.sequences.loops.automata import walk

    states = np.empty((len(vectors) + len(parents), len(total)))
    states[: len(vectors)] = vectors
    mass = np.empty(len(parents))
    walk(states, parents, symbols, of.steps, of.through, total, anew, least, mass)
    return states[len(vectors) :], mass


def _rows(state: State, rows: Integers | slice) -> State:
    return tuple(each[rows] for each in state)


def walked_levels(
    predictor: Predictor, tree: PrefixTree
) -> Iterator[tuple[slice | Integers, State]]:
    """The states at the nodes of a tree, parents before children: some neighbours of a level at a time.

    Wide levels are walked in stretches that stay in the processor's cache, down to where the tree has
    become much narrower or wider; of narrow ones that are deep, many at once.
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
            last = _alike(bounds, first)
            lowest: list[State] = []
            for low in range(int(bounds[first]), int(bounds[first + 1]), n_rows := _at_once(state)):
                high = min(low + n_rows, int(bounds[first + 1]))
                yield from _walked_down(predictor, tree, state, (first, last, low, high), lowest)
            state = lowest[0] if len(lowest) == 1 else _stacked(lowest)
        first = last


def _alike(bounds: Integers, first: int) -> int:
    """Where the levels end that are about as wide as a first one."""
    widths = np.diff(bounds[first : DEEP + 1])
    unlike = (4 * widths < widths[0]) | (widths > 2 * widths[0])
    return first + (int(unlike.argmax()) if unlike.any() else len(widths))


def _at_once(state: State) -> int:
    """How many rows fit into the cache."""
    row = sum(each.nbytes for each in state) // len(state[0])
    return max(CACHED // max(row, 1), LEAST_ROWS)


def _walked_down(
    predictor: Predictor,
    tree: PrefixTree,
    state: State,
    stretch: tuple[int, int, int, int],
    lowest: list[State],
) -> Iterator[tuple[Integers, State]]:
    """The states below a stretch of nodes, level by level; those of the last level are put into `lowest`.

    `state` holds the level above; the stretch is levels from first to last, and nodes of the first of them.
    Rows stand in the order of symbols while they are walked.
    """
    first, last, low, high = stretch
    above, rows = int(tree.bounds[first - 1]), None
    for level in range(first, last):
        if level > first:
            own = tree.parents[tree.bounds[level] : tree.bounds[level + 1]]
            above, nodes = low, np.searchsorted(own, [low, high])
            low, high = (int(each + tree.bounds[level]) for each in nodes)
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
    return tuple(np.concatenate(each) for each in zip(*states, strict=True))


@dataclass(frozen=True, eq=False)
class Told:
    """What is said at every node of a tree of beginnings."""

    tree: PrefixTree
    probs: Array  # (node, symbol + 1)
    repairs: Repairs  # an answer is what is said at a node
    n_broken: int  # states that were begun anew

    @cached_property
    def log_prefixes(self) -> Array:
        """(node,) natural log of the probability that a sequence begins so."""
        above, symbols = self.tree.parents, self.tree.symbols
        chance = self.probs[above, symbols]  # of a missing symbol: that of the end, and so
        return _added(self.tree, np.where(symbols < 0, 1 - chance, chance))

    @cached_property
    def log_strings(self) -> Array:
        """(node,) natural log of the probability of the sequence that ends there."""
        return self.log_prefixes + np.log(np.maximum(self.probs[:, -1], TINY))

    @property
    def log_likelihood(self) -> float:
        """Summed over the sequences of the tree."""
        there = self.tree.ends > 0
        return float((self.tree.ends[there] * self.log_strings[there]).sum())


def _added(tree: PrefixTree, chances: Array) -> Array:
    """(node,) natural logs of beginnings, from the chances of their last symbols."""
    from tacit.sequences.loops.prefixes import add_downwards

    logs = np.log(np.maximum(chances, TINY))
    logs[0] = 0.0
    add_downwards(tree.parents, logs)
    return logs


@one_blas_thread()
def told(predictor: Predictor, tree: PrefixTree) -> Told:
    """What a predictor says at every node of a tree."""
    probs = np.empty((tree.n_nodes, predictor.n_symbols + 1))
    repairs, n_broken = Repairs(), 0
    for level, state in walked_levels(predictor, tree):
        probs[level], found = predictor.next_probs(state)
        repairs += found
        if isinstance(predictor, MixedAutomaton):
            n_broken += int(state[1].sum())
    return Told(tree, probs, repairs, n_broken)


@dataclass(frozen=True, eq=False)
class Scored:
    """How likely the nodes of a tree of beginnings are."""

    log_prefixes: Array  # (node,)
    log_strings: Array  # (node,)
    repairs: Repairs
    n_broken: int


@one_blas_thread()
def scored(predictor: Predictor, tree: PrefixTree) -> Scored:
    """How likely a predictor finds every node of a tree."""
    if not isinstance(predictor, MeanAutomaton):
        found = told(predictor, tree)
        return Scored(found.log_prefixes, found.log_strings, found.repairs, found.n_broken)
    chances, ends = np.empty(tree.n_nodes), np.empty(tree.n_nodes)
    for nodes, state in walked_levels(predictor, tree):
        chances[nodes], ends[nodes] = state[1], predictor.ends(state)
    logs = _added(tree, chances)
    strings = logs + np.log(np.maximum(ends, TINY))
    return Scored(logs, strings, Repairs(n_answers=tree.n_nodes), 0)


def ahead(predictor: Predictor, state: State, steps: int) -> Array:
    """(row, symbol + 1) what comes so many steps later, whatever comes between; or the end before it.

    Exact for probabilities; of weighted automata each step is normalised.
    """
    rows = len(state[0])
    alive, ended = np.ones((rows, 1)), np.zeros(rows)
    for _ in range(steps - 1):
        found, _ = predictor.next_probs(state)
        ended += alive[:, 0] * found[:, -1]
        alive = alive * (1 - found[:, -1:])
        state = predictor.after(state, np.full(rows, -1))
    found, _ = predictor.next_probs(state)
    found = alive * found
    found[:, -1] += ended
    return found


def drawn(
    predictor: Predictor, state: State, max_length: int, rng: np.random.Generator
) -> tuple[NDArray[np.int32], Integers]:
    """Sequences drawn from each row of states on: all symbols in turn, and how many each has.

    Sequences that have not ended after `max_length` symbols end there.
    """
    n = len(state[0])
    own, owners, shown = np.arange(n), [], []
    for _ in range(max_length):
        found, _ = predictor.next_probs(state)
        reached = np.cumsum(found, axis=1)
        uniforms = rng.random(len(own))[:, None] * reached[:, -1:]
        symbols = np.minimum((reached <= uniforms).sum(axis=1), predictor.n_symbols)
        going = np.flatnonzero(symbols < predictor.n_symbols)
        own, symbols = own[going], symbols[going]
        if not len(own):
            break
        owners.append(own)
        shown.append(symbols)
        state = predictor.after(state, symbols, going)
    if not owners:
        return np.empty(0, dtype=np.int32), np.zeros(n, dtype=np.int64)
    owner = np.concatenate(owners)
    order = np.argsort(owner, kind="stable")
    return np.concatenate(shown)[order].astype(np.int32), np.bincount(owner, minlength=n)
