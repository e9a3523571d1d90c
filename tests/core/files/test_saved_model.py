"""Models to files and back by their declared fields, with an estimator made for these tests."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

import tacit
from oracles.edited_files import edited
from tacit.core.files import json_values
from tacit.core.files.fields import Array, Field, Many
from tacit.core.files.header_values import texts
from tacit.core.files.load import load
from tacit.core.files.ranges import below, probabilities
from tacit.core.files.saved_model import InnerModel, ModelFile, SavedModel
from tacit.errors import ArgumentError, FileFormatError, FileWriteError


def upgrade(header, arrays):
    header["words"] = header.pop("vocabulary")
    arrays["shares"] = arrays.pop("frequencies")


class Unigrams(SavedModel, BaseEstimator):
    _file = ModelFile(
        Field("words_", texts(), sizes={"word": len}),
        Field("shares_", Array("word", probabilities)),
        Field("classes_", Array("word", below("word"), dtype=np.int64), optional=True),
        arguments={"pairs": lambda model: [list(pair) for pair in model.pairs], "log": None},
        upgrade=upgrade,
    )

    def __init__(self, n=3, seed=None, states=None, pairs=(), log=print):
        self.n, self.seed, self.states, self.pairs, self.log = n, seed, states, pairs, log

    def fit(self, shares=(0.25, 0.75), classes=None):
        self.shares_ = np.array(shares)
        self.words_ = tuple("abcdefg"[: len(shares)])
        if classes is not None:
            self.classes_ = np.array(classes)
        self.diagnostics_ = {"n": 3, "best": -np.inf}
        return self


class Mean(SavedModel, BaseEstimator):
    _file = ModelFile(Field("models", Many(InnerModel(SavedModel), least=1)))

    def __init__(self, models):
        self.models = models

    def fit(self):
        self.diagnostics_ = {}
        return self


@pytest.fixture(autouse=True)
def public(monkeypatch):
    for kind in (Unigrams, Mean):
        monkeypatch.setattr(tacit, kind.__name__, kind, raising=False)
    monkeypatch.setattr(tacit, "__all__", [*tacit.__all__, "Unigrams", "Mean"])


def saved(path, model):
    model.save(path)
    return load(path)


def test_a_model_comes_back(tmp_path):
    model = Unigrams(np.int64(5), states={"h": 2}, pairs=[(1, 2)]).fit(classes=[1, 0])
    actual = saved(tmp_path / "m.tacit", model)
    assert type(actual) is Unigrams
    assert actual.get_params() == {**model.get_params(), "pairs": [[1, 2]]}
    assert actual.words_ == model.words_
    assert actual.shares_.tolist() == [0.25, 0.75]
    assert actual.classes_.tolist() == [1, 0]
    assert actual.diagnostics_ == model.diagnostics_


def test_an_optional_field_may_be_absent(tmp_path):
    assert not hasattr(saved(tmp_path / "m.tacit", Unigrams().fit()), "classes_")


def test_models_of_models_come_back(tmp_path):
    inner = Mean([Unigrams(7).fit((0.5, 0.25, 0.25))]).fit()
    actual = saved(tmp_path / "m.tacit", Mean([Unigrams().fit(), inner]).fit())
    assert actual.models[1].models[0].n == 7
    assert actual.models[1].models[0].shares_.tolist() == [0.5, 0.25, 0.25]


def test_a_model_that_was_not_fitted_leaves_no_file(tmp_path):
    with pytest.raises(NotFittedError):
        Unigrams().save(tmp_path / "m.tacit")
    assert list(tmp_path.iterdir()) == []


def test_a_model_that_could_not_be_read_back_is_not_written(tmp_path):
    with pytest.raises(FileWriteError, match="'shares' holds infinities or NaN"):
        Unigrams().fit((np.nan, 1.0)).save(tmp_path / "m.tacit")
    assert list(tmp_path.iterdir()) == []


def test_the_extension_is_looked_at_first(tmp_path):
    with pytest.raises(ArgumentError, match="say"):
        Unigrams().fit((np.nan,)).save(tmp_path / "m.txt")


@pytest.mark.parametrize(
    ("told", "changes"),
    [
        ("'shares' is missing", {"arrays": {"shares": None}}),
        ("'words' is missing", {"words": None}),
        (r"has shape \(2,\)", {"words": ["a", "b", "c"]}),
        ("index outside", {"arrays": {"classes": np.array([0, 2**63 - 1])}}),
        ("index outside", {"arrays": {"classes": np.array([-(2**63), 0])}}),
        ("sum to one", {"arrays": {"shares": np.array([1.0, 1.0])}}),
        ("arrays that are not known", {"arrays": {"more": np.zeros(1)}}),
        ("fields that are not known", {"more": 1}),
        ("arguments", {"arguments": 3}),
        ("'os.system' is no", {"estimator": "os.system"}),
        ("'datasets' is no", {"estimator": "datasets"}),
        ("'TacitError' is no", {"estimator": "TacitError"}),
        ("not a dict", {"diagnostics": []}),
    ],
)
def test_a_file_that_was_edited_and_signed_again_is_refused(tmp_path, told, changes):
    path = tmp_path / "m.tacit"
    Unigrams().fit().save(path)
    edited(path, **changes)
    with pytest.raises(FileFormatError, match=told):
        load(path)


def test_a_model_inside_another_is_one_of_those_that_may_stand_there(tmp_path):
    path = tmp_path / "m.tacit"
    Mean([Unigrams().fit()]).fit().save(path)
    edited(path, models=[{"estimator": "Topology"}])
    with pytest.raises(FileFormatError, match=r"models\.0.*'Topology' is no SavedModel"):
        load(path)
    edited(path, models=[3])
    with pytest.raises(FileFormatError, match="not a model"):
        load(path)


def test_models_very_deep_inside_each_other_are_refused(tmp_path, monkeypatch):
    path = tmp_path / "m.tacit"
    Mean([Unigrams().fit()]).fit().save(path)
    inner = {"estimator": "Mean", "arguments": {}, "diagnostics": {}, "models": []}
    for _ in range(150):
        inner = {**inner, "models": [inner]}
    with monkeypatch.context() as without_limit:
        without_limit.setattr(json_values, "_MOST_LEVELS", 1000)
        edited(path, models=[inner])
    with pytest.raises(FileFormatError, match="more than 100 lists and dicts"):
        load(path)


def test_arguments_of_other_versions_are_left_out(tmp_path):
    path = tmp_path / "m.tacit"
    Unigrams().fit().save(path)
    edited(path, arguments={"n": 4, "speed": "high"})
    assert load(path).n == 4


@pytest.mark.parametrize("number", [1, 2])
def test_older_formats_are_brought_to_the_fields(tmp_path, number):
    import json

    from safetensors.numpy import save_file

    header = {
        "format": number,
        "version": "0.1",
        "estimator": "Unigrams",
        "arguments": {"n": 4},
        "diagnostics": {"n": 3},
        "has_feature_names": False,
        "n_features": 1,
        "vocabulary": ["a", "b"],
    }
    arrays = {"frequencies": np.array([0.25, 0.75])}
    save_file(arrays, tmp_path / "m.tacit", metadata={"tacit": json.dumps(header)})
    actual = load(tmp_path / "m.tacit")
    assert (actual.words_, actual.n, actual.n_features_in_) == (("a", "b"), 4, 1)
    assert actual.shares_.tolist() == [0.25, 0.75]
