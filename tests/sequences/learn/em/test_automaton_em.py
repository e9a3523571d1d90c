"""Learning probabilistic automata: starts from clusters, EM that improves and stops, sampling."""

from __future__ import annotations

from dataclasses import replace
from math import lgamma

import numpy as np
import pytest

from oracles.automata import random_tables
from tacit.sequences.data.sequences import Sequences
from tacit.sequences.learn import probabilistic_automata
from tacit.sequences.learn.automaton_candidates import (
    AutomatonSettings,
    candidate_shapes,
    embedded,
)
from tacit.sequences.learn.em.automata import (
    AutomatonPrior,
    automaton_step,
    log_likelihood,
    polished_automaton,
)
from tacit.sequences.learn.em.gibbs import Sampler, learnt_pseudo_count
from tacit.sequences.learn.starts.automata import (
    clustered_automaton,
    counted_automaton,
    random_automaton,
)
from tacit.sequences.model.automata import AutomatonTables
from tacit.sequences.moments.prefixes import PrefixTree
from tacit.sequences.query.automata import MeanAutomaton, drawn

PRIOR = AutomatonPrior()


def sampled(tables, n, seed=0):
    predictor = MeanAutomaton((tables,), np.ones(1))
    codes, lengths = drawn(predictor, predictor.begin(n), 100, np.random.default_rng(seed))
    return Sequences(codes, lengths, tuple(range(tables.n_symbols)))


def deterministic():
    """Three states; the symbol tells the next one."""
    emit = np.array([[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.45, 0.05, 0.5]])
    transitions = np.zeros((2, 3, 3))
    transitions[0, [0, 1, 2], [1, 2, 0]] = 1.0
    transitions[1, [0, 1, 2], [2, 0, 2]] = 1.0
    return AutomatonTables(np.array([1.0, 0.0, 0.0]), emit, transitions)


@pytest.mark.parametrize("tied", [False, True])
def test_steps_improve_to_a_fixed_point(tied):
    tree = PrefixTree.of(sampled(random_tables(0, 3, 2), 300))
    initial = random_automaton(2, 3, np.random.default_rng(0), tied=tied)
    layout = initial.layout
    step = automaton_step(layout, tree, PRIOR.flat(layout))
    values, trace = initial.flat, []
    for _ in range(20):
        objective, values, _ = step(values)
        trace.append(objective)
    assert (np.diff(trace) > -1e-8).all()
    result = polished_automaton(initial, tree, prior=PRIOR, gain=1e-6, max_iter=500)
    assert result.converged
    assert step(result.tables.flat)[0] >= trace[-1]
    after = step(result.tables.flat)[1]
    assert layout.tables(after).emit == pytest.approx(result.tables.emit, abs=0.01)


def test_held_out_sequences_stop_it_and_the_best_is_kept():
    truth = random_tables(1, 2, 2)
    tree, held = PrefixTree.of(sampled(truth, 60)), PrefixTree.of(sampled(truth, 400, seed=1))
    initial = random_automaton(2, 12, np.random.default_rng(0), tied=False)
    weak = AutomatonPrior(1e-6, 1e-6, 1e-6)
    stopped = polished_automaton(
        initial, tree, prior=weak, gain=1e-9, max_iter=300, held_out=held, patience=5
    )
    unstopped = polished_automaton(initial, tree, prior=weak, gain=1e-9, max_iter=300)
    assert stopped.n_steps < unstopped.n_steps
    assert stopped.held_out == pytest.approx(log_likelihood(stopped.tables, held))
    assert stopped.held_out > log_likelihood(unstopped.tables, held)


def test_clusters_of_prefixes_are_the_states():
    truth = deterministic()
    tree = PrefixTree.of(sampled(truth, 5000))
    start = clustered_automaton(
        tree, embedded(tree)[:, :3], 3, np.random.default_rng(0), tied=False
    )
    gap = log_likelihood(truth, tree) - log_likelihood(start, tree)
    assert gap / tree.n_sequences < 0.02
    polished = polished_automaton(start, tree, prior=PRIOR, gain=1e-3, max_iter=100).tables
    assert log_likelihood(polished, tree) > log_likelihood(truth, tree) - 20


def test_labels_are_counted():
    made = Sequences(np.array([0, 1, 0], dtype=np.int32), np.array([2, 1]), (0, 1))
    tree = PrefixTree.of(made)  # nothing, 0, 01
    tables = counted_automaton(tree, np.array([0, 1, 0]), 2, tied=False)
    assert tables.initial == pytest.approx(np.array([2.05, 0.05]) / 2.1)
    assert tables.emit[0] == pytest.approx(np.array([2.1, 0.1, 1.1]) / 3.3)
    assert tables.emit[1] == pytest.approx(np.array([0.1, 1.1, 1.1]) / 2.3)
    assert tables.transitions[0, 0] == pytest.approx(np.array([0.05, 2.05]) / 2.1)
    together = counted_automaton(tree, np.array([0, 1, 0]), 2, tied=True)
    assert together.transitions[0, 1] == pytest.approx(np.array([1.05, 0.05]) / 1.1)


