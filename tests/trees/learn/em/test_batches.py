"""EM by small batches and watched EM: what they reach, when they stop, and what they count."""

import math

import numpy as np
import pytest

from oracles.networks import random_tables, random_tree
from tacit.messages.em import Prior, dirichlet_prior, em_step, normalise_rows, random_start
from tacit.messages.network import Layout, Tables
from tacit.toy.models import sample_codes
from tacit.trees.learn.em.batches import (
    BatchSchedule,
    Rows,
    _batches,
    run_minibatch_em,
    run_watched_em,
)
from tacit.trees.learn.em.many_states import ManyStatesExpectation


def toy(seed=0, *, n_rows=900, weights=None, n_jobs=1):
    """Rows to learn from, held-out rows that watch, and a random start."""
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 6, 3)
    layout = Layout(tree, (3,) * 6 + (4,) * (tree.n_nodes - 6))
    values = random_tables(rng, tree, layout.n_states).values ** 2  # strong dependences
    codes = sample_codes(Tables(layout, normalise_rows(layout, values)), n_rows + 500, rng)
    codes[rng.random(codes.shape) < 0.05] = -1
    prior = dirichlet_prior(layout, np.full(18, 1 / 3), 1.0, 1.0)
    rows = Rows(layout, codes[:n_rows], weights, prior, n_jobs)
    return rows, ManyStatesExpectation(layout, codes[n_rows:]).mean, random_start(layout, rng)


class Scores:
    """A watch that says what it was told to say, and remembers what it was asked of."""

    def __init__(self, *scores):
        self.scores, self.calls = list(scores), []

    def __call__(self, values):
        self.calls.append(values)
        return self.scores[len(self.calls) - 1]


def test_the_weight_of_a_batch_falls_pass_by_pass_to_the_least():
    schedule = BatchSchedule(first=0.5, decay=0.5, least=0.1)
    assert [schedule.size(turn) for turn in range(4)] == pytest.approx([0.5, 0.25, 0.125, 0.1])


@pytest.mark.parametrize("seed", range(3))
def test_batches_improve_held_out_rows_and_their_score_is_that_of_the_tables(seed):
    rows, watch, start = toy(seed)
    em_run = run_minibatch_em(rows, start, watch, np.random.default_rng(0))
    assert em_run.score > watch(start) + 0.1
    assert em_run.score == pytest.approx(watch(em_run.values), rel=1e-6)
    assert 0 < em_run.count <= BatchSchedule().most_passes
    lengths = np.diff(np.append(rows.layout.row_starts, rows.layout.size))
    sums = np.add.reduceat(em_run.values, rows.layout.row_starts)
    assert sums == pytest.approx(np.ones(len(lengths)))


@pytest.mark.parametrize("n_passes", [0, 1, 5])
def test_without_a_watch_so_many_passes_are_made(n_passes):
    rows, _, start = toy()
    reports = []
    em_run = run_minibatch_em(
        rows,
        start,
        None,
        np.random.default_rng(0),
        n_passes=n_passes,
        progress=lambda count, score: reports.append((count, math.isnan(score))),
    )
    assert reports == [(count, True) for count in range(1, n_passes + 1)]
    assert em_run.count == n_passes
    assert math.isnan(em_run.score)
    assert np.array_equal(em_run.values, start) == (n_passes == 0)


def test_passes_that_were_watched_can_be_made_again_without_watching():
    rows, watch, start = toy()
    watched = run_minibatch_em(rows, start, watch, np.random.default_rng(3))
    again = run_minibatch_em(rows, start, None, np.random.default_rng(3), n_passes=watched.count)
    assert np.array_equal(watched.values, again.values)


def test_it_is_over_after_as_many_passes_without_a_gain_as_patience_allows():
    rows, _, start = toy(n_rows=100)
    watch = Scores(0.0, 1.0, 0.5, 2.0, 1.9, 2.0, 1.0, 9.0)
    reports = []
    em_run = run_minibatch_em(
        rows,
        start,
        watch,
        np.random.default_rng(0),
        schedule=BatchSchedule(patience=3),
        progress=lambda *report: reports.append(report),
    )
    assert (em_run.score, em_run.count) == (2.0, 3)
    assert em_run.values == pytest.approx(watch.calls[3], rel=1e-6)
    assert reports == [(1, 1.0), (2, 0.5), (3, 2.0), (4, 1.9), (5, 2.0), (6, 1.0)]


