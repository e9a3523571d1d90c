"""Collapsed variational steps of order zero (CVB0), all documents at once.

A step computes the responsibilities of topics for the words of each document, and from these the topics. It
is that of CVB0 (Asuncion, Welling, Smyth and Teh 2009) without leaving out the word itself, which makes it EM
for the mode under Dirichlet priors with parameters alpha + 1 and eta + 1: the objective never falls. On the
Associated Press documents, steps of plain variational Bayes left 1 to 3 % more perplexity.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.topics.data.documents import Counts, DocumentBatches
from tacit.topics.model.topics import Topics
from tacit.topics.query.documents import document_mixtures

Array = NDArray[np.float64]
Singles = NDArray[np.float32]

_MIN_BLOCK = 64  # documents or words of a task
_TINY, _RARE = 1e-30, 1e-12


@dataclass(frozen=True, slots=True)
class TopicSteps:
    """Number of steps and priors. Chosen on the Associated Press documents."""

    n_steps: int = 10
    n_inner: int = 3  # updates of each document in a step
    n_first: int = 10  # the same in the first step, from uniform topics
    alpha: float = 0.01  # pseudo-count of topics in documents; more blurs topics
    eta: float = 0.1  # pseudo-count of words in topics
    smoothing: float = 0.1  # of the start, by the words of all documents
    tolerance: float = 0.0  # stops below this gain of the objective per word of the documents


@dataclass(frozen=True, slots=True, eq=False)
class ImprovedTopics:
    """Topics after some steps."""

    words: Array  # (topic, word)
    weights: Array  # (topic,)  the proportion of all words
    order: NDArray[np.int64]  # (topic,)  indices into the topics of the start
    trace: tuple[float, ...]  # the objective per word of the documents at each step
    converged: bool  # whether the tolerance was reached


def variational_topics(
    batches: DocumentBatches,
    start: Array,
    steps: TopicSteps,
    *,
    single: bool = False,
    n_jobs: int = 1,
    progress: Callable[[int, float], None] | None = None,
) -> ImprovedTopics:
    """Topics after some steps from a start.

    The result is the same, bit for bit, with any number of threads. Each step is a pass over the documents;
    topics of documents are kept from step to step if all are in memory.

    Parameters
    ----------
    batches : DocumentBatches
    start : (topic, word)
        Word probabilities.
    steps : TopicSteps
    single : bool
        Whether each document has one topic: EM for a mixture of multinomials.
    n_jobs : int
        Threads.
    progress : callable, optional
        Gets the number of steps done and the objective.
    """
    with ThreadPoolExecutor(n_jobs) as pool:
        kind = _SingleDocuments if single else _MixedDocuments
        source = _Source(batches, lambda counts: kind(counts, len(start), steps, pool, n_jobs))
        words = _smoothed(start, source.totals(), steps.smoothing)
        trace: list[float] = []
        converged = False
        weights: Array = np.full(len(start), 1 / len(start))
        while len(trace) < steps.n_steps and not converged:
            objective, sums, heights = source.step(words, weights)
            if steps.eta > 0:
                objective += steps.eta * float(np.log(words).sum(dtype=np.float64))
            sums += np.float32(steps.eta)
            words = sums / np.maximum(sums.sum(axis=0, dtype=np.float64), _TINY).astype(np.float32)
            weights = heights / max(heights.sum(), _TINY)
            trace.append(objective / max(source.n_tokens, 1.0))
            if progress is not None:
                progress(len(trace), trace[-1])
            converged = len(trace) > 1 and trace[-1] - trace[-2] < steps.tolerance
    order = np.argsort(-weights, kind="stable")
    rows = np.array(words.T[order], dtype=np.float64)
    rows /= rows.sum(axis=1, keepdims=True)
    return ImprovedTopics(rows, weights[order], order, tuple(trace), converged)


def fitting_alpha(
    words: Array, counts: Counts, start: Array, *, n_rounds: int = 2, n_jobs: int = 1
) -> Array:
    """(topic,) Dirichlet parameters that fit the mixtures of documents.

    Minka's (2000) fixed point, equation 55, with the counts that variational inference expects.

    Parameters
    ----------
    words : (topic, word)
    counts : (document, word) CSR array
        A few thousand documents are enough.
    start : (topic,)
    """
    from tacit.topics.loops.topics import dirichlet_slopes

    alpha = start
    lengths = np.asarray(counts.sum(axis=1), dtype=np.float64).ravel()
    for _ in range(n_rounds):
        topics = Topics(words, alpha / alpha.sum(), float(alpha.sum()))
        mixtures = document_mixtures(topics, counts, n_steps=20, tolerance=1e-3, n_jobs=n_jobs)
        topic_counts = np.maximum(mixtures * (lengths + alpha.sum())[:, None] - alpha, 0.0)
        for _ in range(10):
            tops = np.zeros(len(alpha))
            bottom = dirichlet_slopes(topic_counts, lengths, alpha, tops)
            if not bottom > 0:
                return alpha
            alpha = np.maximum(alpha * tops / bottom, 1e-6)
    return alpha


def random_topics(batches: DocumentBatches, n_topics: int, random_state: int) -> Array:
    """(topic, word) the word probabilities of all documents with random factors."""
    rng = np.random.default_rng(random_state)
    totals = _Source(batches, lambda counts: counts).totals()
    noisy = rng.exponential(size=(n_topics, len(totals))) * totals
    return np.asarray(noisy / np.maximum(noisy.sum(axis=1, keepdims=True), _TINY))


def _smoothed(start: Array, totals: Array, amount: float) -> Singles:
    """(word, topic) word probabilities mixed with those of all documents."""
    mixed = (1 - amount) * start + amount * totals / max(totals.sum(), _TINY)
    # Words that never occur need finite logarithms.
    return np.ascontiguousarray(np.maximum(mixed, _RARE).T, dtype=np.float32)


class _Source:
    """Documents and the E-step of each batch, which is kept if there is one batch."""

    def __init__(self, batches: DocumentBatches, make: Callable[[Counts], Any]) -> None:
        self.batches, self.make = batches, make
        self.documents: Any = None
        self.n_tokens = 0.0

    def totals(self) -> Array:
        """(word,) how often each word occurs."""
        totals = np.zeros(self.batches.n_words)
        for counts in self.batches:
            totals += np.bincount(counts.indices, counts.data, minlength=len(totals))
        self.n_tokens = float(totals.sum())
        return totals

    def step(self, words: Singles, weights: Array) -> tuple[float, Singles, Array]:
        """The objective without the prior of topics, and the expected counts (word, topic) and (topic,)."""
        results = (part.step(words, weights) for part in self._parts())
        objective, sums, heights = next(results)
        for one in results:
            objective, sums, heights = objective + one[0], sums + one[1], heights + one[2]
        return objective, sums, heights

    def _parts(self) -> Iterable[Any]:
        if self.documents is not None:
            return [self.documents]
        if self.batches.in_memory:
            self.documents = self.make(next(iter(self.batches)))
            return [self.documents]
        return map(self.make, self.batches)


class _MixedDocuments:
    """The E-step of documents that mix topics."""

    def __init__(
        self, counts: Counts, n_topics: int, steps: TopicSteps, pool: Any, n_jobs: int
    ) -> None:
        self.starts, self.ids = counts.indptr, counts.indices
        self.counts: Singles = counts.data.astype(np.float32)
        self.lengths = np.asarray(counts.sum(axis=1), dtype=np.float64).ravel()
        self.alpha = np.full(n_topics, steps.alpha, dtype=np.float32)
        self.topic_counts: Singles = np.empty((len(self.lengths), n_topics), dtype=np.float32)
        self.topic_counts[:] = (self.lengths / n_topics)[:, None]
        self.used, self.ratios = np.empty_like(self.topic_counts), np.empty_like(self.counts)
        self.columns = _columns(counts)
        self.steps, self.pool, self.n_jobs = steps, pool, n_jobs
        self.begun = False
        # Many small blocks, the same for any number of threads, so that sums have one order.
        self.document_cuts, self.word_cuts = _cuts(self.starts), _cuts(self.columns[0])

    def step(self, words: Singles, weights: Array) -> tuple[float, Singles, Array]:
        """See `_Source.step`; weights of topics are not used here."""
        from tacit.topics.loops.topics import count_words, update_documents

        n_inner = self.steps.n_inner if self.begun else self.steps.n_first
        self.begun = True
        sums = np.empty(words.shape, dtype=np.float32)

        def update(first: int, stop: int) -> float:
            rows = self.starts, self.ids, self.counts
            buffers = self.topic_counts, self.used, self.ratios
            return float(update_documents(*rows, words, self.alpha, n_inner, first, stop, *buffers))

        def count(first: int, stop: int) -> None:
            count_words(*self.columns, self.used, self.ratios, words, first, stop, sums)

        log_likelihood = sum(self._all(update, self.document_cuts))
        self._all(count, self.word_cuts)
        return log_likelihood + self._log_prior(), sums, sums.sum(axis=0, dtype=np.float64)

    def _log_prior(self) -> float:
        """The terms of the objective from the prior and the totals of documents."""
        alpha = self.steps.alpha
        totals = np.log(np.maximum(self.lengths + alpha * len(self.alpha), _TINY))
        terms = -float(self.lengths @ totals)
        if alpha > 0:
            logs = np.log(self.used).sum(axis=1, dtype=np.float64)
            terms += alpha * float((logs - len(self.alpha) * totals).sum())
        return terms

    def _all(self, work: Callable[[int, int], Any], cuts: list[int]) -> list[Any]:
        if self.n_jobs == 1:
            return [work(*pair) for pair in pairwise(cuts)]
        return list(self.pool.map(lambda pair: work(*pair), pairwise(cuts)))


class _SingleDocuments:
    """The E-step of documents that have one topic."""

    def __init__(
        self, counts: Counts, n_topics: int, steps: TopicSteps, pool: Any, n_jobs: int
    ) -> None:
        self.counts = counts.astype(np.float64)

    def step(self, words: Singles, weights: Array) -> tuple[float, Singles, Array]:
        """See `_Source.step`."""
        logs = self.counts @ np.log(np.maximum(words, _TINY)).astype(np.float64)
        logs += np.log(np.maximum(weights, _TINY))
        top = logs.max(axis=1, keepdims=True)
        posterior = np.exp(logs - top)
        totals = posterior.sum(axis=1, keepdims=True)
        posterior /= totals
        sums = np.asarray(self.counts.T @ posterior, dtype=np.float32)
        return float((top + np.log(totals)).sum()), sums, posterior.sum(axis=0)


def _columns(counts: Counts) -> tuple[Any, Any, Any]:
    """The counts by word: starts, documents, and the index of each entry in the rows."""
    from scipy.sparse import csr_array

    places = np.arange(len(counts.data), dtype=np.int32 if len(counts.data) < 2**31 else np.int64)
    turned = csr_array((places, counts.indices, counts.indptr), shape=counts.shape).tocsc()
    return turned.indptr, turned.indices, turned.data


def _cuts(starts: Any) -> list[int]:
    """Boundaries of blocks of rows with about equally many entries."""
    n_rows = len(starts) - 1
    n_blocks = max(min(16, n_rows // _MIN_BLOCK), 1)
    inner = np.searchsorted(starts, np.linspace(0, starts[-1], n_blocks + 1)[1:-1])
    return sorted({0, *(int(cut) for cut in inner), n_rows})
