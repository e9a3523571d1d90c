"""Accelerated MAP-EM on chains with emissions of any kind.

Everything about the chain comes from likelihoods of the states at each position, by one function of the type
`Passes`; everything about emissions from posteriors of the states.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.core.em import AbsoluteGain, EMRun, Step, refusing_singular, run_accelerated_em
from tacit.sequences.data.sequences import some_sequences
from tacit.sequences.model.emission_chain import EmissionChain, masked_rows
from tacit.sequences.model.shapes import Shape
from tacit.sequences.model.state_density import DensityRows

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

DEFAULT_PSEUDO_COUNTS = 1.0  # of initial probabilities, and of each row of transitions


class ExpectedCounts(NamedTuple):
    """What the likelihoods of all positions say of the states."""

    log_likelihoods: Array  # (sequence,)
    posterior: Array  # (position, state)
    initial: Array  # (state,)
    transitions: Array  # (state, next state)


# From (state,) initial and (state, next state) transition probabilities, (position, state) likelihoods and
# the (sequence + 1,) ends of sequences.
Passes = Callable[[Array, Array, Array, Integers], ExpectedCounts]


def expected_counts(
    initial: Array, transitions: Array, likelihoods: Array, ends: Integers
) -> ExpectedCounts:
    """Expected counts of a Markov chain, by the forward and backward passes."""
    from tacit.sequences.loops.forward_backward import forward_backward
    from tacit.sequences.query.hidden_states import sums_of

    k = len(initial)
    posterior, logs = np.empty_like(likelihoods), np.empty(len(likelihoods))
    starts, pairs = np.zeros(k), np.zeros((k, k))
    tables = np.ascontiguousarray(initial), np.ascontiguousarray(transitions), likelihoods
    forward_backward(*tables, ends, posterior, logs, starts, pairs)
    return ExpectedCounts(sums_of(logs, ends), posterior, starts, pairs)


@dataclass(frozen=True, eq=False)
class ChainData:
    """Rows to learn from, and what is known of their states."""

    rows: DensityRows
    ends: Integers  # (sequence + 1,)
    shape: Shape
    known: NDArray[np.integer] | None = None  # (position,) the state, -1 where it is not known

    @property
    def n_positions(self) -> int:
        """Of all sequences together."""
        return int(self.ends[-1])

    @cached_property
    def excluded(self) -> tuple[Integers, NDArray[np.bool_]] | None:
        """Positions whose state is known, and (position, state) flags of the other states."""
        if self.known is None:
            return None
        places = np.flatnonzero(self.known >= 0)
        return places, self.known[places, None] != np.arange(self.shape.n_states)

    def some(self, most: int) -> ChainData:
        """Some of the sequences, of about `most` positions; see `some_sequences`."""
        some = some_sequences(self.ends, most)
        if some is None:
            return self
        places, ends = some
        known = None if self.known is None else self.known[places]
        return ChainData(self.rows.taken(places), ends, self.shape, known)

    def likelihoods(self, chain: EmissionChain) -> tuple[Array, float]:
        """(position, state) likelihoods of the states, and the log of what was taken out of all of them."""
        from tacit.sequences.loops.gaussian_densities import exponentials

        logs = self.rows.log_likelihoods(chain.density)
        if chain.shape is not None and chain.shape.n_groups < chain.n_states:
            logs = np.ascontiguousarray(logs[:, chain.shape.groups])
        if self.excluded is not None:
            places, others = self.excluded
            logs[places] = np.where(others, -np.inf, logs[places])
        scales = np.empty(len(logs))
        exponentials(logs, scales)
        return logs, float(scales.sum()) + self.rows.log_constant

    def grouped(self, posterior: Array) -> Array:
        """(position, group) posteriors of tied states together."""
        if self.shape.n_groups == self.shape.n_states:
            return posterior
        return posterior @ np.eye(self.shape.n_groups)[self.shape.groups]


def pseudo_counts_of(shape: Shape, count: float) -> Array:
    """Pseudo-counts of initial and transition probabilities in one array, spread over what is possible."""
    parts = (shape.initial, shape.transitions)
    even = [count * flags / flags.sum(axis=-1, keepdims=True) for flags in parts]
    return np.concatenate([part.ravel() for part in even])


def em_step(
    data: ChainData,
    like: EmissionChain,
    pseudo_counts: float | None = None,
    *,
    stationary: bool = False,
    passes: Passes = expected_counts,
) -> Step:
    """One step of MAP-EM on the flat parameters of chains like a given one.

    Rows of probabilities get pseudo-counts; densities have the prior of their rows.
    """
    from tacit.core.linalg.long_run import long_run
    from tacit.core.loops.acceleration import maximise
    from tacit.sequences.learn.em.stationary import stationary_transitions

    k, shape = like.n_states, data.shape
    count = DEFAULT_PSEUDO_COUNTS if pseudo_counts is None else pseudo_counts
    pseudo = pseudo_counts_of(shape, count)
    row_starts = np.arange(k + 1, dtype=np.int64) * k

    def step(values: Array) -> tuple[float, Array, Array]:
        chain = like.of_flat(values)
        likelihoods, log_scale = data.likelihoods(chain)
        expected = passes(chain.initial, chain.transitions, likelihoods, data.ends)
        counts = np.concatenate([expected.initial, expected.transitions.ravel()])
        tables = np.concatenate([chain.initial, chain.transitions.ravel()])
        dirichlet, _ = maximise(counts, pseudo, tables, row_starts)
        starts, pairs = counts[:k], counts[k:].reshape(k, k)
        if stationary:
            transitions = stationary_transitions(starts, pairs, chain.transitions)
            initial = long_run(transitions)
        else:
            initial = masked_rows(starts, shape.initial)
            transitions = masked_rows(pairs, shape.transitions)
        posterior = data.grouped(expected.posterior)
        density = data.rows.maximised(posterior, chain.density)
        objective = float(expected.log_likelihoods.sum()) + log_scale + dirichlet
        objective += data.rows.log_prior(chain.density)
        masses = np.concatenate([counts, density.masses(np.ones(len(posterior)) @ posterior)])
        image = np.concatenate([initial, transitions.ravel(), density.flat])
        return objective, image, masses

    return step


def run_em(
    start: EmissionChain,
    data: ChainData,
    *,
    gain: float,
    max_iter: int,
    pseudo_counts: float | None = None,
    stationary: bool = False,
    passes: Passes = expected_counts,
    progress: Callable[[int, float], None] | None = None,
) -> tuple[EmissionChain, EMRun]:
    """A chain after EM, and its objectives.

    Parameters
    ----------
    start : EmissionChain
    data : ChainData
    gain : float
        Nats in all below which a step ends it.
    max_iter : int
    pseudo_counts : float, optional
        By default `DEFAULT_PSEUDO_COUNTS`.
    stationary : bool
        Whether initial probabilities are the stationary ones.
    passes : callable
        Expected counts of likelihoods.
    progress : callable, optional
    """

    def valid(values: Array) -> Array:
        chain = start.of_flat(values)
        return replace(chain, initial=chain.stationary).flat if stationary else chain.flat

    step = em_step(data, start, pseudo_counts, stationary=stationary, passes=passes)
    em_run = run_accelerated_em(
        refusing_singular(step),
        valid(start.flat),
        AbsoluteGain(gain),
        normalise=valid,
        max_iter=max_iter,
        progress=progress,
        warn=False,
    )
    return start.of_flat(em_run.values), em_run


def start_chain(
    data: ChainData,
    posterior: Array,
    transitions: Array | None = None,
    initial: Array | None = None,
) -> EmissionChain:
    """The chain whose densities are those of a posterior.

    Parameters
    ----------
    data : ChainData
    posterior : (position, state)
    transitions : (state, next state), optional
        Those that the shape excludes are set to zero. By default states stay half of the time.
    initial : (state,), optional
        By default even.
    """
    shape, k = data.shape, data.shape.n_states
    density = data.rows.maximised(data.grouped(posterior))
    if transitions is None:
        transitions = 0.5 * np.eye(k) + 0.5 * masked_rows(np.ones((k, k)), shape.transitions)
    smooth = 1e-3 / k  # EM never raises a zero
    return EmissionChain(
        masked_rows((np.ones(k) if initial is None else initial) + smooth, shape.initial),
        masked_rows(transitions + smooth, shape.transitions),
        density,
        None if shape.is_full else shape,
    )
