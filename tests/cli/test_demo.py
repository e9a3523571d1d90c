"""The demo: every number it prints is computed from the table."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import tacit
from tacit.cli import app
from tacit.cli.demo import Answer, Filled, _answer, _fill, _independence, _sentence, _split


@pytest.fixture(scope="module")
def parts():
    return _split(tacit.datasets.breast_cancer_table(), 0)


@pytest.fixture(scope="module")
def record(tmp_path_factory):
    out = tmp_path_factory.mktemp("demo")
    result = CliRunner().invoke(app, ["demo", "--json", "--out", str(out)])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_rows_are_learnt_from_or_held_out_and_never_both(parts):
    train, test = parts
    table = tacit.datasets.breast_cancer_table()
    assert (len(train["diagnosis"]), len(test["diagnosis"])) == (379, 190)
    together = {name: np.sort(np.append(train[name], test[name])) for name in table}
    assert all(np.array_equal(together[name], np.sort(table[name])) for name in table)


def test_the_contenders_are_scored_on_the_held_out_rows(parts, record):
    train, test = parts
    scores = [contender["score"] for contender in record["contenders"]]
    alone = tacit.LatentTree(n_components=1).fit(train)
    em = tacit.LatentTree(
        alone.trees_[0].node_states, alone.topology_, "em", n_restarts=5, pseudo_counts=1.0
    )
    expected = [
        _independence(train, test).score,
        tacit.ChowLiuTree().fit(train).score(test),
        tacit.LatentClass().fit(train).score(test),
        alone.score(test),
        em.fit(train).score(test),
        tacit.LatentTree().fit(train).score(test),
    ]
    assert scores == pytest.approx(expected, rel=1e-9)
    assert scores[-1] == max(scores)
    assert record["n_states"] > 1
    assert all(contender["seconds"] > 0 for contender in record["contenders"])


def test_independence_is_the_sum_over_columns(parts):
    train, _ = parts
    few = {"diagnosis": np.array(["benign", "malignant", "benign"])}
    score = _independence({"diagnosis": train["diagnosis"]}, few).score
    frequency = ((train["diagnosis"] == "benign").sum() + 0.5) / (len(train["diagnosis"]) + 1)
    assert score == pytest.approx((2 * np.log(frequency) + np.log(1 - frequency)) / 3, rel=1e-12)


def test_answers_stand_beside_counts_of_the_held_out_rows(parts):
    train, test = parts
    model = tacit.ChowLiuTree().fit(train)
    evidence = {"worst_area": "high", "mean_texture": "low"}
    answer = _answer(model, test, "diagnosis", "malignant", evidence)
    rows = [
        d
        for d, a, t in zip(test["diagnosis"], test["worst_area"], test["mean_texture"], strict=True)
        if a == "high" and t == "low"
    ]
    assert (answer.n_rows, answer.n_true) == (len(rows), rows.count("malignant"))
    expected = model.predict_proba({name: [value] for name, value in evidence.items()}, "diagnosis")
    assert answer.probability == pytest.approx(expected[0, 1], rel=1e-12)


def test_cells_are_right_if_they_come_back_as_they_were(parts):
    train, test = parts

    class Oracle:
        def impute(self, rows):
            self.hidden = sum(cell is None for column in rows.values() for cell in column)
            return test

    class Stubborn:
        def impute(self, rows):
            return {name: [["never"]] * len(column) for name, column in rows.items()}

    oracle = Oracle()
    filled = _fill(oracle, train, test, seed=0)
    assert filled.n_right == filled.n_cells == oracle.hidden
    assert 0 < filled.n_right_by_most_frequent < filled.n_cells
    assert _fill(Stubborn(), train, test, seed=0).n_right == 0


def test_the_most_frequent_value_of_the_rows_learnt_from_is_what_imputing_is_compared_with():
    class Silent:
        def impute(self, rows):
            return rows

    train = {"a": np.array(["x", "y", "y"])}
    always = _fill(Silent(), train, {"a": np.array(["y"] * 50)}, seed=0)
    assert always.n_right_by_most_frequent == always.n_cells > 0
    assert _fill(Silent(), train, {"a": np.array(["x"] * 50)}, seed=0).n_right_by_most_frequent == 0


def test_a_sentence_tells_the_answer():
    answer = Answer("y", "yes", {"a": "high", "b": "low"}, 0.8349, 12, 9)
    assert _sentence(answer) == (
        "  If a is high and b is low, then y is yes with probability 0.83.\n"
        "  (Among the held-out rows: 9 of 12.)"
    )


def test_the_demo_prints_its_results_and_draws_the_tree(record, tmp_path):
    result = CliRunner().invoke(app, ["demo", "--out", str(tmp_path)])
    assert result.exit_code == 0, result.output
    for contender in record["contenders"]:
        assert f"{contender['score']:.2f}" in result.stdout
    for answer in record["answers"]:
        assert _sentence(Answer(**answer)) in result.stdout
    filled = Filled(**record["imputation"])
    assert f"of {filled.n_cells} held-out cells" in result.stdout
    assert (
        f"{filled.n_right} came back right ({filled.n_right / filled.n_cells:.0%})" in result.stdout
    )
    assert (tmp_path / "tacit-demo-tree.png").read_bytes().startswith(b"\x89PNG")


def test_a_folder_that_does_not_exist_is_refused_before_the_work(tmp_path):
    result = CliRunner().invoke(app, ["demo", "--out", str(tmp_path / "no")])
    assert result.exit_code == 1
    assert "does not exist" in result.output
