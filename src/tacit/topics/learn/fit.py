"""The steps of `TopicModel.fit`: the bound on counts, the number of topics, moments, variational steps."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.limits import check_memory, shown
from tacit.core.progress import Report, silent
from tacit.errors import DataError, RankError, TooExpensiveError
from tacit.topics.data.documents import Counts, DocumentBatches, Documents
from tacit.topics.learn.spectral import (
    TopicSettings,
    choose_cap,
    fitted_alpha0,
    moment_bytes,
    n_moment_passes,
    topics_by_moments,
)
from tacit.topics.learn.variational import TopicSteps, random_topics, variational_topics
from tacit.topics.model.topics import Topics
from tacit.topics.query.quality import completion_perplexity

Array = NDArray[np.float64]

CANDIDATES = (5, 10, 20, 40, 80, 160)  # numbers of topics that "auto" compares
_FEWER = (4, 3, 2, 1)  # the candidates of documents that do not determine five topics
_FOLD = 5  # every fifth document is held out
_EM_STEPS, _EM_TOLERANCE = 200, 1e-4  # of random starts
_STEP_BYTES = (
    48  # of each word of a topic: probabilities, their logarithms and counts, before and after
)


@dataclass(frozen=True, slots=True, eq=False)
class LearntModel:
    """What `TopicModel.fit` keeps."""

    topics: Topics
    word_probabilities: Array  # (word,)  relative frequencies in all documents
    diagnostics: dict[str, Any]


def learn_topics(
    batches: DocumentBatches, settings: TopicSettings, report: Report = silent
) -> LearntModel:
    """Topics of documents: choose the bound on counts and the number of topics, then learn."""
    _check_size(batches, settings.n_topics)
    if settings.n_topics is not None:
        _check_memory(batches.n_words, settings.n_topics, settings)
    if settings.learn != "em":
        settings = choose_cap(batches, settings)
    batches = _CountedBatches(batches)
    perplexities: dict[int, float] = {}
    if settings.n_topics is None:
        perplexities = _held_out_perplexities(batches, settings, report)
        topics, course = _learn_best(batches, perplexities, settings, report)
    else:
        topics, course = _learn(batches, settings.n_topics, settings, report)
    lengths = np.concatenate(batches.lengths)
    diagnostics = {
        "learn": settings.learn,
        "cap": settings.weighting.cap,
        "n_topics": topics.n_topics,
        "n_documents": len(lengths),
        "n_empty": int((lengths == 0).sum()),
        "n_short": int((lengths < 3).sum()),  # have no triples of words
        "n_words": batches.n_words,
        "n_tokens": int(lengths.sum()),
        "n_passes": batches.n_passes,
        **course,
    }
    if perplexities:
        diagnostics["perplexities"] = {str(number): value for number, value in perplexities.items()}
    return LearntModel(topics, batches.totals / batches.totals.sum(), diagnostics)


def _check_size(batches: DocumentBatches, n_topics: int | None) -> None:
    """Refuse documents that cannot have several topics."""
    n_words, n_documents = batches.n_words, batches.n_documents
    if n_words < 2:
        shape = "" if n_documents is None else f" (shape=({n_documents}, {n_words}))"
        raise DataError(
            f"the documents have {n_words} feature(s){shape} while a minimum of 2 is required: topics differ "
            f"in the words that they use"
        )
    if n_documents == 1 and n_topics != 1:
        raise RankError(
            "one document (n_samples=1) determines one topic only; give n_topics=1, or more documents"
        )


def _check_memory(n_words: int, n_topics: int, settings: TopicSettings) -> None:
    """Refuse more topics than fit memory."""
    steps = _STEP_BYTES * n_words * n_topics if settings.learn != "moments" else 0
    check_memory(
        f"n_topics={shown(n_topics)} of {n_words} words",
        steps if settings.learn == "em" else max(steps, moment_bytes(n_words, n_topics)),
        settings.max_memory,
        'use fewer topics, or learn="em", which needs no moments',
    )


class _CountedBatches(DocumentBatches):
    """Batches whose words and lengths are counted in the first pass."""

    def __init__(self, batches: DocumentBatches) -> None:
        super().__init__(
            lambda: batches, batches.words, batches.n_documents, batches.named, batches.in_memory
        )
        if batches.n_documents is None:  # a pass was needed for the vocabulary
            self.n_passes = batches.n_passes
        self.totals = np.zeros(batches.n_words)  # (word,)
        self.lengths = [np.zeros(0, dtype=np.int64)]  # of documents, for each batch
        self.counted = False

    def __iter__(self) -> Iterator[Counts]:
        for batch in super().__iter__():
            if not self.counted:
                self.totals += np.bincount(batch.indices, batch.data, minlength=self.n_words)
                self.lengths.append(np.asarray(batch.sum(axis=1, dtype=np.int64)).ravel())
            yield batch
        if not self.counted and not self.totals.any():
            raise DataError("no document has any word; give documents with words of the vocabulary")
        self.counted = True


def _learn(
    batches: DocumentBatches, n_topics: int, settings: TopicSettings, report: Report
) -> tuple[Topics, dict[str, Any]]:
    _check_memory(batches.n_words, n_topics, settings)
    course: dict[str, Any] = {}
    n_moments = 0  # passes of moments
    if settings.learn == "em":
        start = random_topics(batches, n_topics, settings.seed)
        steps = TopicSteps(n_steps=_EM_STEPS, tolerance=_EM_TOLERANCE)
    else:
        n_moments = n_moment_passes(batches)
        n_passes = n_moments + (settings.n_steps if settings.learn == "auto" else 0)
        passes = _ReportedPasses(batches, report, n_passes)
        topics, course["moments"] = topics_by_moments(batches, passes, n_topics, settings)
        if settings.learn == "moments":
            return topics, course
        start, steps = topics.words, TopicSteps(n_steps=settings.n_steps)

    def progress(done: int, objective: float) -> None:
        report((n_moments + done) / (n_moments + steps.n_steps), f"step {done}: {objective:.4f}")

    improved = variational_topics(
        batches, start, steps, single=settings.single, n_jobs=settings.n_jobs, progress=progress
    )
    course |= {"trace": list(improved.trace), "converged": improved.converged}
    if "moments" in course:
        course["moments"] = _reordered(course["moments"], improved.order)
    alpha0 = 0.0 if settings.single else settings.alpha0
    if alpha0 is None:
        alpha0 = fitted_alpha0(improved.words, batches.sample(), settings.n_jobs)
    return Topics(improved.words, improved.weights, alpha0), course


def _reordered(report: dict[str, Any], order: NDArray[np.int64]) -> dict[str, Any]:
    """Diagnostics of moments in the order of the topics after variational steps."""
    surplus = np.isin(order, report["surplus"])
    values = np.array(report["values"])[order]
    return {**report, "values": values.tolist(), "surplus": np.flatnonzero(surplus).tolist()}


class _ReportedPasses:
    """Batches for moments, with a progress report of each pass."""

    def __init__(self, batches: DocumentBatches, report: Report, n_passes: int) -> None:
        self.batches, self.report = batches, report
        self.done, self.n_passes = 0, n_passes

    def __iter__(self) -> Iterator[Counts]:
        self.report(self.done / self.n_passes, f"moments, pass {self.done + 1}")
        self.done += 1
        return iter(self.batches)


def _learn_best(
    batches: DocumentBatches,
    perplexities: dict[int, float],
    settings: TopicSettings,
    report: Report,
) -> tuple[Topics, dict[str, Any]]:
    """Topics of all documents: of the numbers that they determine, the one with the lowest perplexity."""
    *candidates, last = sorted(perplexities, key=lambda number: perplexities[number])
    for number in candidates:
        with suppress(RankError, TooExpensiveError):
            return _learn(batches, number, settings, report)
    return _learn(batches, last, settings, report)


def _held_out_perplexities(
    batches: DocumentBatches, settings: TopicSettings, report: Report
) -> dict[int, float]:
    """Perplexity of document completion on held-out documents, by number of topics."""
    (counts,) = [*batches] if batches.in_memory else [batches.sample()]
    held_out = np.arange(counts.shape[0]) % _FOLD == _FOLD - 1
    if counts.shape[0] < 2 * _FOLD:
        raise DataError(
            f"{counts.shape[0]} documents are too few to choose the number of topics by; give n_topics, or "
            f"{2 * _FOLD} documents or more"
        )
    training, test = counts[np.flatnonzero(~held_out)], counts[np.flatnonzero(held_out)]
    names = tuple(map(str, range(counts.shape[1])))
    totals = np.bincount(training.indices, training.data, minlength=training.shape[1])
    batches = Documents(training, names, named=False).batches()

    def perplexity(number: int) -> float:
        topics, _ = _learn(batches, number, settings, silent)
        topics = topics.smoothed(totals / totals.sum())
        return completion_perplexity(topics, test, n_jobs=settings.n_jobs)

    perplexities: dict[int, float] = {}
    n_worse = 0
    for place, number in enumerate(CANDIDATES):
        report(place / len(CANDIDATES), f"{number} topics")
        try:
            perplexities[number] = perplexity(number)
        except (RankError, TooExpensiveError):
            break
        n_worse = n_worse + 1 if perplexities[number] > min(perplexities.values()) else 0
        if n_worse == 2:
            break
    for number in _FEWER if not perplexities else ():
        with suppress(RankError):
            perplexities[number] = perplexity(number)
    return perplexities
