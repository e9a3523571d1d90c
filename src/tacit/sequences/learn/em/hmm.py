"""EM on hidden Markov models of symbols: full and accelerated steps, restarts, steps by small batches."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.em import AbsoluteGain, EMRun, Step, run_accelerated_em, run_em
from tacit.messages.online_em import Schedule
from tacit.sequences.data.sequences import Sequences
from tacit.sequences.model.chains import ChainLayout, ChainTables
from tacit.sequences.query.hmm_scores import log_likelihoods

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
Told = Callable[[int, float], None]

# Sequences too few or too unlike in length to fill lanes, or too long for them, are walked one by one.
_LEAST_FILLED = 0.1
_MOST_CELLS = 1 << 26  # of the messages of a block
_BLOCKS_APART = 32  # blocks whose counts are summed together, on one thread


@dataclass(frozen=True, eq=False)
class Packed:
    """Sequences side by side in blocks of lanes, for the compiled passes; some left to be walked alone."""

    layout: ChainLayout
    blocks: NDArray[np.int32]  # (row, lane)
    heads: Integers  # (block + 1,)
    lengths: Integers  # (block, lane)
    alone: tuple[NDArray[np.int32], ...]  # codes of sequences on their own, -1 where missing
    n_jobs: int = 1

    @staticmethod
    def of(sequences: Sequences, n_states: int, n_jobs: int = 1) -> Packed:
        """The blocks of some sequences, for models of so many states."""
        from tacit.sequences.loops.hmm import LANES

        n, lengths = sequences.n_symbols, sequences.lengths
        order = np.argsort(lengths, kind="stable")
        order = order[lengths[order] > 0]
        padded = np.full(-len(order) % LANES, -1)
        groups = np.concatenate([order, padded]).astype(np.int64).reshape(-1, LANES)
        own = np.where(groups >= 0, lengths[groups], 0)  # (block, lane)
        longest = own.max(axis=1, initial=0)
        apart = own.sum(axis=1) < _LEAST_FILLED * LANES * longest
        apart |= longest * LANES * max(n_states, 4) > _MOST_CELLS
        alone = [s for s in groups[apart].ravel().tolist() if s >= 0]
        groups, own, longest = groups[~apart], own[~apart], longest[~apart]
        heads = np.concatenate([[0], np.cumsum(longest)]).astype(np.int64)
        blocks = np.full((int(heads[-1]), LANES), n + 1, dtype=np.int32)
        block, lane = np.nonzero(groups >= 0)
        chosen = groups[block, lane]
        size = lengths[chosen]
        time = np.arange(int(size.sum())) - np.repeat(np.cumsum(size) - size, size)
        seen = sequences.codes[np.repeat(sequences.ends[chosen], size) + time]
        seen = np.where(seen < 0, n, seen)
        blocks[np.repeat(heads[block], size) + time, np.repeat(lane, size)] = seen
        ends = sequences.ends
        codes = tuple(sequences.codes[ends[s] : ends[s + 1]] for s in alone)
        return Packed(ChainLayout(n_states, (n,)), blocks, heads, own, codes, n_jobs)

    @cached_property
    def n_positions(self) -> int:
        """Positions, missing ones too."""
        return int(self.lengths.sum()) + sum(map(len, self.alone))

    @cached_property
    def n_sequences(self) -> int:
        """Sequences that are not empty."""
        return int((self.lengths > 0).sum()) + len(self.alone)

    def expect(self, values: Array, precision: Any = np.float64) -> tuple[float, Array]:
        """Log-likelihood of flat tables, and the expected count of every entry.

        The answer does not depend on the number of threads.
        """
        from tacit.sequences.loops.hmm import expect

        tables = self.layout.tables(values)
        initial, transitions, emit = _padded(tables, precision)
        marks = np.arange(0, len(self.heads) - 1, _BLOCKS_APART).tolist()

        def part(low: int) -> tuple[float, list[Array]]:
            high = min(low + _BLOCKS_APART, len(self.heads) - 1)
            counts = [np.zeros(each.shape) for each in (initial, transitions, emit)]
            where = self.blocks, self.heads, self.lengths, low, high
            return expect(*where, initial, transitions, emit, *counts), counts

        if self.n_jobs > 1:
            with ThreadPoolExecutor(self.n_jobs) as pool:
                parts = list(pool.map(part, marks))
        else:
            parts = [part(low) for low in marks]
        k, n = self.layout.n_states, self.layout.sizes[0]
        log, counts = 0.0, np.zeros(self.layout.size)
        found = self.layout.tables(counts)  # views
        for own, (starts, moved, emitted) in parts:
            log += own
            found.initial[:] += starts[:k]
            found.transitions[:] += moved[:k, :k]
            found.emit[0][:] += emitted[:n, :k].T
        found.transitions[:] *= tables.transitions
        for codes in self.alone:
            log += _expect_alone(tables, codes, found)
        return log, counts


def _padded(tables: ChainTables, precision: Any) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Tables with states that nothing leads to, up to a multiple of four, as the loops want them."""
    k, n = tables.emit[0].shape
    width = k + -k % 4
    initial, transitions = np.zeros(width, precision), np.zeros((width, width), precision)
    emit = np.zeros((n + 2, width), precision)
    initial[:k], transitions[:k, :k] = tables.initial, tables.transitions
    emit[:n, :k], emit[n, :k] = tables.emit[0].T, 1.0
    return initial, transitions, emit


