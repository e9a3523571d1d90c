"""EM on probabilistic automata: accelerated, with a prior, and stopped where held-out sequences say so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.core.em import AbsoluteGain, EMRun, Step, run_accelerated_em
from tacit.sequences.model.automata import AutomatonLayout, AutomatonTables
from tacit.sequences.moments.prefixes import PrefixTree

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class AutomatonPrior:
    """Pseudo-counts of each entry of each kind of table."""

    initial: float = 0.1
    emit: float = 0.1
    move: float = 0.02

    @staticmethod
    def of_rows(count: float, n_states: int, n_symbols: int) -> AutomatonPrior:
        """So many in each row, spread evenly."""
        return AutomatonPrior(count / n_states, count / (n_symbols + 1), count / n_states)

    def flat(self, layout: AutomatonLayout) -> Array:
        """Of every entry of a flat array."""
        emit, transitions, stop = layout.bounds
        sizes = (emit, transitions - emit, stop - transitions)
        return np.repeat((self.initial, self.emit, self.move), sizes).astype(np.float64)


def expectation(
    layout: AutomatonLayout, tree: PrefixTree
) -> Callable[[Array], tuple[float, Array]]:
    """Log-likelihood of flat tables, and the expected count of every entry."""
    from tacit.sequences.loops.automata import expect as expect_counts

    k = layout.n_states
    states, backward = np.empty((2, tree.n_nodes, k))
    logs, groups = np.empty(tree.n_nodes), layout.groups
    weights = tree.ends.astype(np.float64)

    def expect(values: Array) -> tuple[float, Array]:
        tables, counts = layout.tables(values), np.empty(layout.size)
        expected = layout.tables(counts)
        log_likelihood = expect_counts(
            tables.initial,
            tables.emit,
            tables.transitions,
            groups,
            tree.parents,
            tree.symbols,
            weights,
            states,
            logs,
            backward,
            expected.initial,
            expected.emit,
            expected.transitions,
        )
        return float(log_likelihood), counts

    return expect


def automaton_step(layout: AutomatonLayout, tree: PrefixTree, pseudo: Array) -> Step:
    """One step of MAP-EM."""
    from tacit.core.loops.acceleration import maximise

    expect = expectation(layout, tree)

    def step(values: Array) -> tuple[float, Array, Array]:
        log_likelihood, counts = expect(values)
        log_prior, image = maximise(counts, pseudo, values, layout.row_starts)
        return log_likelihood + log_prior, image, counts

    return step


def log_likelihood(tables: AutomatonTables, tree: PrefixTree) -> float:
    """The summed natural-log probability of the sequences of a tree: compiled."""
    ends, logs = log_probs(tables, tree)
    ending = tree.ends > 0
    return float((tree.ends[ending] * (logs + ends)[ending]).sum())


def log_probs(tables: AutomatonTables, tree: PrefixTree) -> tuple[Array, Array]:
    """Log of the chance of ending at each node, and of the probability of its beginning: (node,) each."""
    from tacit.sequences.loops.automata import TINY

    states, logs = filtered(tables, tree)
    return np.log(np.maximum(states @ tables.stop, TINY)), logs


def filtered(tables: AutomatonTables, tree: PrefixTree) -> tuple[Array, Array]:
    """(node, state) P(state | beginning), and (node,) log of the beginning's probability."""
    from tacit.sequences.loops.automata import forward

    states, logs = np.empty((tree.n_nodes, tables.n_states)), np.empty(tree.n_nodes)
    forward(
        tables.initial,
        np.ascontiguousarray(tables.emit),
        np.ascontiguousarray(tables.transitions),
        tables.layout.groups,
        tree.parents,
        tree.symbols,
        states,
        logs,
    )
    return states, logs


@dataclass(frozen=True, eq=False)
class PolishedAutomaton:
    """The result of EM."""

    tables: AutomatonTables
    n_steps: int
    converged: bool  # or stopped by held-out sequences
    held_out: float | None  # log-likelihood of the held-out sequences, where there are any


def polished_automaton(
    tables: AutomatonTables,
    tree: PrefixTree,
    *,
    prior: AutomatonPrior,
    gain: float,
    max_iter: int,
    held_out: PrefixTree | None = None,
    patience: int = 10,
    progress: Callable[[int, float], None] | None = None,
) -> PolishedAutomaton:
    """Accelerated MAP-EM from these tables.

    Parameters
    ----------
    tables : AutomatonTables
    tree : PrefixTree
        Of the sequences to learn from.
    prior : AutomatonPrior
    gain : float
        EM ends where a step gains less than this, in nats.
    max_iter : int
    held_out : PrefixTree, optional
        They stop EM too: every `patience` steps they are scored, and the best tables are kept.
    patience : int
    """
    from tacit.core.loops.acceleration import normalise

    layout = tables.layout
    step = automaton_step(layout, tree, prior.flat(layout))

    def onwards(values: Array, steps: int) -> EMRun:
        return run_accelerated_em(
            step,
            values,
            AbsoluteGain(gain),
            normalise=lambda row: normalise(row, layout.row_starts),
            max_iter=steps,
            progress=progress,
            warn=False,
        )

    values = normalise(np.maximum(tables.flat, 1e-12), layout.row_starts)
    if held_out is None:
        em_run = onwards(values, max_iter)
        return PolishedAutomaton(
            layout.tables(em_run.values), em_run.n_steps, em_run.converged, None
        )
    best, best_value, done, converged = values, -np.inf, 0, False
    while done < max_iter and not converged:
        em_run = onwards(values, min(patience, max_iter - done))
        values, done, converged = em_run.values, done + em_run.n_steps, em_run.converged
        value = log_likelihood(layout.tables(values), held_out)
        if value <= best_value:
            converged = True
        else:
            best, best_value = values, value
    return PolishedAutomaton(layout.tables(best), done, converged, best_value)
