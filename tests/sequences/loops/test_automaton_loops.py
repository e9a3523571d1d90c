"""Compiled passes of automata: against enumeration of paths, and against their own Python source."""

from __future__ import annotations

from itertools import product
from math import lgamma

import numpy as np
import pytest

from oracles.automata import random_tables
from oracles.python_source import python_source
from tacit.sequences.data.sequences import Sequences
from tacit.sequences.learn.em.automata import AutomatonPrior, expectation
from tacit.sequences.learn.em.gibbs import Sampler
from tacit.sequences.loops import automata
from tacit.sequences.loops import gibbs as sweeps
from tacit.sequences.loops.prefixes import alphabetical, shared_lengths
from tacit.sequences.moments.prefixes import PrefixTree


def sequences_of(rows, n_symbols=2):
    codes = np.array([code for row in rows for code in row], dtype=np.int32)
    lengths = np.array([len(row) for row in rows], dtype=np.int64)
    return Sequences(codes, lengths, tuple(range(n_symbols)))


def by_paths(tables, rows):
    """Log-likelihood and expected counts, summed over every path."""
    layout = tables.layout
    counts = np.zeros(layout.size)
    expected, total, end = layout.tables(counts), 0.0, tables.n_symbols
    for row in rows:
        paths = []
        completions = product(*[[s] if s >= 0 else range(tables.n_symbols) for s in row])
        for word in completions:
            for path in product(range(tables.n_states), repeat=len(row) + 1):
                weight = tables.initial[path[0]] * tables.emit[path[-1], end]
                for a, q, r in zip(word, path[:-1], path[1:], strict=True):
                    weight *= tables.emit[q, a] * tables.transitions[layout.groups[a], q, r]
                paths.append((word, path, weight))
        mass = sum(weight for *_, weight in paths)
        total += np.log(mass)
        for word, path, weight in paths:
            posterior = weight / mass
            expected.initial[path[0]] += posterior
            expected.emit[path[-1], end] += posterior
            for a, q, r in zip(word, path[:-1], path[1:], strict=True):
                expected.emit[q, a] += posterior
                expected.transitions[layout.groups[a], q, r] += posterior
    return total, counts


@pytest.mark.parametrize("tied", [False, True])
def test_expected_counts_are_those_of_all_paths(tied):
    tables = random_tables(0, 3, 2, tied=tied)
    rows = [[0, 1], [0, 1], [], [1, 1, 0], [0, -1, 1], [1]]
    log_likelihood, counts = expectation(tables.layout, PrefixTree.of(sequences_of(rows)))(
        tables.flat
    )
    expected_log_likelihood, expected = by_paths(tables, rows)
    assert log_likelihood == pytest.approx(expected_log_likelihood, abs=1e-10)
    assert counts == pytest.approx(expected, abs=1e-9)


def test_compiled_loops_agree_with_their_python_source():
    rng = np.random.default_rng(1)
    rows = [rng.integers(-1, 3, rng.integers(0, 6)).tolist() for _ in range(15)]
    tables = random_tables(1, 3, 3)

    def everything():
        total, counts = expectation(tables.layout, PrefixTree.of(sequences_of(rows, 3)))(
            tables.flat
        )
        sampler = Sampler(sequences_of(rows, 3), tables, AutomatonPrior(), np.random.default_rng(0))
        changed = [sampler.run(1) for _ in range(6)]
        return total, counts, changed, sampler.tables().flat

    compiled = everything()
    with python_source(automata, sweeps):
        plain = everything()
    for one, other in zip(compiled, plain, strict=True):
        assert one == pytest.approx(other, rel=1e-6)


def test_neighbours_have_so_much_in_common():
    codes = np.array([1, 0, 1, 0, 1, 1, 0, -1], dtype=np.int32)
    firsts, lengths = (
        np.array([0, 1, 3, 6, 6]),
        np.array([1, 2, 3, 0, 2]),
    )  # 1, 01, 011, nothing, 0?
    order = alphabetical(codes, firsts, lengths)
    assert order.tolist() == [3, 4, 1, 2, 0]
    assert shared_lengths(codes, firsts, lengths, order).tolist() == [0, 0, 1, 2, 0]


def log_joint(word_paths, n_states, n_symbols, prior, groups):
    """Log-probability of paths and symbols with all tables integrated out."""
    initial = np.zeros(n_states)
    emitted = np.zeros((n_states, n_symbols + 1))
    transitions = np.zeros((max(groups) + 1, n_states, n_states))
    for word, path in word_paths:
        initial[path[0]] += 1
        emitted[path[-1], n_symbols] += 1
        for a, q, r in zip(word, path[:-1], path[1:], strict=True):
            emitted[q, a] += 1
            transitions[groups[a], q, r] += 1
    total = 0.0
    tables = ((initial, prior.initial), (emitted, prior.emit), (transitions, prior.move))
    for table, pseudo in tables:
        for row in table.reshape(-1, table.shape[-1]):
            total += lgamma(pseudo * len(row)) - lgamma(row.sum() + pseudo * len(row))
            total += sum(lgamma(x + pseudo) - lgamma(pseudo) for x in row)
    return total


@pytest.mark.parametrize("tied", [False, True])
def test_sweeps_draw_paths_as_often_as_they_are_likely(tied):
    rows, k = [[0, 0, 1], [0, 1]], 2
    tables = random_tables(2, k, 2, tied=tied)
    prior = AutomatonPrior(0.5, 0.4, 0.3)
    groups = tables.layout.groups
    states = list(product(range(k), repeat=7))
    logs = [log_joint([(rows[0], s[:4]), (rows[1], s[4:])], k, 2, prior, groups) for s in states]
    probabilities = np.exp(np.array(logs) - max(logs))
    probabilities /= probabilities.sum()
    sampler = Sampler(sequences_of(rows), tables, prior, np.random.default_rng(0))
    frequencies, n = np.zeros(len(states)), 60_000
    for _ in range(n):
        sampler.run(1)
        frequencies[int("".join(map(str, sampler._paths)), 2)] += 1 / n
    # Successive draws are correlated: ten standard errors of independent ones.
    assert np.abs(frequencies - probabilities).max() < 10 * np.sqrt(probabilities.max() / n)


def test_counts_stay_those_of_the_paths():
    rng = np.random.default_rng(3)
    rows = [rng.integers(0, 3, rng.integers(0, 8)).tolist() for _ in range(30)]
    sampler = Sampler(sequences_of(rows, 3), random_tables(3, 4, 3), AutomatonPrior(), rng)
    sampler.run(20)
    for counts, tallied in zip(sampler._counts, sampler._tallied(), strict=True):
        assert np.array_equal(counts, tallied)
