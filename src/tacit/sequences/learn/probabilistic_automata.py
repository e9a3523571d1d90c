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
from tacit.sequences.learn.automaton_candidates import (
    AutomatonSettings,
    Shape,
    candidate_shapes,
    embedded,
    start_tables,
)
from tacit.sequences.learn.em.automata import AutomatonPrior, log_probs, polished_automaton
from tacit.sequences.learn.em.gibbs import Sampler
from tacit.sequences.model.automata import AutomatonTables
from tacit.sequences.moments.prefixes import PrefixTree

Array = NDArray[np.float64]

# Numbers of states of the chains that start when the best so far is known, in terms of its own. Chains that
# started apart end apart: the mean of four had gaps 20 to 45 % smaller than the best of them on most drawn
# machines.
NEARBY = (0.75, 1.0, 1.25)
# Sweeps of model selection, in terms of those of a final chain: of the first round, in which there are many
# candidates; of the best of each kind; and of all that may be averaged. Long chains gain far more than many:
# those from random tables still improve after thousands of sweeps.
_FIRST_ROUND, _OF_KINDS, _LAST_ROUND = 1 / 40, 1 / 7, 1 / 4
# The first rounds have about so many positions, where there are more: a chain is quicker there, and goes on
# from its tables. More sweeps make up for it, up to so many times as many.
_FEW_POSITIONS, _MORE_SWEEPS = 250_000, 4.0
# EM steps before sampling where transitions depend on the symbol; fewer where they would take more products
# than this.
STEPS_BEFORE, _LEAST_STEPS = (10, 5e9), 3
_PER_ROUND = 6  # automata that are averaged to score a chain
_LAST_CHAINS = 5  # that may be averaged
# Pseudo-counts of each in their weights, in terms of the number of held-out sequences.
_WEIGHT_PRIOR, _LEAST_WEIGHT = 0.05, 0.06


@dataclass(frozen=True, eq=False)
class LearntAutomata:
    """Automata whose mean is the model, with the candidates."""

    parts: tuple[AutomatonTables, ...]
    weights: Array
    shapes: tuple[Shape, ...]
    priors: tuple[AutomatonPrior, ...]  # of each shape, in the end; none after EM
    n_steps: int
    # mean log-probability of a held-out sequence, before these were learnt from too
    held_out: float | None
    candidates: tuple[dict[str, Any], ...]


@dataclass(eq=False)
class _Chain:
    """A chain of samples that competes with others."""

    shape: Shape
    sampler: Sampler
    logs: Array = field(default_factory=lambda: np.zeros(0))  # (node,)  of held-out strings
    value: float = -np.inf  # mean held-out log-probability


# Automata with their weights, shapes, and pseudo-counts.
_Learnt = tuple[tuple[AutomatonTables, ...], Array, tuple[Shape, ...], tuple[AutomatonPrior, ...]]


