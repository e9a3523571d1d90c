"""Collapsed Gibbs sampling of probabilistic automata: many of them, as likely as the data makes them.

EM ends at one automaton. With many states and few sequences a great many explain the data about as well; the
mean of what they say is better than what any of them says.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.data.sequences import Sequences
from tacit.moments.prefixes import PrefixTree
from tacit.params.automata import AutomatonTables
from tacit.polish.automata import AutomatonPrior, filtered

Array = NDArray[np.float64]
Integers = NDArray[np.int64]


class Sampler:
    """Paths of all sequences through the states of an automaton, drawn again and again.

    Parameters
    ----------
    sequences : Sequences
        Missing symbols are drawn too.
    tables : AutomatonTables
        Where the first paths are drawn from; their shape is that of what is sampled.
    prior : AutomatonPrior
    rng : numpy.random.Generator
    """

    def __init__(
        self,
        sequences: Sequences,
        tables: AutomatonTables,
        prior: AutomatonPrior,
        rng: np.random.Generator,
    ) -> None:
        self.prior = prior
        self._sequences, self._rng = sequences, rng
        self._groups = tables.layout.groups
        self._shape = tables.n_states, tables.n_symbols, len(tables.moves)
        self._codes = sequences.codes.astype(np.int32)
        self._paths = self._first_paths(tables)
        self._fill_gaps(tables)
        self._counts = self._tallied()

    def run(self, n_sweeps: int) -> float:
        """Draw the state of every place so many times; the share that changed in the last sweep."""
        from tacit.loops.sweeps import sweep

        prior = np.array([self.prior.start, self.prior.emit, self.prior.move], dtype=np.float32)
        starts, shown, into, out_of, left, moved = self._counts
        changed = 0
        for _ in range(n_sweeps):
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
        if (self._sequences.codes < 0).any():
            self._fill_gaps(self.tables())
            self._counts = self._tallied()
        return changed / max(len(self._paths), 1)

    def tables(self) -> AutomatonTables:
        """The mean automaton given the paths as they are now."""
        starts, shown, into = (each.astype(np.float64) for each in self._counts[:3])
        starts += self.prior.start
        emit = np.ascontiguousarray(shown.T) + self.prior.emit
        into += self.prior.move
        return AutomatonTables(
            starts / starts.sum(),
            emit / emit.sum(axis=1, keepdims=True),
            into / into.sum(axis=2, keepdims=True),
        )

    def _first_paths(self, tables: AutomatonTables) -> NDArray[np.int32]:
        from tacit.loops.automata import draw_paths

        tree, places = PrefixTree.placed(self._sequences)
        states, _ = filtered(tables, tree)
        paths = np.empty(len(places), dtype=np.int32)
        draw_paths(
            tables.start,
            np.ascontiguousarray(tables.emit),
            np.ascontiguousarray(tables.moves),
            self._groups,
            self._codes,
            self._sequences.ends,
            places,
            states,
            self._rng.random(len(places)),
            paths,
        )
        return paths

    def _fill_gaps(self, tables: AutomatonTables) -> None:
        """Draw the symbols that are missing."""
        from tacit.loops.automata import draw_symbols

        if not (self._sequences.codes < 0).any():
            return
        draw_symbols(
            np.ascontiguousarray(tables.emit),
            np.ascontiguousarray(tables.moves),
            self._groups,
            self._sequences.codes,
            self._sequences.ends,
            self._paths,
            self._rng.random(len(self._codes)),
            self._codes,
        )

    def _tallied(self) -> tuple[NDArray[Any], ...]:
        from tacit.loops.sweeps import tally

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
