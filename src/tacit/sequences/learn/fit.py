"""Hidden Markov models from data: the number of states, the model, and what is told of both."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.progress import Report, silent
from tacit.sequences.data.number_sequences import Series
from tacit.sequences.data.sequences import Sequences
from tacit.sequences.learn.gaussian_hmm import learn_numbers
from tacit.sequences.learn.hmm_evidence import log_probs_of
from tacit.sequences.learn.hmm_learners import HMMSettings, Task, gone_on, learn_symbols
from tacit.sequences.learn.hmm_selection import (
    PATIENCE,
    PATIENCE_OF_OPERATORS,
    Choice,
    choose_states,
    left_out,
)
from tacit.sequences.learn.spectral.hmm import supported_states
from tacit.sequences.learn.spectral.longer_windows import longer_triples
from tacit.sequences.learn.symbol_stream import Kept
from tacit.sequences.model.chains import ChainTables
from tacit.sequences.model.gaussian_hmm import GaussianChain
from tacit.sequences.moments.ngrams import NgramCounts
from tacit.sequences.moments.symbol_windows import symbol_windows

if TYPE_CHECKING:
    from tacit.sequences.learn.em.hmm import OnlineHmm
    from tacit.sequences.moments.windows import WindowMoments
    from tacit.sequences.query.proper_operators import ProperOperators

Array = NDArray[np.float64]

LOOKED_AHEAD = 3  # symbols of past and future that may show more states than there are symbols
MOST_LOOKED_AT = 1 << 20  # moments of these
ROUGH = 10.0  # times `tol` is enough while choosing


@dataclass(frozen=True, eq=False)
class FittedHMM:
    """What was learnt, and what is told of it in plain values."""

    parameters: ChainTables | GaussianChain | ProperOperators
    diagnostics: dict[str, Any]


@dataclass(frozen=True, eq=False)
class Stream:
    """What stays of sequences that went by: counts of all, a sample of them, and how far stepwise EM is."""

    counts: NgramCounts
    kept: Kept
    windows: WindowMoments | None = None  # with longer pasts and futures
    online: OnlineHmm | None = None

    @staticmethod
    def of(data: Sequences, settings: HMMSettings) -> Stream:
        """Of the first chunk."""
        counts = NgramCounts.of(data, n_jobs=settings.n_jobs)
        return Stream(counts, Kept.of(data, settings.seed), _windows(data, settings))

    def joined(self, data: Sequences, settings: HMMSettings) -> Stream:
        """With another chunk."""
        counts = self.counts + NgramCounts.of(data, n_jobs=settings.n_jobs)
        online, windows = self.online, self.windows
        if online is not None and settings.learn == "online-em":
            online = gone_on(online, data, counts.n_sequences, settings)
        more = _windows(data, settings)
        if windows is not None and more is not None:
            windows = windows + more
        return Stream(counts, self.kept.joined(data), windows, online)


def _windows(data: Sequences, settings: HMMSettings) -> WindowMoments | None:
    if settings.learn not in ("auto", "spectral", "tensor") or (settings.features or 1) == 1:
        return None
    return symbol_windows(data, settings.features or 1)


def fit_stream(
    stream: Stream, n_states: int | str, settings: HMMSettings, report: Report
) -> tuple[FittedHMM, Stream]:
    """A model of what went by, and the stream that goes on from it."""
    from tacit.sequences.learn.em.hmm import OnlineHmm

    kept, online = stream.kept.sequences, stream.online
    if settings.learn != "online-em":
        found = fit_symbols(kept, stream, None, n_states, settings, report)
        return found, replace(stream, online=None)
    if online is None or n_states not in ("auto", online.tables.n_states):
        found = fit_symbols(kept, stream, None, n_states, settings, report)
        tables = found.parameters
        assert isinstance(tables, ChainTables)
        begun = gone_on(OnlineHmm.of(tables), kept, stream.counts.n_sequences, settings)
        return found, replace(stream, online=replace(begun, tables=tables))
    counts, tables = stream.counts, online.tables
    if settings.stationary:
        tables = replace(tables, initial=tables.stationary)
    told = {
        **_sizes(counts, settings),
        "n_states": tables.n_states,
        "n_steps": online.n_batches,
        "unvisited_states": _unvisited(tables, counts.n_sequences, counts.n_positions),
    }
    return FittedHMM(tables, told), stream


def fit_symbols(
    sequences: Sequences,
    stream: Stream,
    held_out: Sequences | None,
    n_states: int | str,
    settings: HMMSettings,
    report: Report,
) -> FittedHMM:
    """A model of symbols.

    Parameters
    ----------
    sequences : Sequences
        Those that EM and choices work on.
    stream : Stream
        Counts of these, and of others that are no longer there.
    held_out : Sequences or None
        To choose by.
    n_states : int or "auto"
    settings : HMMSettings
    report : callable
    """
    counts = stream.counts
    told = _sizes(counts, settings)
    if isinstance(n_states, str):
        choice = _choose_for_symbols(sequences, held_out, settings, report)
        n_states = choice.n_states
        told["candidates"] = choice.candidates
    task = Task(sequences, settings, counts, held_out, report, stream.windows)
    learnt, more = learn_symbols(task, int(n_states))
    told |= {"n_states": int(n_states), **more}
    if isinstance(learnt, ChainTables):
        told["unvisited_states"] = _unvisited(learnt, counts.n_sequences, counts.n_positions)
    return FittedHMM(learnt, told)


def _sizes(counts: NgramCounts, settings: HMMSettings) -> dict[str, Any]:
    return {
        "learn": settings.learn,
        "n_sequences": counts.n_sequences,
        "n_positions": counts.n_positions,
        "n_symbols": counts.n_symbols,
    }


def _choose_for_symbols(
    sequences: Sequences, held_out: Sequences | None, settings: HMMSettings, report: Report
) -> Choice:
    if held_out is None:
        kept, out = (each.of(sequences) for each in left_out(sequences.ends, settings.seed))
    else:
        kept, out = sequences, held_out
    task = Task(kept, replace(settings, tol=ROUGH * settings.tol), validation=held_out)
    return choose_states(
        lambda k: learn_symbols(task, k)[0],
        lambda learnt: log_probs_of(learnt, out)[0],
        kept.n_positions,
        most=1 if kept.n_symbols == 1 else None,
        least=_shown_from_afar(kept, settings),
        patience=PATIENCE_OF_OPERATORS if settings.learn == "spectral" else PATIENCE,
        report=report,
    )


def _shown_from_afar(sequences: Sequences, settings: HMMSettings) -> int:
    """States that longer pasts and futures show, where these are more than symbols; else 1.

    Things that come round need several states at once: fewer of them may be no better than a few.
    """
    n, reach = sequences.n_symbols, settings.features or LOOKED_AHEAD
    if settings.learn != "auto" or reach == 1 or n * (n * reach) ** 2 > MOST_LOOKED_AT:
        return 1
    windows = symbol_windows(sequences, reach)
    if not windows.n_windows:
        return 1
    found = supported_states(longer_triples(windows, n), reach * (n - 1) + 1)
    return found if found > n else 1


def fit_numbers(
    series: Series,
    held_out: Series | None,
    n_states: int | str,
    settings: HMMSettings,
    report: Report,
) -> FittedHMM:
    """A model of normal numbers, see `fit_symbols`."""
    told: dict[str, Any] = {
        "learn": settings.learn,
        "n_sequences": len(series.lengths),
        "n_positions": series.n_positions,
        "n_columns": series.n_columns,
    }
    if isinstance(n_states, str):
        if held_out is None:
            kept, out = (each.of(series) for each in left_out(series.ends, settings.seed))
        else:
            kept, out = series, held_out
        quick = replace(settings, tol=ROUGH * settings.tol)
        choice = choose_states(
            lambda k: learn_numbers(kept, k, quick, silent)[0],
            lambda learnt: log_probs_of(learnt, out)[0],
            kept.n_positions,
            report=report,
        )
        n_states = choice.n_states
        told["candidates"] = choice.candidates
    found, more = learn_numbers(series, int(n_states), settings, report)
    found = found.ordered(np.argsort(-found.stationary, kind="stable"))
    told |= {"n_states": int(n_states), **more}
    told["unvisited_states"] = _unvisited(found, len(series.lengths), series.n_positions)
    return FittedHMM(found, told)


def _unvisited(
    learnt: ChainTables | GaussianChain, n_sequences: int, n_positions: int
) -> list[int]:
    """States that less than half a position is expected to be in."""
    length = int(np.clip(n_positions / max(n_sequences, 1), 1, 1000))
    state, visits = learnt.initial, np.zeros(learnt.n_states)
    for _ in range(length):
        visits += state
        state = state @ learnt.transitions
    return np.flatnonzero(visits / length * n_positions < 0.5).tolist()
