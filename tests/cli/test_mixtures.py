"""The sub-commands on a model that is a mixture of trees."""

import json

import numpy as np
import pyarrow.csv
import pytest

import tacit
from tacit.messages.mixture import Mixture

NEWICKS = ["((a,b)h1,(c,d)h2);", "(a,b,c,d)h;", "((a,c)h1,(b,d)h2);"]
WEIGHTS = [0.25, 0.125, 0.625]


def table(n_rows=120, seed=0):
    rng = np.random.default_rng(seed)
    coin = rng.integers(0, 2, n_rows)
    return {
        name: np.array(["no", "yes"])[np.where(rng.random(n_rows) < 0.2, 1 - coin, coin)]
        for name in "abcd"
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a mixture of three trees and a table with gaps."""
    directory = tmp_path_factory.mktemp("mixtures")
    parts = [tacit.LatentTree(2 + place, text).fit(table()) for place, text in enumerate(NEWICKS)]
    model = parts[2]
    model.parameters_ = Mixture(np.array(WEIGHTS), tuple(part.tables_ for part in parts))
    model.save(directory / "m.tacit")
    gaps = {
        name: [None if row % 5 == place else str(value) for row, value in enumerate(column)]
        for place, (name, column) in enumerate(table(40, 1).items())
    }
    pyarrow.csv.write_csv(pyarrow.table(gaps), directory / "test.csv")
    return directory


@pytest.fixture
def model(folder):
    return tacit.load(folder / "m.tacit")


def test_rows_are_scored_predicted_filled_and_drawn(run, model):
    scored = json.loads(run("score", "m.tacit", "test.csv", "--json"))
    assert scored["score"] == pytest.approx(model.score("test.csv"))
    assert run("predict", "m.tacit", "test.csv", "--target", "a").startswith("a")
    filled = run("impute", "m.tacit", "test.csv").splitlines()
    assert len(filled) == 41
    assert ",," not in "".join(filled)
    drawn = run("sample", "m.tacit", "-n", 5, "--given", "a=yes", "--seed", 0).splitlines()
    assert [line.split(",")[0] for line in drawn] == ["a"] + ["yes"] * 5


def test_a_question_is_answered(run, model):
    report = json.loads(run("query", "m.tacit", "-g", "a=yes", "-t", "b", "--json"))
    probabilities = {row["b"]: row["probability"] for row in report["probabilities"]}
    assert probabilities == pytest.approx(model.query("b", given={"a": "yes"}))


def test_info_in_json_has_all_trees(run, model):
    report = json.loads(run("info", "m.tacit", "--json"))
    assert report["format"] == 3
    assert [component["weight"] for component in report["components"]] == WEIGHTS
    assert [component["newick"] for component in report["components"]] == [
        component.topology.to_newick() for component in model.trees_
    ]
    assert report["components"][1]["n_states"] == {"h": 3}
    assert report["newick"] == report["components"][2]["newick"]
    assert report["n_states"] == report["components"][2]["n_states"]
    assert report["has_tables"] is True


def test_a_component_that_is_not_there_is_an_error(run, tmp_path):
    for command in (
        ("plot", "m.tacit", "-o", tmp_path / "t.svg"),
        ("export", "m.tacit", "-o", tmp_path / "t.bif"),
        ("export", "m.tacit", "-o", tmp_path / "t.nwk"),
    ):
        printed = run(*command, "--component", 3, code=1)
        assert "error: component=3; the model has components 0 to 2" in printed
    assert list(tmp_path.iterdir()) == []


def test_bif_holds_one_component(run, model, tmp_path):
    path = tmp_path / "m.bif"
    printed = run("export", "m.tacit", "-o", path, code=1)
    assert "mixture of 3 trees" in printed
    assert "components, 0 to 2" in printed
    run("export", "m.tacit", "-o", path, "--component", 1)
    imported = tacit.LatentTree.from_bif(path)
    assert imported.node_states_ == {"h": 3}


def test_newick_holds_every_tree_on_a_line_or_one(run, model, tmp_path):
    path = tmp_path / "m.nwk"
    run("export", "m.tacit", "-o", path)
    expected = [component.topology.to_newick() for component in model.trees_]
    assert path.read_text().splitlines() == expected
    run("export", "m.tacit", "-o", path, "--component", 0)
    assert path.read_text().splitlines() == expected[:1]
    assert tacit.Topology.from_newick(path) == model.trees_[0].topology


def test_the_heaviest_tree_is_drawn_or_the_one_requested(run, tmp_path):
    pytest.importorskip("matplotlib")
    pictures = {}
    for number in (None, 0, 1, 2):
        path = tmp_path / f"{number}.svg"
        chosen = () if number is None else ("--component", number)
        run("plot", "m.tacit", "-o", path, *chosen)
        pictures[number] = path.read_text()
    assert pictures[None] == pictures[2]
    assert len(set(pictures.values())) == 3
    printed = run("plot", "m.tacit", "-o", tmp_path / "v.svg", "--kind", "singular-values", code=1)
    assert "no singular values" in printed


def test_fit_says_how_many_trees_there_are(model, capsys):
    from tacit.cli.fit.learning import report

    report(model, "m.tacit", json=False)
    assert "5 hidden variables with 2 to 4 states in 3 trees; saved" in capsys.readouterr().out
    report(model, "m.tacit", json=True)
    record = json.loads(capsys.readouterr().out)
    assert record["weights"] == WEIGHTS
    assert record["n_hidden"] == 5
