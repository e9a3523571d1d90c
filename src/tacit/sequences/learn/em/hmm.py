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
Progress = Callable[[int, float], None]

# Sequences too few or too unlike in length to fill a block, or too long for one, are processed one by one.
_LEAST_FILLED = 0.1
_MOST_CELLS = 1 << 26  # of the messages of a block
_BLOCKS_APART = 32  # blocks whose counts are summed together, on one thread


@dataclass(frozen=True, eq=False)
class Packed:
    """Sequences in blocks of equal size for the compiled passes; those that fit no block apart."""

    layout: ChainLayout
    blocks: NDArray[np.int32]  # (row, sequence of the block)
    heads: Integers  # (block + 1,)
    lengths: Integers  # (block, sequence of the block)
    alone: tuple[NDArray[np.int32], ...]  # codes of sequences outside the blocks, -1 where missing
    n_jobs: int = 1

    @staticmethod
    def of(sequences: Sequences, n_states: int, n_jobs: int = 1) -> Packed:
        """The blocks of sequences, for models of `n_states` states."""
        from tacit.sequences.loops.hmm import BATCH_SIZE

        n, lengths = sequences.n_symbols, sequences.lengths
        order = np.argsort(lengths, kind="stable")
        order = order[lengths[order] > 0]
        padded = np.full(-len(order) % BATCH_SIZE, -1)
        groups = np.concatenate([order, padded]).astype(np.int64).reshape(-1, BATCH_SIZE)
        block_lengths = np.where(groups >= 0, lengths[groups], 0)  # (block, sequence)
        longest = block_lengths.max(axis=1, initial=0)
        apart = block_lengths.sum(axis=1) < _LEAST_FILLED * BATCH_SIZE * longest
        apart |= longest * BATCH_SIZE * max(n_states, 4) > _MOST_CELLS
        alone = [s for s in groups[apart].ravel().tolist() if s >= 0]
        groups, block_lengths, longest = groups[~apart], block_lengths[~apart], longest[~apart]
        heads = np.concatenate([[0], np.cumsum(longest)]).astype(np.int64)
        blocks = np.full((int(heads[-1]), BATCH_SIZE), n + 1, dtype=np.int32)
        block, column = np.nonzero(groups >= 0)
        chosen = groups[block, column]
        size = lengths[chosen]
        time = np.arange(int(size.sum())) - np.repeat(np.cumsum(size) - size, size)
        codes = sequences.codes[np.repeat(sequences.ends[chosen], size) + time]
        codes = np.where(codes < 0, n, codes)
        blocks[np.repeat(heads[block], size) + time, np.repeat(column, size)] = codes
        ends = sequences.ends
        alone_codes = tuple(sequences.codes[ends[s] : ends[s + 1]] for s in alone)
        return Packed(
            ChainLayout(n_states, (n,)), blocks, heads, block_lengths, alone_codes, n_jobs
        )

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
            counts = [np.zeros(table.shape) for table in (initial, transitions, emit)]
            where = self.blocks, self.heads, self.lengths, low, high
            return expect(*where, initial, transitions, emit, *counts), counts

        if self.n_jobs > 1:
            with ThreadPoolExecutor(self.n_jobs) as pool:
                parts = list(pool.map(part, marks))
        else:
            parts = [part(low) for low in marks]
        k, n = self.layout.n_states, self.layout.sizes[0]
        log, counts = 0.0, np.zeros(self.layout.size)
        expected = self.layout.tables(counts)  # views
        for block_log, (starts, transition_counts, emission_counts) in parts:
            log += block_log
            expected.initial[:] += starts[:k]
            expected.transitions[:] += transition_counts[:k, :k]
            expected.emit[0][:] += emission_counts[:n, :k].T
        expected.transitions[:] *= tables.transitions
        for codes in self.alone:
            log += _expect_alone(tables, codes, expected)
        return log, counts


