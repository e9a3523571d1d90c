"""What `partial_fit` keeps: counts, and a random sample that does not depend on the chunks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tacit.errors import DataError
from tacit.sequences.data.sequences import Sequences
from tacit.sequences.learn.fit import FittedHMM, fit_hmm, unvisited
from tacit.sequences.learn.hmm_learners import continued
from tacit.sequences.learn.hmm_task import head_counts, windows_of_symbols
from tacit.sequences.moments.ngrams import NgramCounts

if TYPE_CHECKING:
    from tacit.core.progress import Report
    from tacit.sequences.emissions.protocol import Emission
    from tacit.sequences.learn.em.hmm import OnlineHmm
    from tacit.sequences.learn.hmm_task import HMMSettings
    from tacit.sequences.moments.windows import WindowMoments

Integers = NDArray[np.int64]

MOST_POSITIONS = 1 << 20  # of the sample
_OTHER_WINDOWS = (
    "the two models counted different windows of symbols; give both the same learn=, features= and "
    "windows="
)


@dataclass(frozen=True, eq=False)
class Kept:
    """Which sequences of a stream a sample holds: their places in it, and their random numbers."""

    places: Integers  # (sequence,)
    numbers: NDArray[np.uint64]  # (sequence,)
    n_seen: int  # sequences of the stream so far

    @staticmethod
    def next(n_new: int, seed: int, n_seen: int = 0) -> Kept:
        """So many sequences that come after those seen; places count from the first of them."""
        places = np.arange(n_new)
        return Kept(places, mixed(n_seen + places, seed), n_new)

    def __add__(self, other: Kept) -> Kept:
        return Kept(
            np.concatenate([self.places, self.n_seen + other.places]),
            np.concatenate([self.numbers, other.numbers]),
            self.n_seen + other.n_seen,
        )

    def of(self, chosen: Integers) -> Kept:
        """Some of the sequences."""
        return Kept(self.places[chosen], self.numbers[chosen], self.n_seen)


@dataclass(frozen=True, eq=False)
class Sample:
    """A random sample of all sequences so far.

    Every sequence has a random number that follows from its place in the stream; those with the lowest are
    kept, up to `MOST_POSITIONS`. However the stream is cut into chunks, the same are kept. Of two streams the
    lowest of both are a random sample of all their sequences.
    """

    sequences: Sequences
    kept: Kept
    seed: int

    @staticmethod
    def of(sequences: Sequences, seed: int) -> Sample:
        """Of the first chunk."""
        empty = Sequences(np.zeros(0, np.int32), np.zeros(0, np.int64), sequences.symbols)
        return Sample(empty, Kept.next(0, seed), seed).joined(sequences)

    @property
    def places(self) -> Integers:
        """(sequence,) in the stream."""
        return self.kept.places

    @property
    def n_seen(self) -> int:
        """Sequences so far."""
        return self.kept.n_seen

    def joined(self, others: Sequences) -> Sample:
        """With another chunk, coded by the same symbols."""
        return self._with(others, Kept.next(len(others.lengths), self.seed, self.n_seen))

    def merged(self, other: Sample) -> Sample:
        """With the sample of another stream, as if that had followed this one."""
        return self._with(other.sequences, other.kept)

    def _with(self, others: Sequences, more: Kept) -> Sample:
        n_old, kept = len(self.places), self.kept + more
        lengths = np.concatenate([self.sequences.lengths, others.lengths])
        chosen = lowest(kept.numbers, lengths, MOST_POSITIONS)
        old = self.sequences.take(chosen[chosen < n_old])
        new = others.take(chosen[chosen >= n_old] - n_old) if len(chosen) < len(lengths) else others
        both = Sequences(
            np.concatenate([old.codes, new.codes]), lengths[chosen], self.sequences.symbols
        )
        return Sample(both, kept.of(chosen), self.seed)


@dataclass(frozen=True, eq=False)
class Stream:
    """Counts of all sequences so far, a sample of them, and the state of stepwise EM."""

    counts: NgramCounts
    sample: Sample
    windows: WindowMoments | None = None  # with longer pasts and futures
    online: OnlineHmm | None = None
    heads: NgramCounts | None = (
        None  # of the first three symbols of each sequence, if these are used
    )

    @staticmethod
    def of(data: Sequences, settings: HMMSettings) -> Stream:
        """Of the first chunk."""
        counts = NgramCounts.of(data, n_jobs=settings.n_jobs)
        sample, windows = Sample.of(data, settings.seed), _windows(data, settings)
        return Stream(counts, sample, windows, heads=_heads(data, settings))

    @property
    def data(self) -> Sequences:
        """The sample."""
        return self.sample.sequences

    @property
    def sizes(self) -> dict[str, int]:
        """Of all sequences so far."""
        counts = self.counts
        return {
            "n_sequences": counts.n_sequences,
            "n_positions": counts.n_positions,
            "n_symbols": counts.n_symbols,
        }

    def joined(self, data: Sequences, settings: HMMSettings) -> Stream:
        """With another chunk."""
        counts = self.counts + NgramCounts.of(data, n_jobs=settings.n_jobs)
        online, windows = self.online, self.windows
        if online is not None and settings.learn == "online-em":
            online = continued(online, data, counts.n_sequences, settings)
        more = _windows(data, settings)
        if windows is not None and more is not None:
            windows = windows + more
        heads, more_heads = self.heads, _heads(data, settings)
        if heads is not None and more_heads is not None:
            heads = heads + more_heads
        return Stream(counts, self.sample.joined(data), windows, online, heads)

    def merged(self, other: Stream) -> Stream:
        """With what was kept of another stream of the same symbols.

        Raises
        ------
        DataError
            Its symbols are others, or it has no counts of windows such as these.
        """
        if other.data.symbols != self.data.symbols:
            raise DataError(
                "the two models know different symbols; give symbols= to the first partial_fit of both"
            )
        windows, heads = self.windows, self.heads
        if windows is not None:
            if other.windows is None or other.windows.triples.shape != windows.triples.shape:
                raise DataError(_OTHER_WINDOWS)
            windows = windows + other.windows
        if heads is not None:
            if other.heads is None:
                raise DataError(_OTHER_WINDOWS)
            heads = heads + other.heads
        sample = self.sample.merged(other.sample)
        return Stream(self.counts + other.counts, sample, windows, heads=heads)

    def fitted(
        self, emission: Emission, n_states: int | str, settings: HMMSettings, report: Report
    ) -> tuple[FittedHMM, Stream]:
        """A model of all sequences so far, and the stream to continue from."""
        from tacit.sequences.learn.em.hmm import OnlineHmm

        before = self.online
        stepwise = settings.learn == "online-em"
        if stepwise and before is not None and n_states in ("auto", before.tables.n_states):
            return self._continued(before, settings), self
        fit = fit_hmm(emission, self.data, self, None, n_states, settings, report)
        if not stepwise:
            return fit, replace(self, online=None)
        tables = fit.parameters
        online = continued(OnlineHmm.of(tables), self.data, self.counts.n_sequences, settings)
        return fit, replace(self, online=replace(online, tables=tables))

    def _continued(self, online: OnlineHmm, settings: HMMSettings) -> FittedHMM:
        """The current model of stepwise EM."""
        tables = online.tables
        if settings.stationary:
            tables = replace(tables, initial=tables.stationary)
        diagnostics = {
            "learn": settings.learn,
            **self.sizes,
            "n_states": tables.n_states,
            "n_steps": online.n_batches,
            "unvisited_states": unvisited(tables, self.sizes),
        }
        return FittedHMM(tables, diagnostics)


def _windows(data: Sequences, settings: HMMSettings) -> WindowMoments | None:
    if settings.learn not in ("auto", "spectral", "tensor") or not settings.has_windows:
        return None
    return windows_of_symbols(data, settings.features or 1, settings.given)


def _heads(data: Sequences, settings: HMMSettings) -> NgramCounts | None:
    is_used = settings.preset == "printed" and settings.windows == "first"
    return head_counts(data) if is_used else None


def lowest(numbers: NDArray[np.uint64], lengths: Integers, most: int) -> Integers:
    """The sequences with the lowest numbers, of at most `most` positions together; in their order."""
    every = np.arange(len(numbers))
    total = int(lengths.sum())
    if total <= most:
        return every
    # Only a part needs to be sorted: a few more than the lowest that fit.
    few = every[numbers < np.uint64(int(2**64 * min(1.3 * most / total, 0.999)))]
    if int(lengths[few].sum()) < most:
        few = every
    order = few[np.argsort(numbers[few], kind="stable")]
    fits = np.cumsum(lengths[order]) <= most
    fits[0] = True
    return np.sort(order[fits])


def mixed(places: Integers, seed: int) -> NDArray[np.uint64]:
    """Pseudo-random numbers of 64 bits (the finaliser of splitmix64)."""
    with np.errstate(over="ignore"):
        mixed = places.astype(np.uint64) + np.uint64(1) + np.uint64(seed % 2**32) * np.uint64(2**32)
        mixed *= np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))
