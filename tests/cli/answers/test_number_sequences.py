"""The sub-commands on models of sequences of numbers, against what the models themselves say."""

import csv
import json
from itertools import zip_longest

import numpy as np
import pytest

import tacit
from oracles.commands import rows_of, tacit_says


def sequence(n, seed):
    """Numbers of two kinds of weather that last."""
    rng = np.random.default_rng(seed)
    state = np.cumsum(rng.random(n) < 0.1) % 2
    return rng.normal(np.where(state, 3.0, -1.0)).round(4)


A, B = sequence(120, 0), sequence(80, 1)


def write(path, header, rows):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with two sequences as columns, in the long form, and one with gaps beside dates."""
    here = tmp_path_factory.mktemp("sequences")
    padded = [*B, *[""] * (len(A) - len(B))]
    write(here / "wide.csv", ["a", "b"], zip(A, padded, strict=True))
    turns = zip_longest([("first", x, -x) for x in A], [("second", x, -x) for x in B])
    write(here / "long.csv", ["who", "v", "w"], [row for turn in turns for row in turn if row])
    gaps = [(f"day {day}", "" if day % 7 == 3 else x) for day, x in enumerate(A)]
    write(here / "one.csv", ["date", "r"], gaps)
    fits = {
        "wide": ["wide.csv"],
        "long": ["long.csv", "--sequence", "who"],
        "one": ["one.csv", "--drop", "date", "--learn", "spectral"],
    }
    for name, (data, *more) in fits.items():
        fit = ["fit", "kernel-hmm", str(here / data), "-o", str(here / f"{name}.tacit"), *more]
        tacit_says(*fit, "--states", "2", "--bells", "4")
    return here


def model(folder, name):
    return tacit.load(folder / f"{name}.tacit")


def given(name):
    """The sequences of a file as the estimator takes them."""
    if name == "wide":
        return [A, B]
    if name == "long":
        return [np.column_stack([each, -each]) for each in (A, B)]
    return [np.where(np.arange(len(A)) % 7 == 3, np.nan, A)]


@pytest.mark.parametrize("name", ["wide", "long", "one"])
def test_fit_saves_the_model_that_the_estimator_learns(folder, name):
    learn = "spectral" if name == "one" else "auto"
    same = tacit.KernelHMM(2, learn, n_bells=4).fit(given(name))
    found = model(folder, name)
    assert found.names_ == {"wide": ("x0",), "long": ("v", "w"), "one": ("r",)}[name]
    assert found.score(given(name)) == pytest.approx(same.score(given(name)), rel=1e-12)
    assert found.progress is None


def test_fit_says_what_it_learnt(run, tmp_path):
    out = tmp_path / "m.tacit"
    fit = ("fit", "kernel-hmm", "-o", out, "--states", "2", "--bells", "4", "--max-iter", "9")
    said = run(*fit, "wide.csv")
    assert said == f"2 sequences, 200 positions, 2 hidden states; saved as {out}\n"
    said = run(*fit, "wide.csv", "--together", "--validation", "wide.csv", "--seed", "3")
    assert said.startswith("1 sequence, 120 positions, 2 hidden states; ")
    found = tacit.load(out)
    assert found.names_ == ("a", "b")
    assert (found.max_iter, found.n_bells, found.random_state) == (9, 4, 3)
    said = json.loads(run(*fit, "one.csv", "--drop", "date", "--bandwidth", "0.5", "--json"))
    assert (said["n_sequences"], said["n_positions"], said["columns"]) == (1, 120, ["r"])
    assert tacit.load(out).bandwidth == 0.5


@pytest.mark.parametrize("name", ["wide", "long", "one"])
def test_score_is_that_of_a_sequence(run, folder, tmp_path, name):
    fitted = model(folder, name)
    said = json.loads(run("score", f"{name}.tacit", f"{name}.csv", "--json"))
    assert said["score"] == pytest.approx(fitted.score(given(name)), rel=1e-12)
    assert said["n_sequences"] == len(given(name))
    run("score", f"{name}.tacit", f"{name}.csv", "-o", tmp_path / "s.csv")
    found = rows_of((tmp_path / "s.csv").read_text())
    expected = fitted.score_samples(given(name)).tolist()
    assert [float(row["log_density"]) for row in found] == pytest.approx(expected, rel=1e-12)
    text = run("score", f"{name}.tacit", f"{name}.csv")
    assert text.startswith(f"{said['score']:.4f}")
    assert f"{said['per_position']:.4f} nats per position" in text


def test_the_next_number_of_each_sequence_is_predicted(run, folder):
    fitted = model(folder, "long")
    found = rows_of(run("predict", "long.tacit", "long.csv", "-t", "w", "-q", "0.25"))
    assert [row["who"] for row in found] == ["first", "second"]
    expected = fitted.expectation(given("long"), target="w")
    assert [float(row["w"]) for row in found] == pytest.approx(expected.tolist(), rel=1e-12)
    expected = fitted.quantiles(given("long"), 0.25, target="w")
    assert [float(row["w 25%"]) for row in found] == pytest.approx(expected.tolist(), rel=1e-12)
    found = rows_of(run("predict", "wide.tacit", "wide.csv"))
    assert [row["sequence"] for row in found] == ["a", "b"]
    assert "sequence" not in rows_of(run("predict", "one.tacit", "one.csv"))[0]


def test_every_position_is_predicted_from_those_before_it(run, folder, tmp_path):
    fitted = model(folder, "one")
    said = run("predict", "one.tacit", "one.csv", "--each", "-o", tmp_path / "p.csv")
    found = rows_of((tmp_path / "p.csv").read_text())
    (expected,) = fitted.expectation(given("one"), all_positions=True)
    assert [float(row["r"]) for row in found] == pytest.approx(expected.tolist(), rel=1e-12)
    (medians,) = fitted.quantiles(given("one"), 0.5, all_positions=True)
    errors = np.abs(medians - given("one")[0])
    n_known = int(np.isfinite(errors).sum())
    assert f"120 rows written to {tmp_path / 'p.csv'}; {n_known} known values, " in said
    assert f"mean absolute error {np.nanmean(errors):.4g}" in said
    said = json.loads(run("predict", "wide.tacit", "wide.csv", "--each", "--json"))
    assert said["sequences"] == ["a"] * 120 + ["b"] * 80
    assert said["known"] == 200


def test_sequences_are_drawn(run, folder):
    found = rows_of(run("sample", "long.tacit", "-n", 2, "--length", 3, "--seed", 4))
    expected = model(folder, "long").sample(2, 3, random_state=4).reshape(6, 2)
    assert [row["who"] for row in found] == ["0", "0", "0", "1", "1", "1"]
    assert [float(row["w"]) for row in found] == expected[:, 1].tolist()
    assert len(rows_of(run("sample", "one.tacit", "-n", 1))) == 100


def test_info_shows_columns_and_states(run):
    assert run("info", "long.tacit") == f"{tacit.load('long.tacit').summary()}\n"
    said = json.loads(run("info", "long.tacit", "--json"))
    assert said["columns"] == ["v", "w"]
    assert said["n_states"] == 2
    assert said["diagnostics"]["n_sequences"] == 2


def test_a_forecast_is_drawn(run, tmp_path):
    pytest.importorskip("matplotlib")
    out = tmp_path / "f.svg"
    run("forecast", "one.tacit", "one.csv", "-o", out, "--last", 20, "--ahead", 5)
    assert out.read_bytes().startswith(b"<?xml")
    run("forecast", "long.tacit", "long.csv", "-o", out, "--sequence", "second", "-t", "w")
    assert b">w<" in out.read_bytes()
    said = run("forecast", "wide.tacit", "wide.csv", "-o", out, code=1)
    assert "no sequence is chosen; 'wide.csv' has 'a', 'b': name one by --sequence" in said
    said = run("forecast", "wide.tacit", "wide.csv", "-o", out, "--sequence", "c", code=1)
    assert "there is no sequence 'c'" in said
    said = run("forecast", "long.tacit", "long.csv", "-o", out, "--sequence", "first", code=1)
    assert "name one by --target" in said
    assert "try .svg" in run("forecast", "one.tacit", "one.csv", "-o", "f.doc", code=1)


@pytest.mark.parametrize(
    ("arguments", "code", "complaint"),
    [
        (["one.csv"], 1, "column 'date' holds something else than numbers; leave it out"),
        (["long.csv", "--sequence", "whom"], 1, "did you mean 'who'?"),
        (["long.csv", "--sequence", "who", "--together"], 2, "give one of the two"),
        (["wide.csv", "--states", "two"], 2, "'two' is neither a number nor auto"),
        (["wide.csv", "--states", "0"], 1, "n_states=0"),
        (["wide.csv", "--bells", "few"], 2, "'few' is neither a number nor auto"),
        (["wide.csv", "--drop", "aa"], 1, "did you mean 'a'?"),
        (["no.csv"], 1, "there is no file 'no.csv'"),
    ],
)
def test_mistyped_arguments_of_fit_are_refused(run, tmp_path, arguments, code, complaint):
    out = tmp_path / "m.tacit"
    said = run("fit", "kernel-hmm", "-o", out, *arguments, code=code)
    assert complaint in said
    assert code == 2 or said.count("\n") == 1
    assert not out.exists()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["query", "one.tacit", "-t", "r"], "KernelHMM has no columns to query"),
        (["impute", "one.tacit", "one.csv"], "KernelHMM has no columns to fill in"),
        (["export", "one.tacit", "-o", "x.nwk"], "KernelHMM has no tree to write"),
        (["plot", "one.tacit", "-o", "x.svg"], "KernelHMM has no states with transitions"),
        (["plot", "one.tacit", "-o", "x.svg", "--density", "r"], "has no columns with densities"),
        (["sample", "one.tacit", "-g", "r=1"], "drawn from their start"),
        (["score", "one.tacit", "wide.csv"], "there is no column 'r'"),
        (["score", "wide.tacit", "one.csv"], "column 'date' holds something else than numbers"),
        (["predict", "long.tacit", "long.csv"], "name one by --target"),
        (["predict", "long.tacit", "long.csv", "-t", "vv"], "did you mean 'v'?"),
    ],
)
def test_what_a_model_of_sequences_cannot_tell_is_one_line(run, arguments, complaint):
    pytest.importorskip("matplotlib")
    said = run(*arguments, code=1)
    assert complaint in said
    assert said.startswith("error: ")
    assert said.count("\n") == 1


def test_options_of_sequences_are_not_for_rows(run, tmp_path):
    path = tmp_path / "m.tacit"
    tacit.ChowLiuTree().fit({"x": ["a", "c"] * 20, "y": ["b", "d"] * 20}).save(path)
    (tmp_path / "d.csv").write_text("x,y\na,b\n")
    assert "leave --length out" in run("sample", path, "--length", "3", code=1)
    assert "name a column" in run("predict", path, tmp_path / "d.csv", code=2)
    said = run("predict", path, tmp_path / "d.csv", "-t", "x", "--each", code=1)
    assert "--each is for sequences" in said
    pytest.importorskip("matplotlib")
    said = run("forecast", path, tmp_path / "d.csv", "-o", tmp_path / "x.svg", code=1)
    assert "has no densities over time (fit kernel-hmm)" in said


def test_a_model_taught_in_python_reads_its_columns_by_name(run, tmp_path, folder):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"v": A, "w": -A})
    fitted = tacit.KernelHMM(2, n_bells=4).fit(frame)
    fitted.save(tmp_path / "m.tacit")
    frame.assign(extra="text").to_csv(tmp_path / "d.csv", index=False)
    said = json.loads(run("score", tmp_path / "m.tacit", tmp_path / "d.csv", "--json"))
    assert said["score"] == pytest.approx(fitted.score(frame))
