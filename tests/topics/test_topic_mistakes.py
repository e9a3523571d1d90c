"""What a person may get wrong with topics, and what is said of it."""

import gzip
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.exceptions import NotFittedError

from tacit.errors import (
    ArgumentError,
    ArgumentTypeError,
    DataError,
    FileFormatError,
    MissingDataError,
    NotAvailableError,
    RankError,
    TooExpensiveError,
)
from tacit.topics.topic_model import TopicModel
from tacit.toy.documents import random_topics, sample_documents

N_WORDS = 40


@pytest.fixture(scope="module")
def documents():
    return sample_documents(random_topics(4, N_WORDS, random_state=0), 300, 40, random_state=1)


@pytest.fixture(scope="module")
def counts(documents):
    return documents.counts


@pytest.fixture(scope="module")
def named(documents):
    return TopicModel(4, learn="moments", n_jobs=1).fit(documents)


@pytest.fixture(scope="module")
def unnamed(counts):
    return TopicModel(4, learn="moments", n_jobs=1).fit(counts)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"n_topics": 0}, "n_topics=0"),
        ({"n_topics": 2.5}, "n_topics=2.5"),
        ({"n_topics": "all"}, "n_topics='all'"),
        ({"alpha0": 0.0}, "alpha0=0.0"),
        ({"alpha0": np.nan}, "alpha0=nan"),
        ({"alpha0": "none"}, "alpha0='none'"),
        ({"model": "singel"}, "did you mean 'single'"),
        ({"model": "single", "alpha0": 0.5}, "which has none"),
        ({"learn": "moment"}, "did you mean 'moments'"),
        ({"weighting": "all"}, "weighting='all'"),
        ({"cap": 0}, "cap=0"),
        ({"cap": "none"}, "cap='none'"),
        ({"cap": True}, "cap=True"),
        ({"solver": "svd"}, "solver='svd'"),
        ({"n_steps": 0}, "n_steps=0"),
        ({"random_state": -1}, "random_state=-1"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(counts, arguments, says):
    with pytest.raises(ArgumentError, match=says):
        TopicModel(**{"n_topics": 4, **arguments}).fit(counts)


@pytest.mark.parametrize(
    ("X", "says"),
    [
        ([], r"0 feature\(s\)"),
        ([[], []], r"0 feature\(s\)"),
        (np.zeros((0, 4)), "no document has any word"),
        (csr_array((5, 4), dtype=int), "no document has any word"),
        (np.full((9, 1), 5), "a minimum of 2 is required: topics differ in the words"),
        ([["a"] * 5] * 9, r"1 feature\(s\)"),
        (np.eye(5), "two words or more"),
        (np.diag([2] * 5), "three words or more"),
        (np.full((9, 4), -1), "never negative, but one is -1"),
        (np.full((9, 4), 0.5), "one is 0.5"),
        (np.full((9, 4), np.nan), "missing or infinite"),
    ],
)
@pytest.mark.parametrize("learn", ["moments", "auto"])
def test_documents_that_cannot_be_learnt_from_are_refused(X, says, learn):
    model = TopicModel(2, learn=learn, n_jobs=1)
    with pytest.raises(DataError, match=says):
        model.fit(X)
    assert not hasattr(model, "topics_")


def test_documents_of_two_words_are_learnt_from_by_steps_alone():
    with pytest.raises(DataError, match="three words or more"):
        TopicModel(2).fit(np.diag([2] * 5))
    assert TopicModel(2, learn="em", n_jobs=1).fit(np.diag([2] * 5)).topics_.n_topics == 2


def test_one_document_shows_one_topic(counts):
    for learn in ("moments", "auto", "em"):
        with pytest.raises(
            RankError, match=r"one document .* determines one topic only; give n_topics=1"
        ):
            TopicModel(2, learn=learn).fit(counts[:1])
        actual = TopicModel(1, learn=learn, n_jobs=1).fit(counts[:1])
        assert actual.transform(counts[:1]).tolist() == [[1.0]]
    with pytest.raises(RankError, match="one document"):
        TopicModel().fit(counts[:1])
    with pytest.raises(DataError, match=r"9 documents are too few to choose .* or 10 documents"):
        TopicModel().fit(counts[:9])


@pytest.mark.parametrize("learn", ["moments", "auto"])
@pytest.mark.parametrize(
    "arguments", [{}, {"alpha0": 0.5}, {"alpha0": 50.0}, {"model": "single"}, {"weighting": "pool"}]
)
def test_the_largest_number_of_topics_that_works_is_named(counts, learn, arguments):
    few = counts[:30]
    queries = {"learn": learn, "n_jobs": 1, **arguments}
    with pytest.raises(RankError, match=f"n_topics={N_WORDS}, but") as caught:
        TopicModel(N_WORDS, **queries).fit(few)
    workable = int(re.search(r"give (\d+) or fewer", str(caught.value))[1])
    assert TopicModel(workable, **queries).fit(few).topics_.n_topics == workable
    with pytest.raises(RankError, match=f"give {workable} or fewer"):
        TopicModel(workable + 1, **queries).fit(few)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    shape=st.tuples(st.integers(2, 30), st.integers(2, 20)),
    mean=st.floats(0.3, 2.0),
    n_topics=st.integers(2, 25),
    alpha0=st.sampled_from(["auto", 0.5, 20.0]),
)
def test_whatever_number_is_named_works(seed, shape, mean, n_topics, alpha0):
    noise = np.random.default_rng(seed).poisson(mean, size=shape)
    assume((noise.sum(axis=1) >= 5).any())
    try:
        TopicModel(n_topics, alpha0, learn="moments", n_jobs=1).fit(noise)
    except RankError as error:
        workable = int(re.search(r"give (\d+) or fewer", str(error))[1])
        assert workable < n_topics
        TopicModel(workable, alpha0, learn="moments", n_jobs=1).fit(noise)


