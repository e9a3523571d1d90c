"""`tacit fit classes`, and the classes of rows, against what the model itself says."""

import json

import numpy as np
import pytest

import tacit
from oracles.commands import rows_of, tacit_says


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table of two groups of rows, some cells missing."""
    directory = tmp_path_factory.mktemp("classes")
    rng = np.random.default_rng(0)
    group = rng.integers(0, 2, size=(300, 1))
    words = np.array(["no", "yes"])[group ^ (rng.random((300, 5)) < 0.1)]
    words[::7, 2] = ""
    lines = ["a,b,c,d,e", *map(",".join, words)]
    (directory / "rows.csv").write_text("\n".join([*lines, ""]))
    return directory


def test_classes_are_those_that_the_model_learns(folder, monkeypatch):
    monkeypatch.chdir(folder)
    output = tacit_says("fit", "classes", "rows.csv", "-k", "2", "-o", "classes.tacit")
    assert (
        output == "5 columns, 300 rows, 1 hidden variable with 2 states; saved as classes.tacit\n"
    )
    loaded = tacit.load("classes.tacit")
    assert isinstance(loaded, tacit.LatentClass)
    model = tacit.LatentClass(2).fit("rows.csv")
    assert loaded.score("rows.csv") == pytest.approx(model.score("rows.csv"), rel=1e-12)
    printed = tacit_says(
        *("fit", "classes", "rows.csv", "-o", "em.tacit", "--classes", "3", "--learn", "em"),
        *("--restarts", "1", "--drop", "e", "--json"),
    )
    assert json.loads(printed)["n_states"] == {"h": 3}
    assert tacit.load("em.tacit").get_params()["n_restarts"] == 1


def test_the_class_of_each_row_is_reported(folder, monkeypatch):
    monkeypatch.chdir(folder)
    tacit_says("fit", "classes", "rows.csv", "-k", "2", "-o", "two.tacit")
    posterior = tacit.load("two.tacit").posterior("rows.csv")["h"]
    rows = rows_of(tacit_says("predict", "two.tacit", "rows.csv", "--states"))
    assert [int(row["h"]) for row in rows] == posterior.argmax(axis=1).tolist()
    assert [float(row["P(h=1)"]) for row in rows] == pytest.approx(posterior[:, 1].tolist())
    printed = json.loads(tacit_says("predict", "two.tacit", "rows.csv", "--states", "--json"))
    assert printed["states"]["h"] == posterior.argmax(axis=1).tolist()
    output = tacit_says("predict", "two.tacit", "rows.csv", "--states", "-o", "classes.csv")
    assert output == "300 rows written to classes.csv\n"


def test_mistakes_are_reported_in_a_line(folder, monkeypatch):
    monkeypatch.chdir(folder)
    fit = ("fit", "classes", "rows.csv", "-o", "x.tacit")
    assert "neither a number nor auto" in tacit_says(*fit, "-k", "few", code=2)
    assert "there is 'rows.csv'" in tacit_says("fit", "classes", "row.csv", "-o", "x.tacit", code=1)
    assert "Possible options: --learn" in tacit_says(*fit, "--lern", "em", code=2)
    printed = tacit_says(*fit, "-k", "2", "--drop", "a", "--drop", "b", "--drop", "c", code=1)
    assert "n_columns=2, and 3 or more are needed" in printed
    printed = tacit_says(*fit, "-k", "3", "--learn", "tensor", "--drop", "e", code=1)
    assert "give n_states<=2" in printed
    tacit.ChowLiuTree().fit("rows.csv").save("tree.tacit")
    printed = tacit_says("predict", "tree.tacit", "rows.csv", "--states", code=1)
    assert "ChowLiuTree has no hidden states" in printed
    assert not (folder / "x.tacit").exists()
