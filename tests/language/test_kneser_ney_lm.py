"""Kneser-Ney language models: queries agree with each other, files give them back, bad input is refused."""

import pickle

import numpy as np
import pytest
from safetensors.numpy import load_file
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import check_estimator

import tacit
from oracles.edited_files import edited
from tacit.errors import ArgumentError, DataError, FileFormatError, NotAvailableError
from tacit.language.kneser_ney_lm import KneserNeyLM
from tacit.language.moments.ngram_counts import GramCounts

LINES = ["der Hund bellt", "der Hund läuft", "", "die Katze läuft", "der Hund bellt laut"] * 3
QUERIES = ["der Hund läuft laut", "die Maus", ""]


@pytest.fixture(scope="module")
def model():
    return KneserNeyLM(order=3).fit(LINES)


def test_batch_sentence_and_word_by_word_agree(model, tmp_path):
    path = tmp_path / "asked.txt"
    path.write_text("\n".join([*QUERIES, ""]), encoding="utf-8")
    batch = model.score_samples(path)
    for line, expected in zip(QUERIES, batch, strict=True):
        scores = model.scores(line)
        assert model.score_samples([line]) == pytest.approx([expected], rel=1e-12)
        assert model.score_samples([line.split()]) == pytest.approx([expected], rel=1e-12)
        assert sum(score.log_prob for score in scores) == pytest.approx(expected, rel=1e-12)
        state, total = model.state(), 0.0
        for word, said in zip([*line.split(), "</s>"], scores, strict=True):
            at = model.predict_next_proba(state=state)
            place = model.vocabulary_.ids([word])[0]
            assert np.log(at[place]) == pytest.approx(said.log_prob, rel=1e-12)
            again, state = model.step(state, word)
            assert again.word == said.word
            assert again.log_prob == pytest.approx(said.log_prob, rel=1e-12)
            assert again[2:] == said[2:]
            total += again.log_prob
        assert total == pytest.approx(expected, rel=1e-12)
    assert model.score(QUERIES) == pytest.approx(batch.mean(), rel=1e-12)


def test_scores_tell_order_and_unknown_words(model):
    actual = model.scores("der Hund miaut")
    assert [(one.word, one.order, one.unknown) for one in actual] == [
        ("der", 2, False),
        ("Hund", 3, False),
        ("miaut", 1, True),
        ("</s>", 1, False),
    ]
    part = model.scores("Hund bellt", begin=False, end=False)
    assert [one.order for one in part] == [1, 2]
    assert model.score_samples(["Hund bellt"], begin=False, end=False) == pytest.approx(
        [sum(one.log_prob for one in part)], rel=1e-12
    )


def test_the_compiled_score_of_a_text_agrees_with_its_python_source(model):
    from oracles.python_source import python_source
    from tacit.language.loops import backoff

    for line in ["der Hund läuft laut", " die\tMaus  ", "", "Maus " * 200]:
        coded = np.frombuffer(line.encode(), dtype=np.uint8)
        table = model.vocabulary_.packed_table
        with python_source(backoff), np.errstate(over="ignore"):
            actual = backoff.score_text(model._packed, table, coded, model._begin, 2)
        assert actual == pytest.approx(model.score_samples([line])[0], rel=1e-12)


def test_a_long_sentence_does_not_underflow(model):
    words = ["der", "Maus"] * 2000
    scores = model.scores(words)
    total = sum(score.log_prob for score in scores)
    assert model.score_samples([words]) == pytest.approx([total], rel=1e-9)
    text_log_prob = model._text_log_prob(" ".join(words), begin=True, end=True)
    assert text_log_prob == pytest.approx(total, rel=1e-9)


