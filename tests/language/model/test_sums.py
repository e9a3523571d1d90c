"""Sums of the probabilities of all words after every context: those of all words, added one by one."""

from dataclasses import replace

import numpy as np
import pytest

import tacit
from oracles.edited_files import edited
from tacit.core.files.container import read_file
from tacit.errors import FileFormatError, FileWriteError, ProbabilityWarning
from tacit.language.loops import backoff as backoff_loops
from tacit.language.loops import ensemble as ensemble_loops
from tacit.language.loops import sums as loops
from tacit.language.model.backoff import packed
from tacit.language.model.sums import backoff_sums, ensemble_sums, normalized

LINES = ["a b a c", "", "b a", "c c a b a", "a", "b c d a c", "d d a"]
ARPA = """\\data\\
ngram 1=5
ngram 2=4

\\1-grams:
-1.0\t<unk>
-99\t<s>\t-0.30103
-0.5\t</s>
-0.4\tcat\t-0.2
-0.6\tdog\t-0.1

\\2-grams:
-0.3\t<s> cat
-0.4\t<s> dog
-0.2\tcat </s>
-0.5\tdog cat

\\end\\
"""


@pytest.fixture(scope="module")
def words():
    return tacit.KneserNeyLM(order=3).fit(LINES)


@pytest.fixture(scope="module")
def ensemble():
    return tacit.PowerLowRankLM(order=3, random_state=0).fit(LINES)


def one_by_one(model):
    """The sums of an n-gram model, from the probability of every word."""
    out = np.empty(len(model.vocabulary))
    sums = []
    for state in [*range(model.n_contexts), -1]:
        backoff_loops.score_next(packed(model), state, out)
        sums.append(out.sum())
    return np.array(sums)


def changed(model, rng):
    """A model with other probabilities and weights."""
    return replace(
        model,
        probs=rng.uniform(size=model.probs.shape),
        backoffs=rng.uniform(size=model.backoffs.shape),
    )


def test_models_of_n_grams_sum_to_one_after_every_context(words):
    assert backoff_sums(words.model_) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_sums_are_those_of_all_words(words, seed):
    model = changed(words.model_, np.random.default_rng(seed))
    assert backoff_sums(model) == pytest.approx(one_by_one(model), rel=1e-12)


def test_sums_of_an_ensemble_are_those_of_all_words(ensemble):
    model = ensemble.model_
    model = replace(model, grams=changed(model.grams, np.random.default_rng(0)))
    out = np.empty(len(model.grams.vocabulary))
    sums = []
    for state in [*range(model.grams.n_contexts), -1]:
        ensemble_loops.score_next(packed(model.grams), model.factors(), state, out)
        sums.append(out.sum())
    assert ensemble_sums(model) == pytest.approx(sums, rel=1e-6)  # factors are of single precision
    assert ensemble_sums(ensemble.model_) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_normalized_models_sum_to_one_and_good_ones_stay(words, seed):
    model, n_changed = normalized(changed(words.model_, np.random.default_rng(seed)), 1e-9)
    assert n_changed > 0
    assert one_by_one(model) == pytest.approx(1, abs=1e-9)
    again, n_changed = normalized(model, 1e-8)
    assert (n_changed, again.probs.tolist()) == (0, model.probs.tolist())


def test_words_that_have_no_probability_anywhere_cannot_be_normalized(words):
    model = replace(words.model_, probs=np.zeros_like(words.model_.probs))
    with pytest.raises(ValueError, match="all words have probability zero"):
        normalized(model, 1e-9)


def test_compiled_sums_agree_with_their_python_source(words):
    model = packed(changed(words.model_, np.random.default_rng(0)))
    n_words, n_contexts = len(words.vocabulary_), words.model_.n_contexts
    compiled, python = np.empty(n_contexts), np.empty(n_contexts)
    whole = loops.sum_backoff(model, n_words, compiled)
    assert loops.sum_backoff.py_func(model, n_words, python) == pytest.approx(whole, rel=1e-12)
    assert compiled == pytest.approx(python, rel=1e-12)


def test_an_arpa_file_that_does_not_sum_to_one_is_changed_with_a_warning(tmp_path):
    path = tmp_path / "m.arpa"
    path.write_text(ARPA, encoding="utf-8")
    with pytest.warns(ProbabilityWarning, match=r"m\.arpa': probabilities did not sum to one"):
        model = tacit.BackoffLM.from_arpa(path)
    assert one_by_one(model.model_) == pytest.approx(1, abs=1e-3)
    # what is listed stays, and the back-off weights change
    assert model.predict_next_proba("cat").max() == pytest.approx(10**-0.2, rel=1e-12)


def test_an_arpa_file_can_be_read_as_it_is(tmp_path):
    path = tmp_path / "m.arpa"
    path.write_text(ARPA, encoding="utf-8")
    model = tacit.BackoffLM.from_arpa(path, normalize=False)
    assert model.score_samples(["dog cat"]) / np.log(10) == pytest.approx(-0.4 - 0.5 - 0.2)
    with pytest.raises(FileWriteError, match="do not sum to one"):
        model.save(tmp_path / "m.tacit")


def test_a_file_of_rounded_probabilities_is_read_as_it_is(words, tmp_path):
    path = tmp_path / "m.arpa"
    words.to_arpa(path)
    model = tacit.BackoffLM.from_arpa(path)  # a warning is an error here
    assert model.score(LINES) == pytest.approx(words.score(LINES), abs=1e-4)


@pytest.mark.parametrize("array", ["model.probs", "model.backoffs"])
def test_an_edited_model_that_does_not_sum_to_one_is_refused(words, tmp_path, array):
    path = tmp_path / "m.tacit"
    words.save(path)
    values = read_file(path)[1][array]
    values[-1] /= 2
    edited(path, {array: values})
    with pytest.raises(FileFormatError, match="do not sum to one"):
        tacit.load(path)


def test_an_edited_ensemble_that_does_not_sum_to_one_is_refused(ensemble, tmp_path):
    path = tmp_path / "m.tacit"
    ensemble.save(path)
    scales = read_file(path)[1]["model.scales"]
    scales *= 2
    edited(path, {"model.scales": scales})
    with pytest.raises(FileFormatError, match="do not sum to one"):
        tacit.load(path)


def test_edited_word_classes_that_do_not_sum_to_one_are_refused(words, tmp_path):
    path = tmp_path / "m.tacit"
    tacit.ClassLM(order=2, n_classes=2, vocabulary=words.vocabulary_).fit(LINES).save(path)
    given_class = read_file(path)[1]["word_given_class"]
    given_class[np.argmin(given_class)] *= 0.5
    edited(path, {"word_given_class": given_class})
    with pytest.raises(FileFormatError, match="sum to one"):
        tacit.load(path)