def test_the_start_is_kept_where_nothing_is_better():
    rows, _, start = toy(n_rows=100)
    em_run = run_minibatch_em(rows, start, Scores(0, *[-1] * 9), np.random.default_rng(0))
    assert em_run.values is start
    assert (em_run.score, em_run.count) == (0, 0)


def test_no_more_passes_are_made_than_the_most():
    rows, _, start = toy(n_rows=100)
    watch = Scores(*range(9))
    schedule = BatchSchedule(most_passes=4)
    em_run = run_minibatch_em(rows, start, watch, np.random.default_rng(0), schedule=schedule)
    assert (em_run.score, em_run.count) == (4, 4)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_same_draws_give_the_same_tables_on_any_number_of_threads(n_jobs):
    schedule = BatchSchedule(n_batches=2, most_passes=3)  # batches of more than one block
    results = []
    for jobs, seed in ((1, 0), (n_jobs, 0), (n_jobs, 1)):
        rows, watch, start = toy(n_rows=2600, n_jobs=jobs)
        rng = np.random.default_rng(seed)
        results.append(run_minibatch_em(rows, start, watch, rng, schedule=schedule).values)
    assert np.array_equal(results[0], results[1])
    assert not np.array_equal(results[0], results[2])


def test_each_pass_uses_every_row_once_in_batches_of_about_the_requested_size():
    weights = 2.0 ** np.arange(40)  # sums of these tell which rows are in them
    rows, _, _ = toy(n_rows=40, weights=weights)
    rng = np.random.default_rng(0)
    for n_batches, fewest, sizes in (
        (4, 1, [10] * 4),
        (9, 6, [6, 6, 6, 6, 6, 5, 5]),
        (4, 99, [40]),
    ):
        schedule = BatchSchedule(n_batches=n_batches, fewest_rows=fewest)
        passes = []
        for _ in range(2):
            batches = list(_batches(rows, schedule, rng))
            batch_sizes = [f"{int(batch.total_weight):b}".count("1") for batch in batches]
            assert batch_sizes == sizes
            assert sum(batch.total_weight for batch in batches) == weights.sum()
            passes.append([batch.total_weight for batch in batches])
        assert (passes[0] == passes[1]) == (len(sizes) == 1)  # drawn anew


def test_tables_follow_the_running_mean_of_what_batches_count():
    weights = np.random.default_rng(5).exponential(size=300)
    rows, _, start = toy(n_rows=300, weights=weights)
    schedule = BatchSchedule(n_batches=3, fewest_rows=1, first=0.5, decay=0.6)
    em_run = run_minibatch_em(
        rows, start, None, np.random.default_rng(0), schedule=schedule, n_passes=2
    )
    rng = np.random.default_rng(0)
    values, mean = start, None
    for size in (0.5, 0.3):
        for batch in _batches(rows, schedule, rng):
            counts = batch(values)[1] / batch.total_weight * weights.sum()
            mean = counts if mean is None else (1 - size) * mean + size * counts
            values = normalise_rows(rows.layout, mean + rows.prior.pseudo)
    assert em_run.values == pytest.approx(
        values, rel=1e-6
    )  # tables are in single precision on the way


def test_fewer_rows_than_a_batch_are_one_batch():
    """Whose first pass is a full step of EM."""
    rows, _, start = toy(n_rows=30)
    em_run = run_minibatch_em(rows, start, None, np.random.default_rng(0), n_passes=1)
    expect = ManyStatesExpectation(rows.layout, rows.codes)
    assert em_run.values == pytest.approx(em_step(expect, rows.layout, rows.prior)(start)[1])


