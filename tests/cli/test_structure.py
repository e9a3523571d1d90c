"""`tacit structure` writes the tree that `learn_structure` finds."""

import json

import numpy as np
import pytest

import tacit
from oracles.commands import tacit_says
from tacit.cli.structure import Method, Metric
from tacit.trees.learn.selection.structures import METRICS, STRUCTURES


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a table of categories and one of numbers."""
    directory = tmp_path_factory.mktemp("structure")
    rng = np.random.default_rng(0)
    coins = rng.integers(0, 2, size=(2000, 2))
    coins[:, 1] = coins[:, 0] ^ (rng.random(2000) < 0.25)
    words = np.array(["no", "yes"])
    columns = {
        name: words[coins[:, place // 3] ^ (rng.random(2000) < 0.1)]
        for place, name in enumerate(["a", "b b", "c", "d", "e'e", "f"])
    }
    lines = [",".join(columns), *(",".join(row) for row in zip(*columns.values(), strict=True))]
    (directory / "words.csv").write_text("\n".join(lines) + "\n")
    numbers = coins[:, [0, 0, 0, 1, 1]] + rng.normal(scale=0.4, size=(2000, 5))
    lines = ["a,b,c,d,e", *(",".join(f"{x:.4f}" for x in row) for row in numbers)]
    (directory / "numbers.csv").write_text("\n".join(lines) + "\n")
    return directory


@pytest.fixture
def run(folder, monkeypatch):
    """Runs `tacit structure` in that folder and gives what it printed."""
    monkeypatch.chdir(folder)

    def call(*arguments, code=0):
        return tacit_says("structure", *arguments, code=code)

    return call


def test_the_command_knows_every_method_and_metric():
    assert tuple(method.value for method in Method) == STRUCTURES
    assert tuple(metric.value for metric in Metric) == METRICS


@pytest.mark.parametrize("method", STRUCTURES)
def test_the_tree_is_printed_and_can_be_learnt_on(run, folder, method):
    printed = run("words.csv", "--method", method)
    names = ["a", "b b", "c", "d", "e'e", "f"]
    learnt = tacit.learn_structure(folder / "words.csv", method)
    assert printed == learnt.to_newick() + "\n"
    # Inner nodes that are columns are taken for observed again.
    assert tacit.Topology.parse(printed.strip(), names) == learnt


def test_the_tree_is_written_with_a_summary(run, tmp_path):
    tree = tmp_path / "tree.nwk"
    printed = run("words.csv", "-o", tree, "--method", "neighbor-joining")
    assert printed == (
        "neighbor-joining: 6 columns, 4 hidden nodes, 0 of 15 distances unsupported; "
        f"written to {tree}\n"
    )
    assert tree.read_text().endswith(";\n")
    assert "1 hidden node; written" in run("words.csv", "-o", tree, "--method", "star")


def test_distances_that_the_data_cannot_support_are_counted(run, tmp_path):
    lines = "a,b,c,d\n" + "0,0,1,0\n1,1,1,0\n0,0,1,1\n1,1,1,1\n" * 50
    (tmp_path / "constant.csv").write_text(lines)
    report = json.loads(run(tmp_path / "constant.csv", "--json"))
    # c is constant, d is independent of all others.
    assert report["n_unsupported"] == 5


def test_a_summary_in_json(run, tmp_path):
    report = json.loads(run("words.csv", "--json", "--method", "chow-liu"))
    assert (report["method"], report["n_columns"], report["n_hidden"]) == ("chow-liu", 6, 0)
    assert "tree" not in report
    tree = tmp_path / "tree.nwk"
    report = json.loads(run("words.csv", "--json", "-o", tree))
    assert report["tree"] == str(tree)
    assert tree.read_text() == report["newick"] + "\n"


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_a_picture_is_drawn(run, tmp_path, ending):
    picture = tmp_path / f"tree.{ending}"
    printed = run("words.csv", "--plot", picture)
    assert printed.startswith("(")  # the tree is still printed
    content = picture.read_bytes()
    assert content.startswith(b"\x89PNG") if ending == "png" else b"e'e" in content


@pytest.mark.parametrize("metric", ["gaussian", "nonparanormal", "kernel"])
def test_numbers_have_distances_of_their_own(run, folder, metric):
    newick = run("numbers.csv", "--metric", metric, "--method", "neighbor-joining")
    topology = tacit.Topology.from_newick(newick.strip())
    assert frozenset("de") in tacit.evaluate.splits(topology)
    assert topology == tacit.learn_structure(
        folder / "numbers.csv", "neighbor-joining", metric=metric
    )


def test_columns_can_be_dropped_and_states_given(run):
    report = json.loads(run("words.csv", "--drop", "a", "--drop", "b b", "--states", "2", "--json"))
    assert report["n_columns"] == 4


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["words.csv", "-o", "tree.txt"], "end 'tree.txt' with .nwk"),
        (["words.csv", "--plot", "tree.doc"], "does not end like a picture"),
        (["absent.csv"], "absent.csv"),
        (["words.csv", "--metric", "gaussian"], "column 'a' holds something else than numbers"),
        (["words.csv", "--drop", "aa"], "did you mean 'a'?"),
        (["numbers.csv", "--metric", "gaussian", "--states", "2"], "n_states belongs to"),
    ],
)
def test_errors_are_one_line_and_nothing_is_written(run, folder, arguments, complaint):
    before = sorted(folder.iterdir())
    printed = run(*arguments, code=1)
    assert printed.startswith("error: ")
    assert complaint in printed
    assert printed.count("\n") == 1
    assert sorted(folder.iterdir()) == before


def test_an_unknown_method_is_a_wrong_command(run):
    assert "neighbor-joining" in run("words.csv", "--method", "neighbour", code=2)