def test_perplexity_comes_with_and_without_unknown_words(model):
    actual = model.perplexity(QUERIES)
    scores = [score for line in QUERIES for score in model.scores(line)]
    logs = np.array([score.log_prob for score in scores])
    known = np.array([not score.unknown for score in scores])
    assert float(actual) == pytest.approx(np.exp(-logs.mean()), rel=1e-12)
    assert actual.without_unknown == pytest.approx(np.exp(-logs[known].mean()), rel=1e-12)
    assert (actual.n_words, actual.n_lines, actual.n_unknown) == (6, 3, 1)
    assert actual.log_prob == pytest.approx(logs.sum(), rel=1e-12)


def test_the_most_probable_words_come_first(model):
    probs = model.predict_next_proba("der Hund")
    assert probs.sum() == pytest.approx(1, abs=1e-12)
    top = model.top("der Hund", 3)
    assert top[0][0] == "bellt"
    assert [prob for _, prob in top] == sorted(probs, reverse=True)[:3]


def test_draws_follow_the_distribution(model):
    draws = model.sample(400, given="der", random_state=0)
    fraction = np.mean([draw.split()[:1] == ["Hund"] for draw in draws])
    assert fraction == pytest.approx(dict(model.top("der", 20))["Hund"], abs=0.08)
    assert model.sample(3, random_state=1) == model.sample(3, random_state=1)
    assert model.sample(1, max_length=0) == [""]


@pytest.mark.parametrize(
    "settings",
    [{}, {"modified": False, "interpolated": False}, {"base": "unigram", "pads": "all"}],
)
def test_files_give_models_back(tmp_path, settings):
    model = KneserNeyLM(order=3, discounts=[0.5, 1, 1.5], **settings).fit(LINES)
    path = tmp_path / "m.tacit"
    model.save(path)
    again = tacit.load(path)
    assert np.array_equal(again.score_samples(QUERIES), model.score_samples(QUERIES))
    assert again.vocabulary_ == model.vocabulary_
    assert again.discounts_ == model.discounts_
    assert again.order == 3
    assert again.diagnostics_ == model.diagnostics_


@pytest.mark.parametrize(
    ("name", "spoil", "complaint"),
    [
        ("words", lambda a: a + np.int32(90), "index outside"),
        ("suffixes", lambda a: a + np.int32(900), "index outside"),
        ("suffixes", lambda a: np.arange(len(a), dtype=np.int32), "ends in a longer one"),
        ("firsts", lambda a: a[::-1].copy(), "does not end at"),
        ("firsts", lambda a: np.full_like(a, a[-1]), "do not fit their contexts"),
        ("probs", lambda a: a[1:], "has shape"),
        ("backoffs", lambda a: a[1:], "has shape"),
        ("backoffs", lambda a: a * np.nan, "infinities or NaN"),
        ("offsets", lambda a: a.astype(np.int32), "has type int32"),
        ("offsets", lambda a: a[[0, 1, 1, 3]], "do not fit the words or contexts"),
        ("vocabulary.starts", lambda a: a + 1, "does not run from 0"),
        ("vocabulary.store", lambda a: a.astype(np.int16), "has type int16"),
    ],
)
def test_damaged_files_are_refused(model, tmp_path, name, spoil, complaint):
    path = tmp_path / "m.tacit"
    model.save(path)
    edited(path, {f"model.{name}": spoil(load_file(path)[f"model.{name}"])})
    with pytest.raises(FileFormatError, match=complaint):
        tacit.load(path)


def test_added_counts_give_the_same_model(model):
    vocabulary = model.vocabulary_
    from tacit.language.data.corpus import read_corpus

    parts = [GramCounts.of(read_corpus(LINES[i::4], vocabulary=vocabulary), 3) for i in range(4)]
    joint = KneserNeyLM(order=3).fit_counts(sum(parts[1:], parts[0]))
    for name in ("probs", "backoffs", "words", "firsts", "suffixes"):
        assert np.array_equal(getattr(joint.model_, name), getattr(model.model_, name))


