"""Gaussian and nonparanormal trees: exact moments, densities, conditionals, files."""

import os
import pickle
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal, norm
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

import tacit
from oracles.edited_files import edited
from oracles.gaussians import random_gaussian_tree, rows_with_moments, with_holes
from oracles.sklearn_exceptions import EXPECTED_FAILURES_OF_SELECTION
from tacit import GaussianTree, Topology
from tacit.errors import (
    ArgumentError,
    ArgumentTypeError,
    CategoryError,
    ColumnError,
    DataError,
    FileFormatError,
    NotAvailableError,
    TopologyError,
)
from tacit.numbers.learn.gaussian_em import gaussian_em
from tacit.numbers.learn.gaussian_tree import tree_gaussian

needs_data = pytest.mark.skipif(
    not os.environ.get("TACIT_DATA"), reason="the variable TACIT_DATA names no folder of data"
)
NORMAL = "normal-scores"
MARGINS = ["gaussian", NORMAL]
gaussian_tree = partial(GaussianTree, margins="gaussian", shrinkage=0.0)


def tree_rows(d=6, n=2000, seed=0):
    """Rows drawn from a Gaussian tree, and the truth."""
    rng = np.random.default_rng(seed)
    topology, tree = random_gaussian_tree(d, rng)
    truth = tree.gaussian(rng.normal(size=d), rng.uniform(0.5, 2.0, d))
    rows = truth.mean + rng.normal(size=(n, d)) @ truth.factor.T
    return topology, truth, rows


