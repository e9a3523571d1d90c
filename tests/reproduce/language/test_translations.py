"""Translations that language models rescore: the same weights for all, and lists that favour none."""

import sys

import numpy as np
import pytest

from tacit.datasets import load_multi30k
from tacit.errors import DependencyError, MissingDataError
from tacit.reproduce.language import translations
from tacit.reproduce.language.texts import INT_MKN, PLRE, TACIT_PLRE
from tacit.reproduce.language.translation import bleu
from tacit.reproduce.language.translation.decoder import LANGUAGE
from tacit.reproduce.language.translations import (
    DECODER,
    ORACLE,
    STUDY,
    WORD_BY_WORD,
    TranslationCase,
    check_translations,
    scored_lists,
    system_of,
    weights_of,
)
from tacit.reproduce.runner.running import perform
from tacit.reproduce.runner.trials import Trial

CASE = TranslationCase("cs")


def run(method, seed=0, case=CASE):
    return perform(Trial(STUDY, case, 3, seed, method))


@pytest.mark.usefixtures("made_up_translations")
def test_the_decoder_is_between_single_words_and_the_best_of_its_lists():
    words, decoder, best = (run(method) for method in (WORD_BY_WORD, DECODER, ORACLE))
    assert words.bleu < 0.5 * decoder.bleu
    assert decoder.bleu > 40
    assert best.bleu >= max(decoder.bleu, run(INT_MKN).bleu, run(PLRE).bleu)
    assert {words.perplexity, decoder.perplexity, best.perplexity} == {np.inf}
    assert all(one.seconds > 0 for one in (words, decoder, best))


@pytest.mark.usefixtures("made_up_translations")
def test_weights_are_tuned_with_kneser_ney_and_kept_for_the_others(monkeypatch):
    tuned = []
    actual = translations.scored_lists

    def recorded(case, order, method):
        tuned.append(method)
        return actual(case, order, method)

    monkeypatch.setattr(translations, "scored_lists", recorded)
    weights_of(CASE, 3, 5)
    assert tuned == [INT_MKN]
    monkeypatch.undo()
    weights = weights_of(CASE, 3, 0)
    for method in (INT_MKN, PLRE, TACIT_PLRE):
        lists = scored_lists(CASE, 3, method).value
        _, references = translations.sentences_of(CASE)["test"]
        score = bleu.corpus_bleu(lists.test.best(weights), references)
        assert run(method).bleu == pytest.approx(score, rel=1e-5)
    assert run(INT_MKN).gain == 0
    assert run(PLRE).gain == pytest.approx(run(PLRE).bleu - run(INT_MKN).bleu, abs=1e-3)


@pytest.mark.usefixtures("made_up_translations")
def test_all_models_rescore_the_same_lists_with_their_own_log_probabilities():
    system = system_of(CASE).value
    scored = [scored_lists(CASE, 3, method).value for method in (INT_MKN, PLRE)]
    assert [lists.test.all_texts for lists in scored] == [system.test.all_texts] * 2
    one, two = (np.concatenate(lists.test.features) for lists in scored)
    assert np.array_equal(np.delete(one, LANGUAGE, axis=1), np.delete(two, LANGUAGE, axis=1))
    assert not np.allclose(one[:, LANGUAGE], two[:, LANGUAGE])
    assert np.isfinite(one).all()
    assert np.isfinite(two).all()
    assert scored[0].perplexity == pytest.approx(run(INT_MKN).perplexity, rel=1e-5)


@pytest.mark.usefixtures("made_up_translations")
def test_runs_differ_by_the_order_of_sentences_alone():
    assert run(INT_MKN, 1) == run(INT_MKN, 1)
    assert not np.array_equal(weights_of(CASE, 3, 0), weights_of(CASE, 3, 1))
    assert run(INT_MKN, 0).perplexity == run(INT_MKN, 1).perplexity


@pytest.mark.usefixtures("made_up_translations")
def test_less_text_is_every_nth_sentence():
    less = translations.sentences_of(TranslationCase("de", 3, 5))
    assert less["train"][0] == load_multi30k("en")[::3]
    assert less["valid"][1] == load_multi30k("de", "valid")[::5]
    assert str(TranslationCase("de", 3, 5)) == "English to German, 1/3"


def test_nothing_is_run_without_sentences_or_sacrebleu(made_up_translations, monkeypatch, tmp_path):
    check_translations()
    monkeypatch.setitem(sys.modules, "sacrebleu", None)
    with pytest.raises(DependencyError):
        check_translations()
    monkeypatch.setenv("TACIT_DATA", str(tmp_path))
    with pytest.raises(MissingDataError, match=r"lacks multi30k/train\.en\[\.xz\] .*from github"):
        check_translations()
