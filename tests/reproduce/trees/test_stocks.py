"""Moves of stocks: splits, queries, and shares of wrong answers against enumeration."""

import itertools
import math

import numpy as np
import pytest

from tacit.errors import MissingDataError, RankError
from tacit.messages.evidence import Evidence
from tacit.messages.passes import log_values
from tacit.reproduce import run
from tacit.reproduce.runner.running import perform
from tacit.reproduce.runner.trials import Method, Trial
from tacit.reproduce.trees import stocks
from tacit.reproduce.trees.fig_7_9 import AUTO, METHODS, OBSERVED, SPECTRAL, TACIT_SPECTRAL
from tacit.reproduce.trees.stocks import STUDY, StockCase, queries, stock_moves
from tacit.trees.learn.selection.structures import learn_structure

pytestmark = pytest.mark.usefixtures("made_up_stocks")
CASE = StockCase(
    n_stocks=6, n_train=240, n_test=20, n_queries=5, structure="hidden-chow-liu", n_states=2
)


def test_training_and_test_days_are_drawn_apart():
    moves = stock_moves(6)
    assert moves.shape == (299, 6)
    one, again, other = (stocks._split.__wrapped__(CASE, seed) for seed in (0, 0, 1))
    assert (one.train.shape, one.test.shape) == ((240, 6), (20, 6))
    assert np.array_equal(one.train, again.train)
    assert not np.array_equal(one.train, other.train)
    everything = StockCase(6, 279, 20, 5, structure="star")
    split = stocks._split.__wrapped__(everything, 3)
    drawn = sorted(map(tuple, np.concatenate([split.train, split.test])))
    assert drawn == sorted(map(tuple, moves))


def test_the_tree_is_learnt_from_the_training_days_alone():
    split = stocks._split.__wrapped__(StockCase(6, 30, 200, 5, structure="chow-liu"), 0)
    rows = {f"x{place}": column for place, column in enumerate(split.train.T)}
    assert split.topology == learn_structure(rows, "chow-liu")


def test_queries_are_the_same_for_every_method_and_differ_otherwise():
    test = stocks._split(CASE, 0).test
    by_method = {
        method.name: queries(Trial(STUDY, CASE, 3, 0, method), test) for method in (AUTO, OBSERVED)
    }
    for one, other in zip(*by_method.values(), strict=True):
        assert np.array_equal(one, other)
    rows, targets = by_method[AUTO.name]
    assert rows.shape == (5 * 20, 6)
    for query in range(5):
        part, (target,) = rows[20 * query :][:20], set(targets[20 * query :][:20])
        seen = np.flatnonzero((part >= 0).all(axis=0))
        assert len(seen) == 2
        assert target not in seen
        assert np.array_equal(part[:, seen], test[:, seen])
        assert (np.delete(part, seen, axis=1) == -1).all()
    assert not np.array_equal(rows, queries(Trial(STUDY, CASE, 3, 1, AUTO), test)[0])


@pytest.mark.parametrize("method", [AUTO, OBSERVED, SPECTRAL, TACIT_SPECTRAL])
def test_shares_of_wrong_answers_are_those_of_the_whole_joint_table(method):
    trial = Trial(STUDY, CASE, 4, 0, method)
    split = stocks._split(CASE, 0)
    every = np.array(list(itertools.product((0, 1), repeat=6)), dtype=np.int16)
    sign, log_abs = log_values(stocks.fit(CASE, 0, method).value[0], Evidence(every))
    joint = (sign * np.exp(log_abs)).reshape((2,) * 6)
    rows, targets = queries(trial, split.test)
    wrong = []
    for number, (row, target) in enumerate(zip(rows, targets, strict=True)):
        values = []
        for move in (0, 1):
            fixed = [slice(None) if cell < 0 else int(cell) for cell in row]
            fixed[target] = move
            values.append(joint[tuple(fixed)].sum())
        wrong.append((values[1] > values[0]) != split.test[number % 20][target])
    assert perform(trial).wrong == pytest.approx(np.mean(wrong), rel=1e-5)  # six digits are kept


def test_a_method_learns_once_for_all_sizes_of_queries(monkeypatch):
    fits = []
    learn = stocks._learn

    def counted(case, seed, method, *rest):
        fits.append((seed, method.name))
        return learn(case, seed, method, *rest)

    monkeypatch.setattr(stocks, "_learn", counted)
    chosen = STUDY.settings([CASE], (AUTO, OBSERVED), (2, 4, 6), 2)
    for trial in chosen.trials():
        perform(trial)
    warm_ups = 2
    assert len(fits) == 2 * 2 + warm_ups
    assert [trial.size for trial in chosen.trials()[:3]] == [2, 4, 6]


def test_what_cannot_be_learnt_is_a_line_with_its_reason(monkeypatch):
    def refused(*args):
        raise RankError("too many\nstates")

    monkeypatch.setattr(stocks, "_learn", refused)
    actual = perform(Trial(STUDY, CASE, 2, 0, Method("never", "em")))
    assert actual.failure == "too many states"
    assert actual.wrong == math.inf


def test_more_evidence_helps_on_stocks_that_move_together():
    wide = StockCase(40, 250, 40, 20, structure="hidden-chow-liu")
    few, many = (perform(Trial(STUDY, wide, size, 0, AUTO)).wrong for size in (2, 40))
    assert many < few < 0.5


def test_every_method_says_how_it_is_made():
    assert len({method.name for method in METHODS}) == len(METHODS)
    assert len({method.settings for method in METHODS}) == len(METHODS)


def test_without_the_data_nothing_is_written(tmp_path, monkeypatch):
    stock_moves.cache_clear()
    monkeypatch.setenv("TACIT_DATA", str(tmp_path))
    with pytest.raises(MissingDataError, match="adjusted_close"):
        run("fig-7.9", scale="tiny", out=tmp_path / "out")
    assert not (tmp_path / "out").exists()
