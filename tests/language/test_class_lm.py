"""Language models of classes, and mixtures of models."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import tacit
from oracles.edited_files import edited
from tacit.errors import ArgumentError, ArgumentTypeError, FileFormatError
from tacit.language.class_lm import ClassLM
from tacit.language.kneser_ney_lm import KneserNeyLM
from tacit.language.learn.mixture_weights import mixture_weights
from tacit.language.mixed_lm import MixedLM

LINES = ["der Hund bellt", "die Katze läuft", "", "der Hund läuft", "die Maus läuft weg"] * 3
QUERIES = ["die Maus bellt", "der Igel läuft", ""]


@pytest.fixture(scope="module")
def words():
    return KneserNeyLM(order=3).fit(LINES)


@pytest.fixture(scope="module")
def classes(words):
    return ClassLM(order=3, n_classes=4, vocabulary=words.vocabulary_).fit(LINES)


@pytest.fixture(scope="module")
def both(words, classes):
    return MixedLM([words, classes], [0.7, 0.3]).fit()


@pytest.mark.parametrize("name", ["classes", "both"])
def test_batch_and_word_by_word_agree_and_sum_to_one(name, request):
    model = request.getfixturevalue(name)
    batch = model.score_samples(QUERIES)
    for line, expected in zip(QUERIES, batch, strict=True):
        state, total = model.state(), 0.0
        for word in [*line.split(), "</s>"]:
            probs = model.predict_next_proba(state=state)
            assert probs.sum() == pytest.approx(1, abs=1e-12)
            assert (probs >= 0).all()
            said, state = model.step(state, word)
            place = model.vocabulary_.ids([word])[0]
            assert np.log(probs[place]) == pytest.approx(said.log_prob, rel=1e-12)
            total += said.log_prob
        assert total == pytest.approx(expected, rel=1e-12)
    assert model.predict_next_proba(["Igel", "Igel"], begin=False).sum() == pytest.approx(
        1, abs=1e-12
    )
    assert model.perplexity(QUERIES).n_unknown == 1


def test_the_probability_is_that_of_the_class_times_that_of_the_word_in_it(classes):
    probs = classes.predict_next_proba("der")
    by_class = np.bincount(classes.classes_, probs)
    for own in range(1, classes.classes_.max() + 1):
        members = np.flatnonzero(classes.classes_ == own)
        assert np.allclose(probs[members], by_class[own] * classes.word_given_class_[members])


def test_mixtures_are_means(words, classes, both):
    expected = 0.7 * words.predict_next_proba("der Hund") + 0.3 * classes.predict_next_proba(
        "der Hund"
    )
    assert both.predict_next_proba("der Hund") == pytest.approx(expected, abs=1e-15)
    chosen = MixedLM([words, classes]).fit(["die Maus bellt", "der Hund läuft weg"])
    assert chosen.weights_.sum() == pytest.approx(1)
    best = chosen.score(["die Maus bellt", "der Hund läuft weg"])
    for weight in np.linspace(0, 1, 21):
        other = MixedLM([words, classes], [weight, 1 - weight]).fit()
        assert other.score(["die Maus bellt", "der Hund läuft weg"]) <= best + 1e-6


def test_weights_of_what_one_model_alone_can_say():
    weights, _ = mixture_weights(np.array([[0.5, 0.2, 0.1], [0.0, 0.0, 0.0]]))
    assert weights == pytest.approx([1, 0])


def test_files_give_models_of_classes_back(classes, tmp_path):
    path = tmp_path / "model.tacit"
    classes.save(path)
    again = tacit.load(path)
    assert np.array_equal(again.score_samples(QUERIES), classes.score_samples(QUERIES))
    edited(path, {"classes": np.full_like(classes.classes_, 99)})
    with pytest.raises(FileFormatError, match="'classes' holds an index"):
        tacit.load(path)


def test_samples_are_of_known_words(classes):
    drawn = classes.sample(5, random_state=0)
    assert {word for line in drawn for word in line.split()} <= set(classes.vocabulary_.words)


def test_what_makes_no_sense_is_refused(words, classes):
    with pytest.raises(ArgumentError, match="n_classes"):
        ClassLM(n_classes=0).fit(LINES)
    with pytest.raises(ArgumentError, match="different words"):
        MixedLM([words, ClassLM(n_classes=2).fit(["a b"])]).fit(LINES)
    with pytest.raises(ArgumentError, match="this one is empty"):
        MixedLM([words, classes]).fit([])


@pytest.mark.parametrize(
    ("models", "weights", "error", "complaint"),
    [
        (2, [0.5, 0.6], ArgumentError, "give 2 numbers of at least 0 that sum to 1"),
        (2, [1.5, -0.5], ArgumentError, "at least 0"),
        (2, [1.0], ArgumentError, "give 2 numbers"),
        (2, "ab", ArgumentError, "give 2 numbers"),
        (2, [np.nan, 1.0], ArgumentError, "give 2 numbers"),
        ([], None, ArgumentError, "models is empty"),
        (["a"], None, ArgumentTypeError, "models holds a 'str'"),
        (None, None, ArgumentTypeError, "models is a 'NoneType'"),
        ([ClassLM()], [1.0], NotFittedError, "not fitted yet"),
    ],
)
def test_arguments_of_mixtures_are_checked_when_they_are_used(
    words, classes, models, weights, error, complaint
):
    mixed = MixedLM([words, classes] if models == 2 else models, weights)  # never complains
    with pytest.raises(error, match=complaint):
        mixed.fit(LINES)


def test_weights_that_are_given_stay(words, classes):
    mixed = MixedLM([words, classes], [0.25, 0.75])
    assert mixed.fit(LINES).weights_.tolist() == [0.25, 0.75]
    with pytest.raises(NotFittedError):
        MixedLM([words, classes], [0.25, 0.75]).perplexity(LINES)
    with pytest.raises(ArgumentError, match="give a text to choose the weights by"):
        MixedLM([words, classes]).fit()


def test_files_give_mixtures_back(words, classes, tmp_path):
    path = tmp_path / "model.tacit"
    ensemble = tacit.PowerLowRankLM(2, random_state=0, vocabulary=words.vocabulary_).fit(LINES)
    inner = MixedLM([words, classes]).fit(LINES)
    mixed = MixedLM([inner, ensemble, words], [0.5, 0.25, 0.25]).fit()
    for model in (inner, mixed):
        model.save(path)
        again = tacit.load(path)
        assert np.array_equal(again.score_samples(QUERIES), model.score_samples(QUERIES))
        assert np.array_equal(again.predict_next_proba("der"), model.predict_next_proba("der"))
        assert (again.weights, again.diagnostics_) == (model.weights, model.diagnostics_)
        again.save(tmp_path / "again.tacit")
        assert (tmp_path / "again.tacit").read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"models": 3}, "'models' is not a list"),
        ({"models": []}, "at least 1"),
        ({"models": ["KneserNeyLM"]}, "not a model"),
        ({"models": [{"estimator": "HMM", "arguments": {}, "diagnostics": {}}]}, "LanguageModel"),
        ({"models": [{"estimator": "Unheard", "arguments": {}, "diagnostics": {}}]}, "Unheard"),
        ({"arrays": {"weights": np.array([0.5, 0.6])}}, "sum to one"),
        ({"arrays": {"weights": np.array([0, 1])}}, "has type int64"),
        ({"arrays": {"models.1.word_given_class": None}}, "'models.1.word_given_class' is missing"),
    ],
)
def test_damaged_mixtures_are_refused(words, classes, tmp_path, changes, complaint):
    path = tmp_path / "model.tacit"
    MixedLM([words, classes], [0.5, 0.5]).fit().save(path)
    edited(path, **changes)
    with pytest.raises(FileFormatError, match=complaint):
        tacit.load(path)


def test_tiny_texts():
    for lines in ([""], ["a"], ["a a a"]):
        model = ClassLM(order=2, n_classes=3).fit(lines)
        assert model.predict_next_proba().sum() == pytest.approx(1, abs=1e-12)
