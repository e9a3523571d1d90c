"""Collapsed Gibbs sampling of probabilistic automata: draws from their posterior.

EM ends at one automaton. With many states and few sequences a great many explain the data about as well; the
mean of their predictions is better than those of any of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.sequences.data.sequences import Sequences
from tacit.sequences.learn.em.automata import AutomatonPrior, filtered
from tacit.sequences.model.automata import AutomatonTables
from tacit.sequences.moments.prefixes import PrefixTree

Array = NDArray[np.float64]

# From time to time whole paths are drawn, given tables that are drawn first. They mix faster per sweep than
# drawing states one by one given their neighbours, which needs no tables: both together mixed faster in the
# same time than either alone. At most once in so many sweeps, and less often where many states are possible
# at each position: it takes about a third of the time.
_SWEEPS_PER_PATH_DRAW = 4
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
        self._sequences, self._rng = sequences, rng
        self._groups = tables.layout.groups
        self._shape = tables.n_states, tables.n_symbols, len(tables.transitions)
        self._tree, self._places = PrefixTree.placed(sequences)
        self._codes = sequences.codes.astype(np.int32)
        self._paths = np.zeros(len(self._places), dtype=np.int32)
        self._n_sweeps, self._next_path_draw = 0, 0
        self._counts: tuple[NDArray[Any], ...] = ()
        self._draw_paths(tables)

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
            starts, shown, into, out_of, left, moved = self._counts
            uniforms = self._rng.random(len(self._paths), dtype=np.float32)
            changed = sweep(
                self._paths,
                self._codes,
                self._sequences.ends,
                self._groups,
                starts,
                shown,
                into,
                out_of,
                left,
                moved,
                prior,
                uniforms,
            )
            if self.learn_prior and self._n_sweeps % _SWEEPS_PER_PRIOR == 0:
                self.prior = self._learnt_prior()
        return changed / max(len(self._paths), 1)

    def tables(self) -> AutomatonTables:
        """The posterior mean of the tables given the current paths."""
        starts, emissions, transitions = (counts.astype(np.float64) for counts in self._counts[:3])
        starts += self.prior.initial
        emit = np.ascontiguousarray(emissions.T) + self.prior.emit
        transitions += self.prior.move
        return AutomatonTables(
            starts / starts.sum(),
            emit / emit.sum(axis=1, keepdims=True),
            transitions / transitions.sum(axis=2, keepdims=True),
        )

    def _learnt_prior(self) -> AutomatonPrior:
        starts, emissions, transitions = self._counts[:3]
        return AutomatonPrior(
            learnt_pseudo_count(starts[None], self.prior.initial),
            learnt_pseudo_count(emissions.T, self.prior.emit),
            learnt_pseudo_count(transitions, self.prior.move),
        )

    def _drawn_tables(self) -> AutomatonTables:
        """Tables drawn from their posterior given the current paths."""
        initial_counts, emission_counts, transition_counts = self._counts[:3]
        draw = self._rng.standard_gamma
        initial, emit, transitions = (
            np.maximum(draw(counts.astype(np.float64) + pseudo), 1e-300)
            for counts, pseudo in (
                (initial_counts, self.prior.initial),
                (np.ascontiguousarray(emission_counts.T), self.prior.emit),
                (transition_counts, self.prior.move),
            )
        )
        return AutomatonTables(
            initial / initial.sum(),
            emit / emit.sum(axis=1, keepdims=True),
            transitions / transitions.sum(axis=2, keepdims=True),
        )

    def _draw_paths(self, tables: AutomatonTables) -> None:
        """Draw the path of each sequence, and its missing symbols, given tables."""
        from tacit.sequences.loops.automata import SKIPPED, draw_paths, draw_symbols

        emit, transitions = (
            np.ascontiguousarray(tables.emit),
            np.ascontiguousarray(tables.transitions),
        )
        states, _ = filtered(tables, self._tree)
        draw_paths(
            tables.initial,
            emit,
            transitions,
            self._groups,
            self._sequences.codes,
            self._sequences.ends,
            self._places,
            states,
            self._rng.random(len(self._places)),
            self._paths,
        )
        if (self._sequences.codes < 0).any():
            draw_symbols(
                emit,
                transitions,
                self._groups,
                self._sequences.codes,
                self._sequences.ends,
                self._paths,
                self._rng.random(len(self._codes)),
                self._codes,
            )
        self._counts = self._tallied()
        # The cost of both, in products; paths only visit states that are possible.
        k = tables.n_states
        path_products = int((states > SKIPPED).sum()) * k
        state_products = 2 * len(self._paths) * (k + 20)
        self._next_path_draw = self._n_sweeps + max(
            _SWEEPS_PER_PATH_DRAW, round(2 * path_products / state_products)
        )

    def _tallied(self) -> tuple[NDArray[Any], ...]:
        from tacit.sequences.loops.gibbs import tally

        k, n_symbols, n_groups = self._shape
        shapes: tuple[tuple[int, ...], ...] = (
            (k,),
            (n_symbols + 1, k),
            (n_groups, k, k),
            (n_groups, k, k),
            (k,),
            (n_groups, k),
        )
        counts = tuple(np.zeros(shape, dtype=np.float32) for shape in shapes)
        tally(self._paths, self._codes, self._sequences.ends, self._groups, *counts)
        return counts


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