def _padded(tables: ChainTables, precision: Any) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Tables padded with unreachable states to a multiple of four, as the loops need them."""
    k, n = tables.emit[0].shape
    width = k + -k % 4
    initial, transitions = np.zeros(width, precision), np.zeros((width, width), precision)
    emit = np.zeros((n + 2, width), precision)
    initial[:k], transitions[:k, :k] = tables.initial, tables.transitions
    emit[:n, :k], emit[n, :k] = tables.emit[0].T, 1.0
    return initial, transitions, emit


def _expect_alone(tables: ChainTables, codes: NDArray[np.int32], expected: ChainTables) -> float:
    """The log-likelihood of one sequence; its counts are added to `expected`."""
    from tacit.sequences.loops.forward_backward import forward_backward

    is_observed = codes >= 0
    likelihoods = np.where(is_observed[:, None], tables.emit[0].T[codes], 1.0)
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
        expected.initial,
        expected.transitions,
    )
    n = expected.emit[0].shape[1]
    for m in range(tables.n_states):
        expected.emit[0][m] += np.bincount(
            codes[is_observed], weights=posterior[is_observed, m], minlength=n
        )
    return float(logs.sum())


def hmm_prior(layout: ChainLayout, pseudo_counts: float | tuple[float, float, float]) -> Array:
    """Pseudo-counts of every entry, from those of a row of initial, transition and emission probabilities."""
    rows = pseudo_counts if isinstance(pseudo_counts, tuple) else (pseudo_counts,) * 3
    k, n = layout.n_states, layout.sizes[0]
    sizes, widths = (k, k * k, k * n), (k, k, n)
    parts = [np.full(s, r / w) for s, r, w in zip(sizes, rows, widths, strict=True)]
    return np.concatenate(parts)


def hmm_step(packed: Packed, pseudo: Array, *, stationary: bool = False) -> Step:
    """One step of EM, with pseudo-counts.

    Stationary initial probabilities follow from the transitions, which improve without being optimal.
    """
    from tacit.core.loops.acceleration import maximise
    from tacit.sequences.learn.em.stationary import stationary_transitions

    layout = packed.layout

    def step(values: Array) -> tuple[float, Array, Array]:
        log_likelihood, counts = packed.expect(values)
        log_prior, image = maximise(counts, pseudo, values, layout.row_starts)
        if stationary:
            expected, tables = layout.tables(counts), layout.tables(image)  # views
            now = layout.tables(values).transitions
            tables.transitions[:] = stationary_transitions(
                expected.initial, expected.transitions, now
            )
            tables.initial[:] = layout.tables(image).stationary
        return log_likelihood + log_prior, image, counts

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
    progress: Progress | None = None,
) -> tuple[ChainTables, EMRun]:
    """EM from these tables, until a step gains less than `gain` nats in total.

    Entries that are zero stay zero. No warning where `max_iter` is reached: see `EMRun.converged`.
    """
    from tacit.core.loops.acceleration import normalise

    layout = packed.layout
    step = hmm_step(packed, hmm_prior(layout, pseudo_counts), stationary=stationary)
    rule = AbsoluteGain(gain)

    def allowed(values: Array) -> Array:
        normalised: Array = normalise(values, layout.row_starts)
        if stationary:
            normalised[: layout.n_states] = layout.tables(normalised).stationary
        return normalised

    first = allowed(tables.flat)
    if accelerated:
        em_run = run_accelerated_em(
            step,
            first,
            rule,
            normalise=allowed,
            max_iter=max_iter,
            progress=progress,
            warn=False,
        )
    else:
        em_run = run_em(step, first, rule, max_iter=max_iter, progress=progress, warn=False)
    return layout.tables(em_run.values), em_run


def random_hmm_tables(n_states: int, n_symbols: int, rng: np.random.Generator) -> ChainTables:
    """Tables with rows drawn uniformly from the simplex, as a start for EM."""
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
    progress: Progress | None = None,
) -> tuple[ChainTables, dict[str, Any]]:
    """The best of several random starts by training likelihood, and diagnostics of each."""
    rng = np.random.default_rng(random_state)
    k, n = packed.layout.n_states, packed.layout.sizes[0]
    best: tuple[ChainTables, EMRun] | None = None
    em_runs = []
    for start_rng in rng.spawn(n_restarts):
        run = polished_hmm(
            random_hmm_tables(k, n, start_rng),
            packed,
            gain=gain,
            max_iter=max_iter,
            pseudo_counts=pseudo_counts,
            accelerated=accelerated,
            stationary=stationary,
            progress=progress,
        )
        em_runs.append(run[1])
        if best is None or run[1].objective > best[1].objective:
            best = run
    assert best is not None
    return best[0], {
        "objectives": [em_run.objective for em_run in em_runs],
        "n_steps": [em_run.n_steps for em_run in em_runs],
        "converged": [em_run.converged for em_run in em_runs],
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
            Number of sequences that the pseudo-counts are added to: those so far, or all.
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
    schedule: Schedule | None = None,
    random_state: Any = None,
    progress: Progress | None = None,
) -> ChainTables:
    """Stepwise EM: passes over the sequences in small batches, drawn again in each pass."""
    rng = np.random.default_rng(random_state)
    n = len(sequences.lengths)
    online = OnlineHmm.of(tables)
    for turn in range(n_passes):
        order = rng.permutation(n)
        for low in range(0, n, batch):
            chosen = sequences.take(np.sort(order[low : low + batch]))
            online = online.updated(
                chosen, n_sequences=n, pseudo_counts=pseudo_counts, schedule=schedule
            )
        if progress is not None:
            progress(turn + 1, float(log_likelihoods(online.tables, sequences).sum()))
    return online.tables
