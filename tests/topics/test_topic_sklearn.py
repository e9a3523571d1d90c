"""Topic models and the conventions of scikit-learn."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import tacit
from tacit.errors import DataError
from tacit.topics.topic_model import TopicModel
from tacit.toy.documents import random_topics, sample_documents

TEXTS = ["the cat saw the vet", "the vet saw a dog and a cat", "a tax is a law", "no law, no tax"]


@pytest.fixture(scope="module")
def documents():
    return sample_documents(random_topics(3, 30, random_state=0), 200, 40, random_state=1)


def whole(X):
    """What a check gives, as counts: ten times as much, cut to whole numbers."""
    if sparse.issparse(X):
        counts = sparse.csr_array(X)
        counts.data = np.floor(10 * counts.data)
        return counts.asformat(X.format)
    X = np.asarray(X)
    if X.dtype == object and X.ndim == 2:
        actual = X.copy()
        numbers = [place for place in np.ndindex(X.shape) if isinstance(X[place], float)]
        for place in numbers:
            actual[place] = np.floor(10 * X[place])
        return actual
    return np.floor(10 * X) if X.dtype.kind == "f" else X


class CountingTopicModel(TopicModel):
    """Numbers of the checks are no counts, which are refused elsewhere: here they are made some."""

    def fit(self, X, y=None):
        return super().fit(whole(X), y)

    def partial_fit(self, X, y=None):
        return super().partial_fit(whole(X), y)

    def transform(self, X):
        return super().transform(whole(X))

    def score_samples(self, X):
        return super().score_samples(whole(X))


# Without exceptions.
@parametrize_with_checks(
    [
        CountingTopicModel(n_jobs=1),
        CountingTopicModel(2, learn="em", n_jobs=1),
        CountingTopicModel(model="single", learn="moments", n_jobs=1),
    ]
)
def test_the_checks_of_scikit_learn_hold_for_counts(estimator, check):
    check(estimator)


def test_a_copy_has_the_same_arguments_and_has_learnt_nothing(documents):
    model = TopicModel(3, 0.5, "lda", learn="moments", words=documents.words, cap=None, n_jobs=1)
    model.fit(documents)
    copy = clone(model)
    assert not hasattr(copy, "topics_")
    assert copy.get_params() == model.get_params()
    assert np.array_equal(copy.fit(documents.counts).components_, model.components_)
    back = pickle.loads(pickle.dumps(model))
    assert np.array_equal(back.transform(documents), model.transform(documents))


def test_nothing_that_was_given_is_changed(documents):
    counts = documents.counts.copy()
    for array in (counts.data, counts.indices, counts.indptr):
        array.flags.writeable = False
    words = list(documents.words)
    TopicModel(3, words=words, n_jobs=1).fit(counts).transform(counts)
    assert words == list(documents.words)


def test_a_grid_is_searched_for_the_number_of_topics(documents):
    model = TopicModel(learn="moments", alpha0=0.5, n_jobs=1)
    grid = {"n_topics": np.array([1, 3]), "cap": np.array([3])}  # numbers of numpy, too
    search = GridSearchCV(model, grid, cv=2)
    assert search.fit(documents.counts).best_params_ == {"n_topics": 3, "cap": 3}


def test_a_vectoriser_and_a_model_are_a_pipeline():
    texts = TEXTS * 15
    pipeline = make_pipeline(CountVectorizer(stop_words="english"), TopicModel(2, n_jobs=1))
    proportions = pipeline.fit_transform(texts)
    assert proportions.shape == (60, 2)
    assert proportions.argmax(axis=1)[:4].tolist() in ([0, 0, 1, 1], [1, 1, 0, 0])
    assert list(pipeline.get_feature_names_out()) == ["topicmodel0", "topicmodel1"]
    vectoriser, model = (step for _, step in pipeline.steps)
    model.set_params(words=vectoriser.vocabulary_)
    pipeline.fit(texts)
    assert model.words_ == tuple(vectoriser.get_feature_names_out())
    assert ["law", "tax"] in [sorted(words) for words in model.top_words(2)]


def test_answers_come_in_the_frames_that_were_asked_for(documents):
    columns = pd.Index(documents.words)
    frame = pd.DataFrame(documents.counts.toarray(), columns=columns).set_index(np.arange(200) * 2)
    model = TopicModel(3, n_jobs=1).set_output(transform="pandas").fit(frame)
    assert model.feature_names_in_.tolist() == list(documents.words)
    proportions = model.transform(frame)
    assert list(proportions.columns) == ["topicmodel0", "topicmodel1", "topicmodel2"]
    assert proportions.index.equals(frame.index)
    model.set_output(transform="polars")
    assert isinstance(model.transform(frame), pl.DataFrame)


def test_the_words_of_the_columns_are_remembered_or_not(documents):
    model = TopicModel(3, n_jobs=1).fit(documents.counts)
    assert not hasattr(model, "feature_names_in_")
    assert (model.n_features_in_, model.words_[:2]) == (30, ("0", "1"))
    with pytest.raises(DataError, match="fitted to counts without a vocabulary"):
        model.transform([list(documents.words)])  # as many words, but which is which?
    assert np.array_equal(model.transform(documents), model.transform(documents.counts))
    model.fit(documents)
    assert model.feature_names_in_[1] == "w1"
    assert model.fit(documents.counts).words_[1] == "1"
    assert not hasattr(model, "feature_names_in_")


def test_a_fit_that_fails_changes_nothing(documents):
    model = TopicModel(3, n_jobs=1).partial_fit(documents)
    before = model.components_
    with pytest.raises(tacit.errors.RankError):
        model.set_params(n_topics=30).fit(documents.part(slice(20)))
    with pytest.raises(tacit.errors.RankError):
        model.partial_fit(documents)
    assert model.components_ is before
    assert model.documents_.n_documents == 200


def test_skops_gives_back_the_same_model(documents):
    skops = pytest.importorskip("skops.io")
    model = TopicModel(3, n_jobs=1).fit(documents)
    stored = skops.dumps(model)
    types = skops.get_untrusted_types(data=stored)
    assert all(name.startswith("tacit.") for name in types)  # nothing but our own values
    copy = skops.loads(stored, trusted=types)
    assert np.array_equal(copy.transform(documents), model.transform(documents))
