"""What a whole sequence says of its states: changes between positions, and paths drawn given the sequence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.sequences.query.hidden_states import (
    StateChain,
    StateEvidence,
    filtered,
    segments_of,
    smoothed,
    viterbi,
)
from tacit.sequences.query.segments import drawn_segments, expected_segments

Array = NDArray[np.float64]
Codes = NDArray[np.int32]
Integers = NDArray[np.int64]


class ChangePoint(NamedTuple):
    """A change of the most likely path of states."""

    position: int  # the first in the new state
    before: int  # states
    after: int
    probability: float  # that the state changes just there, given the whole sequence


@dataclass(frozen=True, eq=False)
class Pairs:
    """What is needed for P(state before, state | the whole sequence) of two neighbouring positions."""

    chain: StateChain
    now: Array  # (position, state)  P(state | all up to and including the position)
    posterior: Array  # (position, state)  P(state | the whole sequence)
    ends: Integers  # (sequence + 1,)

    @staticmethod
    def of(chain: StateChain, evidence: StateEvidence) -> Pairs:
        """From forward and forward-backward passes."""
        now = filtered(chain, evidence).now
        return Pairs(chain, now, smoothed(chain, evidence), evidence.ends)

    def changes(self) -> Array:
        """(position,) P(state differs from the one before | the whole sequence).

        Zero at the first position of each sequence; NaN where the sequence is impossible.
        """
        before = self.now[:-1] @ self.chain.transitions
        stays = self.now[:-1] * np.diagonal(self.chain.transitions)
        stays = np.divide(stays, before, out=np.zeros_like(stays), where=before > 0)
        changes = np.zeros(len(self.now))
        changes[1:] = 1.0 - (stays * self.posterior[1:]).sum(axis=1)
        changes[self.ends[:-1][np.diff(self.ends) > 0]] = 0.0
        changes[~(self.posterior.sum(axis=1) > 0)] = np.nan
        return np.asarray(np.clip(changes, 0.0, 1.0))


def change_probabilities(chain: StateChain, evidence: StateEvidence) -> Array:
    """(position,) P(state differs from the one before | the whole sequence).

    Zero at the first position of each sequence; NaN where the sequence is impossible.
    """
    segments = segments_of(chain)
    if segments is None:
        return Pairs.of(chain, evidence).changes()
    expected = expected_segments(segments, evidence.likelihoods, evidence.ends)
    possible = expected.posterior.sum(axis=1) > 0
    return np.where(possible, np.clip(expected.changes, 0.0, 1.0), np.nan)


def change_points(
    chain: StateChain, evidence: StateEvidence, least: float
) -> list[list[ChangePoint]]:
    """The changes of the most likely path of each sequence that are at least so probable."""
    paths, _ = viterbi(chain, evidence)
    changes = change_probabilities(chain, evidence)
    lists: list[list[ChangePoint]] = []
    for first, stop in zip(evidence.ends[:-1].tolist(), evidence.ends[1:].tolist(), strict=True):
        path, probabilities = paths[first:stop], changes[first:stop]
        places = 1 + np.flatnonzero(path[1:] != path[:-1])
        lists.append(
            [
                ChangePoint(t, int(path[t - 1]), int(path[t]), float(probabilities[t]))
                for t in places.tolist()
                if probabilities[t] >= least
            ]
        )
    return lists


def drawn_paths(
    chain: StateChain, evidence: StateEvidence, n_samples: int, rng: np.random.Generator
) -> Codes:
    """(position, draw) paths of states from their posterior; -1 where a sequence is impossible.

    Backward sampling: the last state is drawn from the filtered states, and each one before it given the
    next; with explicit durations the last segment, and each one before it given the next.
    """
    from tacit.sequences.loops.viterbi import draw_posterior_paths

    segments = segments_of(chain)
    if segments is not None:
        return drawn_segments(segments, evidence.likelihoods, evidence.ends, n_samples, rng)
    now = filtered(chain, evidence).now
    states = np.full((len(now), n_samples), -1, dtype=np.int32)
    transitions = np.ascontiguousarray(chain.transitions)
    draw_posterior_paths(now, transitions, evidence.ends, rng.random(states.shape), states)
    return states
