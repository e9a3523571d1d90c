"""The sub-commands on graphs of observed and hidden variables, against what the models say."""

import json

import numpy as np
import pytest

import tacit
from oracles.commands import tacit_says

NAMES = [f"t{place}" for place in range(6)]
GRAPH = """# two hidden variables that share a column
h1 -> h2
h1 -> t0
h1,t1
h1 t2
h2 -> t2
h2 -> t3
h2 -> t4
h2 -> t5
"""


def letters(n_rows, seed):
    """Rows of a sticky coin that is seen through noise."""
    rng = np.random.default_rng(seed)
    coin = np.cumsum(rng.random((n_rows, 6)) < 0.3, axis=1) % 2
    return np.array(list("ACG"))[np.where(rng.random(coin.shape) < 0.15, 2, coin)]


def write(path, rows):
    lines = [",".join(NAMES), *(",".join(row) for row in rows)]
    path.write_text("\n".join(lines) + "\n")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with tables, a graph and a model of it."""
    directory = tmp_path_factory.mktemp("junction")
    write(directory / "train.csv", letters(300, 0))
    gaps = letters(40, 1).astype(object)
    gaps[::3, 2] = ""
    write(directory / "test.csv", gaps)
    (directory / "graph.txt").write_text(GRAPH)
    fit = ["fit", "junction", str(directory / "train.csv"), "-o", str(directory / "m.tacit")]
    tacit_says(*fit, "--graph", str(directory / "graph.txt"), "--states", "2")
    return directory


@pytest.fixture
def model(folder):
    return tacit.load(folder / "m.tacit")


def edges():
    pairs = [("h1", "h2"), ("h1", "t0"), ("h1", "t1"), ("h1", "t2"), ("h2", "t2")]
    return [*pairs, ("h2", "t3"), ("h2", "t4"), ("h2", "t5")]


def test_fit_saves_the_model_that_the_estimator_learns(folder, model):
    same = tacit.LatentJunctionTree(edges(), n_states=2).fit(folder / "train.csv")
    assert model.score(folder / "test.csv") == pytest.approx(same.score(folder / "test.csv"))
    assert model.progress is None
    assert model.node_states_ == {"h1": 2, "h2": 2}


def test_fit_says_what_it_learnt(run, tmp_path):
    fit = ("fit", "junction", "train.csv", "-o", tmp_path / "m.tacit", "--graph", "graph.txt")
    printed = run(*fit, "--states", "h1=2, h2=3", "--learn", "em", "--restarts", "1")
    assert printed.startswith(
        "6 columns, 300 rows, 2 hidden variables with 2 to 3 states, treewidth 1"
    )
    printed = json.loads(run(*fit, "--states", "2", "--json"))
    assert printed["n_states"] == {"h1": 2, "h2": 2}
    assert (printed["n_hidden"], printed["treewidth"]) == (2, 1)


def test_edges_can_be_written_on_the_command_line(run, tmp_path):
    text = "; ".join(f"{parent} -> {child}" for parent, child in edges())
    out = tmp_path / "m.tacit"
    run("fit", "junction", "train.csv", "-o", out, "--graph", text, "--states", "2")
    assert set(tacit.load(out).graph.edges) == set(edges())


@pytest.mark.parametrize("learn", ["auto", "spectral", "em", "online-em"])
def test_presets_are_learnt_with_every_learner(run, tmp_path, learn):
    out = tmp_path / "m.tacit"
    fit = ("fit", "junction", "train.csv", "-o", out, "--states", "2", "--learn", learn)
    more = ("--restarts", "1", "--max-iter", "20", "--seed", "3", "--jobs", "1")
    assert "treewidth 2; saved" in run(*fit, "--order", "2", "--homogeneous", *more)
    loaded = tacit.load(out)
    assert isinstance(loaded, tacit.HigherOrderHMM)
    assert (loaded.order, loaded.homogeneous, loaded.learn, loaded.random_state) == (
        2,
        True,
        learn,
        3,
    )
    assert np.isfinite(json.loads(run("score", out, "test.csv", "--json"))["score"])
    run(*fit, "--chains", "2", *more)
    loaded = tacit.load(out)
    assert isinstance(loaded, tacit.FactorialHMM)
    assert (loaded.n_chains, loaded.homogeneous) == (2, False)


def test_held_out_rows_choose_the_order(run, tmp_path):
    out = tmp_path / "m.tacit"
    run("fit", "junction", "train.csv", "-o", out, "--order", "auto", "--jobs", "1")
    loaded = tacit.load(out)
    assert loaded.order == "auto"
    assert loaded.order_ in {candidate["order"] for candidate in loaded.diagnostics_["candidates"]}
    assert f"order {loaded.order_}" in run("info", out)
    run("fit", "junction", "train.csv", "-o", out, "--order", "0")
    assert tacit.load(out).order_ == 0


def test_a_plan_is_reported_and_nothing_learnt(run, tmp_path):
    model = tacit.HigherOrderHMM(2, 3)
    plan = model.plan("train.csv")
    output = run("fit", "junction", "train.csv", "--order", "2", "--states", "3", "--plan")
    assert output == f"{plan}\n"
    out = tmp_path / "m.tacit"
    more = ("--plan", "--json", "-o", out)
    printed = json.loads(
        run("fit", "junction", "train.csv", "--order", "2", "--states", "3", *more)
    )
    assert printed["treewidth"] == plan.treewidth == 2
    assert printed["separators"] == plan.separators
    assert not out.exists()
    dropped = run("fit", "junction", "train.csv", "--order", "1", "--drop", "t5", "--plan")
    assert dropped.startswith("treewidth 1: ")


def test_a_graph_that_is_too_wide_is_refused_in_one_line(run, tmp_path):
    command = ("fit", "junction", "train.csv", "--chains", "12", "--states", "9")
    for more in (["--plan"], ["-o", tmp_path / "m.tacit"]):
        printed = run(*command, *more, code=1)
        assert printed.startswith(
            "error: the graph has treewidth 12: the joint states of its largest clique ['a"
        )
        assert printed.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "code", "complaint"),
    [
        ([], 2, "give one of --graph, --order and --chains"),
        (["--order", "2", "--chains", "2"], 2, "give one of --graph, --order and --chains"),
        (["--graph", "graph.txt", "--homogeneous"], 2, "it goes with --order or --chains"),
        (["--order", "-1"], 2, "'-1' is negative"),
        (["--order", "first"], 2, "neither a number nor auto"),
        (["--order", "2", "--learn", "spektral"], 2, "'online-em'"),
        (["--graph", "graph.txt", "--states", "h1=2,h2=x"], 2, "'h2=x' is not NAME=N"),
        (["--graph", "graph.txt", "--states", "many"], 2, "neither a number nor auto"),
        (["--graph", "graph.txt", "--states", "h1=2,h3=2"], 1, "n_states names 'h3'"),
        (["--graph", "grph.txt"], 1, "'grph.txt' is neither a file with a graph nor edges"),
        (["--graph", "train.csv"], 1, "is no edge"),
        (["--graph", "h -> t0; h -> t1"], 1, "column 't2' is not in the graph"),
        (["--graph", "t0 -> t1 -> t0"], 1, "the graph has a directed cycle"),
        (["--order", "2", "--drop", "t9"], 1, "there is no column 't9'"),
    ],
)
def test_what_makes_no_sense_is_refused(run, tmp_path, arguments, code, complaint):
    out = tmp_path / "m.tacit"
    printed = run("fit", "junction", "train.csv", "-o", out, *arguments, code=code)
    assert complaint in printed
    assert code == 2 or (printed.startswith("error: ") and printed.count("\n") == 1)
    assert not out.exists()


def test_the_model_file_is_needed_unless_a_plan_is_requested(run):
    printed = run("fit", "junction", "train.csv", "--order", "2", code=2)
    assert "say where the model goes, or --plan" in printed
    printed = run("fit", "junction", "no.csv", "--order", "2", "-o", "m.pkl", code=1)
    assert "say 'm.tacit'" in printed


def test_rows_are_scored_predicted_filled_and_drawn(run, model):
    scored = json.loads(run("score", "m.tacit", "test.csv", "--json"))
    assert scored["score"] == pytest.approx(model.score("test.csv"))
    assert run("predict", "m.tacit", "test.csv", "--target", "t2").startswith("t2,P(t2=A)")
    filled = run("impute", "m.tacit", "test.csv").splitlines()
    assert len(filled) == 41
    assert ",," not in "".join(filled)
    drawn = run("sample", "m.tacit", "-n", 5, "--given", "t0=A", "--seed", 0).splitlines()
    assert [line.split(",")[0] for line in drawn] == ["t0"] + ["A"] * 5


def test_a_question_is_answered(run, model):
    report = json.loads(run("query", "m.tacit", "-g", "t1=A|C", "-t", "t2", "--json"))
    probabilities = {row["t2"]: row["probability"] for row in report["probabilities"]}
    assert probabilities == pytest.approx(model.query("t2", given={"t1": {"A", "C"}}))
    assert "did you mean" in run("query", "m.tacit", "-t", "tt2", code=1)


def test_info_shows_the_junction_tree(run, model):
    assert run("info", "m.tacit") == f"{tacit.load('m.tacit').summary()}\n"
    report = json.loads(run("info", "m.tacit", "--json"))
    assert report["n_states"] == {"h1": 2, "h2": 2}
    assert sorted(map(tuple, report["graph"]["edges"])) == sorted(edges())
    assert report["treewidth"] == 1


def test_the_junction_tree_is_drawn_and_written(run, model, tmp_path):
    pytest.importorskip("matplotlib")
    run("plot", "m.tacit", "-o", tmp_path / "t.svg")
    assert b">t0<" in (tmp_path / "t.svg").read_bytes()
    run("plot", "m.tacit", "-o", tmp_path / "d.svg", "--density", "t2", "-g", "t1=A|C")
    assert b">t1 = C<" in (tmp_path / "d.svg").read_bytes()
    run("export", "m.tacit", "-o", tmp_path / "t.nwk")
    assert (tmp_path / "t.nwk").read_text() == model.topology_.to_newick() + "\n"
    assert "a LatentJunctionTree has none" in run(
        "export", "m.tacit", "-o", tmp_path / "m.bif", code=1
    )
