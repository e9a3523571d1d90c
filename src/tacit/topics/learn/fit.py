"""How topics are learnt: moments, then steps; the number of topics by documents set aside."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.progress import Report, silent
from tacit.errors import DataError, RankError
from tacit.topics.data.documents import Counts, DocumentBatches, Documents
from tacit.topics.learn.moments import (
    TopicSettings,
    chosen_reading,
    fitted_sum,
    passes_of,
    smoothed,
    topics_by_moments,
)
from tacit.topics.learn.variational import TopicSteps, polish_topics, random_topics
from tacit.topics.model.topics import Topics
from tacit.topics.query.quality import completion_perplexity

Array = NDArray[np.float64]

CANDIDATES = (5, 10, 20, 40, 80, 160)  # numbers of topics that "auto" tries
_FEWER = (4, 3, 2, 1)  # and these one by one where documents do not have even the first
_APART = 5  # every fifth document chooses the number of topics
_EM_STEPS, _EM_GAIN = 200, 1e-4  # of random starts: at most so many steps, each with so much gain


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
    if settings.learn != "em":
        settings = chosen_reading(batches, settings)
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
        "cap": settings.weighting.cap,
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
        if batches.n_documents is None:  # otherwise what was read before was for something else
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
        before = passes_of(batches)
        all_passes = before + (settings.n_steps if settings.learn == "auto" else 0)
        told = _Told(batches, report, all_passes)
        start_topics, found["moments"] = topics_by_moments(batches, told, n_topics, settings)
        if settings.learn == "moments":
            return start_topics, found
        start, steps = start_topics.words, TopicSteps(n_steps=settings.n_steps)

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
    total = fitted_sum(polished.words, batches.sample(), settings.n_jobs)
    return Topics(polished.words, polished.weights, total), found


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
    (counts,) = [*batches] if batches.in_memory else [batches.sample()]
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
