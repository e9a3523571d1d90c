"""Language models of classes, and mixtures of models."""

import numpy as np
import pytest

import tacit
from tacit.errors import ArgumentError, ArgumentTypeError, FileFormatError
from tacit.estimators.class_lm import ClassLM
from tacit.estimators.kneser_ney_lm import KneserNeyLM
from tacit.estimators.mixed_lm import MixedLM, likeliest_weights
from tacit.files.models import read_model, write_model

LINES = ["der Hund bellt", "die Katze läuft", "", "der Hund läuft", "die Maus läuft weg"] * 3
ASKED = ["die Maus bellt", "der Igel läuft", ""]


@pytest.fixture(scope="module")
def words():
    return KneserNeyLM(order=3).fit(LINES)


@pytest.fixture(scope="module")
def classes(words):
    return ClassLM(order=3, n_classes=4, vocabulary=words.vocabulary_).fit(LINES)


@pytest.fixture(scope="module")
def both(words, classes):
    return MixedLM([words, classes], [0.7, 0.3])


@pytest.mark.parametrize("name", ["classes", "both"])
def test_batch_and_word_by_word_agree_and_sum_to_one(name, request):
    model = request.getfixturevalue(name)
    batch = model.score_samples(ASKED)
    for line, wanted in zip(ASKED, batch, strict=True):
        state, total = model.state(), 0.0
        for word in [*line.split(), "</s>"]:
            probs = model.next_proba(state=state)
            assert probs.sum() == pytest.approx(1, abs=1e-12)
            assert (probs >= 0).all()
            said, state = model.step(state, word)
            place = model.vocabulary_.ids([word])[0]
            assert np.log(probs[place]) == pytest.approx(said.log_prob, rel=1e-12)
            total += said.log_prob
        assert total == pytest.approx(wanted, rel=1e-12)
    assert model.next_proba(["Igel", "Igel"], begin=False).sum() == pytest.approx(1, abs=1e-12)
    assert model.perplexity(ASKED).n_unknown == 1


def test_the_probability_is_that_of_the_class_times_the_share(classes):
    probs = classes.next_proba("der")
    by_class = np.bincount(classes.classes_, probs)
    for own in range(1, classes.classes_.max() + 1):
        members = np.flatnonzero(classes.classes_ == own)
        assert np.allclose(probs[members], by_class[own] * classes.shares_[members])


def test_mixtures_are_means(words, classes, both):
    expected = 0.7 * words.next_proba("der Hund") + 0.3 * classes.next_proba("der Hund")
    assert both.next_proba("der Hund") == pytest.approx(expected, abs=1e-15)
    chosen = MixedLM([words, classes]).fit(["die Maus bellt", "der Hund läuft weg"])
    assert chosen.weights_.sum() == pytest.approx(1)
    best = chosen.score(["die Maus bellt", "der Hund läuft weg"])
    for weight in np.linspace(0, 1, 21):
        other = MixedLM([words, classes], [weight, 1 - weight])
        assert other.score(["die Maus bellt", "der Hund läuft weg"]) <= best + 1e-6


def test_weights_of_what_one_model_alone_can_say():
    weights, _ = likeliest_weights(np.array([[0.5, 0.2, 0.1], [0.0, 0.0, 0.0]]))
    assert weights == pytest.approx([1, 0])


def test_files_give_models_of_classes_back(classes, tmp_path):
    path = tmp_path / "model.tacit"
    classes.save(path)
    again = tacit.load(path)
    assert np.array_equal(again.score_samples(ASKED), classes.score_samples(ASKED))
    header, arrays = read_model(path)
    write_model(path, header, {**arrays, "classes": np.full_like(arrays["classes"], 99)})
    with pytest.raises(FileFormatError, match="class"):
        tacit.load(path)


def test_samples_are_of_known_words(classes):
    drawn = classes.sample(5, random_state=0)
    assert {word for line in drawn for word in line.split()} <= set(classes.vocabulary_.words)


def test_what_makes_no_sense_is_refused(words, classes):
    with pytest.raises(ArgumentError, match="n_classes"):
        ClassLM(n_classes=0).fit(LINES)
    with pytest.raises(ArgumentError, match="sum to 1"):
        MixedLM([words, classes], [0.5, 0.6])
    with pytest.raises(ArgumentError, match="different words"):
        MixedLM([words, ClassLM(n_classes=2).fit(["a b"])]).fit(LINES)
    with pytest.raises(ArgumentError, match="empty"):
        MixedLM([]).fit(LINES)
    with pytest.raises(ArgumentTypeError, match="str"):
        MixedLM(["a"]).fit(LINES)


def test_tiny_texts():
    for lines in ([""], ["a"], ["a a a"]):
        model = ClassLM(order=2, n_classes=3).fit(lines)
        assert model.next_proba().sum() == pytest.approx(1, abs=1e-12)
