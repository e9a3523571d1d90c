"""The conventions of scikit-learn, and work with its tools."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer
from sklearn.utils.estimator_checks import parametrize_with_checks

from oracles.sklearn_exceptions import EXPECTED_FAILURES, EXPECTED_FAILURES_OF_SEQUENCES
from tacit import (
    ChowLiuTree,
    FactorialHMM,
    HigherOrderHMM,
    KernelHMM,
    KernelTree,
    LatentClass,
    LatentTree,
    TableImputer,
    Topology,
)
from tacit.errors import BinningWarning, TacitError
from tacit.toy import random_tree_model

DEFAULTS = [
    LatentTree(),
    LatentClass(),
    ChowLiuTree(),
    HigherOrderHMM(),
    FactorialHMM(),
    KernelTree(),
]
WAYS = ["spectral", "hierarchical", "mossel-roch", "em", "online-em"]


def rows(n=300, n_leaves=6, seed=0):
    return random_tree_model(n_leaves, random_state=seed).sample(n, random_state=seed + 1)


def quietly(estimator, check):
    """The checks bring columns of many floats, which are cut with a warning; that is as it should be."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BinningWarning)
        check(estimator)


@parametrize_with_checks(DEFAULTS, expected_failed_checks=lambda _: EXPECTED_FAILURES)
def test_the_checks_of_scikit_learn_hold(estimator, check):
    quietly(estimator, check)


@parametrize_with_checks(
    [KernelHMM()], expected_failed_checks=lambda _: EXPECTED_FAILURES_OF_SEQUENCES
)
def test_the_checks_of_scikit_learn_hold_for_sequences(estimator, check):
    quietly(estimator, check)


@parametrize_with_checks(
    [
        LatentTree(2, unknown="missing"),
        LatentClass(2, unknown="missing"),
        ChowLiuTree(unknown="missing"),
        KernelTree(2, unknown="missing"),
    ]
)
def test_none_is_excepted_where_unknown_values_are_missing(estimator, check):
    quietly(estimator, check)


@parametrize_with_checks([TableImputer()])
def test_the_checks_of_scikit_learn_hold_for_transformers(estimator, check):
    check(estimator)


def test_few_checks_are_excepted_and_none_about_what_everything_relies_on():
    assert len(EXPECTED_FAILURES) <= 3
    assert len(EXPECTED_FAILURES_OF_SEQUENCES) <= 3
    words = ("clone", "param", "idempotent", "pickle")
    for excepted in (EXPECTED_FAILURES, EXPECTED_FAILURES_OF_SEQUENCES):
        assert not [name for name in excepted if any(word in name for word in words)]


@pytest.mark.parametrize("estimator", DEFAULTS, ids=lambda each: type(each).__name__)
def test_a_clone_has_the_same_arguments_and_is_not_fitted(estimator):
    changed = clone(estimator).set_params(pseudo_counts=3.5, unknown="missing", n_jobs=1)
    fitted = changed.fit(rows())
    copy = clone(fitted)
    assert copy.get_params() == fitted.get_params()
    assert not hasattr(copy, "network_")
    assert copy.fit(rows()).score(rows()) == fitted.score(rows())


def test_a_clone_keeps_a_tree_that_was_given():
    topology = Topology.from_newick("((x0,x1),(x2,x3),(x4,x5));")
    for structure in (topology, topology.to_newick(), topology.to_edges(), topology.to_networkx()):
        model = LatentTree(2, structure)
        copy = clone(model).fit(rows())
        assert copy.topology_.hidden == model.fit(rows()).topology_.hidden
        assert copy.score(rows()) == model.score(rows())
    assert clone(LatentTree(2, topology)).structure is topology


def test_a_latent_class_model_has_no_structure_to_set():
    model = LatentClass(2)
    assert "structure" not in model.get_params()
    assert repr(model) == "LatentClass(n_states=2)"
    with pytest.raises(ValueError, match="Invalid parameter 'structure'"):
        model.set_params(structure="chow-liu")
    star = LatentTree(2, "star").fit(rows())
    assert model.fit(rows()).score(rows()) == star.score(rows())
    assert model.topology_.hidden == star.topology_.hidden == ("h",)


