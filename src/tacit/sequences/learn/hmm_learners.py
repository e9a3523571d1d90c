"""Hidden Markov models of symbols: their learners."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import DataError, RankError, TooExpensiveError
from tacit.messages.online_em import Schedule
from tacit.sequences.data.sequences import Sequences
from tacit.sequences.learn.hmm_task import HMMSettings, Task, frequencies, row_counts, spectrum
from tacit.sequences.model.chains import ChainTables

if TYPE_CHECKING:
    from tacit.sequences.learn.em.hmm import OnlineHmm
    from tacit.sequences.moments.ngrams import NgramCounts
    from tacit.sequences.moments.windows import WindowMoments
    from tacit.sequences.query.proper_operators import ProperOperators

Array = NDArray[np.float64]
Diagnostics = dict[str, Any]

PASSES, BATCH = 5, 100  # of stepwise EM over all sequences, and sequences of a step
MOST_JUDGED = 100_000  # positions on which starts are compared
LOOKED_AHEAD = 3  # symbols of past and future that may support more states than symbols
MOST_LOOKED_AT = 1 << 20  # moments of these


def least_states(task: Task) -> int:
    """States that longer pasts and futures support, where these are more than symbols; else 1.

    Periodic sequences need several states at once: the scores may not improve before.
    """
    from tacit.sequences.learn.spectral.hmm import supported_states
    from tacit.sequences.learn.spectral.longer_windows import longer_triples

    n, reach = task.sequences.n_symbols, task.settings.features or LOOKED_AHEAD
    too_large = n * (n * reach) ** 2 > MOST_LOOKED_AT
    if task.settings.learn != "auto" or reach == 1 or too_large or task.settings.given is not None:
        return 1
    try:
        triples = longer_triples(task.windows(reach), n)
    except DataError:  # sequences are too short
        return 1
    n_supported = supported_states(triples, reach * (n - 1) + 1)
    return n_supported if n_supported > n else 1


def check_states(n_states: int, n_symbols: int, settings: HMMSettings) -> None:
    """Raise where the symbols cannot identify `n_states` states."""
    if n_symbols == 1 and n_states > 1:
        raise RankError(
            f"n_states={n_states}, but the sequences show one symbol only, which tells no states apart; "
            f"pass n_states=1, or sequences of several symbols"
        )
    features = settings.features or 1
    most = 1 + features * (n_symbols - 1)
    indicators = settings.given is None
    if indicators and settings.learn in ("spectral", "tensor") and n_states > most:
        raise RankError(
            f'n_states={n_states} with learn="{settings.learn}" and features={features}, but pasts and '
            f"futures of {n_symbols} symbols then carry at most {most} states; pass fewer, a larger "
            f'features= for longer pasts and futures, or learn="auto"'
        )


def learn_symbols(task: Task, n_states: int) -> tuple[ChainTables | ProperOperators, Diagnostics]:
    """A model of `n_states` states, and diagnostics."""
    check_states(n_states, task.sequences.n_symbols, task.settings)
    if task.settings.learn == "spectral":
        from tacit.sequences.learn.operator_learner import learn_operators

        return learn_operators(task, n_states)
    return learn_tables(task, n_states)


def learn_tables(task: Task, n_states: int) -> tuple[ChainTables, Diagnostics]:
    """Tables of hidden states, those most visited first, and diagnostics."""
    if n_states == 1:
        return _one_state(task), {"n_steps": 1}
    learner = {"tensor": _tensor, "em": _em, "online-em": _online}.get(task.settings.learn, _auto)
    tables, diagnostics = learner(task, n_states)
    if task.settings.stationary:
        tables = replace(tables, initial=tables.stationary)
    return tables.ordered(np.argsort(-tables.stationary, kind="stable")), diagnostics


def _one_state(task: Task) -> ChainTables:
    """Independent symbols."""
    return ChainTables(np.ones(1), np.ones((1, 1)), (frequencies(task)[None],))


def _tensor(task: Task, n_states: int) -> tuple[ChainTables, Diagnostics]:
    from tacit.sequences.learn.spectral.hmm import tensor_hmm

    counts = task.counts
    if task.settings.has_windows:
        return _longer_tensor(task, n_states)
    moments = counts.window_moments()
    firsts = counts.firsts.astype(np.float64)
    tables = tensor_hmm(moments, n_states, pairs=counts.pairs, firsts=firsts)
    tables = _with_pseudo_counts(tables, counts, row_counts(task.settings))
    return tables, {"n_steps": 1, **spectrum(moments, n_states)}


def _longer_tensor(task: Task, n_states: int) -> tuple[ChainTables, Diagnostics]:
    """The most likely candidate recovered from longer pasts and futures."""
    from tacit.sequences.learn.em.hmm_search import Search, few_sequences, longer_starts
    from tacit.sequences.learn.spectral.longer_windows import longer_triples
    from tacit.sequences.query.hmm_scores import log_likelihoods

    counts, windows = task.counts, task.windows(task.reach)
    indicators = task.settings.given is None
    starts = longer_starts(windows, counts, n_states, indicators=indicators)
    if not starts:
        raise RankError(
            f"n_states={n_states} requested, but pasts and futures of {task.reach} symbols have fewer "
            f"directions in common; pass fewer, a larger features=, or more data"
        )
    rng = np.random.default_rng(task.settings.seed)
    some = few_sequences(task.sequences, MOST_JUDGED, rng, Search().longest)
    rows = row_counts(task.settings)
    candidates = [_with_pseudo_counts(tables, counts, rows) for _, tables in starts]
    scores = [float(log_likelihoods(tables, some).sum()) for tables in candidates]
    best = int(np.argmax(scores))
    diagnostics = {"n_steps": 1, "start": starts[best][0], "starts": [name for name, _ in starts]}
    if indicators:
        diagnostics |= spectrum(longer_triples(windows, counts.n_symbols), n_states)
    return candidates[best], diagnostics


def _with_pseudo_counts(
    tables: ChainTables, counts: NgramCounts, pseudo_counts: tuple[float, float, float]
) -> ChainTables:
    """The same tables with pseudo-counts, weighted by the positions in each row."""
    visits = np.maximum(counts.n_positions * tables.stationary, 1e-9)[:, None]

    def mixed(rows: Array, n_positions: Array | float, pseudo: float) -> Array:
        smoothed = n_positions * rows + pseudo / rows.shape[-1]
        return np.asarray(smoothed / smoothed.sum(axis=-1, keepdims=True))

    return ChainTables(
        mixed(tables.initial, float(max(counts.n_sequences, 1)), pseudo_counts[0]),
        mixed(tables.transitions, visits, pseudo_counts[1]),
        (mixed(tables.emit[0], visits, pseudo_counts[2]),),
    )


def _em(task: Task, n_states: int) -> tuple[ChainTables, Diagnostics]:
    from tacit.sequences.learn.em.hmm import Packed, em_restarts

    settings = task.settings
    tables, diagnostics = em_restarts(
        Packed.of(task.sequences, n_states, settings.n_jobs),
        n_restarts=settings.n_restarts,
        max_iter=settings.max_iter,
        gain=settings.tol * task.sequences.n_positions,
        pseudo_counts=row_counts(settings),
        accelerated=True,
        stationary=settings.stationary,
        random_state=settings.seed,
        progress=task.progress,
    )
    return tables, diagnostics | {
        "n_steps": sum(diagnostics["n_steps"]),
        "steps_of_starts": diagnostics["n_steps"],
    }


def _online(task: Task, n_states: int) -> tuple[ChainTables, Diagnostics]:
    from tacit.sequences.learn.em.hmm import stepwise_hmm
    from tacit.sequences.learn.em.hmm_search import Search, few_sequences, moment_starts
    from tacit.sequences.query.hmm_scores import log_likelihoods

    settings, n = task.settings, len(task.sequences.lengths)
    rng = np.random.default_rng(settings.seed)
    starts = moment_starts(task.counts, n_states, rng, Search())
    some = few_sequences(task.sequences, MOST_JUDGED, rng, Search().longest)
    name, tables = max(starts, key=lambda start: float(log_likelihoods(start[1], some).sum()))
    tables = stepwise_hmm(
        tables,
        task.sequences,
        n_passes=PASSES,
        batch=BATCH,
        pseudo_counts=row_counts(settings),
        schedule=Schedule(decay=settings.learning_rate),
        random_state=rng,
        progress=task.progress,
    )
    return tables, {"start": name, "n_steps": PASSES * -(-n // BATCH), "n_passes": PASSES}


def _auto(task: Task, n_states: int) -> tuple[ChainTables, Diagnostics]:
    from tacit.sequences.learn.em.hmm_search import Search, learn_auto

    settings = task.settings
    windows, reach = _longer_windows(task, n_states)
    search = Search.rough() if settings.rough else task.search
    grown = settings.start if isinstance(settings.start, ChainTables) else None
    tables, diagnostics = learn_auto(
        task.counts,
        task.sequences,
        n_states,
        windows=windows,
        indicators=settings.given is None,
        validation=task.validation,
        stationary=settings.stationary,
        pseudo_counts=row_counts(settings),
        tol=settings.tol,
        max_iter=settings.max_iter,
        n_jobs=settings.n_jobs,
        search=search,
        grown=grown,
        random_state=settings.seed,
        progress=task.progress,
    )
    diagnostics["features"] = reach
    if task.counts.triples.total:
        diagnostics |= spectrum(task.counts.window_moments(), n_states)
    return tables, diagnostics


def _longer_windows(task: Task, n_states: int) -> tuple[WindowMoments | None, int]:
    """Longer windows for the starts of "auto", and their reach."""
    from tacit.sequences.learn.spectral.longer_windows import enough_reach

    n_symbols = task.sequences.n_symbols
    if task.settings.features is not None:
        reach = task.settings.features
        return (task.windows(reach) if task.settings.has_windows else None), reach
    if n_states <= n_symbols:
        return None, 1
    with suppress(
        DataError, TooExpensiveError
    ):  # too short, or too much: as if nothing was known of it
        reach = enough_reach(n_states, n_symbols)
        return task.windows(reach), reach
    return None, 1


# -- chunks ---------------------------------------------------------------------------------------


def continued(
    online: OnlineHmm, sequences: Sequences, n_seen: int, settings: HMMSettings
) -> OnlineHmm:
    """Stepwise EM over one more chunk, batch by batch in the order of the chunk.

    Parameters
    ----------
    online : OnlineHmm
    sequences : Sequences
    n_seen : int
        All sequences so far, which the pseudo-counts are added to.
    settings : HMMSettings
    """
    schedule, pseudo_counts = Schedule(decay=settings.learning_rate), row_counts(settings)
    for low in range(0, len(sequences.lengths), BATCH):
        batch = sequences.take(np.arange(low, min(low + BATCH, len(sequences.lengths))))
        online = online.updated(
            batch, n_sequences=n_seen, pseudo_counts=pseudo_counts, schedule=schedule
        )
    return online
