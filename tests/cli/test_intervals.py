"""Intervals and atoms in commands, against what the models themselves say."""

import json

import numpy as np
import pytest

import tacit
from oracles.commands import tacit_says


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    rng = np.random.default_rng(0)
    group = rng.integers(2, size=300)
    spent = np.where(rng.random(300) < 0.4, 0.0, rng.gamma(3.0, 20.0, 300))
    rows = {
        "spent": spent,
        "age": rng.normal(40 + 10 * group, 8, 300),
        "group": np.array(["a", "b"], dtype=object)[group],
    }
    path = tmp_path_factory.mktemp("intervals") / "m.tacit"
    tacit.KernelTree(2, "star", n_bins=6).fit(rows).save(path)
    return path


@pytest.mark.parametrize(
    ("text", "given"), [("30..45", (30, 45)), ("30..", (30, None)), ("..45", (None, 45))]
)
def test_query_takes_intervals(path, text, given):
    model = tacit.load(path)
    said = json.loads(tacit_says("query", path, "-g", f"age={text}", "-t", "spent", "--json"))
    answer = model.query("spent", given={"age": given})
    assert said["mean"] == answer["mean"]
    assert said["quantiles"]["0.05"] == answer["5%"]
    assert said["atoms"] == {"0": answer["= 0"]}
    said = json.loads(tacit_says("query", path, "-g", f"age={text}", "-t", "group", "--json"))
    chances = {row["group"]: row["probability"] for row in said["probabilities"]}
    assert chances == model.query("group", given={"age": given})
    assert f"| age={text}" in tacit_says("query", path, "-g", f"age={text}", "-t", "spent")


def test_sample_takes_intervals(path):
    said = tacit_says("sample", path, "-n", "20", "-g", "age=30..31.5", "--seed", "0")
    place = said.splitlines()[0].split(",").index("age")
    ages = [float(line.split(",")[place]) for line in said.splitlines()[1:]]
    assert len(ages) == 20
    assert min(ages) >= 30
    assert max(ages) <= 31.5


def test_query_prints_the_probability_of_an_atom(path):
    model = tacit.load(path)
    chance = model.query("spent", given={"group": "a"})["= 0"]
    said = tacit_says("query", path, "-g", "group=a", "-t", "spent")
    assert said.splitlines()[-1].split() == ["=", "0", f"{chance:.4f}"]
    assert "often 0" in tacit_says("info", path)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("-g", "age=5..2"), "'5..2' is no interval; give LOW..HIGH, LOW.. or ..HIGH"),
        (("-g", "age=.."), "is no interval"),
        (("-g", "age=old..older"), "is no interval"),
        (("-g", "age=1..2", "--density"), "leave out --density and --quantile"),
        (("-g", "age=1..2", "--quantile", "0.5"), "leave out --density and --quantile"),
        (("-g", "spent=1..2"), "'spent' is both --target and --given"),
    ],
)
def test_mistakes_are_one_line(path, arguments, complaint):
    said = tacit_says("query", path, "-t", "spent", *arguments, code=1)
    assert complaint in said
    assert len(said.strip().splitlines()) == 1
