"""Probabilistic automata learnt from sequences: starts, EM, Gibbs sampling, and model selection."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.progress import Report
from tacit.sequences.data.sequences import Sequences
from tacit.sequences.learn.em.automata import AutomatonPrior, log_probs, polished_automaton
from tacit.sequences.learn.em.gibbs import Sampler
from tacit.sequences.learn.starts.automata import clustered_automaton, random_automaton
from tacit.sequences.learn.weighted_automata import (
    WeightedSettings,
    selected_settings,
    weighted_automaton,
)
from tacit.sequences.model.automata import AutomatonTables
from tacit.sequences.model.interpolated_ngrams import Ngrams
from tacit.sequences.moments.prefixes import PrefixTree
from tacit.sequences.query.automata import MixedAutomaton, walked_levels

Array = NDArray[np.float64]

# Candidate numbers of states. Each round of sampling drops the worse half.
STATES = (10, 20, 40, 80)
# Pseudo-counts of each transition, where these depend on the symbol and where they are tied. Few make chains
# mix slowly. Chains therefore start with many, and go on with fewer, by these factors.
TRANSITION_PRIORS = {False: 0.1, True: 0.4}
SMALLER_FACTORS = {False: (0.3, 0.1), True: (0.25, 0.06)}
# EM steps before sampling where transitions depend on the symbol, and more of the best of these: with long
# sequences and many states EM gains more than sampling in the same time, else less. Fewer where they would
# take more products than this.
STEPS_BEFORE, MORE_STEPS = (20, 4e10), (60, 1.2e11)
_LEAST_STEPS = 8
# Rank and basis of the weighted automaton that embeds prefixes, where nothing is held out.
_RANK, _BASIS = 20, 300
_PER_ROUND = 4  # automata that are averaged to score a chain


@dataclass(frozen=True, slots=True)
class AutomatonSettings:
    """How a probabilistic automaton is learnt; None is to be selected."""

    n_states: int | None
    tied: bool | None
    learn: str
    n_samples: int
    n_sweeps: int
    pseudo_counts: float | None  # of each row; None: the usual ones
    tol: float
    max_iter: int
    seed: int


@dataclass(frozen=True, slots=True)
class Shape:
    """One candidate: states, and whether transitions are the same for all symbols."""

    n_states: int
    tied: bool
    move: float  # pseudo-counts of a transition

    def prior(self, pseudo_counts: float | None, n_symbols: int) -> AutomatonPrior:
        """The pseudo-counts of all tables, where automata are sampled."""
        if pseudo_counts is not None:
            return AutomatonPrior.of_rows(pseudo_counts, self.n_states, n_symbols)
        return AutomatonPrior(1.0, 0.1, self.move)


@dataclass(frozen=True, eq=False)
class LearntAutomata:
    """Automata whose mean is the model, with the candidates."""

    parts: tuple[AutomatonTables, ...]
    weights: Array
    shapes: tuple[Shape, ...]
    n_steps: int
    # mean log-probability of a held-out sequence, before these were learnt from too
    held_out: float | None
    candidates: tuple[dict[str, Any], ...]


@dataclass(eq=False)
class _Chain:
    """A chain of samples that competes with others."""

    shape: Shape
    sampler: Sampler
    start: AutomatonTables
    logs: Array = field(default_factory=lambda: np.zeros(0))  # (node,)  of held-out strings
    value: float = -np.inf  # mean held-out log-probability


def start_tables(
    tree: PrefixTree, states: Array, shape: Shape, rng: np.random.Generator
) -> AutomatonTables:
    """The start: clusters of prefixes, or random tables where transitions do not depend on symbols.

    There the state after a prefix does not follow from the state before and the symbol, and clusters of
    prefixes were a bad start: from random tables, sampling reached far better automata.
    """
    if shape.tied:
        return random_automaton(tree.n_symbols, shape.n_states, rng, tied=True)
    return clustered_automaton(tree, states, shape.n_states, rng, tied=False)


def embedded(tree: PrefixTree, held_out: PrefixTree | None = None) -> Array:
    """(node, rank) the state of a weighted automaton after each prefix.

    Parameters
    ----------
    tree : PrefixTree
    held_out : PrefixTree, optional
        Of held-out sequences, on which its settings are selected.
    """
    choice = WeightedSettings(_RANK, "substring", _BASIS, scaled=True, mixing=0.0)
    if held_out is not None:
        choice = selected_settings(tree, held_out, WeightedSettings())
    automaton = weighted_automaton(tree, choice)
    predictor = MixedAutomaton(automaton, Ngrams.of(tree, 1), 0.0)
    out = np.empty((tree.n_nodes, automaton.rank))
    for level, state in walked_levels(predictor, tree):
        out[level] = state[0]
    return out


def candidate_shapes(n_symbols: int, n_nodes: int, settings: AutomatonSettings) -> list[Shape]:
    """The candidates that the settings allow."""
    kinds = (False, True) if settings.tied is None else (settings.tied,)
    if n_symbols == 1:
        kinds = (False,)  # the same
    counts: tuple[int, ...] = STATES if settings.n_states is None else (settings.n_states,)
    if settings.n_states is None:
        counts = tuple(k for k in counts if k <= n_nodes) or (min(STATES),)
    return [Shape(k, tied, TRANSITION_PRIORS[tied]) for tied in kinds for k in counts]


def mean_log(logs: Sequence[Array]) -> Array:
    """Logarithms of means, of logarithms."""
    return np.asarray(np.logaddexp.reduce(logs, axis=0) - np.log(len(logs)))


def mean_over(tree: PrefixTree, logs: Array) -> float:
    """Mean of (node,) values over the sequences that end there."""
    ending = tree.ends > 0
    return float((tree.ends[ending] * logs[ending]).sum() / max(tree.n_sequences, 1))


def string_logs(tables: AutomatonTables, tree: PrefixTree) -> Array:
    """(node,) log-probabilities of the strings that end at each node."""
    ends, logs = log_probs(tables, tree)
    return ends + logs


class Learning:
    """One fit: training and held-out sequences, and the steps from candidates to automata."""

    def __init__(
        self,
        tree: PrefixTree,
        held_out: PrefixTree | None,
        settings: AutomatonSettings,
        report: Report,
    ) -> None:
        self._tree, self._held_tree = tree, held_out
        self._settings, self._report = settings, report
        self._rng = np.random.default_rng(settings.seed)
        self._states: Array | None = None
        self._candidates: list[dict[str, Any]] = []
        self._n_steps = 0
        self._value: float | None = None

    def run(self) -> LearntAutomata:
        """The automata."""
        shapes = candidate_shapes(self._tree.n_symbols, self._tree.n_nodes, self._settings)
        learn = self._by_em if self._settings.learn == "em" else self._by_sampling
        parts, weights, kept_shapes = learn(shapes)
        candidates = tuple(self._candidates)
        return LearntAutomata(parts, weights, kept_shapes, self._n_steps, self._value, candidates)

    # -- EM ---------------------------------------------------------------------------------------

    def _by_em(
        self, shapes: list[Shape]
    ) -> tuple[tuple[AutomatonTables, ...], Array, tuple[Shape, ...]]:
        """The automaton that predicts held-out sequences best, then EM on all sequences."""
        best: tuple[float, Shape, AutomatonTables] | None = None
        for number, shape in enumerate(shapes):
            self._report(0.8 * number / len(shapes), f"{shape.n_states} states")
            tables = self._polished(self._start(shape), self._tree, self._settings.max_iter)
            value = 0.0
            if self._held_tree is not None:
                value = mean_over(self._held_tree, string_logs(tables, self._held_tree))
                self._note(shape, value)
            if best is None or value > best[0]:
                best = value, shape, tables
        assert best is not None
        value, shape, tables = best
        if self._held_tree is not None:
            self._value = value
            self._report(0.8, "all sequences")
            every = self._tree + self._held_tree
            tables = self._polished(tables, every, self._settings.max_iter, stopped=False)
        return (tables,), np.ones(1), (shape,)

    def _polished(
        self, tables: AutomatonTables, tree: PrefixTree, max_iter: int, *, stopped: bool = True
    ) -> AutomatonTables:
        counts, prior = self._settings.pseudo_counts, AutomatonPrior()
        if counts is not None:
            prior = AutomatonPrior.of_rows(counts, tables.n_states, tables.n_symbols)
        em_result = polished_automaton(
            tables,
            tree,
            prior=prior,
            gain=self._settings.tol * tree.n_positions,
            max_iter=max_iter,
            held_out=self._held_tree if stopped else None,
        )
        self._n_steps += em_result.n_steps
        return em_result.tables

    # -- sampling ---------------------------------------------------------------------------------

    def _by_sampling(
        self, shapes: list[Shape]
    ) -> tuple[tuple[AutomatonTables, ...], Array, tuple[Shape, ...]]:
        """Samples of the best chains, continued on all sequences."""
        chains = [self._chain(shape, self._start_of_chain(shape)) for shape in shapes]
        weights = np.ones(1)
        if self._held_tree is not None:
            chains = self._chosen(chains)
            weights = self._weights(chains)
            is_used = weights > 0.02
            chains = [chain for chain, keep in zip(chains, is_used, strict=True) if keep]
            weights = weights[is_used] / weights[is_used].sum()
        else:
            chains = chains[:1]
        parts: list[AutomatonTables] = []
        part_weights: list[float] = []
        every = self._all_sequences()
        for number, (chain, weight) in enumerate(zip(chains, weights, strict=True)):
            sampler = chain.sampler
            if self._held_tree is not None:
                prior = chain.shape.prior(self._settings.pseudo_counts, self._tree.n_symbols)
                sampler = Sampler(every, sampler.tables(), prior, self._rng)

            def report_progress(done_of_chain: float, number: int = number) -> None:
                done = (number + done_of_chain) / len(chains)
                self._report(0.6 + 0.4 * done, "sampling from all sequences")

            length = max(float(weight), 1 / 3)
            samples = self._samples(sampler, length, report_progress)
            parts.extend(samples)
            part_weights.extend([weight / len(samples)] * len(samples))
        together = np.array(part_weights)
        return tuple(parts), together / together.sum(), tuple(chain.shape for chain in chains)

    def _start_of_chain(self, shape: Shape) -> AutomatonTables:
        tables = self._start(shape)
        if shape.tied:
            return tables
        return self._with_steps(tables, STEPS_BEFORE)

    def _samples(
        self, sampler: Sampler, length: float, report_progress: Callable[[float], None]
    ) -> list[AutomatonTables]:
        """Samples from the last two thirds of a chain, of `length` times the usual number of sweeps."""
        n_sweeps = max(round(length * self._settings.n_sweeps), 1)
        n_samples = max(round(length * self._settings.n_samples), 1)
        burnt = n_sweeps // 3
        sampler.run(burnt)
        out = []
        marks = np.linspace(burnt, n_sweeps, n_samples + 1).astype(int)
        for before, after in pairwise(marks):
            sampler.run(max(int(after - before), 1))
            out.append(sampler.tables())
            report_progress(float(after) / n_sweeps)
        self._n_steps += n_sweeps
        return out

    def _chosen(self, chains: list[_Chain]) -> list[_Chain]:
        """The best two chains, and the best of the other kind: the worse half of either drops out in turn.

        Chains of tied transitions start at random and converge later: the two kinds are compared only
        when one of each is left.
        """
        sweeps = max(self._settings.n_sweeps // 12, 1)
        for chain in chains:
            if chain.shape.tied:
                chain.sampler.run(2 * sweeps)
        most = max(sum(chain.shape.tied == tied for chain in chains) for tied in (False, True))
        while most > 1:
            self._round(chains, sweeps)
            most = (most + 1) // 2
            chains = [
                chain
                for tied in (False, True)
                for chain in sorted(
                    (chain for chain in chains if chain.shape.tied == tied),
                    key=lambda chain: -chain.value,
                )[:most]
            ]
        self._round(chains, 2 * sweeps)
        chains = self._varied(max(chains, key=lambda chain: chain.value)) + chains
        self._round(chains, 2 * sweeps)
        chains = sorted(chains, key=lambda chain: -chain.value)
        others = [chain for chain in chains if chain.shape.tied != chains[0].shape.tied]
        return [*chains[:2], *(chain for chain in others[:1] if chain not in chains[:2])]

    def _varied(self, best: _Chain) -> list[_Chain]:
        """Chains with smaller pseudo-counts that continue the best one, or start from more EM."""
        shape, now = best.shape, best.sampler.tables()
        fewer, least = (
            replace(shape, move=shape.move * factor) for factor in SMALLER_FACTORS[shape.tied]
        )
        if shape.tied:
            return [self._chain(fewer, now), self._chain(least, now)]
        polished = self._with_steps(best.start, MORE_STEPS)
        starts = ((fewer, now), (fewer, polished), (least, polished))
        return [self._chain(*start) for start in starts]

    def _with_steps(self, tables: AutomatonTables, limits: tuple[int, float]) -> AutomatonTables:
        """After some steps of EM, fewer where these are expensive."""
        steps, products = limits
        products_per_step = 2.0 * self._tree.n_nodes * tables.n_states**2
        steps = int(np.clip(products / products_per_step, min(_LEAST_STEPS, steps), steps))
        return self._polished(tables, self._tree, steps, stopped=False)

    def _round(self, chains: list[_Chain], sweeps: int) -> None:
        """Continue all chains, and score each by the mean of its last automata."""
        assert self._held_tree is not None
        for number, chain in enumerate(chains):
            self._report(0.6 * number / len(chains), f"{len(chains)} chains of {sweeps} sweeps")
            chain.sampler.run(max(sweeps // 2, 1))
            logs = []
            for _ in range(_PER_ROUND):
                chain.sampler.run(max(sweeps // (2 * _PER_ROUND), 1))
                logs.append(string_logs(chain.sampler.tables(), self._held_tree))
            chain.logs = mean_log(logs)
            chain.value = mean_over(self._held_tree, chain.logs)
            self._note(chain.shape, chain.value, sweeps)
            self._n_steps += sweeps

    def _weights(self, chains: list[_Chain]) -> Array:
        """(chain,) mixture weights of highest held-out likelihood, by EM."""
        assert self._held_tree is not None
        ends = self._held_tree.ends.astype(np.float64)
        ending = ends > 0
        logs = np.array([chain.logs[ending] for chain in chains])
        weights = np.full(len(chains), 1 / len(chains))
        for _ in range(50):
            joint = np.log(np.maximum(weights, 1e-300))[:, None] + logs
            responsibilities = np.exp(joint - np.logaddexp.reduce(joint, axis=0))
            weights = responsibilities @ ends[ending] / ends[ending].sum()
        joint = np.log(np.maximum(weights, 1e-300))[:, None] + logs
        total = ends[ending] @ np.logaddexp.reduce(joint, axis=0)
        self._value = float(total / max(self._held_tree.n_sequences, 1))
        return np.asarray(weights)

    # -- within -----------------------------------------------------------------------------------

    def _start(self, shape: Shape) -> AutomatonTables:
        if self._states is None and not shape.tied:
            self._states = embedded(self._tree, self._held_tree)
        states = np.zeros((0, 0)) if self._states is None else self._states
        return start_tables(self._tree, states, shape, self._rng)

    @cached_property
    def _sequences(self) -> Sequences:
        """Those of the tree."""
        return self._tree.sequences()

    def _chain(self, shape: Shape, tables: AutomatonTables) -> _Chain:
        prior = shape.prior(self._settings.pseudo_counts, self._tree.n_symbols)
        return _Chain(shape, Sampler(self._sequences, tables, prior, self._rng), tables)

    def _all_sequences(self) -> Sequences:
        if self._held_tree is None:
            return self._sequences
        return (self._tree + self._held_tree).sequences()

    def _note(self, shape: Shape, value: float, n_sweeps: int = 0) -> None:
        self._candidates.append(
            {
                "n_states": shape.n_states,
                "tied": shape.tied,
                "move_prior": shape.move,
                "n_sweeps": n_sweeps,
                "held_out": value,
            }
        )