def _expect_alone(tables: ChainTables, codes: NDArray[np.int32], found: ChainTables) -> float:
    """The log-likelihood of one sequence; its expected counts are added to the tables `found`."""
    from tacit.sequences.loops.forward_backward import forward_backward

    there = codes >= 0
    likelihoods = np.where(there[:, None], tables.emit[0].T[codes], 1.0)
    posterior, logs = np.empty_like(likelihoods), np.empty(len(codes))
    ends = np.array([0, len(codes)])
    transitions = np.ascontiguousarray(tables.transitions)
    forward_backward(
        tables.initial,
        transitions,
        likelihoods,
        ends,
        posterior,
        logs,
        found.initial,
        found.transitions,
    )
    n = found.emit[0].shape[1]
    for m in range(tables.n_states):
        found.emit[0][m] += np.bincount(codes[there], weights=posterior[there, m], minlength=n)
    return float(logs.sum())


def hmm_prior(layout: ChainLayout, pseudo_counts: float | tuple[float, float, float]) -> Array:
    """Pseudo-counts of every entry: so many per row of initial, transition and emission probabilities."""
    rows = pseudo_counts if isinstance(pseudo_counts, tuple) else (pseudo_counts,) * 3
    k, n = layout.n_states, layout.sizes[0]
    sizes, widths = (k, k * k, k * n), (k, k, n)
    parts = [np.full(s, r / w) for s, r, w in zip(sizes, rows, widths, strict=True)]
    return np.concatenate(parts)


def hmm_step(packed: Packed, pseudo: Array, *, stationary: bool = False) -> Step:
    """One step of EM, with pseudo-counts.

    Stationary initial probabilities follow from the transitions; these get likelier, if not the likeliest.
    """
    from tacit.core.loops.acceleration import maximise
    from tacit.sequences.learn.em.stationary import stationary_transitions

    layout = packed.layout

    def step(values: Array) -> tuple[float, Array, Array]:
        log_likelihood, counts = packed.expect(values)
        log_prior, better = maximise(counts, pseudo, values, layout.row_starts)
        if stationary:
            seen, tables = layout.tables(counts), layout.tables(better)  # views
            now = layout.tables(values).transitions
            tables.transitions[:] = stationary_transitions(seen.initial, seen.transitions, now)
            tables.initial[:] = layout.tables(better).stationary
        return log_likelihood + log_prior, better, counts

    return step


def polished_hmm(
    tables: ChainTables,
    packed: Packed,
    *,
    gain: float,
    max_iter: int,
    pseudo_counts: float | tuple[float, float, float] = 0.0,
    accelerated: bool = True,
    stationary: bool = False,
    progress: Told | None = None,
) -> tuple[ChainTables, EMRun]:
    """EM from these tables, until a step gains less than `gain` nats in all.

    Entries that are zero stay zero. Raises no warning where `max_iter` ends it: `EMRun.converged` tells.
    """
    from tacit.core.loops.acceleration import normalise

    layout = packed.layout
    step = hmm_step(packed, hmm_prior(layout, pseudo_counts), stationary=stationary)
    rule = AbsoluteGain(gain)

    def allowed(values: Array) -> Array:
        found: Array = normalise(values, layout.row_starts)
        if stationary:
            found[: layout.n_states] = layout.tables(found).stationary
        return found

    first = allowed(tables.flat)
    if accelerated:
        found = run_accelerated_em(
            step,
            first,
            rule,
            normalise=allowed,
            max_iter=max_iter,
            progress=progress,
            warn=False,
        )
    else:
        found = run_em(step, first, rule, max_iter=max_iter, progress=progress, warn=False)
    return layout.tables(found.values), found


