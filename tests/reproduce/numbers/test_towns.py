"""Crime of towns: splits, evidence, and predictions against formulas and peers."""

import networkx as nx
import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

import tacit
from tacit.errors import MissingDataError
from tacit.reproduce import run
from tacit.reproduce.numbers import towns
from tacit.reproduce.numbers.fig_6_7 import (
    ALONE,
    COPULA,
    KERNEL,
    LEAST_SQUARES,
    METHODS,
    NPN,
    PRINTED,
)
from tacit.reproduce.numbers.town_tree import kernel_topology, printed_topology
from tacit.reproduce.numbers.towns import (
    GOAL,
    STUDY,
    TownCase,
    copula,
    filled,
    linear,
    naive_bayes,
    named,
    split_of,
)
from tacit.reproduce.runner.running import perform
from tacit.reproduce.runner.trials import Trial

pytestmark = pytest.mark.usefixtures("made_up_towns")
CASE = TownCase(n_valid=40, n_test=60, n_evidence=30, n_sets=2)


def test_rows_are_learnt_from_chosen_by_and_judged_on_apart():
    split, again, other = (split_of.__wrapped__(CASE, seed) for seed in (0, 0, 1))
    assert (len(split.train), len(split.valid), len(split.test)) == (200, 40, 60)
    assert np.array_equal(split.test, again.test)
    assert not np.array_equal(split.test, other.test)
    together = np.concatenate([split.train, split.valid, split.test])
    every = np.column_stack(list(towns.towns().values()))
    order = np.lexsort(np.nan_to_num(together).T), np.lexsort(np.nan_to_num(every).T)
    assert np.array_equal(together[order[0]], every[order[1]], equal_nan=True)
    assert every.shape == (300, 51)


def test_evidence_is_30_attributes_and_never_the_crime():
    split = split_of(CASE, 0)
    assert len(split.evidence) == 2
    for evidence in split.evidence:
        assert len(set(evidence)) == 30
        assert evidence.max() < 50
        assert list(named(split.test, evidence)) == [list(towns.towns())[j] for j in evidence]
    assert not np.array_equal(*split.evidence)


def test_gaps_are_filled_with_medians_of_the_training_rows():
    train = np.array([[1.0, 5.0], [np.nan, 6.0], [3.0, 10.0]])
    assert filled(np.array([[np.nan, np.nan]]), train).tolist() == [[2.0, 6.0]]


def made_rows(n=4000, seed=0):
    rng = np.random.default_rng(seed)
    goal = rng.normal(size=n)
    noise = rng.normal(size=(n, 3)) * [0.5, 1.0, 2.0]
    return np.column_stack([np.outer(goal, [1.0, 2.0, -1.0]) + noise, goal])


def test_naive_bayes_is_regression_where_attributes_are_independent_given_the_crime():
    rows = made_rows()
    evidence = np.array([0, 2])
    exact = LinearRegression().fit(rows[:, evidence], rows[:, -1]).predict(rows[:50, evidence])
    assert naive_bayes(rows)(rows[:50], evidence) == pytest.approx(exact, abs=0.05)


def test_regression_with_means_is_regression_where_everything_is_seen():
    rows = made_rows()
    every = np.arange(3)
    exact = LinearRegression().fit(rows[:, :-1], rows[:, -1])
    assert linear(rows)(rows[:50], every) == pytest.approx(exact.predict(rows[:50, :-1]))
    partly = rows[:50, :-1].copy()
    partly[:, 1] = rows[:, 1].mean()
    assert linear(rows)(rows[:50], np.array([0, 2])) == pytest.approx(exact.predict(partly))


def test_a_copula_sees_through_changes_of_scale():
    rows = made_rows()
    evidence = np.array([0, 1])
    plain = copula(rows)(rows[:50], evidence)
    exact = LinearRegression().fit(rows[:, evidence], rows[:, -1]).predict(rows[:50, evidence])
    assert plain == pytest.approx(exact, abs=0.1)
    assert copula(np.exp(rows))(np.exp(rows[:50]), evidence) == pytest.approx(
        np.exp(plain), rel=0.05
    )