def test_a_number_that_is_chosen_works(counts):
    actual = TopicModel(n_jobs=1, learn="moments").fit(counts[:12])
    assert 1 <= actual.topics_.n_topics <= 5
    noise = np.random.default_rng(23).poisson(2.0, size=(14, 4))
    actual = TopicModel(n_jobs=1, learn="moments", model="single").fit(noise)
    fitted_again = actual.diagnostics_["perplexities"]
    assert min(fitted_again, key=fitted_again.get) == "2"  # works for those that were not set aside
    with pytest.raises(RankError, match="give 1 or fewer"):
        TopicModel(2, n_jobs=1, learn="moments", model="single").fit(noise)
    assert actual.topics_.n_topics == 1


def test_other_words_than_those_learnt_are_refused(counts, documents, named, unnamed):
    with pytest.raises(DataError, match="documents have 5 words, but the vocabulary has 40"):
        named.transform(counts[:, :5])
    with pytest.raises(
        DataError, match=r"over 5 words; count them over those of the model \(words_\)"
    ):
        unnamed.perplexity(counts[:, :5])
    with pytest.raises(DataError, match="fitted to counts without a vocabulary"):
        unnamed.transform([["w0", "w1"]])
    frame = pd.DataFrame(counts.toarray(), columns=["other", *documents.words[1:]])
    with pytest.raises(DataError, match="'other' is not among"):
        named.coherence(frame)
    frame = pd.DataFrame(counts.toarray(), columns=documents.words[::-1])
    with pytest.raises(DataError, match="their order is another"):
        named.transform(frame)


def test_other_words_than_those_before_are_refused(counts, documents):
    with pytest.raises(DataError, match="over 5 words; count them"):
        TopicModel(2, n_jobs=1).partial_fit(counts).partial_fit(counts[:, :5])
    first = TopicModel(2, n_jobs=1).partial_fit(documents)
    renamed = type(documents)(counts, ("other", *documents.words[1:]))
    with pytest.raises(DataError, match="'other' is not among"):
        first.partial_fit(renamed)
    with pytest.raises(DataError, match="'other' is not among"):
        first.merge(TopicModel(2, n_jobs=1).partial_fit(renamed))
    with pytest.raises(DataError, match="have 5 words, but the vocabulary has 40"):
        first.merge(TopicModel(2, n_jobs=1).partial_fit(counts[:, :5]))
    with pytest.raises(ArgumentTypeError, match="give a TopicModel"):
        first.merge(documents)
    with pytest.raises(
        NotAvailableError, match="partial_fit, which keeps documents; fit and files"
    ):
        first.merge(TopicModel(2, n_jobs=1).fit(documents))
    assert first.documents_.n_documents == 300


