"""The estimator of topics: learning, questions, files, mistakes."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import load_file
from scipy.sparse import csr_array

import tacit
from oracles.document_topics import topics_of_documents
from oracles.edited_files import edited
from tacit.datasets.topics import load_topics
from tacit.errors import (
    DataError,
    FileFormatError,
    NotAvailableError,
)
from tacit.topics.data.read_documents import document_batches
from tacit.topics.learn.spectral import START_ALPHA0
from tacit.topics.model.topics import SMOOTHING, Topics
from tacit.topics.moments.word_moments import Weighting
from tacit.topics.query.documents import sample_documents
from tacit.topics.query.quality import completion_perplexity, topic_agreement
from tacit.topics.topic_model import TopicModel
from tacit.toy.documents import add_spam, random_topics
from tacit.toy.documents import sample_documents as toy_documents

FOLDER = Path(os.environ.get("TACIT_DATA") or "nowhere")
N_WORDS = 40
NAMES = [f"w{place}" for place in range(N_WORDS)]


def truth(alpha0=0.5):
    rng = np.random.default_rng(0)
    words = 0.9 * np.kron(np.eye(4), rng.dirichlet(np.ones(10), size=1)) + 0.1 / N_WORDS
    return Topics(words / words.sum(axis=1, keepdims=True), np.array([0.4, 0.3, 0.2, 0.1]), alpha0)


@pytest.fixture(scope="module")
def counts():
    return sample_documents(truth(), np.full(600, 40), np.random.default_rng(1))


@pytest.fixture(scope="module")
def model(counts):
    return TopicModel(4, words=NAMES, n_jobs=1).fit(counts)


@pytest.fixture(scope="module")
def many():
    return sample_documents(truth(), np.full(3000, 60), np.random.default_rng(1))


@pytest.mark.parametrize("learn", ["auto", "moments"])
@pytest.mark.parametrize("alpha0", ["auto", 0.5])
def test_topics_are_those_that_documents_were_drawn_from(many, learn, alpha0):
    model = TopicModel(4, alpha0, learn=learn, cap=None, n_jobs=1).fit(many)
    assert topic_agreement(model.components_, truth().words) > 0.9
    assert model.topics_.weights == pytest.approx(truth().weights, abs=0.05)
    assert 0.25 < model.alpha_.sum() < 1.0
    assert (np.diff(model.topics_.weights) <= 0).all()


def test_some_random_start_finds_them_too_and_none_is_better(many):
    model = TopicModel(4, cap=None, n_jobs=1, n_steps=100).fit(many)
    starts = [TopicModel(4, learn="em", random_state=seed, n_jobs=1).fit(many) for seed in range(4)]
    assert max(topic_agreement(start.components_, truth().words) for start in starts) > 0.9
    reached = [start.diagnostics_["trace"][-1] for start in starts]
    assert max(reached) <= model.diagnostics_["trace"][-1] + 1e-3  # of the last steps


def test_tomotopy_finds_the_same_topics(counts, model):
    peer = pytest.importorskip("tomotopy", reason="one of `make lightpeers`")
    theirs = peer.LDAModel(k=4, seed=1)
    for document in range(counts.shape[0]):
        row = counts[[document]]
        theirs.add_doc([NAMES[word] for word in np.repeat(row.indices, row.data.astype(int))])
    theirs.train(200, workers=1)
    actual = np.zeros((4, N_WORDS))
    actual[:, [NAMES.index(word) for word in theirs.used_vocabs]] = [
        theirs.get_topic_word_dist(topic) for topic in range(4)
    ]
    apart = [1 - topic_agreement(one, truth().words) for one in (model.components_, actual)]
    assert topic_agreement(model.components_, actual) > 0.9
    assert apart[0] < apart[1] + 0.02


@pytest.mark.skipif(not (FOLDER / "topics").is_dir(), reason="TACIT_DATA lacks topics")
def test_news_are_read_with_the_alpha0_that_completes_them_better():
    news = load_topics("ap")
    actual = TopicModel(10, learn="moments", n_jobs=1).fit(news)
    assert actual.diagnostics_["moments"]["alpha0"] == START_ALPHA0  # not what the tensor says
    test = load_topics("ap", "test")
    said = topics_of_documents(news.batches(), 10, weighting=Weighting("length", 3)).report.alpha0
    other = TopicModel(10, said, learn="moments", n_jobs=1).fit(news)
    assert actual.perplexity(test) < other.perplexity(test)
    assert actual.diagnostics_["cap"] == 3  # words are repeated
    unbounded = TopicModel(10, START_ALPHA0, learn="moments", cap=None, n_jobs=1).fit(news)
    assert actual.perplexity(test) < unbounded.perplexity(test)
    assert TopicModel(10, n_jobs=1).fit(news).perplexity(test) < actual.perplexity(test)


def test_documents_drawn_from_a_model_are_read_without_bound_and_with_their_own_alpha0():
    mixed = random_topics(10, 400, 0.5, zipf=True, random_state=1)
    drawn = toy_documents(mixed, 800, 80, random_state=2)
    apart = {}
    for alpha0 in ("auto", mixed.alpha0):
        model = TopicModel(10, alpha0, learn="moments", n_jobs=1).fit(drawn)
        assert model.diagnostics_["cap"] == "auto"
        apart[alpha0] = 1 - topic_agreement(model.components_, mixed.words)
    assert apart["auto"] < 1.1 * apart[mixed.alpha0]
    bounded = TopicModel(10, mixed.alpha0, learn="moments", cap=3, n_jobs=1).fit(drawn)
    assert 1 - topic_agreement(bounded.components_, mixed.words) > 1.1 * apart[mixed.alpha0]


def test_few_documents_say_nothing_about_how_they_are_read(counts):
    assert TopicModel(2, n_jobs=1).fit(counts[:50]).diagnostics_["cap"] == 3


@pytest.mark.parametrize("learn", ["auto", "moments", "em"])
def test_one_topic_for_each_document(learn):
    counts = sample_documents(truth(0.0), np.full(3000, 40), np.random.default_rng(2))
    model = TopicModel(4, model="single", learn=learn, cap=None, n_jobs=1).fit(counts)
    assert topic_agreement(model.components_, truth().words) > 0.9
    assert model.alpha_.sum() == 0.0
    proportions = model.transform(counts)
    assert proportions.max(axis=1).mean() > 0.95
    assert proportions.mean(axis=0) == pytest.approx(truth().weights, abs=0.08)


def test_perplexity_is_that_of_completed_documents_with_smoothed_topics(counts):
    fresh = sample_documents(truth(), np.full(200, 40), np.random.default_rng(5))
    both = TopicModel(4, n_jobs=1).fit(counts)
    assert both.perplexity(fresh) < N_WORDS
    proportions = np.asarray(counts.sum(axis=0)).ravel() / counts.sum()
    words = (1 - SMOOTHING) * both.components_ + SMOOTHING * proportions
    smoothed = Topics(words, both.topics_.weights, both.topics_.alpha0)
    assert both.perplexity(fresh) == completion_perplexity(smoothed, fresh)


@pytest.mark.parametrize("learn", ["moments", "auto"])
def test_words_that_were_never_met_are_rare_and_not_impossible(counts, learn):
    wider = csr_array(np.hstack([counts.toarray(), np.zeros((600, 1), dtype=int)]))
    model = TopicModel(4, 0.5, learn=learn, n_jobs=1).fit(wider)
    fresh = sample_documents(truth(), np.full(200, 40), np.random.default_rng(5)).toarray()
    known = model.perplexity(np.hstack([fresh, np.zeros((200, 1))]))
    # Of 41 words one is new; half of a rare word's 1 % of one word in 40 has a logarithm of about -12.
    strange = model.perplexity(np.hstack([fresh, np.ones((200, 1))]))
    assert known < strange < known * np.exp(14 / 41)


def test_the_number_of_topics_is_chosen_by_documents_set_aside(counts):
    model = TopicModel(learn="moments", alpha0=0.5, n_jobs=1).fit(counts)
    fitted_again = model.diagnostics_["perplexities"]
    assert model.topics_.n_topics == int(min(fitted_again, key=fitted_again.get)) == 5
    with pytest.raises(DataError, match="too few to choose the number of topics"):
        TopicModel().fit(counts[:5])


def test_all_kinds_of_input_give_the_same_model(counts, model, tmp_path):
    lines = []
    lists = []
    for row in counts.toarray():
        places = np.flatnonzero(row)
        lines.append(" ".join([str(len(places)), *(f"{place}:{row[place]}" for place in places)]))
        lists.append([NAMES[place] for place in places for _ in range(row[place])])
    (tmp_path / "documents.ldac").write_text("\n".join([*lines, ""]))
    (tmp_path / "words.txt").write_text("\n".join([*NAMES, ""]))
    expected = model.components_
    frame = pd.DataFrame(counts.toarray(), columns=NAMES)
    for X, words in ((counts.toarray(), NAMES), (frame, None), (lists, NAMES)):
        actual = TopicModel(4, words=words, n_jobs=2).fit(X)
        assert np.array_equal(actual.components_, expected)
        assert actual.top_words(3) == model.top_words(3)
        assert actual.get_feature_names_out()[0] == "topicmodel0"
    parts = [counts[:250], counts[250:]]
    for X in (tmp_path / "documents.ldac", parts):
        streamed = TopicModel(4, learn="moments", alpha0=0.5, words=tmp_path / "words.txt").fit(X)
        alone = TopicModel(4, learn="moments", alpha0=0.5, words=NAMES).fit(counts)
        # Of 40 words, three products span the same space as five.
        assert streamed.components_ == pytest.approx(alone.components_, abs=1e-6)
        assert streamed.diagnostics_["n_passes"] == 4
        assert streamed.diagnostics_["n_tokens"] == counts.sum()


def test_documents_that_are_not_in_memory_are_read_four_times():
    rng = np.random.default_rng(0)
    parts = [csr_array(rng.poisson(0.3, size=(80, 200))) for _ in range(2)]
    batches = document_batches(parts)
    for X, alpha0 in ((parts, 0.5), (parts, "auto"), (batches, 0.5), (batches, "auto")):
        streamed = TopicModel(3, learn="moments", alpha0=alpha0).fit(X)
        assert streamed.diagnostics_["n_passes"] == 4  # three for pairs, one for triples


def test_documents_in_parts_are_documents_at_once(counts, model):
    first = (
        TopicModel(4, words=NAMES, n_jobs=1).partial_fit(counts[:200]).partial_fit(counts[200:400])
    )
    second = TopicModel(4, words=NAMES, n_jobs=1).partial_fit(counts[400:])
    first.merge(second)
    assert np.array_equal(first.components_, model.components_)
    assert np.array_equal(first.alpha_, model.alpha_)
    assert first.documents_.n_documents == 600
    first.fit(counts)
    with pytest.raises(NotAvailableError, match="partial_fit, which keeps documents"):
        first.merge(second)


def test_the_score_is_the_mean_log_likelihood_of_documents(counts, model):
    single = TopicModel(4, model="single", n_jobs=1).fit(counts)
    for one in (model, single):
        assert one.score(counts) == pytest.approx(one.score_samples(counts).mean(), rel=1e-12)
        # Documents of 40 words out of 40; independent words would have more than -40 log 40.
        assert -40 * np.log(N_WORDS) < one.score(counts) < 0
    assert np.array_equal(model.predict(counts), model.transform(counts).argmax(axis=1))


def test_queries_change_nothing_in_the_model(counts, tmp_path):
    model = TopicModel(4, words=NAMES, n_jobs=1).fit(counts)
    model.save(tmp_path / "before.tacit")
    for query in (
        *(model.transform, model.predict, model.score_samples, model.score, model.perplexity),
        *(model.coherence, lambda _: model.sample(3, random_state=0), lambda _: model.top_words()),
        *(lambda _: model.summary(), lambda _: model._repr_html_()),
    ):
        query(counts)
        model.save(tmp_path / "after.tacit")
        assert (tmp_path / "after.tacit").read_bytes() == (tmp_path / "before.tacit").read_bytes()


def test_the_summary_shows_topics_data_and_what_was_chosen(counts):
    model = TopicModel(words=NAMES, learn="moments", alpha0=0.5, n_jobs=1).fit(counts)
    page = str(model.summary())
    assert page.startswith("TopicModel: 5 topics, 40 words, alpha0 0.5")
    for topic, words in enumerate(model.top_words(8)):
        shown = " ".join(
            f"{word} {model.components_[topic, NAMES.index(word)]:.3f}" for word in words
        )
        assert shown in page
    assert ["documents", "600"] in [line.split() for line in page.splitlines()]
    assert f"{model.diagnostics_['perplexities']['5']:.2f}" in page
    assert page.splitlines()[0] in model._repr_html_()


def test_questions_agree_with_each_other(counts, model):
    proportions = model.transform(counts)
    assert proportions.shape == (600, 4)
    assert proportions.sum(axis=1) == pytest.approx(np.ones(600), rel=1e-12)
    assert proportions.mean(axis=0) == pytest.approx(truth().weights, abs=0.05)
    assert model.transform(csr_array((1, N_WORDS), dtype=int))[0] == pytest.approx(
        model.topics_.weights
    )
    tops = model.top_words(5)
    assert [len(row) for row in tops] == [5] * 4
    assert tops[0][0] == NAMES[model.components_[0].argmax()]
    actual = model.coherence(counts, 5)
    assert actual.shape == (4,)
    assert (actual > 0).all()
    drawn = model.sample(3, length=7, random_state=0)
    assert drawn.lengths.tolist() == [7, 7, 7]
    assert model.transform(drawn).shape == (3, 4)
    assert model.transform([["w0", "never seen", "w1"]]) == pytest.approx(
        model.transform([["w0", "w1"]])
    )


def test_files_give_the_model_back(counts, model, tmp_path):
    path = tmp_path / "topics.tacit"
    model.save(path)
    actual = tacit.load(path)
    assert actual.words_ == model.words_
    assert np.array_equal(actual.transform(counts), model.transform(counts))
    assert actual.perplexity(counts) == model.perplexity(counts)
    assert actual.diagnostics_ == model.diagnostics_
    assert actual.get_params()["n_topics"] == 4
    for name, change in (
        ("topics.words", lambda array: array * 2),
        ("topics.words", lambda array: array[:, :5]),
        ("topics.weights", lambda array: array.astype(np.float32)),
        ("word_probabilities", lambda array: array[1:]),
    ):
        model.save(path)
        edited(path, {name: change(load_file(path)[name])})
        with pytest.raises(FileFormatError, match=name):
            tacit.load(path)


def test_surplus_topics_are_those_that_are_told():
    drawn = toy_documents(random_topics(8, 60, random_state=1), 800, 40, random_state=1)
    before = TopicModel(10, 0.8, learn="moments", n_jobs=1).fit(drawn)
    reported = before.diagnostics_["moments"]
    assert reported["surplus"] == [8, 9]  # eight of the ten are there
    after = TopicModel(10, 0.8, n_steps=1, n_jobs=1).fit(drawn)
    rows = [np.minimum(topic, after.components_).sum(axis=1) for topic in before.components_]
    places = np.argmax(rows, axis=1)  # where a step has put each
    assert (np.diff(places) < 0).any()
    assert after.diagnostics_["moments"]["surplus"] == sorted(places[[8, 9]])
    values = np.array(after.diagnostics_["moments"]["values"])[places]
    assert values.tolist() == reported["values"]


def test_progress_is_told(counts):
    reported = []
    TopicModel(4, n_jobs=1, n_steps=3, progress=lambda *said: reported.append(said)).fit(counts)
    texts = [text.split(":")[0] for _, text in reported]
    # Of 40 words, three products span all.
    assert texts[:-3] == [f"moments, pass {number}" for number in range(1, 5)]
    assert texts[-3:] == ["step 1", "step 2", "step 3"]
    proportions = [fraction for fraction, _ in reported]
    assert proportions[0] == 0.0
    assert proportions == sorted(proportions)
    assert proportions[-1] == 1.0


def test_empty_and_short_documents_are_told_and_harm_nothing(counts):
    more = csr_array(np.vstack([counts.toarray(), np.zeros((2, N_WORDS)), np.eye(N_WORDS)[:3]]))
    model = TopicModel(4, learn="moments", alpha0=0.5).fit(more)
    assert (model.diagnostics_["n_empty"], model.diagnostics_["n_short"]) == (2, 5)
    alone = TopicModel(4, learn="moments", alpha0=0.5).fit(counts)
    assert model.components_ == pytest.approx(alone.components_, abs=1e-9)


@pytest.mark.parametrize("solver", ["jacobi", "power", "simultaneous", "als"])
def test_every_solver_takes_the_tensor_apart(many, solver):
    model = TopicModel(4, 0.5, learn="moments", solver=solver, cap=None, n_jobs=1).fit(many)
    assert topic_agreement(model.components_, truth().words) > 0.9
    assert model.diagnostics_["moments"]["solver"] == solver


@pytest.mark.parametrize("weighting", ["length", "pool", "document"])
def test_documents_that_repeat_a_word_do_no_harm_where_asked(weighting):
    model = random_topics(6, 150, random_state=0)
    spam = add_spam(toy_documents(model, 1500, 50, random_state=1), 40, 100, random_state=2)
    agreement = {}
    for cap in (None, "auto"):
        actual = TopicModel(6, learn="moments", weighting=weighting, cap=cap, n_jobs=1).fit(spam)
        agreement[cap] = topic_agreement(actual.components_, model.words)
    assert agreement[None] < 0.5
    assert agreement["auto"] > 0.95
