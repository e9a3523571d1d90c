"""Topics by moments: the bound on counts, and the sum of Dirichlet parameters that moments assume."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import DataError, RankError
from tacit.topics.data.documents import SAMPLE, Counts, DocumentBatches
from tacit.topics.learn.decomposition import LearntTopics, topics_of_moments
from tacit.topics.learn.variational import fitting_alpha
from tacit.topics.model.topics import Topics
from tacit.topics.moments.whitened import MORE, topic_moments
from tacit.topics.moments.word_moments import DocumentMoments, Weighting
from tacit.topics.query.quality import completion_perplexity, repetition

Array = NDArray[np.float64]

# Chosen on the Associated Press documents: the sum of Dirichlet parameters for moments of real documents, and
# how often a word counts at most in one of them.
START_ALPHA0, BURSTY_CAP = 0.1, 3
# Ratio of observed to expected repetitions from which counts are bounded: news have 4, documents drawn from a
# topic model at most 2.
REPEATED = 3.0
# Relative reduction of perplexity from which START_ALPHA0 is preferred: news have twice as much, documents
# drawn from a topic model half of it at most.
ALPHA0_GAIN = 0.1
_MIN_SAMPLE = 100  # documents needed to compare bounds
_TRIAL_TOPICS = 20
_ALPHA0_SAMPLE = 500  # documents that compare two sums of parameters
_PRODUCTS, _FILE_PRODUCTS = 5, 3  # passes for pairs over documents in memory and in files
_FOLD = 5  # every fifth document of the sample is held out
_ALPHA = 0.1  # of each topic: the start of the fit of Dirichlet parameters
_TRIPLE_BYTES, _COLUMN_BYTES = 68, 176  # see `moment_bytes`


@dataclass(frozen=True, slots=True)
class TopicSettings:
    """The checked arguments about learning."""

    n_topics: int | None  # None: chosen by held-out documents
    alpha0: float | None  # None: learnt
    single: bool
    learn: str
    weighting: Weighting
    solver: str
    n_steps: int
    max_memory: int  # bytes
    seed: int
    n_jobs: int
    bursty: bool = False  # whether documents repeat words more than topics explain


def choose_cap(batches: DocumentBatches, settings: TopicSettings) -> TopicSettings:
    """The settings; ``cap="auto"`` becomes a bound on counts if documents repeat words.

    Topics of most documents predict how often words of held-out ones are repeated. If they are repeated more
    often and the bound lowers the held-out perplexity, it is used. Of files only the first documents are
    read, which does not count as a pass.
    """
    if settings.weighting.cap != "auto":
        return settings
    bounded = replace(settings, weighting=Weighting(settings.weighting.by, BURSTY_CAP))
    counts = _nonempty(batches.sample() if batches.in_memory else batches.first(SAMPLE))
    if counts.shape[0] < _MIN_SAMPLE:
        return bounded
    n_topics = min(settings.n_topics or _TRIAL_TOPICS, _TRIAL_TOPICS)
    held_out = np.arange(counts.shape[0]) % _FOLD == _FOLD - 1
    training, test = counts[np.flatnonzero(~held_out)], counts[np.flatnonzero(held_out)]
    try:
        plain = _fit_both(training, test, n_topics, settings)
        if not plain.repetition(test) > REPEATED:
            return settings
        capped = _fit_both(training, test, n_topics, bounded)
    except RankError:
        return bounded
    is_better = capped.perplexity(test) < plain.perplexity(test)
    return replace(bounded, bursty=True) if is_better else settings


def _fit_both(training: Counts, test: Counts, n_topics: int, settings: TopicSettings) -> _Fitted:
    """Topics of the training documents with the sum of Dirichlet parameters of the test documents."""
    from tacit.core.threads import one_blas_thread

    source = DocumentMoments([training], training.shape[1], settings.weighting)
    with one_blas_thread():
        moments = topic_moments(
            source, n_topics, n_products=_FILE_PRODUCTS, random_state=settings.seed
        )
        learnt = topics_of_moments(moments, alpha0=0.0 if settings.single else START_ALPHA0)
    return _Fitted.to(test, learnt, settings.n_jobs)


def n_moment_passes(batches: DocumentBatches) -> int:
    """How many passes over documents moments take: some for pairs, one for triples."""
    return 1 + (_PRODUCTS if batches.in_memory else _FILE_PRODUCTS)


def moment_bytes(n_words: int, n_topics: int) -> int:
    """Memory that moments of so many topics need.

    Measured (tracemalloc, 100 to 300 topics of 2,000 words, 20 of 50,000): 8.2 cubes of triples while the
    sums are made symmetric, and 21 numbers for each pair of a word and a direction of pairs.
    """
    n_topics = min(n_topics, n_words)  # more are refused once the pairs are counted
    return _TRIPLE_BYTES * n_topics**3 + _COLUMN_BYTES * n_words * (n_topics + MORE)


def topics_by_moments(
    batches: DocumentBatches, passes: Iterable[Counts], n_topics: int, settings: TopicSettings
) -> tuple[Topics, dict[str, Any]]:
    """Topics of documents by moments alone, and diagnostics.

    Parameters
    ----------
    batches : DocumentBatches
    passes : iterable of (document, word) sparse
        The same documents, with progress reports.
    n_topics : int
    settings : TopicSettings
    """
    from tacit.core.threads import one_blas_thread

    alone = settings.learn == "moments"
    room_for_spare = moment_bytes(batches.n_words, 2 * n_topics) <= settings.max_memory
    alpha0 = 0.0 if settings.single else settings.alpha0
    with one_blas_thread():
        moments = topic_moments(
            DocumentMoments(passes, batches.n_words, settings.weighting),
            n_topics,
            # Variational steps merge topics where there are too few.
            n_spare="auto" if alone and room_for_spare else 0,
            n_products=n_moment_passes(batches) - 1,
            random_state=settings.seed,
        )
        learn = partial(
            topics_of_moments,
            moments,
            n_topics,
            solver=settings.solver,
            shrunk=settings.bursty and alone,
            random_state=settings.seed,
        )
        if alpha0 is not None or (settings.bursty and not alone):
            learnt = learn(alpha0=START_ALPHA0 if alpha0 is None else alpha0)
            return learnt.topics, learnt.report.as_dict()
        counts = _nonempty(batches.sample(_ALPHA0_SAMPLE))
        small = _Fitted.to(counts, learn(alpha0=START_ALPHA0), settings.n_jobs)
        if not settings.bursty:
            large = _Fitted.to(counts, learn(alpha0="auto"), settings.n_jobs)
            # The tensor determines the sum only if documents follow the model; of real ones it is too large.
            if not small.perplexity(counts) < (1 - ALPHA0_GAIN) * large.perplexity(counts):
                return large.learnt.topics, large.learnt.report.as_dict()
    topics = small.learnt.topics
    return Topics(topics.words, topics.weights, small.alpha0), small.learnt.report.as_dict()


@dataclass(frozen=True, slots=True, eq=False)
class _Fitted:
    """Learnt topics with the sum of Dirichlet parameters that fits some documents."""

    learnt: LearntTopics
    words: Array  # (topic, word)  smoothed by those of the documents
    alpha0: float
    n_jobs: int

    @staticmethod
    def to(counts: Counts, learnt: LearntTopics, n_jobs: int) -> _Fitted:
        """Fit the sum to documents; without any it is that of the topics."""
        if counts.shape[0] == 0:
            return _Fitted(learnt, learnt.topics.words, learnt.topics.alpha0, n_jobs)
        totals = np.bincount(counts.indices, counts.data, minlength=counts.shape[1])
        words = learnt.topics.smoothed(totals / totals.sum()).words
        single = learnt.topics.model == "single"
        alpha0 = 0.0 if single else fitted_alpha0(words, counts, n_jobs)
        return _Fitted(learnt, words, alpha0, n_jobs)

    def perplexity(self, counts: Counts) -> float:
        """Perplexity of document completion; NaN if there is nothing to complete."""
        try:
            return completion_perplexity(self._topics, counts, n_jobs=self.n_jobs)
        except DataError:
            return np.nan

    def repetition(self, counts: Counts) -> float:
        """Ratio of observed to expected repetitions of words."""
        return repetition(self._topics, counts, n_jobs=self.n_jobs)

    @property
    def _topics(self) -> Topics:
        return Topics(self.words, self.learnt.topics.weights, self.alpha0)


def fitted_alpha0(words: Array, counts: Counts, n_jobs: int) -> float:
    """The sum of the Dirichlet parameters that fit documents.

    Only the sum is used: the single parameters make small topics too heavy.
    """
    start = np.full(len(words), _ALPHA)
    return float(fitting_alpha(words, counts, start, n_jobs=n_jobs).sum())


def _nonempty(counts: Counts) -> Counts:
    """The documents that have words."""
    return counts[np.flatnonzero(np.diff(counts.indptr))]
