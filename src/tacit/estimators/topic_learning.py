"""How topics are learnt: moments, then steps; the number of topics by documents set aside."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.data.documents import Counts, DocumentBatches, Documents
from tacit.errors import DataError, RankError
from tacit.estimators.progress import Report, silent
from tacit.evaluate.topics import completion_perplexity
from tacit.factor.topics import topic_moments
from tacit.moments.documents import DocumentMoments, Weighting
from tacit.params.topics import LearntTopics, Topics, topics_of_moments
from tacit.polish.topics import TopicSteps, fitting_alpha, polish_topics, random_topics

Array = NDArray[np.float64]

# Chosen on the Associated Press documents: the sum of Dirichlet parameters with which moments are read where
# steps follow, which learn their own.
START_ALPHA0 = 0.1
SMOOTHING = 0.01  # of the words of all documents, in each topic, where words are scored
CANDIDATES = (5, 10, 20, 40, 80, 160)  # numbers of topics that "auto" tries
_FEWER = (4, 3, 2, 1)  # and these one by one where documents do not have even the first
_SAMPLE = 2000  # documents that Dirichlet parameters are fitted to
_FEW_SAMPLED = 500  # documents that two readings of moments are compared by
_PRODUCTS, _FEW_PRODUCTS = 5, 3  # passes for pairs, of documents in memory and of others
_APART = 5  # every fifth document chooses the number of topics
_EM_STEPS, _EM_GAIN = 200, 1e-4  # of random starts: at most so many steps, each with so much gain


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


@dataclass(frozen=True, slots=True, eq=False)
class LearntModel:
    """Topics, the share of each word in all documents, and what happened."""

    topics: Topics
    word_shares: Array  # (word,)
    diagnostics: dict[str, Any]


def learn_topics(
    batches: DocumentBatches, settings: TopicSettings, report: Report = silent
) -> LearntModel:
    """Topics of documents, as the settings ask for them."""
    _check_size(batches, settings.n_topics)
    counted = _Counted(batches)
    batches = counted
    tried: dict[int, float] = {}
    if settings.n_topics is None:
        tried = _perplexities(batches, settings, report)
        topics, found = _learnt_best(batches, tried, settings, report)
    else:
        topics, found = _learnt(batches, settings.n_topics, settings, report)
    lengths = np.concatenate(counted.lengths)
    diagnostics = {
        "learn": settings.learn,
        "n_topics": topics.n_topics,
        "n_documents": len(lengths),
        "n_empty": int((lengths == 0).sum()),
        "n_short": int((lengths < 3).sum()),  # have no three words that could meet
        "n_words": batches.n_words,
        "n_tokens": int(lengths.sum()),
        "n_passes": batches.n_passes,
        **found,
    }
    if tried:
        diagnostics["perplexities"] = {str(number): value for number, value in tried.items()}
    return LearntModel(topics, counted.totals / counted.totals.sum(), diagnostics)


def _check_size(batches: DocumentBatches, n_topics: int | None) -> None:
    """Refuse what has nothing that could be told apart."""
    n_words, n_documents = batches.n_words, batches.n_documents
    if n_words < 2:
        shape = "" if n_documents is None else f" (shape=({n_documents}, {n_words}))"
        raise DataError(
            f"the documents have {n_words} feature(s){shape} while a minimum of 2 is required: topics are "
            f"told apart by the words of their vocabulary"
        )
    if n_documents == 1 and n_topics != 1:
        raise RankError(
            "one document (n_samples=1) shows one topic only; give n_topics=1, or more documents"
        )


class _Counted(DocumentBatches):
    """The same batches, whose words and lengths are counted while they are read for the first time."""

    def __init__(self, batches: DocumentBatches) -> None:
        super().__init__(
            lambda: batches, batches.words, batches.n_documents, batches.named, batches.in_memory
        )
        self.n_passes = batches.n_passes
        self.totals = np.zeros(batches.n_words)  # (word,)
        self.lengths = [np.zeros(0, dtype=np.int64)]  # of documents, for each batch
        self.known = False

    def __iter__(self) -> Iterator[Counts]:
        for batch in super().__iter__():
            if not self.known:
                self.totals += np.bincount(batch.indices, batch.data, minlength=self.n_words)
                self.lengths.append(np.asarray(batch.sum(axis=1, dtype=np.int64)).ravel())
            yield batch
        if not self.known and not self.totals.any():
            raise DataError("no document has any word; give documents with words of the vocabulary")
        self.known = True


def _learnt(
    batches: DocumentBatches, n_topics: int, settings: TopicSettings, report: Report
) -> tuple[Topics, dict[str, Any]]:
    found: dict[str, Any] = {}
    before = 0  # passes of moments
    if settings.learn == "em":
        start = random_topics(batches, n_topics, settings.seed)
        steps = TopicSteps(n_steps=_EM_STEPS, tolerance=_EM_GAIN)
    else:
        before = 1 + (_PRODUCTS if batches.in_memory else _FEW_PRODUCTS)
        all_passes = before + (settings.n_steps if settings.learn == "auto" else 0)
        told = _Told(batches, report, all_passes)
        start_topics, found["moments"] = _by_moments(batches, told, n_topics, settings)
        if settings.learn == "moments":
            return start_topics, found
        start, steps = start_topics.words, TopicSteps(n_steps=settings.n_steps)
    if settings.alpha0 is not None and not settings.single:
        steps = replace(steps, alpha=settings.alpha0 / n_topics)

    def tell(done: int, objective: float) -> None:
        report((before + done) / (before + steps.n_steps), f"step {done}: {objective:.4f}")

    polished = polish_topics(
        batches, start, steps, single=settings.single, n_jobs=settings.n_jobs, progress=tell
    )
    found |= {"trace": list(polished.trace), "converged": polished.converged}
    if "moments" in found:
        found["moments"] = _reordered(found["moments"], polished.places)
    if settings.single:
        return Topics(polished.words, polished.weights, 0.0), found
    if settings.alpha0 is not None:
        return Topics(polished.words, polished.weights, settings.alpha0), found
    alpha = np.full(n_topics, steps.alpha)
    alpha = fitting_alpha(polished.words, _sample(batches), alpha, n_jobs=settings.n_jobs)
    # Their sum says how mixed documents are; shares of small topics come out too large.
    return Topics(polished.words, polished.weights, float(alpha.sum())), found


def _reordered(report: dict[str, Any], places: NDArray[np.int64]) -> dict[str, Any]:
    """What is told of each topic, in the order of topics that steps have left."""
    surplus = np.isin(places, report["surplus"])
    values = np.array(report["values"])[places]
    return {**report, "values": values.tolist(), "surplus": np.flatnonzero(surplus).tolist()}


class _Told:
    """Batches for moments: each pass over them is told."""

    def __init__(self, batches: DocumentBatches, report: Report, n_passes: int) -> None:
        self.batches, self.report = batches, report
        self.done, self.n_passes = 0, n_passes

    def __iter__(self) -> Iterator[Counts]:
        self.report(self.done / self.n_passes, f"moments, pass {self.done + 1}")
        self.done += 1
        return iter(self.batches)


def _by_moments(
    batches: DocumentBatches, told: _Told, n_topics: int, settings: TopicSettings
) -> tuple[Topics, dict[str, Any]]:
    from tacit.loops.threads import one_blas_thread

    alpha0: Any = 0.0 if settings.single else settings.alpha0
    with one_blas_thread():
        moments = topic_moments(
            DocumentMoments(told, batches.n_words, settings.weighting),
            n_topics,
            n_products=_PRODUCTS if batches.in_memory else _FEW_PRODUCTS,
            random_state=settings.seed,
        )
        read = partial(
            topics_of_moments, moments, solver=settings.solver, random_state=settings.seed
        )
        if alpha0 is None and settings.learn == "moments":
            return _better_alpha0(read, batches, settings)
        learnt = read(alpha0=START_ALPHA0 if alpha0 is None else alpha0)
    return learnt.topics, learnt.report.as_dict()


def _better_alpha0(
    read: Callable[..., LearntTopics], batches: DocumentBatches, settings: TopicSettings
) -> tuple[Topics, dict[str, Any]]:
    """Topics with the `alpha0` that the tensor says, or with a small one, whichever completes documents.

    Documents that the model describes have the tensor of some `alpha0`, and are completed best with it. Real
    ones have not: their tensors say too much.
    """
    counts = _sample(batches, _FEW_SAMPLED)
    shares = np.bincount(counts.indices, counts.data, minlength=counts.shape[1]) / counts.sum()
    tried: list[tuple[float, Topics, LearntTopics]] = []
    for alpha0 in ("auto", START_ALPHA0):
        learnt = read(alpha0=alpha0)
        topics = smoothed(learnt.topics, shares)
        start = np.full(topics.n_topics, TopicSteps().alpha)
        total = float(fitting_alpha(topics.words, counts, start, n_jobs=settings.n_jobs).sum())
        fitted = Topics(topics.words, topics.weights, total)
        perplexity = completion_perplexity(fitted, counts, n_jobs=settings.n_jobs)
        # What the tensor says is an estimate; the small number is none.
        known = learnt.topics.alpha0 if alpha0 == "auto" else total
        kept = Topics(learnt.topics.words, learnt.topics.weights, known)
        tried.append((perplexity, kept, learnt))
    _, topics, learnt = min(tried, key=lambda each: each[0])
    return topics, learnt.report.as_dict()


def _sample(batches: DocumentBatches, size: int = _SAMPLE) -> Counts:
    """Some documents from all over."""
    from scipy.sparse import vstack

    every = max((batches.n_documents or 0) // size, 1)
    parts, seen = [], 0
    for batch in batches:
        parts.append(batch[-seen % every :: every])
        seen += batch.shape[0]
    return vstack(parts, format="csr") if len(parts) > 1 else parts[0]


def smoothed(topics: Topics, word_shares: Array, share: float = SMOOTHING) -> Topics:
    """The same topics with a share of the words of all documents in each: no word is impossible.

    A word of the vocabulary that no document has counts half as often as the rarest that some document has.
    """
    seen = word_shares > 0
    if not seen.all():
        word_shares = np.where(seen, word_shares, 0.5 * word_shares[seen].min())
        word_shares = word_shares / word_shares.sum()
    words = (1 - share) * topics.words + share * word_shares
    return Topics(words, topics.weights, topics.alpha0)


def _learnt_best(
    batches: DocumentBatches, tried: dict[int, float], settings: TopicSettings, report: Report
) -> tuple[Topics, dict[str, Any]]:
    """Topics in the number of those tried with the smallest perplexity that all documents have, too."""
    *better, last = sorted(tried, key=lambda number: tried[number])
    for number in better:
        with suppress(RankError):
            return _learnt(batches, number, settings, report)
    return _learnt(batches, last, settings, report)


def _perplexities(
    batches: DocumentBatches, settings: TopicSettings, report: Report
) -> dict[int, float]:
    """How well documents that were set aside are completed with some numbers of topics."""
    (counts,) = [*batches] if batches.in_memory else [_sample(batches)]
    apart = np.arange(counts.shape[0]) % _APART == _APART - 1
    if counts.shape[0] < 2 * _APART:
        raise DataError(
            f"{counts.shape[0]} documents are too few to choose the number of topics by; give n_topics, or "
            f"{2 * _APART} documents or more"
        )
    rest, test = counts[np.flatnonzero(~apart)], counts[np.flatnonzero(apart)]
    names = tuple(map(str, range(counts.shape[1])))
    totals = np.bincount(rest.indices, rest.data, minlength=rest.shape[1])
    learning = Documents(rest, names, named=False).batches()

    def perplexity(number: int) -> float:
        topics, _ = _learnt(learning, number, settings, silent)
        usable = smoothed(topics, totals / totals.sum())
        return completion_perplexity(usable, test, n_jobs=settings.n_jobs)

    tried: dict[int, float] = {}
    worse = 0
    for place, number in enumerate(CANDIDATES):
        report(place / len(CANDIDATES), f"{number} topics")
        try:
            tried[number] = perplexity(number)
        except RankError:
            break  # more have even less to go by
        worse = worse + 1 if tried[number] > min(tried.values()) else 0
        if worse == 2:
            break
    for number in _FEWER if not tried else ():
        with suppress(RankError):
            tried[number] = perplexity(number)
    return tried
