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

from tacit.loops.threads import one_blas_thread
from tacit.moments.prefixes import PrefixTree
from tacit.params.automata import Automaton, AutomatonTables
from tacit.params.ngrams import Ngrams
from tacit.query.repairs import Repairs, distributions

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
State = tuple[NDArray[Any], ...]  # arrays with a row for each place

# A state whose next symbol had no more chance than this is lost in noise and begun anew.
BROKEN = 1e-4
# The share of the n-grams where a state was begun anew.
BROKEN_MIXING = 0.9
_TINY = 1e-300
# Levels of a tree beyond this depth are narrow, and walked together: so many nodes at a time.
DEEP, BAND = 512, 4096


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

    def after(self, state: State, symbols: NDArray[np.integer]) -> State:
        """The states after a symbol each; -1 is a missing one."""
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
        mass = float(own.start @ own.total)
        broken = not mass > BROKEN
        start = own.mean if broken else own.start / mass
        return np.tile(start, (n, 1)), np.full(n, broken), np.full(n, self.ngrams.first)

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

    def after(self, state: State, symbols: NDArray[np.integer]) -> State:
        """The states after a symbol each; broken ones are begun anew from the mean state."""
        own = self.automaton
        vectors, _, contexts = state
        moved = _moved(vectors, _groups(symbols), own.steps, own.through)
        mass = moved @ own.total
        broken = ~((mass > BROKEN) & np.isfinite(moved).all(axis=1))
        moved[broken] = own.mean
        moved[~broken] /= mass[~broken, None]
        return moved, broken, self.ngrams.after(contexts, symbols)

    def onwards(self, state: State, parents: Integers, symbols: Integers) -> State:
        """The states after symbols in turn, compiled."""
        from tacit.loops.automata import walk_contexts

        own, (vectors, _, contexts) = self.automaton, state
        moved, mass = _walked(vectors, parents, symbols, own, own.total, own.mean, BROKEN)
        base = self.n_symbols + 2
        limit = base ** (self.ngrams.order - 1)
        return moved, ~(mass > BROKEN), walk_contexts(contexts, parents, symbols, base, limit)


@dataclass(frozen=True, eq=False)
class MeanAutomaton:
    """The weighted mean of probabilistic automata: each string has the mean of their probabilities."""

    parts: tuple[AutomatonTables, ...]
    weights: Array  # (part,)  sum to one

    @property
    def n_symbols(self) -> int:
        """Different symbols."""
        return self.parts[0].n_symbols

    def begin(self, n: int) -> State:
        """How likely each part is, then the states of each."""
        return np.tile(self.weights, (n, 1)), *(np.tile(part.start, (n, 1)) for part in self.parts)

    def next_probs(self, state: State) -> tuple[Array, Repairs]:
        """(row, symbol + 1) probabilities; there is nothing to repair."""
        weights, *states = state
        found = np.zeros((len(weights), self.n_symbols + 1))
        for weight, own, part in zip(weights.T, states, self.parts, strict=True):
            found += weight[:, None] * (own @ part.emit)
        return found, Repairs(n_answers=len(found))

    def after(self, state: State, symbols: NDArray[np.integer]) -> State:
        """The states after a symbol each, and how likely each part is now."""
        weights, *states = state
        after, out, groups = weights.copy(), [], _groups(symbols)
        for place, (own, part) in enumerate(zip(states, self.parts, strict=True)):
            moved = _moved(own, groups, part.steps, part.through)
            mass = moved.sum(axis=1)
            lost = mass <= _TINY
            moved /= np.where(lost, 1.0, mass)[:, None]
            moved[lost] = 1.0 / part.n_states
            after[:, place] *= mass
            out.append(moved)
        total = after.sum(axis=1, keepdims=True)
        after = np.where(total > 0, after / np.where(total > 0, total, 1.0), self.weights)
        return after, *out

    def onwards(self, state: State, parents: Integers, symbols: Integers) -> State:
        """The states after symbols in turn, compiled."""
        from tacit.loops.automata import walk_shares

        weights, *states = state
        masses, out = np.empty((len(parents), len(self.parts))), []
        for place, (own, part) in enumerate(zip(states, self.parts, strict=True)):
            ones = np.ones(part.n_states)
            even = ones / part.n_states
            moved, masses[:, place] = _walked(own, parents, symbols, part, ones, even, _TINY)
            out.append(moved)
        return walk_shares(weights, parents, masses, self.weights), *out


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
    of: Automaton | AutomatonTables,
    total: Array,
    anew: Array,
    least: float,
) -> tuple[Array, Array]:
    """(row, state) states of value one after symbols in turn, and (row,) the value before: compiled."""
    from tacit.loops.automata import walk

    states = np.empty((len(vectors) + len(parents), len(total)))
    states[: len(vectors)] = vectors
    mass = np.empty(len(parents))
    walk(states, parents, symbols, of.steps, of.through, total, anew, least, mass)
    return states[len(vectors) :], mass


def _rows(state: State, rows: Integers | slice) -> State:
    return tuple(each[rows] for each in state)


def walked_levels(predictor: Predictor, tree: PrefixTree) -> Iterator[tuple[slice, State]]:
    """The states at the nodes of a tree: a level at a time, and many of those that are deep at once."""
    state, bounds = predictor.begin(1), tree.bounds
    first, last = 0, 1
    while True:
        band = slice(int(bounds[first]), int(bounds[last]))
        if first:
            parents, symbols = tree.parents[band] - bounds[first - 1], tree.symbols[band]
            if first < DEEP:
                state = predictor.after(_rows(state, parents), symbols)
            else:
                state = predictor.onwards(state, parents, symbols)
        yield band, state
        if last + 1 == len(bounds):
            return
        state = _rows(state, slice(int(bounds[last - 1]) - band.start, None))  # the last level
        first = last
        last += 1
        if first >= DEEP:
            last = max(last, int(np.searchsorted(bounds, bounds[first] + BAND, side="right")) - 1)


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
        from tacit.loops.prefixes import add_downwards

        tree, logs = self.tree, np.zeros(self.tree.n_nodes)
        above, symbols = tree.parents[1:], tree.symbols[1:]
        chance = self.probs[above, symbols]  # of a missing symbol: that of the end, and so
        chance = np.where(symbols < 0, 1 - chance, chance)
        logs[1:] = np.log(np.maximum(chance, _TINY))
        add_downwards(tree.parents, logs)
        return logs

    @cached_property
    def log_strings(self) -> Array:
        """(node,) natural log of the probability of the sequence that ends there."""
        return self.log_prefixes + np.log(np.maximum(self.probs[:, -1], _TINY))

    @property
    def log_likelihood(self) -> float:
        """Summed over the sequences of the tree."""
        there = self.tree.ends > 0
        return float((self.tree.ends[there] * self.log_strings[there]).sum())


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
        state = predictor.after(_rows(state, going), symbols)
    if not owners:
        return np.empty(0, dtype=np.int32), np.zeros(n, dtype=np.int64)
    owner = np.concatenate(owners)
    order = np.argsort(owner, kind="stable")
    return np.concatenate(shown)[order].astype(np.int32), np.bincount(owner, minlength=n)