def test_the_mean_of_samples_predicts_better_than_one():
    truth = random_tables(5, 4, 3, stop=0.2)
    data, fresh = sampled(truth, 400), PrefixTree.of(sampled(truth, 2000, seed=1))
    initial = random_automaton(3, 6, np.random.default_rng(0), tied=False)
    sampler = Sampler(data, initial, AutomatonPrior(1.0, 0.1, 0.2), np.random.default_rng(0))
    sampler.run(100)
    parts = []
    for _ in range(20):
        sampler.run(10)
        parts.append(sampler.tables())
    from tacit.sequences.query.automata import node_predictions

    single = np.mean([log_likelihood(part, fresh) for part in parts])
    mean = node_predictions(MeanAutomaton(tuple(parts), np.full(20, 0.05)), fresh).log_likelihood
    assert mean > single + 1


def log_posterior_of_pseudo_count(counts, value, usual):
    """Of rows whose probabilities are drawn from a symmetric Dirichlet distribution: up to a constant."""
    total = np.log(value) - value / usual
    for row in counts.reshape(-1, counts.shape[-1]):
        total += lgamma(value * len(row)) - lgamma(row.sum() + value * len(row))
        total += sum(lgamma(n + value) - lgamma(value) for n in row)
    return total


@pytest.mark.parametrize("concentration", [0.02, 0.3, 2.0])
def test_pseudo_counts_are_the_most_likely_ones(concentration):
    rng = np.random.default_rng(4)
    rows = rng.dirichlet(np.full(6, concentration), size=(2, 20))
    counts = np.array([[rng.multinomial(40, row) for row in table] for table in rows])
    counts[0, :3] = 0  # rows that were never left say nothing
    learnt = learnt_pseudo_count(counts, 0.5, usual=0.2, n_steps=200)
    grid = learnt * np.exp(np.linspace(-0.5, 0.5, 101))
    values = [log_posterior_of_pseudo_count(counts, value, 0.2) for value in grid]
    assert np.argmax(values) == 50
    assert 0.4 < learnt / concentration < 1.6
    # Each step makes it likelier.
    path = [0.5, *(learnt_pseudo_count(counts, 0.5, usual=0.2, n_steps=n) for n in range(1, 9))]
    steps = [log_posterior_of_pseudo_count(counts, value, 0.2) for value in path]
    assert (np.diff(steps) > 0).all()


def test_without_counts_pseudo_counts_are_the_usual_ones():
    assert learnt_pseudo_count(np.zeros((3, 4)), 2.0, usual=0.3) == pytest.approx(0.3)


def test_a_deterministic_automaton_has_few_pseudo_counts():
    data = sampled(deterministic(), 500)
    start = random_automaton(2, 5, np.random.default_rng(0), tied=False)
    prior = AutomatonPrior(1.0, 0.1, 0.3)
    fixed = Sampler(data, start, prior, np.random.default_rng(0))
    fixed.run(60)
    assert fixed.prior == prior
    learns = Sampler(data, start, prior, np.random.default_rng(0), learn_prior=True)
    learns.run(9)
    assert learns.prior == prior
    learns.run(51)
    assert learns.prior.move < 0.1
    assert learns.prior.initial < 0.5


def test_candidates_differ_in_states_transitions_and_starts():
    auto = AutomatonSettings(None, None, "gibbs", 20, 400, None, 1e-7, 200, 0)
    shapes = candidate_shapes(3, 1000, auto)
    kinds = {shape.kind for shape in shapes}
    assert kinds == {(False, "clusters"), (False, "random"), (True, "random")}
    assert len({(shape.n_states, shape.kind) for shape in shapes}) == len(shapes) == 12
    em = candidate_shapes(3, 1000, replace(auto, learn="em"))
    assert {shape.kind for shape in em} == {(False, "clusters"), (True, "random")}
    given = candidate_shapes(3, 1000, replace(auto, n_states=7, tied=True))
    assert [(shape.n_states, shape.kind) for shape in given] == [(7, (True, "random"))]
    assert not any(shape.tied for shape in candidate_shapes(1, 1000, auto))


def learning_of(n_sweeps, n_states=3):
    tree = PrefixTree.of(sampled(deterministic(), 400))
    held = PrefixTree.of(sampled(deterministic(), 60, seed=1))
    settings = AutomatonSettings(n_states, False, "gibbs", 4, n_sweeps, None, 1e-7, 200, 0)
    return probabilistic_automata.Learning(tree, held, settings, lambda *_: None), settings


def test_first_rounds_have_few_sequences_and_the_last_all(monkeypatch):
    learning, settings = learning_of(80)
    every, sweeps = learning._few_sequences()
    assert (len(every.lengths), sweeps) == (400, 2)
    monkeypatch.setattr(probabilistic_automata, "_FEW_POSITIONS", every.n_positions // 3)
    few, sweeps = learning._few_sequences()
    assert 132 <= len(few.lengths) <= 134
    assert sweeps == 6  # three times as many
    monkeypatch.setattr(probabilistic_automata, "_FEW_POSITIONS", 10)
    assert learning._few_sequences()[1] == 8  # at most four times as many
    chains = learning._chosen(candidate_shapes(2, 400, settings))
    assert len(chains) == 5
    assert {chain.sampler.n_sequences for chain in chains} == {400}


def test_of_many_states_those_nearby_are_looked_at_too():
    learning, settings = learning_of(20, None)
    chains = learning._chosen(candidate_shapes(2, 400, settings))
    best = {chain.shape.n_states for chain in chains}
    assert best & {8, 12, 15, 25, 30, 50, 60, 100}  # 0.75 or 1.25 times those of a candidate
    assert {chain.shape.start for chain in chains} == {"clusters", "random"}
    assert [chain.value for chain in chains] == sorted((c.value for c in chains), reverse=True)
