"""Topics made better: collapsed variational steps of order zero, all documents at once.

A step shares each document's words out among topics, and gathers the topics from all words. It is that of
CVB0 (Asuncion, Welling, Smyth and Teh 2009) with each word's own share left in, which makes it EM for the
mode under Dirichlet priors with parameters alpha + 1 and eta + 1: the objective never falls. On the
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

_FEW = 64  # documents or words that are no work for a thread
_LEAST, _RARE = 1e-30, 1e-12


@dataclass(frozen=True, slots=True)
class TopicSteps:
    """How many steps are taken, and with which priors. Chosen on the Associated Press documents."""

    n_steps: int = 10
    n_inner: int = 3  # times that each document is shared out in a step
    n_first: int = 10  # the same where documents start from equal shares
    alpha: float = 0.01  # words that each document has of each topic beforehand; more blurs topics
    eta: float = 0.1  # times that each topic has used each word beforehand
    smoothing: float = 0.1  # of the words of all documents in each topic, before the first step
    tolerance: float = (
        0.0  # gain of the objective, per word of the documents, with which it is over
    )


@dataclass(frozen=True, slots=True, eq=False)
class PolishedTopics:
    """Topics after some steps."""

    words: Array  # (topic, word)
    weights: Array  # (topic,)  the share of all words that is of each topic
    places: NDArray[np.int64]  # (topic,)  which of the topics given each of them was
    trace: tuple[float, ...]  # the objective per word of the documents at each step
    converged: bool  # whether the tolerance ended it


def polish_topics(
    batches: DocumentBatches,
    start: Array,
    steps: TopicSteps,
    *,
    single: bool = False,
    n_jobs: int = 1,
    progress: Callable[[int, float], None] | None = None,
) -> PolishedTopics:
    """Topics after some steps from given ones.

    What comes back is the same, bit for bit, with any number of threads. Each step is a pass over the
    documents; shares of documents are kept from step to step where all are in memory.

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
        kind = _SingleWork if single else _Work
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
            words = sums / np.maximum(sums.sum(axis=0, dtype=np.float64), _LEAST).astype(np.float32)
            weights = heights / max(heights.sum(), _LEAST)
            trace.append(objective / max(source.n_tokens, 1.0))
            if progress is not None:
                progress(len(trace), trace[-1])
            converged = len(trace) > 1 and trace[-1] - trace[-2] < steps.tolerance
    order = np.argsort(-weights, kind="stable")
    rows = np.array(words.T[order], dtype=np.float64)
    rows /= rows.sum(axis=1, keepdims=True)
    return PolishedTopics(rows, weights[order], order, tuple(trace), converged)


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
        shares = np.maximum(mixtures * (lengths + alpha.sum())[:, None] - alpha, 0.0)
        for _ in range(10):
            tops = np.zeros(len(alpha))
            bottom = dirichlet_slopes(shares, lengths, alpha, tops)
            if not bottom > 0:
                return alpha
            alpha = np.maximum(alpha * tops / bottom, 1e-6)
    return alpha


def random_topics(batches: DocumentBatches, n_topics: int, random_state: int) -> Array:
    """(topic, word) probabilities that differ by chance from those of all documents."""
    rng = np.random.default_rng(random_state)
    totals = _Source(batches, lambda counts: counts).totals()
    drawn = rng.exponential(size=(n_topics, len(totals))) * totals
    return np.asarray(drawn / np.maximum(drawn.sum(axis=1, keepdims=True), _LEAST))


def _smoothed(start: Array, totals: Array, share: float) -> Singles:
    """(word, topic) word probabilities mixed with those of all documents."""
    mixed = (1 - share) * start + share * totals / max(totals.sum(), _LEAST)
    # Words that never occur have logarithms, too.
    return np.ascontiguousarray(np.maximum(mixed, _RARE).T, dtype=np.float32)


class _Source:
    """Documents, and the work on each batch of them, which is kept where they are one batch."""

    def __init__(self, batches: DocumentBatches, make: Callable[[Counts], Any]) -> None:
        self.batches, self.make = batches, make
        self.kept: Any = None
        self.n_tokens = 0.0

    def totals(self) -> Array:
        """(word,) how often each word occurs."""
        totals = np.zeros(self.batches.n_words)
        for counts in self.batches:
            totals += np.bincount(counts.indices, counts.data, minlength=len(totals))
        self.n_tokens = float(totals.sum())
        return totals

    def step(self, words: Singles, weights: Array) -> tuple[float, Singles, Array]:
        """The objective without the prior of topics, uses of each word by each topic, those of topics."""
        found: list[tuple[float, Singles, Array]] = []
        for work in self._works():
            one = work.step(words, weights)
            if found:
                before = found.pop()
                one = before[0] + one[0], before[1] + one[1], before[2] + one[2]
            found.append(one)
        return found[0]

    def _works(self) -> Iterable[Any]:
        if self.kept is not None:
            return [self.kept]
        if self.batches.in_memory:
            self.kept = self.make(next(iter(self.batches)))
            return [self.kept]
        return map(self.make, self.batches)


