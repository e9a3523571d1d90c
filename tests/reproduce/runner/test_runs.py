"""Runs as a collection."""

import math

import pytest

from oracles.experiment_runs import made_runs
from tacit.reproduce.runner.runs import typical_ratio
from tacit.reproduce.runner.trials import Method
from tacit.reproduce.trees.synthetic import STUDY, TreeCase

PLAIN = TreeCase("bin4", 4, 3)
CASES = (
    PLAIN,
    TreeCase("bin5", 4, 3),
    TreeCase("bin4", 5, 3),
    TreeCase("bin4", 4, 2),
    TreeCase("bin4", 4, 3, diagonal=1.0),
    TreeCase("bin4", 4, 3, learnt_states=2),
)
ONE, OTHER = Method("one", "em"), Method("other", "auto")
SETTINGS = STUDY.settings(CASES, (ONE, OTHER), (100, 1000), 3)


def error(trial):
    """A number that tells everything about the trial."""
    place = CASES.index(trial.case)
    return (100 if trial.method is ONE else 200) + 10 * place + trial.seed + trial.size / 1e4


RUNS = made_runs(SETTINGS, error, lambda trial: trial.size)


@pytest.mark.parametrize("place", range(len(CASES)))
def test_runs_of_a_case_are_those_that_agree_in_everything(place):
    runs = RUNS.of(CASES[place])
    assert len(runs.rows) == 2 * 2 * 3
    assert runs.error("one", 100) == pytest.approx(100 + 10 * place + 1 + 0.01)


def test_cases_come_in_their_order_and_sizes_rise():
    assert RUNS.cases == CASES
    assert [runs.case for runs in RUNS.by_case()] == list(CASES)
    assert RUNS.sizes == (100, 1000)


def test_medians_are_over_the_models():
    runs = RUNS.of(PLAIN)
    assert runs.error("other", 1000) == pytest.approx(201.1)
    assert runs.seconds("one", 1000) == 1000
    assert math.isnan(runs.error("absent", 1000))


def test_methods_can_stand_in_for_others():
    changed = RUNS.of(PLAIN).with_names({"one": "other"})
    assert {row.method for row in changed.rows} == {"one"}
    assert changed.error("one", 1000) == RUNS.of(PLAIN).error("other", 1000)


def test_the_typical_ratio_is_the_geometric_mean():
    assert typical_ratio([2.0, 8.0], [1.0, 1.0]) == pytest.approx(4.0)
    assert typical_ratio([math.inf, 1.0], [1.0, 1.0]) == math.inf
    assert math.isnan(typical_ratio([], []))
