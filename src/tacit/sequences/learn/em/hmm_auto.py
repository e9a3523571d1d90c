"""Hidden Markov models by moments, search and polish: what ``learn="auto"`` does.

Moments recover as many states as their singular values show above the noise of counting. Where that is all
of them, EM only polishes. Where it is fewer, some recovered states stand for several: they are split in a
few ways, and short climbs on few sequences tell which way leads highest. Few sequences have the same hills
as all of them as long as there are some dozen positions for each parameter, and cost a fraction. Where it is
more than wanted, random starts climb with them.
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
Told = Callable[[int, float], None]
Rows = float | tuple[float, float, float]
Start = tuple[str, ChainTables]

FEW_POSITIONS = 12_000  # models that need fewer for a first climb are small
FIRST_POSITIONS = 18_000  # of the first climbs of these


@dataclass(frozen=True, slots=True)
class Search:
    """How starts are compared before one of them is polished on all sequences.

    Chosen on models of 50 symbols and 8 states, of other seeds than the reported ones (`benchmarks/hmm.py`).
    """

    starts: int = 4  # at least, where the moments carry fewer states than wanted, or there are none
    random: int = 4  # random starts where moments show more states than wanted
    filled: bool = False  # whether there are so many starts whatever the moments show
    positions: int = 64  # of the first climbs, for each free parameter
    least_positions: int = 0  # of the first climbs, however few parameters there are
    growth: int = 3  # times as many positions for each climb after the first
    # Of each climb before the last: the most steps, and the starts that climb on.
    climbs: tuple[tuple[int, int], ...] = ((100, 3), (30, 1))
    again: bool = False  # whether they climb on before the last even where that is on all sequences
    gain: float = 5e-6  # nats per position below which a short climb ends
    longest: int = 1000  # positions of a piece of a sequence

    @staticmethod
    def usual(layout: ChainLayout) -> Search:
        """The usual search for models of some size.

        Small models, say of a few symbols, climb cheaply; but hills are many there, the more states the
        more, and which is highest shows late: after 40 steps the order of starts said nothing of where they
        end, after 120 it did; and a seventh of the positions told hills apart worse than a third. Chosen by
        training likelihood on splice junctions, on splits that are not reported.
        """
        usual = Search()
        if usual.positions * layout.n_parameters >= FEW_POSITIONS:
            return usual
        return Search(
            starts=min(max(2 * layout.n_states, 8), 16),
            filled=True,
            least_positions=FIRST_POSITIONS,
            climbs=((120, 5), (100, 2), (100, 1)),
            again=True,
        )


def learn_auto(
    counts: NgramCounts,
    sequences: Sequences,
    n_states: int,
    *,
    windows: WindowMoments | None = None,
    validation: Sequences | None = None,
    stationary: bool = False,
    pseudo_counts: Rows = (1.0, 1.0, 5.0),
    tol: float = 5e-7,
    max_iter: int = 300,
    n_jobs: int = 1,
    search: Search | None = None,
    random_state: Any = None,
    progress: Told | None = None,
) -> tuple[ChainTables, dict[str, Any]]:
    """Tables of an HMM, and how they were found.

    Parameters
    ----------
    counts : NgramCounts
        Of all sequences.
    sequences : Sequences
        Those that EM polishes on.
    n_states : int
    windows : WindowMoments, optional
        With longer pasts and futures, where windows of three do not tell so many states apart.
    validation : Sequences, optional
        Held-out sequences that choose the start, and end a climb as soon as they lose.
    stationary : bool
        Whether sequences start as the chain runs in the long run.
    pseudo_counts : float or (initial, transitions, emissions)
        Added to each row, spread evenly.
    tol : float
        Nats per position that a step of the last climb must gain.
    max_iter : int
        Most steps of the last climb.
    n_jobs : int
    search : Search, optional
    random_state : int or numpy.random.Generator, optional
    progress : callable, optional
    """
    if search is None:
        search = Search.usual(ChainLayout(n_states, (counts.n_symbols,)))
    rng = np.random.default_rng(random_state)
    settings: dict[str, Any] = {"pseudo_counts": pseudo_counts, "stationary": stationary}
    starts = moment_starts(counts, n_states, rng, search, windows)
    told: dict[str, Any] = {"starts": [name for name, _ in starts]}
    chosen, tables = starts[0]
    if len(starts) > 1:
        chosen, tables, told["n_search_steps"] = _searched(
            starts, sequences, validation, search, rng, settings
        )
    packed = Packed.of(sequences, n_states, n_jobs)
    gain = tol * packed.n_positions
    tables, em_run, _ = _climbed(
        tables, packed, validation, gain=gain, max_iter=max_iter, progress=progress, **settings
    )
    told |= {"start": chosen, "n_steps": em_run.n_steps, "objective": em_run.objective}
    return tables, told | {"converged": em_run.converged}


def moment_starts(
    counts: NgramCounts,
    n_states: int,
    rng: np.random.Generator,
    search: Search,
    windows: WindowMoments | None = None,
) -> list[Start]:
    """Starts for EM, the most promising first.

    All states recovered, or fewer and some of them split; those of longer windows; random ones besides where
    the moments do not carry the number of states.
    """
    n = counts.n_symbols
    if counts.triples.total == 0:
        return random_starts(n_states, n, rng, search.starts)
    moments = counts.window_moments()
    most = min(n_states, n)
    found = supported_states(moments, min(n_states + 2, n))
    starts = [] if windows is None else longer_starts(windows, counts, n_states)
    if found == n_states and not search.filled:
        return starts + _recovered(counts, moments, [found], n_states, rng)
    if found <= n_states:
        wanted = {found, found + 1, found + 2, most}
    else:
        # The sequences are no such chain. Recovered states are then mixtures; random starts did as well on
        # tags of words, and which way was best there changed with the number of states.
        wanted = {max(n_states // 4, 1), max(n_states // 2, 1), n_states}
    ranks = sorted(each for each in wanted if each <= most)
    starts += _recovered(counts, moments, ranks, n_states, rng)
    filled = search.filled or found < n_states
    short = search.starts - len(starts) if filled else search.random
    return starts + random_starts(n_states, n, rng, max(short, 0))


def _recovered(
    counts: NgramCounts,
    moments: TripleMoments,
    ranks: list[int],
    n_states: int,
    rng: np.random.Generator,
) -> list[Start]:
    """So many states recovered from windows of three, and split to the number wanted."""
    starts = []
    for rank in ranks:
        try:
            tables = tensor_hmm(moments, rank, pairs=counts.pairs, firsts=counts.firsts, n_steps=50)
        except RankError:
            continue
        tables = split_states(_softened(tables, counts), n_states, rng)
        starts.append((f"{rank} recovered", tables))
    return starts


def longer_starts(windows: WindowMoments, counts: NgramCounts, n_states: int) -> list[Start]:
    """All states recovered from longer pasts and futures, in several ways; none where these lack the rank."""
    n = counts.n_symbols
    found: list[ChainTables] = []
    with suppress(RankError):
        found += longer_hmms(windows, n, n_states)
    with suppress(RankError):
        own = longer_triples(windows, n)
        found.append(tensor_hmm(own, n_states, pairs=counts.pairs, firsts=counts.firsts))
    return [(f"longer {place}", _softened(each, counts)) for place, each in enumerate(found)]


def random_starts(n_states: int, n_symbols: int, rng: np.random.Generator, n: int) -> list[Start]:
    """Tables that know nothing."""
    own = [random_hmm_tables(n_states, n_symbols, each) for each in rng.spawn(n)]
    return [(f"random {place}", tables) for place, tables in enumerate(own)]


def _softened(tables: ChainTables, counts: NgramCounts, share: float = 1e-3) -> ChainTables:
    """Tables without zeros, which EM could not leave."""
    k = tables.n_states
    common = (counts.singles + 0.5) / (counts.singles + 0.5).sum()
    emit = (1 - share) * tables.emit[0] + share * common
    start, transitions = (
        (1 - share) * each + share / k for each in (tables.initial, tables.transitions)
    )
    return ChainTables(start, transitions, (emit,))


def _searched(
    starts: list[Start],
    sequences: Sequences,
    validation: Sequences | None,
    search: Search,
    rng: np.random.Generator,
    settings: dict[str, Any],
) -> tuple[str, ChainTables, int]:
    """The start that climbs highest on few sequences, where it came to, and the steps of all."""
    k, n = starts[0][1].n_states, sequences.n_symbols
    size = max(search.positions * ChainLayout(k, (n,)).n_parameters, search.least_positions)
    n_steps = 0
    for steps, kept in search.climbs:
        if n_steps and size >= sequences.n_positions and not search.again:
            break  # the last climb will do
        packed = Packed.of(few_sequences(sequences, size, rng, search.longest), k)
        gain = search.gain * packed.n_positions
        climbs: list[tuple[float, str, ChainTables]] = []
        for name, tables in starts:
            better, em_run, score = _climbed(
                tables, packed, validation, gain=gain, max_iter=steps, **settings
            )
            climbs.append((score, name, better))
            n_steps += em_run.n_steps
        climbs.sort(key=lambda each: -each[0])
        starts = [(name, tables) for _, name, tables in climbs[:kept]]
        size *= search.growth
    return *starts[0], n_steps


def few_sequences(
    sequences: Sequences, n_positions: int, rng: np.random.Generator, longest: int
) -> Sequences:
    """Some of the sequences, drawn at random, with about so many positions; long ones in pieces."""
    if sequences.n_positions <= n_positions:
        return sequences
    whole, rest = np.divmod(sequences.lengths, longest)
    n_pieces = np.maximum(whole + (rest > 0), 1)
    lengths = np.full(int(n_pieces.sum()), longest)
    last = np.cumsum(n_pieces) - 1
    lengths[last] = sequences.lengths - (n_pieces - 1) * longest
    pieces = Sequences(sequences.codes, lengths, sequences.symbols)
    order = rng.permutation(len(lengths))
    enough = int(np.searchsorted(np.cumsum(lengths[order]), n_positions)) + 1
    return pieces.take(np.sort(order[:enough]))


def _climbed(
    tables: ChainTables,
    packed: Packed,
    validation: Sequences | None,
    *,
    gain: float,
    max_iter: int,
    every: int = 10,
    **settings: Any,
) -> tuple[ChainTables, EMRun, float]:
    """Where a climb leads, and its objective.

    With held-out sequences it goes on, in stretches, as long as they gain; then their score is returned.
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
        found = float(log_likelihoods(tables, validation).sum())
        lost = found <= score
        if not lost:
            best, score = tables, found
        if lost or em_run.converged or done >= max_iter:
            ended = lost or em_run.converged
            return best, EMRun(best.flat, em_run.objective, done, ended, em_run.trace), score