def test_batches_without_weight_teach_nothing():
    weights = np.zeros(120)
    weights[7] = 1.0
    rows, _, start = toy(n_rows=120, weights=weights)
    schedule = BatchSchedule(n_batches=40, fewest_rows=3)
    em_run = run_minibatch_em(
        rows, start, None, np.random.default_rng(0), schedule=schedule, n_passes=1
    )
    step = em_step(ManyStatesExpectation(rows.layout, rows.codes[7:8]), rows.layout, rows.prior)
    assert em_run.values == pytest.approx(step(start)[1], rel=1e-5)


@pytest.mark.parametrize("n_rows", [0, 50])
def test_without_weight_at_all_batches_leave_the_start(n_rows):
    rows, watch, start = toy(n_rows=n_rows, weights=np.zeros(n_rows))
    for watching, n_passes in ((watch, None), (None, 3)):
        em_run = run_minibatch_em(
            rows, start, watching, np.random.default_rng(0), n_passes=n_passes
        )
        assert np.array_equal(em_run.values, start)


# -- full steps, watched --------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_watched_steps_improve_held_out_rows(seed):
    rows, watch, start = toy(seed)
    em_run = run_watched_em(rows, start, watch)
    assert em_run.score > watch(start) + 0.1
    assert em_run.score == watch(em_run.values)
    assert em_run.count % 2 == 0


@pytest.mark.parametrize("n_steps", [0, 1, 3])
def test_without_a_watch_so_many_full_steps_are_made(n_steps):
    rows, _, start = toy(weights=np.random.default_rng(0).exponential(size=900))
    em_run = run_watched_em(rows, start, None, n_steps=n_steps)
    step = em_step(
        ManyStatesExpectation(rows.layout, rows.codes, rows.weights), rows.layout, rows.prior
    )
    values = start
    for _ in range(n_steps):
        values = step(values)[1]
    assert em_run.count == n_steps
    assert math.isnan(em_run.score)
    assert em_run.values == pytest.approx(values, rel=1e-12)


def test_watched_steps_end_after_so_many_looks_without_a_gain():
    rows, _, start = toy(n_rows=100)
    watch = Scores(0.0, 1.0, 0.5, 2.0, 2.0, 1.0, 9.0)
    reports = []
    em_run = run_watched_em(
        rows, start, watch, every=3, patience=2, progress=lambda *report: reports.append(report)
    )
    assert reports == [(3, 1.0), (6, 0.5), (9, 2.0), (12, 2.0), (15, 1.0)]
    assert (em_run.score, em_run.count) == (2.0, 9)
    assert em_run.values is watch.calls[3]


def test_watched_steps_keep_the_start_where_nothing_is_better():
    rows, _, start = toy(n_rows=100)
    em_run = run_watched_em(rows, start, Scores(0, *[-1] * 9))
    assert em_run.values is start
    assert em_run.count == 0


def test_no_more_steps_are_made_than_the_most():
    rows, _, start = toy(n_rows=100)
    em_run = run_watched_em(rows, start, Scores(*range(9)), most_steps=7, every=3)
    assert (em_run.score, em_run.count) == (2, 6)


def test_watched_steps_are_the_same_on_any_number_of_threads():
    results = []
    for n_jobs in (1, 2):
        rows, watch, start = toy(n_rows=1500, n_jobs=n_jobs)
        results.append(run_watched_em(rows, start, watch, most_steps=6).values)
    assert np.array_equal(results[0], results[1])


@pytest.mark.parametrize("n_rows", [0, 50])
def test_without_weight_full_steps_end_at_the_prior(n_rows):
    rows, watch, start = toy(n_rows=n_rows, weights=np.zeros(n_rows))
    em_run = run_watched_em(rows, start, None, n_steps=2)
    assert em_run.values == pytest.approx(normalise_rows(rows.layout, rows.prior.pseudo))
    assert np.isfinite(run_watched_em(rows, start, watch).score)


def test_rows_without_pseudo_counts_and_without_data_become_even():
    rows, _, start = toy(n_rows=50, weights=np.zeros(50))
    plain = Rows(rows.layout, rows.codes, rows.weights, Prior(np.zeros(rows.layout.size)))
    em_run = run_watched_em(plain, start, None, n_steps=1)
    assert em_run.values == pytest.approx(rows.layout.even)