def random_hmm_tables(n_states: int, n_symbols: int, rng: np.random.Generator) -> ChainTables:
    """Tables with rows drawn evenly from all distributions, as a start for EM."""
    initial = rng.dirichlet(np.ones(n_states))
    transitions = rng.dirichlet(np.ones(n_states), n_states)
    return ChainTables(initial, transitions, (rng.dirichlet(np.ones(n_symbols), n_states),))


def em_restarts(
    packed: Packed,
    *,
    n_restarts: int = 5,
    gain: float = 1e-2,
    max_iter: int = 300,
    pseudo_counts: float | tuple[float, float, float] = 0.0,
    accelerated: bool = False,
    stationary: bool = False,
    random_state: Any = None,
    progress: Told | None = None,
) -> tuple[ChainTables, dict[str, Any]]:
    """The best of several random starts by training likelihood, and how each of them went."""
    rng = np.random.default_rng(random_state)
    k, n = packed.layout.n_states, packed.layout.sizes[0]
    best: tuple[ChainTables, EMRun] | None = None
    climbs = []
    for own in rng.spawn(n_restarts):
        found = polished_hmm(
            random_hmm_tables(k, n, own),
            packed,
            gain=gain,
            max_iter=max_iter,
            pseudo_counts=pseudo_counts,
            accelerated=accelerated,
            stationary=stationary,
            progress=progress,
        )
        climbs.append(found[1])
        if best is None or found[1].objective > best[1].objective:
            best = found
    assert best is not None
    return best[0], {
        "objectives": [each.objective for each in climbs],
        "n_steps": [each.n_steps for each in climbs],
        "converged": [each.converged for each in climbs],
    }


@dataclass(frozen=True, eq=False)
class OnlineHmm:
    """Tables that follow a running mean of expected counts per sequence, batch by batch."""

    tables: ChainTables
    mean: Array  # flat, like the tables
    n_batches: int = 0

    @staticmethod
    def of(tables: ChainTables) -> OnlineHmm:
        """Before any batch."""
        return OnlineHmm(tables, np.zeros(tables.layout.size))

    def updated(
        self,
        sequences: Sequences,
        *,
        n_sequences: float,
        pseudo_counts: float | tuple[float, float, float] = 1.0,
        schedule: Schedule | None = None,
    ) -> OnlineHmm:
        """After one more batch.

        Parameters
        ----------
        sequences : Sequences
        n_sequences : float
            How many sequences the pseudo-counts are weighed against: those seen so far, or all.
        pseudo_counts : float
        schedule : Schedule, optional
            Step sizes of Liang and Klein (2009).
        """
        from tacit.core.loops.acceleration import normalise

        layout = self.tables.layout
        packed = Packed.of(sequences, layout.n_states)
        if packed.n_sequences == 0:
            return self
        _, counts = packed.expect(self.tables.flat)
        size = (schedule or Schedule()).size(self.n_batches) if self.n_batches else 1.0
        mean = (1 - size) * self.mean + size * counts / packed.n_sequences
        pseudo = hmm_prior(layout, pseudo_counts) / max(n_sequences, 1.0)
        return OnlineHmm(
            layout.tables(normalise(mean + pseudo, layout.row_starts)), mean, self.n_batches + 1
        )


def stepwise_hmm(
    tables: ChainTables,
    sequences: Sequences,
    *,
    n_passes: int = 5,
    batch: int = 256,
    pseudo_counts: float | tuple[float, float, float] = 1.0,
    random_state: Any = None,
    progress: Told | None = None,
) -> ChainTables:
    """Stepwise EM: passes over the sequences in small batches, drawn anew in each."""
    rng = np.random.default_rng(random_state)
    n = len(sequences.lengths)
    online = OnlineHmm.of(tables)
    for turn in range(n_passes):
        order = rng.permutation(n)
        for low in range(0, n, batch):
            chosen = sequences.take(np.sort(order[low : low + batch]))
            online = online.updated(chosen, n_sequences=n, pseudo_counts=pseudo_counts)
        if progress is not None:
            progress(turn + 1, float(log_likelihoods(online.tables, sequences).sum()))
    return online.tables
