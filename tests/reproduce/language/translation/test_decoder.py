"""Beam search against exhaustive search."""

from dataclasses import replace

import numpy as np
import pytest

from oracles.python_source import python_source
from oracles.translation import all_derivations
from tacit.language.kneser_ney_lm import KneserNeyLM
from tacit.reproduce.language.translation import decoder as decoding
from tacit.reproduce.language.translation.decoder import (
    FEATURES,
    JUMPS,
    LANGUAGE,
    START_WEIGHTS,
    UNKNOWN,
    Beam,
    Decoder,
)
from tacit.reproduce.language.translation.phrases import PhraseTable
from tacit.reproduce.language.translation.sentence_pairs import Words
from tacit.reproduce.loops import decoding as loops

SOURCE = ["a b c d"]
TARGET = ["u v w x y", "v u x", "y w v u", "x y", "w x u"]
WIDE = Beam(size=5000, n_candidates=20_000, reach=2, n_best=10_000)


@pytest.fixture
def decoder():
    """Words with two translations, some pairs with one; the weights differ at random."""
    rng = np.random.default_rng(0)
    source, target = Words.of(SOURCE), Words.of(TARGET)
    translations = {
        (word,): [((int(word),), rng.normal(size=4)), ((int(word) + 1,), rng.normal(size=4))]
        for word in range(1, 4)  # "d" has none
    }
    translations[1, 2] = [((2, 1), rng.normal(size=4))]
    translations[2, 3] = [((3,), rng.normal(size=4)), ((3, 5), rng.normal(size=4))]
    table = PhraseTable(source, target, translations, {})
    return Decoder(table, KneserNeyLM(2, min_count=1).fit(TARGET), WIDE)


def exhaustive(decoder, sentence, weights):
    """Scores and features of the best derivation of each translation."""
    options = decoder.options(sentence)
    n_words, best = len(sentence.split()), {}
    for path in all_derivations(options, decoder.beam.reach, 5, n_words):
        text = " ".join(options.texts[option] for option in path)
        features = options.features[path].sum(axis=0)
        features[LANGUAGE] = decoder.model.score_samples([text])[0]
        position, jumps = 0, 0
        for option in path:
            jumps += abs(int(options.first[option]) - position)
            position = int(options.last[option])
        features[JUMPS] = jumps
        score = float(features @ weights)
        if text not in best or score > best[text][0]:
            best[text] = score, features
    return best


@pytest.mark.parametrize("sentence", ["a b c", "c a b d", "a", "d d", "b c a b"])
@pytest.mark.parametrize("reach", [0, 1, 2])
def test_a_wide_beam_finds_all_translations_in_the_order_of_their_scores(
    decoder, sentence, reach, monkeypatch
):
    monkeypatch.setattr(decoding, "TRIES", 10**6)
    decoder = replace(decoder, beam=replace(WIDE, reach=reach))
    weights = START_WEIGHTS + 0.01 * np.random.default_rng(1).normal(size=FEATURES)
    expected = exhaustive(decoder, sentence, weights)
    actual = decoder.translations(sentence, weights)
    assert set(actual.texts) == set(expected)
    assert len(actual.texts) == len(expected)
    assert actual.scores.tolist() == sorted(actual.scores.tolist(), reverse=True)
    for text, score, features in zip(actual.texts, actual.scores, actual.features, strict=True):
        assert score == pytest.approx(expected[text][0], abs=1e-10)
        assert features == pytest.approx(expected[text][1], abs=1e-9)


def test_a_short_list_is_the_beginning_of_a_long_one(decoder):
    weights = START_WEIGHTS
    long = decoder.translations("a b c d", weights)
    short = replace(decoder, beam=replace(WIDE, n_best=5)).translations("a b c d", weights)
    assert short.texts == long.texts[:5]
    # Few hypotheses give a score that is possible, and not better.
    narrow = replace(decoder, beam=Beam(size=1, n_candidates=2, reach=2, n_best=3))
    found = narrow.translations("a b c d", weights)
    scores = dict(zip(long.texts, long.scores, strict=True))
    assert len(found.texts) >= 1
    for text, score in zip(found.texts, found.scores, strict=True):
        assert score <= scores[text] + 1e-10


def test_weights_of_the_wrong_sign_count_as_zero_and_features_are_there_all_the_same(decoder):
    wrong = START_WEIGHTS.copy()
    wrong[[LANGUAGE, JUMPS]] = -1.0, 1.0
    zero = START_WEIGHTS.copy()
    zero[[LANGUAGE, JUMPS]] = 0.0
    actual, expected = (decoder.translations("a b c d", weights) for weights in (wrong, zero))
    assert actual.texts == expected.texts
    log_probs = decoder.model.score_samples(actual.texts)
    assert actual.features[:, LANGUAGE] == pytest.approx(log_probs, abs=1e-12)


def test_unknown_words_are_copied_and_no_words_or_too_many_stay(decoder):
    best = decoder.translations("q a", START_WEIGHTS)
    assert all("q" in text.split() for text in best.texts)
    assert set(best.features[:, UNKNOWN]) == {1.0}
    for sentence in ("", " ".join(["a"] * 63)):
        (text,) = decoder.translations(sentence, START_WEIGHTS).texts
        assert text == sentence
    assert decoder.translations(" ".join(["a"] * 62), START_WEIGHTS).texts


def test_the_same_search_runs_uncompiled(decoder):
    expected = decoder.translations("a b c d", START_WEIGHTS)
    with python_source(loops):
        actual = decoder.translations("a b c d", START_WEIGHTS)
    assert actual.texts == expected.texts
    assert actual.scores == pytest.approx(expected.scores, abs=1e-12)
