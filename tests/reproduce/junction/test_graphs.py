"""Trials on graphs with loops: draws, errors against the joint table, what is printed in the thesis."""

import math

import numpy as np
import pytest

from tacit.errors import ArgumentError, RankError
from tacit.junction.latent_junction_tree import LatentJunctionTree
from tacit.messages.evidence import Evidence
from tacit.messages.passes import log_values
from tacit.reproduce.junction import graphs
from tacit.reproduce.junction.fig_5_4 import AUTO, EM, ONLINE, SPECTRAL, TACIT_SPECTRAL
from tacit.reproduce.junction.graphs import STUDY, GraphCase, truth
from tacit.reproduce.runner.running import perform
from tacit.reproduce.runner.trials import Method, Trial

CASE = GraphCase("order2-5", n_categories=3, diagonal=1.0)


def test_every_graph_has_its_name():
    assert truth(GraphCase("order3-6", 4), 0).parents["h5"] == ("h2", "h3", "h4")
    assert truth(GraphCase("factorial-5", 16), 0).names[-1] == "x4"
    assert truth(GraphCase("factorial-5", 16), 0).parents["x4"] == ("a4", "b4")
    assert len(truth(GraphCase("loopy", 16), 0).n_states) == 9
    with pytest.raises(ArgumentError, match="no graph is called 'ring-4'"):
        truth(GraphCase("ring-4", 4), 0)


def test_seeds_and_sizes_draw_other_rows_and_methods_the_same():
    drawn = graphs.drawn.__wrapped__
    same, again = drawn(CASE, 0, 2000), drawn(CASE, 0, 2000)
    assert np.array_equal(same.train, again.train)
    assert np.array_equal(same.test, drawn(CASE, 0, 300).test)  # one model, judged on the same rows
    assert not np.array_equal(same.test, drawn(CASE, 1, 2000).test)
    assert not np.array_equal(same.train[:300], drawn(CASE, 0, 300).train)
    joint = truth(CASE, 0).joint_table()
    assert np.exp(same.log_truth) == pytest.approx(joint[tuple(same.test.T)], rel=1e-9)


def test_categories_that_the_rows_do_not_show_are_there():
    few = graphs.drawn.__wrapped__(GraphCase("order2-5", n_categories=9), 0, 12)
    assert all(
        len(chunk.dictionary) == 9 for column in few.train.columns for chunk in column.chunks
    )
    assert math.isfinite(perform(Trial(STUDY, GraphCase("order2-5", 9), 12, 0, AUTO)).error)


@pytest.mark.parametrize("method", [SPECTRAL, EM, ONLINE, TACIT_SPECTRAL, AUTO])
def test_the_error_of_a_trial_is_that_of_the_thesis(method):
    trial = Trial(STUDY, CASE, 800, 1, method)
    made = graphs.drawn.__wrapped__(CASE, 1, 800)
    network, n_steps = graphs._learn(trial, made)
    sign, log_abs = log_values(network, Evidence(made.test))
    right = np.exp(made.log_truth)
    actual = perform(trial)
    expected = np.mean(np.abs(sign * np.exp(log_abs) - right) / right)
    assert actual.error == pytest.approx(expected, rel=1e-5)  # six digits are kept
    assert actual.n_steps == n_steps
    assert actual.seconds > 0


def test_a_trial_is_the_same_whenever_it_is_run():
    one = perform(Trial(STUDY, CASE, 300, 1, EM))
    perform(Trial(STUDY, CASE, 100, 0, EM))
    other = perform(Trial(STUDY, CASE, 300, 1, EM))
    assert one == other.but(seconds=one.seconds)


def test_em_is_told_the_true_graph_and_its_options():
    made = graphs.drawn.__wrapped__(CASE, 2, 400)
    model = LatentJunctionTree(made.structure, 2, "em", random_state=2, **dict(EM.options))
    model.fit(made.train)
    network, n_steps = graphs._learn(Trial(STUDY, CASE, 400, 2, EM), made)
    assert n_steps == model.diagnostics_["n_steps"]
    rows = Evidence(made.test)
    assert np.array_equal(log_values(network, rows)[1], log_values(model.network_, rows)[1])


def test_printed_forms_are_exact_where_rows_are_plenty():
    case = GraphCase("order2-5", n_categories=4, diagonal=2.0)
    few, many = (
        np.mean([perform(Trial(STUDY, case, n, seed, SPECTRAL)).error for seed in range(3)])
        for n in (2000, 200_000)
    )
    # Errors fall like one over the root of the rows; a rank one too small would leave them.
    assert many < few / 5


def test_all_states_of_every_separator_are_kept_in_the_printed_form():
    made = graphs.drawn.__wrapped__(CASE, 0, 200)
    printed, _ = graphs._learn(Trial(STUDY, CASE, 200, 0, SPECTRAL), made)
    cut, _ = graphs._learn(Trial(STUDY, CASE, 200, 0, TACIT_SPECTRAL), made)
    assert max(printed.ranks) == 4
    assert max(cut.ranks[len(truth(CASE, 0).names) :]) < 4  # 200 rows do not show them all


def test_stepwise_em_is_run_with_every_rate_of_the_thesis():
    made = graphs.drawn.__wrapped__(CASE, 0, 300)
    model = LatentJunctionTree(
        made.structure,
        2,
        "online-em",
        learning_rate=(0.6, 0.7, 0.8, 0.9, 1.0),
        pseudo_counts=0.1,
        random_state=3,
    ).fit(made.train)
    network, n_steps = graphs._learn(Trial(STUDY, CASE, 300, 3, ONLINE), made)
    rows = Evidence(made.test)
    assert np.array_equal(log_values(network, rows)[1], log_values(model.network_, rows)[1])
    assert n_steps == model.diagnostics_["n_steps"] == 5 * 20


def test_what_cannot_be_learnt_is_a_line_with_its_reason(monkeypatch):
    def refused(*args, **options):
        raise RankError("too many\nstates")

    monkeypatch.setattr(LatentJunctionTree, "fit", refused)
    actual = perform(Trial(STUDY, CASE, 50, 7, Method("never", "em")))
    assert actual.failure == "too many states"
    assert actual.error == actual.kl == math.inf


def test_an_error_in_the_program_is_not_taken_for_a_failure_to_learn(monkeypatch):
    def broken(*args, **options):
        raise KeyError("typo")

    monkeypatch.setattr(LatentJunctionTree, "fit", broken)
    with pytest.raises(KeyError):
        perform(Trial(STUDY, CASE, 50, 8, EM))
