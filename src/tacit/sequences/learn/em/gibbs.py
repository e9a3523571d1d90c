"""Collapsed Gibbs sampling of probabilistic automata: draws from their posterior.

EM ends at one automaton. With many states and few sequences a great many explain the data about as well; the
mean of their predictions is better than those of any of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.sequences.data.sequences import Sequences
from tacit.sequences.learn.em.automata import AutomatonPrior
from tacit.sequences.model.automata import AutomatonTables

Array = NDArray[np.float64]

# From time to time whole paths are drawn, given tables that are drawn first. They mix faster per sweep than
# drawing states one by one given their neighbours, which needs no tables: both together mixed faster in the
# same time than either alone. At most once in so many sweeps, and less often where many states are possible
# at each position: it takes about a third of the time.
_SWEEPS_PER_PATH_DRAW = 4
# The cost of a place and of a row of transitions besides their states, in terms of these.
_PER_PLACE, _PER_ROW = 60, 20
_LEAST_PROBABILITY = 1e-30  # lower ones are none where paths are drawn
# The pseudo-counts of an entry of each table, where they are learnt: a gamma distribution of shape 2 with its
# mode here, and bounds. With fewer, chains would hardly move.
_USUAL, _LEAST, _MOST = 0.1, 1e-3, 10.0
_SWEEPS_PER_PRIOR, _PRIOR_STEPS = 10, 3


class Sampler:
    """State paths of all sequences through an automaton, resampled sweep by sweep.

    Parameters
    ----------
    sequences : Sequences
        Missing symbols are drawn too.
    tables : AutomatonTables
        That the first paths are drawn from; those that are sampled have the same shape.
    prior : AutomatonPrior
    rng : numpy.random.Generator
    learn_prior : bool
        Whether pseudo-counts are learnt from the paths, every few sweeps.
    """

    def __init__(
        self,
        sequences: Sequences,
        tables: AutomatonTables,
        prior: AutomatonPrior,
        rng: np.random.Generator,
        *,
        learn_prior: bool = False,
    ) -> None:
        self.prior, self.learn_prior = prior, learn_prior
        self._rng = rng
        self._sequences, self._n_shared = _in_order(sequences)
        self._groups = tables.layout.groups
        self._shape = tables.n_states, tables.n_symbols, len(tables.transitions)
        self._codes = self._sequences.codes.astype(np.int32)
        self._paths = np.zeros(len(self._codes) + len(sequences.lengths), dtype=np.int32)
        self._n_sweeps, self._next_path_draw = 0, 0
        self._counts: tuple[NDArray[Any], ...] = ()
        self._draw_paths(tables)

    @property
    def n_sequences(self) -> int:
        """Number of sequences."""
        return len(self._sequences.lengths)

    def run(self, n_sweeps: int) -> float:
        """Resample all states `n_sweeps` times; returns the fraction that changed in the last sweep."""
        from tacit.sequences.loops.gibbs import sweep

        changed = 0
        for _ in range(n_sweeps):
            prior = np.array(
                [self.prior.initial, self.prior.emit, self.prior.move], dtype=np.float32
            )
            if self._n_sweeps >= self._next_path_draw:
                self._draw_paths(self._drawn_tables())
            self._n_sweeps += 1
            changed = sweep(
                self._paths,
                self._codes,
                self._sequences.ends,
                self._groups,
                self._shape[0],
                *self._counts,
                prior,
                self._rng.random(len(self._paths), dtype=np.float32),
            )
            if self.learn_prior and self._n_sweeps % _SWEEPS_PER_PRIOR == 0:
                self.prior = self._learnt_prior()
        return changed / max(len(self._paths), 1)

    def tables(self) -> AutomatonTables:
        """The posterior mean of the tables given the current paths."""
        starts, emissions, transitions = (counts.astype(np.float64) for counts in self._tables())
        starts += self.prior.initial
        emit = np.ascontiguousarray(emissions) + self.prior.emit
        transitions += self.prior.move
        return AutomatonTables(
            starts / starts.sum(),
            emit / emit.sum(axis=1, keepdims=True),
            transitions / transitions.sum(axis=2, keepdims=True),
        )

    def _tables(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Counts of (state,) starts, of (state, symbol + 1) and of (group, state, next state)."""
        n_into, n_emit = self._counts[0], self._counts[2]
        k, _, n_groups = self._shape
        return n_into[-1, :k], n_emit[:, :k].T, n_into[:-1, :k].reshape(n_groups, k, k)

    def _learnt_prior(self) -> AutomatonPrior:
        starts, emissions, transitions = self._tables()
        return AutomatonPrior(
            learnt_pseudo_count(starts[None], self.prior.initial),
            learnt_pseudo_count(emissions, self.prior.emit),
            learnt_pseudo_count(transitions, self.prior.move),
        )

    def _drawn_tables(self) -> AutomatonTables:
        """Tables drawn from their posterior given the current paths."""
        draw = self._rng.standard_gamma
        priors = (self.prior.initial, self.prior.emit, self.prior.move)
        initial, emit, transitions = (
            np.maximum(draw(counts.astype(np.float64) + pseudo), 1e-300)
            for counts, pseudo in zip(self._tables(), priors, strict=True)
        )
        return AutomatonTables(
            initial / initial.sum(),
            emit / emit.sum(axis=1, keepdims=True),
            transitions / transitions.sum(axis=2, keepdims=True),
        )

    def _draw_paths(self, tables: AutomatonTables) -> None:
        """Draw the path of each sequence, and its missing symbols, given tables."""
        from tacit.sequences.loops.gibbs import draw_paths, draw_symbols

        k, _, n_groups = self._shape
        emit = self._wide(tables.emit.T)
        onwards, backwards = (
            self._wide(table.reshape(n_groups * k, k))
            for table in (tables.transitions, tables.transitions.transpose(0, 2, 1))
        )
        codes, ends = self._sequences.codes, self._sequences.ends
        longest = int(self._sequences.lengths.max(initial=0))
        n_rows = draw_paths(
            self._wide(tables.initial[None])[0],
            emit,
            onwards,
            backwards,
            k,
            codes,
            ends,
            self._groups,
            self._n_shared,
            self._rng.random(len(self._paths), dtype=np.float32),
            np.empty((longest + 1, emit.shape[1]), dtype=np.float32),
            self._paths,
        )
        if (codes < 0).any():
            uniforms = self._rng.random(len(codes), dtype=np.float32)
            draw_symbols(
                emit, backwards, k, self._groups, codes, ends, self._paths, uniforms, self._codes
            )
        self._counts = self._tallied()
        # The cost of both, in products; paths only visit states that are possible.
        n_places = len(self._paths)
        path_cost = n_rows * (k + _PER_ROW) + 3 * n_places * (k + _PER_PLACE)
        sweep_cost = n_places * (k + _PER_PLACE)
        self._next_path_draw = self._n_sweeps + max(
            _SWEEPS_PER_PATH_DRAW, round(2 * path_cost / max(sweep_cost, 1))
        )

    def _wide(self, table: Array) -> NDArray[np.float32]:
        """(row, state) in single precision, filled up with zeros to a multiple of the lanes; no tiny numbers.

        Vector instructions are slow with numbers that are nearly zero.
        """
        out = self._zeros(len(table))
        out[:, : table.shape[1]] = np.where(table > _LEAST_PROBABILITY, table, 0.0)
        return out

    def _zeros(self, n_rows: int) -> NDArray[np.float32]:
        from tacit.sequences.loops.gibbs import LANES

        return np.zeros((n_rows, -(-self._shape[0] // LANES) * LANES), dtype=np.float32)

    def _tallied(self) -> tuple[NDArray[Any], ...]:
        from tacit.sequences.loops.gibbs import tally

        k, n_symbols, n_groups = self._shape
        rows = n_groups * k + 1
        n_into, n_from, n_emit, n_visits, n_out = map(
            self._zeros, (rows, rows, n_symbols + 1, 1, n_groups)
        )
        n_from[-1] = 1.0
        counts = n_into, n_from, n_emit, n_visits[0], n_out
        tally(self._paths, self._codes, self._sequences.ends, self._groups, k, *counts)
        return counts


def _in_order(sequences: Sequences) -> tuple[Sequences, NDArray[np.int64]]:
    """Sequences in alphabetical order, and how much of each is in common with the one before."""
    from tacit.sequences.loops.prefixes import alphabetical, shared_lengths

    lengths = np.asarray(sequences.lengths, dtype=np.int64)
    order = alphabetical(sequences.codes, sequences.ends[:-1], lengths)
    n_shared = shared_lengths(sequences.codes, sequences.ends[:-1], lengths, order)
    return sequences.take(order), n_shared


def learnt_pseudo_count(
    counts: NDArray[Any], value: float, *, usual: float = _USUAL, n_steps: int = _PRIOR_STEPS
) -> float:
    """The most likely pseudo-count of each entry, given (..., entry) counts whose rows have drawn parameters.

    Parameters of each row are drawn from a symmetric Dirichlet distribution, which is integrated out; its
    parameter has a gamma distribution of shape 2 and mode `usual`. Each step of Minka's (2000) fixed point
    makes it likelier.

    Parameters
    ----------
    counts : (..., entry)
    value : float
        To begin with.
    usual : float
    n_steps : int
    """
    from scipy.special import digamma

    size = counts.shape[-1]
    totals = counts.sum(axis=-1, dtype=np.float64)
    totals, above = totals[totals > 0], counts[counts > 0].astype(np.float64)
    for _ in range(n_steps):
        entries = (digamma(above + value) - digamma(value)).sum()
        rows = size * (digamma(totals + size * value) - digamma(size * value)).sum()
        value = float(np.clip((1.0 + value * entries) / (1.0 / usual + rows), _LEAST, _MOST))
    return value
