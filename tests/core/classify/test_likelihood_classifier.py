"""Classes by likelihood: Bayes' rule, calibrated; every family of densities; scikit-learn's conventions."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import tacit
from oracles.sklearn_exceptions import EXPECTED_FAILURES_OF_CLASSIFIERS
from tacit import ChowLiuTree, LatentClass, LikelihoodClassifier
from tacit.errors import (
    ArgumentError,
    ArgumentTypeError,
    BinningWarning,
    CategoryError,
    DataError,
    NotAvailableError,
)
from tacit.toy import random_tree_model

CLASSES = ["ash", "birch", "cedar"]


def drawn(seed=0, sizes=(120, 60, 90)):
    """Rows of three tree models over the same categories, and which model each is from."""
    models = [random_tree_model(4, n_categories=3, random_state=10 + k) for k in range(3)]
    rows = np.vstack(
        [model.sample(n, random_state=seed) for model, n in zip(models, sizes, strict=True)]
    )
    return rows.astype(np.int64), np.repeat(CLASSES, sizes)


def test_probabilities_are_those_of_bayes_rule_by_enumeration():
    rows, classes = drawn()
    priors = {"ash": 0.5, "birch": 0.2, "cedar": 0.3}
    model = LikelihoodClassifier(ChowLiuTree(), priors=priors, calibration=None).fit(rows, classes)
    cells = np.indices((3,) * 4).reshape(4, -1).T
    joint = np.array(
        [
            priors[name] * np.exp(ChowLiuTree().fit(cut, None).score_samples(cells))
            for name, cut in ((name, rows[classes == name]) for name in CLASSES)
        ]
    )
    assert all(len(np.unique(rows[classes == name, k])) == 3 for name in CLASSES for k in range(4))
    assert np.exp(model.predict_joint_log_proba(cells)) == pytest.approx(joint.T)
    assert joint.sum() == pytest.approx(1.0)
    assert model.predict_proba(cells) == pytest.approx((joint / joint.sum(axis=0)).T)
    assert model.predict(cells).tolist() == [CLASSES[k] for k in joint.argmax(axis=0)]
    # a missing cell is summed out
    whole = joint.reshape(3, 3, 3, 3, 3)
    given = whole[:, 1, :, 2, :].sum(axis=(1, 2))
    asked = model.predict_proba(np.array([[1, -1, 2, -1]]))
    assert asked[0] == pytest.approx(given / given.sum())


def test_a_category_that_a_class_never_showed_is_unlikely_there_not_unknown():
    rows = [["a", "x"], ["b", "x"], ["a", "y"], ["c", "y"], ["c", "x"], ["b", "y"]] * 5
    classes = [0, 0, 0, 1, 1, 1] * 5
    model = LikelihoodClassifier(ChowLiuTree()).fit(rows, classes)
    assert model.predict([["c", "x"], ["a", "y"]]).tolist() == [1, 0]
    assert all(fitted.categories_["x0"] == ("a", "b", "c") for fitted in model.models_)
    with pytest.raises(CategoryError):
        model.predict([["d", "x"]])
    lenient = LikelihoodClassifier(ChowLiuTree(unknown="missing")).fit(rows, classes)
    assert lenient.predict_proba([["d", None]])[0] == pytest.approx(lenient.priors_)


def test_calibrated_probabilities_lose_less_on_new_rows():
    """Columns that repeat each other are evidence counted twice by a model of independent columns."""
    rng = np.random.default_rng(0)
    classes = rng.integers(0, 2, 1500)
    noisy = np.where(rng.random(1500) < 0.3, 1 - classes, classes)
    rows = np.column_stack([np.where(rng.random(1500) < 0.1, 1 - noisy, noisy) for _ in range(8)])
    independent = LatentClass(1)
    raw, calibrated, folds = (
        LikelihoodClassifier(independent, **how).fit(rows[:500], classes[:500])
        for how in ({"calibration": None}, {}, {"cv": 3})
    )
    losses = [
        log_loss(classes[500:], m.predict_proba(rows[500:])) for m in (raw, calibrated, folds)
    ]
    assert raw.temperature_ == 1
    assert min(calibrated.temperature_, folds.temperature_) > 2
    assert losses[1] < losses[0] - 0.1
    assert losses[2] < losses[0] - 0.1
    reports = calibrated.diagnostics_
    assert reports["log_loss_after"] <= reports["log_loss_before"]
    assert reports["calibration_rows"] == 100
    assert folds.diagnostics_["calibration_rows"] == 500


def test_the_temperature_is_found_by_models_that_did_not_see_the_rows():
    """Classes that have nothing to do with the rows: models know their own rows by heart."""
    rng = np.random.default_rng(0)
    rows, classes = rng.integers(0, 4, (80, 6)), rng.integers(0, 2, 80)
    for cv in (None, 4):
        model = LikelihoodClassifier(ChowLiuTree(pseudo_counts=0.1), cv=cv).fit(rows, classes)
        assert model.score(rows, classes) > 0.8
        assert model.temperature_ > 4


def test_given_rows_find_the_temperature():
    rows, classes = drawn()
    others = drawn(seed=1)
    model = LikelihoodClassifier(ChowLiuTree()).fit(rows, classes, validation=others)
    assert model.diagnostics_["calibration_rows"] == 270
    plain = LikelihoodClassifier(ChowLiuTree(), calibration=None).fit(rows, classes)
    assert np.array_equal(model.predict_joint_log_proba(rows), plain.predict_joint_log_proba(rows))
    with pytest.raises(DataError, match="'oak'"):
        model.fit(rows, classes, validation=(rows[:1], ["oak"]))


def test_priors_are_frequencies_or_as_given():
    rows, classes = drawn()

    def priors(given):
        model = LikelihoodClassifier(ChowLiuTree(), priors=given).fit(rows, classes)
        return model.priors_, model.predict_proba(np.full((1, 4), -1))[0]

    for given, expected in [
        ("data", [120 / 270, 60 / 270, 90 / 270]),
        ("uniform", [1 / 3] * 3),
        ([0.1, 0.2, 0.7], [0.1, 0.2, 0.7]),
        ({"cedar": 0.7, "ash": 0.0, "birch": 0.3}, [0.0, 0.3, 0.7]),
    ]:
        actual, of_nothing = priors(given)
        assert actual == pytest.approx(expected)
        assert of_nothing == pytest.approx(expected)


def test_weights_count_like_repeated_rows():
    rows, classes = drawn()
    counts = np.random.default_rng(0).integers(1, 4, len(rows))
    how = {"calibration": None}
    weighted = LikelihoodClassifier(ChowLiuTree(), **how).fit(rows, classes, sample_weight=counts)
    again = LikelihoodClassifier(ChowLiuTree(), **how).fit(
        np.repeat(rows, counts, axis=0), np.repeat(classes, counts)
    )
    assert weighted.predict_proba(rows) == pytest.approx(again.predict_proba(rows))


SERIES = [np.random.default_rng(k).normal(size=15) + 2.0 * (k % 2) for k in range(24)]
STRINGS = [list("aabb" * 2), list("bbbab"), list("aaba"), list("bbb")] * 6
LINES = ["the cat sat", "le chat noir", "a dog ran", "un chien court"] * 6
NUMBERS = np.random.default_rng(0).normal(size=(60, 2)) + 2.0 * (np.arange(60) % 2)[:, None]
DENSITIES = {
    "LatentTree": (tacit.LatentTree(2, "star"), NUMBERS.round().astype(int)),
    "LatentJunctionTree": (
        tacit.LatentJunctionTree([("h", "x0"), ("h", "x1")], 2),
        NUMBERS.round().astype(int),
    ),
    "GaussianTree": (tacit.GaussianTree(), NUMBERS),
    "KernelTree": (tacit.KernelTree(2, "star", blend=False), NUMBERS),
    "GaussianMixtureMoments": (tacit.GaussianMixtureMoments(1), NUMBERS),
    "HMM": (tacit.HMM(2), STRINGS),
    "HMM of numbers": (tacit.HMM(1), SERIES),
    "KernelHMM": (tacit.KernelHMM(1), SERIES),
    "ProbabilisticAutomaton": (tacit.ProbabilisticAutomaton(2, learn="em"), STRINGS),
    "WeightedAutomaton": (tacit.WeightedAutomaton(1), STRINGS),
    "KneserNeyLM": (tacit.KneserNeyLM(2), LINES),
}


@pytest.mark.parametrize("name", DENSITIES)
def test_every_density_tells_classes_apart_and_is_saved(name, tmp_path):
    density, data = DENSITIES[name]
    classes = np.array(["even", "odd"])[np.arange(len(data)) % 2]
    model = LikelihoodClassifier(density, calibration=None).fit(data, classes)
    probs = model.predict_proba(data)
    assert probs.shape == (len(data), 2)
    assert probs.sum(axis=1) == pytest.approx(1.0)
    assert model.score(data, classes) > 0.8
    model.save(tmp_path / "m.tacit")
    again = tacit.load(tmp_path / "m.tacit")
    assert np.array_equal(again.predict_proba(data), probs)
    assert again.classes_.tolist() == ["even", "odd"]
    assert again.get_params(deep=False)["calibration"] is None
    assert str(again.summary()) == str(model.summary())
    assert type(again.estimator) is type(density)


def test_classes_may_be_text_integers_or_booleans(tmp_path):
    rows, names = drawn()
    for classes in (names, np.unique(names, return_inverse=True)[1] + 5, names == "ash"):
        model = LikelihoodClassifier(ChowLiuTree()).fit(rows, classes)
        model.save(tmp_path / "m.tacit")
        again = tacit.load(tmp_path / "m.tacit")
        assert again.classes_.dtype == model.classes_.dtype
        assert np.array_equal(again.predict(rows), model.predict(rows))
        assert set(model.predict(rows)) <= set(classes)


def test_frames_keep_the_names_of_their_columns(tmp_path):
    rows, classes = drawn()
    frame = pd.DataFrame(rows, columns=list("abcd"))
    model = LikelihoodClassifier(ChowLiuTree()).fit(frame, pd.Series(classes))
    assert model.feature_names_in_.tolist() == list("abcd")
    model.save(tmp_path / "m.tacit")
    again = tacit.load(tmp_path / "m.tacit")
    assert again.feature_names_in_.tolist() == list("abcd")
    assert again.n_features_in_ == 4
    swapped = frame[["d", "b"]]
    assert np.array_equal(again.predict(swapped), model.predict(swapped))


def test_the_score_is_the_accuracy_so_that_searches_choose_by_it():
    rows, classes = drawn()
    model = LikelihoodClassifier(ChowLiuTree()).fit(rows, classes)
    assert model.score(rows, classes) == accuracy_score(classes, model.predict(rows))
    grid = {"priors": [[0.0, 1.0, 0.0], "data"], "estimator__pseudo_counts": [1.0]}
    search = GridSearchCV(LikelihoodClassifier(ChowLiuTree()), grid, cv=3).fit(rows, classes)
    assert search.best_params_["priors"] == "data"
    assert cross_val_score(model, rows, classes, cv=3).min() > 1 / 3


def test_two_fits_give_the_same_model():
    rows, classes = drawn()
    one, other = (LikelihoodClassifier(LatentClass(2)).fit(rows, classes) for _ in range(2))
    assert one.temperature_ == other.temperature_
    assert np.array_equal(one.predict_proba(rows), other.predict_proba(rows))


def test_a_class_of_one_row_is_learnt_too():
    model = LikelihoodClassifier(ChowLiuTree()).fit([[0, 1], [1, 1], [1, 0], [0, 0]], [0, 0, 0, 1])
    assert model.predict_proba([[0, 0]]).shape == (1, 2)
    only = LikelihoodClassifier(ChowLiuTree()).fit([[0, 1], [1, 1]], ["a", "a"])
    assert only.predict([[0, 1]]).tolist() == ["a"]


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"estimator": "tree"}, ArgumentTypeError, "such as LatentTree"),
        ({"estimator": tacit.SpanParser()}, ArgumentTypeError, "likelihood"),
        ({"estimator": tacit.TopicModel(2)}, NotAvailableError, "TopicModel"),
        ({"priors": "flat"}, ArgumentError, "uniform"),
        ({"priors": [0.5, 0.5]}, ArgumentError, "ash"),
        ({"priors": {"ash": 1.0}}, ArgumentError, "sum to one"),
        ({"priors": [0.5, 0.7, -0.2]}, ArgumentError, "sum to one"),
        ({"calibration": "platt"}, ArgumentError, "temperature"),
        ({"cv": 1}, ArgumentError, "cv=1"),
    ],
)
def test_a_mistake_is_named(arguments, error, words):
    rows, classes = drawn()
    with pytest.raises(error, match=words):
        LikelihoodClassifier(**({"estimator": ChowLiuTree()} | arguments)).fit(rows, classes)


def test_classes_that_do_not_fit_the_rows_are_named():
    rows, classes = drawn()
    model = LikelihoodClassifier(ChowLiuTree())
    with pytest.raises(DataError, match="269 classes for 270 rows"):
        model.fit(rows, classes[1:])
    with pytest.raises(ArgumentError, match="target y is None"):
        model.fit(rows, None)
    with pytest.raises(ArgumentError, match="no sample_weight"):
        LikelihoodClassifier(tacit.HMM(2)).fit(STRINGS, [0, 1] * 12, sample_weight=np.ones(24))


@pytest.mark.parametrize(
    ("classes", "error", "words"),
    [
        ("column", ArgumentTypeError, "y='column'; give the class of each row"),
        ([None, *"abab"], DataError, "y contains None; leave rows without a class out"),
        ([np.nan, 1.0, 0.0, 1.0, 0.0], DataError, "y holds no classes; .* contains NaN"),
        ([0.1, 0.2, 0.3, 0.4, 0.5], DataError, "y holds no classes; give text, integers"),
        ([["a", "b"]] * 5, DataError, "y holds no classes; .* 1d array"),
    ],
)
def test_what_is_no_class_is_named(classes, error, words):
    with pytest.raises(error, match=words):
        LikelihoodClassifier(ChowLiuTree()).fit(drawn()[0][:5], classes)


def test_held_out_rows_come_with_their_classes():
    rows, classes = drawn()
    model = LikelihoodClassifier(ChowLiuTree())
    for validation in (3, rows, (rows,)):
        with pytest.raises(ArgumentTypeError, match=r"give \(X, y\), held-out rows"):
            model.fit(rows, classes, validation=validation)
    with pytest.raises(DataError, match="y of validation has 3 classes for 270 rows"):
        model.fit(rows, classes, validation=(rows, classes[:3]))


@parametrize_with_checks(
    [
        LikelihoodClassifier(ChowLiuTree(unknown="missing")),
        LikelihoodClassifier(tacit.GaussianTree("chow-liu"), calibration=None),
    ],
    expected_failed_checks=lambda _: EXPECTED_FAILURES_OF_CLASSIFIERS,
)
def test_the_checks_of_scikit_learn_hold(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BinningWarning)
        check(estimator)
