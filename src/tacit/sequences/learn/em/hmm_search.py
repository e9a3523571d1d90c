"""Hidden Markov models from several starts, compared by short runs of EM: what ``learn="auto"`` does.

Moments recover as many states as singular values stand above the noise of counting. Where that is all of
them, EM only polishes. Where it is fewer, some recovered states stand for several: they are split at random,
and short runs of EM on few sequences select the best start. Few sequences have the same local maxima as all
of them as long as there are some dozen positions for each parameter, and cost a fraction. Where it is more
than `n_states`, random starts are compared with them.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.em import EMRun
from tacit.errors import RankError
from tacit.sequences.data.sequences import Sequences
from tacit.sequences.learn.em.hmm import Packed, polished_hmm, random_hmm_tables
from tacit.sequences.learn.spectral.hmm import split_states, supported_states, tensor_hmm
from tacit.sequences.learn.spectral.longer_windows import longer_hmms, longer_triples
from tacit.sequences.model.chains import ChainLayout, ChainTables
from tacit.sequences.moments.ngrams import NgramCounts, TripleMoments
from tacit.sequences.moments.windows import WindowMoments
from tacit.sequences.query.hmm_scores import log_likelihoods

Array = NDArray[np.float64]
Progress = Callable[[int, float], None]
Rows = float | tuple[float, float, float]
Start = tuple[str, ChainTables]

FEW_POSITIONS = 12_000  # models that need fewer in the first round are small
FIRST_POSITIONS = 18_000  # of the first round of these
# Most steps on all sequences from a grown model alone, which EM has improved already.
GROWN_STEPS = 100


@dataclass(frozen=True, slots=True)
class Search:
    """How starts are compared before one of them is polished on all sequences.

    Chosen on models of 50 symbols and 8 states, of other seeds than the reported ones (`benchmarks/hmm.py`).
    """

    starts: int = (
        4  # at least, where moments support fewer states than `n_states`, or there are none
    )
    random: int = 4  # random starts where moments support more states than `n_states`
    filled: bool = False  # whether there are always at least `starts` of them
    positions: int = 64  # of the first round, for each free parameter
    least_positions: int = 0  # of the first round, however few parameters there are
    growth: int = 3  # factor of positions from one round to the next
    # Of each round before EM on all sequences: the most steps, and the starts that go on.
    rounds: tuple[tuple[int, int], ...] = ((100, 3), (30, 1))
    again: bool = False  # whether all rounds are run even where one already has all sequences
    gain: float = 5e-6  # nats per position below which EM of a round ends
    longest: int = 1000  # positions of a piece of a sequence

    @staticmethod
    def rough() -> Search:
        """The search of fits that select the number of states."""
        return Search(random=2, filled=True, least_positions=FIRST_POSITIONS, rounds=((15, 1),))

    @staticmethod
    def usual(layout: ChainLayout) -> Search:
        """The default search for models of some size.

        EM on small models, say of a few symbols, is cheap; but local maxima are many, more with more states,
        and which is highest shows late: after 40 steps the order of starts said nothing of where they end,
        after 120 it did; and a seventh of the positions ranked the maxima worse than a third. Chosen by
        training likelihood on splice junctions, on splits that are not reported.
        """
        usual = Search()
        if usual.positions * layout.n_parameters >= FEW_POSITIONS:
            return usual
        return Search(
            starts=min(max(2 * layout.n_states, 8), 16),
            filled=True,
            least_positions=FIRST_POSITIONS,
            rounds=((120, 5), (100, 2), (100, 1)),
            again=True,
        )


def learn_auto(
    counts: NgramCounts,
    sequences: Sequences,
    n_states: int,
    *,
    windows: WindowMoments | None = None,
    indicators: bool = True,
    validation: Sequences | None = None,
    stationary: bool = False,
    pseudo_counts: Rows = (1.0, 1.0, 5.0),
    tol: float = 5e-7,
    max_iter: int = 300,
    n_jobs: int = 1,
    search: Search | None = None,
    grown: ChainTables | None = None,
    random_state: Any = None,
    progress: Progress | None = None,
) -> tuple[ChainTables, dict[str, Any]]:
    """Tables of an HMM, and diagnostics.

    Parameters
    ----------
    counts : NgramCounts
        Of all sequences.
    sequences : Sequences
        Those that EM runs on.
    n_states : int
    windows : WindowMoments, optional
        With longer pasts and futures, where windows of three do not identify `n_states` states.
    indicators : bool
        Whether features of the windows are indicators of symbols.
    validation : Sequences, optional
        Held-out sequences that select the start, and end EM as soon as their likelihood falls.
    stationary : bool
        Whether initial probabilities are the stationary ones.
    pseudo_counts : float or (initial, transitions, emissions)
        Added to each row, spread evenly.
    tol : float
        Nats per position that a step on all sequences must gain.
    max_iter : int
        Most steps on all sequences.
    n_jobs : int
    search : Search, optional
    grown : ChainTables, optional
        One more start, which is of many more steps of EM than the others. With more states than symbols, in
        models that are not small, it is the only one.
    random_state : int or numpy.random.Generator, optional
    progress : callable, optional
    """
    packed = Packed.of(sequences, n_states, n_jobs)
    search = search or Search.usual(packed.layout)
    rng = np.random.default_rng(random_state)
    settings: dict[str, Any] = {"pseudo_counts": pseudo_counts, "stationary": stationary}
    starts = [] if grown is None else [("grown", grown)]
    if grown is None or search.filled or n_states <= counts.n_symbols:
        starts += moment_starts(counts, n_states, rng, search, windows, indicators=indicators)
    diagnostics: dict[str, Any] = {"starts": [name for name, _ in starts]}
    name, tables = starts[0]
    if len(starts) > 1:
        name, tables, diagnostics["n_search_steps"] = _best_start(
            starts, sequences, validation, search, rng, settings
        )
    if [name for name, _ in starts] == ["grown"]:
        max_iter = min(max_iter, GROWN_STEPS)
    gain = tol * packed.n_positions
    tables, em_run, _ = _em_run(
        tables, packed, validation, gain=gain, max_iter=max_iter, progress=progress, **settings
    )
    diagnostics |= {"start": name, "n_steps": em_run.n_steps, "objective": em_run.objective}
    return tables, diagnostics | {"converged": em_run.converged}


def moment_starts(
    counts: NgramCounts,
    n_states: int,
    rng: np.random.Generator,
    search: Search,
    windows: WindowMoments | None = None,
    *,
    indicators: bool = True,
) -> list[Start]:
    """Starts for EM, the most promising first.

    All states recovered, or fewer and some of them split; those of longer windows; random ones as well where
    the moments do not support the number of states.
    """
    n = counts.n_symbols
    if counts.triples.total == 0:
        return random_starts(n_states, n, rng, search.starts)
    moments = counts.window_moments()
    most = min(n_states, n)
    n_supported = supported_states(moments, min(n_states + 2, n))
    starts = []
    if windows is not None:
        starts = longer_starts(windows, counts, n_states, indicators=indicators)
    if n_supported == n_states and not search.filled:
        return starts + _recovered(counts, moments, [n_supported], n_states, rng)
    if n_supported <= n_states:
        candidates = {n_supported, n_supported + 1, n_supported + 2, most}
    else:
        # The sequences are no such chain. Recovered states are then mixtures; random starts did as well on
        # tags of words, and which rank was best there changed with the number of states.
        candidates = {max(n_states // 4, 1), max(n_states // 2, 1), n_states}
    ranks = sorted(rank for rank in candidates if rank <= most)
    starts += _recovered(counts, moments, ranks, n_states, rng)
    filled = search.filled or n_supported < n_states
    short = search.starts - len(starts) if filled else search.random
    return starts + random_starts(n_states, n, rng, max(short, 0))


def _recovered(
    counts: NgramCounts,
    moments: TripleMoments,
    ranks: list[int],
    n_states: int,
    rng: np.random.Generator,
) -> list[Start]:
    """States of each rank recovered from windows of three, and split to `n_states`."""
    starts = []
    for rank in ranks:
        try:
            tables = tensor_hmm(moments, rank, pairs=counts.pairs, firsts=counts.firsts, n_steps=50)
        except RankError:
            continue
        tables = split_states(_softened(tables, counts), n_states, rng)
        starts.append((f"{rank} recovered", tables))
    return starts


def longer_starts(
    windows: WindowMoments, counts: NgramCounts, n_states: int, *, indicators: bool = True
) -> list[Start]:
    """All states recovered from longer pasts and futures, several candidates; none if the rank is too low.

    Windows of other features than indicators of symbols give operators only, and the states of these.
    """
    n = counts.n_symbols
    candidates: list[ChainTables] = []
    with suppress(RankError):
        candidates += longer_hmms(windows, n, n_states)
    if indicators:
        with suppress(RankError):
            triples = longer_triples(windows, n)
            tables = tensor_hmm(triples, n_states, pairs=counts.pairs, firsts=counts.firsts)
            candidates.append(tables)
    return [
        (f"longer {place}", _softened(tables, counts)) for place, tables in enumerate(candidates)
    ]


def random_starts(n_states: int, n_symbols: int, rng: np.random.Generator, n: int) -> list[Start]:
    """Random tables."""
    candidates = [random_hmm_tables(n_states, n_symbols, start_rng) for start_rng in rng.spawn(n)]
    return [(f"random {place}", tables) for place, tables in enumerate(candidates)]


def _softened(tables: ChainTables, counts: NgramCounts, weight: float = 1e-3) -> ChainTables:
    """Tables without zeros, which EM would keep."""
    k = tables.n_states
    common = (counts.singles + 0.5) / (counts.singles + 0.5).sum()
    emit = (1 - weight) * tables.emit[0] + weight * common
    start, transitions = (
        (1 - weight) * rows + weight / k for rows in (tables.initial, tables.transitions)
    )
    return ChainTables(start, transitions, (emit,))


def _best_start(
    starts: list[Start],
    sequences: Sequences,
    validation: Sequences | None,
    search: Search,
    rng: np.random.Generator,
    settings: dict[str, Any],
) -> tuple[str, ChainTables, int]:
    """The best start after EM on few sequences, its tables then, and the steps of all."""
    k, n = starts[0][1].n_states, sequences.n_symbols
    size = max(search.positions * ChainLayout(k, (n,)).n_parameters, search.least_positions)
    n_steps = 0
    for steps, n_kept in search.rounds:
        if n_steps and size >= sequences.n_positions and not search.again:
            break  # EM on all sequences follows
        packed = Packed.of(few_sequences(sequences, size, rng, search.longest), k)
        gain = search.gain * packed.n_positions
        em_runs: list[tuple[float, str, ChainTables]] = []
        for name, tables in starts:
            improved, em_run, score = _em_run(
                tables, packed, validation, gain=gain, max_iter=steps, **settings
            )
            em_runs.append((score, name, improved))
            n_steps += em_run.n_steps
        em_runs.sort(key=lambda run: -run[0])
        starts = [(name, tables) for _, name, tables in em_runs[:n_kept]]
        size *= search.growth
    return *starts[0], n_steps


def few_sequences(
    sequences: Sequences, n_positions: int, rng: np.random.Generator, longest: int
) -> Sequences:
    """Sequences drawn at random, of about `n_positions` positions together; long ones in pieces."""
    if sequences.n_positions <= n_positions:
        return sequences
    n_full, remainder = np.divmod(sequences.lengths, longest)
    n_pieces = np.maximum(n_full + (remainder > 0), 1)
    lengths = np.full(int(n_pieces.sum()), longest)
    last = np.cumsum(n_pieces) - 1
    lengths[last] = sequences.lengths - (n_pieces - 1) * longest
    pieces = Sequences(sequences.codes, lengths, sequences.symbols)
    order = rng.permutation(len(lengths))
    enough = int(np.searchsorted(np.cumsum(lengths[order]), n_positions)) + 1
    return pieces.take(np.sort(order[:enough]))


def _em_run(
    tables: ChainTables,
    packed: Packed,
    validation: Sequences | None,
    *,
    gain: float,
    max_iter: int,
    every: int = 10,
    **settings: Any,
) -> tuple[ChainTables, EMRun, float]:
    """Tables after EM, and their objective.

    With held-out sequences EM goes on, `every` steps at a time, as long as their score rises; it is returned.
    """
    if validation is None:
        tables, em_run = polished_hmm(tables, packed, gain=gain, max_iter=max_iter, **settings)
        return tables, em_run, em_run.objective
    best, score = tables, float(log_likelihoods(tables, validation).sum())
    done = 0
    while True:
        steps = max(min(every, max_iter - done), 1)
        tables, em_run = polished_hmm(tables, packed, gain=gain, max_iter=steps, **settings)
        done += em_run.n_steps
        held_out_score = float(log_likelihoods(tables, validation).sum())
        lost = held_out_score <= score
        if not lost:
            best, score = tables, held_out_score
        if lost or em_run.converged or done >= max_iter:
            ended = lost or em_run.converged
            return best, EMRun(best.flat, em_run.objective, done, ended, em_run.trace), score
