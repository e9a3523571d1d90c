"""The sub-commands, each on a small table, against what the model itself says."""

import csv
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tacit
from oracles.commands import rows_of, tacit_says
from tacit.trees.files.bif import read_bif, tree_from_bif

NAMES = ["colour", "size", "a=b", "mood|x", "flag"]


def table(n_rows=200, seed=0):
    """Columns that all lean on one coin: text, integers, hostile names and categories, booleans."""
    rng = np.random.default_rng(seed)
    coin = rng.integers(0, 2, n_rows)

    def noisy(*values):
        return np.array(values, dtype=object)[np.where(rng.random(n_rows) < 0.15, 1 - coin, coin)]

    columns = [noisy("red", "blue"), noisy(1, 10), noisy("x|y", "z"), noisy("a, b", "c")]
    return dict(zip(NAMES, [*columns, noisy("false", "true")], strict=True))


def write_csv(path, columns, holes=0.0, seed=0):
    rng = np.random.default_rng(seed)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        for row in zip(*columns.values(), strict=True):
            writer.writerow(["" if rng.random() < holes else value for value in row])
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a table to learn from, one with holes and a column more, and a model."""
    directory = tmp_path_factory.mktemp("cli")
    write_csv(directory / "train.csv", table())
    rows = table(60, seed=1)
    write_csv(directory / "test.csv", {"id": [f"#{n}" for n in range(60)], **rows}, holes=0.2)
    tacit_says("fit", "tree", directory / "train.csv", "-o", directory / "m.tacit", "--states", 2)
    return directory


@pytest.fixture
def model(folder):
    return tacit.load(folder / "m.tacit")


# -- fit ---------------------------------------------------------------------------------------


def test_fit_saves_the_model_that_the_estimator_learns(folder, model):
    same = tacit.LatentTree(2).fit(folder / "train.csv")
    assert model.score(folder / "train.csv") == pytest.approx(same.score(folder / "train.csv"))
    assert model.progress is None


def test_fit_says_what_it_learnt(run, tmp_path):
    printed = run("fit", "tree", "train.csv", "-o", tmp_path / "m.tacit", "--states", "2")
    assert printed.startswith("5 columns, 200 rows, ")
    assert "with 2 states; " in printed


def test_fit_in_json(run, tmp_path):
    path = tmp_path / "m.tacit"
    report = json.loads(run("fit", "tree", "train.csv", "-o", path, "--states", "3", "--json"))
    assert report["model"] == str(path)
    assert report["n_rows"] == 200
    assert set(report["n_states"].values()) == {3}


@pytest.mark.parametrize(
    "learn", ["auto", "spectral", "hierarchical", "mossel-roch", "em", "online-em"]
)
def test_fit_learns_with_every_learner(run, tmp_path, learn):
    path = tmp_path / "m.tacit"
    run(
        "fit", "tree", "train.csv", "-o", path, "--states", "2", "--learn", learn, "--restarts", "1"
    )
    loaded = tacit.load(path)
    assert loaded.learn == learn
    assert np.isfinite(json.loads(run("score", path, "test.csv", "--json"))["score"])


def test_fit_takes_a_tree_from_a_file_and_rows_to_choose_with(run, tmp_path):
    tree = tmp_path / "tree.nwk"
    tree.write_text("((colour,size,'a=b')h1,('mood|x',flag)h2);")
    path = tmp_path / "m.tacit"
    write_csv(tmp_path / "v.csv", table(50, seed=2))
    printed = run(
        *("fit", "tree", "train.csv", "-o", path, "--structure", tree),
        *("--validation", tmp_path / "v.csv", "--json", "--seed", "3", "--jobs", "1"),
    )
    assert len(json.loads(printed)["candidates"]) >= 1
    assert set(tacit.load(path).topology_.observed) == set(NAMES)
    assert set(tacit.load(path).topology_.hidden) == {"h1", "h2"}


def test_fit_leaves_columns_out(run, tmp_path):
    path = tmp_path / "m.tacit"
    run("fit", "tree", "test.csv", "-o", path, "--states", "2", "--drop", "id", "--drop", "flag")
    assert set(tacit.load(path).schema_.names) == set(NAMES) - {"flag"}
    printed = run("fit", "tree", "test.csv", "-o", path, "--drop", "flagg", code=1)
    assert "did you mean 'flag'?" in printed


def test_the_number_of_states_is_a_number_or_auto(run, tmp_path):
    printed = run(
        "fit", "tree", "train.csv", "-o", tmp_path / "m.tacit", "--states", "many", code=2
    )
    assert "'many' is neither a number nor auto" in printed
    printed = run("fit", "tree", "train.csv", "-o", tmp_path / "m.tacit", "--states", "0", code=1)
    assert printed.startswith("error: ")


def test_fit_learns_as_many_trees_as_requested(run, tmp_path):
    path = tmp_path / "m.tacit"
    fit = ("fit", "tree", "train.csv", "-o", path, "--states", "2")
    printed = run(*fit, "--components", "2", "--structure", "hidden-chow-liu")
    assert " in 2 trees; saved as " in printed
    assert tacit.load(path).n_components == 2
    assert len(tacit.load(path).trees_) == 2
    run(*fit, "--components", "auto")
    assert len(tacit.load(path).trees_) == 1


def test_the_number_of_trees_is_a_number_or_auto(run, tmp_path):
    fit = ("fit", "tree", "train.csv", "-o", tmp_path / "m.tacit")
    printed = run(*fit, "--components", "several", code=2)
    assert "'several' is neither a number nor auto" in printed
    printed = run(*fit, "--components", "0", code=1)
    assert printed.startswith("error: n_components=0")
    printed = run(*fit, "--components", "2", "--learn", "em", code=1)
    assert 'several trees are learnt by learn="auto" only' in printed


# -- score -------------------------------------------------------------------------------------


def test_score_is_the_mean_log_likelihood(run, model):
    report = json.loads(run("score", "m.tacit", "test.csv", "--json"))
    values = model.score_samples("test.csv")
    assert report["score"] == pytest.approx(values.mean(), rel=1e-12)
    assert report["standard_error"] == pytest.approx(values.std(ddof=1) / 60**0.5, rel=1e-12)
    assert report["n_rows"] == 60
    assert run("score", "m.tacit", "test.csv").startswith(f"{values.mean():.4f} ± ")


def test_score_of_one_row_has_no_standard_error(run, tmp_path):
    write_csv(tmp_path / "one.csv", table(1))
    assert (
        json.loads(run("score", "m.tacit", tmp_path / "one.csv", "--json"))["standard_error"]
        is None
    )
    assert "±" not in run("score", "m.tacit", tmp_path / "one.csv")


def test_score_writes_a_number_per_row(run, model, tmp_path):
    run("score", "m.tacit", "test.csv", "-o", tmp_path / "s.csv")
    log_probs = [float(row["log_prob"]) for row in rows_of((tmp_path / "s.csv").read_text())]
    assert log_probs == pytest.approx(model.score_samples("test.csv").tolist(), rel=1e-12)


def test_values_never_seen_are_an_error_or_missing(run, tmp_path):
    rows = table(3)
    rows["colour"][0] = "green"
    write_csv(tmp_path / "new.csv", rows)
    printed = run("score", "m.tacit", tmp_path / "new.csv", code=1)
    assert "no category 'green'" in printed
    run("score", "m.tacit", tmp_path / "new.csv", "--unknown-as-missing")


# -- predict -----------------------------------------------------------------------------------


def test_predict_prints_probabilities_of_every_row(run, model):
    rows = rows_of(run("predict", "m.tacit", "test.csv", "--target", "a=b"))
    expected = model.predict_proba("test.csv", target="a=b")
    categories = model.categories_["a=b"]
    assert list(rows[0]) == ["a=b", *(f"P(a=b={category})" for category in categories)]
    for row, probabilities in zip(rows, expected, strict=True):
        assert row["a=b"] == categories[probabilities.argmax()]
        assert float(row["P(a=b=z)"]) == pytest.approx(
            probabilities[categories.index("z")], rel=1e-12
        )


def test_predict_writes_a_table_and_counts_what_was_right(run, model, tmp_path):
    printed = run("predict", "m.tacit", "test.csv", "-t", "size", "-o", tmp_path / "p.parquet")
    table = pq.read_table(tmp_path / "p.parquet")
    assert table.column("size").type == pa.int64()
    truth = [row["size"] for row in rows_of((tmp_path.cwd() / "test.csv").read_text())]
    known = [(int(t), p) for t, p in zip(truth, table["size"].to_pylist(), strict=True) if t]
    right = sum(t == p for t, p in known)
    assert f"60 rows written to {tmp_path / 'p.parquet'}; {right} of {len(known)}" in printed


def test_predict_in_json(run, model):
    report = json.loads(run("predict", "m.tacit", "test.csv", "-t", "flag", "--json"))
    assert len(report["probabilities"]) == 60
    assert sum(report["probabilities"][0].values()) == pytest.approx(1.0)
    assert report["predicted"][0] in (True, False)
    assert 0 <= report["right"] <= report["known"] <= 60


# -- query -------------------------------------------------------------------------------------


def query(run, *arguments):
    report = json.loads(run("query", "m.tacit", *arguments, "--json"))
    return [row["probability"] for row in report["probabilities"]]


def test_query_without_anything_given_is_the_marginal(run, model):
    expected = model.predict_proba({"size": [None]}, target="colour")[0]
    assert query(run, "--target", "colour") == pytest.approx(expected.tolist(), abs=1e-12)


def test_query_reads_values_by_the_columns_categories(run, model):
    expected = model.predict_proba({"size": [10], "flag": [True]}, target="colour")[0]
    options = ("--given", "size=10", "--given", "flag=true")
    assert query(run, *options, "--target", "colour") == pytest.approx(expected.tolist(), abs=1e-12)


def test_query_takes_hostile_names_and_categories(run, model):
    expected = model.predict_proba({"a=b": ["x|y"], "mood|x": ["a, b"]}, target="colour")[0]
    options = ("--given", "a=b=x|y", "--given", "mood|x=a, b")
    assert query(run, *options, "--target", "colour") == pytest.approx(expected.tolist(), abs=1e-12)


def test_query_takes_sets_of_values(run, model):
    every = query(run, "--given", "size=1|10", "--given", "flag=true", "-t", "colour")
    assert every == pytest.approx(query(run, "--given", "flag=true", "-t", "colour"), abs=1e-12)
    either = query(run, "-g", "a=b=x|y|z", "-g", "flag=true", "-t", "colour")  # "x|y" or "z"
    assert either == pytest.approx(every, abs=1e-12)


def test_query_for_several_columns_is_joint(run, model):
    report = json.loads(run("query", "m.tacit", "-t", "colour", "-t", "size", "--json"))
    assert {(row["colour"], row["size"]) for row in report["probabilities"]} == {
        (colour, size) for colour in ("red", "blue") for size in (1, 10)
    }
    assert sum(row["probability"] for row in report["probabilities"]) == pytest.approx(1.0)


def test_query_prints_a_line_per_value(run, model):
    printed = run("query", "m.tacit", "-g", "size=10", "-t", "colour")
    chances = model.predict_proba({"size": [10]}, target="colour")[0]
    lines = printed.splitlines()
    assert lines[0] == "P(colour | size=10)"
    assert lines[1].split()[:2] == ["blue", f"{chances[0]:.4f}"]
    assert lines[2].split()[:2] == ["red", f"{chances[1]:.4f}"]


@pytest.mark.parametrize(
    ("arguments", "code", "complaint"),
    [
        (["-g", "size", "-t", "colour"], 2, "'size' is not COLUMN=VALUE"),
        (["-g", "size=1", "-g", "size=10", "-t", "colour"], 2, "given twice"),
        (["-g", "sise=1", "-t", "colour"], 1, "did you mean 'size'?"),
        (["-g", "size=2", "-t", "colour"], 1, "no category '2'"),
        (["-g", "size=1|2", "-t", "colour"], 1, "no category '2'"),
        (["-t", "color"], 1, "did you mean 'colour'?"),
        (["-g", "size=1", "-t", "size"], 1, "'size' is both --target and --given"),
        ([], 2, "--target"),
    ],
)
def test_a_question_that_makes_no_sense_is_refused(run, arguments, code, complaint):
    assert complaint in run("query", "m.tacit", *arguments, code=code)


# -- impute and sample -------------------------------------------------------------------------


def test_impute_fills_the_holes_and_leaves_the_rest(run, model, folder, tmp_path):
    printed = run("impute", "m.tacit", "test.csv", "-o", tmp_path / "full.csv")
    before = rows_of((folder / "test.csv").read_text())
    after = rows_of((tmp_path / "full.csv").read_text())
    expected = model.impute("test.csv").to_pylist()
    assert list(after[0]) == list(before[0])
    holes = 0
    for old, new, imputed in zip(before, after, expected, strict=True):
        assert new["id"] == old["id"]
        for name in NAMES:
            holes += old[name] == ""
            assert new[name].lower() == str(imputed[name]).lower()
            assert old[name] in ("", new[name])
    assert printed.startswith(f"{holes} cells of 60 rows filled")


def test_impute_prints_rows(run, model):
    assert len(rows_of(run("impute", "m.tacit", "test.csv"))) == 60
    report = json.loads(run("impute", "m.tacit", "test.csv", "--json"))
    assert report[0]["size"] in (1, 10)


def test_impute_adds_columns_that_are_not_there(run, tmp_path):
    write_csv(tmp_path / "part.csv", {"size": [1, 10]})
    rows = rows_of(run("impute", "m.tacit", tmp_path / "part.csv"))
    assert [row["size"] for row in rows] == ["1", "10"]
    assert all(row["colour"] for row in rows)
    out = tmp_path / "full.csv"
    report = json.loads(run("impute", "m.tacit", tmp_path / "part.csv", "-o", out, "--json"))
    assert report == {"n_rows": 2, "n_filled": 8, "output": str(out)}


def test_sample_draws_what_the_model_draws(run, model):
    rows = rows_of(run("sample", "m.tacit", "-n", "20", "--seed", "4"))
    expected = model.sample(20, random_state=4, like="pyarrow").to_pylist()
    assert [row["size"] for row in rows] == [str(row["size"]) for row in expected]
    assert [row["mood|x"] for row in rows] == [row["mood|x"] for row in expected]


def test_sample_given_something(run, tmp_path):
    printed = run("sample", "m.tacit", "-n", "30", "-g", "colour=red", "--json")
    assert {row["colour"] for row in json.loads(printed)} == {"red"}
    printed = run("sample", "m.tacit", "-n", "30", "-o", tmp_path / "s.tsv")
    assert printed == f"30 rows written to {tmp_path / 's.tsv'}\n"
    assert (tmp_path / "s.tsv").read_text().splitlines()[0] == "\t".join(NAMES)


# -- info, plot, export --------------------------------------------------------------------------


def test_info_prints_the_summary(run, model):
    assert run("info", "m.tacit") == f"{tacit.load('m.tacit').summary()}\n"


def test_info_in_json(run, model):
    report = json.loads(run("info", "m.tacit", "--json"))
    assert report["estimator"] == "LatentTree"
    assert report["version"] == tacit.__version__
    assert [column["name"] for column in report["columns"]] == NAMES
    assert report["newick"] == model.topology_.to_newick()
    assert report["diagnostics"]["n_rows"] == 200


@pytest.mark.parametrize("suffix", [".svg", ".png", ".pdf"])
def test_plot_writes_a_picture(run, tmp_path, suffix):
    run("plot", "m.tacit", "-o", tmp_path / f"t{suffix}")
    content = (tmp_path / f"t{suffix}").read_bytes()
    assert content[:4] in (b"<?xm", b"\x89PNG", b"%PDF")
    if suffix == ".svg":
        assert b">colour<" in content  # text stays text
        run("plot", "m.tacit", "-o", tmp_path / "again.svg")
        assert (tmp_path / "again.svg").read_bytes() == content


def test_plot_of_singular_values(run, tmp_path):
    path = tmp_path / "m.tacit"
    run("fit", "tree", "train.csv", "-o", path, "--states", "2", "--learn", "spectral")
    run("plot", path, "-o", tmp_path / "s.png", "--kind", "singular-values")
    assert (tmp_path / "s.png").stat().st_size > 1000


def test_plot_refuses_what_is_no_picture(run, tmp_path):
    assert "try .svg, .png or .pdf" in run("plot", "m.tacit", "-o", tmp_path / "t.doc", code=1)
    assert "no singular values" in run(
        *("plot", "m.tacit", "-o", tmp_path / "t.svg", "--kind", "singular-values"), code=1
    )
    assert list(tmp_path.iterdir()) == []


def test_export_as_newick(run, model, tmp_path):
    run("export", "m.tacit", "-o", tmp_path / "t.nwk")
    assert (tmp_path / "t.nwk").read_text() == model.topology_.to_newick() + "\n"


def test_export_as_bif(run, model, tmp_path):
    run("export", "m.tacit", "-o", tmp_path / "m.bif")
    imported = tree_from_bif(read_bif(tmp_path / "m.bif"))
    assert imported.names == tuple(NAMES)
    assert imported.categories == model.categories_
    assert np.array_equal(imported.tables.values, model.tables_.values)


def test_export_refuses_other_kinds_and_operators(run, tmp_path):
    assert ".bif" in run("export", "m.tacit", "-o", tmp_path / "m.xml", code=1)
    path = tmp_path / "s.tacit"
    run("fit", "tree", "train.csv", "-o", path, "--states", "2", "--learn", "spectral")
    assert "probability tables" in run("export", path, "-o", tmp_path / "m.bif", code=1)
    assert not (tmp_path / "m.bif").exists()
