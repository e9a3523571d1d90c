"""Candidates for probabilistic automata: numbers of states, kinds of transitions, and starts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.sequences.learn.em.automata import AutomatonPrior
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
# mix slowly. Chains therefore start with many, and learn from their paths how many there are later.
TRANSITION_PRIORS = {False: 0.1, True: 0.4}
# Rank and basis of the weighted automaton that embeds prefixes, where nothing is held out.
_RANK, _BASIS = 20, 300


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
    start: str  # "clusters" of prefixes, or "random"

    @property
    def kind(self) -> tuple[bool, str]:
        """What candidates have in common that differ in the number of states only."""
        return self.tied, self.start

    def prior(self, pseudo_counts: float | None, n_symbols: int) -> AutomatonPrior:
        """The pseudo-counts of all tables, where automata are sampled."""
        if pseudo_counts is not None:
            return AutomatonPrior.of_rows(pseudo_counts, self.n_states, n_symbols)
        return AutomatonPrior(1.0, 0.1, TRANSITION_PRIORS[self.tied])


def start_tables(
    tree: PrefixTree, states: Array, shape: Shape, rng: np.random.Generator
) -> AutomatonTables:
    """The start: clusters of prefixes, or random tables.

    Clusters are good where the next state nearly follows from the state and the symbol. Where it does not,
    and always where transitions do not depend on the symbol, sampling reached far better automata from random
    tables.
    """
    if shape.start == "random":
        return random_automaton(tree.n_symbols, shape.n_states, rng, tied=shape.tied)
    return clustered_automaton(tree, states, shape.n_states, rng, tied=shape.tied)


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
    kinds = [(False, "clusters"), (False, "random"), (True, "random")]
    if settings.tied is not None:
        kinds = [kind for kind in kinds if kind[0] == settings.tied]
    if n_symbols == 1:
        kinds = [kind for kind in kinds if not kind[0]] or [(False, "random")]  # the same
    if settings.learn == "em":
        kinds = [kind for kind in kinds if kind != (False, "random")] or kinds
    counts: tuple[int, ...] = STATES if settings.n_states is None else (settings.n_states,)
    if settings.n_states is None:
        counts = tuple(k for k in counts if k <= n_nodes) or (min(STATES),)
    return [Shape(k, tied, start) for tied, start in kinds for k in counts]
