"""The sub-commands on models of numbers and categories, against what the models themselves say."""

import csv
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tacit
from oracles.commands import rows_of, tacit_says

NAMES = ["x", "y=1", "z", "colour", "size"]
ONE = "(x,'y=1',z,colour,size)h;"
FITS = {
    "kernel": ("kernel-tree", "--states", "2", "--bins", "6", "--bandwidth", "1"),
    "gaussian": ("gaussian-tree", "--margins", "normal-scores"),
}


def table(n_rows=200, seed=0):
    """Columns that all lean on one coin: numbers of two peaks and of one, words."""
    rng = np.random.default_rng(seed)
    coin = rng.integers(2, size=n_rows)
    near = np.where(rng.random(n_rows) < 0.1, 1 - coin, coin)
    return {
        "x": rng.normal(4.0 * coin).round(3),
        "y=1": rng.laplace(-4.0 * coin).round(3),
        "z": np.exp(rng.normal(coin, 0.5)).round(3),
        "colour": np.array(["red", "blue"])[near],
        "size": np.array(["S", "M", "L"])[(2 * rng.random(n_rows) + 0.9 * coin).astype(int)],
    }


def write_csv(path, columns, holes=0.0):
    rng = np.random.default_rng(0)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        for row in zip(*columns.values(), strict=True):
            writer.writerow(["" if rng.random() < holes else value for value in row])
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a table to learn from, one with holes and a column more, and two models."""
    directory = tmp_path_factory.mktemp("numbers")
    write_csv(directory / "train.csv", table())
    (directory / "one.nwk").write_text(ONE)
    rows = table(40, seed=1)
    write_csv(directory / "test.csv", {"id": [f"#{n}" for n in range(40)], **rows}, holes=0.2)
    for name, arguments in FITS.items():
        command = [
            "fit",
            *arguments,
            str(directory / "train.csv"),
            "-o",
            str(directory / f"{name}.tacit"),
        ]
        tacit_says(*command, "--structure", str(directory / "one.nwk"))
    return directory


@pytest.fixture(params=FITS)
def path(request, folder):
    return folder / f"{request.param}.tacit"


@pytest.fixture
def model(path):
    return tacit.load(path)


# -- fit ---------------------------------------------------------------------------------------


def test_fit_saves_the_model_that_the_estimator_learns(folder):
    same = tacit.KernelTree(2, folder / "one.nwk", n_bins=6, bandwidth=1.0)
    same.fit(folder / "train.csv")
    loaded = tacit.load(folder / "kernel.tacit")
    assert loaded.score(folder / "test.csv") == pytest.approx(same.score(folder / "test.csv"))
    assert loaded.progress is None
    same = tacit.GaussianTree(folder / "one.nwk").fit(folder / "train.csv")
    loaded = tacit.load(folder / "gaussian.tacit")
    assert loaded.score(folder / "test.csv") == pytest.approx(same.score(folder / "test.csv"))
    assert loaded.get_params()["progress"] is None


def test_fit_says_what_it_learnt(run, tmp_path):
    out = tmp_path / "m.tacit"
    printed = run("fit", *FITS["kernel"], "train.csv", "-o", out, "--structure", "one.nwk")
    assert printed == f"5 columns, 200 rows, 1 hidden variable with 2 states; saved as {out}\n"
    printed = run("fit", *FITS["gaussian"], "train.csv", "-o", out, "--structure", "one.nwk")
    n_hidden = len(tacit.load(out).topology_.hidden)  # with those between a column's indicators
    plural = "" if n_hidden == 1 else "s"
    assert printed == f"5 columns, 200 rows, {n_hidden} hidden variable{plural}; saved as {out}\n"


def test_arguments_reach_the_kernel_tree(run, tmp_path):
    out = tmp_path / "m.tacit"
    write_csv(tmp_path / "v.csv", table(60, seed=2))
    printed = run(
        *("fit", "kernel-tree", "train.csv", "-o", out, "--structure", "star", "--states", "3"),
        *("--bins", "7", "--bandwidth", "0.5", "--components", "1", "--pseudo-counts", "2"),
        *("--drop", "size", "--validation", tmp_path / "v.csv", "--max-iter", "50"),
        *("--seed", "4", "--jobs", "1", "--experts", "tree", "--no-atoms", "--json"),
    )
    assert json.loads(printed)["n_states"] == {"h": 3}
    loaded = tacit.load(out)
    assert (loaded.experts, loaded.atoms) == ("tree", False)
    assert (loaded.n_bins, loaded.bandwidth, loaded.pseudo_counts) == (7, 0.5, 2.0)
    assert (loaded.max_iter, loaded.random_state, loaded.n_jobs) == (50, 4, 1)
    assert loaded.schema_.names == ("x", "y=1", "z", "colour")


def test_numbers_of_few_values_are_continuous_where_it_is_said(run, tmp_path):
    out = tmp_path / "m.tacit"
    few = np.random.default_rng(0).integers(8, size=200)
    data = write_csv(tmp_path / "few.csv", {**table(), "few": few})
    fit = ("fit", "kernel-tree", data, "-o", out, "--structure", "star", "--states", "2")
    run(*fit, "--bins", "4", "--continuous", "few")
    assert len(tacit.load(out).schema_.continuous) == 4
    run(*fit, "--bins", "4")
    assert len(tacit.load(out).schema_.continuous) == 3


def test_arguments_reach_the_gaussian_tree(run, tmp_path):
    out = tmp_path / "m.tacit"
    few = np.random.default_rng(0).integers(3, size=200)
    data = write_csv(tmp_path / "few.csv", {**table(), "few": few})
    fit = ("fit", "gaussian-tree", data, "-o", out, "--structure", "chow-liu", "--prior", "3")
    run(*fit, "--shrinkage", "0.25", "--learn", "distances", "--categorical", "few", "--seed", "2")
    params = tacit.load(out).get_params()
    assert (params["margins"], params["shrinkage"], params["prior"]) == ("normal-scores", 0.25, 3.0)
    assert (params["learn"], params["random_state"]) == ("distances", 2)
    assert len(tacit.load(out).categories_["few"]) == 3


@pytest.mark.parametrize("learn", ["auto", "spectral"])
def test_a_kernel_tree_is_learnt_with_every_learner(run, tmp_path, learn):
    out = tmp_path / "m.tacit"
    run("fit", *FITS["kernel"], "train.csv", "-o", out, "--structure", "one.nwk", "--learn", learn)
    assert tacit.load(out).learn == learn
    assert np.isfinite(json.loads(run("score", out, "test.csv", "--json"))["score"])
    assert "mean" in run("query", out, "-t", "z", "-g", "x=4")


@pytest.mark.parametrize(
    ("arguments", "code", "complaint"),
    [
        (["kernel-tree", "--bandwidth", "wide"], 2, "'wide' is neither a number nor auto"),
        (["kernel-tree", "--bandwidth", "-1", "--states", "2"], 1, "bandwidth=-1.0"),
        (["kernel-tree", "--continuous", "xx"], 1, "there is no column 'xx'"),
        (["kernel-tree", "--states", "0"], 1, "n_states=0"),
        (["kernel-tree", "--drop", "colur"], 1, "did you mean 'colour'?"),
        (["kernel-tree", "--learn", "spektral"], 2, "'auto', 'spectral'"),
        (["kernel-tree", "--structure", "starr"], 1, "structure='starr'"),
        (["kernel-tree", "--statse", "2"], 2, "--states"),
        (["gaussian-tree", "--margins", "ranks"], 2, "'normal-scores', 'gaussian'"),
        (["gaussian-tree", "--shrinkage", "2"], 1, "shrinkage=2.0"),
        (["gaussian-tree", "--shrinkage", "much"], 2, "'much' is neither a number nor auto"),
        (["gaussian-tree", "--categorical", "colur"], 1, "did you mean 'colour'?"),
        (["gausian-tree"], 2, "Did you mean 'gaussian-tree'?"),
    ],
)
def test_mistyped_arguments_of_fit_are_refused(run, tmp_path, arguments, code, complaint):
    out = tmp_path / "m.tacit"
    printed = run("fit", arguments[0], "train.csv", "-o", out, *arguments[1:], code=code)
    assert complaint in printed
    if code == 1:
        assert printed.startswith("error: ")
        assert printed.count("\n") == 1
    assert not out.exists()


def test_the_model_file_is_checked_before_the_work(run):
    for kind in ("kernel-tree", "gaussian-tree"):
        assert "say 'm.tacit'" in run("fit", kind, "no.csv", "-o", "m.pkl", code=1)
        assert "there is no file" in run("fit", kind, "no.csv", "-o", "m.tacit", code=1)


# -- whole files -------------------------------------------------------------------------------


def test_score_is_the_mean_log_density(run, path, model, tmp_path):
    values = model.score_samples("test.csv")
    report = json.loads(run("score", path, "test.csv", "--json", "-o", tmp_path / "s.csv"))
    assert report["score"] == pytest.approx(values.mean(), rel=1e-12)
    log_densities = [float(row["log_density"]) for row in rows_of((tmp_path / "s.csv").read_text())]
    assert log_densities == pytest.approx(values.tolist(), rel=1e-12)


def test_impute_fills_numbers_and_categories(run, path, model, folder, tmp_path):
    for numbers in ("mean", "median"):
        out = tmp_path / "full.csv"
        printed = run("impute", path, "test.csv", "-o", out, "--numbers", numbers)
        before = rows_of((folder / "test.csv").read_text())
        after = rows_of(out.read_text())
        expected = model.impute("test.csv", numbers=numbers).to_pylist()
        holes = sum(row[name] == "" for row in before for name in NAMES)
        assert printed.startswith(f"{holes} cells of 40 rows filled")
        for old, new, imputed in zip(before, after, expected, strict=True):
            assert new["id"] == old["id"]
            assert new["colour"] == imputed["colour"]
            assert float(new["x"]) == pytest.approx(imputed["x"], rel=1e-12)
            assert old["x"] == "" or float(old["x"]) == float(new["x"])


def test_impute_counts_cells_that_are_not_a_number(run, path, tmp_path):
    rows = {"x": [1.0, float("nan"), None], "y=1": [0.5, 1.5, 2.5]}
    pq.write_table(pa.table(rows), tmp_path / "gaps.parquet")
    printed = run("impute", path, tmp_path / "gaps.parquet", "-o", tmp_path / "full.parquet")
    assert printed.startswith("11 cells of 3 rows filled")  # two of x, three whole columns


def test_predict_numbers(run, path, model, tmp_path):
    printed = run(
        "predict", path, "test.csv", "-t", "y=1", "-q", "0.5", "-q", "0.125", "-o", "p.csv"
    )
    rows = rows_of((tmp_path.cwd() / "p.csv").read_text())
    assert list(rows[0]) == ["y=1", "y=1 12.5%", "y=1 50%"]
    means, quantiles = (
        model.expectation("test.csv", "y=1"),
        model.quantiles("test.csv", "y=1", [0.125, 0.5]),
    )
    assert [float(row["y=1"]) for row in rows] == pytest.approx(means.tolist(), rel=1e-12)
    for name, column in zip(("y=1 12.5%", "y=1 50%"), quantiles.T, strict=True):
        assert [float(row[name]) for row in rows] == pytest.approx(column.tolist(), rel=1e-12)
    truth = [row["y=1"] for row in rows_of((tmp_path.cwd() / "test.csv").read_text())]
    errors = [abs(float(t) - q) for t, q in zip(truth, quantiles[:, 1], strict=True) if t]
    assert f"40 rows written to p.csv; {len(errors)} known values, " in printed
    assert f"mean absolute error {np.mean(errors):.4g}" in printed


def test_predict_numbers_in_json(run, path, model):
    report = json.loads(run("predict", path, "test.csv", "-t", "z", "--json"))
    assert report["predicted"] == pytest.approx(model.expectation("test.csv", "z").tolist())
    assert list(report["quantiles"][0]) == ["0.05", "0.5", "0.95"]
    assert report["mean_absolute_error"] <= report["root_mean_square_error"] + 0.2
    assert report["known"] < 40


def test_predict_categories(run, path, model):
    rows = rows_of(run("predict", path, "test.csv", "--target", "size"))
    expected = model.predict_proba("test.csv", target="size")
    assert [row["size"] for row in rows] == [
        model.categories_["size"][code] for code in expected.argmax(axis=1)
    ]
    report = json.loads(run("predict", path, "test.csv", "--target", "size", "--json"))
    assert 0 <= report["right"] <= report["known"] < 40


def test_sample_draws_what_the_model_draws(run, path, model):
    rows = rows_of(run("sample", path, "-n", 5, "--seed", 4, "-g", "x=0.25", "-g", "colour=red"))
    evidence = {"x": 0.25, "colour": "red"}
    expected = model.sample(5, given=evidence, random_state=4, like="pyarrow").to_pylist()
    assert [float(row["y=1"]) for row in rows] == [row["y=1"] for row in expected]
    assert {row["x"] for row in rows} == {"0.25"}
    assert {row["colour"] for row in rows} == {"red"}


# -- query -------------------------------------------------------------------------------------


def test_query_for_a_number_tells_mean_and_quantiles(run, path, model):
    report = json.loads(run("query", path, "-t", "y=1", "-g", "x=0.3", "--json"))
    row = {"x": [0.3]}
    assert report["target"] == "y=1"
    assert report["given"] == {"x": 0.3}
    assert report["mean"] == pytest.approx(model.expectation(row, "y=1")[0], rel=1e-12)
    expected = model.quantiles(row, "y=1", [0.05, 0.25, 0.5, 0.75, 0.95])[0]
    assert list(report["quantiles"].values()) == pytest.approx(expected.tolist(), rel=1e-12)
    assert "density" not in report


def test_query_without_anything_given(run, path, model):
    report = json.loads(run("query", path, "-t", "x", "--json"))
    assert report["mean"] == pytest.approx(model.expectation({"x": [None]}, "x")[0], rel=1e-12)


def test_query_prints_quantiles_of_the_options(run, path, model):
    printed = run("query", path, "-t", "y=1", "-g", "x=4", "-q", "0.9")
    lines = printed.splitlines()
    assert lines[0] == "y=1 | x=4"
    assert lines[1].split() == ["mean", f"{model.expectation({'x': [4]}, 'y=1')[0]:.6g}"]
    assert lines[2].split() == ["90%", f"{model.quantiles({'x': [4]}, 'y=1', 0.9)[0]:.6g}"]
    assert len(lines) == 3


def test_query_shows_the_density(run, path, model):
    report = json.loads(run("query", path, "-t", "y=1", "-g", "x=4", "--density", "--json"))
    grid, (density,) = model.conditional_density({"x": [4]}, "y=1")
    assert report["density"]["grid"] == pytest.approx(grid.tolist())
    assert report["density"]["values"] == pytest.approx(density.tolist())
    lines = run("query", path, "-t", "y=1", "-g", "x=4", "--density").splitlines()
    picture = [line.split() for line in lines[9:]]
    assert lines[8].split() == ["y=1", "density"]
    assert len(picture) == 21
    places = np.array([float(row[0]) for row in picture])
    _, (expected,) = model.conditional_density({"x": [4]}, "y=1", places)
    shown = [float(row[1]) for row in picture]
    assert shown == pytest.approx(expected.tolist(), rel=0.05, abs=0.01)
    longest = max(picture, key=lambda row: float(row[1]))
    assert longest[2] == "█" * 30


def test_one_of_several_categories_is_a_mixture(run, path, model):
    every = ("-g", "size=S|M|L", "-g", "colour=red")
    report = json.loads(run("query", path, "-t", "x", *every, "--density", "--json"))
    rows = {"size": ["S", "M", "L"], "colour": ["red"] * 3}
    weights = np.exp(model.score_samples(rows))
    weights /= weights.sum()
    assert report["given"] == {"size": ["L", "M", "S"], "colour": "red"}
    assert report["mean"] == pytest.approx(weights @ model.expectation(rows, "x"))
    grid, densities = model.conditional_density(rows, "x")
    density = weights @ densities
    assert report["density"]["values"] == pytest.approx(density.tolist())
    below = np.concatenate([[0.0], np.cumsum((density[1:] + density[:-1]) / 2 * np.diff(grid))])
    for level, value in report["quantiles"].items():
        assert np.interp(value, grid, below) == pytest.approx(float(level), abs=0.02)
    if isinstance(model, tacit.KernelTree) and not model.blend:  # all categories say nothing
        alone = json.loads(run("query", path, "-t", "x", "-g", "colour=red", "--json"))
        assert report["mean"] == pytest.approx(alone["mean"], rel=1e-6)


def test_query_for_categories(run, path, model):
    report = json.loads(run("query", path, "-t", "size", "-g", "x=0.3", "--json"))
    probabilities = {row["size"]: row["probability"] for row in report["probabilities"]}
    (expected,) = model.predict_proba({"x": [0.3]}, target="size")
    assert list(probabilities) == list(model.categories_["size"])
    assert list(probabilities.values()) == pytest.approx(expected.tolist(), abs=1e-9)
    lines = run("query", path, "-t", "size", "-g", "x=0.3").splitlines()
    assert lines[0] == "P(size | x=0.3)"
    report = json.loads(run("query", path, "-t", "size", "-g", "colour=red|blue", "--json"))
    probabilities = [row["probability"] for row in report["probabilities"]]
    assert sum(probabilities) == pytest.approx(1.0)


def test_categories_together(run, folder):
    for file in ("kernel.tacit", "gaussian.tacit"):
        report = json.loads(run("query", file, "-t", "size", "-t", "colour", "--json"))
        assert len(report["probabilities"]) == 6
        assert sum(row["probability"] for row in report["probabilities"]) == pytest.approx(1.0)
        assert len(rows_of(run("sample", file, "-n", 3, "-g", "colour=red|blue"))) == 3


@pytest.mark.parametrize(
    ("arguments", "code", "complaint"),
    [
        (["-t", "zz"], 1, "there is no column 'zz'; did you mean 'z'?"),
        (["-t", "z", "-g", "xx=1"], 1, "there is no column 'xx'; did you mean 'x'?"),
        (["-t", "z", "-g", "x=four"], 1, "column 'x' holds numbers, and 'four' is none"),
        (["-t", "z", "-g", "x=nan"], 1, "column 'x' holds numbers, and 'nan' is none"),
        (["-t", "z", "-g", "x=1|2"], 2, "'x' holds numbers, and only one of them can be given"),
        (["-t", "z", "-g", "x=1", "-g", "x=2"], 2, "'x' is given twice; say once"),
        (["-t", "z", "-g", "x"], 2, "'x' is not COLUMN=VALUE"),
        (["-t", "z", "-g", "z=1"], 1, "'z' is both --target and --given"),
        (["-t", "z", "-g", "colour=green"], 1, "no category 'green'"),
        (["-t", "size", "-t", "z"], 1, "'z' holds numbers, which have no joint table"),
        (["-t", "z", "-q", "95"], 2, "95 is not between 0 and 1"),
        (["-t", "size", "-q", "0.5"], 1, "'size' holds categories"),
        (["-t", "size", "--density"], 1, "'size' holds categories"),
    ],
)
def test_a_question_that_makes_no_sense_is_refused(run, path, arguments, code, complaint):
    printed = run("query", path, *arguments, code=code)
    assert complaint in printed
    assert code == 2 or printed.count("\n") == 1


def test_values_that_are_none_are_refused_or_missing(run, path, tmp_path):
    write_csv(tmp_path / "new.csv", {"x": ["1", "oops"], "colour": ["green", "red"]})
    for command in (("score",), ("impute",), ("predict", "-t", "z")):
        printed = run(command[0], path, tmp_path / "new.csv", *command[1:], code=1)
        assert printed.startswith("error: column ")
        assert printed.count("\n") == 1
        run(command[0], path, tmp_path / "new.csv", *command[1:], "--unknown-as-missing")
    write_csv(tmp_path / "typo.csv", {"colur": ["red"]})
    printed = run("score", path, tmp_path / "typo.csv", code=1)
    assert "there is no column 'colur'; did you mean 'colour'?" in printed
    printed = run("predict", path, "test.csv", "-t", "size", "-q", "0.5", code=1)
    assert "'size' holds categories; --quantile is for numbers" in printed


# -- info, plot, export --------------------------------------------------------------------------


def test_info_prints_the_summary(run, path):
    assert run("info", path) == f"{tacit.load(path).summary()}\n"


def test_info_in_json(run, path, model):
    report = json.loads(run("info", path, "--json"))
    assert report["estimator"] == type(model).__name__
    assert [column["name"] for column in report["columns"]] == NAMES
    assert report["newick"] == model.topology_.to_newick()
    assert len(report["components"]) == 1


def test_plot_draws_the_tree_and_densities(run, path, tmp_path):
    pytest.importorskip("matplotlib")
    run("plot", path, "-o", tmp_path / "t.svg")
    assert b">colour<" in (tmp_path / "t.svg").read_bytes()
    run("plot", path, "-o", tmp_path / "d.svg", "--density", "z", "-g", "x=0|4", "-g", "size=S")
    picture = (tmp_path / "d.svg").read_bytes()
    for text in (b">x = 0<", b">x = 4<", b">given size = S<", b">density<"):
        assert text in picture
    run("plot", path, "-o", tmp_path / "m.svg", "--density", "y=1")
    run("plot", path, "-o", tmp_path / "c.svg", "--density", "size", "-g", "colour=red|blue")
    assert b">probability<" in (tmp_path / "c.svg").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "code", "complaint"),
    [
        (["--density", "zz"], 1, "did you mean 'z'?"),
        (["--density", "z", "-g", "z=1"], 1, "'z' is both drawn and given"),
        (["--density", "z", "-g", "x=one"], 1, "column 'x' holds numbers, and 'one' is none"),
        (["-g", "x=1"], 2, "it goes with --density"),
        (["--density", "z", "--kind", "singular-values"], 2, "it goes neither with --kind"),
        (["--density", "z", "--component", "0"], 2, "nor with --component"),
        (["--component", "1"], 1, "component=1"),
    ],
)
def test_a_picture_that_makes_no_sense_is_refused(run, path, tmp_path, arguments, code, complaint):
    pytest.importorskip("matplotlib")
    assert complaint in run("plot", path, "-o", tmp_path / "p.svg", *arguments, code=code)
    assert list(tmp_path.iterdir()) == []


def test_export(run, path, model, tmp_path):
    run("export", path, "-o", tmp_path / "t.nwk")
    assert (tmp_path / "t.nwk").read_text() == model.topology_.to_newick() + "\n"
    printed = run("export", path, "-o", tmp_path / "m.bif", code=1)
    assert printed.startswith("error: BIF holds ")
    assert printed.count("\n") == 1
    assert not (tmp_path / "m.bif").exists()
