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
    directory = tmp_path_factory.mktemp("sequences")
    padded = [*B, *[""] * (len(A) - len(B))]
    write(directory / "wide.csv", ["a", "b"], zip(A, padded, strict=True))
    turns = zip_longest([("first", x, -x) for x in A], [("second", x, -x) for x in B])
    write(directory / "long.csv", ["who", "v", "w"], [row for turn in turns for row in turn if row])
    gaps = [(f"day {day}", "" if day % 7 == 3 else x) for day, x in enumerate(A)]
    write(directory / "one.csv", ["date", "r"], gaps)
    fits = {
        "wide": ["wide.csv"],
        "long": ["long.csv", "--sequence", "who"],
        "one": ["one.csv", "--drop", "date", "--learn", "spectral"],
    }
    for name, (data, *more) in fits.items():
        fit = [
            "fit",
            "kernel-hmm",
            str(directory / data),
            "-o",
            str(directory / f"{name}.tacit"),
            *more,
        ]
        tacit_says(*fit, "--states", "2", "--basis", "4")
    return directory


def model(folder, name):
    return tacit.load(folder / f"{name}.tacit")


def training_data(name):
    """The sequences of a file as the estimator takes them."""
    if name == "wide":
        return [A, B]
    if name == "long":
        return [np.column_stack([values, -values]) for values in (A, B)]
    return [np.where(np.arange(len(A)) % 7 == 3, np.nan, A)]


@pytest.mark.parametrize("name", ["wide", "long", "one"])
def test_fit_saves_the_model_that_the_estimator_learns(folder, name):
    learn = "spectral" if name == "one" else "auto"
    same = tacit.KernelHMM(2, learn, n_basis=4).fit(training_data(name))
    loaded = model(folder, name)
    assert loaded.names_ == {"wide": ("x0",), "long": ("v", "w"), "one": ("r",)}[name]
    assert loaded.score(training_data(name)) == pytest.approx(
        same.score(training_data(name)), rel=1e-12
    )
    assert loaded.progress is None


def test_fit_says_what_it_learnt(run, tmp_path):
    out = tmp_path / "m.tacit"
    fit = ("fit", "kernel-hmm", "-o", out, "--states", "2", "--basis", "4", "--max-iter", "9")
    printed = run(*fit, "wide.csv")
    assert printed == f"2 sequences, 200 positions, 2 hidden states; saved as {out}\n"
    printed = run(*fit, "wide.csv", "--together", "--validation", "wide.csv", "--seed", "3")
    assert printed.startswith("1 sequence, 120 positions, 2 hidden states; ")
    loaded = tacit.load(out)
    assert loaded.names_ == ("a", "b")
    assert (loaded.max_iter, loaded.n_basis, loaded.random_state) == (9, 4, 3)
    printed = json.loads(run(*fit, "one.csv", "--drop", "date", "--bandwidth", "0.5", "--json"))
    assert (printed["n_sequences"], printed["n_positions"], printed["columns"]) == (1, 120, ["r"])
    assert tacit.load(out).bandwidth == 0.5


@pytest.mark.parametrize("name", ["wide", "long", "one"])
def test_score_is_that_of_a_sequence(run, folder, tmp_path, name):
    fitted = model(folder, name)
    report = json.loads(run("score", f"{name}.tacit", f"{name}.csv", "--json"))
    assert report["score"] == pytest.approx(fitted.score(training_data(name)), rel=1e-12)
    assert report["n_sequences"] == len(training_data(name))
    run("score", f"{name}.tacit", f"{name}.csv", "-o", tmp_path / "s.csv")
    rows = rows_of((tmp_path / "s.csv").read_text())
    expected = fitted.score_samples(training_data(name)).tolist()
    assert [float(row["log_density"]) for row in rows] == pytest.approx(expected, rel=1e-12)
    text = run("score", f"{name}.tacit", f"{name}.csv")
    assert text.startswith(f"{report['score']:.4f}")
    assert f"{report['per_position']:.4f} nats per position" in text


def test_the_next_number_of_each_sequence_is_predicted(run, folder):
    fitted = model(folder, "long")
    rows = rows_of(run("predict", "long.tacit", "long.csv", "-t", "w", "-q", "0.25"))
    assert [row["who"] for row in rows] == ["first", "second"]
    expected = fitted.expectation(training_data("long"), target="w")
    assert [float(row["w"]) for row in rows] == pytest.approx(expected.tolist(), rel=1e-12)
    expected = fitted.quantiles(training_data("long"), 0.25, target="w")
    assert [float(row["w 25%"]) for row in rows] == pytest.approx(expected.tolist(), rel=1e-12)
    rows = rows_of(run("predict", "wide.tacit", "wide.csv"))
    assert [row["sequence"] for row in rows] == ["a", "b"]
    assert "sequence" not in rows_of(run("predict", "one.tacit", "one.csv"))[0]


