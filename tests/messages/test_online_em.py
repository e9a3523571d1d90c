"""Stepwise EM: learning rates."""

import numpy as np
import pytest

import tacit
from tacit.core.arguments import checked_rates
from tacit.core.em import EMRun
from tacit.errors import ArgumentError
from tacit.messages.online_em import Schedule, best_of_rates

RATES = (0.6, 0.8, 1.0)
ROWS = tacit.toy.random_tree_model(n_leaves=6, n_categories=3, random_state=0).sample(400, 1)
MODELS = {
    "tree": lambda **options: tacit.LatentTree(2, "star", "online-em", **options),
    "class": lambda **options: tacit.LatentClass(2, "online-em", **options),
    "junction tree": lambda **options: tacit.HigherOrderHMM(2, 2, learn="online-em", **options),
}


def test_step_sizes_are_those_of_liang_and_klein():
    assert [Schedule(decay=0.8).size(t) for t in range(3)] == [2**-0.8, 3**-0.8, 4**-0.8]


def test_the_rate_with_the_highest_objective_is_kept():
    drawn = []

    def learn(schedule, rows, start):
        drawn.append((schedule.decay, schedule.n_passes, rows.random(), start.random()))
        objective = -abs(schedule.decay - 0.75)
        return EMRun(np.zeros(1), objective, 7, converged=True, trace=(objective,))

    best, record = best_of_rates(learn, (0.6, 0.7, 1.0), 9, seed=4)
    assert best.objective == pytest.approx(-0.05)
    assert record["learning_rate"] == 0.7
    assert record["n_steps"] == 21
    assert [row["learning_rate"] for row in record["learning_rates"]] == [0.6, 0.7, 1.0]
    assert [(rate, n_passes) for rate, n_passes, _, _ in drawn] == [(0.6, 9), (0.7, 9), (1.0, 9)]
    assert len({number for _, _, *numbers in drawn for number in numbers}) == 6  # other draws each


@pytest.mark.parametrize("kind", MODELS)
def test_estimators_learn_with_one_rate_or_the_best_of_several(kind, tmp_path):
    make = MODELS[kind]
    default, slow = make().fit(ROWS), make(learning_rate=1.0).fit(ROWS)
    assert np.array_equal(default.tables_.values, make(learning_rate=0.6).fit(ROWS).tables_.values)
    assert not np.array_equal(default.tables_.values, slow.tables_.values)
    several = make(learning_rate=RATES).fit(ROWS)
    record = several.diagnostics_["learning_rates"]
    assert [row["learning_rate"] for row in record] == list(RATES)
    assert record[0]["objective"] == default.diagnostics_["objective"]
    assert several.diagnostics_["objective"] == max(row["objective"] for row in record)
    assert several.diagnostics_["n_steps"] == 3 * default.diagnostics_["n_steps"]
    several.save(tmp_path / "model.tacit")
    assert tuple(tacit.load(tmp_path / "model.tacit").learning_rate) == RATES


@pytest.mark.parametrize("rate", [0.5, 1.1, "fast", None, (), [0.6, 2], True, np.nan])
def test_rates_outside_of_the_range_of_convergence_are_refused(rate):
    with pytest.raises(ArgumentError, match=r"a number above .* and up to 1"):
        checked_rates(rate)
    with pytest.raises(ArgumentError, match="learning_rate="):
        MODELS["tree"](learning_rate=rate).fit(ROWS)


def test_rates_may_be_an_array():
    assert checked_rates(np.array([0.6, 1.0])) == (0.6, 1.0)
    assert checked_rates(1) == (1.0,)