class _Work:
    """Documents that are shared out among topics, and how far that has come."""

    def __init__(
        self, counts: Counts, n_topics: int, steps: TopicSteps, pool: Any, n_jobs: int
    ) -> None:
        self.starts, self.ids = counts.indptr, counts.indices
        self.counts: Singles = counts.data.astype(np.float32)
        self.lengths = np.asarray(counts.sum(axis=1), dtype=np.float64).ravel()
        self.alpha = np.full(n_topics, steps.alpha, dtype=np.float32)
        self.shares: Singles = np.empty((len(self.lengths), n_topics), dtype=np.float32)
        self.shares[:] = (self.lengths / n_topics)[:, None]
        self.used, self.ratios = np.empty_like(self.shares), np.empty_like(self.counts)
        self.columns = _columns(counts)
        self.steps, self.pool, self.n_jobs = steps, pool, n_jobs
        self.begun = False
        # Many small pieces, the same for any number of threads: sums over them have one order.
        self.document_cuts, self.word_cuts = _cuts(self.starts), _cuts(self.columns[0])

    def step(self, words: Singles, weights: Array) -> tuple[float, Singles, Array]:
        """See `_Source.step`; weights of topics are not used here."""
        from tacit.topics.loops.topics import gather_words, share_documents

        n_inner = self.steps.n_inner if self.begun else self.steps.n_first
        self.begun = True
        sums = np.empty(words.shape, dtype=np.float32)

        def share(first: int, stop: int) -> float:
            rows = self.starts, self.ids, self.counts
            kept = self.shares, self.used, self.ratios
            return float(share_documents(*rows, words, self.alpha, n_inner, first, stop, *kept))

        def gather(first: int, stop: int) -> None:
            gather_words(*self.columns, self.used, self.ratios, words, first, stop, sums)

        log_likelihood = sum(self._all(share, self.document_cuts))
        self._all(gather, self.word_cuts)
        return log_likelihood + self._log_shares(), sums, sums.sum(axis=0, dtype=np.float64)

    def _log_shares(self) -> float:
        """What the prior and the totals of documents add to the objective."""
        alpha = self.steps.alpha
        totals = np.log(np.maximum(self.lengths + alpha * len(self.alpha), _LEAST))
        known = -float(self.lengths @ totals)
        if alpha > 0:
            logs = np.log(self.used).sum(axis=1, dtype=np.float64)
            known += alpha * float((logs - len(self.alpha) * totals).sum())
        return known

    def _all(self, work: Callable[[int, int], Any], cuts: list[int]) -> list[Any]:
        if self.n_jobs == 1:
            return [work(*pair) for pair in pairwise(cuts)]
        return list(self.pool.map(lambda pair: work(*pair), pairwise(cuts)))


class _SingleWork:
    """Documents that have one topic each."""

    def __init__(
        self, counts: Counts, n_topics: int, steps: TopicSteps, pool: Any, n_jobs: int
    ) -> None:
        self.counts = counts.astype(np.float64)

    def step(self, words: Singles, weights: Array) -> tuple[float, Singles, Array]:
        """See `_Source.step`."""
        logs = self.counts @ np.log(np.maximum(words, _LEAST)).astype(np.float64)
        logs += np.log(np.maximum(weights, _LEAST))
        top = logs.max(axis=1, keepdims=True)
        shares = np.exp(logs - top)
        totals = shares.sum(axis=1, keepdims=True)
        shares /= totals
        sums = np.asarray(self.counts.T @ shares, dtype=np.float32)
        return float((top + np.log(totals)).sum()), sums, shares.sum(axis=0)


def _columns(counts: Counts) -> tuple[Any, Any, Any]:
    """Where each word occurs: starts, documents, and the place of each occurrence in the rows."""
    from scipy.sparse import csr_array

    places = np.arange(len(counts.data), dtype=np.int32 if len(counts.data) < 2**31 else np.int64)
    turned = csr_array((places, counts.indices, counts.indptr), shape=counts.shape).tocsc()
    return turned.indptr, turned.indices, turned.data


def _cuts(starts: Any) -> list[int]:
    """Where to cut rows so that each piece has about as many entries."""
    n_rows = len(starts) - 1
    n_pieces = max(min(16, n_rows // _FEW), 1)
    inner = np.searchsorted(starts, np.linspace(0, starts[-1], n_pieces + 1)[1:-1])
    return sorted({0, *(int(cut) for cut in inner), n_rows})
