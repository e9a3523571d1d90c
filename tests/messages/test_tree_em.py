"""EM on trees of probability tables: steps against enumeration, and the monotone objective."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.expectations import enumerated_counts
from oracles.networks import random_tables, random_tree, rooted_tree
from tacit.core.em import AbsoluteGain, run_accelerated_em, run_em
from tacit.messages.em import (
    Expectation,
    Prior,
    dirichlet_prior,
    em_step,
    normalise_rows,
    random_start,
)
from tacit.messages.network import Layout, Tables
from tacit.messages.online_em import Schedule, run_stepwise_em
from tacit.messages.patterns import Patterns
from tacit.toy.models import sample_codes

# A tree with an observed inner node: leaf 0 is repeated by node 5; node 6 is hidden, the root.
WITH_COPY = rooted_tree([5, 5, 5, 6, 6, 6, -1], 5, {5: 0})


def random_case(seed, n_rows=60, n_leaves=5):
    """A tree, its layout, and rows with holes drawn from another model on it."""
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, n_leaves)
    states = tuple(rng.integers(2, 4, tree.n_nodes).tolist())
    codes = sample_codes(random_tables(rng, tree, states), n_rows, rng)
    codes[rng.random(codes.shape) < 0.1] = -1
    return Layout(tree, states), codes


def expectation(layout, codes, weights=None):
    cards = layout.n_states[: layout.tree.n_leaves]
    return Expectation(layout, [Patterns.of(codes, layout.tree, cards, weights)])


def even_marginals(layout):
    return np.concatenate([np.full(k, 1 / k) for k in layout.n_states[: layout.tree.n_leaves]])


def rows_of(layout, values):
    """The rows of all tables, one after the other."""
    tables = Tables(layout, values)
    return [row for node in range(layout.tree.n_nodes) for row in tables.table(node)]


def test_rows_are_brought_to_sum_one_and_empty_ones_become_even():
    layout = Layout(rooted_tree([2, 2, -1], 2), (2, 3, 2))
    values = np.arange(layout.size, dtype=float)
    values[4:7] = 0.0  # the first row of the second leaf
    actual = rows_of(layout, normalise_rows(layout, values))
    assert actual[0] == pytest.approx([0.0, 1.0])
    assert actual[2] == pytest.approx([1 / 3] * 3)
    assert actual[3] == pytest.approx([7 / 24, 8 / 24, 9 / 24])


@given(st.integers(0, 1000))
def test_random_starts_are_tables_and_copies_are_copies(seed):
    layout = Layout(WITH_COPY, (3, 2, 2, 4, 2, 3, 2))
    values = random_start(layout, np.random.default_rng(seed))
    assert [row.sum() for row in rows_of(layout, values)] == pytest.approx([1.0] * 16)
    assert np.array_equal(Tables(layout, values).table(0), np.eye(3))
    assert Tables(layout, values).table(5).min() > 0


def test_pseudo_counts_follow_the_marginals_of_leaves_and_are_even_elsewhere():
    layout = Layout(WITH_COPY, (3, 2, 2, 4, 2, 3, 2))
    marginals = even_marginals(layout)
    marginals[3:5] = [0.9, 0.1]
    pseudo = Tables(layout, dirichlet_prior(layout, marginals, leaf=10.0, hidden=6.0).pseudo)
    assert np.array_equal(pseudo.table(0), np.eye(3))  # the copied leaf keeps its table
    assert pseudo.table(1) == pytest.approx(np.array([[9.0, 1.0]] * 3))
    assert pseudo.table(5) == pytest.approx(np.full((2, 3), 2.0))
    assert pseudo.table(6) == pytest.approx(np.full((1, 2), 3.0))


def test_the_prior_s_density_is_the_pseudo_counts_times_the_logarithms():
    values, pseudo = np.array([0.25, 0.75, 0.0]), np.array([2.0, 4.0, 0.0])
    assert Prior(pseudo).log_density(values) == pytest.approx(2 * np.log(0.25) + 4 * np.log(0.75))


@pytest.mark.parametrize("seed", range(4))
def test_a_step_is_what_enumeration_says(seed):
    layout, codes = random_case(seed)
    rng = np.random.default_rng(seed)
    prior = dirichlet_prior(layout, even_marginals(layout), leaf=2.0, hidden=3.0)
    values = random_start(layout, rng)
    objective, updated, mass = em_step(expectation(layout, codes), layout, prior)(values)
    value, counts = enumerated_counts(Tables(layout, values), codes)
    assert objective == pytest.approx(value + prior.log_density(values), rel=1e-12)
    assert mass == pytest.approx(counts + prior.pseudo, rel=1e-9)
    assert updated == pytest.approx(normalise_rows(layout, counts + prior.pseudo), rel=1e-9)


@pytest.mark.parametrize("pseudo", [0.0, 3.0], ids=["likelihood", "posterior"])
@pytest.mark.parametrize("variant", ["plain", "accelerated"])
@given(seed=st.integers(0, 10_000))
def test_the_objective_never_falls(variant, pseudo, seed):
    layout, codes = random_case(seed)
    weights = np.random.default_rng(seed).exponential(size=len(codes))
    prior = dirichlet_prior(layout, even_marginals(layout), pseudo, pseudo)
    step = em_step(expectation(layout, codes, weights), layout, prior)
    start = random_start(layout, np.random.default_rng(seed + 1))
    rule = AbsoluteGain(1e-4)
    if variant == "plain":
        run = run_em(step, start, rule)
    else:
        run = run_accelerated_em(
            step, start, rule, normalise=lambda values: normalise_rows(layout, values)
        )
    # Sums of thousands of logarithms: a step may lose what rounding takes.
    assert (np.diff(run.trace) >= -1e-9 * abs(run.objective)).all()
    assert step(run.values)[0] >= run.objective - 1e-9 * abs(run.objective)
    assert np.array([row.sum() for row in rows_of(layout, run.values)]) == pytest.approx(1.0)


@pytest.mark.parametrize("pseudo", [0.5, 3.0])
@pytest.mark.parametrize("seed", range(8))
def test_acceleration_reaches_at_least_what_plain_steps_reach(seed, pseudo):
    layout, codes = random_case(seed, n_rows=300, n_leaves=6)
    prior = dirichlet_prior(layout, even_marginals(layout), pseudo, pseudo)
    step = em_step(expectation(layout, codes), layout, prior)
    start = random_start(layout, np.random.default_rng(seed))
    plain = run_em(step, start, AbsoluteGain(1e-4), max_iter=10_000)
    # A short step may be followed by longer ones, so that the same gain would stop it too early.
    fast = run_accelerated_em(
        step, start, AbsoluteGain(1e-7), normalise=lambda values: normalise_rows(layout, values)
    )
    assert fast.objective >= plain.objective
    assert fast.n_steps < plain.n_steps


@pytest.mark.parametrize("variant", ["plain", "accelerated", "stepwise"])
def test_copies_stay_copies(variant):
    layout = Layout(WITH_COPY, (3, 2, 2, 4, 2, 3, 2))
    rng = np.random.default_rng(0)
    truth = random_tables(rng, WITH_COPY, layout.n_states)
    codes = sample_codes(truth, 500, rng)
    codes[rng.random(codes.shape) < 0.2] = -1
    expect = expectation(layout, codes)
    prior = dirichlet_prior(layout, even_marginals(layout), 2.0, 2.0)
    start = random_start(layout, rng)
    if variant == "plain":
        run = run_em(em_step(expect, layout, prior), start, AbsoluteGain(1e-3))
    elif variant == "accelerated":
        run = run_accelerated_em(
            em_step(expect, layout, prior),
            start,
            AbsoluteGain(1e-6),
            normalise=lambda values: normalise_rows(layout, values),
        )
    else:
        run = run_stepwise_em([expect], layout, prior, start, Schedule())
    assert np.array_equal(Tables(layout, run.values).table(0), np.eye(3))


def test_step_sizes_fall_as_the_schedule_says():
    sizes = [Schedule(decay=0.5, delay=2.0).size(t) for t in (0, 2, 14)]
    assert sizes == pytest.approx([2**-0.5, 0.5, 0.25])


def test_stepwise_steps_of_full_size_over_one_batch_are_plain_steps():
    layout, codes = random_case(0)
    expect = expectation(layout, codes)
    prior = dirichlet_prior(layout, even_marginals(layout), 1.0, 1.0)
    start = random_start(layout, np.random.default_rng(0))
    run = run_stepwise_em([expect], layout, prior, start, Schedule(n_passes=3, decay=0.0))
    values, step = start, em_step(expect, layout, prior)
    objectives = []
    for _ in range(3):
        objective, values, _ = step(values)
        objectives.append(objective)
    assert run.values == pytest.approx(values, rel=1e-12)
    assert run.trace == pytest.approx(objectives, rel=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_stepwise_steps_over_small_batches_improve_faster_than_whole_ones(seed):
    layout, codes = random_case(seed, n_rows=2000)
    batches = [expectation(layout, codes[first : first + 100]) for first in range(0, 2000, 100)]
    prior = dirichlet_prior(layout, even_marginals(layout), 1.0, 1.0)
    start = random_start(layout, np.random.default_rng(seed))
    full_step = em_step(expectation(layout, codes), layout, prior)
    run = run_stepwise_em(batches, layout, prior, start, Schedule(n_passes=2))
    values = start
    for _ in range(2):
        _, values, _ = full_step(values)
    assert full_step(run.values)[0] > full_step(values)[0] > full_step(start)[0]


def test_batches_count_as_if_all_of_them_were_alike():
    """Each one's expected counts are scaled to the whole data before they enter the mean."""
    layout, codes = random_case(0)
    prior = dirichlet_prior(layout, even_marginals(layout), 1.0, 1.0)
    start = random_start(layout, np.random.default_rng(0))
    small, large = expectation(layout, codes[:10]), expectation(layout, codes[10:])
    schedule = Schedule(n_passes=1, decay=0.5)
    run = run_stepwise_em([small, large], layout, prior, start, schedule)
    mean = small(start)[1] * 60 / 10
    values = normalise_rows(layout, mean + prior.pseudo)
    mean = (1 - schedule.size(1)) * mean + schedule.size(1) * large(values)[1] * 60 / 50
    assert run.values == pytest.approx(normalise_rows(layout, mean + prior.pseudo), rel=1e-10)


def test_a_batch_without_weight_teaches_nothing():
    layout, codes = random_case(0)
    prior = dirichlet_prior(layout, even_marginals(layout), 1.0, 1.0)
    start = random_start(layout, np.random.default_rng(0))
    some = expectation(layout, codes)
    none = expectation(layout, codes, np.zeros(len(codes)))
    with_it = run_stepwise_em([none, some], layout, prior, start, Schedule(n_passes=2))
    without = run_stepwise_em([some], layout, prior, start, Schedule(n_passes=2))
    assert with_it.values == pytest.approx(without.values, rel=1e-12)
