"""Mixtures of spherical Gaussians at the door."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.mixture import GaussianMixture
from sklearn.utils.estimator_checks import parametrize_with_checks

from oracles.edited_files import edited
from oracles.spherical import matched, random_mixture
from tacit.core.files.load import load
from tacit.errors import (
    ArgumentError,
    ColumnError,
    ConvergenceWarning,
    FileFormatError,
    RankError,
)
from tacit.numbers.gaussian_mixture import COVARIANCE_TYPES, GaussianMixtureMoments
from tacit.numbers.model.gaussian_mixture import SphericalMixture
from tacit.numbers.query.gaussian_mixture import sample


def case(seed=0, n=4000, k=3, d=6):
    rng = np.random.default_rng(seed)
    truth = random_mixture(rng, k, d)
    return truth, *sample(truth, n, rng)


@parametrize_with_checks(
    [
        GaussianMixtureMoments(),
        GaussianMixtureMoments(2),
        GaussianMixtureMoments(2, variances="common", learn="moments"),
    ]
)
def test_the_checks_of_scikit_learn_hold(estimator, check):
    check(estimator)


@pytest.mark.parametrize("learn", ["auto", "moments"])
@pytest.mark.parametrize("variances", ["own", "common"])
def test_it_finds_the_components(learn, variances):
    truth, rows, components = case()
    model = GaussianMixtureMoments(3, variances=variances, learn=learn).fit(rows)
    actual = matched(model.mixture_, truth)
    loose = 0.5 if learn == "moments" else 0.15
    assert np.abs(actual.means - truth.means).max() < loose
    assert np.abs(actual.weights - truth.weights).max() < 0.1 * loose + 0.01
    if variances == "own":
        assert actual.variances == pytest.approx(truth.variances, rel=loose)
    near = np.linalg.norm(truth.means - model.means_[model.predict(rows)][:, None], axis=2)
    assert (near.argmin(axis=1) == components).mean() > 0.98
    assert model.predict_proba(rows).sum(axis=1) == pytest.approx(1.0)
    assert model.score(rows) == pytest.approx(model.score_samples(rows).mean())
    assert model.diagnostics_["supported_components"] == 3


@pytest.mark.parametrize("covariance_type", COVARIANCE_TYPES)
def test_scikit_learn_starts_where_it_is_told(covariance_type):
    _, rows, _ = case(n=500)
    start = GaussianMixtureMoments(3).fit(rows).as_start(covariance_type)
    peer = GaussianMixture(3, covariance_type=covariance_type, **start).fit(rows)
    assert peer.n_iter_ <= 5
    if covariance_type == "spherical":
        ours = GaussianMixtureMoments(3, tol=1e-9, max_iter=1000).fit(rows).score(rows)
        assert peer.score(rows) == pytest.approx(ours, abs=1e-3)


def test_a_better_start_than_k_means_where_groups_are_many():
    rng = np.random.default_rng(0)
    means = 3 * rng.normal(size=(15, 20))
    rows = means[rng.integers(0, 15, 2000)] + rng.normal(size=(2000, 20))
    kind = {"n_components": 15, "covariance_type": "spherical"}
    start = GaussianMixtureMoments(15).fit(rows).as_start("spherical")
    ours = GaussianMixture(**kind, **start).fit(rows).score(rows)
    theirs = [GaussianMixture(**kind, random_state=s).fit(rows).score(rows) for s in range(3)]
    assert ours > max(theirs) - 1e-6
    assert ours > np.mean(theirs) + 0.1


@pytest.mark.parametrize("covariance_type", COVARIANCE_TYPES)
def test_the_start_for_rows_is_that_of_k_means_where_none_is_better(covariance_type):
    rows = np.random.default_rng(3).normal(size=(300, 4))
    kind = {"n_components": 3, "covariance_type": covariance_type}
    model, scores = GaussianMixtureMoments(3).fit(rows), []
    for seed in range(3):
        start = model.as_start(covariance_type, rows, random_state=seed)
        ours = GaussianMixture(**kind, **start).fit(rows)
        theirs = GaussianMixture(**kind, random_state=seed).fit(rows)
        assert ours.n_iter_ == theirs.n_iter_
        assert ours.score_samples(rows) == pytest.approx(theirs.score_samples(rows), rel=1e-9)
        scores.append(theirs.score(rows))
    assert np.ptp(scores) > 1e-4  # as k-means falls out


def test_the_start_for_rows_is_better_where_k_means_cuts_a_wide_component():
    rng = np.random.default_rng(0)
    means = np.zeros((4, 12))
    means[1, 0] = means[2, 1] = means[3, 2] = 4.0
    of = rng.choice(4, 1000, p=[0.7, 0.1, 0.1, 0.1])
    rows = means[of] + np.array([2.0, 0.5, 0.5, 0.5])[of][:, None] * rng.normal(size=(1000, 12))
    kind = {"n_components": 4, "covariance_type": "diag"}
    model = GaussianMixtureMoments(4).fit(rows)
    starts = [model.as_start("diag", rows, random_state=seed) for seed in range(4)]
    ours = [GaussianMixture(**kind, **start).fit(rows).score(rows) for start in starts]
    theirs = [GaussianMixture(**kind, random_state=s).fit(rows).score(rows) for s in range(4)]
    assert np.mean(ours) > np.mean(theirs) + 0.1
    assert np.ptp(ours) < 1e-3


def test_a_start_that_overfits_is_not_taken():
    """A component for a single row, whose training likelihood has no bound."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(100, 3)) + np.repeat([[0.8], [-0.8]], 50, axis=0)
    model = GaussianMixtureMoments(2, learn="moments", reg_covar=1e-15).fit(rows)
    single = SphericalMixture(
        np.array([0.99, 0.01]), np.stack([rows.mean(axis=0), rows[0]]), np.array([3.0, 1e-9])
    )
    model._keep(single)
    kind = {"n_components": 2, "covariance_type": "spherical", "reg_covar": 1e-15}
    ours = GaussianMixture(**kind, **model.as_start("spherical", rows)).fit(rows)
    trap = GaussianMixture(**kind, **model.as_start("spherical")).fit(rows)
    assert ours.weights_.min() > 0.3
    assert trap.weights_.min() < 0.02
    assert trap.score(rows) > ours.score(rows)


