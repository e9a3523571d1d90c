"""Small probabilistic automata with everything about them written out."""

from __future__ import annotations

from itertools import product

import numpy as np

from tacit.sequences.model.automata import Automaton, AutomatonTables
from tacit.sequences.model.chains import Operators
from tacit.sequences.moments.hankel import SubstringCounts
from tacit.sequences.moments.prefixes import Levels


def random_tables(seed, n_states=3, n_symbols=2, *, tied=False, stop=0.3):
    """A random automaton that ends after a few symbols."""
    rng = np.random.default_rng(seed)
    emit = rng.dirichlet(np.ones(n_symbols), size=n_states) * (1 - stop)
    emit = np.hstack([emit, np.full((n_states, 1), stop)])
    emit[:, -1] *= rng.uniform(0.5, 1.5, n_states)
    emit /= emit.sum(axis=1, keepdims=True)
    moves = rng.dirichlet(np.full(n_states, 0.5), size=(1 if tied else n_symbols, n_states))
    return AutomatonTables(rng.dirichlet(np.ones(n_states)), emit, moves)


def words(n_symbols, max_length):
    """All strings up to a length."""
    for length in range(max_length + 1):
        yield from product(range(n_symbols), repeat=length)


def string_value(start, steps, stop, word):
    """start A_x stop."""
    state = start
    for symbol in word:
        state = state @ steps[symbol]
    return float(state @ stop)


def automaton_of(operators, form):
    """The automaton whose string, prefix or substring form this is."""
    left = np.eye(operators.rank) - operators.steps.sum(axis=0)
    initial = operators.initial @ left if form == "substring" else operators.initial
    stop = operators.stop if form == "string" else left @ operators.stop
    return Automaton.of_string(Operators.of_steps(initial, operators.steps, stop))


def exact_counts(tables, max_length):
    """The expected substring counts of one sequence drawn from an automaton, by its matrices."""
    steps, ones = tables.steps, np.ones(tables.n_states)
    past = tables.initial @ np.linalg.inv(np.eye(tables.n_states) - steps.sum(axis=0))
    levels = Levels(tables.n_symbols)
    values = {"occurrences": [], "starts": [], "stops": [], "complete": []}
    level = {(): 0}
    for length in range(max_length + 1):
        if length:
            pairs = [(w, a) for w in level for a in range(tables.n_symbols)]
            nodes = levels.grow(
                np.array([level[w] for w, _ in pairs]), np.array([a for _, a in pairs])
            )
            level = {(*w, a): int(node) for (w, a), node in zip(pairs, nodes, strict=True)}
        for word in sorted(level, key=level.get):
            values["occurrences"].append(string_value(past, steps, ones, word))
            values["starts"].append(string_value(tables.initial, steps, ones, word))
            values["stops"].append(string_value(past, steps, tables.stop, word))
            values["complete"].append(string_value(tables.initial, steps, tables.stop, word))
    columns = {name: np.array(column) for name, column in values.items()}
    return SubstringCounts(
        *levels.nodes(), **columns, n_symbols=tables.n_symbols, max_length=max_length
    )
