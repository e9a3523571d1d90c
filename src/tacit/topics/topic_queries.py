"""Queries of topic models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from tacit.core.arguments import check_count, check_rows, generator_from
from tacit.core.model import Model, Scored, checked_summary
from tacit.errors import ArgumentError, DataError
from tacit.topics.data.documents import Documents

if TYPE_CHECKING:
    from tacit.core.summary import Summary
    from tacit.topics.model.topics import Topics

Array = NDArray[np.float64]


class TopicQueries(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Scored, Model):
    """Queries of `TopicModel`: topics and likelihoods of documents, words of topics, samples."""

    kind = "topics"
    abilities = frozenset({"score", "predict", "sample", "topics", "singular values"})
    topics_: Topics
    words_: tuple[str, ...]
    word_probabilities_: Array

    def transform(self, X: Any) -> Array:
        """(document, topic) posterior mean of the topic weights of each document.

        Variational inference with topics and Dirichlet parameters as learnt; with ``model="single"`` the
        posterior of the topic. Words outside the vocabulary are left out of lists of words.
        """
        from tacit.topics.query.documents import document_mixtures

        counts = self._read(X).counts
        return document_mixtures(self._smoothed(), counts, n_jobs=self._threads())

    def predict(self, X: Any) -> NDArray[np.int64]:
        """(document,) the topic with the largest weight in each document."""
        return np.asarray(np.asarray(self.transform(X)).argmax(axis=1))

    def top_words(self, n_words: int = 10) -> list[list[str]]:
        """The most likely words of each topic, in order."""
        from tacit.topics.query.documents import top_words

        check_count("n_words", n_words)
        self._check_fitted()
        return [[self.words_[p] for p in row] for row in top_words(self.topics_, n_words)]

    def perplexity(self, X: Any) -> float:
        """Perplexity of one half of the words of each document, given the other half.

        Document completion: comparable between models of any kind. Topics are smoothed by 1 % of the word
        probabilities of all training documents, so that no word is impossible.

        Parameters
        ----------
        X : see `fit`
            Test documents.
        """
        from tacit.topics.query.quality import completion_perplexity

        counts = self._read(X).counts
        return completion_perplexity(self._smoothed(), counts, n_jobs=self._threads())

    def score_samples(self, X: Any) -> Array:
        """(document,) natural log-likelihood of the words of each document.

        With ``model="lda"`` the variational lower bound; with ``model="single"`` exact. Topics are smoothed
        as for `perplexity`; words outside the vocabulary are left out of lists of words.
        """
        from tacit.topics.query.documents import document_log_likelihoods

        counts = self._read(X).counts
        return document_log_likelihoods(self._smoothed(), counts, n_jobs=self._threads())

    def coherence(self, X: Any, n_words: int = 10) -> Array:
        """(topic,) mean normalised pointwise mutual information of pairs of top words, from -1 to 1.

        Parameters
        ----------
        X : see `fit`
            Documents in which co-occurrences are counted.
        n_words : int
            Top words of each topic, two or more.
        """
        from tacit.topics.query.documents import top_words
        from tacit.topics.query.quality import coherence

        check_count("n_words", n_words)
        if n_words < 2:
            raise ArgumentError("n_words=1; coherence is that of pairs of words, give two or more")
        documents = self._read(X)
        if not documents.n_documents:
            raise DataError("there are no documents to count words in; give one or more")
        return coherence(top_words(self.topics_, n_words), documents.counts)

    def sample(
        self, n_samples: int = 1, *, length: int = 100, random_state: Any = None
    ) -> Documents:
        """Documents sampled from the model.

        Parameters
        ----------
        n_samples : int
            Number of documents.
        length : int
            Words of each document.
        random_state : int, Generator or None
        """
        from tacit.topics.query.documents import sample_documents

        check_rows("n_samples", n_samples)
        check_rows("length", length)
        self._check_fitted()
        lengths = np.full(n_samples, length)
        counts = sample_documents(self.topics_, lengths, generator_from(random_state))
        return Documents(counts, self.words_)

    @checked_summary
    def summary(self) -> Summary:
        """The topics with their weights and most likely words, and what they were learnt from."""
        from tacit.topics.query.summary import topic_summary

        return topic_summary(self.topics_, self.words_, self.diagnostics_)

    @property
    def components_(self) -> Array:
        """(topic, word) word probabilities."""
        self._check_fitted()
        return self.topics_.words

    @property
    def alpha_(self) -> Array:
        """(topic,) Dirichlet parameters."""
        self._check_fitted()
        return self.topics_.alpha

    @property
    def _n_features_out(self) -> int:
        return self.topics_.n_topics

    # -- within -----------------------------------------------------------------------------------

    def _threads(self) -> int:
        from tacit.core.threads import n_threads

        return n_threads(-1 if self.n_jobs is None else self.n_jobs) or 1

    def _smoothed(self) -> Topics:
        return self.topics_.smoothed(self.word_probabilities_)

    def _read(self, X: Any) -> Documents:
        """Documents over the vocabulary of the model."""
        from tacit.core.input.frames import is_frame
        from tacit.topics.data.read_documents import read_documents

        self._check_fitted()
        named = hasattr(self, "feature_names_in_")
        documents = read_documents(X, self.words_ if named else None)
        if not named and documents.named and not (isinstance(X, Documents) or is_frame(X)):
            raise DataError(
                "the documents are lists of words, but the model was fitted to counts without a vocabulary; "
                "give counts, or fit it with the words of the columns: TopicModel(words=...)"
            )
        check_width(documents.n_words, len(self.words_))
        return documents


def check_width(n_words: int, expected: int) -> None:
    """Raise a `DataError` for documents over another number of words than the model's."""
    if n_words != expected:
        raise DataError(
            f"X has {n_words} features, but TopicModel is expecting {expected} features as input: the "
            f"documents are over {n_words} words; count them over those of the model (words_)"
        )