def test_rows_without_variance_start_as_the_moments_say():
    rows = np.random.default_rng(0).normal(size=(60, 3)) + np.repeat([[4.0], [0.0]], 30, axis=0)
    rows[:, 2] = 1.0
    model = GaussianMixtureMoments(2, reg_covar=0.0).fit(rows)
    actual, plain = model.as_start("full", rows), model.as_start("full")
    assert all(np.array_equal(actual[name], plain[name]) for name in plain)
    with pytest.raises(ValueError, match="features"):
        model.as_start("full", rows[:, :2])


def test_starts_look_at_a_part_of_many_rows(monkeypatch):
    _, rows, _ = case(n=2000)
    monkeypatch.setattr("tacit.numbers.learn.mixture_starts.MAX_ROWS", 300)
    start = GaussianMixtureMoments(3).fit(rows).as_start("full", rows)
    fitted = GaussianMixture(3, **start).fit(rows)
    assert fitted.score(rows) == pytest.approx(
        GaussianMixture(3, n_init=5, random_state=0).fit(rows).score(rows), abs=1e-3
    )


def test_nothing_is_drawn_and_nothing_given_is_changed():
    _, rows, _ = case(n=300)
    before = rows.copy()
    one, two = (GaussianMixtureMoments(3).fit(rows) for _ in range(2))
    assert np.array_equal(one.means_, two.means_)
    assert np.array_equal(rows, before)
    back = pickle.loads(pickle.dumps(one))
    assert np.array_equal(back.score_samples(rows), one.score_samples(rows))
    assert not hasattr(clone(one), "mixture_")


def test_rows_are_drawn_from_what_was_learnt():
    truth, rows, _ = case()
    drawn = GaussianMixtureMoments(3).fit(rows).sample(20_000, random_state=0)
    assert drawn.mean(axis=0) == pytest.approx(truth.weights @ truth.means, abs=0.2)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"n_components": 0}, "n_components=0"),
        ({"variances": "same"}, "variances='same'"),
        ({"learn": "em"}, "learn='em'"),
        ({"max_iter": 0}, "max_iter=0"),
        ({"tol": -1.0}, "tol=-1.0"),
        ({"reg_covar": "x"}, "reg_covar='x'"),
    ],
)
def test_wrong_arguments_are_named(arguments, text):
    with pytest.raises(ArgumentError, match=text):
        GaussianMixtureMoments(**arguments).fit(np.eye(4))


def test_what_rows_cannot_tell_is_refused():
    rows = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(RankError, match="use n_components<=2"):
        GaussianMixtureMoments(3).fit(rows)
    with pytest.raises(ArgumentError, match="all rows are equal"):
        GaussianMixtureMoments(2).fit(np.ones((20, 3)))
    with pytest.raises(ArgumentError, match="covariance_type='round'"):
        GaussianMixtureMoments(2).fit(rows).as_start("round")
    with pytest.raises(ArgumentError, match="random_state=-1"):
        GaussianMixtureMoments(2).fit(rows).as_start("full", rows, random_state=-1)


