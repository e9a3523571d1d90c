"""What topic models are asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from tacit.core.arguments import check_count, check_rows, generator_from
from tacit.errors import ArgumentError, DataError, NotAvailableError
from tacit.topics.data.documents import Documents

if TYPE_CHECKING:
    from tacit.topics.model.topics import Topics

Array = NDArray[np.float64]


class TopicQueries(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """The questions of `TopicModel`: mixtures of documents, words of topics, scores, new documents."""

    topics_: Topics
    words_: tuple[str, ...]
    word_shares_: Array
    n_jobs: int | None

    def transform(self, X: Any) -> Array:
        """(document, topic) the mean share of each topic in each document.

        Variational inference with topics and Dirichlet parameters as learnt; with ``model="single"`` the
        posterior of the topic. Words outside the vocabulary are left out of lists of words.
        """
        from tacit.topics.query.documents import document_mixtures

        counts = self._read(X).counts
        return document_mixtures(self._smoothed(), counts, n_jobs=self._threads())

    def top_words(self, n_words: int = 10) -> list[list[str]]:
        """The likeliest words of each topic, the likeliest first."""
        from tacit.topics.query.documents import top_words

        check_count("n_words", n_words)
        self._check_fitted()
        return [[self.words_[p] for p in row] for row in top_words(self.topics_, n_words)]

    def perplexity(self, X: Any) -> float:
        """Perplexity of one half of the words of each document, given the other half.

        Document completion: comparable between models of any kind. Each topic gets 1 % of the words of all
        documents learnt from, so that no word is impossible.

        Parameters
        ----------
        X : see `fit`
            Documents that were not learnt from.
        """
        from tacit.topics.query.quality import completion_perplexity

        counts = self._read(X).counts
        return completion_perplexity(self._smoothed(), counts, n_jobs=self._threads())

    def score(self, X: Any, y: Any = None) -> float:
        """Minus the logarithm of `perplexity`: the larger the better."""
        return -float(np.log(self.perplexity(X)))

    def coherence(self, X: Any, n_words: int = 10) -> Array:
        """(topic,) mean normalised pointwise mutual information of pairs of top words, from -1 to 1.

        Parameters
        ----------
        X : see `fit`
            Documents to count in which words meet.
        n_words : int
            Top words of each topic, two or more.
        """
        from tacit.topics.query.documents import top_words
        from tacit.topics.query.quality import coherence

        check_count("n_words", n_words)
        if n_words < 2:
            raise ArgumentError("n_words=1; coherence is that of pairs of words, give two or more")
        found = self._read(X)
        if not found.n_documents:
            raise DataError("there are no documents to count words in; give one or more")
        return coherence(top_words(self.topics_, n_words), found.counts)

    def sample(
        self, n_documents: int = 1, length: int = 100, random_state: Any = None
    ) -> Documents:
        """Documents drawn from the model.

        Parameters
        ----------
        n_documents : int
        length : int
            Words of each.
        random_state : int, Generator or None
        """
        from tacit.topics.query.documents import sample_documents

        check_rows("n_documents", n_documents)
        check_rows("length", length)
        self._check_fitted()
        lengths = np.full(n_documents, length)
        counts = sample_documents(self.topics_, lengths, generator_from(random_state))
        return Documents(counts, self.words_)

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

    def _check_fitted(self) -> None:
        if not hasattr(self, "topics_"):
            raise NotAvailableError("this TopicModel has not learnt any topics yet; call fit first")

    def _smoothed(self) -> Topics:
        from tacit.topics.learn.moments import smoothed

        return smoothed(self.topics_, self.word_shares_)

    def _read(self, X: Any) -> Documents:
        """Documents over the words that were learnt."""
        from tacit.core.input.frames import is_frame
        from tacit.topics.data.read_documents import read_documents

        self._check_fitted()
        named = hasattr(self, "feature_names_in_")
        found = read_documents(X, self.words_ if named else None)
        if not named and found.named and not (isinstance(X, Documents) or is_frame(X)):
            raise DataError(
                "the documents are lists of words, but the model learnt from counts alone and knows words by "
                "their places; give counts, or fit it with the words of the columns: TopicModel(words=...)"
            )
        check_width(found.n_words, len(self.words_))
        return found


def check_width(found: int, wanted: int) -> None:
    """Raise a `DataError` for documents that are not over the words that a model learnt."""
    if found != wanted:
        raise DataError(
            f"X has {found} features, but TopicModel is expecting {wanted} features as input: the documents "
            f"are over {found} words; count them over those of the model (words_)"
        )