@pytest.mark.parametrize("method", METHODS, ids=lambda each: each.name)
def test_every_method_tells_something(method):
    actual = perform(Trial(STUDY, CASE, 200, 0, method))
    split = split_of(CASE, 0)
    blind = np.abs(np.median(split.train[:, -1]) - split.test[:, -1]).mean()
    assert 0 < actual.off < blind


def test_the_error_is_the_mean_over_sets_and_rows_of_what_is_cut_to_the_range():
    split = split_of(CASE, 0)
    predict = copula(split.train)
    errors = [
        np.abs(np.clip(predict(split.test, one), 0, 1) - split.test[:, -1]).mean()
        for one in split.evidence
    ]
    actual = perform(Trial(STUDY, CASE, 200, 0, COPULA))
    assert actual.off == pytest.approx(np.mean(errors), rel=1e-5)
    assert actual.spread == pytest.approx(np.std(errors), rel=1e-4)


def test_one_kernel_tree_answers_with_and_without_the_gaussian_beside_it():
    towns._kernel_tree.cache_clear()
    both = [perform(Trial(STUDY, CASE, 200, 0, method)) for method in (KERNEL, ALONE)]
    assert towns._kernel_tree.cache_info().misses == 1
    assert both[0].off != both[1].off
    assert both[0].seconds == both[1].seconds > 0


def test_the_test_rows_crime_is_not_looked_at():
    split = split_of(CASE, 0)
    other = split.test.copy()
    other[:, -1] = 0.5
    for method in (NPN, LEAST_SQUARES):
        predict, _ = towns.learn(method, split, 200, 0)
        predictions = [predict(rows, split.evidence[0]) for rows in (split.test, other)]
        assert np.array_equal(*predictions)


def test_the_kernel_tree_of_the_thesis_is_among_the_methods():
    split, model = (
        split_of(CASE, 0),
        tacit.KernelTree(2, preset="printed", continuous=list(towns.towns())),
    )
    model.fit(named(split.train))
    errors = [
        np.abs(
            np.clip(model.quantiles(named(split.test, evidence), GOAL, 0.5), 0, 1)
            - split.test[:, -1]
        ).mean()
        for evidence in split.evidence
    ]
    assert perform(Trial(STUDY, CASE, 200, 0, PRINTED)).off == pytest.approx(
        np.mean(errors), rel=1e-5
    )


@pytest.mark.parametrize("topology", [kernel_topology, printed_topology])
def test_the_tree_puts_attributes_of_a_group_together(topology):
    tree = topology(towns.towns())
    assert set(tree.observed) == set(towns.towns())
    hops = nx.single_source_shortest_path_length(tree.to_networkx(), GOAL)
    names = list(towns.towns())
    near, far = names[25:50], names[:25]  # the crime goes with the second group
    assert np.mean([hops[name] for name in near]) < np.mean([hops[name] for name in far])


def test_each_tree_has_a_picture_of_its_own(tmp_path):
    actual = run("fig-6.7", scale="tiny", out=tmp_path)
    for form in ("printed", "tacit"):
        picture = actual.csv.with_name(f"fig-6.7-tiny-tree-{form}.png")
        assert picture.read_bytes().startswith(b"\x89PNG")
    assert "Gaussian copula" in actual.table
    assert "aim 0.087; better: " in actual.table


def test_towns_that_are_not_there_are_missed_before_the_work(monkeypatch, tmp_path):
    towns.towns.cache_clear()
    monkeypatch.setenv("TACIT_DATA", str(tmp_path))
    with pytest.raises(MissingDataError, match="communities"):
        run("fig-6.7", scale="tiny", out=tmp_path / "out")
    assert not (tmp_path / "out").exists()