@pytest.mark.parametrize("learn", ["auto", *WAYS])
def test_a_pickle_answers_the_same(learn):
    model = LatentTree(2, learn=learn).fit(rows())
    copy = pickle.loads(pickle.dumps(model))
    assert np.array_equal(copy.score_samples(rows()), model.score_samples(rows()))
    assert copy.diagnostics_ == model.diagnostics_
    assert copy.sample(3, random_state=0).tolist() == model.sample(3, random_state=0).tolist()


@pytest.mark.parametrize(
    "model",
    [LatentTree(2), LatentTree(2, learn="spectral"), LatentClass(2), ChowLiuTree()],
    ids=["LatentTree", "operators", "LatentClass", "ChowLiuTree"],
)
def test_skops_gives_back_the_same_model(model):
    skops = pytest.importorskip("skops.io")
    frame = pd.DataFrame(rows(), columns=list("abcdef"))
    model = clone(model).fit(frame)
    stored = skops.dumps(model)
    types = skops.get_untrusted_types(data=stored)
    assert all(name.startswith("tacit.") for name in types)  # nothing but our own values
    copy = skops.loads(stored, trusted=types)
    assert np.array_equal(copy.score_samples(frame), model.score_samples(frame))
    assert copy.topology_ == model.topology_


def test_set_output_gives_frames_with_names_and_index():
    frame = pd.DataFrame(rows(), columns=list("abcdef")).set_index(np.arange(300) * 2)
    model = LatentTree(2).set_output(transform="pandas").fit(frame)
    states = model.transform(frame)
    assert list(states.columns) == list(model.get_feature_names_out())
    assert states.index.equals(frame.index)
    assert states.iloc[:, :2].sum(axis=1).to_numpy() == pytest.approx(1.0)
    polars = clone(model).set_output(transform="polars").fit_transform(frame)
    assert polars.columns == list(states.columns)


def test_a_grid_search_chooses_the_number_of_states():
    data = random_tree_model(6, n_states=3, n_categories=4, diagonal=3.0, random_state=0)
    X = data.sample(600, random_state=1)
    search = GridSearchCV(LatentTree(), {"n_states": [1, 3]}, cv=3).fit(X)
    assert search.best_params_ == {"n_states": 3}
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.score(X) == search.best_estimator_.score(X)


def test_models_stand_at_either_end_of_a_pipeline():
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(200, 4)) @ rng.normal(size=(4, 4))
    # quantile_method is new in scikit-learn 1.7, and without it there is a warning
    bins = KBinsDiscretizer(3, encode="ordinal", strategy="uniform")
    density = make_pipeline(bins, LatentTree(2, unknown="missing"))
    assert np.isfinite(cross_val_score(density, numbers, cv=3)).all()
    from sklearn.linear_model import LogisticRegression

    classes = make_pipeline(clone(bins), LatentClass(3), LogisticRegression())
    y = numbers[:, 0] > 0
    assert classes.fit(numbers, y).score(numbers, y) > 0.6


def test_names_of_columns_are_kept_where_there_are_any():
    X = rows()
    model = LatentTree(2).fit(X)
    assert model.n_features_in_ == 6
    assert not hasattr(model, "feature_names_in_")
    model.fit(pd.DataFrame(X, columns=list("abcdef")))
    assert model.feature_names_in_.tolist() == list("abcdef")
    model.fit(X.tolist())  # rows of a list have no names
    assert not hasattr(model, "feature_names_in_")


def test_a_second_fit_forgets_the_first_and_a_failed_one_changes_nothing():
    model = LatentTree(2).fit(rows())
    before = model.score(rows())
    with pytest.raises(TacitError):
        model.set_params(learn="magic").fit(rows(seed=3))
    assert model.score(rows()) == before
    other = rows(n_leaves=4, seed=3)
    again = model.set_params(learn="auto").fit(other)
    assert again.score(other) == LatentTree(2).fit(other).score(other)
    unfitted = LatentTree(2, learn="magic")
    with pytest.raises(TacitError):
        unfitted.fit(rows())
    assert not hasattr(unfitted, "schema_")
    assert set(vars(unfitted)) == set(unfitted.get_params())


def test_steps_are_counted():
    assert LatentTree(2).fit(rows()).n_iter_ > 1
    assert LatentTree(2, learn="spectral").fit(rows()).n_iter_ == 1
    assert ChowLiuTree().fit(rows()).n_iter_ == 1
