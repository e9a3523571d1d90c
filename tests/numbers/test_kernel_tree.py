"""Trees of numbers and categories: what they learn, and what they answer."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.stats import ks_2samp

import tacit
from oracles.number_tables import groups, laplaces
from tacit.errors import (
    ArgumentError,
    ArgumentTypeError,
    CategoryError,
    ColumnError,
    DataError,
    NotAvailableError,
)

WAYS = ["auto", "spectral"]


def fitted(learn="auto", n=400, missing=0.0, **arguments):
    simple = {"n_states": 3, "structure": "star", "blend": False}
    return tacit.KernelTree(learn=learn, **{**simple, **arguments}).fit(groups(n, missing=missing))


# ------------------------------------------------------------------------------ laws of densities


@pytest.mark.parametrize("learn", WAYS)
def test_the_density_of_two_columns_integrates_to_one(learn):
    model = tacit.KernelTree(learn=learn).fit(laplaces(1000))
    grid = np.linspace(-14, 14, 281)
    points = np.stack(np.meshgrid(grid, grid, indexing="ij"), axis=-1).reshape(-1, 2)
    values = model.density(points).reshape(281, 281)
    whole = np.trapezoid(np.trapezoid(values, grid, axis=1), grid)
    # Negative estimates of operators count with a thousandth of the independent density.
    assert whole == pytest.approx(1.0, abs=0.01 if learn == "auto" else 0.05)


@pytest.mark.parametrize("learn", WAYS)
def test_a_conditional_density_is_joint_over_marginal(learn):
    model = fitted(learn)
    known = {"peaked": [0.0, 3.0, 6.5], "word": ["a", None, "c"], "weak": [np.nan, 0.5, 1.0]}
    grid, densities = model.conditional_density(known, "plain")
    assert grid.shape == (200,)
    assert densities.shape == (3, 200)
    for place in (60, 100, 140):
        both = model.score_samples({**known, "plain": [grid[place]] * 3})
        expected = np.exp(both - model.score_samples(known))
        # What operators have to cut off changes a density as a whole.
        slack = {"rel": 1e-9} if learn == "auto" else {"rel": 0.1, "abs": 1e-3}
        assert densities[:, place] == pytest.approx(expected, **slack)
    whole = np.trapezoid(densities, grid, axis=1)
    assert whole == pytest.approx(1.0, abs=0.005)


@pytest.mark.parametrize("learn", WAYS)
def test_means_and_quantiles_are_those_of_the_conditional_density(learn):
    model = fitted(learn)
    known = {"peaked": [0.0, 6.0], "skewed": [1.0, np.nan]}
    grid = np.linspace(-9, 7, 2001)
    _, densities = model.conditional_density(known, "plain", grid)
    mean = np.trapezoid(densities * grid, grid, axis=1)
    # Kernels blur a density but not a mean, and what is negative counts in a mean.
    slack = 0.02 if learn == "auto" else 0.1
    assert model.expectation(known, "plain") == pytest.approx(mean, abs=slack)
    square = np.trapezoid(densities * grid**2, grid, axis=1)
    slack = 0.05 if learn == "auto" else 0.5
    assert model.expectation(known, "plain", np.square) == pytest.approx(square, abs=slack)
    quantiles = model.quantiles(known, "plain", [0.1, 0.5, 0.9])
    assert quantiles.shape == (2, 3)
    step = np.diff(grid)[0]
    for row in range(2):
        reached = np.interp(quantiles[row], grid, np.cumsum(densities[row]) * step)
        assert reached == pytest.approx([0.1, 0.5, 0.9], abs=0.01)
    assert model.quantiles(known, "plain", 0.5) == pytest.approx(quantiles[:, 1])


def test_the_density_of_one_column_is_close_to_the_truth():
    rng = np.random.default_rng(0)
    model = tacit.KernelTree().fit({"x": rng.laplace(size=4000)})
    grid, densities = model.conditional_density({"x": [None]}, "x")
    assert np.abs(densities[0] - 0.5 * np.exp(-np.abs(grid))).max() < 0.08
    assert model.expectation({"x": [3.0]}, "x") == pytest.approx(
        0.0, abs=0.1
    )  # its own cell is not used


# ------------------------------------------------------------------- the categorical tree within


def categories(n=500, seed=0):
    model = tacit.toy.random_tree_model(n_leaves=6, n_categories=3, random_state=seed)
    return model.sample(n, random_state=seed + 1)


@pytest.mark.parametrize("learn", WAYS)
def test_without_numbers_it_is_the_latent_tree(learn):
    rows = categories()
    tree = "((x0,x1),(x2,x3),(x4,x5));"
    views = {"n_views": 5} if learn == "spectral" else {}
    kernel = tacit.KernelTree(2, tree, learn, **views).fit(rows)
    latent = tacit.LatentTree(2, tree, learn, **views).fit(rows)
    holes = np.where(np.random.default_rng(0).random(rows.shape) < 0.3, -1, rows)
    assert kernel.predict_proba(holes) == pytest.approx(latent.predict_proba(holes), abs=1e-10)
    actual, expected = kernel.score_samples(holes), latent.score_samples(holes)
    assert actual == pytest.approx(expected, abs=1e-10)
    assert np.array_equal(kernel.impute(holes), latent.impute(holes))
    if learn == "auto":
        assert kernel.posterior(holes)["h1"] == pytest.approx(
            latent.posterior(holes)["h1"], abs=1e-10
        )
        assert kernel.query("x1", given={"x0": 0}) == latent.query("x1", given={"x0": 0})


def test_without_numbers_all_choices_are_those_of_the_latent_tree():
    rows = categories(300)
    kernel, latent = tacit.KernelTree().fit(rows), tacit.LatentTree().fit(rows)
    assert kernel.topology_ == latent.topology_
    assert kernel.score_samples(rows) == pytest.approx(latent.score_samples(rows), abs=1e-10)


# ---------------------------------------------------------------------------------- what is learnt


@pytest.mark.parametrize("learn", WAYS)
def test_two_peaks_are_found(learn):
    model = tacit.KernelTree(learn=learn).fit(laplaces(2000))
    assert model.topology_.hidden == ("h",)
    grid = np.linspace(-8, 8, 61)
    points = np.stack(np.meshgrid(grid, grid, indexing="ij"), axis=-1).reshape(-1, 2)
    one, two = (np.exp(-np.abs(points - at).sum(axis=1)) for at in (4.0, -4.0))
    error = np.sqrt(((model.density(points) - (one + two) / 8) ** 2).sum())
    assert error < 0.12  # a mixture of Gaussians by BIC has 0.15, a kernel estimate 0.21
    if learn == "auto":
        assert model.node_states_ == {"h": 2}


@pytest.mark.parametrize("learn", WAYS)
def test_groups_are_told_apart(learn):
    model = tacit.KernelTree(learn=learn).fit(groups(1500))
    test = groups(500, seed=1)
    reports = model.predict_proba({name: test[name] for name in test if name != "word"}, "word")
    right = np.array(model.categories_["word"])[reports.argmax(axis=1)] == test["word"]
    assert reports.sum(axis=1) == pytest.approx(1.0)
    assert right.mean() > 0.75  # the truth about the group has 0.93 at best
    mean = np.mean(test["plain"])
    guessed = model.expectation({"peaked": test["peaked"], "word": test["word"]}, "plain")
    assert np.mean((guessed - test["plain"]) ** 2) < 0.8 * np.mean((mean - test["plain"]) ** 2)


@pytest.mark.parametrize("learn", WAYS)
def test_missing_cells_are_no_obstacle(learn):
    holes = groups(600, missing=0.3)
    model = tacit.KernelTree(3, "star", learn).fit(holes)
    assert np.isfinite(model.score_samples(holes)).all()
    assert model.score_samples({"word": [None]}) == pytest.approx(0.0, abs=1e-9)
    full = groups(600)
    filled = model.impute(holes)
    median = model.impute(holes, numbers="median")
    for name in ("peaked", "plain"):
        absent = np.isnan(holes[name].astype(float))
        assert np.array_equal(np.array(filled[name])[~absent], holes[name][~absent].astype(float))
        known = holes[name][~absent].astype(float)
        error = np.abs(np.array(filled[name])[absent] - full[name][absent]).mean()
        assert error < 0.9 * np.abs(known.mean() - full[name][absent]).mean()
        assert not np.isnan(np.array(median[name])).any()
    absent = np.array([word is None for word in holes["word"]])
    assert (np.array(filled["word"])[absent] == full["word"][absent]).mean() > 0.6


def test_rows_of_weight_zero_teach_nothing_and_weights_count_rows():
    table = groups(300)
    odd = {name: np.concatenate([column, column[:50][::-1]]) for name, column in table.items()}
    weights = np.repeat([1.0, 0.0], [300, 50])
    fixed = {"n_states": 2, "structure": "star", "n_bins": 6, "bandwidth": 0.5, "blend": False}
    plain = tacit.KernelTree(**fixed).fit(table)
    weighed = tacit.KernelTree(**fixed).fit(odd, sample_weight=weights)
    assert weighed.score_samples(table) == pytest.approx(plain.score_samples(table), abs=1e-6)
    twice = {name: np.tile(column, 2) for name, column in table.items()}
    doubled = tacit.KernelTree(**fixed).fit(table, sample_weight=np.full(300, 2.0))
    again = tacit.KernelTree(**fixed).fit(twice)
    assert doubled.tables_.values == pytest.approx(again.tables_.values, abs=1e-9)
    with pytest.raises(DataError):
        tacit.KernelTree(**fixed).fit(table, sample_weight=[1.0])


@pytest.mark.parametrize("learn", WAYS)
def test_validation_rows_are_used_to_choose(learn):
    table, other = groups(300), groups(150, seed=1)
    model = tacit.KernelTree(learn=learn).fit(table, validation=other)
    assert np.isfinite(model.score(other))
    key = "bandwidths" if learn == "auto" else "candidates"
    assert all("score" in item for item in model.diagnostics_[key])


@pytest.mark.parametrize("learn", WAYS)
def test_the_same_seed_gives_the_same_model(learn):
    table = groups(300)
    first = tacit.KernelTree(learn=learn, random_state=3, n_jobs=1).fit(table)
    second = tacit.KernelTree(learn=learn, random_state=3, n_jobs=2).fit(table)
    assert first.score_samples(table) == pytest.approx(second.score_samples(table), abs=1e-9)
    one = first.sample(5, random_state=0)
    assert one == first.sample(5, random_state=0)
    assert one != first.sample(5, random_state=1)


@pytest.mark.parametrize("learn", WAYS)
def test_progress_is_told(learn):
    reports = []
    model = tacit.KernelTree(
        learn=learn, progress=lambda share, text: reports.append((share, text))
    )
    model.fit(groups(200))
    assert reports
    assert all(0.0 <= share <= 1.0 and isinstance(text, str) for share, text in reports)


def test_a_tree_can_be_given_in_any_form():
    table = groups(200)
    newick = "((peaked,skewed),(plain,word),weak);"
    topology = tacit.Topology.parse(newick, list(table))
    for structure in (newick, topology, topology.to_networkx(), topology.to_edges()):
        for learn in WAYS:
            model = tacit.KernelTree(2, structure, learn, blend=False).fit(table)
            assert tacit.evaluate.robinson_foulds(model.topology_, topology) == 0
    with pytest.raises(ArgumentError, match="did you mean 'neighbor-joining'"):
        tacit.KernelTree(structure="neighbour").fit(table)


def test_a_column_inside_a_tree_of_hidden_nodes_hangs_on_one_where_kernels_need_it():
    tree = tacit.Topology.from_edges(
        [("h", "peaked"), ("h", "plain"), ("h", "weak"), ("weak", "skewed"), ("skewed", "word")],
        observed=list(groups(2)),
    )
    table = groups(300)
    kernels = tacit.KernelTree(2, tree, "spectral", blend=False).fit(table)
    assert set(kernels.topology_.hidden) == {"h", "h(weak)", "h(skewed)"}
    assert np.isfinite(kernels.score(table))
    bins = tacit.KernelTree("auto", "chow-liu", blend=False).fit(table)
    assert bins.topology_.hidden == ()
    assert np.isfinite(bins.score(table))


def test_several_trees_can_be_asked_for():
    model = tacit.KernelTree(4, n_components=2, n_bins=8, blend=False).fit(groups(600))
    assert len(model.trees_) == 2
    assert sum(component.weight for component in model.trees_) == pytest.approx(1.0)
    grid, densities = model.conditional_density({"peaked": [0.0]}, "plain")
    assert np.trapezoid(densities[0], grid) == pytest.approx(1.0, abs=0.01)
    with pytest.raises(ArgumentError, match="spectral"):
        tacit.KernelTree(learn="spectral", n_components=2).fit(groups(50))


def test_hidden_states_are_told_of_tables_only():
    table = groups(300)
    model = fitted()
    posterior = model.posterior(table)
    assert posterior["h"].shape == (300, 3)
    assert posterior["h"].sum(axis=1) == pytest.approx(1.0)
    assert model.transform(table).shape == (300, 3)
    assert model.marginals(table)["word"].shape == (300, 3)
    with pytest.raises(NotAvailableError):
        fitted("spectral").posterior(table)


# --------------------------------------------------------------------------------- kinds of tables


def test_every_kind_of_table_gives_the_same_model(tmp_path):
    table = groups(200)
    frame = pd.DataFrame(table)
    path = tmp_path / "rows.csv"
    frame.to_csv(path, index=False)
    kinds = [
        table,
        frame,
        pl.DataFrame({name: list(column) for name, column in table.items()}),
        pa.Table.from_pandas(frame),
        frame.to_dict("records"),
        [frame.iloc[:90], frame.iloc[90:]],
        str(path),
    ]
    scores = []
    for kind in kinds:
        model = tacit.KernelTree(2, "star", n_bins=6, bandwidth=0.5, blend=False).fit(kind)
        scores.append(model.score_samples(kind))
    for item in scores[1:]:
        assert item == pytest.approx(scores[0], abs=1e-6)
    numbers = np.column_stack([table[name] for name in ("peaked", "skewed", "plain")])
    numbers = numbers.astype(float)
    model = tacit.KernelTree(2, "star", blend=False).fit(numbers)
    assert model.impute(np.where(numbers > 3, np.nan, numbers)).shape == numbers.shape
    assert model.sample(4, random_state=0).shape == (4, 3)
    assert isinstance(fitted().sample(3, random_state=0), dict)
    filled = fitted().impute(pd.DataFrame({"peaked": [1.0], "word": [None]}))
    assert isinstance(filled, pd.DataFrame)
    assert list(filled.columns) == list(table)


def test_columns_of_few_numbers_are_categories_unless_said_otherwise():
    rng = np.random.default_rng(0)
    table = {
        "few": rng.integers(0, 5, 200),
        "many": rng.normal(size=200),
        "other": rng.normal(size=200),
    }
    model = tacit.KernelTree(2, "star", blend=False).fit(table)
    assert model.categories_["few"] == (0, 1, 2, 3, 4)
    as_numbers = tacit.KernelTree(2, "star", continuous=["few"], blend=False).fit(table)
    assert as_numbers.categories_ == {}
    assert 0.0 <= as_numbers.expectation({"many": [0.0]}, "few")[0] <= 4.0


@pytest.mark.parametrize("learn", WAYS)
@pytest.mark.parametrize(
    "table",
    [
        {"a": [1.5], "b": [2.5]},
        {"a": [1.5, 2.0], "b": [1.0, 3.0], "c": [0.0, 1.0]},
        {"a": np.ones(40), "b": np.arange(40.0)},
        {"a": np.ones(40), "b": np.arange(40.0), "c": np.arange(40.0) ** 2},
        {"a": [0.5]},
    ],
    ids=["one row", "two rows", "constant", "constant of three", "one cell"],
)
def test_tiny_tables_are_learnt(learn, table):
    model = tacit.KernelTree(learn=learn, continuous=list(table)).fit(table)
    assert np.isfinite(model.score_samples(table)).all()
    low, high = min(table["a"]), max(table["a"])
    reports = model.expectation(table, "a")
    assert ((reports >= low - 1.0) & (reports <= high + 1.0)).all()
    assert len(model.sample(3, random_state=0)["a"]) == 3


@pytest.mark.parametrize("learn", WAYS)
def test_numbers_far_outside_the_data_are_improbable_not_impossible(learn):
    model = fitted(learn)
    far = {"peaked": [1e6, -1e9], "word": ["a", "b"]}
    assert np.isfinite(model.score_samples(far)).all()
    assert (model.score_samples(far) < -15).all()
    assert np.isfinite(model.expectation(far, "plain")).all()


# ------------------------------------------------------------------------------------- drawn rows


@pytest.mark.parametrize("learn", WAYS)
def test_drawn_rows_look_like_the_data(learn):
    table, model = groups(2000), fitted(learn, n=2000)
    drawn = model.sample(2000, random_state=0)
    for name in ("peaked", "skewed", "plain"):
        assert ks_2samp(drawn[name], table[name].astype(float)).statistic < 0.06
    shares = [np.mean(np.array(drawn["word"]) == word) for word in "abc"]
    assert shares == pytest.approx([np.mean(table["word"] == word) for word in "abc"], abs=0.05)
    together = np.corrcoef(drawn["peaked"], drawn["plain"])[0, 1]
    truth = np.corrcoef(table["peaked"].astype(float), table["plain"].astype(float))[0, 1]
    assert together == pytest.approx(truth, abs=0.1)


@pytest.mark.parametrize("learn", WAYS)
def test_drawn_rows_keep_what_is_given(learn):
    model = fitted(learn)
    drawn = model.sample(300, given={"peaked": 6.0, "word": {"b", "c"}}, random_state=0)
    assert set(drawn["peaked"]) == {6.0}
    assert set(drawn["word"]) <= {"b", "c"}
    expected = model.query("plain", given={"peaked": 6.0})
    assert np.mean(drawn["plain"]) == pytest.approx(expected["mean"], abs=0.3)
    assert list(expected) == ["mean", "5%", "25%", "50%", "75%", "95%"]
    reports = model.query("word", given={"peaked": 6.0})
    assert sum(reports.values()) == pytest.approx(1.0)
    assert sum(model.query(["word"], given={}).values()) == pytest.approx(1.0)


@pytest.mark.parametrize("learn", WAYS)
def test_a_question_about_one_row_has_the_answer_of_that_row(learn):
    model = tacit.KernelTree(3, "star", learn).fit(groups())
    known = {"peaked": 2.0, "word": "b"}
    reports = model.query("plain", given=known)
    rows = {name: [value] for name, value in known.items()}
    assert reports["mean"] == model.expectation(rows, "plain")[0]
    assert [reports["5%"], reports["50%"], reports["95%"]] == model.quantiles(rows, "plain")[
        0
    ].tolist()
    # A set of categories is neither of them for sure.
    either = model.query("plain", given={"peaked": 2.0, "word": {"b", "c"}})
    surely = [model.query("plain", given={"peaked": 2.0, "word": word})["mean"] for word in "bc"]
    assert min(surely) - 0.5 < either["mean"] < max(surely) + 0.5
    assert sum(model.query("word", given={"peaked": 2.0}).values()) == pytest.approx(1.0)


# ----------------------------------------------------------------------------------- what is refused


def test_wrong_arguments_are_refused():
    table = groups(60)
    wrong = {
        "learn": "em",
        "n_bins": 0,
        "bandwidth": -1.0,
        "metric_bandwidth": 0.0,
        "n_views": "many",
        "n_features": 0,
        "n_components": 0,
        "pseudo_counts": -1.0,
        "n_states": 0,
        "negative": "zero",
        "unknown": "skip",
        "continuous": "peaked",
        "max_iter": 0,
    }
    for name, value in wrong.items():
        with pytest.raises(ArgumentError, match=name):
            tacit.KernelTree(**{name: value}).fit(table)
    with pytest.raises(ColumnError, match="peaked"):
        tacit.KernelTree(continuous=["peak"]).fit(table)
    with pytest.raises(DataError):
        tacit.KernelTree().fit({"x": [np.nan, np.nan], "y": [1.0, 2.0]})


def test_wrong_questions_are_refused():
    model = fitted()
    rows = {"peaked": [1.0]}
    with pytest.raises(ArgumentError, match="predict_proba"):
        model.expectation(rows, "word")
    with pytest.raises(ArgumentError, match="conditional_density"):
        model.predict_proba(rows, "plain")
    with pytest.raises(ColumnError, match="plain"):
        model.quantiles(rows, "plane")
    with pytest.raises(ArgumentError, match="one column"):
        model.conditional_density(rows, ["plain"])
    with pytest.raises(ArgumentError, match="levels from 0 to 1"):
        model.quantiles(rows, "plain", 2.0)
    with pytest.raises(ArgumentError, match="shape"):
        model.quantiles(rows, "plain", [[0.5]])
    with pytest.raises(ArgumentError, match="q must be numbers"):
        model.quantiles(rows, "plain", "median")
    with pytest.raises(ArgumentError, match="grid"):
        model.conditional_density(rows, "plain", [[0.0]])
    with pytest.raises(ArgumentError, match="grid"):
        model.conditional_density(rows, "plain", ["x"])
    with pytest.raises(ArgumentError, match="numbers="):
        model.impute(rows, numbers="mode")
    with pytest.raises(NotAvailableError, match="impute"):
        model.most_likely(rows)
    with pytest.raises(NotAvailableError, match="save"):
        model.to_bif("m.bif")
    with pytest.raises(CategoryError, match="no category 'd'"):
        model.score_samples({"word": ["d"]})
    with pytest.raises(DataError, match="numbers"):
        model.score_samples({"peaked": ["high"]})
    with pytest.raises(ArgumentTypeError, match="mapping"):
        model.sample(1, given=[("peaked", 1.0)])
    with pytest.raises(ArgumentError, match="a number or an interval"):
        model.sample(1, given={"peaked": {1.0, 2.0}})
    with pytest.raises(DataError, match="not a number"):
        model.sample(1, given={"peaked": "high"})
    with pytest.raises(ArgumentError, match="holds numbers"):
        model.score_samples(rows, soft={"plain": [[0.5, 0.5]]})
    numbers = tacit.KernelTree(2, "star", blend=False).fit(laplaces(100))
    with pytest.raises(NotAvailableError, match="conditional_density"):
        numbers.predict_proba([[0.0, 1.0]])


def test_columns_of_numbers_have_no_categories():
    model = fitted()
    named = [model.schema_.names[place] for place in model.schema_.categorical]
    assert list(model.categories_) == named
    assert "word" in named
    assert "plain" not in named


def test_unknown_categories_may_be_missing():
    model = fitted(unknown="missing")
    assert model.score_samples({"word": ["d"]}) == pytest.approx(0.0, abs=1e-9)


def test_soft_evidence_of_a_category_counts():
    model = fitted()
    rows = {"peaked": [1.0, 1.0]}
    likelihoods = np.array([[1.0, 0.0, 0.0], [0.2, 0.3, 0.5]])
    hard = model.score_samples({"peaked": [1.0] * 3, "word": ["a", "b", "c"]})
    soft = model.score_samples(rows, soft={"word": likelihoods})
    assert soft[0] == pytest.approx(hard[0])
    assert soft[1] == pytest.approx(np.log(likelihoods[1] @ np.exp(hard)))


def test_estimates_that_are_not_positive_are_treated_as_the_user_says():
    model = tacit.KernelTree(4, learn="spectral", bandwidth=0.05, blend=False).fit(laplaces(300))
    grid = np.linspace(-8, 8, 41)
    points = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
    alone = sum(
        np.log(margin.density(column))
        for margin, column in zip(model.margins_, points.T, strict=True)
    )
    scores, repairs = model.score_samples(points, return_repairs=True)
    assert (scores >= alone + np.log(1e-3) - 1e-9).all()
    assert repairs["n_negative"] > 0
    model.set_params(negative="nan")
    assert np.isnan(model.score_samples(points)).any()
    model.set_params(negative="raise")
    with pytest.raises(ArithmeticError):
        model.score_samples(points)
    model.set_params(negative="floor")
    *_, repairs = model.conditional_density(points[:5], "x1", return_repairs=True)
    assert 0 < repairs["mean_negative_mass"] < 1


def test_the_summary_shows_the_means_of_numbers_in_each_state():
    rng = np.random.default_rng(0)
    group = rng.integers(2, size=400)
    rows = {
        "x": rng.normal(4.0 * group),
        "y": rng.normal(100.0 - 40.0 * group),
        "noise": rng.normal(size=400),
        "group": np.array(["low", "high"])[group],
    }
    model = tacit.KernelTree(2, "neighbor-joining").fit(rows)
    lines = [line for line in str(model.summary()).splitlines() if "group=" in line]
    assert len(lines) == 2
    for line in lines:
        assert "noise" not in line
        is_high = "group=high 1.00" in line
        for name, mean in (("x", 4.0 * is_high), ("y", 100.0 - 40.0 * is_high)):
            within, overall = re.search(rf"\b{name} (\S+) \((\S+)\)", line).groups()
            assert float(within) == pytest.approx(mean, abs=1.0 if name == "x" else 6.0)
            assert float(overall) == pytest.approx(np.mean(rows[name]), abs=0.5)