def _best(chains: list[_Chain], most: int, kind: tuple[bool, str] | None = None) -> list[_Chain]:
    """The best chains, of a kind."""
    chains = [chain for chain in chains if kind is None or chain.shape.kind == kind]
    return sorted(chains, key=lambda chain: -chain.value)[:most]


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
        parts, weights, kept_shapes, priors = learn(shapes)
        return LearntAutomata(
            parts,
            weights,
            kept_shapes,
            priors,
            self._n_steps,
            self._value,
            tuple(self._candidates),
        )

    # -- EM ---------------------------------------------------------------------------------------

    def _by_em(self, shapes: list[Shape]) -> _Learnt:
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
        return (tables,), np.ones(1), (shape,), ()

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

    def _by_sampling(self, shapes: list[Shape]) -> _Learnt:
        """Samples of the best chains, continued on all sequences."""
        weights = np.ones(1)
        if self._held_tree is None:
            chains = [self._chain(shapes[0], self._sequences)]
        else:
            chains = self._chosen(shapes)
            weights = self._weights(chains)
            is_used = weights > _LEAST_WEIGHT
            chains = [chain for chain, keep in zip(chains, is_used, strict=True) if keep]
            weights = weights[is_used] / weights[is_used].sum()
        parts: list[AutomatonTables] = []
        part_weights: list[float] = []
        priors = []
        every = self._all_sequences()
        for number, (chain, weight) in enumerate(zip(chains, weights, strict=True)):
            sampler = chain.sampler
            if self._held_tree is not None:
                sampler = self._sampler(every, sampler)

            def report_progress(done_of_chain: float, number: int = number) -> None:
                done = (number + done_of_chain) / len(chains)
                self._report(0.6 + 0.4 * done, "sampling from all sequences")

            length = max(float(weight), 1 / 3)
            samples = self._samples(sampler, length, report_progress)
            parts.extend(samples)
            part_weights.extend([weight / len(samples)] * len(samples))
            priors.append(sampler.prior)
        together = np.array(part_weights)
        return (
            tuple(parts),
            together / together.sum(),
            tuple(chain.shape for chain in chains),
            tuple(priors),
        )

    def _start_of_chain(self, shape: Shape) -> AutomatonTables:
        tables = self._start(shape)
        if shape.start == "random":
            return tables
        steps, products = STEPS_BEFORE
        products_per_step = 2.0 * self._tree.n_nodes * tables.n_states**2
        steps = int(np.clip(products / products_per_step, _LEAST_STEPS, steps))
        return self._polished(tables, self._tree, steps, stopped=False)

    def _samples(
        self, sampler: Sampler, length: float, report_progress: Callable[[float], None]
    ) -> list[AutomatonTables]:
        """Samples from the last two thirds of a chain, of `length` times the usual number of sweeps."""
        n_sweeps = max(round(length * self._settings.n_sweeps), 1)
        n_samples = max(round(length * self._settings.n_samples), 1)
        burnt = n_sweeps // 3
        sampler.learn_prior = self._learns_prior
        sampler.run(burnt)
        out = []
        marks = np.linspace(burnt, n_sweeps, n_samples + 1).astype(int)
        for before, after in pairwise(marks):
            sampler.run(max(int(after - before), 1))
            out.append(sampler.tables())
            report_progress(float(after) / n_sweeps)
        self._n_steps += n_sweeps
        return out

    def _chosen(self, shapes: list[Shape]) -> list[_Chain]:
        """The best chains, and the best of each kind: the worse half of each kind drops out in turn.

        Chains that start at random converge later: the kinds are compared only when one of each is left.
        """
        few, sweeps = self._few_sequences()
        chains = self._started(shapes, few, sweeps)
        kinds = {shape.kind for shape in shapes}
        most, so_far = len(chains) // len(kinds), 0
        while most > 1:
            self._round(chains, sweeps)
            most, so_far, sweeps = (most + 1) // 2, so_far + sweeps, 2 * sweeps
            chains = [chain for kind in sorted(kinds) for chain in _best(chains, most, kind)]
        self._go_on_with_all(chains)
        self._round(chains, self._part(_OF_KINDS))
        near = self._nearby(_best(chains, 1)[0].shape)
        nearby = self._started(near, few, self._part(_FIRST_ROUND))
        for chain in nearby:
            chain.sampler.run(so_far)
        self._go_on_with_all(nearby)
        self._round(nearby, self._part(_OF_KINDS))
        chains = _best(chains + nearby, _LAST_CHAINS)
        self._round(chains, self._part(_LAST_ROUND))
        return _best(chains, _LAST_CHAINS)

    def _few_sequences(self) -> tuple[Sequences, int]:
        """Sequences for the first rounds, drawn at random, and the sweeps of the first of these."""
        every = self._sequences
        part = _FEW_POSITIONS / max(self._tree.n_positions, 1)
        if part >= 1:
            return every, self._part(_FIRST_ROUND)
        n_few = max(round(part * len(every.lengths)), 1)
        chosen = np.sort(self._rng.choice(len(every.lengths), n_few, replace=False))
        return every.take(chosen), self._part(_FIRST_ROUND * min(1 / part, _MORE_SWEEPS))

    def _go_on_with_all(self, chains: list[_Chain]) -> None:
        """Continue chains with all training sequences, from their tables."""
        for chain in chains:
            if chain.sampler.n_sequences < self._tree.n_sequences:
                chain.sampler = self._sampler(self._sequences, chain.sampler)

    def _part(self, part: float) -> int:
        """Sweeps, in terms of those of a final chain."""
        return max(round(part * self._settings.n_sweeps), 1)

    def _started(self, shapes: list[Shape], sequences: Sequences, sweeps: int) -> list[_Chain]:
        """New chains: sweeps of many pseudo-counts after random starts; later these are learnt."""
        chains = []
        for number, shape in enumerate(shapes):
            self._report(0.2 * number / len(shapes), f"{shape.n_states} states")
            chain = self._chain(shape, sequences)
            if shape.start == "random":
                chain.sampler.run(sweeps)
                self._n_steps += sweeps
            chain.sampler.learn_prior = self._learns_prior
            chains.append(chain)
        return chains

    @property
    def _learns_prior(self) -> bool:
        return self._settings.pseudo_counts is None

    def _nearby(self, best: Shape) -> list[Shape]:
        """Those of new chains, with about as many states: one at least starts from random tables."""
        most = max(self._tree.n_nodes, best.n_states)
        counts = [best.n_states for _ in NEARBY]
        if self._settings.n_states is None:
            counts = [min(round(factor * best.n_states), most) for factor in NEARBY]
        starts = [best.start, "random", best.start]
        return [
            replace(best, start=start, n_states=count)
            for start, count in zip(starts, counts, strict=True)
        ]

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
            self._note(chain.shape, chain.value, sweeps, chain.sampler.prior)
            self._n_steps += sweeps

    def _weights(self, chains: list[_Chain]) -> Array:
        """(chain,) mixture weights of high held-out likelihood, by EM; even ones have pseudo-counts."""
        assert self._held_tree is not None
        ends = self._held_tree.ends.astype(np.float64)
        ending = ends > 0
        logs = np.array([chain.logs[ending] for chain in chains])
        weights = np.full(len(chains), 1 / len(chains))
        for _ in range(50):
            joint = np.log(np.maximum(weights, 1e-300))[:, None] + logs
            responsibilities = np.exp(joint - np.logaddexp.reduce(joint, axis=0))
            weights = responsibilities @ ends[ending] / ends[ending].sum() + _WEIGHT_PRIOR
            weights /= weights.sum()
        joint = np.log(np.maximum(weights, 1e-300))[:, None] + logs
        total = ends[ending] @ np.logaddexp.reduce(joint, axis=0)
        self._value = float(total / max(self._held_tree.n_sequences, 1))
        return np.asarray(weights)

    # -- within -----------------------------------------------------------------------------------

    def _start(self, shape: Shape) -> AutomatonTables:
        if self._states is None and shape.start == "clusters":
            self._states = embedded(self._tree, self._held_tree)
        states = np.zeros((0, 0)) if self._states is None else self._states
        return start_tables(self._tree, states, shape, self._rng)

    @cached_property
    def _sequences(self) -> Sequences:
        """Those of the tree."""
        return self._tree.sequences()

    def _chain(self, shape: Shape, sequences: Sequences) -> _Chain:
        prior = shape.prior(self._settings.pseudo_counts, self._tree.n_symbols)
        return _Chain(shape, Sampler(sequences, self._start_of_chain(shape), prior, self._rng))

    def _sampler(self, sequences: Sequences, before: Sampler) -> Sampler:
        """A chain that goes on with other sequences."""
        return Sampler(
            sequences, before.tables(), before.prior, self._rng, learn_prior=self._learns_prior
        )

    def _all_sequences(self) -> Sequences:
        if self._held_tree is None:
            return self._sequences
        return (self._tree + self._held_tree).sequences()

    def _note(
        self, shape: Shape, value: float, n_sweeps: int = 0, prior: AutomatonPrior | None = None
    ) -> None:
        candidate = {
            "n_states": shape.n_states,
            "tied": shape.tied,
            "start": shape.start,
            "n_sweeps": n_sweeps,
            "held_out": value,
        }
        if prior is not None:
            candidate["move_prior"] = prior.move
        self._candidates.append(candidate)
