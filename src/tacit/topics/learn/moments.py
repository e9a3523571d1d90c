"""How topics are read from moments: what is counted, and which sum of Dirichlet parameters is taken away."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import DataError, RankError
from tacit.topics.data.documents import SAMPLE, Counts, DocumentBatches
from tacit.topics.learn.variational import fitting_alpha
from tacit.topics.model.topics import LearntTopics, Topics, topics_of_moments
from tacit.topics.moments.whitened import topic_moments
from tacit.topics.moments.word_moments import DocumentMoments, Weighting
from tacit.topics.query.quality import completion_perplexity, repetition

Array = NDArray[np.float64]

# Chosen on the Associated Press documents: the sum of Dirichlet parameters with which moments of real
# documents are read, and how often a word counts in one of them at most.
START_ALPHA0, BURSTY_CAP = 0.1, 3
# How many times as often as topics say words come again in documents that are read so: news 4 times, those
# drawn from a topic model at most twice.
REPEATED = 3.0
# The share of perplexity that the small sum of parameters must save: it saves twice as much of news, and half
# of it at most where documents are drawn from a topic model.
ALPHA0_GAIN = 0.1
SMOOTHING = 0.01  # of the words of all documents, in each topic, where words are scored
_LEAST_SAMPLE = 100  # fewer say nothing about readings
_TRIAL_TOPICS = 20
_FEW_SAMPLED = 500  # documents that two sums of parameters are compared by
_PRODUCTS, _FEW_PRODUCTS = 5, 3  # passes for pairs, of documents in memory and of others
_APART = 5  # every fifth document of the sample compares readings
_ALPHA = 0.1  # of each topic: where the fit of Dirichlet parameters begins


@dataclass(frozen=True, slots=True)
class TopicSettings:
    """The checked arguments about learning."""

    n_topics: int | None  # None: documents that are set aside choose
    alpha0: float | None  # None: learnt
    single: bool
    learn: str
    weighting: Weighting
    solver: str
    n_steps: int
    seed: int
    n_jobs: int
    bursty: bool = False  # whether documents were seen to repeat words more than topics explain


def chosen_reading(batches: DocumentBatches, settings: TopicSettings) -> TopicSettings:
    """The settings, with a bound on counts where ``"auto"`` asks for one and documents repeat words.

    Topics of some documents say how often words of others should come again; where they do oftener, the bound
    is taken if it completes these better. Nothing but the first documents is read where they are not in
    memory; that is not counted as a pass.
    """
    if settings.weighting.cap != "auto":
        return settings
    bounded = replace(settings, weighting=Weighting(settings.weighting.by, BURSTY_CAP))
    counts = _worded(batches.sample() if batches.in_memory else batches.first(SAMPLE))
    if counts.shape[0] < _LEAST_SAMPLE:
        return bounded
    n_topics = min(settings.n_topics or _TRIAL_TOPICS, _TRIAL_TOPICS)
    apart = np.arange(counts.shape[0]) % _APART == _APART - 1
    rest, test = counts[np.flatnonzero(~apart)], counts[np.flatnonzero(apart)]
    try:
        plain = _tried(rest, test, n_topics, settings)
        if not plain.repetition(test) > REPEATED:
            return settings
        other = _tried(rest, test, n_topics, bounded)
    except RankError:
        return bounded
    better = other.perplexity(test) < plain.perplexity(test)
    return replace(bounded, bursty=True) if better else settings


def _tried(rest: Counts, test: Counts, n_topics: int, settings: TopicSettings) -> _Fitted:
    """Topics of some documents, fitted to others."""
    from tacit.core.threads import one_blas_thread

    source = DocumentMoments([rest], rest.shape[1], settings.weighting)
    with one_blas_thread():
        moments = topic_moments(
            source, n_topics, n_products=_FEW_PRODUCTS, random_state=settings.seed
        )
        learnt = topics_of_moments(moments, alpha0=0.0 if settings.single else START_ALPHA0)
    return _Fitted.to(test, learnt, settings.n_jobs)


def passes_of(batches: DocumentBatches) -> int:
    """How many passes over documents moments take: some for pairs, one for triples."""
    return 1 + (_PRODUCTS if batches.in_memory else _FEW_PRODUCTS)


def topics_by_moments(
    batches: DocumentBatches, told: Iterable[Counts], n_topics: int, settings: TopicSettings
) -> tuple[Topics, dict[str, Any]]:
    """Topics of documents by moments alone, and the report on them.

    Parameters
    ----------
    batches : DocumentBatches
    told : iterable of (document, word) sparse
        The same, whose passes are told to whom it concerns.
    n_topics : int
    settings : TopicSettings
    """
    from tacit.core.threads import one_blas_thread

    alone = settings.learn == "moments"
    alpha0 = 0.0 if settings.single else settings.alpha0
    with one_blas_thread():
        moments = topic_moments(
            DocumentMoments(told, batches.n_words, settings.weighting),
            n_topics,
            n_spare="auto"
            if alone
            else 0,  # steps make one topic of several where there are too few
            n_products=passes_of(batches) - 1,
            random_state=settings.seed,
        )
        read = partial(
            topics_of_moments,
            moments,
            n_topics,
            solver=settings.solver,
            shortened=settings.bursty and alone,
            random_state=settings.seed,
        )
        if alpha0 is not None or (settings.bursty and not alone):
            learnt = read(alpha0=START_ALPHA0 if alpha0 is None else alpha0)
            return learnt.topics, learnt.report.as_dict()
        counts = _worded(batches.sample(_FEW_SAMPLED))
        small = _Fitted.to(counts, read(alpha0=START_ALPHA0), settings.n_jobs)
        if not settings.bursty:
            said = _Fitted.to(counts, read(alpha0="auto"), settings.n_jobs)
            # Documents that the model describes have the tensor of some sum. Real ones have not: their
            # tensors say too much.
            if not small.perplexity(counts) < (1 - ALPHA0_GAIN) * said.perplexity(counts):
                return said.learnt.topics, said.learnt.report.as_dict()
    found = small.learnt.topics
    return Topics(found.words, found.weights, small.alpha0), small.learnt.report.as_dict()


@dataclass(frozen=True, slots=True, eq=False)
class _Fitted:
    """Topics that were learnt, and the sum of Dirichlet parameters that fits some documents."""

    learnt: LearntTopics
    words: Array  # (topic, word)  smoothed by those of the documents
    alpha0: float
    n_jobs: int

    @staticmethod
    def to(counts: Counts, learnt: LearntTopics, n_jobs: int) -> _Fitted:
        """Fit the sum to some documents; without any it is that of the topics."""
        if counts.shape[0] == 0:
            return _Fitted(learnt, learnt.topics.words, learnt.topics.alpha0, n_jobs)
        totals = np.bincount(counts.indices, counts.data, minlength=counts.shape[1])
        words = smoothed(learnt.topics, totals / totals.sum()).words
        single = learnt.topics.model == "single"
        alpha0 = 0.0 if single else fitted_sum(words, counts, n_jobs)
        return _Fitted(learnt, words, alpha0, n_jobs)

    def perplexity(self, counts: Counts) -> float:
        """How well documents are completed; not a number where there is nothing to complete."""
        try:
            return completion_perplexity(self._topics, counts, n_jobs=self.n_jobs)
        except DataError:
            return np.nan

    def repetition(self, counts: Counts) -> float:
        """How much oftener words come again than the topics say."""
        return repetition(self._topics, counts, n_jobs=self.n_jobs)

    @property
    def _topics(self) -> Topics:
        return Topics(self.words, self.learnt.topics.weights, self.alpha0)


def fitted_sum(words: Array, counts: Counts, n_jobs: int) -> float:
    """The sum of the Dirichlet parameters that fit documents.

    It says how mixed documents are; shares of small topics come out too large.
    """
    start = np.full(len(words), _ALPHA)
    return float(fitting_alpha(words, counts, start, n_jobs=n_jobs).sum())


def _worded(counts: Counts) -> Counts:
    """The documents that have words."""
    return counts[np.flatnonzero(np.diff(counts.indptr))]


def smoothed(topics: Topics, word_shares: Array, share: float = SMOOTHING) -> Topics:
    """The same topics with a share of the words of all documents in each: no word is impossible.

    A word of the vocabulary that no document has counts half as often as the rarest that some document has.
    """
    seen = word_shares > 0
    if seen.any() and not seen.all():
        word_shares = np.where(seen, word_shares, 0.5 * word_shares[seen].min())
        word_shares = word_shares / word_shares.sum()
    words = (1 - share) * topics.words + share * word_shares
    return Topics(words, topics.weights, topics.alpha0)
