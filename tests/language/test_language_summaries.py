"""Pages about language models, and what queries leave as it was."""

import numpy as np
import pytest

import tacit

LINES = ["the cat sat on the mat", "the dog sat on the log", "a cat saw the dog", "a dog ran"] * 5
VALIDATION = ["the cat ran on the log", "a dog sat"]


def arpa(folder):
    words = tacit.KneserNeyLM(2).fit(LINES)
    words.to_arpa(folder / "words.arpa")
    return tacit.BackoffLM.from_arpa(folder / "words.arpa")


def mixture(_):
    words = tacit.KneserNeyLM(3).fit(LINES)
    classes = tacit.ClassLM(2, 4, vocabulary=words.vocabulary_).fit(LINES)
    return tacit.MixedLM([words, classes]).fit(VALIDATION)


MODELS = {
    "Kneser-Ney": lambda _: tacit.KneserNeyLM(3).fit(LINES),
    "ARPA": arpa,
    "ensemble": lambda _: tacit.PowerLowRankLM(3).fit(LINES, validation=VALIDATION),
    "classes": lambda _: tacit.ClassLM(2, 4).fit(LINES),
    "mixture": mixture,
    "mixture with given weights": lambda folder: tacit.MixedLM([arpa(folder)], [1.0]).fit(),
}


@pytest.fixture(scope="module", params=MODELS)
def model(request, tmp_path_factory):
    return MODELS[request.param](tmp_path_factory.mktemp("models"))


def test_queries_change_nothing_in_the_model(model, tmp_path):
    model.save(tmp_path / "before.tacit")
    for query in (
        *(lambda: model.score_samples(VALIDATION), lambda: model.score(VALIDATION)),
        *(lambda: model.scores("the cat flew"), lambda: model.perplexity(["the cat flew"])),
        *(lambda: model.predict_next_proba("the"), lambda: model.top("the", 3)),
        *(
            lambda: model.sample(3, given="the", random_state=0),
            lambda: model.step(model.state(), "a"),
        ),
        *(lambda: model.line_scores(VALIDATION), model.summary, model._repr_html_),
    ):
        query()
        model.save(tmp_path / "after.tacit")
        assert (tmp_path / "after.tacit").read_bytes() == (tmp_path / "before.tacit").read_bytes()


def test_every_model_has_a_page(model):
    page = str(model.summary())
    assert page.startswith(f"{type(model).__name__}: ")
    assert "vocabulary" in page
    assert type(model).__name__ in model._repr_html_()


def facts(page):
    return [line.split() for line in str(page).splitlines()]


def test_the_page_of_n_grams_shows_counts_and_discounts():
    model = tacit.KneserNeyLM(3).fit(LINES)
    lines = facts(model.summary())
    assert lines[0] == ["KneserNeyLM:", "order", "3"]
    assert ["vocabulary", "10"] in lines
    assert ["lines", "20"] in lines
    for order, number in enumerate(model.diagnostics_["n_grams"], 1):
        values = ", ".join(f"{value:.4f}" for value in model.discounts_[order - 1].values)
        assert [
            str(order),
            str(number),
            *values.split(),
            *model.discounts_[order - 1].source.split(),
        ] in lines


def test_the_page_of_an_ensemble_shows_what_its_parts_were_chosen_among():
    model = tacit.PowerLowRankLM(3).fit(LINES, validation=VALIDATION)
    candidates = model.diagnostics_["candidates"]
    assert [(each["order"], each["ranks"]) for each in candidates] == [
        (2, [128, 48]),
        (2, [128, 96]),
    ]
    best = min(candidates, key=lambda each: each["perplexity"])
    assert model.plans_[2].ranks == tuple(best["ranks"])
    page = str(model.summary())
    assert f"{best['perplexity']:.6g}" in page
    for plan in (model.plans_[2], model.plans_[3]):
        assert ", ".join(f"{weight:.4g}" for weight in plan.weights) in page
    assert "chosen among" not in str(tacit.PowerLowRankLM(3).fit(LINES).summary())


def test_the_page_of_classes_shows_their_words():
    model = tacit.ClassLM(2, 4).fit(LINES)
    page = str(model.summary())
    word = model.vocabulary_.words[model.word_given_class_[3:].argmax() + 3]
    assert f"{word} {model.word_given_class_[3:].max():.2f}" in page


def test_the_page_of_a_mixture_shows_weights_and_all_models():
    model = mixture(None)
    page = str(model.summary())
    assert "weights chosen by a text" in page
    for weight, part in zip(model.weights_, model.models, strict=True):
        assert f"{weight:.4f}  {part.summary().title}" in page


def test_three_default_fits_give_the_same_model():
    first, *others = (tacit.PowerLowRankLM().fit(LINES) for _ in range(3))
    for other in others:
        assert np.array_equal(other.model_.left, first.model_.left)
        assert np.array_equal(other.score_samples(VALIDATION), first.score_samples(VALIDATION))
    drawn = tacit.PowerLowRankLM(random_state=None).fit(LINES)
    assert not np.array_equal(drawn.model_.left, first.model_.left)