def test_every_position_is_predicted_from_those_before_it(run, folder, tmp_path):
    fitted = model(folder, "one")
    printed = run("predict", "one.tacit", "one.csv", "--all-positions", "-o", tmp_path / "p.csv")
    rows = rows_of((tmp_path / "p.csv").read_text())
    (expected,) = fitted.expectation(training_data("one"), all_positions=True)
    assert [float(row["r"]) for row in rows] == pytest.approx(expected.tolist(), rel=1e-12)
    (medians,) = fitted.quantiles(training_data("one"), 0.5, all_positions=True)
    errors = np.abs(medians - training_data("one")[0])
    n_known = int(np.isfinite(errors).sum())
    assert f"120 rows written to {tmp_path / 'p.csv'}; {n_known} known values, " in printed
    assert f"mean absolute error {np.nanmean(errors):.4g}" in printed
    printed = json.loads(run("predict", "wide.tacit", "wide.csv", "--all-positions", "--json"))
    assert printed["sequences"] == ["a"] * 120 + ["b"] * 80
    assert printed["known"] == 200


def test_sequences_are_drawn(run, folder):
    rows = rows_of(run("sample", "long.tacit", "-n", 2, "--length", 3, "--seed", 4))
    expected = model(folder, "long").sample(2, 3, random_state=4).reshape(6, 2)
    assert [row["who"] for row in rows] == ["0", "0", "0", "1", "1", "1"]
    assert [float(row["w"]) for row in rows] == expected[:, 1].tolist()
    assert len(rows_of(run("sample", "one.tacit", "-n", 1))) == 100


def test_info_shows_columns_and_states(run):
    assert run("info", "long.tacit") == f"{tacit.load('long.tacit').summary()}\n"
    report = json.loads(run("info", "long.tacit", "--json"))
    assert report["columns"] == ["v", "w"]
    assert report["n_states"] == 2
    assert report["diagnostics"]["n_sequences"] == 2


def test_a_forecast_is_drawn(run, tmp_path):
    pytest.importorskip("matplotlib")
    out = tmp_path / "f.svg"
    run("forecast", "one.tacit", "one.csv", "-o", out, "--last", 20, "--ahead", 5)
    assert out.read_bytes().startswith(b"<?xml")
    run("forecast", "long.tacit", "long.csv", "-o", out, "--sequence", "second", "-t", "w")
    assert b">w<" in out.read_bytes()
    printed = run("forecast", "wide.tacit", "wide.csv", "-o", out, code=1)
    assert "no sequence is chosen; 'wide.csv' has 'a', 'b': name one by --sequence" in printed
    printed = run("forecast", "wide.tacit", "wide.csv", "-o", out, "--sequence", "c", code=1)
    assert "there is no sequence 'c'" in printed
    printed = run("forecast", "long.tacit", "long.csv", "-o", out, "--sequence", "first", code=1)
    assert "name one by --target" in printed
    assert "try .svg" in run("forecast", "one.tacit", "one.csv", "-o", "f.doc", code=1)


@pytest.mark.parametrize(
    ("arguments", "code", "complaint"),
    [
        (["one.csv"], 1, "column 'date' holds something else than numbers; leave it out"),
        (["long.csv", "--sequence", "whom"], 1, "did you mean 'who'?"),
        (["long.csv", "--sequence", "who", "--together"], 2, "give one of the two"),
        (["wide.csv", "--states", "two"], 2, "'two' is neither a number nor auto"),
        (["wide.csv", "--states", "0"], 1, "n_states=0"),
        (["wide.csv", "--basis", "few"], 2, "'few' is neither a number nor auto"),
        (["wide.csv", "--drop", "aa"], 1, "did you mean 'a'?"),
        (["no.csv"], 1, "there is no file 'no.csv'"),
    ],
)
def test_mistyped_arguments_of_fit_are_refused(run, tmp_path, arguments, code, complaint):
    out = tmp_path / "m.tacit"
    printed = run("fit", "kernel-hmm", "-o", out, *arguments, code=code)
    assert complaint in printed
    assert code == 2 or printed.count("\n") == 1
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
    printed = run(*arguments, code=1)
    assert complaint in printed
    assert printed.startswith("error: ")
    assert printed.count("\n") == 1


def test_options_of_sequences_are_not_for_rows(run, tmp_path):
    path = tmp_path / "m.tacit"
    tacit.ChowLiuTree().fit({"x": ["a", "c"] * 20, "y": ["b", "d"] * 20}).save(path)
    (tmp_path / "d.csv").write_text("x,y\na,b\n")
    assert "leave --length out" in run("sample", path, "--length", "3", code=1)
    assert "name a column" in run("predict", path, tmp_path / "d.csv", code=2)
    printed = run("predict", path, tmp_path / "d.csv", "-t", "x", "--all-positions", code=1)
    assert "--all-positions is for sequences" in printed
    pytest.importorskip("matplotlib")
    printed = run("forecast", path, tmp_path / "d.csv", "-o", tmp_path / "x.svg", code=1)
    assert "has no densities over time (fit kernel-hmm)" in printed


def test_a_model_taught_in_python_reads_its_columns_by_name(run, tmp_path, folder):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"v": A, "w": -A})
    fitted = tacit.KernelHMM(2, n_basis=4).fit(frame)
    fitted.save(tmp_path / "m.tacit")
    frame.assign(extra="text").to_csv(tmp_path / "d.csv", index=False)
    report = json.loads(run("score", tmp_path / "m.tacit", tmp_path / "d.csv", "--json"))
    assert report["score"] == pytest.approx(fitted.score(frame))