def test_vocabularies_may_be_given_or_cut():
    listed = KneserNeyLM(order=2, vocabulary=["der", "Hund"]).fit(LINES)
    assert listed.vocabulary_.words[3:] == ("der", "Hund")
    rare = KneserNeyLM(order=2, min_count=4).fit(LINES)
    assert set(rare.vocabulary_.words[3:]) == {"der", "Hund", "bellt", "läuft"}
    assert rare.perplexity(["laut"]).n_unknown == 1
    assert len(KneserNeyLM(n_words=2).fit(LINES).vocabulary_) == 5


def test_an_order_of_one_is_a_bag_of_words():
    model = KneserNeyLM(order=1).fit(LINES)
    assert {score.order for score in model.scores("der Hund")} == {1}
    assert model.predict_next_proba("der").sum() == pytest.approx(1, abs=1e-12)


def test_estimators_can_be_cloned_and_say_that_they_are_not_fitted():
    model = clone(KneserNeyLM(order=4, modified=False))
    assert model.order == 4
    for ask in (lambda: model.score_samples(["a"]), lambda: model.save("m.tacit"), model.top):
        with pytest.raises((NotFittedError, NotAvailableError), match="not fitted yet"):
            ask()


@pytest.mark.filterwarnings("ignore:Can't test estimator")
def test_scikit_learn_has_no_complaint_about_a_model_of_text():
    check_estimator(KneserNeyLM())


def test_models_can_be_chosen_by_cross_validation():
    lines = np.array(LINES * 2)
    search = GridSearchCV(KneserNeyLM(), {"order": [1, 2, 3]}, cv=3).fit(lines)
    assert search.best_params_["order"] > 1
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    assert again.score(lines) == search.best_estimator_.score(lines)


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"order": 0}, "order=0"),
        ({"pads": "two"}, "pads='two'"),
        ({"base": "uniforn"}, "did you mean 'uniform'"),
        ({"modified": "yes"}, "modified='yes'; give True or False"),
        ({"discounts": "none"}, "discounts='none'"),
        ({"discounts": [2.0]}, "from 0 to the count"),
        ({"min_count": 0}, "min_count=0"),
        ({"markers": "keep"}, "markers='keep'"),
    ],
)
def test_wrong_arguments_are_refused(settings, complaint):
    with pytest.raises(ArgumentError, match=complaint):
        KneserNeyLM(**settings).fit(LINES)


def test_wrong_text_is_refused(model):
    with pytest.raises(DataError, match="the text is empty"):
        KneserNeyLM().fit([])
    with pytest.raises(DataError, match="contains a marker"):
        model.scores("<s> der")
    with pytest.raises(DataError, match="line 2: the text contains the marker '</s>'"):
        model.perplexity(["a", "b </s>"])


def test_progress_tells_of_words_and_of_their_speed(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("\n".join([*LINES, ""]), encoding="utf-8")
    once = sum(len(line.split()) for line in LINES)
    for more, text, n_words in (
        ({}, path, once),
        ({"memory": 1}, path, once),
        ({}, [path, path], 2 * once),
        ({}, LINES, once),
    ):
        told = []
        model = KneserNeyLM(
            progress=lambda share, said, told=told: told.append((share, said)), **more
        )
        model.fit(text)
        proportions = [share for share, _ in told]
        assert proportions == sorted(proportions)
        assert 0 <= proportions[0] <= proportions[-1] <= 1
        assert any(said.startswith(("reading: ", "counting: ")) for _, said in told)
        assert sum("words/s" in said for _, said in told) >= 2
        told.clear()
        model.perplexity(text)
        assert told[0] == (0.0, "scoring")
        assert told[-1][0] == 1.0
        assert told[-1][1].startswith(f"scoring: {n_words:,} words, ")
        assert told[-1][1].endswith(" words/s")


def test_words_that_cannot_come_are_not_among_the_likeliest():
    model = KneserNeyLM(order=2).fit(LINES)
    actual = model.top("der", 1000)
    assert len(actual) == len(model.vocabulary_) - 1  # all but <s>
    assert {word for word, _ in actual} == set(model.vocabulary_.words) - {"<s>"}
    assert sum(prob for _, prob in actual) == pytest.approx(1, abs=1e-12)
