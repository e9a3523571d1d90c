"""Hidden Markov models of symbols: the ways of learning them."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.progress import Report, silent
from tacit.errors import DataError, RankError, TooExpensiveError
from tacit.sequences.data.sequences import Sequences
from tacit.sequences.model.chains import ChainTables

if TYPE_CHECKING:
    from tacit.messages.repairs import Repairs
    from tacit.sequences.learn.em.hmm import OnlineHmm
    from tacit.sequences.learn.em.hmm_auto import Search
    from tacit.sequences.moments.ngrams import NgramCounts, TripleMoments
    from tacit.sequences.moments.windows import WindowMoments
    from tacit.sequences.query.proper_operators import ProperOperators

Array = NDArray[np.float64]
Told = dict[str, Any]

# Shares of the symbols' frequencies that are tried. Never none: what is cut off at zero was no certain zero.
FALLBACKS = (1e-4, 0.01, 0.03, 0.1, 0.3, 1.0)
PASSES, BATCH = 5, 100  # of stepwise EM over all sequences, and sequences of a step
USUAL_PSEUDO_COUNTS = (1.0, 1.0, 5.0)  # of each row of starts, moves and emissions
MOST_JUDGED = 100_000  # positions by which one of several ways is chosen
LOOKED_AHEAD = 3  # symbols of past and future that may show more states than there are symbols
MOST_LOOKED_AT = 1 << 20  # moments of these
USUAL_FALLBACK = 0.03  # where nothing can be left out to choose by


@dataclass(frozen=True)
class HMMSettings:
    """What was asked for, checked."""

    learn: str
    features: (
        int | None
    )  # None: more than one where there are more states than symbols, with "auto"
    covariance: str
    stationary: bool
    pseudo_counts: float | None  # of each row; None: the usual ones
    n_restarts: int
    tol: float  # nats per position
    max_iter: int
    n_jobs: int
    seed: int


@dataclass(frozen=True, eq=False)
class Task:
    """What is to be learnt from."""

    sequences: Sequences  # those that EM runs on
    settings: HMMSettings
    given_counts: NgramCounts | None = None  # of these, and of others that are no longer there
    validation: Sequences | None = None
    report: Report = silent
    given_windows: WindowMoments | None = None  # of `features`, of all sequences too
    search: Search | None = None  # how "auto" compares starts

    @cached_property
    def counts(self) -> NgramCounts:
        """Windows of symbols."""
        from tacit.sequences.moments.ngrams import NgramCounts

        if self.given_counts is not None:
            return self.given_counts
        return NgramCounts.of(self.sequences, n_jobs=self.settings.n_jobs)

    def windows(self, reach: int) -> WindowMoments:
        """Windows with longer pasts and futures.

        Raises
        ------
        DataError
            There are none.
        """
        from tacit.sequences.moments.symbol_windows import symbol_windows

        found = self.given_windows
        if found is None:
            found = symbol_windows(self.sequences, reach)
        if not found.n_windows:
            raise DataError(
                f"no {2 * reach + 1} symbols in a row were observed, as features={reach} needs; pass a "
                f"smaller features=, or longer sequences"
            )
        return found

    @property
    def reach(self) -> int:
        """Symbols of past and future that were asked for."""
        return self.settings.features or 1

    def tell(self, step: int, objective: float) -> None:
        """Report a step of EM."""
        share = min(step / max(self.settings.max_iter, 1), 1.0)
        self.report(share, f"step {step}: {objective:.1f} nats")


def states_from_afar(sequences: Sequences, settings: HMMSettings) -> int:
    """States that longer pasts and futures show, where these are more than symbols; else 1.

    Things that come round need several states at once: fewer of them may be no better than a few.
    """
    from tacit.sequences.learn.spectral.hmm import supported_states
    from tacit.sequences.learn.spectral.longer_windows import longer_triples
    from tacit.sequences.moments.symbol_windows import symbol_windows

    n, reach = sequences.n_symbols, settings.features or LOOKED_AHEAD
    if settings.learn != "auto" or reach == 1 or n * (n * reach) ** 2 > MOST_LOOKED_AT:
        return 1
    windows = symbol_windows(sequences, reach)
    if not windows.n_windows:
        return 1
    found = supported_states(longer_triples(windows, n), reach * (n - 1) + 1)
    return found if found > n else 1


def check_states(n_states: int, n_symbols: int, settings: HMMSettings) -> None:
    """Raise where the symbols cannot tell so many states apart."""
    if n_symbols == 1 and n_states > 1:
        raise RankError(
            f"n_states={n_states}, but the sequences show one symbol only, which tells no states apart; "
            f"pass n_states=1, or sequences of several symbols"
        )
    features = settings.features or 1
    most = 1 + features * (n_symbols - 1)
    if settings.learn in ("spectral", "tensor") and n_states > most:
        raise RankError(
            f'n_states={n_states} with learn="{settings.learn}" and features={features}, but pasts and '
            f"futures of {n_symbols} symbols then carry at most {most} states; pass fewer, a larger "
            f'features= for longer pasts and futures, or learn="auto"'
        )


def learn_symbols(task: Task, n_states: int) -> tuple[ChainTables | ProperOperators, Told]:
    """A model of some states, and how it came about."""
    check_states(n_states, task.sequences.n_symbols, task.settings)
    if task.settings.learn == "spectral":
        return _operators_and_fallback(task, n_states)
    return learn_tables(task, n_states)


def learn_tables(task: Task, n_states: int) -> tuple[ChainTables, Told]:
    """Tables of hidden states, those most visited first, and how they came about."""
    if n_states == 1:
        return _one_state(task), {"n_steps": 1}
    way = {"tensor": _tensor, "em": _em, "online-em": _online}.get(task.settings.learn, _auto)
    tables, told = way(task, n_states)
    if task.settings.stationary:
        tables = replace(tables, initial=tables.stationary)
    return tables.ordered(np.argsort(-tables.stationary, kind="stable")), told


def _one_state(task: Task) -> ChainTables:
    """Symbols that do not depend on each other."""
    return ChainTables(np.ones(1), np.ones((1, 1)), (_frequencies(task)[None],))


def _frequencies(task: Task) -> Array:
    """(symbol,) shares of all symbols that were seen, with the pseudo-counts of one row."""
    shares = task.counts.singles + _rows(task.settings)[2] / task.counts.n_symbols
    return np.asarray(shares / shares.sum())


def _tensor(task: Task, n_states: int) -> tuple[ChainTables, Told]:
    from tacit.sequences.learn.spectral.hmm import tensor_hmm

    counts = task.counts
    if task.reach > 1:
        return _longer_tensor(task, n_states)
    moments = counts.window_moments()
    firsts = counts.firsts.astype(np.float64)
    tables = tensor_hmm(moments, n_states, pairs=counts.pairs, firsts=firsts)
    tables = _with_pseudo_counts(tables, counts, _rows(task.settings))
    return tables, {"n_steps": 1, **_spectrum(moments, n_states)}


def _longer_tensor(task: Task, n_states: int) -> tuple[ChainTables, Told]:
    """The likeliest of several ways to recover states from longer pasts and futures."""
    from tacit.sequences.learn.em.hmm_auto import Search, few_sequences, longer_starts
    from tacit.sequences.learn.spectral.longer_windows import longer_triples
    from tacit.sequences.query.hmm_scores import log_likelihoods

    counts, windows = task.counts, task.windows(task.reach)
    starts = longer_starts(windows, counts, n_states)
    if not starts:
        raise RankError(
            f"n_states={n_states} asked for, but pasts and futures of {task.reach} symbols have fewer "
            f"directions in common; pass fewer, a larger features=, or more data"
        )
    rng = np.random.default_rng(task.settings.seed)
    some = few_sequences(task.sequences, MOST_JUDGED, rng, Search().longest)
    rows = _rows(task.settings)
    ways = [_with_pseudo_counts(tables, counts, rows) for _, tables in starts]
    logs = [float(log_likelihoods(tables, some).sum()) for tables in ways]
    best = int(np.argmax(logs))
    told = {"n_steps": 1, "start": starts[best][0], "starts": [name for name, _ in starts]}
    return ways[best], told | _spectrum(longer_triples(windows, counts.n_symbols), n_states)


def _with_pseudo_counts(
    tables: ChainTables, counts: NgramCounts, pseudo_counts: tuple[float, float, float]
) -> ChainTables:
    """The same with pseudo-counts in each row, beside the positions that stand behind it."""
    visits = np.maximum(counts.n_positions * tables.stationary, 1e-9)[:, None]

    def mixed(rows: Array, behind: Array | float, pseudo: float) -> Array:
        found = behind * rows + pseudo / rows.shape[-1]
        return np.asarray(found / found.sum(axis=-1, keepdims=True))

    return ChainTables(
        mixed(tables.initial, float(max(counts.n_sequences, 1)), pseudo_counts[0]),
        mixed(tables.transitions, visits, pseudo_counts[1]),
        (mixed(tables.emit[0], visits, pseudo_counts[2]),),
    )


def _em(task: Task, n_states: int) -> tuple[ChainTables, Told]:
    from tacit.sequences.learn.em.hmm import Packed, em_restarts

    settings = task.settings
    tables, told = em_restarts(
        Packed.of(task.sequences, n_states, settings.n_jobs),
        n_restarts=settings.n_restarts,
        max_iter=settings.max_iter,
        gain=settings.tol * task.sequences.n_positions,
        pseudo_counts=_rows(settings),
        accelerated=True,
        stationary=settings.stationary,
        random_state=settings.seed,
        progress=task.tell,
    )
    return tables, told | {"n_steps": sum(told["n_steps"]), "steps_of_starts": told["n_steps"]}


def _online(task: Task, n_states: int) -> tuple[ChainTables, Told]:
    from tacit.sequences.learn.em.hmm import stepwise_hmm
    from tacit.sequences.learn.em.hmm_auto import Search, few_sequences, moment_starts
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
        pseudo_counts=_rows(settings),
        random_state=rng,
        progress=task.tell,
    )
    return tables, {"start": name, "n_steps": PASSES * -(-n // BATCH), "n_passes": PASSES}


def _auto(task: Task, n_states: int) -> tuple[ChainTables, Told]:
    from tacit.sequences.learn.em.hmm_auto import learn_auto

    settings = task.settings
    windows, reach = _longer_windows(task, n_states)
    tables, told = learn_auto(
        task.counts,
        task.sequences,
        n_states,
        windows=windows,
        validation=task.validation,
        stationary=settings.stationary,
        pseudo_counts=_rows(settings),
        tol=settings.tol,
        max_iter=settings.max_iter,
        n_jobs=settings.n_jobs,
        search=task.search,
        random_state=settings.seed,
        progress=task.tell,
    )
    told["features"] = reach
    if task.counts.triples.total:
        told |= _spectrum(task.counts.window_moments(), n_states)
    return tables, told


def _longer_windows(task: Task, n_states: int) -> tuple[WindowMoments | None, int]:
    """Windows for "auto" to start from besides those of three, and how far they reach."""
    from tacit.sequences.learn.spectral.longer_windows import enough_reach

    n_symbols = task.sequences.n_symbols
    if task.settings.features is not None:
        reach = task.settings.features
        return (task.windows(reach) if reach > 1 else None), reach
    if n_states <= n_symbols:
        return None, 1
    with suppress(
        DataError, TooExpensiveError
    ):  # too short, or too much: as if nothing was known of it
        reach = enough_reach(n_states, n_symbols)
        return task.windows(reach), reach
    return None, 1


def _rows(settings: HMMSettings) -> tuple[float, float, float]:
    """Pseudo-counts of each row of initial, transition and emission probabilities."""
    count = settings.pseudo_counts
    return USUAL_PSEUDO_COUNTS if count is None else (count, count, count)


def _spectrum(moments: TripleMoments, n_states: int) -> Told:
    """Singular values of pairs at distance two, scaled by frequencies, and how many stand above noise."""
    from tacit.sequences.learn.spectral.hmm import shared_views, supported_states

    n_symbols = len(moments.one)
    views = shared_views(moments, min(2 * n_states + 8, n_symbols))
    return {
        "singular_values": [float(each) for each in views.values],
        "noise": float(views.noise),
        "n_supported": supported_states(moments, min(n_states, n_symbols)),
    }


# -- operators ------------------------------------------------------------------------------------


def _operators_and_fallback(task: Task, rank: int) -> tuple[ProperOperators, Told]:
    """Operators of a rank, and how much of the symbols' frequencies is mixed into what they say.

    That share is chosen by sequences that are left out, of those that are there.
    """
    from tacit.messages.repairs import Repairs
    from tacit.sequences.learn.selection import left_out

    found, told = _operators(task, rank)
    sequences, scores, repairs = task.sequences, dict[float, float](), Repairs()
    if task.validation is not None:
        scores, repairs = _fallback_scores(found, task.validation)
    elif sequences.n_positions:
        kept, out = (each.of(sequences) for each in left_out(sequences.ends, task.settings.seed))
        with suppress(DataError, RankError):  # what is kept may carry less than the whole
            tried, _ = _operators(Task(kept, task.settings), rank)
            scores, repairs = _fallback_scores(tried, out)
    fallback = max(scores, key=lambda share: (scores[share], share)) if scores else USUAL_FALLBACK
    table = [{"fallback": share, "held_out_score": score} for share, score in scores.items()]
    return replace(found, fallback=fallback), {
        "fallback": fallback,
        "candidates_fallback": table,
        "held_out_repairs": repairs.as_dict(),
        **told,
    }


def _operators(task: Task, rank: int) -> tuple[ProperOperators, Told]:
    from tacit.sequences.learn.spectral.hmm import spectral_hmm
    from tacit.sequences.learn.spectral.longer_windows import RIDGE
    from tacit.sequences.learn.spectral.operators import leading_directions, spectral_operators
    from tacit.sequences.query.proper_operators import ProperOperators

    counts = task.counts
    shares = _frequencies(task)
    if task.reach == 1:
        moments = counts.window_moments()
        operators, told = spectral_hmm(moments, rank), _spectrum(moments, rank)
    else:
        windows = task.windows(task.reach)
        directions = leading_directions(windows, 2 * rank + 8, RIDGE)
        operators = spectral_operators(windows, directions, rank, np.ones(counts.n_symbols))
        told = {"singular_values": [float(each) for each in directions.sizes]}
    if task.settings.stationary:
        operators = replace(operators, initial=operators.mean)
    return ProperOperators(operators, shares, 0.0), told


def _fallback_scores(
    found: ProperOperators, sequences: Sequences
) -> tuple[dict[float, float], Repairs]:
    """Mean log-probability of a symbol, for each share of frequencies; and what was negative."""
    codes = sequences.codes
    steps = found.step_logs(codes, sequences.lengths)
    there = codes >= 0
    if not there.any():
        return {}, steps.repairs
    told, usual = np.exp(steps.logs[there]), found.shares[codes[there]]
    scores = {
        share: float(np.log(np.maximum((1 - share) * told + share * usual, 1e-300)).mean())
        for share in FALLBACKS
    }
    return scores, steps.repairs


# -- chunks ---------------------------------------------------------------------------------------


def gone_on(
    online: OnlineHmm, sequences: Sequences, n_seen: int, settings: HMMSettings
) -> OnlineHmm:
    """Stepwise EM over one more chunk, batch by batch in the order of the chunk.

    Parameters
    ----------
    online : OnlineHmm
    sequences : Sequences
    n_seen : int
        Sequences that were seen in all, which the pseudo-counts are weighed against.
    settings : HMMSettings
    """
    for low in range(0, len(sequences.lengths), BATCH):
        batch = sequences.take(np.arange(low, min(low + BATCH, len(sequences.lengths))))
        online = online.updated(batch, n_sequences=n_seen, pseudo_counts=_rows(settings))
    return online
