"""Language models on texts: lines, choices and perplexities against doing it by hand."""

import math
from dataclasses import replace

import numpy as np
import pytest

from tacit.datasets.texts import load_corpus
from tacit.errors import MissingDataError
from tacit.language.class_lm import ClassLM
from tacit.language.data.corpus import read_corpus
from tacit.language.kneser_ney_lm import KneserNeyLM
from tacit.language.mixed_lm import MixedLM
from tacit.language.power_low_rank_lm import PowerLowRankLM
from tacit.reproduce import run
from tacit.reproduce.language import texts
from tacit.reproduce.language.table_9_3 import PLRE as GIVEN
from tacit.reproduce.language.texts import (
    BO_KN,
    CORPORA,
    INT_MKN,
    PLRE,
    RUSSIAN,
    STUDY,
    TACIT_PLRE,
    TUNED_MKN,
    TextCase,
    fit_and_score,
    learn,
    lines_of,
    texts_of,
)
from tacit.reproduce.language.tuned_discounts import tuned_kneser_ney
from tacit.reproduce.runner.running import perform
from tacit.reproduce.runner.trials import Method, Trial

pytestmark = pytest.mark.usefixtures("made_up_texts")
CASE = TextCase("ptb")
CLASSES = Method("class", texts.CLASSES, (("n_classes", 5),))
MIXED = Method("mixed", texts.MIXTURE, (("n_classes", 5),))


@pytest.mark.parametrize("corpus", CORPORA)
@pytest.mark.parametrize("split", ["train", "valid", "test"])
def test_whole_texts_are_those_of_the_loader(corpus, split):
    actual, expected = texts_of(TextCase(corpus)), load_corpus(corpus, split)
    assert actual.vocabulary == expected.vocabulary
    corpus_read = read_corpus(getattr(actual, split), vocabulary=actual.vocabulary)
    assert corpus_read.ids.tolist() == expected.ids.tolist()
    assert corpus_read.ends.tolist() == expected.ends.tolist()


def test_less_text_is_spread_over_all_of_it_and_has_its_own_vocabulary():
    actual, lines = texts_of(TextCase("ptb", 4, 3)), lines_of("ptb", "train")
    assert actual.train == lines[::4]
    assert actual.valid == lines_of("ptb", "valid")[::3]
    assert actual.test == lines_of("ptb", "test")[::3]
    assert set(actual.vocabulary.words[3:]) == set(" ".join(lines[::4]).split()) - {"<unk>"}
    assert actual.n_words == len(" ".join(lines[::4]).split())


def test_words_that_occur_once_are_unknown_where_the_thesis_has_it_so():
    assert "rare0" in texts_of(CASE).vocabulary.words
    assert "rare0" not in texts_of(TextCase(RUSSIAN)).vocabulary.words


@pytest.mark.parametrize("method", [BO_KN, INT_MKN])
def test_perplexities_are_those_of_the_estimator_on_the_loaders_text(method, made_up_texts):
    folder = made_up_texts / "lm" / "ptb"
    model = KneserNeyLM(3, **dict(method.options)).fit(str(folder / "train.txt"))
    actual = perform(Trial(STUDY, CASE, 3, 0, method))
    for part in ("valid", "test"):
        expected = float(model.perplexity(str(folder / f"{part}.txt")))
        assert getattr(actual, part) == pytest.approx(expected, rel=1e-5)  # six digits are kept


def test_gains_are_shares_of_the_perplexity_of_modified_kneser_ney():
    run, peer = (perform(Trial(STUDY, CASE, 2, 0, method)) for method in (BO_KN, INT_MKN))
    assert run.gain == pytest.approx(100 * (peer.test - run.test) / peer.test, rel=1e-3)
    assert (peer.gain, peer.n_ahead) == (0, 0)


def test_drawn_texts_have_as_many_lines_drawn_with_replacement():
    scores, peer = (fit_and_score(CASE, 2, 0, method).value for method in (BO_KN, INT_MKN))
    rng = np.random.default_rng(0)
    expected = []
    for _ in range(10):
        lines = rng.integers(len(scores.log_probs), size=len(scores.log_probs))
        log = sum(scores.log_probs[line] for line in lines)
        n_words = sum(scores.sizes[line] for line in lines)
        expected.append(math.exp(-log / n_words))
    assert scores.drawn() == pytest.approx(expected, rel=1e-12)
    actual = perform(Trial(STUDY, CASE, 2, 0, BO_KN))
    assert actual.mean == pytest.approx(np.mean(expected), rel=1e-5)
    assert actual.spread == pytest.approx(np.std(expected, ddof=1), rel=1e-4)
    assert actual.n_ahead == sum(scores.drawn() < peer.drawn())
    assert scores.sizes.sum() == sum(len(line.split()) + 1 for line in texts_of(CASE).test)