def test_a_climb_that_is_cut_short_says_so():
    rows = np.random.default_rng(0).exponential(size=(300, 4))
    with pytest.warns(ConvergenceWarning, match="max_iter=3"):
        GaussianMixtureMoments(3, max_iter=3, tol=0.0).fit(rows)


def test_files_hold_all_of_it(tmp_path):
    import pandas as pd

    _, rows, _ = case(n=300)
    frame = pd.DataFrame(rows, columns=list("abcdef"))
    model = GaussianMixtureMoments(3, variances="common").fit(frame)
    model.save(tmp_path / "m.tacit")
    back = load(tmp_path / "m.tacit")
    assert back.get_params() == model.get_params()
    assert np.array_equal(back.score_samples(frame), model.score_samples(frame))
    assert back.feature_names_in_.tolist() == list("abcdef")
    assert (back.n_iter_, back.converged_) == (model.n_iter_, model.converged_)
    assert back.diagnostics_ == model.diagnostics_


def test_damaged_files_are_refused(tmp_path):
    _, rows, _ = case(n=300)
    path = tmp_path / "m.tacit"
    model = GaussianMixtureMoments(3).fit(rows)
    for name, damage in (
        ("means", model.means_[:2]),
        ("means", model.means_[:, :0]),
        ("means", model.means_ + 1e308),
        ("variances", -model.covariances_),
        ("variances", 1e-310 * model.covariances_),
        ("weights", model.weights_ * np.nan),
        ("weights", None),
    ):
        model.save(path)
        edited(path, {f"mixture.{name}": damage})
        with pytest.raises(FileFormatError, match=f"mixture.{name}"):
            load(path)


def test_information_criteria_are_those_of_scikit_learn():
    _, rows, _ = case(n=300)
    model = GaussianMixtureMoments(3).fit(rows)
    peer = GaussianMixture(3, covariance_type="spherical", **model.as_start("spherical")).fit(rows)
    peer.weights_, peer.means_, peer.covariances_ = model.weights_, model.means_, model.covariances_
    peer.precisions_cholesky_ = 1 / np.sqrt(model.covariances_)
    assert model.bic(rows) == pytest.approx(peer.bic(rows))
    assert model.aic(rows) == pytest.approx(peer.aic(rows))
    common = GaussianMixtureMoments(3, variances="common").fit(rows)
    assert common.n_parameters_ == model.n_parameters_ - 2


def test_samples_given_a_column_follow_the_conditional_distribution():
    frame = pd.DataFrame({"a": np.repeat([0.0, 8.0], 200), "b": np.repeat([0.0, -8.0], 200)})
    frame += np.random.default_rng(0).normal(size=frame.shape)
    model = GaussianMixtureMoments(2).fit(frame)
    rows = model.sample(500, given={"a": 8.0}, random_state=0)
    assert (rows[:, 0] == 8.0).all()
    assert rows[:, 1].mean() == pytest.approx(-8.0, abs=0.3)
    with pytest.raises(ColumnError, match="there is no column 'c'"):
        model.sample(given={"c": 1.0})
    with pytest.raises(ArgumentError, match="is not a number"):
        model.sample(given={"a": "high"})


def test_the_summary_names_the_columns_that_tell_components_apart():
    frame = pd.DataFrame({"a": np.repeat([0.0, 8.0], 200), "b": 0.0, "c": 0.0})
    frame += np.random.default_rng(0).normal(size=frame.shape)
    model = GaussianMixtureMoments(2).fit(frame)
    page = str(model.summary())
    assert page.startswith("GaussianMixtureMoments: 2 components, 3 columns")
    assert "Component 1: weight 0.500" in page
    assert page.index("\n  a ") < page.index("\n  b ")
    assert "held-out log-density" in page
    assert "<table>" in model._repr_html_()


def test_queries_leave_the_model_as_it_was(tmp_path):
    _, rows, _ = case(n=200)
    model = GaussianMixtureMoments(3).fit(rows)
    model.save(tmp_path / "before.tacit")
    for query in ("score_samples", "score", "predict", "predict_proba", "bic", "aic"):
        getattr(model, query)(rows)
    model.sample(5)
    model.as_start("full", rows)
    model.summary()
    model.save(tmp_path / "after.tacit")
    assert (tmp_path / "after.tacit").read_bytes() == (tmp_path / "before.tacit").read_bytes()
    assert (model.kind, model.can("predict"), model.can("query")) == ("mixture", True, False)
