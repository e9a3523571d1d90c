"""Queries of operators: values of prefixes, the state after each, the next position.

Many sequences are walked at once, one step for all of them together; sequences that have ended drop out. A
step is that of a node of a tree (`message_up`). What is expected at the next position is the message from
that node to the child that stands for the observation (`messages_down`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.core.threads import one_blas_thread
from tacit.errors import DataError
from tacit.messages.node_messages import Messages, message_up, messages_down, product, rescaled
from tacit.sequences.model.chains import Operators

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

_LOG_2 = math.log(2)
# A state whose value is smaller than this, relative to its parts, is lost in rounding errors.
_LOST = 1e-12


@dataclass(frozen=True, eq=False)
class Walk:
    """States before each position of each sequence, and after the last: one place more than positions."""

    operators: Operators
    states: Messages  # (rank, place)  values with their exponents
    ends: Integers  # (sequence + 1,)  where each sequence's places start, and the end
    n_restarts: int  # lost states that were restarted

    @property
    def before(self) -> Integers:
        """(position,) the place before each position."""
        places = np.ones(int(self.ends[-1]), dtype=np.bool_)
        places[self.ends[1:] - 1] = False
        return np.flatnonzero(places)

    @property
    def last(self) -> Integers:
        """(sequence,) the place after each sequence."""
        return self.ends[1:] - 1

    def steps(self) -> tuple[Array, Array]:
        """Sign and log of the absolute value of each position given those before it: (position,) each."""
        before = self.before
        values = self.operators.stop @ self.states.values
        now, after = values[before], values[before + 1]
        with np.errstate(divide="ignore", invalid="ignore"):
            log_abs = np.log(np.abs(after)) - np.log(np.abs(now))
        if self.states.exponent is not None:
            exponent = self.states.exponent
            log_abs += (exponent[before + 1] - exponent[before]) * _LOG_2
        return np.sign(after) * np.sign(now), log_abs

    def normalised(self, places: Integers | None = None) -> Array:
        """(place, rank) states scaled to value one; unchanged where the value is zero."""
        values = self.states.values if places is None else self.states.values[:, places]
        mass = self.operators.stop @ values
        return np.asarray((values / np.where(mass == 0, 1.0, mass)).T)


def evidence_messages(operators: Operators, evidence: Sequence[Array]) -> Messages:
    """The messages from the features of each position to its step.

    Parameters
    ----------
    operators : Operators
    evidence : per column (position, feature)
        A row of NaN is a missing cell.

    Returns
    -------
    Messages
        (seen, position)
    """
    if len(evidence) != len(operators.emit):
        raise DataError(
            f"evidence of {len(evidence)} columns for a chain of {len(operators.emit)}; give each"
        )
    together: Messages | None = None
    for features, emit, total in zip(evidence, operators.emit, operators.total, strict=True):
        if features.ndim != 2 or features.shape[1] != len(emit):
            raise DataError(
                f"features have shape {features.shape}; give (position, {len(emit)}) of them"
            )
        values = emit.T @ features.T
        missing = np.isnan(values).any(axis=0)
        values[:, missing] = total[:, None]
        message = rescaled(Messages(values))
        together = message if together is None else rescaled(product(together, message))
    assert together is not None
    return together


@one_blas_thread()
def walked(
    operators: Operators, evidence: Messages, lengths: Integers, *, restart: bool = False
) -> Walk:
    """All sequences from their start to their end.

    Parameters
    ----------
    operators : Operators
    evidence : Messages
        (seen, position) of all sequences in turn, see `evidence_messages`.
    lengths : (sequence,)
    restart : bool
        Whether the mean state replaces a state whose value is not positive. Estimates that went astray
        then recover, but values of prefixes no longer multiply to that of the sequence.
    """
    lengths = np.asarray(lengths, dtype=np.int64)
    if int(lengths.sum()) != evidence.values.shape[1]:
        raise DataError(
            f"{evidence.values.shape[1]} positions with lengths that sum to {int(lengths.sum())}"
        )
    ends = np.concatenate([[0], np.cumsum(lengths + 1)]).astype(np.int64)
    first = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)[:-1]
    order = np.argsort(-lengths, kind="stable")  # the longest first, so that the others drop out
    state = Messages(np.repeat(operators.initial[:, None], len(lengths), axis=1))
    values = np.empty((operators.rank, int(ends[-1])))
    exponents = np.zeros(int(ends[-1]), dtype=np.int64)
    values[:, ends[:-1]] = state.values
    n_active, n_restarts = len(lengths), 0
    for t in range(int(lengths.max(initial=0))):
        while lengths[order[n_active - 1]] <= t:
            n_active -= 1
        active = order[:n_active]
        state = state if state.values.shape[1] == n_active else state.at(np.arange(n_active))
        state = message_up(operators.step, [evidence.at(first[active] + t), state])
        if restart:
            state, broken = _restarted(operators, state)
            n_restarts += broken
        places = ends[active] + t + 1
        values[:, places] = state.values
        if state.exponent is not None:
            exponents[places] = state.exponent
    return Walk(operators, Messages(values, exponents), ends, n_restarts)


def _restarted(operators: Operators, state: Messages) -> tuple[Messages, int]:
    """States, with the mean state in place of those whose value is not positive, and the number of these."""
    value = operators.stop @ state.values
    size = np.abs(operators.stop) @ np.abs(state.values)
    broken = ~(value > _LOST * size)
    n_broken = int(broken.sum())
    if n_broken == 0:
        return state, 0
    values = state.values.copy()
    values[:, broken] = operators.mean[:, None]
    exponent = None if state.exponent is None else np.where(broken, 0, state.exponent)
    return Messages(values, exponent), n_broken


def expected(
    operators: Operators,
    states: Messages,
    column: int,
    others: Sequence[Messages | None] | None = None,
) -> Array:
    """The expected features of a column at the next position, on an arbitrary scale.

    Parameters
    ----------
    operators : Operators
    states : Messages
        (rank, place) before that position.
    column : int
    others : per column Messages or None, optional
        Evidence of the other columns at that position, (seen, place); none by default.

    Returns
    -------
    (place, feature) array
    """
    n_places = states.values.shape[1]
    above = Messages(np.repeat(operators.stop[:, None], n_places, axis=1))
    unused = Messages(np.ones((len(operators.total[column]), n_places)))
    down = messages_down(operators.step, above, [unused, states], [0])
    _, message = next(iter(down))
    for place, total in enumerate(operators.total):
        if place == column:
            continue
        known = None if others is None else others[place]
        other = Messages(np.repeat(total[:, None], n_places, axis=1)) if known is None else known
        message = rescaled(product(message, other))
    return np.asarray((operators.emit[column] @ message.values).T)


def states_now(walk: Walk, evidence: Messages) -> Array:
    """(position, state) P(state | all up to and including the position), of a chain of probability tables."""
    joint = walk.states.values[:, walk.before] * evidence.values
    total = joint.sum(axis=0)
    return np.asarray((joint / np.where(total > 0, total, 1.0)).T)