def test_a_vocabulary_fits_or_is_refused(counts, tmp_path):
    for words, says in (
        (["a", "b"], "have 40 words, but the vocabulary has 2; give a word for each column"),
        (["a"] * N_WORDS, "'a' occurs twice"),
    ):
        with pytest.raises(DataError, match=says):
            TopicModel(2, words=words).fit(counts)
    (tmp_path / "words.txt").write_text("a\n")
    with pytest.raises(MissingDataError, match=r"no file of words .*wrods.txt', but there is"):
        TopicModel(2, words=tmp_path / "wrods.txt").fit(counts)
    with pytest.raises(DataError, match="no document has any word; give documents with words of"):
        TopicModel(2, words=["a", "b"]).fit([["c", "c", "d"]] * 9)
    # Without words, columns are called by their places.
    assert TopicModel(2, n_jobs=1).fit(counts).top_words(1)[0][0].isdigit()


def test_files_that_are_none_or_damaged_are_refused(tmp_path):
    path = tmp_path / "docword.txt"
    path.write_text("Once upon a time\n")
    with pytest.raises(
        FileFormatError, match="is not a file of word counts: it begins with 'Once upon"
    ):
        TopicModel(2).fit(path)
    path.write_text("3\n4\n6\n1 1 2\n1 2 2\n2 3 2\n")
    with pytest.raises(FileFormatError, match=r"has 3 of the 6 entries .* cut short"):
        TopicModel(2).fit(path)
    whole = gzip.compress(b"3\n4\n3\n1 1 2\n1 2 2\n2 3 2\n")
    (tmp_path / "docword.txt.gz").write_bytes(whole[:-9])
    with pytest.raises(FileFormatError, match="cannot be read"):
        TopicModel(2).fit(tmp_path / "docword.txt.gz")
    with pytest.raises(
        MissingDataError, match=r"no file of documents .*, but there is .*docword.txt"
    ):
        TopicModel(2).fit(tmp_path / "dockword.txt")
    with pytest.raises(MissingDataError, match="it is a folder"):
        TopicModel(2).fit(tmp_path)


def test_questions_that_make_no_sense_are_refused(counts, named):
    with pytest.raises(NotFittedError):
        TopicModel(2).transform(counts)
    with pytest.raises(NotFittedError):
        TopicModel(2).save("nowhere.tacit")
    with pytest.raises(ArgumentError, match="n_words=0"):
        named.top_words(0)
    with pytest.raises(ArgumentError, match="n_words=1; coherence is that of pairs"):
        named.coherence(counts, n_words=1)
    with pytest.raises(DataError, match="no documents to count words in"):
        named.coherence(counts[:0])
    with pytest.raises(DataError, match="no document has words to score"):
        named.perplexity(counts[:0])
    with pytest.raises(ArgumentError, match="n_samples=-1"):
        named.sample(-1)
    assert named.transform(counts[:0]).shape == (0, 4)
    assert named.sample(0).n_documents == 0


@pytest.mark.parametrize("learn", ["moments", "auto"])
def test_documents_without_words_do_not_choose_how_the_others_are_read(learn):
    counts = np.random.default_rng(0).poisson(0.5, size=(1000, 30))
    counts[::2] = 0  # those that a sample of every second document would take
    model = TopicModel(3, learn=learn, n_jobs=1).fit(counts)
    assert model.diagnostics_["n_empty"] >= 500
    assert np.isfinite(model.components_).all()


def test_more_topics_than_fit_memory_are_refused():
    documents = np.random.default_rng(0).poisson(0.1, size=(800, 1500))
    with pytest.raises(TooExpensiveError, match=r"n_topics=700 .* GB of memory.*raise max_memory"):
        TopicModel(700).fit(documents)
    for learn in ("auto", "moments", "em"):
        with pytest.raises(TooExpensiveError, match="n_topics=1000000000 of 1500 words"):
            TopicModel(10**9, learn=learn).fit(documents)
        with pytest.raises(ArgumentError, match="an integer of 16610 bits"):
            TopicModel(10**5000, learn=learn).fit(documents)


def test_memory_of_topics_is_limited_by_an_argument(counts):
    with pytest.raises(TooExpensiveError, match="max_memory=10000"):
        TopicModel(4, max_memory="10KB").fit(counts)
    with pytest.raises(ArgumentError, match="max_memory='much'"):
        TopicModel(4, max_memory="much").fit(counts)


def test_more_topics_than_words_are_refused_or_learnt(counts):
    for learn in ("auto", "moments"):
        with pytest.raises(RankError, match=r"n_topics=45, but .* give \d+ or fewer"):
            TopicModel(N_WORDS + 5, learn=learn, n_jobs=1).fit(counts)
    topics = TopicModel(N_WORDS + 5, learn="em", n_jobs=1).fit(counts).topics_
    assert topics.words.sum(axis=1) == pytest.approx(1.0)
    assert np.isfinite(topics.weights).all()