def test_mixtures_have_the_classes_of_the_model_beside_them_and_their_time():
    classes, mixed = (learn(texts_of(CASE), 3, 0, method) for method in (CLASSES, MIXED))
    assert mixed.value.models[1] is classes.value
    assert mixed.seconds > classes.seconds
    assert texts.chosen(mixed.value) == f"weight of classes {mixed.value.weights_[1]:.3f}"
    lines = texts_of(CASE)
    expected = ClassLM(3, 5, vocabulary=lines.vocabulary).fit(lines.train)
    assert classes.value.classes_.tolist() == expected.classes_.tolist()
    again = MixedLM(mixed.value.models).fit(lines.valid)
    assert mixed.value.weights_.tolist() == again.weights_.tolist()


def test_tuned_discounts_are_better_than_estimated_ones_on_the_validation_text_and_no_others():
    tuned, plain = (fit_and_score(CASE, 2, 0, method).value for method in (TUNED_MKN, INT_MKN))
    assert tuned.valid < plain.valid
    assert tuned.chosen.startswith("discounts ")
    lines = texts_of(CASE)
    model = tuned_kneser_ney(replace(lines, test=["not read"]), 2)
    values = np.array([one.values for one in model.discounts_])
    assert (values >= 0).all()
    assert (values <= [1, 2, 3]).all()
    assert float(model.perplexity(lines.valid)) == pytest.approx(tuned.valid, rel=1e-12)


def test_ranks_for_russian_are_the_best_of_the_thesis_range(monkeypatch):
    monkeypatch.setattr(texts, "RANK_FRACTIONS", {RUSSIAN: (0.02, 0.1)})
    lines = texts_of(TextCase(RUSSIAN))
    n_types = len(lines.vocabulary)
    perplexities = {}
    for two in (round(0.02 * n_types), round(0.1 * n_types)):
        for three in (round(0.02 * n_types), round(0.1 * n_types)):
            model = PowerLowRankLM(
                3,
                preset="printed",
                ranks={2: two, 3: three},
                vocabulary=lines.vocabulary,
                random_state=0,
            ).fit(lines.train)
            perplexities[two, three] = float(model.perplexity(lines.valid))
    assert len(set(perplexities.values())) > 1
    best = min(perplexities, key=perplexities.get)
    actual = fit_and_score(TextCase(RUSSIAN), 3, 0, PLRE).value
    assert actual.valid == pytest.approx(perplexities[best], rel=1e-12)
    assert actual.chosen == f"order 2: ranks {best[0]}; order 3: ranks {best[1]}"


@pytest.mark.parametrize(
    ("method", "chosen_on"), [(PLRE, "valid"), (TACIT_PLRE, "valid"), (GIVEN, None)]
)
def test_ensembles_are_given_the_text_to_choose_by_and_never_the_test_text(
    method, chosen_on, monkeypatch
):
    calls, fit = [], PowerLowRankLM.fit

    def watched(self, X, y=None, *, validation=None):
        calls.append((self.get_params(), X, validation))
        return fit(self, X, y, validation=validation)

    monkeypatch.setattr(PowerLowRankLM, "fit", watched)
    lines = texts_of(CASE)
    learn(lines, 3, 7, method)
    ((given, train, validation),) = calls
    assert train is lines.train
    assert validation is (lines.valid if chosen_on else None)
    assert (given["order"], given["random_state"], given["n_jobs"]) == (3, 7, 1)
    assert given["preset"] == dict(method.options).get("preset")
    assert given["ranks"] == ({2: (90,), 3: (90,)} if method is GIVEN else "auto")


def test_ranks_above_the_order_are_left_out():
    actual = learn(texts_of(CASE), 2, 0, GIVEN)
    assert max(actual.value.plans_) == 2


def test_what_several_experiments_ask_is_learnt_once(tmp_path, monkeypatch):
    run("fig-9.2", scale="tiny", out=tmp_path)

    def never(*args):
        raise AssertionError("learnt again")

    monkeypatch.setattr(texts, "learn", never)
    trial = Trial(STUDY, TextCase("ptb", 2), 3, 0, PLRE)
    assert perform(trial).method == "PLRE"


def test_without_the_texts_it_is_said_where_they_belong(tmp_path, monkeypatch):
    monkeypatch.setenv("TACIT_DATA", str(tmp_path))
    with pytest.raises(MissingDataError, match=r"lm/ptb/train\.txt"):
        run("table-9.1", scale="tiny", out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_longer_work_is_told_as_longer():
    few, many = (STUDY.work(Trial(STUDY, CASE, 3, 0, method)) for method in (INT_MKN, TACIT_PLRE))
    assert 0 < few < many
    assert STUDY.work(Trial(STUDY, TextCase("ptb", 8), 3, 0, TACIT_PLRE)) < many