def towns(n=300, seed=0):
    """Numbers beside categories, all leaning on one number."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=n)

    def noisy():
        return z + 0.5 * rng.normal(size=n)

    return pd.DataFrame(
        {
            "income": np.exp(noisy()),
            "age": 40 + 10 * noisy(),
            "size": np.array(["large", "medium", "small"])[np.digitize(noisy(), [-0.5, 0.5])],
            "coast": noisy() > 0,
        }
    )


@parametrize_with_checks(
    [gaussian_tree(), GaussianTree(), gaussian_tree("chow-liu")],
    expected_failed_checks=lambda model: (
        EXPECTED_FAILURES_OF_SELECTION if model.structure == "auto" else {}
    ),
)
def test_the_checks_of_scikit_learn_hold(estimator, check):
    check(estimator)


# ------------------------------------------------------------------------- exact moments


@pytest.mark.parametrize("structure", ["neighbor-joining", "chow-liu-joining", "given"])
@pytest.mark.parametrize("seed", range(3))
def test_exact_moments_give_back_the_exact_covariance(structure, seed):
    rng = np.random.default_rng(seed)
    topology, tree = random_gaussian_tree(7, rng)
    truth = tree.gaussian(rng.normal(size=7), rng.uniform(0.5, 2.0, 7))
    names = topology.observed
    rows = dict(zip(names, rows_with_moments(truth, 20_000, rng).T, strict=True))
    given_tree = Topology(topology.nodes, topology.edges, topology.observed)
    asked = given_tree if structure == "given" else structure
    model = gaussian_tree(asked, learn="distances", prior=0.0).fit(rows)
    assert model.gaussian_.covariance == pytest.approx(truth.covariance, abs=1e-8)
    assert model.gaussian_.mean == pytest.approx(truth.mean, abs=1e-8)
    likeliest = gaussian_tree(asked, prior=0.0).fit(rows)
    assert likeliest.gaussian_.covariance == pytest.approx(truth.covariance, abs=1e-3)


def test_a_tree_of_observed_columns_keeps_the_correlations_of_neighbours():
    _, _, rows = tree_rows()
    sample = np.corrcoef(rows.T)
    for learn in ("em", "distances"):
        model = gaussian_tree("chow-liu", prior=0.0, learn=learn).fit(rows)
        scale = model.gaussian_.scale
        actual = model.gaussian_.covariance / np.multiply.outer(scale, scale)
        for one, other in model.topology_.edges:
            i, j = int(one[1:]), int(other[1:])
            assert actual[i, j] == pytest.approx(sample[i, j], abs=1e-3 if learn == "em" else 1e-9)


def test_without_a_tree_it_is_the_gaussian_of_the_data():
    _, _, rows = tree_rows()
    model = gaussian_tree(shrinkage=1.0, prior=0.0).fit(rows)
    assert model.gaussian_.covariance == pytest.approx(np.cov(rows.T, bias=True), abs=1e-9)
    truth = multivariate_normal(rows.mean(axis=0), np.cov(rows.T, bias=True)).logpdf(rows)
    assert model.score_samples(rows) == pytest.approx(truth, abs=1e-8)
    halfway = gaussian_tree("star", shrinkage=0.25, prior=0.0).fit(rows).gaussian_.covariance
    tree = gaussian_tree("star", prior=0.0).fit(rows).gaussian_.covariance
    assert halfway == pytest.approx(0.75 * tree + 0.25 * model.gaussian_.covariance, abs=1e-9)


def test_the_tree_is_found_and_likelier_than_no_tree_on_new_rows():
    topology, truth, rows = tree_rows(10, n=400)
    rng = np.random.default_rng(9)
    test = truth.mean + rng.normal(size=(3000, 10)) @ truth.factor.T
    model = gaussian_tree().fit(pd.DataFrame(rows, columns=topology.observed))
    test = pd.DataFrame(test, columns=topology.observed)
    free = gaussian_tree(shrinkage=1.0).fit(pd.DataFrame(rows, columns=topology.observed))
    chosen = gaussian_tree(shrinkage="auto").fit(pd.DataFrame(rows, columns=topology.observed))
    assert tacit.evaluate.robinson_foulds(model.topology_, topology) <= 4  # of 14
    assert model.score(test) > free.score(test)
    assert chosen.score(test) > free.score(test)
    assert set(model.diagnostics_["structures"]) >= {"refined-joining", "chow-liu"}
    assert chosen.diagnostics_["shrinkage"] < 1
    assert chosen.diagnostics_["shrinkages"][chosen.diagnostics_["shrinkage"]] == max(
        chosen.diagnostics_["shrinkages"].values()
    )


@pytest.mark.parametrize("seed", range(3))
def test_the_first_structure_stays_where_none_is_clearly_better(seed):
    noise = np.random.default_rng(seed).normal(size=(200, 8))
    assert gaussian_tree().fit(noise).diagnostics_["structure"] == "refined-joining"


def test_the_likeliest_correlations_are_likelier_than_those_of_joined_distances():
    _, truth, rows = tree_rows(8, n=200, seed=4)
    joined = gaussian_tree("neighbor-joining", learn="distances").fit(rows)
    likeliest = gaussian_tree("neighbor-joining").fit(rows)
    test = truth.mean + np.random.default_rng(1).normal(size=(3000, 8)) @ truth.factor.T
    assert likeliest.score(rows) > joined.score(rows)
    assert likeliest.score(test) > joined.score(test)


# ---------------------------------------------------------------------------- densities


@pytest.mark.parametrize("margins", MARGINS)
def test_the_density_of_two_columns_integrates_to_one(margins):
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    rows = np.column_stack([np.exp(x), x + 0.7 * rng.normal(size=300)])
    model = gaussian_tree(margins=margins).fit(rows)
    axes = []
    for column in rows.T:
        apart = np.ptp(column)
        axes.append(np.linspace(column.min() - 3 * apart, column.max() + 3 * apart, 1200))
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    density = model.density(grid.reshape(-1, 2)).reshape(1200, 1200)
    total = np.trapezoid(np.trapezoid(density, axes[1], axis=1), axes[0])
    assert total == pytest.approx(1.0, abs=1e-2 if margins == NORMAL else 1e-6)


@pytest.mark.parametrize("margins", MARGINS)
def test_a_column_has_its_own_density(margins):
    frame = towns(400)[["income", "age"]]
    model = gaussian_tree(margins=margins).fit(frame)
    grid = np.linspace(-40, 120, 8001)
    places, density = model.conditional_density({"age": [None]}, "income", grid)
    assert np.array_equal(places, grid)
    assert np.trapezoid(density[0], grid) == pytest.approx(1.0, abs=5e-3)
    alone = model.density({"income": grid})
    assert alone == pytest.approx(density[0], rel=1e-9)
    if margins == NORMAL:
        assert model.score(frame[["income"]]) > gaussian_tree().fit(frame).score(frame[["income"]])


@pytest.mark.parametrize("margins", MARGINS)
def test_a_density_is_that_of_one_cell_given_the_others_times_that_of_the_others(margins):
    frame = towns(400)[["income", "age"]].assign(other=lambda f: f.age**2)
    model = gaussian_tree(margins=margins).fit(frame)
    rows = frame.iloc[:20]
    places = rows["income"].to_numpy()
    _, density = model.conditional_density(rows, "income", places)
    chain = np.log(np.diag(density)) + model.score_samples(rows[["age", "other"]])
    assert model.score_samples(rows) == pytest.approx(chain, rel=1e-9, abs=1e-9)


def test_a_row_without_cells_has_density_one():
    model = gaussian_tree().fit(tree_rows()[2])
    assert model.score_samples(np.full((2, 6), np.nan)).tolist() == [0.0, 0.0]


def test_no_number_is_impossible():
    frame = towns()[["income", "age"]]
    model = gaussian_tree(margins=NORMAL).fit(frame)
    assert np.isfinite(model.score_samples({"income": [-1e6, 1e6], "age": [0.0, None]})).all()


# -------------------------------------------------------------------------- conditionals


def test_conditionals_of_plain_numbers_are_exact():
    _, _, rows = tree_rows()
    model = gaussian_tree().fit(rows)
    mean, cov = model.gaussian_.mean, model.gaussian_.covariance
    slope = np.linalg.solve(cov[1:, 1:], cov[1:, 0])
    expected = mean[0] + (rows[:50, 1:] - mean[1:]) @ slope
    scale = np.sqrt(cov[0, 0] - slope @ cov[1:, 0])
    assert model.expectation(rows[:50], "x0") == pytest.approx(expected, abs=1e-9)
    square = model.expectation(rows[:50], "x0", np.square)
    assert square == pytest.approx(expected**2 + scale**2, abs=1e-9)
    quantiles = model.quantiles(rows[:50], "x0", [0.1, 0.5, 0.8])
    truth = norm.ppf([0.1, 0.5, 0.8], expected[:, None], scale)
    assert quantiles == pytest.approx(truth, abs=1e-9)
    assert model.quantiles(rows[:50], "x0", 0.1) == pytest.approx(truth[:, 0])
    places, density = model.conditional_density(rows[:50], "x0")
    assert density == pytest.approx(norm.pdf(places, expected[:, None], scale), abs=1e-9)
    holes = rows[:50].copy()
    holes[:, 0] = np.nan
    assert model.impute(holes)[:, 0] == pytest.approx(expected, abs=1e-9)


def test_quantiles_of_transformed_numbers_have_the_mass_that_they_name():
    frame = towns(500)[["income", "age"]]
    model = gaussian_tree(margins=NORMAL).fit(frame)
    rows = frame.iloc[:5]
    shares = np.array([0.05, 0.5, 0.9])
    actual = model.quantiles(rows, "income", shares)
    for row in range(5):
        for share, quantile in zip(shares, actual[row], strict=True):
            grid = np.linspace(-30, quantile, 6001)
            _, density = model.conditional_density(rows.iloc[[row]], "income", grid)
            assert np.trapezoid(density[0], grid) == pytest.approx(share, abs=5e-3)
    means = model.expectation(rows, "income")
    grid = np.linspace(-30, 60, 20_001)
    _, density = model.conditional_density(rows, "income", grid)
    assert means == pytest.approx(np.trapezoid(density * grid, grid, axis=1), rel=0.02)


def test_the_median_of_what_is_transformed_is_the_median():
    frame = towns(500)[["income", "age"]]
    model = gaussian_tree(margins=NORMAL).fit(frame)
    asked = frame.iloc[:20].assign(income=np.nan)
    assert model.impute(asked, numbers="median")["income"].to_numpy() == pytest.approx(
        model.quantiles(asked, "income", 0.5)
    )
    assert model.impute(asked)["income"].to_numpy() == pytest.approx(
        model.expectation(asked, "income")
    )
    assert np.array_equal(model.impute(asked)["age"], asked["age"])


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1))
def test_increasing_changes_of_the_columns_change_nothing_of_the_ranks(seed):
    _, _, rows = tree_rows(4, n=150, seed=seed % 1000)
    one = gaussian_tree("star", margins=NORMAL).fit(rows)
    other = gaussian_tree("star", margins=NORMAL).fit(rows * [1, 2, 3, 4] + 7)
    asked = with_holes(rows[:10], 0.3, np.random.default_rng(seed))
    ours = one.impute(asked, numbers="median")
    theirs = other.impute(asked * [1, 2, 3, 4] + 7, numbers="median")
    assert theirs == pytest.approx(ours * [1, 2, 3, 4] + 7, rel=1e-3, abs=1e-2)


def test_missing_cells_cost_little():
    topology, truth, rows = tree_rows(8, n=3000)
    rng = np.random.default_rng(1)
    test = truth.mean + rng.normal(size=(2000, 8)) @ truth.factor.T
    whole, holey = (gaussian_tree(topology) for _ in range(2))
    names = topology.observed
    whole.fit(pd.DataFrame(rows, columns=names))
    holey.fit(pd.DataFrame(with_holes(rows, 0.3, rng), columns=names))
    test = pd.DataFrame(test, columns=names)
    assert holey.score(test) == pytest.approx(whole.score(test), abs=0.05)


# --------------------------------------------------------------------------------- mixed


@pytest.mark.parametrize("margins", MARGINS)
def test_mixed_tables_are_imputed(margins):
    frame = towns(1500)
    model = gaussian_tree(margins=margins, shrinkage="auto").fit(frame[:500])
    assert model.categories_ == {"size": ("large", "medium", "small"), "coast": (False, True)}
    rows = frame[500:]
    shares = model.predict_proba(rows, "size")
    assert shares.shape == (1000, 3)
    assert shares.sum(axis=1) == pytest.approx(1.0)
    right = np.array(model.categories_["size"])[shares.argmax(axis=1)] == rows["size"]
    assert right.mean() > 0.55
    holes = rows.assign(size=None, coast=None)
    filled = model.impute(holes)
    assert (filled["size"] == rows["size"]).mean() > 0.5
    assert (filled["coast"].astype(bool) == rows["coast"]).mean() > 0.7
    assert filled.index.equals(rows.index)
    both = model.predict_proba(holes, ["size", "coast"])
    assert both["coast"].shape == (1000, 2)
    assert model.predict_proba(rows).shape == (1000, 5)
    assert np.isfinite(model.score_samples(frame)).all()


def test_a_tree_over_the_columns_has_indicators_below_a_column_of_categories():
    frame = towns()
    model = gaussian_tree("((income,age),(size,coast));").fit(frame)
    assert set(model.topology_.observed) == {"income", "age", "size=large", "size=medium", "coast"}
    assert "size" in model.topology_.hidden
    again = gaussian_tree(model.topology_).fit(frame)
    assert again.score(frame) == pytest.approx(model.score(frame), abs=1e-3)


def test_few_numbers_are_numbers_unless_they_are_named():
    rows = {"x": [0, 1, 2, 1, 0, 2] * 5, "y": np.arange(30.0) % 7}
    assert gaussian_tree().fit(rows).schema_.continuous == (0, 1)
    named = gaussian_tree(categorical=["x"]).fit(rows)
    assert named.schema_.categorical == (0,)
    assert named.categories_ == {"x": (0, 1, 2)}
    with pytest.raises(DataError, match="'size' does not hold numbers"):
        gaussian_tree(categorical="error").fit(towns())


# --------------------------------------------------------------------------------- tables


def test_rows_come_back_as_they_came():
    frame = towns()
    model = gaussian_tree().fit(frame)
    holes = frame[:5].assign(age=[None, 1.0, None, 2.0, 3.0])
    assert isinstance(model.impute(holes), pd.DataFrame)
    assert isinstance(model.impute(pl.from_pandas(holes)), pl.DataFrame)
    assert model.impute({"age": [None, 40.5]})["age"][1] == 40.5
    drawn = model.sample(7, random_state=0)
    assert isinstance(drawn, pd.DataFrame)
    assert list(drawn.columns) == list(frame.columns)
    assert set(drawn["size"]) <= set(frame["size"])
    assert model.sample(3, random_state=0, like="dict").keys() == set(frame.columns)
    assert gaussian_tree().fit(tree_rows()[2]).sample(4).shape == (4, 6)


def test_samples_follow_the_model_and_what_is_given():
    frame = towns(2000)
    model = gaussian_tree(margins=NORMAL).fit(frame)
    drawn = model.sample(20_000, random_state=1)
    assert np.log(drawn["income"].clip(1e-3)).mean() == pytest.approx(0, abs=0.1)
    assert drawn["age"].std() == pytest.approx(frame["age"].std(), rel=0.05)
    large = (frame["size"] == "large").mean()
    assert (drawn["size"] == "large").mean() == pytest.approx(large, abs=0.03)
    rich = model.sample(5000, given={"income": 5.0}, random_state=1)
    assert (rich["income"] == 5.0).all()
    assert rich["age"].mean() == pytest.approx(
        model.expectation({"income": [5.0]}, "age")[0], abs=0.5
    )
    again = model.sample(5, given={"size": "small"}, random_state=3)
    assert again.equals(model.sample(5, given={"size": "small"}, random_state=3))
    assert (again["size"] == "small").all()


def test_columns_may_come_in_any_order_or_not_at_all():
    frame = towns()
    model = gaussian_tree().fit(frame)
    assert np.array_equal(
        model.score_samples(frame[["coast", "age", "size", "income"]]), model.score_samples(frame)
    )
    assert model.expectation(frame[["age"]], "income").shape == (300,)
    with pytest.raises(ColumnError, match="did you mean 'income'"):
        model.score_samples(frame.rename(columns={"income": "incom"}))


def test_weights_count_like_repeated_rows():
    _, _, rows = tree_rows(4, n=60)
    times = np.random.default_rng(0).integers(1, 4, 60)
    plain = gaussian_tree("refined-joining").fit(rows, sample_weight=times)
    again = gaussian_tree("refined-joining").fit(np.repeat(rows, times, axis=0))
    assert plain.gaussian_.covariance == pytest.approx(again.gaussian_.covariance, abs=1e-9)
    some = gaussian_tree("star").fit(rows, sample_weight=np.arange(60) < 40)
    assert some.gaussian_.mean == pytest.approx(rows[:40].mean(axis=0))


@pytest.mark.parametrize("n_rows", [1, 2, 3, 5, 19, 21])
@pytest.mark.parametrize("margins", MARGINS)
def test_few_rows_will_do(n_rows, margins):
    rows = np.random.default_rng(0).normal(size=(n_rows, 4))
    rows[:, 3] = 7.0
    model = gaussian_tree(margins=margins, shrinkage="auto").fit(rows)
    assert np.isfinite(model.score_samples(rows)).all()
    rows[0, 0] = np.nan
    assert np.isfinite(model.impute(rows)).all()


@pytest.mark.parametrize("d", [1, 2])
def test_one_or_two_columns_will_do(d):
    rows = np.random.default_rng(0).normal(size=(50, d)).cumsum(axis=1)
    model = gaussian_tree(prior=0.0).fit(rows)
    assert model.gaussian_.covariance == pytest.approx(
        np.cov(rows.T, bias=True).reshape(d, d), abs=1e-5
    )


def test_validation_rows_choose():
    _, truth, rows = tree_rows(6, n=100)
    test = truth.mean + np.random.default_rng(5).normal(size=(500, 6)) @ truth.factor.T
    model = gaussian_tree(shrinkage="auto").fit(rows, validation=test)
    assert model.diagnostics_["n_rows_tried_with"] == 500
    assert model.diagnostics_["held_out_score"] == pytest.approx(model.score(test), abs=1e-6)


def test_a_grid_search_takes_the_arguments():
    _, _, rows = tree_rows(5, n=200)
    search = GridSearchCV(
        gaussian_tree("star"), {"margins": MARGINS, "shrinkage": [0.0, 1.0]}, cv=3
    ).fit(rows)
    assert search.best_params_["margins"] == "gaussian"
    assert "margins='gaussian'" in repr(gaussian_tree())
    assert clone(gaussian_tree(margins=NORMAL)).get_params()["margins"] == NORMAL
    assert not hasattr(GaussianTree(), "transform")


# ---------------------------------------------------------------------------------- files


@pytest.mark.parametrize("margins", MARGINS)
def test_a_loaded_model_answers_like_the_saved_one(tmp_path, margins):
    frame = towns()
    frame.loc[:20, "age"] = np.nan
    model = gaussian_tree(margins=margins, shrinkage="auto").fit(frame)
    model.save(tmp_path / "model.tacit")
    loaded = tacit.load(tmp_path / "model.tacit")
    assert isinstance(loaded, GaussianTree)
    assert loaded.get_params() == model.get_params()
    assert np.array_equal(loaded.score_samples(frame), model.score_samples(frame))
    assert loaded.impute(frame).equals(model.impute(frame))
    assert loaded.topology_ == model.topology_
    assert loaded.sample(3, random_state=0).equals(model.sample(3, random_state=0))
    assert loaded.feature_names_in_.tolist() == list(frame.columns)
    assert loaded.fit(frame).score(frame) == pytest.approx(model.score(frame))
    copy = pickle.loads(pickle.dumps(model))
    assert np.array_equal(copy.score_samples(frame), model.score_samples(frame))


def test_a_tree_and_names_that_were_given_are_kept_in_files(tmp_path):
    rows = {"a": [0, 1, 2] * 10, "b": np.arange(30.0), "c": np.arange(30.0)[::-1] % 7}
    topology = Topology.star(["a", "b", "c"])
    model = gaussian_tree(topology, categorical=("a",)).fit(rows)
    model.save(tmp_path / "model.tacit")
    loaded = tacit.load(tmp_path / "model.tacit")
    assert loaded.categorical == ["a"]
    assert loaded.fit(rows).score(rows) == pytest.approx(model.score(rows), abs=1e-4)


def moved(covariance):
    other = covariance.copy()
    other[0, 1] += 1.0
    return other


DAMAGE = {
    "is not symmetric": ("gaussian.covariance", moved),
    "variances that are not positive": ("gaussian.covariance", lambda array: -array),
    "has shape": ("gaussian.covariance", lambda array: array[:1]),
    "infinities": ("gaussian.mean", lambda array: array * np.nan),
    "exceeds": ("gaussian.mean", lambda array: array + 1e200),
    "'scores' is None": ("scores", lambda _: None),
    "not the distributions": ("scores", lambda _: {"margins": []}),
    "observed": ("topology", lambda plain: {**plain, "nodes": ["p", *plain["nodes"][1:]]}),
}


@pytest.mark.parametrize("match", DAMAGE)
def test_a_damaged_file_is_refused(tmp_path, match):
    path = tmp_path / "model.tacit"
    gaussian_tree("star").fit(np.random.default_rng(0).normal(size=(30, 2))).save(path)
    name, new = DAMAGE[match]

    def change(header, arrays):
        content = arrays if name in arrays else header
        content[name] = new(content[name])

    edited(path, change=change)
    with pytest.raises(FileFormatError, match=match):
        tacit.load(path)


def test_a_model_that_was_not_fitted_leaves_no_file(tmp_path):
    with pytest.raises(Exception, match="not fitted"):
        gaussian_tree().save(tmp_path / "model.tacit")
    assert list(tmp_path.iterdir()) == []


# --------------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"margins": "ranks"}, "margins='ranks'"),
        ({"shrinkage": 2}, "shrinkage=2; give a number from 0 to 1, or 'auto'"),
        ({"shrinkage": "none"}, "shrinkage='none'; give"),
        ({"shrinkage": True}, "shrinkage=True; give"),
        ({"learn": "distance"}, "learn='distance' is not known; did you mean 'distances'"),
        ({"prior": -1}, "prior=-1; give a number that is not negative"),
        ({"categorical": "score"}, "did you mean 'scores'"),
        ({"unknown": "x"}, "unknown='x'"),
        ({"structure": "nj"}, "structure='nj' is neither one of"),
    ],
)
def test_arguments_that_make_no_sense_are_named(arguments, match):
    model = gaussian_tree(**arguments)
    with pytest.raises(ArgumentError, match=match):
        model.fit(tree_rows()[2])
    assert not hasattr(model, "gaussian_")


def test_questions_that_make_no_sense_are_answered():
    frame = towns()
    model = gaussian_tree().fit(frame)
    with pytest.raises(ArgumentError, match="'size' holds categories; use predict_proba"):
        model.quantiles(frame, "size")
    with pytest.raises(ArgumentError, match="'age' holds numbers; use conditional_density"):
        model.predict_proba(frame, "age")
    with pytest.raises(ArgumentError, match="name one column of numbers"):
        model.expectation(frame, ["age"])
    with pytest.raises(ArgumentError, match="between 0 and 1"):
        model.quantiles(frame, "age", [0.5, 1.0])
    with pytest.raises(ArgumentError, match="q has shape"):
        model.quantiles(frame, "age", [[0.5]])
    with pytest.raises(ArgumentError, match="finite numbers"):
        model.conditional_density(frame, "age", [[1.0]])
    with pytest.raises(ArgumentError, match="grid must be numbers"):
        model.conditional_density(frame, "age", ["a"])
    with pytest.raises(ArgumentError, match="numbers='mode'"):
        model.impute(frame, numbers="mode")
    with pytest.raises(ArgumentTypeError, match="given is a list"):
        model.sample(3, given=["age"])
    with pytest.raises(CategoryError, match="huge"):
        model.predict_proba({"size": ["huge"]}, "coast")
    assert model.set_params(unknown="missing").predict_proba({"size": ["huge"]}, "coast").shape
    with pytest.raises(TopologyError):
        gaussian_tree("(income,age);").fit(frame)
    with pytest.raises(DataError, match="nothing to learn"):
        gaussian_tree().fit({"a": ["x", "x"]})


# --------------------------------------------------------------------------------- crime


@needs_data
@pytest.mark.slow
def test_crime_is_predicted_as_well_as_was_measured_before():
    """Mean absolute errors from 30 of 50 attributes; notes on kernels, section 3.5."""
    columns = tacit.datasets.load_communities(50)
    rows = np.stack(list(columns.values()), axis=1)
    models = {
        "gaussian": gaussian_tree("neighbor-joining", learn="distances"),
        "nonparanormal": gaussian_tree("neighbor-joining", margins=NORMAL),
        "copula": gaussian_tree("star", margins=NORMAL, shrinkage=1.0),
        "chosen": gaussian_tree("refined-joining", margins=NORMAL, shrinkage="auto"),
    }
    errors = {name: [] for name in models}
    for split in range(5):
        rng = np.random.default_rng(split)
        order = rng.permutation(1994)
        train, test = rows[order[:1400]], rows[order[1694:]]
        evidence = [rng.choice(50, 30, replace=False) for _ in range(5)]
        for name, model in models.items():
            model.fit(train)
            for known in evidence:
                asked = np.full(test.shape, np.nan)
                asked[:, known] = test[:, known]
                actual = np.clip(model.quantiles(asked, "x50", 0.5), 0, 1)
                errors[name].append(np.abs(actual - test[:, 50]).mean())
    mean = {name: np.mean(item) for name, item in errors.items()}
    assert mean["gaussian"] == pytest.approx(0.111, abs=0.006)
    assert mean["nonparanormal"] == pytest.approx(0.103, abs=0.006)
    assert mean["copula"] == pytest.approx(0.089, abs=0.004)
    assert mean["chosen"] <= mean["copula"] + 0.001


# ------------------------------------------------------------------------- the queries of all tables


def mixed_model(**options):
    return gaussian_tree("star", **options).fit(towns())


@pytest.mark.parametrize("margins", MARGINS)
def test_a_query_is_what_the_rows_say(margins):
    model = mixed_model(margins=margins)
    rows = {"income": [2.0], "coast": [True]}
    given_cells = {"income": 2.0, "coast": True}
    chances = model.query("size", given=given_cells)
    assert list(chances) == list(model.categories_["size"])
    assert list(chances.values()) == pytest.approx(model.predict_proba(rows, "size")[0])
    number = model.query("age", given=given_cells)
    assert number["mean"] == pytest.approx(model.expectation(rows, "age")[0])
    assert number["5%"] == pytest.approx(model.quantiles(rows, "age", 0.05)[0], rel=1e-6)
    assert model.predict(rows, "age") == pytest.approx(model.expectation(rows, "age"))
    assert model.predict(rows, "size")[0] == max(chances, key=chances.get)


def test_likelihoods_are_mixtures_of_completed_rows():
    model = mixed_model()
    rows = {"income": [2.0, 0.5], "age": [40.0, 30.0]}
    likelihoods = np.array([[0.2, 0.5, 1.0], [1.0, 1.0, 0.0]])
    soft = {"size": likelihoods}
    joint = np.zeros(2)
    for code, size in enumerate(model.categories_["size"]):
        completed = {**rows, "size": [size, size]}
        joint += likelihoods[:, code] * np.exp(model.score_samples(completed))
    assert model.score_samples(rows, soft=soft) == pytest.approx(np.log(joint))
    certain = {"size": np.array([[0.0, 1.0, 0.0]] * 2)}
    middle = {**rows, "size": [model.categories_["size"][1]] * 2}
    one = model.predict_proba(rows, "coast", soft=certain)
    assert one == pytest.approx(model.predict_proba(middle, "coast"))
    assert model.marginals(rows, soft=certain)["size"] == pytest.approx(certain["size"])
    a_set = model.query("age", given={"size": {"large", "small"}})
    ends = [model.query("age", given={"size": size})["mean"] for size in ("large", "small")]
    assert min(ends) < a_set["mean"] < max(ends)
    drawn = model.sample(400, given={"size": {"large", "small"}}, random_state=0)
    assert set(drawn["size"]) == {"large", "small"}
    assert drawn["age"].mean() == pytest.approx(a_set["mean"], abs=1.5)


def test_joint_probabilities_follow_the_chain_rule():
    model = mixed_model()
    rows = {"income": [2.0, 0.5]}
    joint = model.predict_proba(rows, ["size", "coast"], joint=True)
    assert joint.shape == (2, 3, 2)
    assert joint.sum(axis=2) == pytest.approx(model.predict_proba(rows, ["size", "coast"])["size"])
    for code, size in enumerate(model.categories_["size"]):
        given_size = model.predict_proba({**rows, "size": [size] * 2}, "coast")
        assert joint[:, code] / joint[:, code].sum(axis=1, keepdims=True) == pytest.approx(
            given_size
        )
    pairs = model.query(["size", "coast"], given={"income": 2.0})
    assert sum(pairs.values()) == pytest.approx(1.0)
    assert list(pairs.values()) == pytest.approx(joint[0].ravel())


def test_the_most_likely_completion_is_the_densest():
    model = mixed_model()
    rows = pd.DataFrame({"income": [2.0, 0.5, 1.0], "size": [None, "small", None]})
    best = model.most_likely(rows)
    assert list(best["income"]) == [2.0, 0.5, 1.0]
    assert best["size"][1] == "small"
    assert not best.isna().any(axis=None)
    for size in model.categories_["size"]:
        for coast in (True, False):
            other = best.assign(size=size, coast=coast)
            assert (model.score_samples(best) >= model.score_samples(other) - 1e-9)[[0, 2]].all()
    numbers = gaussian_tree("star").fit(towns()[["income", "age"]])
    best = numbers.most_likely(rows[["income"]])
    for shift in (-1.0, 1.0):
        shifted = best.assign(age=best["age"] + shift)
        assert (numbers.score_samples(best) > numbers.score_samples(shifted)).all()


def test_observed_categories_have_their_marginal_for_sure():
    model = mixed_model()
    chances = model.marginals({"income": [2.0, 0.5], "size": ["small", None]})
    assert chances["size"][0] == pytest.approx(
        [float(size == "small") for size in model.categories_["size"]]
    )
    assert chances["size"][1] == pytest.approx(list(model.query("size", {"income": 0.5}).values()))
    assert set(chances) == {"size", "coast"}


def test_parameters_are_counted():
    _, _, rows = tree_rows(5, n=200)
    tree = gaussian_tree("chow-liu").fit(rows)
    assert tree.n_parameters_ == 5 + 5 + 4
    assert gaussian_tree("chow-liu", shrinkage=0.5).fit(rows).n_parameters_ == 10 + 10
    assert gaussian_tree("chow-liu", margins=NORMAL).fit(rows).n_parameters_ == 4
    total = tree.score_samples(rows).sum()
    assert tree.bic(rows) == pytest.approx(14 * np.log(200) - 2 * total)
    with pytest.raises(NotAvailableError, match="KernelTree"):
        tree.posterior(rows)


def test_the_defaults_are_normal_scores_and_chosen_shrinkage():
    model = GaussianTree().fit(towns())
    assert model.get_params()["margins"] == NORMAL
    assert set(model.diagnostics_["shrinkages"]) >= {0.0, 1.0}
    page = str(model.summary())
    assert "Strongest dependences (correlations of normal scores)" in page
    assert "held-out log-density" in page
    assert page.startswith("GaussianTree: 2 columns of numbers, 2 of categories")


def test_likelihoods_that_cannot_be_are_refused():
    model = mixed_model()
    rows = {"income": [2.0, 0.5]}
    for wrong, complaint in (
        (np.ones((2, 2)), "shape"),
        (-np.ones((2, 3)), "not negative"),
        (np.zeros((2, 3)), "all zero"),
    ):
        with pytest.raises(DataError, match=complaint):
            model.score_samples(rows, soft={"size": wrong})
    with pytest.raises(ArgumentError, match="holds numbers"):
        model.score_samples(rows, soft={"age": np.ones((2, 3))})


@pytest.mark.parametrize("share", [0.0, 0.2])
def test_the_tree_of_a_covariance_is_the_one_that_is_fitted(share):
    rng = np.random.default_rng(0)
    x = np.cumsum(rng.normal(size=(300, 8)), axis=1)
    x[rng.random(x.shape) < share] = np.nan
    model = GaussianTree("refined-joining", margins="gaussian", shrinkage=0).fit(x)
    weights = np.ones(len(x))
    fitted = tree_gaussian(gaussian_em(x, weights).gaussian, x, weights)
    assert fitted.mean == pytest.approx(model.gaussian_.mean)
    assert fitted.covariance == pytest.approx(model.gaussian_.covariance)
