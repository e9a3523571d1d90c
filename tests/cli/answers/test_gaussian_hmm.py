"""The sub-commands on hidden Markov models of normal numbers, against what the models themselves say."""

import csv
import json

import numpy as np
import pytest

import tacit
from oracles.commands import rows_of, tacit_says


def rows(n, seed):
    """Two columns that two kinds of weather move apart, each of which lasts."""
    rng = np.random.default_rng(seed)
    state = np.cumsum(rng.random(n) < 0.15) % 2
    return (np.where(state, 3.0, -1.0)[:, None] * [1, -1] + rng.normal(size=(n, 2))).round(4)


A, B = rows(90, 0), rows(60, 1)


def write(path, header, cells):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([header, *cells])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with two sequences of two columns, one sequence of a column with gaps, and their models."""
    directory = tmp_path_factory.mktemp("normals")
    cells = [("a", *row) for row in A.tolist()] + [("b", *row) for row in B.tolist()]
    write(directory / "long.csv", ["who", "v", "w"], cells)
    gaps = [(f"day {day}", "" if day % 9 == 4 else x) for day, x in enumerate(A[:, 0].tolist())]
    write(directory / "one.csv", ["date", "v"], gaps)
    fits = {
        "long": ["long.csv", "--sequence", "who", "--covariance", "diagonal"],
        "one": ["one.csv", "--drop", "date"],
    }
    for name, (data, *more) in fits.items():
        fit = ["fit", "hmm", directory / data, "-o", directory / f"{name}.tacit", *more]
        tacit_says(*fit, "--emissions", "gaussian", "--states", "2")
    return directory


def training_data(name):
    """The sequences of a file as the estimator takes them."""
    if name == "long":
        return [A, B]
    return [np.where(np.arange(len(A)) % 9 == 4, np.nan, A[:, 0])]


def column(rows, name):
    return pytest.approx([float(row[name]) for row in rows], rel=1e-10)


@pytest.mark.parametrize("name", ["long", "one"])
def test_fit_saves_the_model_that_the_estimator_learns(folder, name):
    covariance = "diagonal" if name == "long" else "full"
    same = tacit.HMM(2, emissions="gaussian", covariance=covariance).fit(training_data(name))
    loaded = tacit.load(folder / f"{name}.tacit")
    assert loaded.names_ == {"long": ("v", "w"), "one": ("v",)}[name]
    np.testing.assert_allclose(loaded.means_, same.means_, rtol=1e-12)
    np.testing.assert_allclose(loaded.covariances_, same.covariances_, rtol=1e-12)
    assert loaded.progress is None


def test_fit_says_what_it_learnt(run, tmp_path):
    out = tmp_path / "m.tacit"
    fit = ("fit", "hmm", "-o", out, "--emissions", "gaussian", "--states", 2, "--learn", "tensor")
    printed = run(*fit, "long.csv", "--sequence", "who", "--validation", "long.csv")
    assert printed == (f"2 sequences, 150 positions, 2 columns; hidden states: 2; saved as {out}\n")
    printed = json.loads(run(*fit, "one.csv", "--drop", "date", "--json"))
    assert (printed["n_sequences"], printed["n_positions"], printed["columns"]) == (1, 90, ["v"])


def test_durations_are_learnt_and_shown(run, folder, tmp_path):
    out = tmp_path / "m.tacit"
    fit = ("fit", "hmm", folder / "long.csv", "-o", out, "--sequence", "who", "--states", 2)
    fit = (*fit, "--emissions", "gaussian", "--max-duration", 9)
    run(*fit, "--durations", "table")
    same = tacit.HMM(2, emissions="gaussian", durations="table", max_duration=9).fit([A, B])
    np.testing.assert_allclose(tacit.load(out).durations_.hazards, same.durations_.hazards)
    assert "Durations (table)" in run("info", out)
    assert len(run("sample", out, "--length", 5).splitlines()) > 5
    assert "--durations table" in run(*fit, code=2)


@pytest.mark.parametrize("name", ["long", "one"])
def test_score_is_that_of_the_model(run, folder, tmp_path, name):
    fitted = tacit.load(folder / f"{name}.tacit")
    logs = fitted.score_samples(training_data(name))
    report = json.loads(run("score", f"{name}.tacit", f"{name}.csv", "--json"))
    n_positions = 150 if name == "long" else int((~np.isnan(training_data(name)[0])).sum())
    assert report["score"] == pytest.approx(logs.mean(), rel=1e-12)
    assert report["per_position"] == pytest.approx(logs.sum() / n_positions, rel=1e-12)
    assert (report["n_sequences"], report["n_positions"]) == (len(logs), n_positions)
    run("score", f"{name}.tacit", f"{name}.csv", "-o", tmp_path / "s.csv")
    rows = rows_of((tmp_path / "s.csv").read_text())
    assert logs.tolist() == column(rows, "log_density")
    assert "nats per position" in run("score", f"{name}.tacit", f"{name}.csv")


def test_the_next_numbers_are_predicted(run, folder, tmp_path):
    fitted = tacit.load(folder / "long.tacit")
    rows = rows_of(run("predict", "long.tacit", "long.csv", "-t", "w", "-q", 0.25))
    assert [row["who"] for row in rows] == ["a", "b"]
    assert fitted.expectation([A, B])[:, 1].tolist() == column(rows, "w")
    assert fitted.quantiles([A, B], 0.25)[:, 1].tolist() == column(rows, "w 25%")
    fitted = tacit.load(folder / "one.tacit")
    printed = run("predict", "one.tacit", "one.csv", "--all-positions", "-o", tmp_path / "p.csv")
    rows = rows_of((tmp_path / "p.csv").read_text())
    (means,) = fitted.expectation(training_data("one"), all_positions=True)
    (quantiles,) = fitted.quantiles(training_data("one"), [0.05, 0.5, 0.95], all_positions=True)
    assert means.tolist() == column(rows, "v")
    assert quantiles[:, 2].tolist() == column(rows, "v 95%")
    error = np.nanmean(np.abs(training_data("one")[0] - quantiles[:, 1]))
    assert f"80 known values, mean absolute error {error:.4g}" in printed
    assert "name one by --target" in run("predict", "long.tacit", "long.csv", code=1)


def test_states_behind_the_positions_are_reported(run, folder):
    fitted = tacit.load(folder / "long.tacit")
    rows = rows_of(run("predict", "long.tacit", "long.csv", "--states"))
    paths, logs = fitted.predict([A, B], return_log_probs=True)
    assert [row["who"] for row in rows] == ["a"] * 90 + ["b"] * 60
    assert [int(row["state"]) for row in rows] == np.concatenate(paths).tolist()
    assert np.concatenate(fitted.posterior([A, B]))[:, 1].tolist() == column(rows, "P(state=1)")
    assert [int(row["position"]) for row in rows] == [*range(90), *range(60)]
    printed = json.loads(run("predict", "long.tacit", "long.csv", "--states", "--json"))
    assert printed["log_probs"] == pytest.approx(logs.tolist(), rel=1e-12)
    assert "who" not in rows_of(run("predict", "one.tacit", "one.csv", "--states"))[0]
    printed = run("predict", "long.tacit", "long.csv", "--states", "--all-positions", code=2)
    assert "neither --target nor" in printed


def test_states_of_symbols_are_reported_too(run, tmp_path):
    lines, path = [list("aabbb"), list("ba"), list("abab")], tmp_path / "letters.txt"
    path.write_text("".join(" ".join(line) + "\n" for line in lines))
    model = tacit.HMM(2, "em", n_restarts=1).fit(lines)
    model.save(tmp_path / "m.tacit")
    rows = rows_of(run("predict", tmp_path / "m.tacit", path, "--states"))
    paths = model.predict(lines)
    assert [int(row["state"]) for row in rows] == np.concatenate(paths).tolist()
    assert [row["sequence"] for row in rows] == list("00000112222")
    tacit.ChowLiuTree().fit({"x": ["a", "c"] * 20, "y": ["b", "d"] * 20}).save(tmp_path / "t.tacit")
    printed = run("predict", tmp_path / "t.tacit", "long.csv", "--states", code=1)
    assert "ChowLiuTree has no hidden states" in printed


def test_numbers_are_drawn(run, folder):
    rows = rows_of(run("sample", "long.tacit", "-n", 2, "--length", 3, "--seed", 4))
    drawn = tacit.load(folder / "long.tacit").sample(2, 3, random_state=4).reshape(6, 2)
    assert [row["who"] for row in rows] == ["0", "0", "0", "1", "1", "1"]
    assert drawn[:, 1].tolist() == column(rows, "w")
    rows = rows_of(run("sample", "one.tacit", "-n", 1, "--length", 4, "-g", "3 2.5", "--seed", 1))
    drawn = tacit.load(folder / "one.tacit").sample(1, 4, given=[3, 2.5], random_state=1)
    assert drawn[0].tolist() == column(rows, "v")


def test_what_was_drawn_can_be_learnt_from(run, tmp_path):
    drawn, out = tmp_path / "drawn.csv", tmp_path / "m.tacit"
    printed = run("sample", "one.tacit", "-n", 3, "--length", 20, "--seed", 0, "-o", drawn)
    assert printed == f"60 rows written to {drawn}\n"
    fit = ("fit", "hmm", drawn, "-o", out, "--emissions", "gaussian", "--states", 2)
    printed = run(*fit, "--learn", "tensor")  # the column `sequence` is understood
    assert printed.startswith("3 sequences, 60 positions, 1 column; ")


def test_info_shows_what_states_show(run, folder):
    assert run("info", "long.tacit") == f"{tacit.load(folder / 'long.tacit').summary()}\n"
    report = json.loads(run("info", "one.tacit", "--json"))
    assert (report["columns"], report["n_states"]) == (["v"], 2)


def test_pictures_are_drawn(run, tmp_path):
    pytest.importorskip("matplotlib")
    out = tmp_path / "f.svg"
    for arguments in (["long.tacit"], ["long.tacit", "--posterior", "long.csv", "--sequence", "b"]):
        run("plot", *arguments, "-o", out)
        assert out.read_bytes().startswith(b"<?xml")
        out.unlink()


@pytest.mark.parametrize(
    ("arguments", "code", "complaint"),
    [
        (["long.csv", "--sequence", "whom"], 1, "did you mean 'who'?"),
        (["long.csv", "--symbol", "v"], 2, "does not go with --emissions"),
        (["one.csv"], 1, "'date'"),
        (
            ["one.csv", "--drop", "date", "--learn", "spectral"],
            1,
            "learn='spectral' with emissions='gaussian'",
        ),
    ],
)
def test_mistyped_arguments_of_fit_are_refused(run, tmp_path, arguments, code, complaint):
    out = tmp_path / "m.tacit"
    printed = run("fit", "hmm", *arguments, "--emissions", "gaussian", "-o", out, code=code)
    assert complaint in printed.replace("\n", " ")
    assert not out.exists()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["sample", "long.tacit", "-g", "1 2"], "--given takes numbers of a single one"),
        (["sample", "one.tacit", "-g", "high"], "--given takes the numbers that came before"),
        (["score", "one.tacit", "long.csv", "-o", "x.doc"], "tables are written as"),
        (
            ["query", "one.tacit", "-t", "v"],
            "HMM has no columns to query; use tacit score, predict",
        ),
    ],
)
def test_what_a_model_of_numbers_cannot_tell_is_one_line(run, arguments, complaint):
    printed = run(*arguments, code=1)
    assert complaint in printed
    assert printed.count("\n") == 1


def test_covariances_are_those_of_numbers(run, tmp_path):
    fit = ("fit", "hmm", "long.csv", "-o", tmp_path / "m.tacit", "--covariance", "diagonal")
    assert "it goes with --emissions" in run(*fit, code=2)


def test_counts_are_learnt_and_answered_with_poisson_emissions(run, tmp_path):
    rng = np.random.default_rng(0)
    state = np.cumsum(rng.random(200) < 0.1) % 2
    counts = rng.poisson(np.where(state, 9.0, 1.0))
    write(tmp_path / "counts.csv", ["n"], counts[:, None].tolist())
    model, data = tmp_path / "m.tacit", tmp_path / "counts.csv"
    run("fit", "hmm", data, "-o", model, "--emissions", "poisson", "--states", "2")
    fitted = tacit.load(model)
    assert sorted(fitted.rates_[:, 0]) == pytest.approx([1.0, 9.0], rel=0.25)
    report = json.loads(run("score", model, data, "--json"))
    assert report["score"] == pytest.approx(fitted.score([counts[:, None].astype(float)]))
    assert "--covariance" in run(
        *("fit", "hmm", data, "-o", model, "--emissions", "poisson", "--covariance", "diagonal"),
        code=2,
    )


@pytest.mark.parametrize("emissions", ["gaussian-mixture", "negative-binomial", "von-mises"])
def test_other_emissions_and_shapes_are_learnt(run, tmp_path, emissions):
    rng = np.random.default_rng(0)
    state = (np.arange(240) // 30) % 2
    values = {
        "gaussian-mixture": rng.normal(np.where(state, 9.0, 1.0)),
        "negative-binomial": rng.poisson(np.where(state, 9.0, 1.0)),
        "von-mises": rng.vonmises(np.where(state, 2.0, -1.0), 5.0),
    }[emissions]
    write(tmp_path / "x.csv", ["n"], values[:, None].tolist())
    model, data = tmp_path / "m.tacit", tmp_path / "x.csv"
    fit = ("fit", "hmm", data, "-o", model, "--emissions", emissions, "--states", "3")
    run(*fit, "--transitions", "linear", "--components", "1")
    fitted = tacit.load(model)
    assert fitted.transitions_[1, 0] == fitted.transitions_[0, 2] == 0
    assert fitted.initial_.tolist() == [1, 0, 0]
    assert "n 95%" in run("predict", model, data)
    run(*fit, "--initial", "first")
    assert tacit.load(model).initial_.tolist() == [1, 0, 0]


def test_gaps_in_numbers_are_filled(run, folder, tmp_path):
    fitted = tacit.load(folder / "one.tacit")
    (filled,) = fitted.impute(training_data("one"))
    rows = rows_of(run("impute", "one.tacit", "one.csv"))
    assert [int(row["position"]) for row in rows] == [*range(90)]
    assert filled.tolist() == column(rows, "v")
    printed = run("impute", "one.tacit", "one.csv", "-o", tmp_path / "full.csv")
    assert printed.startswith("10 cells of 90 positions filled")
    report = json.loads(run("impute", "long.tacit", "long.csv", "-o", tmp_path / "f.csv", "--json"))
    assert (report["n_positions"], report["n_filled"]) == (150, 0)
    assert {row["who"] for row in rows_of((tmp_path / "f.csv").read_text())} == {"a", "b"}
